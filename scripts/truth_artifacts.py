#!/usr/bin/env python3
"""Compares `rea inventory-artifact --nested none` with what independent tools say.

Peers: for ZIP files `unzip -Z` and Python's zipfile, for folders `find` and hashlib, for any other
file hashlib alone. Compared, as far as a peer knows it: path, entry kind, size, compressed size,
executable, SHA-256, link target and unusual mode bits.

    scripts/truth_artifacts.py                        everything in the corpus (scripts/corpus.sh)
    scripts/truth_artifacts.py --rea PATH FILE...     these files and folders
    scripts/truth_artifacts.py --plant                falsify the peers' side; each lie must show

Names that a record has to escape (`..`, backslashes, repeats, bytes that are not UTF-8) are matched
by kind, size, permission and digest alone. Exit 1 on any difference, on a lie that went unnoticed,
or when nothing was compared.
"""

import argparse
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path

FIELDS = ("kind", "size", "compressed", "executable", "sha256", "link", "mode")
POOL_FIELDS = ("kind", "size", "executable", "sha256")
UNIX_HOSTS = (3, 19)  # APPNOTE 4.4.2: "version made by" of UNIX and OS X, which store st_mode
STREAMS = (".tgz", ".gz", ".xz", ".zst", ".bz2", ".tar", ".deb", ".rpm")


def sha256(stream):
    return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_file(path):
    with open(path, "rb") as file:
        return sha256(file)


# --------------------------------------------------------------------------------------------------
# Our side


def inventory(rea, path):
    """The rows of a record as path -> fields; the root is `.`."""
    run = subprocess.run([rea, "inventory-artifact", "--nested", "none", path], capture_output=True)
    if run.returncode != 0:
        message = run.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"rea exits with {run.returncode}: {message[:500]}")
    result = json.loads(run.stdout)["normalized_result"]
    digests = {node["artifact_id"]: node["sha256"] for node in result["nodes"]}
    rows = {}
    for occurrence in result["occurrences"]:
        rows[occurrence["logical_path"]] = {
            "kind": occurrence["entry_kind"],
            "size": occurrence["declared_size"],
            "compressed": occurrence["compressed_size"],
            "executable": occurrence["executable"],
            "sha256": digests.get(occurrence["artifact_id"]),
            "link": occurrence.get("link_target"),
            "mode": int(occurrence["mode"], 8) & 0o7777 if "mode" in occurrence else None,
        }
    return rows


# --------------------------------------------------------------------------------------------------
# The peers' side


class View:
    """What one peer says: rows by path, and the rows whose names a record has to escape."""

    def __init__(self, peer, partial=False):
        self.peer = peer
        self.partial = partial  # knows some of the rows only
        self.rows = {}
        self.pool = []

    def add(self, name, fields):
        """Adds an entry in container order; of equal names the last keeps the plain path."""
        name = unicodedata.normalize("NFC", name)
        directory = fields["kind"] == "directory"
        path = name.rstrip("/") if directory else name
        if path in self.rows:
            if directory and self.rows[path]["kind"] == "directory":
                return
            self.pool.append(self.rows[path])
        self.rows[path] = fields

    def set_odd_names_aside(self, archive):
        files = {path for path, fields in self.rows.items() if fields["kind"] != "directory"}
        for path in list(self.rows):
            segments = path.split("/")
            above = ("/".join(segments[:count]) for count in range(1, len(segments)))
            odd = (
                any(segment in ("", ".", "..") for segment in segments)
                or any(0xD800 <= ord(character) <= 0xDFFF for character in path)
                or "\0" in path
                or archive and ("\\" in path or re.match("[A-Za-z]:", path))
                or any(prefix in files for prefix in above)
            )  # fmt: skip
            if odd and path != ".":
                self.pool.append(self.rows.pop(path))


def root_row(path):
    """The root occurrence of a file."""
    status = os.stat(path)
    return {
        "kind": "file",
        "size": status.st_size,
        "executable": bool(status.st_mode & 0o111),
        "sha256": sha256_file(path),
    }


def plain_views(path):
    view = View("hashlib", partial=True)
    view.rows["."] = root_row(path)
    return [view]


