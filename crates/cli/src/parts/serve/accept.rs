//! Accepts connections: a limited number, and each only as long as it sends requests.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, task, time::sleep};

/// A browser opens six. More connections wait in the kernel's queue, and take no descriptor meanwhile.
const CONNECTIONS_MAX: usize = 256;
/// The time limit for the head of the next request. A browser opens a closed connection again.
pub(super) const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The pause when there are no file descriptors left.
const AFTER_A_REFUSAL: Duration = Duration::from_millis(100);

pub(super) async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            sleep(AFTER_A_REFUSAL).await;
            continue;
        };
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
        let answered =
            server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        task::spawn(async move {
            // A browser that disconnected is no error.
            let _ended = answered.await;
            drop(place);
        });
    }
}
