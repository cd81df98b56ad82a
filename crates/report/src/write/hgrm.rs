//! Latency percentiles in the text format of HdrHistogram's plotter (`.hgrm`): a file for each row of a run,
//! and for each rate of its open loops, summed over all blocks. They come from the histograms in the run
//! folder, because a document has only some percentiles.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use tare_base::latency::Histogram;
use tare_bench::folder::FILE_BYTES_MAX;
use tare_host::seal;

use super::File;

/// Why there are no latencies.
#[derive(Debug, thiserror::Error)]
pub enum HgrmError {
    #[error("{}: keeps no latency histograms (histograms/ROW/block-NNN.hgrm-v2)", run.display())]
    NoHistograms { run: PathBuf },
}

#[derive(Debug)]
pub struct Latencies {
    /// The files: `ROW.hgrm` for closed loops, `ROW-at-RATE.hgrm` for open ones.
    pub files: Vec<File>,
    /// Histograms that could not be read and are missing, a sentence each.
    pub damage: Vec<String>,
}

/// All latencies in the folder `run`.
///
/// # Errors
/// If it has none.
pub fn hgrm(run: &Path) -> Result<Latencies, HgrmError> {
    let (mut sums, mut damage) = (BTreeMap::<String, Histogram>::new(), Vec::new());
    for row in names(&run.join("histograms")).map_err(|_| HgrmError::NoHistograms { run: run.to_owned() })? {
        let folder = run.join("histograms").join(&row);
        let blocks = match names(&folder) {
            Ok(blocks) => blocks,
            Err(error) => {
                damage.push(format!("histograms/{row}: left out: {error}"));
                continue;
            }
        };
        for block in blocks {
            let Some(point) = point(&block) else { continue };
            match read(&folder.join(&block)) {
                Ok(histogram) => sums.entry(format!("{row}{point}.hgrm")).or_default().merge(&histogram),
                Err(reason) => damage.push(format!("histograms/{row}/{block}: left out: {reason}")),
            }
        }
    }
    if sums.is_empty() && damage.is_empty() {
        return Err(HgrmError::NoHistograms { run: run.to_owned() });
    }
    let files = sums.into_iter().map(|(name, sum)| File { name, bytes: text(&sum) }).collect();
    Ok(Latencies { files, damage })
}

/// The suffix after the block in a histogram's file name: empty for a closed loop, `-at-RATE` for an open
/// one.
fn point(file: &str) -> Option<&str> {
    let name = file.strip_prefix("block-")?.strip_suffix(".hgrm-v2")?;
    let point = name.trim_start_matches(|c: char| c.is_ascii_digit());
    (point.is_empty() || point.starts_with("-at-")).then_some(point)
}

fn read(path: &Path) -> Result<Histogram, String> {
    let bytes = seal::LAST_LINE.read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    Histogram::deserialize(&bytes).map_err(|error| error.to_string())
}

fn text(histogram: &Histogram) -> Vec<u8> {
    let mut bytes = Vec::new();
    histogram.write_hgrm(&mut bytes).expect("memory takes all");
    bytes
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let mut names: Vec<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use tare_bench::folder::histogram_path;

    use super::*;

    fn keep(run: &Path, label: &str, block: usize, point: Option<&str>, latencies_ns: &[u64]) -> PathBuf {
        let mut histogram = Histogram::default();
        latencies_ns.iter().for_each(|ns| histogram.record(*ns));
        let path = histogram_path(run, label, block, point);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, histogram.serialize()).unwrap();
        path
    }

    #[test]
    fn all_blocks_of_a_row_are_added_up_and_rates_are_apart() {
        let run = tempfile::tempdir().unwrap();
        let run = run.path();
        keep(run, "hyper", 0, None, &[1_000_000]);
        keep(run, "hyper", 1, None, &[2_000_000]);
        keep(run, "hyper", 1, Some("5000/s"), &[4_000_000]);
        keep(run, "ulfius:1000", 0, None, &[3_000_000]);
        let found = hgrm(run).unwrap();
        assert!(found.damage.is_empty());
        let names: Vec<&str> = found.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["hyper-at-5000+s.hgrm", "hyper.hgrm", "ulfius+1000.hgrm"]);
        insta::assert_snapshot!(String::from_utf8(found.files[1].bytes.clone()).unwrap());
    }

    #[test]
    fn what_cannot_be_read_is_named_and_left_out() {
        let run = tempfile::tempdir().unwrap();
        let run = run.path();
        let none = hgrm(run).unwrap_err().to_string();
        assert!(none.ends_with("keeps no latency histograms (histograms/ROW/block-NNN.hgrm-v2)"), "{none}");
        keep(run, "hyper", 0, None, &[1_000_000]);
        let cut = keep(run, "hyper", 1, None, &[2_000_000]);
        fs::write(&cut, &fs::read(&cut).unwrap()[..10]).unwrap();
        fs::write(cut.with_file_name("notes.txt"), "mine").unwrap();
        let found = hgrm(run).unwrap();
        assert!(
            found.damage[0].starts_with("histograms/hyper/block-001.hgrm-v2: left out: "),
            "{:?}",
            found.damage
        );
        assert_eq!((found.files.len(), found.damage.len()), (1, 1));
        let text = String::from_utf8(found.files[0].bytes.clone()).unwrap();
        assert!(text.contains("Total count    =            1]"), "{text}");
    }
}
