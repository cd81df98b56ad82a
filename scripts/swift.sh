#!/usr/bin/env bash
# Installs Swift from Debian 13 ("trixie") into a root of its own, for a machine that has none on PATH: Debian 12 has no
# Swift, and needs nothing of Debian 13 beside it. It is 3.3 GB, so that scripts/setup.sh does not do it.
#
#   scripts/swift.sh            install it, unless there is a swift on PATH
#   scripts/swift.sh --check    say which swift there is; status 1 if there is none
#
# The root is TARE_HOME/swift (~/.cache/tare/swift). `swift` and `swiftc` come to .tare/tools/swift/bin, which
# scripts/env.sh puts last on PATH: they run in a mount namespace in which /usr is that of the root, and what they link
# asks for the loader and the libraries of the root, so that it runs outside of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

readonly suite=trixie
readonly packages=swiftlang,libc6-dev,libstdc++-14-dev,zlib1g-dev,libssl-dev,pkg-config,binutils,git,ca-certificates
readonly bin=.tare/tools/swift/bin
home=${TARE_HOME:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tare}
root=$(realpath -m "$home")/swift
readonly home root

say() { printf 'swift: %s\n' "$*" >&2; }
as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }
version() { swift --version 2>/dev/null | head -n 1; }

# Whole or not at all: what is here under this name was finished.
install_root() {
    [[ ! -d $root ]] || return 0
    command -v debootstrap >/dev/null || {
        say 'installing debootstrap'
        as_root apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends debootstrap >/dev/null
    }
    say "installing Swift of Debian 13 into $root (some minutes; the output goes to $home/swift.log)"
    mkdir -p "$home"
    as_root rm -rf "$root.new"
    if ! as_root debootstrap --variant=minbase --include="$packages" "$suite" "$root.new" >"$home/swift.log" 2>&1; then
        tail -n 3 "$home/swift.log" >&2
        return 1
    fi
    as_root rm -rf "$root.new/var/cache/apt/archives" "$root.new/var/lib/apt/lists"
    as_root mv "$root.new" "$root"
}

install_programs() {
    local name
    mkdir -p "$bin"
    sed "s|@ROOT@|$root|" scripts/swift/swift.sh >"$bin/swift.new"
    chmod 755 "$bin/swift.new"
    for name in swift swiftc; do cp "$bin/swift.new" "$bin/$name"; done
    rm "$bin/swift.new"
}

case ${1-} in
    '') ;;
    --check)
        [[ -n $(version) ]] || { say 'there is none: scripts/swift.sh installs one'; exit 1; }
        say "$(version)"
        exit
        ;;
    -h | --help)
        sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
        exit
        ;;
    *)
        say "unknown argument '$1': there is only --check"
        exit 1
        ;;
esac
if [[ -n $(version) ]]; then
    say "there is one: $(version)"
    exit
fi
install_root || { say 'it could not be installed'; exit 1; }
install_programs
hash -r
[[ -n $(version) ]] || { say "it does not run: does the kernel let this user make a mount namespace (unshare --mount)?"; exit 1; }
say "$(version)"
say 'before you run tare by hand, type: . scripts/env.sh'
