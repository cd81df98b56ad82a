//! The collector over the network: an HTTP/1.1 server for a batch folder. The crate `cluster` handles
//! requests.

use std::{
    collections::BTreeSet,
    os::unix::net::UnixStream as Signalled,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tare_cluster::{
    Batch, CollectorDesk, Committed, Presented,
    push::{
        MESSAGE_BYTES_MAX,
        message::{Refusal, RefusalKind},
        proof::{Asked, DIGEST, NONCE, PROOF},
        route::PushRoute,
    },
};
use tare_host::signals;
use tokio::{
    net::{TcpListener, UnixStream},
    sync::{Notify, Semaphore, mpsc},
    task::{self, spawn_blocking},
    time::{sleep, timeout},
};
use tokio_stream::StreamExt;

/// More connections wait in the kernel's queue.
const CONNECTIONS_MAX: u32 = 256;
/// Bundles that are received concurrently, each by a thread.
const BUNDLES_MAX: usize = 16;
/// The time limit for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// A job that sends nothing for longer counts as gone.
const SILENT_MAX: Duration = Duration::from_secs(60);
/// The time limit for a bundle. The job gives up after the same time.
const BUNDLE_WITHIN: Duration = Duration::from_secs(600);
/// How long a bundle waits for its turn before the job is asked to retry.
const TURN_WITHIN: Duration = Duration::from_secs(20);
/// The time for pending answers before the end.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// How long the collector stays after the last bundle: the last job may ask again if the answer was lost.
const STAYS: Duration = Duration::from_secs(3);
/// The pause when there are no file descriptors left.
const AFTER_A_REFUSAL: Duration = Duration::from_millis(100);
/// The most parts of a bundle that are received and not yet written.
const CHUNKS_MAX: usize = 8;

/// Receives bundles until each job has left one, or a signal arrives.
pub(super) fn listen(batch: &Batch, address: &str, bytes_max: u64) -> anyhow::Result<()> {
    // Read the token first: without it no port is opened.
    let desk = CollectorDesk::new(batch.clone(), bytes_max)?;
    let _alone = batch.lock_for_listening()?;
    if batch.list.jobs.iter().all(|job| batch.has_bundle(job)) {
        tare_host::message!("each job has left a bundle: there is nothing to receive");
        return Ok(());
    }
    let stop = signals::listen_by_socket()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(2 * BUNDLES_MAX)
        .build()
        .context("cannot start a runtime")?;
    let ended = runtime.block_on(serve(Arc::new(Reception::new(desk)), address, stop));
    runtime.shutdown_background();
    ended?;
    // A signal is the normal end; the bundles that arrived are then checked.
    signals::forget();
    Ok(())
}

/// The state that all connections share.
struct Reception {
    desk: CollectorDesk,
    turns: Semaphore,
    /// The positions of the jobs without a bundle.
    missing: Mutex<BTreeSet<usize>>,
    complete: Notify,
    /// Requests without the token.
    strangers: AtomicU64,
}

impl Reception {
    fn new(desk: CollectorDesk) -> Reception {
        let jobs = desk.batch.list.jobs.iter().enumerate();
        let missing: BTreeSet<usize> =
            jobs.filter(|(_, job)| !desk.batch.has_bundle(job)).map(|(position, _)| position).collect();
        Reception {
            desk,
            turns: Semaphore::new(BUNDLES_MAX),
            missing: Mutex::new(missing),
            complete: Notify::new(),
            strangers: AtomicU64::new(0),
        }
    }

    fn arrived(&self, asked: &Asked, committed: Committed) {
        let PushRoute::Bundle { position, attempt } = &asked.route else { return };
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.remove(position);
        let job = self.desk.batch.list.jobs.get(*position).map(tare_cluster::PlannedJob::name);
        let what = match committed {
            Committed::First => "arrived",
            Committed::Later => "kept aside: another attempt was first",
            Committed::AlreadyHere => "is here already",
        };
        let job = job.unwrap_or_default();
        tare_host::message!(
            "job {job}, attempt {attempt}: {what}; {} jobs have no bundle yet",
            missing.len()
        );
        if missing.is_empty() {
            self.complete.notify_one();
        }
    }

    fn refused(&self, asked: &Asked, refusal: &Refusal) {
        if refusal.kind != RefusalKind::NotFound {
            tare_host::message!("refused {}: {refusal}", asked.route);
        }
    }

    /// Prints a line only when the count is a power of two.
    fn stranger(&self, refusal: &Refusal) {
        let count = self.strangers.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tare_host::message!("refused a request: {refusal} ({count} so far)");
        }
    }
}

async fn serve(reception: Arc<Reception>, address: &str, stop: Signalled) -> anyhow::Result<()> {
    stop.set_nonblocking(true).context("cannot listen for signals")?;
    let stop = UnixStream::from_std(stop).context("cannot listen for signals")?;
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let address = listener.local_addr().context("cannot tell the address")?;
    tare_host::message!("listening on http://{address}");
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX as usize));
    let router = Router::new().fallback(answer).with_state(Arc::clone(&reception));
    tokio::select! {
        ended = accept(&listener, &router, &room) => ended?,
        () = all_have_arrived(&reception) => {}
        stopped = stop.readable() => stopped.context("cannot listen for signals")?,
    }
    drop(listener);
    // All permits are free once every answer is sent.
    let _the_rest_is_cut_off = timeout(ANSWERED_WITHIN, room.acquire_many(CONNECTIONS_MAX)).await;
    Ok(())
}

