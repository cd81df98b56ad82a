//! Tests of process measurements, and tests that need namespaces, cgroups or a link: misbehaving services,
//! databases, and services behind a slow link.

mod backing;
mod link;
mod process;
