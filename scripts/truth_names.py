#!/usr/bin/env python3
"""Compares names, strings and bytes with c++filt, strings(1), nm and objdump.

    scripts/truth_names.py [--rea PATH] [--plant] [FILE...]
    scripts/truth_names.py --system [--rea PATH]      the names of all ELF files below /usr/lib, by hand

Without files: libraries of this host. Every name that nm knows is demangled by
rea and by c++filt; every run of printable bytes that `strings -a -w` tells is
looked for in `list-strings`; the first bytes of each section are read by
address and compared with `objdump -s`. Where c++filt (binutils 2.40) is wrong, the kinds of names are listed
below with the reason; their number is printed. With --plant one of rea's answers in
each comparison is falsified, and the script fails unless all are noticed.
"""
import argparse, collections, glob, json, os, re, subprocess, sys

ap = argparse.ArgumentParser()
ap.add_argument("--rea", default="target/debug/rea")
ap.add_argument("--plant", action="store_true")
ap.add_argument("--system", action="store_true")
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


compared = differences = planted = noticed = 0
explained = collections.Counter()


def without_empty(text):
    """The text without the elements that c++filt makes of empty packs."""
    for wrong, right in ((", , ", ", "), ("(, ", "("), ("<, ", "<"), (", )", ")"), (", >", ">")):
        text = text.replace(wrong, right)
    return text


def unnamed(text):
    """The text with one word for constructors and destructors of unnamed types."""
    return re.sub(r"(\{unnamed type#\d+\})::~?(\w+|\{unnamed type#\d+\})\(", r"\1::X(", text)


# A kind of name, and whether this is one: name, rea, c++filt.
EXPLAINED = [
    # A pack without elements is nothing (ABI 5.1.5.5); LLVM's demangler writes nothing either.
    ("an empty pack shown as an element", lambda name, one, other: one == without_empty(other)),
    # The structor of an unnamed type is that type's, not the class's around it (ABI 5.1.4.3): icu's
    # MicroProps has an unnamed union with a destructor.
    ("a structor of an unnamed type called after its scope", lambda name, one, other: unnamed(one) == unnamed(other)),
    # GR with a number (ABI 5.1.4.4), a clone of an object: it gives the name back.
    ("a name that c++filt does not know", lambda name, one, other: other == name),
    # libstdc++'s <mutex>: _Prepare_execution(_Callable&) takes the closure; c++filt looks the parameter up in the
    # arguments of the function around the closure.
    ("a parameter of another template", lambda name, one, other: name.startswith("_ZZNSt9once_flag18_Prepare_executionC4I")),
]


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


def compare_names(names):
    data = "\n".join(names).encode()
    ours = run(args.rea, "demangle", "-", "--format", "report", data=data).decode().split("\n")
    theirs = run("c++filt", data=data).decode().split("\n")
    if len(ours) < len(names) or len(theirs) < len(names):
        sys.exit("a name is missing in an answer")
    for at, (name, one, other) in enumerate(zip(names, ours, theirs)):
        kind = None
        if one != other:
            kind = next((kind for kind, known in EXPLAINED if known(name, one, other)), None)
        if kind is not None:
            explained[kind] += 1
        else:
            check("name", name, one, other, at == 0)


def names_of(file):
    lines = run("nm", "-D", file).decode(errors="replace").split("\n")
    names = sorted({line.split()[-1].split("@")[0] for line in lines if line.split()})
    return [name for name in names if name.startswith("_Z")]


def finish():
    for kind, count in sorted(explained.items()):
        print(f"{count:>9}  {kind}")
    print(f"{len(files)} files, {compared} compared, {sum(explained.values())} explained, {differences} different")
    if args.plant:
        print(f"{noticed} of {planted} planted lies noticed")
        sys.exit(noticed != planted or not planted)
    sys.exit(bool(differences) or not compared)


if args.system:
    files, names = [], set()
    for folder, _, members in os.walk("/usr/lib"):
        for path in (os.path.join(folder, member) for member in members):
            if os.path.isfile(path) and not os.path.islink(path) and open(path, "rb").read(4) == b"\x7fELF":
                files.append(path)
                names.update(names_of(path))
    compare_names(sorted(names))
    finish()

for file in files:
    names = names_of(file)
    if names:
        compare_names(names)
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

finish()
