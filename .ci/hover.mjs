// Asks the language server for YAML what an editor asks: node hover.mjs SERVER SPEC LINE... A LINE is
// TEXT|WANTED, where ^ in TEXT stands before the place in the spec that the pointer is on (hover), or where the cursor
// stands behind what was typed, with ~ for ^ (completion); WANTED must be in what the server answers.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [server, spec, ...cases] = process.argv.slice(2);
const text = readFileSync(spec, "utf8");
const uri = pathToFileURL(resolve(spec)).href;
const child = spawn(process.execPath, [server, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
const asked = [];
let diagnosed;
const diagnostics = new Promise((done) => { diagnosed = done; });
let buffer = Buffer.alloc(0);

function send(message) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function request(method, params) {
  const id = waiting.size + 1;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

function settings(section) {
  if (section !== "yaml") return null;
  return { hover: true, completion: true, validate: true, schemaStore: { enable: false } };
}

function receive(message) {
  if (message.method === "workspace/configuration") {
    send({ id: message.id, result: message.params.items.map((item) => settings(item.section)) });
  } else if (message.method === "textDocument/publishDiagnostics") {
    diagnosed(message.params.diagnostics);
  } else if (message.method && message.id !== undefined) {
    asked.push(message.method + " " + JSON.stringify(message.params));
    send({ id: message.id, result: null });
  } else if (waiting.has(message.id)) {
    waiting.get(message.id)(message.result ?? message.error);
  }
}

child.stdout.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const head = /^(?:.*\r\n)*?Content-Length: (\d+)\r\n(?:.*\r\n)*?\r\n/.exec(buffer.toString("latin1"));
    if (!head || buffer.length < head[0].length + Number(head[1])) return;
    const body = buffer.subarray(head[0].length, head[0].length + Number(head[1]));
    buffer = buffer.subarray(head[0].length + Number(head[1]));
    receive(JSON.parse(body));
  }
});

// place finds the mark's text in a document and returns line and column of the mark.
function place(document, marked, mark) {
  const at = document.indexOf(marked.replace(mark, ""));
  if (at < 0) throw new Error(`${marked} is not in ${spec}`);
  const before = document.slice(0, at + marked.indexOf(mark)).split("\n");
  return { line: before.length - 1, character: before.at(-1).length };
}

await request("initialize", {
  processId: process.pid, rootUri: null, workspaceFolders: null,
  capabilities: { workspace: { configuration: true }, textDocument: { completion: { completionItem: {
    documentationFormat: ["markdown"] } }, hover: { contentFormat: ["markdown"] } } },
});
send({ method: "initialized", params: {} });
send({ method: "workspace/didChangeConfiguration", params: { settings: { yaml: settings("yaml") } } });
send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "yaml", version: 1, text } } });

let failed = 0;
const found = await diagnostics;
if (found.length > 0) {
  console.error("the spec has diagnostics:", found.map((d) => d.message));
  failed++;
}
for (const one of cases) {
  const [marked, wanted] = one.split("|");
  const hover = marked.includes("^");
  const position = place(text, marked, hover ? "^" : "~");
  const answer = await request(`textDocument/${hover ? "hover" : "completion"}`, { textDocument: { uri }, position });
  const words = JSON.stringify(answer?.contents ?? answer?.items?.map((i) => [i.label, i.documentation]) ?? answer);
  const good = words.includes(wanted);
  console.log(`${hover ? "hover" : "completion"} ${marked}: ${good ? wanted : words.slice(0, 600)}`);
  if (!good) failed++;
}
for (const line of asked) if (/https?:/.test(line)) { console.error("the server asked for", line); failed++; }
child.kill();
process.exit(failed ? 1 : 0);
