#!/usr/bin/env bash
# Installs each package of target/dist in an empty place, and uses what is there: the binary, from a folder that has nothing
# of a checkout, the manual pages and the completions. What this machine cannot install is skipped by name; with
# TARE_TEST_ALL=1 that is an error.
#
#   scripts/dist-test.sh              the packages in target/dist, or in DIST
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
trial() { # TEST PACKAGE
    if [[ ! -f $2 ]]; then
        fail "$1" "no such package: run make dist" || failed=$((failed + 1))
    elif ("$1" "$2"); then
        say "passed $1: ${2##*/}"
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
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

# As somebody has it who has just installed it: an empty folder, and none of our variables.
outside() { (mkdir -p "$work/empty" && cd "$work/empty" && env -i HOME="$work/empty" PATH=/usr/bin:/bin "$@"); }

# The binary and its files, below a prefix. PREFIX TEST
is_whole() {
    local tare=$1/bin/tare page version
    version=$(outside "$tare" --version) || fail "$2" 'tare --version' || return
    [[ $version == "tare "* ]] || fail "$2" "its version is \"$version\"" || return
    outside "$tare" examples | grep -q 'tare compare' || fail "$2" 'tare examples' || return
    # On a busy machine its figures are not valid, which it says by 4.
    outside "$tare" load -n 200 -c 2 -d 30s --json "http://127.0.0.1:$port/hello" >"$work/load.json" ||
        [[ $? == 4 ]] || fail "$2" "tare load: $(tail -c 400 "$work/load.json")" || return
    grep -q '"verdict"' "$work/load.json" || fail "$2" 'tare load has no verdict' || return
    outside "$tare" completions bash | cmp -s - "$1/share/bash-completion/completions/tare" ||
        fail "$2" 'other completions than the binary prints' || return
    for page in tare tare-compare tare-load tare-man; do
        compgen -G "$1/share/man/man1/$page.1*" >/dev/null || fail "$2" "no page $page" || return
    done
    (set +u && . "$1/share/bash-completion/completions/tare" && complete -p tare >/dev/null) ||
        fail "$2" 'bash does not take the completions'
}

an_archive_unpacks() {
    mkdir "$work/tar" && tar --extract --file "$1" --directory "$work/tar" --strip-components 1
    is_whole "$work/tar" "${FUNCNAME[0]}"
}

a_wheel_installs_in_an_empty_environment() {
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" --quiet --disable-pip-version-check install --no-index "$1" >&2 || fail "${FUNCNAME[0]}" pip || return
    is_whole "$work/venv" "${FUNCNAME[0]}" || return
    "$work/venv/bin/pip" --quiet --disable-pip-version-check uninstall --yes tare-http
    [[ ! -e $work/venv/bin/tare && ! -e $work/venv/share/man/man1/tare.1 ]] || fail "${FUNCNAME[0]}" 'pip left files behind'
}

# By dpkg itself, in a root that has no other package; then it runs there, with the libraries that it names.
a_debian_package_installs_in_an_empty_root() {
    local root=$work/root library
    mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$root/var/log" && : >"$root/var/lib/dpkg/status"
    dpkg --root="$root" --force-depends --force-script-chrootless --install "$1" >"$work/dpkg.log" 2>&1 ||
        fail "${FUNCNAME[0]}" "$(tail -n 3 "$work/dpkg.log")" || return
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
    local port archives=("$dist"/*.tar.gz) wheels=("$dist"/*.whl) debs=("$dist"/*.deb)
    serve
    trial an_archive_unpacks "${archives[0]}"
    if python3 -m ensurepip --version >/dev/null 2>&1; then
        trial a_wheel_installs_in_an_empty_environment "${wheels[0]}"
    else
        skip a_wheel_installs_in_an_empty_environment 'no python3 -m venv here'
    fi
    if ! command -v dpkg-deb >/dev/null; then
        skip a_debian_package_installs_in_an_empty_root 'no dpkg here'
    elif [[ $(id -u) != 0 ]]; then
        skip a_debian_package_installs_in_an_empty_root 'only root may install into a root'
    else
        trial a_debian_package_installs_in_an_empty_root "${debs[0]}"
    fi
    # Minutes of compiling, and nothing that depends on the packages above.
    if [[ ${1-} == --crates ]]; then
        trial every_crate_is_a_package Cargo.toml
    fi
    printf 'dist-test: %s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
    ((failed == 0))
}

main "$@"
