//! Numbers as HotSpot packs them (UNSIGNED5 of Pack200), and its tables of lines.

/// A byte from here on says that another one follows.
const MORE: u8 = 192;
const BYTES_MAX: u32 = 5;
/// A byte of a table of lines that announces numbers too large for one byte.
const LONG: u8 = 0xff;

/// Reads numbers from the front of bytes.
#[derive(Debug)]
pub(super) struct Packed<'a> {
    bytes: &'a [u8],
    excluded: u8,
}

impl<'a> Packed<'a> {
    pub(super) fn of(bytes: &'a [u8], excluded: u8) -> Packed<'a> {
        Packed { bytes, excluded }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let mut sum = 0_u32;
        for place in 0..BYTES_MAX {
            let byte = self.byte()?;
            let digit = byte.checked_sub(self.excluded)?;
            sum = sum.wrapping_add(u32::from(digit) << (6 * place));
            if byte < MORE {
                break;
            }
        }
        Some(sum)
    }

    fn signed(&mut self) -> Option<i32> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    /// The least line of a table: where a method begins, but for its head.
    pub(super) fn first_line(mut self) -> Option<u32> {
        let (mut line, mut least) = (0_i32, None);
        loop {
            match self.byte()? {
                0 => return least,
                LONG => {
                    self.signed()?;
                    line = line.checked_add(self.signed()?)?;
                }
                both => line = line.checked_add(i32::from(both & 7))?,
            }
            let found = u32::try_from(line).ok()?;
            least = Some(least.map_or(found, |known: u32| known.min(found)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unpacked_in_both_ways_of_packing() {
        let numbers = |bytes: &[u8], excluded| {
            let mut packed = Packed::of(bytes, excluded);
            std::iter::from_fn(move || packed.number()).collect::<Vec<u32>>()
        };
        assert_eq!(numbers(&[0, 5, 191, 192, 0, 200, 3], 0), [0, 5, 191, 192, 200 + (3 << 6)]);
        assert_eq!(numbers(&[1, 6, 192, 1], 1), [0, 5, 191]);
        assert_eq!(numbers(&[0], 1), Vec::<u32>::new(), "a byte that no such packing has");
        assert_eq!(numbers(&[255; 4], 0), Vec::<u32>::new(), "it is cut off");
    }

    #[test]
    fn a_method_begins_at_its_least_line() {
        // Line 12 by a long entry, then two lines more, then one back.
        let table = [LONG, 0, 24, (3 << 3) | 2, LONG, 2, 1, 0];
        assert_eq!(Packed::of(&table, 0).first_line(), Some(12));
        assert_eq!(Packed::of(&[LONG, 0, 24], 0).first_line(), None, "it has no end");
        assert_eq!(Packed::of(&[0], 0).first_line(), None);
    }
}
