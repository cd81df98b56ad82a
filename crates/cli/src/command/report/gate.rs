//! What the checks of a document mean for the exit status.

use tare_report::{
    Document,
    document::{Check, Kind, Verdict},
};

use crate::exit::Outcome;

/// How a gate of these checks ends. Where nothing was asked, or nothing could be, nothing was passed either.
pub fn outcome(document: &Document) -> Outcome {
    let failed = match document.kind {
        // Nothing is asked of its rows but that they do what they must.
        Kind::Campaign | Kind::Grid => Outcome::ServiceFailed,
        _ => Outcome::GateFailed,
    };
    let of = |check: &Check| match check.verdict {
        Verdict::Passed => Some(Outcome::Fine),
        Verdict::Failed => Some(failed),
        Verdict::Invalid => Some(Outcome::MeasurementInvalid),
        Verdict::Inconclusive => Some(Outcome::Inconclusive),
        Verdict::LeftOut => None,
    };
    document.checks.iter().filter_map(of).reduce(Outcome::graver).unwrap_or(Outcome::Inconclusive)
}

#[cfg(test)]
mod tests {
    use tare_report::document::{FORMAT, Status};

    use super::*;

    fn ends(kind: Kind, verdicts: &[Verdict]) -> Outcome {
        let checks = verdicts.iter().map(|verdict| Check::new("any", *verdict, "")).collect();
        let document = Document {
            format: FORMAT,
            kind,
            title: String::new(),
            question: String::new(),
            answer: String::new(),
            began: String::new(),
            status: Status::Complete,
            damage: Vec::new(),
            notes: Vec::new(),
            facts: Vec::new(),
            checks,
            sections: Vec::new(),
        };
        outcome(&document)
    }

    #[test]
    fn the_gravest_check_decides() {
        use Verdict::{Failed, Inconclusive, Invalid, LeftOut, Passed};
        for (kind, verdicts, expected) in [
            (Kind::Campaign, &[Passed, LeftOut][..], Outcome::Fine),
            (Kind::Campaign, &[Passed, Invalid, Failed], Outcome::ServiceFailed),
            (Kind::Comparison, &[Passed, Failed, Invalid], Outcome::GateFailed),
            (Kind::Comparison, &[Inconclusive, Passed, Invalid], Outcome::MeasurementInvalid),
            (Kind::Comparison, &[Inconclusive, Passed], Outcome::Inconclusive),
            (Kind::Grid, &[Failed], Outcome::ServiceFailed),
            (Kind::Capacity, &[Failed, Passed], Outcome::GateFailed),
            (Kind::Grid, &[LeftOut], Outcome::Inconclusive),
            (Kind::History, &[], Outcome::Inconclusive),
        ] {
            assert_eq!(ends(kind, verdicts), expected, "{kind:?} {verdicts:?}");
        }
    }
}
