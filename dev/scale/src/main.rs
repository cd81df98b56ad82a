//! `cargo run -p tare-scale` rewrites the tables of `docs/scale.md`; with `--print` it prints them.

use std::{fs, path::Path, process::ExitCode};

use tare_scale::{scenario::Scenarios, tables};

fn main() -> ExitCode {
    match work(std::env::args().any(|word| word == "--print")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work(prints: bool) -> Result<(), Box<dyn std::error::Error>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenarios = Scenarios::parse(&fs::read_to_string(own.join("scale.toml"))?)?;
    let found = tables::all(&scenarios);
    if prints {
        found.iter().for_each(|(name, table)| println!("{name}\n{table}"));
        return Ok(());
    }
    let page = own.join("../../docs/scale.md");
    fs::write(&page, tables::fill_in(&fs::read_to_string(&page)?, &found)?)?;
    Ok(())
}
