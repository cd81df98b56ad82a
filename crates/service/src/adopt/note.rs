//! What a reader has to know of a service that was made of a foreign entry.

/// One thing, and why it is so.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Note {
    pub what: String,
    pub why: String,
    /// It is missing, or another one than in the entry's image. Else it was carried over and is only worth knowing.
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
