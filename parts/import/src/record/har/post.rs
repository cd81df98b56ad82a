//! The body of a recorded request: text, base64, or form fields.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::Deserialize;

use super::or_null;
use crate::record::{
    form::{self, FormPart},
    left_out::BodyError,
};

/// The only encoding defined by the format.
pub(super) const BASE64: &str = "base64";
/// Accepts base64 with and without padding, since programs differ.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HarPost {
    #[serde(default, deserialize_with = "or_null")]
    mime_type: String,
    text: Option<String>,
    #[serde(default, deserialize_with = "or_null")]
    params: Vec<HarField>,
    encoding: Option<String>,
}

/// A field of a form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarField {
    name: String,
    value: Option<String>,
    file_name: Option<String>,
    content_type: Option<String>,
}

/// A body to send, and its type if known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PostBody {
    pub content_type: Option<String>,
    pub text: String,
}

impl HarPost {
    /// The body of a request with this Content-Type and number of sent bytes; absent if it had none.
    pub(super) fn body(
        self,
        content_type: Option<&str>,
        bytes: Option<u64>,
    ) -> Result<Option<PostBody>, BodyError> {
        let content_type = content_type.unwrap_or(&self.mime_type).to_owned();
        let typed = |text: String| {
            let content_type = Some(content_type.clone()).filter(|content_type| !content_type.is_empty());
            Some(PostBody { content_type, text })
        };
        if let Some(text) = self.text.filter(|text| !text.is_empty()) {
            let text = match self.encoding.as_deref() {
                Some(BASE64) => of_base64(&text).and_then(|bytes| String::from_utf8(bytes).ok()),
                _ => Some(text),
            };
            let text = text.ok_or(BodyError::NoText)?;
            return match bytes {
                // Browsers omit the files of a form, and truncate long bodies.
                Some(bytes) if (text.len() as u64) < bytes => {
                    Err(BodyError::Cut { recorded: text.len(), bytes })
                }
                _ => Ok(typed(text)),
            };
        }
        match self.params.is_empty() {
            true => match bytes {
                Some(bytes) if bytes > 0 => Err(BodyError::Missing(bytes)),
                _ => Ok(None),
            },
            false if form::essence(&content_type) == form::MULTIPART => {
                parts(self.params, &content_type).map(Some)
            }
            false => Ok(typed(pairs(&self.params, bytes))),
        }
    }
}

fn pairs(fields: &[HarField], bytes: Option<u64>) -> String {
    let pairs =
        || fields.iter().map(|field| (field.name.as_str(), field.value.as_deref().unwrap_or_default()));
    let as_sent: Vec<String> = pairs().map(|(name, value)| format!("{name}={value}")).collect();
    let as_sent = as_sent.join("&");
    let encoded = form::url_encoded(pairs());
    // Only some programs decode names and values; the length of the sent body shows whether they did.
    let is_sent = bytes == Some(as_sent.len() as u64) && as_sent.bytes().all(|byte| byte.is_ascii_graphic());
    if is_sent { as_sent } else { encoded }
}

fn parts(fields: Vec<HarField>, content_type: &str) -> Result<PostBody, BodyError> {
    let part = |field: HarField| match (field.value, field.file_name) {
        (None, Some(file)) => Err(BodyError::File(file)),
        (value, file_name) => Ok(FormPart {
            name: field.name,
            file_name,
            content_type: field.content_type.filter(|content_type| !content_type.is_empty()),
            content: value.unwrap_or_default(),
        }),
    };
    let parts = fields.into_iter().map(part).collect::<Result<Vec<FormPart>, _>>()?;
    let (boundary, content_type) = match form::parameter(content_type, "boundary") {
        Some(boundary) => (boundary, content_type.to_owned()),
        None => (form::BOUNDARY, format!("{}; boundary={}", form::MULTIPART, form::BOUNDARY)),
    };
    let text = form::multipart(&parts, boundary).ok_or(BodyError::Boundary)?;
    Ok(PostBody { content_type: Some(content_type), text })
}

