//! What is measured of a process, and what needs namespaces, cgroups or a link: services that misbehave, databases of their own, and
//! services on the other side of a slow link.

mod backing;
mod link;
mod process;
