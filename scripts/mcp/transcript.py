#!/usr/bin/env python3
"""Writes the session that docs/mcp.md shows, as it happens:

    scripts/mcp/transcript.py [--rea PROGRAM] [--corpus FOLDER] [--check]

An APK of scripts/corpus.sh, to which the small library of the golden tests is
added (it has none of its own), is opened, inspected, and its library taken out
and laid out; the session's bundle is then checked by the command line. Long
values are shortened in what is shown, and only there. `--check` only compares.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs/mcp.md"
BEGIN, END = "<!-- scripts/mcp/transcript.py -->\n", "<!-- end -->\n"
LIBRARY = "lib/x86_64/libtiny.so"


def shortened(value, depth=0):
    if isinstance(value, str):
        value = re.sub(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b", r"\1...", value)
        value = re.sub(r"_([0-9a-f]{8})[0-9a-f]{56}", r"_\1...", value)
        return value if len(value) <= 90 else value[:80] + "..."
    if isinstance(value, list):
        return [shortened(one, depth + 1) for one in value[:3]] + (["..."] if len(value) > 3 else [])
    if isinstance(value, dict):
        return {name: shortened(one, depth + 1) for name, one in value.items()}
    return value


class Session:
    def __init__(self, rea, folder):
        self.said, self.number, self.folder = [], 0, folder
        environment = {**os.environ, "REA_LOG_LEVEL": "silent"}
        pipe = subprocess.PIPE
        self.server = subprocess.Popen([rea, "mcp"], cwd=folder, stdin=pipe, stdout=pipe, env=environment)
        info = {"name": "transcript", "version": "1"}
        first = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        self.ask("initialize", first)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps(message).encode() + b"\n")
        self.server.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        reply = json.loads(self.server.stdout.readline())
        if reply.get("id") != self.number or "error" in reply:
            sys.exit(f"{method}: {reply}")
        return reply["result"]

    def say(self, *lines):
        self.said += lines

    def call(self, why, tool, arguments, show):
        """Calls a tool and shows the members that `show` names."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            sys.exit(f"{tool}: {result['content'][0]['text']}")
        structured = result["structuredContent"]
        inner = structured.get("result", structured)
        shown = {}
        for name, path in show.items():
            value = inner
            for part in path.split("/"):
                value = value[int(part)] if isinstance(value, list) else value[part]
            shown[name] = value
        request = json.dumps(shortened({"name": tool, "arguments": arguments}))
        text = json.dumps(shortened(shown), indent=2).replace(str(self.folder), "/work")
        self.say(why, "", "```text", f"> {request}", *text.splitlines(), "```", "")
        return structured


def record(rea, apk, folder):
    with zipfile.ZipFile(folder / "app.apk", "w") as made, zipfile.ZipFile(apk) as given:
        for member in given.infolist():
            made.writestr(member, given.read(member))
        library = (ROOT / "tests/golden/layout-elf/in/libtiny.so").read_bytes()
        made.writestr(zipfile.ZipInfo(LIBRARY, (1981, 1, 1, 0, 0, 0)), library)
    session = Session(rea, folder)
    call = session.call
    call("What is this server, and what is open?", "binary_session", {}, {
        "open": "open", "tools": "server_identity/catalog/counts/mcp_tools",
        "protocol": "server_identity/negotiated_protocol_version"})
    call("Open the application, so that `path` can be left out.", "open_binary", {"path": "app.apk"}, {
        "path": "path", "format": "format", "kind": "kind", "sha256": "sha256"})
    summary = call("Look into it. The complete record stays in the session; the reply is a view of it.",
        "inspect_artifact", {"detail": "summary"}, {
            "evidence_id": "evidence_id", "parent_evidence_id": "normalized_result/parent_evidence_id",
            "entry_kinds": "normalized_result/summary/entry_kinds",
            "available": "normalized_result/summary/available"})
    parent = summary["normalized_result"]["parent_evidence_id"]
    source = {"kind": "retained-evidence", "evidence_id": parent}
    view = {"kind": "inventory", "collection": "occurrences", "offset": 0, "limit": 2}
    call("Its members, a page at a time.", "inspect_analysis_view", {"source": source, "view": view}, {
        "coverage": "normalized_result/coverage", "first": "normalized_result/items/0/logical_path"})
    view = {"kind": "inventory", "collection": "occurrences", "logical_paths": [LIBRARY]}
    call("Or the one of interest, by its path.", "inspect_analysis_view", {"source": source, "view": view}, {
        "evidence_id": "evidence_id", "item": "normalized_result/items/0"})
    call("Take the library out.", "extract_artifact", {"logical_paths": [LIBRARY], "into": "out"}, {
        "evidence_id": "evidence_id", "artifacts": "normalized_result/artifacts"})
    layout = call("Lay it out.", "inspect_binary_layout", {"path": f"out/{LIBRARY}", "detail": "summary"}, {
        "evidence_id": "evidence_id", "summary": "normalized_result/summary"})
    parent = layout["normalized_result"]["parent_evidence_id"]
    source = {"kind": "retained-evidence", "evidence_id": parent}
    call("How is it linked?", "inspect_analysis_view",
        {"source": source, "view": {"kind": "facet", "facet": "linkage"}}, {
            "evidence_id": "evidence_id", "facet": "normalized_result/facet"})
    call("Keep everything that was found.", "export_evidence_bundle", {"path": "bundle.json"}, {
        "path": "path", "records": "records", "unknowns": "unknowns"})
    session.server.stdin.close()
    if session.server.wait(30) != 0:
        sys.exit("the server did not end with 0 at the end of its input")
    checked = subprocess.run([rea, "verify-evidence", "bundle.json", "--format", "report"],
        cwd=folder, capture_output=True, text=True)
    if checked.returncode != 0:
        sys.exit(f"verify-evidence: {checked.stderr}")
    session.say("Anyone can check the bundle without the server.", "", "```console",
        "$ rea verify-evidence bundle.json --format report", *checked.stdout.rstrip().splitlines(), "```", "")
    return "\n".join(session.said) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rea", default=str(ROOT / "target/debug/rea"))
    corpus = os.environ.get("REA_CORPUS", os.path.expanduser("~/.cache/rea-corpus"))
    options.add_argument("--corpus", default=corpus)
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    apk = sorted(Path(given.corpus).glob("apk-new/package/apks/appium-uiautomator2-server-v*.apk"))
    if not apk:
        sys.exit(f"no APK in {given.corpus}: run scripts/corpus.sh first")
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        text = record(os.path.abspath(given.rea), apk[0], folder)
    finally:
        shutil.rmtree(folder)
    document = DOCUMENT.read_text()
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    written = before + BEGIN + text + END + after
    if given.check:
        sys.exit(0 if written == document else "docs/mcp.md shows another session")
    DOCUMENT.write_text(written)


main()
