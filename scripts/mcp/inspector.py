#!/usr/bin/env python3
"""What `rea mcp` says to the inspector's command line, over stdio and HTTP.

    scripts/mcp/inspector.py FOLDER INSPECTOR

FOLDER is what scripts/mcp/prepare.py wrote, INSPECTOR the program. Each call is
a process of its own: over stdio also a server of its own, so that only calls that
need nothing of a session are made; over HTTP also a view of what the session
keeps, and all pages of a record that is too large. Exit 1 at the first difference.
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

FOLDER, INSPECTOR = Path(sys.argv[1]).resolve(), sys.argv[2]
CASES = json.loads((FOLDER / "cases.json").read_text())
ENVIRONMENT = {**os.environ, "REA_MCP_MAX_RESPONSE_BYTES": "10485760", "REA_LOG_LEVEL": "silent"}


class Part:
    def __init__(self, name, target, out):
        self.name, self.target, self.out = name, target, out
        self.compared = 0
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()

    def fail(self, message):
        sys.exit(f"{self.name}: {message}")

    def equal(self, left, right, what):
        self.compared += 1
        if left != right:
            self.fail(f"{what}: {str(left)[:300]!r} is not {str(right)[:300]!r}")

    def ask(self, *arguments, status=0):
        command = [INSPECTOR, "--cli", *self.target, "--format", "json", "--quiet", *arguments]
        run = subprocess.run(command, cwd=CASES["root"], env=ENVIRONMENT, capture_output=True, timeout=120)
        if run.returncode not in (0, status):
            said = (run.stderr + run.stdout).decode("utf-8", "replace")[-1500:]
            self.fail(f"{' '.join(arguments)[:200]}: status {run.returncode}: {said}")
        reply = json.loads(run.stdout)
        return reply.get("result", reply)

    def call(self, tool, arguments, **more):
        text = json.dumps(arguments).replace("$OUT", str(self.out))
        return self.ask("--method", "tools/call", "--tool-name", tool, "--tool-args-json", text, **more)

    def list(self):
        tools = [tool["name"] for tool in self.ask("--method", "tools/list")["tools"]]
        self.equal(tools, sorted({step["tool"] for step in CASES["steps"]}), "listed tools, and those with a step")
        prompts = self.ask("--method", "prompts/list")["prompts"]
        self.equal(len(prompts) > 0, True, "prompts")
        return len(tools)

    def step(self, step):
        tool = step["tool"]
        result = self.call(tool, step["arguments"])
        if result.get("isError"):
            self.fail(f"{tool} failed: {result['content'][0]['text'][:500]}")
        said, structured = result["content"][0]["text"], result["structuredContent"]
        # The inspector prints what it parsed: members stay in their order.
        again = json.dumps(structured, separators=(",", ":"), ensure_ascii=False)
        self.equal(again, said, f"{tool}: structured content, and the text")
        if "contains" not in step:
            text = Path(step.get("evidence") or step["result"]).read_text()
            text = text if "evidence" in step else '{"result":' + text + "}"
            self.equal(said, text, f"{tool}: the text, and the command line's")

    def oversized(self):
        case = CASES["oversized"]
        refused = self.call(case["tool"], case["arguments"], status=5)
        self.equal(refused.get("isError"), True, "a record that is too large")
        error = json.loads(refused["content"][0]["text"])["error"]
        call = error["details"]["reported_limits"]["continuation"]
        rows = []
        while True:
            view = call["arguments"]["view"]
            page = self.call(call["name"], call["arguments"])["structuredContent"]["normalized_result"]
            rows += [item["record"] for item in page["items"]]
            if page["coverage"]["exhausted"]:
                break
            # What is offered has few rows, for a process each.
            view["offset"], view["limit"] = page["coverage"]["next_offset"], 15_000
        self.equal(rows == json.loads(Path(case["rows"]).read_text()), True, "rows of all pages")
        self.compared += len(rows)
        return len(rows)


def done(part, tools, calls, begun, rows=None):
    if part.compared == 0:
        part.fail("nothing was compared")
    more = f"; {rows} rows of an oversized record" if rows else ""
    seconds = time.monotonic() - begun
    print(f"{part.name}: {tools} tools, {calls} calls, {part.compared} comparisons{more}; {seconds:.1f} s", flush=True)


def over_stdio(steps):
    begun = time.monotonic()
    stdio = Part("inspector, stdio", [CASES["rea"], "mcp"], FOLDER / "out-inspector-stdio")
    tools = stdio.list()
    for step in steps:
        stdio.step(step)
    done(stdio, tools, len(steps), begun)


def over_http(steps):
    begun = time.monotonic()
    server = subprocess.Popen(
        [CASES["rea"], "mcp", "--http"], cwd=CASES["root"], env=ENVIRONMENT,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    try:
        url = json.loads(server.stderr.readline())["url"]
        http = Part("inspector, HTTP", [url], FOLDER / "out-inspector-http")
        tools = http.list()
        for step in steps:
            http.step(step)
        rows = http.oversized()
        done(http, tools, len(steps), begun, rows)
    finally:
        server.terminate()
        server.wait(30)


def main():
    # The first call of each tool that needs no session: a process each is slow.
    single = {}
    for step in CASES["steps"]:
        if not step["state"]:
            single.setdefault(step["tool"], step)
    # Over HTTP what comes before is kept, so a view of it can be asked for.
    view = next(
        step for step in CASES["steps"]
        if step["tool"] == "inspect_analysis_view" and step["arguments"]["view"]["kind"] == "summary"
    )
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        parts = [
            pool.submit(over_stdio, [*single.values()]),
            pool.submit(over_http, [*single.values(), view]),
        ]
        for part in parts:
            part.result()


main()
