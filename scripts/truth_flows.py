#!/usr/bin/env python3
"""What mitmproxy itself reads from files of native flows, against `rea`.

    python3 scripts/truth_flows.py --rea target/debug/rea --mitmdump .../bin/mitmdump FLOWS...

Needs mitmproxy 12.2.3. Its own reader of the format, in the Python beside mitmdump,
gives each flow's offset, length, state and byte fields; the record must have the
same, but for what its redactions name. Prints how many flows and fields agreed, and a
digest of the byte fields for tests/web_flows.rs. Fails at zero.
"""

import argparse
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile

READER = """
import base64, json, sys
from mitmproxy.io import tnetstring
file, flows = open(sys.argv[1], "rb"), []
def plain(value, pointer, fields):
    if isinstance(value, bytes):
        fields.append([pointer, base64.b64encode(value).decode()])
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, dict):
        return {name: plain(member, f"{pointer}/{name}", fields) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element, f"{pointer}/{at}", fields) for at, element in enumerate(value)]
    return value
end = file.seek(0, 2)
file.seek(0)
while file.tell() < end:
    start, fields = file.tell(), []
    state = plain(tnetstring.load(file), "", fields)
    flows.append([start, file.tell() - start, state, fields])
json.dump(flows, sys.stdout)
"""


def same(found, wanted, pointer, hidden):
    if pointer in hidden:
        return
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), pointer
        for name, member in wanted.items():
            same(found[name], member, f"{pointer}/{name}", hidden)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), pointer
        for at, element in enumerate(wanted):
            same(found[at], element, f"{pointer}/{at}", hidden)
    else:
        assert type(found) is type(wanted) or isinstance(wanted, float), pointer
        assert found == wanted, pointer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rea", required=True)
    parser.add_argument("--mitmdump", required=True)
    parser.add_argument("flows", nargs="+")
    options = parser.parse_args()
    mitmdump = os.path.abspath(options.mitmdump)
    python = os.path.join(os.path.dirname(mitmdump), "python")
    environment = dict(os.environ, REA_MITMDUMP_COMMAND=mitmdump)
    total = fields_total = 0
    for path in options.flows:
        with open(path, "rb") as file:
            data = file.read()
        with tempfile.NamedTemporaryFile(suffix=".flows") as plain:
            plain.write(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
            plain.flush()
            read = subprocess.run([python, "-c", READER, plain.name], check=True, capture_output=True)
        wanted = json.loads(read.stdout)
        command = [options.rea, "inspect-web-network-capture", path, "mitmproxy"]
        record = subprocess.run(command, check=True, capture_output=True, env=environment)
        records = json.loads(record.stdout)["normalized_result"]["records"]
        assert len(records) == len(wanted), path
        digest = hashlib.sha256()
        for record, (offset, length, state, fields) in zip(records, wanted):
            assert record["location"] == {"kind": "byte-range", "offset": offset, "bytes": length}
            hidden = {redaction["pointer"] for redaction in record["redactions"]}
            found = [[field["pointer"], field["content_base64"]] for field in record["binary_fields"]]
            shown = [[pointer, None if pointer in hidden else content] for pointer, content in fields]
            assert found == shown, f"{path}: byte fields of record {record['ordinal']}"
            same(record["reported"], state, "", hidden)
            for pointer, content in shown:
                digest.update(f"{record['ordinal']} {pointer} {content}\n".encode())
            total += 1
            fields_total += len(fields)
        print(f"{path}: {len(wanted)} flows, byte fields {digest.hexdigest()}")
    print(f"{total} flows and {fields_total} byte fields are as mitmproxy reads them")
    if not total or not fields_total:
        sys.exit("nothing was compared")


main()
