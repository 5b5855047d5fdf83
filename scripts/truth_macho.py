#!/usr/bin/env python3
"""Compares `rea inspect-macho` and `rea inspect-binary-layout` of Mach-O files with LLVM and LIEF.

    scripts/truth_macho.py                  the Mach-O files of tests/data/macho, and of the corpus where it
                                            is (scripts/corpus.sh)
    scripts/truth_macho.py FILE...          these files, and all Mach-O files in these folders
    scripts/truth_macho.py --sample N       N files at most, the same ones each time
    scripts/truth_macho.py --plant          falsify our side; each lie must show

Every slice of a universal file is compared on its own. Peers: llvm-readobj and llvm-objdump (Debian's llvm;
14 knows no chained fixups), and LIEF where python has it (`pip install lief`; 1.0 was used), which reads
chained fixups. Those of tests/data/macho/chained are compared with its source too, so that they are without
LIEF. Words that are rebased are also read with `rea read-bytes`: they must be what dyld leaves there. What they print is compared, except:
  llvm-readobj  StringTable and the raw bytes of names (the name itself is), Reserved3 of sections (no header
                calls it anything)
  llvm-objdump  tries of LC_DYLD_EXPORTS_TRIE, which 14 does not look for (LIEF does); weak imports in its table of lazy binds, where it does not mark them; columns segment and section of its binding tables (they follow from the address), the time
                stamp as a date, the offset of strings in their commands
  LIEF          its own classes of symbols and its guesses (functions, ctor, unwind)

Exit 1 on any difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import collections
import copy
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from truth_artifacts import find_rea

ROOT = Path(__file__).resolve().parent.parent
MAGICS = {b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf"}

# What a file that is kept here was linked from.
SOURCES = {(ROOT / "tests/data/macho/chained").resolve(): ROOT / "tests/data/macho/src/chained.arm64.s"}

try:
    import lief
except ImportError:
    lief = None


def run(*command):
    done = subprocess.run(command, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape"), done.returncode


def ours(rea, operation, path, architecture):
    out, status = run(rea, operation, str(path), "--architecture", architecture)
    if status != 0:
        raise RuntimeError(f"rea {operation} {path} exits with {status}")
    return json.loads(out)["normalized_result"]


class Comparison:
    """Facts of one slice, ours and the peer's, under one name each."""

    def __init__(self):
        self.fields = collections.Counter()
        self.differences = []

    def same(self, kind, where, mine, peer):
        self.fields[kind] += 1
        if mine != peer:
            self.differences.append((kind, where, mine, peer))

    def lists(self, kind, mine, peer):
        self.same(f"{kind} count", "", len(mine), len(peer))
        for at, (left, right) in enumerate(zip(mine, peer)):
            self.same(kind, at, left, right)


def number(text):
    return int(text.split()[0].rstrip(","), 0)


def coded(text):
    """`Section (0xE)` and `0xE`, where the peer knows no name -> 14"""
    if "(" not in text:
        return int(text, 0)
    return int(text[text.rindex("(") + 1 : text.rindex(")")], 0)


def blocks(text):
    """llvm-readobj's nesting as (name, children) and (key, value) pairs."""
    root = ("", [])
    stack = [root]
    for line in text.split("\n"):
        line = line.strip()
        if not line:
            continue
        if line in "]}":
            if len(stack) > 1:
                stack.pop()
            continue
        if line.endswith(("{", "[")) or re.search(r"\[ \(0x[0-9A-F]+\)$", line):
            name = line.split("{")[0].strip() if line.endswith("{") else line
            block = (name, [])
            stack[-1][1].append(block)
            stack.append(block)
            continue
        key, colon, value = line.partition(": ")
        if not colon and line.endswith(":"):
            key, value = line[:-1], ""
        elif not colon:
            key, value = "", line
        stack[-1][1].append((key, value))
    return root


def children(block, name):
    return [child for child in block[1] if child[0].startswith(name) and isinstance(child[1], list)]


def values(block):
    return {key: value for key, value in block[1] if isinstance(value, str)}


def flags_of(block, name):
    found = children(block, name)
    return coded(found[0][0]) if found else 0


SECTION_TYPES = {
    "S_REGULAR": 0, "S_ZEROFILL": 1, "S_CSTRING_LITERALS": 2, "S_4BYTE_LITERALS": 3, "S_8BYTE_LITERALS": 4,
    "S_LITERAL_POINTERS": 5, "S_NON_LAZY_SYMBOL_POINTERS": 6, "S_LAZY_SYMBOL_POINTERS": 7, "S_SYMBOL_STUBS": 8,
    "S_MOD_INIT_FUNC_POINTERS": 9, "S_MOD_TERM_FUNC_POINTERS": 10, "S_COALESCED": 11, "S_GB_ZEROFILL": 12,
    "S_INTERPOSING": 13, "S_16BYTE_LITERALS": 14, "S_DTRACE_DOF": 15, "S_LAZY_DYLIB_SYMBOL_POINTERS": 16,
    "S_THREAD_LOCAL_REGULAR": 17, "S_THREAD_LOCAL_ZEROFILL": 18, "S_THREAD_LOCAL_VARIABLES": 19,
    "S_THREAD_LOCAL_VARIABLE_POINTERS": 20, "S_THREAD_LOCAL_INIT_FUNCTION_POINTERS": 21, "S_INIT_FUNC_OFFSETS": 22,
}


