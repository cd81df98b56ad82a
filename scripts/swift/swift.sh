#!/bin/sh
# The `swift` and `swiftc` that scripts/swift.sh makes of Swift in a root of Debian 13: they see that root's /usr in the
# place of this system's, and all else as it is. Nothing of the mount is left when they end.
root=@ROOT@
tool=${0##*/}

# What is linked has the loader and the libraries of the root in it, since those of this system are years older. Libraries
# of Swift look for theirs in other places: the two that they share with all programs are named, so that they are loaded first.
link() {
    for loader in "$root"/usr/lib64/ld-linux-*.so.* "$root"/usr/lib/ld-linux-*.so.*; do
        [ -e "$loader" ] && break
    done
    machine=$(uname -m)-linux-gnu
    for word in "--dynamic-linker=$loader" --disable-new-dtags \
        "-rpath=$root/usr/libexec/swift/lib/swift/linux:$root/usr/lib/$machine:$root/usr/lib" \
        --push-state --no-as-needed -l:libstdc++.so.6 -l:libgcc_s.so.1 -l:libm.so.6 --pop-state; do
        printf '%s\n' -Xlinker "$word"
    done
}

case $tool:${1-} in
    swift:build)
        shift
        # shellcheck disable=SC2046 # no path of a cache has a space that could be kept here
        set -- build $(link) "$@"
        ;;
    swiftc:*)
        case " $* " in
            *' -typecheck '* | *' --version '*) ;;
            # shellcheck disable=SC2046
            *) set -- $(link) "$@" ;;
        esac
        ;;
esac

user=
[ "$(id -u)" = 0 ] || user=--map-root-user
# shellcheck disable=SC2016,SC2086 # the words are for the inner shell; no user is no word
exec unshare --mount $user sh -c 'mount --bind "$0/usr" /usr && exec "$@"' "$root" "/usr/bin/$tool" "$@"
