//! Recognises common licences by their usual words.

use spdx::{Expression, identifiers::LICENSES};

/// The SPDX identifier of a licence text; absent if it matches none, or several.
pub(super) fn in_text(text: &str) -> Option<String> {
    const TAG: &str = "SPDX-License-Identifier:";
    if let Some((_, expression)) = text.lines().find_map(|line| line.split_once(TAG)) {
        let expression = expression.trim();
        return Expression::parse(expression).is_ok().then(|| expression.to_owned());
    }
    let by_terms = by_terms(text);
    match by_terms.as_slice() {
        [] => by_title(text),
        [one] => Some((*one).to_owned()),
        _ => None,
    }
}

/// Recognises short licences, which often lack a title, by their terms.
fn by_terms(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    let says = |phrase: &str| text.contains(phrase);
    let mut found = Vec::new();
    if says("to deal in the software without restriction") {
        found.push("MIT");
    }
    if says("redistributions of source code must retain") {
        match (
            says("redistributions in binary form"),
            says("neither the name") || says("the name of the author may not"),
        ) {
            _ if says("all advertising materials") => found.push("BSD-4-Clause"),
            (true, true) => found.push("BSD-3-Clause"),
            (true, false) => found.push("BSD-2-Clause"),
            (false, _) => {}
        }
    }
    if says("permission to use copy modify and or distribute this software for any purpose") {
        found.push("ISC");
    }
    found
}

/// Recognises long licences by their title, which may take two lines and contain a date.
fn by_title(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
    let titles = [lines.join(" "), (*lines.first()?).to_owned()];
    titles.iter().find_map(|title| {
        let title = bare_title(title);
        let known = LICENSES.iter().find(|known| bare_title(known.full_name) == title)?;
        Some(known.name.to_owned())
    })
}

/// The words of a title that distinguish licences: "Version 2.0, January 2004" becomes "2".
fn bare_title(title: &str) -> Vec<String> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    // Drops abbreviations in brackets.
    let outside = title.split('(').map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
    let lower = outside.collect::<Vec<_>>().join(" ").to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|word| !word.is_empty());
    let mut words: Vec<String> = words
        .take_while(|word| !MONTHS.contains(word))
        .filter(|word| !["the", "version", "v"].contains(word))
        .map(|word| {
            let number = word.strip_prefix('v').unwrap_or(word);
            let is_number = number.starts_with(|c: char| c.is_ascii_digit());
            if is_number { number.strip_suffix(".0").unwrap_or(number).to_owned() } else { word.to_owned() }
        })
        .collect();
    // Drops the day before a month.
    let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit());
    if words.len() > 1 && words.iter().rev().take(2).all(is_number) {
        words.pop();
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_recognised_by_its_terms_or_its_title() {
        let mit = "Copyright (c) 2020\n\nPermission is hereby granted, free of charge, to any person obtaining a copy of \
            this software, to deal\nin the Software without restriction";
        let bsd = "Copyright X\nRedistributions of source code must retain the above copyright notice.\n\
            Redistributions in binary form must reproduce it.";
        let names = "\nNeither the name of X nor those of its contributors may be used";
        let cases = [
            (mit.to_owned(), "MIT"),
            (format!("The MIT License (MIT)\n\n{mit}"), "MIT"),
            (bsd.to_owned(), "BSD-2-Clause"),
            (format!("BSD 3-Clause\n{bsd}{names}"), "BSD-3-Clause"),
            (format!("{bsd}\n{mit}"), ""),
            ("   Apache License\n   Version 2.0, January 2004\n http://x".to_owned(), "Apache-2.0"),
            ("Boost Software License - Version 1.0 - August 17th, 2003\n".to_owned(), "BSL-1.0"),
            ("GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3, 19 November 2007\n".to_owned(), "AGPL-3.0"),
            ("Mozilla Public License Version 2.0\n====\n".to_owned(), "MPL-2.0"),
            ("MIT License\n\nCopyright".to_owned(), "MIT"),
            ("The MIT License (MIT)\n\nCopyright (c) 2014".to_owned(), "MIT"),
            ("// SPDX-License-Identifier: MIT OR Apache-2.0\n".to_owned(), "MIT OR Apache-2.0"),
            ("You may at your option receive a license under the AGPL or the CPL".to_owned(), ""),
            (String::new(), ""),
        ];
        for (text, spdx) in cases {
            assert_eq!(in_text(&text).unwrap_or_default(), spdx, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "(?s).{0,200}", words in "[()a-z0-9. \\n-]{0,80}") {
            let _any = (in_text(&text), in_text(&words));
        }
    }
}
