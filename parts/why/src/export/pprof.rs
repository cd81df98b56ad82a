//! The format of pprof: `profile.proto`, gzipped. It is a few messages of numbers, which are written here.

use std::{collections::HashMap, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use tare_analysis::why::WhyReport;

use super::Frames;

/// Fields of a message: see `profile.proto` of github.com/google/pprof.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A number; 0 is what a field without a value has.
    fn number(&mut self, field: u64, number: i64) {
        if number != 0 {
            self.varint(field << 3);
            self.varint(number as u64);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// Several numbers in one field.
    fn packed(&mut self, field: u64, numbers: impl Iterator<Item = i64>) {
        let mut all = Message::default();
        numbers.for_each(|number| all.varint(number as u64));
        self.bytes(field, &all.0);
    }

    fn message(&mut self, field: u64, numbers: &[(u64, i64)]) {
        let mut inner = Message::default();
        numbers.iter().for_each(|(field, number)| inner.number(*field, *number));
        self.bytes(field, &inner.0);
    }
}

/// All texts, each once; the first one is empty.
#[derive(Debug)]
struct Texts(Vec<String>, HashMap<String, i64>);

impl Texts {
    fn place(&mut self, text: &str) -> i64 {
        if let Some(place) = self.1.get(text) {
            return *place;
        }
        let place = self.0.len() as i64;
        self.0.push(text.to_owned());
        self.1.insert(text.to_owned(), place);
        place
    }
}

/// One profile, with the ns of a request as a value of each service, and the difference of two as one more: `pprof -sample_index=baseline`
/// chooses among them.
pub fn pprof(report: &WhyReport) -> Vec<u8> {
    let mut texts = Texts(vec![String::new()], HashMap::from([(String::new(), 0)]));
    let mut profile = Message::default();
    let kinds: &[&str] =
        if report.is_difference() { &["baseline", "candidate", "difference"] } else { &["cpu"] };
    for kind in kinds {
        profile.message(1, &[(1, texts.place(kind)), (2, texts.place("nanoseconds"))]);
    }
    for stack in &report.stacks {
        let mut sample = Message::default();
        // From the innermost function.
        sample.packed(1, stack.frames.iter().rev().map(|frame| *frame as i64 + 1));
        let mut values: Vec<i64> = stack.ns.iter().map(|ns| ns.round() as i64).collect();
        if let [old, new] = values[..] {
            values.push(new.saturating_sub(old));
        }
        sample.packed(2, values.into_iter());
        profile.bytes(2, &sample.0);
    }
    let frames = Frames::of(report);
    for (place, name) in report.frames.iter().enumerate() {
        let id = place as i64 + 1;
        let (file, line) = frames.place(name);
        let [name, file] = [name.as_str(), file].map(|text| texts.place(text));
        // A location of its own for each function, since stacks are by function.
        let mut of_line = Message::default();
        of_line.number(1, id);
        of_line.number(2, line);
        let mut location = Message::default();
        location.number(1, id);
        location.bytes(4, &of_line.0);
        profile.bytes(4, &location.0);
        profile.message(5, &[(1, id), (2, name), (3, name), (4, file), (5, line)]);
    }
    let labels =
        report.subjects.iter().zip(kinds).map(|(subject, kind)| format!("{kind}: {}", subject.label));
    let comments: Vec<i64> = labels.map(|label| texts.place(&label)).collect();
    let shown = texts.place(if report.is_difference() { "candidate" } else { "cpu" });
    texts.0.iter().for_each(|text| profile.bytes(6, text.as_bytes()));
    profile.packed(13, comments.into_iter());
    profile.number(14, shown);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&profile.0).and_then(|()| gzip.finish()).expect("memory takes all")
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read as _, process::Command};

    use flate2::read::GzDecoder;
    use tare_host::fixture::has_program;

    use super::{super::tests::report, *};

    #[test]
    fn numbers_are_written_seven_bits_at_a_time() {
        let mut message = Message::default();
        message.number(1, 150);
        message.number(2, 0);
        message.packed(3, [1, 300, -1].into_iter());
        let negative = [&[0xff; 9][..], &[0x01]].concat();
        let expected = [&[0x08, 0x96, 0x01, 0x1a, 13, 0x01, 0xac, 0x02][..], &negative].concat();
        assert_eq!(message.0, expected);
    }

    #[test]
    fn a_profile_has_all_texts() {
        let mut text = Vec::new();
        GzDecoder::new(&pprof(&report())[..]).read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        for word in ["main", "f;g", "candidate: new", "nanoseconds", "src/main.c"] {
            assert!(text.contains(word), "{word}");
        }
    }

    /// The program that the format is made for.
    #[test]
    fn pprof_reads_it() {
        const WHAT: &str = "a profile in the format of pprof";
        if !has_program(WHAT, "go") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("why.pb.gz");
        fs::write(&path, pprof(&report())).unwrap();
        let top = |sample: &str| {
            let words = ["tool", "pprof", "-top", "-unit=ns", "-nodecount=9", sample];
            let ended = Command::new("go")
                .args(words)
                .arg(&path)
                .env("PPROF_TMPDIR", folder.path())
                .output()
                .unwrap();
            assert!(ended.status.success(), "{ended:?}");
            String::from_utf8_lossy(&ended.stdout).into_owned()
        };
        let candidate = top("-sample_index=candidate");
        let line = |text: &str, name: &str| {
            text.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{text}")).to_owned()
        };
        assert!(
            line(&candidate, "f;g").contains("20ns") && line(&candidate, "main").contains("23ns"),
            "{candidate}"
        );
        let difference = top("-sample_index=difference");
        assert!(line(&difference, "f;g").contains("10ns"), "{difference}");
    }
}
