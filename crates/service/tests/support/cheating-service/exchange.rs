//! One connection: requests in, answers out.

use std::io::Write;
use std::net::TcpStream;

use crate::http::{Head, Incoming, Response, Trouble};
use crate::service::Service;

/// Answers until the other side closes.
pub(crate) fn serve(service: &Service, stream: TcpStream) {
    // Errors of a connection concern its client only.
    let _gone = connection(service, stream);
}

fn connection(service: &Service, mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut incoming = Incoming::new(stream.try_clone()?);
    loop {
        let head = match incoming.head() {
            Ok(Some(head)) => head,
            Ok(None) => return Ok(()),
            Err(trouble) => return refuse(&mut stream, trouble),
        };
        if service.answers_without_body(&head) {
            let response = service.answer(&head, &[]);
            stream.write_all(&response.write(&head))?;
            if let Err(trouble) = incoming.body(&head) {
                return refuse(&mut stream, trouble);
            }
        } else {
            let body = match incoming.body(&head) {
                Ok(body) => body,
                Err(trouble) => return refuse(&mut stream, trouble),
            };
            let response = service.answer(&head, &body);
            stream.write_all(&response.write(&head))?;
        }
        if !head.keep_alive {
            return Ok(());
        }
    }
}

fn refuse(stream: &mut TcpStream, trouble: Trouble) -> std::io::Result<()> {
    match trouble {
        Trouble::Io(error) => Err(error),
        Trouble::Malformed => stream.write_all(&Response::error(400, "bad request").write(&Head::default())),
    }
}
