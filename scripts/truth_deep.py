#!/usr/bin/env python3
"""Compares `rea diff --deep` of pairs of releases with what independent tools say of their members.

Peers: of ELF members `readelf` (dynamic symbols with versions, the table of symbols, needed
libraries, build ids), of WebAssembly modules `wasm-objdump -x` (imports and exports with their
types). Each tells the names of both sides; what was added, removed or changed by them must be what
`rea diff --deep` tells of the same member, no more and no fewer. Members are taken out of their
archives by Python. Pairs of libraries made here by the C compiler have known differences of
protections too.

    scripts/truth_deep.py                        the pairs of the corpus (scripts/corpus.sh), and
                                                 those made here
    scripts/truth_deep.py --rea PATH OLD NEW     this pair
    scripts/truth_deep.py --made                 only those made here
    scripts/truth_deep.py --plant                falsify the peers' side; each lie must show

Not compared: members in other formats, the details of names (a changed name is told by both), and
protections beyond those made here.

Exit 1 on any difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from truth_artifacts import find_rea

CORPUS = Path(os.environ.get("REA_CORPUS", Path.home() / ".cache/rea-corpus"))
PAIRS = [
    ("elf-old", "elf-new"),
    ("apk-old.tgz", "apk-new.tgz"),
    ("wasm-old.tgz", "wasm-new.tgz"),
    ("wheels/numpy-2.1.0-*.whl", "wheels/numpy-2.1.1-*.whl"),
]
ENV = dict(os.environ, LC_ALL="C.UTF-8")


# --------------------------------------------------------------------------------------------------
# Members by their logical paths


def opened(data, name):
    """The members of an archive, or None where it is none that is read here."""
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {i.filename: archive.read(i) for i in archive.infolist() if not i.is_dir()}
    if data[:2] == b"\x1f\x8b":
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                members = {}
                for member in archive:
                    if member.isfile():
                        members[member.name.removeprefix("./")] = archive.extractfile(member).read()
                return members
        except tarfile.TarError:
            return None
    return None


def find(path, logical):
    """The bytes of the member at a logical path."""
    path = Path(path)
    if path.is_dir():
        rest = logical.split("/")
        for count in range(len(rest), 0, -1):
            file = path.joinpath(*rest[:count])
            if file.is_file():
                return descend(file.read_bytes(), rest[count:])
        return None
    data = path.read_bytes()
    return data if logical == "." else descend(data, logical.split("/"))


def descend(data, rest):
    if not rest:
        return data
    members = opened(data, rest[0])
    if members is None:
        return None
    for count in range(len(rest), 0, -1):
        member = members.get("/".join(rest[:count]))
        if member is not None:
            return descend(member, rest[count:])
    return None


# --------------------------------------------------------------------------------------------------
# The peers: topic -> name -> details


def run(*command):
    done = subprocess.run(command, capture_output=True, env=ENV)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.decode('utf-8', 'replace')[:200]}")
    return done.stdout.decode("utf-8", "surrogateescape")


SYMBOL = re.compile(
    r"^\s*\d+: [0-9a-f]+\s+(0x[0-9a-f]+|\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(?:\[.*?\]\s+)?(\S+)(?: (.*))?$"
)


def add(table, name, detail):
    table.setdefault(name, Counter())[detail] += 1


def symbols(file, option):
    """Rows of `readelf`: size, type, binding, visibility, section, name."""
    for line in run("readelf", option, "-W", file).splitlines():
        match = SYMBOL.match(line)
        if match and match.group(6):
            size, kind, bind, visibility, section, name = match.groups()
            yield int(size, 0), kind, bind, visibility, section, name


def elf(file):
    told = {topic: {} for topic in ("export", "import", "dependency", "build-id", "symbol")}
    for size, kind, bind, visibility, section, name in symbols(file, "--dyn-syms"):
        # `readelf` puts the number of the version behind names that are asked for.
        name = re.sub(r" \(\d+\)$", "", name)
        if kind in ("SECTION", "FILE") or bind == "LOCAL":
            continue
        if section == "UND":
            base, _, version = name.partition("@")
            add(told["import"], base, (kind, bind, version))
            continue
        if visibility in ("HIDDEN", "INTERNAL"):
            continue
        name = name.replace("@@", "@")
        code = kind in ("FUNC", "IFUNC")
        add(told["export"], name, (kind, bind == "WEAK", 0 if code else size))
    # All tables of symbols; the dynamic one has a heading of its own.
    table = None
    for line in run("readelf", "-sW", file).splitlines():
        if line.startswith("Symbol table"):
            table = line.split("'")[1]
        match = SYMBOL.match(line)
        if match and table == ".symtab" and match.group(6):
            size, kind, bind, visibility, section, name = match.groups()
            if kind not in ("SECTION", "FILE") and section != "UND":
                add(told["symbol"], name, (kind, bind, int(size, 0)))
    for line in run("readelf", "-dW", file).splitlines():
        match = re.search(r"\(NEEDED\)\s+Shared library: \[(.*)\]$", line)
        if match:
            add(told["dependency"], match.group(1), "DT_NEEDED")
    for match in re.finditer(r"Build ID: ([0-9a-f]+)", run("readelf", "-nW", file)):
        add(told["build-id"], "gnu-build-id", match.group(1))
    return told


def wasm(file):
    text = run("wasm-objdump", "-x", file)
    types, told = {}, {"wasm-import": {}, "wasm-export": {}}
    functions, section = {}, None
    for line in text.splitlines():
        heading = re.match(r"^(\w+)(?:\[\d+\])?:?$", line)
        if heading:
            section = heading.group(1)
        match = re.match(r"^ - type\[(\d+)\] (.*)$", line)
        if match:
            types[match.group(1)] = match.group(2)
        match = re.match(r"^ - func\[(\d+)\] sig=(\d+)", line)
        if match and section in ("Import", "Function"):
            functions[match.group(1)] = types.get(match.group(2))
        match = re.match(r"^ - (\w+)\[(\d+)\](.*) <- (.*)$", line)
        if match and section == "Import":
            kind, index, detail, name = match.groups()
            detail = functions.get(index) if kind == "func" else re.sub(r" <.*?>", "", detail)
            add(told["wasm-import"], name, (kind, detail))
        match = re.match(r"^ - (\w+)\[(\d+)\].* -> \"(.*)\"$", line)
        if match and section == "Export":
            kind, index, name = match.groups()
            add(told["wasm-export"], name, (kind, functions.get(index) if kind == "func" else ""))
    return told


PEERS = {b"\x7fELF": ("elf", elf), b"\0asm": ("wasm", wasm)}


def peer_changes(before, after, scratch):
    """Topic -> (added, removed, changed) by the peer, or None where there is no peer."""
    if before[:4] != after[:4] or before[:4] not in PEERS:
        return None
    _, tell = PEERS[before[:4]]
    sides = []
    for name, data in (("before", before), ("after", after)):
        file = Path(scratch) / name
        file.write_bytes(data)
        sides.append(tell(str(file)))
    left, right = sides
    changes = {}
    for topic in left:
        one, other = left[topic], right[topic]
        common = one.keys() & other.keys()
        changes[topic] = (
            frozenset(other.keys() - one.keys()),
            frozenset(one.keys() - other.keys()),
            frozenset(name for name in common if one[name] != other[name]),
        )
    return changes


# --------------------------------------------------------------------------------------------------
# Ours


def our_diff(rea, old, new):
    done = subprocess.run([rea, "diff", old, new, "--deep", "--quiet"], capture_output=True, env=ENV)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode("utf-8", "replace")[:400])
    return json.loads(done.stdout)["normalized_result"]["deep"]


def our_changes(deep, path):
    changes = {}
    for row in deep["changes"]:
        if row["logical_path"] == path:
            names = lambda part: frozenset(one["name"] for one in row[part])
            changes[row["topic"]] = (names("added"), names("removed"), names("changed"))
    return changes


NOTHING = (frozenset(), frozenset(), frozenset())
KINDS = ("added", "removed", "changed")


def differences(ours, theirs):
    """What is told by one side only."""
    found = []
    for topic, expected in theirs.items():
        for kind, one, other in zip(KINDS, ours.get(topic, NOTHING), expected):
            for name in sorted(one - other)[:5]:
                found.append(f"{topic} {kind}: only rea tells {name}")
            for name in sorted(other - one)[:5]:
                found.append(f"{topic} {kind}: only the peer tells {name}")
    return found


def lies(theirs):
    """The peers' side with one thing falsified, each with what was done."""
    for topic, expected in theirs.items():
        for at, kind in enumerate(KINDS):
            for what, names in (
                ("made up", expected[at] | {"rea_planted_lie"}),
                ("left out", frozenset(sorted(expected[at])[1:])),
            ):
                if names != expected[at]:
                    lie = list(expected)
                    lie[at] = names
                    yield f"{topic} {kind}, one {what}", dict(theirs, **{topic: tuple(lie)})


