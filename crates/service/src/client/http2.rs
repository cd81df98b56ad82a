//! HTTP/2 by another implementation than the generator's, for questions around a load: the crate `h2`, which is given what the
//! connection reads and is asked again whenever something came. Nothing runs beside the caller.

use std::{
    cell::{Cell, RefCell},
    io::{self, Cursor},
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use h2::{
    RecvStream,
    client::{Builder, Connection, ResponseFuture, SendRequest},
};
use http::response::Parts;
use rustix::event::PollFlags;
use tare_load::{
    Endpoint, Exchange,
    http1::{Progress, Response},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    ANSWER_BYTES_MAX, AskError, Channel, ClientConnection, Deadline, Http2Error, NotHttp2, translate,
};

type Data = Cursor<Vec<u8>>;

/// The longest head, as of HTTP/1.1. The default of `h2` is 16 MiB, which a few bytes of HPACK can stand for.
const HEAD_BYTES_MAX: u32 = 64 * 1024;
/// How much `h2` reads before whoever waits looks at the clock and takes what came. `h2` itself reads as long as there is anything,
/// and keeps each interim head until it is asked for.
const TURN_BYTES: usize = 64 * 1024;

/// A connection that speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2Connection {
    wire: PolledSocket,
    connection: Connection<PolledSocket, Data>,
    sender: SendRequest<Data>,
    scheme: &'static str,
}

/// An answer that is awaited.
#[derive(Debug)]
pub(crate) struct Awaited {
    head: ResponseFuture,
    came: Option<(Parts, RecvStream)>,
    body: Vec<u8>,
}

impl Http2Connection {
    /// Connects and says the preface.
    ///
    /// # Errors
    /// As [`ClientConnection::open_in`], or the server refuses HTTP/2.
    pub(crate) fn open(
        endpoint: &Endpoint,
        channel: &Channel,
        deadline: Deadline,
    ) -> Result<Http2Connection, AskError> {
        let socket = ClientConnection::open_in(endpoint, channel, deadline)?;
        let wire = PolledSocket::new(socket);
        let mut builder = Builder::new();
        // Nothing takes what a server pushes.
        builder.enable_push(false).max_header_list_size(HEAD_BYTES_MAX);
        let mut handshake = Box::pin(builder.handshake::<_, Data>(wire.clone()));
        let opened = wire.until(deadline, |context| handshake.as_mut().poll(context))?;
        let (sender, connection) = opened.map_err(|error| wire.because(failed(&error)))?;
        Ok(Http2Connection { wire, connection, sender, scheme: channel.scheme() })
    }

    /// Sends the request in `bytes`, which are those of HTTP/1.1, with all of its body.
    ///
    /// # Errors
    /// The connection has ended, or no stream may be opened by the deadline.
    pub(crate) fn send(&mut self, bytes: &[u8], deadline: Deadline) -> Result<Awaited, AskError> {
        let (request, body) = translate::request(bytes, self.scheme).ok_or(Http2Error::Request)?;
        let Http2Connection { wire, connection, sender, .. } = self;
        let ready = wire.until(deadline, |context| {
            let ended = Pin::new(&mut *connection).poll(context);
            match sender.poll_ready(context) {
                Poll::Pending if ended.is_ready() => Poll::Ready(Err(AskError::Closed)),
                ready => ready.map_err(|error| failed(&error)),
            }
        })?;
        ready.map_err(|error| wire.because(error))?;
        let (head, mut stream) =
            self.sender.send_request(request, body.is_none()).map_err(|error| failed(&error))?;
        if let Some(body) = body {
            // It is kept until the server lets it be sent.
            stream.send_data(Cursor::new(body), true).map_err(|error| failed(&error))?;
        }
        // On its way before anything is awaited, as far as that goes without a wait.
        self.advance();
        Ok(Awaited { head, came: None, body: Vec::new() })
    }

    /// The whole answer.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub(crate) fn answer(&mut self, awaited: &mut Awaited, deadline: Deadline) -> Result<Response, AskError> {
        let Http2Connection { wire, connection, .. } = self;
        let answer = wire.until(deadline, |context| {
            let ended = Pin::new(&mut *connection).poll(context);
            match awaited.poll(context) {
                Poll::Pending if ended.is_ready() => Poll::Ready(Err(AskError::Closed)),
                answer => answer,
            }
        });
        match answer {
            Ok(answer) => answer.map_err(|error| wire.because(error)),
            Err(error) => Err(match awaited.progress() {
                Some(progress) => error.after(progress),
                None => error,
            }),
        }
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub(crate) fn ask(&mut self, exchange: &Exchange, deadline: Deadline) -> Result<Response, AskError> {
        let mut awaited = self.send(&exchange.request, deadline)?;
        self.answer(&mut awaited, deadline)
    }

    /// Reads and writes what is possible without a wait; true once the connection has ended.
    pub(crate) fn advance(&mut self) -> bool {
        let connection = &mut self.connection;
        self.wire.at_once(|context| Pin::new(&mut *connection).poll(context)).is_some()
    }
}

