//! One test suite for both drivers: the guarantees that a caller relies on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::exchange::{Exchange, ExchangePool, Expected, ExpectedBody};

/// A time limit that is reached only on a machine that is busy with other work.
const PATIENCE: Duration = Duration::from_secs(20);

/// Locked by the tests that count descriptors, or use many.
static DESCRIPTORS: Mutex<()> = Mutex::new(());

/// A driver and its events so far.
struct Client<D: Kernel> {
    driver: D,
    events: Vec<Event>,
    received: Vec<Vec<u8>>,
    requests: Arc<RequestBuffer>,
}

impl<D: Kernel> Client<D> {
    fn new(slots: usize, requests: &[&[u8]]) -> Self {
        let exchange = |request: &&[u8]| Exchange {
            request: request.to_vec(),
            is_head: false,
            expected: Expected { status: 200, body: ExpectedBody::Any },
            name: String::new(),
            step: None,
        };
        let requests =
            Arc::new(RequestBuffer::new(&ExchangePool::new(requests.iter().map(exchange).collect()), 1));
        let mut driver = D::new(slots).expect("a driver");
        driver.set_requests(Arc::clone(&requests));
        Self { driver, events: Vec::new(), received: vec![Vec::new(); slots], requests }
    }

    /// Waits once and takes all events.
    fn step(&mut self, timeout: Duration) {
        self.driver.wait(timeout.as_nanos() as u64);
        // However events are gathered, none is lost or reordered.
        let (count, sleeps) = (self.events.len() % 4, self.events.len().is_multiple_of(2));
        self.driver.gather(count, sleeps);
        while let Some(event) = self.driver.next_event() {
            if let Event::Received { slot, .. } = event {
                self.received[slot].extend_from_slice(self.driver.received());
            }
            self.events.push(event);
        }
    }

    /// Waits until a condition is true.
    fn until(&mut self, done: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !done(self) {
            assert!(Instant::now() < end, "still waiting after {:?}", self.events);
            self.step(Duration::from_millis(50));
        }
    }

    fn saw(&self, want: Event) -> bool {
        self.events.contains(&want)
    }

    fn connect(&mut self, slot: usize, route: &Route) {
        assert_eq!(self.driver.connect(slot, route), Ok(()));
        self.until(|client| client.saw(Event::Connected { slot }));
    }

    /// Sends a whole request, however the driver accepts it.
    fn send(&mut self, slot: usize, request: usize) {
        let mut rest = self.requests.range(request, 1);
        while !rest.is_empty() {
            let taken = self.driver.send(slot, rest.clone()).expect("a connection");
            rest.start += taken;
            if !rest.is_empty() {
                let sendable = |event: &Event| matches!(event, Event::Sendable { .. });
                self.until(|client| client.events.iter().any(sendable));
                let at = self.events.iter().position(sendable).expect("it was there");
                let Event::Sendable { sent, .. } = self.events.remove(at) else { unreachable!() };
                rest.start += sent;
            }
        }
    }

    fn failure(&self) -> Option<Failure> {
        self.events.iter().find_map(|event| match *event {
            Event::ConnectFailed { failure, .. } | Event::Failed { failure, .. } => Some(failure),
            _ => None,
        })
    }
}

/// A server that handles each connection on a thread, and reports each connection that ended.
fn serve(handle: impl Fn(TcpStream) + Send + Clone + 'static) -> (Route, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let route = Route::from(listener.local_addr().expect("an address"));
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (handle, ended) = (handle.clone(), ended.clone());
            thread::spawn(move || {
                handle(stream);
                let _result = ended.send(());
            });
        }
    });
    (route, end)
}

fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..bytes]).is_err() {
            return;
        }
    }
}

/// Reads to the end and sends nothing.
fn drain(mut stream: TcpStream) {
    let _result = std::io::copy(&mut stream, &mut std::io::sink());
}

fn a_request_in_pieces_comes_back<D: Kernel>() {
    let (route, _) = serve(echo);
    let mut client = Client::<D>::new(3, &[b"one ", b"two ", b"three"]);
    client.connect(1, &route);
    for request in 0..3 {
        client.send(1, request);
        client.step(Duration::from_millis(1));
    }
    client.until(|client| client.received[1].len() >= 13);
    assert_eq!(client.received[1], b"one two three");
    assert!(client.driver.is_open(1) && !client.driver.is_open(0));
}

