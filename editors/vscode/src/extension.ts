/** Starts the server of torchlint in the Python environment of the workspace, and starts it again when that changes. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, TransportKind } from "vscode-languageclient/node";

import { chosenInterpreter } from "./interpreter";

const SECTION = "torchlint";

/** The settings that the server understands; the others are for this side. */
const FOR_SERVER = [
  "enable",
  "select",
  "extendSelect",
  "ignore",
  "targetTorch",
  "minConfidence",
  "unsafeFixes",
  "hover",
  "isolated",
];

/** What is used of the Python extension. */
interface PythonExtension {
  readonly ready?: Promise<void>;
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      environment: { readonly path: string },
    ): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

let client: LanguageClient | undefined;
let log: vscode.LogOutputChannel;
let last: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel("torchlint", { log: true });
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("torchlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration(`${SECTION}.interpreter`)) {
        await restart();
      } else if (change.affectsConfiguration(SECTION)) {
        await client?.sendNotification("workspace/didChangeConfiguration", { settings: { [SECTION]: settings() } });
      }
    }),
  );
  const environments = (await pythonExtension())?.environments;
  if (environments) {
    context.subscriptions.push(environments.onDidChangeActiveEnvironmentPath(restart));
  }
  await restart();
}

export async function deactivate(): Promise<void> {
  await stop();
}

/** Start the server anew; one start after the other, however often that is asked for. */
function restart(): Promise<void> {
  last = last.then(stop).then(start).catch((error) => log.error(String(error)));
  return last;
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.dispose();
}

async function start(): Promise<void> {
  const interpreter = await interpreterOfWorkspace();
  log.info(`Python: ${interpreter}`);
  if (!(await hasServer(interpreter))) {
    return;
  }
  const run = { command: interpreter, args: ["-m", "torchlint", "server"], transport: TransportKind.stdio };
  const server: ServerOptions = { run, debug: { ...run, args: [...run.args, "-v"] } };
  const options: LanguageClientOptions = {
    documentSelector: ["file", "untitled", "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" })),
    initializationOptions: { settings: settings() },
    outputChannel: log,
  };
  client = new LanguageClient(SECTION, "torchlint", server, options);
  await client.start();
}

/** Whether the server can be started; if not, say what to do. */
async function hasServer(interpreter: string): Promise<boolean> {
  try {
    await promisify(execFile)(interpreter, ["-c", "import torchlint.server.main"]);
    return true;
  } catch (error) {
    log.error(String(error));
    const advice = `torchlint does not run in ${interpreter}: pip install "torchlint[lsp]"`;
    void vscode.window.showErrorMessage(advice, "Show Log").then((choice) => choice && log.show());
    return false;
  }
}

/** What the settings of the editor say to the server. */
function settings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration(SECTION);
  const said = FOR_SERVER.map((key) => [key, all.get(key)] as const);
  return Object.fromEntries(said.filter(([, value]) => value !== null && value !== undefined));
}

async function interpreterOfWorkspace(): Promise<string> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const configured = vscode.workspace.getConfiguration(SECTION, folders[0]?.uri).get<string>("interpreter", "");
  const selected = await selectedInterpreter(folders[0]?.uri);
  return chosenInterpreter(
    configured,
    selected,
    folders.map((folder) => folder.uri.fsPath),
  );
}

/** The interpreter that the Python extension has selected. */
async function selectedInterpreter(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = (await pythonExtension())?.environments;
  const active = environments?.getActiveEnvironmentPath(resource);
  const resolved = active && (await environments?.resolveEnvironment(active));
  return resolved?.executable.uri?.fsPath;
}

async function pythonExtension(): Promise<PythonExtension | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  const api = await extension?.activate();
  await api?.ready;
  return api;
}
