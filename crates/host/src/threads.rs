//! Work on several threads, on a machine that may refuse to start threads (`ulimit -u`, a cgroup's limit).

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread::{self, Builder},
};

/// Runs `work` on a new thread, which inherits the caller's CPUs, namespaces and timer slack, and ends with
/// `work`. A panic is resumed in the caller.
///
/// # Errors
/// No thread can be started.
pub fn on_another<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    thread::scope(|scope| {
        let thread = Builder::new().name("tare-within".to_owned()).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}

/// Runs `work` on this number of threads, including the caller's, and returns all results. If the kernel
/// refuses more threads, the existing ones do all the work.
pub fn on_several<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..count).map_while(start).collect();
        let own = work();
        let joined = others.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => panic::resume_unwind(panic),
        });
        joined.chain([own]).collect()
    })
}

/// Runs `work` for each item, on as many threads as can be started.
pub fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    on_several(items.len(), || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item);
        }
    });
}

/// What `work` returns for each item, in their order, on this many threads.
pub fn map<I: Sync, T: Send>(count: usize, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let mine = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        items.get(index).map(|item| (index, work(item)))
    };
    let mut done: Vec<(usize, T)> =
        on_several(count, || std::iter::from_fn(mine).collect::<Vec<_>>()).into_iter().flatten().collect();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        sync::{Barrier, Mutex},
    };

    use super::*;

    #[test]
    fn each_thread_does_its_part_and_the_caller_is_one_of_them() {
        let all_at_once = Barrier::new(4);
        let found = on_several(4, || {
            all_at_once.wait();
            thread::current().id()
        });
        assert_eq!(found.iter().collect::<std::collections::HashSet<_>>().len(), 4);
        assert!(found.contains(&thread::current().id()));
        assert_eq!(on_several(0, || 7), [7], "the caller's own in any case");
    }

    #[test]
    fn each_item_is_done_once() {
        let done = Mutex::new(BTreeSet::new());
        let items: Vec<u8> = (0..20).collect();
        for_each(&items, |item| assert!(done.lock().unwrap().insert(*item)));
        assert_eq!(done.into_inner().unwrap().len(), 20);
        for_each(&[0_u8; 0], |_| panic!("there is none"));
        assert_eq!(map(4, &items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}
