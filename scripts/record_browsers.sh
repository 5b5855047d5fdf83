#!/bin/sh
# Records a small application (scripts/record/app.py) as HAR with the programs that
# write it, into tests/data/har or the folder that is given:
#
#   MITMDUMP=.../mitmdump scripts/record_browsers.sh [OUT [chromium|playwright|firefox|mitmproxy ...]]
#
#   chromium.har       Chromium's developer tools, "Export HAR (with sensitive data)"
#   playwright.har     Playwright's recordHar, in Chromium
#   firefox.har        Firefox's developer tools, their automatic export
#   mitmproxy.har      mitmdump's hardump, with Chromium behind it
#   mitmproxy.flows    the same flows in mitmproxy's own format (gzip: .flows.gz)
#
# Needs chromium and firefox-esr (Debian), playwright-core and ws (npm, Node 18 or
# later; fetched where NODE_MODULES names no folder with them), and mitmproxy 12.2.3
# (PyPI, Python 3.12 or later). The application is on 127.0.0.1. A recording that lacks a request fails.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../tests/data/har}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- chromium playwright firefox mitmproxy
mkdir -p "$out"
out=$(cd "$out" && pwd)

app_port=${APP_PORT:-8471}
proxy_port=${PROXY_PORT:-8472}
address=http://127.0.0.1:$app_port
work=$(mktemp -d)
app='' proxy=''
clean() {
    [ -z "$app" ] || kill "$app" 2>/dev/null || true
    [ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

fail() {
    echo "record_browsers: $1" >&2
    exit 1
}

# Waits until something listens at a port of this machine.
listening() {
    for _ in $(seq 100); do
        if python3 -c "import socket; socket.create_connection(('127.0.0.1', $1), 1)" 2>/dev/null; then
            return
        fi
        sleep 0.1
    done
    fail "nothing listens at port $1"
}

needs() {
    command -v "$1" >/dev/null || fail "$1 is not there; $2"
}

browser() {
    if [ -z "${NODE_MODULES-}" ]; then
        (cd "$work" && echo '{"private":true}' >package.json &&
            npm install --no-audit --no-fund --loglevel=error playwright-core ws) >/dev/null ||
            fail 'set NODE_MODULES to a folder with playwright-core and ws'
        NODE_MODULES=$work/node_modules
        export NODE_MODULES
    fi
    node "$here/record/browser.mjs" "$@"
}

record_chromium() {
    browser devtools "$address/" "$work/chromium.har"
}

record_playwright() {
    browser playwright "$address/" "$work/playwright.har"
}

# The developer tools open on /start, which goes to / after a while; when that page
# has loaded and nothing has happened for some time, they export it.
record_firefox() {
    needs firefox-esr 'apt-get install firefox-esr'
    mkdir "$work/profile" "$work/log"
    cat >"$work/profile/user.js" <<END
user_pref("devtools.netmonitor.har.enableAutoExportToFile", true);
user_pref("devtools.netmonitor.har.forceExport", true);
user_pref("devtools.netmonitor.har.includeResponseBodies", true);
user_pref("devtools.netmonitor.har.defaultLogDir", "$work/log");
user_pref("devtools.netmonitor.har.defaultFileName", "firefox");
user_pref("devtools.toolbox.selectedTool", "netmonitor");
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
END
    HOME=$work/profile firefox-esr --headless --no-remote --profile "$work/profile" \
        --devtools "$address/start" >"$work/firefox.log" 2>&1 &
    firefox=$!
    for _ in $(seq 60); do
        sleep 1
        if [ -s "$work/log/firefox.har" ] && grep -q /api/report "$work/log/firefox.har"; then
            break
        fi
    done
    kill "$firefox" 2>/dev/null || true
    wait "$firefox" 2>/dev/null || true
    [ -s "$work/log/firefox.har" ] || fail "Firefox exported nothing: $(tail -n 3 "$work/firefox.log")"
    mv "$work/log/firefox.har" "$work/firefox.har"
}

record_mitmproxy() {
    mitmdump=${MITMDUMP:-mitmdump}
    needs "$mitmdump" 'set MITMDUMP to mitmdump 12.2.3'
    version=$("$mitmdump" --version | sed -n 's/^Mitmproxy: //p')
    [ "$version" = 12.2.3 ] || fail "$mitmdump is mitmdump $version, not 12.2.3"
    # What a browser asks its vendor goes nowhere, and is not recorded.
    "$mitmdump" -q --listen-host 127.0.0.1 -p "$proxy_port" --set confdir="$work/conf" \
        --set 'block_list=/!~d 127.0.0.1/444' --set 'save_stream_filter=~d 127.0.0.1' \
        -w "$work/mitmproxy.flows" --set hardump="$work/mitmproxy.har" &
    proxy=$!
    listening "$proxy_port"
    PROXY=http://127.0.0.1:$proxy_port browser proxied "$address/"
    kill -INT "$proxy"
    wait "$proxy" || true
    proxy=''
    gzip -9nc "$work/mitmproxy.flows" >"$out/mitmproxy.flows.gz"
}

needs python3 'apt-get install python3'
python3 "$here/record/app.py" --port "$app_port" >/dev/null &
app=$!
listening "$app_port"
for name in "$@"; do
    case $name in
    chromium | playwright | firefox | mitmproxy) "record_$name" ;;
    *) fail "there is no recording $name" ;;
    esac
    python3 "$here/record/check.py" "$work/$name.har"
    mv "$work/$name.har" "$out/$name.har"
done