def compare_readobj(thin, base, layout, out):
    text, _ = run(
        "llvm-readobj", "--file-headers", "--sections", "--section-relocations", "--symbols", "--macho-segment",
        "--macho-dysymtab", "--macho-indirect-symbols", "--needed-libs", "--relocations", str(thin),
    )
    top = blocks(text)
    macho = layout["facts"]["macho"]
    header = children(top, "MachHeader")[0]
    mine, peer = macho["header"], values(header)
    out.same("header ncmds", "", mine["ncmds"], number(peer["NumOfLoadCommands"]))
    out.same("header sizeofcmds", "", mine["sizeofcmds"], number(peer["SizeOfLoadCommands"]))
    out.same("header flags", "", int(mine["flags"], 16), flags_of(header, "Flags"))
    out.same("header flag names", "", mine["flag_names"], sorted(key.split()[0] for key in [v for k, v in children(header, "Flags")[0][1]]))
    names = ["", "MH_OBJECT", "MH_EXECUTE", "MH_FVMLIB", "MH_CORE", "MH_PRELOAD", "MH_DYLIB", "MH_DYLINKER",
             "MH_BUNDLE", "MH_DYLIB_STUB", "MH_DSYM", "MH_KEXT_BUNDLE"]
    out.same("header file type", "", mine["file_type"], names[coded(peer["FileType"])])
    out.same("header cpu", "", layout["architecture"]["machine"].replace("CPU_TYPE_", "").replace("_", "").lower(),
             peer["CpuType"].split()[0].replace("-", "").replace("X86", "x86").lower().replace("x86", "i386" if "(0x7)" in peer["CpuType"] else "x86"))
    out.same("bits", "", f"{layout['architecture']['bits']}bit", values(top)["AddressSize"])
    sections = children(children(top, "Sections")[0], "Section")
    out.same("section count", "", len(layout["sections"]), len(sections))
    for mine, detail, block in zip(layout["sections"], macho["section_details"], sections):
        peer = values(block)
        at = f"section {mine['index']}"
        out.same("section name", at, mine["name"]["display"], peer["Name"].split(" (")[0])
        out.same("section segment", at, detail["segment"], peer["Segment"].split(" (")[0])
        out.same("section address", at, int(mine["address"], 16), number(peer["Address"]))
        out.same("section size", at, int(mine["size"], 16), number(peer["Size"]))
        offset = number(peer["Offset"])
        out.same("section offset", at, int(mine["offset"], 16), offset + base if offset else 0)
        out.same("section alignment", at, int(mine["alignment"], 16), 1 << number(peer["Alignment"]))
        out.same("section relocations", at, (detail["relocations_offset"], detail["relocations"]),
                 (number(peer["RelocationOffset"]), number(peer["RelocationCount"])))
        out.same("section type", at, SECTION_TYPES.get(mine["type"], mine["type"]), coded(peer["Type"]))
        out.same("section attributes", at, int(mine["flags"], 16) >> 8, flags_of(block, "Attributes"))
        out.same("section reserved", at, (mine["info"], int(mine["entry_size"], 16)),
                 (number(peer["Reserved1"]), number(peer["Reserved2"])))
    segments = children(top, "Segment")
    segments = [block for block in segments if block[0] == "Segment"]
    out.same("segment count", "", len(layout["segments"]), len(segments))
    for mine, detail, block in zip(layout["segments"], macho["segment_details"], segments):
        peer = values(block)
        at = f"segment {mine['index']}"
        out.same("segment command", at, mine["type"], peer["Cmd"])
        out.same("segment name", at, mine["name"]["display"], peer["Name"])
        out.same("segment size", at, int(mine["header_location"]["bytes"], 16), number(peer["Size"]))
        out.same("segment vmaddr", at, int(mine["virtual_address"], 16), number(peer["vmaddr"]))
        out.same("segment vmsize", at, int(mine["memory_size"], 16), number(peer["vmsize"]))
        out.same("segment fileoff", at, int(mine["offset"], 16) - base, number(peer["fileoff"]))
        out.same("segment filesize", at, int(mine["file_size"], 16), number(peer["filesize"]))
        rights = mine["permissions"]
        shown = "".join(letter if rights[name] else "-" for letter, name in (("r", "read"), ("w", "write"), ("x", "execute")))
        out.same("segment initprot", at, shown, peer["initprot"])
        rights = detail["maximum_permissions"]
        shown = "".join(letter if rights[name] else "-" for letter, name in (("r", "read"), ("w", "write"), ("x", "execute")))
        out.same("segment maxprot", at, shown, peer["maxprot"])
        out.same("segment nsects", at, detail["sections"], number(peer["nsects"]))
        out.same("segment flags", at, int(mine["flags"], 16), number(peer["flags"]))
    symbols = children(children(top, "Symbols")[0], "Symbol")
    out.same("symbol count", "", len(layout["symbols"]), len(symbols))
    nlist = macho["nlist"] or {"type": [], "desc": []}
    for mine, kind, desc, block in zip(layout["symbols"], nlist["type"], nlist["desc"], symbols):
        peer = values(block)
        at = f"symbol {mine['entry_index']}"
        name, _, strx = peer["Name"].rpartition(" (")
        out.same("symbol name", at, mine["name"]["display"], name)
        out.same("symbol strx", at, int(mine["name_offset"], 16), int(strx[:-1]))
        out.same("symbol value", at, int(mine["value"], 16), number(peer["Value"]))
        if kind & 0xE0:
            out.same("symbol stab", at, kind, coded(peer["Type"]))
        else:
            out.same("symbol type", at, kind & 0x0E, coded(peer["Type"]))
            # N_PEXT and N_EXT stand as bare words.
            words = {v for k, v in block[1] if k == ""}
            out.same("symbol scope", at, (bool(kind & 1), bool(kind & 0x10)), ("Extern" in words, "PrivateExtern" in words))
        section = mine["section_index"]
        out.same("symbol section", at, section + 1 if isinstance(section, int) else 0, coded(peer["Section"]))
        out.same("symbol desc", at, desc, coded(peer["RefType"]) | flags_of(block, "Flags"))
    found = children(top, "Dysymtab")
    if found and macho["indirect_symbols"]:
        peer = values(found[0])
        out.same("indirect offset", "", int(macho["indirect_symbols"]["location"]["offset"], 16) - base, number(peer["indirectsymoff"]))
        out.same("indirect count", "", len(macho["indirect_symbols"]["symbols"]), number(peer["nindirectsyms"]))
    found = children(top, "Indirect Symbols")
    if found and macho["indirect_symbols"]:
        special = {0x80000000: "INDIRECT_SYMBOL_LOCAL", 0x40000000: "INDIRECT_SYMBOL_ABS",
                   0xC0000000: "INDIRECT_SYMBOL_LOCAL|INDIRECT_SYMBOL_ABS"}
        listed = [values(block) for block in children(children(found[0], "Symbols")[0], "Entry")]
        peers = [number(entry["Symbol Index"]) for entry in listed]
        out.lists("indirect symbol", macho["indirect_symbols"]["symbols"], [special.get(index, index) for index in peers])
    found = children(top, "NeededLibraries")
    if found:
        # One line each, sorted; the library's own name (LC_ID_DYLIB) among them.
        peers = [line for key, line in found[0][1]]
        if macho["identity"] is not None:
            peers.remove(macho["identity"]["name"])
        out.lists("needed library", sorted(row["display"] for row in layout["linkage"]["needed_libraries"]), sorted(peers))
    compare_relocations(top, layout, out)


