//! URLs and their hosts.

mod target;
mod url;
