//! The list of runs as a page, in the style of the report. The caller provides the runs and their addresses.

use askama::Template;
use jiff::Timestamp;

use crate::document::{Document, Status, Unit};

use super::html;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ListedRun {
    pub name: String,
    /// The address of its page; `None` if it has none.
    pub link: Option<String>,
    pub title: String,
    /// When it began, RFC 3339, UTC; empty if that cannot be read.
    pub began: String,
    pub kind: String,
    pub state: RunState,
    /// The result, or why the run cannot be reported.
    pub text: String,
    /// The total size of its folder; `None` while it grows.
    pub bytes: Option<u64>,
}

/// The progress of a run in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    Known(Status),
    /// Only its head was read.
    Unread,
    /// It cannot be read, or is no run.
    Broken,
}

#[derive(Template)]
#[template(path = "runs.html")]
struct Runs<'a> {
    runs: &'a [ListedRun],
    events: &'a str,
    now: &'a str,
}

/// The page. `events` is the path of the events about changes of the list.
///
/// # Errors
/// None that a name can cause: the template writes into memory.
pub fn page(runs: &[ListedRun], events: &str, now: Timestamp) -> Result<String, askama::Error> {
    let now = now.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    html::frame("Runs - Tare", &Runs { runs, events, now: &now }.render()?)
}

impl ListedRun {
    /// The list entry of a run that was read. If nothing can be shown, its damage is the answer.
    #[must_use]
    pub fn of(name: &str, link: String, document: &Document) -> ListedRun {
        let is_broken = document.sections.is_empty() && !document.damage.is_empty();
        ListedRun {
            name: name.to_owned(),
            link: Some(link),
            title: document.title.clone(),
            began: document.began.clone(),
            kind: document.kind.text().to_owned(),
            state: if is_broken { RunState::Broken } else { RunState::Known(document.status) },
            text: if is_broken { document.damage.join(" ") } else { document.answer.clone() },
            bytes: None,
        }
    }

    /// A class for the style, and a text.
    fn state(&self) -> (&'static str, &'static str) {
        match self.state {
            RunState::Known(Status::Running) => (Status::Running.name(), "live"),
            RunState::Known(status) => (status.name(), status.text()),
            RunState::Unread => ("unread", "not read yet"),
            RunState::Broken => ("broken", "not readable"),
        }
    }

    fn size(&self) -> String {
        self.bytes.map_or_else(|| "-".to_owned(), |bytes| Unit::Bytes.show(bytes as f64))
    }

    fn datetime(&self) -> String {
        html::datetime(&self.began)
    }

    /// The start, to the minute; a text that is no time is unchanged.
    fn when(&self) -> String {
        match self.began.parse::<Timestamp>() {
            Ok(began) => began.strftime("%Y-%m-%d %H:%M").to_string(),
            Err(_) => self.began.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, state: RunState) -> ListedRun {
        ListedRun {
            name: name.to_owned(),
            link: Some(format!("/run/{name}")),
            title: "Title".to_owned(),
            began: "2026-11-21T14:20:05.078Z".to_owned(),
            kind: "interleaved experiment".to_owned(),
            state,
            text: "Text.".to_owned(),
            bytes: Some(2_000_000),
        }
    }

    #[test]
    fn names_are_text_whatever_they_are() {
        let hostile = ListedRun {
            title: "</script><script>alert(1)</script>".to_owned(),
            ..listed("a\"b<c", RunState::Unread)
        };
        let page = page(&[hostile], "/events", Timestamp::UNIX_EPOCH).unwrap();
        assert!(!page.contains("<script>alert") && !page.contains("b<c"), "{page}");
    }

    #[test]
    fn a_run_is_told_by_its_state_its_time_and_its_size() {
        let runs = [
            listed("old", RunState::Known(Status::CutOff)),
            ListedRun { bytes: None, ..listed("new", RunState::Known(Status::Running)) },
        ];
        let page = page(&runs, "/events", Timestamp::UNIX_EPOCH).unwrap();
        for text in [
            "2026-11-21 14:20",
            "cut off",
            "live",
            "href=\"/run/old\"",
            "data-events=\"/events\"",
            &Unit::Bytes.show(2e6),
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }

    #[test]
    fn an_empty_list_says_how_to_make_a_run() {
        assert!(page(&[], "/events", Timestamp::UNIX_EPOCH).unwrap().contains("tare run quick"));
    }
}
