#!/usr/bin/env bash
# Compiles crates of others once for all checkouts: links what an earlier checkout compiled, and keeps what this one did.
#
#   scripts/crates.sh take    before Cargo, where there is no target/ yet
#   scripts/crates.sh keep    after Cargo
#
# Cargo knows a crate again by its version, features and compiler. Crates of this repository are always compiled anew: their names have
# `tare` or `xtask` in them, and so is every program, since of others there are libraries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

kept=${TARE_HOME:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tare}/crates
readonly kept

# copy FROM TO: what is compiled is linked, as nothing is ever written into it.
copy() {
    mkdir -p "$2/debug"
    cp -al "$1/debug/deps" "$1/debug/build" "$2/debug/" 2>/dev/null || cp -a "$1/debug/deps" "$1/debug/build" "$2/debug/"
    cp -a "$1/debug/.fingerprint" "$2/debug/"
}

# What crates are compiled from and with, and how many of others there are.
key() { cat Cargo.lock && rustc --version; }
number() { find "$1/debug/deps" -name '*.rlib' ! -name '*tare*' 2>/dev/null | wc -l; }

take() { if [[ ! -e target && -d $kept ]]; then copy "$kept" target; fi; }

# A checkout in which only a part was compiled does not replace the whole.
keep() {
    local new
    if cmp --quiet "$kept/key" <(key) && (($(number target) <= $(number "$kept"))); then return; fi
    mkdir -p "${kept%/*}"
    new=$(mktemp -d "$kept.XXXXXX")
    copy target "$new"
    find "$new" -depth \( -name '*tare*' -o -name '*xtask*' -o -path "$new/debug/deps/*" ! -name '*.*' \) -exec rm -rf {} +
    key >"$new/key"
    rm -rf "$kept"
    mv -T "$new" "$kept"
}

case ${1-} in
    take | keep) "$1" ;;
    *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 1 ;;
esac
