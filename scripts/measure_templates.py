#!/usr/bin/env python3
"""Measures path templates against published API descriptions.

Each file of tests/data/apis/ holds the routes of a published description and
example ids. Requests are made from them, three to a route, as a HAR file; the
templates that a tool finds in it are compared with the routes:

    precision  how many of the templates found are routes
    recall     how many of the routes are found

Parameters are compared by place, not by name. `rea` is asked twice: with its
usual rules, and with all of them. Peers take part where they are given:

    scripts/measure_templates.py --rea target/debug/rea \\
        --mitmproxy2swagger PATH --node PATH --har-to-openapi node_modules

Ends with status 1 where nothing was compared, or where --plant is given and a
template that is no route goes unnoticed.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ["after-uid-literal", "opaque-token", "sibling-variance"]
VISITS = 3


def read(path):
    """The origin, the routes and the example values of a description."""
    origin, values, routes = None, {}, []
    for line in path.read_text().splitlines():
        if line.startswith("# origin:"):
            origin = line.split(":", 1)[1].strip()
        elif line.startswith("#") or not line.strip():
            continue
        elif re.match(r"[A-Z]+ /", line):
            routes.append(tuple(line.split()))
        else:
            name, examples = line.split(":", 1)
            values[name.strip()] = [one.strip() for one in examples.split(",")]
    return origin, routes, values


def requests(routes, values):
    for method, route in routes:
        seen = set()
        for visit in range(VISITS):
            def value(match):
                examples = values[match.group(1)]
                return examples[visit % len(examples)]

            path = re.sub(r"\{([^}]+)\}", value, route)
            if path not in seen:
                seen.add(path)
                yield method, path


def entry(origin, method, path):
    return {
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "time": 1,
        "request": {
            "method": method, "url": origin + path, "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [{"name": "accept", "value": "application/json"}], "queryString": [],
            "headersSize": -1, "bodySize": 0,
        },
        "response": {
            "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"size": 2, "mimeType": "application/json", "text": "{}"},
            "redirectURL": "", "headersSize": -1, "bodySize": 2,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 1, "receive": 0},
    }


def normal(path):
    return re.sub(r"\{[^}]*\}", "{}", path).rstrip("/") or "/"


def rea(program, har, rules):
    capture = har.with_suffix(".json")
    subprocess.run([program, "inspect-web-network-capture", har, "har", "-q", "-o", capture,
                    "--overwrite"], check=True)
    command = [program, "view", capture, "--api-surface", "--limit", "1000000", "--json"]
    command += [f"--template-rule={rule}" for rule in rules]
    view = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    items = view["normalized_result"]["items"]
    return {(item["method"], normal(item["path_template"])) for item in items}


def of_openapi(document):
    found = set()
    for path, operations in document.get("paths", {}).items():
        for method in operations:
            if method in ("get", "put", "post", "delete", "patch", "head", "options"):
                found.add((method.upper(), normal(path)))
    return found


def mitmproxy2swagger(program, har, origin):
    """Both of its passes, all of its suggestions taken."""
    out = har.with_suffix(".yml")
    out.unlink(missing_ok=True)
    command = [program, "-i", har, "-o", out, "-p", origin, "-f", "har", "-s"]
    subprocess.run(command, check=True, capture_output=True)
    out.write_text(out.read_text().replace("ignore:", ""))
    subprocess.run(command, check=True, capture_output=True)
    import yaml  # PyYAML, in the Python that runs this
    return of_openapi(yaml.safe_load(out.read_text()))


SCRIPT = """
const { generateSpec } = require("har-to-openapi");
const har = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
generateSpec(har, { attemptToParameterizeUrl: true, forceAllRequestsInSameSpec: true })
  .then((made) => process.stdout.write(JSON.stringify(made.spec)));
"""


def har_to_openapi(node, modules, har):
    environment = {"NODE_PATH": str(pathlib.Path(modules).resolve())}
    ran = subprocess.run([node, "-e", SCRIPT, har], check=True, capture_output=True,
                         env=environment)
    return of_openapi(json.loads(ran.stdout))


def score(found, truth):
    right = len(found & truth)
    precision = right / len(found) if found else 0.0
    return precision, right / len(truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rea", default="target/release/rea")
    parser.add_argument("--mitmproxy2swagger")
    parser.add_argument("--node")
    parser.add_argument("--har-to-openapi", help="the folder node_modules that holds it")
    parser.add_argument("--wrong", action="store_true", help="list what is not right")
    parser.add_argument("--plant", action="store_true", help="add a lie, which must be noticed")
    options = parser.parse_args()

    apis = sorted((ROOT / "tests/data/apis").glob("*.txt"))
    totals, compared = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for api in apis:
            origin, routes, values = read(api)
            truth = {(method, normal(route)) for method, route in routes}
            entries = [entry(origin, *request) for request in requests(routes, values)]
            har = pathlib.Path(folder) / f"{api.stem}.har"
            log = {"version": "1.2", "creator": {"name": "measure", "version": "1"},
                   "entries": entries}
            har.write_text(json.dumps({"log": log}))
            tools = {
                "rea": rea(options.rea, har, []),
                "rea, all rules": rea(options.rea, har, RULES),
            }
            if options.mitmproxy2swagger:
                tools["mitmproxy2swagger"] = mitmproxy2swagger(
                    options.mitmproxy2swagger, har, origin)
            if options.node and options.har_to_openapi:
                tools["har-to-openapi"] = har_to_openapi(
                    options.node, options.har_to_openapi, har)
            if options.plant:
                before = score(tools["rea"], truth)
                tools["rea"].add(("GET", "/planted/{}"))
                if score(tools["rea"], truth) == before:
                    print(f"{api.stem}: a planted template went unnoticed")
                    return 1
            compared += len(truth)
            print(f"{api.stem}: {len(truth)} routes, {len(entries)} requests")
            for tool, found in tools.items():
                precision, recall = score(found, truth)
                totals.setdefault(tool, []).append((precision, recall))
                print(f"  {tool:20} precision {precision:5.3f}  recall {recall:5.3f}")
                if options.wrong and tool == "rea, all rules":
                    for method, path in sorted(found - truth):
                        print(f"    no route   {method} {path}")
                    for method, path in sorted(truth - found):
                        print(f"    not found  {method} {path}")
    print(f"mean of {len(apis)} APIs, {compared} routes")
    for tool, scores in totals.items():
        precision = sum(one for one, _ in scores) / len(scores)
        recall = sum(one for _, one in scores) / len(scores)
        print(f"  {tool:20} precision {precision:5.3f}  recall {recall:5.3f}")
    if not compared:
        print("nothing was compared")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
