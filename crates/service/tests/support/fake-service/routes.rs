//! Answers to requests: the contracts, and the modes with wrong answers. It knows nothing of connections.

use crate::http::{Request, Response};
use crate::modes::Mode;
use crate::sessions::Sessions;
use crate::table::Items;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

const COUNT_DEFAULT: usize = 10_000;
const COUNT_MAX: usize = 1_000_000;

/// The state that determines answers.
#[derive(Debug)]
pub(crate) struct Routes {
    mode: Mode,
    bare: bool,
    delay: Duration,
    /// Number of requests that may still enter the delay.
    free: Mutex<u32>,
    freed: Condvar,
    first_echo: OnceLock<Response>,
    first_label: OnceLock<Response>,
    first_form: OnceLock<Response>,
    /// Number of reads of the shop's item.
    reads: AtomicU64,
    sessions: Sessions,
    items: Items,
    /// Number of reads of table rows.
    asked: AtomicU64,
}

impl Routes {
    pub(crate) fn new(mode: Mode, bare: bool, threads: u32, delay_ms: u32, items: Items) -> Self {
        Self {
            mode,
            bare,
            delay: Duration::from_millis(delay_ms.into()),
            free: Mutex::new(threads),
            freed: Condvar::new(),
            first_echo: OnceLock::new(),
            first_label: OnceLock::new(),
            first_form: OnceLock::new(),
            reads: AtomicU64::new(0),
            sessions: Sessions::new(mode),
            items,
            asked: AtomicU64::new(0),
        }
    }

    /// The answer, modified by the mode.
    pub(crate) fn answer(&self, request: &Request) -> Response {
        let mut response = self.sessions.answer(request).unwrap_or_else(|| self.route(request));
        if self.mode == Mode::No404 && matches!(response.status, 404 | 405) {
            response = Response::text(200, "OK");
        }
        if self.mode == Mode::WrongBody {
            // The same length, so that only a comparison of bytes detects it.
            response.body.iter_mut().for_each(|byte| *byte = if *byte == b'x' { b'y' } else { b'x' });
        }
        response
    }

