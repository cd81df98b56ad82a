#!/usr/bin/env bash
# Installs each package of target/dist in an empty place, and uses what is there: the binary, from a folder that has nothing
# of a checkout, the manual pages and the completions. What this machine cannot install is skipped by name; with
# TARE_TEST_ALL=1 that is an error.
#
#   scripts/dist-test.sh              the packages in target/dist, or in DIST
#   scripts/dist-test.sh --run        and `tare run quick` from the archive, if the binary has the catalogue
#   scripts/dist-test.sh --crates     and each crate, as the registry would get it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly dist=${DIST:-$PWD/target/dist}
work=$(mktemp -d)
server=
finish() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
passed=0 failed=0 skipped=0

say() { printf 'dist-test: %s\n' "$*" >&2; }
fail() {
    say "FAILED $1: $2"
    return 1
}
skip() { # TEST REASON
    if [[ ${TARE_TEST_ALL-} == 1 ]]; then
        fail "$1" "$2, and with TARE_TEST_ALL=1 nothing may be skipped" || failed=$((failed + 1))
    else
        say "SKIPPED $1: $2"
        skipped=$((skipped + 1))
    fi
}
# Each in a folder of its own, beside the others: mostly they wait for measurements, whose figures do not matter here.
pids=()
trial() { # TEST PACKAGE
    local place=$work/$1
    mkdir "$place"
    if [[ ! -f $2 ]]; then
        fail "$1" "no such package: run make dist" || failed=$((failed + 1))
        return
    fi
    ("$1" "$2" && say "passed $1: ${2##*/}") &
    pids+=($!)
}
results() {
    local pid
    for pid in "${pids[@]}"; do
        if wait "$pid"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    pids=()
}

# A server to load: the answers of one file.
serve() {
    mkdir "$work/served" && printf 'hello\n' >"$work/served/hello"
    : >"$work/server.log"
    python3 -u -m http.server --protocol HTTP/1.1 --bind 127.0.0.1 --directory "$work/served" 0 >"$work/server.log" 2>&1 &
    server=$!
    local tries
    for tries in {1..50}; do
        port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server.log")
        [[ -z $port ]] || return 0
        sleep 0.1
    done
    say "no server to load after $tries tries: $(cat "$work/server.log")"
    return 1
}

# As a user has it after an install: an empty folder, and none of our variables.
outside() { (mkdir -p "$place/empty" && cd "$place/empty" && env -i HOME="$place/empty" PATH="$path" "$@"); }

# The first command of many users, to its verdict. It is a process of Python against itself: any verdict is right.
compares() { # TARE TEST
    local out status=0 serve='python3 -m http.server {port} --bind 127.0.0.1'
    out=$(outside "$1" compare "$serve" "$serve" --get / --budget 6s 2>"$place/compare.err") || status=$?
    case $status in
        0 | 3 | 4 | 5 | 6) grep -qE '^(PASS|FAIL|WORSE|INCONCLUSIVE|INVALID)' <<<"$out" || fail "$2" "tare compare has no verdict: $out" ;;
        *) fail "$2" "tare compare ended with $status: $(tail -n 3 "$place/compare.err")" ;;
    esac
}

# The first command of whoever chooses a framework, from the catalogue in the binary: the raw socket needs no toolchain.
ranks() { # TARE TEST
    local status=0
    outside "$1" run quick --budget 6s --services raw-socket >"$place/table.txt" 2>"$place/table.err" || status=$?
    if [[ $status != [04] ]] || ! grep -q '^raw-socket ' "$place/table.txt"; then
        fail "$2" "tare run quick ended with $status: $(tail -n 3 "$place/table.err")"
    fi
}

