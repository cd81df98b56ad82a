//! What another server answers, with a member added: `/gateway`.

use ntex::SharedCfg;
use ntex::client::{Client, Connector};
use ntex::http::StatusCode;
use ntex::web::error::{ErrorBadGateway, ErrorNotFound};
use ntex::web::types::{Json, Path, State};
use ntex::web::{self, ServiceConfig};
use serde_json::{Map, Value};

use crate::routes::reads;

/// Requests to the other server at a time, of one worker.
const CONNECTIONS: usize = 1024;

/// Of one worker, as it cannot leave its thread.
#[derive(Clone)]
pub struct Upstream {
    client: Client,
    url: String,
}

impl Upstream {
    /// The URL has no slash at its end.
    pub async fn new(url: String) -> Self {
        let connector = Connector::default().limit(CONNECTIONS);
        let client = Client::builder().connector::<()>(connector).build(SharedCfg::default()).await;
        Self { client: client.expect("a client without TLS can be made"), url }
    }
}

pub fn configure(config: &mut ServiceConfig, upstream: Upstream) {
    config.state(upstream).service(web::resource("/gateway/{id:[0-9]+}").route(reads().to(gateway)));
}

async fn gateway(
    upstream: State<Upstream>,
    id: Path<String>,
) -> Result<Json<Map<String, Value>>, web::Error> {
    let request = upstream.client.get(format!("{}/items/{id}", upstream.url));
    let answer = request.send().await.map_err(ErrorBadGateway)?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Err(ErrorNotFound("there is no such item").into()),
        status => return Err(ErrorBadGateway(status).into()),
    }
    let mut item: Map<String, Value> = answer.json().await.map_err(ErrorBadGateway)?;
    item.insert("via".to_owned(), "gateway".into());
    Ok(Json(item))
}
