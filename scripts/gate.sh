#!/bin/sh
# The gate of a pull request: compares the candidate with its base on this machine, and ends with 0 if the job may pass.
#
#   GATE_SERVICE  the command of the service, or its name in tare.toml
#   GATE_NAME     in place of it: a gate of tare.toml, which may say all that follows
#   GATE_GET      paths to ask for, separated by spaces; none if the service has a contract
#   GATE_BASE     the revision to compare with [origin/HEAD]; compared is the commit where HEAD parted from it
#   GATE_DELTA    the smallest regression that matters [3%]
#   GATE_BUDGET   time for measuring [2m]
#   GATE_FAIL_ON  regression, worse or inconclusive [regression]
#   GATE_AGAIN    false: do not measure the candidate a second time, against itself [true]
#   GATE_OUT      folder of the run, of gate.md and gate.xml [tare-gate]
#   TARE          the program [tare]
set -u

# A job runs what the repository says in any case.
export TARE_TRUST=1

tare=${TARE:-tare}
out=${GATE_OUT:-tare-gate}

if [ -n "${GATE_NAME:-}" ]; then
    set -- --gate "$GATE_NAME" ${GATE_BASE:+--revisions "$GATE_BASE...HEAD"} ${GATE_DELTA:+--delta "$GATE_DELTA"} \
        ${GATE_BUDGET:+--budget "$GATE_BUDGET"} ${GATE_FAIL_ON:+--fail-on "$GATE_FAIL_ON"}
else
    set -- "${GATE_SERVICE:?names the service}" --revisions "${GATE_BASE:-origin/HEAD}...HEAD" --metric cpu \
        --delta "${GATE_DELTA:-3%}" --budget "${GATE_BUDGET:-2m}" --fail-on "${GATE_FAIL_ON:-regression}"
fi
for path in ${GATE_GET:-}; do
    set -- "$@" --get "$path"
done
[ "${GATE_AGAIN:-true}" = false ] || set -- "$@" --again

"$tare" compare "$@" --out "$out/run"
status=$?

# What cannot be reported has said so already. The status of `show` is that of the result, whatever fails the job.
"$tare" show "$out/run" --format markdown >"$out/gate.md" 2>/dev/null
result=$?
"$tare" report "$out/run" --format junit --out "$out/gate.xml" >/dev/null 2>&1
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -s "$out/gate.md" ]; then
    cat "$out/gate.md" >>"$GITHUB_STEP_SUMMARY"
fi

case $result in
    0) verdict=pass ;;
    3) verdict=fail ;;
    4) verdict=invalid ;;
    5) verdict=inconclusive ;;
    6) verdict=worse ;;
    *) verdict=error ;;
esac
[ -z "${GITHUB_OUTPUT:-}" ] || echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
exit $status
