//! The output of a load by agents, and what the loss of an agent means.

use insta::assert_snapshot;
use tare_agent::{
    AgentRow, ControlError, FleetFinding, FleetReport,
    merge::{ClockFacts, ServiceCpu},
    tails::TailsDiffer,
    window::CountedWindow,
};
use tare_load::{AlignedRun, Limits, evaluate};

use super::{finding, of_instrument, several};
use crate::{
    command::load::output::tests::{
        as_json, as_text, as_wrk,
        fixtures::{Case, cases, histogram},
        schema::never_written,
    },
    exit::{self, Outcome},
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// Two agents: one is late, slow and silent, and its clock offset is not known.
fn agents() -> Case {
    let mut case = Case::open();
    case.name = "agents";
    let row = |address: &str, lag_ns, clock| {
        let mut report = case.report.clone();
        report.total.schedule_lag = histogram(&[(lag_ns, 1_020)]);
        report.aligned = Some(AlignedRun { late_ns: 20_000, answered_at: vec![3, 900] });
        let doubts = evaluate(&report, &Limits::default());
        AgentRow {
            address: address.to_owned(),
            report,
            doubts,
            clock,
            answered_in_window: 490,
            silent_ns: 4 * MS,
        }
    };
    let clock = ClockFacts {
        offset_ns: -7_000_000,
        start_shift_ns: -12_000,
        start_error_ns: 41_000,
        end_error_ns: 52_000,
        drift_ppm: -1.5,
        round_trip_ns_min: 80_000,
    };
    let rows = vec![row("10.0.0.7:7070", 4_000, Some(clock)), row("10.0.0.8:7070", 3 * MS, None)];
    let tails = TailsDiffer { p99_ns: 5 * MS, highest: (1, 0.02), lowest: (0, 0.001) };
    let [one, other] = [0, 1].map(|agent: usize| rows[agent].address.clone());
    let findings = vec![
        FleetFinding::Agent { agent: other.clone(), doubts: rows[1].doubts.clone() },
        FleetFinding::Silent { agent: other.clone(), ns: 2 * S },
        FleetFinding::Clocks { agent: other.clone() },
        FleetFinding::Unaligned,
        FleetFinding::Tails { high: other, low: one, found: tails },
    ];
    let fleet = FleetReport {
        total: case.report.clone(),
        counted: Some(CountedWindow { from_ns: MS, to_ns: 999 * MS, uncertainty_ns: 52_000 }),
        rows,
        service_cpu: Some(ServiceCpu { cpu_ns: 300 * MS, between_ns: 998 * MS, ns_per_answer: 306_122.4 }),
        findings,
    };
    case.findings = fleet.findings.iter().map(finding).collect();
    case.several = Some(several(&fleet, &case.load));
    case
}

#[test]
fn each_form_has_what_agents_add() {
    let case = agents();
    assert_snapshot!("text_agents", as_text(&case));
    assert_snapshot!("wrk_agents", as_wrk(&case));
    assert_snapshot!("json_agents", as_json(&case));
}

#[test]
fn the_schema_describes_nothing_that_is_never_written() {
    let never = never_written(cases().iter().chain([&agents()]));
    assert!(never.is_empty(), "described and never written: {never:?}");
}

/// A lost agent is no fault of a service, and not success either.
#[test]
fn an_error_says_whose_it_is() {
    let lost = || ControlError::Lost { address: "127.0.0.1:1".to_owned(), reason: "closed".to_owned() };
    let said = of_instrument(lost().into());
    assert_eq!(said.to_string(), lost().to_string());
    assert_eq!(exit::of_error(&said), Outcome::MeasurementInvalid);
    assert_eq!(exit::of_error(&of_instrument(ControlError::NoAgent.into())), Outcome::SetUp);
}
