//! The contracts of Tare on axum: its router, its extractors, its `Json`.

mod crud;
mod failure;
mod fortunes;
mod gateway;
mod products;
mod settings;
mod upload;
mod world;

use std::env;
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::serve::{Listener, ListenerExt};
use axum::{Json, Router};
use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sqlx::postgres::PgPoolOptions;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, oneshot};
use tokio::time;
use tower_http::services::ServeDir;

use settings::{Protocol, Settings};

const COUNT_MAX: usize = 1_000_000;

/// How long requests in flight may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(250);

/// The simulated work on a message: as many wait at once as there are slots.
struct Work {
    slots: Semaphore,
    delay: Duration,
}

impl Work {
    async fn wait(&self) {
        let _slot = self.slots.acquire().await.expect("the semaphore is never closed");
        time::sleep(self.delay).await;
    }
}

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("AXUM_VERSION"));
        return ExitCode::SUCCESS;
    }
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let runtime = runtime::Builder::new_multi_thread().worker_threads(settings.threads).enable_all().build();
    let port = settings.port;
    match runtime.and_then(|runtime| runtime.block_on(serve(settings))) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("cannot serve on port {port}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: Settings) -> io::Result<ExitCode> {
    let terminate = signal(SignalKind::terminate())?;
    let address = SocketAddr::from((settings.serve_on, settings.port));
    let router = router(&settings).map_err(io::Error::other)?;
    match settings.protocol {
        Protocol::Http1 => serve_plain(TcpListener::bind(address).await?, router, terminate).await,
        Protocol::H2c => {
            let listener = TcpListener::bind(address).await?.tap_io(|stream| {
                let _ = stream.set_nodelay(true);
            });
            serve_plain(listener, router, terminate).await;
        }
        Protocol::Tls(pem) => match RustlsConfig::from_pem(pem.certificate, pem.key).await {
            Ok(config) => serve_tls(address, config, router, terminate).await?,
            Err(error) => {
                eprintln!("TLS_CERT and TLS_KEY cannot be used: {error}");
                return Ok(ExitCode::from(2));
            }
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// HTTP/1.1 or HTTP/2, as the first bytes of a connection say.
async fn serve_plain<L>(listener: L, router: Router, mut terminate: Signal)
where
    L: Listener<Addr: Debug>,
{
    let (stop, stopped) = oneshot::channel();
    let server = axum::serve(listener, router).with_graceful_shutdown(async {
        let _ = stopped.await;
    });
    let server = tokio::spawn(server.into_future());

    terminate.recv().await;
    let _ = stop.send(());
    let _ = time::timeout(GRACE, server).await;
}

/// HTTP/1.1 or HTTP/2, as ALPN chooses.
async fn serve_tls(
    address: SocketAddr,
    config: RustlsConfig,
    router: Router,
    mut terminate: Signal,
) -> io::Result<()> {
    let handle = Handle::new();
    let server = axum_server::bind(address)
        .acceptor(RustlsAcceptor::new(config).acceptor(NoDelayAcceptor::new()))
        .handle(handle.clone());
    tokio::spawn(async move {
        terminate.recv().await;
        handle.graceful_shutdown(Some(GRACE));
    });
    server.serve(router.into_make_service()).await
}

fn router(settings: &Settings) -> reqwest::Result<Router> {
    let work = (!settings.delay.is_zero())
        .then(|| Arc::new(Work { slots: Semaphore::new(settings.threads), delay: settings.delay }));
    let mut router = Router::new()
        .route("/", get(|| async { "Hello world!" }))
        .route("/api/test", get(|| async { "Hello, World!" }))
        .route("/test", post(echo))
        .route("/test/status", get(|| async { "OK" }))
        .route("/test/labels/{label}", get(|Path(label): Path<String>| async { label }))
        .route("/framework", get(|| async { Json(json!({ "Hello": "world" })) }))
        .route("/benchmark", get(benchmark))
        .route("/upload", post(upload::upload))
        .with_state(work);
    if let Some(database) = &settings.database {
        let pool = PgPoolOptions::new().max_connections(settings.database_connections);
        let pool = pool.connect_lazy_with(database.clone());
        router = router
            .merge(world::router(pool.clone()))
            .merge(fortunes::router(pool.clone()))
            .merge(crud::router(pool));
    }
    if let Some(products) = settings.products {
        router = router.merge(products::router(products));
    }
    if let Some(folder) = &settings.folder_static {
        router = router.nest_service("/static", ServeDir::new(folder));
    }
    if let Some(upstream) = &settings.upstream {
        router = router.merge(gateway::router(upstream.clone())?);
    }
    Ok(router)
}

async fn echo(
    State(work): State<Option<Arc<Work>>>,
    Json(mut message): Json<Map<String, Value>>,
) -> Json<Map<String, Value>> {
    if let Some(work) = work {
        work.wait().await;
    }
    message.insert("text".to_owned(), "received".into());
    Json(message)
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default = "count_default")]
    count: usize,
}

fn count_default() -> usize {
    10_000
}

async fn benchmark(Query(Benchmark { count }): Query<Benchmark>) -> Result<Json<Vec<String>>, StatusCode> {
    if count > COUNT_MAX {
        return Err(StatusCode::BAD_REQUEST);
    }
    let mut strings: Vec<String> = (0..count).map(|index| format!("Index {index}")).collect();
    strings.truncate(10);
    Ok(Json(strings))
}
