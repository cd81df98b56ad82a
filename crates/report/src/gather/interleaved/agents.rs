//! The agents that sent the load of a run, as a line for the head of the page.

use tare_analysis::{
    agents::{AgentSummary, summaries},
    figures::time,
};
use tare_base::units::several;
use tare_bench::folder::StoredRun;

use crate::document::Fact;

/// `None` if the generator on the machine of the services sent the load.
pub(super) fn fact(stored: &StoredRun) -> Option<Fact> {
    let agents = summaries(stored);
    let each: Vec<String> = agents.iter().map(words).collect();
    let count = several(agents.len(), "agent");
    (!agents.is_empty()).then(|| Fact::new("Load from", format!("{count}: {}", each.join("; "))).brief())
}

fn words(agent: &AgentSummary) -> String {
    let AgentSummary { address, slices, verdicts, late_ns_max, clock_error_ns_max } = agent;
    if *slices == 0 {
        return format!("{address} reported no slice");
    }
    let verdicts: Vec<String> =
        verdicts.iter().map(|(verdict, count)| format!("{verdict} in {count}")).collect();
    format!(
        "{address} was {} of {}, began at most {} late, its clock known to {}",
        verdicts.join(", "),
        several(*slices, "slice"),
        time(*late_ns_max as f64),
        time(*clock_error_ns_max as f64)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_agent_says_its_verdicts_and_how_well_it_was_aligned() {
        let verdicts = BTreeMap::from([("late".to_owned(), 1), ("valid".to_owned(), 23)]);
        let (late_ns_max, clock_error_ns_max) = (21_000, 304_000);
        let address = "10.0.0.7:7070".to_owned();
        let agent = AgentSummary { address, slices: 24, verdicts, late_ns_max, clock_error_ns_max };
        let expected = "10.0.0.7:7070 was late in 1, valid in 23 of 24 slices, began at most 21.0 µs late, its clock known to 304 µs";
        assert_eq!(words(&agent), expected);
        let address = "a:1".to_owned();
        assert_eq!(words(&AgentSummary { address, ..AgentSummary::default() }), "a:1 reported no slice");
    }
}
