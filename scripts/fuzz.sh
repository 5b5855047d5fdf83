#!/usr/bin/env bash
# Builds the fuzz targets on stable Rust and runs them.
#
#   scripts/fuzz.sh [--seconds N] [--corpus DIR] [--minimize] TARGET... [-- LIBFUZZER-ARGUMENT...]
#
# Each TARGET runs for N seconds (60) with the corpus DIR/TARGET. DIR is
# fuzz/corpus, which is in the repository: give a folder outside it for long
# runs, so that it grows there. At the end the executions and the edges that
# were reached are printed; the exit status is 1 if a target crashed.
# --minimize instead merges what DIR/TARGET holds into a small set in
# fuzz/corpus/TARGET: at most 200 files of at most 8 KiB.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=60 corpus=fuzz/corpus minimize=no targets=() arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        --seconds) seconds=$2; shift 2 ;;
        --corpus) corpus=$2; shift 2 ;;
        --minimize) minimize=yes; shift ;;
        --) shift; arguments=("$@"); break ;;
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
        -*) echo "fuzz.sh: unknown option $1" >&2; exit 2 ;;
        *) targets+=("$1"); shift ;;
    esac
done
if [ ${#targets[@]} -eq 0 ]; then
    echo "fuzz.sh: name at least one target of fuzz/fuzz_targets" >&2
    exit 2
fi

# What cargo-fuzz passes, so that no nightly toolchain is needed.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
target_dir=${CARGO_TARGET_DIR:-fuzz/target}
bins=()
for target in "${targets[@]}"; do bins+=(--bin "$target"); done
# An explicit target keeps the instrumentation out of build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" \
    --target-dir "$target_dir" "${bins[@]}"

status=0
for target in "${targets[@]}"; do
    program=$target_dir/$host/release/$target
    mkdir -p "$corpus/$target" "fuzz/corpus/$target" "fuzz/artifacts/$target"
    if [ "$minimize" = yes ]; then
        merged=$(mktemp -d) kept=$(mktemp -d)
        small=$(mktemp -d)
        for folder in "fuzz/corpus/$target" "$corpus/$target"; do
            find "$folder" -type f -size -8193c -exec cp -t "$small" {} +
        done
        # The fewest files that reach every edge; how often does not matter.
        "$program" -set_cover_merge=1 -use_counters=0 "$merged" "$small" 2>&1 | tail -n 1
        find "$merged" -type f -printf '%s %p\n' | sort -n | sed -n '1,200s/^[0-9]* //p' |
            while read -r file; do cp "$file" "$kept"; done
        find "fuzz/corpus/$target" -type f -delete
        cp -r "$kept/." "fuzz/corpus/$target/"
        rm -r "$merged" "$kept" "$small"
        echo "$target: $(find "fuzz/corpus/$target" -type f | wc -l) files"
        continue
    fi
    log=$(mktemp)
    seeds=()
    dictionary=fuzz/dictionaries/$target.dict
    [ ! -f "$dictionary" ] || seeds=("-dict=$dictionary")
    [ "$corpus" = fuzz/corpus ] || seeds+=("fuzz/corpus/$target")
    "$program" "$corpus/$target" "${seeds[@]}" -max_total_time="$seconds" \
        -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 \
        ${arguments[@]+"${arguments[@]}"} 2>&1 | tee "$log" || status=1
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    echo "$target: ${executions:-0} executions, ${edges:-0} edges"
    rm "$log"
done
exit "$status"
