//! The OpenAPI document that a server has of itself, at the places where frameworks put it.

use super::{Material, openapi};
use crate::learn::{Question, Server, provisional};

/// FastAPI and many others; springdoc; ASP.NET Core with OpenAPI and with Swashbuckle.
const PLACES: [&str; 4] = ["/openapi.json", "/v3/api-docs", "/openapi/v1.json", "/swagger/v1/swagger.json"];

/// Where it is and what it says; absent if there is none that can be read.
pub fn of_server(server: &Server) -> Option<(&'static str, Material)> {
    PLACES.into_iter().find_map(|path| Some((path, openapi::read(&text_at(server, path)?).ok()?)))
}

fn text_at(server: &Server, path: &str) -> Option<String> {
    let question =
        Question { method: "GET".to_owned(), path: path.to_owned(), body: None, headers: Vec::new() };
    let contract = provisional(vec![question]).ok()?;
    let answer = server.ask(&contract, contract.requests.first()?).ok()?;
    String::from_utf8(answer.body).ok().filter(|_| answer.status == 200)
}
