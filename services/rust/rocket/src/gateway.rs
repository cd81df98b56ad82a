//! What another server answers, with a member added: `/gateway`.

use reqwest::{Client, StatusCode};
use rocket::http::Status;
use rocket::serde::json::Json;
use rocket::serde::json::serde_json::{Map, Value};
use rocket::{State, get};

pub struct Upstream {
    client: Client,
    url: String,
}

impl Upstream {
    /// The URL has no slash at its end.
    pub fn new(url: String) -> reqwest::Result<Self> {
        Ok(Self { client: Client::builder().no_proxy().build()?, url })
    }

    async fn item(&self, id: u64) -> reqwest::Result<Option<Map<String, Value>>> {
        let answer = self.client.get(format!("{}/items/{id}", self.url)).send().await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        answer.error_for_status()?.json().await
    }
}

#[get("/gateway/<id>")]
pub async fn gateway(id: u64, upstream: &State<Upstream>) -> Result<Json<Map<String, Value>>, Status> {
    let item = upstream.item(id).await.map_err(|_| Status::BadGateway)?;
    let mut item = item.ok_or(Status::NotFound)?;
    item.insert("via".to_owned(), "gateway".into());
    Ok(Json(item))
}
