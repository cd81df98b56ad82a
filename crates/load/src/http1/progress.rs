//! How much of a response came before it was waited for no longer.

use std::fmt;

/// How much of a response came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// Not one byte.
    #[default]
    Nothing,
    /// The beginning of a head, or interim heads alone.
    Head {
        /// The bytes so far of the head that is not complete.
        bytes: usize,
    },
    /// Its head, and some of its body.
    Body {
        /// The status in the head.
        status: u16,
        /// How much of the body came.
        bytes: u64,
        /// How long the body was to be, if the head says so.
        announced: Option<u64>,
    },
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |bytes: u64| if bytes == 1 { "byte" } else { "bytes" };
        match *self {
            Progress::Nothing => f.write_str("nothing came"),
            Progress::Head { bytes: 0 } => f.write_str("only interim heads (1xx) came"),
            Progress::Head { bytes } => write!(f, "{bytes} {} of the head came", unit(bytes as u64)),
            Progress::Body { status, bytes, announced: Some(announced) } => {
                write!(f, "status {status} and {bytes} of {announced} {} of the body came", unit(announced))
            }
            Progress::Body { status, bytes, announced: None } => {
                write!(f, "status {status} and {bytes} {} of the body came, and not its end", unit(bytes))
            }
        }
    }
}
