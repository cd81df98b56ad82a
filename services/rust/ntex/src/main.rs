//! The contracts of Tare on ntex: its resources, its extractors, its `Json`.

mod backings;
mod crud;
mod fortunes;
mod gateway;
mod items;
mod products;
mod routes;
mod settings;
mod tls;
mod upload;
mod work;
mod world;

use std::env;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use ntex::SharedCfg;
use ntex::http::HttpServiceConfig;
use ntex::time::Seconds;
use ntex::web::{App, HttpServer};

use backings::Backings;
use settings::{Protocol, Settings};
use work::Work;

/// More than the service is ever frozen between two slices.
const KEEP_ALIVE: Seconds = Seconds(120);

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("NTEX_VERSION"));
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

#[ntex::main]
async fn serve(settings: Settings) -> io::Result<()> {
    let work = Arc::new(Work::new(settings.threads, settings.delay));
    let http = HttpServiceConfig::new().set_keepalive(KEEP_ALIVE);
    let backings = Backings::new(&settings).map_err(io::Error::other)?;
    let application = async move || {
        let upstream = backings.upstream().await;
        App::new()
            .state(work.clone())
            .configure(routes::configure)
            .configure(|config| backings.configure(config, upstream))
    };
    let server = HttpServer::new(application)
        .workers(settings.threads)
        .config(SharedCfg::new("ntex-service").add(http))
        .shutdown_timeout(Seconds::ZERO);
    let address = (settings.serve_on, settings.port);
    let server = match settings.protocol {
        Protocol::Http1 => server.bind(address)?,
        Protocol::Tls(config) => server.bind_rustls(address, &config)?,
    };
    server.run().await
}
