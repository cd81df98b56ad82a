#!/usr/bin/env bash
# Packages of the command `tare`, in target/dist (or DIST): a tar archive, a Debian package, a Python wheel and two npm packages; then
# their bill of materials and SHA256SUMS. A release has the same files, made by this script. Each package has the binary, the manual
# pages and the completions of shells, which the binary prints itself; the npm package of the command takes the binary from the other.
#
#   scripts/dist.sh             build the release binary, static if Rust's library for musl is here, and package it
#   scripts/dist.sh BINARY      package this binary
#
# The packages are called tare-http: `tare` is another program in the registries of Rust and of Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

readonly name=tare-http out=${DIST:-target/dist}
readonly cargo=${CARGO:-cargo}
say() { printf 'dist: %s\n' "$*" >&2; }

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
machine=$(uname -m)
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' crates/cli/Cargo.toml)
description=$(sed -n 's/^description = "\(.*\)"/\1/p' crates/cli/Cargo.toml)
# The same commit gives the same packages: no file is newer than it.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
readonly version machine description repository
# How hard gzip tries, 1 to 9.
readonly level=${DIST_LEVEL:-9}

# --- the binary ---------------------------------------------------------------------------------------------

# Otherwise `why` says what is missing.
can_be_static() { # TARGET
    if [[ ! -d $(rustc --print target-libdir --target "$1" 2>/dev/null) ]]; then
        why="Rust's library for $1 is not here (rustup target add $1)"
    elif ! command -v musl-gcc >/dev/null; then
        why="musl-gcc is not here (apt-get install musl-tools)"
    else
        return 0
    fi
    return 1
}

# Sets `binary`.
build() {
    local musl=$machine-unknown-linux-musl
    if can_be_static "$musl"; then
        say "building for $musl: the binary is static"
        # Otherwise code in C asks libgcc, on ARM, for what only glibc has.
        CFLAGS_aarch64_unknown_linux_musl=-mno-outline-atomics "$cargo" build --release --locked --bin tare --target "$musl"
        binary=target/$musl/release/tare
    else
        say "no static binary: $why; it needs the C library of this system"
        "$cargo" build --release --locked --bin tare
        binary=target/release/tare
    fi
}

needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# The oldest glibc that has every symbol that a binary asks for; nothing of a static one.
glibc() { readelf -VW "$1" | sed -n 's/.*Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -uV | tail -n 1; }

# --- packages -----------------------------------------------------------------------------------------------

# What all of them install, below $1 as below /usr.
stage() {
    local bash=$1/share/bash-completion/completions zsh=$1/share/zsh/vendor-completions
    local fish=$1/share/fish/vendor_completions.d doc=$1/share/doc/$name
    mkdir -p "$bash" "$zsh" "$fish" "$doc"
    install -D -m 755 "$binary" "$1/bin/tare"
    "$1/bin/tare" man --out "$1/share/man/man1" 2>/dev/null
    "$1/bin/tare" completions bash >"$bash/tare"
    "$1/bin/tare" completions zsh >"$zsh/_tare"
    "$1/bin/tare" completions fish >"$fish/tare.fish"
    cp LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$doc/"
    cp "$bom" "$doc/sbom.cdx.json"
}

archive() { # STAGED KIND
    tar --create --use-compress-program "gzip -n$level" --file "$out/$name-$version-$machine-linux-$2.tar.gz" --directory "$1" \
        --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --transform "s,^\.,$name-$version," .
}

deb() { # STAGED GLIBC
    local root=$out/deb arch depends=
    arch=$(dpkg --print-architecture)
    [[ -z $2 ]] || depends="libc6 (>= $2)"
    if needed "$binary" | grep -q '^libgcc_s\.so'; then depends+=", libgcc-s1"; fi
    rm -rf "$root" && mkdir -p "$root/DEBIAN" "$root/usr"
    cp -a "$1/." "$root/usr/"
    gzip -9n "$root"/usr/share/man/man1/*.1
    cat LICENSE-APACHE LICENSE-MIT >"$root/usr/share/doc/$name/copyright"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$name" "$version" "$arch"
        printf 'Maintainer: The authors of Tare <nobody@localhost>\nSection: devel\nPriority: optional\n'
        printf 'Installed-Size: %s\n' "$(du -sk "$root/usr" | cut -f1)"
        [[ -z $depends ]] || printf 'Depends: %s\n' "${depends#, }"
        printf 'Description: %s\n' "$description"
        printf ' Compares two builds of a service, finds its capacity, and loads any HTTP\n'
        printf ' server on this machine. Every response is checked, every figure has an\n interval.\n'
    } >"$root/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$root" "$out/${name}_${version}_$arch.deb" >/dev/null
    rm -rf "$root"
}

wheel() { # STAGED GLIBC
    # A static binary runs with any C library.
    local platform=manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine
    [[ -z $2 ]] || platform=manylinux_${2//./_}_$machine
    python3 scripts/wheel.py --name "$name" --version "$version" --platform "$platform" --summary "$description" \
        --readme README.md --staged "$1" --out "$out" --level "$level"
}

npm() { # STAGED KIND
    python3 scripts/npm.py --name "$name" --version "$version" --machine "$machine" --libc "$2" --summary "$description" \
        --repository "$repository" --readme README.md --launcher scripts/npm/tare.js --staged "$1" --out "$out" --level "$level"
}

main() {
    local staged=$out/staged kind=gnu libc bom=$out/$name-$version-$machine.cdx.json binary=${1-}
    [[ -n $binary ]] || build
    libc=$(glibc "$binary")
    [[ -n $libc ]] || kind=musl
    rm -rf "$out" && mkdir -p "$out"
    python3 scripts/sbom.py --cargo "$cargo" --target "$machine-unknown-linux-$kind" --out "$bom"
    stage "$staged"
    archive "$staged" "$kind"
    if command -v dpkg-deb >/dev/null; then deb "$staged" "$libc"; else say 'SKIPPED the Debian package: no dpkg-deb here'; fi
    wheel "$staged" "$libc"
    npm "$staged" "$kind"
    rm -rf "$staged"
    (cd "$out" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
    if [[ -n $libc ]]; then say "the binary needs glibc $libc or newer"; else say 'the binary is static'; fi
    stat --format '%n %s' "$out"/* | awk '{ printf "dist: %s, %.1f MB\n", $1, $2 / 1e6 }' >&2
}

main "$@"
