//! The functions of a Go program that has no symbols: the runtime needs their names for stack traces, so `-ldflags=-s -w` and `strip`
//! leave them in (`.gopclntab`). The table is part of a file of the service, so nothing in it is believed.

/// A function as the table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoFunction {
    pub address: u64,
    pub bytes: u64,
    pub name: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// The first bytes of a table since Go 1.18, and since 1.20, which has the lines where functions begin.
const MAGIC_18: u32 = 0xffff_fff0;
const MAGIC_20: u32 = 0xffff_fff1;
/// Places of words in the header.
const COUNT: usize = 8;
const TEXT: usize = 24;
const NAMES: usize = 32;
const UNITS: usize = 40;
const FILES: usize = 48;
const VALUES: usize = 56;
const FUNCTIONS: usize = 64;
/// Places within a function.
const NAME: usize = 4;
const FILE_VALUES: usize = 20;
const UNIT: usize = 32;
const LINE: usize = 36;

const FUNCTIONS_MAX: usize = 500_000;
const NAME_BYTES_MAX: usize = 1024;

/// The functions of a table, by address. `text` is where the code begins, which newer tables leave out. Empty if it is no such table.
pub fn functions(table: &[u8], text: u64) -> Vec<GoFunction> {
    read(table, text).unwrap_or_default()
}

fn read(table: &[u8], text: u64) -> Option<Vec<GoFunction>> {
    let magic = half(table, 0)?;
    let is_known = matches!(magic, MAGIC_18 | MAGIC_20) && table.get(7) == Some(&8);
    let count = place(table, COUNT).filter(|count| is_known && *count <= FUNCTIONS_MAX)?;
    let text = Some(word(table, TEXT)?).filter(|begin| *begin != 0).unwrap_or(text);
    let [names, units, files, values, functions] =
        [NAMES, UNITS, FILES, VALUES, FUNCTIONS].map(|at| place(table, at).and_then(|at| table.get(at..)));
    let functions = functions?;
    let entry = |index: usize| Some((half(functions, index * 8)?, half(functions, index * 8 + 4)? as usize));
    let function = |index: usize| {
        let (begin, at) = entry(index)?;
        // Behind the last function is where the code ends.
        let end = half(functions, (index + 1) * 8)?;
        let function = functions.get(at..)?;
        let name = string(names?, half(function, NAME)? as usize)?;
        let file = || {
            // The first value is the file of the function's first instruction, less one.
            let number = first_value(values?.get(half(function, FILE_VALUES)? as usize..)?)?;
            let unit = half(function, UNIT)?.checked_add(number)? as usize;
            string(files?, half(units?, unit.checked_mul(4)?)? as usize)
        };
        Some(GoFunction {
            address: text.checked_add(begin.into())?,
            bytes: end.checked_sub(begin)?.into(),
            name,
            file: file(),
            line: half(function, LINE).filter(|line| magic == MAGIC_20 && *line > 0),
        })
    };
    Some((0..count).map_while(|index| entry(index).map(|_| function(index))).flatten().collect())
}

/// The first of a packed series of values, each of which is a difference to the one before it; the first to -1.
fn first_value(bytes: &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for (place, byte) in bytes.iter().take(5).enumerate() {
        number |= u32::from(byte & 0x7f).checked_shl(7 * place as u32)?;
        if byte & 0x80 == 0 {
            let difference = (number >> 1).cast_signed() ^ -((number & 1).cast_signed());
            return u32::try_from(difference.checked_sub(1)?).ok();
        }
    }
    None
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn place(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(word(bytes, at)?).ok()
}

fn string(bytes: &[u8], at: usize) -> Option<String> {
    let text = bytes.get(at..)?;
    let end = text.iter().take(NAME_BYTES_MAX).position(|byte| *byte == 0)?;
    (end > 0).then(|| String::from_utf8_lossy(&text[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A table of two functions, as Go 1.20 and later write it.
    fn table() -> Vec<u8> {
        let mut table = vec![0_u8; 512];
        let mut put = |at: usize, bytes: &[u8]| table[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC_20.to_le_bytes());
        put(6, &[1, 8]);
        for (at, value) in
            [(COUNT, 2_u64), (NAMES, 80), (UNITS, 120), (FILES, 140), (VALUES, 180), (FUNCTIONS, 200)]
        {
            put(at, &value.to_le_bytes());
        }
        put(80, b"\0main.main\0main.signBody\0");
        put(120, &[0, 0, 0, 0, 9, 0, 0, 0]);
        put(140, b"/rt/a.go\0/srv/shop/main.go\0");
        // The second file: -1 and 2 are 1.
        put(180, &[0, 4, 1]);
        for (at, value) in [(200, 0x40_u32), (204, 32), (208, 0x80), (212, 72), (216, 0x100)] {
            put(at, &value.to_le_bytes());
        }
        for (at, name, line) in [(232, 1_u32, 12_u32), (272, 11, 7)] {
            put(at + NAME, &name.to_le_bytes());
            put(at + FILE_VALUES, &1_u32.to_le_bytes());
            put(at + LINE, &line.to_le_bytes());
        }
        table
    }

    #[test]
    fn functions_have_their_names_files_and_lines() {
        let expected = |address, bytes, name: &str, line| GoFunction {
            address,
            bytes,
            name: name.to_owned(),
            file: Some("/srv/shop/main.go".to_owned()),
            line: Some(line),
        };
        let found = functions(&table(), 0x40_1000);
        assert_eq!(
            found,
            [expected(0x40_1040, 0x40, "main.main", 12), expected(0x40_1080, 0x80, "main.signBody", 7)]
        );
        let mut older = table();
        older[..4].copy_from_slice(&MAGIC_18.to_le_bytes());
        older[TEXT..TEXT + 8].copy_from_slice(&0x50_0000_u64.to_le_bytes());
        assert_eq!((functions(&older, 0)[0].address, functions(&older, 0)[0].line), (0x50_0040, None));
        assert_eq!(functions(b"\xfb\xff\xff\xff\0\0\x01\x08", 0), [], "Go 1.16");
    }

    proptest! {
        #[test]
        fn any_bytes_are_functions_or_none(place in 0_usize..512, bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut table = table();
            let end = (place + bytes.len()).min(table.len());
            table[place..end].copy_from_slice(&bytes[..end - place]);
            prop_assert!(functions(&table, u64::MAX).len() <= FUNCTIONS_MAX);
            functions(&table[..place], 0);
        }
    }
}
