//! An HTTP/2 server by other authors: the crate `h2`, on a thread of its own.

use std::io::Cursor;
use std::net::SocketAddr;

use http::{Response, StatusCode};
use tokio::net::TcpListener;

type Body = Cursor<Vec<u8>>;

/// Starts the server, which lives as long as the test process. `GET /size/BYTES` has a body of that size,
/// `POST /count` returns the length of its body, `/login` and `/use/TOKEN` are a sequence, and any other path
/// returns hello.
pub fn serve_h2c() -> SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        runtime.block_on(local.run_until(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                tokio::task::spawn_local(connection(stream));
            }
        }));
    });
    told.recv().unwrap()
}

async fn connection(stream: tokio::net::TcpStream) {
    let Ok(mut connection) = h2::server::Builder::new().handshake::<_, Body>(stream).await else { return };
    let mut logins = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        logins += 1;
        // An error means that the client disconnected.
        tokio::task::spawn_local(async move { drop(respond_to(request, respond, logins).await) });
    }
}

async fn respond_to(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Body>,
    login: usize,
) -> Result<(), h2::Error> {
    let (parts, mut incoming) = request.into_parts();
    let mut taken = 0;
    while let Some(part) = incoming.data().await {
        let part = part?;
        taken += part.len();
        incoming.flow_control().release_capacity(part.len())?;
    }
    let path = parts.uri.path();
    let body: Vec<u8> = match path.split_once('/').map_or("", |(_, rest)| rest) {
        "count" => taken.to_string().into(),
        "login" => format!("token-{login}").into(),
        size if size.starts_with("size/") => super::fixed::body(size[5..].parse().unwrap()),
        used if used.starts_with("use/") => format!("hello {}", &used[4..]).into(),
        _ => b"Hello world!".to_vec(),
    };
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert("content-length", body.len().into());
    let is_head = parts.method == http::Method::HEAD;
    let mut send = respond.send_response(response, is_head)?;
    if !is_head {
        send.send_data(Cursor::new(body), true)?;
    }
    Ok(())
}
