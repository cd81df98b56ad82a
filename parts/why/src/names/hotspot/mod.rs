//! Java: the methods behind code that HotSpot compiled, read from the memory of its process while that stands still. So no agent runs in
//! it, nothing is asked of it, and methods that were compiled into others have their names.
//!
//! An address belongs to a segment of a heap of code, whose map leads to the block that holds it; a block of a compiled method has a table
//! from addresses to scopes, which are methods with the methods that they were compiled into.

mod layout;
mod packed;

use std::{collections::HashMap, rc::Rc};

use super::{demangle::shown, elf::Place, memory::Memory};
use layout::{Begin, Metadata, Scopes, SourceFile};
pub(super) use layout::{Layout, SYMBOLS, TYPE_SYMBOLS};
use packed::Packed;

/// Most heaps of code: HotSpot has three.
const HEAPS_MAX: u32 = 16;
/// Most steps back through a map of segments.
const STEPS_MAX: usize = 4096;
/// Most bytes of the tables of one method.
const TABLE_BYTES_MAX: u64 = 4 << 20;
/// Most methods that are compiled into one another.
const INLINED_MAX: usize = 64;
/// Most bytes of a name, and of a table of lines.
const NAME_BYTES_MAX: u16 = 1024;
const LINES_BYTES_MAX: usize = 2048;
/// Packages of the Java runtime, and of the modules that come with it.
const OF_THE_RUNTIME: [&str; 6] = ["java/", "javax/", "jdk/", "sun/", "com/sun/", "org/graalvm/"];
/// A method has a table of lines.
const HAS_LINES: u8 = 1;

/// The compiled code of one process.
pub(super) struct CompiledCode<M> {
    memory: M,
    layout: Rc<Layout>,
    heaps: Vec<CodeHeap>,
    blocks: HashMap<u64, Option<Rc<Block>>>,
    methods: HashMap<u64, Option<Place>>,
}

impl<M> std::fmt::Debug for CompiledCode<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledCode").field("heaps", &self.heaps).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy)]
struct CodeHeap {
    low: u64,
    high: u64,
    segments: u64,
    shift: u32,
}

/// A piece of code: a compiled method with what it was made from, or a piece of the JVM's own.
#[derive(Debug)]
enum Block {
    Method(CompiledMethod),
    Own(String),
}

#[derive(Debug)]
struct CompiledMethod {
    begin: u64,
    method: u64,
    /// Where the pointers to methods are, which scopes refer to by their places.
    metadata: u64,
    /// Where code ends, as an offset, and the scope that it belongs to; sorted.
    pcs: Vec<(i64, u32)>,
    scopes: Vec<u8>,
}

impl<M: Memory> CompiledCode<M> {
    /// The code of a JVM whose library is loaded `bias` bytes beyond the addresses of its file.
    pub(super) fn of(memory: M, layout: Rc<Layout>, bias: u64) -> Option<CompiledCode<M>> {
        let array = memory.u64(bias.wrapping_add(layout.heaps))?;
        let count = memory.u32(array.wrapping_add(layout.array_length))?.min(HEAPS_MAX);
        let data = memory.u64(array.wrapping_add(layout.array_data))?;
        let heap = |place: u32| {
            let heap = memory.u64(data.wrapping_add(8 * u64::from(place)))?;
            let word = |at: u64| memory.u64(heap.wrapping_add(at));
            Some(CodeHeap {
                low: word(layout.heap_memory + layout.space_low)?,
                high: word(layout.heap_memory + layout.space_high)?,
                segments: word(layout.heap_segments + layout.space_low)?,
                shift: memory
                    .u32(heap.wrapping_add(layout.heap_segment_shift))
                    .filter(|shift| *shift < 32)?,
            })
        };
        let heaps: Vec<CodeHeap> = (0..count).filter_map(heap).collect();
        let (blocks, methods) = (HashMap::new(), HashMap::new());
        (!heaps.is_empty()).then_some(CompiledCode { memory, layout, heaps, blocks, methods })
    }

    /// The methods at an address, the innermost first; or a piece of the JVM's own. Empty if it is not known.
    pub(super) fn places(&mut self, address: u64) -> Vec<Place> {
        let Some(at) = self.block_at(address) else { return Vec::new() };
        let block = match self.blocks.get(&at) {
            Some(known) => known.clone(),
            None => {
                let found = self.block(at).map(Rc::new);
                self.blocks.insert(at, found.clone());
                found
            }
        };
        match block.as_deref() {
            Some(Block::Method(compiled)) => self.scopes(compiled, address),
            Some(Block::Own(name)) => vec![Place { name: name.clone(), ..Place::default() }],
            None => Vec::new(),
        }
    }

