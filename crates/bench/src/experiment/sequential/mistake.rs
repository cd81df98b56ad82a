//! Errors in a sequential experiment with readable keys: the text at the error, and the message.

use std::ops::RangeInclusive;
use tare_base::spelling::suggestion;

use super::{
    super::load::DELAY_MS_MAX, FigureCheck, LOCAL, LoadEntry, Part, SWEEP, SequentialExperiment, Threads,
};
use crate::figures::Where;
use tare_base::units::Lasting;

type Mistake = (String, String);

const ROUNDS: RangeInclusive<usize> = 1..=100;
const CONNECTIONS: RangeInclusive<usize> = 1..=20_000;
/// Allowed `THREADS` of a service.
const THREADS: RangeInclusive<usize> = 1..=1024;
/// Most answers that a session or a batch may request in all.
const REQUESTS_MAX: u64 = 1 << 40;

impl SequentialExperiment {
    pub(super) fn find_mistake(&self) -> Result<(), Mistake> {
        self.rows_are_sound()?;
        self.checks.iter().try_for_each(|check| self.check_is_sound(check))?;
        self.parts.iter().enumerate().try_for_each(|(place, part)| self.part_is_sound(place, part))
    }

    fn rows_are_sound(&self) -> Result<(), Mistake> {
        for (place, row) in self.rows.iter().enumerate() {
            let service = &row.service;
            if self.rows[..place].iter().any(|other| other.service == *service) {
                let message = format!("two rows have the service \"{service}\": write \"{service}@2\"");
                return Err((quoted(service), message));
            }
            within("threads", row.threads.as_slice(), &THREADS, service)?;
        }
        self.reference.iter().try_for_each(|name| self.is_row(name))
    }

    fn check_is_sound(&self, check: &FigureCheck) -> Result<(), Mistake> {
        let names = check.but.iter().chain(&check.to).chain([&check.of]).filter(|name| *name != "*");
        names.into_iter().try_for_each(|name| self.is_row(name))?;
        [Some(&check.points), check.to_points.as_ref()]
            .into_iter()
            .flatten()
            .try_for_each(|points| self.points_are_known(points))?;
        let asked = [check.stuck.is_some(), check.failures.is_some(), check.metric.is_some()];
        let message = match asked.iter().filter(|asked| **asked).count() {
            1 if check.metric.is_none() || check.at_least.is_some() || check.at_most.is_some() => {
                return Ok(());
            }
            1 => "a check of a \"metric\" needs \"at-least\" or \"at-most\"",
            _ => "a check asks for one of \"metric\", \"stuck\" and \"failures\"",
        };
        Err((quoted(&check.claim), message.to_owned()))
    }

    fn points_are_known(&self, points: &Where) -> Result<(), Mistake> {
        let parts = self.parts.iter().map(|part| part.name.as_str());
        points.part.iter().try_for_each(|name| known(name, parts.clone(), "no part is called"))?;
        points.link.iter().try_for_each(|name| self.is_link(name))
    }

    fn part_is_sound(&self, place: usize, part: &Part) -> Result<(), Mistake> {
        let at_part = |message: String| Err((quoted(&part.name), message));
        if self.parts[..place].iter().any(|other| other.name == part.name) {
            return at_part(format!("two parts are called \"{}\"", part.name));
        }
        if part.sweep != (part.name == SWEEP) {
            return at_part(format!(
                "a part is called \"{SWEEP}\" if it has \"sweep = true\", and only then"
            ));
        }
        part.services.iter().try_for_each(|name| self.is_row(name))?;
        part.link.as_slice().iter().try_for_each(|name| self.is_link(name))?;
        within("rounds", &[part.rounds], &ROUNDS, &part.name)?;
        let threads = part.threads.as_slice().iter().filter_map(|threads| match threads {
            Threads::Number(number) => Some(*number),
            Threads::Word(_) => None,
        });
        within("threads", &threads.collect::<Vec<_>>(), &THREADS, &part.name)?;
        if part.delay_ms.as_slice().iter().any(|delay_ms| *delay_ms > DELAY_MS_MAX) {
            return at_part(format!("\"delay-ms\" is more than {DELAY_MS_MAX}, an hour"));
        }
        part.load.mistake().map_or(Ok(()), at_part)
    }

    fn is_row(&self, name: &str) -> Result<(), Mistake> {
        known(name, self.rows.iter().map(|row| row.service.as_str()), "no row has the service")
    }

    fn is_link(&self, name: &str) -> Result<(), Mistake> {
        known(name, self.links.keys().map(String::as_str).chain([LOCAL]), "no link is called")
    }
}

impl LoadEntry {
    fn mistake(&self) -> Option<String> {
        let connections = |counts: &[usize]| {
            let bad = counts.iter().find(|count| !CONNECTIONS.contains(count));
            bad.map(|count| format!("{count} connections; it must be {}", range(&CONNECTIONS)))
        };
        let positive =
            |key: &str, is_positive: bool| (!is_positive).then(|| format!("\"{key}\" must be 1 or more"));
        let lasts = |time: &Lasting| time.0.is_zero().then(|| "\"duration\" must be more than 0".to_owned());
        let few = |factors: [u64; 2]| {
            let all = factors[0].checked_mul(factors[1]).filter(|all| *all <= REQUESTS_MAX);
            all.is_none().then(|| "more requests than any machine answers in a year".to_owned())
        };
        let is_rate = |rate: &f64| (1.0..=1e9).contains(rate);
        match self {
            LoadEntry::Closed { connections: counts, threads, duration, think } => {
                connections(counts.as_slice())
                    .or(positive("threads", !threads.as_slice().contains(&0)))
                    .or(lasts(duration))
                    .or(think.and_then(|(least, most)| {
                        (least > most).then(|| "\"think\" must be two times, the shorter first".to_owned())
                    }))
            }
            LoadEntry::Open { connections: count, threads, per_second, duration } => connections(&[*count])
                .or(positive("threads", *threads > 0))
                .or((!per_second.as_slice().iter().all(is_rate))
                    .then(|| "\"per-second\" must be 1 to 1e9".to_owned()))
                .or(lasts(duration)),
            LoadEntry::Sessions { connections, calls } => positive("connections", *connections > 0)
                .or(positive("calls", *calls > 0))
                .or(few([*connections, *calls])),
            LoadEntry::Batch { producers, messages } => connections(&[*producers])
                .or(positive("messages", !messages.as_slice().contains(&0)))
                .or(messages.as_slice().iter().find_map(|count| few([*producers as u64, *count]))),
        }
    }
}

fn known<'a>(name: &str, valid: impl Iterator<Item = &'a str>, complaint: &str) -> Result<(), Mistake> {
    let valid: Vec<&str> = valid.collect();
    if valid.contains(&name) {
        return Ok(());
    }
    let nearest = suggestion(name, valid);
    Err((quoted(name), format!("{complaint} \"{name}\"{nearest}")))
}

fn within(key: &str, values: &[usize], valid: &RangeInclusive<usize>, place: &str) -> Result<(), Mistake> {
    match values.iter().find(|value| !valid.contains(value)) {
        None => Ok(()),
        Some(value) => Err((quoted(place), format!("\"{key}\" is {value}; it must be {}", range(valid)))),
    }
}

fn range(valid: &RangeInclusive<usize>) -> String {
    format!("{} to {}", valid.start(), valid.end())
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
