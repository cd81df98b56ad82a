//! The figures of the page equal those of the simulation.

use std::{fs, path::Path};

use tare_scale::{scenario::Scenarios, tables};

#[test]
fn the_tables_of_the_page_are_not_stale() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenarios = Scenarios::parse(&fs::read_to_string(own.join("scale.toml")).unwrap()).unwrap();
    let page = fs::read_to_string(own.join("../../docs/scale.md")).unwrap();
    let filled = tables::fill_in(&page, &tables::all(&scenarios)).unwrap();
    assert!(filled == page, "docs/scale.md is stale: write its tables anew with `cargo run -p tare-scale`");
}

#[test]
fn mistakes_in_a_file_are_named() {
    let error = |text: &str| Scenarios::parse(text).unwrap_err().to_string();
    let text = include_str!("../scale.toml");
    assert!(
        error(&text.replacen("seeds = 10", "seeds = 0", 1))
            .contains("\"seeds\" is missing or is no number above 0")
    );
    assert!(error(&text.replacen("machines = 10 ", "machinse = 10 ", 1)).contains("machinse"));
    assert!(error(&text.replacen("spot-share = 0.0", "spot-share = 7.0", 1)).contains("it must be 0 to 1"));
    assert!(error(&text.replacen("machines = 10 ", "machines = 0 ", 1)).contains("it must be above 0"));
    assert!(error("seeds = ").contains("TOML"));
}
