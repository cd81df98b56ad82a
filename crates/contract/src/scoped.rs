//! Parses the templates of a contract, each with the placeholders allowed in its place.

use toml::Spanned;

use super::error::Lowered;
use super::placeholder::{Scope, Tables, Template};

pub(super) fn template(text: &Spanned<String>, tables: &Tables) -> Lowered<Template> {
    scoped(text, Scope { tables: Some(tables), ..Scope::default() })
}

pub(super) fn scoped(text: &Spanned<String>, scope: Scope) -> Lowered<Template> {
    Template::parse_in(text.get_ref(), scope).map_err(|error| (text.span().start, error.into()))
}
