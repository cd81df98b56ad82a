//! Which points of an experiment a check is about, and how a point is named.

use super::{LoadSpec, Point};
use crate::{experiment::LOCAL, figures::Where};

impl Where {
    /// The given keys, as a table shows them.
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

    /// All keys of a point.
    fn of(point: &Point) -> Where {
        Where {
            part: Some(point.part.clone()),
            messages: messages_published(point),
            delay_ms: Some(point.service_settings.delay_ms),
            threads: Some(point.service_settings.threads),
            link: Some(link_name(point).to_owned()),
        }
    }

    /// Whether `point` matches the given keys.
    pub fn is(&self, point: &Point) -> bool {
        self.differs(point, point)
    }

    /// Whether `other` has the given keys, and equals `point` in all other keys.
    pub fn differs(&self, point: &Point, other: &Point) -> bool {
        let point = Where::of(point);
        let wanted = Where {
            part: self.part.clone().or(point.part),
            messages: self.messages.or(point.messages),
            delay_ms: self.delay_ms.or(point.delay_ms),
            threads: self.threads.or(point.threads),
            link: self.link.clone().or(point.link),
        };
        wanted == Where::of(other)
    }
}

fn link_name(point: &Point) -> &str {
    point.link.as_ref().map_or(LOCAL, |link| link.name.as_str())
}

/// Messages of each producer in the published benchmark.
pub fn messages_published(point: &Point) -> Option<u64> {
    match *point.published() {
        LoadSpec::Batch { messages, .. } => Some(messages),
        _ => None,
    }
}

/// Name of a point: what differs between points, `N=1000, t=0 ms, local, C=28`, or its part.
pub fn point_name(point: &Point) -> String {
    match messages_published(point) {
        Some(_) => Where { part: None, ..Where::of(point) }.text(),
        None => point.part.clone(),
    }
}

/// The name as the end of a sentence: ` at N=1000, t=0 ms, local, C=28`, ` in "sweep"`.
pub fn place(point: &Point) -> String {
    match messages_published(point) {
        Some(_) => format!(" at {}", point_name(point)),
        None => format!(" in \"{}\"", point.part),
    }
}
