//! What went wrong on our side, as a response: its status is 500.

use std::fmt::Display;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

pub struct Failure(String);

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0).into_response()
    }
}
