//! Values that change by nature: times, identifiers, counters. They are recognised by form, since a value may
//! stay constant during learning and change later: a date at midnight, a time in minutes after a minute.

use std::{fmt, sync::LazyLock};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use regex::Regex;

/// The kind of a changing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Nature {
    #[strum(to_string = "a date")]
    Date,
    #[strum(to_string = "a time")]
    Time,
    #[strum(to_string = "a counter")]
    Counter,
    #[strum(to_string = "an id")]
    Id,
    #[strum(to_string = "a number")]
    Number,
    #[strum(to_string = "a text")]
    Text,
    #[strum(to_string = "true or false")]
    Flag,
    #[strum(to_string = "any value")]
    Any,
}

/// A place of an answer with a changing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varying {
    /// A JSON path, or a byte offset.
    pub place: String,
    pub nature: Nature,
}

/// As in "$.at (a time)".
impl fmt::Display for Varying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.place, self.nature)
    }
}

/// The form of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenForm {
    Uuid,
    /// Date and time in RFC 3339 or ISO 8601.
    Instant,
    Date,
    /// A time of the day.
    Clock,
    /// As in "5 minutes ago".
    Ago,
    Number,
    /// Many hexadecimal digits, such as a hash.
    Hex,
    Word,
    Blank,
    Other,
}

/// Each form with its pattern, the narrowest first. Together they match any text.
const FORMS: [(TokenForm, &str, &str); 10] = [
    (TokenForm::Uuid, "uuid", r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b"),
    (
        TokenForm::Instant,
        "instant",
        concat!(
            r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?",
            r"(?:[Zz]\b|[+-][0-9]{2}:?[0-9]{2}\b)?",
            r"|\b[0-9]{8}[Tt][0-9]{4,6}[Zz]?\b",
        ),
    ),
    (
        TokenForm::Date,
        "date",
        concat!(
            r"\b[0-9]{4}([-/.])[0-9]{1,2}[-/.][0-9]{1,2}\b",
            r"|\b[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}\b",
            r"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:[0-9]{1,2}(?:st|nd|rd|th)?[ -]",
            r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?:,?[ -][0-9]{2,4})?",
            r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* {1,2}",
            r"[0-9]{1,2}(?:st|nd|rd|th)?(?:,? [0-9]{4})?)\b",
            r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
        ),
    ),
    (
        TokenForm::Clock,
        "clock",
        r"\b(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]+)?)?(?: ?[AaPp]\.?[Mm]\b\.?|\b)",
    ),
    (
        TokenForm::Ago,
        "ago",
        r"\b(?:[0-9]+|an?|few) (?:second|minute|hour|day|week|month|year)s? ago\b|\b[Uu]p(?:time)?[ :=]{1,3}[0-9]+\b",
    ),
    (TokenForm::Number, "number", r"\b[0-9]+(?:\.[0-9]+)?\b"),
    (TokenForm::Hex, "hex", r"\b[0-9A-Fa-f]{16,}\b"),
    (TokenForm::Word, "word", r"\w+"),
    (TokenForm::Blank, "blank", r"\s+"),
    (TokenForm::Other, "other", r"(?s:.)"),
];

static ANY_FORM: LazyLock<Regex> = LazyLock::new(|| {
    let all: Vec<String> = FORMS.iter().map(|(_, name, form)| format!("(?<{name}>{form})")).collect();
    Regex::new(&all.join("|")).expect("the forms are regular expressions")
});

impl TokenForm {
    /// A pattern for all values of this form; absent if values are literal.
    pub(super) fn pattern(self) -> Option<&'static str> {
        match self {
            TokenForm::Uuid => Some("[0-9A-Fa-f-]{36}"),
            TokenForm::Instant => Some("[0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt ][0-9:.,]+(?:[Zz]|[+-][0-9:]+)?"),
            TokenForm::Date => Some(r"[0-9A-Za-z][0-9A-Za-z ,./-]+"),
            TokenForm::Clock => Some(r"[0-9]{1,2}:[0-9]{2}[0-9:.,]*(?: ?[AaPp]\.?[Mm]\.?)?"),
            TokenForm::Ago => Some("[0-9A-Za-z :=]+"),
            TokenForm::Number => Some(r"[0-9]+(?:\.[0-9]+)?"),
            TokenForm::Hex | TokenForm::Word => Some(r"\w+"),
            TokenForm::Blank => Some(r"\s+"),
            TokenForm::Other => None,
        }
    }

    pub(super) fn nature(self) -> Nature {
        match self {
            TokenForm::Uuid | TokenForm::Hex => Nature::Id,
            TokenForm::Instant | TokenForm::Clock | TokenForm::Ago => Nature::Time,
            TokenForm::Date => Nature::Date,
            TokenForm::Number => Nature::Number,
            TokenForm::Word | TokenForm::Blank | TokenForm::Other => Nature::Text,
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextToken<'t> {
    pub form: TokenForm,
    pub text: &'t str,
    /// Offset of its first byte.
    pub at: usize,
}

/// Splits a text into parts, which joined give the text again.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = TextToken<'_>> {
    ANY_FORM.captures_iter(text).filter_map(move |found| {
        let (form, part) = FORMS.iter().find_map(|(form, name, _)| Some((*form, found.name(name)?)))?;
        let before = text[..part.start()].chars().next_back();
        // In a script, `a?10:20` is not a time.
        let is_code = before.is_some_and(|before| "?,:{.&|".contains(before));
        let form = if form == TokenForm::Clock && is_code { TokenForm::Other } else { form };
        Some(TextToken { form, text: part.as_str(), at: part.start() })
    })
}

