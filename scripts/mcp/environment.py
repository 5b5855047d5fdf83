#!/usr/bin/env python3
"""From a recording to what an agent gets of it: capture, manifest, server, and
the Python SDK as its client, in the revisions with a session and in the one
without.

    python scripts/mcp/environment.py REA FOLDER

FOLDER is for the records. Exit 1 at the first difference.
"""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).resolve().parent.parent.parent
HAR = ROOT / "tests/data/web/dashboards.har"
PROVENANCE = {"untrusted_content": True, "source": "analysis_target"}
compared = 0


def fail(message):
    """Ends all of it: an exception would be wrapped by every group of tasks."""
    print(message, file=sys.stderr, flush=True)
    os._exit(1)


def equal(left, right, what):
    global compared
    compared += 1
    if left != right:
        fail(f"{what}: {str(left)[:500]!r} is not {str(right)[:500]!r}")


def recorded(number):
    """What the recording holds of an exchange, read without any of our code."""
    return json.loads(HAR.read_text())["log"]["entries"][number]["response"]


def replay(result, number, exact, what):
    """A successful reply with the exchange of that number."""
    equal(result.is_error, False, f"{what}: it succeeds")
    equal((result.meta or {}).get("provenance"), PROVENANCE, f"{what}: provenance")
    reply = result.structured_content
    equal(json.loads(result.content[0].text), reply, f"{what}: the text, and the structured content")
    equal(reply["replay"]["record_ordinal"], number, f"{what}: the record")
    equal(reply["replay"]["exact_match"], exact, f"{what}: exact_match")
    response = recorded(number)
    equal(reply["status"], response["status"], f"{what}: status")
    equal(reply["content_type"], response["content"]["mimeType"], f"{what}: type")
    return reply, response["content"].get("text")


async def walk(client, card, evidence_id):
    tools = (await client.list_tools()).tools
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in tools
    ]
    equal(card["capabilities"]["tools"], listed, "the card, and tools/list")
    names = {tool.name for tool in tools}
    wanted = {"get_users_by_id", "get_search", "post_annotations", "get_teams_by_id_members", "get_login"}
    equal(wanted - names, set(), "tools")

    for number, user, exact in [(1, "2", True), (2, "3", True), (3, "404", True), (1, "77", False)]:
        result = await client.call_tool("get_users_by_id", {"id": user})
        reply, text = replay(result, number, exact, f"user {user}")
        equal(reply["body"], json.loads(text), f"user {user}: body")
        equal(reply["replay"]["evidence_id"], evidence_id, f"user {user}: the capture")
    result = await client.call_tool("get_search", {"query": "cpu"})
    replay(result, 4, True, "a search")
    result = await client.call_tool("get_search", {"query": "disk", "type": "dash-db"})
    replay(result, 4, False, "another search")
    result = await client.call_tool("post_annotations", {"body": {"text": "mine"}})
    replay(result, 7, True, "a write")
    # One number that a double does not keep: all of it is text.
    result = await client.call_tool("get_teams_by_id_members", {"id": "9"})
    reply, text = replay(result, 6, True, "a large number")
    equal(reply["body"], text, "a large number: body")

    for arguments in ({}, {"id": 2}, {"id": "2", "surprise": 1}):
        wrong = await client.call_tool("get_users_by_id", arguments)
        equal(wrong.is_error, True, f"{arguments}: it fails")
        equal(wrong.structured_content, None, f"{arguments}: structured content")
        equal(wrong.meta["provenance"], PROVENANCE, f"{arguments}: provenance")
        error = json.loads(wrong.content[0].text)["error"]
        equal(error["code"], "invalid_request", f"{arguments}: code")
    try:
        await client.call_tool("binary_session", {})
        code = None
    except Exception as raised:  # What the SDK makes of a protocol error.
        code = raised.error.code
    equal(code, -32602, "an unknown tool")
    return len(tools)


async def main():
    # What it says while a connection is closed.
    logging.disable(logging.ERROR)
    rea, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    capture, manifest = folder / "capture.json", folder / "manifest.json"

    def run(*arguments):
        subprocess.run([rea, *map(str, arguments), "-q", "--overwrite"], check=True)

    run("inspect-web-network-capture", HAR, "har", "-o", capture)
    run("view", capture, "--environment-manifest", "-o", manifest)
    evidence_id = json.loads(capture.read_text())["evidence_id"]
    server = subprocess.Popen(
        [rea, "environment-serve", manifest, "--evidence", capture, "--format", "json"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    url = json.loads(server.stderr.readline())["url"]
    with urllib.request.urlopen(url.removesuffix("/mcp") + "/.well-known/agent-env.json") as answer:
        card = json.load(answer)
    equal(card["name"], "dashboards-example", "the name in the card")
    for mode in ("legacy", "2026-07-28"):
        async with Client(streamable_http_client(url), mode=mode) as client:
            tools = await walk(client, card, evidence_id)
            print(f"Python SDK, environment ({mode}), revision {client.protocol_version}: {tools} tools")
    server.send_signal(signal.SIGTERM)
    out, log = server.communicate(timeout=30)
    equal(server.returncode, 143, f"its end ({log[-2000:]})")
    equal(json.loads(out)["status"], "stopped", "its last word")
    print(f"Python SDK, environment: {compared} comparisons, no difference")


asyncio.run(main())
