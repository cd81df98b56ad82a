//! The variables of the processes of a service, and the tree that they run in.

use std::{path::Path, sync::Arc};

use super::Service;
use crate::apart::Apart;

impl Service {
    /// The variables of its processes: those that are set, and those that they do not inherit.
    pub(crate) fn environment(&self) -> (Vec<(String, String)>, Vec<String>) {
        let (set, unset) = self.step_environment();
        (set.into_iter().chain(self.run.env.clone()).collect(), unset)
    }

    /// The same for a step of its build, which the variables of `[run]` are not for.
    pub(crate) fn step_environment(&self) -> (Vec<(String, String)>, Vec<String>) {
        let of = |apart: &Arc<Apart>| apart.environment(&self.place, self.tree());
        self.apart.as_ref().map(of).unwrap_or_default()
    }

    /// All that it was built from and with, where it runs.
    pub(crate) fn tree(&self) -> &Path {
        let levels = self.within_build_root().components().count();
        self.place.ancestors().nth(levels).unwrap_or(&self.place)
    }
}
