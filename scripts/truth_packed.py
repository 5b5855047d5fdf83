#!/usr/bin/env python3
"""Compares the relocations that `rea inspect-binary-layout` reads from CREL with `llvm-readelf -rW`.

    scripts/truth_crel.py              objects of musl for several machines, compiled with --crel
    scripts/truth_crel.py --plant      falsify the peer's side; each lie must show

CREL is younger than Debian's compilers and binutils 2.40, so this is no part of CI. By hand:
`pip install ziglang` (its clang, 22 in 0.17.1, writes CREL; its musl is what is compiled) and
llvm-readelf of LLVM 19 or newer (Debian's llvm-19; $LLVM_READELF names another).

Compared are all columns: section, offset, type by number and name, value and name of the symbol,
addend. Exit 1 on a difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from truth_artifacts import find_rea

# 32 and 64 bits, both byte orders, with addends of their own and without (i386, arm): target, and the names of musl's
# folders. clang writes no CREL for MIPS.
MACHINES = {
    "x86_64": ("x86_64", "x86_64"),
    "i386": ("i386", "x86"),
    "aarch64": ("aarch64", "aarch64"),
    "arm": ("arm", "arm"),
    "armeb": ("arm", "arm"),
    "loongarch64": ("loongarch64", "loongarch64"),
    "riscv64": ("riscv64", "riscv64"),
    "riscv32": ("riscv32", "riscv32"),
    "powerpc64": ("powerpc64", "powerpc64"),
    "powerpc": ("powerpc", "powerpc"),
    "s390x": ("s390x", "s390x"),
}
# Without a symbol, a row ends with its addend where it has one.
ROW = re.compile(r"([0-9a-f]+)\s+([0-9a-f]+)\s+(\S+)(?:\s+([0-9a-f]{8,})\s+(.*?)(?: ([+-]) ([0-9a-f]+))?|\s+(-?[0-9a-f]+))?$")
RELATIVE = re.compile(r"(?:[0-9a-f]+:\s+[0-9a-f]+)?\s+([0-9a-f]+)(?:\s|$)")


def compile_all(folder, sources, llvm):
    """Objects of some of musl's sources for each machine, two of three position independent, and a library of these."""
    zig = Path(importlib.util.find_spec("ziglang").origin).parent
    musl = zig / "lib" / "libc"
    files = sorted((musl / "musl" / "src").rglob("*.c"))
    files = files[:: max(1, len(files) // sources)]
    for machine, (arch, headers) in MACHINES.items():
        include = [musl / "musl" / "arch" / arch, musl / "musl" / "arch" / "generic", musl / "musl" / "src" / "include",
                   musl / "musl" / "src" / "internal", musl / "include" / f"{headers}-linux-musl", musl / "include" / "generic-musl",
                   musl / "musl" / "include"]
        shared = []
        for number, source in enumerate(files):
            target = folder / f"{machine}-{number}-{source.stem}.o"
            command = [zig / "zig", "clang", f"--target={machine}-linux-musl", "-O1", "-g", "-w", "-D_XOPEN_SOURCE=700"]
            command += [f"-I{path}" for path in include] + ["-c", source, "-o"]
            pic = ["-fPIC"] if number % 3 else []
            # Some sources are for one machine, or want headers made by a build.
            subprocess.run([*command, target, *pic, "-Wa,--crel,--allow-experimental-crel"], capture_output=True)
            if target.exists():
                yield target
            if pic:
                plain = target.with_suffix(".pic.o")
                subprocess.run([*command, plain, *pic], capture_output=True)
                shared += [plain] if plain.exists() else []
        for kind in ("android", "relr", "android+relr"):
            library = folder / f"{machine}-{kind}.so"
            command = [llvm / "ld.lld", "-shared", "--noinhibit-exec", "-z", "notext", f"--pack-dyn-relocs={kind}"]
            done = subprocess.run([*command, "-o", library, *shared], capture_output=True, text=True)
            if done.returncode == 0:
                yield library
            else:
                print(f"{library.name} cannot be linked: {done.stderr.splitlines()[0]}")


def theirs(llvm, path):
    done = subprocess.run([llvm / "llvm-readelf", "-rW", path], capture_output=True, text=True, check=True)
    rows, section = [], None
    for line in done.stdout.splitlines():
        if line.startswith("Relocation section"):
            section = line.split("'")[1]
        elif section and ".relr" in section:
            match = RELATIVE.match(line)
            if match:
                rows.append((section, int(match[1], 16)))
        elif line.strip()[:1] in set("0123456789abcdef") and line.strip():
            match = ROW.match(line.strip())
            if not match:
                raise SystemExit(f"{path.name}: unread line of the peer: {line!r}")
            offset, info, kind, value, name, sign, addend, alone = match.groups()
            addend = int(addend, 16) * (-1 if sign == "-" else 1) if addend else int(alone or "0", 16)
            # A symbol without a name stands for its section, which is shown in its place.
            rows.append((section, int(offset, 16), int(info, 16), kind, int(value or "0", 16), name or "", addend))
    return rows


def ours(rea, path):
    done = subprocess.run([rea, "inspect-binary-layout", path], capture_output=True, check=True)
    result = json.loads(done.stdout)["normalized_result"]
    wide = result["architecture"]["bits"] == 64
    sections = {row["index"]: row["name"]["display"] for row in result["sections"]}
    symbols = {(row["table_index"], row["entry_index"]): row for row in result["symbols"]}
    names = {row["type"]: row["name"] for row in result["facts"]["relocation_types"]}
    tables = defaultdict(list)

    def add(section, table, row):
        symbol = symbols.get((table, row["symbol_index"])) if row["symbol_index"] else None
        name = symbol["name"]["display"] if symbol else ""
        if symbol and symbol["type"] == "STT_SECTION":
            name = sections[symbol["section_index"]]
        info = row["symbol_index"] << (32 if wide else 8) | row["type"]
        tables[section].append((sections[section], int(row["reported_offset"], 16), info, names[row["type"]],
                                int(symbol["value"], 16) if symbol else 0, name, int(row["addend"] or 0)))

    for row in result["relocations"]:
        add(row["section_index"], row["symbol_table_index"], row)
    for table in result["facts"]["elf"]["android_relocations"]:
        for row in table["entries"]:
            add(table["section_index"], table["symbol_table_index"], row)
    for table in result["packed_relative_relocations"]:
        for row in table["entries"]:
            tables[table["section_index"]].append((sections[table["section_index"]], int(row["reported_offset"], 16)))
    return [row for section in sorted(tables) for row in tables[section]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--sources", type=int, default=40, metavar="N", help="about N sources a machine (default 40)")
    parser.add_argument("--plant", action="store_true", help="falsify the peer's side and demand that it shows")
    arguments = parser.parse_args()
    llvm = Path(os.environ.get("LLVM", "/usr/lib/llvm-19/bin"))
    rng = random.Random(1)
    files = fields = failures = lies = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in compile_all(Path(scratch), arguments.sources, llvm):
            left, right = theirs(llvm, path), ours(arguments.rea, path)
            files += 1
            fields += sum(map(len, left))
            if left != right:
                failures += 1
                first = next((pair for pair in zip(left, right) if pair[0] != pair[1]), (len(left), len(right)))
                print(f"{path.name}: the peer has {first[0]}, we have {first[1]}")
            elif arguments.plant and left:
                lies += 1
                at = rng.randrange(len(left))
                column = rng.randrange(len(left[at]))
                value = left[at][column]
                left[at] = (*left[at][:column], value + 1 if isinstance(value, int) else value + "x", *left[at][column + 1 :])
                if left == right:
                    failures += 1
                    print(f"{path.name}: a lie went unnoticed")
    print(f"{files} objects and libraries of {len(MACHINES)} machines, {fields:,} fields, {lies} lies, {failures} differences")
    return 1 if failures or not fields else 0


if __name__ == "__main__":
    sys.exit(main())
