/** Which Python runs the server. */

import * as fs from "node:fs";
import * as path from "node:path";

/** Where the Python of a virtual environment is, from the folder of a project on. */
const ENVIRONMENTS = process.platform === "win32" ? "Scripts/python.exe" : "bin/python";

/** What Python is called where there is no environment. */
const PLAIN = process.platform === "win32" ? "python" : "python3";

/**
 * The interpreter: the one in the settings, else the one that the Python extension has selected, else that of a virtual
 * environment in one of the folders, else the one on the path.
 */
export function chosenInterpreter(configured: string, selected: string | undefined, folders: string[]): string {
  if (configured) {
    return expanded(configured, folders[0]);
  }
  if (selected) {
    return selected;
  }
  const places = folders.flatMap((folder) => [".venv", "venv"].map((name) => path.join(folder, name, ENVIRONMENTS)));
  return places.find((place) => fs.existsSync(place)) ?? PLAIN;
}

/** A path as people write it in settings. */
function expanded(written: string, folder: string | undefined): string {
  const home = process.env["HOME"] ?? process.env["USERPROFILE"] ?? "";
  const full = written.replace(/^~(?=$|[\\/])/, home).replace("${workspaceFolder}", folder ?? "");
  const isPath = /[\\/]/.test(full);
  return isPath && folder && !path.isAbsolute(full) ? path.join(folder, full) : full;
}