def compare_relocations(top, layout, out):
    if layout["image_type"] != "MH_OBJECT":
        return
    types = {row["type"]: row["name"] for row in layout["facts"]["relocation_types"]}
    peers = []
    for section in children(children(top, "Relocations")[0], "Section"):
        for key, line in section[1]:
            # 0x18 1 2 1 X86_64_RELOC_BRANCH 0 _foo
            words = (f"{key}: {line}" if key else line).split()
            peers.append((int(words[0], 16), int(words[1]) if words[1] != "n/a" else None, words[4]))
    # llvm-readobj walks each section's entries from the last to the first, or the other way round.
    mine = []
    for row, detail in zip(layout["relocations"], layout["facts"]["macho"]["relocations"]):
        mine.append((int(row["reported_offset"], 16), int(detail["pc_relative"]), str(types[row["type"]])))
    out.lists("relocation", sorted(mine, key=str), sorted(peers, key=str))


FIELD_NAMES = {"time stamp": "timestamp", "current version": "current_version", "compatibility version": "compatibility_version"}
PLATFORMS = {"macos": "MACOS", "ios": "IOS", "tvos": "TVOS", "watchos": "WATCHOS", "bridgeos": "BRIDGEOS",
             "macCatalyst": "MACCATALYST", "iossimulator": "IOSSIMULATOR", "tvossimulator": "TVOSSIMULATOR",
             "watchossimulator": "WATCHOSSIMULATOR", "driverkit": "DRIVERKIT"}