/// Sends twice, before the first send can be known to be accepted.
fn sends_keep_their_order_when_the_peer_does_not_read<D: Kernel>() {
    const ROUNDS: usize = 1_000;
    let (go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let (told, sum) = mpsc::channel::<Vec<u8>>();
    let (route, _) = serve(move |mut stream: TcpStream| {
        wait.lock().expect("one at a time").recv().expect("a word");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("all of it");
        told.send(bytes).expect("someone to tell");
    });
    let requests: Vec<Vec<u8>> = (0..7_u8).map(|digit| vec![b'0' + digit; 15_000]).collect();
    let mut client = Client::<D>::new(1, &requests.iter().map(Vec::as_slice).collect::<Vec<_>>());
    client.connect(0, &route);
    let end = Instant::now() + PATIENCE;
    let (mut sent, mut rest, mut going) = (0, 0..0, false);
    while sent < ROUNDS {
        assert!(Instant::now() < end, "{sent} sent");
        if rest.is_empty() {
            rest = client.requests.range(sent % requests.len(), 1);
        }
        rest.start += client.driver.send(0, rest.clone()).expect("a connection");
        while !rest.is_empty() {
            // The socket buffers are full: only now does the peer begin to read.
            if !std::mem::replace(&mut going, true) {
                go.send(()).expect("a peer");
            }
            client.step(Duration::from_millis(50));
            for event in client.events.drain(..) {
                if let Event::Sendable { sent: more, .. } = event {
                    rest.start += more;
                    rest.start += client.driver.send(0, rest.clone()).expect("a connection");
                }
            }
        }
        sent += 1;
    }
    assert!(going, "the test needs more than fits");
    // All bytes are out once the peer, which reads, has them: a close would cut off the rest.
    let until = Instant::now() + Duration::from_millis(500);
    while Instant::now() < until {
        client.step(Duration::from_millis(50));
    }
    client.driver.close(0);
    client.step(Duration::ZERO);
    let bytes = sum.recv_timeout(PATIENCE).expect("the peer's word");
    assert_eq!(bytes.len(), ROUNDS * 15_000);
    for (round, part) in bytes.chunks(15_000).enumerate() {
        assert!(part.iter().all(|&byte| byte == b'0' + (round % 7) as u8), "round {round} is out of order");
    }
}

fn a_large_request_reaches_a_slow_reader<D: Kernel>() {
    let (told, sum) = mpsc::channel();
    let (route, _) = serve(move |mut stream: TcpStream| {
        let (mut buffer, mut bytes) = (vec![0; 256 * 1024], 0);
        while let Ok(more @ 1..) = stream.read(&mut buffer) {
            bytes += more;
            thread::sleep(Duration::from_millis(2));
            if bytes >= 5_000_000 {
                stream.write_all(b"thanks").expect("a peer");
            }
        }
        told.send(bytes).expect("someone to tell");
    });
    let mut client = Client::<D>::new(1, &[&vec![b'x'; 5_000_000]]);
    client.connect(0, &route);
    client.send(0, 0);
    client.until(|client| client.received[0] == b"thanks");
    client.driver.close(0);
    client.step(Duration::ZERO);
    assert_eq!(sum.recv_timeout(PATIENCE), Ok(5_000_000));
}

fn a_large_response_comes_whole<D: Kernel>() {
    let body: Vec<u8> = (0..1_000_000_u32).map(|index| (index % 251) as u8).collect();
    let answer = body.clone();
    let (route, _) = serve(move |mut stream: TcpStream| {
        let mut request = [0; 3];
        while stream.read_exact(&mut request).is_ok() && stream.write_all(&answer).is_ok() {}
    });
    let slots = 20;
    let mut client = Client::<D>::new(slots, &[b"get"]);
    for slot in 0..slots {
        client.connect(slot, &route);
    }
    for round in 1..=3 {
        (0..slots).for_each(|slot| client.send(slot, 0));
        client.until(|client| client.received.iter().all(|bytes| bytes.len() >= round * body.len()));
    }
    assert!(client.received.iter().all(|bytes| *bytes == body.repeat(3)));
}

fn a_refused_connection_is_named<D: Kernel>() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let mut client = Client::<D>::new(1, &[]);
    match client.driver.connect(0, &Route::from(free)) {
        Ok(()) => client.until(|client| client.failure().is_some()),
        Err(failure) => client.events.push(Event::ConnectFailed { slot: 0, failure }),
    }
    assert_eq!(client.events, [Event::ConnectFailed { slot: 0, failure: Failure::Refused }]);
}

fn a_reset_is_named<D: Kernel>() {
    let (route, _) = serve(|mut stream: TcpStream| {
        // Closing with unread bytes resets the connection.
        let _result = stream.read(&mut [0; 1]);
    });
    let mut client = Client::<D>::new(1, &[b"request"]);
    client.connect(0, &route);
    client.send(0, 0);
    client.until(|client| client.failure().is_some());
    assert_eq!(client.failure(), Some(Failure::Reset));
}