    /// Where the block begins that an address belongs to, behind its header. Each byte of the map of segments says how far back it is.
    fn block_at(&self, address: u64) -> Option<u64> {
        let heap = self.heaps.iter().find(|heap| (heap.low..heap.high).contains(&address))?;
        let mut segment = (address - heap.low) >> heap.shift;
        for _ in 0..STEPS_MAX {
            match self.memory.u8(heap.segments.checked_add(segment)?)? {
                0 => return Some(heap.low + (segment << heap.shift) + self.layout.block_bytes),
                0xff => return None,
                back => segment = segment.checked_sub(u64::from(back))?,
            }
        }
        None
    }

    fn block(&self, at: u64) -> Option<Block> {
        let name = self.memory.u64(at.wrapping_add(self.layout.blob_name))?;
        let name = self.memory.text(name)?;
        match name.as_str() {
            "nmethod" | "native nmethod" => self.compiled(at).map(Block::Method),
            _ => Some(Block::Own(shown(&name))),
        }
    }

    fn compiled(&self, at: u64) -> Option<CompiledMethod> {
        let (memory, layout) = (&self.memory, &*self.layout);
        let word = |field: u64| memory.u64(at.wrapping_add(field));
        let offset = |field: u64| memory.u32(at.wrapping_add(field)).map(u64::from);
        let begin = match layout.code_begin {
            Begin::Pointer(field) => word(field)?,
            Begin::Offset(field) => at.wrapping_add(offset(field)?),
        };
        let (metadata, scopes, pcs) = match layout.scopes {
            Scopes::Behind { metadata, data, pcs, end } => {
                let data = word(data)?;
                let [metadata, pcs, end] =
                    [offset(metadata)?, offset(pcs)?, offset(end)?].map(|field| at + field);
                (metadata, data..pcs, pcs..end)
            }
            Scopes::Apart { metadata, region, region_bytes, data, pcs } => {
                let metadata = match metadata {
                    Metadata::Behind { data_offset, offset: short } => {
                        let short = u64::from(memory.u16(at.wrapping_add(short))?);
                        at.wrapping_add(offset(data_offset)? + short)
                    }
                    Metadata::Apart { region, relocation_bytes } => {
                        word(region)?.wrapping_add(offset(relocation_bytes)?)
                    }
                };
                let region = word(region)?;
                let [data, pcs, end] = [offset(data)?, offset(pcs)?, offset(region_bytes)?]
                    .map(|field| region.wrapping_add(field));
                (metadata, data..end, pcs..data)
            }
        };
        let bytes = |range: std::ops::Range<u64>| {
            let length = range.end.checked_sub(range.start).filter(|length| *length <= TABLE_BYTES_MAX)?;
            memory.bytes(range.start, length as usize)
        };
        let (method, pcs) = (word(layout.method)?, self.pcs(&bytes(pcs)?));
        Some(CompiledMethod { begin, method, metadata, pcs, scopes: bytes(scopes)? })
    }

    fn pcs(&self, table: &[u8]) -> Vec<(i64, u32)> {
        let pc = |entry: &[u8]| {
            let number = |at: u64| {
                let at = at as usize;
                Some(u32::from_ne_bytes(entry.get(at..at + 4)?.try_into().ok()?))
            };
            let (offset, scope) = (number(self.layout.pc_offset)?, number(self.layout.pc_scope)?);
            Some((i64::from(offset.cast_signed()), scope))
        };
        let mut pcs: Vec<(i64, u32)> =
            table.chunks_exact(self.layout.pc_bytes as usize).filter_map(pc).collect();
        pcs.sort_by_key(|(offset, _)| *offset);
        pcs
    }

