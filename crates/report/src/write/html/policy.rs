//! The Content-Security-Policy of a page. It lists the hashes of the page's own style and scripts, so that no
//! other content is executed, whatever a displayed name contains. So no element has a style attribute.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_STANDARD};

use super::{FLAME, SCRIPT, STYLE};

/// For a page that opens from disk: it allows no network requests.
pub(super) static ALONE: LazyLock<String> = LazyLock::new(|| policy(""));

/// For a page of `tare serve`, which requests updates from it.
pub static SERVED: LazyLock<String> = LazyLock::new(|| policy(" connect-src 'self';"));

fn policy(connect: &str) -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {} {}; img-src data:;{connect} base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(FLAME),
        source(SCRIPT),
    )
}

/// The hash of an element's text, in the policy's form.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_what_stands_in_the_page_and_nothing_else() {
        // The output of `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        assert_eq!(source("alert(1)"), "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='");
        assert_eq!(ALONE.matches("'sha256-").count(), 3);
        assert!(!ALONE.contains("unsafe") && !SERVED.contains("unsafe"));
        assert_eq!(SERVED.replace(" connect-src 'self';", ""), *ALONE);
    }
}
