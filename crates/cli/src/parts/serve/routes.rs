//! The paths of the server, and the streams of events.

use std::{
    collections::hash_map::DefaultHasher,
    convert::Infallible,
    hash::{Hash, Hasher},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, header},
    middleware,
    response::{
        Html, IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::get,
};
use tare_report::write::{
    self,
    runs::{self, ListedRun},
};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc, watch},
    task::spawn_blocking,
    time::sleep,
};
use tokio_stream::wrappers::ReceiverStream;

use super::{
    follow::{Followed, Update},
    guard::{self, Hosts, refusal},
    pages::{Page, Pages},
    shelf::{Folders, Shelf},
};

const STREAMS_MAX: usize = 32;
/// How long one update of the list reads past runs; the rest is read at the next update.
const LIST_BUDGET: Duration = Duration::from_millis(300);
/// How long a list is up to date.
const LIST_EVERY: Duration = Duration::from_secs(2);
/// A stream sends a keep-alive, so that a closed reader is noticed.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

#[derive(Debug, Clone)]
pub(super) struct App {
    hosts: Hosts,
    folders: Folders,
    /// An asynchronous lock, so that a waiting request blocks no thread.
    list: Arc<Mutex<List>>,
    pages: Pages,
    followed: Followed,
    streams: Arc<Semaphore>,
}

#[derive(Debug)]
struct List {
    shelf: Shelf,
    looked: Option<(Instant, Arc<Vec<ListedRun>>)>,
}

impl App {
    pub(super) fn new(folders: Folders, port: u16) -> App {
        let shelf = Shelf::new(folders.clone());
        App {
            hosts: Hosts::new(port),
            folders,
            list: Arc::new(Mutex::new(List { shelf, looked: None })),
            pages: Pages::default(),
            followed: Followed::default(),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        }
    }

    pub(super) fn router(self) -> Router {
        let hosts = self.hosts.clone();
        Router::new()
            .route("/", get(list))
            .route("/events", get(list_events))
            .route("/run/{name}", get(page))
            .route("/run/{name}/report.json", get(report))
            .route("/run/{name}/events", get(events))
            .route("/run/{name}/{file}", get(table))
            .fallback(|| async { nothing() })
            .with_state(self)
            .layer(middleware::from_fn_with_state(hosts, guard::guard))
    }

    /// The list, updated if it is old.
    async fn look(&self) -> Result<Arc<Vec<ListedRun>>, Response> {
        let mut list = Arc::clone(&self.list).lock_owned().await;
        reading(move || list.look()).await
    }

    async fn find(&self, name: String) -> Result<PathBuf, Response> {
        let sentence = format!("no run is called {name:?}; the list of runs is at /");
        let folders = self.folders.clone();
        reading(move || folders.find(&name)).await?.ok_or_else(|| refusal(StatusCode::NOT_FOUND, &sentence))
    }

    async fn page_of(&self, name: String) -> Result<Arc<Page>, Response> {
        let (path, pages) = (self.find(name.clone()).await?, self.pages.clone());
        let (known, run) = (pages.clone(), path.clone());
        if let Some(page) = reading(move || known.known(&run)).await? {
            return Ok(page);
        }
        let turn = pages.turn().await;
        let page = reading(move || pages.get(&name, &path, turn)).await?;
        page.map_err(|sentence| refusal(StatusCode::UNPROCESSABLE_ENTITY, &sentence))
    }

    fn stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }
}

impl List {
    fn look(&mut self) -> Arc<Vec<ListedRun>> {
        let began = Instant::now();
        match &self.looked {
            Some((at, runs)) if began < *at + LIST_EVERY => Arc::clone(runs),
            _ => {
                let runs = Arc::new(self.shelf.look(|| began.elapsed() < LIST_BUDGET));
                self.looked = Some((Instant::now(), Arc::clone(&runs)));
                runs
            }
        }
    }
}

fn crowded() -> Response {
    let sentence = format!("{STREAMS_MAX} pages are being kept up to date already; close one");
    refusal(StatusCode::SERVICE_UNAVAILABLE, &sentence)
}

/// Runs `read` in a thread that may wait for a disk.
async fn reading<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
    let sentence = "this could not be read: see what tare serve printed";
    spawn_blocking(read).await.map_err(|_| refusal(StatusCode::INTERNAL_SERVER_ERROR, sentence))
}

async fn list(State(app): State<App>) -> Result<Response, Response> {
    let runs = app.look().await?;
    let page = runs::page(&runs, "/events", jiff::Timestamp::now());
    page.map(|page| Html(page).into_response())
        .map_err(|error| refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()))
}

