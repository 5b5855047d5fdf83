#!/usr/bin/env python3
"""Compares `rea inspect-plist` with Python's plistlib.

    scripts/truth_plists.py                 the property lists of the corpus (scripts/corpus.sh) and
                                            lists made here, each in XML and in binary
    scripts/truth_plists.py FILE...         these files
    scripts/truth_plists.py --plant         falsify the peer's side; each lie must show

Exit 1 on any difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import base64
import datetime
import json
import os
import plistlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from truth_artifacts import find_rea

EPOCH = datetime.datetime(2001, 1, 1)


def ours(rea, path):
    run = subprocess.run([rea, "inspect-plist", path], capture_output=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.decode("utf-8", "replace").strip()[:300])
    return json.loads(run.stdout)["normalized_result"]["value"]


def theirs(value):
    """A value of plistlib as the record writes it."""
    if isinstance(value, bool) or value is None or isinstance(value, (str, float)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"$integer": str(value)}
    if isinstance(value, bytes):
        return {"$data": base64.b64encode(value).decode()}
    if isinstance(value, datetime.datetime):
        text = value.isoformat()
        if "." in text:
            text = text.rstrip("0")
        return {"$date": text + "Z"}
    if isinstance(value, plistlib.UID):
        return {"UID": theirs(value.data)}
    if isinstance(value, list):
        return [theirs(item) for item in value]
    members = {key: theirs(item) for key, item in value.items()}
    keys = sorted(members)
    marked = len(members) <= 2 and keys and (keys[0].startswith("$") or keys[0] == "UID")
    return {"$dict": members} if marked else members


def differences(left, right, place=""):
    """Places where two values differ; how many scalars were compared."""
    if type(left) is not type(right) and not all(type(v) in (int, float) for v in (left, right)):
        return [f"{place or '/'}: {left!r:.80} and {right!r:.80}"], 1
    if isinstance(left, dict):
        found, count = [], 0
        for key in sorted(left.keys() | right.keys()):
            if key not in left or key not in right:
                found.append(f"{place}/{key}: only on one side")
                continue
            more, compared = differences(left[key], right[key], f"{place}/{key}")
            found += more
            count += compared
        return found, count
    if isinstance(left, list):
        if len(left) != len(right):
            return [f"{place}: {len(left)} and {len(right)} elements"], 1
        found, count = [], 0
        for at, (a, b) in enumerate(zip(left, right)):
            more, compared = differences(a, b, f"{place}/{at}")
            found += more
            count += compared
        return found, count
    return ([] if left == right else [f"{place or '/'}: {left!r:.80} and {right!r:.80}"]), 1


def plant(value, rng):
    """The value with one lie in it."""
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value))
        return value | {key: plant(value[key], rng)}
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return value[:at] + [plant(value[at], rng)] + value[at + 1 :]
    return "a lie" if value != "a lie" else "another lie"


def random_value(rng, level):
    kind = rng.randrange(11 if level < 4 else 8)
    if kind == 0:
        return rng.choice([True, False])
    if kind == 1:
        return rng.choice([0, 1, -1, 255, 256, 65535, 65536, 2**31, 2**32, 2**53, -(2**53), 2**63 - 1, -(2**63)])
    if kind == 2:
        return rng.randrange(2**64)
    if kind == 3:
        return rng.choice([0.5, -2.25, 1e300, 1e-300, 0.1, 12345.678])
    if kind == 4:
        letters = "abc \t<>&\"'é漢\U0001f600$"
        return "".join(rng.choice(letters) for _ in range(rng.randrange(40)))
    if kind == 5:
        return rng.randbytes(rng.randrange(60))
    if kind == 6:
        return EPOCH + datetime.timedelta(seconds=rng.randrange(-(10**10), 10**10))
    if kind == 7:
        return rng.choice(["", "$data", "UID"])
    if kind == 8:
        return [random_value(rng, level + 1) for _ in range(rng.randrange(6))]
    keys = ["key", "$date", "UID", "CF$UID", "ünicode", "a b", "", "x" * 40]
    return {rng.choice(keys): random_value(rng, level + 1) for _ in range(rng.randrange(20))}


def made(folder):
    rng = random.Random(2001)
    for number in range(200):
        value = {"value": random_value(rng, 0), "more": [random_value(rng, 1) for _ in range(5)]}
        for form, name in ((plistlib.FMT_XML, "xml"), (plistlib.FMT_BINARY, "binary")):
            path = Path(folder) / f"{number}.{name}.plist"
            path.write_bytes(plistlib.dumps(value, fmt=form, sort_keys=False))
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--plant", action="store_true", help="falsify the peer's side and demand that it shows")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    rng = random.Random(1)
    corpus = Path(os.environ.get("REA_CORPUS") or Path.home() / ".cache" / "rea-corpus")
    failures = compared = files = skipped = planted = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = arguments.targets
        if not targets:
            found = [path for path in sorted(corpus.rglob("*")) if path.suffix in (".plist", ".nib", ".strings") and path.is_file()]
            targets = found + list(made(folder))
        for path in targets:
            try:
                peer = theirs(plistlib.loads(path.read_bytes()))
            except Exception as error:  # what plistlib cannot read is no witness
                print(f"{path.name}: not read by plistlib ({type(error).__name__})")
                skipped += 1
                continue
            try:
                own = ours(arguments.rea, path)
            except RuntimeError as error:
                print(f"{path}: {error}")
                failures += 1
                continue
            found, count = differences(own, peer)
            files += 1
            compared += count
            for line in found[:10]:
                print(f"{path}: {line}")
            failures += len(found)
            if arguments.plant:
                planted += 1
                if not differences(own, plant(peer, rng))[0]:
                    print(f"{path}: a lie went unnoticed")
                    failures += 1
    if arguments.plant:
        print(f"{planted} lies planted")
    print(f"{files} files, {compared} values compared, {skipped} not read by the peer, {failures} differences or failures")
    return 0 if compared and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