def load_commands(text):
    """Load commands as llvm-objdump prints them: a dictionary of fields each."""
    commands = []
    current = None
    for line in text.split("\n"):
        if line.startswith("Load command "):
            current = {}
            commands.append(current)
        elif line.startswith("Section"):
            current = {}
        elif current is not None:
            found = re.match(r"\s*(time stamp|current version|compatibility version|[A-Za-z_0-9]+) (.*)$", line)
            if found and found[1] not in current:
                current[found[1]] = found[2]
    return commands


def compare_commands(thin, base, macho, out):
    text, _ = run("llvm-objdump", "--macho", "--private-headers", str(thin))
    peers = load_commands(text)
    mine = macho["load_commands"]["items"]
    out.same("command count", "", len(mine), len(peers))
    for row, peer in zip(mine, peers):
        at = f"command {row['index']}"
        known = row["kind"].startswith("LC_")
        if known and not peer.get("cmd", "").startswith("?"):
            out.same("command kind", at, row["kind"], peer.get("cmd"))
        fields = row["fields"]
        for key, value in peer.items():
            key = FIELD_NAMES.get(key, key)
            if key not in fields or key in ("cmd", "flavor", "count"):
                continue
            field = fields[key]
            if row["kind"].startswith("LC_SEGMENT") and key == "flags":
                # Words: NORELOC, PROTECTED_VERSION_1, or (none).
                if value == "(none)":
                    out.same("command field", f"{at} {key}", int(field, 16), 0)
                continue
            if key in ("name", "path", "client", "umbrella", "sub_umbrella", "sub_library", "entry_id", "triple"):
                value = re.sub(r" \(offset \d+\)$", "", value)
            elif key == "timestamp":
                value = int(value.split()[0])
            elif key in ("maxprot", "initprot"):
                field = "".join(letter if field & bit else "-" for letter, bit in (("r", 1), ("w", 2), ("x", 4)))
            elif key == "platform":
                value = PLATFORMS.get(value, value)
            elif key == "sdk" and value == "n/a":
                value = "0.0"
            elif isinstance(field, str) and field.startswith("0x"):
                field, value = int(field, 16), int(value.split()[0], 0)
            elif isinstance(field, int):
                value = int(value.split()[0], 0)
            out.same("command field", f"{at} {row['kind']} {key}", field, value)


def places(run):
    start, step = int(run["address"], 16), int(run["step"], 16)
    return [start + index * step for index in range(run["count"])]


def table(thin, option):
    """The rows under an llvm-objdump table: split at blanks."""
    text, _ = run("llvm-objdump", "--macho", option, str(thin))
    rows = text.split("\n")
    start = next((at for at, line in enumerate(rows) if line.startswith(("segment  section", "Exports trie"))), None)
    return [] if start is None else [line for line in rows[start + 1 :] if line.strip()]


def library_stem(ordinal, path):
    special = {"-2": "flat-namespace", "-1": "main-executable", "0": "this-image", "-3": "weak"}
    if ordinal in special:
        return special[ordinal]
    return path


def guess_stem(path):
    """What llvm-objdump prints for a library: its short name, cut before versions."""
    if path is None:
        return None
    last = path.rsplit("/", 1)[-1]
    return re.split(r"\.", last)[0] if last else last


def compare_dyld_info(thin, macho, out):
    info = macho["facts"]["dyld_info"]
    if info is None:
        return
    rebases = [(address, run["type"]) for run in info["rebases"] for address in places(run)]
    peers = []
    for line in table(thin, "--rebase"):
        words = line.split()
        peers.append((int(words[-2], 16), words[-1]))
    kinds = {"text-absolute32": "text abs32", "text-pcrel32": "text rel32"}
    out.lists("rebase", [(address, kinds.get(kind, kind)) for address, kind in rebases], peers)
    for option, rows in (("--bind", info["binds"]), ("--weak-bind", info["weak_binds"]), ("--lazy-bind", info["lazy_binds"])):
        mine, peers = [], []
        for row in rows:
            name = row["name"] + (" (weak_import)" if row["weak_import"] and option == "--bind" else "")
            if row["places"] is None:
                mine.append(("strong", row["name"]))
                continue
            stem = library_stem(row["ordinal"], row["library"])
            for address in places(row["places"]):
                if option == "--lazy-bind":
                    mine.append((address, stem, name))
                elif option == "--weak-bind":
                    mine.append((address, row["type"], int(row["addend"]), row["name"]))
                else:
                    mine.append((address, row["type"], int(row["addend"]), stem, name))
        for line in table(thin, option):
            if "strong" in line.split()[:1]:
                peers.append(("strong", line.split(None, 1)[1].strip()))
                continue
            if option == "--lazy-bind":
                words = line.split(None, 4)
                peers.append((int(words[2], 16), words[3], words[4]))
            elif option == "--weak-bind":
                words = line.split(None, 5)
                peers.append((int(words[2], 16), words[3], int(words[4]), words[5]))
            else:
                words = line.split(None, 6)
                peers.append((int(words[2], 16), words[3], int(words[4]), words[5], words[6]))
        kind = option.strip("-")
        if option == "--weak-bind":
            # llvm-objdump prints all in one order; ours is the program's.
            mine, peers = sorted(mine, key=str), sorted(peers, key=str)
        stems = {"--bind": 3, "--lazy-bind": 1}.get(option)
        out.same(f"{kind} count", "", len(mine), len(peers))
        for at, (left, right) in enumerate(zip(mine, peers)):
            if stems is not None and len(left) > stems:
                # The peer shortens the library's name by rules of its own: it must start the last part.
                shown, path = right[stems], left[stems]
                fits = path is not None and (path == shown or path.rsplit("/", 1)[-1].startswith(shown))
                out.same(f"{kind} library", at, fits, True)
                left = left[:stems] + left[stems + 1 :]
                right = right[:stems] + right[stems + 1 :]
            out.same(kind, at, left, right)


