//! A bundle on the network: the length of its `bundle.json` in eight bytes, little-endian; `bundle.json`; and
//! the contents of its files in sequence, with the order and lengths from `bundle.json`. It does no I/O:
//! bytes in, pieces out.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use crate::bundle::{BundleHead, HEAD, HEAD_BYTES_MAX, StoredFile};

const LENGTH_BYTES: usize = 8;
/// The longest file name of common file systems.
const NAME_BYTES_MAX: usize = 255;
const PATH_BYTES_MAX: usize = 2000;

/// A piece of a bundle, in the order of arrival.
#[derive(Debug, PartialEq)]
pub enum BundlePiece<'a> {
    /// The head, parsed and as received.
    Head(&'a BundleHead, &'a [u8]),
    Begin(&'a StoredFile),
    Data(&'a [u8]),
    End,
}

/// Why bytes are no bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    #[error("its head has {0} bytes: no bundle has that")]
    HeadLength(u64),
    #[error("its head cannot be read: {0}")]
    Head(String),
    #[error("a file of it has a path that no bundle has: {0:?}")]
    Path(String),
    #[error(
        "it has {bytes} bytes, and the collector takes at most {bytes_max}: see `tare cluster collect --max-size`"
    )]
    TooLarge { bytes: u64, bytes_max: u64 },
    #[error("more follows after its last file")]
    TooLong,
}

#[derive(Debug)]
enum State {
    Length { bytes: [u8; LENGTH_BYTES], count: usize },
    Head { bytes: Vec<u8>, length: usize },
    Files { head: Box<BundleHead>, next: usize, left: u64 },
}

/// The received part of a bundle.
#[derive(Debug)]
pub struct Unpack {
    bytes_max: u64,
    state: State,
}

impl Unpack {
    /// Unpacks a bundle of at most this size.
    pub fn new(bytes_max: u64) -> Unpack {
        Unpack { bytes_max, state: State::Length { bytes: [0; LENGTH_BYTES], count: 0 } }
    }

    /// Processes received bytes. After an error it accepts no more.
    ///
    /// # Errors
    /// It is no bundle, or `each` refuses a piece.
    pub fn push<E: From<UnpackError>>(
        &mut self,
        mut input: &[u8],
        each: &mut impl FnMut(BundlePiece) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            match &mut self.state {
                State::Length { bytes, count } => {
                    let taken = take(&mut input, LENGTH_BYTES - *count);
                    bytes[*count..*count + taken.len()].copy_from_slice(taken);
                    *count += taken.len();
                    if *count < LENGTH_BYTES {
                        return Ok(());
                    }
                    let length = u64::from_le_bytes(*bytes);
                    self.state = State::Head { bytes: Vec::new(), length: head_length(length)? };
                }
                State::Head { bytes, length } => {
                    bytes.extend_from_slice(take(&mut input, *length - bytes.len()));
                    if bytes.len() < *length {
                        return Ok(());
                    }
                    let head = BundleHead::parse(bytes).map_err(UnpackError::Head)?;
                    checked(&head, bytes.len(), self.bytes_max)?;
                    each(BundlePiece::Head(&head, bytes))?;
                    self.state = State::Files { head: Box::new(head), next: 0, left: 0 };
                    self.begin(each)?;
                }
                State::Files { head, next, left } => {
                    if *next > head.files().len() {
                        return if input.is_empty() { Ok(()) } else { Err(UnpackError::TooLong.into()) };
                    }
                    let taken = take(&mut input, usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= taken.len() as u64;
                    if !taken.is_empty() {
                        each(BundlePiece::Data(taken))?;
                    }
                    if *left > 0 {
                        return Ok(());
                    }
                    each(BundlePiece::End)?;
                    self.begin(each)?;
                }
            }
        }
    }

    /// Begins the next file, and those without content that follow it.
    fn begin<E>(&mut self, each: &mut impl FnMut(BundlePiece) -> Result<(), E>) -> Result<(), E> {
        let State::Files { head, next, left } = &mut self.state else { return Ok(()) };
        while let Some(file) = head.files().get(*next) {
            *next += 1;
            *left = file.bytes;
            each(BundlePiece::Begin(file))?;
            if *left > 0 {
                return Ok(());
            }
            each(BundlePiece::End)?;
        }
        // One beyond the last file.
        *next = head.files().len() + 1;
        Ok(())
    }

    /// Whether the bundle is complete.
    pub fn is_whole(&self) -> bool {
        matches!(&self.state, State::Files { head, next, .. } if *next > head.files().len())
    }
}

/// The bytes before the files.
pub fn preamble(head: &[u8]) -> Vec<u8> {
    [&(head.len() as u64).to_le_bytes()[..], head].concat()
}

/// The total length.
pub fn packed_bytes(head: &BundleHead, head_bytes: usize) -> u64 {
    let files = head.files().iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
    files.saturating_add((LENGTH_BYTES + head_bytes) as u64)
}

fn take<'i>(input: &mut &'i [u8], bytes_max: usize) -> &'i [u8] {
    let (taken, rest) = input.split_at(input.len().min(bytes_max));
    *input = rest;
    taken
}

fn head_length(length: u64) -> Result<usize, UnpackError> {
    match length {
        1..=HEAD_BYTES_MAX => usize::try_from(length).map_err(|_| UnpackError::HeadLength(length)),
        _ => Err(UnpackError::HeadLength(length)),
    }
}

/// Checks that exactly these files can be written into an empty folder.
fn checked(head: &BundleHead, head_bytes: usize, bytes_max: u64) -> Result<(), UnpackError> {
    let bytes = packed_bytes(head, head_bytes);
    if bytes > bytes_max {
        return Err(UnpackError::TooLarge { bytes, bytes_max });
    }
    let mut known = BTreeSet::from([HEAD]);
    for file in head.files() {
        if !is_plain(&file.path) || !known.insert(&file.path) {
            return Err(UnpackError::Path(file.path.clone()));
        }
    }
    let is_below_a_file = |path: &str| path.match_indices('/').any(|(at, _)| known.contains(&path[..at]));
    match head.files().iter().find(|file| is_below_a_file(&file.path)) {
        Some(file) => Err(UnpackError::Path(file.path.clone())),
        None => Ok(()),
    }
}

/// Whether the path has its normal form, and leads downwards.
fn is_plain(path: &str) -> bool {
    let parts = || path.split('/');
    path.len() <= PATH_BYTES_MAX
        && !path.contains('\0')
        && parts().all(|part| (1..=NAME_BYTES_MAX).contains(&part.len()) && part != "." && part != "..")
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}
