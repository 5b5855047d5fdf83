#!/usr/bin/env python3
"""Compares `rea inspect-binary-layout` of ELF files with `readelf -aW`, line by line, and the imports
and exports with `nm -D`, and the functions of small `.eh_frame`s with `readelf --debug-dump=frames`.

    scripts/truth_elf.py FILE|FOLDER...     these files, and the ELF files below these folders
    scripts/truth_elf.py --system           every ELF file below /usr/bin and /usr/lib
    scripts/truth_elf.py                    the corpus (scripts/corpus.sh)
        --rea PATH     the program (default: target/release/rea, else rea)
        --sample N     N of the files, spread evenly over the sorted list
        --plant        falsify the peer's side; each lie must show

Each line of readelf becomes a row of fields; the same row is made from the record, and the rows of a
block must be equal in number, order and every field. A line that belongs to no block is a difference
unless a pattern of NOT_OURS names it with a reason. EXPLAINED are the classes of differences in which
readelf and the specification part; each cites it.

Exit 1 on any other difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from truth_artifacts import find_rea

# Lines of readelf that hold nothing that the record should have.
NOT_OURS = [
    (r"(ELF|Section|Program) Headers?:$|Key to Flags:$|  [WLCDRxlyovp] \(|$", "titles and legends"),
    (r"  \[Nr\]|  Type  |  Tag  |    Offset  | Offset  |   Num:|  Owner  |   \[Index\]|  Segment Sections| Length  Number|  Num Buc:", "titles of columns"),
    (r" Section to Segment mapping:", "follows from the ranges of sections and segments, which are both compared"),
    (r"   \d\d  ", "follows from the ranges of sections and segments, which are both compared"),
    (r"There (are|is) no |No version information|No processor specific unwind|No (such )?dynamic|This is not a dynamic", "says that a block is missing; its rows are compared as none"),
    (r"The decoding of unwind sections for machine type", "what readelf itself does not decode"),
    (r"Elf file type is |Entry point 0x|There are \d+ (section|program) headers", "repeats the header"),
    (r"Histogram for|\s+\d+  \d+\s+\(", "compared as the block hash"),
    (r"Dynamic section at offset|Displaying notes found|Version (symbols|needs|definition) section| Addr: 0x", "the titles of blocks whose rows are compared; offsets are those of the sections"),
    (r"Relocation section|Symbol table|\s*\d+ offsets?$", "titles of blocks"),
    (r"Unwind section|0x[0-9a-f]+( <.*>)?: |0x[0-9a-f]+ <|  Compact model|  Personality|  0x[0-9a-f]{2} |Primary GOT|Global Offset|PLT GOT| (Canonical|Reserved|Local|Global) |  +Address +|  [0-9a-f]+ +-?\d+\(gp\)|PLT lazy|  Index |Static GOT| Canonical gp", "dumps of code and data that no header describes (ARM unwinding instructions, the contents of MIPS slots)"),
    (r"Attribute Section:|File Attributes|  Tag_|MIPS ABI Flags|ISA:|GPR size|CPR\d size|FP ABI|ISA Extension|ASEs:|\t|FLAGS \d|Hard float|Soft float|  (flag|unknown)", "compared as facts.elf.attributes in tests/elf.rs; readelf prints meanings instead of numbers"),
    (r"readelf: |: (Warning|Error):", "warnings; ours are limitations"),
]
NOT_OURS = [(re.compile(pattern), reason) for pattern, reason in NOT_OURS]

EXPLAINED = {
    "e_machine": "readelf describes machines in words; compared where the words are known here (gABI ch. 4)",
}

MACHINES = {
    "EM_X86_64": "Advanced Micro Devices X86-64", "EM_386": "Intel 80386", "EM_AARCH64": "AArch64", "EM_ARM": "ARM",
    "EM_PPC64": "PowerPC64", "EM_PPC": "PowerPC", "EM_S390": "IBM S/390", "EM_RISCV": "RISC-V",
    "EM_MIPS": "MIPS R3000", "EM_BPF": "Linux BPF", "EM_LOONGARCH": "LoongArch", "EM_SPARCV9": "Sparc v9",
    "EM_SPARC": "Sparc", "EM_68K": "MC68000", "EM_IA_64": "Intel IA-64", "EM_SH": "Renesas / SuperH SH",
    "EM_ALPHA": "Alpha", "EM_PARISC": "HPPA", "EM_AVR": "Atmel AVR 8-bit microcontroller", "EM_AMDGPU": "AMD GPU",
    "EM_CUDA": "NVIDIA CUDA architecture", "EM_XTENSA": "Tensilica Xtensa Processor", "EM_NONE": "None",
}
SYSTEMS = {
    "ELFOSABI_NONE": "UNIX - System V", "ELFOSABI_GNU": "UNIX - GNU", "ELFOSABI_FREEBSD": "UNIX - FreeBSD",
    "ELFOSABI_NETBSD": "UNIX - NetBSD", "ELFOSABI_OPENBSD": "UNIX - OpenBSD", "ELFOSABI_SOLARIS": "UNIX - Solaris",
    "ELFOSABI_STANDALONE": "Standalone App", "ELFOSABI_ARM": "ARM", "ELFOSABI_ARM_AEABI": "ARM EABI",
}
SECTION_TYPES = {
    "SHT_GNU_versym": "VERSYM", "SHT_GNU_verdef": "VERDEF", "SHT_GNU_verneed": "VERNEED",
    "SHT_AMD64_UNWIND": "X86_64_UNWIND", "SHT_SYMTAB_SHNDX": "SYMTAB SECTION INDICES",
}
FLAG_LETTERS = [(1, "W"), (2, "A"), (4, "X"), (0x10, "M"), (0x20, "S"), (0x40, "I"), (0x80, "L"), (0x100, "O"),
                (0x200, "G"), (0x400, "T"), (0x800, "C")]


def number(text):
    return int(text, 16) if text.lower().startswith("0x") else int(text)


def hexa(text):
    return int(text, 16)


# --------------------------------------------------------------------------------------------------
# Our side


def visible(data):
    """Bytes of a name as readelf prints them in a UTF-8 locale."""
    text = data.decode("utf-8", "surrogateescape")
    out = []
    for character in text:
        code = ord(character)
        if code < 0x20:
            out.append("^" + chr(code + 0x40))
        elif code == 0x7F:
            out.append("^?")
        else:
            out.append(character)
    return "".join(out)


def name_of(name):
    if name["bytes_base64"] is None:
        return "<corrupt>"
    import base64

    return visible(base64.b64decode(name["bytes_base64"]))


def short(symbolic, prefix):
    if isinstance(symbolic, int):
        return symbolic
    return symbolic[len(prefix):] if symbolic.startswith(prefix) else symbolic


class Ours:
    def __init__(self, record):
        self.result = record["normalized_result"]
        self.facts = self.result["facts"]
        self.elf = self.facts["elf"]
        self.header = self.elf["header"]
        self.wide = self.result["architecture"]["bits"] == 64
        self.machine = self.header["machine"]
        self.sections = self.result["sections"]
        self.section_names = [name_of(section["name"]) for section in self.sections]
        self.tables = {}
        for symbol in self.result["symbols"]:
            self.tables.setdefault(symbol["table_index"], []).append(symbol)
        self.extended = {(row["table_index"], row["entry_index"]): row["section_index"] for row in self.elf["extended_section_indexes"]}
        self.others = {(row["table_index"], row["entry_index"]): row["other"] for row in self.elf["symbol_other"]}
        self.read_versions()

    def read_versions(self):
        self.version_names = {}
        for row in self.elf["version_definitions"]:
            if "VER_FLG_BASE" not in row["flag_names"]:
                self.version_names[row["index"] & 0x7FFF] = (row["name"], False)
        for need in self.elf["version_needs"]:
            for row in need["versions"]:
                self.version_names.setdefault(row["index"] & 0x7FFF, (row["name"], True))

    def blocks(self):
        return {
            "header": self.header_rows(), "sections": self.section_rows(), "segments": self.segment_rows(),
            "groups": self.group_rows(), "dynamic": self.dynamic_rows(), "relocations": self.relocation_rows(),
            "symbols": self.symbol_rows(), "versions": self.version_rows(), "needs": self.need_rows(),
            "definitions": self.definition_rows(), "notes": self.note_rows(), "hash": self.hash_rows(),
        }

    def header_rows(self):
        header = self.header
        order = {"little": "little endian", "big": "big endian"}[self.result["architecture"]["byte_order"]]
        ident = header["ident"]
        rows = [
            ("Magic", " ".join(ident[at : at + 2] for at in range(0, 32, 2))),
            ("Class", header["class"].replace("CLASS", "")), ("Data", f"2's complement, {order}"),
            ("Version", header["ident_version"]), ("OS/ABI", SYSTEMS.get(header["os_abi"], header["os_abi"])),
            ("ABI Version", header["abi_version"]), ("Type", short(header["type"], "ET_")),
            ("Machine", MACHINES.get(self.machine)), ("Version", header["version"]),
            ("Entry point address", hexa(header["entry"])),
            ("Start of program headers", hexa(header["segment_table_offset"])),
            ("Start of section headers", hexa(header["section_table_offset"])), ("Flags", hexa(header["flags"])),
            ("Size of this header", header["header_size"]), ("Size of program headers", header["segment_entry_size"]),
            ("Number of program headers", header["segment_count"]),
            ("Size of section headers", header["section_entry_size"]),
            ("Number of section headers", header["section_count"]),
            ("Section header string table index", header["section_names_index"]),
        ]
        return rows

    def flag_letters(self, flags):
        out = ""
        rest = flags
        bit = 1
        while rest:
            if rest & bit:
                rest &= ~bit
                letter = dict(FLAG_LETTERS).get(bit)
                if bit == 0x80000000:
                    letter = "E"
                if letter is None:
                    if self.machine in ("EM_X86_64",) and bit == 0x10000000:
                        letter = "l"
                    elif self.machine == "EM_ARM" and bit == 0x20000000:
                        letter = "y"
                    elif self.machine == "EM_PPC" and bit == 0x10000000:
                        letter = "v"
                    elif bit & 0x0FF00000:
                        gnu = self.header["os_abi"] in ("ELFOSABI_GNU", "ELFOSABI_FREEBSD")
                        letter = {0x200000: "R", 0x1000000: "D"}.get(bit, "o") if gnu else "o"
                        if self.header["os_abi"] == "ELFOSABI_NONE" and bit == 0x1000000:
                            letter = "D"
                        if letter == "o":
                            rest &= ~0x0FF00000
                    elif bit & 0xF0000000:
                        letter = "p"
                        rest &= ~0xF0000000
                    else:
                        letter = "x"
                out += letter
            bit <<= 1
        return out

    def section_rows(self):
        rows = []
        for section in self.sections:
            kind = SECTION_TYPES.get(section["type"]) or short(section["type"], "SHT_")
            rows.append((
                section["index"], self.section_names[section["index"]], kind, hexa(section["address"]),
                hexa(section["offset"]), hexa(section["size"]), hexa(section["entry_size"]),
                self.flag_letters(hexa(section["flags"])), section["link"], section["info"], hexa(section["alignment"]),
            ))
        return rows

    def segment_rows(self):
        rows = []
        interpreters = [name_of(name) for name in self.result["linkage"]["interpreters"]]
        for segment in self.result["segments"]:
            flags = hexa(segment["flags"])
            letters = "".join(letter if flags & bit else " " for bit, letter in ((4, "R"), (2, "W"), (1, "E")))
            rows.append((
                short(segment["type"], "PT_"), hexa(segment["offset"]), hexa(segment["virtual_address"]),
                hexa(segment["physical_address"]), hexa(segment["file_size"]), hexa(segment["memory_size"]),
                letters.replace(" ", ""), hexa(segment["alignment"]),
            ))
            if segment["type"] == "PT_INTERP" and hexa(segment["file_size"]) and interpreters:
                rows.append(("interpreter", interpreters.pop(0)))
        return rows

    def group_rows(self):
        rows = []
        for group in self.elf["groups"]:
            rows.append(("group", group["comdat"], group["index"], self.section_names[group["index"]], group["signature"], len(group["members"])))
            rows += [("member", member, self.section_names[member]) for member in group["members"]]
        return rows

    def dynamic_rows(self):
        return [(hexa(row["tag_number"]), short(row["tag"], "DT_"), row["string"] if row["string"] is not None else hexa(row["value"]), row["flag_names"]) for row in self.elf["dynamic"]]

    def version(self, entry, defined):
        """What readelf writes behind the name of a symbol of the dynamic table."""
        versions = self.elf["symbol_versions"]
        if not versions or entry >= len(versions["indexes"]):
            return ""
        raw = versions["indexes"][entry]
        index = raw & 0x7FFF
        if index not in self.version_names:
            return ""
        name, needed = self.version_names[index]
        if name is None:
            return ""
        return f"@{name}" if needed or raw & 0x8000 or not defined else f"@@{name}"

    def is_dynamic(self, table):
        versions = self.elf["symbol_versions"]
        return bool(versions) and versions["table_index"] == table

    def symbol_name(self, table, symbol, numbers):
        name = name_of(symbol["name"])
        if symbol["type"] == "STT_SECTION" and not name:
            index = symbol["section_index"]
            if index == "SHN_XINDEX":
                index = self.extended.get((table, symbol["entry_index"]))
            if isinstance(index, int) and index < len(self.section_names):
                name = self.section_names[index]
        if self.is_dynamic(table):
            undefined = symbol["section_index"] == "SHN_UNDEF"
            version = self.version(symbol["entry_index"], not undefined)
            # The symbol that stands for a version has its name: readelf does not repeat it.
            name += "" if version.lstrip("@") == name else version
        return name

    def symbol_rows(self):
        rows = []
        for table, symbols in self.tables.items():
            rows.append(("table", self.section_names[table] if table else None, len(symbols)))
            for symbol in symbols:
                index = symbol["section_index"]
                if index == "SHN_XINDEX":
                    index = self.extended.get((table, symbol["entry_index"]), index)
                kind = short(symbol["type"], "STT_")
                kind = {"GNU_IFUNC": "IFUNC"}.get(kind, kind)
                bind = {"GNU_UNIQUE": "UNIQUE"}.get(short(symbol["binding"], "STB_"), short(symbol["binding"], "STB_"))
                index = {"SHN_UNDEF": "UND", "SHN_ABS": "ABS", "SHN_COMMON": "COM", "SHN_X86_64_LCOMMON": "LARGE_COM"}.get(index, index)
                rows.append((
                    symbol["entry_index"], hexa(symbol["value"]), hexa(symbol["size"]), kind, bind,
                    short(symbol["visibility"], "STV_"), index, self.symbol_name(table, symbol, True),
                    self.others.get((table, symbol["entry_index"]), 0),
                ))
        return rows

    def relocation_rows(self):
        types = {row["type"]: row["name"] for row in self.facts["relocation_types"]}
        composed = {row["type"]: row["names"] for row in self.elf["composed_relocation_types"]}
        rows, counts = [], Counter(row["section_index"] for row in self.result["relocations"])
        events = []
        for row in self.result["relocations"]:
            events.append((row["section_index"], hexa(row["location"]["offset"]), row))
        last = None
        done = set()
        packed = {row["section_index"]: row for row in self.result["packed_relative_relocations"]}
        android = {row["section_index"]: row for row in self.elf["android_relocations"]}

        def titles_before(section):
            for index in sorted(packed):
                if index not in done and (section is None or index < section):
                    done.add(index)
                    rows.append(("table", self.section_names[index] if index else None, None))
                    rows.extend(("relative", hexa(entry["reported_offset"])) for entry in packed[index]["entries"])

        for section, _, row in events:
            if section != last:
                titles_before(section)
                rows.append(("table", self.section_names[section] if section else None, counts[section]))
                last = section
            rows.append(self.relocation(row, types, composed))
        titles_before(None)
        return rows

    def relocation(self, row, types, composed):
        kind = types[row["type"]]
        if row["type"] in composed:
            kind = composed[row["type"]]
        name, value = "", None
        addend = None if row["addend"] is None else int(row["addend"])
        table = row["symbol_table_index"]
        if row["symbol_index"] and table is not None:
            symbols = self.tables.get(table, [])
            if row["symbol_index"] < len(symbols):
                symbol = symbols[row["symbol_index"]]
                name = self.symbol_name(table, symbol, False)
                value = hexa(symbol["value"])
        mask = (1 << 64) - 1 if self.wide else (1 << 32) - 1
        return (hexa(row["reported_offset"]), kind, value, name, None if addend is None else addend & mask)

    def version_rows(self):
        versions = self.elf["symbol_versions"]
        if not versions:
            return []
        rows = []
        for index in versions["indexes"]:
            rows.append((index & 0x7FFF, bool(index & 0x8000)))
        return rows

    def need_rows(self):
        rows = []
        for need in self.elf["version_needs"]:
            rows.append((need["revision"], need["library"], len(need["versions"])))
            for row in need["versions"]:
                rows.append((row["name"], tuple(flag[8:] for flag in row["flag_names"]), row["index"]))
        return rows

    def definition_rows(self):
        rows = []
        for row in self.elf["version_definitions"]:
            rows.append((row["revision"], tuple(flag[8:] for flag in row["flag_names"]), row["index"], 1 + len(row["parents"]), row["name"]))
            rows += [(f"Parent {at + 1}", name) for at, name in enumerate(row["parents"])]
        return rows

    def note_rows(self):
        rows = []
        for note in self.elf["notes"]:
            rows.append((note["name"], hexa(note["descriptor"]["bytes"]), note["type"], hexa(note["type_number"]), note["details"], note["properties"]))
        return rows

    def hash_rows(self):
        # readelf has no histogram of a table without symbols.
        return [(row["buckets"], tuple(row["bucket_lengths"])) for row in self.elf["hash_tables"] if len(row["bucket_lengths"]) > 1]


# --------------------------------------------------------------------------------------------------
# Their side


def split_flags(text):
    return () if text in ("none", "") else tuple(sorted(part.strip() for part in re.split(r"\s*\|\s*|\s+", text) if part.strip()))


def compare_value(tag, text, ours):
    """Whether readelf's text of a dynamic entry says what ours is."""
    value, flags = ours
    bracket = re.search(r"\[(.*)\]$", text)
    if isinstance(value, str):
        return bracket is not None and bracket.group(1) == visible(value.encode())
    text = text.strip()
    if flags is not None:
        names = {re.sub(r"^DF_(1_|GNU_1_)?|^DF_P1_", "", flag) for flag in flags}
        said = set(re.sub(r"^Flags:", "", text).split())
        return said == names or said == {"none"} and not names or (said and all(re.fullmatch("[0-9a-f]+", s) for s in said))
    number_ = re.match(r"0x[0-9a-f]+|\d+|[0-9a-f]+", text)
    if tag == "PLTREL":
        return text == {7: "RELA", 17: "REL"}.get(value)
    if tag in ("CHECKSUM", "GNU_PRELINKED", "MIPS_TIME_STAMP", "FEATURE_1", "POSFLAG_1", "SYMTABNO") or number_ is None:
        return True
    digits = number_.group(0)
    candidates = {int(digits, 16)} | ({int(digits)} if digits.isdigit() else set())
    return value in candidates


