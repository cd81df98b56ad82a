//! The service `hyper` under the contract `hello`, computing for a known time in each answer.

use std::env;
use std::io;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// The real duration of the weights: the service may lose the CPU during one.
static SPENT_NS: AtomicU64 = AtomicU64::new(0);
static REQUESTS: AtomicU64 = AtomicU64::new(0);

fn main() -> io::Result<()> {
    let weight_ns: u64 = env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let port: u16 = env::var("PORT").ok().and_then(|port| port.parse().ok()).expect("PORT is a port");
    let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(serve(port, Duration::from_nanos(weight_ns)))?;
    eprintln!("{} ns were added to each request", SPENT_NS.load(Relaxed) / REQUESTS.load(Relaxed).max(1));
    Ok(())
}

/// Computes for this long, by the clock: a loop calibrated at rest would take longer while the core's other
/// thread is busy. For a weight of zero, all services of the experiment read the clock as often.
fn spin(weight: Duration) {
    let began = Instant::now();
    let mut passed = began.elapsed();
    while passed < weight {
        passed = began.elapsed();
    }
    SPENT_NS.fetch_add(passed.as_nanos() as u64, Relaxed);
    REQUESTS.fetch_add(1, Relaxed);
}

async fn serve(port: u16, weight: Duration) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let graceful = GracefulShutdown::new();
    let mut terminated = pin!(terminate.recv());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let service = service_fn(move |request| answer(request, weight));
                let connection = http1::Builder::new().serve_connection(TokioIo::new(accepted?.0), service);
                tokio::spawn(graceful.watch(connection));
            }
            _ = &mut terminated => break,
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(Duration::from_millis(250), graceful.shutdown()).await;
    Ok(())
}

async fn answer(request: Request<Incoming>, weight: Duration) -> hyper::Result<Response<Full<Bytes>>> {
    spin(weight);
    let is_hello = matches!(*request.method(), Method::GET | Method::HEAD) && request.uri().path() == "/";
    let mut response = Response::new(Full::from(if is_hello { "Hello world!" } else { "" }));
    if is_hello {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, plain);
    } else {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    Ok(response)
}
