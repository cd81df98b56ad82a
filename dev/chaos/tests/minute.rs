//! A minute of chaos. For more, run `cargo xtask chaos --minutes 60`.

use std::{path::Path, process::Command};

#[test]
fn what_must_hold_holds_for_a_minute() {
    // Cargo builds it for the end-to-end tests, which run before this one.
    let tare = Path::new(env!("CARGO_BIN_EXE_tare-chaos")).with_file_name("tare");
    if !tare.exists() {
        assert!(std::env::var_os("TARE_TEST_ALL").is_none(), "{} is not built", tare.display());
        println!("SKIPPED: {} is not built: cargo build -p tare-http", tare.display());
        return;
    }
    let chaos = Command::new(env!("CARGO_BIN_EXE_tare-chaos"))
        .args(["--minutes", "1", "--tare"])
        .arg(tare)
        .output()
        .expect("it was just built");
    let said = String::from_utf8_lossy(&chaos.stdout);
    println!("{said}");
    assert!(chaos.status.success(), "{said}{}", String::from_utf8_lossy(&chaos.stderr));
}
