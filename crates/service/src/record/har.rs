//! HAR files: exchanges that a browser or a proxy recorded (HTTP Archive 1.2, <http://www.softwareishard.com/blog/har-12-spec/>).
//!
//! Read leniently: what is not needed may be missing or wrong.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use tare_load::http1::{Response, Version};

use super::{LeftOut, Material, RecordError, url::origin_and_path};
use crate::learn::{LearnedAnswer, Question};

/// Headers that a client adds by itself, and that say nothing about what is asked for.
const OF_CLIENTS: [&str; 21] = [
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-length",
    "dnt",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "proxy-connection",
    "referer",
    "te",
    "transfer-encoding",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
];
/// Parts of the names of headers whose values are secret.
const SECRET: [&str; 6] = ["authorization", "cookie", "token", "secret", "key", "session"];
const NOT_MODIFIED: u16 = 304;

/// As much of a HAR file as tells it from other documents.
#[derive(Debug, Deserialize)]
pub struct Outline {
    #[serde(rename = "log")]
    _log: OutlineLog,
}

#[derive(Debug, Deserialize)]
struct OutlineLog {
    #[serde(rename = "entries")]
    _entries: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<HarEntry>,
}

#[derive(Deserialize)]
struct HarEntry {
    request: HarRequest,
    response: HarAnswer,
}

#[derive(Deserialize)]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default, rename = "postData")]
    post: Option<Post>,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Post {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct HarAnswer {
    /// Below 0 or 0 if there was none.
    status: i64,
    #[serde(default)]
    content: HarContent,
}

#[derive(Default, Deserialize)]
struct HarContent {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    encoding: Option<String>,
    #[serde(default)]
    size: i64,
}

/// Reads the exchanges with one server: the one that was asked most often.
///
/// # Errors
/// It is no HAR file.
pub fn read(text: &str) -> Result<Material, RecordError> {
    let file: File = serde_json::from_str(text).map_err(|error| RecordError::Unknown(error.to_string()))?;
    let mut source = Material::default();
    let mut by_origin: BTreeMap<String, Vec<(String, HarEntry)>> = BTreeMap::new();
    for entry in file.log.entries {
        match origin_and_path(&entry.request.url).map(|(origin, path)| (origin.to_ascii_lowercase(), path)) {
            Some((origin, path)) => by_origin.entry(origin).or_default().push((path, entry)),
            None => source.left_out.push(LeftOut::NoUrl { url: entry.request.url }),
        }
    }
    let most = by_origin.iter().max_by_key(|(_, entries)| entries.len()).map(|(origin, _)| origin.clone());
    for (origin, entries) in by_origin {
        match Some(&origin) == most.as_ref() {
            true => {
                source.title = format!("recorded from {origin}");
                take(entries, &mut source);
            }
            false => source.left_out.push(LeftOut::Elsewhere { origin, requests: entries.len() }),
        }
    }
    Ok(source)
}

/// The same request may have been sent several times: its answers have something in common.
fn take(entries: Vec<(String, HarEntry)>, source: &mut Material) {
    let mut asked: Vec<(Question, Vec<Response>)> = Vec::new();
    for (path, entry) in entries {
        let question = entry.request.question(path, &mut source.left_out);
        match entry.response.response(&question) {
            Ok(answer) => match asked.iter_mut().find(|(known, _)| *known == question) {
                Some((_, answers)) => answers.push(answer),
                None => asked.push((question, vec![answer])),
            },
            Err(why) => source.left_out.push(why),
        }
    }
    for (question, answers) in asked {
        let answer = match answers.as_slice() {
            [once] => LearnedAnswer::seen_once(&question, once),
            answers => LearnedAnswer::common(&question, answers),
        };
        match answer {
            Ok(answer) => source.wanted.push((question, answer)),
            Err(error) => source.left_out.push(error.into()),
        }
    }
}

impl HarRequest {
    fn question(self, path: String, left_out: &mut Vec<LeftOut>) -> Question {
        let mut question = Question {
            method: self.method.to_ascii_uppercase(),
            path,
            body: self.post.and_then(|post| post.text).filter(|text| !text.is_empty()),
            headers: Vec::new(),
        };
        for Header { name, value } in self.headers {
            let lower = name.to_ascii_lowercase();
            // A name with a colon is of HTTP/2, whose first line is made of headers.
            let is_of_client =
                name.starts_with(':') || lower.starts_with("sec-") || OF_CLIENTS.contains(&&*lower);
            if is_of_client || question.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                continue;
            }
            match SECRET.iter().any(|part| lower.contains(part)) {
                true => left_out.push(LeftOut::Secret { asked: question.to_string(), header: name }),
                false => question.headers.push((name, value)),
            }
        }
        question
    }
}