def compare_exports(thin, macho, out):
    if macho["facts"]["exports_trie"] is None:
        return
    exports = [row for row in macho["exports"]["items"] if row["source"] == "export-trie"]
    mine = sorted((row["name"], None if row["reexport"] or row["address"] is None else int(row["address"], 16), row["weak"]) for row in exports)
    text, _ = run("llvm-objdump", "--macho", "--exports-trie", str(thin))
    peers = []
    for line in text.split("\n"):
        found = re.match(r"(0x[0-9A-Fa-f]+|\[re-export\])\s+(.*)$", line.strip())
        if not found:
            continue
        name = found[2]
        weak = "weak_def" in name
        marks = re.search(r" \[(per-thread|absolute|weak_def|from |resolver|re-export|, |=)?.*\]$| \(from .*\)$", name)
        name = name[: marks.start()] if marks else name
        peers.append((name, None if found[1].startswith("[") else int(found[1], 16), weak))
    if not peers and any(row["kind"] == "LC_DYLD_EXPORTS_TRIE" for row in macho["load_commands"]["items"]):
        return
    out.lists("export", mine, sorted(peers, key=lambda row: (row[0], row[1] or 0)))


def compare_functions(thin, macho, out):
    starts = macho["facts"]["function_starts"]
    text, _ = run("llvm-objdump", "--macho", "--function-starts", str(thin))
    peers = [int(line, 16) for line in text.split("\n") if re.fullmatch(r"[0-9a-f]{8,16}", line)]
    mine = [] if starts is None else [int(address, 16) for address in starts["addresses"]]
    if macho["word_size"] == 32:
        # Thumb's bit is not printed.
        mine = [address & ~1 for address in mine]
        peers = [address & ~1 for address in peers]
    out.lists("function start", mine, peers)
    if starts is not None:
        out.same("function start count", "", starts["count"], len(peers))
    text, _ = run("llvm-objdump", "--macho", "--data-in-code", str(thin))
    peers = re.findall(r"^(0x[0-9a-f]+)\s+(\d+)\s+(\w+)", text, re.M)
    mine = (macho["facts"]["data_in_code"] or {"items": []})["items"]
    out.lists("data in code", [(int(row["offset"], 16), row["length"], str(row["kind"]).replace("DICE_KIND_", "")) for row in mine],
              [(int(offset, 16), int(length), kind) for offset, length, kind in peers])
    text, _ = run("llvm-objdump", "--macho", "--dylibs-used", str(thin))
    peers = re.findall(r"^\t(.*) \(compatibility version ([0-9.]+), current version ([0-9.]+)", text, re.M)
    mine = [(row["path"], row["compatibility_version"], row["current_version"]) for row in macho["dependencies"]["items"]]
    identity = macho["facts"]["identity"]
    if identity is not None and peers and peers[0][0] == identity["name"]:
        out.same("identity", "", (identity["name"], identity["compatibility_version"], identity["current_version"]), peers[0])
        peers = peers[1:]
    out.lists("dependency", mine, peers)


def compare_universal(path, slices, out):
    text, _ = run("llvm-objdump", "--macho", "--universal-headers", str(path))
    peers = re.findall(
        r"^architecture (\S+)\n\s+cputype (\S+)\n\s+cpusubtype (\S+)\n\s+capabilities (\S+)\n\s+offset (\d+)\n\s+size (\d+)\n\s+align 2\^(\d+)",
        text, re.M)
    mine = [(row["architecture"], row["cpu_type"], row["cpu_subtype"], int(row["offset"], 16), int(row["size"], 16), row["alignment"]) for row in slices]
    out.lists("slice", mine, [(name, cpu, sub, int(offset), int(size), 1 << int(align)) for name, cpu, sub, _, offset, size, align in peers])


