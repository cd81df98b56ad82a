//! The contracts of Tare on Rocket: its routes, its guards, its `Json`.

mod gateway;
mod products;
mod settings;
mod upload;

use std::env;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use rocket::config::{LogLevel, Shutdown};
use rocket::error::ErrorKind;
use rocket::form::FromForm;
use rocket::fs::FileServer;
use rocket::serde::json::Json;
use rocket::serde::json::serde_json::{Map, Value, json};
use rocket::tokio::signal::unix::{SignalKind, signal};
use rocket::tokio::sync::Semaphore;
use rocket::tokio::{self, runtime, time};
use rocket::{Build, Config, Rocket, State, get, post, routes};

use gateway::Upstream;
use settings::Settings;

/// How long requests in flight may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(250);

/// More than the service is ever frozen between two slices.
const KEEP_ALIVE_SECONDS: u32 = 120;

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
        println!("{}", env!("ROCKET_VERSION"));
        return ExitCode::SUCCESS;
    }
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    // `#[launch]` would take the number of workers from Rocket.toml or ROCKET_WORKERS, before there is a `Config`.
    let runtime = runtime::Builder::new_multi_thread().worker_threads(settings.threads).enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(&settings))) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("cannot serve on port {}: {error}", settings.port);
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: &Settings) -> io::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    let over = async {
        terminate.recv().await;
        time::sleep(GRACE).await;
    };
    let rocket = rocket(settings).map_err(io::Error::other)?;
    // Rocket waits for the same signal and then for what is open; it waits for a second and longer.
    tokio::select! {
        ended = rocket.launch() => Ok(match ended {
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => failure(settings, error.kind()),
        }),
        () = over => Ok(ExitCode::SUCCESS),
    }
}

fn failure(settings: &Settings, error: &ErrorKind) -> ExitCode {
    match error {
        // Rocket reads certificate and key where it binds; an error of the system has a number, one of these has none.
        ErrorKind::Bind(error) | ErrorKind::Io(error)
            if settings.tls.is_some() && error.raw_os_error().is_none() =>
        {
            eprintln!("TLS_CERT and TLS_KEY cannot be used: {error}");
            ExitCode::from(2)
        }
        error => {
            eprintln!("cannot serve on port {}: {error}", settings.port);
            ExitCode::FAILURE
        }
    }
}

fn rocket(settings: &Settings) -> reqwest::Result<Rocket<Build>> {
    let config = Config {
        address: settings.serve_on.into(),
        port: settings.port,
        workers: settings.threads,
        keep_alive: KEEP_ALIVE_SECONDS,
        tls: settings.tls.clone(),
        log_level: LogLevel::Off,
        shutdown: Shutdown { grace: 0, mercy: 0, ..Shutdown::default() },
        ..Config::release_default()
    };
    let work = (!settings.delay.is_zero())
        .then(|| Work { slots: Semaphore::new(settings.threads), delay: settings.delay });
    let mut rocket = rocket::custom(config)
        .manage(work)
        .mount("/", routes![hello, api, echo, status, label, framework, benchmark, upload::upload]);
    if let Some(products) = settings.products {
        rocket = rocket.manage(products).mount("/", routes![products::sales]);
    }
    if let Some(folder) = &settings.folder_static {
        rocket = rocket.mount("/static", FileServer::from(folder));
    }
    if let Some(url) = &settings.upstream {
        rocket = rocket.manage(Upstream::new(url.clone())?).mount("/", routes![gateway::gateway]);
    }
    Ok(rocket)
}

#[get("/")]
fn hello() -> &'static str {
    "Hello world!"
}

#[get("/api/test")]
fn api() -> &'static str {
    "Hello, World!"
}

#[post("/test", format = "json", data = "<message>")]
async fn echo(message: Json<Map<String, Value>>, work: &State<Option<Work>>) -> Json<Map<String, Value>> {
    if let Some(work) = work.inner() {
        work.wait().await;
    }
    let mut message = message.into_inner();
    message.insert("text".to_owned(), "received".into());
    Json(message)
}

#[get("/test/status")]
fn status() -> &'static str {
    "OK"
}

#[get("/test/labels/<label>")]
fn label(label: &str) -> &str {
    label
}

#[get("/framework")]
fn framework() -> Json<Value> {
    Json(json!({ "Hello": "world" }))
}

#[derive(FromForm)]
struct Benchmark {
    #[field(default = 10_000, validate = range(..=1_000_000))]
    count: usize,
}

#[get("/benchmark?<query..>")]
fn benchmark(query: Benchmark) -> Json<Vec<String>> {
    let mut strings: Vec<String> = (0..query.count).map(|index| format!("Index {index}")).collect();
    strings.truncate(10);
    Json(strings)
}
