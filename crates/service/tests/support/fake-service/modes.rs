//! The modes in which the fake service misbehaves, in one table without their implementation.

use std::fmt::Write;

macro_rules! modes {
    ($($mode:ident $name:literal $what:literal)*) => {
        /// What is wrong with the service.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Mode {
            $(#[doc = $what] $mode,)*
        }

        /// Every mode with its name and description.
        const TABLE: &[(Mode, &str, &str)] = &[$((Mode::$mode, $name, $what),)*];
    };
}

modes! {
    Correct             "correct"                "honours all contracts"
    NeverReady          "never-ready"            "runs, but never listens"
    ExitsEarly          "exits-early"            "prints an error and ends with status 1 before it listens"
    SlowStart           "slow-start"             "listens only after 3 s"
    CrashesUnderLoad    "crashes-under-load"     "ends with status 3 at its 1500th request"
    StopsUnderLoad      "stops-under-load"       "stops itself (SIGSTOP) at its 1500th request"
    DropsAtFirst        "drops-at-first"         "closes the connection in place of its first 64 answers while more than 4 are open"
    IgnoresSigterm      "ignores-sigterm"        "keeps running after SIGTERM"
    LeaksChild          "leaks-child"            "leaves a child in its process group that ignores SIGTERM"
    LeaksSession        "leaks-session"          "leaves a child in a session of its own that ignores SIGTERM"
    WrongBody           "wrong-body"             "sends another body of the same length"
    WrongLength         "wrong-length"           "promises one byte less than it sends"
    Caches              "caches"                 "answers labels and echo with what it answered first"
    ClosesAfterResponse "closes-after-response"  "says Connection: close and closes after each response"
    ResetsAfterResponse "resets-after-response"  "resets the connection after each response, though it promised to keep it"
    Stalls              "stalls"                 "never answers every 50th request"
    HalfAnswer          "half-answer"            "sends half of each response and closes"
    StatusOkBang        "status-ok-bang"         "answers OK! to /test/status"
    LowercaseFramework  "lowercase-framework"    "answers {\"hello\":\"world\"} to /framework"
    IgnoresCount        "ignores-count"          "always makes 10000 strings"
    LabelsOfThree       "labels-of-three"        "knows only labels of exactly three characters"
    No404               "no-404"                 "answers 200 to every path"
    AcceptsBadJson      "accepts-bad-json"       "answers 200 to any posted body"
    FrozenDate          "frozen-date"            "sends a Date header that never moves"
    DateInThePast       "date-in-the-past"       "sends the Date of an hour ago"
    DateStops           "date-stops"             "sends a Date that stands still from the 5000th answer on"
    PrefixRouter        "prefix-router"          "answers whatever begins with /api as /api/test"
    HastyWithChunks     "hasty-with-chunks"      "refuses a chunked request whose body does not come with its head"
    FailsAtSigterm      "fails-at-sigterm"       "ends with status 1 at SIGTERM"
    EndsWith143         "ends-with-143"          "ends with status 143 at SIGTERM"
    ReordersPipeline    "reorders-pipeline"      "answers the second of two pipelined requests first"
    ClosesAt5000        "closes-at-5000"         "says Connection: close and closes at the 5000th request of a connection"
    WrongInCrowd        "wrong-in-crowd"         "sends another body while more than 32 connections are open"
    StarvesCrowd        "starves-crowd"          "serves only THREADS connections at a time, each to its end"
    WornByBadInput      "worn-by-bad-input"      "answers 404 to all once it has refused 30 requests"
    DiesLoaded          "dies-loaded"            "ends with status 1 at SIGTERM if more than 8 connections are open"
    HangsLoaded         "hangs-loaded"           "does not end at SIGTERM if more than 8 connections are open"
    BurnsCpu            "burns-cpu"              "spends 100 µs of CPU on every answer before it sends it"
    ClosesIdle          "closes-idle"            "closes a connection on which nothing came for 1.2 s, and says nothing"
    LeavesCpus          "leaves-cpus"            "allows itself all CPUs"
    LowersPriority      "lowers-priority"        "sets its nice value to 7"
    RaisesPriority      "raises-priority"        "sets its nice value to -19, which only root may"
    WrongIn1000         "wrong-in-1000"          "sends another body of the same length each 1000th time"
    WrongIn1500         "wrong-in-1500"          "the same each 1500th time"
    LongerIn1500        "longer-in-1500"         "sends a body that is one byte longer each 1500th time"
    OtherRowIn1500      "other-row-in-1500"      "answers each 1500th request for a row of its table with the first row"
    WrongAtFirst        "wrong-at-first"         "sends another body while it has had at most 50 requests and has more than 4 connections"
    LateIn500           "late-in-500"            "sends each 500th answer 50 ms late"
    Leaks               "leaks"                  "keeps 4 KiB of memory for each request"
    CompilesLate        "compiles-late"          "spends 100 µs of CPU on every answer until it is 10 s old"
    StartsLateAndSteps  "starts-late-and-steps"  "listens after 3 s, and spends 100 µs on every answer until it is 6 s old"
    Races               "races"                  "answers what another connection has just asked for, if they meet"
    ClosesAt1000        "closes-at-1000"         "closes a connection after 1000 answers, and says nothing"
    ClosesAtThaw        "closes-at-thaw"         "takes an interrupted read for an error of the connection"
    DiesAtThaw          "dies-at-thaw"           "ends with status 1 when a read is interrupted"
    OneToken            "one-token"              "gives every session the same token, which works for one item"
    OtherSession        "other-session"          "answers who logged in last as the owner of any item"
    NoTokenIn100        "no-token-in-100"        "gives each 100th session no token"
    DropsPipelined      "drops-second-pipelined" "forgets the second of two pipelined requests"
}

impl Mode {
    /// The mode with this name, or one line that lists all.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let found = TABLE.iter().find(|(_, known, _)| *known == name);
        found.map(|(mode, ..)| *mode).ok_or_else(|| {
            let names: Vec<&str> = TABLE.iter().map(|(_, known, _)| *known).collect();
            format!("FAKE is {name:?}, but must be one of: {}", names.join(" "))
        })
    }

    /// The table, one line for each mode.
    pub(crate) fn help() -> String {
        let mut text = String::from("FAKE=MODE makes this service misbehave:\n");
        for (_, name, what) in TABLE {
            let _ = writeln!(text, "  {name:<24}{what}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_a_name_of_its_own_and_a_line_in_the_help() {
        for (mode, name, what) in TABLE {
            assert_eq!(Mode::parse(name).as_ref(), Ok(mode));
            assert!(Mode::help().contains(&format!("  {name:<24}{what}\n")));
        }
        let error = Mode::parse("corect").unwrap_err();
        assert!(error.starts_with("FAKE is \"corect\", but must be one of: correct never-ready "), "{error}");
    }
}
