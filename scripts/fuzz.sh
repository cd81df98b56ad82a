#!/usr/bin/env bash
# Runs every target of {crates,dev}/*/fuzz/, laid out as cargo-fuzz does, for FUZZ_SECONDS (30) each.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
# shellcheck source=scripts/env.sh
. scripts/env.sh

shopt -s nullglob
manifests=(crates/*/fuzz/Cargo.toml dev/*/fuzz/Cargo.toml)
if ((!${#manifests[@]})); then
    echo 'fuzz: no fuzz targets' >&2
elif ! cargo fuzz --version >/dev/null 2>&1; then
    echo 'fuzz: SKIPPED: cargo-fuzz is not here: cargo install --locked cargo-fuzz' >&2
else
    # Its sanitizers need flags that a stable compiler takes only with this.
    export RUSTC_BOOTSTRAP=1
    for manifest in "${manifests[@]}"; do
        cd "$top/${manifest%/fuzz/Cargo.toml}"
        targets=$(cargo fuzz list)
        for target in $targets; do
            echo "fuzz: ${PWD##*/} $target, ${FUZZ_SECONDS:=30} s" >&2
            cargo fuzz run "$target" -- -max_total_time="$FUZZ_SECONDS"
        done
    done
fi
