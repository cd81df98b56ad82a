//! Shortens the output of a service to its beginning, its end, and the number of omitted bytes. It knows
//! nothing of services.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// Longer files are shortened.
const BYTES_MAX: u64 = 4 << 20;
/// Size of the beginning and of the end that stay.
const KEPT_BYTES: u64 = 512 * 1024;

/// Shortens a file that is too long. Nothing may write to it meanwhile; later output is appended.
pub(super) fn shorten(path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    if !metadata.is_file() || metadata.len() <= BYTES_MAX {
        return Ok(());
    }
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let end = part(&mut file, metadata.len() - KEPT_BYTES)?;
    let left_out = metadata.len() - 2 * KEPT_BYTES;
    file.set_len(KEPT_BYTES)?;
    file.seek(SeekFrom::Start(KEPT_BYTES))?;
    writeln!(file, "\n[tare left out {left_out} bytes here]")?;
    file.write_all(&end)
}

fn part(file: &mut File, from: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(KEPT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end_and_says_what_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        let mut appended = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        appended.write_all(&[&b"first"[..], &vec![b'x'; BYTES_MAX as usize], b"last"].concat()).unwrap();
        shorten(&path).unwrap();
        let kept = fs::read_to_string(&path).unwrap();
        assert!(kept.starts_with("first") && kept.ends_with("last"));
        let left_out = BYTES_MAX + 9 - 2 * KEPT_BYTES;
        assert!(kept.contains(&format!("\n[tare left out {left_out} bytes here]\n")));
        assert!((kept.len() as u64) < 2 * KEPT_BYTES + 100);
        appended.write_all(b"more").unwrap();
        shorten(&path).unwrap();
        assert!(fs::read_to_string(&path).unwrap().ends_with("lastmore"), "one that is short stays as it is");
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        shorten(Path::new("/dev/null")).unwrap();
        assert!(shorten(Path::new("/no/such/file")).is_err());
    }
}
