# Ends the cluster in the folder $1 once standard input ends, that is, once the process that started it is gone. If $2 is not empty,
# the names of its cgroups begin with it.
cat >/dev/null
for attempt in 1 2 3 4 5; do
    for environment in /proc/[0-9]*/environ; do
        pid=${environment#/proc/}
        pid=${pid%/environ}
        folder=$(readlink "/proc/$pid/cwd")
        if grep -qzxF "TARE_ENGINE=$1" "$environment" ||
            { [ "${folder% (deleted)}" = "$1" ] && case $(readlink "/proc/$pid/exe") in */slurm*) ;; *) false ;; esac; } ||
            { grep -qzxF "SLURM_CONF=$1/slurm.conf" "$environment" && grep -qz '^SLURM_JOB_ID=' "$environment"; }; then
            kill -9 "$pid"
        fi
    done
    sleep 0.2
    [ -z "$2" ] || find /sys/fs/cgroup -maxdepth 2 -type d -name "$2*" | while read -r cgroup; do
        find "$cgroup" -depth -type d -exec rmdir {} ';'
    done
done 2>/dev/null
rm -rf "$1"