impl HarAnswer {
    fn response(self, asked: &Question) -> Result<Response, LeftOut> {
        let asked = asked.to_string();
        let Some(status) = u16::try_from(self.status).ok().filter(|status| *status > 0) else {
            return Err(LeftOut::NoAnswer { asked });
        };
        if status == NOT_MODIFIED {
            return Err(LeftOut::Cached { asked });
        }
        let HarContent { text, encoding, size } = self.content;
        let body = match (text, encoding.as_deref()) {
            (Some(text), Some("base64")) => STANDARD.decode(text).ok(),
            (Some(text), _) => Some(text.into_bytes()),
            (None, _) => (size <= 0).then(Vec::new),
        };
        let body = body.ok_or(LeftOut::NoBody { asked })?;
        Ok(Response { status, version: Version::Http11, headers: Vec::new(), body, keep_alive: true })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn entry(method: &str, url: &str, status: i64, content: &Value) -> Value {
        let headers = json!([
            {"name": ":authority", "value": "a"}, {"name": "User-Agent", "value": "Firefox"},
            {"name": "Accept", "value": "application/json"}, {"name": "Authorization", "value": "Bearer 42"},
        ]);
        json!({"request": {"method": method, "url": url, "headers": headers}, "response": {"status": status, "content": content}})
    }

    fn har(entries: &[Value]) -> Material {
        let text =
            json!({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": entries}}).to_string();
        assert!(serde_json::from_str::<Outline>(&text).is_ok());
        read(&text).unwrap()
    }

    fn lines(source: &Material) -> Vec<String> {
        source.left_out.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn exchanges_of_the_most_asked_server_are_taken() {
        let text = |text: &str| json!({"text": text});
        let source = har(&[
            entry("GET", "http://a/items?x=1#top", 200, &text("[1]")),
            entry("get", "http://a/items?x=1", 200, &text("[2]")),
            entry("GET", "http://A/one", 200, &text("{\"at\":\"2026-11-23T12:00:00Z\",\"n\":1}")),
            entry("GET", "http://b/other", 200, &text("")),
        ]);
        let said: Vec<_> =
            source.wanted.iter().map(|(asked, answer)| (asked.to_string(), answer.json.clone())).collect();
        assert_eq!(
            said,
            [
                ("GET /items?x=1".to_owned(), Some("[\"{{any:number}}\"]".to_owned())),
                ("GET /one".to_owned(), Some("{\"at\":\"{{any:timestamp}}\",\"n\":1}".to_owned())),
            ]
        );
        assert_eq!(source.wanted[0].0.headers, [("Accept".to_owned(), "application/json".to_owned())]);
        let secret = "the header \"Authorization\" is secret, and not recorded";
        assert_eq!(lines(&source)[..1], [format!("GET /items?x=1: {secret}")]);
        assert_eq!(lines(&source).last().unwrap(), "http://b: 1 of the requests go to this other server");
    }

    #[test]
    fn what_has_no_answer_is_told() {
        let source = har(&[
            entry("GET", "http://a/gone", 404, &json!({"text": "no"})),
            entry("GET", "http://a/cached", 304, &json!({})),
            entry("GET", "http://a/broken", 0, &json!({})),
            entry("GET", "http://a/image", 200, &json!({"size": 9})),
            entry("GET", "chrome://a/", 200, &json!({})),
        ]);
        assert!(source.wanted.is_empty());
        let told: Vec<String> = lines(&source).into_iter().filter(|line| !line.contains("secret")).collect();
        assert_eq!(
            told,
            [
                "\"chrome://a/\" is no URL of http or https",
                "GET /cached: the answer came from a cache",
                "GET /broken: no answer of the class 2xx or 3xx is there",
                "GET /image: the body of the answer is not there",
                "GET /gone is answered with status 404 and \"no\": ask for another path",
            ]
        );
    }

    #[test]
    fn another_document_is_no_har_file() {
        assert!(serde_json::from_str::<Outline>("{\"openapi\": \"3.0.0\"}").is_err());
        assert!(read("[]").is_err());
    }
}
