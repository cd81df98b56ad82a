//! The contracts of Tare on Iron, with what its core bundle brings: router, bodyparser, urlencoded.

mod settings;
mod work;

use std::env;
use std::error::Error;
use std::mem;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bodyparser::Json;
use iron::headers::ContentType;
use iron::modifiers::Header;
use iron::prelude::*;
use iron::{Timeouts, iexpect, itry, status};
use router::Router;
use serde::Serialize;
use serde_json::{Value, json};
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use urlencoded::UrlEncodedQuery;

use settings::Settings;
use work::Work;

const COUNT_DEFAULT: usize = 10_000;
const COUNT_MAX: usize = 1_000_000;

/// Iron holds a thread for every open connection: with more connections than these, some are never answered.
const CONNECTIONS_MAX: usize = 1024;

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("IRON_VERSION"));
        return ExitCode::SUCCESS;
    }
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match serve(&settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve on port {}: {error}", settings.port);
            ExitCode::FAILURE
        }
    }
}

fn serve(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let mut terminate = Signals::new([SIGTERM])?;
    let work = (!settings.delay.is_zero()).then(|| Arc::new(Work::new(settings.threads, settings.delay)));

    let mut iron = Iron::new(routes(work));
    iron.threads = CONNECTIONS_MAX;
    iron.timeouts =
        Timeouts { keep_alive: Some(Duration::MAX), read: Some(Duration::MAX), ..Timeouts::default() };
    let listening = iron.http((settings.serve_on, settings.port))?;

    terminate.forever().next();
    // Iron cannot be stopped, and to drop what it returned is to wait for its end.
    mem::forget(listening);
    Ok(())
}

fn routes(work: Option<Arc<Work>>) -> Router {
    let mut router = Router::new();
    router.get("/", |_: &mut Request| text("Hello world!"), "hello");
    router.get("/api/test", |_: &mut Request| text("Hello, World!"), "api");
    router.post("/test", move |request: &mut Request| echo(request, work.as_deref()), "echo");
    router.get("/test/status", |_: &mut Request| text("OK"), "status");
    router.get("/test/labels/:label", label, "label");
    router.get("/framework", |_: &mut Request| json(&json!({ "Hello": "world" })), "framework");
    router.get("/benchmark", benchmark, "benchmark");
    router
}

fn echo(request: &mut Request, work: Option<&Work>) -> IronResult<Response> {
    let body = itry!(request.get::<Json>(), status::BadRequest);
    let Some(Value::Object(mut message)) = body else {
        return Ok(Response::with(status::BadRequest));
    };
    if let Some(work) = work {
        work.wait();
    }
    message.insert("text".to_owned(), "received".into());
    json(&message)
}

fn label(request: &mut Request) -> IronResult<Response> {
    let label = iexpect!(request.extensions.get::<Router>().and_then(|parameters| parameters.find("label")));
    text(label)
}

fn benchmark(request: &mut Request) -> IronResult<Response> {
    let query = request.get_ref::<UrlEncodedQuery>().ok();
    let count = match query.and_then(|query| query.get("count")?.first()) {
        None => COUNT_DEFAULT,
        Some(count) => itry!(count.parse(), status::BadRequest),
    };
    if count > COUNT_MAX {
        return Ok(Response::with(status::BadRequest));
    }
    let strings: Vec<String> = (0..count).map(|index| format!("Index {index}")).collect();
    json(&strings[..count.min(10)])
}

fn text(body: &str) -> IronResult<Response> {
    Ok(Response::with((status::Ok, Header(ContentType::plaintext()), body)))
}

fn json<T: Serialize + ?Sized>(value: &T) -> IronResult<Response> {
    let body = itry!(serde_json::to_vec(value));
    Ok(Response::with((status::Ok, Header(ContentType::json()), body)))
}
