//! Names that were mistyped: what the writer may have meant.

/// `; did you mean "x"?` where a valid name is near, else the list of valid names.
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
        None => format!("; there is: {}", valid.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_name_lists_the_valid_ones() {
        assert_eq!(suggestion("zzz", ["hello", "rest"]), "; there is: hello, rest");
    }
}