impl Awaited {
    /// How much of it came, once its head did.
    fn progress(&self) -> Option<Progress> {
        let (head, _) = self.came.as_ref()?;
        let (status, bytes) = (head.status.as_u16(), self.body.len() as u64);
        Some(Progress::Body { status, bytes, announced: length(head) })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Response, AskError>> {
        loop {
            let Some((head, stream)) = &mut self.came else {
                match Pin::new(&mut self.head).poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(failed(&error))),
                    Poll::Ready(Ok(response)) => {
                        let (head, stream) = response.into_parts();
                        if let Some(bytes) = announced(&head).filter(|_| !stream.is_end_stream()) {
                            return Poll::Ready(Err(AskError::Announced(bytes)));
                        }
                        self.came = Some((head, stream));
                    }
                }
                continue;
            };
            match stream.poll_data(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => {
                    return Poll::Ready(Ok(translate::response(head, std::mem::take(&mut self.body))));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(failed(&error))),
                Poll::Ready(Some(Ok(data))) => {
                    self.body.extend_from_slice(&data);
                    let given_back = stream.flow_control().release_capacity(data.len());
                    if let Err(error) = given_back {
                        return Poll::Ready(Err(failed(&error)));
                    }
                }
            }
        }
    }
}

/// The length that the head promises, if it is more than is read.
fn announced(head: &Parts) -> Option<u64> {
    length(head).filter(|length| *length > ANSWER_BYTES_MAX as u64)
}

fn length(head: &Parts) -> Option<u64> {
    head.headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// An error of `h2`: of the connection below it, or of what came over it.
fn failed(error: &h2::Error) -> AskError {
    if let Some(io) = error.get_io() {
        return AskError::Io(io::Error::new(io.kind(), io.to_string()));
    }
    let Some(code) = error.reason().map(|reason| format!("{reason:?}").into_boxed_str()) else {
        return Http2Error::Other(error.to_string().into()).into();
    };
    let error = match (error.is_remote(), error.is_reset()) {
        (false, _) => Http2Error::Refused(code),
        (true, true) => Http2Error::Reset(code),
        (true, false) => Http2Error::GoAway(code),
    };
    error.into()
}

/// The connection as `h2` reads and writes it.
#[derive(Debug, Clone)]
struct PolledSocket {
    socket: Rc<RefCell<ClientConnection>>,
    turn: Rc<ReadTurn>,
}

/// What became of the last time that `h2` was asked.
#[derive(Debug, Default)]
struct ReadTurn {
    /// Something could not be sent.
    is_blocked: Cell<bool>,
    /// How much may still be read.
    bytes_left: Cell<usize>,
    /// It ended before everything was read.
    is_cut: Cell<bool>,
    /// `h2` wanted to read. It does not while its replies are not taken.
    is_reading: Cell<bool>,
}

impl ReadTurn {
    /// What it ended for.
    fn waits_for(&self) -> PollFlags {
        match (self.is_blocked.take(), self.is_reading.get()) {
            (false, _) => PollFlags::IN,
            (true, true) => PollFlags::IN | PollFlags::OUT,
            (true, false) => PollFlags::OUT,
        }
    }
}

/// Whether anything is to be asked again at once.
#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl PolledSocket {
    fn new(socket: ClientConnection) -> PolledSocket {
        PolledSocket { socket: Rc::new(RefCell::new(socket)), turn: Rc::default() }
    }

    /// Asks `poll` again and again, each time that something came or can be sent, and no longer than the deadline allows.
    fn until<T>(
        &self,
        deadline: Deadline,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Result<T, AskError> {
        loop {
            if let Some(value) = self.at_once(&mut poll) {
                return Ok(value);
            }
            let what = self.turn.waits_for();
            let mut socket = self.socket.borrow_mut();
            socket.acknowledge_at_once();
            if self.turn.is_cut.take() {
                // The rest may lie in records that were read, where the socket does not show it.
                socket.left(deadline)?;
            } else {
                socket.wait(what, deadline)?;
            }
        }
    }

    /// The error with what it comes from, where the first bytes show that something else is spoken: the first frame of a server is
    /// SETTINGS, which is of type 4.
    fn because(&self, error: AskError) -> AskError {
        let socket = self.socket.borrow();
        match socket.beginning() {
            [_, _, _, 4, ..] | [] => error,
            [_, _, _, _, ..] => NotHttp2 { got: socket.beginning().to_vec() }.into(),
            _ => error,
        }
    }

    fn blocked<T>(&self) -> Poll<T> {
        self.turn.is_blocked.set(true);
        Poll::Pending
    }

    /// Asks `poll` as long as it wants to be asked again without anything new: one turn.
    fn at_once<T>(&self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        self.turn.bytes_left.set(TURN_BYTES);
        loop {
            woken.0.store(false, Ordering::Relaxed);
            self.turn.is_reading.set(false);
            if let Poll::Ready(value) = poll(&mut Context::from_waker(&waker)) {
                return Some(value);
            }
            if !woken.0.load(Ordering::Relaxed) {
                return None;
            }
        }
    }
}

fn of_io(error: AskError) -> io::Error {
    match error {
        AskError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

impl AsyncRead for PolledSocket {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.turn.is_reading.set(true);
        let bytes_left = self.turn.bytes_left.get();
        if bytes_left == 0 {
            self.turn.is_cut.set(true);
            return Poll::Pending;
        }
        let mut socket = self.socket.borrow_mut();
        match socket.read_now(into.initialize_unfilled()).map_err(of_io)? {
            Some(count) => {
                self.turn.bytes_left.set(bytes_left.saturating_sub(count));
                into.advance(count);
                Poll::Ready(Ok(()))
            }
            None => Poll::Pending,
        }
    }
}

impl AsyncWrite for PolledSocket {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.socket.borrow_mut().send_now(bytes).map_err(of_io)? {
            Some(count) => Poll::Ready(Ok(count)),
            None => self.blocked(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.socket.borrow_mut().flush_now().map_err(of_io)? {
            true => Poll::Ready(Ok(())),
            false => self.blocked(),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