def compare_lief(thin, macho, layout, out):
    fat = lief.MachO.parse(str(thin))
    if fat is None or fat.size == 0:
        return
    binary = fat.at(0)
    facts = macho["facts"]
    fixups = facts["chained_fixups"]
    if fixups is not None and binary.has_dyld_chained_fixups:
        imports = fixups["imports"]
        mine = sorted((int(row["address"], 16), imports[row["import"]]["name"], imports[row["import"]]["ordinal"],
                       imports[row["import"]]["weak"]) for row in fixups["binds"])
        peers = sorted((one.address, one.symbol.name if one.has_symbol else "", str(one.library_ordinal), one.weak_import)
                       for one in binary.bindings)
        out.lists("LIEF chained bind", mine, peers)
        mine = sorted(address for run in fixups["rebases"] for address in places(run))
        peers = sorted(one.address for one in binary.relocations if "Fixup" in type(one).__name__)
        out.lists("LIEF chained rebase", mine, peers)
        out.same("LIEF imports", "", len(imports), binary.dyld_chained_fixups.imports_count)
        out.same("LIEF imports format", "", fixups["imports_format"], int(binary.dyld_chained_fixups.imports_format.value))
        # What dyld leaves in memory at the linked addresses; LIEF tells no top bytes.
        targets = {one.address: one.target for one in binary.relocations if "Fixup" in type(one).__name__}
        for address, word in macho["words read"].items():
            if address in targets:
                out.same("LIEF word of memory", hex(address), word & (1 << 56) - 1, targets[address] & (1 << 56) - 1)
    if facts["exports_trie"] is not None:
        mine = sorted(row["name"] for row in macho["exports"]["items"] if row["source"] == "export-trie")
        info = binary.dyld_exports_trie if binary.has_dyld_exports_trie else binary.dyld_info if binary.has_dyld_info else None
        peers = sorted(one.symbol.name for one in info.exports) if info is not None else []
        out.lists("LIEF export", mine, peers)
    if binary.has_uuid:
        out.same("LIEF uuid", "", macho["uuid"].replace("-", "").lower(), bytes(binary.uuid.uuid).hex())
    if binary.has_source_version:
        version = list(binary.source_version.version)
        mine = [int(part) for part in facts["source_version"].split(".")]
        out.same("LIEF source version", "", mine + [0] * (5 - len(mine)), version)
    out.lists("LIEF rpath", facts["rpaths"], [one.path for one in binary.rpaths])
    out.lists("LIEF segment", [(row["name"], row["vm_address"]) for row in macho["segments"]["items"]],
              [(one.name, hex(one.virtual_address)) for one in binary.segments])
    if binary.has_build_version:
        row, peer = macho["build_metadata"]["items"][0], binary.build_version
        shown = lambda text: [int(part) for part in text.split(".")]
        pad = lambda parts: parts + [0] * (3 - len(parts))
        out.same("LIEF minimum OS", "", pad(shown(row["minimum_os"])), list(peer.minos))
        out.same("LIEF SDK", "", pad(shown(row["sdk"])), list(peer.sdk))
        out.same("LIEF tools", "", [pad(shown(tool["version"])) for tool in row["tools"]], [list(tool.version) for tool in peer.tools])
    if binary.has_main_command:
        out.same("LIEF entry", "", macho["entrypoints"]["items"][0]["file_offset"], binary.main_command.entrypoint)
        out.same("LIEF entry address", "", int(layout["entry_point"]["reported_value"], 16), binary.entrypoint)
    if binary.has_code_signature:
        place = facts["code_signature"]["location"]
        out.same("LIEF signature size", "", int(place["bytes"], 16), binary.code_signature.data_size)


def words_read(rea, path, architecture, macho):
    """What `rea read-bytes` tells of the words that chained fixups rebase, by address."""
    fixups = macho["facts"]["chained_fixups"]
    sites = sorted(address for run in fixups["rebases"] for address in places(run)) if fixups is not None else []
    words = {}
    narrow = sites and any(str(row["pointer_format"]).startswith("DYLD_CHAINED_PTR_32") for row in fixups["chains"])
    word = 4 if narrow else 8
    while sites:
        # All that one read reaches.
        first = sites[0]
        near = [address for address in sites if address + word <= first + (1 << 20)]
        size = near[-1] + word - first
        out, status = run(rea, "read-bytes", str(path), hex(first), str(size), "--architecture", architecture)
        if status != 0:
            raise RuntimeError(f"rea read-bytes {path} {first:#x} exits with {status}")
        data = bytes.fromhex(json.loads(out)["normalized_result"]["bytes_hex"])
        for address in near:
            words[address] = int.from_bytes(data[address - first : address - first + word], "little")
        sites = sites[len(near) :]
    return words