class Theirs:
    """readelf's lines, sorted into rows of blocks."""

    def __init__(self, text, ours):
        self.ours = ours
        self.rows = {name: [] for name in ("header", "sections", "segments", "groups", "dynamic", "relocations", "symbols", "versions", "needs", "definitions", "notes", "hash")}
        self.unknown = []
        self.skipped = Counter()
        self.block = None
        self.rela = True
        self.parse(text)

    def skip(self, line):
        for at, (pattern, _) in enumerate(NOT_OURS):
            if pattern.match(line):
                self.skipped[at] += 1
                return
        self.unknown.append(line)

    def parse(self, text):
        titles = [
            (re.compile(r"ELF Header:"), "header"), (re.compile(r"Section Headers:"), "sections"),
            (re.compile(r"Program Headers:"), "segments"), (re.compile(r" Section to Segment mapping"), "mapping"),
            (re.compile(r"Dynamic section at"), "dynamic"), (re.compile(r"Relocation section '(.*)' at offset \S+ contains (\d+)"), "relocations"),
            (re.compile(r"'(\S+)' relocation section at offset (0x[0-9a-f]+) contains (\d+) bytes"), "relocations"),
            (re.compile(r"Symbol table (?:of .* )?'(.*)' contains (\d+)|Symbol table for image contains (\d+)"), "symbols"),
            (re.compile(r"Version symbols section"), "versions"), (re.compile(r"Version needs section"), "needs"),
            (re.compile(r"Version definition section"), "definitions"), (re.compile(r"Displaying notes found"), "notes"),
            (re.compile(r"Histogram for"), "hash"), (re.compile(r"(COMDAT |)group section \["), "groups"),
            (re.compile(r"Unwind section|Attribute Section|MIPS ABI Flags|Primary GOT|PLT GOT|Static GOT"), "other"),
            (re.compile(r"There (is|are) no|No "), None),
        ]
        for line in text.split("\n"):
            for pattern, block in titles:
                match = pattern.match(line)
                if match:
                    self.block = block
                    self.begin(block, match, line)
                    break
            else:
                self.line(line)
        if self.rows["hash"]:
            self.rows["hash"] = [(total, tuple(lengths)) for total, lengths in self.rows["hash"]]

    def begin(self, block, match, line):
        if block == "relocations":
            if match.lastindex == 2:
                self.rows[block].append(("table", match[1], int(match[2])))
            else:
                self.rows[block].append(("table", None, None))
        elif block == "symbols":
            name = match[1]
            self.rows[block].append(("table", name, int(match[2] or match[3])))
        elif block == "hash":
            total = int(re.search(r"total of (\d+) bucket", line)[1])
            self.rows[block].append((total, []))
        elif block == "groups":
            found = re.match(r"(COMDAT )?group section \[\s*(\d+)\] `(.*)' \[(.*)\] contains (\d+) section", line)
            self.rows[block].append(("group", bool(found[1]), int(found[2]), found[3], found[4], int(found[5])))
        else:
            self.skip(line)

    def line(self, line):
        handler = getattr(self, f"line_{self.block}", None)
        if not (handler and handler(line)):
            self.skip(line)

    def line_header(self, line):
        match = re.match(r"  ([^:]+):\s+(.*?)\s*$", line)
        if not match:
            return False
        key, value = match[1], match[2]
        if key == "OS/ABI":
            value = value.split(" (")[0] if value.startswith("<unknown") else value
        elif key == "Type":
            value = value.split(" ")[0]
        elif key in ("Magic", "Class", "Data"):
            pass
        elif key == "Machine":
            value = value if self.ours.machine in MACHINES else None
        elif key == "Flags":
            value = hexa(value.split(",")[0])
        elif key in ("Number of section headers", "Section header string table index", "Number of program headers"):
            found = re.match(r"(\d+)(?: \((\d+)\))?", value)
            value = int(found[2] or found[1])
        else:
            value = number(value.split(" ")[0])
        self.rows["header"].append((key, value))
        return True

    def line_sections(self, line):
        match = re.match(r"  \[\s*(\d+)\] (.*)$", line)
        if not match:
            return False
        index = int(match[1])
        width = 16 if self.ours.wide else 8
        tail = re.search(rf" ([0-9a-f]{{{width}}}) ([0-9a-f]{{6,}}) ([0-9a-f]{{6,}}) ([0-9a-f]{{2,}}) +([A-Za-z]*) +(\d+) +(\d+) +(\d+)$", match[2])
        if not tail:
            return False
        head = match[2][: tail.start()].rstrip()
        known = self.ours.section_names[index] if index < len(self.ours.section_names) else ""
        if not head.startswith(known):
            known = head.split(" ")[0]
        kind = head[len(known):].strip()
        unknown = re.match(r"(LOOS|LOPROC|LOUSER)\+(0x[0-9a-f]+)|([0-9a-f]+): <unknown>|<unknown>: ([0-9a-f]+)", kind)
        if unknown:
            base = {"LOOS": 0x60000000, "LOPROC": 0x70000000, "LOUSER": 0x80000000, None: 0}[unknown[1]]
            kind = base + int(unknown[2] or unknown[3] or unknown[4], 16)
        ours = self.ours.sections[index]["type"] if index < len(self.ours.sections) else None
        if unknown and isinstance(ours, str):
            kind = SECTION_TYPES.get(ours) or short(ours, "SHT_")  # a newer name than readelf 2.40 knows
            self.skipped["newer name"] += 1
        self.rows["sections"].append((index, known, kind, hexa(tail[1]), hexa(tail[2]), hexa(tail[3]), hexa(tail[4]), tail[5], int(tail[6]), int(tail[7]), int(tail[8])))
        return True

    def line_segments(self, line):
        match = re.match(r"      \[Requesting program interpreter: (.*)\]$", line)
        if match:
            self.rows["segments"].append(("interpreter", match[1]))
            return True
        match = re.match(r"  (\S+(?: \S+)*?) +(0x[0-9a-f]+) (0x[0-9a-f]+) (0x[0-9a-f]+) (0x[0-9a-f]+) (0x[0-9a-f]+) ([R ][W ][E ]) (0x[0-9a-f]+|0)$", line)
        if not match:
            return False
        kind = match[1]
        unknown = re.match(r"(LOOS|LOPROC)\+(0x[0-9a-f]+)|<unknown>: ([0-9a-f]+)", kind)
        if unknown:
            base = {"LOOS": 0x60000000, "LOPROC": 0x70000000, None: 0}[unknown[1]]
            kind = base + int(unknown[2] or unknown[3], 16)
            ours = self.ours.result["segments"]
            at = sum(1 for row in self.rows["segments"] if row[0] != "interpreter")
            if at < len(ours) and isinstance(ours[at]["type"], str):
                kind = short(ours[at]["type"], "PT_")
                self.skipped["newer name"] += 1
        kind = {"EXIDX": "ARM_EXIDX", "ABIFLAGS": "MIPS_ABIFLAGS", "REGINFO": "MIPS_REGINFO", "RTPROC": "MIPS_RTPROC", "OPTIONS": "MIPS_OPTIONS"}.get(kind, kind)
        self.rows["segments"].append((kind, *(hexa(match[at]) for at in range(2, 7)), match[7].replace(" ", ""), int(match[8], 16)))
        return True

    def line_groups(self, line):
        match = re.match(r"   \[\s*(\d+)\]   (.*)$", line)
        if match:
            self.rows["groups"].append(("member", int(match[1]), match[2]))
        return bool(match)

    def line_dynamic(self, line):
        match = re.match(r" 0x([0-9a-f]+) \((.*?)\)\s*(.*)$", line)
        if match:
            self.rows["dynamic"].append((int(match[1], 16), match[2], match[3]))
        return bool(match)

    def line_relocations(self, line):
        match = re.match(r"([0-9a-f]{8,16})  ([0-9a-f]{8,16}) (unrecognized: \S+|\S+)\s*(.*)$", line)
        if match:
            offset, rest = int(match[1], 16), match[4]
            kind, name, value, addend = match[3], "", None, None
            if kind.startswith("unrecognized"):
                kind = int(kind.split(" ")[1], 16)
            found = re.match(r"([0-9a-f]{8,16})\s+(.*)$", rest)
            with_symbol = re.match(r"(?:([0-9a-f]{8,16})|(\S+\(\)))\s+(.*)$", rest)
            if with_symbol and (with_symbol[1] is None or with_symbol[3]):
                name = with_symbol[3]
                value = int(with_symbol[1], 16) if with_symbol[1] else "ifunc"
                plus = re.match(r"(.*) ([+-]) ([0-9a-f]+)$", name)
                if plus:
                    name = plus[1]
                    addend = int(plus[3], 16) * (-1 if plus[2] == "-" else 1)
                if value == "ifunc":
                    name = name or with_symbol[2]
            elif re.fullmatch(r"-?[0-9a-f]+", rest):
                addend = int(rest, 16)
            elif found:
                value = int(found[1], 16)
            self.rows["relocations"].append([offset, kind, value, name, addend, line])
            return True
        match = re.match(r"\s+Type2: (\S+)\s*$|\s+Type3: (\S+)\s*$", line)
        if match:
            row = self.rows["relocations"][-1]
            if not isinstance(row[1], list):
                row[1] = [row[1]]
            row[1].append(match[1] or match[2])
            return True
        match = re.match(r"([0-9a-f]{8,16})$", line)
        if match:
            self.rows["relocations"].append(["relative", int(match[1], 16)])
            return True
        return False

    def line_symbols(self, line):
        match = re.match(r"\s*(\d+): ([0-9a-f]{8,16})\s+(0x[0-9a-f]+|\d+) (<[^>]*>: ?\d+|\S+)\s+(<[^>]*>: ?\d+|\S+)\s+(DEFAULT|INTERNAL|HIDDEN|PROTECTED)\s(.*)$", line)
        if not match:
            return False
        kind, bind, rest = match[4].strip(), match[5], match[7]
        other = 0
        special = re.match(r"\s*\[(<other>: )?([^\]]*)\]\s*(.*)$", rest)
        if special:
            other, rest = special[2], special[3]
        tail = re.match(r"\s*(\S+)(?: (.*))?$", rest)
        index, name = tail[1], tail[2] or ""
        prefixed = re.match(r"(PRC|OS|RSV)\[0x([0-9a-f]+)\]", index)
        if prefixed:
            index = int(prefixed[2], 16)
        elif index.isdigit():
            index = int(index)
        name = re.sub(r" \(\d+\)$", "", name)
        # Ten is GNU's in files whose EI_OSABI is GNU only; the linker sets that, other tools do not.
        kind = {"10": "IFUNC"}.get(kind.split(" ")[-1], int(kind.split(" ")[-1])) if kind.startswith("<") else kind
        bind = {"10": "UNIQUE"}.get(bind.split(" ")[-1], int(bind.split(" ")[-1])) if bind.startswith("<") else bind
        self.rows["symbols"].append((int(match[1]), int(match[2], 16), number(match[3]), kind, bind, match[6], index, name, other))
        return True

    def line_versions(self, line):
        if not re.match(r"  [0-9a-f]{3,}:", line):
            return False
        for raw, hidden in re.findall(r"([0-9a-f]+)(h| )\(", line.split(":", 1)[1] + " "):
            self.rows["versions"].append((int(raw, 16), hidden == "h"))
        # Numbers without a name end with the next column.
        return True

    def line_needs(self, line):
        match = re.match(r"  0[0-9a-fx]*: Version: (\d+)  File: (.*)  Cnt: (\d+)$|  [0-9a-fx]+: Version: (\d+)  File: (.*)  Cnt: (\d+)$", line)
        if match:
            groups = [group for group in match.groups() if group is not None]
            self.rows["needs"].append((int(groups[0]), groups[1], int(groups[2])))
            return True
        match = re.match(r"  0x[0-9a-f]+:   Name: (.*)  Flags: (.*?)\s+Version: (\d+)$", line)
        if match:
            self.rows["needs"].append((match[1], split_flags(match[2]), int(match[3])))
        return bool(match)

    def line_definitions(self, line):
        match = re.match(r"  [0-9a-fx]+: Rev: (\d+)  Flags: (.*?)\s+Index: (\d+)  Cnt: (\d+)  Name: (.*)$", line)
        if match:
            self.rows["definitions"].append((int(match[1]), split_flags(match[2]), int(match[3]), int(match[4]), match[5]))
            return True
        match = re.match(r"  0x[0-9a-f]+: (Parent \d+): (.*)$", line)
        if match:
            self.rows["definitions"].append((match[1], match[2]))
        return bool(match)

    def line_notes(self, line):
        match = re.match(r"  (\S.*?|)\s+0x([0-9a-f]{8})\t(.*)$", line)
        if match:
            self.rows["notes"].append([match[1], int(match[2], 16), match[3]])
            return True
        if line.startswith((" ", "\t")) and self.rows["notes"]:
            self.rows["notes"][-1][2] += "\n" + line.strip()
            return True
        return False

    def line_hash(self, line):
        match = re.match(r"\s+(\d+)  (\d+)\s+\(", line)
        if match:
            self.rows["hash"][-1][1].append(int(match[2]))
        return bool(match)


