//! From addresses to functions: of programs and libraries, of the kernel, and of code that a runtime made. It samples and counts nothing.

mod demangle;
mod elf;
pub mod go_table;
mod hotspot;
mod jit;
mod kernel;
mod memory;
mod package;
pub mod perf_map;
mod sources;
mod space;

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    fs::File,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    rc::Rc,
};

pub use elf::UnwindSections;
pub use package::{OWN_CODE, PROGRAM};
pub use space::{Space, remove_perf_map};
pub use tare_analysis::why::KERNEL;

use elf::{Binary, Place};
use hotspot::{CompiledCode, Layout};
use kernel::KernelSymbols;
use sources::Sources;

/// The largest program or library that is read.
const BINARY_BYTES_MAX: u64 = 1 << 30;
/// Most functions that are kept apart; the rest count as one.
const FUNCTIONS_MAX: usize = 200_000;

/// The rest of a program with more functions than are kept apart.
const REST: &str = "[further functions]";

/// A function, by its place in [`Names`].
pub type FunctionId = u32;

/// A function in a call chain, and the line of it that runs or calls, if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledFrame {
    pub function: FunctionId,
    pub line: Option<u32>,
}

impl From<FunctionId> for SampledFrame {
    fn from(function: FunctionId) -> SampledFrame {
        SampledFrame { function, line: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// The library that it is in; empty for the program itself and for code made at run time.
    pub module: String,
    pub file: Option<String>,
    /// Where it begins, or, if it was compiled into another, a line of it that was sampled.
    pub line: Option<u32>,
    /// The crate, package or library that it belongs to, or [`OWN_CODE`].
    pub package: String,
    /// Whether it stands for itself, and not for code without a name.
    pub is_named: bool,
}

impl Function {
    /// A function whose package is not known yet.
    fn of(place: Place, module: String) -> Function {
        let Place { name, file, line, .. } = place;
        Function { name, module, file, line, package: String::new(), is_named: true }
    }
}

/// What tells functions apart: the name, the library, and for some the file.
type FunctionKey = (String, String, Option<String>);

/// All functions that were met, and the files that name them.
#[derive(Debug, Default)]
pub struct Names {
    functions: Vec<Function>,
    ids: HashMap<FunctionKey, FunctionId>,
    binaries: HashMap<FileId, Option<Rc<RefCell<Binary>>>>,
    kernel: Option<KernelSymbols>,
    /// How JVMs lay out their data, by the path and number of their library.
    jvms: HashMap<(String, u64), Rc<Layout>>,
    sources: Sources,
    /// The crates of programs in Rust, whose functions are their own wherever they were built.
    own_crates: HashSet<String>,
}

/// A file, whatever its path is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FileId {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i128,
}

impl Names {
    /// Names with paths relative to these folders.
    pub fn relative_to(roots: &[PathBuf]) -> Names {
        Names { sources: Sources::below(roots), ..Names::default() }
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id as usize]
    }

