#!/usr/bin/env bash
# Malformed binaries by the thousand: files of the corpus (scripts/corpus.sh) and of this machine,
# cut, with header fields set and bytes flipped, and files made to kill readers, go through every
# reader of binaries in one process with a limit of 1 s of processor time and 256 MiB of memory each.
# Fails on a panic, a hang or a broken limit; prints counts, the slowest and the largest.
#
#   scripts/mutate.sh [--seconds N] [--seed N] [PATH...]
#
#   --seconds N   stop after so long (default: 600); 0: every mutant once, however long that takes
#   --seed N      another sequence of random mutants (default: 1)
#   PATH          files and folders to mutate in place of the usual ones
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=600 seed=1
while (($#)); do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'; exit 0 ;;
    -*) echo "mutate.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
done

keep=$(mktemp -d)
paths=("$@")
if ((${#paths[@]} == 0)); then
  corpus=${REA_CORPUS:-$HOME/.cache/rea-corpus}
  for path in tests/data tests/golden "$corpus/mac-app" "$corpus/mach-o-universal" \
    "$corpus/wasm-new" "$corpus/elf-new" /usr/lib/x86_64-linux-gnu/security /usr/lib/gcc \
    /bin/true /bin/ls; do
    if [[ -e $path ]]; then paths+=("$path"); fi
  done
  # A member of each kind that the corpus holds in archives only.
  if command -v unzip >/dev/null; then
    for archive in "$corpus"/wheels/*.whl "$corpus"/apk-new/package/apks/*.apk; do
      if [[ -f $archive ]]; then
        unzip -qqo "$archive" '*.so' '*.dll' '*.pyd' '*.exe' -d "$keep/members" 2>/dev/null || true
      fi
    done
    if [[ -d $keep/members ]]; then paths+=("$keep/members"); fi
  fi
fi

limit=()
if ((seconds > 0)); then limit=(--seconds "$seconds"); fi
# Optimized, so that a second is a second, and with checks for numbers that overflow.
built=$(CARGO_PROFILE_DEV_OPT_LEVEL=3 cargo build --locked --bench mutate --message-format json 2>/dev/null |
  sed -n 's|.*"executable":"\([^"]*/mutate-[0-9a-f]*\)".*|\1|p' | tail -n 1)
if [[ -z $built ]]; then
  echo "mutate.sh: the driver cannot be built" >&2
  exit 1
fi
status=0
"$built" "${paths[@]}" --seed "$seed" --keep "$keep" "${limit[@]}" || status=$?
if ((status > 1)); then
  # It died on a signal, a full stack for one: the file says on what.
  echo "mutate.sh: the process ended with $status at" >&2
  tr -s ' ' <"$keep/mutate-current.txt" >&2
fi
if ((status == 0)); then rm -rf "$keep"; else echo "files are in $keep" >&2; fi
exit "$status"
