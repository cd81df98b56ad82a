//! Writes a page of a made-up run, to look at: `cargo run --example page -- SERVICES PATH`. Its figures are invented.

use tare_report::document::{
    Chart, Check, Column, Fact, Kind, Scale, Section, Shape, Status, Table, Unit, Value, Verdict,
};
use tare_report::{Document, document, write};

const BLOCKS: usize = 40;
const SLICES: usize = 8;
const LANGUAGES: [&str; 6] = ["rust", "cpp", "go", "node", "python", "java"];
const NAMES: [&str; 12] = [
    "asio",
    "hyper",
    "axum",
    "restinio",
    "net-http",
    "gorilla-mux",
    "node-http",
    "fastify",
    "aiohttp",
    "express",
    "<script>alert(1)</script>",
    "שירות מהיר",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let services: usize = words.first().map_or(Ok(12), |word| word.parse())?;
    let path = words.get(1).map_or("page.html", String::as_str);
    std::fs::write(path, write::html::html(&sample(services))?)?;
    Ok(())
}

/// Steps of a generator of numbers from 0 to 1: the same page at every call.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn about(&mut self, value: f64, share: f64) -> f64 {
        value * (1.0 + (self.next() - 0.5) * 2.0 * share)
    }
}

fn name(place: usize) -> String {
    match place {
        0..12 => NAMES[place].to_owned(),
        12 => "a-name-of-two-hundred-characters-".repeat(7)[..200].to_owned(),
        _ => format!("{}:{}", NAMES[place % 10], place / 10),
    }
}

/// Requests a second of a service, of the reference's.
fn speed(place: usize) -> f64 {
    1.02 * 0.93_f64.powi(i32::try_from(place).unwrap_or(i32::MAX))
}

fn sample(services: usize) -> Document {
    let mut numbers = Numbers(7);
    Document {
        format: document::FORMAT,
        kind: Kind::Campaign,
        title: "Quick: one fixed line of text, one server thread".to_owned(),
        question: "What does the framework itself cost, against a raw socket that sends one fixed response?"
            .to_owned(),
        answer: "asio serves 102% of the reference's requests (99.2% .. 104.7%), and cannot be separated from it; flask \
                 serves 2.5%."
            .to_owned(),
        began: "2026-11-21T14:20:05Z".to_owned(),
        status: Status::Complete,
        damage: vec!["journal.ndjson ends in half a line: the last slice is missing".to_owned()],
        notes: vec!["2 of 3840 slices were dropped, since the generator was the bottleneck.".to_owned()],
        facts: vec![
            Fact::new("Load", "closed loop, 64 connections, 1 generator thread, slices of 100 ms, 8 a block"),
            Fact::new("Service", "THREADS=1 DELAY_MS=0"),
            Fact::new("Machine", "2 CPUs (AMD EPYC), 24 GiB, Debian GNU/Linux 12 (bookworm), Linux 6.18"),
            Fact::new("Blocks", "40 of 40, seed 6382451895832538"),
            Fact::code("Reproduce", "tare run experiments/quick.toml --budget 3m --seed 6382451895832538 --blocks 40"),
            Fact::code("Plan", "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"),
        ],
        checks: vec![
            Check::new("express", Verdict::ServiceFailed, "it answered 500 in block 9"),
            Check::new("asio", Verdict::Pass, "it has figures of 40 blocks"),
        ],
        sections: vec![
            main_table(services, &mut numbers),
            cost(services, &mut numbers),
            percentiles(services, &mut numbers),
            rates(services, &mut numbers),
            slices(services, &mut numbers),
            memory(services, &mut numbers),
            Section::without("start-up", "Start-up", "How long a service takes to its first answer.")
                .note("The run kept no start-up times: it was made by an older version."),
        ],
    }
}

