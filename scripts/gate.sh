#!/bin/sh
# The gate of a pull request: compares the candidate with its base on this machine, and ends with 0 if the job may pass.
#
#   GATE_SERVICE  the command of the service, or its name in tare.toml
#   GATE_GET      paths to ask for, separated by spaces; none if the service has a contract
#   GATE_BASE     the revision to compare with [origin/HEAD]; compared is the commit where HEAD parted from it
#   GATE_DELTA    the smallest regression that matters [3%]
#   GATE_BUDGET   time for measuring [2m]
#   GATE_FAIL_ON  regression, worse or inconclusive [regression]
#   GATE_OUT      folder of the run, of gate.md and gate.xml [tare-gate]
#   TARE          the program [tare]
set -u

tare=${TARE:-tare}
out=${GATE_OUT:-tare-gate}
base=${GATE_BASE:-origin/HEAD}
fail_on=${GATE_FAIL_ON:-regression}

case $fail_on in
    regression | worse | inconclusive) ;;
    *)
        echo "GATE_FAIL_ON: \"$fail_on\": write regression, worse or inconclusive" >&2
        exit 1
        ;;
esac

set -- "${GATE_SERVICE:?names the service}" --revisions "$base...HEAD" --metric cpu \
    --delta "${GATE_DELTA:-3%}" --budget "${GATE_BUDGET:-2m}" --out "$out/run"
for path in ${GATE_GET:-}; do
    set -- "$@" --get "$path"
done

"$tare" compare "$@"
status=$?

# What cannot be reported has said so already.
"$tare" show "$out/run" --format markdown >"$out/gate.md" 2>/dev/null
"$tare" report "$out/run" --format junit --out "$out/gate.xml" >/dev/null 2>&1
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -s "$out/gate.md" ]; then
    cat "$out/gate.md" >>"$GITHUB_STEP_SUMMARY"
fi

case $status in
    0) verdict=pass ;;
    3) verdict=fail ;;
    4) verdict=invalid ;;
    5) verdict=inconclusive ;;
    6) verdict=worse ;;
    *) verdict=error ;;
esac
[ -z "${GITHUB_OUTPUT:-}" ] || echo "verdict=$verdict" >>"$GITHUB_OUTPUT"

case $verdict:$fail_on in
    inconclusive:regression | inconclusive:worse | worse:regression)
        echo "tare: $verdict; fail-on is $fail_on, so the job passes" >&2
        exit 0
        ;;
esac
exit $status
