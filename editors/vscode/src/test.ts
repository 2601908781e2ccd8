/** Which interpreter is chosen. */

import * as assert from "node:assert";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import { chosenInterpreter } from "./interpreter";

const windows = process.platform === "win32";
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "torchlint-"));
const inside = path.join(folder, ".venv", windows ? "Scripts/python.exe" : "bin/python");

test("without anything it is the one on the path", () => {
  assert.equal(chosenInterpreter("", undefined, [folder]), windows ? "python" : "python3");
  assert.equal(chosenInterpreter("", undefined, []), windows ? "python" : "python3");
});

test("an environment in the folder is found", () => {
  fs.mkdirSync(path.dirname(inside), { recursive: true });
  fs.writeFileSync(inside, "");
  assert.equal(chosenInterpreter("", undefined, [os.tmpdir(), folder]), inside);
});

test("what is selected goes before it, and what is configured before that", () => {
  assert.equal(chosenInterpreter("", "/opt/python", [folder]), "/opt/python");
  assert.equal(chosenInterpreter("python3.12", "/opt/python", [folder]), "python3.12");
  assert.equal(chosenInterpreter("${workspaceFolder}/env/python", undefined, [folder]), `${folder}/env/python`);
  assert.equal(chosenInterpreter("env/bin/python", undefined, [folder]), path.join(folder, "env/bin/python"));
});
