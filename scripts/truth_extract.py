#!/usr/bin/env python3
"""Compares the files that `rea extract-artifact` writes with those that independent tools write.

ZIP files: unzip, bsdtar and Python's zipfile. tar archives, compressed or not: GNU tar, bsdtar and
Python's tarfile. Debian packages: `dpkg-deb -x` and `-e`. ASAR archives: read here, by the layout that
Electron documents. Folders: the files themselves. Compared are the paths and the SHA-256 of all regular
files, and of ours that they are private (0600), that folders are (0700) and that there is nothing else.
Links, which rea does not make, are passed over and counted.

    scripts/truth_extract.py             the corpus (scripts/corpus.sh) and archives made here
    scripts/truth_extract.py FILE...     these files
    scripts/truth_extract.py --plant     falsify the peers' side; each lie must show

Exit 1 on any difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import hashlib
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from truth_artifacts import find_rea

ZIPS = (".zip", ".apk", ".whl", ".jar", ".ipa")
TARS = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst")
LIES = ("wrong content", "missing file", "extra file", "other name")


def digest(path):
    hasher = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            hasher.update(part)
    return hasher.hexdigest()


def files(folder, private=False):
    """Path and SHA-256 of all regular files below a folder, how many links there are, and what is odd."""
    found, links, odd = {}, 0, []
    folder = os.fsencode(folder)
    for place, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(place, name)
            mode = os.lstat(path).st_mode
            shown = os.fsdecode(os.path.relpath(path, folder))
            if stat.S_ISREG(mode):
                found[shown] = digest(path)
                wanted = 0o600
            elif stat.S_ISDIR(mode):
                wanted = 0o700
            else:
                links += 1
                if private:
                    odd.append(f"{shown}: neither a file nor a folder")
                continue
            if private and stat.S_IMODE(mode) != wanted:
                odd.append(f"{shown}: mode {stat.S_IMODE(mode):04o}")
    return found, links, odd


def ours(rea, target, scratch, *options):
    """The files that rea writes, which must be those that its record names."""
    into = Path(tempfile.mkdtemp(dir=scratch)) / "ours"
    done = subprocess.run([rea, "extract-artifact", "-q", "--into", into, *options, target], capture_output=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip())
    found, _, odd = files(into, private=True)
    result = json.loads(done.stdout)["normalized_result"]
    named = {row["relative_path"]: row["sha256"] for row in result["artifacts"]}
    if named != found:
        odd.append("the record names other files than there are")
    return found, odd


def run(*command, into):
    os.mkdir(into)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=into)


def asar_files(path):
    """The files of an ASAR archive: header pickle, then the data; unpacked ones stand beside it."""
    data = Path(path).read_bytes()
    _, header, _, length = struct.unpack_from("<4I", data)
    found, links = {}, 0

    def walk(node, prefix):
        nonlocal links
        for name, entry in node["files"].items():
            place = f"{prefix}{name}"
            if "files" in entry:
                walk(entry, place + "/")
            elif "link" in entry:
                links += 1
            elif entry.get("unpacked"):
                found[place] = digest(Path(f"{path}.unpacked") / place)
            else:
                start = 8 + header + int(entry["offset"])
                found[place] = hashlib.sha256(data[start : start + entry["size"]]).hexdigest()

    walk(json.loads(data[16 : 16 + length]), "")
    return found, links


def peers(target, scratch):
    """Each peer's name, rea's options, what to strip from rea's paths, and the peer's files and links."""
    place = Path(tempfile.mkdtemp(dir=scratch))
    name, path = target.name.lower(), str(target.resolve())

    def extracted(peer, *command):
        run(*command, into=place / peer)
        found, links, _ = files(place / peer)
        return found, links

    if target.is_dir():
        found, links, _ = files(target)
        yield "the folder", [], "", found, links
    elif name.endswith(ZIPS):
        yield "unzip", [], "", *extracted("unzip", "unzip", "-q", "-o", path)
        yield "bsdtar", [], "", *extracted("bsdtar", "bsdtar", "-xf", path)
        with zipfile.ZipFile(path) as archive:
            # It would write links as files.
            links = {row.filename for row in archive.infolist() if stat.S_ISLNK(row.external_attr >> 16)}
            archive.extractall(place / "zipfile", [name for name in archive.namelist() if name not in links])
        found, _, _ = files(place / "zipfile")
        yield "zipfile", [], "", found, len(links)
    elif name.endswith(TARS):
        yield "tar", [], "", *extracted("tar", "tar", "-xf", path)
        yield "bsdtar", [], "", *extracted("bsdtar", "bsdtar", "-xf", path)
        with tarfile.open(path) as archive:
            archive.extractall(place / "tarfile", filter="fully_trusted")
        found, links, _ = files(place / "tarfile")
        yield "tarfile", [], "", found, links
    elif name.endswith(".deb"):
        members = subprocess.run(["ar", "t", path], check=True, capture_output=True, text=True).stdout.split()
        for option, start in (("-x", "data.tar"), ("-e", "control.tar")):
            member = next(member for member in members if member.startswith(start))
            found, links = extracted("dpkg" + option, "dpkg-deb", option, path, ".")
            # What is nested deeper stays a file, as dpkg-deb has it.
            options = ["--max-nesting", "1", "--path", f"{member}/**"]
            yield f"dpkg-deb {option}", options, f"{member}/", found, links
    elif name.endswith(".asar"):
        yield "the ASAR layout", [], "", *asar_files(path)


def compare(mine, theirs):
    lines = []
    for path in sorted(mine.keys() | theirs.keys()):
        if path not in mine:
            lines.append(f"{path}: not written by rea")
        elif path not in theirs:
            lines.append(f"{path}: written by rea only")
        elif mine[path] != theirs[path]:
            lines.append(f"{path}: other content")
    return lines


def lies(theirs):
    path = sorted(theirs)[len(theirs) // 2]
    yield LIES[0], {**theirs, path: "0" * 64}
    yield LIES[1], {other: sha for other, sha in theirs.items() if other != path}
    yield LIES[2], {**theirs, path + "/extra": "0" * 64}
    yield LIES[3], {other + ("x" if other == path else ""): sha for other, sha in theirs.items()}


def make_archives(folder):
    """Archives of one tree by several programs, and an ASAR archive with an unpacked file and a link."""
    tree = Path(folder) / "tree"
    (tree / "sub" / "deep").mkdir(parents=True)
    (tree / "empty folder").mkdir()
    (tree / "empty").write_bytes(b"")
    (tree / "sub" / "naïve \U0001f600.txt").write_text("text", encoding="utf-8")
    (tree / "sub" / "deep" / "big").write_bytes(bytes(range(256)) * 5000)
    (tree / "run").write_text("#!/bin/sh\n")
    (tree / "run").chmod(0o4755)
    os.link(tree / "run", tree / "sub" / "hard")
    os.symlink("run", tree / "soft")
    os.symlink("/etc/passwd", tree / "sub" / "out")
    made = [tree]
    names = sorted(os.listdir(tree))
    for name, command in (
        ("gnu.tar", ["tar", "-cf"]),
        ("pax.tar.xz", ["tar", "--format=pax", "-cJf"]),
        ("bsd.tgz", ["bsdtar", "-czf"]),
        ("bsd.zip", ["bsdtar", "--format=zip", "-cf"]),
    ):
        path = Path(folder) / name
        subprocess.run([*command, path, *names], check=True, cwd=tree)
        made.append(path)
    entries = {
        "a": {"files": {"b.js": {"size": 4, "offset": "0"}, "empty": {"size": 0, "offset": "4"}}},
        "c": {"size": 3, "offset": "4", "executable": True},
        "link": {"link": "c"},
        "native.node": {"size": 6, "unpacked": True},
    }
    text = json.dumps({"files": entries}).encode()
    padded = text + b"\0" * (-len(text) % 4)
    header = struct.pack("<4I", 4, 8 + len(padded), 4 + len(padded), len(text)) + padded
    path = Path(folder) / "made.asar"
    path.write_bytes(header + b"abcdxyz")
    beside = Path(f"{path}.unpacked")
    beside.mkdir()
    (beside / "native.node").write_bytes(b"native")
    return made + [path]


def corpus_targets(corpus):
    kinds = ZIPS + TARS + (".deb", ".asar")
    found = [path for path in sorted(corpus.rglob("*")) if path.is_file() and path.name.lower().endswith(kinds)]
    return found + sorted(path for path in corpus.iterdir() if path.is_dir())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--corpus", type=Path,
                        default=os.environ.get("REA_CORPUS") or Path.home() / ".cache" / "rea-corpus",
                        help="folder of archives (default: $REA_CORPUS, else ~/.cache/rea-corpus)")  # fmt: skip
    parser.add_argument("--plant", action="store_true", help="falsify the peers' side and demand that it shows")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    corpus = Path(arguments.corpus)
    if not arguments.targets and not corpus.is_dir():
        print(f"{corpus}: no corpus there; scripts/corpus.sh fetches one")
        return 1
    compared, failures, planted = Counter(), 0, Counter()
    with tempfile.TemporaryDirectory(prefix="truth-extract-") as folder:
        targets = arguments.targets or corpus_targets(corpus) + make_archives(folder)
        for target in targets:
            scratch = tempfile.mkdtemp(dir=folder)
            lines, seen = [], 0
            try:
                for peer, options, prefix, theirs, links in peers(target, scratch):
                    mine, odd = ours(arguments.rea, target, scratch, *options)
                    mine = {path.removeprefix(prefix): sha for path, sha in mine.items()}
                    truth = compare(mine, theirs)
                    lines += [f"{peer}: {line}" for line in truth + odd]
                    compared[peer] += len(theirs)
                    compared["links passed over"] += links
                    seen += len(theirs)
                    if arguments.plant:
                        for label, lie in lies(theirs):
                            planted[label] += 1
                            if not Counter(compare(mine, lie)) - Counter(truth):
                                lines.append(f"{peer}: {label} went unnoticed")
            except (OSError, ValueError, subprocess.SubprocessError, tarfile.TarError, zipfile.BadZipFile) as error:
                lines.append(str(error))
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            print(f"{target.name}: {seen} files of peers, {len(lines)} differences", flush=True)
            for line in lines[:20]:
                print(f"  {line}")
            failures += len(lines)
    total = sum(count for peer, count in compared.items() if peer != "links passed over")
    print("compared: " + ", ".join(f"{count} ({peer})" for peer, count in compared.items()))
    if arguments.plant:
        print("planted: " + ", ".join(f"{count} {label}" for label, count in planted.items()))
        if set(planted) != set(LIES):
            print("not every lie could be told")
            failures += 1
    if total == 0:
        print("nothing was compared")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
