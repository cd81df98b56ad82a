//! Resolves `$ref` within an OpenAPI document. It reads no other document.

use super::{LeftOutPart, node::DocumentNode};

/// Most references in a chain, which may be circular.
const STEPS_MAX: usize = 12;

/// The node itself, or the node in the same document that it refers to.
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

/// As [`resolve`]. A broken reference is reported for the request `asked`.
pub(super) fn resolved<'d>(
    document: &'d DocumentNode,
    node: &'d DocumentNode,
    asked: String,
) -> Result<&'d DocumentNode, LeftOutPart> {
    let reference = || node.word("$ref").unwrap_or_default().to_owned();
    resolve(document, node).ok_or_else(|| LeftOutPart::Reference { asked, reference: reference() })
}