def compare_source(thin, source, macho, out):
    """Chained fixups of the file that was linked from `source`: the words of its `_table` and the one slot of its
    `__got`, by the addresses that llvm-readobj tells."""
    text, _ = run("llvm-readobj", "--symbols", "--sections", str(thin))
    symbols, top = {}, blocks(text)
    sections = map(values, children(children(top, "Sections")[0], "Section"))
    slots = [number(peer["Address"]) for peer in sections if peer["Name"].startswith("__got ")]
    for block in children(children(top, "Symbols")[0], "Symbol"):
        peer = values(block)
        symbols[peer["Name"].rpartition(" (")[0]] = number(peer["Value"]) if "Value" in peer else 0
    lines = source.read_text().split("_table:\n")[1].split("\t.section")[0].split("\n")
    weak = {line.split()[1] for line in lines if ".weak_reference" in line}
    fixups = macho["facts"]["chained_fixups"]
    imports = fixups["imports"]
    address, rebases, words = symbols["_table"], [], {}
    binds = [(slot, "_puts", 0, False) for slot in slots]
    for line in lines:
        found = re.match(r"\t\.quad (?:(_\w+)(?:\+(0x[0-9a-f]+|[0-9]+))?|(0x[0-9a-f]+))$", line)
        if not found:
            continue
        name, addend = found[1], int(found[2] or "0", 0)
        if name is not None and symbols.get(name):
            rebases.append(address)
            words[address] = symbols[name] + addend
        elif name is not None:
            binds.append((address, name, addend, name in weak))
        address += 8
    out.lists("source rebase", [site for run in fixups["rebases"] for site in places(run)], rebases)
    mine = [(int(row["address"], 16), imports[row["import"]]["name"], int(row["addend"]), imports[row["import"]]["weak"])
            for row in fixups["binds"]]
    out.lists("source bind", sorted(mine), sorted(binds))
    out.lists("source word of memory", sorted(macho["words read"].items()), sorted(words.items()))


def compare_all(thin, base, source, layout, macho, out):
    compare_readobj(thin, base, layout, out)
    compare_commands(thin, base, macho, out)
    compare_dyld_info(thin, macho, out)
    compare_exports(thin, macho, out)
    compare_functions(thin, macho, out)
    if source is not None:
        compare_source(thin, source, macho, out)
    if lief is not None:
        compare_lief(thin, macho, layout, out)


def compare_slice(rea, path, architecture, thin, base, source):
    out = Comparison()
    layout = ours(rea, "inspect-binary-layout", path, architecture)
    macho = ours(rea, "inspect-macho", path, architecture)
    macho["words read"] = words_read(rea, path, architecture, macho)
    compare_all(thin, base, source, layout, macho, out)
    return out, layout, macho


def slices_of(rea, path):
    out, status = run(rea, "list-architectures", str(path))
    if status != 0:
        raise RuntimeError(f"rea list-architectures {path} exits with {status}")
    return json.loads(out)["normalized_result"]["architectures"]["items"]


def slices_by_hand(data):
    """Offset and size of each slice, read without rea."""
    if data[:4] not in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"):
        return [(0, len(data))]
    wide = data[3] == 0xBF
    (count,) = struct.unpack_from(">I", data, 4)
    if wide:
        return [struct.unpack_from(">QQ", data, 8 + 32 * index + 8) for index in range(count)]
    return [struct.unpack_from(">II", data, 8 + 20 * index + 8) for index in range(count)]