    fn route(&self, request: &Request) -> Response {
        let method = if request.method == "HEAD" { "GET" } else { request.method.as_str() };
        let label = request.path.strip_prefix("/test/labels/");
        if let ("GET", Some(id)) = (method, request.path.strip_prefix("/data/items/")) {
            return self.row(id);
        }
        match (method, request.path.as_str(), label) {
            ("GET", "/", _) if self.bare => Response::text(200, "Hello World!"),
            ("GET", "/", _) => Response::text(200, "Hello world!"),
            ("GET", "/api/test", _) => Response::text(200, "Hello, World!"),
            ("GET", path, _) if self.mode == Mode::PrefixRouter && path.starts_with("/api") => {
                Response::text(200, "Hello, World!")
            }
            ("GET", "/test/status", _) if self.mode == Mode::StatusOkBang => Response::text(200, "OK!"),
            ("GET", "/test/status", _) => Response::text(200, "OK"),
            ("POST", "/test", _) => self.echo(&request.body),
            ("POST", "/form", _) => self.form(&request.body),
            ("GET", "/framework", _) if self.mode == Mode::LowercaseFramework => {
                Response::json(r#"{"hello":"world"}"#)
            }
            ("GET", "/framework", _) => Response::json(r#"{"Hello":"world"}"#),
            ("GET", "/shop/items/1", _) => self.item(),
            ("POST", "/shop/items", _) => self.echo(&request.body),
            ("GET", "/benchmark", _) => self.benchmark(&request.query),
            ("GET", _, Some(label)) => self.label(label),
            (_, "/" | "/api/test" | "/test/status" | "/test" | "/framework" | "/benchmark", _)
            | (_, _, Some(_)) => Response::text(405, "method not allowed"),
            _ => Response::text(404, "not found"),
        }
    }

    /// The item changes with each answer, like records of real services.
    fn item(&self) -> Response {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        let now = jiff::Timestamp::now();
        Response::json(format!(r#"{{"id":1,"name":"tea","read":{read},"at":"{now}","tags":["hot"]}}"#))
    }

    /// A row of the table given to the service.
    fn row(&self, id: &str) -> Response {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let row = match self.mode {
            Mode::OtherRowIn1500 if asked.is_multiple_of(1500) => self.items.first(),
            _ => self.items.get(id),
        };
        row.map_or_else(|| Response::text(404, "not found"), Response::json)
    }

    /// The parts of a form by name.
    fn form(&self, body: &[u8]) -> Response {
        let parts = std::str::from_utf8(body).ok().and_then(parts);
        parts.map_or_else(
            || Response::text(400, "a form is wanted"),
            |parts| {
                let answer = Response::json(Value::Object(parts).to_string());
                self.cached(&self.first_form, answer)
            },
        )
    }

    fn echo(&self, body: &[u8]) -> Response {
        self.wait();
        let answer = match serde_json::from_slice(body) {
            Ok(Value::Object(mut object)) => {
                object.insert("text".into(), "received".into());
                Response::json(Value::Object(object).to_string())
            }
            _ if self.mode == Mode::AcceptsBadJson => Response::json(r#"{"text":"received"}"#),
            _ => return Response::text(400, "a JSON object is wanted"),
        };
        self.cached(&self.first_echo, answer)
    }

    fn label(&self, label: &str) -> Response {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = if self.mode == Mode::LabelsOfThree { 3..=3 } else { 1..=24 };
        if !length.contains(&label.len()) || !label.bytes().all(allowed) {
            return Response::text(404, "not found");
        }
        self.cached(&self.first_label, Response::text(200, label))
    }

    fn benchmark(&self, query: &str) -> Response {
        let asked = query.split('&').find_map(|pair| pair.strip_prefix("count="));
        let count = match asked.map(str::parse) {
            _ if self.mode == Mode::IgnoresCount => COUNT_DEFAULT,
            None => COUNT_DEFAULT,
            Some(Ok(count)) if count <= COUNT_MAX => count,
            Some(_) => return Response::text(400, "count must be an integer from 0 to 1000000"),
        };
        let all: Vec<String> = (0..count).map(|index| format!("Index {index}")).collect();
        Response::json(Value::from(&all[..count.min(10)]).to_string())
    }

    fn cached(&self, first: &OnceLock<Response>, answer: Response) -> Response {
        if self.mode == Mode::Caches { first.get_or_init(|| answer).clone() } else { answer }
    }

    /// Waits for the delay, with at most THREADS requests at a time. Without a delay there is no lock.
    fn wait(&self) {
        if self.delay.is_zero() {
            return;
        }
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        std::thread::sleep(self.delay);
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
    }
}

/// The boundary is the first line, and ends the body too.
fn parts(body: &str) -> Option<Map<String, Value>> {
    let (boundary, rest) = body.split_once("\r\n")?;
    let rest = rest.strip_suffix(&format!("\r\n{boundary}--\r\n"))?;
    let part = |part: &str| {
        let (head, content) = part.split_once("\r\n\r\n")?;
        let name = head.split_once("; name=\"")?.1.split('"').next()?;
        Some((name.to_owned(), Value::from(content)))
    };
    rest.split(&format!("\r\n{boundary}\r\n")).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(mode: Mode, method: &str, target: &str, body: &str) -> (u16, String) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            authorization: String::new(),
            body: body.as_bytes().to_vec(),
            keep_alive: true,
            http_1_0: false,
        };
        let response = Routes::new(mode, false, 1, 0, Items::default()).answer(&request);
        (response.status, String::from_utf8(response.body).unwrap())
    }

    #[test]
    fn the_correct_service_has_a_router() {
        let get = |target| answer(Mode::Correct, "GET", target, "");
        assert_eq!(get("/"), (200, "Hello world!".to_owned()));
        assert_eq!(get("/test/labels/a-B_9"), (200, "a-B_9".to_owned()));
        assert_eq!(get("/benchmark?count=2"), (200, r#"["Index 0","Index 1"]"#.to_owned()));
        for (target, status) in [
            ("/none", 404),
            ("/test/labels/", 404),
            ("/test/labels/a%20b", 404),
            (&format!("/test/labels/{}", "a".repeat(25)), 404),
            ("/benchmark?count=-1", 400),
            ("/benchmark?count=1000001", 400),
        ] {
            assert_eq!(get(target).0, status, "{target}");
        }
        assert_eq!(answer(Mode::Correct, "DELETE", "/framework", "").0, 405);
        assert_eq!(answer(Mode::Correct, "HEAD", "/framework", "").0, 200);
    }

    #[test]
    fn an_object_comes_back_with_one_member_more() {
        let post = |mode, body| answer(mode, "POST", "/test", body);
        assert_eq!(post(Mode::Correct, r#"{"a":1}"#), (200, r#"{"a":1,"text":"received"}"#.to_owned()));
        for body in ["", "[]", "{", "7"] {
            assert_eq!(post(Mode::Correct, body).0, 400, "{body:?}");
            assert_eq!(post(Mode::AcceptsBadJson, body).0, 200, "{body:?}");
        }
    }

    #[test]
    fn a_form_comes_back_by_the_names_of_its_parts() {
        let part = |name: &str, content: &str| {
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{content}\r\n")
        };
        let form = |body: &str| answer(Mode::Correct, "POST", "/form", body);
        let right = part("a", "1") + &part("b", "2\r\n") + "--b--\r\n";
        assert_eq!(form(&right), (200, r#"{"a":"1","b":"2\r\n"}"#.to_owned()));
        assert_eq!(form(&part("a", "1")).0, 400, "it has no end");
    }

    #[test]
    fn each_mode_is_wrong_in_one_way() {
        let get = |mode, target| answer(mode, "GET", target, "");
        assert_eq!(get(Mode::No404, "/none").0, 200);
        assert_eq!(get(Mode::StatusOkBang, "/test/status").1, "OK!");
        assert_eq!(get(Mode::LowercaseFramework, "/framework").1, r#"{"hello":"world"}"#);
        assert_eq!(get(Mode::LabelsOfThree, "/test/labels/ab").0, 404);
        assert_eq!(get(Mode::LabelsOfThree, "/test/labels/abc").0, 200);
        assert_eq!(get(Mode::IgnoresCount, "/benchmark?count=1").1.matches("Index").count(), 10);
        let (right, wrong) = (get(Mode::Correct, "/").1, get(Mode::WrongBody, "/").1);
        assert!(right != wrong && right.len() == wrong.len());
    }
}
