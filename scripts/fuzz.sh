#!/usr/bin/env bash
# Runs every fuzz target of dev/fuzz, or the one named FUZZ_TARGET, for FUZZ_SECONDS (30) each. What a target finds is kept in
# dev/fuzz/fuzz/artifacts: mend it, and put the input into dev/fuzz/corpus/TARGET, where `make test` reads it.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top/dev/fuzz"
# shellcheck source=scripts/env.sh
. "$top/scripts/env.sh"

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo 'fuzz: installing cargo-fuzz' >&2
    cargo install --locked cargo-fuzz@0.13.2
fi
targets=${FUZZ_TARGET:-$(cargo fuzz list)}
for target in $targets; do
    echo "fuzz: $target, ${FUZZ_SECONDS:=30} s" >&2
    mkdir -p "fuzz/corpus/$target"
    cargo run --quiet --package tare-fuzz -- "$target" | xargs cp --backup=numbered -t "fuzz/corpus/$target"
    # What is fuzzed is safe Rust, in which a sanitizer finds nothing more. It would take most of the time, and a nightly compiler.
    cargo fuzz run --sanitizer none "$target" "fuzz/corpus/$target" -- -max_total_time="$FUZZ_SECONDS" -print_final_stats=1
done
