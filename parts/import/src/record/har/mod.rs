//! HAR files: exchanges that a browser or a proxy recorded (HTTP Archive 1.2, <http://www.softwareishard.com/blog/har-12-spec/>).
//!
//! Parsed leniently: unneeded parts may be missing or wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::Value;
use tare_load::http1::{Response, StatusLineVersion};

use post::{BASE64, HarPost, PostBody, of_base64};

use super::{LeftOutPart, Material, RecordError, form, url::origin_and_path};
use tare_service::learn::{CONTENT_TYPE, LearnRequest, LearnedAnswer};

mod post;

/// Headers that a client adds by itself, which do not affect what is requested.
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
/// Parts of header names with secret values.
const SECRET: [&str; 6] = ["authorization", "cookie", "token", "secret", "key", "session"];
const NOT_MODIFIED: u16 = 304;
const NO_CONTENT: u16 = 204;

/// The minimum that distinguishes a HAR file from other documents.
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
    /// Entries are parsed one by one, so that only invalid ones are left out.
    entries: Vec<Value>,
}

#[derive(Deserialize)]
struct HarEntry {
    request: HarRequest,
    /// Absent if no answer came.
    response: Option<HarAnswer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default, deserialize_with = "or_null")]
    headers: Vec<Pair>,
    #[serde(default, deserialize_with = "or_null")]
    cookies: Vec<IgnoredAny>,
    /// Some programs write the query only here.
    #[serde(default, deserialize_with = "or_null")]
    query_string: Vec<Pair>,
    post_data: Option<HarPost>,
    /// Negative if unknown.
    body_size: Option<i64>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    #[serde(default, deserialize_with = "or_null")]
    value: String,
}

#[derive(Deserialize)]
struct HarAnswer {
    /// 0 or negative if there was no answer.
    status: i64,
    #[serde(default, deserialize_with = "or_null")]
    headers: Vec<Pair>,
    #[serde(default, deserialize_with = "or_null")]
    content: HarContent,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarContent {
    #[serde(default, deserialize_with = "or_null")]
    mime_type: String,
    text: Option<String>,
    encoding: Option<String>,
    /// Negative if unknown.
    size: Option<i64>,
}

/// Some programs write null for missing values.
fn or_null<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(value: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

/// Reads the exchanges with one server: the one with the most requests.
///
/// # Errors
/// The text is not a HAR file.
pub fn read(text: &str) -> Result<Material, RecordError> {
    let file: File = serde_json::from_str(text).map_err(|error| RecordError::Unknown(error.to_string()))?;
    let mut source = Material::default();
    let mut by_origin: BTreeMap<String, Vec<(String, HarEntry)>> = BTreeMap::new();
    for (number, entry) in (1..).zip(file.log.entries) {
        let entry = match serde_json::from_value::<HarEntry>(entry) {
            Ok(entry) => entry,
            Err(error) => {
                source
                    .left_out
                    .push(LeftOutPart::NoExchange { number, reason: error.to_string().replace('`', "\"") });
                continue;
            }
        };
        match origin_and_path(&entry.request.url).map(|(origin, path)| (origin.to_ascii_lowercase(), path)) {
            Some((origin, path)) => by_origin.entry(origin).or_default().push((path, entry)),
            None => source.left_out.push(LeftOutPart::NoUrl { url: entry.request.url }),
        }
    }
    let most = by_origin.iter().max_by_key(|(_, entries)| entries.len()).map(|(origin, _)| origin.clone());
    for (origin, entries) in by_origin {
        match Some(&origin) == most.as_ref() {
            true => {
                source.title = format!("recorded from {origin}");
                take(entries, &mut source);
            }
            false => source.left_out.push(LeftOutPart::Elsewhere { origin, requests: entries.len() }),
        }
    }
    Ok(source)
}

/// Repeated requests are joined, so that their answers can be compared.
fn take(entries: Vec<(String, HarEntry)>, source: &mut Material) {
    let mut asked: Vec<(LearnRequest, Vec<Response>)> = Vec::new();
    for (path, entry) in entries {
        let exchanged = entry.request.question(path, &mut source.left_out).and_then(|question| {
            let asked = question.to_string();
            let answer = entry.response.ok_or(LeftOutPart::NoAnswer { asked })?.response(&question)?;
            Ok((question, answer))
        });
        match exchanged {
            Ok((question, answer)) => match asked.iter_mut().find(|(known, _)| *known == question) {
                Some((_, answers)) => answers.push(answer),
                None => asked.push((question, vec![answer])),
            },
            Err(why) => source.left_out.push(why),
        }
    }
    for (question, answers) in asked {
        match LearnedAnswer::common(&question, &answers, None) {
            Ok(answer) => source.wanted.push((question.literal(), answer)),
            Err(error) => source.left_out.push(error.into()),
        }
    }
}

impl HarRequest {
    fn question(self, path: String, left_out: &mut Vec<LeftOutPart>) -> Result<LearnRequest, LeftOutPart> {
        let mut path = path;
        if !path.contains('?') && !self.query_string.is_empty() {
            let pairs = self.query_string.iter().map(|pair| (pair.name.as_str(), pair.value.as_str()));
            path = format!("{path}?{}", form::url_encoded(pairs));
        }
        let method = self.method.to_ascii_uppercase();
        let mut question = LearnRequest { method, path, body: None, headers: Vec::new() };
        let asked = question.to_string();
        let bytes = self.body_bytes();
        let has_cookie_header = self.headers.iter().any(|header| header.name.eq_ignore_ascii_case("cookie"));
        if !self.cookies.is_empty() && !has_cookie_header {
            left_out.push(LeftOutPart::Secret { asked: asked.clone(), header: "Cookie".to_owned() });
        }
        for Pair { name, value } in self.headers {
            let lower = name.to_ascii_lowercase();
            // A name with a colon is an HTTP/2 pseudo-header, which belongs to the first line.
            let is_of_client =
                name.starts_with(':') || lower.starts_with("sec-") || OF_CLIENTS.contains(&&*lower);
            if is_of_client {
                continue;
            }
            let known = question.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name));
            match known {
                _ if SECRET.iter().any(|part| lower.contains(part)) => {
                    left_out.push(LeftOutPart::Secret { asked: asked.clone(), header: name });
                }
                // Several headers of one name form a list (RFC 9110, 5.3).
                Some((_, values)) => *values = format!("{values}, {value}"),
                None => question.headers.push((name, value)),
            }
        }
        let content_type = question.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(CONTENT_TYPE));
        let content_type = content_type.map(|(_, value)| value.clone());
        let post = self.post_data.unwrap_or_default();
        let body =
            post.body(content_type.as_deref(), bytes).map_err(|why| LeftOutPart::Body { asked, why })?;
        if let Some(PostBody { content_type, text }) = body {
            question.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(CONTENT_TYPE));
            question.headers.extend(content_type.map(|value| (CONTENT_TYPE.to_owned(), value)));
            question.body = Some(text);
        }
        Ok(question)
    }

    /// Length of the sent body; absent if the file does not state it.
    fn body_bytes(&self) -> Option<u64> {
        let said = self.body_size.and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0);
        said.or_else(|| content_length(&self.headers))
    }
}

