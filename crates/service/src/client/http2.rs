//! An HTTP/2 client for requests outside a load, independent of the generator: the crate `h2`, polled
//! whenever the connection has data. No background task runs.

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
use tare_base::Endpoint;
use tare_load::{
    Exchange,
    http1::{Progress, Response},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    ANSWER_BYTES_MAX, AskError, Channel, ClientConnection, ClientHttp2Error, Deadline, NotHttp2, translate,
};

type Data = Cursor<Vec<u8>>;

/// Limit of a head, as for HTTP/1.1. The default of `h2` is 16 MiB, to which a few bytes of HPACK can expand.
const HEAD_BYTES_MAX: u32 = 64 * 1024;
/// Bytes that `h2` may read before the caller checks the clock. `h2` itself reads as long as there is data,
/// and stores every interim head until it is polled.
const TURN_BYTES: usize = 64 * 1024;

/// A connection that speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2Connection {
    wire: PolledSocket,
    connection: Connection<PolledSocket, Data>,
    sender: SendRequest<Data>,
    scheme: &'static str,
}

/// An answer that has not arrived completely.
#[derive(Debug)]
pub(crate) struct Awaited {
    head: ResponseFuture,
    came: Option<(Parts, RecvStream)>,
    body: Vec<u8>,
}

impl Http2Connection {
    /// Connects and sends the preface.
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
        // Pushed streams are not used.
        builder.enable_push(false).max_header_list_size(HEAD_BYTES_MAX);
        let mut handshake = Box::pin(builder.handshake::<_, Data>(wire.clone()));
        let opened = wire.until(deadline, |context| handshake.as_mut().poll(context))?;
        let (sender, connection) = opened.map_err(|error| wire.because(failed(&error)))?;
        Ok(Http2Connection { wire, connection, sender, scheme: channel.scheme() })
    }

    /// Sends an HTTP/1.1 request in `bytes` as HTTP/2, with its whole body.
    ///
    /// # Errors
    /// The connection has ended, or the server allows no new stream before the deadline.
    pub(crate) fn send(&mut self, bytes: &[u8], deadline: Deadline) -> Result<Awaited, AskError> {
        let (request, body) = translate::request(bytes, self.scheme).ok_or(ClientHttp2Error::Request)?;
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
            // `h2` stores the body until the server's window allows it.
            stream.send_data(Cursor::new(body), true).map_err(|error| failed(&error))?;
        }
        // Sends as much as possible without waiting.
        self.advance();
        Ok(Awaited { head, came: None, body: Vec::new() })
    }

    /// Reads the whole answer.
    ///
    /// # Errors
    /// See [`AskError`].
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
    /// See [`AskError`].
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
    /// The amount of the answer received, once its head is complete.
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

/// The announced length, if it exceeds the limit.
fn announced(head: &Parts) -> Option<u64> {
    length(head).filter(|length| *length > ANSWER_BYTES_MAX as u64)
}

fn length(head: &Parts) -> Option<u64> {
    head.headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Classifies an `h2` error: of the connection below it, or of the received frames.
fn failed(error: &h2::Error) -> AskError {
    if let Some(io) = error.get_io() {
        return AskError::Io(io::Error::new(io.kind(), io.to_string()));
    }
    let Some(code) = error.reason().map(|reason| format!("{reason:?}").into_boxed_str()) else {
        return ClientHttp2Error::Other(error.to_string().into()).into();
    };
    let error = match (error.is_remote(), error.is_reset()) {
        (false, _) => ClientHttp2Error::Refused(code),
        (true, true) => ClientHttp2Error::Reset(code),
        (true, false) => ClientHttp2Error::GoAway(code),
    };
    error.into()
}

/// The connection for `h2` to read and write.
#[derive(Debug, Clone)]
struct PolledSocket {
    socket: Rc<RefCell<ClientConnection>>,
    turn: Rc<ReadTurn>,
}

/// The result of the last turn of polling `h2`.
#[derive(Debug, Default)]
struct ReadTurn {
    /// Some bytes could not be sent.
    is_blocked: Cell<bool>,
    /// Bytes that may still be read in this turn.
    bytes_left: Cell<usize>,
    /// The turn ended before all data was read.
    is_cut: Cell<bool>,
    /// `h2` wanted to read. It stops reading while its replies cannot be sent.
    is_reading: Cell<bool>,
}

impl ReadTurn {
    /// The events to wait for after this turn.
    fn waits_for(&self) -> PollFlags {
        match (self.is_blocked.take(), self.is_reading.get()) {
            (false, _) => PollFlags::IN,
            (true, true) => PollFlags::IN | PollFlags::OUT,
            (true, false) => PollFlags::OUT,
        }
    }
}

/// Whether `h2` must be polled again at once.
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

    /// Polls whenever data arrives or can be sent, until a result or the deadline.
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
                // The rest may be in decoded TLS records, which the socket does not show.
                socket.left(deadline)?;
            } else {
                socket.wait(what, deadline)?;
            }
        }
    }

    /// Replaces the error if the first bytes are not HTTP/2: the first frame of a server is SETTINGS, of type
    /// 4.
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

    /// One turn: polls as long as `h2` wakes itself.
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
