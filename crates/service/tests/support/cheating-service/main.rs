//! A test service with real work: it satisfies the contracts db, queries, updates, fortunes, crud, json,
//! compress, upload, static and gateway, or cheats as `CHEAT` says (`cheating-service --help` lists how).
//!
//! It has a thread for each connection. All other settings come from the usual variables of these contracts.
#![warn(unreachable_pub)]

mod cheat;
mod database;
mod exchange;
mod gateway;
mod http;
mod items;
mod mixer;
mod products;
mod random;
mod service;
mod upload;
mod world;

use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use signal_hook::consts::SIGTERM;

use cheat::Cheat;
use service::Service;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--version") => println!("{}", env!("CARGO_PKG_VERSION")),
        Some("--help") => print!("{}", Cheat::help()),
        None => {
            return run().map_or_else(
                |reason| {
                    eprintln!("{reason}");
                    ExitCode::from(2)
                },
                |()| ExitCode::SUCCESS,
            );
        }
        Some(other) => {
            eprintln!("unknown argument {other:?}: try --help");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn run() -> Result<(), String> {
    let cheat = std::env::var("CHEAT").map_or(Ok(Cheat::None), |name| Cheat::parse(&name))?;
    let port: u16 = number("PORT", None)?;
    let service = Arc::new(Service::given(cheat)?);
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM]).map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            std::process::exit(0);
        }
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.map_err(|error| format!("cannot listen on 127.0.0.1:{port}: {error}"))?;
    for stream in listener.incoming().flatten() {
        let service = Arc::clone(&service);
        // An error of a connection ends only that connection.
        std::thread::spawn(move || exchange::serve(&service, stream));
    }
    Ok(())
}

/// A numeric variable.
fn number<T: std::str::FromStr>(name: &str, default: Option<T>) -> Result<T, String> {
    match (std::env::var(name), default) {
        (Ok(text), _) => {
            text.parse().map_err(|_| format!("{name} is {text:?}, which is no number that it can be"))
        }
        (Err(_), Some(default)) => Ok(default),
        (Err(_), None) => Err(format!("{name} is not set")),
    }
}
