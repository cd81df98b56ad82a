//! The check `date`: a `Date` header, where one is sent, is valid and moves.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::CheckId;
use super::bench::{Asked, Bench};
use super::judge::header;
use super::transcript::{CheckResult, Failure};

/// A second later the Date must be another one; a little more, because services renew it by a timer.
const APART: Duration = Duration::from_millis(1100);
/// On a busy machine that timer comes late: only a Date that stands still for so long is a constant.
const APART_MAX: Duration = Duration::from_millis(3500);

pub(super) fn date(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let first = bench.sound_load().into_iter().take(1).collect();
    bench.each(CheckId::Date, first, |bench, request, rng| {
        let mut ask = |bench: &mut Bench<'_>| -> Result<_, Failure> {
            let (talk, response) = bench.ask_alone(&Asked::any(request, rng))?;
            Ok((talk, header(&response, "date")))
        };
        // The other checks took place in between, so that there is seldom anything left to wait for.
        let (since, first) = match bench.first_date.take() {
            Some(first) => first,
            None => (Instant::now(), ask(bench)?.1),
        };
        loop {
            sleep(APART.saturating_sub(since.elapsed()));
            let (talk, second) = ask(bench)?;
            let (Some(first), Some(second)) = (&first, &second) else {
                return absent(first.as_ref().or(second.as_ref()))
                    .map_err(|reason| Failure::new(reason, &talk));
            };
            match compare(first, second) {
                Ok(true) => return Ok(None),
                Ok(false) if since.elapsed() < APART_MAX => sleep(Duration::from_millis(300)),
                Ok(false) => {
                    let reason = format!("the Date stands still: \"{first}\" for {:.1?}", since.elapsed());
                    return Err(Failure::new(reason, &talk));
                }
                Err(reason) => return Err(Failure::new(reason, &talk)),
            }
        }
    })
}

fn absent(only: Option<&String>) -> Result<Option<String>, String> {
    match only {
        None => Ok(Some(String::from("no Date header"))),
        Some(date) => Err(format!("of two answers only one has a Date: \"{date}\"")),
    }
}

fn compare(first: &str, second: &str) -> Result<bool, String> {
    let read = |date: &str| {
        seconds(date).ok_or_else(|| {
            format!(
                "the Date \"{date}\" is not of the form \"Sun, 06 Nov 1994 08:49:37 GMT\" (RFC 9110, 5.6.7)"
            )
        })
    };
    let (first_s, second_s) = (read(first)?, read(second)?);
    match first_s > second_s {
        true => Err(format!("the Date goes back: \"{first}\", then \"{second}\"")),
        false => Ok(first_s < second_s),
    }
}

/// Seconds since 1970 of an IMF-fixdate, the only form that a server may send; weekday included.
fn seconds(date: &str) -> Option<i64> {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    // Lengths are fixed, and slicing is safe only in ASCII.
    if date.len() != 29 || !date.is_ascii() {
        return None;
    }
    let separators = [(3, ", "), (7, " "), (11, " "), (16, " "), (19, ":"), (22, ":"), (25, " GMT")];
    if !separators.iter().all(|(at, separator)| date[*at..].starts_with(separator)) {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = &date[from..to];
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let month = MONTHS.iter().position(|name| *name == &date[8..11])?;
    let (day, year) = (number(5, 7)?, number(12, 16)?);
    let (hour, minute, second) = (number(17, 19)?, number(20, 22)?, number(23, 25)?);
    // 60 is a leap second.
    if !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_since_1970(year, i64::try_from(month).ok()? + 1, day);
    let weekday = usize::try_from(days.rem_euclid(7)).ok()?;
    (DAYS[weekday] == &date[..3]).then_some(days * 86400 + hour * 3600 + minute * 60 + second)
}

/// Of the proleptic Gregorian calendar; years are counted from March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_are_read_and_only_in_their_one_form() {
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        for wrong in [
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_date_moves_forward() {
        let (one, two) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT");
        assert_eq!(compare(one, two), Ok(true));
        assert_eq!(compare(one, one), Ok(false));
        assert!(compare(two, one).unwrap_err().starts_with("the Date goes back"));
        assert!(compare("now", one).unwrap_err().starts_with("the Date \"now\" is not of the form"));
    }

    #[test]
    fn one_date_of_two_answers_is_a_failure_and_none_is_a_note() {
        assert_eq!(absent(None), Ok(Some("no Date header".to_owned())));
        assert_eq!(
            absent(Some(&"x".to_owned())),
            Err("of two answers only one has a Date: \"x\"".to_owned())
        );
    }

    proptest! {
        #[test]
        fn every_second_has_one_date(seconds_since_1970 in 0_i64..253_402_300_799, later in 1_i64..100_000) {
            let print = |seconds| {
                let time = jiff::Timestamp::from_second(seconds).unwrap();
                time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
            };
            let (date, next) = (print(seconds_since_1970), print((seconds_since_1970 + later).min(253_402_300_799)));
            prop_assert_eq!(seconds(&date), Some(seconds_since_1970));
            prop_assert_eq!(compare(&date, &next), Ok(date != next));
        }

        #[test]
        fn no_header_is_too_much(date in "([A-Z][a-z]{2}|, | |[0-9:]{1,8}|GMT|é){0,12}", exact in ".{29}") {
            let _any = (seconds(&date), seconds(&exact));
        }
    }
}
