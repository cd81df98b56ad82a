//! The contracts of Tare on hyper. It has no router: a `match` on method and path, as its documentation does it.

mod backings;
mod crud;
mod fortunes;
mod gateway;
mod items;
mod products;
mod query;
mod response;
mod routes;
mod settings;
mod tls;
mod upload;
mod world;

use std::env;
use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time;
use tokio_rustls::TlsAcceptor;

use routes::Application;
use settings::{Protocol, Settings};

/// How long requests in flight may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(250);

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("HYPER_VERSION"));
        return ExitCode::SUCCESS;
    }
    let bare = env::args().skip(1).eq(["--bare"]);
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let runtime = runtime::Builder::new_multi_thread().worker_threads(settings.threads).enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(&settings, bare))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve on port {}: {error}", settings.port);
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: &Settings, bare: bool) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind((settings.serve_on, settings.port)).await?;
    // There until the program ends, so that no request has to count its users.
    let application: &Application = Box::leak(Box::new(Application::new(settings, bare)?));
    let graceful = GracefulShutdown::new();
    let mut terminated = pin!(terminate.recv());

    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // Out of file descriptors, as a rule: some may be free again soon.
                    time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                // An error here is one of the client's: its connection is over, and nothing else.
                match &settings.protocol {
                    Protocol::Http1 => {
                        let service = service_fn(move |request| application.answer(request));
                        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                        tokio::spawn(graceful.watch(connection))
                    }
                    Protocol::H2c => {
                        let _ = stream.set_nodelay(true);
                        let service = service_fn(move |request| application.answer_h2(request));
                        let builder = http2::Builder::new(TokioExecutor::new());
                        tokio::spawn(graceful.watch(builder.serve_connection(TokioIo::new(stream), service)))
                    }
                    Protocol::Tls(acceptor) => {
                        tokio::spawn(serve_tls(stream, acceptor.clone(), graceful.watcher(), application))
                    }
                };
            }
            _ = &mut terminated => break,
        }
    }

    drop(listener);
    let _ = time::timeout(GRACE, graceful.shutdown()).await;
    Ok(())
}

/// The handshake is made here and not where connections are accepted: it waits for the client.
async fn serve_tls(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    watcher: Watcher,
    application: &'static Application,
) -> hyper::Result<()> {
    let _ = stream.set_nodelay(true);
    let Ok(stream) = acceptor.accept(stream).await else {
        return Ok(());
    };
    let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = TokioIo::new(stream);
    if h2 {
        let service = service_fn(move |request| application.answer_h2(request));
        watcher.watch(http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service)).await
    } else {
        let service = service_fn(move |request| application.answer(request));
        watcher.watch(http1::Builder::new().serve_connection(stream, service)).await
    }
}
