"""Talks to `rea environment-serve` as an agent does. Used by scripts/browser_chain.sh:

    python3 scripts/record/serve.py ADDRESS MANIFEST.json

Checks the card against the list of tools and the manifest, and a recorded and an
unrecorded call. Prints a line for each check that holds.
"""

import json
import sys
import urllib.request

address, manifest = sys.argv[1].removesuffix("/mcp").rstrip("/"), sys.argv[2]
session = None
last = 0


def post(message):
    """Sends a message of the protocol; its reply, `None` for a notification."""
    global session
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    if session:
        headers["Mcp-Session-Id"] = session
    request = urllib.request.Request(f"{address}/mcp", json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as reply:
        session = reply.headers.get("Mcp-Session-Id") or session
        body = reply.read().decode()
        kind = reply.headers.get("Content-Type", "")
    if "id" not in message:
        return None
    if kind.startswith("text/event-stream"):
        events = [line[5:] for line in body.splitlines() if line.startswith("data:")]
        messages = [json.loads(event) for event in events if event.strip()]
        return next(reply for reply in messages if reply.get("id") == message["id"])
    return json.loads(body)


def ask(method, params):
    global last
    last += 1
    reply = post({"jsonrpc": "2.0", "id": last, "method": method, "params": params})
    assert "result" in reply, f"{method}: {reply}"
    return reply["result"]


def call(**arguments):
    result = ask("tools/call", {"name": "get_users_by_id", "arguments": arguments})
    content = result.get("structuredContent") or json.loads(result["content"][0]["text"])
    return content.get("result", content)


def check(what, holds):
    assert holds, what
    print(f"ok: {what}")


client = {"name": "browser-chain", "version": "1"}
ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
post({"jsonrpc": "2.0", "method": "notifications/initialized"})
tools = ask("tools/list", {})["tools"]
with open(manifest, encoding="utf-8") as file:
    wanted = [tool["name"] for tool in json.load(file)["normalized_result"]["manifest"]["tools"]]
check("the server lists the manifest's tools", sorted(wanted) == sorted(t["name"] for t in tools))
with urllib.request.urlopen(f"{address}/.well-known/agent-env.json", timeout=20) as reply:
    card = json.load(reply)
shown = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
check("the card equals the list of tools", card["capabilities"]["tools"] == shown)
recorded, unrecorded = call(id="2"), call(id="77")
check("a recorded user is answered exactly", recorded["replay"]["exact_match"] is True)
check("with what was recorded", recorded["body"]["login"] == "grace")
check("an unrecorded one is not", unrecorded["replay"]["exact_match"] is False)
