#!/usr/bin/env bash
# Builds the command, target/PROFILE/tare. Another clone of the same commit takes what was built, with no compiler: its sources, the
# compiler and what it is asked for are then the same.
#
#   scripts/command.sh [PROFILE [--no-default-features]]      PROFILE: release, or quick
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

readonly profile=${1:-release}
readonly built=target/$profile/tare
readonly home=${TARE_HOME:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tare}

# What the program is made of; nothing if a file was changed, as then cargo alone knows what is new.
key() {
    local tree
    if [[ -n $(git status --porcelain 2>&1) ]]; then return; fi
    tree=$(git rev-parse 'HEAD^{tree}')
    {
        printf '%s\n' "$tree" "$@"
        rustc -vV
        env | grep -E '^(CARGO_|RUST|CC=|CXX=|C(XX)?FLAGS)' | sort || true
    } | sha256sum | cut -c 1-32
}

main() {
    local key kept
    key=$(key "$@")
    kept=$home/commands/$key/tare
    if [[ -n $key && ! -e $built && -x $kept ]]; then
        mkdir -p "${built%/*}"
        cp "$kept" "$built"
        touch "${kept%/*}" # `tare cache --prune` removes what was not used for long
        printf 'command: %s was built before, from the same sources\n' "$built" >&2
        return
    fi
    cargo build --profile "$profile" --locked -p tare-http "${@:2}"
    if [[ -n $key && ! -e $kept ]]; then
        # What has its name is whole, also if another clone does the same now. It is no error if there is no room.
        { mkdir -p "${kept%/*}" && cp "$built" "$kept.$$" && mv "$kept.$$" "$kept"; } || rm -f "$kept.$$"
    fi
}

main "$@"
