use std::{cell::RefCell, collections::BTreeMap};

use proptest::prelude::*;

use super::{layout::Layout, *};

/// Memory of pieces that a test wrote.
#[derive(Debug, Clone, Default)]
struct Written(RefCell<BTreeMap<u64, u8>>);

impl Memory for Written {
    fn fill(&self, address: u64, into: &mut [u8]) -> Option<()> {
        for (at, byte) in into.iter_mut().enumerate() {
            *byte = *self.0.borrow().get(&address.checked_add(at as u64)?)?;
        }
        Some(())
    }
}

impl Written {
    fn put(&self, address: u64, bytes: &[u8]) {
        self.0.borrow_mut().extend((address..).zip(bytes.iter().copied()));
    }

    fn word(&self, address: u64, value: u64) {
        self.put(address, &value.to_ne_bytes());
    }

    fn half(&self, address: u64, value: u32) {
        self.put(address, &value.to_ne_bytes());
    }

    fn symbol(&self, address: u64, text: &str) {
        self.put(address, &u16::try_from(text.len()).unwrap().to_ne_bytes());
        self.put(address + 2, text.as_bytes());
    }

    /// A method of a class with a table of lines that begins at this line.
    fn method(&self, at: u64, class: &str, name: &str, line: u8) {
        let (constant, pool, holder) = (at + 0x100, at + 0x200, at + 0x300);
        self.word(at, constant);
        self.word(constant, pool);
        self.put(constant + 8, &2_u16.to_ne_bytes());
        self.put(constant + 10, &[HAS_LINES, 0]);
        self.put(constant + 12, &1_u16.to_ne_bytes());
        // Two bytes of code, then the lines, and some bytes behind them.
        self.put(constant + 16, &[0, 0, 0xff, 0, line * 2, 0]);
        self.put(constant + 22, &[0; 2200]);
        self.word(pool, holder);
        self.put(pool + 8, &2_u16.to_ne_bytes());
        self.word(pool + 16 + 8, at + 0xb000);
        self.word(pool + 16 + 16, at + 0xb100);
        self.word(holder, at + 0xb200);
        self.symbol(at + 0xb000, name);
        self.symbol(at + 0xb100, "Shop.java");
        self.symbol(at + 0xb200, class);
    }
}

/// A layout with small offsets.
fn layout(code_begin: Begin, scopes: Scopes) -> Layout {
    Layout {
        heaps: 0x10,
        array_length: 0,
        array_data: 8,
        heap_memory: 0,
        heap_segments: 16,
        heap_segment_shift: 32,
        space_low: 0,
        space_high: 8,
        block_bytes: 16,
        blob_name: 0,
        code_begin,
        method: 16,
        scopes,
        pc_bytes: 8,
        pc_offset: 0,
        pc_scope: 4,
        const_method: 0,
        const_method_bytes: 16,
        constants: 0,
        code_size: 8,
        flags: 10,
        name_index: 12,
        pool_bytes: 16,
        pool_holder: 0,
        source_file: SourceFile::Pool(8),
        class_name: 0,
        symbol_length: 0,
        symbol_body: 2,
        excluded: 0,
    }
}

const BIAS: u64 = 0x1000;
const CODE: u64 = 0x10_0000;
const HANDLE: u64 = 0x20_0000;
const SIGN: u64 = 0x30_0000;

/// A heap with one compiled method at its fourth segment, and what its tables say: `handle`, and from code offset 21 to 40 `sign` within it.
fn heap(memory: &Written, begin: u64, metadata: u64, scopes: u64, pcs: u64) {
    memory.word(BIAS + 0x10, 0x2000);
    memory.half(0x2000, 1);
    memory.word(0x2008, 0x2100);
    memory.word(0x2100, 0x2200);
    for (place, value) in [CODE, CODE + 0x1000, 0x3000, 0x4000].into_iter().enumerate() {
        memory.word(0x2200 + 8 * place as u64, value);
    }
    memory.half(0x2220, 7);
    // The block begins at segment 4; those behind it lead back there, one of them in two steps.
    memory.put(0x3000, &[0xff, 0xff, 0xff, 0xff, 0, 1, 2, 2]);
    let block = CODE + 4 * 128 + 16;
    memory.word(block, 0x5000);
    memory.put(0x5000, b"nmethod\0");
    memory.put(0x5008, &[0; 64]);
    memory.word(block + 16, HANDLE);
    memory.word(metadata, HANDLE);
    memory.word(metadata + 8, SIGN);
    // Scope 1 is `handle`, called by nothing; scope 4 is `sign`, called by that.
    memory.put(scopes, &[0, 0, 1, 6, 1, 2, 9, 0]);
    for (place, (end, scope)) in [(-1_i32, 0_u32), (20, 1), (40, 4), (60, 1)].into_iter().enumerate() {
        memory.half(pcs + 8 * place as u64, end.cast_unsigned());
        memory.half(pcs + 8 * place as u64 + 4, scope);
    }
    memory.method(HANDLE, "com/example/Shop", "handle", 27);
    memory.method(SIGN, "com/example/Shop", "sign", 21);
    assert!(begin > block);
}

