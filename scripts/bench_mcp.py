#!/usr/bin/env python3
"""Times `rea mcp` over stdio, paired with peers in alternating runs.

    scripts/bench_mcp.py [--rea target/release/rea] [--peer PYTHON] [--packages FOLDER]

PYTHON runs a minimal server of the official Python SDK (the `mcp` package, which
scripts/mcp_clients.sh --packages FOLDER leaves in FOLDER/python); without the SDK
those rows have no ratio. Rows with a bound end the script with 1 where it is
missed; a debug build only shows figures.

  start           from the start of the process to the reply to `initialize`
  list            tools/list
  no-op           binary_session, against the peer's tool that returns a word
  result          bytes of records a second in the text of large replies, against
                  `cat` of the frames' bytes through the same kind of pipe
  flat            resident memory after 100 and after 1,000 more calls
  concurrent      8 calls at once, against the same 8 one after the other
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("peer")
@server.tool()
def nothing() -> str:
    return "nothing"
server.run("stdio")
"""
DLL = "tests/data/pe/sample.dll"


class Server:
    def __init__(self, command, environment):
        began = time.perf_counter()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.replies = os.fdopen(os.dup(self.process.stdout.fileno()), "rb", 1 << 20)
        self.number = 0
        info = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.start = time.perf_counter() - began
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})

    def reply(self):
        line = self.replies.readline()
        if not line or b'"isError":true' in line[-2000:] or b'"error":' in line[:100]:
            sys.exit(f"the call failed: {line[:500]!r}")
        return line

    def ask(self, method, params):
        self.request(method, params)
        return self.reply()

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def resident(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rea", default=str(ROOT / "target/release/rea"))
    options.add_argument("--peer", default=sys.executable)
    options.add_argument("--packages")
    options.add_argument("--runs", type=int, default=200)
    given = options.parse_args()
    bounded = "debug" not in Path(given.rea).resolve().parts
    # A receive buffer that large records fit into.
    environment = {**os.environ, "REA_LOG_LEVEL": "silent", "REA_MCP_MAX_RESPONSE_BYTES": str(64 << 20)}
    if given.packages:
        environment["PYTHONPATH"] = str(Path(given.packages).resolve() / "python")
    rea = [os.path.abspath(given.rea), "mcp"]
    peer = [given.peer, "-c", PEER]
    installed = subprocess.run(
        [given.peer, "-c", "import mcp.server.mcpserver"], env=environment, capture_output=True
    ).returncode == 0
    if not installed:
        print("the Python SDK is not installed: rows against it have no ratio")
    missed = []

    def row(name, figure, unit, bound=None, peer=None, least=False):
        text = f"{name:<12}{figure:>10.2f} {unit}"
        if bound is not None:
            text += f"   bound {bound:g} ({figure / bound:.2f} of it)"
            if bounded and (figure < bound if least else figure > bound):
                missed.append(name)
        if peer is not None:
            text += f"   peer {peer:.2f} ({figure / peer:.3f} of it)"
        print(text, flush=True)

    # --- start ---
    ours, theirs = [], []
    for at in range(10):
        server = Server(rea, environment)
        ours.append(server.start)
        server.close()
        if installed and at < 3:
            server = Server(peer, environment)
            theirs.append(server.start)
            server.close()
    median = lambda values: statistics.median(values) * 1000 if values else None
    row("start", median(ours), "ms", 30, median(theirs))

    # --- list and no-op, alternating ---
    server = Server(rea, environment)
    other = Server(peer, environment) if installed else None
    figures = {name: ([], []) for name in ("list", "no-op")}
    for _ in range(given.runs):
        figures["list"][0].append(timed(lambda: server.ask("tools/list", {})))
        figures["no-op"][0].append(timed(lambda: server.call("binary_session")))
        if other:
            figures["list"][1].append(timed(lambda: other.ask("tools/list", {})))
            figures["no-op"][1].append(timed(lambda: other.call("nothing")))
    for name, bound in (("list", 5), ("no-op", 1)):
        row(name, median(figures[name][0]), "ms", bound, median(figures[name][1]))
    if other:
        other.close()

    # --- memory ---
    for _ in range(100):
        server.call("list_segments", path=DLL)
    before = server.resident()
    for _ in range(1000):
        server.call("list_segments", path=DLL)
    grown = (server.resident() - before) / (1 << 20)
    row("flat", grown, "MiB more after 1,000 calls", 2)

    # --- large results ---
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "many.bin"
        with open(many, "wb") as file:
            for at in range(60_000):
                file.write(f"string number {at:06} of many\0".encode())
        listed = json.loads(server.call("list_strings", path=str(many)))
        record = listed["result"]["structuredContent"]["evidence_id"]
        size = len(listed["result"]["content"][0]["text"].encode())
        # A view of all rows is made and sent without reading the file again.
        source = {"kind": "retained-evidence", "evidence_id": record}
        view = {"kind": "native-inventory", "offset": 0, "limit": 60_000}
        ours, theirs = [], []
        frame = Path(folder) / "frame"
        for _ in range(7):
            began = time.perf_counter()
            line = server.call("list_strings", path=str(many))
            ours.append(time.perf_counter() - began)
            frame.write_bytes(line)
            began = time.perf_counter()
            cat = subprocess.Popen(["cat", frame], stdout=subprocess.PIPE)
            while cat.stdout.read(1 << 20):
                pass
            cat.wait()
            theirs.append(time.perf_counter() - began)
        speed = lambda values: size / statistics.median(values) / 1e6
        row("result", speed(ours), f"MB/s of {size / 1e6:.1f} MB records", 60, speed(theirs), least=True)
        began = time.perf_counter()
        line = server.call("inspect_analysis_view", source=source, view=view)
        took = time.perf_counter() - began
        print(f"{'view':<12}{len(line) / took / 1e6:>10.2f} MB/s of a {len(line) / 1e6:.1f} MB frame, all rows of it")

        # --- concurrency ---
        large = Path(folder) / "large"
        with open(large, "wb") as file:
            file.write(os.urandom(1 << 20) * 24)
        arguments = {"name": "list_strings", "arguments": {"path": str(large), "min_length": 64}}
        server.ask("tools/call", arguments)
        alone, together = [], []
        for _ in range(3):
            alone.append(timed(lambda: [server.ask("tools/call", arguments) for _ in range(8)]))
            began = time.perf_counter()
            for _ in range(8):
                server.request("tools/call", arguments)
            for _ in range(8):
                server.reply()
            together.append(time.perf_counter() - began)
        ratio = statistics.median(alone) / statistics.median(together)
        cores = len(os.sched_getaffinity(0))
        row("concurrent", ratio, f"times as fast as one by one, {cores} cores")
    server.close()
    if missed:
        sys.exit(f"over the bound: {', '.join(missed)}")


main()
