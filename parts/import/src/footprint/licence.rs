//! Licences of packages as SPDX expressions, so that they can be compared.

use spdx::{Expression, ParseMode, expression::ExprNode, identifiers::LICENSES};
use tare_service::footprint::{FootprintSource, Licence};

/// Names of common licences that are neither SPDX identifiers nor full names: lower case, without "the ".
/// Ambiguous names ("BSD", "Apache") are left out.
const NAMES: [(&str, &str); 17] = [
    ("apache 2", "Apache-2.0"),
    ("apache 2.0", "Apache-2.0"),
    ("apache-2", "Apache-2.0"),
    ("apache license version 2.0", "Apache-2.0"),
    ("apache license, version 2.0", "Apache-2.0"),
    ("apache software license, version 2.0", "Apache-2.0"),
    ("boost", "BSL-1.0"),
    ("bsd 3-clause license", "BSD-3-Clause"),
    ("new bsd license", "BSD-3-Clause"),
    ("eclipse public license - v 1.0", "EPL-1.0"),
    ("eclipse public license - v 2.0", "EPL-2.0"),
    ("epl 2.0", "EPL-2.0"),
    ("epl-1", "EPL-1.0"),
    ("epl-2", "EPL-2.0"),
    ("expat", "MIT"),
    ("isc license (iscl)", "ISC"),
    ("mozilla public license 2.0 (mpl 2.0)", "MPL-2.0"),
];

/// Accepts old identifiers, since packages are old, but no ambiguous names.
const MODE: ParseMode = ParseMode {
    allow_slash_as_or_operator: true,
    allow_imprecise_license_names: false,
    allow_postfix_plus_on_gpl: true,
    allow_deprecated: true,
    allow_unknown: false,
};

/// The package's licence if it states exactly one, otherwise the manifest's.
pub(super) fn compared(manifest: &str, stated: Option<&str>, source: FootprintSource) -> Licence {
    let stated = stated.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let read = stated.as_deref().and_then(normalise);
    let contradiction = read
        .as_deref()
        .filter(|spdx| !same(spdx, manifest))
        .map(|spdx| format!("the package says \"{spdx}\", the manifest \"{manifest}\""));
    let source = if read.is_some() { source } else { FootprintSource::Manifest };
    Licence { spdx: read.unwrap_or_else(|| manifest.to_owned()), source, stated, contradiction }
}

/// The SPDX expression for a text, if it has one meaning.
pub(super) fn normalise(text: &str) -> Option<String> {
    let lower = text.trim().to_lowercase();
    let name = lower.strip_prefix("the ").unwrap_or(&lower);
    if let Some((_, id)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*id).to_owned());
    }
    if let Some(known) = LICENSES.iter().find(|known| known.full_name.eq_ignore_ascii_case(name)) {
        return Some(known.name.to_owned());
    }
    let spaced = text.trim().replace('/', " OR ").replace('(', "( ").replace(')', " )");
    let words: Vec<String> = spaced.split_whitespace().map(word).collect();
    let expression = words.join(" ").replace("( ", "(").replace(" )", ")");
    Expression::parse_mode(&expression, MODE).is_ok().then_some(expression)
}

/// Debian writes operators and some identifiers in lower case.
fn word(word: &str) -> String {
    if ["or", "and", "with"].iter().any(|operator| word.eq_ignore_ascii_case(operator)) {
        return word.to_uppercase();
    }
    let short = NAMES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, id)| *id);
    let known = || LICENSES.iter().find(|known| known.name.eq_ignore_ascii_case(word));
    short.or_else(|| known().map(|known| known.name)).unwrap_or(word).to_owned()
}

/// Whether two expressions are equivalent in simple cases: the order of terms does not matter.
fn same(one: &str, other: &str) -> bool {
    match (Expression::parse_mode(one, MODE), Expression::parse_mode(other, MODE)) {
        (Ok(one), Ok(other)) => terms(&one) == terms(&other),
        _ => one == other,
    }
}