def folder_views(path):
    """`find` for the entries, hashlib for their bytes."""
    form = r"%y\0%s\0%m\0%P\0%l\0"
    listing = subprocess.run(
        ["find", "-H", path, "-mindepth", "1", "-printf", form], check=True, capture_output=True
    ).stdout.split(b"\0")[:-1]
    entries = sorted(zip(*[iter(listing)] * 5), key=lambda entry: entry[3])
    kinds = {b"f": "file", b"d": "directory", b"l": "symlink"}
    both = View("find and hashlib")
    both.add(".", {"kind": "directory", "size": None, "executable": bool(os.stat(path).st_mode & 0o111)})
    for kind, size, mode, raw, target in entries:
        if kind not in kinds:
            continue  # pipes, sockets and devices have no occurrence
        kind, mode = kinds[kind], int(mode, 8)
        row = {
            "kind": kind,
            "size": int(size) if kind == "file" else None,
            "compressed": None,
            "executable": bool(mode & 0o111),
            "link": target.decode("utf-8", "surrogateescape") if kind == "symlink" else None,
            "mode": mode if mode & 0o7000 else None,
        }
        if kind == "file":
            row["sha256"] = sha256_file(os.path.join(os.fsencode(path), raw))
        elif kind == "symlink":
            row["sha256"] = hashlib.sha256(target).hexdigest()
        both.add(raw.decode("utf-8", "surrogateescape"), row)
    both.set_odd_names_aside(archive=False)
    found, hashed = View("find"), View("hashlib", partial=True)  # a directory has no bytes to hash
    found.pool = both.pool
    for where, row in both.rows.items():
        found.rows[where] = {field: value for field, value in row.items() if field != "sha256"}
        if "sha256" in row:
            hashed.rows[where] = {"sha256": row["sha256"]}
    return [found, hashed]


def zipfile_view(path):
    view = View("zipfile")
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            unix = info.create_system in UNIX_HOSTS
            mode = info.external_attr >> 16 if unix else 0
            raw = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
            try:
                name = raw.decode("utf-8")
            except UnicodeDecodeError:
                name = info.orig_filename  # CP437
            dos_directory = info.create_system == 0 and info.external_attr & 0x10
            if unix and stat.S_ISDIR(mode) or dos_directory or name.endswith("/") and info.file_size == 0:
                kind = "directory"
            else:
                kind = "symlink" if stat.S_ISLNK(mode) else "file"
            row = {
                "kind": kind,
                "size": None if kind == "directory" else info.file_size,
                "compressed": None if kind == "directory" else info.compress_size,
                "executable": bool(mode & 0o111),
                "sha256": None,
                "link": None,
                "mode": mode & 0o7777 if mode & 0o7000 else None,
            }
            if info.flag_bits & 1:
                pass  # encrypted: no bytes, no node
            elif kind == "directory":
                del row["sha256"]
            else:
                with archive.open(info) as member:
                    row["sha256"] = sha256(member)
                if kind == "symlink":
                    row["link"] = archive.read(info).decode("utf-8", "surrogateescape")
            view.add(name, row)
    view.set_odd_names_aside(archive=True)
    view.rows["."] = root_row(path)
    return view


# Permissions, version, host, size, type, compressed size, method, time, name.
_ZIPINFO = re.compile(r"(\S{7,10}) +\S+ (\S{2,3}) +(\d+) \S\S +(\d+) \S{4} \d+\.\d+ (.*)", re.DOTALL)


def unzip_view(path):
    view = View("unzip")
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    run = subprocess.run(["unzip", "-Z", "-lT", path], capture_output=True, env=environment)
    if run.returncode not in (0, 1):  # 1: warnings, such as bytes before the archive
        raise RuntimeError(f"unzip -Z exits with {run.returncode}")
    lines = run.stdout.decode("utf-8", "surrogateescape").splitlines()
    for line in lines:
        match = _ZIPINFO.fullmatch(line)
        if match is None:
            continue  # header and summary; a lost row shows as a difference
        permissions, host, size, compressed, name = match.groups()
        if permissions[0] == "d" or name.endswith("/") and int(size) == 0:
            kind = "directory"
        else:
            kind = "symlink" if permissions[0] == "l" else "file"
        unix = host in ("unx", "osx") and len(permissions) == 10
        executable = unix and any(permissions[place] in "xst" for place in (3, 6, 9))
        view.add(name, {
            "kind": kind,
            "size": None if kind == "directory" else int(size),
            "compressed": None if kind == "directory" else int(compressed),
            "executable": executable,
        })  # fmt: skip
    view.set_odd_names_aside(archive=True)
    view.rows["."] = {"kind": "file", "size": os.stat(path).st_size}
    return view


def peer_views(path):
    if os.path.isdir(path):
        return "folder", folder_views(path)
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08") and zipfile.is_zipfile(path):
        return "zip", [zipfile_view(path), unzip_view(path)]
    return "file", plain_views(path)


# --------------------------------------------------------------------------------------------------
# Comparison


