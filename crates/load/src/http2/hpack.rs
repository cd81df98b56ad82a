//! The HPACK decoder ([RFC 7541](https://www.rfc-editor.org/rfc/rfc7541)): header blocks and their table.

use std::collections::VecDeque;

use super::huffman;
use super::static_table::FIELDS;

/// The size that an entry counts in addition to its name and value (section 4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// A block that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HpackError;

/// A field of the table: its name, followed by its value.
#[derive(Debug, Default)]
struct Entry {
    bytes: Vec<u8>,
    name_bytes: usize,
}

/// Decodes the blocks of one connection; each may refer to earlier ones.
#[derive(Debug)]
pub(super) struct HpackDecoder {
    /// The newest first.
    entries: VecDeque<Entry>,
    bytes: usize,
    /// The size that the peer has chosen, and the allowed maximum.
    bytes_max: usize,
    allowed_bytes: usize,
    name: Vec<u8>,
    value: Vec<u8>,
    /// The memory of a removed entry, for reuse.
    spare: Vec<u8>,
}

impl HpackDecoder {
    /// A decoder with a table of this size.
    pub(super) fn new(bytes: usize) -> HpackDecoder {
        HpackDecoder {
            entries: VecDeque::new(),
            bytes: 0,
            bytes_max: bytes,
            allowed_bytes: bytes,
            name: Vec::new(),
            value: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Calls back with each field of a block until the callback refuses one: a few bytes may stand for a long
    /// field. Returns whether the block changed the table.
    pub(super) fn decode(
        &mut self,
        block: &[u8],
        mut take: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<bool, HpackError> {
        let (mut rest, mut has_field, mut is_changed) = (block, false, false);
        while let Some(&first) = rest.first() {
            let is_taken = match first {
                0x80.. => {
                    let (name, value) = self.field(integer(&mut rest, 7)?)?;
                    take(name, value)
                }
                0x40..0x80 => {
                    self.literal(&mut rest, 6)?;
                    let is_taken = take(&self.name, &self.value);
                    self.add();
                    is_changed = true;
                    is_taken
                }
                // Size updates are allowed only before all fields (section 4.2).
                0x20..0x40 if has_field => return Err(HpackError),
                0x20..0x40 => {
                    self.resize(integer(&mut rest, 5)?)?;
                    is_changed = true;
                    continue;
                }
                _ => {
                    self.literal(&mut rest, 4)?;
                    take(&self.name, &self.value)
                }
            };
            if !is_taken {
                return Err(HpackError);
            }
            has_field = true;
        }
        Ok(is_changed)
    }

    fn field(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let index = index.checked_sub(1).ok_or(HpackError)?;
        if let Some((name, value)) = FIELDS.get(index) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.entries.get(index - FIELDS.len()).ok_or(HpackError)?;
        Ok(entry.bytes.split_at(entry.name_bytes))
    }

    /// Reads a literal into `name` and `value`.
    fn literal(&mut self, rest: &mut &[u8], prefix_bits: u32) -> Result<(), HpackError> {
        let index = integer(rest, prefix_bits)?;
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        match index {
            0 => string(rest, &mut name)?,
            index => name.extend_from_slice(self.field(index)?.0),
        }
        self.name = name;
        self.value.clear();
        string(rest, &mut self.value)
    }

    /// Adds the literal that was read last. One that is larger than the table empties it (section 4.4).
    fn add(&mut self) {
        let bytes = self.name.len() + self.value.len() + ENTRY_BYTES;
        self.shrink(self.bytes_max.saturating_sub(bytes));
        if bytes > self.bytes_max {
            return;
        }
        let mut entry = Entry { bytes: std::mem::take(&mut self.spare), name_bytes: self.name.len() };
        entry.bytes.clear();
        entry.bytes.extend_from_slice(&self.name);
        entry.bytes.extend_from_slice(&self.value);
        self.entries.push_front(entry);
        self.bytes += bytes;
    }

    fn resize(&mut self, bytes: usize) -> Result<(), HpackError> {
        if bytes > self.allowed_bytes {
            return Err(HpackError);
        }
        self.bytes_max = bytes;
        self.shrink(bytes);
        Ok(())
    }

    /// Removes the oldest entries until at most `bytes` are left.
    fn shrink(&mut self, bytes: usize) {
        while self.bytes > bytes
            && let Some(entry) = self.entries.pop_back()
        {
            self.bytes -= entry.bytes.len() + ENTRY_BYTES;
            self.spare = entry.bytes;
        }
    }
}

/// An integer (section 5.1) from the front of `bytes`.
fn integer(bytes: &mut &[u8], prefix_bits: u32) -> Result<usize, HpackError> {
    let (&first, mut rest) = bytes.split_first().ok_or(HpackError)?;
    let mask = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(first) & mask;
    if value == mask {
        let mut shift = 0;
        loop {
            let (&byte, behind) = rest.split_first().ok_or(HpackError)?;
            rest = behind;
            value += usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
            // No valid integer here is that long.
            if shift == 28 {
                return Err(HpackError);
            }
        }
    }
    *bytes = rest;
    Ok(value)
}

/// Appends a string (section 5.2) from the front of `bytes`.
fn string(bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let is_compressed = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer(bytes, 7)?;
    let text = bytes.get(..length).ok_or(HpackError)?;
    *bytes = &bytes[length..];
    match is_compressed {
        true => huffman::decode(text, out).ok_or(HpackError),
        false => {
            out.extend_from_slice(text);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Fields = Vec<(Vec<u8>, Vec<u8>)>;

    fn decode(decoder: &mut HpackDecoder, block: &[u8]) -> Result<Fields, HpackError> {
        let mut fields = Fields::new();
        decoder.decode(block, |name, value| {
            fields.push((name.to_vec(), value.to_vec()));
            true
        })?;
        Ok(fields)
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            "[a-z0-9=/-]{0,30}".prop_map(String::into_bytes),
            prop::sample::select(FIELDS.to_vec()).prop_map(|(name, _)| name.as_bytes().to_vec()),
        ]
    }

    fn string(text: &[u8], is_compressed: bool) -> Vec<u8> {
        let bytes = if is_compressed { huffman::encode(text) } else { text.to_vec() };
        let mut out = Vec::new();
        super::super::encoder::integer(&mut out, if is_compressed { 0x80 } else { 0 }, 7, bytes.len());
        [out, bytes].concat()
    }

    /// Any byte sequence that a peer may write; indices may be invalid.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let number = |pattern, bits| {
            prop_oneof![0_usize..75, 0_usize..6_000].prop_map(move |value| {
                let mut out = Vec::new();
                super::super::encoder::integer(&mut out, pattern, bits, value);
                out
            })
        };
        let literal =
            (prop::sample::select(vec![(0x40, 6), (0, 4), (0x10, 4)]), text(), text(), any::<[bool; 2]>())
                .prop_map(|((pattern, _), name, value, [a, b])| {
                    [vec![pattern], string(&name, a), string(&value, b)].concat()
                });
        let named = (prop::sample::select(vec![(0x40_u8, 6), (0, 4)]), 1_usize..66, text(), any::<bool>())
            .prop_map(|((pattern, bits), index, value, is_compressed)| {
                let mut out = Vec::new();
                super::super::encoder::integer(&mut out, pattern, bits, index);
                [out, string(&value, is_compressed)].concat()
            });
        prop_oneof![
            4 => literal,
            3 => named,
            3 => (1_usize..66).prop_map(|index| { let mut out = Vec::new();
                super::super::encoder::integer(&mut out, 0x80, 7, index);
                out
            }),
            1 => number(0x80, 7),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Another decoder finds the same fields and errors, whatever the blocks are.
        #[test]
        fn an_independent_decoder_agrees(
            blocks in prop::collection::vec((prop::option::of(0_usize..5_000), prop::collection::vec(piece(), 0..8)), 1..8),
        ) {
            let mut decoder = HpackDecoder::new(4096);
            let mut other = loona_hpack::Decoder::new();
            other.set_max_allowed_table_size(4096);
            for (size, pieces) in blocks {
                let mut block = pieces.concat();
                if let Some(size) = size.filter(|_| !block.is_empty()) {
                    let mut update = Vec::new();
                    super::super::encoder::integer(&mut update, 0x20, 5, size);
                    block.splice(..0, update);
                }
                let expected = other.decode(&block).map_err(|_| HpackError);
                let found = decode(&mut decoder, &block);
                prop_assert_eq!(&found, &expected);
                if found.is_err() {
                    return Ok(());
                }
            }
        }

        #[test]
        fn arbitrary_bytes_are_decoded_alike(block in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut other = loona_hpack::Decoder::new();
            other.set_max_allowed_table_size(4096);
            let found = decode(&mut HpackDecoder::new(4096), &block);
            // That decoder allows size updates anywhere except at the end, even in a block without fields.
            if found.as_ref().is_ok_and(|found| !found.is_empty()) || !block.iter().any(|byte| matches!(byte, 0x20..0x40)) {
                prop_assert_eq!(found, other.decode(&block).map_err(|_| HpackError));
            }
        }

        #[test]
        fn what_is_compressed_is_read(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut out = Vec::new();
            prop_assert_eq!(huffman::decode(&huffman::encode(&text), &mut out), Some(()));
            prop_assert_eq!(&out, &text);
            let other = loona_hpack::huffman::HuffmanDecoder::new().decode(&huffman::encode(&text));
            prop_assert_eq!(other.ok(), Some(text));
        }

        #[test]
        fn padding_and_ends_of_strings_are_errors_alike(bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0xf0_u8..], 0..12)) {
            let mut out = Vec::new();
            let found = huffman::decode(&bytes, &mut out).map(|()| out);
            prop_assert_eq!(found, loona_hpack::huffman::HuffmanDecoder::new().decode(&bytes).ok());
        }
    }

    #[test]
    fn a_block_says_whether_it_changed_the_table() {
        let mut decoder = HpackDecoder::new(4096);
        let mut changes = |block: &[u8]| decoder.decode(block, |_, _| true);
        assert_eq!(changes(&[0x88]), Ok(false));
        assert_eq!(changes(b"\x00\x01a\x01b"), Ok(false));
        assert_eq!(changes(b"\x10\x01a\x01b"), Ok(false));
        assert_eq!(changes(b"\x88\x40\x01a\x01b"), Ok(true));
        assert_eq!(changes(&[0x80 | 62]), Ok(false));
        assert_eq!(changes(&[0x20, 0x88]), Ok(true));
        assert_eq!(changes(&[0x80 | 62]), Err(HpackError), "it is empty");
        assert_eq!(changes(&[0x88, 0x20]), Err(HpackError), "not behind a field");
    }

    #[test]
    fn a_table_has_its_size_at_most() {
        let mut decoder = HpackDecoder::new(4096);
        for nth in 0..1_000 {
            let value = vec![b'v'; nth % 300];
            let block = [b"\x40\x01a".to_vec(), string(&value, false)].concat();
            decoder.decode(&block, |_, _| true).unwrap();
            let bytes: usize = decoder.entries.iter().map(|entry| entry.bytes.len() + ENTRY_BYTES).sum();
            assert!(bytes == decoder.bytes && bytes <= 4096 && !decoder.entries.is_empty());
        }
        let large = [b"\x40\x01a".to_vec(), string(&vec![b'v'; 5_000], false)].concat();
        decoder.decode(&large, |_, _| true).unwrap();
        assert!(
            decoder.entries.is_empty() && decoder.bytes == 0,
            "it has no room for that, nor for anything else"
        );
    }
}
