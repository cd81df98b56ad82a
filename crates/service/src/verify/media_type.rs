//! Compares content types by meaning, not by spelling: case, blanks and quotes do not matter.

/// Whether `got` is the media type `expected`, or why not. Parameters in `expected` are required and others
/// are allowed, except that an additional charset must be UTF-8, in which bodies are compared.
pub(super) fn compare(expected: &str, got: &str) -> Result<(), String> {
    let differs = |why: &str| Err(format!("expected content type \"{expected}\", got \"{got}\"{why}"));
    let (expected_type, expected_parameters) = parse(expected);
    let (got_type, got_parameters) = parse(got);
    if expected_type != got_type {
        return differs("");
    }
    for (name, value) in &expected_parameters {
        match got_parameters.iter().find(|(got, _)| got == name) {
            None => return differs(&format!(": the parameter \"{name}\" is missing")),
            Some((_, got)) if got != value => return differs(""),
            Some(_) => {}
        }
    }
    match got_parameters.iter().find(|(name, _)| name == "charset") {
        Some((_, charset))
            if charset != "utf-8" && !expected_parameters.iter().any(|(name, _)| name == "charset") =>
        {
            differs(": a charset must be utf-8")
        }
        _ => Ok(()),
    }
}

/// Type and parameters in lower case; the compared values (charsets) are case-insensitive.
fn parse(value: &str) -> (String, Vec<(String, String)>) {
    let mut parts = value.split(';').map(|part| part.trim().to_ascii_lowercase());
    let media_type = parts.next().unwrap_or_default();
    let parameter = |part: String| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
    };
    (media_type, parts.filter_map(parameter).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::compare;

    #[test]
    fn spelling_is_free() {
        for got in
            ["text/plain; charset=utf-8", "Text/Plain;charset=UTF-8", "text/plain ; Charset=\"utf-8\"; a=b"]
        {
            assert_eq!(compare("text/plain; charset=utf-8", got), Ok(()), "{got}");
        }
        for got in
            ["application/json", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\""]
        {
            assert_eq!(compare("application/json", got), Ok(()), "{got}");
        }
    }

    #[test]
    fn meaning_is_not() {
        let error = |expected, got| compare(expected, got).unwrap_err();
        assert_eq!(
            error("text/plain; charset=utf-8", "text/plain"),
            "expected content type \"text/plain; charset=utf-8\", got \"text/plain\": \
             the parameter \"charset\" is missing"
        );
        assert_eq!(
            error("application/json", "text/json"),
            "expected content type \"application/json\", got \"text/json\""
        );
        assert!(
            error("text/plain; charset=utf-8", "text/plain; charset=utf8")
                .ends_with("\"text/plain; charset=utf8\"")
        );
        assert!(error("application/json", "application/json; charset=latin1").ends_with("must be utf-8"));
    }

    proptest! {
        #[test]
        fn a_type_is_itself_in_any_case(kind in "[a-z]{1,8}/[a-z.+-]{1,12}", name in "[b-z]{1,5}", value in "[a-z0-9]{1,6}") {
            let expected = format!("{kind}; {name}={value}");
            let got = format!("{} ;\t{}=\"{}\"", kind.to_uppercase(), name.to_uppercase(), value.to_uppercase());
            prop_assert_eq!(compare(&expected, &got), Ok(()));
            prop_assert!(compare(&expected, &kind).is_err(), "the parameter is missing");
            prop_assert_eq!(compare(&kind, &got).is_ok(), name != "charset");
            let other = format!("x{got}");
            prop_assert!(compare(&expected, &other).is_err());
        }

        #[test]
        fn no_header_is_too_much(got in "[;=\"a-z/ é-]{0,40}") {
            let _any = compare("text/plain; charset=utf-8", &got);
        }
    }
}
