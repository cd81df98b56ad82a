use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde::de::DeserializeOwned;
use tare_load::{Exchange, Expected, ExpectedBody};

use super::*;
use crate::frame::Frames;
use crate::job::{Job, ListedRequest, Requests, tests::job};
use crate::message::{ControllerMessage, Reply};
use crate::tls;
use crate::token::tests::token;

const PATIENCE: Duration = Duration::from_secs(10);

type Link = Result<(Sender, Receiver), ConnectionError>;

/// One side: the first byte of its token, and its version.
type End = (u8, &'static str);

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An agent that accepts one connection.
fn agent((first, tare): End, may_serve: bool) -> (JoinHandle<Link>, SocketAddr) {
    let (listener, address) = listener();
    let thread = std::thread::spawn(move || {
        let tls = tls::agent(&token(first));
        let gate = ControllerRequirement { tls: &tls, tare, claim: &|| may_serve };
        answer(Arc::new(listener.accept().unwrap().0), &gate, PATIENCE)
    });
    (thread, address)
}

fn controller((first, tare): End, address: SocketAddr) -> Link {
    greet(TcpStream::connect(address).unwrap(), &tls::controller(&token(first)), tare, PATIENCE)
}

/// Both sides of a handshake.
fn both(one: End, other: End, may_serve: bool) -> [Link; 2] {
    let (thread, address) = agent(other, may_serve);
    let link = controller(one, address);
    [link, thread.join().unwrap()]
}

/// Waits for the next message.
fn next<T: DeserializeOwned>(receiver: &mut Receiver) -> T {
    loop {
        if let Some(message) = receiver.receive().unwrap() {
            return message;
        }
    }
}

fn refusals(ends: [Link; 2]) -> [String; 2] {
    ends.map(|end| end.unwrap_err().to_string())
}

/// The bytes that passed a relay, from the controller and from the agent.
type Passed = [Vec<u8>; 2];

/// Copies bytes from one side to the other until the end. `change` may modify each chunk; an empty result
/// closes both sides.
fn relay(from: &TcpStream, to: &TcpStream, mut change: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let (mut passed, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(count @ 1..) = { from }.read(&mut buffer) {
        let mut bytes = buffer[..count].to_vec();
        change(&mut bytes);
        if bytes.is_empty() || { to }.write_all(&bytes).is_err() {
            break;
        }
        passed.extend(bytes);
    }
    let _gone = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    passed
}

/// A relay in front of an agent, which changes the controller's bytes.
fn before(
    agent: SocketAddr,
    change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> (JoinHandle<Passed>, SocketAddr) {
    let (listener, address) = listener();
    let thread = std::thread::spawn(move || {
        let (here, there) = (listener.accept().unwrap().0, TcpStream::connect(agent).unwrap());
        std::thread::scope(|scope| {
            let back = scope.spawn(|| relay(&there, &here, |_| {}));
            [relay(&here, &there, change), back.join().unwrap()]
        })
    });
    (thread, address)
}

#[test]
fn two_ends_with_one_token_talk() {
    let [Ok((mut orders, _)), Ok((_, mut received))] = both((1, "1"), (1, "1"), true) else { panic!() };
    orders.send(&ControllerMessage::Ping { sent_ns: 5 }).unwrap();
    orders.send(&ControllerMessage::Bye).unwrap();
    assert_eq!(received.receive().unwrap(), Some(ControllerMessage::Ping { sent_ns: 5 }));
    assert_eq!(received.receive().unwrap(), Some(ControllerMessage::Bye));
    assert_eq!(received.receive::<ControllerMessage>().unwrap(), None, "nothing more comes");
    orders.close();
    assert!(matches!(received.receive::<ControllerMessage>(), Err(ConnectionError::Closed)));
}

/// More bytes than a socket buffer holds: if each side read only after writing, both would wait for ever.
#[test]
fn both_ends_send_long_messages_at_the_same_time() {
    let long = "x".repeat(16 << 20);
    let ends = both((1, "1"), (1, "1"), true).map(Result::unwrap);
    std::thread::scope(|scope| {
        for (mut sender, mut receiver) in ends {
            let long = &long;
            scope.spawn(move || sender.send(&Reply::Failed(long.clone())).unwrap());
            scope.spawn(move || {
                assert!(matches!(next(&mut receiver), Reply::Failed(text) if text == *long));
            });
        }
    });
}

#[test]
fn another_token_version_or_run_is_refused_at_both_ends() {
    let refused = refusals(both((1, "1"), (2, "1"), true));
    assert_eq!(refused, ["it has another token: give both the same --token-file"; 2]);
    let [controller, agent] = refusals(both((1, "1"), (1, "2"), true));
    assert_eq!(controller, "it is Tare 2, and this is Tare 1: use the same version on all machines");
    assert_eq!(agent, "it is Tare 1, and this is Tare 2: use the same version on all machines");
    let refused = refusals(both((1, "1"), (1, "1"), false));
    assert_eq!(refused, ["it serves another run"; 2]);
}

/// It terminates the TLS of each side with keys of another token.
#[test]
fn a_man_in_the_middle_is_believed_by_neither_end() {
    let (in_the_middle, his) = agent((9, "1"), true);
    let refused = controller((1, "1"), his).unwrap_err();
    assert!(matches!(refused, ConnectionError::WrongToken), "{refused}");
    assert!(matches!(in_the_middle.join().unwrap(), Err(ConnectionError::WrongToken)));
    let (agent, address) = agent((1, "1"), true);
    assert!(matches!(controller((9, "1"), address), Err(ConnectionError::WrongToken)));
    assert!(matches!(agent.join().unwrap(), Err(ConnectionError::WrongToken)));
}

#[test]
fn nothing_that_is_said_can_be_read_on_the_way() {
    let (agent, address) = agent((1, "a version of Tare"), true);
    let (relay, address) = before(address, |_| {});
    let (mut orders, mut replies) = controller((1, "a version of Tare"), address).unwrap();
    let (mut sender, mut received) = agent.join().unwrap().unwrap();
    let secret = "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer 0b1e5f6d2c3a\r\n\r\n";
    let exchange = Exchange {
        request: secret.into(),
        is_head: false,
        expected: Expected { status: 200, body: ExpectedBody::Exact(b"yes".to_vec()) },
        name: "GET /".to_owned(),
        step: None,
    };
    let requests = Requests::Listed(vec![ListedRequest::of(&exchange).unwrap()]);
    let reply = Reply::Failed(secret.to_owned());
    sender.send(&reply).unwrap();
    let order = ControllerMessage::Prepare(Box::new(Job { requests, ..job() }));
    orders.send(&order).unwrap();
    assert_eq!(
        (next::<ControllerMessage>(&mut received), next::<Reply>(&mut replies)),
        (order.clone(), reply)
    );
    orders.close();
    sender.close();
    let passed = relay.join().unwrap();
    let (order, token) = (message::write(&order), token(1));
    assert!(passed[0].len() > order.len() && passed[1].len() > secret.len(), "it passed the relay");
    let texts = [
        order.as_slice(),
        secret.as_bytes(),
        b"a version of Tare",
        token.reveal().as_bytes(),
        &token.secret(),
    ];
    for text in texts {
        for part in text.windows(8) {
            let is_in = |passed: &Vec<u8>| passed.windows(8).any(|window| window == part);
            assert!(!passed.iter().any(is_in), "{:?}", String::from_utf8_lossy(part));
        }
    }
}

/// A relay that lets the handshake pass, and then changes a byte, or ends the stream within a record.
#[test]
fn what_is_changed_or_cut_off_on_the_way_is_no_message() {
    let changes: [fn(&mut Vec<u8>); 2] = [|bytes| *bytes.last_mut().unwrap() ^= 1, |bytes| bytes.truncate(9)];
    for (change, is_cut) in changes.into_iter().zip([false, true]) {
        let (agent, address) = agent((1, "1"), true);
        let is_on = Arc::new(AtomicUsize::new(0));
        let reads = Arc::clone(&is_on);
        let (relay, address) = before(address, move |bytes| match reads.load(Ordering::SeqCst) {
            0 => {}
            1 => {
                change(bytes);
                reads.store(2, Ordering::SeqCst);
            }
            _ => bytes.clear(),
        });
        let (mut orders, _replies) = controller((1, "1"), address).unwrap();
        let (_sender, mut received) = agent.join().unwrap().unwrap();
        is_on.store(1, Ordering::SeqCst);
        orders.send(&ControllerMessage::Bye).unwrap();
        let mut next = || {
            std::iter::repeat_with(|| received.receive::<ControllerMessage>())
                .find(|got| !matches!(got, Ok(None)))
        };
        if is_cut {
            // Later bytes are not passed on.
            assert!(relay_has_read(&is_on));
            orders.send(&ControllerMessage::Bye).unwrap();
            assert!(matches!(next(), Some(Err(ConnectionError::Closed))));
        } else {
            assert!(matches!(next(), Some(Err(ConnectionError::Changed))));
        }
        orders.close();
        relay.join().unwrap();
    }
}

fn relay_has_read(is_on: &AtomicUsize) -> bool {
    let until = Instant::now() + PATIENCE;
    while is_on.load(Ordering::SeqCst) != 2 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    is_on.load(Ordering::SeqCst) == 2
}

#[test]
fn what_a_controller_said_once_is_of_no_use_again() {
    let (first, address) = agent((1, "1"), true);
    let (relay, address) = before(address, |_| {});
    let (mut orders, _replies) = controller((1, "1"), address).unwrap();
    orders.send(&ControllerMessage::Bye).unwrap();
    let (_sender, mut received) = first.join().unwrap().unwrap();
    assert_eq!(next::<ControllerMessage>(&mut received), ControllerMessage::Bye);
    orders.close();
    let [said, _] = relay.join().unwrap();
    let (again, address) = agent((1, "1"), true);
    let mut stream = TcpStream::connect(address).unwrap();
    let _refused = stream.write_all(&said);
    assert!(again.join().unwrap().is_err());
}

#[test]
fn garbage_is_refused_at_once() {
    let hello = [0x16, 3, 1, 0, 4, 1, 0, 0, 0];
    let inputs: [&[u8]; 7] = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"SSH-2.0-x\r\n",
        &hello,
        &[0xff; 9_000],
        &[0; 9_000],
        &[0x16; 9_000],
        &[],
    ];
    for input in inputs {
        let (agent, address) = agent((1, "1"), true);
        let mut stream = TcpStream::connect(address).unwrap();
        let _refused = stream.write_all(input);
        let _closed = stream.shutdown(Shutdown::Write);
        let error = agent.join().unwrap().unwrap_err();
        assert!(!matches!(error, ConnectionError::TooLate | ConnectionError::WrongToken), "{error}");
        assert!(!error.to_string().contains('\x1b'));
    }
}

/// The first message of `tare-agent/1`, and the answer in that protocol.
#[test]
fn a_controller_without_tls_is_told_so_in_its_own_words() {
    let (agent, address) = agent((1, "0.2.0"), true);
    let mut stream = TcpStream::connect(address).unwrap();
    let nonce = "00ff".repeat(16);
    let hello =
        format!("{{\"hello\":{{\"protocol\":\"tare-agent/1\",\"tare\":\"0.1.0\",\"nonce\":\"{nonce}\"}}}}");
    stream.write_all(&framed(hello.as_bytes()).unwrap()).unwrap();
    let (mut told, mut frames) = (Vec::new(), Frames::new(4_096));
    stream.read_to_end(&mut told).unwrap();
    frames.push(&told);
    let told: serde_json::Value = serde_json::from_slice(&frames.take().unwrap().unwrap()).unwrap();
    assert_eq!(told, json!({ "hello": { "protocol": "tare-agent/3", "tare": "0.2.0", "nonce": "" } }));
    let refused = agent.join().unwrap().unwrap_err().to_string();
    assert_eq!(refused, "it does not speak tare-agent/3: use the same version of Tare on all machines");
}

/// It interprets the first TLS record as the length of a message, finds it too long, and disconnects.
#[test]
fn an_agent_without_tls_is_known_by_its_silence() {
    let (listener, address) = listener();
    let older = std::thread::spawn(move || {
        let (mut frames, mut buffer) = (Frames::new(4_096), vec![0; 1 << 16]);
        let mut stream = listener.accept().unwrap().0;
        let count = stream.read(&mut buffer).unwrap();
        frames.push(&buffer[..count]);
        frames.take().unwrap_err();
    });
    let refused = controller((1, "1"), address).unwrap_err().to_string();
    older.join().unwrap();
    let expected = "it closed the connection without an answer, as an agent of an older Tare does: use the same version on all machines";
    assert_eq!(refused, expected);
}

#[test]
fn a_stranger_that_says_nothing_or_little_is_not_waited_for() {
    let (listener, address) = listener();
    let tls = tls::agent(&token(1));
    // No bytes, and the head of a record whose content arrives one byte at a time.
    for said in [&[][..], &[0x16, 3, 1, 1, 0]] {
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(said).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let slow = !said.is_empty();
        let trickle = std::thread::spawn(move || {
            let until = Instant::now() + PATIENCE;
            while slow && Instant::now() < until && stranger.write_all(&[1]).is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
            stranger
        });
        let gate = ControllerRequirement { tls: &tls, tare: "1", claim: &|| true };
        let began = Instant::now();
        assert!(answer(Arc::new(stream), &gate, Duration::from_millis(300)).is_err());
        assert!(began.elapsed() < PATIENCE);
        drop(trickle.join().unwrap());
    }
}

#[test]
fn what_the_other_end_says_moves_no_cursor() {
    let hostile = "\x1b[2J".repeat(100);
    let text = compare("1.0.0", &hostile).unwrap_err().to_string();
    assert!(!text.contains('\x1b') && text.len() < 400, "{text}");
}
