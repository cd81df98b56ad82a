//! What a `$ref` of an OpenAPI document leads to. It reads no other document.

use super::{LeftOut, node::DocumentNode};

/// A reference may lead to another one, and back to itself: no more are followed.
const STEPS_MAX: usize = 12;

/// What `node` is, or what it refers to in the same document.
pub(super) fn resolve<'d>(document: &'d DocumentNode, node: &'d DocumentNode) -> Option<&'d DocumentNode> {
    let mut node = node;
    for _ in 0..STEPS_MAX {
        match node.word("$ref") {
            None => return Some(node),
            Some(reference) => node = document.at(reference.strip_prefix('#')?)?,
        }
    }
    None
}

/// As [`resolve`]. A reference that leads nowhere is left out of the request that is `asked`.
pub(super) fn resolved<'d>(
    document: &'d DocumentNode,
    node: &'d DocumentNode,
    asked: String,
) -> Result<&'d DocumentNode, LeftOut> {
    let reference = || node.word("$ref").unwrap_or_default().to_owned();
    resolve(document, node).ok_or_else(|| LeftOut::Reference { asked, reference: reference() })
}