async fn page(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Response> {
    Ok(Html(app.page_of(name).await?.html.clone()).into_response())
}

async fn report(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Response> {
    let page = app.page_of(name).await?;
    let json = reading(move || write::json::json(&page.document)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// The table of a section, `SECTION.csv`.
async fn table(
    State(app): State<App>,
    Path((name, file)): Path<(String, String)>,
) -> Result<Response, Response> {
    let Some(section) = file.strip_suffix(".csv").map(str::to_owned) else { return Ok(nothing()) };
    let page = app.page_of(name).await?;
    let csv = reading(move || write::table(&page.document, &section).map(write::csv::of_table)).await?;
    let csv = csv.map_err(|error| refusal(StatusCode::NOT_FOUND, &error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], csv).into_response())
}

fn nothing() -> Response {
    refusal(StatusCode::NOT_FOUND, "nothing here; the list of runs is at /")
}

/// Sends the event `list` whenever the list has changed.
async fn list_events(State(app): State<App>) -> Result<Response, Response> {
    let permit = app.stream().ok_or_else(crowded)?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let _permit = permit;
        let mut seen = None;
        while !sender.is_closed() {
            let Ok(runs) = app.look().await else { break };
            let now = digest(&runs);
            if seen.replace(now).is_some_and(|before| before != now)
                && sender.send(Ok(named("list", "changed"))).await.is_err()
            {
                break;
            }
            tokio::select! {
                () = sleep(LIST_EVERY) => {}
                () = sender.closed() => break,
            }
        }
    });
    Ok(stream_of(receiver))
}

fn digest(runs: &[ListedRun]) -> u64 {
    let mut hasher = DefaultHasher::new();
    runs.hash(&mut hasher);
    hasher.finish()
}

/// Sends `progress` when it changes, `document` when the report has more to show, and `done` at the end.
async fn events(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Response> {
    let path = app.find(name).await?;
    let permit = app.stream().ok_or_else(crowded)?;
    let mut updates = app.followed.listen(&path, &app.pages);
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let _permit = permit;
        send_updates(&mut updates, &sender).await;
    });
    Ok(stream_of(receiver))
}

type Events = mpsc::Sender<Result<Event, Infallible>>;

/// Sends until the run has ended or the browser disconnects. A slow reader skips to the newest state.
async fn send_updates(updates: &mut watch::Receiver<Update>, sender: &Events) {
    let mut sent = Update::default();
    loop {
        let now = updates.borrow_and_update().clone();
        for event in news(&sent, &now) {
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if now.done {
            return;
        }
        sent = now;
        tokio::select! {
            changed = updates.changed() => if changed.is_err() { return },
            () = sender.closed() => return,
        }
    }
}

/// The events for the changes, in the order that the page expects.
fn news(sent: &Update, now: &Update) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(progress) = now.progress.as_ref().filter(|_| now.progress != sent.progress) {
        // It contains strings and a finite number, which JSON can represent.
        let json = serde_json::to_string(progress).unwrap_or_default();
        events.push(named("progress", &json));
    }
    if now.documents != sent.documents {
        events.push(named("document", "changed"));
    }
    if now.done {
        events.push(named("done", "ended"));
    }
    events
}

/// An event; `data` must not be empty, because a browser ignores an event without data.
fn named(name: &str, data: &str) -> Event {
    Event::default().event(name).data(data)
}

fn stream_of(receiver: mpsc::Receiver<Result<Event, Infallible>>) -> Response {
    let alive = KeepAlive::new().interval(ALIVE_EVERY);
    Sse::new(ReceiverStream::new(receiver)).keep_alive(alive).into_response()
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn who_waits_for_a_page_keeps_no_thread_from_the_others() {
        let runs = tempfile::tempdir().unwrap();
        std::fs::create_dir(runs.path().join("one")).unwrap();
        std::fs::write(runs.path().join("one/run.json"), "{\"format\":\"9.0\"}").unwrap();
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
        runtime.unwrap().block_on(async {
            let app = App::new(Folders::new(vec![runs.path().to_owned()]), 0);
            let turn = app.pages.turn().await;
            let ask = |app: App| async move { app.page_of("one".to_owned()).await.is_ok() };
            let asked: Vec<_> = (0..8).map(|_| tokio::spawn(ask(app.clone()))).collect();
            for _ in 0..3 {
                let list = timeout(LONG, app.look()).await.expect("the list is not kept waiting");
                assert_eq!(list.unwrap().len(), 1);
            }
            assert!(asked.iter().all(|asked| !asked.is_finished()), "they wait for their turn");
            drop(turn);
            for asked in asked {
                assert!(timeout(LONG, asked).await.unwrap().unwrap());
            }
        });
    }
}
