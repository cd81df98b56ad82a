//! Where a JVM keeps what its compiled code was made from. HotSpot says so itself, in tables that its library exports for debuggers
//! (`gHotSpotVMStructs`): names of its structures and fields, with their offsets, which differ from version to version.

use std::collections::HashMap;

use super::super::memory::Memory;

/// Symbols of the library: the table of fields, and how its entries are laid out.
pub(in crate::names) const SYMBOLS: [&str; 6] = [
    "gHotSpotVMStructs",
    "gHotSpotVMStructEntryArrayStride",
    "gHotSpotVMStructEntryTypeNameOffset",
    "gHotSpotVMStructEntryFieldNameOffset",
    "gHotSpotVMStructEntryOffsetOffset",
    "gHotSpotVMStructEntryAddressOffset",
];
/// The same for the table of types, whose sizes are needed.
pub(in crate::names) const TYPE_SYMBOLS: [&str; 4] = [
    "gHotSpotVMTypes",
    "gHotSpotVMTypeEntryArrayStride",
    "gHotSpotVMTypeEntryTypeNameOffset",
    "gHotSpotVMTypeEntrySizeOffset",
];
/// Most entries of a table that are read: JVMs have some three thousand.
const ENTRIES_MAX: u64 = 1 << 15;
const ENTRY_BYTES_MAX: u64 = 256;
/// No structure that is read is larger.
const OFFSET_MAX: u64 = 1 << 16;
/// The first version that leaves the byte 0 out of its packed numbers.
const WITHOUT_ZERO: u32 = 20;

/// Offsets in bytes, by the names that HotSpot gives them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::names) struct Layout {
    /// `CodeCache::_heaps`, relative to where the library is loaded.
    pub heaps: u64,
    pub array_length: u64,
    pub array_data: u64,
    pub heap_memory: u64,
    pub heap_segments: u64,
    pub heap_segment_shift: u64,
    pub space_low: u64,
    pub space_high: u64,
    pub block_bytes: u64,
    pub blob_name: u64,
    pub code_begin: Begin,
    pub method: u64,
    pub scopes: Scopes,
    pub pc_bytes: u64,
    pub pc_offset: u64,
    pub pc_scope: u64,
    pub const_method: u64,
    pub const_method_bytes: u64,
    pub constants: u64,
    pub code_size: u64,
    pub flags: u64,
    pub name_index: u64,
    pub pool_bytes: u64,
    pub pool_holder: u64,
    /// In the pool of constants, or in the class of older versions.
    pub source_file: SourceFile,
    pub class_name: u64,
    pub symbol_length: u64,
    pub symbol_body: u64,
    /// What is added to each byte of a packed number.
    pub excluded: u8,
}

/// Where the code of a blob begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::names) enum Begin {
    /// The field is a pointer.
    Pointer(u64),
    /// The field is an offset (from JDK 23 on).
    Offset(u64),
}

impl Default for Begin {
    fn default() -> Begin {
        Begin::Pointer(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::names) enum SourceFile {
    Pool(u64),
    Class(u64),
}

impl Default for SourceFile {
    fn default() -> SourceFile {
        SourceFile::Pool(0)
    }
}

/// Where a compiled method has its tables of inlined methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::names) enum Scopes {
    /// Behind its code (until JDK 22): a pointer to the data, and offsets of the rest.
    Behind { metadata: u64, data: u64, pcs: u64, end: u64 },
    /// In a region of its own (from JDK 23 on).
    Apart { metadata: Metadata, region: u64, region_bytes: u64, data: u64, pcs: u64 },
}

impl Default for Scopes {
    fn default() -> Scopes {
        Scopes::Behind { metadata: 0, data: 0, pcs: 0, end: 0 }
    }
}

/// Where the pointers to methods are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::names) enum Metadata {
    /// Behind the code, from `_data_offset` on: a short offset (JDK 23 and 24).
    Behind { data_offset: u64, offset: u64 },
    /// In a region with the relocations before it (from JDK 25 on).
    Apart { region: u64, relocation_bytes: u64 },
}

