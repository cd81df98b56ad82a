//! The contracts of Tare on Actix Web: its routing macros, its extractors, its `Json`.

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
use std::time::Duration;

use actix_web::rt::signal::unix::{SignalKind, signal};
use actix_web::{App, HttpServer, rt, web};

use backings::Backings;
use settings::{Protocol, Settings};
use work::Work;

/// How long requests in flight may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(250);

/// More than the service is ever frozen between two slices.
const KEEP_ALIVE: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("ACTIX_WEB_VERSION"));
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
    match rt::System::new().block_on(serve(settings)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve on port {port}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: Settings) -> io::Result<()> {
    // One for all workers: made outside the factory, which each of them calls.
    let work = web::Data::new(Work::new(settings.threads, settings.delay));
    let mut terminate = signal(SignalKind::terminate())?;
    let backings = Backings::new(&settings).map_err(io::Error::other)?;
    let application = move || {
        App::new()
            .app_data(work.clone())
            .configure(routes::configure)
            .configure(|config| backings.configure(config))
    };
    let server = HttpServer::new(application)
        .workers(settings.threads)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(KEEP_ALIVE)
        .disable_signals();
    let address = (settings.serve_on, settings.port);
    let server = match settings.protocol {
        Protocol::Http1 => server.bind(address)?,
        Protocol::H2c => server.tcp_nodelay(true).bind_auto_h2c(address)?,
        Protocol::Tls(config) => server.tcp_nodelay(true).bind_rustls_0_23(address, config)?,
    };
    let server = server.run();
    let handle = server.handle();
    rt::spawn(server);

    terminate.recv().await;
    let _ = rt::time::timeout(GRACE, handle.stop(true)).await;
    Ok(())
}
