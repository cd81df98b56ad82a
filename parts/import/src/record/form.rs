//! Bodies of forms: `application/x-www-form-urlencoded`, and `multipart/form-data` (RFC 7578).

use tare_base::percent::encoded;

pub(super) const URL_ENCODED: &str = "application/x-www-form-urlencoded";
pub(super) const MULTIPART: &str = "multipart/form-data";
/// The boundary for a form whose own is unknown; it occurs in no value by chance.
pub(super) const BOUNDARY: &str = "tare-5d2e80b1c7f94a36-boundary";

/// One part of a multipart form.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct FormPart {
    pub name: String,
    pub file_name: Option<String>,
    pub content_type: Option<String>,
    pub content: String,
}

/// A form of names and values. A space becomes `%20`, which every parser accepts.
pub(super) fn url_encoded<'f>(fields: impl IntoIterator<Item = (&'f str, &'f str)>) -> String {
    let pair = |(name, value)| format!("{}={}", encoded(name), encoded(value));
    fields.into_iter().map(pair).collect::<Vec<_>>().join("&")
}

/// A multipart form; absent if a part contains the boundary.
pub(super) fn multipart(parts: &[FormPart], boundary: &str) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        text += &format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quotable(&part.name));
        if let Some(file_name) = &part.file_name {
            text += &format!("; filename=\"{}\"", quotable(file_name));
        }
        if let Some(content_type) = &part.content_type {
            text += &format!("\r\nContent-Type: {}", content_type.replace(['\r', '\n'], " "));
        }
        text += &format!("\r\n\r\n{}\r\n", part.content);
    }
    let is_safe = !parts.iter().any(|part| part.content.contains(boundary));
    is_safe.then(|| format!("{text}--{boundary}--\r\n"))
}

/// Escapes quoted text as browsers do.
fn quotable(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// The media type without parameters, in lower case.
pub(super) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A parameter of a media type, such as `boundary` or `charset`.
pub(super) fn parameter<'t>(content_type: &'t str, name: &str) -> Option<&'t str> {
    let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, value) = parameters.find(|(one, _)| one.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches('"')).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_one_line_of_pairs() {
        assert_eq!(url_encoded([("a b", "1&2"), ("é", ""), ("x", "+")]), "a%20b=1%262&%C3%A9=&x=%2B");
        assert_eq!(url_encoded([]), "");
    }

    #[test]
    fn a_form_of_parts_is_what_a_browser_sends() {
        let parts = [
            FormPart { name: "a \"b\"".to_owned(), content: "1\r\n2".to_owned(), ..FormPart::default() },
            FormPart {
                name: "f".to_owned(),
                file_name: Some("x.txt".to_owned()),
                content_type: Some("text/plain".to_owned()),
                content: "é".to_owned(),
            },
        ];
        let expected = "--B\r\nContent-Disposition: form-data; name=\"a %22b%22\"\r\n\r\n1\r\n2\r\n\
                        --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\
                        Content-Type: text/plain\r\n\r\né\r\n--B--\r\n";
        assert_eq!(multipart(&parts, "B").as_deref(), Some(expected));
        assert_eq!(multipart(&parts, "1\r"), None, "it would end the part");
    }

    #[test]
    fn a_type_has_an_essence_and_parameters() {
        let content_type = "Multipart/Form-Data; charset=utf-8; Boundary=\"----x y\"";
        assert_eq!(essence(content_type), MULTIPART);
        assert_eq!(parameter(content_type, "boundary"), Some("----x y"));
        assert_eq!(parameter(content_type, "charset"), Some("utf-8"));
        assert_eq!(parameter("multipart/form-data; boundary=", "boundary"), None);
        assert_eq!(parameter("multipart/form-data", "boundary"), None);
    }
}