# --------------------------------------------------------------------------------------------------
# Comparison


class Result:
    def __init__(self):
        self.fields = 0
        self.differences = []
        self.explained = Counter()

    def check(self, block, at, ours, theirs, why=None):
        self.fields += 1
        if ours != theirs:
            self.differences.append(f"{block} {at}: ours {ours!r:.120}, readelf {theirs!r:.120}")


def rows_of(result, block, ours, theirs, compare):
    if len(ours) != len(theirs):
        result.differences.append(f"{block}: ours has {len(ours)} rows, readelf {len(theirs)}")
    for at, (left, right) in enumerate(zip(ours, theirs)):
        compare(at, left, right)


def compare(ours, theirs, result):
    mine, rows = ours.blocks(), theirs.rows
    for block in ("header", "sections", "segments", "groups", "versions"):
        def fields(at, left, right, block=block):
            for place, (a, b) in enumerate(zip(left, right)):
                result.check(block, f"{at}.{place}", a, b)
        rows_of(result, block, mine[block], rows[block], fields)
    for block in ("needs", "definitions"):
        def sorted_flags(at, left, right, block=block):
            for place, (a, b) in enumerate(zip(left, right)):
                a = tuple(sorted(a)) if isinstance(a, tuple) else a
                result.check(block, f"{at}.{place}", a, b)
        rows_of(result, block, mine[block], rows[block], sorted_flags)

    def dynamic(at, left, right):
        tag, name, value, flags = left
        result.check("dynamic", at, tag, right[0])
        if re.match(r"<unknown>|Operating System specific|Processor Specific", right[1]):
            result.explained["readelf 2.40 has no name for a dynamic tag"] += 1
        else:
            result.check("dynamic", f"{at} tag", name, right[1])
        result.fields += 1
        if not compare_value(right[1], right[2], (value, flags)):
            result.differences.append(f"dynamic {at}: ours {value!r:.80} {flags}, readelf {right[2]!r:.80}")
    rows_of(result, "dynamic", mine["dynamic"], rows["dynamic"], dynamic)

    def symbols(at, left, right):
        for place, (a, b) in enumerate(zip(left[:7], right[:7])):
            result.check("symbols", f"{at}.{place}", a, b)
        if left[0] != "table":
            result.check("symbols", f"{at} name", left[7], right[7])
            result.check("symbols", f"{at} other", bool(left[8]), bool(right[8]))
    rows_of(result, "symbols", mine["symbols"], rows["symbols"], symbols)
    rows_of(result, "relocations", mine["relocations"], rows["relocations"], lambda at, left, right: relocation(ours, result, at, left, right))
    rows_of(result, "notes", mine["notes"], rows["notes"], lambda at, left, right: note(result, at, left, right))
    for at, (left, right) in enumerate(zip(sorted(mine["hash"]), sorted(rows["hash"]))):
        result.check("hash", at, left, right)
    # readelf leaves a histogram out where there is no bucket at all.
    result.check("hash", "tables", len(mine["hash"]), len(rows["hash"]))


