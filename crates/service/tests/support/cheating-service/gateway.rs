//! The contract gateway.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::cheat::Cheat;
use crate::http::Response;
use crate::mixer::Mixer;

pub(crate) struct Gateway {
    cheat: Cheat,
    mixer: Mixer,
    /// HOST:PORT.
    address: String,
    idle: Mutex<Vec<BufReader<TcpStream>>>,
    /// Cached answers for `caches-gateway`.
    known: Mutex<HashMap<String, Response>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gateway {
    pub(crate) fn to(url: &str, cheat: Cheat) -> Result<Gateway, String> {
        let address =
            url.strip_prefix("http://").ok_or_else(|| format!("UPSTREAM_URL is {url:?}"))?.to_owned();
        let (idle, known) = (Mutex::default(), Mutex::default());
        Ok(Gateway { cheat, mixer: Mixer::new(cheat), address, idle, known })
    }

    pub(crate) fn answer(&self, id: &str) -> Response {
        if let Some(known) = locked(&self.known).get(id).filter(|_| self.cheat == Cheat::CachesGateway) {
            return known.clone();
        }
        let response = self.asked(id).unwrap_or_else(|error| Response::error(502, &error.to_string()));
        if response.status == 200 {
            locked(&self.known).insert(id.to_owned(), response.clone());
        }
        self.mixer.mix(response)
    }

    fn asked(&self, id: &str) -> io::Result<Response> {
        let kept = locked(&self.idle).pop();
        let mut stream = match kept {
            Some(kept) => kept,
            None => {
                let stream = TcpStream::connect(&self.address)?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        write!(stream.get_mut(), "GET /items/{id} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)?;
        let (status, body) = answer(&mut stream)?;
        locked(&self.idle).push(stream);
        if status != 200 {
            return Ok(Response::error(404, "not found"));
        }
        let mut item: Map<String, Value> = serde_json::from_slice(&body)?;
        item.insert("via".to_owned(), "gateway".into());
        Ok(Response::json(Value::Object(item).to_string()))
    }
}

fn answer(stream: &mut BufReader<TcpStream>) -> io::Result<(u16, Vec<u8>)> {
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest.split(' ').next().and_then(|status| status.parse().ok()).unwrap_or(0);
        } else if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        } else if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, body))
}