/// Facts about an answer: when it arrived, and the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerContext<'a> {
    /// When the answer arrived. Absent if unknown, as for recorded files.
    pub now: Option<Timestamp>,
    /// The request's texts; their values come back unchanged.
    pub sent: &'a str,
}

/// A number is a time if it is this close to the present. Clocks and time zones differ by less.
const NEAR_S: f64 = 86_400.0;
/// Units since 1970, as values per second: days, hours, minutes, seconds, ms, µs and ns.
const UNITS: [f64; 7] = [1.0 / 86_400.0, 1.0 / 3_600.0, 1.0 / 60.0, 1.0, 1e3, 1e6, 1e9];

impl AnswerContext<'_> {
    /// The kind of a part of a text that must be expected to change, if it must.
    pub(super) fn moves(&self, token: &TextToken) -> Option<Nature> {
        let TextToken { form, text, .. } = *token;
        let changes = match form {
            TokenForm::Uuid => !self.sent.contains(text),
            TokenForm::Hex => is_mixed(text) && !self.sent.contains(text),
            TokenForm::Instant | TokenForm::Date => self.is_of_these_years(text) && !self.sent.contains(text),
            TokenForm::Clock | TokenForm::Ago => !self.sent.contains(text),
            TokenForm::Number => return self.instant(text),
            TokenForm::Word | TokenForm::Blank | TokenForm::Other => false,
        };
        changes.then(|| form.nature())
    }

    /// The kind of a number that is close to the present.
    pub(super) fn instant(&self, number: &str) -> Option<Nature> {
        let now = self.now?;
        if self.sent.contains(number) {
            return None;
        }
        if let Some(date) = compact_date(number)
            && (date.year() - year(now)).abs() <= 1
        {
            return Some(if number.len() > 8 { Nature::Time } else { Nature::Date });
        }
        let value: f64 = number.parse().ok()?;
        let seconds = now.as_nanosecond() as f64 / 1e9;
        let is_near = |unit: &f64| (value - seconds * unit).abs() <= (NEAR_S * unit).max(1.0);
        UNITS.iter().any(is_near).then_some(Nature::Time)
    }

    /// Whether the year is close to the present: other dates are data. A date without year always counts.
    fn is_of_these_years(&self, text: &str) -> bool {
        let digits = text.split(|letter: char| !letter.is_ascii_digit());
        let named = digits.filter(|digits| digits.len() == 4 || digits.len() == 8);
        let named = named.filter_map(|digits| digits[..4].parse::<i16>().ok()).next();
        match (self.now, named) {
            (Some(now), Some(named)) => (named - year(now)).abs() <= 1,
            _ => true,
        }
    }
}

fn year(instant: Timestamp) -> i16 {
    instant.to_zoned(TimeZone::UTC).year()
}

