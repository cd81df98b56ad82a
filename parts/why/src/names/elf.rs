//! A program or library: which function and line an address belongs to, and what its stack is unwound by. Files are read, and not mapped:
//! one that is replaced meanwhile would end this program.

use std::{borrow::Cow, collections::HashMap, io::Read, rc::Rc, sync::Arc};

use addr2line::Context;
use gimli::{DwLang, Dwarf, EndianRcSlice, RunTimeEndian, SectionId};
use object::{
    CompressionFormat, Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind,
    elf::PF_X, read::elf::ElfFile64,
};

use super::{
    demangle::demangled,
    go_table::{self, GoFunction},
};
use crate::sample::Mapping;

type Reader = EndianRcSlice<RunTimeEndian>;
/// The largest section with debug information that is unpacked.
const SECTION_BYTES_MAX: u64 = 1 << 30;
/// The smallest page of memory: mappings begin with one.
const PAGE: u64 = 4096;
/// Most symbols that are kept.
const SYMBOLS_MAX: usize = 2_000_000;

/// A place in the code, from the file alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub name: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// The line in that file that the address is of, which may be one that calls.
    pub at: Option<u32>,
}

/// A binary of which code was sampled.
pub(super) struct Binary {
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    context: Option<Context<Reader>>,
    pub build_id: Option<String>,
    pub unwind: UnwindSections,
    known: HashMap<u64, Rc<[Place]>>,
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (symbols, has_lines) = (self.symbols.len(), self.context.is_some());
        f.debug_struct("Binary")
            .field("symbols", &symbols)
            .field("has_lines", &has_lines)
            .finish_non_exhaustive()
    }
}

/// A loaded part of the file, by its place in the file and in memory.
#[derive(Debug, Clone, Copy)]
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
    is_code: bool,
}

#[derive(Debug)]
struct Symbol {
    address: u64,
    bytes: u64,
    raw: String,
    /// Where it begins, if debug information does not say so.
    line: Option<(String, Option<u32>)>,
}

/// The tables by which stacks are unwound, with their addresses.
#[derive(Debug, Clone, Default)]
pub struct UnwindSections {
    pub base: u64,
    pub text: Option<std::ops::Range<u64>>,
    pub frames: Option<(std::ops::Range<u64>, Arc<[u8]>)>,
    pub index: Option<(std::ops::Range<u64>, Arc<[u8]>)>,
}

