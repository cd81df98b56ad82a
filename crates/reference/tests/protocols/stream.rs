//! Adapts a blocking TLS connection for the crate h2.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    pin::Pin,
    task::{Context, Poll, ready},
};

use rustls::{ClientConnection, StreamOwned};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub struct Encrypted {
    tls: ClientConnection,
    socket: tokio::net::TcpStream,
}

impl Encrypted {
    /// Must be called within a runtime.
    pub fn new(stream: StreamOwned<ClientConnection, TcpStream>) -> Encrypted {
        let (tls, socket) = stream.into_parts();
        socket.set_nonblocking(true).unwrap();
        Encrypted { tls, socket: tokio::net::TcpStream::from_std(socket).unwrap() }
    }

    fn send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.tls.wants_write() {
            ready!(self.socket.poll_write_ready(context))?;
            let mut socket = Unblocked(&self.socket);
            match self.tls.write_tls(&mut socket) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(error)),
                _ => {}
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Socket operations that do not block.
struct Unblocked<'a>(&'a tokio::net::TcpStream);

impl Read for Unblocked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for Unblocked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        loop {
            match own.tls.reader().read(buffer.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|count| buffer.advance(count))),
            }
            ready!(own.socket.poll_read_ready(context))?;
            match own.tls.read_tls(&mut Unblocked(&own.socket)) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(error)),
                _ => {}
            }
            own.tls.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        ready!(own.send(context))?;
        Poll::Ready(own.tls.writer().write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().send(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        own.tls.send_close_notify();
        own.send(context)
    }
}
