//! Takes connections: as many as there is room for, and only as long as each of them asks something.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, task, time::sleep};

/// A browser opens six. Further ones wait in the kernel's queue until one of these ends, and take no descriptor meanwhile.
const CONNECTIONS_MAX: usize = 256;
/// How long a connection may take for the head of its next request. One that was left open by a browser is opened again.
pub(super) const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Without descriptors there is nothing to do but to wait until some are free.
const AFTER_A_REFUSAL: Duration = Duration::from_millis(100);

/// Serves for ever.
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
            // A browser that went away is no error.
            let _ended = answered.await;
            drop(place);
        });
    }
}
