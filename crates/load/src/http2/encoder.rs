//! Header blocks of requests (RFC 7541). The requests of a load are known in advance, and so is the effect of
//! their blocks on the peer's table. So each block is made once per state of the table, and then copied.
//!
//! As in nghttp2 and browsers, a repeated field is added to the table the first time. A field that differs
//! from request to request (a path, a length) is sent literally. Huffman's code is not used.

use std::ops::Range;

use super::hpack::ENTRY_BYTES;
use super::request::{Http2Request, RequestList};
use super::static_table::FIELDS;

/// The first index of the table that the encoder fills (RFC 7541, section 2.3.3).
const DYNAMIC: usize = 62;
/// The size of the table that a peer allows by default.
const TABLE_BYTES_MAX: usize = 4096;
/// More states arise only from requests with many different headers; then nothing more is added to tables.
const STATES_MAX: usize = 64;

/// The number of the state that a connection's table is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableState(u16);

impl TableState {
    /// Nothing was added.
    pub(super) const EMPTY: TableState = TableState(0);
    /// Nothing is ever added.
    pub(super) const UNUSED: TableState = TableState(1);
}

/// How a field is written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// An entry of the static table.
    Fixed(usize),
    /// One of the fields that are added to the table.
    Added(usize),
    /// Written literally.
    Literal,
}

/// The block of a request in one state, and the state after it.
#[derive(Debug, Clone)]
struct Edge {
    block: Range<usize>,
    next: TableState,
}

#[derive(Debug, Default)]
struct EncoderState {
    /// The fields that were added, the newest last.
    added: Vec<usize>,
    /// One entry per request.
    edges: Vec<Option<Edge>>,
}

/// Makes the blocks of one list of requests, for many connections.
#[derive(Debug)]
pub struct Encoder {
    /// The fields that are added to tables.
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    states: Vec<EncoderState>,
    blocks: Vec<u8>,
    /// The output for the last request that is in no list.
    single: Vec<u8>,
}

impl Encoder {
    /// An encoder for these requests.
    #[must_use]
    pub fn new(requests: &RequestList) -> Encoder {
        let mut fields = Vec::new();
        let mut bytes = 0;
        for field in requests.0.iter().flat_map(|request| &request.fields) {
            let entry = field.0.len() + field.1.len() + ENTRY_BYTES;
            let fits = bytes + entry <= TABLE_BYTES_MAX;
            if fits && comes_again(&field.0) && fixed(field).is_none() && !fields.contains(field) {
                bytes += entry;
                fields.push(field.clone());
            }
        }
        let edges = vec![None; requests.0.len()];
        let state = || EncoderState { added: Vec::new(), edges: edges.clone() };
        Encoder { fields, states: vec![state(), state()], blocks: Vec::new(), single: Vec::new() }
    }

    /// The block of the request at `index` for a table in this state; `state` is updated.
    #[inline]
    pub(super) fn listed(&mut self, requests: &RequestList, index: usize, state: &mut TableState) -> &[u8] {
        let edge = match &self.states[usize::from(state.0)].edges[index] {
            Some(edge) => edge.clone(),
            None => self.edge(requests, index, *state),
        };
        *state = edge.next;
        &self.blocks[edge.block]
    }

    /// The block of a request that is in no list.
    pub(super) fn single(&mut self, request: &Http2Request, state: &mut TableState) -> &[u8] {
        let mut block = std::mem::take(&mut self.single);
        block.clear();
        let added = self.write(request, *state, &mut block);
        *state = self.state(*state, added);
        self.single = block;
        &self.single
    }

    #[cold]
    fn edge(&mut self, requests: &RequestList, index: usize, state: TableState) -> Edge {
        let begin = self.blocks.len();
        let mut blocks = std::mem::take(&mut self.blocks);
        let added = self.write(&requests.0[index], state, &mut blocks);
        self.blocks = blocks;
        let edge = Edge { block: begin..self.blocks.len(), next: self.state(state, added) };
        self.states[usize::from(state.0)].edges[index] = Some(edge.clone());
        edge
    }

    /// Writes a block. Returns the fields in the table afterwards.
    fn write(&self, request: &Http2Request, state: TableState, out: &mut Vec<u8>) -> Vec<usize> {
        let mut added = self.states[usize::from(state.0)].added.clone();
        let may_add = state != TableState::UNUSED && self.states.len() < STATES_MAX;
        for field in &request.fields {
            match self.form(field) {
                Form::Fixed(index) => integer(out, 0x80, 7, index),
                Form::Added(number) => match added.iter().rposition(|known| *known == number) {
                    Some(place) => integer(out, 0x80, 7, DYNAMIC + added.len() - 1 - place),
                    None if may_add => {
                        literal(out, 0x40, 6, field);
                        added.push(number);
                    }
                    None => literal(out, 0, 4, field),
                },
                Form::Literal => literal(out, 0, 4, field),
            }
        }
        added
    }

