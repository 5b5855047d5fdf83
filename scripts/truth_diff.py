#!/usr/bin/env python3
"""Compares `rea diff` of pairs of archives with what independent tools say of them.

Peers: for ZIP files the CRC-32 and size of each entry by `unzip -lv` and by Python's zipfile, which
must agree; for tarballs the type, link target and SHA-256 of each entry by Python's tarfile. The
entries that differ by them must be those that `rea diff` tells, no more and no fewer, with nested
containers left closed and, on the first level, with nested containers opened. Each archive against
itself must be unchanged with exit status 0, and a pair that differs must exit with 3.

    scripts/truth_diff.py                        the pairs of the corpus (scripts/corpus.sh)
    scripts/truth_diff.py --rea PATH OLD NEW     this pair
    scripts/truth_diff.py --plant                falsify the peers' side; each lie must show

Exit 1 on any difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

CORPUS = Path(os.environ.get("REA_CORPUS", Path.home() / ".cache/rea-corpus"))
PAIRS = [
    ("apk-old/package/apks/appium-uiautomator2-server-v*.apk", "apk-new/package/apks/appium-uiautomator2-server-v*.apk"),
    ("apk-old/package/apks/*androidTest.apk", "apk-new/package/apks/*androidTest.apk"),
    ("apk-old.tgz", "apk-new.tgz"),
    ("wheels/numpy-2.1.0-*.whl", "wheels/numpy-2.1.1-*.whl"),
    ("elf-old.tgz", "elf-new.tgz"),
    ("wasm-old.tgz", "wasm-new.tgz"),
]


# --------------------------------------------------------------------------------------------------
# The peers: name -> what the content is, None for directories


def unzip_entries(path):
    """Names with (size, CRC-32) by `unzip -lv`."""
    line = re.compile(r"^\s*(\d+)\s+\S+\s+\d+\s+-?\d+%\s+\S+\s+\S+\s+([0-9a-f]{8})\s\s(.*)$")
    env = dict(os.environ, LC_ALL="C.UTF-8")
    run = subprocess.run(["unzip", "-lv", path], capture_output=True, check=True, env=env)
    found = [line.match(text) for text in run.stdout.decode("utf-8", "surrogateescape").splitlines()]
    return [(m.group(3), (int(m.group(1)), int(m.group(2), 16))) for m in found if m]


def zip_entries(path):
    with zipfile.ZipFile(path) as archive:
        entries = [(info.filename, (info.file_size, info.CRC)) for info in archive.infolist()]
    if sorted(entries) != sorted(unzip_entries(path)):
        raise RuntimeError(f"unzip and zipfile do not agree on {path}")
    return [(name.rstrip("/"), None if name.endswith("/") else content) for name, content in entries]


def tar_entries(path):
    entries = []
    with tarfile.open(path) as archive:
        for member in archive:
            content = None
            if member.issym():
                content = ("link", member.linkname)
            elif not member.isdir():
                content = ("file", hashlib.sha256(archive.extractfile(member).read()).hexdigest())
            name = member.name.removeprefix("./")
            if name not in ("", "."):
                entries.append((name, content))
    return entries


def entries(path):
    found = zip_entries(path) if zipfile.is_zipfile(path) else tar_entries(path)
    twice = [name for name, count in Counter(name for name, _ in found).items() if count > 1]
    if twice:
        raise RuntimeError(f"{path} holds {twice[0]} more than once")
    return dict(found)


def differences(old, new):
    """Name -> added, removed or changed."""
    told = {name: "added" for name in new.keys() - old.keys()}
    told |= {name: "removed" for name in old.keys() - new.keys()}
    told |= {name: "changed" for name in old.keys() & new.keys() if old[name] != new[name]}
    return told


# --------------------------------------------------------------------------------------------------
# Our side


def rea_diff(rea, old, new, *options):
    run = subprocess.run([rea, "diff", "--exit-code", *options, old, new], capture_output=True)
    if run.returncode not in (0, 3):
        message = run.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"rea exits with {run.returncode}: {message[:500]}")
    return run.returncode, run.stdout


def told_by(record, old, new):
    """Name -> class of the first level: entries of the archives themselves."""
    result = record["normalized_result"]
    changes = result["substeps"][0]["evidence"]["normalized_result"]["changes"]
    files = {name for side in (old, new) for name, content in side.items() if content is not None}
    folders = {name for side in (old, new) for name, content in side.items() if content is None}
    told, nested = {}, 0
    for change in changes:
        path, kind = change["logical_path"], change["classification"]
        above = path.split("/")[:-1]
        if any("/".join(above[: count + 1]) in files for count in range(len(above))):
            nested += 1
        elif path == "." or kind == "changed" and "content" not in change["dimensions"]:
            pass  # the archive's own bytes; permissions and roles
        elif kind == "changed" and path in folders:
            pass  # a folder's digest follows from what is in it
        else:
            told[path] = kind
    return told, nested


def compare(rea, old_path, new_path, old, new):
    """Problems of one pair, and how many entries were compared."""
    problems = []
    expected = differences(old, new)
    for options in (("--nested", "none"), ()):
        status, text = rea_diff(rea, old_path, new_path, *options)
        told, nested = told_by(json.loads(text), old, new)
        for name in sorted(expected.keys() | told.keys()):
            if expected.get(name) != told.get(name):
                problems.append(f"{name}: {expected.get(name)} by the peers, {told.get(name)} by rea {options}")
        if options and nested:
            problems.append(f"{nested} nested entries although containers stay closed")
        if (status == 3) != (old_path.read_bytes() != new_path.read_bytes()):
            problems.append(f"exit status {status}")
    # What people see: every leaf that differs, by name.
    _, names = rea_diff(rea, old_path, new_path, "--nested", "none", "--name-only")
    names = set(names.decode().splitlines())
    files = {name for side in (old, new) for name, content in side.items() if content is not None}
    missing = {name for name in expected if name in files} - names
    problems += [f"{name}: differs, but --name-only does not list it" for name in sorted(missing)]
    extra = names - expected.keys() - {"."}
    problems += [f"{name}: --name-only lists it, but it does not differ" for name in sorted(extra)]
    return problems, len(old.keys() | new.keys()), expected


def unchanged(rea, path):
    status, text = rea_diff(rea, path, path)
    told = json.loads(text)["normalized_result"]["status"]
    return [] if (status, told) == (0, "unchanged") else [f"{path} against itself: {told}, status {status}"]


# --------------------------------------------------------------------------------------------------


def lies(old, new):
    """Falsified versions of the peers' view of the new side."""
    same = [name for name in old if old[name] is not None and new.get(name) == old[name]]
    if not same:
        raise RuntimeError("no entry is the same on both sides")
    for name in (same[0], same[len(same) // 2], same[-1]):
        yield f"another content of {name}", new | {name: ("planted", 0)}
        yield f"no {name}", {other: content for other, content in new.items() if other != name}
    yield "one more entry", new | {"planted": ("planted", 0)}
    changed = [name for name in differences(old, new) if name in old and name in new]
    if changed:
        yield f"{changed[0]} as before", new | {changed[0]: old[changed[0]]}


def corpus_pairs():
    for patterns in PAIRS:
        found = [sorted(CORPUS.glob(pattern)) for pattern in patterns]
        if all(len(files) == 1 for files in found):
            yield found[0][0], found[1][0]
        else:
            print(f"not in the corpus: {patterns}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rea", default="target/release/rea")
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("pair", nargs="*", type=Path, metavar="OLD NEW")
    options = parser.parse_args()
    if len(options.pair) not in (0, 2):
        parser.error("two archives are needed")
    pairs = [tuple(options.pair)] if options.pair else list(corpus_pairs())
    failed, compared = 0, 0
    for old_path, new_path in pairs:
        print(f"{old_path.name} -> {new_path.name}")
        old, new = entries(old_path), entries(new_path)
        problems, count, expected = compare(options.rea, old_path, new_path, old, new)
        problems += unchanged(options.rea, old_path) + unchanged(options.rea, new_path)
        compared += count
        classes = Counter(expected.values())
        print(f"  {count} entries: " + ", ".join(f"{classes[name]} {name}" for name in ("added", "removed", "changed")))
        for problem in problems[:20]:
            print(f"  DIFFERS: {problem}")
        failed += len(problems)
        if options.plant:
            for what, planted in lies(old, new):
                noticed = bool(compare(options.rea, old_path, new_path, old, planted)[0])
                print(f"  planted {what}: {'noticed' if noticed else 'NOT NOTICED'}")
                failed += not noticed
    print(f"{len(pairs)} pairs, {compared} entries compared, {failed} problems")
    return 1 if failed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
