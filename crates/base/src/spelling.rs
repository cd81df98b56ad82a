//! Suggestions for mistyped names.

/// The most similar of the valid names, if one is similar at all.
pub fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = valid.into_iter().map(|name| (strsim::jaro_winkler(given, name), name));
    let most = likeness.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness > 0.7);
    most.map(|(_, name)| name)
}

/// `; did you mean "x"?` if a valid name is similar, else the list of valid names.
pub fn suggestion<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    match nearest(given, valid.iter().copied()) {
        Some(name) => format!("; did you mean \"{name}\"?"),
        None if valid.is_empty() => String::new(),
        None => format!("; valid names are: {}", valid.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_a_similar_name_the_valid_ones_are_listed() {
        assert_eq!(suggestion("zzz", ["hello", "rest"]), "; valid names are: hello, rest");
    }

    #[test]
    fn the_most_similar_name_is_suggested() {
        assert_eq!(suggestion("rset", ["hello", "rest", "reset-all"]), "; did you mean \"rest\"?");
        assert_eq!(suggestion("rest", []), "", "there is nothing to choose from");
        assert_eq!(nearest("comapre", ["completions", "compare"]), Some("compare"));
        assert_eq!(nearest("zzz", ["hello", "rest"]), None);
    }

    proptest! {
        #[test]
        fn a_name_with_two_letters_swapped_is_recognised(name in "[a-z]{3}[0-9]{5}", at in 2_usize..7) {
            let mut letters: Vec<char> = name.chars().collect();
            letters.swap(at, at + 1);
            let given: String = letters.into_iter().collect();
            let expected = format!("; did you mean \"{name}\"?");
            prop_assert_eq!(suggestion(&given, ["!", &name, "?"]), expected);
        }
    }
}
