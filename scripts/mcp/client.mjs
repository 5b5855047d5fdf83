// What `rea mcp` says to the TypeScript SDK, over stdio and HTTP.
//
//     node client.mjs FOLDER
//
// FOLDER is what scripts/mcp/prepare.py wrote; the SDK is found from the folder
// in which this file lies, so the script that calls it copies it to its packages.
// Exit 1 at the first difference.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const PROVENANCE = canonical({ untrusted_content: true, source: "analysis_target" });
const UNMARKED = new Set(["export_evidence_bundle", "record_unknown"]);
const folder = process.argv[2];
const cases = JSON.parse(readFileSync(`${folder}/cases.json`, "utf8"));
process.chdir(cases.root);

// RFC 8785: ECMAScript's own numbers and strings, members sorted.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function member(value, path) {
  return path.split("/").slice(1).reduce((inner, name) => inner[name], value);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

class Part {
  constructor(name, client, out) {
    Object.assign(this, { name, client, out, compared: 0 });
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
  }

  equal(left, right, what) {
    this.compared += 1;
    if (left !== right) {
      fail(`${this.name}: ${what}: ${String(left).slice(0, 300)} is not ${String(right).slice(0, 300)}`);
    }
  }

  call(tool, given, options) {
    // `$OUT` is a folder of this client's own.
    const text = JSON.stringify(given).replaceAll("$OUT", this.out);
    return this.client.callTool({ name: tool, arguments: JSON.parse(text) }, undefined, {
      timeout: 120_000,
      ...options,
    });
  }

  async list() {
    const { tools } = await this.client.listTools();
    const names = tools.map((tool) => tool.name);
    const wanted = [...new Set(cases.steps.map((step) => step.tool))].sort();
    this.equal(names.join(), wanted.join(), "listed tools, and those with a step in prepare.py");
    const { prompts } = await this.client.listPrompts();
    this.equal(prompts.length > 0, true, "prompts");
    await this.client.ping();
    return [names.length, prompts.length];
  }

  async step(step) {
    const { tool } = step;
    // The SDK checks structured content against the tool's output schema.
    const result = await this.call(tool, step.arguments);
    if (result.isError) fail(`${this.name}: ${tool} failed: ${result.content[0].text.slice(0, 500)}`);
    this.equal(result.content.length, 1, `${tool}: items`);
    const said = result.content[0].text;
    const marked = result._meta?.provenance;
    this.equal(marked && canonical(marked), UNMARKED.has(tool) ? undefined : PROVENANCE, `${tool}: provenance`);
    const file = step.evidence ?? step.result;
    if (file) {
      let text = readFileSync(file, "utf8");
      if (step.result) text = `{"result":${text}}`;
      this.equal(said, text, `${tool}: the text, and the command line's`);
      this.equal(canonical(result.structuredContent), text, `${tool}: structured content, and the command line's`);
    } else {
      this.equal(canonical(result.structuredContent), said, `${tool}: structured content, and the text`);
      for (const [path, wanted] of Object.entries(step.contains)) {
        this.equal(canonical(member(result.structuredContent, path)), canonical(wanted), `${tool}: ${path}`);
      }
    }
  }

  async errors() {
    const wrong = await this.call("read_bytes", { path: "x", address: 7, surprise: 1 });
    this.equal(wrong.isError, true, "a wrong call fails");
    this.equal(wrong.structuredContent, undefined, "an error has no structured content");
    this.equal(JSON.parse(wrong.content[0].text).error.code, "invalid_request", "its code");
    this.equal(canonical(wrong._meta.provenance), PROVENANCE, "its provenance");
    const code = await this.call("no_such_tool", {}).then(() => null, (error) => error.code);
    this.equal(code, -32602, "an unknown tool");
    const completed = await this.client.complete({
      ref: { type: "ref/prompt", name: "investigate_feature" },
      argument: { name: "provider_id", value: "AU" },
    });
    this.equal(completed.completion.values.join(), "auto", "a completion");
  }

  async records() {
    const summary = await this.call("get_evidence_bundle", { detail: "summary" });
    return summary.structuredContent.result.total_retained_records;
  }

  // A call that is given up ends, is no record, and leaves the server usable.
  async cancel() {
    const before = await this.records();
    const abort = new AbortController();
    let noticed;
    const notice = new Promise((resolve) => (noticed = resolve));
    const call = this.call(cases.cancelled.tool, cases.cancelled.arguments, {
      signal: abort.signal,
      onprogress: () => noticed(),
    }).then(() => "an answer", () => "given up");
    this.equal(await Promise.race([notice.then(() => "a notice"), call]), "a notice", "the call goes on");
    abort.abort("enough");
    const began = performance.now();
    this.equal(await call, "given up", "the call that was cancelled");
    while (await this.busy(cases.cancelled.tool)) {
      if (performance.now() - began > 10_000) fail(`${this.name}: a cancelled call goes on`);
    }
    const took = performance.now() - began;
    this.equal(await this.records(), before, "records after a cancelled call");
    return took;
  }