class Count:
    def __init__(self):
        self.members = self.names = self.topics = self.lies = self.unread = 0
        self.found = []


def compare_pair(rea, old, new, plant, count, expected=None):
    deep = our_diff(rea, old, new)
    for one in deep["unread"]:
        print(f"  not compared: {one['logical_path']}: {one['reason']}")
        count.unread += 1
    for member in deep["members"]:
        path = member["logical_path"]
        before, after = find(old, path), find(new, path)
        if before is None or after is None:
            count.found.append(f"{path}: it cannot be taken out of its archive here")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            theirs = peer_changes(before, after, scratch)
        if theirs is None:
            continue
        ours = our_changes(deep, path)
        if expected:
            theirs.update(expected)
        found = differences(ours, theirs)
        count.found += [f"{path}: {one}" for one in found]
        told = sum(len(names) for topic in theirs.values() for names in topic)
        count.members += 1
        count.names += told
        count.topics += len(theirs)
        print(f"  {path}: {told} names, {len(found)} differences")
        if plant:
            for what, lie in lies(theirs):
                count.lies += 1
                if len(differences(ours, lie)) == len(found) and differences(ours, lie) == found:
                    count.found.append(f"{path}: a lie went unnoticed: {what}")


# --------------------------------------------------------------------------------------------------
# Pairs made here

