//! Third-party clients with small wrappers for tests.

use std::{
    io::{self, Cursor},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use h2::client::SendRequest;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::aws_lc_rs};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{PATIENCE, get, stream::Encrypted};

type Body = Cursor<Vec<u8>>;

/// A certificate in files, and clients that trust it and store their sessions.
pub struct Tls {
    pub certificates: PathBuf,
    pub key: PathBuf,
    config: ClientConfig,
    _folder: tempfile::TempDir,
}

impl Tls {
    pub fn new() -> Tls {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (certificates, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&certificates, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Tls { certificates, key, config, _folder: folder }
    }

    /// Connects and completes the handshake.
    pub fn connect(&self, port: u16, alpn: &[&str]) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let mut config = self.config.clone();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let mut connection =
            ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        Ok(StreamOwned::new(connection, socket))
    }
}

#[derive(Debug)]
pub struct Answer {
    head: http::response::Parts,
    body: Vec<u8>,
}

impl Answer {
    pub fn is(&self, status: u16, body: &[u8]) -> bool {
        self.head.status == status && self.body == body
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.head.headers.get(name).map(|value| value.to_str().unwrap().to_owned())
    }
}

/// The result of a request.
#[derive(Debug)]
pub enum Outcome {
    Answer(Answer),
    Error(h2::Error),
    /// No answer within the test's time limit.
    Nothing,
}

/// A connection of the crate h2, and the runtime that drives it.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    sender: SendRequest<Body>,
}

impl Client {
    pub fn connect(port: u16) -> Client {
        let runtime = runtime();
        let stream = runtime.block_on(tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port))).unwrap();
        Client::new(runtime, stream)
    }

    pub fn over(stream: StreamOwned<ClientConnection, TcpStream>) -> Client {
        let runtime = runtime();
        let stream = runtime.block_on(async { Encrypted::new(stream) });
        Client::new(runtime, stream)
    }

    fn new(
        runtime: tokio::runtime::Runtime,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Client {
        let (sender, connection) = runtime.block_on(h2::client::Builder::new().handshake(stream)).unwrap();
        // The requests report its error.
        runtime.spawn(connection);
        Client { runtime, sender }
    }

    /// Sends all requests at once and waits for all answers.
    pub fn all(&mut self, requests: Vec<(http::Request<()>, Vec<u8>)>) -> Vec<Answer> {
        let sender = &self.sender;
        self.runtime.block_on(async {
            let all =
                requests.into_iter().map(|(request, body)| tokio::spawn(ask(sender.clone(), request, body)));
            let all: Vec<_> = all.collect();
            let mut answers = Vec::new();
            for asked in all {
                let answer = tokio::time::timeout(PATIENCE, asked).await.expect("an answer in time").unwrap();
                answers.push(answer.unwrap());
            }
            answers
        })
    }

    /// Sends requests one after the other, and keeps those that are not answered in time.
    pub fn outcomes(&mut self, count: usize, patience: Duration) -> Vec<Outcome> {
        let sender = &self.sender;
        self.runtime.block_on(async {
            let (mut outcomes, mut waiting) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let mut asked = tokio::spawn(ask(sender.clone(), get(), Vec::new()));
                outcomes.push(match tokio::time::timeout(patience, &mut asked).await {
                    Ok(Ok(Ok(answer))) => Outcome::Answer(answer),
                    Ok(Ok(Err(error))) => Outcome::Error(error),
                    Ok(Err(panic)) => panic!("{panic}"),
                    Err(_) => {
                        waiting.push(asked);
                        Outcome::Nothing
                    }
                });
            }
            outcomes
        })
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn ask(
    sender: SendRequest<Body>,
    request: http::Request<()>,
    body: Vec<u8>,
) -> Result<Answer, h2::Error> {
    let mut sender = sender.ready().await?;
    let (answer, mut upload) = sender.send_request(request, body.is_empty())?;
    if !body.is_empty() {
        upload.send_data(Cursor::new(body), true)?;
    }
    let (head, mut received) = answer.await?.into_parts();
    let mut body = Vec::new();
    while let Some(part) = received.data().await {
        let part = part?;
        received.flow_control().release_capacity(part.len())?;
        body.extend_from_slice(&part);
    }
    Ok(Answer { head, body })
}
