//! The contracts of Tare on xitca-web: its routes, its extractors, its `Json`.

mod routes;
mod settings;
mod work;

use std::env;
use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;

use settings::Settings;
use work::Work;

/// More than the service is ever frozen between two slices.
const KEEP_ALIVE: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("XITCA_WEB_VERSION"));
        return ExitCode::SUCCESS;
    }
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match serve(&settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve on port {}: {error}", settings.port);
            ExitCode::FAILURE
        }
    }
}

fn serve(settings: &Settings) -> io::Result<()> {
    let mut terminate = Signals::new([SIGTERM])?;
    let work = Arc::new(Work::new(settings.threads, settings.delay));
    let mut server = routes::routes()
        .with_state(work)
        .serve()
        .worker_threads(settings.threads)
        .keep_alive_timeout(KEEP_ALIVE)
        .disable_signal()
        .bind((Ipv4Addr::LOCALHOST, settings.port))?
        .run();
    let handle = server.handle()?;
    thread::spawn(move || {
        terminate.forever().next();
        handle.stop(false);
    });
    server.wait()
}