impl Binary {
    /// What the file with these bytes has; `None` if it is no program for this kind of machine.
    pub(super) fn of(bytes: &[u8]) -> Option<Binary> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, bytes) = segment.file_range();
            let is_code = matches!(segment.flags(), SegmentFlags::Elf { p_flags } if p_flags & PF_X != 0);
            Segment { offset, bytes, address: segment.address(), is_code }
        });
        let build_id = file.build_id().ok().flatten().map(hex);
        Some(Binary {
            segments: segments.collect(),
            symbols: symbols(&file),
            context: context(&file),
            build_id,
            unwind: unwind(&file),
            known: HashMap::new(),
        })
    }

    /// The crate that has the `main` of a program in Rust.
    pub(super) fn own_crate(&self) -> Option<String> {
        let is_near = |symbol: &&Symbol| symbol.raw.contains("4main");
        self.symbols.iter().filter(is_near).find_map(|symbol| {
            let name = demangled(&symbol.raw, None);
            let name = name.strip_suffix("::main")?;
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| name.to_owned())
        })
    }

    /// The address, as the file has it, of a place in the file.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let holds = |segment: &&Segment| offset >= segment.offset && offset - segment.offset < segment.bytes;
        let segment = self.segments.iter().find(holds)?;
        Some(segment.address + (offset - segment.offset))
    }

    /// By how much the addresses of a process are beyond those of the file, by a mapping of its code. A mapping begins with a page, and its
    /// segment perhaps in the middle of that: the page's first bytes in the file then belong to another segment.
    pub(super) fn bias(&self, mapping: &Mapping) -> Option<u64> {
        let holds = |segment: &&Segment| {
            let (begin, end) = (segment.offset & !(PAGE - 1), segment.offset + segment.bytes);
            segment.is_code && (begin..end).contains(&mapping.offset)
        };
        let segment = self.segments.iter().find(holds)?;
        Some(
            mapping
                .start
                .wrapping_sub(mapping.offset)
                .wrapping_add(segment.offset)
                .wrapping_sub(segment.address),
        )
    }

    /// The function at an address, and before it those that were compiled into it: the innermost first. Empty if it has no name.
    pub(super) fn places(&mut self, address: u64) -> Rc<[Place]> {
        if let Some(known) = self.known.get(&address) {
            return Rc::clone(known);
        }
        let found: Rc<[Place]> = self.look_up(address).into();
        self.known.insert(address, Rc::clone(&found));
        found
    }

    fn look_up(&self, address: u64) -> Vec<Place> {
        let symbol = self.symbol(address);
        let mut places = self.inlined(address);
        let Some(outer) = places.last_mut() else {
            return symbol.map(|symbol| self.of_symbol(symbol)).into_iter().collect();
        };
        // A symbol has the whole name, which debug information of lines alone lacks. And where a function begins says more of it than
        // the line that was sampled.
        if let Some(symbol) = symbol {
            let begin = self.of_symbol(symbol);
            outer.name = begin.name;
            // A macro may have its lines in another file.
            outer.at = outer.at.filter(|_| begin.file.is_none() || begin.file == outer.file);
            (outer.file, outer.line) = (begin.file.or(outer.file.take()), begin.line.or(outer.line));
        }
        places
    }

    /// A function with the line where it begins. Its first instruction may be of another that was compiled into it.
    fn of_symbol(&self, symbol: &Symbol) -> Place {
        let begin = self.inlined(symbol.address).pop().filter(|outer| outer.file.is_some());
        let (file, line) = match (begin, &symbol.line) {
            (Some(begin), _) => (begin.file, begin.line),
            (None, Some((file, line))) => (Some(file.clone()), *line),
            (None, None) => self.line_of(symbol.address),
        };
        Place { name: demangled(&symbol.raw, None), file, line, at: None }
    }

    /// The line of an address, from the table of lines alone.
    fn line_of(&self, address: u64) -> (Option<String>, Option<u32>) {
        let location =
            self.context.as_ref().and_then(|context| context.find_location(address).ok().flatten());
        location.map_or((None, None), |location| (location.file.map(str::to_owned), location.line))
    }

    fn inlined(&self, address: u64) -> Vec<Place> {
        let Some(context) = &self.context else { return Vec::new() };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return Vec::new() };
        let mut places = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let Some(function) = frame.function else { continue };
            let language: Option<DwLang> = function.language;
            let Ok(raw) = function.raw_name() else { continue };
            let location = frame.location;
            let line = location.as_ref().and_then(|location| location.line);
            places.push(Place {
                name: demangled(&raw, language),
                file: location.and_then(|location| location.file).map(str::to_owned),
                line,
                at: line,
            });
        }
        places
    }

    fn symbol(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.symbols[after.checked_sub(1)?];
        // Hand-written code often has no size; it then ends where the next symbol begins.
        (symbol.bytes == 0 || address < symbol.address + symbol.bytes).then_some(symbol)
    }
}

/// The addresses of data with these names that a library exports.
pub(super) fn exported(bytes: &[u8], names: &[&str]) -> HashMap<String, u64> {
    let Ok(file) = ElfFile64::<object::Endianness>::parse(bytes) else { return HashMap::new() };
    let symbols = file.dynamic_symbols();
    let wanted = symbols.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())));
    wanted.filter(|(name, _)| names.contains(&name.as_str())).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All functions with a name, by address.
fn symbols(file: &ElfFile64<'_>) -> Vec<Symbol> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let code = all.filter(|symbol| {
        let is_code =
            symbol.kind() == SymbolKind::Text || (symbol.kind() == SymbolKind::Unknown && symbol.size() > 0);
        is_code && symbol.is_definition()
    });
    let symbol = |symbol: object::read::elf::ElfSymbol64<'_, '_>| {
        let raw = symbol.name().ok().filter(|name| !name.is_empty())?.to_owned();
        Some(Symbol { address: symbol.address(), bytes: symbol.size(), raw, line: None })
    };
    let mut symbols: Vec<Symbol> = code.filter_map(symbol).take(SYMBOLS_MAX).collect();
    if file.symbols().next().is_none() {
        symbols.extend(of_go(file));
    }
    // Of several names of one place, the longest function; then always the same one.
    symbols.sort_by(|a, b| (a.address, b.bytes, &a.raw).cmp(&(b.address, a.bytes, &b.raw)));
    symbols.dedup_by_key(|symbol| symbol.address);
    symbols
}

