//! The server behind a gateway: a process that answers `GET /TABLE/KEY` with JSON after a delay, and counts.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use tare_contract::UpstreamTable;

/// The path that returns the number of requested rows.
pub(super) const COUNT_PATH: &str = "/-/count";

/// The content of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamRows {
    /// The first part of every path.
    table: String,
    /// JSON of each row by its key.
    rows: BTreeMap<String, String>,
}

impl UpstreamRows {
    pub(super) fn of(upstream: &UpstreamTable) -> UpstreamRows {
        let table = &upstream.table;
        let row = |place| {
            let key = table.row(place).into_iter().nth(upstream.key()).unwrap_or_default();
            (key, table.row_as_json(place).unwrap_or_default())
        };
        UpstreamRows { table: table.name().to_owned(), rows: (0..table.count()).map(row).collect() }
    }

    /// The row at a path; absent if there is none.
    fn at(&self, path: &str) -> Option<&String> {
        let key = path.strip_prefix('/')?.strip_prefix(self.table.as_str())?.strip_prefix('/')?;
        self.rows.get(key)
    }
}

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    #[error("{path}: {reason}")]
    UpstreamRows { path: String, reason: String },
    #[error("cannot listen on port {port}: {source}")]
    Listen { port: u16, source: std::io::Error },
}

/// State shared by all connections.
struct State {
    rows: UpstreamRows,
    delay: Duration,
    asked: AtomicU64,
}

/// Serves until its process is killed.
///
/// # Errors
/// The rows cannot be read, or the port cannot be listened on.
pub fn serve(rows: &Path, delay: Duration, port: u16) -> Result<(), UpstreamError> {
    let wrong = |reason: String| UpstreamError::UpstreamRows { path: rows.display().to_string(), reason };
    let text = std::fs::read(rows).map_err(|error| wrong(error.to_string()))?;
    let rows = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let state = Arc::new(State { rows, delay, asked: AtomicU64::new(0) });
    let failed = |source| UpstreamError::Listen { port, source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async move {
        let listener =
            TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(failed)?;
        loop {
            // A failed accept is left to the client to notice.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let _as_it_is = stream.set_nodelay(true);
            let state = Arc::clone(&state);
            tokio::spawn(connection(stream, state));
        }
    })
}

fn connection(stream: tokio::net::TcpStream, state: Arc<State>) -> impl Future<Output = ()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer(&request, &state).await) }
    });
    async move {
        // A client that disconnects does not concern this server.
        let _gone = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    }
}

async fn answer(request: &Request<Incoming>, state: &State) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if path == COUNT_PATH {
        return Response::new(Full::from(state.asked.load(Ordering::Relaxed).to_string()));
    }
    state.asked.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(state.delay).await;
    let (status, body) = match state.rows.at(path) {
        Some(row) => (StatusCode::OK, row.clone()),
        None => (StatusCode::NOT_FOUND, "{}".to_owned()),
    };
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
