//! The one response that the reference sends to every request without reading it.

use tare_load::exchange::BodyShape;
use tare_load::pattern::JsonPattern;

use super::{Body, Contract, HeaderRule, Request};

/// Longest example body.
const EXAMPLE_BYTES_MAX: usize = 1 << 20;

/// Why no single response is right for every request of a contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFixed {
    /// A request depends on an earlier answer.
    #[error("the requests are the steps of a sequence")]
    Sequence,
    /// The load has this number of different requests.
    #[error("{0} requests are asked for")]
    Requests(usize),
    /// The right answer depends on what was sent.
    #[error("the answer depends on the request")]
    DependsOnRequest,
    /// The answer may vary, and no right example was found.
    #[error("no answer could be made up that is right")]
    NoExample,
}

/// The complete response to every request of the load. If answers may vary, it is a short right one.
///
/// # Errors
/// No single response is right for all requests.
pub fn fixed_response(contract: &Contract) -> Result<Vec<u8>, NotFixed> {
    if !contract.sequences.is_empty() {
        return Err(NotFixed::Sequence);
    }
    let loaded: Vec<&Request> = contract.loaded().collect();
    let [request] = loaded[..] else { return Err(NotFixed::Requests(loaded.len())) };
    let body = body(&request.answer.body)?;
    let reason = match request.answer.status {
        200 => "OK",
        201 => "Created",
        404 => "Not Found",
        // Clients ignore the reason phrase, so other statuses have none.
        _ => "",
    };
    let mut head = format!(
        "HTTP/1.1 {} {reason}\r\nConnection: keep-alive\r\nContent-Length: {}\r\nServer: tare-raw-socket\r\n",
        request.answer.status,
        body.len()
    );
    if let Some(content_type) = &request.answer.content_type {
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
    }
    for (name, rule) in &request.answer.headers {
        if *rule != HeaderRule::Absent {
            head.push_str(&format!("{name}: {}\r\n", rule.example().ok_or(NotFixed::NoExample)?));
        }
    }
    Ok(format!("{head}\r\n{body}").into_bytes())
}

fn body(body: &Body) -> Result<String, NotFixed> {
    match body {
        Body::Exact(template) | Body::Json(template) => template.fixed().ok_or(NotFixed::DependsOnRequest),
        Body::Pattern { template, extra } => {
            let pattern = template.fixed().ok_or(NotFixed::DependsOnRequest)?;
            let pattern = serde_json::from_str(&pattern).map_err(|_| NotFixed::NoExample)?;
            Ok(JsonPattern::new(pattern, *extra).example().to_string())
        }
        Body::Shape(shape) => shaped(shape).ok_or(NotFixed::NoExample),
        Body::Any => Ok(String::new()),
        Body::Html(_) | Body::AnyRow(_) => Err(NotFixed::NoExample),
    }
}

fn shaped(shape: &BodyShape) -> Option<String> {
    let text = match &shape.pattern {
        Some(pattern) => pattern.example()?,
        None => {
            let length = usize::try_from(*shape.bytes.start()).ok()?;
            (length <= EXAMPLE_BYTES_MAX).then(|| "x".repeat(length))?
        }
    };
    shape.bytes.contains(&(text.len() as u64)).then_some(text)
}
