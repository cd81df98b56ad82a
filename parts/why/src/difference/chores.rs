//! What a runtime does for a program, whichever of its functions ask for it: it collects garbage, and it gives out memory. A function that
//! allocates more seldom has the time of this itself.

use tare_analysis::why::{NANOSECONDS, OtherChange};

use super::SampledBlock;
use crate::names::{FunctionId, Names};

/// Threads that collect garbage, as a profile names them: of a JVM, and of .NET.
const COLLECTING_THREADS: [&str; 8] = [
    "thread GC Thread",
    "thread G1 ",
    "thread ZWorker",
    "thread ZDriver",
    "thread XWorker",
    "thread Shenandoah",
    "thread .NET Server GC",
    "thread .NET BGC",
];
/// Beginnings of the names of functions that collect garbage, or help to: of Go, V8, .NET, CPython, Ruby and GHC.
const COLLECTORS: [&str; 31] = [
    "runtime.gc",
    "runtime.(*gcWork)",
    "runtime.(*gcControllerState)",
    "runtime.bgsweep",
    "runtime.bgscavenge",
    "runtime.sweepone",
    "runtime.(*sweepLocked)",
    "runtime.wbBufFlush",
    "v8::internal::Heap::CollectGarbage",
    "v8::internal::Heap::PerformGarbageCollection",
    "v8::internal::Heap::Scavenge",
    "v8::internal::Heap::MarkCompact",
    "v8::internal::Scavenge",
    "v8::internal::MarkCompact",
    "v8::internal::MinorMark",
    "v8::internal::ConcurrentMarking",
    "v8::internal::IncrementalMarking",
    "v8::internal::MarkingVisitor",
    "v8::internal::YoungGeneration",
    "v8::internal::Sweeper",
    "v8::internal::Evacuator",
    "cppgc::internal::",
    "WKS::gc_heap::",
    "SVR::gc_heap::",
    "gc_collect_",
    "_PyGC_",
    "gc_start",
    "gc_marks",
    "gc_sweep",
    "GarbageCollect",
    "scavenge_",
];
/// Functions that give out memory and take it back: of C, C++, Rust, Go and CPython.
const ALLOCATORS: [&str; 13] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "_int_malloc",
    "_int_free",
    "_int_realloc",
    "malloc_consolidate",
    "sysmalloc",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
];
/// Beginnings of the names of others.
const ALLOCATOR_FAMILIES: [&str; 13] = [
    "operator new",
    "operator delete",
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
    "__rdl_",
    "je_",
    "mi_",
    "tc_",
    "runtime.mallocgc",
    "runtime.(*mcache)",
    "runtime.(*mcentral)",
    "_PyObject_Malloc",
];

/// The chores, as a reader knows them.
const CHORES: [&str; 2] = ["garbage collector", "memory allocator"];

/// The chore of a function, by its place in [`CHORES`].
fn of_function(name: &str) -> Option<usize> {
    let begins = |with: &[&str]| with.iter().any(|prefix| name.starts_with(prefix));
    let is_collector = begins(&COLLECTING_THREADS) || begins(&COLLECTORS);
    let is_allocator = ALLOCATORS.contains(&name) || begins(&ALLOCATOR_FAMILIES);
    is_collector.then_some(0).or(is_allocator.then_some(1))
}

/// The ns of a request in each chore, by row and block. A function that allocates may have to collect first, and that is no allocating.
pub(super) fn of(
    rows: &[Vec<SampledBlock>],
    names: &Names,
    sample_ns: impl Fn(&SampledBlock) -> f64,
) -> Vec<(OtherChange, Vec<Vec<f64>>)> {
    let functions = names.len() as FunctionId;
    let chores: Vec<Option<usize>> = (0..functions).map(|id| of_function(&names.function(id).name)).collect();
    let of_block = |measured: &SampledBlock| {
        let mut found = [0.0; CHORES.len()];
        let ns = sample_ns(measured);
        for (stack, count) in &measured.profile.stacks {
            if let Some(chore) = stack.iter().filter_map(|id| chores[*id as usize]).min() {
                found[chore] += *count as f64 * ns;
            }
        }
        found
    };
    let blocks: Vec<Vec<[f64; CHORES.len()]>> =
        rows.iter().map(|row| row.iter().map(of_block).collect()).collect();
    let of_chore = |(place, name): (usize, &&str)| {
        let change =
            OtherChange { name: (*name).to_owned(), unit: NANOSECONDS.to_owned(), ..OtherChange::default() };
        let series = |row: &Vec<[f64; CHORES.len()]>| row.iter().map(|block| block[place]).collect();
        (change, blocks.iter().map(series).collect())
    };
    CHORES.iter().enumerate().map(of_chore).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_collect_or_allocate_are_known_by_their_names() {
        let cases = [
            ("runtime.gcBgMarkWorker", Some(0)),
            ("runtime.gcAssistAlloc", Some(0)),
            ("thread GC Thread", Some(0)),
            ("v8::internal::ScavengerCollector::CollectGarbage()", Some(0)),
            ("runtime.mallocgc", Some(1)),
            ("operator new(unsigned long)", Some(1)),
            ("malloc", Some(1)),
            ("mallocate", None),
            ("freeze", None),
            ("main.signBody", None),
            ("runtime.memmove", None),
        ];
        for (name, expected) in cases {
            assert_eq!(of_function(name), expected, "{name}");
        }
    }
}
