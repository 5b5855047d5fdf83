#!/usr/bin/env python3
"""Recomputes every identifier of artifact records from nothing but their own rows and SHA-256.

Second opinion on `rea inspect-artifact`, `inventory-artifact`, `compare-artifacts` and `diff`: JSON
reader, RFC 8785 writer and every recipe are written here a second time and share nothing with the
Rust code. Besides ids it checks what hangs on them: orders, counts, parents, edges, locations and
subjects.

    scripts/verify_ids.py RECORD.json...              check files (`-` is standard input)
    scripts/verify_ids.py --selftest RECORD.json...   plant faults and demand that each is found

A file holds one or more JSON values with any white space between them. One line a file tells how
many ids of each kind were recomputed; every mismatch is listed with its JSON Pointer. Exit 1 on a
mismatch, on a fault that was not found, or when nothing was checked; 2 on usage.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter

# --------------------------------------------------------------------------------------------------
# JSON in: strict, no duplicate names, a sequence of values


class Refused(Exception):
    """A document that is not what a reader of Evidence accepts."""


def _object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        repeated = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
        raise Refused(f"duplicate member name {repeated[0]!r}")
    return value


def _integer(lexeme):
    # Beyond 2^53 a number is the nearest double; the exact digits are lost by design.
    return int(lexeme) if len(lexeme) <= 16 else _double(lexeme)


def _double(lexeme):
    value = float(lexeme)
    if value in (float("inf"), float("-inf")):
        raise Refused(f"number {lexeme[:40]} is not finite")
    return value


def _constant(lexeme):
    raise Refused(f"{lexeme} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_double, parse_constant=_constant
)
_SPACE = re.compile(r"[ \t\n\r]*")


def read_values(data):
    """The JSON values of `data` (bytes), in order."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"not UTF-8 at byte {error.start}") from None
    values = []
    at = _SPACE.match(text).end()
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            raise Refused(f"not JSON: {error}") from None
        values.append(value)
        at = _SPACE.match(text, at).end()
    return values


# --------------------------------------------------------------------------------------------------
# Canonical JSON out: RFC 8785, lone surrogates as \udxxx

