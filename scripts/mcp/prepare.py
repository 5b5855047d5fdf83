#!/usr/bin/env python3
"""Writes what the clients of scripts/mcp_clients.sh do and must see: inputs that
are too large to be kept here, and for each call the output of the command line.

    scripts/mcp/prepare.py --rea target/debug/rea FOLDER

Writes FOLDER/cases.json: `steps` in the order in which a session takes them, and
what the parts about cancellation, progress and oversized replies work on. Paths
are relative to the project's root, where clients and servers run.

A step has a tool, its arguments (`$OUT` stands for a folder of the client's own)
and what is expected: `evidence` and `result` name a file with the text of the
command line, `contains` lists members of the result by path. `state` says that
the step needs what earlier ones left in the session.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DLL = "tests/data/pe/sample.dll"
MACHO = "tests/data/macho/libsmall.dylib"
UNIVERSAL = "tests/data/macho/universal"
WASM = "tests/data/wasm/object.wasm"
ELF = "tests/golden/layout-elf/in/libtiny.so"
ZIP = "tests/golden/inspect-zip/in/words.zip"
APP = "tests/golden/inspect-plist/in/App.app"
PLIST = APP + "/Contents/Info.plist"
GZIP = "tests/data/codecs/big.gz"
HAR = "tests/golden/web-capture/in/session.har"
PAGES = "tests/golden/compare-web-captures/in"
SCREENS = "tests/golden/compare-web-screenshots/in"
SWIFT = "$s4main3fooyyF"

# Tool, the command line, and the arguments of the same call.
CALLS = [
    ("inspect_artifact", ["inspect-artifact", ZIP], {"path": ZIP}),
    ("inspect_artifact", ["inspect-artifact", DLL], {"path": DLL}),
    ("inventory_artifact", ["inventory-artifact", ZIP], {"path": ZIP}),
    (
        "inventory_artifact",
        ["inventory-artifact", "tests/data", "--max-nesting", "1", "--on-damage", "record"],
        {"path": "tests/data", "max_nesting": 1, "on_damage": "record"},
    ),
    ("inventory_artifact", ["inventory-artifact", GZIP], {"path": GZIP}),
    ("diff_artifacts", ["diff", DLL, ZIP], {"old": DLL, "new": ZIP}),
    ("diff_artifacts", ["diff", "--deep", DLL, MACHO], {"old": DLL, "new": MACHO, "deep": True}),
    ("inspect_binary_layout", ["inspect-binary-layout", DLL], {"path": DLL}),
    ("inspect_binary_layout", ["inspect-binary-layout", ELF], {"path": ELF}),
    (
        "inspect_binary_layout",
        ["inspect-binary-layout", UNIVERSAL, "--architecture", "arm64"],
        {"path": UNIVERSAL, "architecture": "arm64"},
    ),
    ("inspect_macho", ["inspect-macho", MACHO], {"path": MACHO}),
    ("inspect_plist", ["inspect-plist", PLIST], {"path": PLIST}),
    ("inspect_wasm_artifact", ["inspect-wasm-artifact", WASM], {"path": WASM}),
    ("inspect_wasm_artifact", ["inspect-wasm-artifact", WASM, "--wat"], {"path": WASM, "wat": True}),
    ("list_architectures", ["list-architectures", UNIVERSAL], {"path": UNIVERSAL}),
    ("list_names", ["list-names", DLL], {"path": DLL}),
    ("list_names", ["list-names", MACHO], {"path": MACHO}),
    ("list_segments", ["list-segments", ELF], {"path": ELF}),
    ("list_strings", ["list-strings", ELF], {"path": ELF}),
    (
        "search_strings",
        ["search-strings", DLL, "KERNEL", "--case-sensitive"],
        {"path": DLL, "pattern": "KERNEL", "case_sensitive": True},
    ),
    ("search_bytes", ["search-bytes", DLL, "4d 5a"], {"path": DLL, "pattern": "4d 5a"}),
    (
        "read_bytes",
        ["read-bytes", DLL, "0x180001000", "16"],
        {"path": DLL, "address": "0x180001000", "length": 16},
    ),
    (
        "address_to_file_offset",
        ["address-to-file-offset", DLL, "0x180001010"],
        {"path": DLL, "address": "0x180001010"},
    ),
    ("demangle", ["demangle", "_ZN1A1fEv", "main"], {"names": ["_ZN1A1fEv", "main"]}),
    ("demangle_swift", ["demangle-swift", MACHO, SWIFT], {"path": MACHO, "symbols": [SWIFT]}),
    (
        "inspect_web_network_capture",
        ["inspect-web-network-capture", HAR, "har"],
        {"capture_path": HAR, "format": "har"},
    ),
    (
        "inspect_web_network_capture",
        ["inspect-web-network-capture", HAR, "har", "--record", "8", "--record", "1"],
        {"capture_path": HAR, "format": "har", "record_ordinals": [8, 1]},
    ),
    (
        "compare_web_screenshots",
        ["compare-web-screenshots", f"{SCREENS}/a.png", f"{SCREENS}/b.png"],
        {
            "before": {"kind": "file", "path": f"{SCREENS}/a.png"},
            "after": {"kind": "file", "path": f"{SCREENS}/b.png"},
        },
    ),
    ("verify_evidence", ["verify-evidence", "$RECORD"], {"evidence": ["$RECORD"]}),
    (
        "extract_artifact",
        ["extract-artifact", ZIP, "--into", "$OUT/all"],
        {"path": ZIP, "into": "$OUT/all"},
    ),
]


class Maker:
    def __init__(self, rea, folder):
        self.rea, self.folder = rea, folder
        self.steps = []
        # Texts of records, by id, in the order in which the session keeps them.
        self.records = {}

    def run(self, arguments, **more):
        run = subprocess.run([self.rea, "--quiet", *arguments], cwd=ROOT, capture_output=True, **more)
        if run.returncode != 0:
            said = run.stderr.decode("utf-8", "replace").strip()[:500]
            sys.exit(f"rea {' '.join(arguments)} failed: {said}")
        return run.stdout

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def step(self, tool, arguments, state=False, **expected):
        self.steps.append({"tool": tool, "arguments": arguments, "state": state, **expected})

    def same(self, tool, command, arguments, state=False, part=None):
        """A call whose answer is what the command line says, or `part` of that."""
        text = self.run(command).removesuffix(b"\n")
        if part:
            text = json.dumps(json.loads(text)[part], separators=(",", ":"), ensure_ascii=False).encode()
        if tool == "verify_evidence":
            # The command line writes a document a line where the tool has a list.
            text = b"[" + text.replace(b"\n", b",") + b"]"
        at = len(self.steps)
        document = json.loads(text)
        if "evidence_id" in document and "normalized_result" in document:
            self.records[document["evidence_id"]] = text
            self.step(tool, arguments, state, evidence=self.file(f"{at}.json", text))
        else:
            self.step(tool, arguments, state, result=self.file(f"{at}.json", text))
        return document

    def view(self, parent, view, state_arguments=None):
        """A view of a retained record, and of the same record inline."""
        record = self.file("parent.json", self.records[parent])
        source = {"kind": "evidence-file", "path": record}
        request = self.file("request.json", json.dumps({"source": source, "view": view}).encode())
        retained = {"kind": "retained-evidence", "evidence_id": parent}
        self.same(
            "inspect_analysis_view",
            ["inspect-analysis-view", request],
            state_arguments or {"source": retained, "view": view},
            state=True,
        )

    def all(self):
        self.step("reset_investigation", {}, state=True, contains={})
        self.step("binary_session", {}, contains={"/result/server_identity/package/name": "rea"})
        for tool, command, arguments in CALLS:
            arguments = self.placed(arguments)
            self.same(tool, self.placed(command), arguments)
            for step in self.steps[-1:]:
                step["arguments"] = self.portable(step["arguments"])
        listed = [json.loads(text) for text in self.records.values()]
        inventories = [one for one in listed if one["operation"] == "inventory_artifact"]
        first, second = (one["evidence_id"] for one in inventories[:2])

        # A summary is the view that can be asked for.
        summary = {"kind": "summary"}
        for tool, path in [("inspect_artifact", ZIP), ("list_names", DLL), ("inspect_wasm_artifact", WASM)]:
            parent = next(
                one["evidence_id"]
                for one in listed
                if one["operation"] == tool and tool_path(one) == path
            )
            self.view(parent, summary)
            self.steps.append({**self.steps[-1], "tool": tool, "arguments": {"path": path, "detail": "summary"}})
        page = {"kind": "inventory", "collection": "occurrences", "offset": 1, "limit": 2}
        self.view(first, page)
        inline = {"kind": "inline", "evidence": json.loads(self.records[first])}
        self.view(first, page, {"source": inline, "view": page})

        left = self.file("left.json", self.records[first])
        right = self.file("right.json", self.records[second])
        retained = lambda one: {"kind": "retained-evidence", "evidence_id": one}
        inline = json.loads(self.records[second])
        compare = ["compare-artifacts", left, right]
        self.same("compare_artifacts", compare, {"left": retained(first), "right": retained(second)}, True)
        self.same("compare_artifacts", compare, {"left": retained(first), "right": inline}, True)

        # Recorded traffic, and pages that are given themselves.
        capture = json.loads((self.folder / "capture.json").read_bytes())["evidence_id"]
        self.same(
            "compare_api_surfaces",
            self.placed(["compare-api-surfaces", "$CAPTURE", "$CAPTURE"]),
            {"left": retained(capture), "right": json.loads(self.records[capture])},
            True,
        )
        before, after = (f"{PAGES}/{side}.json" for side in ("before", "after"))
        pages = [json.loads((ROOT / page).read_bytes()) for page in (before, after)]
        self.same(
            "compare_web_captures",
            ["compare-web-captures", before, after],
            {"before": pages[0], "after": pages[1]},
        )
        self.same("verify_evidence", ["verify-evidence", left], {"evidence": [retained(first)]}, True)

        # What is open is meant where a path is left out.
        digest = hashlib.sha256((ROOT / DLL).read_bytes()).hexdigest()
        opened = {"/result/sha256": digest, "/result/format": "pe", "/result/kind": "executable"}
        self.step("open_binary", {"path": DLL}, True, contains=opened)
        self.step("binary_session", {}, True, contains={"/result/open": True, "/result/sha256": digest})
        # It is named as the session opened it: by its absolute path.
        self.same("list_segments", ["list-segments", str((ROOT / DLL).resolve())], {}, True)
        self.bundles()
        self.unknowns()
        self.step("close_binary", {}, True, contains={"/result": None})
        self.step("binary_session", {}, True, contains={"/result/open": False})
        canonical = str((ROOT / APP).resolve())
        self.step("open_bundle_resources", {"path": APP}, True, contains={"/result/canonical_root": canonical})
        self.step("close_binary", {}, True, contains={"/result": None})

    def placed(self, value):
        """`$OUT`, `$RECORD` and `$CAPTURE` of the command line."""
        if isinstance(value, str):
            value = value.replace("$OUT", str(self.folder / "out-cli"))
            value = value.replace("$CAPTURE", str(self.folder / "capture.json"))
            return value.replace("$RECORD", str(self.folder / "record.json"))
        if isinstance(value, list):
            return [self.placed(one) for one in value]
        if isinstance(value, dict):
            return {name: self.placed(one) for name, one in value.items()}
        return value

    def portable(self, value):
        """The same for a client, whose folder is another."""
        if isinstance(value, str):
            return value.replace(str(self.folder / "out-cli"), "$OUT")
        if isinstance(value, dict):
            return {name: self.portable(one) for name, one in value.items()}
        return value

    def bundles(self):
        """All that the session keeps is what the command line puts together."""
        names = []
        for at, text in enumerate(self.records.values()):
            names.append(self.file(f"kept-{at}.json", text))
        bundle = self.folder / "bundle.json"
        self.run(["bundle", *names, "-o", str(bundle)])
        whole = bundle.read_bytes().removesuffix(b"\n")
        written = hashlib.sha256(bundle.read_bytes()).hexdigest()
        self.step("get_evidence_bundle", {}, True, result=self.file("bundle-text.json", whole))
        self.same(
            "get_evidence_bundle",
            ["inspect-evidence-bundle", str(bundle), "--detail", "summary"],
            {"detail": "summary"},
            True,
        )
        exported = {"/result/records": len(names), "/result/unknowns": 0, "/result/sha256": written}
        self.step("export_evidence_bundle", {"path": "$OUT/bundle.json"}, True, contains=exported)
        self.step(
            "import_evidence_bundle", {"path": str(bundle)}, True,
            contains={"/result/imported": 0, "/result/total": len(names)},
        )
        # Another bundle, with one record less.
        fewer = self.folder / "fewer.json"
        self.run(["bundle", *names[1:], "-o", str(fewer)])
        self.same(
            "compare_bundles",
            ["compare-bundles", str(fewer), str(bundle), "--limit", "500"],
            {"left_bundle_path": str(fewer), "right_bundle_path": str(bundle)},
        )
        # A session has no pages of it: all items are delivered.
        expected = Path(self.steps[-1]["result"])
        text = expected.read_text()
        expected.write_text(text.replace('"limit":500,', f'"limit":{2**53 - 1},'))

    def unknowns(self):
        """A question in the session is the question in a file."""
        file = self.folder / "questions.json"
        shutil.copy(self.folder / "bundle.json", file)
        about = next(
            id for id, record in ((id, json.loads(text)) for id, text in self.records.items())
            if record["operation"] == "list_names" and tool_path(record) == DLL
        )
        self.same(
            "record_unknown",
            ["record-unknown", str(file), "--question", "Who calls alpha?", "--severity", "medium",
             "--domain", "native", "--required-confidence", "observed", "--about", about],
            {"question": "Who calls alpha?", "severity": "medium", "domain": "native",
             "required_authority": None, "required_confidence": "observed",
             "required_environment": None, "recommended_probes": [], "relationships": []},
            True,
            part="unknown",
        )
        revision = json.loads(Path(self.steps[-1]["result"]).read_text())
        unknown = revision["unknown_id"]
        self.same("list_unknowns", ["list-unknowns", str(file)], {}, True)
        self.same(
            "verify_unknown_resolution",
            ["verify-unknown-resolution", str(file), unknown], {"unknown_id": unknown}, True,
        )
        updated = {
            "unknown_id": unknown, "expected_revision": 1, "status": "blocked", "severity": "high",
            "supporting_evidence_ids": [], "contradicting_evidence_ids": [],
            "required_authority": None, "required_confidence": "observed",
            "required_environment": None, "recommended_probes": [], "relationships": [],
            "resolution": None,
        }
        self.step(
            "update_unknown", updated, True,
            contains={"/result/revision": 2, "/result/severity": "high", "/result/status": "blocked"},
        )
        self.step("list_unknowns", {}, True, contains={"/result/items/0/unknown/revision": 2})

    def large(self):
        """A folder that takes long to read, one that takes a while, and a
        program whose strings do not fit into a reply."""
        slow, brisk = self.folder / "slow", self.folder / "brisk"
        for folder, count, size in [(slow, 64, 2 << 30), (brisk, 4, 96 << 20)]:
            folder.mkdir()
            for at in range(count):
                with open(folder / f"file{at}", "wb") as file:
                    # A hole: nothing of it is on the disk.
                    file.truncate(size)
        # Not one that the file system or the archive's rules would refuse.
        arguments = {"path": str(slow), "max_total_bytes": 1 << 40, "max_entry_bytes": 1 << 40}
        many = self.folder / "many.bin"
        count = 40_000
        with open(many, "wb") as file:
            for at in range(count):
                file.write(f"string {at:05}, of many; \"quoted\" \\ and not\0".encode())
            file.truncate(40 << 20)
        text = self.run(["list-strings", str(many)])
        record = json.loads(text)
        rows = len(record["normalized_result"])
        if rows != count:
            sys.exit(f"{rows} of {count} strings were listed")
        self.file("rows.json", json.dumps(record["normalized_result"]).encode())
        return {
            "cancelled": {"tool": "inventory_artifact", "arguments": arguments},
            "watched": {"tool": "inventory_artifact", "arguments": {"path": str(brisk)}},
            "oversized": {
                "tool": "list_strings",
                "arguments": {"path": str(many)},
                "evidence_id": record["evidence_id"],
                "rows": str(self.folder / "rows.json"),
            },
        }


def tool_path(record):
    """Where a record's subject stands, as it was named."""
    return (record["subject"] or {}).get("local_path")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rea", required=True)
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    maker = Maker(os.path.abspath(given.rea), folder)
    (folder / "out-cli").mkdir(exist_ok=True)
    maker.file("record.json", maker.run(["inspect-artifact", ZIP]))
    maker.file("capture.json", maker.run(["inspect-web-network-capture", HAR, "har"]))
    maker.all()
    cases = {"root": str(ROOT), "rea": maker.rea, "steps": maker.steps, **maker.large()}
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    texts = sum("evidence" in step or "result" in step for step in maker.steps)
    print(f"{len(maker.steps)} calls, {texts} of them with the text of the command line")


if __name__ == "__main__":
    main()
