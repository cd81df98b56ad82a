//! How answers are made.

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Whole, or a stream of what others make: of files, or compressed.
pub type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Error>>;

pub fn text(body: impl Into<Bytes>) -> Response<Body> {
    respond("text/plain; charset=utf-8", body.into())
}

pub fn json<T: Serialize + ?Sized>(value: &T) -> Response<Body> {
    let body = serde_json::to_vec(value).expect("strings and JSON values have a JSON form");
    respond("application/json", body.into())
}

fn respond(content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = status;
    response
}

pub fn html(body: impl Into<Bytes>) -> Response<Body> {
    respond("text/html; charset=utf-8", body.into())
}

pub fn boxed<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes, Error: Into<Error>> + Send + 'static,
{
    Either::Right(body.map_err(Into::into).boxed_unsync())
}