OLD = """
#include <stdio.h>
#include <string.h>
int kept(int a) { return a + 1; }
int gone(void) { return 2; }
char table[16] = "old";
__asm__(".symver both_1, both@V1");
int both_1(void) { return 1; }
int greet(const char *name) { char text[64]; strcpy(text, name); return printf("%s\\n", text); }
static __attribute__((used, noinline)) int inner(int a) { return a * 3; }
"""
NEW = """
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
int kept(int a) { return a + 1; }
char table[32] = "new";
__asm__(".symver both_2, both@@V2");
int both_2(void) { return 2; }
int greet(const char *name) { return puts(name) + system(name); }
double fresh(double a) { return sin(a); }
static __attribute__((used, noinline)) int inner_new(int a) { return a * 3; }
"""
VERSIONS = "V1 { global: *; local: inner*; };\nV2 { } V1;\n"


def made_here(scratch):
    """Two releases of a library, and what is known of their protections."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    sides = []
    flags = {
        "old": ["-fstack-protector-all", "-Wl,-z,relro,-z,now"],
        "new": ["-fno-stack-protector", "-Wl,-z,norelro", "-Wl,-z,execstack", "-lm"],
    }
    for name, text in (("old", OLD), ("new", NEW)):
        folder = Path(scratch) / name
        folder.mkdir()
        source, versions = Path(scratch) / f"{name}.c", Path(scratch) / "versions"
        source.write_text(text)
        versions.write_text(VERSIONS)
        command = [compiler, "-shared", "-fPIC", "-O0", f"-Wl,--version-script={versions}"]
        command += ["-Wl,--build-id=sha1", "-o", folder / "libmade.so", source, *flags[name]]
        subprocess.run(command, check=True)
        sides.append(folder)
    return sides


def check_made(rea, scratch, plant, count):
    sides = made_here(scratch)
    if not sides:
        print("no C compiler here: no pairs were made")
        return
    print("made here")
    compare_pair(rea, *sides, plant, count)
    # What the flags say.
    deep = our_diff(rea, *sides)
    told = {}
    for row in deep["changes"]:
        if row["topic"] == "mitigation":
            for one in row["changed"]:
                told[one["name"]] = (one["before"], one["after"])
    for name in ("relro", "stack-canary", "nx"):
        count.names += 1
        if told.get(name, ("", ""))[0] != "present" or told[name][1] == "present":
            count.found.append(f"mitigation {name} was lost and rea tells {told.get(name)}")
    gates = "export-removed,export-added,import-added,dependency-added,mitigation-lost"
    command = [rea, "diff", *sides, "--deep", "--fail-on", gates, "--quiet"]
    done = subprocess.run(command, capture_output=True, env=ENV)
    words = {line.split(":")[0] for line in done.stderr.decode().splitlines()}
    count.names += 1
    if done.returncode != 3 or words != set(gates.split(",")):
        count.found.append(f"--fail-on {gates} ends with {done.returncode} for {sorted(words)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rea")
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--made", action="store_true")
    parser.add_argument("pair", nargs="*")
    options = parser.parse_args()
    rea = options.rea or find_rea()
    pairs = []
    if options.pair:
        pairs = [tuple(options.pair)]
    elif not options.made:
        for old, new in PAIRS:
            left, right = sorted(CORPUS.glob(old)), sorted(CORPUS.glob(new))
            if left and right:
                pairs.append((str(left[0]), str(right[0])))
            else:
                print(f"not here: {old} and {new} (scripts/corpus.sh fetches them)")
    count = Count()
    for old, new in pairs:
        print(f"{old} -> {new}")
        compare_pair(rea, old, new, options.plant, count)
    if not options.pair:
        with tempfile.TemporaryDirectory() as scratch:
            check_made(rea, scratch, options.plant, count)
    for one in count.found:
        print(f"DIFFERENT {one}")
    print(
        f"{len(pairs)} pairs, {count.members} members, {count.topics} topics, {count.names} names "
        f"that differ, {count.unread} not compared, {count.lies} lies, {len(count.found)} differences"
    )
    if count.members == 0 or count.names == 0:
        print("nothing was compared")
        return 1
    return 1 if count.found else 0


if __name__ == "__main__":
    sys.exit(main())