def compare(ours, view, compared):
    """The differences between our rows and a peer's; `compared` counts what was looked at."""
    differences = []
    for path, row in view.rows.items():
        compared[view.peer, "path"] += 1
        mine = ours.get(path)
        if mine is None:
            differences.append(f"{path!r}: {view.peer} has it, rea does not")
            continue
        for field, value in row.items():
            compared[view.peer, field] += 1
            if mine[field] != value:
                differences.append(f"{path!r} {field}: {view.peer} says {value!r}, rea says {mine[field]!r}")
    if view.partial:
        return differences
    left = {path: row for path, row in ours.items() if path not in view.rows}
    fields = [field for field in POOL_FIELDS if all(field in row for row in view.pool)]
    theirs = Counter(tuple(row[field] for field in fields) for row in view.pool)
    for path, row in left.items():
        key = tuple(row[field] for field in fields)
        if theirs[key] > 0:
            theirs[key] -= 1
            compared[view.peer, "odd name"] += 1
        else:
            differences.append(f"{path!r}: rea has it, {view.peer} does not")
    for key, count in theirs.items():
        if count:
            what = dict(zip(fields, key))
            differences.append(f"{count} entries with odd names and {what}: only {view.peer} has them")
    return differences


def lies(view):
    """Copies of a peer's view with one false statement each, as (what it is, view)."""

    def altered(path, field, value):
        lie = View(view.peer, view.partial)
        lie.rows, lie.pool = dict(view.rows), view.pool
        lie.rows[path] = dict(view.rows[path], **{field: value})
        return lie

    plants = (
        ("size", "wrong size", lambda value: value + 1),
        ("compressed", "wrong compressed size", lambda value: value + 1),
        ("sha256", "wrong digest", lambda value: value[:-1] + format(int(value[-1], 16) ^ 1, "x")),
        ("executable", "wrong executable bit", lambda value: not value),
        ("kind", "wrong kind", lambda value: "file" if value != "file" else "symlink"),
        ("link", "wrong link target", lambda value: value + "x"),
    )
    for field, label, change in plants:
        rows = [path for path, row in view.rows.items() if row.get(field) is not None]
        if rows:
            path = rows[len(rows) // 2]
            yield f"{label} of {path!r}", altered(path, field, change(view.rows[path][field]))
    if not view.partial:
        path = list(view.rows)[len(view.rows) // 2]
        lie = View(view.peer)
        lie.rows, lie.pool = dict(view.rows), view.pool
        del lie.rows[path]
        yield f"missing row {path!r}", lie
    lie = View(view.peer, view.partial)
    lie.rows, lie.pool = {**view.rows, "no such/entry": {"kind": "file"}}, view.pool
    yield "row too many", lie


def corpus_targets(corpus):
    """Every folder of the corpus, every ZIP file in it, and the largest other file of each folder."""
    targets = []
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        targets.append(folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        zips = [path for path in files if path.suffix in (".zip", ".apk", ".whl", ".jar", ".ipa")]
        others = [path for path in files if path not in zips and path.suffix not in STREAMS]
        targets += zips
        targets += sorted(others, key=lambda path: path.stat().st_size)[-1:]
    return targets


def find_rea():
    built = Path(__file__).resolve().parent.parent / "target" / "release" / "rea"
    return str(built) if built.exists() else "rea"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument(
        "--corpus",
        type=Path,
        default=os.environ.get("REA_CORPUS") or Path.home() / ".cache" / "rea-corpus",
        help="folder of default targets (default: $REA_CORPUS, else ~/.cache/rea-corpus)",
    )
    parser.add_argument("--plant", action="store_true", help="falsify the peers' side and demand that it shows")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE_OR_FOLDER")
    arguments = parser.parse_args()
    corpus = Path(arguments.corpus)
    if not arguments.targets and not corpus.is_dir():
        print(f"{corpus}: no corpus there; scripts/corpus.sh fetches one")
        return 1

    compared, failures, planted = Counter(), 0, 0
    for target in arguments.targets or corpus_targets(corpus):
        path = str(target)
        try:
            kind, views = peer_views(path)
            ours = inventory(arguments.rea, path)
        except (OSError, ValueError, KeyError, RuntimeError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
            print(f"{path}: {error}")
            failures += 1
            continue
        differences = [line for view in views for line in compare(ours, view, compared)]
        note = ""
        if arguments.plant:
            lied = [(view.peer, label, lie) for view in views for label, lie in lies(view)]
            planted += len(lied)
            for peer, label, lie in lied:
                if not compare(ours, lie, Counter()):
                    differences.append(f"{peer}: {label} went unnoticed")
            note = f", {len(lied)} lies planted"
        print(f"{path}: {kind}, {len(ours)} occurrences, {len(differences)} differences{note}")
        for line in differences[:50]:
            print(f"  {line}")
        if len(differences) > 50:
            print(f"  and {len(differences) - 50} more")
        failures += len(differences)

    print()
    for peer in sorted({peer for peer, _ in compared}):
        counts = {field: compared[peer, field] for field in ("path", *FIELDS, "odd name")}
        print(f"{peer}: {' '.join(f'{field}={count}' for field, count in counts.items() if count)}")
    if arguments.plant:
        print(f"{planted} lies planted")
    total = compared.total()
    print(f"{total} comparisons, {failures} differences or failures")
    return 0 if total and not failures and (planted or not arguments.plant) else 1


if __name__ == "__main__":
    sys.exit(main())