def relocation(ours, result, at, left, right):
    if left[0] in ("table", "relative"):
        result.check("relocations", at, tuple(left[:2]), tuple(right[:2]))
        return
    if right[0] in ("table", "relative"):
        result.check("relocations", at, left, right[:2])
        return
    mask = (1 << 64) - 1 if ours.wide else (1 << 32) - 1
    offset, kind, value, name, addend = left
    result.check("relocations", f"{at} offset", offset, right[0])
    theirs = right[1]
    if isinstance(theirs, list) and theirs[1:] == ["R_MIPS_NONE", "R_MIPS_NONE"]:
        theirs = theirs[0]  # always printed for 64-bit MIPS, whose entries have room for three types
    result.check("relocations", f"{at} type", kind, theirs)
    if right[2] != "ifunc":
        result.check("relocations", f"{at} value", value, right[2])
    result.check("relocations", f"{at} name", name, right[3])
    theirs = right[4]
    if theirs is None and addend == 0:
        theirs = 0
    result.check("relocations", f"{at} addend", addend, None if theirs is None else theirs & mask)


def dynamic_names(result, ours, path):
    """`nm -D`: imports and exports with versions and addresses."""
    if ours.header["type"] == "ET_REL" or not any(ours.facts[key]["items"] for key in ("imports", "exports")):
        return
    run = subprocess.run(["nm", "-D", "--with-symbol-versions", path], capture_output=True, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
    if run.returncode or not run.stdout:
        return  # nm needs sections; without them there is nothing to compare with
    imports, exports = Counter(), Counter()
    for line in run.stdout.decode("utf-8", "surrogateescape").splitlines():
        match = re.match(r"([0-9a-f]{8,16}| {8,16}) (.) (.*)$", line)
        if not match:
            continue
        letter, name = match[2], match[3]
        if letter in "UwvW V" and not match[1].strip():
            imports[name] += 1
        elif letter.isupper() or letter in "uiwv":
            exports[(int(match[1], 16), name)] += 1
    mine, offered = Counter(), Counter()
    for row in ours.facts["imports"]["items"]:
        mine[row["name"] + (f"@{row['version']}" if row["version"] else "")] += 1
    for symbol in ours.tables.get(next((s["index"] for s in ours.sections if s["type"] == "SHT_DYNSYM"), -1), []):
        by = symbol["binding"] in ("STB_GLOBAL", "STB_WEAK", "STB_GNU_UNIQUE") and symbol["visibility"] in ("STV_DEFAULT", "STV_PROTECTED")
        if by and symbol["section_index"] != "SHN_UNDEF" and symbol["name"]["display"]:
            offered[symbol["entry_index"]] = hexa(symbol["value"])
    rows = Counter()
    by_entry = sorted(offered.items())
    for (entry, value), row in zip(by_entry, ours.facts["exports"]["items"]):
        version = row["version"] or ""
        rows[(value, row["name"] + (version if version.startswith("@@") else f"@{version}" if version else ""))] += 1
        if row["address"] is not None:
            result.check("exports", entry, hexa(row["address"]), value)
    result.check("exports", "count", len(by_entry), len(ours.facts["exports"]["items"]))
    plain = lambda names: Counter(name.split("@")[0] if isinstance(name, str) else (name[0], name[1].split("@")[0]) for name in names.elements())
    if not any("@" in str(name) for name in imports) and not any("@" in name[1] for name in exports):
        mine, rows = plain(mine), plain(rows)  # nm tells no versions of files for other machines
    version_symbols = {name for _, name in exports if "@" not in name}
    rows = Counter({(value, name.split("@")[0] if name.split("@")[0] in version_symbols and (value, name) not in exports else name): count for (value, name), count in rows.items()})
    result.check("imports", "names", sorted((mine - imports).elements())[:3], sorted((imports - mine).elements())[:3])
    hidden = Counter({row: count for row, count in (exports - rows).items() if not hidden_symbol(ours, row)})
    result.check("exports", "names", sorted((rows - exports).elements())[:3], sorted(hidden.elements())[:3])
    result.fields += len(mine) + len(rows)


def hidden_symbol(ours, row):
    """nm tells symbols of hidden visibility, which no other file can use, in capitals, too."""
    name = row[1].split("@")[0]
    return any(symbol["name"]["display"] == name and symbol["visibility"] in ("STV_HIDDEN", "STV_INTERNAL") for symbols in ours.tables.values() for symbol in symbols)


FRAMES = 200_000


def frames(result, ours, path):
    """`readelf --debug-dump=frames`: the functions that frame descriptions cover."""
    frame = ours.elf["eh_frame"]
    if not frame or frame["functions"] is None or hexa(frame["location"]["bytes"]) > FRAMES:
        return
    run = subprocess.run(["readelf", "--debug-dump=frames", "-W", path], capture_output=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
    text = run.stdout.decode("utf-8", "replace")
    part = re.search(r"Contents of the \.eh_frame section:(.*?)(?=\nContents of the|\Z)", text, re.S)
    if not part:
        return
    theirs = [(int(a, 16), int(b, 16)) for a, b in re.findall(r" FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", part[1])]
    mask = (1 << 64) - 1 if ours.wide else (1 << 32) - 1
    mine = [(hexa(row["address"]), (hexa(row["address"]) + hexa(row["size"])) & mask) for row in frame["functions"]]
    result.fields += 2 * len(mine)
    result.check("frames", "functions", [row for row in mine if row not in set(theirs)][:3], [row for row in theirs if row not in set(mine)][:3])
    result.check("frames", "count", len(mine), len(theirs))


NOTE_TEXT = {
    "build_id": r"Build ID: (\S*)", "os": r"OS: ([^,]*)", "version": r"ABI: (\S+)|Version: (.*)", "provider": r"Provider: (.*)",
    "name": r"Name: (.*)", "arguments": r"Arguments: (.*)", "json": r"Packaging Metadata: (.*)",
}


def note(result, at, left, right):
    name, size, kind, kind_number, details, properties = left
    # Names of build attributes are taken apart by readelf: `GA$<version>3p1` (annobin's description).
    names = ("GA", right[0][:2]) if name.startswith("GA") else (name, right[0])
    result.check("notes", f"{at} owner", *names)
    result.check("notes", f"{at} size", size, right[1])
    text = right[2]
    word = text.split("\t")[0].split(" ")[0].strip()
    word = "NT_" + word if word.startswith("FDO_") else word
    if word.startswith("NT_") and isinstance(kind, str):
        same = {"NT_FREEBSD_ABI_TAG": "NT_VERSION", "NT_ANDROID_TYPE_IDENT": "NT_VERSION", "NT_GNU_BUILD_ATTRIBUTE_OPEN": "OPEN", "NT_GNU_BUILD_ATTRIBUTE_FUNC": "func"}
        if word != same.get(kind):
            result.check("notes", f"{at} type", kind, word)
    else:
        result.fields += 1
        if f"{kind_number:08x}" not in text and not re.search(r"GO BUILDID|OPEN|func|NetBSD|Xen|SystemTap", text):
            result.differences.append(f"notes {at}: ours {kind} {kind_number:#x}, readelf {text!r:.100}")
    for member, pattern in NOTE_TEXT.items():
        if member in details and (found := re.search(pattern, text)):
            said = next(group for group in found.groups() if group is not None)
            result.check("notes", f"{at} {member}", str(details[member]), said.strip())
    for row in properties or []:
        result.fields += 1
        ours = {re.sub(r".*_(FEATURE_1|FEATURE_2|ISA_1)_", "", bit).replace("BASELINE", "x86-64-baseline") for bit in row["bit_names"] or []}
        said = text.replace("x86-64-v", "V")
        if not all(bit in said for bit in ours):
            result.differences.append(f"notes {at}: ours {ours}, readelf {text!r:.100}")


def readelf(path):
    run = subprocess.run(["readelf", "-aW", path], capture_output=True, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
    return run.stdout.decode("utf-8", "surrogateescape")


def record(rea, path):
    run = subprocess.run([rea, "inspect-binary-layout", path], capture_output=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.decode("utf-8", "replace").strip()[:300])
    return json.loads(run.stdout)


def plant(theirs, rng):
    """One lie in one row of each block that has some."""
    lies = 0
    for block, rows in theirs.rows.items():
        candidates = [at for at, row in enumerate(rows) if isinstance(row, (tuple, list)) and row]
        if not candidates:
            continue
        at = rng.choice(candidates)
        row = list(rows[at])
        place = {"dynamic": 0, "relocations": 0 if not isinstance(row[0], str) else 1, "notes": 1, "hash": 0, "header": 1}.get(block, rng.randrange(min(len(row), 7)))
        value = row[place]
        row[place] = value + 1 if isinstance(value, int) and not isinstance(value, bool) else "a lie"
        rows[at] = row if isinstance(rows[at], list) else tuple(row)
        yield block
        lies += 1


def is_elf(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def files_below(paths):
    found = {}
    for path in paths:
        candidates = [path] if path.is_file() else (Path(top) / name for top, _, names in os.walk(path) for name in names)
        for candidate in candidates:
            if candidate.is_file() and is_elf(candidate):
                found.setdefault(os.path.realpath(candidate), candidate)
    return sorted(found)


def one(rea, path, planted):
    result = Result()
    try:
        ours = Ours(record(rea, path))
        if not planted:
            theirs = Theirs(readelf(path), ours)
            compare(ours, theirs, result)
            dynamic_names(result, ours, path)
            frames(result, ours, path)
            result.differences += [f"a line that nothing maps: {line!r:.120}" for line in theirs.unknown]
            return path, result, theirs.skipped
        text = readelf(path)
        rng = random.Random(os.path.basename(path))
        for block in [name for name, rows in Theirs(text, ours).rows.items() if rows]:
            theirs = Theirs(text, ours)
            for name, rows in theirs.rows.items():
                if name == block:
                    single = Theirs.__new__(Theirs)
                    single.rows = {name: rows}
                    list(plant(single, rng))
                    theirs.rows[name] = single.rows[name]
            check = Result()
            compare(ours, theirs, check)
            result.fields += check.fields
            if not check.differences:
                result.differences.append(f"a lie in {block} went unnoticed")
        for name, check, lie in (
            ("imports", dynamic_names, lambda: ours.facts["imports"]["items"][0].update(name="a lie")),
            ("exports", dynamic_names, lambda: ours.facts["exports"]["items"][-1].update(name="a lie")),
            ("frames", frames, lambda: ours.elf["eh_frame"]["functions"][0].update(size="0x7777")),
        ):
            before = Result()
            check(before, ours, path)
            if before.fields == 0 or before.differences:
                continue
            try:
                lie()
            except (IndexError, TypeError):
                continue  # the file has none
            after = Result()
            check(after, ours, path)
            result.fields += after.fields
            if not after.differences:
                result.differences.append(f"a lie in {name} went unnoticed")
            ours = Ours(record(rea, path))
        return path, result, Counter()
    except (RuntimeError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        result.differences.append(f"{type(error).__name__}: {error}")
        return path, result, Counter()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--system", action="store_true", help="every ELF file below /usr/bin and /usr/lib")
    parser.add_argument("--sample", type=int, metavar="N", help="N of the files, spread over the sorted list")
    parser.add_argument("--plant", action="store_true", help="falsify the peer's side and demand that it shows")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    targets = arguments.targets or ([] if arguments.system else [Path(os.environ.get("REA_CORPUS") or Path.home() / ".cache" / "rea-corpus")])
    if arguments.system:
        targets += [Path("/usr/bin"), Path("/usr/lib")]
    files = files_below(targets)
    if arguments.sample and len(files) > arguments.sample:
        files = [files[at * len(files) // arguments.sample] for at in range(arguments.sample)]
    fields, wrong, explained, skipped = 0, 0, Counter(), Counter()
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for path, result, more in pool.map(lambda path: one(arguments.rea, path, arguments.plant), files):
            fields += result.fields
            explained += result.explained
            skipped += more
            if result.differences:
                wrong += 1
                print(f"{path}: {len(result.differences)} differences")
                for difference in result.differences[:8]:
                    print(f"  {difference}")
    for reason, count in sorted(explained.items()):
        print(f"explained: {reason}: {count}")
    what = "lies checked in" if arguments.plant else "compared in"
    print(f"{fields} fields {what} {len(files)} files; {wrong} files differ; {sum(skipped.values())} lines are titles or not ours")
    sys.exit(1 if wrong or not fields else 0)


if __name__ == "__main__":
    main()
