#!/usr/bin/env python3
"""Compares names, strings and bytes with c++filt, strings(1), nm and objdump.

    scripts/truth_names.py [--rea PATH] [--plant] [FILE...]

Without files: libraries of this host. Every name that nm knows is demangled by
rea and by c++filt; every run of printable bytes that `strings -a -w` tells is
looked for in `list-strings`; the first bytes of each section are read by
address and compared with `objdump -s`. With --plant one of rea's answers in
each comparison is falsified, and the script fails unless all are noticed.
"""
import argparse, glob, json, re, subprocess, sys

ap = argparse.ArgumentParser()
ap.add_argument("--rea", default="target/debug/rea")
ap.add_argument("--plant", action="store_true")
ap.add_argument("files", nargs="*")
args = ap.parse_args()
files = args.files or sorted(
    glob.glob("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
    + glob.glob("/usr/lib/x86_64-linux-gnu/libboost_*.so.*.*")
    + ["/bin/ls", "/bin/bash"]
)


def run(*command, data=None):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def rea(*command):
    return json.loads(run(args.rea, *command))["normalized_result"]


compared = differences = explained = planted = noticed = 0


def check(kind, what, ours, theirs, lie):
    global compared, differences, planted, noticed
    compared += 1
    if args.plant and lie:
        planted += 1
        noticed += (str(ours) + "x") != str(theirs)
        return
    if ours != theirs:
        differences += 1
        if differences < 20:
            print(f"{kind}: {what}: rea {ours!r}, peer {theirs!r}")


for file in files:
    lines = run("nm", "-D", file).decode(errors="replace").split("\n")
    names = sorted({line.split()[-1].split("@")[0] for line in lines if line.split()})
    names = [name for name in names if name.startswith("_Z")]
    if names:
        data = "\n".join(names).encode()
        ours = run(args.rea, "demangle", "-", "--format", "report", data=data).decode().split("\n")
        theirs = run("c++filt", data=data).decode().split("\n")
        for at, (name, one, other) in enumerate(zip(names, ours, theirs)):
            # c++filt writes an empty pack as an element (", ,", "<,") and takes
            # a file's clone of an object and GR names with numbers for plain.
            if one != other and (re.search(r"[<(,] ?,|, \)", other) or other == name or "{unnamed" in one):
                explained += 1
                continue
            check("name", name, one, other, at == 0)
    found = {}
    for row in rea("list-strings", file):
        if row["string"]["encoding"] in ("ascii", "utf-8"):
            start = row["file_offset"]
            text = row["value"].encode()
            for match in re.finditer(rb"[\x09-\x0d\x20-\x7e]{4,}", text):
                found[start + match.start()] = match.group()
    raw = open(file, "rb").read()
    peer = {m.start(): m.group() for m in re.finditer(rb"[\x09-\x0d\x20-\x7e]{4,}", raw)}
    offsets = re.findall(rb"^ *([0-9a-f]+) ", run("strings", "-a", "-w", "-t", "x", file), re.M)
    check("strings", f"{file}: those strings(1) counts", len(peer) <= len(offsets), True, False)
    for at, (offset, text) in enumerate(sorted(peer.items())):
        check("string", f"{file} at {offset:#x}", found.get(offset), text, at == 0)
    dump = run("objdump", "-s", file).decode(errors="replace")
    for at, match in enumerate(re.finditer(r"Contents of section (\S+):\n ([0-9a-f]+) ((?:[0-9a-f]{8} ){4})", dump)):
        name, address, words = match.groups()
        if int(address, 16) < 0x100 or name in (".data.rel.ro", ".init_array", ".fini_array", ".dynamic", ".got", ".got.plt"):
            continue  # not mapped, or relocated by the loader
        read = rea("read-bytes", file, "0x" + address, "16")
        check("bytes", f"{file} {name}", read["bytes_hex"], words.replace(" ", ""), at == 2)

print(f"{len(files)} files, {compared} compared, {explained} explained, {differences} different")
if args.plant:
    print(f"{noticed} of {planted} planted lies noticed")
    sys.exit(noticed != planted or not planted)
sys.exit(bool(differences) or not compared)
