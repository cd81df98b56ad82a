//! The check `request-forms`: a request has several forms on the wire with the same meaning.

use std::thread::sleep;

use strum::VariantArray;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::transcript::{CheckResult, Failure, Tried};
use tare_contract::{Filled, chunk};

/// RFC 9112 recommends support for request lines of 8,000 bytes; servers that limit the whole head use 8 KiB.
const HEAD_LENGTH: usize = 8000;
/// Below 1 MiB, the smallest limit of frameworks that are not for small messages only.
const BODY_LENGTH: usize = 1_000_000;
const PADDING: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::VariantArray)]
enum Form {
    #[strum(to_string = "no blank after the colons")]
    NoBlank,
    #[strum(to_string = "header names in lower case")]
    LowerCase,
    #[strum(to_string = "header names in capitals")]
    UpperCase,
    #[strum(to_string = "a head of 8,000 bytes")]
    LongHead,
    #[strum(to_string = "a chunked body")]
    Chunked,
    #[strum(to_string = "a body of 1,000,000 bytes")]
    LongBody,
}

pub(super) fn request_forms(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::RequestForms);
    let mut results = Vec::new();
    for request in bench.load() {
        for form in Form::VARIANTS {
            let asked = bench.any(request, &mut rng);
            let is_reference = bench.options.style_is_reference;
            if let Some(pieces) = form.pieces(&asked.filled, &bench.host, is_reference) {
                let tried = whole_and_cut(bench, &asked, *form, &pieces);
                results.push(CheckResult::of(
                    CheckId::RequestForms,
                    format!("{} with {form}", request.name),
                    tried,
                ));
            }
        }
    }
    results
}

/// Sends the request in one write, then with a segment for each piece.
fn whole_and_cut(bench: &mut Bench<'_>, asked: &Asked<'_>, form: Form, pieces: &[Vec<u8>]) -> Tried {
    let whole = send(bench, asked, form, &[pieces.concat()])?;
    send(bench, asked, form, pieces).map(|_| whole).map_err(|failure| {
        failure.within(&format!("cut into {} segments, though it was answered as one", pieces.len()))
    })
}

fn send(bench: &mut Bench<'_>, asked: &Asked<'_>, form: Form, pieces: &[Vec<u8>]) -> Tried {
    let mut talk = bench.open()?;
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            sleep(bench.options.timeouts.pause);
        }
        talk.send(piece);
    }
    match asked.right_answer(&mut talk) {
        Ok(_) => Ok(None),
        Err(Failure { answer: Some(answer), .. }) if form.may_be_refused_with(answer.status) => {
            Ok(Some(format!("refused with {}", answer.status)))
        }
        Err(failure) => Err(failure),
    }
}

impl Form {
    /// Whether a server may reject this form by a limit: RFC 9110, 15.5.12 and 15.5.14, RFC 6585, 5.
    fn may_be_refused_with(self, status: u16) -> bool {
        match self {
            Form::Chunked => status == 411,
            // A server with one buffer for a whole request reports 413.
            Form::LongHead => matches!(status, 431 | 413),
            Form::LongBody => status == 413,
            Form::NoBlank | Form::LowerCase | Form::UpperCase => false,
        }
    }

    /// The request in this form, split at critical places; absent if the form does not apply.
    fn pieces(self, filled: &Filled, host: &str, is_reference: bool) -> Option<Vec<Vec<u8>>> {
        let spelt = |name: &str, value: &str| match self {
            Form::NoBlank => format!("{name}:{value}\r\n"),
            Form::LowerCase => format!("{}: {value}\r\n", name.to_ascii_lowercase()),
            Form::UpperCase => format!("{}: {value}\r\n", name.to_ascii_uppercase()),
            Form::LongHead | Form::Chunked | Form::LongBody => format!("{name}: {value}\r\n"),
        };
        let body = match (self, &filled.body) {
            // A reference only looks for the ends of heads, and does not parse bodies.
            (Form::Chunked | Form::LongBody, _) if is_reference => return None,
            (Form::Chunked, body) => Some(body.clone()?),
            (Form::LongBody, body) => Some(padded(body.as_deref()?)?),
            (_, body) => body.clone(),
        };
        let mut head = format!("{} {} HTTP/1.1\r\n", filled.method, filled.target) + &spelt("Host", host);
        for (name, value) in &filled.headers {
            head += &spelt(name, value);
        }
        if let Some(body) = &body {
            head += &match self {
                Form::Chunked => spelt("Transfer-Encoding", "chunked"),
                _ => spelt("Content-Length", &body.len().to_string()),
            };
        }
        if self == Form::LongHead {
            lengthen(&mut head);
        }
        head += "\r\n";
        let (first, second) = head.split_at(head.len() / 2);
        let head = [first.as_bytes().to_vec(), second.as_bytes().to_vec()];
        Some(head.into_iter().chain(body.into_iter().flat_map(|body| self.body(&body))).collect())
    }

