//! The check `fragments`: a request means the same however TCP splits it.

use std::thread::sleep;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::transcript::{CheckResult, Failure, Tried};

/// Most bytes of a request that are sent one by one.
const SINGLE_BYTES_MAX: usize = 2000;

pub(super) fn fragments(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let requests = bench.requests();
    bench.each(CheckId::Fragments, requests, |bench, request, rng| {
        let asked = bench.any(request, rng);
        let bytes = asked.filled.bytes(&bench.host);
        for (at, place) in cuts(&bytes) {
            let place = format!("cut {place}, after byte {at} of {}", bytes.len());
            let (first, second) = bytes.split_at(at);
            send(bench, &asked, &[first, second]).map_err(|failure| failure.within(&place))?;
        }
        let single = single_bytes(&bytes);
        send(bench, &asked, &single).map_err(|failure| failure.within("sent byte by byte"))
    })
}

/// Splits into single bytes, except the rest of a long body: thousands prove as much as more.
fn single_bytes(bytes: &[u8]) -> Vec<&[u8]> {
    let (single, rest) = bytes.split_at(bytes.len().min(SINGLE_BYTES_MAX));
    single.chunks(1).chain((!rest.is_empty()).then_some(rest)).collect()
}

fn send(bench: &mut Bench<'_>, asked: &Asked<'_>, segments: &[&[u8]]) -> Tried {
    let mut talk = bench.open()?;
    let total: usize = segments.iter().map(|segment| segment.len()).sum();
    // Hundreds of single bytes share the pause that two segments have.
    let pause = bench.options.timeouts.pause / u32::try_from(segments.len().clamp(2, 20) / 2).unwrap_or(1);
    let mut sent = 0;
    for segment in segments {
        if sent > 0 {
            sleep(pause);
            if talk.spoke_early() {
                let reason = early(&mut talk, asked, sent, total);
                return Err(Failure::new(reason, &talk));
            }
        }
        talk.send(segment);
        sent += segment.len();
    }
    asked.right_answer(&mut talk).map(|_| None)
}

fn early(talk: &mut super::talk::Talk, asked: &Asked<'_>, sent: usize, total: usize) -> String {
    let in_body = asked.filled.body.as_ref().is_some_and(|body| sent + body.len() >= total);
    let missing = if in_body { "before the whole body had come" } else { "before the whole head had come" };
    match talk.answer(asked.is_head()) {
        Ok(response) => {
            format!("answered with status {} after {sent} of {total} bytes, {missing}", response.status)
        }
        Err(trouble) => format!("{trouble}, after {sent} of {total} bytes, {missing}"),
    }
}

/// Named places at which parsers fail when a request is split.
fn cuts(bytes: &[u8]) -> Vec<(usize, &'static str)> {
    let find = |needle: &[u8]| bytes.windows(needle.len()).position(|window| window == needle);
    let line = find(b"\r\n").unwrap_or(0);
    let head = find(b"\r\n\r\n").unwrap_or(0);
    let method = find(b" ").unwrap_or(0);
    let colon = find(b": ").unwrap_or(0);
    let mut cuts = vec![
        (1, "within the method"),
        (method + 1, "between method and path"),
        (method + 2, "within the path"),
        (line.saturating_sub(4), "within the version"),
        (line, "before the end of the request line"),
        (line + 1, "between \\r and \\n of the request line"),
        (line + 2, "after the request line"),
        (line + 4, "within the name of a header"),
        (colon + 1, "between a header's name and its value"),
        (head, "before the last header's \\r\\n"),
        (head + 1, "between \\r and \\n of the last header"),
        (head + 2, "before the empty line"),
        (head + 3, "between \\r and \\n of the empty line"),
        (head + 4, "between head and body"),
        (head + 5, "after the first byte of the body"),
        (bytes.len().saturating_sub(1), "before the last byte"),
    ];
    cuts.sort_by_key(|(at, _)| *at);
    cuts.dedup_by_key(|(at, _)| *at);
    cuts.retain(|(at, _)| (1..bytes.len()).contains(at));
    cuts
}

#[cfg(test)]
mod tests {
    use super::cuts;

    #[test]
    fn every_place_is_cut_once_and_within_the_request() {
        let get = b"GET / HTTP/1.1\r\nHost: a:1\r\n\r\n";
        let places: Vec<usize> = cuts(get).into_iter().map(|(at, _)| at).collect();
        assert_eq!(places, [1, 4, 5, 10, 14, 15, 16, 18, 21, 25, 26, 27, 28]);
        let post = b"POST /t HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";
        let names: Vec<&str> = cuts(post).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names[names.len() - 2..], ["between head and body", "after the first byte of the body"]);
    }
}