/// Blanks inside base64 are ignored.
pub(super) fn of_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn body(post: Value, content_type: Option<&str>, bytes: Option<u64>) -> Result<Option<PostBody>, String> {
        let post: HarPost = serde_json::from_value(post).unwrap();
        post.body(content_type, bytes).map_err(|error| error.to_string())
    }

    fn sent(content_type: &str, text: &str) -> Result<Option<PostBody>, String> {
        Ok(Some(PostBody { content_type: Some(content_type.to_owned()), text: text.to_owned() }))
    }

    #[test]
    fn a_form_is_made_of_its_fields() {
        let params = json!([{"name": "a b", "value": "1&2"}, {"name": "c"}]);
        let form = json!({"mimeType": form::URL_ENCODED, "params": params});
        assert_eq!(body(form.clone(), None, None), sent(form::URL_ENCODED, "a%20b=1%262&c="));
        assert_eq!(body(form, Some("application/x-www-form-urlencoded; charset=UTF-8"), Some(25)), {
            sent("application/x-www-form-urlencoded; charset=UTF-8", "a%20b=1%262&c=")
        });
        let empty =
            json!({"mimeType": form::URL_ENCODED, "text": "", "params": [{"name": "a", "value": "b"}]});
        assert_eq!(body(empty, None, Some(3)), sent(form::URL_ENCODED, "a=b"));
    }

    #[test]
    fn fields_that_are_encoded_already_stay_so() {
        let as_sent = json!({"mimeType": form::URL_ENCODED, "params": [{"name": "a+b", "value": "1%262"}]});
        assert_eq!(body(as_sent.clone(), None, Some(9)), sent(form::URL_ENCODED, "a+b=1%262"));
        assert_eq!(
            body(as_sent, None, None),
            sent(form::URL_ENCODED, "a%2Bb=1%25262"),
            "as the format has it"
        );
    }

    #[test]
    fn a_form_of_parts_keeps_its_boundary_or_gets_one() {
        let params = json!([{"name": "a", "value": "1"}, {"name": "f", "value": "x", "fileName": "x.txt", "contentType": "text/plain"}]);
        let post = json!({"mimeType": "multipart/form-data", "params": params});
        let expected = |boundary: &str| {
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--{boundary}\r\n\
                 Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nx\r\n--{boundary}--\r\n"
            )
        };
        let header = "multipart/form-data; boundary=----x1";
        assert_eq!(body(post.clone(), Some(header), None), sent(header, &expected("----x1")));
        let own = format!("multipart/form-data; boundary={}", form::BOUNDARY);
        assert_eq!(body(post, None, None), sent(&own, &expected(form::BOUNDARY)));
        let file = json!({"mimeType": "multipart/form-data", "params": [{"name": "f", "fileName": "x.png"}]});
        assert_eq!(
            body(file, None, None).unwrap_err(),
            "the content of the file \"x.png\" in its form is not recorded"
        );
    }

    #[test]
    fn a_text_is_what_was_sent() {
        let json = "application/json";
        assert_eq!(
            body(json!({"mimeType": json, "text": "{}", "params": []}), None, Some(2)),
            sent(json, "{}")
        );
        assert_eq!(
            body(json!({"mimeType": json, "text": "e30", "encoding": "base64"}), None, Some(2)),
            sent(json, "{}")
        );
        let bytes = json!({"mimeType": "image/png", "text": "/w==", "encoding": "base64"});
        assert_eq!(
            body(bytes, None, None).unwrap_err(),
            "its body is no text, which is all that a contract can say"
        );
        let text = Ok(Some(PostBody { content_type: None, text: "x".to_owned() }));
        assert_eq!(body(json!({"text": "x"}), None, None), text);
        // A compressed body is longer than the bytes that were sent.
        assert!(body(json!({"text": "xxxx"}), None, Some(2)).is_ok());
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(body(json!({}), None, None), Ok(None));
        assert_eq!(body(json!({"text": ""}), None, Some(0)), Ok(None));
        assert_eq!(
            body(json!({}), None, Some(7)).unwrap_err(),
            "its body of 7 bytes was sent, and is not recorded"
        );
        assert_eq!(
            body(json!({"text": "ab"}), None, Some(7)).unwrap_err(),
            "2 of the 7 bytes of its body are recorded"
        );
    }

    #[test]
    fn base64_is_read_as_programs_write_it() {
        for text in ["aGVsbG8=", "aGVsbG8", "aGVs\r\nbG8=\n"] {
            assert_eq!(of_base64(text).as_deref(), Some(&b"hello"[..]), "{text}");
        }
        assert_eq!(of_base64("a-_="), None);
    }
}
