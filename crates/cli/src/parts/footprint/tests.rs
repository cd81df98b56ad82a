use jiff::{Timestamp, civil::date};
use tare_service::{
    build::BuildCost,
    footprint::{Code, Dependencies, Measured, Release},
};

use super::*;

fn licence(spdx: &str, source: FootprintSource) -> Licence {
    let stated = Some(spdx.to_owned()).filter(|_| source != FootprintSource::Manifest);
    Licence { spdx: spdx.to_owned(), source, stated, contradiction: None }
}

fn line(service: &str, licence: Licence) -> FootprintLine {
    let aspects = Footprint {
        licence,
        dependencies: Dependencies { direct: Some(0), total: None },
        code: None,
        artefact_bytes: None,
        build: None,
        sources: Vec::new(),
        release: None,
        measured: None,
    };
    FootprintLine {
        service: service.to_owned(),
        language: "rust".to_owned(),
        framework: service.to_owned(),
        version: None,

        aspects,
    }
}

fn full() -> FootprintLine {
    let mut line = line("axum", licence("MIT", FootprintSource::Cargo));
    line.version = Some("0.8.9".to_owned());
    line.aspects = Footprint {
        dependencies: Dependencies { direct: Some(4), total: Some(61) },
        code: Some(Code { lines: 168, languages: [("Rust".to_owned(), 168)].into() }),
        artefact_bytes: Some(1_960_000),
        build: Some(BuildCost { seconds: 31.25, ..BuildCost::default() }),
        release: Some(Release {
            package: "pkg:cargo/axum".to_owned(),
            used: "0.8.9".to_owned(),
            newest: "0.8.9".to_owned(),
            newest_date: Some(date(2026, 4, 14)),
            asked: date(2026, 11, 21),
        }),
        measured: Some(Measured {
            at: Timestamp::UNIX_EPOCH,
            starts: 3,
            start_up_ns: 4_120_000,
            rss_bytes: 3_300_000,
        }),
        ..line.aspects
    };
    line
}

/// A build with most parts cached, whose cost is no measure of a full build.
fn mended() -> FootprintLine {
    let mut line = line("hyper", licence("MIT", FootprintSource::Cargo));
    line.aspects.build = Some(BuildCost { seconds: 0.2, ..BuildCost::default() });
    line
}

fn lines() -> Vec<FootprintLine> {
    let contradicted = Licence {
        stated: Some("Apache-2.0 OR ISC".to_owned()),
        contradiction: Some("the package says \"Apache-2.0 OR ISC\", the manifest \"MIT\"".to_owned()),
        ..licence("Apache-2.0 OR ISC", FootprintSource::Debian)
    };
    let long = "AGPL-3.0-or-later OR LicenseRef-CPL";
    vec![
        line("raw-socket", licence("Apache-2.0 OR MIT", FootprintSource::Manifest)),
        full(),
        mended(),
        line("restbed", licence(long, FootprintSource::Manifest)),
        line("simple-web-server:close", contradicted),
    ]
}

#[test]
fn the_table_shows_what_is_known_and_fits() {
    let table = text(&lines(), TextLook::default());
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn json_has_all_of_it() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&lines()[1]).unwrap());
}
