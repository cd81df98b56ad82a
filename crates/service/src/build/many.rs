//! Builds several services side by side, as far as memory allows.

use std::sync::atomic::{AtomicUsize, Ordering};

use tare_host::threads;

use super::{BuildError, Builder, Built, Site};
use crate::catalogue::Service;

#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    /// Most builds that compile at a time.
    pub jobs: usize,
    /// Builds even if nothing has changed.
    pub force: bool,
    /// Called before each build: whether there is time to begin it.
    pub may_begin: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for BuildOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuildOptions")
            .field("jobs", &self.jobs)
            .field("force", &self.force)
            .finish_non_exhaustive()
    }
}

/// Builds each of `services` once. Variants in one folder share one build, which the caller lists once.
/// `after` is called as each ends, with `None` for a build that did not begin.
///
/// One build more than `jobs` has begun, which fetches while the others compile.
pub fn build_many<'s>(
    builder: &Builder,
    services: &[&'s Service],
    site: &Site<'_>,
    many: BuildOptions<'_>,
    after: impl Fn(&'s Service, Option<Result<Built, BuildError>>) + Sync,
) {
    site.turns.allow(many.jobs);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(service) = services.get(next.fetch_add(1, Ordering::Relaxed)) {
            let built = (many.may_begin)().then(|| builder.build(service, site, many.force));
            after(service, built);
        }
    };
    threads::on_several((many.jobs + 1).clamp(1, services.len().max(1)), work);
}
