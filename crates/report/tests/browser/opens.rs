//! It opens from a disk, and requests nothing.

use crate::{browser::Browser, pages};

#[test]
fn a_page_opens_from_a_disk_without_a_complaint_or_a_request() {
    let Some(browser) = Browser::open() else { return };
    for page in pages::all() {
        browser.visit(&page.file);
        let none: [String; 0] = [];
        assert_eq!(browser.complaints(), none, "{}", page.name);
        let requests = browser.requests();
        assert_eq!(requests, [format!("file://{}", page.file.display())], "{}", page.name);
    }
}
