//! Which points of an experiment a check is about, and what such a point is called.

use super::{LoadSpec, Point};
use crate::{experiment::LOCAL, figures::Where};

impl Where {
    /// Its keys, as a table calls them.
    pub fn text(&self) -> String {
        let keys = [
            self.part.clone(),
            self.messages.map(|messages| format!("N={messages}")),
            self.delay_ms.map(|delay_ms| format!("t={delay_ms} ms")),
            self.link.clone(),
            self.threads.map(|threads| format!("C={threads}")),
        ];
        keys.into_iter().flatten().collect::<Vec<String>>().join(", ")
    }

    /// Whether `point` is one of them.
    pub fn is(&self, point: &Point) -> bool {
        let link = point.link.as_ref().map_or(LOCAL, |link| link.name.as_str());
        self.part.as_ref().is_none_or(|part| *part == point.part)
            && self.messages.is_none_or(|messages| Some(messages) == messages_published(point))
            && self.delay_ms.is_none_or(|delay_ms| delay_ms == point.service_settings.delay_ms)
            && self.threads.is_none_or(|threads| threads == point.service_settings.threads)
            && self.link.as_ref().is_none_or(|name| name == link)
    }

    /// Whether `other` is `point` but for these keys, in which it is as they say.
    pub fn differs(&self, point: &Point, other: &Point) -> bool {
        let link = |point: &Point| point.link.as_ref().map(|link| link.name.clone());
        self.is(other)
            && (self.part.is_some() || point.part == other.part)
            && (self.messages.is_some() || messages_published(point) == messages_published(other))
            && (self.delay_ms.is_some() || point.service_settings.delay_ms == other.service_settings.delay_ms)
            && (self.threads.is_some() || point.service_settings.threads == other.service_settings.threads)
            && (self.link.is_some() || link(point) == link(other))
    }
}

/// Messages of each producer in the published benchmark.
pub fn messages_published(point: &Point) -> Option<u64> {
    match *point.published() {
        LoadSpec::Batch { messages, .. } => Some(messages),
        _ => None,
    }
}

/// A point, as far as points of one experiment differ: `N=1000, t=0 ms, local, C=28`, or the name of a part.
pub fn point_name(point: &Point) -> String {
    match messages_published(point) {
        Some(messages) => {
            let link = point.link.as_ref().map_or(LOCAL, |link| link.name.as_str());
            format!(
                "N={messages}, t={} ms, {link}, C={}",
                point.service_settings.delay_ms, point.service_settings.threads
            )
        }
        None => point.part.clone(),
    }
}

/// The same as the end of a sentence: ` at N=1000, t=0 ms, local, C=28`, ` in "sweep"`.
pub fn place(point: &Point) -> String {
    match messages_published(point) {
        Some(_) => format!(" at {}", point_name(point)),
        None => format!(" in \"{}\"", point.part),
    }
}
