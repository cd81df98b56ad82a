//! The hashes by which git and Git LFS name content.

use std::{fs, io, io::Read, path::Path};

use aws_lc_rs::digest;

use crate::git::ObjectFormat;

/// git's object id: the hash of type, length and content.
pub(super) fn object_id(format: ObjectFormat, kind: &str, content: &[u8]) -> String {
    let mut hash = digest::Context::new(algorithm(format));
    hash.update(format!("{kind} {}\0", content.len()).as_bytes());
    hash.update(content);
    hex(hash.finish().as_ref())
}

pub(super) fn file_id(format: ObjectFormat, path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut hash = digest::Context::new(algorithm(format));
    hash.update(format!("blob {}\0", file.metadata()?.len()).as_bytes());
    hash_rest(&mut file, &mut hash)?;
    Ok(hex(hash.finish().as_ref()))
}

pub(super) fn hash_rest(file: &mut impl Read, hash: &mut digest::Context) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            bytes => hash.update(&buffer[..bytes]),
        }
    }
}

/// git chose SHA-1; here it serves no secrecy.
fn algorithm(format: ObjectFormat) -> &'static digest::Algorithm {
    match format {
        ObjectFormat::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        ObjectFormat::Sha256 => &digest::SHA256,
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn bytes_of_hex(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.as_bytes().chunks(2).filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
}
