#!/usr/bin/env bash
# Lets clients that others wrote talk to `rea mcp`, and compares what they get
# with the command line; the Python SDK also to `rea environment-serve`:
#
#   scripts/mcp_clients.sh [--rea PROGRAM] [--packages FOLDER] [PART...]
#
# Parts: conformance (the protocol's official suite), typescript and python (the
# official SDKs), inspector (its command line). All of them without any.
#
# Packages come by name from npm and PyPI into FOLDER (a temporary one otherwise;
# one that is there is used again). What cannot be installed is named: that fails
# in CI, and elsewhere the parts that need it are left out, with exit status 75.
set -euo pipefail
cd "$(dirname "$0")/.."

rea=target/debug/rea
packages=
parts=()
while [ "$#" -gt 0 ]; do
  case $1 in
    --rea) rea=$2; shift 2 ;;
    --packages) packages=$2; shift 2 ;;
    conformance | typescript | python | inspector) parts+=("$1"); shift ;;
    *) echo "usage: scripts/mcp_clients.sh [--rea PROGRAM] [--packages FOLDER] [PART...]" >&2; exit 2 ;;
  esac
done
[ "${#parts[@]}" -gt 0 ] || parts=(conformance typescript python inspector)
rea=$(realpath "$rea")

scratch=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
mkdir -p "${packages:=$scratch/packages}"
packages=$(realpath "$packages")

wanted() {
  local part
  for part in "${parts[@]}"; do
    [ "$part" != "$1" ] || return 0
  done
  return 1
}
without=()
left_out=()
# A package that could not be installed, and the parts that need it.
absent() {
  echo "not installed: $1" >&2
  without+=("$1")
  local kept=() part
  for part in "${parts[@]}"; do
    case " $2 " in
      *" $part "*) left_out+=("$part") ;;
      *) kept+=("$part") ;;
    esac
  done
  parts=(${kept[@]+"${kept[@]}"})
}
install_npm() {
  (cd "$packages" && npm install --no-audit --no-fund --no-save --loglevel=error "$@") \
    >"$scratch/npm.log" 2>&1 || { tail -n 5 "$scratch/npm.log" >&2; return 1; }
}

# --- Programs -----------------------------------------------------------------
if wanted conformance || wanted typescript || wanted inspector; then
  suite=@modelcontextprotocol
  [ -f "$packages/package.json" ] || echo '{"private":true}' >"$packages/package.json"
  # Of Node a version that the suite and the inspector run on; npm, too, chooses
  # by it which versions of a package fit.
  if [ ! -x "$packages/node_modules/.bin/node" ] && ! install_npm node@22; then
    absent "node@22 (npm)" "conformance typescript inspector"
  else
    PATH=$packages/node_modules/.bin:$PATH
    if [ ! -d "$packages/node_modules/$suite/inspector" ] &&
      ! install_npm node@22 "$suite/sdk" "$suite/inspector@latest" "$suite/conformance"; then
      absent "$suite/sdk, $suite/inspector, $suite/conformance (npm)" "conformance typescript inspector"
    fi
  fi
fi
if wanted python && ! PYTHONPATH=$packages/python python3 -c 'import mcp' 2>/dev/null; then
  python3 -m pip install --quiet --disable-pip-version-check --target "$packages/python" 'mcp>=2' \
    2>"$scratch/pip.log" || { tail -n 5 "$scratch/pip.log" >&2; absent "mcp (PyPI)" python; }
fi

# --- Parts --------------------------------------------------------------------
prepared() {
  [ -f "$scratch/cases/cases.json" ] || python3 scripts/mcp/prepare.py --rea "$rea" "$scratch/cases"
}

conformance() {
  mkfifo "$scratch/log"
  "$rea" mcp --http 2>"$scratch/log" </dev/null &
  server=$!
  exec 3<"$scratch/log"
  local line url
  IFS= read -r line <&3
  url=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["url"])' "$line")
  cat <&3 >/dev/null &
  local said=$scratch/conformance.log status=0
  (cd "$scratch" && conformance_suite --url "$url") >"$said" 2>&1 || status=$?
  kill "$server"
  wait "$server" || true
  server=
  exec 3<&-
  sed -n '/^=== SUMMARY/,$p' "$said" | grep -E '✓|Total|aseline|nexpected' || true
  local passed
  passed=$(grep -c '^✓' "$said" || true)
  if [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; then
    tail -n 60 "$said" | cut -c1-400 >&2
    echo "conformance suite: status $status, $passed scenarios passed" >&2
    return 1
  fi
  echo "conformance suite: $passed scenarios passed, the others are expected to fail"
}
conformance_suite() {
  "$packages/node_modules/.bin/conformance" server --suite all \
    --expected-failures "$OLDPWD/scripts/mcp/expected-failures.yml" --output-dir "$scratch/conformance" "$@"
}

typescript() {
  prepared
  # Packages are looked for from where the file lies.
  cp scripts/mcp/client.mjs "$packages/client.mjs"
  node "$packages/client.mjs" "$scratch/cases"
}

python() {
  prepared
  PYTHONPATH=$packages/python python3 scripts/mcp/client.py "$scratch/cases"
  PYTHONPATH=$packages/python python3 scripts/mcp/environment.py "$rea" "$scratch/environment"
}

inspector() {
  prepared
  # It keeps a catalog at home, which is not to be the user's.
  mkdir -p "$scratch/home"
  HOME=$scratch/home python3 scripts/mcp/inspector.py "$scratch/cases" "$packages/node_modules/.bin/mcp-inspector"
}

for part in ${parts[@]+"${parts[@]}"}; do
  "$part"
done
if [ "${#without[@]}" -gt 0 ]; then
  echo "left out: ${left_out[*]}; could not be installed: ${without[*]}" >&2
  [ -z "${CI:-}" ] || exit 1
  exit 75
fi
