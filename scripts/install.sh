#!/bin/sh
# Puts `tare` where a job of CI can run it: the released binary, if this commit is a release, and otherwise one that it compiles.
# scripts/released.txt, a file of this commit, has the checksum of each package. Who names a commit of this repository has named the
# binary with it: a file with another checksum is never unpacked.
#
#   scripts/install.sh FOLDER     FOLDER/bin/tare; the path is printed
#   scripts/install.sh --source   prints `release` or `build`, which of the two it would be
#   scripts/install.sh --pin DIST URL   writes scripts/released.txt: the packages in DIST, which are at URL (the release job does it)
#
#   TARE_RELEASE   where the packages are, in place of the address in released.txt: a mirror, or file:///FOLDER
#   TARE_BUILD     1: compile this checkout in any case
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
list=$top/scripts/released.txt
machine=$(uname -m)
say() { printf 'install: %s\n' "$*" >&2; }
fail() {
    say "$@"
    exit 1
}

# The line of the archive for this machine: checksum and name.
line=$(grep "^[0-9a-f]\{64\}  tare-http-.*-$machine-linux-musl\.tar\.gz\$" "$list" || true)
source=release
if [ "${TARE_BUILD:-}" = 1 ] || ! grep -q '^[0-9a-f]\{64\}  ' "$list"; then source=build; fi

download() { # URL FILE
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail 'neither curl nor wget is here: install one of them'
    fi
}

from_release() { # FOLDER
    [ -n "$line" ] || fail "the release has no package for $(uname -s) on $machine: TARE_BUILD=1 compiles it"
    name=${line#*  }
    address=${TARE_RELEASE:-$(sed -n 's/^# from //p' "$list")}
    mkdir -p "$1"
    work=$(mktemp -d "$1/install.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    download "$address/$name" "$work/$name" || fail "cannot download $address/$name"
    (cd "$work" && printf '%s\n' "$line" | sha256sum -c - >/dev/null 2>&1) ||
        fail "$address/$name is not the file of the release: its checksum is $(sha256sum <"$work/$name" | cut -d ' ' -f 1), expected ${line%% *}"
    tar -xzf "$work/$name" -C "$1" --strip-components 1
    say "$name, with the checksum of scripts/released.txt"
}

from_source() { # FOLDER
    if [ "${TARE_BUILD:-}" = 1 ]; then say 'TARE_BUILD=1: compiling this checkout'; else
        say 'this commit is no release: compiling it, which takes minutes (scripts/released.txt has no package)'
    fi
    built=$top/target/release/tare
    if [ ! -x "$built" ]; then
        command -v cargo >/dev/null || fail 'cargo is not here: use the commit of a release, or install Rust'
        (cd "$top" && cargo build --release --locked -p tare-http >&2)
    fi
    mkdir -p "$1/bin"
    cp "$built" "$1/bin/tare"
}

pin() { # DIST URL
    sums=$(cd "$1" && sha256sum -- *)
    {
        printf '# The packages of the release that this commit is tagged as, with their SHA-256. The release job has written this file\n'
        printf '# (CONTRIBUTING.md), and scripts/install.sh reads it.\n# from %s\n%s\n' "$2" "$sums"
    } >"$list"
}

case ${1-} in
    --pin) pin "$2" "$3" ;;
    --source) echo "$source" ;;
    '' | -*) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" && exit 1 ;;
    *)
        if [ "$source" = release ]; then from_release "$1"; else from_source "$1"; fi
        "$1/bin/tare" --version >&2
        printf '%s\n' "$1/bin/tare"
        ;;
esac