    pub fn len(&self) -> usize {
        self.functions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The id of a function, which is the same in all processes. Its file tells functions of scripts apart.
    fn id(&mut self, function: Function) -> FunctionId {
        let script = function.file.as_deref().filter(|_| function.module.is_empty()).map(file_name);
        let key = (function.name.clone(), function.module.clone(), script);
        if let Some(known) = self.ids.get(&key) {
            return *known;
        }
        if self.functions.len() >= FUNCTIONS_MAX && function.name != REST {
            return self.special(REST, false);
        }
        self.add(key, function)
    }

    /// Adds a function that was not met before, with its package, and its file as it is shown.
    fn add(&mut self, key: FunctionKey, function: Function) -> FunctionId {
        let id = self.functions.len() as FunctionId;
        let place = function.file.as_deref().map(|file| self.sources.place(file));
        let is_own = place.as_ref().is_some_and(|(_, is_own)| *is_own);
        let package = package::of(&function.name, &function.module, function.file.as_deref(), is_own);
        let is_own = function.module.is_empty() && self.own_crates.contains(&package);
        let package = if is_own { OWN_CODE.to_owned() } else { package };
        let file = place.map(|(file, _)| demangle::shown(&file));
        self.functions.push(Function { file, package, ..function });
        self.ids.insert(key, id);
        id
    }

    /// A frame that is no function, such as a thread or all of the kernel.
    pub fn special(&mut self, name: &str, is_named: bool) -> FunctionId {
        let place = Place { name: demangle::shown(name), ..Place::default() };
        self.id(Function { is_named, ..Function::of(place, String::new()) })
    }

    /// The function of the kernel at this address; `None` if the kernel hides its functions.
    pub fn kernel(&mut self, address: u64) -> Option<FunctionId> {
        let symbols = self.kernel.get_or_insert_with(KernelSymbols::read);
        let place = Place { name: symbols.find(address)?.to_owned(), ..Place::default() };
        Some(self.id(Function::of(place, KERNEL.to_owned())))
    }

    /// The functions at an address of a process, the innermost first: several if some were compiled into others. A caller's address is
    /// that to which it returns, which may belong to the next function already.
    pub fn user(&mut self, space: &Space, address: u64, is_caller: bool) -> Vec<SampledFrame> {
        let address = if is_caller { address.saturating_sub(1) } else { address };
        let Some(mapping) = space.mapping(address) else {
            return vec![self.special("[unknown]", false).into()];
        };
        if !mapping.path.starts_with('/') {
            return self.made_at_run_time(space, address, &mapping.path);
        }
        let module = if space.is_program(&mapping.path) { String::new() } else { file_name(&mapping.path) };
        let file_offset = address - mapping.start + mapping.offset;
        let places = self.binary(space, &mapping.path, mapping.inode).map(|binary| {
            let mut binary = binary.borrow_mut();
            binary.address(file_offset).map(|address| binary.places(address))
        });
        match places.flatten().filter(|places| !places.is_empty()) {
            Some(places) => {
                let outermost = places.len() - 1;
                let inlined = places.iter().enumerate().map(|(depth, place)| (place, depth < outermost));
                let frame = |(place, is_inlined): (&Place, bool)| {
                    let function = self.of_place(place, &module, is_inlined);
                    SampledFrame { function, line: place.at }
                };
                inlined.map(frame).collect()
            }
            // A runtime may map its code from a file, such as of shared memory.
            None => match space.jitted(address).map(str::to_owned) {
                Some(text) => vec![self.of_runtime(&text).into()],
                None => {
                    // What .NET compiled beforehand is in no map: of its own assemblies the name says enough.
                    let file = file_name(&mapping.path);
                    let is_named = file.ends_with(".dll") && jit::is_of_dotnet(&file);
                    vec![self.special(&format!("[{file}]"), is_named).into()]
                }
            },
        }
    }

    fn of_place(&mut self, place: &Place, module: &str, is_inlined: bool) -> FunctionId {
        // A program's functions are the same in both versions, wherever these were built. But of one that was compiled into another, debug
        // information of lines alone has only the last part of the name, such as `clone`: its file tells it from its namesakes.
        let is_short = is_inlined && !place.name.contains("::");
        let file = place.file.as_deref().filter(|_| is_short).map(file_name);
        let key = (place.name.clone(), module.to_owned(), file);
        if let Some(known) = self.ids.get(&key) {
            return *known;
        }
        if self.functions.len() >= FUNCTIONS_MAX {
            return self.special(REST, false);
        }
        self.add(key, Function::of(place.clone(), module.to_owned()))
    }

    fn made_at_run_time(&mut self, space: &Space, address: u64, path: &str) -> Vec<SampledFrame> {
        if let Some(text) = space.jitted(address).map(str::to_owned) {
            return vec![self.of_runtime(&text).into()];
        }
        if let Some(java) = space.java.get_or_init(|| self.compiled_code(space).map(RefCell::new)) {
            let places = java.borrow_mut().places(address);
            if !places.is_empty() {
                let method = |place: &Place| Function::of(place.clone(), String::new());
                return places.iter().map(|place| self.id(method(place)).into()).collect();
            }
        }
        let frame = match path {
            "[vdso]" => self.special("[vdso]", true),
            _ => self.special("[code made at run time]", false),
        };
        vec![frame.into()]
    }

    /// The code that the JVM of a process compiled; `None` if it has none, or it cannot be read.
    fn compiled_code(&mut self, space: &Space) -> Option<CompiledCode<File>> {
        let mapping = space.library(space::JVM)?;
        let bias = self.binary(space, &mapping.path, mapping.inode)?.borrow().bias(mapping)?;
        let memory = memory::of_process(space.pid())?;
        // The same for all processes with the same library, of which a run has many.
        let file = (mapping.path.clone(), mapping.inode);
        let layout = match self.jvms.get(&file) {
            Some(known) => Rc::clone(known),
            None => {
                let bytes = tare_host::foreign::read(&space.file(&mapping.path), BINARY_BYTES_MAX).ok()?;
                let symbols = [&hotspot::SYMBOLS[..], &hotspot::TYPE_SYMBOLS].concat();
                let symbols = elf::exported(&bytes, &symbols);
                let layout = Rc::new(Layout::read(&memory, bias, &symbols)?);
                self.jvms.insert(file, Rc::clone(&layout));
                layout
            }
        };
        CompiledCode::of(memory, layout, bias)
    }

    /// A function as a runtime spells it.
    #[cfg(test)]
    pub(crate) fn spelled(&mut self, text: &str) -> FunctionId {
        self.of_runtime(text)
    }

    fn of_runtime(&mut self, text: &str) -> FunctionId {
        let jit::Spelled { name, module, file, line } = jit::spelled(text);
        let [name, module] = [name, module].map(|text| demangle::shown(&text));
        self.id(Function::of(Place { name, file, line, at: None }, module))
    }

    /// The unwind tables of a mapped file.
    pub fn unwind_sections(
        &mut self,
        space: &Space,
        path: &str,
        inode: u64,
    ) -> Option<(UnwindSections, u64)> {
        let binary = self.binary(space, path, inode)?;
        let binary = binary.borrow();
        let mapping = space.mappings().iter().find(|mapping| mapping.path == path)?;
        let base = binary.bias(mapping)?.wrapping_add(binary.unwind.base);
        Some((binary.unwind.clone(), base))
    }

    /// The binary of a mapping, if its file is still the one that was mapped.
    fn binary(&mut self, space: &Space, path: &str, inode: u64) -> Option<Rc<RefCell<Binary>>> {
        let path = space.file(path);
        let found = std::fs::metadata(&path).ok()?;
        if inode != 0 && found.ino() != inode {
            return None;
        }
        let modified_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
        let id = FileId { device: found.dev(), inode: found.ino(), bytes: found.len(), modified_ns };
        if let Some(known) = self.binaries.get(&id) {
            return known.clone();
        }
        let bytes = tare_host::foreign::read(&path, BINARY_BYTES_MAX).ok();
        let binary = bytes.and_then(|bytes| Binary::of(&bytes));
        self.own_crates.extend(binary.as_ref().and_then(Binary::own_crate));
        let binary = binary.map(|binary| Rc::new(RefCell::new(binary)));
        self.binaries.insert(id, binary.clone());
        binary
    }

    /// The build ids of all programs and libraries that were read, sorted.
    pub fn build_ids(&self) -> Vec<String> {
        let read = self.binaries.values().flatten();
        let mut ids: Vec<String> = read.filter_map(|binary| binary.borrow().build_id.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().map_or_else(|| path.into(), |name| name.to_string_lossy());
    demangle::shown(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_this_process_has_its_name_and_a_stray_address_none() {
        let pid = std::process::id();
        let space = Space::of(pid, crate::sample::mappings_of(pid));
        let mut names = Names::relative_to(&[PathBuf::from(env!("CARGO_MANIFEST_DIR"))]);
        let here = a_function_of_this_process_has_its_name_and_a_stray_address_none as fn() as usize as u64;
        let found = names.user(&space, here, false);
        let function = names.function(found.last().unwrap().function);
        assert!(
            function.name.ends_with("a_function_of_this_process_has_its_name_and_a_stray_address_none"),
            "{function:?}"
        );
        assert!(function.is_named && function.module.is_empty(), "{function:?}");
        assert!(
            function.file.as_ref().is_some_and(|file| file.ends_with("src/names/mod.rs")),
            "{function:?}"
        );
        assert_eq!(names.user(&space, here, false), found);
        let stray = names.user(&space, 1, false);
        assert!(!names.function(stray[0].function).is_named);
    }

    #[test]
    fn scripts_are_told_apart_by_their_files_and_shown_below_the_service() {
        let mut names = Names::relative_to(&[PathBuf::from("/srv/app")]);
        let [a, b, again] = ["JS:*f /srv/app/a.js:3:1", "JS:*f /srv/app/b.js:3:1", "JS:~f /old/a.js:4:1"]
            .map(|text| names.of_runtime(text));
        assert_ne!(a, b);
        assert_eq!(a, again, "the same file of another version");
        assert_eq!(names.function(a).file.as_deref(), Some("a.js"));
    }
}