fn names(code: &mut CompiledCode<Written>, address: u64) -> Vec<String> {
    code.places(address).into_iter().map(|place| place.name).collect()
}

fn finds_both(memory: Written, layout: Layout, begin: u64) {
    let mut code = CompiledCode::of(memory, Rc::new(layout), BIAS).unwrap();
    assert_eq!(names(&mut code, begin + 10), ["com.example.Shop.handle"]);
    assert_eq!(names(&mut code, begin + 30), ["com.example.Shop.sign", "com.example.Shop.handle"]);
    let sign = &code.places(begin + 30)[0];
    assert_eq!((sign.file.as_deref(), sign.line), (Some("com/example/Shop.java"), Some(21)));
    assert_eq!(names(&mut code, begin + 50), ["com.example.Shop.handle"]);
    assert!(code.places(CODE + 3).is_empty() && code.places(1).is_empty(), "no block is there");
}

#[test]
fn a_method_that_was_compiled_into_another_is_found_until_jdk_22() {
    let (memory, block) = (Written::default(), CODE + 4 * 128 + 16);
    let begin = block + 100;
    heap(&memory, begin, block + 0x400, block + 0x410, block + 0x418);
    memory.word(block + 8, begin);
    memory.word(block + 24, block + 0x410);
    for (at, value) in [(32, 0x400), (36, 0x418), (40, 0x438)] {
        memory.half(block + at, value);
    }
    let scopes = Scopes::Behind { metadata: 32, data: 24, pcs: 36, end: 40 };
    finds_both(memory, layout(Begin::Pointer(8), scopes), begin);
}

#[test]
fn a_method_that_was_compiled_into_another_is_found_from_jdk_25_on() {
    let (memory, block) = (Written::default(), CODE + 4 * 128 + 16);
    heap(&memory, block + 100, 0x6008, 0x7030, 0x7010);
    memory.half(block + 8, 100);
    memory.word(block + 24, 0x6000);
    memory.half(block + 32, 8);
    memory.word(block + 40, 0x7000);
    for (at, value) in [(48, 0x38), (52, 0x30), (56, 0x10)] {
        memory.half(block + at, value);
    }
    let metadata = Metadata::Apart { region: 24, relocation_bytes: 32 };
    let scopes = Scopes::Apart { metadata, region: 40, region_bytes: 48, data: 52, pcs: 56 };
    finds_both(memory, layout(Begin::Offset(8), scopes), block + 100);
}

#[test]
fn classes_are_named_without_what_differs_in_each_process() {
    let of = |class: &str, file| place(class, "apply", file, Some(3));
    assert_eq!(of("com/example/Shop$$Lambda$14+0x00007f0", None).name, "com.example.Shop$$Lambda.apply");
    assert_eq!(of("com/example/Shop$$Lambda/0x00007f0", None).name, "com.example.Shop$$Lambda.apply");
    let own = of("Shop", Some("Shop.java"));
    assert_eq!((own.file.as_deref(), own.line), (Some("Shop.java"), Some(3)));
    let of_runtime = of("java/util/HashMap", Some("HashMap.java"));
    assert_eq!((of_runtime.name.as_str(), of_runtime.file), ("java.util.HashMap.apply", None));
}

