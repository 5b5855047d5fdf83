#!/usr/bin/env bash
# Runs a command and says how much anonymous memory it held at its peak (RssAnon, which leaves the
# page cache and mapped files out), sampled every 5 ms. Children of the command are not counted.
#
#   scripts/peak.sh target/release/rea inspect-artifact FILE >/dev/null
#
# One line on stderr at the end; the exit status is the command's (128+N when signal N ended it).
set -euo pipefail
if [[ $# -eq 0 ]]; then
  echo "usage: peak.sh COMMAND [ARGUMENT...]" >&2
  exit 2
fi
exec python3 -c '
import re, signal, subprocess, sys, time

# The command gets the signals of the terminal too; this waits for it and then reports.
signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    command = subprocess.Popen(sys.argv[1:], preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
except OSError as error:
    sys.exit(f"peak.sh: {sys.argv[1]}: {error.strerror}")
signal.signal(signal.SIGTERM, lambda *_: command.terminate())
peak = samples = 0
while command.poll() is None:
    try:
        with open(f"/proc/{command.pid}/status") as status:
            resident = re.search(r"RssAnon:\s*(\d+) kB", status.read())
    except OSError:
        resident = None
    if resident:  # absent once the process has ended and waits to be reaped
        peak = max(peak, int(resident.group(1)))
        samples += 1
    time.sleep(0.005)
status = command.returncode
status = 128 - status if status < 0 else status
print(f"peak.sh: RssAnon {peak} KiB in {samples} samples, exit status {status}", file=sys.stderr)
sys.exit(status)
' "$@"
