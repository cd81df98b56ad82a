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
# The sanitizers need flags that a stable compiler takes only with this.
export RUSTC_BOOTSTRAP=1
targets=${FUZZ_TARGET:-$(cargo fuzz list)}
for target in $targets; do
    echo "fuzz: $target, ${FUZZ_SECONDS:=30} s" >&2
    mkdir -p "fuzz/corpus/$target"
    cargo run --quiet --package tare-fuzz -- "$target" | xargs cp --backup=numbered -t "fuzz/corpus/$target"
    cargo fuzz run "$target" "fuzz/corpus/$target" -- -max_total_time="$FUZZ_SECONDS" -print_final_stats=1
done
