#!/usr/bin/env bash
# Checks the id of a record with jq or sed, and sha256sum: nothing of rea.
#
#   scripts/check_by_hand.sh RECORD
#
# RECORD is a file with one record. Both ways of docs/evidence.md are tried;
# the exit status is 0 if one of them gives the id that the record claims.
set -euo pipefail
record=${1:?usage: check_by_hand.sh RECORD}

claimed=$(jq -r .evidence_id "$record")

# With jq, for a record in any form.
by_jq=ev_$(jq -cjS 'del(.evidence_id) | if .subject then .subject |= {architecture, digest, format} else . end' "$record" |
    sha256sum | cut -c1-64)

# With sed, for a record as rea writes it: one line in canonical form.
by_sed=ev_$(LC_ALL=C sed -E 's/"evidence_id":"ev_[0-9a-f]{64}",//
    s/,"local_path":"([^"\\]|\\.)*","name":"([^"\\]|\\.)*"\}\}$/}}/' "$record" |
    tr -d '\n' | sha256sum | cut -c1-64)

echo "claimed  $claimed"
echo "by jq    $by_jq"
echo "by sed   $by_sed"
if [ "$claimed" = "$by_jq" ] || [ "$claimed" = "$by_sed" ]; then
    echo "The record says what its id says."
else
    echo "Neither way gives the id: see docs/evidence.md for what jq changes." >&2
    exit 1
fi