    fn body(self, body: &str) -> Vec<Vec<u8>> {
        let (first, second) = body.as_bytes().split_at(body.len() / 2);
        if self != Form::Chunked {
            return vec![first.to_vec(), second.to_vec()];
        }
        // The second chunk is split between length and data, the last one within its end.
        let data: Vec<Vec<u8>> =
            [first, second].into_iter().filter(|data| !data.is_empty()).map(chunk).collect();
        let mut pieces: Vec<Vec<u8>> =
            data.iter().flat_map(|chunk| cut_behind_the_first_line(chunk)).collect();
        pieces.extend([b"0\r\n".to_vec(), b"\r\n".to_vec()]);
        pieces
    }
}

fn cut_behind_the_first_line(chunk: &[u8]) -> [Vec<u8>; 2] {
    let at = chunk.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (line, data) = chunk.split_at(at);
    [line.to_vec(), data.to_vec()]
}

/// Adds meaningless fields until the head has its target length, including the empty line.
fn lengthen(head: &mut String) {
    for number in 1.. {
        let left = HEAD_LENGTH.saturating_sub(head.len() + 2);
        let name = format!("X-Tare-{number}: ");
        if left <= name.len() + 2 {
            return;
        }
        // The last field but one leaves enough room for another.
        let length = if left < 2 * PADDING { left } else { PADDING };
        *head += &format!("{name}{}\r\n", "x".repeat(length - name.len() - 2));
    }
}

/// Appends blanks, which are meaningless after JSON; other bodies cannot be extended.
fn padded(body: &str) -> Option<String> {
    let is_json = serde_json::from_str::<serde_json::Value>(body).is_ok();
    is_json.then(|| body.to_owned() + &" ".repeat(BODY_LENGTH.saturating_sub(body.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_contract::BodyFraming;

    fn filled(body: Option<&str>) -> Filled {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        let (method, target) = ("POST".to_owned(), "/a".to_owned());
        Filled { method, target, headers, body: body.map(str::to_owned), framing: BodyFraming::Length }
    }

    fn pieces(form: Form, body: Option<&str>) -> Option<Vec<String>> {
        let pieces = form.pieces(&filled(body), "h:1", false)?;
        Some(pieces.into_iter().map(|piece| String::from_utf8(piece).unwrap()).collect())
    }

    #[test]
    fn each_form_says_the_same_in_its_own_way() {
        let whole = |form| pieces(form, Some("{}")).unwrap().concat();
        assert_eq!(
            whole(Form::NoBlank),
            "POST /a HTTP/1.1\r\nHost:h:1\r\nContent-Type:application/json\r\nContent-Length:2\r\n\r\n{}"
        );
        assert!(
            whole(Form::LowerCase)
                .contains("\r\nhost: h:1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n")
        );
        assert!(
            whole(Form::UpperCase)
                .contains("\r\nHOST: h:1\r\nCONTENT-TYPE: application/json\r\nCONTENT-LENGTH: 2\r\n")
        );
        assert!(
            whole(Form::Chunked).ends_with("Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
        );
    }

    #[test]
    fn a_chunked_body_is_cut_between_length_and_data() {
        let pieces = pieces(Form::Chunked, Some("{}")).unwrap();
        assert_eq!(pieces[2..], ["1\r\n", "{\r\n", "1\r\n", "}\r\n", "0\r\n", "\r\n"]);
    }

    #[test]
    fn long_is_as_long_as_it_says() {
        let head = pieces(Form::LongHead, None).unwrap().concat();
        assert_eq!(head.len(), HEAD_LENGTH, "{head}");
        assert!(head.lines().all(|line| line.len() < 2 * PADDING));
        let long = pieces(Form::LongBody, Some("{\"a\":1}")).unwrap();
        let (head, body) = (long[..2].concat(), long[2..].concat());
        assert!(head.contains("Content-Length: 1000000\r\n"));
        assert_eq!((body.len(), body.trim_end()), (BODY_LENGTH, "{\"a\":1}"));
    }

    #[test]
    fn a_form_without_a_meaning_is_not_sent() {
        for (form, body) in [(Form::Chunked, None), (Form::LongBody, None), (Form::LongBody, Some("a=1"))] {
            assert_eq!(pieces(form, body), None, "{form}");
        }
        for form in [Form::Chunked, Form::LongBody] {
            assert_eq!(form.pieces(&filled(Some("{}")), "h:1", true), None, "a reference knows no bodies");
        }
    }
}
