//! A relay between jobs and their collector that simulates network faults: it stalls, breaks, changes a byte,
//! or loses an answer. Only uploads of bundles are long enough to be affected.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
    thread,
    time::Duration,
};

/// Messages are shorter than this, and bundles are longer.
const SHORT_BYTES: usize = 8_000;

/// The fault of the next upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The upload stalls in the middle, until [`Relay::cut`].
    Stall,
    Change,
    /// The upload arrives, but its answer is lost.
    LoseAnswer,
}

#[derive(Debug, Default)]
struct Shared {
    /// The port of the collector.
    target: AtomicU16,
    next: Mutex<Option<Fault>>,
    stalled: AtomicBool,
    /// The stalled connections.
    still: Mutex<Vec<TcpStream>>,
}

/// A relay that listens as long as the test runs.
pub struct Relay {
    shared: Arc<Shared>,
    pub url: String,
}

impl Relay {
    pub fn start() -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&own);
                thread::spawn(move || relay(&shared, client));
            }
        });
        Relay { shared, url }
    }

    pub fn to(&self, port: u16) {
        self.shared.target.store(port, Ordering::SeqCst);
    }

    pub fn next(&self, fault: Fault) {
        self.shared.stalled.store(false, Ordering::SeqCst);
        *self.shared.next.lock().unwrap() = Some(fault);
    }

    /// Whether an upload is stalled.
    pub fn is_stalled(&self) -> bool {
        self.shared.stalled.load(Ordering::SeqCst)
    }

    /// Whether the fault has happened.
    pub fn is_done(&self) -> bool {
        self.shared.next.lock().unwrap().is_none()
    }

    /// Breaks the stalled connections.
    pub fn cut(&self) {
        for stream in self.shared.still.lock().unwrap().drain(..) {
            let _it_may_be_gone = stream.shutdown(Shutdown::Both);
        }
    }
}

fn relay(shared: &Shared, mut client: TcpStream) {
    let port = shared.target.load(Ordering::SeqCst);
    // Without a collector, the connection is closed.
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return };
    let lost = Arc::new(AtomicBool::new(false));
    let answers = {
        let (mut from, mut to, lost) =
            (server.try_clone().unwrap(), client.try_clone().unwrap(), Arc::clone(&lost));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = from.read(&mut bytes) {
                if count == 0 || lost.load(Ordering::SeqCst) || to.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _it_may_be_gone = to.shutdown(Shutdown::Both);
        })
    };
    let (mut bytes, mut passed) = ([0; 4096], 0);
    while let Ok(count) = client.read(&mut bytes) {
        if count == 0 {
            break;
        }
        passed += count;
        let fault = if passed > SHORT_BYTES { shared.next.lock().unwrap().take() } else { None };
        match fault {
            None => {}
            Some(Fault::Change) => bytes[count - 1] ^= 1,
            Some(Fault::LoseAnswer) => lost.store(true, Ordering::SeqCst),
            Some(Fault::Stall) => {
                stand_still(shared, [&client, &server]);
                break;
            }
        }
        if server.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _it_may_be_gone = server.shutdown(Shutdown::Write);
    let _it_has_ended = answers.join();
}

fn stand_still(shared: &Shared, streams: [&TcpStream; 2]) {
    let mut still = shared.still.lock().unwrap();
    still.extend(streams.map(|stream| stream.try_clone().unwrap()));
    drop(still);
    shared.stalled.store(true, Ordering::SeqCst);
    while !shared.still.lock().unwrap().is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
}
