#!/usr/bin/env python3
"""Compares `rea inspect-wasm-artifact` with wasm-objdump (wabt, in Debian) and with a reader
of sections written here.

    scripts/truth_wasm.py                   the modules of the corpus (scripts/corpus.sh), of wabt's
                                            examples, and modules made here with wat2wasm
    scripts/truth_wasm.py FILE...           these files
    scripts/truth_wasm.py --plant           falsify the peer's side; each lie must show

Every line of `wasm-objdump -h -x` is mapped to a row of ours, field by field. Not ours, or read
otherwise, with the reason:

- names in <...> where no name section gives one: wasm-objdump takes them from imports and exports;
- the values of globals of reference types: wasm-objdump prints memory that it has not written;
- the place of an element of a passive or declared segment: such a segment has no offset, and
  wasm-objdump counts from that of the segment before;
- the file offset of a relocation of a custom section: wasm-objdump counts from the relocation's own
  section (tool conventions, Linking.md: from the contents of the section it is for, after its name);
- names of tags: wasm-objdump takes them from subsection 10, which is for fields, not 11;
- the flags of a segment of elements or data are its mode and whether it has a table;
- what wasm-objdump (1.0.32) does not read: components, types of the GC proposal, compact imports.
  Of components the reader here tells sections and nested modules;
- names of labels, fields and tags, and those of components: wasm-objdump does not read them. The reader
  here lists the names of every subsection but those of functions, which wasm-objdump is asked about.

Exit 1 on any difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from truth_artifacts import find_rea

MADE = {
    "everything": """
