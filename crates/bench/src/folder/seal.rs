//! The checksum of a line of the journal: a CRC-32 of the line as it would be without it, the last key of the record. So every
//! line stays an object of JSON, and a Tare that knows no checksums names it as a key that it does not know.
//!
//! A line that was torn, or that was joined with the next one, is mostly no JSON. A checksum also finds what is still JSON:
//! digits that a disk has changed. It is no protection against a person, who can compute one too.

/// Between the record and its checksum.
const KEY: &[u8] = b",\"crc32\":\"";
const DIGITS: usize = 8;
/// Of the record, and of the object around it that names it.
const END: &[u8] = b"}}";
/// Why a line is left out.
pub(super) const WRONG: &str = "its checksum is wrong: it was damaged after it was written";

/// The line with its checksum. What does not end as a record does stays without one.
pub(super) fn sealed(line: &str) -> String {
    match line.strip_suffix("}}") {
        Some(open) if !open.ends_with('{') => {
            let sum = crc32fast::hash(line.as_bytes());
            format!("{open},\"crc32\":\"{sum:08x}\"}}}}")
        }
        _ => line.to_owned(),
    }
}

/// The line without its checksum, if it has one: that of an older Tare has none. Absent if it is not the right one.
pub(super) fn unsealed(line: &[u8]) -> Option<Vec<u8>> {
    let Some((open, digits)) = split(line) else { return Some(line.to_vec()) };
    let record = [open, END].concat();
    let sum = format!("{:08x}", crc32fast::hash(&record));
    (sum.as_bytes() == digits).then_some(record)
}

/// What comes before the checksum, and its digits.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(END)?.strip_suffix(b"\"")?;
    let (rest, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(KEY)?, digits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_sealed_line_is_an_object_with_one_key_more() {
        let line = r#"{"ended":{"reason":"complete","elapsed_ns":5}}"#;
        let sealed = sealed(line);
        assert_eq!(sealed, r#"{"ended":{"reason":"complete","elapsed_ns":5,"crc32":"924f72fa"}}"#);
        assert_eq!(unsealed(sealed.as_bytes()).unwrap(), line.as_bytes());
        assert_eq!(unsealed(line.as_bytes()).unwrap(), line.as_bytes(), "of an older Tare");
    }

    proptest! {
        #[test]
        fn whatever_is_changed_in_a_line_no_other_record_is_read(
            reason in ".{0,40}", place in any::<prop::sample::Index>(), change in 1_u8..,
        ) {
            let record = serde_json::json!({"failed": {"row": 1, "reason": reason}});
            let mut bytes = sealed(&record.to_string()).into_bytes();
            prop_assert_eq!(unsealed(&bytes), Some(record.to_string().into_bytes()));
            let place = place.index(bytes.len());
            bytes[place] ^= change;
            // Where the key of the checksum was hit, the record before it is as it was.
            let read = unsealed(&bytes).and_then(|line| serde_json::from_slice::<serde_json::Value>(&line).ok());
            if let Some(read) = read {
                prop_assert_eq!(&read["failed"]["row"], &record["failed"]["row"]);
                prop_assert_eq!(&read["failed"]["reason"], &record["failed"]["reason"]);
            }
        }
    }
}
