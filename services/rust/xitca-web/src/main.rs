//! The contracts of Tare on xitca-web: its routes, its extractors, its `Json`.

mod application;
mod products;
mod routes;
mod settings;
mod tls;
mod upload;
mod work;

use std::env;
use std::io;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;

use application::Application;
use settings::{Protocol, Settings};

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
    let port = settings.port;
    match serve(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve on port {port}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(settings: Settings) -> io::Result<()> {
    let mut terminate = Signals::new([SIGTERM])?;
    let server = routes::routes(&settings)
        .with_state(Application::new(&settings))
        .serve()
        .worker_threads(settings.threads)
        .keep_alive_timeout(KEEP_ALIVE)
        .disable_signal();
    let address = (settings.serve_on, settings.port);
    let server = match settings.protocol {
        Protocol::Http1 => server.bind(address)?,
        Protocol::H2c => server.h2c_prior_knowledge().bind(address)?,
        Protocol::Tls(config) => server.bind_rustls(address, config)?,
    };
    let mut server = server.run();
    let handle = server.handle()?;
    thread::spawn(move || {
        terminate.forever().next();
        handle.stop(false);
    });
    server.wait()
}
