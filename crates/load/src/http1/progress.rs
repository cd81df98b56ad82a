//! How much of a response had arrived when the client gave up.

use std::fmt;

/// How much of a response arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// No byte arrived.
    #[default]
    Nothing,
    /// The beginning of a head arrived, or only interim heads.
    Head {
        /// The bytes of the incomplete head so far.
        bytes: usize,
    },
    /// The head and some of the body arrived.
    Body {
        /// The status in the head.
        status: u16,
        /// The number of body bytes that arrived.
        bytes: u64,
        /// The announced length of the body, if the head has one.
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
