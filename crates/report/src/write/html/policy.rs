//! What a page may do: its Content-Security-Policy. Style and scripts that stand in a page are named by their hashes, so that
//! nothing else in it is obeyed, whatever a name that was shown has become. So no element has an attribute of style.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_STANDARD};

use super::{CHARTS, SCRIPT, STYLE};

/// For a page that opens from disk: it asks nothing of a network.
pub(super) static ALONE: LazyLock<String> = LazyLock::new(|| policy(""));

/// For a page that comes from `tare serve`, which it asks for what is new.
pub static SERVED: LazyLock<String> = LazyLock::new(|| policy(" connect-src 'self';"));

fn policy(connect: &str) -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {} {}; img-src data:;{connect} base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(CHARTS),
        source(SCRIPT),
    )
}

/// The text of an element, as a policy names it.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_what_stands_in_the_page_and_nothing_else() {
        // As `printf 'alert(1)' | openssl dgst -sha256 -binary | base64` prints it.
        assert_eq!(source("alert(1)"), "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='");
        assert_eq!(ALONE.matches("'sha256-").count(), 3);
        assert!(!ALONE.contains("unsafe") && !SERVED.contains("unsafe"));
        assert_eq!(SERVED.replace(" connect-src 'self';", ""), *ALONE);
    }
}
