#!/bin/sh
# `tare` as the documents call it. What measures only plans, since a test has no hours; what serves ends by itself; what sets up a
# repository gets a fresh one. All else is run as it is written.
case "$1" in
    run | compare | slo | selftest | bisect | history)
        case " $* " in
            *" --dry-run "* | *" --resume "*) exec "$TARE" "$@" ;;
            *) exec "$TARE" "$@" --dry-run ;;
        esac
        ;;
    load)
        case " $* " in
            # There are no agents: only the words are read. agents.rs and agents_apart.rs have some.
            *" --agents "*) exec "$TARE" "$@" --help ;;
            *" --calibrate "*) exec "$TARE" "$@" ;;
            *) exec "$TARE" "$@" --dry-run ;;
        esac
        ;;
    init)
        fresh=$(mktemp -d -p "$PLACE") && cp "$PLACE/server.js" "$fresh" && cd "$fresh" || exit 1
        exec "$TARE" "$@" --no-compare
        ;;
    agent)
        case " $* " in
            # What follows is words of the service.
            *" -- "*) exec "$TARE" agent --help ;;
            *" --listen "*) exec "$TARE" "$@" --help ;;
            *) exec "$TARE" "$@" ;;
        esac
        ;;
    cluster)
        case "$2" in
            plan) exec "$TARE" "$@" ;;
            # There is no cluster: only the words are read. crates/cli/tests/e2e/cluster has one.
            *) exec "$TARE" "$@" --help ;;
        esac
        ;;
    serve)
        shift
        exec timeout --preserve-status --signal=INT 2 "$TARE" serve "$@" --port 0
        ;;
    doctor)
        case " $* " in
            # It would install packages: only the words are read.
            *" --install "*) exec "$TARE" "$@" --help ;;
        esac
        # Something is missing on most machines, and it says so by 1.
        "$TARE" "$@" || [ $? -eq 1 ]
        ;;
    *) exec "$TARE" "$@" ;;
esac