/// What the tables say, and whether a field is a static one.
#[derive(Debug, Default)]
struct Tables {
    fields: HashMap<(String, String), u64>,
    statics: HashMap<(String, String), u64>,
    sizes: HashMap<String, u64>,
}

/// Types of which a field or the size is read.
const TYPES: [&str; 18] = [
    "Abstract_VM_Version",
    "CodeBlob",
    "CodeCache",
    "CodeHeap",
    "CompiledMethod",
    "ConstMethod",
    "ConstantPool",
    "GenericGrowableArray",
    "GrowableArray<int>",
    "GrowableArrayBase",
    "HeapBlock",
    "InstanceKlass",
    "Klass",
    "Method",
    "PcDesc",
    "Symbol",
    "VirtualSpace",
    "nmethod",
];

impl Tables {
    fn read(memory: &impl Memory, bias: u64, symbols: &HashMap<String, u64>) -> Option<Tables> {
        let word = |name: &str| memory.u64(bias.wrapping_add(*symbols.get(name)?));
        let [fields, stride, type_at, field_at, offset_at, address_at] = SYMBOLS.map(word);
        let mut tables = Tables::default();
        for entry in entries(memory, fields?, stride?, type_at?) {
            let (owner, entry) = entry;
            let Some(name) = memory.u64(entry + field_at?).and_then(|at| memory.text(at)) else { continue };
            let (address, offset) = (memory.u64(entry + address_at?)?, memory.u64(entry + offset_at?)?);
            match address {
                0 => tables.fields.insert((owner, name), offset.min(OFFSET_MAX)),
                address => tables.statics.insert((owner, name), address.wrapping_sub(bias)),
            };
        }
        let [types, stride, type_at, size_at] = TYPE_SYMBOLS.map(word);
        for (name, entry) in entries(memory, types?, stride?, type_at?) {
            tables.sizes.insert(name, memory.u64(entry + size_at?)?.min(OFFSET_MAX));
        }
        Some(tables)
    }

    /// The offset of a field, which may have moved from one type to another.
    fn field(&self, owners: &[&str], names: &[&str]) -> Option<u64> {
        let all = owners.iter().flat_map(|owner| names.iter().map(move |name| (*owner, *name)));
        let known = |(owner, name): (&str, &str)| self.fields.get(&(owner.to_owned(), name.to_owned()));
        { all }.find_map(known).copied()
    }

    fn at(&self, owner: &str, name: &str) -> Option<u64> {
        self.field(&[owner], &[name])
    }

    fn fixed(&self, owner: &str, name: &str) -> Option<u64> {
        self.statics.get(&(owner.to_owned(), name.to_owned())).copied()
    }

    fn size(&self, name: &str) -> Option<u64> {
        self.sizes.get(name).copied()
    }

    fn scopes(&self) -> Option<Scopes> {
        const OWNERS: [&str; 2] = ["nmethod", "CompiledMethod"];
        let of = |name: &str| self.field(&OWNERS, &[name]);
        let pcs = of("_scopes_pcs_offset")?;
        let Some(region) = of("_immutable_data") else {
            let (metadata, end) = (of("_metadata_offset")?, of("_dependencies_offset")?);
            return Some(Scopes::Behind { metadata, data: of("_scopes_data_begin")?, pcs, end });
        };
        let metadata = match self.at("CodeBlob", "_mutable_data") {
            Some(region) => {
                Metadata::Apart { region, relocation_bytes: self.at("CodeBlob", "_relocation_size")? }
            }
            None => Metadata::Behind {
                data_offset: self.at("CodeBlob", "_data_offset")?,
                offset: of("_metadata_offset")?,
            },
        };
        let (region_bytes, data) = (of("_immutable_data_size")?, of("_scopes_data_offset")?);
        Some(Scopes::Apart { metadata, region, region_bytes, data, pcs })
    }
}

