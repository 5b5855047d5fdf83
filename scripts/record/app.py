"""A small application to record: a page, and an API behind it, on 127.0.0.1.

    python3 scripts/record/app.py --port 8471 [--without search]

`/` calls every operation once and then says so in its title; `/start` goes there
after a while, for what must be attached before. With `--without NAME` that operation
does not exist and the page does not call it. Prints its address once it listens.
"""

import argparse
import base64
import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

USERS = [
    {"id": 1, "login": "ada", "name": "Ada", "admin": True},
    {"id": 2, "login": "grace", "name": "Grace", "admin": False},
    {"id": 3, "login": "edsger", "name": "Edsger", "admin": False},
]

# One red pixel.
LOGO = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLv"
    "AAAAAElFTkSuQmCC"
)

# What the page calls, by the operation's name.
CALLS = [
    ("users", "/api/users", None),
    ("user", "/api/users/1", None),
    ("user", "/api/users/2", None),
    ("search", "/api/search?q=ada&limit=2", None),
    ("item", "/api/items", {"name": "lamp", "tags": ["blue", "\u00e9"], "price": 9.5}),
    ("graphql", "/graphql", {
        "operationName": "GetUser",
        "query": "query GetUser($id: ID!) { user(id: $id) { login } }",
        "variables": {"id": "2"},
    }),
    ("moved", "/api/old/users", None),
    ("report", "/api/report", None),
]

PAGE = """<!doctype html><meta charset="utf-8"><title>loading</title>
<link rel="icon" href="data:,">
<img src="/logo.png" alt="">
<script>
const calls = %s;
addEventListener("load", async () => {
  for (const [, path, body] of calls) {
    const options = body === null ? {} : {
      method: "POST", headers: {"Content-Type": "application/json"},
      body: JSON.stringify(body)};
    await (await fetch(path, options)).text();
  }
  document.title = "done";
});
</script>
"""

START = '<!doctype html><meta http-equiv="refresh" content="%d;url=/"><link rel="icon" href="data:,">'


class App(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "app"
    sys_version = ""

    def log_message(self, *_):
        """Says nothing of requests."""

    def answer(self, status, body, kind="application/json", headers=()):
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def operation(self, path):
        """The name of the operation at a path, `None` where there is none."""
        parts = path.strip("/").split("/")
        match parts:
            case ["api", "users"]:
                name = "users"
            case ["api", "users", _]:
                name = "user"
            case ["api", "search"]:
                name = "search"
            case ["api", "items"]:
                name = "item"
            case ["api", "old", "users"]:
                name = "moved"
            case ["api", "report"]:
                name = "report"
            case ["graphql"]:
                name = "graphql"
            case _:
                return None
        return None if name in self.server.without else name

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/":
            calls = [call for call in CALLS if call[0] not in self.server.without]
            return self.answer(200, (PAGE % json.dumps(calls)).encode(), "text/html")
        if url.path == "/start":
            return self.answer(200, (START % self.server.wait).encode(), "text/html")
        if url.path == "/logo.png":
            return self.answer(200, LOGO, "image/png")
        name = self.operation(url.path)
        if name == "users":
            return self.answer(200, USERS, headers=[("Set-Cookie", "session=not-for-records")])
        if name == "user":
            wanted = url.path.rsplit("/", 1)[1]
            found = [user for user in USERS if str(user["id"]) == wanted]
            return self.answer(200, found[0]) if found else self.missing()
        if name == "search":
            query = parse_qs(url.query)
            text = query.get("q", [""])[0]
            found = [user for user in USERS if text in user["login"]]
            return self.answer(200, {"total": len(found), "items": found})
        if name == "moved":
            return self.answer(302, b"", headers=[("Location", "/api/users/3")])
        if name == "report":
            lines = {"lines": [{"user": user["id"], "hours": 7.25} for user in USERS]}
            body = gzip.compress(json.dumps(lines).encode(), mtime=0)
            return self.answer(200, body, headers=[("Content-Encoding", "gzip")])
        return self.missing()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.operation(urlsplit(self.path).path)
        if name == "item":
            return self.answer(201, {"id": 1001, **json.loads(body)})
        if name == "graphql":
            return self.answer(200, {"data": {"user": {"login": "grace"}}})
        return self.missing()

    def missing(self):
        self.answer(404, {"error": "there is nothing here"})


def main():
    parser = argparse.ArgumentParser(description="An application to record.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--wait", type=int, default=6, help="seconds that /start waits")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), App)
    server.without, server.wait = options.without, options.wait
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