fn content_length(headers: &[Pair]) -> Option<u64> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"))?;
    header.value.trim().parse().ok()
}

impl HarAnswer {
    fn response(self, asked: &LearnRequest) -> Result<Response, LeftOutPart> {
        let has_body = asked.method != "HEAD";
        let asked = asked.to_string();
        let Some(status) = u16::try_from(self.status).ok().filter(|status| *status > 0) else {
            return Err(LeftOutPart::NoAnswer { asked });
        };
        if status == NOT_MODIFIED {
            return Err(LeftOutPart::Cached { asked });
        }
        let HarContent { mime_type, text, encoding, size } = self.content;
        let has_body = has_body && status != NO_CONTENT;
        let is_empty = size == Some(0) && content_length(&self.headers).unwrap_or(0) == 0;
        let body = match (text, encoding.as_deref()) {
            (Some(text), Some(BASE64)) => of_base64(&text),
            (Some(text), _) => Some(text.into_bytes()),
            (None, _) => (is_empty || !has_body).then(Vec::new),
        };
        let body = body.ok_or_else(|| LeftOutPart::NoBody { asked: asked.clone() })?;
        // Text is recorded as characters; in another encoding the bytes differed.
        let charset =
            form::parameter(&mime_type, "charset").filter(|_| encoding.is_none() && !body.is_ascii());
        if let Some(charset) = charset.filter(|charset| !charset.eq_ignore_ascii_case("utf-8")) {
            return Err(LeftOutPart::Charset { asked, charset: charset.to_owned() });
        }
        let bytes = size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
        // It was truncated, or its text is not the received bytes.
        if has_body && (body.len() as u64) < bytes {
            return Err(LeftOutPart::CutAnswer { asked, recorded: body.len(), bytes });
        }
        Ok(Response {
            status,
            version: StatusLineVersion::Http11,
            headers: Vec::new(),
            body,
            keep_alive: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
