//! Notes for readers of a service that was adopted from another benchmark.

/// One fact and its reason.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Note {
    pub what: String,
    pub why: String,
    /// Whether something is missing or differs from the entry's image; otherwise for information.
    pub is_lost: bool,
}

impl Note {
    pub(super) fn lost(what: impl Into<String>, why: impl Into<String>) -> Note {
        Note { what: what.into(), why: why.into(), is_lost: true }
    }

    pub(super) fn kept(what: impl Into<String>, why: impl Into<String>) -> Note {
        Note { what: what.into(), why: why.into(), is_lost: false }
    }
}
