//! The check `date`: a `Date` header, if sent, is valid, advances, and agrees with this machine's clock.

use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::CheckId;
use super::bench::Bench;
use super::evaluate::header;
use super::transcript::{CheckResult, Failure};

const IMF_FIXDATE: &str = "%a, %d %b %Y %H:%M:%S GMT";
/// Time after which the Date must differ: a little over a second, as services renew it by a timer.
const APART: Duration = Duration::from_millis(1100);
/// On a busy machine that timer is late: only a Date that is unchanged for this long is a constant.
const APART_MAX: Duration = Duration::from_millis(3500);

/// Largest difference between a Date and this machine's clock, in seconds: timers may be late.
const OFF_MAX: i64 = 5;

pub(super) fn date(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let first = bench.first().into_iter().collect();
    bench.each(CheckId::Date, first, |bench, request, rng| {
        let mut ask = |bench: &mut Bench<'_>| -> Result<_, Failure> {
            let (talk, response) = bench.ask_alone(&bench.any(request, rng))?;
            Ok((talk, header(&response, "date")))
        };
        // Other checks ran in between, so usually there is no time left to wait.
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
                Ok(true) => {
                    let now = Timestamp::now().as_second();
                    return of_today(second, now)
                        .map(|()| None)
                        .map_err(|reason| Failure::new(reason, &talk));
                }
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

/// Checks a Date against the clock of this machine, on which the service runs.
fn of_today(date: &str, now: i64) -> Result<(), String> {
    let Some(off) = seconds(date).map(|seconds| seconds - now) else { return Ok(()) };
    if off.abs() <= OFF_MAX {
        return Ok(());
    }
    let side = if off > 0 { "ahead of" } else { "behind" };
    Err(format!("the Date \"{date}\" is {} s {side} the clock of this machine", off.abs()))
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

/// Seconds since 1970 of an IMF-fixdate with weekday, the only form that servers may send.
fn seconds(date: &str) -> Option<i64> {
    // A leap second is valid in HTTP, but not in this calendar.
    let date = date.replace(":60 GMT", ":59 GMT");
    let time = DateTime::strptime(IMF_FIXDATE, &date).ok()?;
    // Parsing ignores case, blanks and leading zeros; formatting does not.
    let is_exact = time.strftime(IMF_FIXDATE).to_string() == date;
    is_exact.then_some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
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
        assert_eq!(seconds("Sat, 31 Dec 2016 23:59:60 GMT"), Some(1_483_228_799), "a leap second");
        for wrong in [
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994  8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37  GMT",
            " Sun, 06 Nov 1994 08:49:37 GMT",
            "Wed, 30 Feb 1994 08:49:37 GMT",
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
    fn a_date_is_of_today_within_some_seconds() {
        let (date, at) = ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777);
        for off in [-5, 0, 5] {
            assert_eq!(of_today(date, at + off), Ok(()));
        }
        let said = |now| of_today(date, now).unwrap_err();
        assert!(said(at + 3600).ends_with("is 3600 s behind the clock of this machine"));
        assert!(said(at - 6).ends_with("is 6 s ahead of the clock of this machine"));
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
                time.strftime(IMF_FIXDATE).to_string()
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
