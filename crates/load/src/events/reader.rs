//! Splits a stream of bytes into events, by the grammar of WHATWG HTML, section 9.2.6. Lines end with LF, CR
//! or CRLF, and a stream may begin with a byte order mark. The bytes may be cut anywhere.

use memchr::{memchr, memchr2};

/// The longest event, with its comments. A stream with a longer one is refused, so that its memory is bounded.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;

/// Memory for cut events that is kept between events.
const KEPT_BYTES_MAX: usize = 4 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An event as a browser would dispatch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEvent<'a> {
    /// The field `event`; empty if there is none, which means `message`.
    pub name: &'a [u8],
    /// The fields `data`, joined by LF.
    pub data: &'a [u8],
    /// The field `id` of this event.
    pub id: Option<&'a [u8]>,
}

/// An event has more than [`EVENT_BYTES_MAX`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// How much of the byte order mark has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Seen(usize),
    Over,
}

/// Reads one stream. It allocates only for events that arrive in pieces or have several lines of data.
#[derive(Debug)]
pub struct EventReader {
    mark: Mark,
    /// The beginning of a block that is not complete.
    stash: Vec<u8>,
    /// The stashed block was complete and is over.
    is_stash_over: bool,
    /// The data of an event with several lines of it.
    joined: Vec<u8>,
    /// Whether the line so far has no byte: a line end then ends the block.
    is_line_empty: bool,
    /// The last byte was a CR that ended a line: an LF after it belongs to it.
    skips_lf: bool,
}

impl Default for EventReader {
    fn default() -> EventReader {
        EventReader {
            mark: Mark::Seen(0),
            stash: Vec::new(),
            is_stash_over: false,
            joined: Vec::new(),
            is_line_empty: true,
            skips_lf: false,
        }
    }
}

impl EventReader {
    /// Prepares for another stream, and keeps a little memory.
    pub fn restart(&mut self) {
        let (mut stash, mut joined) = (std::mem::take(&mut self.stash), std::mem::take(&mut self.joined));
        for buffer in [&mut stash, &mut joined] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES_MAX);
        }
        *self = EventReader { stash, joined, ..EventReader::default() };
    }

    /// Whether part of an event has arrived, and not just of a comment: an end of the stream would cut it.
    #[must_use]
    pub fn is_within_event(&self) -> bool {
        !self.is_stash_over && Lines(&self.stash).any(|line| line.first().is_some_and(|first| *first != b':'))
    }

    /// The beginning of an event that is not complete.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        if self.is_stash_over { b"" } else { &self.stash }
    }

    /// The next event, with its bytes taken from the front of `input`. `None` if more bytes are needed; `input`
    /// is then empty. Blocks without data, such as comments, are skipped, as browsers do.
    ///
    /// # Errors
    /// The event is too long.
    pub fn next<'a, 'b: 'a>(&'a mut self, input: &mut &'b [u8]) -> Result<Option<StreamEvent<'a>>, TooLong> {
        loop {
            self.forget_stash();
            if self.mark != Mark::Over {
                self.skip_mark(input);
            }
            if std::mem::take(&mut self.skips_lf) && input.first() == Some(&b'\n') {
                *input = &input[1..];
            }
            if input.is_empty() {
                return Ok(None);
            }
            let Some(end) = self.end_of_block(input) else {
                self.keep(std::mem::take(input))?;
                return Ok(None);
            };
            let (block, rest) = input.split_at(end);
            *input = rest;
            if self.stash.is_empty() {
                match EventFields::of(block) {
                    None => continue,
                    Some(fields) => return Ok(Some(fields.event(block, &mut self.joined))),
                }
            }
            self.keep(block)?;
            self.is_stash_over = true;
            // Cut events are rare, so it does not matter that their fields are found twice.
            if EventFields::of(&self.stash).is_some() {
                let EventReader { stash, joined, .. } = self;
                return Ok(EventFields::of(stash).map(|fields| fields.event(stash, joined)));
            }
        }
    }

    fn forget_stash(&mut self) {
        if std::mem::take(&mut self.is_stash_over) {
            self.stash.clear();
            self.stash.shrink_to(KEPT_BYTES_MAX);
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.stash.len() + bytes.len() > EVENT_BYTES_MAX {
            return Err(TooLong);
        }
        self.stash.extend_from_slice(bytes);
        Ok(())
    }

    /// Skips the byte order mark at the start of a stream. Its bytes are kept if they turn out to be none.
    fn skip_mark(&mut self, input: &mut &[u8]) {
        while let (Mark::Seen(seen), Some(byte)) = (self.mark, input.first()) {
            if *byte != BYTE_ORDER_MARK[seen] {
                self.stash.extend_from_slice(&BYTE_ORDER_MARK[..seen]);
                self.is_line_empty = seen == 0;
                self.mark = Mark::Over;
                return;
            }
            *input = &input[1..];
            self.mark = if seen + 1 == BYTE_ORDER_MARK.len() { Mark::Over } else { Mark::Seen(seen + 1) };
        }
    }

    /// The place after the empty line that ends the block, if it is in `input`.
    fn end_of_block(&mut self, input: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let Some(length) = memchr2(b'\n', b'\r', &input[at..]) else {
                self.is_line_empty &= at == input.len();
                return None;
            };
            let is_empty = self.is_line_empty && length == 0;
            let end = at + length + 1;
            at = match (input[end - 1], input.get(end)) {
                (b'\r', Some(b'\n')) => end + 1,
                (b'\r', None) => {
                    self.skips_lf = true;
                    end
                }
                _ => end,
            };
            self.is_line_empty = true;
            if is_empty {
                return Some(at);
            }
        }
    }
}

/// The lines of a block, without their ends.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = memchr2(b'\n', b'\r', self.0).unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        let taken = match rest {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        self.0 = &rest[taken..];
        Some(line)
    }
}

/// The name and the value of a line. A comment has an empty name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = memchr(b':', line) else { return (line, b"") };
    let value = &line[colon + 1..];
    (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
}

/// The fields of a block that has data.
struct EventFields<'a> {
    name: &'a [u8],
    /// The first line of data, and the number of all.
    data: &'a [u8],
    lines: usize,
    id: Option<&'a [u8]>,
}

impl<'a> EventFields<'a> {
    fn of(block: &'a [u8]) -> Option<EventFields<'a>> {
        let mut fields = EventFields { name: b"", data: b"", lines: 0, id: None };
        for line in Lines(block) {
            match field(line) {
                (b"data", value) => {
                    if fields.lines == 0 {
                        fields.data = value;
                    }
                    fields.lines += 1;
                }
                (b"event", value) => fields.name = value,
                (b"id", value) if memchr(0, value).is_none() => fields.id = Some(value),
                _ => {}
            }
        }
        (fields.lines > 0).then_some(fields)
    }

    fn event(self, block: &'a [u8], joined: &'a mut Vec<u8>) -> StreamEvent<'a> {
        let EventFields { name, data, lines, id } = self;
        if lines == 1 {
            return StreamEvent { name, data, id };
        }
        joined.clear();
        for (_, value) in Lines(block).map(field).filter(|(name, _)| *name == b"data") {
            joined.extend_from_slice(value);
            joined.push(b'\n');
        }
        joined.pop();
        StreamEvent { name, data: joined, id }
    }
}