fn the_end_of_a_peer_is_an_event<D: Kernel>() {
    let (route, _) = serve(|mut stream: TcpStream| {
        let _result = stream.read_exact(&mut [0; 3]);
        thread::sleep(Duration::from_millis(50));
        let _result = stream.write_all(b"bye");
    });
    let mut client = Client::<D>::new(1, &[b"get"]);
    client.connect(0, &route);
    client.send(0, 0);
    client.step(Duration::ZERO);
    // The peer closes while the driver is not waiting.
    thread::sleep(Duration::from_millis(200));
    client.until(|client| client.saw(Event::Closed { slot: 0 }));
    let connected = Event::Connected { slot: 0 };
    let received = Event::Received { slot: 0, hangup: true };
    assert_eq!(client.events, [connected, received, Event::Closed { slot: 0 }]);
    assert_eq!(client.received[0], b"bye");
}

fn closing_while_connecting_is_quiet<D: Kernel>() {
    let (route, _) = serve(drain);
    // No host answers there: the address is reserved for documentation.
    let nowhere = Route::from(SocketAddr::from(([192, 0, 2, 1], 9)));
    let mut client = Client::<D>::new(2, &[]);
    for route in [&nowhere, &route] {
        // Without a route the connect fails at once.
        let _result = client.driver.connect(0, route);
        client.driver.close(0);
        assert!(!client.driver.is_open(0));
    }
    assert_eq!(client.driver.connect(1, &route), Ok(()));
    client.until(|client| client.saw(Event::Connected { slot: 1 }));
    client.step(Duration::from_millis(20));
    assert_eq!(client.events, [Event::Connected { slot: 1 }]);
}

fn a_slot_is_used_again_at_once<D: Kernel>() {
    const ROUNDS: usize = 1_000;
    let _alone = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let (route, ended) = serve(echo);
    let mut client = Client::<D>::new(2, &[b"request"]);
    client.connect(0, &route);
    client.connect(1, &route);
    let before = descriptors();
    for round in 0..ROUNDS {
        // Sometimes with a request under way, sometimes with an answer that was not read.
        if round % 3 > 0 {
            client.send(0, 0);
        }
        if round % 3 > 1 {
            client.driver.wait(0);
        }
        assert_eq!(client.driver.connect(0, &route), Ok(()));
        client.events.clear();
        client.received[0].clear();
        client.until(|client| client.saw(Event::Connected { slot: 0 }));
        assert_eq!(client.events, [Event::Connected { slot: 0 }], "round {round}");
    }
    // Other tests run at the same time and have descriptors too.
    assert!(descriptors() < before + ROUNDS / 2, "{before} descriptors before, {} after", descriptors());
    for _ in 0..ROUNDS {
        ended.recv_timeout(PATIENCE).expect("the end of every connection");
    }
    client.send(0, 0);
    client.until(|client| client.received[0] == b"request");
    assert_eq!(client.received[1], b"");
    drop(client);
    for _ in 0..2 {
        ended.recv_timeout(PATIENCE).expect("the end of every connection");
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("/proc").count()
}

fn many_connections_at_once<D: Kernel>() {
    const SLOTS: usize = 400;
    let _alone = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let (route, ended) = serve(echo);
    let mut client = Client::<D>::new(SLOTS, &[b"request"]);
    for slot in 0..SLOTS {
        assert_eq!(client.driver.connect(slot, &route), Ok(()));
    }
    client.until(|client| client.events.len() >= SLOTS);
    assert!((0..SLOTS).all(|slot| client.saw(Event::Connected { slot })));
    for round in 1..=20 {
        (0..SLOTS).for_each(|slot| client.send(slot, 0));
        client.until(|client| client.received.iter().all(|bytes| bytes.len() >= round * 7));
    }
    assert!(client.received.iter().all(|bytes| *bytes == b"request".repeat(20)));
    (0..SLOTS).for_each(|slot| client.driver.close(slot));
    client.step(Duration::ZERO);
    for _ in 0..SLOTS {
        ended.recv_timeout(PATIENCE).expect("the end of every connection");
    }
}

fn a_unix_socket<D: Kernel>() {
    let folder =
        std::env::temp_dir().join(format!("tare-driver-{}-{:?}", std::process::id(), thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 3];
            while stream.read_exact(&mut request).is_ok() && stream.write_all(&request).is_ok() {}
        }
    });
    let route = Route { target: tare_base::Endpoint::Unix(path), sources: vec![], namespace: None };
    let mut client = Client::<D>::new(1, &[b"get"]);
    client.connect(0, &route);
    for round in 1..=3 {
        client.send(0, 0);
        client.until(|client| client.received[0].len() == round * 3);
    }
    std::fs::remove_dir_all(&folder).expect("our folder");
    client.driver.close(0);
    client.events.clear();
    if client.driver.connect(0, &route).is_ok() {
        client.until(|client| client.saw(Event::ConnectFailed { slot: 0, failure: Failure::Refused }));
    }
}

