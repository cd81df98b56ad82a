//! The servers: our own for plain HTTP/1.1, nginx and nghttpd for the other protocols. Each has one thread on
//! the CPUs of the calling thread, and serves the same body at `/`.

use std::error::Error;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use tare_load::Protocol;

use super::leash::{Folder, Leashed, leash};
use super::tools::program;
use crate::kit::fixed::body;
use crate::kit::process::Server;

/// The one suite that nginx and nghttpd take.
const SUITE: &str = "TLS_AES_128_GCM_SHA256";
const READY_WITHIN: Duration = Duration::from_secs(10);

/// The kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    /// The server of the test kit.
    Own,
    Nginx,
    /// The server of nghttp2, the project that h2load belongs to.
    Nghttpd,
}

/// A server that runs until this value is dropped.
#[derive(Debug)]
pub struct Running {
    pub target: SocketAddr,
    /// Declared before the folder that it uses, so that it is dropped first.
    _process: Process,
    _folder: Option<Folder>,
}

#[derive(Debug)]
#[allow(dead_code, reason = "kept to be dropped")]
enum Process {
    Own(Server),
    Foreign(Leashed),
}

impl Serving {
    const ALL: [Serving; 3] = [Serving::Own, Serving::Nginx, Serving::Nghttpd];

    pub fn name(self) -> &'static str {
        match self {
            Serving::Own => "own",
            Serving::Nginx => "nginx",
            Serving::Nghttpd => "nghttpd",
        }
    }

    pub fn named(name: &str) -> Result<Serving, String> {
        let found = Serving::ALL.into_iter().find(|serving| serving.name() == name);
        found.ok_or_else(|| format!("there is no server {name}: give own, nginx or nghttpd"))
    }

    pub fn usual(protocol: Protocol) -> Serving {
        match protocol {
            Protocol::Http1 => Serving::Own,
            Protocol::Http1Tls => Serving::Nginx,
            Protocol::H2 | Protocol::H2c => Serving::Nghttpd,
        }
    }

    pub fn speaks(self, protocol: Protocol) -> bool {
        match self {
            Serving::Own => protocol == Protocol::Http1,
            Serving::Nginx => true,
            Serving::Nghttpd => protocol.is_http2(),
        }
    }

    pub fn start(self, protocol: Protocol, body_bytes: usize) -> Result<Running, Box<dyn Error>> {
        let (name, package) = match self {
            Serving::Own => return Ok(own(body_bytes)?),
            Serving::Nginx => ("nginx", "nginx-light"),
            Serving::Nghttpd => ("nghttpd", "nghttp2-server"),
        };
        let program = program(name, package)?;
        let folder = Folder::new(&format!("{name}-{body_bytes}"))?;
        fill(folder.path(), body_bytes)?;
        let target = free_address()?;
        let mut command = Command::new(program);
        match self {
            Serving::Nginx => nginx(&mut command, folder.path(), target, protocol)?,
            _ => nghttpd(&mut command, folder.path(), target, protocol)?,
        }
        let log = fs::File::create(folder.path().join("log"))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let mut process = Leashed(leash(&mut command).spawn()?);
        wait_ready(&mut process, target).map_err(|error| {
            let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
            format!("{name}: {error}: {}", log.trim())
        })?;
        Ok(Running { target, _process: Process::Foreign(process), _folder: Some(folder) })
    }
}

/// Starts this program again as the server of the test kit.
fn own(body_bytes: usize) -> io::Result<Running> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["server", &body_bytes.to_string()]);
    let server = Server::start(command)?;
    Ok(Running { target: server.target, _process: Process::Own(server), _folder: None })
}

/// Writes the files that both servers read: a page, a key and a certificate.
fn fill(folder: &Path, body_bytes: usize) -> Result<(), Box<dyn Error>> {
    fs::create_dir(folder.join("pages"))?;
    fs::write(folder.join("pages/index.html"), body(body_bytes))?;
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    fs::write(folder.join("cert.pem"), CertificateParams::new(names)?.self_signed(&key)?.pem())?;
    Ok(fs::write(folder.join("key.pem"), key.serialize_pem())?)
}

fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Without a master process there is one process to end.
fn nginx(command: &mut Command, folder: &Path, target: SocketAddr, protocol: Protocol) -> io::Result<()> {
    let ssl = if protocol.is_tls() { " ssl" } else { "" };
    let http2 = if protocol.is_http2() { " http2" } else { "" };
    let at = folder.display();
    let text = format!(
        "daemon off;\nmaster_process off;\npid {at}/pid;\nerror_log {at}/log;\n\
         events {{ worker_connections 30000; }}\n\
         http {{\n access_log off;\n sendfile on;\n tcp_nodelay on;\n open_file_cache max=16 inactive=1h;\n\
         \x20open_file_cache_valid 1h;\n keepalive_requests 1000000000;\n keepalive_timeout 1h;\n\
         \x20client_body_temp_path {at}/body;\n proxy_temp_path {at}/proxy;\n fastcgi_temp_path {at}/fastcgi;\n\
         \x20uwsgi_temp_path {at}/uwsgi;\n scgi_temp_path {at}/scgi;\n\
         \x20ssl_certificate {at}/cert.pem;\n ssl_certificate_key {at}/key.pem;\n\
         \x20ssl_protocols TLSv1.3;\n ssl_conf_command Ciphersuites {SUITE};\n\
         \x20server {{ listen {target}{ssl}{http2} backlog=4096; root {at}/pages; }}\n}}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, text)?;
    command.arg("-p").arg(folder).arg("-e").arg(folder.join("log")).arg("-c").arg(file);
    Ok(())
}

/// nghttpd has no option for TLS 1.3 suites; OpenSSL reads them from a file.
fn nghttpd(command: &mut Command, folder: &Path, target: SocketAddr, protocol: Protocol) -> io::Result<()> {
    command.args(["-n1", "-a", &target.ip().to_string(), "-d"]).arg(folder.join("pages"));
    if !protocol.is_tls() {
        command.args(["--no-tls", &target.port().to_string()]);
        return Ok(());
    }
    let text = format!(
        "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = usual\n[usual]\n\
         MinProtocol = TLSv1.3\nCiphersuites = {SUITE}\n"
    );
    let file = folder.join("openssl.cnf");
    fs::write(&file, text)?;
    command.env("OPENSSL_CONF", file);
    command.arg(target.port().to_string()).arg(folder.join("key.pem")).arg(folder.join("cert.pem"));
    Ok(())
}

fn wait_ready(process: &mut Leashed, target: SocketAddr) -> Result<(), String> {
    let deadline = Instant::now() + READY_WITHIN;
    while TcpStream::connect(target).is_err() {
        if let Some(status) = process.0.try_wait().map_err(|error| error.to_string())? {
            return Err(format!("it ended with {status}"));
        }
        if Instant::now() > deadline {
            return Err(format!("it does not listen within {READY_WITHIN:?}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
