//! Serialises values for URLs, headers and cookies: the styles of OpenAPI (3.1.2, "Style Examples"), most of
//! them from RFC 6570.
//!
//! The result can be parsed again: a value that contains a delimiter is rejected. `deepObject` is defined
//! only for objects of plain values; nested values use the common form `a[b][0]=c`.

use tare_base::percent::encoded;

use super::node::{DocumentNode, Meaning};

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "camelCase")]
pub enum ParameterStyle {
    Matrix,
    Label,
    Simple,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

/// The location of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum ParameterPlace {
    Path,
    Query,
    Header,
    Cookie,
}

/// The characters to percent-encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// All except unreserved characters of RFC 3986.
    All,
    /// Keeps reserved characters that a query allows, and existing escapes. Encodes the delimiters of a form.
    Unsafe,
    /// None, as in a header.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Serialisation {
    style: ParameterStyle,
    /// Whether a list or an object becomes several values.
    explode: bool,
    escape: Escape,
}

/// Why a value cannot be serialised. Each message continues a sentence after the parameter's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StyleError {
    #[error("has the style \"{0}\", which OpenAPI does not define")]
    Unknown(String),
    #[error("has the style \"{style}\", which is for no parameter of the {place}")]
    Misplaced { style: ParameterStyle, place: ParameterPlace },
    #[error("is {shape}, for which OpenAPI does not define the style \"{style}\"")]
    Undefined { style: ParameterStyle, shape: &'static str },
    #[error("has a value with \"{delimiter}\" in it, which the style \"{style}\" puts between values")]
    Delimiter { style: ParameterStyle, delimiter: &'static str },
}

/// A style's row in the table of RFC 6570 (appendix A), with the delimiter of values that are not exploded.
struct Operator {
    first: &'static str,
    separator: &'static str,
    is_named: bool,
    /// Text after a name without a value.
    when_empty: &'static str,
    delimiter: &'static str,
}

impl ParameterPlace {
    /// The default style of a location.
    fn usual(self) -> ParameterStyle {
        match self {
            ParameterPlace::Path | ParameterPlace::Header => ParameterStyle::Simple,
            ParameterPlace::Query | ParameterPlace::Cookie => ParameterStyle::Form,
        }
    }

    fn takes(self, style: ParameterStyle) -> bool {
        match style {
            ParameterStyle::Matrix | ParameterStyle::Label => self == ParameterPlace::Path,
            ParameterStyle::Simple => matches!(self, ParameterPlace::Path | ParameterPlace::Header),
            ParameterStyle::Form => matches!(self, ParameterPlace::Query | ParameterPlace::Cookie),
            ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited | ParameterStyle::DeepObject => {
                self == ParameterPlace::Query
            }
        }
    }
}

impl ParameterStyle {
    fn operator(self) -> Operator {
        let form = Operator { first: "", separator: "&", is_named: true, when_empty: "=", delimiter: "," };
        match self {
            ParameterStyle::Matrix => Operator { first: ";", separator: ";", when_empty: "", ..form },
            ParameterStyle::Label => Operator { first: ".", separator: ".", is_named: false, ..form },
            ParameterStyle::Simple => Operator { separator: ",", is_named: false, ..form },
            ParameterStyle::Form | ParameterStyle::DeepObject => form,
            ParameterStyle::SpaceDelimited => Operator { delimiter: "%20", ..form },
            ParameterStyle::PipeDelimited => Operator { delimiter: "%7C", ..form },
        }
    }
}

impl Operator {
    fn pair(&self, name: &str, value: &str) -> String {
        match (self.is_named, value) {
            (false, value) => value.to_owned(),
            (true, "") => format!("{name}{}", self.when_empty),
            (true, value) => format!("{name}={value}"),
        }
    }
}

impl Escape {
    fn of(self, text: &str) -> String {
        match self {
            Escape::All => encoded(text),
            Escape::Unsafe => encoded_but(text, b":/?@!$'()*,;"),
            Escape::Nothing => text.to_owned(),
        }
    }
}

/// Encodes all but unreserved characters, existing escapes, and the bytes of `also`.
pub(super) fn encoded_but(text: &str, also: &[u8]) -> String {
    let bytes = text.as_bytes();
    let is_triple =
        |at: usize| bytes[at + 1..].iter().take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2;
    let mut written = String::new();
    for (at, character) in text.char_indices() {
        let is_kept = character.is_ascii() && also.contains(&bytes[at]);
        match is_kept || (character == '%' && is_triple(at)) {
            true => written.push(character),
            false => written.push_str(&encoded(character.encode_utf8(&mut [0; 4]))),
        }
    }
    written
}

impl Serialisation {
    /// The serialisation of a parameter, or of a form field's encoding.
    ///
    /// # Errors
    /// The style is unknown, or not allowed in this location.
    pub(super) fn of(of: &DocumentNode, place: ParameterPlace) -> Result<Serialisation, StyleError> {
        let style = match of.word("style") {
            Some(word) => word.parse().map_err(|_| StyleError::Unknown(word.to_owned()))?,
            None => place.usual(),
        };
        if !place.takes(style) {
            return Err(StyleError::Misplaced { style, place });
        }
        let escape = match place {
            ParameterPlace::Header => Escape::Nothing,
            ParameterPlace::Query if of.flag("allowReserved") == Some(true) => Escape::Unsafe,
            ParameterPlace::Path | ParameterPlace::Query | ParameterPlace::Cookie => Escape::All,
        };
        Ok(Serialisation {
            style,
            explode: of.flag("explode").unwrap_or(style == ParameterStyle::Form),
            escape,
        })
    }

    /// The serialisation of a plain text value.
    pub(super) fn of_text(place: ParameterPlace) -> Serialisation {
        let escape = if place == ParameterPlace::Header { Escape::Nothing } else { Escape::All };
        Serialisation { style: place.usual(), explode: false, escape }
    }

    pub(super) fn is_exploded(self) -> bool {
        self.explode
    }

    /// Serialises a value, with its name if the style has one. An empty list or object gives an empty text.
    ///
    /// # Errors
    /// The style is not defined for such a value, or the result could not be parsed again.
    pub(super) fn write(self, name: &str, value: &DocumentNode) -> Result<String, StyleError> {
        let operator = self.style.operator();
        // The joined pieces, and the single values in them.
        let (pieces, parts): (Vec<String>, Vec<String>) = match value {
            DocumentNode::Scalar(_) if self.style == ParameterStyle::DeepObject => {
                return self.undefined("no object");
            }
            _ if self.style == ParameterStyle::DeepObject => {
                let mut pairs = Vec::new();
                self.deep(name, value, &mut pairs);
                return Ok(pairs.join(operator.separator));
            }
            DocumentNode::Scalar(_) => {
                let text = self.one(value)?.unwrap_or_default();
                return Ok(format!("{}{}", operator.first, operator.pair(&self.name(name), &text)));
            }
            DocumentNode::Sequence(elements) => {
                let values = elements.iter().filter_map(|element| self.one(element).transpose());
                let values = values.collect::<Result<Vec<_>, _>>()?;
                (values.iter().map(|value| operator.pair(&self.name(name), value)).collect(), values)
            }
            DocumentNode::Mapping(_) if self.explode && operator.delimiter != "," => {
                return self.undefined("an object that is exploded");
            }
            DocumentNode::Mapping(members) => {
                let mut pairs = Vec::new();
                for (member, value) in members {
                    pairs.extend(self.one(value)?.map(|value| (self.name(member), value)));
                }
                if pairs.iter().any(|(member, _)| member.contains('=')) {
                    return Err(StyleError::Delimiter { style: self.style, delimiter: "=" });
                }
                let piece = |(member, value): &(String, String)| match operator.is_named {
                    true => operator.pair(member, value),
                    false => format!("{member}={value}"),
                };
                (pairs.iter().map(piece).collect(), pairs.into_iter().flat_map(<[String; 2]>::from).collect())
            }
        };
        let delimiter = if self.explode { operator.separator } else { operator.delimiter };
        match () {
            () if parts.is_empty() => Ok(String::new()),
            () if parts.iter().any(|part| part.contains(delimiter)) => {
                Err(StyleError::Delimiter { style: self.style, delimiter })
            }
            () if self.explode => Ok(format!("{}{}", operator.first, pieces.join(delimiter))),
            () => {
                let pair = operator.pair(&self.name(name), &parts.join(delimiter));
                Ok(format!("{}{pair}", operator.first))
            }
        }
    }

    fn name(self, name: &str) -> String {
        if self.escape == Escape::Nothing { name.to_owned() } else { encoded(name) }
    }

    /// Absent for null, which RFC 6570 (2.3) calls undefined.
    fn one(self, value: &DocumentNode) -> Result<Option<String>, StyleError> {
        match value.scalar() {
            None => self.undefined("a list or an object within another"),
            Some(scalar) if scalar.meaning() == Meaning::Null => Ok(None),
            Some(scalar) => Ok(Some(self.escape.of(&scalar.text()))),
        }
    }

    fn deep(self, name: &str, value: &DocumentNode, pairs: &mut Vec<String>) {
        match value {
            DocumentNode::Mapping(members) => {
                members
                    .iter()
                    .for_each(|(member, value)| self.deep(&format!("{name}[{member}]"), value, pairs));
            }
            DocumentNode::Sequence(elements) => {
                (0..)
                    .zip(elements)
                    .for_each(|(place, value)| self.deep(&format!("{name}[{place}]"), value, pairs));
            }
            DocumentNode::Scalar(scalar) if scalar.meaning() == Meaning::Null => {}
            DocumentNode::Scalar(scalar) => {
                pairs.push(format!("{}={}", encoded(name), self.escape.of(&scalar.text())))
            }
        }
    }

    pub(super) fn undefined<T>(self, shape: &'static str) -> Result<T, StyleError> {
        Err(StyleError::Undefined { style: self.style, shape })
    }
}

#[cfg(test)]
mod tests;