fn main_table(services: usize, numbers: &mut Numbers) -> Section {
    let columns = vec![
        Column::new("tier", "Tier", Unit::Count).help("Services of one tier could not be separated."),
        Column::new("service", "Service", Unit::Text),
        Column::new("language", "Language", Unit::Text).facet(),
        Column::new("style", "Style", Unit::Text).facet(),
        Column::new("licence", "Licence", Unit::Text).facet(),
        Column::new("requests_per_second", "Requests/s", Unit::PerSecond),
        Column::new("of_reference", "Of reference", Unit::Share)
            .bar()
            .interval("of_reference_low", "of_reference_high"),
        Column::new("of_reference_low", "Low", Unit::Share).hidden(),
        Column::new("of_reference_high", "High", Unit::Share).hidden(),
        Column::new("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds),
        Column::new("latency_ns_p50", "p50", Unit::Nanoseconds),
        Column::new("latency_ns_p99", "p99", Unit::Nanoseconds),
        Column::new("rss_bytes_peak", "Memory", Unit::Bytes),
        Column::new("errors", "Errors", Unit::Count),
        Column::new("blocks", "Blocks", Unit::Count).hidden(),
    ];
    let mut table = Table::new("Services by throughput", columns);
    for place in 0..services {
        let speed = speed(place);
        let language = LANGUAGES[place * 7 % 6];
        let known = place != 9;
        table.rows.push(vec![
            (place / 3 + 1).into(),
            name(place).into(),
            language.into(),
            ["platform", "framework", "framework-tuned"][place % 3].into(),
            ["MIT", "Apache-2.0", "BSD-3-Clause"][place / 2 % 3].into(),
            (174e3 * speed).into(),
            known.then_some(speed).into(),
            known.then_some(speed * 0.95).into(),
            known.then(|| numbers.about(speed * 1.06, 0.02)).into(),
            (5530.0 / speed).into(),
            (345e3 / speed).into(),
            numbers.about(900e3 / speed, 0.4).into(),
            numbers.about(12e6 + place as f64 * 3e6, 0.5).into(),
            usize::from(place == 9).into(),
            BLOCKS.into(),
        ]);
    }
    let chart = Chart {
        n: Some("blocks".to_owned()),
        ..Chart::new(
            Shape::Bars,
            "of_reference",
            "service",
            "Throughput of each service, of the reference's, falling from asio to the slowest.",
        )
    };
    let lead = "Throughput of each service as a share of what the reference served in the same block. Services of one \
                tier could not be separated.";
    Section::new("tiers", "The table", lead, table)
        .chart(chart)
        .note("express was stopped in block 9: it answered 500.")
}

fn cost(services: usize, numbers: &mut Numbers) -> Section {
    let columns = vec![
        Column::new("service", "Service", Unit::Text),
        Column::new("language", "Language", Unit::Text),
        Column::new("requests_per_second", "Requests/s", Unit::PerSecond).interval("low", "high"),
        Column::new("low", "Low", Unit::PerSecond).hidden(),
        Column::new("high", "High", Unit::PerSecond).hidden(),
        Column::new("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds).interval("cpu_low", "cpu_high"),
        Column::new("cpu_low", "Low", Unit::Nanoseconds).hidden(),
        Column::new("cpu_high", "High", Unit::Nanoseconds).hidden(),
        Column::new("blocks", "Blocks", Unit::Count),
    ];
    let mut table = Table::new("CPU per request and throughput", columns);
    for place in 0..services {
        let rate = 174e3 * speed(place);
        let cpu = numbers.about(5530.0 / speed(place), 0.3);
        table.rows.push(vec![
            name(place).into(),
            LANGUAGES[place * 7 % 6].into(),
            rate.into(),
            (rate * 0.95).into(),
            (rate * 1.04).into(),
            cpu.into(),
            (cpu * 0.93).into(),
            (cpu * 1.08).into(),
            BLOCKS.into(),
        ]);
    }
    let chart = Chart {
        n: Some("blocks".to_owned()),
        ..Chart::new(
            Shape::Points,
            "requests_per_second",
            "cpu_ns_per_request",
            "Fast services use little CPU for a request.",
        )
        .scales(Scale::Log, Scale::Log)
    };
    Section::new(
        "cost",
        "CPU against throughput",
        "Right and low is better. Both axes are logarithmic.",
        table,
    )
    .chart(chart)
}

fn percentiles(services: usize, numbers: &mut Numbers) -> Section {
    let columns = vec![
        Column::new("service", "Service", Unit::Text).facet(),
        Column::new("percentile", "Percentile", Unit::Percentile),
        Column::new("latency_ns", "Latency", Unit::Nanoseconds),
        Column::new("answers", "Answers", Unit::Count),
    ];
    let mut table = Table::new("Latency by percentile", columns);
    for place in 0..services {
        let base = 300e3 / speed(place);
        let mut tail = 1.0;
        for step in 0..60 {
            let nines = f64::from(step) / 14.0;
            tail *= 1.0 + numbers.next() * 0.08;
            table.rows.push(vec![
                name(place).into(),
                (1.0 - 10_f64.powf(-nines)).into(),
                (base * tail).into(),
                123_456_usize.into(),
            ]);
        }
    }
    let chart = Chart {
        first: Some(8),
        n: Some("answers".to_owned()),
        ..Chart::new(Shape::Lines, "percentile", "latency_ns", "Latency rises towards the slowest answers.")
    }
    .scales(Scale::Percentile, Scale::Log)
    .series("service");
    Section::new("percentiles", "Latency", "What share of answers came within which time.", table)
        .chart(chart)
}

fn rates(services: usize, numbers: &mut Numbers) -> Section {
    let columns = vec![
        Column::new("service", "Service", Unit::Text),
        Column::new("rate", "Offered", Unit::PerSecond),
        Column::new("latency_ns_p99", "p99", Unit::Nanoseconds).interval("low", "high"),
        Column::new("low", "Low", Unit::Nanoseconds).hidden(),
        Column::new("high", "High", Unit::Nanoseconds).hidden(),
        Column::new("slices", "Slices", Unit::Count),
    ];
    let mut table = Table::new("Latency at rates", columns);
    for place in 0..services {
        for step in 1..6 {
            let share = f64::from(step) / 6.0;
            let latency = numbers.about(200e3 / speed(place) / (1.0 - share), 0.1);
            table.rows.push(vec![
                name(place).into(),
                (174e3 * speed(place) * share).into(),
                latency.into(),
                (latency * 0.9).into(),
                (latency * 1.2).into(),
                80_usize.into(),
            ]);
        }
    }
    let chart = Chart {
        first: Some(6),
        n: Some("slices".to_owned()),
        ..Chart::new(Shape::Lines, "rate", "latency_ns_p99", "Latency grows with the load.")
    }
    .scales(Scale::Linear, Scale::Log)
    .series("service");
    Section::new("rates", "Latency against load", "Open loops at shares of each service's capacity.", table)
        .chart(chart)
}

fn slices(services: usize, numbers: &mut Numbers) -> Section {
    let columns = vec![
        Column::new("service", "Service", Unit::Text),
        Column::new("block", "Block", Unit::Count),
        Column::new("slice", "Slice", Unit::Count),
        Column::new("at_ns", "At", Unit::Nanoseconds),
        Column::new("requests_per_second", "Requests/s", Unit::PerSecond),
        Column::new("latency_ns_p99", "p99", Unit::Nanoseconds),
        Column::new("dropped", "Dropped", Unit::Flag),
        Column::new("why", "Why", Unit::Text),
    ];
    let mut table = Table::new("Slices in the order of time", columns);
    for place in 0..services {
        for slice in 0..BLOCKS * SLICES {
            let dropped = numbers.next() < 0.01;
            table.rows.push(vec![
                name(place).into(),
                (slice / SLICES + 1).into(),
                (slice % SLICES + 1).into(),
                ((slice * services + place) as f64 * 1e8).into(),
                numbers.about(174e3 * speed(place) * if dropped { 0.6 } else { 1.0 }, 0.05).into(),
                numbers.about(900e3 / speed(place), 0.3).into(),
                dropped.into(),
                if dropped { Value::from("the generator used 97% of its CPU") } else { Value::None },
            ]);
        }
    }
    let chart = Chart {
        first: Some(4),
        apart: Some("dropped".to_owned()),
        ..Chart::new(Shape::Lines, "at_ns", "requests_per_second", "Throughput of slices over time.")
    }
    .series("service");
    Section::new("slices", "Slices over time", "Dropped slices are hollow, and in no figure.", table)
        .chart(chart)
}

fn memory(services: usize, numbers: &mut Numbers) -> Section {
    let columns = vec![
        Column::new("service", "Service", Unit::Text),
        Column::new("when", "When", Unit::Text),
        Column::new("rss_bytes", "Memory", Unit::Bytes),
    ];
    let mut table = Table::new("Memory of each service", columns);
    for place in 0..services {
        let idle = numbers.about(8e6 + place as f64 * 2e6, 0.5);
        table.rows.push(vec![name(place).into(), "idle".into(), idle.into()]);
        table.rows.push(vec![
            name(place).into(),
            "under load".into(),
            (idle * (1.0 + numbers.next())).into(),
        ]);
    }
    let chart =
        Chart::new(Shape::Bars, "rss_bytes", "service", "Memory of each service, idle and under load.")
            .series("when");
    Section::new("memory", "Memory", "Resident memory before the load, and its peak.", table).chart(chart)
}
