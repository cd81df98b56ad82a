#!/usr/bin/env bash
# Format and tidy, which are quick, and then clippy, all tests and the examples of the documentation. Arguments are those of
# `cargo xtask test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

scripts/crates.sh take
# Without it the next checkout compiles for longer, and no more.
trap 'scripts/crates.sh keep || true' EXIT

# Debian's Rust comes without rustfmt.
if cargo fmt --version >/dev/null 2>&1; then
    cargo fmt --all --check
elif [[ ${TARE_TEST_ALL-} == 1 ]]; then
    echo 'test: `cargo fmt` is not here, and TARE_TEST_ALL=1 wants it' >&2
    exit 1
else
    echo 'test: SKIPPED cargo fmt: it is not here (with rustup: rustup component add rustfmt)' >&2
fi
cargo xtask tidy
# The core alone, as `make bench` builds it.
if [[ " $* " == *' --all '* ]]; then
    cargo check -p tare-http --no-default-features --locked
fi
cargo xtask test "$@"