/// The functions of a stripped Go program; none of another.
fn of_go(file: &ElfFile64<'_>) -> Vec<Symbol> {
    let table = [".gopclntab", ".data.rel.ro.gopclntab"].iter().find_map(|name| file.section_by_name(name));
    let Some(table) = table.and_then(|section| section.data().ok()) else { return Vec::new() };
    let text = file.section_by_name(".text").map_or(0, |section| section.address());
    let symbol = |function: GoFunction| {
        let GoFunction { address, bytes, name, file, line } = function;
        Symbol { address, bytes, raw: name, line: file.map(|file| (file, line)) }
    };
    go_table::functions(table, text).into_iter().map(symbol).collect()
}

fn context(file: &ElfFile64<'_>) -> Option<Context<Reader>> {
    file.section_by_name(".debug_info")?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: SectionId| -> Result<Reader, std::convert::Infallible> {
        let data = file.section_by_name(id.name()).and_then(|section| unpacked(&section)).unwrap_or_default();
        Ok(EndianRcSlice::new(Rc::<[u8]>::from(&*data), endian))
    };
    let Ok(dwarf) = Dwarf::load(load);
    Context::from_dwarf(dwarf).ok()
}

/// The bytes of a section, unpacked if it is compressed by zlib. (Go compresses its debug information.)
fn unpacked<'data>(section: &object::read::elf::ElfSection64<'data, '_>) -> Option<Cow<'data, [u8]>> {
    let packed = section.compressed_data().ok()?;
    match packed.format {
        CompressionFormat::None => Some(Cow::Borrowed(packed.data)),
        CompressionFormat::Zlib if packed.uncompressed_size <= SECTION_BYTES_MAX => {
            let mut bytes = Vec::new();
            let unpack = flate2::read::ZlibDecoder::new(packed.data).take(packed.uncompressed_size);
            { unpack }.read_to_end(&mut bytes).ok()?;
            Some(Cow::Owned(bytes))
        }
        _ => None,
    }
}

fn unwind(file: &ElfFile64<'_>) -> UnwindSections {
    let range = |name: &str| {
        let section = file.section_by_name(name)?;
        Some((section.address()..section.address().checked_add(section.size())?, section))
    };
    let with_data = |name: &str| {
        let (range, section) = range(name)?;
        Some((range, Arc::from(section.data().ok()?)))
    };
    let loaded = file.segments().map(|segment| segment.address()).min();
    UnwindSections {
        base: loaded.unwrap_or(0) & !0xfff,
        text: range(".text").map(|(range, _)| range),
        frames: with_data(".eh_frame"),
        index: with_data(".eh_frame_hdr"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    pub(super) fn known_function(count: u64) -> u64 {
        std::hint::black_box(count).wrapping_mul(3)
    }

    #[test]
    fn a_function_of_this_program_is_found_with_its_line() {
        let path = std::env::current_exe().unwrap();
        let mut binary = Binary::of(&std::fs::read(path).unwrap()).unwrap();
        let symbol = binary.symbols.iter().find(|symbol| symbol.raw.contains("known_function")).unwrap();
        let places = binary.places(symbol.address + 1);
        let place = places.last().unwrap();
        assert!(place.name.ends_with("elf::tests::known_function"), "{place:?}");
        assert!(place.file.as_ref().unwrap().ends_with("names/elf.rs") && place.line.is_some(), "{place:?}");
        assert!(place.at >= place.line, "an address is not before its function: {place:?}");
        assert!(binary.unwind.frames.is_some() && binary.unwind.text.is_some());
        assert_eq!(known_function(2), 6);
    }

    #[test]
    fn a_segment_that_begins_within_a_page_has_the_bias_of_its_own() {
        // As lld lays a program out: the page of the file in which the code begins belongs to the segment before it too.
        let segment = |offset, bytes, address, is_code| Segment { offset, bytes, address, is_code };
        let segments = vec![segment(0, 0xe9b8c, 0, false), segment(0xe9b90, 0x165ef0, 0xeab90, true)];
        let (symbols, unwind, known) = (Vec::new(), UnwindSections::default(), HashMap::new());
        let binary = Binary { segments, symbols, context: None, build_id: None, unwind, known };
        let start = 0x5500_000e_a000;
        let code = Mapping { start, end: start + 0x166_000, offset: 0xe9000, path: String::new(), inode: 1 };
        assert_eq!(binary.bias(&code), Some(0x5500_0000_0000));
        assert_eq!(binary.bias(&Mapping { offset: 0x1000, ..code }), None);
    }

    #[test]
    fn other_files_are_no_binaries() {
        for bytes in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &[0x7f; 4096]] {
            assert!(Binary::of(bytes).is_none());
        }
    }
}