  async busy(tool) {
    const session = await this.call("binary_session", {});
    const { providers } = session.structuredContent.result.analysis_activity;
    return providers.some((provider) => provider.active?.operation === tool);
  }

  async progress() {
    const told = [];
    const { tool, arguments: given } = cases.watched;
    const result = await this.call(tool, given, { onprogress: (notice) => told.push(notice) });
    this.equal(result.isError, undefined, "the call succeeds");
    this.equal(told.length >= 2, true, `notices of progress: ${JSON.stringify(told)}`);
    const increases = told.every((notice, at) => at === 0 || notice.progress > told[at - 1].progress);
    this.equal(increases, true, `they increase: ${JSON.stringify(told)}`);
    this.equal(told.some((notice) => "total" in notice), false, "they have no total");
    this.equal(told.every((notice) => notice.message), true, "they have a message");
    return told.length;
  }

  continuation(result) {
    this.equal(result.isError, true, "it does not fit");
    this.equal(result.structuredContent, undefined, "an error has no structured content");
    const { error } = JSON.parse(result.content[0].text);
    this.equal(error.code, "resource_constraint", "its code");
    const { continuation } = error.details.reported_limits;
    this.equal(continuation.arguments.source.evidence_id, cases.oversized.evidence_id, "the parent");
    return continuation;
  }

  // A record that is too large for a reply, to the end of its pages.
  async oversized() {
    const rows = [];
    let [pages, halved, widened] = [0, 0, false];
    let call = this.continuation(await this.call(cases.oversized.tool, cases.oversized.arguments));
    for (;;) {
      const result = await this.call(call.name, call.arguments);
      if (result.isError) {
        // Too many rows for one reply: half as many are offered.
        call = this.continuation(result);
        halved += 1;
        continue;
      }
      const { items, coverage } = result.structuredContent.normalized_result;
      rows.push(...items.map((item) => item.record));
      pages += 1;
      if (coverage.exhausted) break;
      call.arguments.view.offset = coverage.next_offset;
      // More than can be sent, so that what is offered then is seen.
      if (!widened) [call.arguments.view.limit, widened] = [100_000, true];
    }
    const wanted = JSON.parse(readFileSync(cases.oversized.rows, "utf8"));
    this.equal(halved > 0, true, "pages that were halved");
    this.equal(rows.length, wanted.length, "rows of all pages");
    this.equal(canonical(rows) === canonical(wanted), true, "their content");
    this.compared += rows.length;
    return [pages, halved, rows.length];
  }

  async all() {
    const begun = performance.now();
    const [tools, prompts] = await this.list();
    for (const step of cases.steps) await this.step(step);
    await this.errors();
    const notices = await this.progress();
    const took = await this.cancel();
    const [pages, halved, rows] = await this.oversized();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(
      `${this.name}: ${tools} tools, ${prompts} prompts, ${this.compared} comparisons; ` +
        `a cancelled call ended within ${took.toFixed(0)} ms; ${notices} notices of progress; ` +
        `${rows} rows in ${pages} pages after ${halved} halvings; ${seconds} s`,
    );
    return this.compared;
  }
}

const environment = { ...process.env, REA_MCP_MAX_RESPONSE_BYTES: "10485760" };

async function connected(name, transport, out) {
  const client = new Client({ name: "rea-clients", version: "1" });
  await client.connect(transport);
  const compared = await new Part(name, client, out).all();
  await client.close();
  return compared;
}

let total = await connected(
  "TypeScript SDK, stdio",
  new StdioClientTransport({
    command: cases.rea,
    args: ["mcp"],
    cwd: cases.root,
    stderr: "ignore",
    env: { ...environment, REA_LOG_LEVEL: "silent" },
  }),
  `${folder}/out-ts-stdio`,
);

const server = spawn(cases.rea, ["mcp", "--http"], {
  cwd: cases.root,
  env: environment,
  stdio: ["ignore", "ignore", "pipe"],
});
const ended = new Promise((resolve) => server.on("exit", (code, signal) => resolve(code ?? signal)));
process.on("exit", () => server.kill());
const lines = createInterface({ input: server.stderr });
const { value: line } = await lines[Symbol.asyncIterator]().next();
lines.on("line", () => {});
const transport = new StreamableHTTPClientTransport(new URL(JSON.parse(line).url));
total += await connected("TypeScript SDK, HTTP", transport, `${folder}/out-ts-http`);
server.kill("SIGTERM");
const status = await ended;
if (status !== 143) fail(`the server ended with ${status} at SIGTERM`);
if (total === 0) fail("nothing was compared");
console.log(`TypeScript SDK: ${total} comparisons, no difference`);