/// The terms in order if `AND` and `OR` are mixed, else sorted.
fn terms(expression: &Expression) -> Vec<String> {
    let mut terms: Vec<String> = expression
        .iter()
        .map(|node| match node {
            ExprNode::Req(requirement) => requirement.req.to_string(),
            ExprNode::Op(operator) => format!("{operator:?}"),
        })
        .collect();
    let has = |operator: &str| terms.iter().any(|term| term == operator);
    if !(has("And") && has("Or")) {
        terms.sort();
    }
    terms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_packages_become_expressions() {
        let cases = [
            ("MIT", "MIT"),
            ("MIT/Apache-2.0", "MIT OR Apache-2.0"),
            ("Apache 2.0", "Apache-2.0"),
            ("The Apache Software License, Version 2.0", "Apache-2.0"),
            ("The MIT License", "MIT"),
            ("Expat", "MIT"),
            ("Expat and BSD-3-clause", "MIT AND BSD-3-Clause"),
            ("EPL-1", "EPL-1.0"),
            ("GPL-2+", ""),
            ("GPL-2.0+", "GPL-2.0+"),
            ("(MIT or Apache-2.0) and ISC", "(MIT OR Apache-2.0) AND ISC"),
            ("BSD", ""),
            ("BSD License", ""),
            ("see LICENSE", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(normalise(text).unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn the_order_of_a_list_is_no_contradiction() {
        assert!(same("MIT OR Apache-2.0", "Apache-2.0 OR MIT"));
        assert!(!same("MIT OR Apache-2.0", "MIT AND Apache-2.0"));
        assert!(!same("MIT AND (ISC OR Zlib)", "MIT OR (ISC AND Zlib)"));
    }

    #[test]
    fn the_package_counts_and_a_contradiction_is_reported() {
        let read = compared("MIT", Some("Expat"), FootprintSource::Debian);
        assert_eq!(
            (read.spdx.as_str(), read.source, &read.contradiction),
            ("MIT", FootprintSource::Debian, &None)
        );
        let other = compared("MIT", Some("Apache-2.0"), FootprintSource::Npm);
        assert_eq!(other.spdx, "Apache-2.0");
        assert_eq!(other.contradiction.unwrap(), "the package says \"Apache-2.0\", the manifest \"MIT\"");
        let vague = compared("BSD-2-Clause", Some("BSD License"), FootprintSource::Pypi);
        assert_eq!((vague.spdx.as_str(), vague.source), ("BSD-2-Clause", FootprintSource::Manifest));
        assert_eq!((vague.stated.as_deref(), vague.contradiction), (Some("BSD License"), None));
        assert_eq!(compared("MIT", None, FootprintSource::Cargo).source, FootprintSource::Manifest);
    }

    #[test]
    fn every_name_in_the_table_is_lower_case_and_means_a_licence() {
        for (name, spdx) in NAMES {
            assert_eq!(name, &name.to_lowercase(), "it would never be found");
            assert!(Expression::parse(spdx).is_ok(), "{spdx}");
            assert_eq!(normalise(&name.to_uppercase()).as_deref(), Some(spdx));
        }
    }

    #[test]
    fn an_empty_licence_is_none() {
        let found = compared("MIT", Some("  \n"), FootprintSource::Pypi);
        assert_eq!((found.source, found.stated), (FootprintSource::Manifest, None));
    }

    proptest! {
        #[test]
        fn what_was_normalised_stays_as_it_is(
            text in "(MIT|mit|Apache-2.0|apache 2.0|ISC|BSD-3-clause|Zlib|GPL-2.0\\+| or | AND |/|\\(|\\)){1,7}",
        ) {
            if let Some(spdx) = normalise(&text) {
                prop_assert_eq!(normalise(&spdx), Some(spdx.clone()));
                prop_assert!(same(&spdx, &spdx));
                prop_assert_eq!(compared(&spdx, Some(&text), FootprintSource::Npm).contradiction, None);
            }
        }

        #[test]
        fn no_text_of_a_package_is_too_much(text in "(?s).{0,60}", other in "[()/ a-zA-Z0-9.+-]{0,40}") {
            let _any = (normalise(&text), normalise(&other), same(&text, &other));
        }
    }
}
