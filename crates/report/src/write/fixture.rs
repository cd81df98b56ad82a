//! Handmade documents for the tests of all formats: one with every feature, one with hostile names, and
//! arbitrary ones.

use proptest::prelude::*;

use tare_analysis::verdict::Absence;

use crate::document::{
    Chart, Check, Column, Document, FORMAT, Fact, Kind, Scale, Section, Shape, Status, Table, Tone, Unit,
    Value, Verdict,
};

/// Hostile names of services.
pub const HOSTILE: [&str; 6] =
    ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a|b\nc", "עברית", "\u{1b}[31mred\u{0}", "]]>&`*_"];

/// A run of three services, all units, a section without a table and one that is too long for a README.
pub fn interleaved() -> Document {
    Document {
        format: FORMAT,
        kind: Kind::Interleaved,
        title: "Sample".to_owned(),
        question: "Which of them is fastest?".to_owned(),
        answer: "The fastest service is fast: it has 81.2% of reference's throughput.".to_owned(),
        basis: "Fast has 81.2% (80.1 .. 82.4%) of reference's throughput.".to_owned(),
        began: "2026-11-22T01:00:00Z".to_owned(),
        status: Status::Complete,
        damage: Vec::new(),
        cautions: vec!["others took 9% of the CPUs".to_owned()],
        notes: vec!["2 CPUs were shared with the generator".to_owned()],
        facts: vec![Fact::new("Machine", "2 CPUs"), Fact::code("Command", "tare run x.toml --seed 7")],
        checks: vec![
            Check::new("raw-socket", Verdict::Pass, "231 k/s"),
            Check::new("fast", Verdict::Pass, "188 k/s"),
            Check::new(
                "slow",
                Verdict::ServiceFailed,
                "its answer to GET /json was wrong: expected {}, got []",
            ),
            Check::new("loud", Verdict::Invalid, "the generator was the limit"),
            Check::new("near", Verdict::Inconclusive, "6 blocks do not tell"),
            Check::new("absent", Verdict::LeftOut(Absence::NotOnThisMachine), "go is not installed"),
        ],
        sections: vec![ranks(), without(), slices(60)],
    }
}

fn ranks() -> Section {
    let columns = vec![
        Column::new("label", "Service", Unit::Text).facet(),
        Column::new("rank", "Rank", Unit::Count),
        Column::new("per_second", "req/s", Unit::PerSecond),
        Column::new("times", "of reference", Unit::Share)
            .help("Throughput as a share of the reference's, block by block.")
            .interval("times_low", "times_high")
            .bar(),
        Column::new("times_low", "low", Unit::Share).hidden(),
        Column::new("times_high", "high", Unit::Share).hidden(),
        Column::new("cpu_ns", "CPU/req", Unit::Nanoseconds),
        Column::new("cpu_times", "CPU of reference", Unit::Times),
        Column::new("rss_bytes", "RSS", Unit::Bytes),
        Column::new("noise", "Noise", Unit::Number),
        Column::new("valid", "Valid", Unit::Flag),
        Column::new("state", "State", Unit::Text),
    ];
    let mut table = Table::new("Services by throughput", columns);
    let share = |value: f64, by: f64| [Value::from(value), (value - by).into(), (value + by).into()];
    let row = |label: &str, rank: u64, rate: f64, share: [Value; 3], cpu: f64, valid: bool| {
        let [times, low, high] = share;
        let state = Value::from("measured");
        let (cpu_times, rss, noise) =
            (Value::from(cpu / 4000.0), Value::from(7_340_032_u64), Value::from(-0.25));
        vec![
            label.into(),
            rank.into(),
            rate.into(),
            times,
            low,
            high,
            cpu.into(),
            cpu_times,
            rss,
            noise,
            valid.into(),
            state,
        ]
    };
    table.rows.push(row("raw-socket", 1, 231_456.75, [1.0.into(), Value::None, Value::None], 4000.0, true));
    table.rows.push(row("fast", 1, 187_942.0, share(0.8125, 0.0625), 5214.5, true));
    let mut failed = vec![Value::None; table.columns.len()];
    failed[0] = "slow".into();
    failed[10] = false.into();
    failed[11] = Value::Word("failed: its answer was wrong", Tone::Bad);
    table.rows.push(failed);
    table.rename("label", |label| label.replace("slow", "Slow"));
    let alt = "Bars of the share of the reference's throughput; the longest is reference, 100%, the shortest fast, 81.2%.";
    Section::new("ranks", "Ranks", "Which services can be separated.", table)
        .chart(Chart::new(Shape::Bars, "times", "label", alt))
        .note("slow is out: its answer was wrong")
}

fn without() -> Section {
    Section::without("footprint", "Footprint", "What a service is besides fast.")
        .note("the run kept none of it")
}

fn slices(count: u64) -> Section {
    let columns = vec![
        Column::new("label", "Service", Unit::Text),
        Column::new("percentile", "Percentile", Unit::Percentile),
        Column::new("began_ns", "Began", Unit::Nanoseconds),
        Column::new("dropped", "Dropped", Unit::Flag),
    ];
    let mut table = Table::new("Slices in the order of time", columns);
    let row = |index: u64| {
        vec!["fast".into(), (index as f64 / 64.0).into(), (index * 100_000_000).into(), (index == 7).into()]
    };
    table.rows.extend((0..count).map(row));
    let mut chart = Chart::new(Shape::Lines, "percentile", "began_ns", "A line that rises.")
        .series("label")
        .scales(Scale::Percentile, Scale::Log);
    chart.title = "Over time".to_owned();
    chart.n = Some("began_ns".to_owned());
    chart.band = Some(["percentile", "percentile"].map(str::to_owned));
    chart.stack = Some(vec!["percentile".to_owned()]);
    (chart.against, chart.alike) = (Some("percentile".to_owned()), true);
    chart.apart = Some("dropped".to_owned());
    chart.only = Some(["label".to_owned(), "fast".to_owned()]);
    (chart.first, chart.grey) = (Some(8), true);
    Section::new("slices", "Slices", "Each slice.", table).chart(chart)
}

/// The same with a hostile name wherever a user or a service chooses the text.
pub fn hostile() -> Document {
    let mut document = interleaved();
    let all = HOSTILE.join(" ");
    document.title.clone_from(&all);
    document.question = "# no heading".to_owned();
    document.answer = "1. no list".to_owned();
    document.status = Status::CutOff;
    document.damage = vec![all.clone()];
    document.cautions = vec![all.clone()];
    document.notes = vec![all.clone()];
    document.facts.push(Fact::code("```", all.clone()));
    document.checks = HOSTILE.map(|name| Check::new(name, Verdict::ServiceFailed, all.clone())).into();
    let section = &mut document.sections[0];
    section.title = all;
    let table = section.table.as_mut().unwrap();
    for (row, name) in HOSTILE.iter().enumerate() {
        if row >= table.rows.len() {
            table.rows.push(table.rows[0].clone());
        }
        table.rows[row][0] = (*name).into();
    }
    document
}

