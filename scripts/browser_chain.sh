#!/bin/sh
# From a browser to an environment: Chromium visits a small application
# (scripts/record/app.py), its developer tools export HAR, and what was recorded goes
# through capture, operations, manifest, state, comparison and replay:
#
#   scripts/browser_chain.sh target/debug/rea
#
# Needs chromium (Debian), Node and npm, python3 and jq, and the package ws, which it
# fetches where NODE_MODULES names no folder with it. Says what was checked, ends with
# how much, and fails where nothing was.
set -eu

rea=$(realpath "${1:?usage: browser_chain.sh REA}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=''
clean() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
checked=0

ok() {
    checked=$((checked + 1))
    echo "ok: $1"
}

fail() {
    echo "browser_chain: $1" >&2
    exit 1
}

# Whether a jq expression over a record holds.
holds() {
    jq -e "$2" "$work/$1" >/dev/null || fail "not so: $3"
    ok "$3"
}

# Records a visit of the application as it is with these options.
record() {
    name=$1
    shift
    : >"$work/address"
    python3 "$here/record/app.py" "$@" >"$work/address" &
    server=$!
    for _ in $(seq 100); do
        [ -s "$work/address" ] && break
        sleep 0.1
    done
    address=$(cat "$work/address")
    [ -n "$address" ] || fail 'the application did not start'
    node "$here/record/browser.mjs" devtools "$address/" "$work/$name.har"
    kill "$server"
    server=''
}

if [ -z "${NODE_MODULES-}" ]; then
    (cd "$work" && echo '{"private":true}' >package.json && npm install --no-audit --no-fund --loglevel=error ws) >/dev/null ||
        fail 'the package ws cannot be fetched; set NODE_MODULES to a folder that has it'
    NODE_MODULES=$work/node_modules
fi
export NODE_MODULES

record first
ok "Chromium recorded $(jq '.log.entries | length' "$work/first.har") requests"
"$rea" inspect-web-network-capture "$work/first.har" har -q -o "$work/first.json"
holds first.json '.normalized_result | .total_records >= 11 and (.records | length) == .total_records' \
    'the capture holds every request'
holds first.json '[.normalized_result.records[].binary_fields[] | select(.bytes == 69)] | length == 1' \
    'the image is there as its 69 bytes'
grep -q not-for-records "$work/first.har" || fail 'the session was not recorded'
holds first.json 'tostring | contains("not-for-records") | not' 'the recorded session is not in it'

"$rea" view "$work/first.json" --api-surface -q -o "$work/surface.json"
holds surface.json '[.normalized_result.items[] | "\(.method) \(.path_template)"] |
    contains(["GET /api/users", "GET /api/users/{numeric}", "GET /api/search", "POST /api/items",
        "POST /graphql", "GET /api/old/users", "GET /api/report", "GET /logo.png"])' \
    'all operations are found'
"$rea" view "$work/first.json" --api-surface --openapi >"$work/openapi.json"
holds openapi.json '.openapi | startswith("3.1")' 'they are OpenAPI 3.1'

"$rea" view "$work/first.json" --environment-manifest -q -o "$work/manifest.json"
holds manifest.json '.normalized_result.manifest.tools[] | select(.name == "get_users_by_id") |
    .path_parameters[0] | .name == "id" and .observed_values == ["1", "2", "3"]' \
    'the manifest has a tool for one user, with the three that were seen'
holds manifest.json '.normalized_result.manifest.tools[] | select(.name == "post_graphql") |
    .operations[0].name == "GetUser"' 'and the GraphQL operation in its tool'

"$rea" view "$work/first.json" --environment-state -q -o "$work/state.json"
holds state.json '[.normalized_result.state.render_plans[] | select(.status == "verified").tool] |
    contains(["get_users", "get_users_by_id"])' 'the state reproduces what reads of users observed'

for record in first surface manifest state; do
    "$rea" verify-evidence "$work/$record.json" -q >/dev/null || fail "$record is not authentic"
    ok "$record verifies"
done

record second --without search
"$rea" inspect-web-network-capture "$work/second.har" har -q -o "$work/second.json"
status=0
"$rea" compare-api-surfaces "$work/first.json" "$work/second.json" --any-origin --exit-code \
    -q -o "$work/changes.json" || status=$?
[ "$status" = 3 ] || fail "the comparison ended with $status, not 3"
ok 'a service without search is a changed one: exit status 3'
holds changes.json '[.normalized_result.changes[] | select(.change == "removed") | .path_template] ==
    ["/api/search"]' 'what was removed is GET /api/search'
holds changes.json '[.normalized_result.changes[] | select(.change == "added")] == []' \
    'and nothing was added'
status=0
"$rea" compare-api-surfaces "$work/first.json" "$work/first.json" --exit-code -q >/dev/null || status=$?
[ "$status" = 0 ] || fail "a recording differs from itself: $status"
ok 'a recording is unchanged against itself: exit status 0'

"$rea" environment-serve "$work/manifest.json" --evidence "$work/first.json" \
    >"$work/stopped" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
    grep -q 'MCP transport listening' "$work/log" && break
    sleep 0.1
done
url=$(jq -r 'select(.msg == "MCP transport listening").url' "$work/log" | head -n 1)
[ -n "$url" ] || fail "environment-serve does not listen: $(cat "$work/log")"
python3 "$here/record/serve.py" "$url" "$work/manifest.json" >"$work/served" ||
    fail 'environment-serve does not answer as recorded'
cat "$work/served"
checked=$((checked + $(wc -l <"$work/served")))
kill -TERM "$server"
status=0
wait "$server" || status=$?
server=''
[ "$status" = 143 ] || fail "environment-serve ended with $status, not 143"
jq -e '.status == "stopped"' "$work/stopped" >/dev/null || fail 'it does not say that it stopped'
ok 'it stops when it is told to: exit status 143'

[ "$checked" -gt 0 ] || fail 'nothing was checked'
echo "$checked checks"
