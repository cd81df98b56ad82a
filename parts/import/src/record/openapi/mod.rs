//! OpenAPI 3 documents (<https://spec.openapis.org/oas/v3.1.2>) in JSON or YAML. Each operation becomes a
//! request made from its examples, and a pattern made from the schema of its answer.
//!
//! Parsed leniently: unsupported parts are left out and reported.

use super::{Material, RecordError, node::DocumentNode, operation::Operation, reference::resolved, yaml};

/// In the order of the requests. A method that no contract can send is reported.
const METHODS: [&str; 9] = ["get", "head", "options", "post", "put", "patch", "delete", "trace", "query"];

/// Reads the operations of a document.
///
/// # Errors
/// The text is not an OpenAPI document, or has another version.
pub fn read(text: &str) -> Result<Material, RecordError> {
    let document = yaml::read(text).map_err(RecordError::Unreadable)?;
    match (document.word("openapi"), document.word("swagger")) {
        (Some(version), _) if version.split('.').next() == Some("3") => {}
        (Some(version), _) | (None, Some(version)) => return Err(RecordError::Version(version.to_owned())),
        (None, None) => return Err(RecordError::Unknown("it has no key \"openapi\"".to_owned())),
    }
    let title = document.get("info").and_then(|info| info.word("title")).unwrap_or("an OpenAPI document");
    let title = title.lines().next().unwrap_or_default().trim();
    let mut source = Material { title: format!("recorded from {title}"), ..Material::default() };
    for (path, item) in document.members("paths") {
        match resolved(&document, item, path.to_owned()) {
            Ok(item) => take(&document, path, item, &mut source),
            Err(why) => source.left_out.push(why),
        }
    }
    Ok(source)
}

/// The operations of one path.
fn take(document: &DocumentNode, path: &str, item: &DocumentNode, source: &mut Material) {
    for method in METHODS {
        let Some(operation) = item.get(method) else { continue };
        let method = method.to_uppercase();
        let wanted = resolved(document, operation, format!("{method} {path}")).and_then(|operation| {
            Operation { document, item, operation, method, path }.wanted(&mut source.left_out)
        });
        match wanted {
            Ok((asked, answer)) => source.wanted.push((asked.literal(), answer)),
            Err(why) => source.left_out.push(why),
        }
    }
}

#[cfg(test)]
mod tests;