_ESCAPED = re.compile("[\x00-\x1f\"\\\\\ud800-\udfff]")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def _escape(match):
    character = match.group()
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def _string(text):
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _number(value):
    """ECMAScript Number::toString (ECMA-262, 6.1.6.1.20) of an int or a float."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(value)
    value = float(value)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + int(exponent or 0)  # value = 0.DIGITS * 10^point
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + ("." + digits[1:] if count > 1 else "") + power


def _utf16(name):
    return name.encode("utf-16-be", "surrogatepass")


class Canonical:
    """A writer that remembers the text of large arrays, since a graph is hashed several times."""

    LARGE = 256

    def __init__(self):
        self.arrays = {}  # id of a list -> (the list, its text in UTF-8)
        self.layouts = {}  # names of an object as stored -> [(name, '"name":')] in sorted order

    def text(self, value):
        if isinstance(value, str):
            return _string(value)
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        if isinstance(value, dict):
            names = tuple(value)
            layout = self.layouts.get(names)
            if layout is None:
                layout = [(name, _string(name) + ":") for name in sorted(names, key=_utf16)]
                self.layouts[names] = layout
            return "{" + ",".join([key + self.text(value[name]) for name, key in layout]) + "}"
        if isinstance(value, list):
            return "[" + ",".join([self.text(item) for item in value]) + "]"
        return _number(value)

    def digest(self, value):
        """The digest of something small."""
        return hashlib.sha256(self.text(value).encode("utf-8")).hexdigest()

    def digest_document(self, value):
        """The digest of something that may hold a whole graph, which is never one string."""
        hasher = hashlib.sha256()
        self._feed(hasher, value)
        return hasher.hexdigest()

    def _feed(self, hasher, value):
        if isinstance(value, dict):
            separator = "{"
            for name in sorted(value, key=_utf16):
                hasher.update(f"{separator}{_string(name)}:".encode("utf-8"))
                self._feed(hasher, value[name])
                separator = ","
            hasher.update(b"}" if value else b"{}")
        elif isinstance(value, list) and len(value) >= self.LARGE:
            known = self.arrays.get(id(value))
            if known is None:
                known = self.arrays[id(value)] = (value, self.text(value).encode("utf-8"))
            hasher.update(known[1])
        elif isinstance(value, list):
            hasher.update(b"[")
            for place, item in enumerate(value):
                hasher.update(b"," if place else b"")
                self._feed(hasher, item)
            hasher.update(b"]")
        else:
            hasher.update(self.text(value).encode("utf-8"))


# --------------------------------------------------------------------------------------------------
# Record shapes

RECORD = frozenset(
    "evidence_id subject provider analysis_profile predicate_type operation parameters raw_result "
    "normalized_result confidence authority environment limitations locations evidence_links".split()
)
INVENTORY = frozenset(
    "manifest nodes occurrences edges provenance integrity_contradictions coverage limitations".split()
)
MANIFEST = frozenset(
    "manifest_id root_artifact_id root_sha256 root_format graph_sha256 node_count occurrence_count "
    "edge_count".split()
)
NODE = frozenset(
    "artifact_id format sha256 size media_type architecture content_state limitations".split()
)
OCCURRENCE = frozenset(
    "occurrence_id artifact_id parent_occurrence_id logical_path entry_kind artifact_kind "
    "artifact_format declared_size compressed_size executable encrypted hash_status source_location "
    "limitations".split()
)
OCCURRENCE_EXTRA = frozenset(("link_target", "mode"))
EDGE = frozenset("edge_id ordinal parent_artifact_id relation occurrence_id producer".split())
CONTRADICTION = frozenset(
    "contradiction_id occurrence_id parent_artifact_id logical_path declared_sha256 observed_sha256 "
    "entry_kind unpacked trust provenance limitations".split()
)
INSPECTION = frozenset(
    "inspection_id subject substeps observations hypotheses contradictions unexplored_branches "
    "next_probes coverage evidence_links limitations".split()
)
SUBSTEP = frozenset("substep_id operation status evidence_id evidence".split())
# Lists of an inspection whose items carry an id over themselves: list -> prefix. The member that
# holds the id is found by its prefix.
ITEMS = {
    "observations": "aio_",
    "hypotheses": "aih_",
    "contradictions": "aic_",
    "unexplored_branches": "aib_",
}
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")


class Checker:
    """Checks records and collects mismatches; `counts` says how many ids of a kind were recomputed."""

    def __init__(self):
        self.canonical = Canonical()
        self.counts = Counter()
        self.mismatches = []  # (JSON Pointer, sentence)

    def wrong(self, path, sentence):
        self.mismatches.append((path, sentence))

    def same(self, path, found, expected):
        if found != expected or isinstance(found, bool) != isinstance(expected, bool):
            self.wrong(path, f"is {_short(found)}, expected {_short(expected)}")

    def id(self, kind, path, found, expected):
        self.counts[kind] += 1
        self.same(path, found, expected)

    def members(self, path, value, required, optional=frozenset()):
        if not isinstance(value, dict):
            raise Refused(f"{path or '/'}: not an object")
        if value.keys() == required:
            return
        missing = sorted(required - value.keys())
        if missing:
            raise Refused(f"{path or '/'}: member {missing[0]!r} is missing")
        for name in sorted(value.keys() - required - optional):
            self.wrong(f"{path}/{_pointer(name)}", "is not a member of the contract")

    # Evidence

    def record(self, record, path=""):
        """An outer or nested Evidence record."""
        self.members(path, record, RECORD)
        if record["operation"] in ("compare_artifacts", "diff_artifacts"):
            self.comparison(record, path)
            return
        projection = {name: value for name, value in record.items() if name != "evidence_id"}
        subject = record["subject"]
        self.members(f"{path}/subject", subject, {"name", "digest", "format", "architecture", "local_path"})
        projection["subject"] = {
            name: value for name, value in subject.items() if name not in ("name", "local_path")
        }
        result = record["normalized_result"]
        if record["operation"] == "inventory_artifact":
            self.inventory(result, f"{path}/normalized_result")
            root = result["manifest"]
            expected = [
                {"kind": "artifact-path", "path": occurrence["logical_path"]}
                for occurrence in sorted(result["occurrences"], key=_by_path)
            ]
            if record["locations"] != expected:
                self.wrong(f"{path}/locations", "is not one artifact-path for each occurrence in order")
        elif record["operation"] == "inspect_artifact":
            root = self.inspection(result, record, f"{path}/normalized_result")
        else:
            raise Refused(f"{path}/operation: {record['operation']!r} is not an artifact operation")
        self.same(f"{path}/subject/digest", subject["digest"], {"sha256": root["root_sha256"]})
        self.same(f"{path}/subject/format", subject["format"], root["root_format"])
        self.same(f"{path}/limitations", record["limitations"], result["limitations"])
        self.id("ev", f"{path}/evidence_id", record["evidence_id"], "ev_" + self.canonical.digest_document(projection))

    # Comparison and difference

    def comparison(self, record, path):
        projection = {name: value for name, value in record.items() if name != "evidence_id"}
        self.id("ev", f"{path}/evidence_id", record["evidence_id"], "ev_" + self.canonical.digest_document(projection))
        self.same(f"{path}/subject", record["subject"], None)
        result, at = record["normalized_result"], f"{path}/normalized_result"
        sides = [record["parameters"]["left_evidence_id"], record["parameters"]["right_evidence_id"]]
        self.same(f"{path}/evidence_links", record["evidence_links"][:2], sides)
        self.same(f"{path}/limitations", record["limitations"][1:], result["limitations"])
        if record["operation"] == "diff_artifacts":
            self.same(f"{at}/substeps", len(result["substeps"]), 1)
            substep, below = result["substeps"][0], f"{at}/substeps/0"
            self.members(below, substep, SUBSTEP)
            inner = substep["evidence"]
            self.same(f"{below}/evidence/operation", inner["operation"], "compare_artifacts")
            self.record(inner, f"{below}/evidence")
            self.same(f"{below}/evidence_id", substep["evidence_id"], inner["evidence_id"])
            named = {"operation": substep["operation"], "evidence_id": substep["evidence_id"]}
            self.id("ais", f"{below}/substep_id", substep["substep_id"], "ais_" + self.canonical.digest(named))
            expected = inner["normalized_result"]["summary"] | {"moved": len(result["moves"])}
            self.same(f"{at}/summary", result["summary"], expected)
            self.same(f"{at}/status", result["status"], inner["normalized_result"]["status"])
            self.same(f"{below}/evidence/parameters", inner["parameters"], record["parameters"])
            return
        paths = [change["logical_path"] for change in result["changes"]]
        if paths != sorted(set(paths)):
            self.wrong(f"{at}/changes", "is not in order of the paths, each once")
        classes = Counter(change["classification"] for change in result["changes"])
        for name in ("added", "removed", "changed", "contradiction"):
            self.same(f"{at}/summary/{name}", result["summary"][name], classes[name])

    # Inspection

    def inspection(self, result, record, path):
        self.members(path, result, INSPECTION)
        self.same(f"{path}/substeps", len(result["substeps"]), 1)
        substep, at = result["substeps"][0], f"{path}/substeps/0"
        self.members(at, substep, SUBSTEP)
        inner = substep["evidence"]
        self.record(inner, f"{at}/evidence")
        self.same(f"{at}/evidence/operation", inner["operation"], "inventory_artifact")
        self.same(f"{at}/evidence/parameters", inner["parameters"], record["parameters"])
        if inner["provider"].get("version") != "1":  # REA itself, version 1, wrote the user's path here
            self.same(f"{at}/evidence/subject/name", inner["subject"]["name"], "artifact")
            self.same(f"{at}/evidence/subject/local_path", inner["subject"]["local_path"], "")
        inventory_id = inner["evidence_id"]
        self.same(f"{at}/evidence_id", substep["evidence_id"], inventory_id)
        named = {"operation": substep["operation"], "evidence_id": substep["evidence_id"]}
        self.id("ais", f"{at}/substep_id", substep["substep_id"], "ais_" + self.canonical.digest(named))

        graph = inner["normalized_result"]
        manifest = graph["manifest"]
        subject = {
            name: manifest[name]
            for name in ("manifest_id", "root_artifact_id", "root_sha256", "root_format")
        }
        self.same(f"{path}/subject", result["subject"], subject)
        self.same(f"{path}/evidence_links", result["evidence_links"], [inventory_id])
        for name, prefix in ITEMS.items():
            for index, item in enumerate(result[name]):
                self.item(item, prefix, inventory_id, f"{path}/{name}/{index}")
        self.same(f"{path}/observations", len(result["observations"]), 1 + len(graph["integrity_contradictions"]))
        self.same(f"{path}/contradictions", len(result["contradictions"]), len(graph["integrity_contradictions"]))
        if result["observations"]:
            self.same(f"{path}/observations/0/value", result["observations"][0].get("value"), manifest)
        for name in ("observations", "hypotheses", "unexplored_branches", "next_probes"):
            retained = f"{name}_retained"
            self.same(f"{path}/coverage/{retained}", result["coverage"].get(retained), len(result[name]))
        limitations = result["limitations"]
        if limitations != sorted(set(limitations)):
            self.wrong(f"{path}/limitations", "is not unique and in code-point order")
        rest = {name: value for name, value in result.items() if name != "inspection_id"}
        self.id("ai", f"{path}/inspection_id", result["inspection_id"], "ai_" + self.canonical.digest_document(rest))
        return result["subject"]

    def item(self, item, prefix, inventory_id, path):
        names = [name for name, value in item.items() if isinstance(value, str) and value.startswith(prefix)]
        if len(names) != 1:
            return self.wrong(path, f"has {len(names)} members that are an id with {prefix}")
        rest = {name: value for name, value in item.items() if name != names[0]}
        self.id(prefix[:-1], f"{path}/{names[0]}", item[names[0]], prefix + self.canonical.digest(rest))
        for name in ("evidence_id", "basis_evidence_ids"):
            if name in item:
                expected = inventory_id if name == "evidence_id" else [inventory_id]
                self.same(f"{path}/{name}", item[name], expected)

    # Inventory

    def inventory(self, result, path):
        self.members(path, result, INVENTORY)
        manifest = result["manifest"]
        self.members(f"{path}/manifest", manifest, MANIFEST)
        for name in ("nodes", "occurrences", "edges", "integrity_contradictions"):
            if not isinstance(result[name], list):
                raise Refused(f"{path}/{name}: not an array")
        nodes = self.nodes(result["nodes"], manifest, f"{path}/nodes")
        graph = Graph(self, result["occurrences"], nodes, manifest, f"{path}/occurrences")
        graph.check_rows()
        graph.check_directories(f"{path}/nodes")
        graph.check_links()
        self.edges(result["edges"], graph, result["provenance"], f"{path}/edges")
        self.contradictions(result["integrity_contradictions"], graph, f"{path}/integrity_contradictions")

        at = f"{path}/manifest"
        for name, rows in (("node", "nodes"), ("occurrence", "occurrences"), ("edge", "edges")):
            self.same(f"{at}/{name}_count", manifest[f"{name}_count"], len(result[rows]))
        rows = {name: result[name] for name in ("nodes", "occurrences", "edges", "integrity_contradictions")}
        self.id("graph", f"{at}/graph_sha256", manifest["graph_sha256"], self.canonical.digest_document(rows))
        root = {name: manifest[name] for name in ("root_artifact_id", "graph_sha256")}
        self.id("agm", f"{at}/manifest_id", manifest["manifest_id"], "agm_" + self.canonical.digest(root))
        self.id(
            "art", f"{at}/root_artifact_id", manifest["root_artifact_id"],
            "art_" + self.canonical.digest({"sha256": manifest["root_sha256"]}),
        )  # fmt: skip

    def nodes(self, nodes, manifest, path):
        """Checks the nodes and returns them as id -> (index, node)."""
        known, previous = {}, ""
        for index, node in enumerate(nodes):
            at = f"{path}/{index}"
            self.members(at, node, NODE)
            identifier = node["artifact_id"]
            self.id("art", f"{at}/artifact_id", identifier, "art_" + self.canonical.digest({"sha256": node["sha256"]}))
            if not previous < identifier:
                self.wrong(f"{at}/artifact_id", "repeats or is out of code-point order")
            previous = identifier
            known[identifier] = (index, node)
            self.same(f"{at}/limitations", node["limitations"], [])
        root = known.get(manifest["root_artifact_id"])
        if root is None:
            self.wrong(f"{path}", "has no node for the root artifact")
        else:
            self.same(f"{path}/{root[0]}/sha256", root[1]["sha256"], manifest["root_sha256"])
            self.same(f"{path}/{root[0]}/content_state", root[1]["content_state"], "materialized")
        return known

    def edges(self, edges, graph, provenance, path):
        """One edge for each occurrence below the root that has an artifact."""
        previous, seen = "", set()
        producer_of_slices = provenance[0] if provenance else None
        for index, edge in enumerate(edges):
            at = f"{path}/{index}"
            self.members(at, edge, EDGE)
            identifier = edge["edge_id"]
            self.same(f"{at}/ordinal", edge["ordinal"], index)
            if not previous < identifier:
                self.wrong(f"{at}/edge_id", "repeats or is out of code-point order")
            previous = identifier
            occurrence = graph.by_id.get(edge["occurrence_id"])
            if occurrence is None:
                self.wrong(f"{at}/occurrence_id", "names no occurrence")
                continue
            if edge["occurrence_id"] in seen:
                self.wrong(f"{at}/occurrence_id", "has an edge already")
            seen.add(edge["occurrence_id"])
            logical = occurrence["logical_path"]
            recipe = {
                "parent_artifact_id": edge["parent_artifact_id"],
                "child_artifact_id": occurrence["artifact_id"],
                "relation": edge["relation"],
                "occurrence_id": edge["occurrence_id"],
                "logical_path": logical,
            }
            self.id("edge", f"{at}/edge_id", identifier, "edge_" + self.canonical.digest(recipe))
            self.same(f"{at}/parent_artifact_id", edge["parent_artifact_id"], graph.edge_parent(occurrence))
            is_slice = occurrence["entry_kind"] == "slice"
            if is_slice:
                relation = "slice-of"
            elif logical.endswith(".map"):
                relation = "maps-source"
            elif ".framework/" in logical:
                relation = "embeds"
            else:
                relation = "contains"
            self.same(f"{at}/relation", edge["relation"], relation)
            self.same(f"{at}/producer", edge["producer"], producer_of_slices if is_slice else None)
        for identifier, occurrence in graph.by_id.items():
            expected = occurrence["logical_path"] != "." and occurrence["artifact_id"] is not None
            if expected and identifier not in seen:
                self.wrong(path, f"has no edge for {_short(occurrence['logical_path'])}")
            elif not expected and identifier in seen:
                self.wrong(path, f"has an edge for {_short(occurrence['logical_path'])}")

    def contradictions(self, contradictions, graph, path):
        seen = set()
        for index, item in enumerate(contradictions):
            at = f"{path}/{index}"
            self.members(at, item, CONTRADICTION)
            recipe = {
                "root_artifact_id": graph.root_artifact,
                "logical_path": item["logical_path"],
                "declared_sha256": item["declared_sha256"],
                "observed_sha256": item["observed_sha256"],
            }
            identifier = item["contradiction_id"]
            self.id("ic", f"{at}/contradiction_id", identifier, "ic_" + self.canonical.digest(recipe))
            if identifier in seen:
                self.wrong(f"{at}/contradiction_id", "repeats")
            seen.add(identifier)
            occurrence = graph.by_id.get(item["occurrence_id"])
            if occurrence is None:
                self.wrong(f"{at}/occurrence_id", "names no occurrence")
                continue
            self.same(f"{at}/logical_path", item["logical_path"], occurrence["logical_path"])
            self.same(f"{at}/entry_kind", item["entry_kind"], occurrence["entry_kind"])
            self.same(f"{at}/parent_artifact_id", item["parent_artifact_id"], graph.parent_artifact(occurrence))
            if occurrence["hash_status"] != "mismatched":
                self.wrong(f"{at}/occurrence_id", "names an occurrence that is not mismatched")
            node = graph.nodes.get(occurrence["artifact_id"])
            if node is not None:
                self.same(f"{at}/observed_sha256", item["observed_sha256"], node[1]["sha256"])


class Graph:
    """The occurrences of one inventory with the relations that their paths imply."""

    def __init__(self, checker, occurrences, nodes, manifest, path):
        self.checker, self.rows, self.nodes, self.path = checker, occurrences, nodes, path
        self.root_artifact, self.manifest = manifest["root_artifact_id"], manifest
        self.by_path, self.by_id = {}, {}
        for index, occurrence in enumerate(occurrences):
            checker.members(f"{path}/{index}", occurrence, OCCURRENCE, OCCURRENCE_EXTRA)
            self.by_path[occurrence["logical_path"]] = occurrence
            self.by_id[occurrence["occurrence_id"]] = occurrence
        self.root = self.by_path.get(".")
        if self.root is None:
            raise Refused(f"{path}: no occurrence with the path '.'")
        self.parents = {}  # path -> the parent occurrence

    def nearest(self, logical):
        """The parent rule: the nearest path above that is an occurrence, else the root.

        A file has paths below it only when it was expanded, so every occurrence that is found
        above another one is a directory or an expanded container.
        """
        known = self.by_path
        cut = logical.rfind("/")
        while cut > 0:
            found = known.get(logical[:cut])
            if found is not None:
                return found
            cut = logical.rfind("/", 0, cut)
        return self.root

    def parent_artifact(self, occurrence):
        parent = self.parents.get(occurrence["logical_path"]) or self.root
        return parent["artifact_id"] or self.root_artifact

    def edge_parent(self, occurrence):
        logical = occurrence["logical_path"]
        if logical.endswith(".map"):
            source = self.by_path.get(logical[: -len(".map")])
            if source is not None and source["artifact_id"] is not None and source is not self.root:
                return source["artifact_id"]
        return self.parent_artifact(occurrence)

    def check_rows(self):
        checker, path, previous = self.checker, self.path, ""
        if len(self.by_id) != len(self.rows):
            checker.wrong(path, "repeats an occurrence_id")
        used = set()
        for index, occurrence in enumerate(self.rows):
            at, logical = f"{path}/{index}", occurrence["logical_path"]
            if not previous < logical:
                checker.wrong(f"{at}/logical_path", "repeats or is out of code-point order")
            previous = logical
            if occurrence is self.root:
                recipe = {"root": self.root_artifact}
            else:
                recipe = {
                    "root_artifact_id": self.root_artifact,
                    "logical_path": logical,
                    "entry_kind": occurrence["entry_kind"],
                }
            expected = "occ_" + checker.canonical.digest(recipe)
            checker.id("occ", f"{at}/occurrence_id", occurrence["occurrence_id"], expected)
            artifact = occurrence["artifact_id"]
            if artifact is not None:
                used.add(artifact)
                if artifact not in self.nodes:
                    checker.wrong(f"{at}/artifact_id", "names no node")
            read = occurrence["hash_status"] in ("verified", "mismatched")
            if read != (artifact is not None):
                checker.wrong(f"{at}/hash_status", f"is {occurrence['hash_status']} with artifact {_short(artifact)}")
            if occurrence is self.root:
                checker.same(f"{at}/parent_occurrence_id", occurrence["parent_occurrence_id"], None)
                checker.same(f"{at}/artifact_id", artifact, self.root_artifact)
                checker.same(f"{at}/artifact_format", occurrence["artifact_format"], self.manifest["root_format"])
                continue
            parent = self.nearest(logical)
            self.parents[logical] = parent
            checker.same(f"{at}/parent_occurrence_id", occurrence["parent_occurrence_id"], parent["occurrence_id"])
            if parent["entry_kind"] == "symlink" or parent["artifact_id"] is None:
                checker.wrong(f"{at}/logical_path", f"lies below {_short(parent['logical_path'])}, which was not read")
        for identifier, (index, _) in self.nodes.items():
            if identifier not in used:
                checker.wrong(f"{path}", f"has no occurrence of the node {index}")

    def check_directories(self, path):
        """Digests of directory nodes and of a directory root."""
        checker = self.checker
        children, own = {}, []
        inside = {}  # path -> whether it lies in an expanded container below the root
        for occurrence in sorted(self.rows, key=_by_path):
            logical = occurrence["logical_path"]
            if occurrence is self.root:
                continue
            parent = self.parents[logical]
            if parent is self.root:
                inside[logical] = False
            else:
                inside[logical] = parent["entry_kind"] != "directory" or inside.get(parent["logical_path"], False)
                if parent["entry_kind"] == "directory":
                    children.setdefault(parent["logical_path"], []).append(occurrence)
            if not inside[logical]:
                own.append({"logical_path": logical, "artifact_id": occurrence["artifact_id"]})
        for occurrence in self.rows:
            if occurrence["entry_kind"] != "directory":
                continue
            logical = occurrence["logical_path"]
            node = self.nodes.get(occurrence["artifact_id"])
            if occurrence is self.root:
                recipe = {"kind": "directory-root", "children": own}
                if node is not None:
                    checker.same(f"{path}/{node[0]}/size", node[1]["size"], 0)
                checker.id("dir-root", f"{path}/{node[0]}/sha256" if node else path,
                           node and node[1]["sha256"], checker.canonical.digest_document(recipe))  # fmt: skip
                continue
            if node is None:
                continue  # unreadable; its missing node is no digest to check
            entries = [
                {
                    "name": child["logical_path"][len(logical) + 1 :],
                    "artifact_id": child["artifact_id"],
                    "entry_kind": child["entry_kind"],
                }
                for child in children.get(logical, [])
            ]
            recipe = {"kind": "directory", "children": entries}
            at = f"{path}/{node[0]}"
            checker.id("dir", f"{at}/sha256", node[1]["sha256"], checker.canonical.digest_document(recipe))
            if node[1]["artifact_id"] != self.root_artifact:
                checker.same(f"{at}/format", node[1]["format"], "directory")
                checker.same(f"{at}/size", node[1]["size"], 0)
                checker.same(f"{at}/content_state", node[1]["content_state"], "virtual")

    def check_links(self):
        """The node of a symbolic link is its target text; an escaped text is tried both ways."""
        checker = self.checker
        for index, occurrence in enumerate(self.rows):
            target, node = occurrence.get("link_target"), self.nodes.get(occurrence["artifact_id"])
            if target is None or node is None or occurrence["hash_status"] != "verified":
                continue
            checker.counts["link"] += 1
            digests = {hashlib.sha256(text).hexdigest() for text in (_bytes(target), _unescaped(target))}
            if node[1]["sha256"] not in digests:
                checker.wrong(f"{self.path}/{index}/link_target", "does not hash to the node of the link")


def _bytes(text):
    return text.encode("utf-8", "surrogatepass")


def _unescaped(text):
    parts = _PERCENT.split(text)  # text and hex digits take turns
    return b"".join(bytes.fromhex(part) if place % 2 else _bytes(part) for place, part in enumerate(parts))


def _by_path(occurrence):
    return occurrence["logical_path"]


def _pointer(name):
    return name.replace("~", "~0").replace("/", "~1")


def _short(value):
    text = value if isinstance(value, str) else json.dumps(value)
    text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= 100 else f"{text[:97]}..."


# --------------------------------------------------------------------------------------------------
# Faults planted on purpose


def check(record):
    """A checker that has been over the record; shapes that stop it count as a mismatch."""
    checker = Checker()
    try:
        checker.record(record)
    except Refused as refusal:
        checker.wrong("", f"stops the check: {refusal}")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        checker.wrong("", f"stops the check, not shaped like the contract: {error!r}")
    return checker


def _flip(text):
    """The id with its last hex digit changed."""
    return text[:-1] + format(int(text[-1], 16) ^ 1, "x")


def faults(record):
    """Single faults as (what it is, pointer at which it must be found, object, name, new value)."""

    def flip(label, path, holder, name, found_at=None):
        return (label, f"{path}/{name}" if found_at is None else found_at, holder, name, _flip(holder[name]))

    def put(label, path, holder, name, value, found_at=None):
        return (label, f"{path}/{name}" if found_at is None else found_at, holder, name, value)

    inner, at = record, ""
    yield flip("ev_", "", record, "evidence_id")
    if record["operation"] in ("compare_artifacts", "diff_artifacts"):
        result, at = record["normalized_result"], "/normalized_result"
        if record["operation"] == "diff_artifacts":
            substep = result["substeps"][0]
            yield flip("ais_", f"{at}/substeps/0", substep, "substep_id")
            yield flip("ev_ of the substep", f"{at}/substeps/0", substep, "evidence_id")
            result, at = substep["evidence"]["normalized_result"], f"{at}/substeps/0/evidence/normalized_result"
        added = result["summary"]["added"]
        yield put("one more added", "", result["summary"], "added", added + 1, f"{at}/summary/added")
        if len(result["changes"]) > 1:
            yield put("other order", at, result, "changes", result["changes"][::-1])
        return
    yield flip("subject digest", "/subject", record["subject"]["digest"], "sha256", "/subject/digest")
    if record["operation"] == "inspect_artifact":
        result = record["normalized_result"]
        substep = result["substeps"][0]
        yield flip("ai_", "/normalized_result", result, "inspection_id")
        yield flip("ais_", "/normalized_result/substeps/0", substep, "substep_id")
        yield flip("ev_ of the substep", "/normalized_result/substeps/0", substep, "evidence_id")
        for name, prefix in ITEMS.items():
            if result[name]:
                item = result[name][-1]
                key = next(k for k, v in item.items() if isinstance(v, str) and v.startswith(prefix))
                yield flip(prefix, f"/normalized_result/{name}/{len(result[name]) - 1}", item, key)
        inner, at = substep["evidence"], "/normalized_result/substeps/0/evidence"
        yield flip("ev_ nested", at, inner, "evidence_id")
        yield flip("nested subject digest", at, inner["subject"]["digest"], "sha256", f"{at}/subject/digest")
    yield put("a location less", at, inner, "locations", inner["locations"][1:])

    graph, at = inner["normalized_result"], f"{at}/normalized_result"
    manifest = graph["manifest"]
    for name in ("manifest_id", "graph_sha256", "root_artifact_id"):
        yield flip(f"manifest {name}", f"{at}/manifest", manifest, name)
    yield flip("manifest root_sha256", "", manifest, "root_sha256", f"{at}/manifest/root_artifact_id")
    for name in ("node_count", "occurrence_count", "edge_count"):
        yield put(f"manifest {name}", f"{at}/manifest", manifest, name, manifest[name] + 1)

    for index in sorted({0, len(graph["nodes"]) - 1}):
        path, node = f"{at}/nodes/{index}", graph["nodes"][index]
        yield flip("art_", path, node, "artifact_id")
        yield flip("node sha256", path, node, "sha256", f"{path}/artifact_id")
        yield put("node size", path, node, "size", node["size"] + 1, f"{at}/manifest/graph_sha256")
    for index, node in enumerate(graph["nodes"]):
        if node["format"] == "directory" and node["artifact_id"] != manifest["root_artifact_id"]:
            yield flip("directory sha256", "", node, "sha256", f"{at}/nodes/{index}/sha256")
            break
    for index in sorted({0, len(graph["occurrences"]) - 1}):
        path, occurrence = f"{at}/occurrences/{index}", graph["occurrences"][index]
        yield flip("occ_", path, occurrence, "occurrence_id")
        if occurrence["artifact_id"] is not None:
            yield flip("art_ of an occurrence", path, occurrence, "artifact_id")
        if occurrence["parent_occurrence_id"] is not None:
            yield flip("occ_ of a parent", path, occurrence, "parent_occurrence_id")
        turned = not occurrence["executable"]
        yield put("executable", path, occurrence, "executable", turned, f"{at}/manifest/graph_sha256")
    for index in sorted({0, len(graph["edges"]) - 1}) if graph["edges"] else ():
        path, edge = f"{at}/edges/{index}", graph["edges"][index]
        yield flip("edge_", path, edge, "edge_id")
        yield flip("edge parent", path, edge, "parent_artifact_id")
        yield flip("edge occurrence", path, edge, "occurrence_id")
        yield put("edge ordinal", path, edge, "ordinal", index + 1)
    if graph["integrity_contradictions"]:
        path, item = f"{at}/integrity_contradictions/0", graph["integrity_contradictions"][0]
        yield flip("ic_", path, item, "contradiction_id")
        yield flip("declared sha256", path, item, "declared_sha256", f"{path}/contradiction_id")
    for name, identifier in (("nodes", "artifact_id"), ("occurrences", "logical_path"), ("edges", "edge_id")):
        rows = graph[name]
        if len(rows) > 2:  # the last two change places
            swapped = rows[:-2] + [rows[-1], rows[-2]]
            yield put(f"order of {name}", at, graph, name, swapped, f"{at}/{name}/{len(rows) - 1}/{identifier}")


def selftest(record):
    """Plants each fault alone; returns (planted, the labels of those that were not found)."""
    planted, missed, labels = 0, [], set()
    for label, pointer, holder, name, value in faults(record):
        kept, holder[name] = holder[name], value
        found = any(path == pointer for path, _ in check(record).mismatches)
        holder[name] = kept
        planted += 1
        labels.add(label)
        if not found:
            missed.append(f"{label}: expected a mismatch at {pointer}")
    absent = [p for p in ("ev_", "ai_", "ais_", *ITEMS.values(), "art_", "occ_", "edge_", "ic_") if p not in labels]
    return planted, missed, absent


# --------------------------------------------------------------------------------------------------


def _read(name):
    if name == "-":
        return sys.stdin.buffer.read()
    with open(name, "rb") as file:
        return file.read()


def _verify_file(name, records):
    counts, wrong = Counter(), []
    for place, record in enumerate(records):
        checker = check(record)
        counts += checker.counts
        where = f"#{place}" if len(records) > 1 else ""
        wrong += [f"{name}{where}: {path or '/'} {sentence}" for path, sentence in checker.mismatches]
    kinds = " ".join(f"{kind}={count}" for kind, count in sorted(counts.items()))
    print(f"{name}: {len(records)} records, {counts.total()} ids, {len(wrong)} mismatches: {kinds or 'none'}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return not wrong and counts.total() > 0


def _selftest_file(name, records):
    good = bool(records)
    for place, record in enumerate(records):
        where = f"{name}#{place}" if len(records) > 1 else name
        before = check(record).mismatches
        if before:
            print(f"{where}: has mismatches before any fault is planted: {before[0]}")
            good = False
            continue
        planted, missed, absent = selftest(record)
        note = f", not in this record: {' '.join(absent)}" if absent else ""
        print(f"{where}: {planted} faults planted, {planted - len(missed)} found{note}")
        print(*missed, sep="\n", end="\n" if missed else "")
        good = good and planted > 0 and not missed
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--selftest", action="store_true", help="plant faults in each record and look for them")
    parser.add_argument("records", nargs="+", metavar="RECORD.json", help="a file of records, or - for standard input")
    arguments = parser.parse_args()
    sys.setrecursionlimit(20_000)
    good = True
    for name in arguments.records:
        try:
            records = read_values(_read(name))
        except (OSError, Refused) as error:
            print(f"{name}: {error}")
            good = False
            continue
        action = _selftest_file if arguments.selftest else _verify_file
        good = action(name, records) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
