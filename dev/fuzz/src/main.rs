//! Prints the paths of a target's stored inputs, for the working corpus of a fuzzer.

use tare_fuzz::TARGETS;

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    for target in TARGETS.iter().filter(|target| target.name == name) {
        target.inputs()?.iter().for_each(|path| println!("{}", path.display()));
    }
    Ok(())
}
