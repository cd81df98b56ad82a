//! How times, intervals and names of functions are written in a sentence.

use tare_stats::simultaneous::MeanInterval;

/// A longer name is shown without the parameters of its types.
const NAME_CHARS_SHOWN: usize = 60;

/// The name as a line has room for it: `std::regex_search<..>` if it is long.
pub(super) fn shown(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS_SHOWN {
        return name.to_owned();
    }
    let (mut text, mut depth) = (String::new(), 0_usize);
    let mut before = ' ';
    for c in name.chars() {
        // Neither `<T as Trait>::f`, nor an operator, nor an arrow.
        let opens = c == '<'
            && (depth > 0 || before.is_alphanumeric() || before == '_')
            && !text.ends_with("operator");
        let closes = c == '>' && depth > 0 && before != '-';
        match (opens, closes) {
            (true, _) if depth == 0 => text.push_str("<.."),
            (_, true) if depth == 1 => text.push('>'),
            _ if depth == 0 => text.push(c),
            _ => {}
        }
        depth = depth + usize::from(opens) - usize::from(closes);
        before = c;
    }
    text
}

/// `+794 ns (+710 .. +878)`.
pub fn with_interval(of: &MeanInterval) -> String {
    format!("{} ({} .. {})", signed_ns(of.mean), signed(of.low), signed(of.high))
}

/// `+794 ns`.
pub fn signed_ns(ns: f64) -> String {
    format!("{} ns", signed(ns))
}

fn signed(ns: f64) -> String {
    let text = grouped(ns.abs());
    match text.as_str() {
        "0" => text,
        _ if ns < 0.0 => format!("-{text}"),
        _ => format!("+{text}"),
    }
}

/// `10,200 ns`.
pub fn plain_ns(ns: f64) -> String {
    format!("{} ns", grouped(ns))
}

/// Whole digits, with commas between thousands.
fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.max(0.0));
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shown_without_the_parameters_of_their_types() {
        let long = "a".repeat(60);
        let cases = [
            ("std::vector<int>::push_back".to_owned(), "std::vector<int>::push_back".to_owned()),
            (format!("std::search<char, std::allocator<{long}> >"), "std::search<..>".to_owned()),
            (format!("<T<{long}> as Read>::poll"), "<T<..> as Read>::poll".to_owned()),
            (format!("{long}::operator<<"), format!("{long}::operator<<")),
            (format!("f<g() -> {long}>::h"), "f<..>::h".to_owned()),
            (format!("f<{long}... (cut"), "f<..".to_owned()),
        ];
        for (name, expected) in cases {
            assert_eq!(shown(&name), expected);
        }
    }

    #[test]
    fn numbers_have_a_sign_and_commas() {
        let cases = [
            (0.2, "0 ns"),
            (-0.4, "0 ns"),
            (1234.5, "+1,234 ns"),
            (-1_000_000.0, "-1,000,000 ns"),
            (12.0, "+12 ns"),
        ];
        for (number, expected) in cases {
            assert_eq!(signed_ns(number), expected);
        }
    }
}
