//! The OpenAPI document that a server publishes, at the usual paths of frameworks.

use super::{Material, openapi};
use tare_base::document;
use tare_service::{
    catalogue::Service,
    client::{AskError, Deadline},
    learn::{LearnContext, LearnError, LearnRequest, LearnTarget, PATIENCE, provisional, start_one},
    prove::GRACE,
    workspace::Published,
};

/// Paths of FastAPI and many others, springdoc, ASP.NET Core with OpenAPI, and Swashbuckle.
const PLACES: [&str; 4] = ["/openapi.json", "/v3/api-docs", "/openapi/v1.json", "/swagger/v1/swagger.json"];

/// The document's path and content; absent if none is readable. All paths share the time limit of one answer.
///
/// # Errors
/// The server did not answer in that time, so further requests would fail too.
pub fn of_server(server: &LearnTarget) -> Result<Option<(&'static str, Material)>, LearnError> {
    let deadline = Deadline::after(server.patience);
    for path in PLACES {
        let text = text_at(server, path, deadline)?;
        if let Some(material) = text.and_then(|text| openapi::read(&text).ok()) {
            return Ok(Some((path, material)));
        }
    }
    Ok(None)
}

/// Starts a service and returns the path of its document and the requests that change nothing. Absent if
/// there is no document or no such request.
///
/// # Errors
/// The service cannot be started.
pub fn of_service(service: &Service, ground: &LearnContext) -> Result<Option<Published>, LearnError> {
    let provisional = provisional(vec![LearnRequest::new("GET", "/", None)])?;
    let ready = start_one(service, &provisional, ground, "learn-document")?;
    let channel = &service.channel();
    let found =
        of_server(&LearnTarget { endpoint: &ready.address, host: &ready.host, channel, patience: PATIENCE });
    ready.process.stop(GRACE);
    // A service that does not answer here may answer other requests, which come next.
    let reads = found.ok().flatten().map(|(place, material)| (place, material.reads()));
    Ok(reads.filter(|(_, asked)| !asked.is_empty()))
}

fn text_at(server: &LearnTarget, path: &str, deadline: Deadline) -> Result<Option<String>, LearnError> {
    let asked =
        LearnRequest { method: "GET".to_owned(), path: path.to_owned(), body: None, headers: Vec::new() };
    let contract = provisional(vec![asked.clone()])?;
    let Some(request) = contract.requests.first() else { return Ok(None) };
    match server.ask_until(deadline, &contract, request) {
        Ok(answer) => Ok(document::decoded(&answer.body).ok().filter(|_| answer.status == 200)),
        Err(source @ (AskError::TooLate { .. } | AskError::Interrupted)) => {
            Err(LearnError::Unanswered { asked, source: Box::new(source) })
        }
        // The server answered, so it may answer other requests.
        Err(_) => Ok(None),
    }
}
