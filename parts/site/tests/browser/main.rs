//! Reports in the programs that read them. In a real browser, a page opens from disk, shows what the document
//! says, works by mouse and keyboard, and is readable at every width, in light and dark. Exports are read by
//! their target programs. The tests need Debian's `chromium` and `chromium-driver`, and axe-core in
//! `web/node_modules`. A missing program is skipped by name, or is an error with TARE_TEST_ALL=1.

mod asks;
mod axe;
mod browser;
mod charts;
mod consumers;
mod fixtures;
mod flame;
mod geometry;
mod hostile;
mod numbers;
mod opens;
mod pages;
mod site;
mod tables;