LIES = [
    ("section address", lambda l, m: l["sections"][0].update(address="0x1")),
    ("section offset", lambda l, m: l["sections"][-1].update(offset="0x1234567")),
    ("section type", lambda l, m: l["sections"][0].update(type="S_INTERPOSING")),
    ("segment size", lambda l, m: l["segments"][-1].update(memory_size="0x1")),
    ("segment rights", lambda l, m: l["segments"][-1]["permissions"].update(execute=True, write=True, read=False)),
    ("symbol name", lambda l, m: l["symbols"][-1]["name"].update(display="_lie")),
    ("symbol value", lambda l, m: l["symbols"][0].update(value="0xdead")),
    ("symbol section", lambda l, m: l["symbols"][0].update(section_index=77)),
    ("symbol description", lambda l, m: l["facts"]["macho"]["nlist"]["desc"].__setitem__(0, 0x7777)),
    ("a symbol less", lambda l, m: l["symbols"].pop()),
    ("header flags", lambda l, m: l["facts"]["macho"]["header"].update(flags="0x40000000")),
    ("command field", lambda l, m: m["load_commands"]["items"][0]["fields"].update(cmdsize=1)),
    ("a command less", lambda l, m: m["load_commands"]["items"].pop()),
    ("library", lambda l, m: m["dependencies"]["items"][0].update(path="/lie")),
    ("library version", lambda l, m: m["dependencies"]["items"][0].update(current_version="9.9.9")),
    ("function start", lambda l, m: m["facts"]["function_starts"]["addresses"].__setitem__(0, "0x3")),
    ("export address", lambda l, m: next(r for r in m["exports"]["items"] if r["source"] == "export-trie").update(address="0x3")),
    ("an export less", lambda l, m: m["exports"]["items"].remove(next(r for r in m["exports"]["items"] if r["source"] == "export-trie"))),
    ("rebase", lambda l, m: m["facts"]["dyld_info"]["rebases"][0].update(address="0x3")),
    ("bind symbol", lambda l, m: m["facts"]["dyld_info"]["binds"][0].update(name="_lie")),
    ("bind place", lambda l, m: m["facts"]["dyld_info"]["binds"][0]["places"].update(address="0x3")),
    ("bind library", lambda l, m: m["facts"]["dyld_info"]["binds"][0].update(library="/lie")),
    ("lazy bind", lambda l, m: m["facts"]["dyld_info"]["lazy_binds"][0].update(name="_lie")),
    ("indirect symbol", lambda l, m: l["facts"]["macho"]["indirect_symbols"]["symbols"].__setitem__(0, 99999)),
    ("chained bind", lambda l, m: m["facts"]["chained_fixups"]["binds"][0].update(address="0x3")),
    ("chained import", lambda l, m: m["facts"]["chained_fixups"]["imports"][0].update(name="_lie")),
    ("chained rebase", lambda l, m: m["facts"]["chained_fixups"]["rebases"][0].update(address="0x3")),
    ("word of memory", lambda l, m: m["words read"].update({max(m["words read"]): 3})),
    ("relocation", lambda l, m: l["relocations"][0].update(reported_offset="0x7777")),
    ("relocation type", lambda l, m: l["facts"]["relocation_types"][0].update(name="LIE")),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--plant", action="store_true", help="falsify our side and demand that it shows")
    parser.add_argument("--sample", type=int, metavar="N", help="N files at most")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE")
    options = parser.parse_args()
    corpus = Path(os.environ.get("REA_CORPUS", Path.home() / ".cache" / "rea-corpus"))
    targets = options.targets or [ROOT / "tests" / "data" / "macho", corpus / "mac-app", corpus / "mach-o-universal"]
    files = []
    for target in targets:
        for path in [target] if target.is_file() else sorted(target.rglob("*")):
            if path.is_file() and not path.is_symlink():
                with open(path, "rb") as file:
                    if file.read(4) in MAGICS:
                        files.append(path)
    if options.sample is not None and len(files) > options.sample:
        files = [files[at * len(files) // options.sample] for at in range(options.sample)]
    fields, wrong, slices, unnoticed = collections.Counter(), 0, 0, dict(LIES) if options.plant else {}
    planted = set()
    with tempfile.TemporaryDirectory() as folder:
        thin = Path(folder) / "slice"
        for path in files:
            data = path.read_bytes()
            names = slices_of(options.rea, path)
            ranges = slices_by_hand(data)
            assert len(names) == len(ranges), path
            for row, (offset, size) in zip(names, ranges):
                thin.write_bytes(data[offset : offset + size])
                if data[offset : offset + 4] not in MAGICS:
                    continue
                slices += 1
                source = SOURCES.get(path.resolve())
                out, layout, macho = compare_slice(options.rea, path, row["name"], thin, offset, source)
                if len(ranges) > 1 or data[:3] == b"\xca\xfe\xba":
                    compare_universal(path, macho["facts"]["slices"], out)
                fields += out.fields
                for kind, where, mine, peer in out.differences[:20]:
                    print(f"{path} ({row['name']}): {kind} {where}: rea {mine!r}, peer {peer!r}")
                wrong += len(out.differences)
                for name, lie in list(unnoticed.items()):
                    told = copy.deepcopy((layout, macho))
                    try:
                        lie(*told)
                    except (LookupError, TypeError, StopIteration, AttributeError):
                        continue
                    planted.add(name)
                    found = Comparison()
                    compare_all(thin, offset, source, told[0], told[1], found)
                    if len(found.differences) > len(out.differences):
                        del unnoticed[name]
    for kind, count in sorted(fields.items()):
        print(f"{count:>9}  {kind}")
    if lief is None:
        print("LIEF is not installed here: chained fixups were compared with the source of one file only")
    print(f"{len(files)} files, {slices} slices, {sum(fields.values())} fields compared, {wrong} differences")
    if impossible := [name for name in unnoticed if name not in planted]:
        print("no file here has what these lies are about:", ", ".join(impossible))
    unnoticed = [name for name in unnoticed if name in planted]
    if unnoticed:
        print("lies that went unnoticed:", ", ".join(unnoticed))
    if wrong or unnoticed or not fields or (options.plant and not planted):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