/// Whether text has digits and letters: letters alone are a word, digits alone a number.
fn is_mixed(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Parses dates such as 20261128 and 20261128120000.
fn compact_date(digits: &str) -> Option<Date> {
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| digits[range].parse().ok();
    Date::new(digits[..4].parse().ok()?, part(4..6)?, part(6..8)?).ok()
}

/// The kind of a number from its successive values, with a restart of the service somewhere between them.
pub(super) fn nature_of_numbers(values: &[f64], context: &AnswerContext) -> Nature {
    /// Largest step of a counter: other clients may send requests too.
    const STEP_MAX: f64 = 1_000.0;
    let is_instant = |value: &f64| context.instant(&value.to_string()).is_some();
    if values.iter().any(is_instant) {
        return Nature::Time;
    }
    let is_whole = values.iter().all(|value| value.fract() == 0.0);
    let is_step = |pair: &&[f64]| pair[1] > pair[0] && pair[1] - pair[0] <= STEP_MAX;
    let steps = values.windows(2).filter(is_step).count();
    if is_whole && steps > 0 && steps + 2 >= values.len() { Nature::Counter } else { Nature::Number }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: &str = "2026-11-28T05:10:35Z";

    fn moves(text: &str, sent: &str) -> Vec<(String, Nature)> {
        let context = AnswerContext { now: Some(NOW.parse().unwrap()), sent };
        let found = tokens(text).filter_map(|token| Some((token.text.to_owned(), context.moves(&token)?)));
        found.collect()
    }

    #[test]
    fn instants_and_identifiers_are_told_by_their_form() {
        let seconds = 1_795_842_635_u64;
        let numbers = [
            (seconds).to_string(),
            (seconds * 1_000 + 123).to_string(),
            (seconds * 1_000_000).to_string(),
            (seconds * 1_000_000_000).to_string(),
            format!("{seconds}.25"),
            (seconds / 60).to_string(),
            (seconds / 3_600).to_string(),
            (seconds - 3_600).to_string(),
        ];
        for number in &numbers {
            assert_eq!(moves(&format!("now {number}"), ""), [(number.clone(), Nature::Time)]);
        }
        let texts = [
            ("2026-11-28T05:10:35Z", Nature::Time),
            ("2026-11-28T05:10:35.123456+05:30", Nature::Time),
            ("2026-11-28 05:10", Nature::Time),
            ("20261128T051035Z", Nature::Time),
            ("20261128051035", Nature::Time),
            ("20261128", Nature::Date),
            ("2026-11-28", Nature::Date),
            ("28.11.2026", Nature::Date),
            ("11/28/2026", Nature::Date),
            ("Sat, 28 Nov 2026", Nature::Date),
            ("Sat Nov 28 2026", Nature::Date),
            ("November 28, 2026", Nature::Date),
            ("28-Nov-26", Nature::Date),
            ("Saturday", Nature::Date),
            ("05:10", Nature::Time),
            ("5:10:35.7", Nature::Time),
            ("5:10 AM", Nature::Time),
            ("5 minutes ago", Nature::Time),
            ("uptime: 0", Nature::Time),
            ("0b9ff8aa-3d1c-4d3e-9f00-000000000001", Nature::Id),
            ("d41d8cd98f00b204e9800998ecf8427e", Nature::Id),
        ];
        for (text, nature) in texts {
            assert_eq!(moves(&format!("it is {text}"), ""), [(text.to_owned(), nature)], "{text}");
            assert_eq!(moves(&format!("it is {text}"), &format!("/a?b={text}")), [], "it was sent: {text}");
        }
        let both = moves("Date: Sat, 28 Nov 2026 05:10:35 GMT", "");
        assert_eq!(
            both,
            [("Sat, 28 Nov 2026".to_owned(), Nature::Date), ("05:10:35".to_owned(), Nature::Time)]
        );
    }

    #[test]
    fn what_is_data_stays() {
        for text in [
            "hello, world",
            "3 of 17 items, 42.50",
            "1.2.3",
            "id 12345678",
            "16:9 and a?10:20:30",
            "born on 1984-02-30",
            "2019-05-01T00:00:00Z",
            "Version 20190501",
            "The Sun and May",
            "deadbeef",
            "1234567890123456789012",
        ] {
            assert_eq!(moves(text, ""), [], "{text}");
        }
    }

    #[test]
    fn a_counter_goes_on_by_small_steps() {
        let context = AnswerContext { now: Some(NOW.parse().unwrap()), sent: "" };
        let of = |values: &[f64]| nature_of_numbers(values, &context);
        assert_eq!(of(&[1.0, 2.0, 1.0, 2.0]), Nature::Counter, "with a start between them");
        assert_eq!(of(&[7.0, 8.0]), Nature::Counter);
        assert_eq!(of(&[7.0, 1e6, 3.0, 5e8]), Nature::Number);
        assert_eq!(of(&[0.25, 0.5]), Nature::Number);
        assert_eq!(of(&[1_795_842_635.0, 1_795_842_636.0]), Nature::Time);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "(?s).{0,40}") {
            let parts: String = tokens(&text).map(|token| token.text).collect();
            prop_assert_eq!(parts, text);
        }
    }
}
