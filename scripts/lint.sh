#!/usr/bin/env bash
# Format, tidy, clippy: the quick ones first. A tool that is not here is skipped by name (Debian's Rust comes without
# rustfmt); with TARE_TEST_ALL=1 it is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

lint() { # TOOL ARGUMENTS...
    if cargo "$1" --version >/dev/null 2>&1; then
        echo "lint: cargo $*" >&2
        cargo "$@"
    elif [[ ${TARE_TEST_ALL-} == 1 ]]; then
        echo "lint: \`cargo $1\` is not here, and TARE_TEST_ALL=1 wants it" >&2
        return 1
    else
        echo "lint: SKIPPED cargo $1: it is not here (with rustup: rustup component add rustfmt clippy)" >&2
    fi
}

lint fmt --all --check
cargo xtask tidy
lint clippy --workspace --all-targets --locked -- -D warnings
