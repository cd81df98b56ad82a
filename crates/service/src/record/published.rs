//! The OpenAPI document that a server has of itself, at the places where frameworks put it.

use super::{Material, openapi};
use crate::{
    catalogue::Service,
    learn::{Ground, LearnError, Question, Server, provisional, start_one},
    prove::GRACE,
};

/// FastAPI and many others; springdoc; ASP.NET Core with OpenAPI and with Swashbuckle.
const PLACES: [&str; 4] = ["/openapi.json", "/v3/api-docs", "/openapi/v1.json", "/swagger/v1/swagger.json"];

/// Where it is and what it says; absent if there is none that can be read.
pub fn of_server(server: &Server) -> Option<(&'static str, Material)> {
    PLACES.into_iter().find_map(|path| Some((path, openapi::read(&text_at(server, path)?).ok()?)))
}

/// The same of a service, which is started for it; the requests that change nothing. Absent if there is no document, or none of them
/// in it.
///
/// # Errors
/// It cannot be started.
pub fn of_service(
    service: &Service,
    ground: &Ground,
) -> Result<Option<(&'static str, Vec<Question>)>, LearnError> {
    let provisional = provisional(vec![Question::new("GET", "/", None)])?;
    let ready = start_one(service, &provisional, ground, "learn-document")?;
    let found = of_server(&Server { address: ready.address, host: &ready.host });
    ready.process.stop(GRACE);
    let reads = found.map(|(place, material)| (place, material.reads()));
    Ok(reads.filter(|(_, asked)| !asked.is_empty()))
}

fn text_at(server: &Server, path: &str) -> Option<String> {
    let question =
        Question { method: "GET".to_owned(), path: path.to_owned(), body: None, headers: Vec::new() };
    let contract = provisional(vec![question]).ok()?;
    let answer = server.ask(&contract, contract.requests.first()?).ok()?;
    String::from_utf8(answer.body).ok().filter(|_| answer.status == 200)
}
