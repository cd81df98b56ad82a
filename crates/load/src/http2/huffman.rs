//! Huffman's code for strings in header blocks (RFC 7541, section 5.2 and appendix B).

/// The length of the code of each byte in bits, and that of the end of a string. The codes follow from these:
/// they are assigned in the order of the lengths, then of the bytes.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const LENGTH_MAX: usize = 30;
const END_OF_STRING: u16 = 256;

const CODE: Code = Code::new();

/// The code as tables to decode by.
struct Code {
    /// The symbol and length of the code that begins with these eight bits; length 0 if the code is longer.
    short: [(u8, u8); 256],
    /// For each length: its first code, the number of codes, and the index of their first symbol.
    first: [u32; LENGTH_MAX + 1],
    count: [u32; LENGTH_MAX + 1],
    begin: [u32; LENGTH_MAX + 1],
    symbols: [u16; 257],
}

impl Code {
    const fn new() -> Code {
        let mut code = Code {
            short: [(0, 0); 256],
            first: [0; LENGTH_MAX + 1],
            count: [0; LENGTH_MAX + 1],
            begin: [0; LENGTH_MAX + 1],
            symbols: [0; 257],
        };
        let (mut length, mut next, mut place) = (1, 0_u32, 0_u32);
        while length <= LENGTH_MAX {
            (code.first[length], code.begin[length]) = (next, place);
            let mut symbol = 0;
            while symbol < 257 {
                if LENGTHS[symbol] as usize == length {
                    code.symbols[place as usize] = symbol as u16;
                    if length <= 8 {
                        code.fill_short(next, length, symbol as u8);
                    }
                    (next, place) = (next + 1, place + 1);
                }
                symbol += 1;
            }
            code.count[length] = place - code.begin[length];
            next <<= 1;
            length += 1;
        }
        code
    }

    const fn fill_short(&mut self, bits: u32, length: usize, symbol: u8) {
        let first = (bits as usize) << (8 - length);
        let mut behind = 0;
        while behind < 1 << (8 - length) {
            self.short[first + behind] = (symbol, length as u8);
            behind += 1;
        }
    }

    /// The symbol at the front of these bits, and the length of its code.
    #[inline]
    fn symbol(&self, bits: u64) -> (u16, u32) {
        let (symbol, length) = self.short[(bits >> 56) as usize];
        if length > 0 {
            return (symbol.into(), length.into());
        }
        for length in 9..=LENGTH_MAX {
            let code = (bits >> (64 - length)) as u32;
            let nth = code.wrapping_sub(self.first[length]);
            if nth < self.count[length] {
                return (self.symbols[(self.begin[length] + nth) as usize], length as u32);
            }
        }
        (END_OF_STRING, 0)
    }
}

/// Appends the decoded string; `None` if `bytes` is not a valid code.
#[must_use]
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut bytes = bytes.iter();
    // Held bits start at the most significant bit.
    let (mut bits, mut held) = (0_u64, 0_u32);
    loop {
        while held <= 56
            && let Some(byte) = bytes.next()
        {
            bits |= u64::from(*byte) << (56 - held);
            held += 8;
        }
        let (symbol, length) = CODE.symbol(bits);
        if length > held || held == 0 {
            // The remaining bits are the beginning of the end-of-string code: ones, fewer than eight.
            let padding = !(u64::MAX >> held);
            return (held < 8 && bits == padding).then_some(());
        }
        if symbol == END_OF_STRING {
            return None;
        }
        out.push(symbol as u8);
        bits <<= length;
        held -= length;
    }
}

#[cfg(test)]
pub(super) fn encode(text: &[u8]) -> Vec<u8> {
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u64, 0);
    for &byte in text {
        let length = usize::from(LENGTHS[usize::from(byte)]);
        let nth = LENGTHS[..usize::from(byte)].iter().filter(|other| usize::from(**other) == length).count();
        bits = (bits << length) | (u64::from(CODE.first[length]) + nth as u64);
        held += length;
        while held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    if held > 0 {
        out.push((bits << (8 - held)) as u8 | 0xff >> held);
    }
    out
}
