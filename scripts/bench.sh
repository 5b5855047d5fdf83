#!/usr/bin/env bash
# Measures `rea` against the physical limit (benches/limit.rs) and against everyday tools, and prints
# a Markdown table for docs/performance.md.
#
#   scripts/corpus.sh && scripts/corpus.sh --bench   fetch the inputs, once
#   scripts/bench.sh [RUNS]                          build and measure (default: 7 pairs a row)
#   REA=PATH LIMIT=PATH WASM=PATH scripts/bench.sh   measure these programs, build nothing
#   scripts/bench.sh RUNS binaries                   the rows of binaries only
#   scripts/bench.sh RUNS captures                   the rows of recorded traffic only
#
# Each row runs its two commands in turns (A B A B ...) with the page cache warm and reports the
# medians of both times and of the ratios of the pairs, so that a slow minute of the machine hits
# both sides. Measure on a machine that does nothing else: the load is printed above the table.
# Exit 1 when a row misses its target (the limit itself is no limit when it loses to openssl), and
# when a command fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# The executable that cargo reports for the target $1.
built() {
  python3 -c '
import json, sys
messages = (json.loads(line) for line in sys.stdin if line.startswith("{"))
print([m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == sys.argv[1]][-1])
' "$1"
}

if [[ -z ${REA-} ]]; then
  REA=$(cargo build --release --bin rea --message-format=json | built rea)
fi
if [[ -z ${LIMIT-} ]]; then
  LIMIT=$(cargo bench --no-run --bench limit --message-format=json | built limit)
fi
if [[ -z ${WASM-} ]]; then
  WASM=$(cargo bench --no-run --bench wasm --message-format=json | built wasm)
fi
export REA LIMIT WASM
export INPUTS=${REA_BENCH:-$HOME/.cache/rea-bench} CORPUS=${REA_CORPUS:-$HOME/.cache/rea-corpus}

exec python3 - "${1:-7}" "${2:-}" <<'EOF_PYTHON'
import json, os, re, shlex, statistics, subprocess, sys, tempfile, time, zipfile
from pathlib import Path

RUNS = int(sys.argv[1])
ONLY = sys.argv[2]
STARTS = 50  # runs of a program that is over at once
REA, LIMIT, WASM = os.environ["REA"], os.environ["LIMIT"], os.environ["WASM"]
INPUTS, CORPUS = Path(os.environ["INPUTS"]), Path(os.environ["CORPUS"])

# Largest ratio (or milliseconds) that a row is meant to reach; rows without one only inform.
TARGETS = {
    "limit, one openssl a file": 0.25,
    "limit, openssl in batches": 1.0,
    "folder": 1.15,
    "wheel": 1.3,
    "apk": 1.3,
    "wheel unzip": 0.4,
    "apk unzip": 0.4,
    "deb": 1.1,
    "tgz": 1.1,
    "start": 3.0,
    "small": 8.0,
    "diff": 0.5,
    "compare": 1000.0,
    "elf": 1.0,
    "elf llvm": 1.0,
    "pe": 1.0,
    "mach-o": 1.0,
    "wasm": 1.0,
    "wasm large": 1.0,
    "wasm validate": 2.0,
    "wasm large memory": 0.1,
    "har": 1.0,
}
# What a core must do of a capture, in bytes a second, and its memory against the file.
HAR_RATE, HAR_MEMORY = 100e6, 4.0


def fail(message):
    sys.exit(f"bench.sh: {message}")


def largest(folder, pattern):
    found = sorted(folder.rglob(pattern), key=lambda path: path.stat().st_size)
    return str(found[-1]) if found else fail(f"no {pattern} in {folder}; scripts/corpus.sh fetches it")


NOWHERE = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]


def seconds(command):
    """Wall time of one run, from the spawn until its end was seen."""
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=NOWHERE)
    _, status = os.waitpid(child, 0)
    elapsed = time.perf_counter() - start
    if status != 0:
        fail(f"{shlex.join(command)} ends with status {os.waitstatus_to_exitcode(status)}")
    return elapsed


