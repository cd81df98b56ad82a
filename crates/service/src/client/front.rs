//! For tests: a TLS front of a server without TLS, with a separate server-side implementation.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use rustls::{
    ServerConfig, ServerConnection,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::certificate::Certificates;

/// Pause of an idle loop.
const IDLE: Duration = Duration::from_micros(200);

/// Terminates TLS with this ALPN, forwards to `upstream`, and returns its address.
pub(crate) fn before(upstream: SocketAddr, certificates: &Certificates, alpn: &[&[u8]]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(config(certificates, alpn));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, config) = (client.unwrap(), Arc::clone(&config));
            thread::spawn(move || pass(client, upstream, config));
        }
    });
    address
}

fn config(certificates: &Certificates, alpn: &[&[u8]]) -> ServerConfig {
    let chain = CertificateDer::pem_file_iter(certificates.certificate_path()).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(certificates.key_path()).unwrap();
    let mut config = ServerConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

fn pass(mut client: TcpStream, upstream: SocketAddr, config: Arc<ServerConfig>) -> io::Result<()> {
    let mut session = ServerConnection::new(config).map_err(io::Error::other)?;
    while session.is_handshaking() {
        if let Err(error) = session.complete_io(&mut client) {
            let _alert = session.write_tls(&mut client);
            return Err(error);
        }
    }
    let mut server = TcpStream::connect(upstream)?;
    client.set_nonblocking(true)?;
    server.set_nonblocking(true)?;
    let mut chunk = [0; 16 * 1024];
    loop {
        let mut moved = false;
        match session.read_tls(&mut client) {
            Ok(0) => return Ok(()),
            Ok(_) => {
                session.process_new_packets().map_err(io::Error::other)?;
                moved = true;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        while let Ok(count) = session.reader().read(&mut chunk) {
            if count == 0 {
                return Ok(());
            }
            all(&mut server, &chunk[..count])?;
        }
        match server.read(&mut chunk) {
            Ok(0) => {
                session.send_close_notify();
                flush(&mut session, &mut client)?;
                return Ok(());
            }
            Ok(count) => {
                session.writer().write_all(&chunk[..count])?;
                moved = true;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        flush(&mut session, &mut client)?;
        if !moved {
            thread::sleep(IDLE);
        }
    }
}

fn flush(session: &mut ServerConnection, client: &mut TcpStream) -> io::Result<()> {
    let mut records = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut records)?;
    }
    all(client, &records)
}

fn all(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(IDLE),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