async fn all_have_arrived(reception: &Reception) {
    reception.complete.notified().await;
    sleep(STAYS).await;
}

/// Each connection has one request.
async fn accept(listener: &TcpListener, router: &Router, room: &Arc<Semaphore>) -> anyhow::Result<()> {
    loop {
        let place = Arc::clone(room).acquire_owned().await?;
        let Ok((stream, _)) = listener.accept().await else {
            sleep(AFTER_A_REFUSAL).await;
            continue;
        };
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).keep_alive(false);
        let answered =
            server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        task::spawn(async move {
            // A job that disconnected is no error.
            let _ended = answered.await;
            drop(place);
        });
    }
}

async fn answer(State(reception): State<Arc<Reception>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let asked = match reception.desk.admit(presented(&parts)) {
        Ok(asked) => asked,
        Err(refusal) => {
            reception.stranger(&refusal);
            return response(refusal.kind.status(), refusal.body(), None);
        }
    };
    let done = match &asked.route {
        PushRoute::Bundle { .. } => {
            let done = bundle(&reception, &asked, &parts, body).await;
            done.inspect(|committed| reception.arrived(&asked, *committed)).map(CollectorDesk::accepted)
        }
        _ => message(&reception, &asked, body).await,
    };
    let (status, body) = match done {
        Ok(body) => (StatusCode::OK.as_u16(), body),
        Err(refusal) => {
            reception.refused(&asked, &refusal);
            (refusal.kind.status(), refusal.body())
        }
    };
    let proof = reception.desk.proof_of_answer(&asked, status, &body);
    response(status, body, Some(&proof))
}

fn presented(parts: &Parts) -> Presented<'_> {
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Presented {
        verb: parts.method.as_str(),
        path: parts.uri.path_and_query().map_or("", |path| path.as_str()),
        nonce: text(NONCE),
        digest: text(DIGEST),
        proof: text(PROOF),
    }
}

fn response(status: u16, body: Vec<u8>, proof: Option<&str>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(proof) = proof.and_then(|proof| HeaderValue::from_str(proof).ok()) {
        headers.insert(PROOF, proof);
    }
    response
}

/// Runs `work` on a thread, so that connections do not all wait for the disk.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let failed = |_| Refusal::new(RefusalKind::Store, "the collector failed");
    spawn_blocking(work).await.map_err(failed)?
}

async fn message(reception: &Arc<Reception>, asked: &Asked, body: Body) -> Result<Vec<u8>, Refusal> {
    let cut_off = || Refusal::new(RefusalKind::Damaged, "it was cut off, or is too large");
    let body = timeout(SILENT_MAX, to_bytes(body, MESSAGE_BYTES_MAX)).await;
    let body = body.ok().and_then(Result::ok).ok_or_else(cut_off)?;
    let (reception, asked) = (Arc::clone(reception), asked.clone());
    on_a_thread(move || reception.desk.answer(&asked, &body)).await
}

async fn bundle(
    reception: &Arc<Reception>,
    asked: &Asked,
    parts: &Parts,
    body: Body,
) -> Result<Committed, Refusal> {
    let length =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let no_length = || Refusal::new(RefusalKind::Unreadable, "it does not say how long it is");
    let length: u64 = length.ok_or_else(no_length)?;
    let turn = timeout(TURN_WITHIN, reception.turns.acquire()).await.ok().and_then(Result::ok);
    let busy = || Refusal::new(RefusalKind::Busy, "too many bundles arrive at the same time");
    let _turn = turn.ok_or_else(busy)?;
    let (looking, looked_for) = (Arc::clone(reception), asked.clone());
    if on_a_thread(move || looking.desk.is_here(&looked_for, length)).await? {
        return Ok(Committed::AlreadyHere);
    }
    let (sender, mut receiver) = mpsc::channel::<Bytes>(CHUNKS_MAX);
    let (taking, announced) = (Arc::clone(reception), asked.clone());
    let taken =
        on_a_thread(move || taking.desk.receive(&announced, std::iter::from_fn(|| receiver.blocking_recv())));
    // A body that ends early is an incomplete bundle.
    let passed_on = async {
        let _what_has_come_decides = timeout(BUNDLE_WITHIN, pass_on(body, sender)).await;
        Ok(())
    };
    tokio::try_join!(taken, passed_on).map(|(committed, ())| committed)
}

async fn pass_on(body: Body, sender: mpsc::Sender<Bytes>) {
    let mut chunks = body.into_data_stream();
    while let Ok(Some(Ok(chunk))) = timeout(SILENT_MAX, chunks.next()).await {
        if sender.send(chunk).await.is_err() {
            return;
        }
    }
}
