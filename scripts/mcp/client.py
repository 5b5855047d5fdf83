#!/usr/bin/env python3
"""What `rea mcp` says to the Python SDK, over stdio and HTTP, in the revisions
with a session and in the one without.

    python scripts/mcp/client.py FOLDER

FOLDER is what scripts/mcp/prepare.py wrote. Exit 1 at the first difference.
"""

import asyncio
import contextlib
import json
import logging
import math
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

PROVENANCE = {"untrusted_content": True, "source": "analysis_target"}
RECEIVED = 10_485_760
UNMARKED = {"export_evidence_bundle", "record_unknown"}


def canonical(value):
    """RFC 8785, for what records hold."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def number(value):
    if value == 0 or not math.isfinite(value):
        return "0"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = re.sub(r"e([+-])0*(\d)", r"e\1\2", repr(value))
    # Python begins to write exponents sooner than ECMAScript does.
    small = re.fullmatch(r"(-?)(\d)\.?(\d*)e-(\d+)", text)
    if small and int(small[4]) < 7:
        return f"{small[1]}0.{'0' * (int(small[4]) - 1)}{small[2]}{small[3]}"
    return text


def member(value, path):
    for name in path.strip("/").split("/"):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def fail(message):
    """Ends all of it: an exception would be wrapped by every group of tasks."""
    print(message, file=sys.stderr, flush=True)
    os._exit(1)


class Part:
    """One client over one transport."""

    def __init__(self, name, client, cases, out):
        self.name, self.client, self.cases, self.out = name, client, cases, out
        self.compared = 0

    def equal(self, left, right, what):
        self.compared += 1
        if left != right:
            fail(f"{self.name}: {what}: {str(left)[:300]!r} is not {str(right)[:300]!r}")

    def placed(self, value):
        if isinstance(value, str):
            return value.replace("$OUT", str(self.out))
        if isinstance(value, list):
            return [self.placed(one) for one in value]
        if isinstance(value, dict):
            return {name: self.placed(one) for name, one in value.items()}
        return value

    async def call(self, tool, arguments, **more):
        return await self.client.call_tool(tool, self.placed(arguments), **more)

    async def list(self):
        tools = (await self.client.list_tools()).tools
        names = [tool.name for tool in tools]
        self.equal(names, sorted(set(names)), "names of tools")
        steps = {step["tool"] for step in self.cases["steps"]}
        self.equal(sorted(steps), names, "tools with a step in scripts/mcp/prepare.py, and listed ones")
        prompts = (await self.client.list_prompts()).prompts
        self.equal(len(prompts) > 0, True, "prompts")
        return len(names), len(prompts)

    async def step(self, step):
        tool = step["tool"]
        result = await self.call(tool, step["arguments"])
        if result.is_error:
            fail(f"{self.name}: {tool} failed: {result.content[0].text[:500]}")
        self.equal(len(result.content), 1, f"{tool}: items")
        said, structured = result.content[0].text, result.structured_content
        marked = (result.meta or {}).get("provenance")
        self.equal(marked, None if tool in UNMARKED else PROVENANCE, f"{tool}: provenance")
        if "evidence" in step or "result" in step:
            text = Path(step.get("evidence") or step["result"]).read_text()
            text = text if "evidence" in step else '{"result":' + text + "}"
            self.equal(said, text, f"{tool}: the text, and the command line's")
            self.equal(canonical(structured), text, f"{tool}: structured content, and the command line's")
        else:
            self.equal(canonical(structured), said, f"{tool}: structured content, and the text")
            for path, wanted in step["contains"].items():
                self.equal(member(structured, path), wanted, f"{tool}: {path}")

    async def errors(self):
        wrong = await self.call("read_bytes", {"path": "x", "address": 7, "surprise": 1})
        self.equal(wrong.is_error, True, "a wrong call fails")
        self.equal(wrong.structured_content, None, "an error has no structured content")
        error = json.loads(wrong.content[0].text)["error"]
        self.equal(error["code"], "invalid_request", "its code")
        self.equal(wrong.meta["provenance"], PROVENANCE, "its provenance")
        try:
            await self.client.call_tool("no_such_tool", {})
            code = None
        except Exception as raised:  # What the SDK makes of a protocol error.
            code = raised.error.code
        self.equal(code, -32602, "an unknown tool")

    async def records(self):
        summary = await self.call("get_evidence_bundle", {"detail": "summary"})
        return summary.structured_content["result"]["total_retained_records"]

    async def idle(self):
        session = await self.call("binary_session", {})
        return session.structured_content["result"]["analysis_activity"]

    async def cancel(self):
        """A call that is given up ends, is no record, and leaves the server usable."""
        case = self.cases["cancelled"]
        before = await self.records()
        noticed = anyio.Event()

        async def progress(*_):
            noticed.set()

        async def work():
            result = await self.call(case["tool"], case["arguments"], progress_callback=progress)
            fail(f"{self.name}: the call ended before it was cancelled: {str(result)[:500]}")

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            with anyio.fail_after(20):
                await noticed.wait()
            group.cancel_scope.cancel()
        began = time.monotonic()
        while (activity := await self.idle())["status"] != "idle" and any(
            provider["active"] and provider["active"]["operation"] == case["tool"]
            for provider in activity["providers"]
        ):
            if time.monotonic() - began > 10:
                fail(f"{self.name}: a cancelled call goes on: {activity}")
            await anyio.sleep(0.005)
        took = time.monotonic() - began
        self.equal(await self.records(), before, "records after a cancelled call")
        return took

    async def progress(self):
        case = self.cases["watched"]
        told = []

        async def progress(number, total, message):
            told.append((number, total, message))

        result = await self.call(case["tool"], case["arguments"], progress_callback=progress)
        if result.is_error:
            fail(f"{self.name}: {result.content[0].text[:500]}")
        numbers = [number for number, _, _ in told]
        self.equal(len(numbers) >= 2, True, f"notices of progress: {told}")
        self.equal(all(a < b for a, b in zip(numbers, numbers[1:])), True, f"they increase: {numbers}")
        self.equal({total for _, total, _ in told}, {None}, "they have no total")
        self.equal(all(message for _, _, message in told), True, "they have a message")
        return len(told)

    async def oversized(self):
        """A record that is too large for a reply, to the end of its pages."""
        case = self.cases["oversized"]
        refused = await self.call(case["tool"], case["arguments"])
        rows, pages, halved = [], 0, 0
        widened = False
        call = self.continuation(refused, case["evidence_id"])
        while call:
            result = await self.call(call["name"], call["arguments"])
            if result.is_error:
                # Too many rows for one reply: half as many are offered.
                call = self.continuation(result, case["evidence_id"])
                halved += 1
                continue
            page = result.structured_content["normalized_result"]
            pages += 1
            rows += [item["record"] for item in page["items"]]
            coverage = page["coverage"]
            if coverage["exhausted"]:
                break
            view = {**call["arguments"]["view"], "offset": coverage["next_offset"]}
            if not widened:
                # More than can be sent, so that what is offered then is seen.
                view["limit"], widened = 100_000, True
            call = {**call, "arguments": {**call["arguments"], "view": view}}
        wanted = json.loads(Path(case["rows"]).read_text())
        self.equal(halved > 0, True, "pages that were halved")
        self.equal(len(rows), len(wanted), "rows of all pages")
        self.equal(rows == wanted, True, "their content")
        self.compared += len(rows)
        return pages, halved, len(rows)

    def continuation(self, result, evidence_id):
        self.equal(result.is_error, True, "it does not fit")
        self.equal(result.structured_content, None, "an error has no structured content")
        error = json.loads(result.content[0].text)["error"]
        self.equal(error["code"], "resource_constraint", "its code")
        limits = error["details"]["reported_limits"]
        self.equal(limits["evidence_reference"]["evidence_id"][:3], "ev_", "what is retained")
        call = limits["continuation"]
        self.equal(call["arguments"]["source"]["evidence_id"], evidence_id, "the parent")
        return call

    async def all(self):
        begun = time.monotonic()
        tools, prompts = await self.list()
        for step in self.cases["steps"]:
            await self.step(step)
        await self.errors()
        notices = await self.progress()
        took = await self.cancel()
        pages, halved, rows = await self.oversized()
        if self.compared == 0:
            fail(f"{self.name}: nothing was compared")
        print(
            f"{self.name}, revision {self.client.protocol_version}: {tools} tools, {prompts} prompts, "
            f"{self.compared} comparisons; a cancelled call ended within {took * 1000:.0f} ms; "
            f"{notices} notices of progress; {rows} rows in {pages} pages after {halved} halvings; "
            f"{time.monotonic() - begun:.1f} s"
        )
        return self.compared


@contextlib.contextmanager
def http_server(cases):
    """`rea mcp --http`, and its address."""
    environment = {**os.environ, "REA_MCP_MAX_RESPONSE_BYTES": str(RECEIVED)}
    server = subprocess.Popen(
        [cases["rea"], "mcp", "--http"], cwd=cases["root"], env=environment,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    try:
        yield json.loads(server.stderr.readline())["url"], server
    finally:
        server.terminate()
        _, log = server.communicate(timeout=30)
        if server.returncode != 143:
            fail(f"the server ended with {server.returncode} at SIGTERM: {log[-2000:]}")


async def main():
    # What it says while a connection is closed.
    logging.disable(logging.ERROR)
    folder = Path(sys.argv[1]).resolve()
    cases = json.loads((folder / "cases.json").read_text())
    os.chdir(cases["root"])
    stdio = StdioServerParameters(
        command=cases["rea"], args=["mcp"], cwd=cases["root"],
        env={"REA_MCP_MAX_RESPONSE_BYTES": str(RECEIVED), "REA_LOG_LEVEL": "silent"},
    )
    total = 0
    for mode in ("legacy", "2026-07-28"):
        out = folder / f"out-python-stdio-{mode}"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        async with Client(stdio, mode=mode) as client:
            total += await Part(f"Python SDK, stdio ({mode})", client, cases, out).all()
    with http_server(cases) as (url, server):
        for mode in ("legacy", "2026-07-28"):
            out = folder / f"out-python-http-{mode}"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            # Its usual 1 MiB for an event is less than what a server may send.
            transport = streamable_http_client(url, max_sse_event_size=RECEIVED)
            async with Client(transport, mode=mode) as client:
                total += await Part(f"Python SDK, HTTP ({mode})", client, cases, out).all()
    print(f"Python SDK: {total} comparisons, no difference")


asyncio.run(main())
