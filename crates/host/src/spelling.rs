//! Suggestions for mistyped names.

/// `; did you mean "x"?` if a valid name is similar, else the list of valid names.
pub fn suggestion<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    let nearest = valid
        .iter()
        .map(|name| (strsim::jaro_winkler(given, name), *name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.7);
    match nearest {
        Some((_, name)) => format!("; did you mean \"{name}\"?"),
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