/// The entries of a table that are of a type that is needed, with the name of that.
fn entries(memory: &impl Memory, table: u64, stride: u64, type_at: u64) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    if stride == 0 || stride > ENTRY_BYTES_MAX || table.checked_add(stride * ENTRIES_MAX).is_none() {
        return found;
    }
    // Many entries share the text of their type.
    let mut known: HashMap<u64, Option<String>> = HashMap::new();
    for place in 0..ENTRIES_MAX {
        let entry = table + place * stride;
        let Some(name_at) = memory.u64(entry.wrapping_add(type_at)).filter(|at| *at != 0) else { break };
        let name = known
            .entry(name_at)
            .or_insert_with(|| memory.text(name_at).filter(|name| TYPES.contains(&name.as_str())));
        if let Some(name) = name {
            found.push((name.clone(), entry));
        }
    }
    found
}

impl Layout {
    /// What a JVM says, whose library is loaded `bias` bytes beyond the addresses of its file. `None` if a field is missing that is needed.
    pub(in crate::names) fn read(
        memory: &impl Memory,
        bias: u64,
        symbols: &HashMap<String, u64>,
    ) -> Option<Layout> {
        let tables = Tables::read(memory, bias, symbols)?;
        let version = tables.fixed("Abstract_VM_Version", "_vm_major_version");
        let version = memory.u32(bias.wrapping_add(version?))?;
        let at = |owner: &str, name: &str| tables.at(owner, name);
        let code_begin = match at("CodeBlob", "_code_begin") {
            Some(pointer) => Begin::Pointer(pointer),
            None => Begin::Offset(at("CodeBlob", "_code_offset")?),
        };
        let source_file = match at("ConstantPool", "_source_file_name_index") {
            Some(of_pool) => SourceFile::Pool(of_pool),
            None => SourceFile::Class(at("InstanceKlass", "_source_file_name_index")?),
        };
        let symbol_length = match at("Symbol", "_length_and_refcount") {
            // The length is the upper half.
            Some(both) => both + 2,
            None => at("Symbol", "_length")?,
        };
        Some(Layout {
            heaps: tables.fixed("CodeCache", "_heaps")?,
            array_length: tables.field(&["GrowableArrayBase", "GenericGrowableArray"], &["_len"])?,
            array_data: at("GrowableArray<int>", "_data")?,
            heap_memory: at("CodeHeap", "_memory")?,
            heap_segments: at("CodeHeap", "_segmap")?,
            heap_segment_shift: at("CodeHeap", "_log2_segment_size")?,
            space_low: at("VirtualSpace", "_low_boundary")?,
            space_high: at("VirtualSpace", "_high_boundary")?,
            block_bytes: tables.size("HeapBlock")?,
            blob_name: at("CodeBlob", "_name")?,
            code_begin,
            method: tables.field(&["nmethod", "CompiledMethod"], &["_method"])?,
            scopes: tables.scopes()?,
            pc_bytes: tables.size("PcDesc").filter(|bytes| *bytes >= 8)?,
            pc_offset: at("PcDesc", "_pc_offset")?,
            pc_scope: at("PcDesc", "_scope_decode_offset")?,
            const_method: at("Method", "_constMethod")?,
            const_method_bytes: tables.size("ConstMethod")?,
            constants: at("ConstMethod", "_constants")?,
            code_size: at("ConstMethod", "_code_size")?,
            flags: tables.field(&["ConstMethod"], &["_flags", "_flags._flags"])?,
            name_index: at("ConstMethod", "_name_index")?,
            pool_bytes: tables.size("ConstantPool")?,
            pool_holder: at("ConstantPool", "_pool_holder")?,
            source_file,
            class_name: at("Klass", "_name")?,
            symbol_length,
            symbol_body: at("Symbol", "_body")?,
            excluded: u8::from(version >= WITHOUT_ZERO),
        })
    }
}
