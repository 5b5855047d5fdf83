#!/usr/bin/env python3
"""Compares what rea reads of hostile ZIP archives with what Python's zipfile
and Info-ZIP's unzip read.

    scripts/zip-peers.py REA [FOLDER]

Each file of FOLDER (fuzz/corpus/zip) is read by all three. Printed are the
contents, as short SHA-256, that only one side has. The truth is decisions.md,
not a peer: each difference must be one that docs/safety.md explains. The exit
status is 1 where a peer reads content that rea neither reads nor explains
with an error or a limitation.
"""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile

warnings.simplefilter("ignore")


def short(content):
    return hashlib.sha256(content).hexdigest()[:8]


def by_rea(program, path):
    """Contents, and everything that is said of what was not read."""
    done = subprocess.run(
        [program, "inventory-artifact", "--format", "canonical", "--nested", "none",
         "--on-damage", "record", path],
        capture_output=True, check=False)
    if done.returncode:
        return collections.Counter(), [json.loads(done.stderr)["error"]["message"]]
    result = json.loads(done.stdout)["normalized_result"]
    nodes = {node["artifact_id"]: node["sha256"] for node in result["nodes"]}
    contents, said = collections.Counter(), list(result["limitations"][1:])
    for row in result["occurrences"]:
        said += row["limitations"]
        if row["logical_path"] != "." and row["entry_kind"] != "directory" and row["artifact_id"]:
            contents[nodes[row["artifact_id"]][:8]] += 1
    return contents, said


def by_python(path):
    contents = collections.Counter()
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.is_dir():
                    continue
                try:
                    contents[short(archive.read(member))] += 1
                except Exception:  # every kind of refusal counts alike
                    pass
    except Exception:
        pass
    return contents


def by_unzip(path):
    contents = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(["unzip", "-B", "-qq", "-P", "x", str(path), "-d", folder],
                           capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return contents
        for file in pathlib.Path(folder).rglob("*"):
            if file.is_symlink():
                contents[short(str(file.readlink()).encode())] += 1
            elif file.is_file():
                contents[short(file.read_bytes())] += 1
    return contents


def main():
    program = sys.argv[1]
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "fuzz/corpus/zip"
    silent = 0
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for path in files:
        ours, said = by_rea(program, path)
        for peer, theirs in (("zipfile", by_python(path)), ("unzip", by_unzip(path))):
            less, more = theirs - ours, ours - theirs
            if not less and not more:
                continue
            parts = [f"only {peer}: {' '.join(less.elements())}"] if less else []
            parts += [f"only rea: {' '.join(more.elements())}"] if more else []
            print(f"{path.name}: {'; '.join(parts)}")
            if less and not said:
                silent += 1
                print("  rea says nothing of it")
    print(f"{len(files)} archives, {silent} silent differences")
    return 1 if silent else 0


sys.exit(main())