    /// The state in which the table has these fields.
    fn state(&mut self, from: TableState, added: Vec<usize>) -> TableState {
        if from == TableState::UNUSED || self.states[usize::from(from.0)].added == added {
            return from;
        }
        let known = self.states.iter().enumerate().skip(2).find(|(_, state)| state.added == added);
        if let Some((index, _)) = known {
            return TableState(index as u16);
        }
        let edges = vec![None; self.states[0].edges.len()];
        self.states.push(EncoderState { added, edges });
        TableState(self.states.len() as u16 - 1)
    }

    fn form(&self, field: &(Vec<u8>, Vec<u8>)) -> Form {
        match fixed(field) {
            Some(index) => Form::Fixed(index),
            None => self.fields.iter().position(|known| known == field).map_or(Form::Literal, Form::Added),
        }
    }
}

/// Whether a field of this name is worth a place in the table: not if its value differs in each request.
fn comes_again(name: &[u8]) -> bool {
    const EACH_ITS_OWN: [&[u8]; 9] = [
        b":path",
        b"age",
        b"authorization",
        b"content-length",
        b"cookie",
        b"etag",
        b"if-modified-since",
        b"if-none-match",
        b"range",
    ];
    !EACH_ITS_OWN.contains(&name)
}

/// The index of a field that the static table has with this value.
fn fixed((name, value): &(Vec<u8>, Vec<u8>)) -> Option<usize> {
    let is_it = |known: &(&str, &str)| known.0.as_bytes() == name && known.1.as_bytes() == value;
    FIELDS.iter().position(is_it).map(|at| at + 1)
}

fn literal(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, (name, value): &(Vec<u8>, Vec<u8>)) {
    match FIELDS.iter().position(|known| known.0.as_bytes() == name) {
        Some(at) => integer(out, pattern, prefix_bits, at + 1),
        None => {
            out.push(pattern);
            string(out, name);
        }
    }
    string(out, value);
}

fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    integer(out, 0, 7, bytes.len());
    out.extend_from_slice(bytes);
}

/// Writes an integer (RFC 7541, section 5.1) after the bits of `pattern`.
pub(super) fn integer(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, mut value: usize) {
    let mask = (1_usize << prefix_bits) - 1;
    if value < mask {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | mask as u8);
    value -= mask;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use loona_hpack::Decoder;
    use proptest::prelude::*;

    use super::*;

    fn request(fields: &[(&str, &str)]) -> Http2Request {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Http2Request {
            fields: fields.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
            body: Vec::new(),
        }
    }

    #[test]
    fn the_second_block_of_a_connection_is_short() {
        let get = request(&[
            (":method", "GET"),
            (":scheme", "http"),
            (":path", "/hello"),
            (":authority", "a:1"),
            ("x", "y"),
        ]);
        let list = RequestList(vec![get]);
        let mut encoder = Encoder::new(&list);
        let mut state = TableState::EMPTY;
        let first = encoder.listed(&list, 0, &mut state).to_vec();
        let second = encoder.listed(&list, 0, &mut state).to_vec();
        assert!(second.len() < first.len());
        // Method, scheme, literal path (8 bytes), authority and x by their indices in the table.
        assert_eq!(second, [&[0x82, 0x86, 4, 6][..], b"/hello", &[0x80 | 63, 0x80 | 62]].concat());
        let mut unused = TableState::UNUSED;
        let plain = encoder.listed(&list, 0, &mut unused).to_vec();
        assert_eq!(plain, encoder.listed(&list, 0, &mut unused), "without a table each is like the first");
    }

    proptest! {
        /// Whatever the order of requests on two connections, another decoder finds the intended fields.
        #[test]
        fn an_independent_decoder_finds_the_fields(
            sets in prop::collection::vec(
                prop::collection::vec(("[a-d]{1,2}|accept|:path|content-length|user-agent", "[a-c ]{0,3}"), 0..6), 1..6),
            order in prop::collection::vec((0_usize..6, any::<bool>(), any::<bool>()), 1..60),
        ) {
            let text = |fields: &Vec<(String, String)>| {
                request(&fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>())
            };
            let list = RequestList(sets.iter().map(text).collect());
            let mut encoder = Encoder::new(&list);
            let mut states = [TableState::EMPTY, TableState::EMPTY];
            let mut decoders = [Decoder::new(), Decoder::new()];
            for (index, connection, is_listed) in order {
                let (index, connection) = (index % list.0.len(), usize::from(connection));
                let block = if is_listed {
                    encoder.listed(&list, index, &mut states[connection]).to_vec()
                } else {
                    encoder.single(&list.0[index], &mut states[connection]).to_vec()
                };
                let decoded = decoders[connection].decode(&block).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(&decoded, &list.0[index].fields);
            }
        }
    }
}