def processor(command):
    """Processor time of one run in seconds and its largest resident set in bytes."""
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=NOWHERE)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        fail(f"{shlex.join(command)} ends with status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def turns(runs, *commands):
    """The times of each command, which run in turns after one run each to warm up."""
    for command in commands:
        seconds(command)
    rounds = [[seconds(command) for command in commands] for _ in range(runs)]
    return list(zip(*rounds))


def row(what, ours, peer, ratio, unit, target):
    aim = "" if target is None else f"≤ {target:g}{unit}"
    print(f"| {what} | {ours} | {peer} | {ratio:.2f}{unit} | {aim} |", flush=True)


missed = []


def pair(label, what, ours, peer, runs=RUNS):
    left, right = turns(runs, ours, peer)
    ratio = statistics.median(a / b for a, b in zip(left, right))
    target = TARGETS.get(label)
    row(what, f"{statistics.median(left):.3f} s", f"{statistics.median(right):.3f} s", ratio, "", target)
    if target is not None and ratio > target:
        kind = "no limit" if label.startswith("limit") else "too slow"
        missed.append(f"{kind}: {label} is {ratio:.2f}, more than {target:g}")


def costs(label, what, ours, peer, runs=RUNS):
    """Wall time as `pair`, then what a busy machine does not change: processor time and peak memory."""
    pair(label, what, ours, peer, runs)
    rounds = [(processor(ours), processor(peer)) for _ in range(runs)]
    ratio = statistics.median(left[0] / right[0] for left, right in rounds)
    left, right = (statistics.median(one[side][0] for one in rounds) for side in (0, 1))
    row(f"{what}, processor time", f"{left:.3f} s", f"{right:.3f} s", ratio, "", None)
    left, right = (max(one[side][1] for one in rounds) for side in (0, 1))
    target = TARGETS.get(f"{label} memory")
    row(f"{what}, peak memory", f"{left / 1e6:.0f} MB", f"{right / 1e6:.0f} MB", left / right, "", target)
    if target is not None and left / right > target:
        missed.append(f"too large: {label} has {left / right:.2f} of its peer's memory, more than {target:g}")


def start_up(label, what, command):
    left, right = turns(STARTS, command, ["/bin/true"])
    ours, peer = (statistics.median(times) * 1000 for times in (left, right))
    more, target = ours - peer, TARGETS[label]
    row(what, f"{ours:.2f} ms", f"{peer:.2f} ms", more, " ms more", target)
    if more > target:
        missed.append(f"too slow: {label} takes {more:.2f} ms more, not {target:g}")


def alone(label, what, command, runs=RUNS):
    """A command that has no peer, in milliseconds."""
    (times,) = turns(runs, command)
    milliseconds = statistics.median(times) * 1000
    target = TARGETS.get(label)
    row(what, f"{milliseconds:.0f} ms", "", milliseconds, " ms", target)
    if target is not None and milliseconds > target and label in MUST:
        missed.append(f"{label} takes {milliseconds:.0f} ms, more than {target:g}")


def many_entries(scratch, name, changed):
    """The Evidence of an archive of 100,000 entries, of which every `changed`th has its own content."""
    archive, record = os.path.join(scratch, f"{name}.zip"), os.path.join(scratch, f"{name}.json")
    with zipfile.ZipFile(archive, "w") as file:
        for at in range(100_000):
            text = f"{name if at % changed == 0 else 'both'} {at}\n"
            file.writestr(f"folder-{at % 1000}/sub/file-{at}.txt", text)
    subprocess.run([REA, "inventory-artifact", archive, "-q", "-o", record], check=True)
    return record


def openssl(folder, batch):
    """Every file below a folder through `openssl sha256`, two processes at a time."""
    line = f"find {shlex.quote(folder)} -type f -print0 | xargs -0 -P2 -n{batch} openssl sha256"
    return ["bash", "-o", "pipefail", "-c", line]


def binaries():
    """Complete records of binaries."""
    elf, pe = str(CORPUS / "elf-new/package/bin/esbuild"), largest(Path(folder), "*.dll")
    macho, wasm = largest(CORPUS / "mach-o-universal", "*.node"), largest(CORPUS / "wasm-new", "*.wasm")
    layout = [REA, "inspect-binary-layout"]
    hashed = f"sha256sum {shlex.quote(elf)}" + f" && readelf -aW {shlex.quote(elf)}" * 3
    pair("elf", "elf (esbuild, 10 MB) / `sha256sum` and 3 times `readelf -aW`", [*layout, elf], ["bash", "-c", hashed])
    readobj = ["llvm-readobj", "--all"]
    costs("elf llvm", "elf (esbuild, 10 MB) / `llvm-readobj --all`", [*layout, elf], [*readobj, elf])
    pair("pe", f"pe ({Path(pe).name}) / `llvm-readobj --all`", [*layout, pe], [*readobj, pe])
    pair("mach-o", f"mach-o ({Path(macho).name}) / `llvm-readobj --all`", [*layout, macho], [*readobj, macho])
    for label, name in ("pe", "polars.pyd"), ("mach-o", "node"):
        large = largest(INPUTS / label, name)
        size = f"{os.path.getsize(large) / 1e6:.0f} MB"
        costs(label, f"{label} ({name}, {size}) / `llvm-readobj --all`", [*layout, large], [*readobj, large], min(RUNS, 3))
    pair("wasm", f"wasm ({Path(wasm).name}), with text / `wasm2wat`", [REA, "inspect-wasm-artifact", wasm], ["wasm2wat", wasm])
    large = largest(INPUTS / "wasm", "*.wasm")
    name = f"wasm ({Path(large).name}, {os.path.getsize(large) / 1e6:.0f} MB)"
    text = [REA, "inspect-wasm-artifact", "--wat", "--max-wat-bytes", str(1 << 30), large]
    costs("wasm large", f"{name}, with text / `wasm2wat`", text, ["wasm2wat", "--enable-all", large], min(RUNS, 3))
    # `wasm-tools validate` is wasmparser's validator, functions on all cores; so is the peer in benches/wasm.rs.
    done = subprocess.run([WASM, large, "--rounds", str(RUNS)], check=True, capture_output=True, text=True).stdout
    floor, ours, ratio = (float(word) for word in re.findall(r"[0-9.]+", done))
    row(f"{name}, without text / validation by wasmparser", f"{ours:.3f} s", f"{floor:.3f} s", ratio, "", TARGETS["wasm validate"])
    if ratio > TARGETS["wasm validate"]:
        missed.append(f"too slow: wasm validate is {ratio:.2f}, more than {TARGETS['wasm validate']:g}")


def captures(scratch):
    """A recording of 30 MB: the small one of the tests with longer bodies, many times."""
    capture = json.loads(Path("tests/golden/web-capture/in/session.har").read_text())
    rows = [{"id": at, "name": f"user {at}", "tags": ["a", "b"], "text": "some words that say little " * 4} for at in range(60)]
    body, entries, size = json.dumps(rows), [], 0
    while size < 30e6:
        entry = json.loads(json.dumps(capture["log"]["entries"][len(entries) % len(capture["log"]["entries"])]))
        entry["request"]["url"] = f"https://api.example/users/{len(entries)}?page={len(entries)}"
        entry["response"]["content"] = {"size": len(body), "mimeType": "application/json", "text": body}
        entries.append(entry)
        size += len(json.dumps(entry))
    capture["log"]["entries"] = entries
    path = os.path.join(scratch, "large.har")
    with open(path, "w") as file:
        json.dump(capture, file)
    size, ours = os.path.getsize(path), [REA, "inspect-web-network-capture", path, "har"]
    pair("har", f"har ({size / 1e6:.0f} MB) / `jq -c .`", ours, ["jq", "-c", ".", path])
    rounds = [processor(ours) for _ in range(RUNS)]
    rate = size / statistics.median(one[0] for one in rounds)
    memory = max(one[1] for one in rounds) / size
    print(f"| the same, bytes a second of processor time | {rate / 1e6:.0f} MB/s | | | ≥ {HAR_RATE / 1e6:.0f} MB/s |")
    row("the same, peak memory / the file", f"{memory * size / 1e6:.0f} MB", f"{size / 1e6:.0f} MB", memory, "", HAR_MEMORY)
    if rate < HAR_RATE:
        missed.append(f"too slow: har has {rate / 1e6:.0f} MB/s, less than {HAR_RATE / 1e6:.0f}")
    if memory > HAR_MEMORY:
        missed.append(f"too large: har has {memory:.2f} times the file, more than {HAR_MEMORY:g}")


folder = str(INPUTS / "libwine")
if not os.path.isdir(folder):
    fail(f"no folder {folder}; scripts/corpus.sh --bench fetches it")
wheel, apk = largest(INPUTS, "scipy-*.whl"), largest(CORPUS / "apk-new", "*.apk")

model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown")
load = " ".join(f"{value:.1f}" for value in os.getloadavg())
print(f"{model}, {len(os.sched_getaffinity(0))} cores, load before {load}; {RUNS} pairs a row, {STARTS} for start-up")
for line in (LIMIT, "folder", folder), (LIMIT, "zip", wheel), (LIMIT, "zip", apk):
    print(f"- {Path(line[2]).name}: {subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()}")
print()
print("| what | ours | peer | ratio | target |")
print("|---|---:|---:|---:|---:|", flush=True)

if ONLY == "binaries":
    binaries()
elif ONLY == "captures":
    with tempfile.TemporaryDirectory() as scratch:
        captures(scratch)
else:
    # The limit itself first: what follows means nothing when a shell line comes close to it.
    limit = [LIMIT, "folder", folder]
    shell = "`limit folder` / `xargs -P2 -n{} openssl sha256`"
    pair("limit, one openssl a file", shell.format(1), limit, openssl(folder, 1), min(RUNS, 3))
    pair("limit, openssl in batches", shell.format(32), limit, openssl(folder, 32))

    inventory = [REA, "inventory-artifact", "--nested", "none"]
    pair("folder", "folder (libwine) / `limit folder`", [*inventory, folder], limit)
    for label, archive in ("wheel", wheel), ("apk", apk):
        name = f"{label} ({Path(archive).name.split('-')[0]})"
        pair(label, f"{name} / `limit zip`", [*inventory, archive], [LIMIT, "zip", archive])
        pair(f"{label} unzip", f"{name} / `unzip -tq`", [*inventory, archive], ["unzip", "-tq", archive])

    # Default nesting: neither holds an archive inside.
    deb, tgz = largest(INPUTS, "libwine_*.deb"), str(INPUTS / "monaco.tgz")
    inventory = [REA, "inventory-artifact"]
    pair("deb", "deb (libwine) / `dpkg-deb --fsys-tarfile`", [*inventory, deb], ["dpkg-deb", "--fsys-tarfile", deb], min(RUNS, 5))
    pair("tgz", "tgz (monaco-editor) / `bsdtar -xO`", [*inventory, tgz], ["bsdtar", "-xOf", tgz])
    old = largest(CORPUS / "apk-old", "*.apk")
    both = ["bash", "-c", f"unzip -tq {shlex.quote(old)} && unzip -tq {shlex.quote(apk)}"]
    pair("diff", "`rea diff` of two APKs (appium) / `unzip -tq` of both", [REA, "diff", old, apk], both)

    binaries()

    start_up("start", "`rea --version` / `/bin/true`", [REA, "--version"])
    with tempfile.TemporaryDirectory() as scratch:
        small = os.path.join(scratch, "small.txt")
        Path(small).write_text("a small file\n")
        start_up("small", "`rea inspect-artifact small.txt` / `/bin/true`", [REA, "inspect-artifact", small])

    with tempfile.TemporaryDirectory() as scratch:
        captures(scratch)
        records = [many_entries(scratch, name, 50) for name in ("old", "new")]
        alone("compare", "`rea compare-artifacts`, 100,000 entries a side", [REA, "compare-artifacts", *records])

for line in missed:
    print(f"bench.sh: {line}", file=sys.stderr)
sys.exit(1 if missed else 0)
EOF_PYTHON
