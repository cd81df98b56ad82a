//! Text that lies inside of a script element.

use crate::document::Document;

/// The document as JSON, which cannot end the element that it stands in, whatever a service is called.
pub(crate) fn embedded(document: &Document) -> String {
    // A document has strings and finite numbers only: there is nothing that JSON could not say.
    let json = serde_json::to_string(document).unwrap_or_default();
    let mut safe = String::with_capacity(json.len() + json.len() / 64);
    for letter in json.chars() {
        match letter {
            '<' => safe.push_str("\\u003c"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            letter => safe.push(letter),
        }
    }
    safe
}
