#!/usr/bin/env python3
"""Asks a public validator of OpenAPI about what `rea view --api-surface --openapi` exports.

    scripts/truth_openapi.py [--rea PROGRAM] [--packages FOLDER] [--plant] [HAR...]

Without HAR: the recordings in tests/data and in the golden cases. The validator is the
package openapi-spec-validator (PyPI), which is fetched into FOLDER where Python has none.
Beside that, the document must name every operation of the surface, with its statuses.
--plant breaks copies of the documents; each fault must be noticed.

Exit 1 where a document is not valid or lacks an operation, where a planted fault is not
noticed, and where nothing was asked.
"""

import argparse
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from truth_artifacts import find_rea

ROOT = Path(__file__).resolve().parent.parent


def validator(folder):
    sys.path.insert(0, str(folder))
    try:
        from openapi_spec_validator import OpenAPIV31SpecValidator
    except ImportError:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", str(folder), "openapi-spec-validator"], check=True)
        from openapi_spec_validator import OpenAPIV31SpecValidator

    def check(document):
        try:
            return [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
        except Exception as error:  # it falls over some documents, all of them wrong
            return [repr(error)]

    return check


def exported(rea, har, scratch):
    """The document and the rows of the surface; nothing where the capture is refused."""
    capture = scratch / "capture.json"
    capture.unlink(missing_ok=True)
    read = [rea, "inspect-web-network-capture", har, "har", "--quiet", "-o", capture]
    if subprocess.run(read, stderr=subprocess.DEVNULL).returncode != 0:
        return None
    view = [rea, "view", capture, "--api-surface", "--quiet"]
    run = lambda more: json.loads(subprocess.run([*view, *more], check=True, capture_output=True).stdout)
    return run(["--openapi"]), run(["--limit", "500"])["normalized_result"]["items"]


def missing(document, rows):
    """Operations and statuses of the surface that the document does not have."""
    lost = []
    origins = [server["url"] for server in document.get("servers", [])]
    for row in rows:
        # The document is about the origin that answered most.
        if origins and row["origin"] not in origins:
            continue
        records = {one["ordinal"] for one in row["records"]}
        # A request without a reply is recorded with the status 0.
        statuses = {str(one["status"]) for one in row["statuses"] if one["status"]}
        # Templates are named after rules here and after their place there; records tell which is which.
        found = [
            operation
            for item in document["paths"].values()
            for method, operation in item.items()
            if method == row["method"].lower() and records <= set(operation["x-records"])
        ]
        if len(found) != 1 or not statuses <= set(found[0]["responses"]):
            lost.append(f"{row['method']} {row['path_template']}")
    return lost


def lies(document):
    """Copies with one fault each."""
    for change in (
        lambda d: d.pop("info"),
        lambda d: d["info"].pop("version"),
        lambda d: d.update(openapi="3.1"),
        lambda d: d["paths"].update({"no-slash": {}}),
        lambda d: next(iter(d["paths"].values())).update(get={"responses": 1}),
        lambda d: d["paths"].update({"/x/{id}": {"get": {"responses": {"200": {"description": ""}}}}}),
    ):
        lie = copy.deepcopy(document)
        change(lie)
        yield lie


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rea", default=find_rea())
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("har", nargs="*", type=Path)
    options = parser.parse_args()
    captures = options.har or sorted([*ROOT.glob("tests/data/**/*.har"), *ROOT.glob("tests/golden/*/in/*.har")])
    documents = operations = planted = 0
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        check = validator(options.packages or scratch / "packages")
        for har in captures:
            found = exported(options.rea, har, scratch)
            if found is None:
                continue
            document, rows = found
            documents, operations = documents + 1, operations + len(rows)
            faults += [f"{har}: {error}" for error in check(document)]
            faults += [f"{har}: no {lost}" for lost in missing(document, rows)]
            for lie in lies(document) if options.plant else ():
                planted += 1
                if not check(lie):
                    faults.append(f"{har}: a planted fault was not noticed")
    for fault in faults:
        print(fault)
    print(f"{documents} documents of {operations} operations, {planted} planted faults, {len(faults)} wrong")
    sys.exit(1 if faults or not operations else 0)


if __name__ == "__main__":
    main()