(module $modname
  (type $t (func (param i32 i64 f32 f64) (result i32)))
  (type (func (result i32 i64)))
  (import "m" "f" (func $imp (type $t)))
  (import "m" "mem" (memory 1 2 shared))
  (import "m" "tab" (table 1 10 externref))
  (import "m" "g" (global $ig (mut i64)))
  (import "m" "tag" (tag (param i32)))
  (table $tt 3 funcref)
  (tag $mytag (param i64))
  (global $g0 i32 (i32.const -5))
  (global f32 (f32.const 1.5))
  (global f64 (f64.const -2.25))
  (global i64 (i64.const 77))
  (global externref (ref.null extern))
  (global $gg i32 (i32.const 0))
  (func $a (param $x i32) (local $y i64) nop)
  (func $b (result i32 i64) i32.const 1 i64.const 2)
  (start $s)
  (func $s)
  (export "a\\"\\0a\\c3\\a9" (func $a))
  (export "tab" (table $tt))
  (export "mem" (memory 0))
  (export "g" (global $g0))
  (export "tag" (tag $mytag))
  (elem (table $tt) (i32.const 1) func $a $b)
  (elem $passive funcref (ref.func $a) (ref.null func))
  (elem declare func $b)
  (data (i32.const 16) "hello\\00world")
  (data $p "passive"))""",
    "empty": "(module)",
    "memory64": '(module (memory i64 1 70000) (data (i64.const 8) "x") (func (export "f") (param i64)))',
    "many": "(module " + "".join(f'(func (export "f{n}") (param i32) (result i32) local.get 0)' for n in range(300)) + ")",
    "simd": "(module (func (param v128) (result v128) local.get 0) (table 1 funcref) (memory 1))",
}

VALUE = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64"}


def ours(rea, path):
    run = subprocess.run([rea, "inspect-wasm-artifact", path], capture_output=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.decode("utf-8", "replace").strip()[:300])
    return json.loads(run.stdout)["normalized_result"]


def told_flags(flags):
    """Flags of a symbol as we tell them, in the peer's words."""
    return {
        "undefined": "undefined" in flags,
        "binding": "weak" if "weak" in flags else "local" if "local" in flags else "global",
        "vis": "hidden" if "hidden" in flags else "default",
        "exported": "exported" in flags,
        "no_strip": "no-strip" in flags,
        "tls": "tls" in flags,
    }


def printed_flags(words):
    """The same of the peer's line."""
    return {
        "undefined": "undefined" in words,
        "binding": next(word[8:] for word in words if word.startswith("binding=")),
        "vis": next(word[4:] for word in words if word.startswith("vis=")),
        "exported": "exported" in words,
        "no_strip": "no_strip" in words,
        "tls": "tls" in words,
    }


class Facts(dict):
    """Rows by (table, key...), each a dictionary of fields."""

    def add(self, key, **fields):
        self.setdefault(key, {}).update(fields)


def number(value):
    return int(value["$integer"]) if isinstance(value, dict) else value


def text_type(text):
    """A function type as wasm-objdump writes it."""
    groups = dict(re.findall(r"\((param|result) ([^()]*)\)", text))
    params = ", ".join(groups.get("param", "").split())
    results = groups.get("result", "").split()
    shown = "nil" if not results else results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({params}) -> {shown}"


def init_text(text):
    """An initializer as wasm-objdump writes it."""
    if text is None:
        return None
    match = re.fullmatch(r"(i32|i64)\.const (-?\d+)", text)
    if match:
        kind, value = match[1], int(match[2])
        return f"{kind}={value}"
    match = re.fullmatch(r"(f32|f64)\.const (.*)", text)
    if match:
        value = float(match[2]) if "nan" not in match[2] else float("nan")
        return f"{match[1]}={value!r}"
    match = re.fullmatch(r"global\.get (\d+)", text)
    return f"global={match[1]}" if match else None


def our_facts(result):
    facts = Facts()
    for at, row in enumerate(result["sections"]):
        facts.add(("section", at), kind=row["kind"], start=row["start"], end=row["end"], size=row["bytes"], description=row["description"])
    f = result["facts"]
    for row in f["types"]:
        facts.add(("type", row["index"]), text=text_type(row["type"]))
    spaces = {"func": [], "table": [], "memory": [], "global": [], "tag": []}
    for row in f["imports"]:
        key = ("import", row["kind"], row["item"])
        facts.add(key, where=f"{row['module']}.{row['name']}")
        if row["debug_name"] is not None:
            facts.add(("name", row["kind"], row["item"]), name=row["debug_name"])
        if row["kind"] in ("func", "tag"):
            facts.add(key, sig=row["type_index"])
        else:
            facts.add(key, **limits_of_text(row["kind"], row["type"]))
        spaces[row["kind"]].append(row)
    bodies = {}
    for row in f["functions"]:
        facts.add(("function", row["index"]), sig=row["type_index"])
        if row["name"] is not None:
            facts.add(("name", "func", row["index"]), name=row["name"])
        facts.add(("code", row["index"]), size=row["end"] - row["start"])
        bodies[row["index"]] = row
    for kind, rows in (("table", f["tables"]), ("memory", f["memories"])):
        for row in rows:
            fields = {"initial": number(row["initial"]), "maximum": number(row["maximum"])}
            if kind == "table":
                fields["type"] = row["element_type"]
            else:
                fields |= {"shared": row["shared"], "wide": row["memory64"]}
            facts.add((kind, row["index"]), **fields)
            if row["name"] is not None:
                facts.add(("name", kind, row["index"]), name=row["name"])
    for row in f["globals"]:
        facts.add(("global", row["index"]), type=row["value_type"], mutable=int(row["mutable"]))
        if not row["value_type"].endswith("ref") and not row["value_type"].startswith(("(", "v128")):
            facts.add(("global", row["index"]), init=init_text(row["init"]))
        if row["name"] is not None:
            facts.add(("name", "global", row["index"]), name=row["name"])
    for row in f["tags"]:
        facts.add(("tag", row["index"]), sig=row["type_index"])
        if row["name"] is not None:
            facts.add(("name", "tag", row["index"]), name=row["name"])
    for row in f["exports"]:
        facts.add(("export", row["index"]), kind=row["kind"], item=row["item"], name=row["name"])
    if f["start_function"] is not None:
        facts.add(("start",), function=f["start_function"])
    if f["data_count"] is not None:
        facts.add(("data-count",), count=f["data_count"])
    for row in f["element_segments"]:
        key = ("elem", row["index"])
        facts.add(key, count=row["count"])
        if row["mode"] == "active":
            facts.add(key, table=row["table"], init=init_text(row["offset"]))
        items = [item if isinstance(item, int) else element(item) for item in row["items"]]
        base = number(row["offset_value"]) if row["mode"] == "active" else None
        for at, item in enumerate(items):
            facts.add(("elem-item", row["index"], at), item=item, place=None if base is None else (base + at) & 0xFFFFFFFF)
    for row in f["data_segments"]:
        key = ("data", row["index"])
        facts.add(key, size=row["bytes"], start=row["data_start"], passive=row["mode"] == "passive")
        if row["mode"] == "active":
            facts.add(key, memory=row["memory"], init=init_text(row["offset"]))
        if row["name"] is not None:
            facts.add(("name", "data", row["index"]), name=row["name"])
    for at, row in enumerate(f["custom_sections"]):
        facts.add(("custom", at), name=row["name"])
    if f["dylink"] and f["dylink"]["memory"]:
        memory = f["dylink"]["memory"]
        facts.add(
            ("dylink",),
            mem_size=memory["memory_size"],
            mem_p2align=memory["memory_alignment_log2"],
            table_size=memory["table_size"],
            table_p2align=memory["table_alignment_log2"],
        )
        for at, name in enumerate(f["dylink"]["needed"]):
            facts.add(("needed", at), name=name)
        for at, row in enumerate(f["dylink"]["exports"]):
            facts.add(("dylink-export", at), name=row["name"], **told_flags(row["flags"]))
        for at, row in enumerate(f["dylink"]["imports"]):
            facts.add(("dylink-import", at), name=f"{row['module']}.{row['name']}", **told_flags(row["flags"]))
    for at, row in enumerate(f["target_features"]):
        facts.add(("feature", at), prefix=row["prefix"], name=row["feature"])
    if f["names"]["own"] is not None:
        facts.add(("module-name",), name=f["names"]["own"])
    for row in f["names"]["subsections"]:
        if row["kind"] == "locals":
            for one in row["entries"] or []:
                facts.add(("local", one["of"], one["index"]), name=one["name"])
    if f["linking"]:
        for row in f["linking"]["symbols"]:
            facts.add(
                ("symbol", row["index"]),
                kind={"func": "F", "data": "D", "global": "G", "section": "S", "tag": "E", "table": "T"}[row["kind"]],
                item=row["item"],
                **told_flags(row["flags"]),
            )
            if row["kind"] == "data" and "offset" in row:
                facts.add(("symbol", row["index"]), offset=row["offset"], size=row["size"])
        for at, row in enumerate(f["linking"]["segments"]):
            facts.add(("segment-info", at), name=row["name"], p2align=row["alignment_log2"])
    for row in f["relocations"]:
        custom = result["sections"][row["target_section"]]["kind"] == "Custom"
        for at, entry in enumerate(row["entries"]):
            fields = {"type": entry["type"], "offset": entry["offset"], "addend": entry["addend"] or 0}
            fields["index" if entry["type"] == "R_WASM_TYPE_INDEX_LEB" else "symbol"] = entry["index"]
            if not custom:
                fields["file"] = entry["file_offset"]
            facts.add(("reloc", row["target_section"], at), **fields)
    return facts


def element(text):
    match = re.fullmatch(r"ref\.func (\d+)", text or "")
    return int(match[1]) if match else "null" if text and text.startswith("ref.null") else text


def limits_of_text(kind, text):
    inside = text[1:-1].split(" ", 1)[1]
    if kind == "global":
        mutable = inside.startswith("(mut ")
        return {"type": inside[5:-1] if mutable else inside, "mutable": int(mutable)}
    words = inside.split()
    fields = {}
    if kind == "memory":
        fields["wide"] = words[0] == "i64"
        fields["shared"] = "shared" in words
    numbers = [int(word) for word in words if word.isdigit()]
    fields["initial"] = numbers[0]
    fields["maximum"] = numbers[1] if len(numbers) > 1 else None
    if kind == "table":
        fields["type"] = words[-1]
    return fields


def peer_facts(path, data, unmapped):
    run = subprocess.run(["wasm-objdump", "-h", path], capture_output=True)
    details = subprocess.run(["wasm-objdump", "-x", path], capture_output=True)
    if run.returncode or details.returncode:
        return None
    facts = Facts()
    at = 0
    for line in run.stdout.decode("utf-8", "surrogateescape").split("\n"):
        match = re.match(r" *(\w+) start=0x(\w+) end=0x(\w+) \(size=0x(\w+)\) (.*)$", line)
        if match:
            start, end, size = (int(match[n], 16) for n in (2, 3, 4))
            facts.add(("section", at), kind=match[1], start=start, end=end, size=size, description=match[5])
            at += 1
    PeerDetails(facts, data, unmapped).read(details.stdout)
    return facts


class PeerDetails:
    def __init__(self, facts, data, unmapped):
        self.facts, self.data, self.unmapped = facts, data, unmapped
        self.section = None
        self.custom = -1
        self.customs = []
        self.exports = 0
        self.elem = self.segment = None
        self.items = 0
        self.segment_bytes = {}
        self.features = self.needed = 0
        self.reloc = None
        self.entries = 0

    def read(self, output):
        # Names may hold line ends; a line that starts with neither of these goes on.
        text = output.decode("utf-8", "surrogateescape")
        body = text.split("Section Details:\n\n", 1)[-1]
        lines = []
        for line in body.split("\n"):
            if re.match(r"( +- |[A-Z][A-Za-z]*(\[\d+\])?:$)", line) or not lines:
                lines.append(line)
            else:
                lines[-1] += "\n" + line
        if lines:
            lines[-1] = lines[-1].rstrip("\n")
        for line in lines:
            header = re.fullmatch(r"([A-Z][A-Za-z]*)(\[(\d+)\])?:", line)
            if header:
                self.section = header[1]
                continue
            if line and not self.line(line):
                self.unmapped.append(f"{self.section}: {line}")
        for index, found in self.segment_bytes.items():
            self.facts.add(("data", index), contents=hashlib.sha256(found).hexdigest())

    def name(self, kind, index, name):
        # Only names that the name section gives: those are told when it comes.
        pass

    def line(self, line):
        return getattr(self, "in_" + self.section.lower(), lambda _: False)(line)

    def in_type(self, line):
        match = re.fullmatch(r" - type\[(\d+)\] (.*)", line)
        if match:
            self.facts.add(("type", int(match[1])), text=match[2])
        return match

    def limits(self, kind, text):
        fields = {}
        match = re.search(r"initial=(\d+)(?: max=(\d+))?", text)
        fields["initial"], fields["maximum"] = int(match[1]), int(match[2]) if match[2] else None
        if kind == "memory":
            fields["shared"], fields["wide"] = " shared" in text, " i64" in text
        else:
            fields["type"] = re.search(r"type=(\w+)", text)[1]
        return fields

    def in_import(self, line):
        match = re.fullmatch(r" - (\w+)\[(\d+)\] (.*?) <- (.*)", line, re.S)
        if not match:
            return False
        kind, index, middle, where = match[1], int(match[2]), match[3], match[4]
        key = ("import", kind, index)
        self.facts.add(key, where=where)
        if kind in ("func", "tag"):
            self.facts.add(key, sig=int(re.match(r"sig=(\d+)", middle)[1]))
        elif kind == "global":
            found = re.match(r"(\w+) mutable=(\d)", middle)
            self.facts.add(key, type=found[1], mutable=int(found[2]))
        else:
            self.facts.add(key, **self.limits(kind, middle))
        return True

    def in_function(self, line):
        match = re.fullmatch(r" - func\[(\d+)\] sig=(\d+)( <.*>)?", line, re.S)
        if match:
            self.facts.add(("function", int(match[1])), sig=int(match[2]))
        return match

    def in_table(self, line):
        match = re.fullmatch(r" - table\[(\d+)\] (.*)", line, re.S)
        if match:
            self.facts.add(("table", int(match[1])), **self.limits("table", match[2]))
        return match

    def in_memory(self, line):
        match = re.fullmatch(r" - memory\[(\d+)\] pages: (.*)", line, re.S)
        if match:
            self.facts.add(("memory", int(match[1])), **self.limits("memory", " " + match[2]))
        return match

    def in_tag(self, line):
        match = re.fullmatch(r" - tag\[(\d+)\] sig=(\d+)( <.*>)?", line, re.S)
        if match:
            self.facts.add(("tag", int(match[1])), sig=int(match[2]))
        return match

    def in_global(self, line):
        match = re.fullmatch(r" - global\[(\d+)\] (\w+) mutable=(\d)( <.*>)?( - init (.*))?", line, re.S)
        if not match:
            return False
        key = ("global", int(match[1]))
        self.facts.add(key, type=match[2], mutable=int(match[3]))
        if not match[2].endswith("ref") and match[2] != "v128":
            self.facts.add(key, init=self.init(match[6]))
        return True

    def init(self, text):
        match = re.match(r"(i32|i64|f32|f64|global)=(\S+)", text or "")
        if not match:
            return None
        kind, value = match[1], match[2]
        if kind in ("f32", "f64"):
            return f"{kind}={float.fromhex(value)!r}"
        return f"{kind}={int(value)}"

    def in_export(self, line):
        match = re.fullmatch(r' - (\w+)\[(\d+)\]( <.*?>)? -> "(.*)"', line, re.S)
        if match:
            self.facts.add(("export", self.exports), kind=match[1], item=int(match[2]), name=match[4])
            self.exports += 1
        return match

    def in_start(self, line):
        match = re.fullmatch(r" - start function: (\d+)( <.*>)?", line, re.S)
        if match:
            self.facts.add(("start",), function=int(match[1]))
        return match

    def in_elem(self, line):
        match = re.fullmatch(r" - segment\[(\d+)\]( <.*>)? flags=(\d+) table=(\d+) count=(\d+)( - init (.*))?", line, re.S)
        if match:
            self.elem, self.items, flags = int(match[1]), 0, int(match[3])
            key = ("elem", self.elem)
            self.active = flags & 1 == 0
            self.facts.add(key, count=int(match[5]))
            if self.active:
                self.facts.add(key, table=int(match[4]), init=self.init(match[7]))
            self.place = self.facts[key].get("init")
            return True
        match = re.fullmatch(r"  - elem\[(\d+)\] = (?:func\[(\d+)\]( <.*>)?|(ref\.null .*))", line, re.S)
        if not match:
            return False
        place = int(match[1]) if self.active and str(self.place).startswith("i") else None
        item = int(match[2]) if match[2] is not None else "null"
        self.facts.add(("elem-item", self.elem, self.items), item=item, place=place)
        self.items += 1
        return True

    def in_datacount(self, line):
        match = re.fullmatch(r" - data count: (\d+)", line)
        if match:
            self.facts.add(("data-count",), count=int(match[1]))
        return match

    def in_code(self, line):
        match = re.fullmatch(r" - func\[(\d+)\] size=(\d+)( <.*>)?", line, re.S)
        if match:
            self.facts.add(("code", int(match[1])), size=int(match[2]))
        return match

    def in_data(self, line):
        match = re.fullmatch(r" - segment\[(\d+)\]( <.*>)? (passive|memory=(\d+)) size=(\d+)( - init (.*))?", line, re.S)
        if match:
            self.segment = int(match[1])
            key = ("data", self.segment)
            self.segment_bytes[self.segment] = b""
            self.facts.add(key, size=int(match[5]), passive=match[3] == "passive")
            if match[3] != "passive":
                self.facts.add(key, memory=int(match[4]), init=self.init(match[7]))
            return True
        match = re.match(r"  - ([0-9a-f]{7,}): ((?:[0-9a-f]{2,4} ?)+)  ", line)
        if match:
            self.segment_bytes[self.segment] += bytes.fromhex(match[2].replace(" ", ""))
        return match

    def in_custom(self, line):
        match = re.fullmatch(r' - name: "(.*)"', line, re.S)
        if match:
            self.custom += 1
            self.customs.append(match[1])
            self.facts.add(("custom", self.custom), name=match[1])
            return True
        custom = self.customs[-1]
        if custom == "name":
            return self.in_names(line)
        if custom == "dylink.0":
            match = re.fullmatch(r" - (mem_size|mem_p2align|table_size|table_p2align) *: (\d+)", line)
            if match:
                self.facts.add(("dylink",), **{match[1]: int(match[2])})
                return True
            match = re.fullmatch(r" - (needed_dynlibs|exports|imports)\[\d+\]:", line)
            if match:
                self.list, self.needed = match[1], 0
                return True
            match = re.fullmatch(r"  - (.*)", line, re.S)
            if match and self.list == "needed_dynlibs":
                self.facts.add(("needed", self.needed), name=match[1])
                self.needed += 1
                return True
            match = re.fullmatch(r"  - (.*) \[ (.*) \]", line, re.S)
            if match:
                self.facts.add((f"dylink-{self.list[:-1]}", self.needed), name=match[1], **printed_flags(match[2].split()))
                self.needed += 1
            return match
        if custom == "target_features":
            match = re.fullmatch(r"  - \[(.)\] (.*)", line, re.S)
            if match:
                self.facts.add(("feature", self.features), prefix=match[1], name=match[2])
                self.features += 1
            return match
        if custom == "linking":
            return self.in_linking(line)
        if custom.startswith("reloc."):
            return self.in_reloc(line)
        return False

    def in_names(self, line):
        match = re.fullmatch(r" - module <(.*)>", line, re.S)
        if match:
            self.facts.add(("module-name",), name=match[1])
            return True
        match = re.fullmatch(r" - func\[(\d+)\] local\[(\d+)\] <(.*)>", line, re.S)
        if match:
            self.facts.add(("local", int(match[1]), int(match[2])), name=match[3])
            return True
        match = re.fullmatch(r" - (\w+)\[(\d+)\] <(.*)>", line, re.S)
        kinds = {"func": "func", "global": "global", "table": "table", "dataseg": "data", "memory": "memory"}
        if match and match[1] in kinds:
            self.facts.add(("name", kinds[match[1]], int(match[2])), name=match[3])
            return True
        # Types and element segments: their names stand in rows that are compared otherwise.
        return match and match[1] in ("type", "elemseg", "tag")

    def in_linking(self, line):
        match = re.fullmatch(r"   - (\d+): (\w) <(.*?)>(.*?) \[ (.*)\]", line, re.S)
        if match and not re.search(r"p2align=", match[4]):
            fields = dict(re.findall(r"(\w+)=(\d+)", match[4]))
            row = {"kind": match[2], **printed_flags(match[5].split())}
            for name in ("func", "global", "table", "section", "segment", "tag", "event"):
                if name in fields:
                    row["item"] = int(fields[name])
            for name in ("offset", "size"):
                if name in fields:
                    row[name] = int(fields[name])
            self.facts.add(("symbol", int(match[1])), **row)
            return True
        match = re.fullmatch(r"   - (\d+): (.*) p2align=(\d+) \[ .*\]", line, re.S)
        if match:
            self.facts.add(("segment-info", int(match[1])), name=match[2], p2align=int(match[3]))
            return True
        return re.fullmatch(r"  - (symbol table|segment info|init functions|comdat).*", line)

    def in_reloc(self, line):
        match = re.match(r"  - relocations for section: (\d+) ", line)
        if match:
            self.reloc, self.entries = int(match[1]), 0
            return True
        match = re.fullmatch(
            r"   - (R_WASM_\w+) +offset=(?:0x)?(\w+)\(file=0x(\w+)\) (symbol|type)=(\d+)( <.*?>)?(?:([+-])(?:0x)?(\w+))?", line, re.S
        )
        if not match:
            return False
        addend = int(match[8], 16) if match[8] else 0
        row = {"type": match[1], "offset": int(match[2], 16), "addend": -addend if match[7] == "-" else addend}
        row["symbol" if match[4] == "symbol" else "index"] = int(match[5])
        if not self.facts[("section", self.reloc)]["kind"] == "Custom":
            row["file"] = int(match[3], 16)
        self.facts.add(("reloc", self.reloc, self.entries), **row)
        self.entries += 1
        return True


def leb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7


LABELS = {
    "component": ["Custom", "CoreModule", "CoreInstance", "CoreType", "Component", "Instance", "Alias", "Type", "Canon", "Start", "Import", "Export", "Value"],
    "core-module": ["Custom", "Type", "Import", "Function", "Table", "Memory", "Global", "Export", "Start", "Elem", "Code", "Data", "DataCount", "Tag"],
}


def reader_facts(data, start, end, facts, path=()):
    """Sections, nested modules, custom sections and names, read here."""
    version, layer = struct.unpack_from("<HH", data, start + 4)
    kind = "component" if layer else "core-module"
    facts.add(("unit", path), kind=kind, start=start, end=end)
    at, nested, number = start + 8, 0, 0
    while at < end:
        id_byte = data[at]
        size, payload = leb(data, at + 1)
        row = {"kind": LABELS[kind][id_byte], "start": payload, "end": payload + size}
        if id_byte == 0:
            length, name_at = leb(data, payload)
            name = data[name_at : name_at + length].decode()
            content = data[name_at + length : payload + size]
            row |= {"name": name, "sha256": hashlib.sha256(content).hexdigest()}
            if name == {"core-module": "name", "component": "component-name"}[kind]:
                reader_names(content, kind, facts, path)
        elif kind == "component" and id_byte in (1, 4):
            row["sha256"] = hashlib.sha256(data[payload : payload + size]).hexdigest()
            reader_facts(data, payload, payload + size, facts, path + (nested,))
            nested += 1
        elif id_byte not in (8, 9) or kind == "core-module":
            row["count"] = leb(data, payload)[0]
        facts.add(("part", path, number), **row)
        at = payload + size
        number += 1


SORTS = {1: "func", 2: "value", 3: "type", 4: "component", 5: "instance"}
CORE_SORTS = {0: "core-func", 1: "core-table", 2: "core-memory", 3: "core-global", 4: "core-tag", 16: "core-type", 17: "core-module", 18: "core-instance"}


def reader_names(content, kind, facts, path):
    """The entries of a name section; of locals, labels, fields and parameters with what they are of."""
    at = number = 0
    while at < len(content):
        id_byte = content[at]
        size, body = leb(content, at + 1)
        at = body + size
        sort = None
        place, groups = body, [None]
        if id_byte and kind == "component":
            core = content[place] == 0
            sort = (CORE_SORTS if core else SORTS)[content[place + core]]
            place += 1 + core
        elif id_byte in (2, 3, 10, 12, 13):
            count, place = leb(content, place)
            groups = range(count)
        if id_byte == 0 or (id_byte == 1 and kind == "core-module"):
            number += 1
            continue
        facts.add(("names", path, number), id=id_byte, sort=sort)
        # What cannot be read to its end is told as far as it goes.
        inside = content[:at]
        try:
            for entry, (of, index, text) in enumerate(reader_entries(inside, place, groups)):
                facts.add(("entry", path, number, entry), of=of, index=index, name=text)
        except (IndexError, UnicodeDecodeError):
            pass
        number += 1


def reader_entries(content, place, groups):
    for group in groups:
        of = None
        if group is not None:
            of, place = leb(content, place)
        count, place = leb(content, place)
        for _ in range(count):
            index, place = leb(content, place)
            length, place = leb(content, place)
            if place + length > len(content):
                raise IndexError
            yield of, index, content[place : place + length].decode()
            place += length


def our_units(result):
    facts = Facts()

    def unit(kind, start, end, sections, inner, path):
        facts.add(("unit", path), kind=kind, start=start, end=end)
        for at, row in enumerate(inner["names"]["subsections"]):
            if row["entries"] is None:
                continue
            facts.add(("names", path, at), id=row["id"], sort=row.get("sort"))
            for place, one in enumerate(row["entries"]):
                facts.add(("entry", path, at, place), of=one.get("of"), index=one["index"], name=one["name"])
        customs = iter(inner["custom_sections"])
        nested = iter(inner.get("nested", []))
        for at, row in enumerate(sections):
            fields = {"kind": row["kind"], "start": row["start"], "end": row["end"]}
            if row["kind"] == "Custom":
                custom = next(customs)
                fields |= {"name": custom["name"], "sha256": custom["sha256"]}
            elif row["kind"] in ("CoreModule", "Component"):
                fields["sha256"] = next(nested)["sha256"]
            elif row["description"].split(": ")[0] in ("count", "start") and ": " in row["description"]:
                fields["count"] = int(row["description"].split(": ")[1])
            facts.add(("part", path, at), **fields)
        for row in inner.get("nested", []):
            unit(row["kind"], row["start"], row["end"], row["sections"], row["facts"], path + (row["index"],))

    unit(result["artifact_kind"], 0, result["artifact"]["bytes"], result["sections"], result["facts"], ())
    return facts


def differences(own, peer):
    """Places where two sets of rows differ; how many fields were compared."""
    found, compared = [], 0
    for key in sorted(own.keys() | peer.keys(), key=repr):
        if key[0] == "name" and key not in peer:
            continue  # told by the name section only
        if key not in own or key not in peer:
            found.append(f"{key}: only {'theirs' if key not in own else 'ours'}: {(own.get(key) or peer.get(key))!r:.120}")
            compared += 1
            continue
        for name in sorted(peer[key]):
            compared += 1
            left, right = own[key].get(name, "nothing"), peer[key][name]
            if left != right and not (left != left and right != right):
                found.append(f"{key} {name}: {left!r:.80} and {right!r:.80}")
    return found, compared


def lies(peer):
    """One lie for each table and field."""
    told = set()
    for key, fields in peer.items():
        for name, value in fields.items():
            if (key[0], name) in told:
                continue
            told.add((key[0], name))
            false = dict(peer)
            lie = (not value) if isinstance(value, bool) else value + 1 if isinstance(value, int) else "a lie"
            false[key] = fields | {name: lie}
            yield f"{key} {name}", false


def made(folder):
    for name, text in MADE.items():
        source, path = Path(folder) / f"{name}.wat", Path(folder) / f"{name}.wasm"
        source.write_text(text)
        subprocess.run(["wat2wasm", "--enable-all", "--debug-names", source, "-o", path], check=True)
        yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--plant", action="store_true", help="falsify the peer's side and demand that it shows")
    parser.add_argument("--sample", action="store_true", help="without the corpus: what CI compares")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    corpus = Path(os.environ.get("REA_CORPUS") or Path.home() / ".cache" / "rea-corpus")
    root = Path(__file__).resolve().parent.parent
    failures = compared = files = planted = unread = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = arguments.targets
        if not targets:
            targets = list(made(folder)) + sorted((root / "tests" / "data" / "wasm").glob("*.wasm"))
            targets += sorted(Path("/usr/share/doc/wabt").rglob("*.wasm"))
            if not arguments.sample:
                targets += sorted(path for path in corpus.rglob("*.wasm") if path.is_file())
        for path in targets:
            data = path.read_bytes()
            try:
                result = ours(arguments.rea, path)
            except RuntimeError as error:
                print(f"{path}: {error}")
                failures += 1
                continue
            pairs, unmapped = [], []
            if result["artifact_kind"] == "core-module":
                peer = peer_facts(path, data, unmapped)
                if peer is None:
                    print(f"{path.name}: not read by wasm-objdump")
                    unread += 1
                else:
                    own = our_facts(result)
                    for key in [key for key in own if key[0] == "data"]:
                        row = own[key]
                        contents = data[row["start"] : row["start"] + row["size"]]
                        row["contents"] = hashlib.sha256(contents).hexdigest()
                    pairs.append((own, peer))
            reader = Facts()
            reader_facts(data, 0, len(data), reader)
            pairs.append((our_units(result), reader))
            files += 1
            for line in unmapped[:10]:
                print(f"{path}: a line that is not mapped: {line!r:.160}")
            failures += len(unmapped)
            for own, peer in pairs:
                found, count = differences(own, peer)
                compared += count
                for line in found[:10]:
                    print(f"{path}: {line}")
                failures += len(found)
                if arguments.plant and not found:
                    for what, false in lies(peer):
                        planted += 1
                        if not differences(own, false)[0]:
                            print(f"{path}: a lie went unnoticed: {what}")
                            failures += 1
    if arguments.plant:
        print(f"{planted} lies planted")
    print(f"{files} files, {compared} fields compared, {unread} not read by wasm-objdump, {failures} differences or failures")
    return 0 if compared and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