/// A run with one service, or without figures: the rest of a failed run.
pub fn bare(kind: Kind) -> Document {
    let mut document = interleaved();
    (document.kind, document.status) = (kind, Status::Interrupted);
    document.checks.clear();
    document.sections.truncate(1);
    document.sections[0].table.as_mut().unwrap().rows.clear();
    document
}

/// Any text, often with a character that is special in some format.
pub fn text() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        any::<char>(),
        prop::sample::select(
            "\u{0}\u{1b}\u{7f}\u{85}\u{9b}\u{fffe}\u{ffff}\r\n\t,;\"'=+-@|<>&]`\\#\u{202e}＝"
                .chars()
                .collect::<Vec<_>>()
        ),
        prop::char::range('a', 'z'),
    ];
    prop::collection::vec(char, 0..12).prop_map(|chars| chars.into_iter().collect())
}

/// A table with a column of each unit, with any valid values.
pub fn table() -> impl Strategy<Value = Table> {
    let number = || prop_oneof![Just(Value::None), any::<f64>().prop_map(Value::from)];
    let count = prop_oneof![Just(Value::None), (0_u64..1 << 53).prop_map(Value::from)];
    let flag = prop_oneof![Just(Value::None), any::<bool>().prop_map(Value::from)];
    let row = (prop_oneof![Just(Value::None), text().prop_map(Value::from)], flag, count, number(), number())
        .prop_map(|(text, flag, count, number, ns)| vec![text, flag, count, number, ns]);
    prop::collection::vec(row, 0..20).prop_map(|rows| {
        let columns = [
            ("text", Unit::Text),
            ("flag", Unit::Flag),
            ("count", Unit::Count),
            ("number", Unit::Number),
            ("ns", Unit::Nanoseconds),
        ];
        let columns = columns.map(|(key, unit)| Column::new(key, key, unit));
        Table { rows, ..Table::new("Arbitrary", columns.into()) }
    })
}
