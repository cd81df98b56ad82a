//! URLs and the hosts that they name.

mod target;
mod url;
