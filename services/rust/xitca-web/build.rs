//! Hands the version of xitca-web in `Cargo.lock` to the program, which prints it for `--version`.

use std::fs;

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock can be read");
    let (_, rest) =
        lock.split_once("name = \"xitca-web\"\nversion = \"").expect("xitca-web is in Cargo.lock");
    let (version, _) = rest.split_once('"').expect("the version of xitca-web ends");
    println!("cargo::rustc-env=XITCA_WEB_VERSION={version}");
}
