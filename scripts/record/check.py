"""Whether a recording of scripts/record/app.py holds everything the page asks for.

    python3 scripts/record/check.py RECORDING.har
"""

import json
import os
import sys
from urllib.parse import urlsplit

WANTED = {
    "GET /", "GET /logo.png", "GET /api/users", "GET /api/users/1", "GET /api/users/2",
    "GET /api/users/3", "GET /api/search", "GET /api/old/users", "GET /api/report",
    "POST /api/items", "POST /graphql",
}
# Files of the repository stay small.
LARGEST = 60_000


def main():
    path = sys.argv[1]
    # Python's own JSON reader, not the one that is tested with the recording.
    with open(path, encoding="utf-8-sig") as file:
        log = json.load(file)["log"]
    found = {
        f"{entry['request']['method']} {urlsplit(entry['request']['url']).path}"
        for entry in log["entries"]
    }
    creator, size = log["creator"], os.path.getsize(path)
    print(f"{os.path.basename(path)}: {creator['name']} {creator['version']}, "
          f"{len(log['entries'])} entries, {size} bytes")
    if missing := sorted(WANTED - found):
        sys.exit(f"missing in {path}: {', '.join(missing)}")
    if size > LARGEST:
        sys.exit(f"{path} is larger than {LARGEST} bytes")


main()
