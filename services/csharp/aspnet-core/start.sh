#!/bin/sh
# Starts the service with a pool of THREADS threads. .NET reads these variables (hexadecimal) before the program runs,
# and from inside a program the pool cannot be made smaller than the number of CPUs. COMPlus_ is for .NET Core 3.1.
set -eu
cd "$(dirname "$0")"

case ${THREADS-1} in
    '' | 0* | *[!0-9]* | ?????*) ;; # the program says what is wrong with it
    *)
        size=$(printf '%x' "${THREADS-1}")
        export DOTNET_ThreadPool_ForceMinWorkerThreads="$size" DOTNET_ThreadPool_ForceMaxWorkerThreads="$size"
        export COMPlus_ThreadPool_ForceMinWorkerThreads="$size" COMPlus_ThreadPool_ForceMaxWorkerThreads="$size"
        ;;
esac
exec dotnet build/app/service.dll