/// Tables as a JVM exports them.
fn tables(
    memory: &Written,
    fields: &[(&str, &str, u64)],
    statics: &[(&str, &str, u64)],
) -> HashMap<String, u64> {
    let (table, texts, words) = (0x9000, RefCell::new(0x2_0000), 0xa000);
    let text = |text: &str| {
        let at = *texts.borrow();
        memory.put(at, text.as_bytes());
        memory.put(at + text.len() as u64, &[0; 80]);
        *texts.borrow_mut() += 0x100;
        at
    };
    let all = fields.iter().map(|field| (field, true)).chain(statics.iter().map(|field| (field, false)));
    let mut entry = table;
    for ((owner, name, value), is_offset) in all {
        memory.word(entry, text(owner));
        memory.word(entry + 8, text(name));
        memory.word(entry + 16, if is_offset { *value } else { 0 });
        memory.word(entry + 24, if is_offset { 0 } else { BIAS + *value });
        entry += 32;
    }
    memory.put(entry, &[0; 32]);
    let types = 0xf000;
    for (place, (name, bytes)) in
        [("HeapBlock", 16), ("PcDesc", 16), ("ConstMethod", 56), ("ConstantPool", 72)].into_iter().enumerate()
    {
        memory.word(types + 16 * place as u64, text(name));
        memory.word(types + 16 * place as u64 + 8, bytes);
    }
    memory.put(types + 64, &[0; 16]);
    let symbols = [table, 32, 0, 8, 16, 24, types, 16, 0, 8];
    let names = SYMBOLS.iter().chain(&TYPE_SYMBOLS);
    let symbol = |(place, (name, value)): (usize, (&&str, u64))| {
        let at = words + 8 * place as u64;
        memory.word(BIAS + at, value);
        ((*name).to_owned(), at)
    };
    names.zip(symbols).enumerate().map(symbol).collect()
}

#[test]
fn a_layout_is_read_from_what_the_jvm_exports_and_one_field_less_is_none() {
    let fields = [
        ("GrowableArrayBase", "_len", 0),
        ("GrowableArray<int>", "_data", 8),
        ("CodeHeap", "_memory", 8),
        ("CodeHeap", "_segmap", 120),
        ("CodeHeap", "_log2_segment_size", 244),
        ("VirtualSpace", "_low_boundary", 0),
        ("VirtualSpace", "_high_boundary", 8),
        ("CodeBlob", "_name", 8),
        ("CodeBlob", "_code_begin", 40),
        ("CompiledMethod", "_method", 112),
        ("CompiledMethod", "_scopes_data_begin", 120),
        ("nmethod", "_scopes_pcs_offset", 300),
        ("nmethod", "_metadata_offset", 304),
        ("nmethod", "_dependencies_offset", 308),
        ("PcDesc", "_pc_offset", 0),
        ("PcDesc", "_scope_decode_offset", 4),
        ("Method", "_constMethod", 8),
        ("ConstMethod", "_constants", 8),
        ("ConstMethod", "_code_size", 38),
        ("ConstMethod", "_flags", 36),
        ("ConstMethod", "_name_index", 40),
        ("ConstantPool", "_pool_holder", 24),
        ("ConstantPool", "_source_file_name_index", 62),
        ("Klass", "_name", 24),
        ("Symbol", "_length_and_refcount", 0),
        ("Symbol", "_body", 6),
        ("oopDesc", "_mark", 0),
    ];
    let statics = [("CodeCache", "_heaps", 0x500), ("Abstract_VM_Version", "_vm_major_version", 0x600)];
    let read = |fields: &[(&str, &str, u64)]| {
        let memory = Written::default();
        let symbols = tables(&memory, fields, &statics);
        memory.half(BIAS + 0x600, 17);
        Layout::read(&memory, BIAS, &symbols)
    };
    let found = read(&fields).unwrap();
    assert_eq!((found.heaps, found.symbol_length, found.excluded, found.pc_bytes), (0x500, 2, 0, 16));
    assert_eq!(found.scopes, Scopes::Behind { metadata: 304, data: 120, pcs: 300, end: 308 });
    assert!(read(&fields[1..]).is_none() && read(&[]).is_none());
}

proptest! {
    #[test]
    fn any_memory_has_an_end(bytes in prop::collection::vec(any::<u8>(), 0..600), address in 0_u64..700) {
        let (memory, mut places) = (Written::default(), layout(Begin::Pointer(8), Scopes::default()));
        memory.put(0, &bytes);
        places.heaps = 0;
        // Words that lead anywhere within these bytes, or nowhere.
        for at in (0..bytes.len() as u64).step_by(8) {
            let word = memory.u64(at).unwrap_or(0) % 512;
            memory.word(at, word);
        }
        if let Some(mut code) = CompiledCode::of(memory, Rc::new(places), 0) {
            for address in [address, address + 1] {
                prop_assert!(code.places(address).len() <= INLINED_MAX);
            }
        }
    }
}
