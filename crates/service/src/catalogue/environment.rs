//! The environment variables of a service's processes, and the tree in which they run.

use std::{path::Path, sync::Arc};

use super::Service;
use crate::apart::Apart;

impl Service {
    /// Variables to set and variables to remove for its processes.
    pub(crate) fn environment(&self) -> (Vec<(String, String)>, Vec<String>) {
        let (set, unset) = self.step_environment();
        (set.into_iter().chain(self.run.env.clone()).collect(), unset)
    }

    /// The same for a build step, which does not get the variables of `[run]`.
    pub(crate) fn step_environment(&self) -> (Vec<(String, String)>, Vec<String>) {
        let of = |apart: &Arc<Apart>| apart.environment(&self.place, self.tree());
        self.apart.as_ref().map(of).unwrap_or_default()
    }

    /// The root of its build in the place where it runs.
    pub(crate) fn tree(&self) -> &Path {
        let levels = self.within_build_root().components().count();
        self.place.ancestors().nth(levels).unwrap_or(&self.place)
    }
}