    /// The methods of the scope of an address. As HotSpot finds it: that of the next entry, where a piece of code ends.
    fn scopes(&mut self, compiled: &CompiledMethod, address: u64) -> Vec<Place> {
        let offset = address.wrapping_sub(compiled.begin).cast_signed();
        let after = compiled.pcs.partition_point(|(end, _)| *end < offset);
        let (mut scope, mut places) = (compiled.pcs.get(after).map_or(0, |(_, scope)| *scope), Vec::new());
        // Scopes refer to earlier ones only, so this ends.
        while scope != 0 && places.len() < INLINED_MAX {
            let Some(bytes) = compiled.scopes.get(scope as usize..) else { break };
            let mut packed = Packed::of(bytes, self.layout.excluded);
            let (Some(sender), Some(method)) = (packed.number(), packed.number()) else { break };
            let at = compiled.metadata.wrapping_add(8 * u64::from(method).wrapping_sub(1));
            places.extend(self.memory.u64(at).filter(|_| method != 0).and_then(|at| self.method(at)));
            if sender >= scope {
                break;
            }
            scope = sender;
        }
        if places.is_empty() {
            places.extend(self.method(compiled.method));
        }
        places
    }

    fn method(&mut self, at: u64) -> Option<Place> {
        if let Some(known) = self.methods.get(&at) {
            return known.clone();
        }
        let found = self.read_method(at);
        self.methods.insert(at, found.clone());
        found
    }

    fn read_method(&self, at: u64) -> Option<Place> {
        let (memory, layout) = (&self.memory, &*self.layout);
        let constant = memory.u64(at.wrapping_add(layout.const_method))?;
        let field = |at: u64| constant.wrapping_add(at);
        let pool = memory.u64(field(layout.constants))?;
        let class = memory.u64(pool.wrapping_add(layout.pool_holder))?;
        let name = self.constant(pool, memory.u16(field(layout.name_index))?)?;
        let class_name = self.symbol(memory.u64(class.wrapping_add(layout.class_name))?)?;
        let source = match layout.source_file {
            SourceFile::Pool(of_pool) => memory.u16(pool.wrapping_add(of_pool)),
            SourceFile::Class(of_class) => memory.u16(class.wrapping_add(of_class)),
        };
        let file = source.and_then(|index| self.constant(pool, index));
        Some(place(&class_name, &name, file.as_deref(), self.first_line(constant)))
    }

    fn first_line(&self, constant: u64) -> Option<u32> {
        let (memory, layout) = (&self.memory, &*self.layout);
        let flags = memory.u8(constant.wrapping_add(layout.flags))?;
        let code_bytes = memory.u16(constant.wrapping_add(layout.code_size))?;
        let lines = constant.wrapping_add(layout.const_method_bytes + u64::from(code_bytes));
        // Its length is not known; what is behind it may not be there.
        let table = [LINES_BYTES_MAX, LINES_BYTES_MAX / 16];
        let read = |bytes: usize| Packed::of(&memory.bytes(lines, bytes)?, layout.excluded).first_line();
        (flags & HAS_LINES != 0).then(|| table.into_iter().find_map(read)).flatten()
    }

    /// A name in a pool of constants. Its lowest bit says whether it was resolved.
    fn constant(&self, pool: u64, index: u16) -> Option<String> {
        let at = pool.wrapping_add(self.layout.pool_bytes + 8 * u64::from(index));
        (index != 0).then(|| self.symbol(self.memory.u64(at)? & !1)).flatten()
    }

    fn symbol(&self, at: u64) -> Option<String> {
        let length = self.memory.u16(at.wrapping_add(self.layout.symbol_length))?;
        let body = at.wrapping_add(self.layout.symbol_body);
        let bytes = self.memory.bytes(body, length.min(NAME_BYTES_MAX).into())?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A method as its author writes it. The file is below the folder of its package; the classes of the runtime have none.
fn place(class: &str, name: &str, file: Option<&str>, line: Option<u32>) -> Place {
    let package = class.rsplit_once('/').map(|(package, _)| package);
    let is_own = !OF_THE_RUNTIME.iter().any(|prefix| class.starts_with(prefix));
    let file = file.filter(|_| is_own).map(|file| match package {
        Some(package) => format!("{package}/{file}"),
        None => file.to_owned(),
    });
    let name = shown(&format!("{}.{name}", without_numbers(class).replace('/', ".")));
    Place { name, line: line.filter(|_| file.is_some()), file: file.map(|file| shown(&file)), at: None }
}

/// The name of a class without what differs in each process: the address of a hidden one, and the number of one made at run time.
fn without_numbers(class: &str) -> &str {
    let class = ["+0x", "/0x"].iter().find_map(|mark| class.split_once(mark)).map_or(class, |(name, _)| name);
    match class.split_once("$$Lambda") {
        Some((outer, _)) => &class[..outer.len() + "$$Lambda".len()],
        None => class,
    }
}

#[cfg(test)]
mod tests;
