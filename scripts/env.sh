# shellcheck shell=bash
# Sourced by every recipe of the Makefile, and by whoever runs `tare` by hand: puts on PATH what scripts/setup.sh found
# or installed outside of it. What is on PATH already wins over ~/.cargo/bin and over the .NET of .tare/tools/dotnet;
# .tare/tools/bin has only what must win.

tare_top=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)
case ":$PATH:" in
    *":$tare_top/.tare/tools/bin:"*) ;;
    *)
        PATH="$tare_top/.tare/tools/bin:$PATH:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$tare_top/.tare/tools/dotnet/bin:$tare_top/.tare/tools/swift/bin"
        export PATH
        ;;
esac
unset tare_top