# The binary and its files, below a prefix; an npm package has the completions elsewhere. PREFIX TEST [SHARE]
is_whole() {
    local tare=$1/bin/tare share=${3-$1/share} page version
    version=$(outside "$tare" --version) || fail "$2" 'tare --version' || return
    [[ $version == "tare "* ]] || fail "$2" "its version is \"$version\"" || return
    outside "$tare" examples | grep -q 'tare compare' || fail "$2" 'tare examples' || return
    # On a busy machine its figures are not valid, which it says by 4.
    outside "$tare" load -n 200 -c 2 -d 30s --json "http://127.0.0.1:$port/hello" >"$place/load.json" ||
        [[ $? == 4 ]] || fail "$2" "tare load: $(tail -c 400 "$place/load.json")" || return
    grep -q '"verdict"' "$place/load.json" || fail "$2" 'tare load has no verdict' || return
    compares "$tare" "$2" || return
    ranks "$tare" "$2" || return
    outside "$tare" completions bash | cmp -s - "$share/bash-completion/completions/tare" ||
        fail "$2" 'other completions than the binary prints' || return
    for page in tare tare-compare tare-load tare-man; do
        compgen -G "$1/share/man/man1/$page.1*" >/dev/null || fail "$2" "no page $page" || return
    done
    grep -q '"bomFormat": "CycloneDX"' "${4-$share}/doc/tare-http/sbom.cdx.json" || fail "$2" 'no bill of materials' || return
    # shellcheck source=/dev/null
    (set +u && . "$share/bash-completion/completions/tare" && complete -p tare >/dev/null) ||
        fail "$2" 'bash does not take the completions'
}

an_archive_unpacks() {
    mkdir "$place/tar" && tar --extract --file "$1" --directory "$place/tar" --strip-components 1
    is_whole "$place/tar" "${FUNCNAME[0]}"
}

a_wheel_installs_in_an_empty_environment() {
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" --quiet --disable-pip-version-check install --no-index "$1" >&2 || fail "${FUNCNAME[0]}" pip || return
    is_whole "$place/venv" "${FUNCNAME[0]}" || return
    "$place/venv/bin/pip" --quiet --disable-pip-version-check uninstall --yes tare-http
    [[ ! -e $place/venv/bin/tare && ! -e $place/venv/share/man/man1/tare.1 ]] || fail "${FUNCNAME[0]}" 'pip left files behind'
}

# The registry is not asked: of the two packages that a user would get, this one installs both. Other architectures are absent, as
# npm leaves out an optional dependency that cannot be had.
an_npm_package_installs_in_an_empty_prefix() {
    local prefix=$place/npm modules=$place/npm/lib/node_modules
    # The place may be below a folder whose package.json or cache says otherwise.
    mkdir "$prefix" && HOME=$place npm install --global --prefix "$prefix" --cache "$place/cache" --offline --ignore-scripts --no-audit \
        --no-fund --loglevel=error "${1%/*}"/tare-http-linux-*.tgz "$1" >"$place/npm.log" 2>&1 ||
        fail "${FUNCNAME[0]}" "$(tail -n 5 "$place/npm.log")" || return
    is_whole "$prefix" "${FUNCNAME[0]}" "$modules/tare-http/share" "$(echo "$modules"/tare-http-linux-*)/share" || return
    HOME=$place npm uninstall --global --prefix "$prefix" --cache "$place/cache" --offline tare-http >/dev/null 2>&1
    [[ ! -e $prefix/bin/tare && ! -e $prefix/share/man/man1/tare.1 ]] || fail "${FUNCNAME[0]}" 'npm left files behind'
}

# What a checksum is for: each package is named, and is what was packed.
every_package_has_its_checksum() {
    local package
    (cd "${1%/*}" && sha256sum --quiet --check SHA256SUMS >&2) || fail "${FUNCNAME[0]}" 'other files than were packed' || return
    for package in "${1%/*}"/*; do
        [[ $package == "$1" ]] || grep -qF "  ${package##*/}" "$1" || fail "${FUNCNAME[0]}" "not named: ${package##*/}" || return
    done
}

