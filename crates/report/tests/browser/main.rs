//! Reports in the programs that read them. A real browser: a page opens from a disk, is what the document says, can be used by mouse
//! and keyboard, and can be read at every width, in light and dark. And those that exports are made for. It needs Debian's `chromium`
//! and `chromium-driver`, and axe-core in `web/node_modules`; what is not on this machine is skipped by name, or an error with
//! TARE_TEST_ALL=1.

mod asks;
mod axe;
mod browser;
mod charts;
mod consumers;
mod fixtures;
mod geometry;
mod hostile;
mod numbers;
mod opens;
mod pages;
mod site;
mod tables;