fn a_source_address<D: Kernel>() {
    let (told, peer) = mpsc::channel();
    let (route, _) = serve(move |stream: TcpStream| {
        told.send(stream.peer_addr().expect("a peer").ip()).expect("someone to tell");
        drain(stream);
    });
    let source = "127.0.0.2".parse().expect("an address");
    let route = Route { sources: vec![source], ..route };
    let mut client = Client::<D>::new(1, &[]);
    client.connect(0, &route);
    assert_eq!(peer.recv_timeout(PATIENCE), Ok(source));
}

fn nothing_comes_of_a_closed_connection<D: Kernel>() {
    let (route, _) = serve(|mut stream: TcpStream| {
        let _result = stream.write_all(b"unasked");
        drain(stream);
    });
    let mut client = Client::<D>::new(1, &[&vec![b'x'; 100_000]]);
    client.connect(0, &route);
    client.until(|client| client.received[0] == b"unasked");
    client.events.clear();
    // Part of it may be sent, an answer may have arrived, and an end will follow.
    let _taken = client.driver.send(0, client.requests.range(0, 1)).expect("a connection");
    client.driver.wait(0);
    client.driver.close(0);
    for _ in 0..5 {
        client.step(Duration::from_millis(10));
    }
    assert_eq!(client.events, []);
    assert_eq!(client.driver.send(0, client.requests.range(0, 1)), Err(Failure::Other));
}

fn a_new_wire_while_an_old_one_is_sent<D: Kernel>() {
    let (route, _) = serve(|stream: TcpStream| {
        thread::sleep(Duration::from_millis(100));
        drain(stream);
    });
    let mut client = Client::<D>::new(1, &[&vec![b'x'; 20_000_000]]);
    client.connect(0, &route);
    let _taken = client.driver.send(0, client.requests.range(0, 1)).expect("a connection");
    client.driver.wait(0);
    client.driver.close(0);
    client.requests = Arc::new(RequestBuffer::default());
    client.driver.set_requests(Arc::clone(&client.requests));
    client.events.clear();
    client.step(Duration::from_millis(200));
    assert_eq!(client.events, []);
}

fn a_wait_takes_its_time_and_no_more<D: Kernel>() {
    let mut client = Client::<D>::new(1, &[]);
    let begin = Instant::now();
    (0..1_000).for_each(|_| client.driver.wait(0));
    assert!(begin.elapsed() < Duration::from_millis(500), "a wait for nothing blocks");
    let begin = Instant::now();
    client.driver.wait(5_000_000);
    let waited = begin.elapsed();
    assert!(waited >= Duration::from_micros(4_900) && waited < Duration::from_millis(50), "{waited:?}");
}

/// The suite for one driver. If the system refuses the driver, prints that instead.
macro_rules! suite {
    ($name:ident, $driver:ty; $($test:ident)*) => {
        mod $name {
            $(
                #[test]
                #[expect(clippy::disallowed_macros, reason = "what a test left out is said")]
                fn $test() {
                    match <$driver as super::Kernel>::new(1) {
                        Ok(driver) => drop(driver),
                        Err(error) => return eprintln!("not tested here: {error}"),
                    }
                    super::$test::<$driver>();
                }
            )*
        }
    };
}

macro_rules! suites {
    ($($test:ident)*) => {
        suite!(epoll, super::Epoll; $($test)*);
        suite!(uring, super::Uring; $($test)*);
    };
}

suites! {
    a_request_in_pieces_comes_back
    sends_keep_their_order_when_the_peer_does_not_read
    a_large_request_reaches_a_slow_reader
    a_large_response_comes_whole
    a_refused_connection_is_named
    a_reset_is_named
    the_end_of_a_peer_is_an_event
    closing_while_connecting_is_quiet
    a_slot_is_used_again_at_once
    many_connections_at_once
    a_unix_socket
    a_source_address
    nothing_comes_of_a_closed_connection
    a_new_wire_while_an_old_one_is_sent
    a_wait_takes_its_time_and_no_more
}