# Minutes of building services, on a machine that has their toolchains.
the_catalogue_is_in_the_binary() {
    mkdir "$place/tar" && tar --extract --file "$1" --directory "$place/tar" --strip-components 1
    path=$PATH outside "$place/tar/bin/tare" run quick --budget 20s >"$place/run.txt" 2>"$place/run.err" ||
        fail "${FUNCNAME[0]}" "tare run quick: $(tail -n 3 "$place/run.err")" || return
    grep -q 'raw-socket' "$place/run.txt" || fail "${FUNCNAME[0]}" 'the table has no raw-socket'
}

# By dpkg itself, in a root that has no other package; then it runs there, with the libraries that it names.
a_debian_package_installs_in_an_empty_root() {
    local root=$place/root library
    mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$root/var/log" && : >"$root/var/lib/dpkg/status"
    dpkg --root="$root" --force-depends --force-script-chrootless --install "$1" >"$place/dpkg.log" 2>&1 ||
        fail "${FUNCNAME[0]}" "$(tail -n 3 "$place/dpkg.log")" || return
    dpkg --root="$root" --verify tare-http || fail "${FUNCNAME[0]}" 'other files than in the package' || return
    is_whole "$root/usr" "${FUNCNAME[0]}" || return
    while read -r library; do
        install -D "$library" "$root$library"
    done < <(ldd "$root/usr/bin/tare" 2>/dev/null | grep -o '/[^ ]*')
    chroot "$root" /usr/bin/tare --version >/dev/null || fail "${FUNCNAME[0]}" 'it does not run in the empty root' || return
    dpkg --root="$root" --purge tare-http >/dev/null 2>&1
    [[ ! -e $root/usr/bin/tare ]] || fail "${FUNCNAME[0]}" 'dpkg left files behind'
}

# Each crate as the registry would get it: it builds from its package alone.
every_crate_is_a_package() {
    local packages
    mapfile -t packages < <(sed -n 's/^name = "\(tare-.*\)"/--package=\1/p' crates/*/Cargo.toml parts/*/Cargo.toml)
    "${CARGO:-cargo}" package --locked --allow-dirty --quiet "${packages[@]}" >&2 || fail "${FUNCNAME[0]}" 'cargo package'
}

main() {
    local port archives=("$dist"/*.tar.gz) wheels=("$dist"/*.whl) debs=("$dist"/*.deb) npms=("$dist"/tare-http-[0-9]*.tgz)
    # Of the programs of this machine, what a shebang of npm's needs as well.
    local path=/usr/bin:/bin
    serve
    trial every_package_has_its_checksum "$dist/SHA256SUMS"
    trial an_archive_unpacks "${archives[0]}"
    if python3 -m ensurepip --version >/dev/null 2>&1; then
        trial a_wheel_installs_in_an_empty_environment "${wheels[0]}"
    else
        skip a_wheel_installs_in_an_empty_environment 'no python3 -m venv here'
    fi
    if command -v npm >/dev/null; then
        path=$(dirname "$(command -v node)"):$path trial an_npm_package_installs_in_an_empty_prefix "${npms[0]}"
    else
        skip an_npm_package_installs_in_an_empty_prefix 'no npm here'
    fi
    if ! command -v dpkg-deb >/dev/null; then
        skip a_debian_package_installs_in_an_empty_root 'no dpkg here'
    elif [[ $(id -u) != 0 ]]; then
        skip a_debian_package_installs_in_an_empty_root 'only root may install into a root'
    else
        trial a_debian_package_installs_in_an_empty_root "${debs[0]}"
    fi
    results
    if [[ " $* " == *' --run '* ]]; then
        trial the_catalogue_is_in_the_binary "${archives[0]}"
        results
    fi
    # Minutes of compiling, and nothing that depends on the packages above.
    if [[ " $* " == *' --crates '* ]]; then
        trial every_crate_is_a_package Cargo.toml
        results
    fi
    printf 'dist-test: %s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
    ((failed == 0))
}

main "$@"
