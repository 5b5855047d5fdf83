#!/usr/bin/env python3
"""Serves an environment under seccomp: no connection, no written file, no process.

    scripts/serve_sealed.py REA

Makes the records of tests/data/web/dashboards.har, and starts `rea environment-serve` behind
a filter that kills it at connect, at opening a file for writing, creating, renaming or
removing one, and at starting a process. Then asks for the card, for JSON-RPC, and calls
a tool, and ends it. First the filter is shown to kill what does such things. x86-64 Linux.
"""

import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HAR = Path(__file__).resolve().parent.parent / "tests/data/web/dashboards.har"
KILL, ALLOW, ENOSYS = 0x80000000, 0x7FFF0000, 0x00050000 | 38
# connect; fork, vfork; rename, mkdir, rmdir, creat, link, unlink, symlink and their later forms.
NEVER = [42, 57, 58, 82, 83, 84, 85, 86, 87, 88, 258, 263, 264, 265, 266, 316]
OPENAT, OPEN, CLONE, CLONE3 = 257, 2, 56, 435
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CLONE_THREAD = 0x10000


def seal():
    """A filter of seccomp(2), classic BPF over (number, architecture, address, arguments)."""
    load = lambda offset: (0x20, 0, 0, offset)
    equal = lambda value, yes, no: (0x15, yes, no, value)
    any_bit = lambda bits, yes, no: (0x45, yes, no, bits)
    end = lambda what: (0x06, 0, 0, what)
    program = [load(4), equal(0xC000003E, 1, 0), end(KILL), load(0)]
    for number in NEVER:
        program += [equal(number, 0, 1), end(KILL)]
    # Later calls with structures for arguments: as on a kernel without them.
    program += [equal(CLONE3, 0, 1), end(ENOSYS), equal(437, 0, 1), end(ENOSYS)]
    for number, argument in (OPENAT, 2), (OPEN, 1):
        program += [equal(number, 0, 4), load(16 + 8 * argument), any_bit(WRITES, 0, 1), end(KILL), end(ALLOW)]
    program += [equal(CLONE, 0, 4), load(16), any_bit(CLONE_THREAD, 1, 0), end(KILL), end(ALLOW), end(ALLOW)]
    text = b"".join(struct.pack("HBBI", *one) for one in program)
    held = ctypes.create_string_buffer(text, len(text))
    rules = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(held)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, rules, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def killed(code):
    """Whether Python is killed when it runs this."""
    run = subprocess.run([sys.executable, "-c", code], preexec_fn=seal, stderr=subprocess.DEVNULL)
    return run.returncode == -signal.SIGSYS


def main():
    rea = os.path.abspath(sys.argv[1])
    for code in (
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "open('/tmp/sealed', 'w')",
        "import os; os.fork()",
        "import os; os.unlink('/tmp/nothing-there')",
    ):
        assert killed(code), f"the filter does not stop: {code}"
    assert subprocess.run([sys.executable, "-c", "open('/dev/null')"], preexec_fn=seal).returncode == 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        capture, manifest = folder / "capture.json", folder / "manifest.json"
        subprocess.run([rea, "inspect-web-network-capture", HAR, "har", "-q", "-o", capture], check=True)
        subprocess.run([rea, "view", capture, "--environment-manifest", "-q", "-o", manifest], check=True)
        command = [rea, "environment-serve", manifest, "--evidence", capture]
        pipe = subprocess.PIPE
        server = subprocess.Popen(command, preexec_fn=seal, stdout=pipe, stderr=pipe, text=True)
        line = server.stderr.readline()
        assert line, f"it does not start: {server.wait()}"
        url = json.loads(line)["url"]
        root = url.removesuffix("/mcp")
        card = json.load(urllib.request.urlopen(f"{root}/.well-known/agent-env.json"))
        names = [tool["name"] for tool in card["capabilities"]["tools"]]
        assert "get_users_by_id" in names, names

        def ask(message, path="/mcp", **headers):
            headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            request = urllib.request.Request(root + path, json.dumps(message).encode(), headers)
            reply = urllib.request.urlopen(request)
            lines = [one.removeprefix("data:").strip() for one in reply.read().decode().splitlines()]
            found = [one for one in lines if one.startswith("{")]
            return reply.headers, json.loads(found[-1]) if found else None

        call = lambda number, method, params: {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        assert ask(call(1, "run", {}), "/agentenv")[1]["error"]["code"] == -32601
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "sealed", "version": "1"}}
        session = {"Mcp-Session-Id": ask(call(1, "initialize", client))[0]["Mcp-Session-Id"]}
        ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
        reply = ask(call(2, "tools/call", {"name": "get_users_by_id", "arguments": {"id": "3"}}), **session)[1]
        assert reply["result"]["structuredContent"]["replay"]["exact_match"] is True, reply
        server.terminate()
        said = server.communicate()[0]
        assert server.returncode == 143 and json.loads(said)["status"] == "stopped", (server.returncode, said)
    print(f"{len(names)} tools served under seccomp: card, JSON-RPC and a call; 4 programs that do more were killed")


if __name__ == "__main__":
    main()
