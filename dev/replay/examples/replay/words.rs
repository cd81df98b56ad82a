//! The arguments of the command line.

pub struct Words {
    pub run: String,
    /// The number of runs per line.
    pub runs: u64,
    pub seed: u64,
    /// The injected slowdown: 0.02 for 2% more CPU.
    pub inject: f64,
    /// Names of rows; empty for all rows.
    pub rows: Vec<String>,
}

const USAGE: &str = "give a run folder, and [--runs 1000] [--seed 1] [--inject 2%] [--rows A,B]";

impl Words {
    /// Parses them, without the program's own name.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Words, String> {
        let mut read = Words { run: String::new(), runs: 1_000, seed: 1, inject: 0.02, rows: Vec::new() };
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                read.run = word;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a value: {USAGE}"))?;
            let wrong = |what: &str| format!("\"{value}\" is not {what}: {USAGE}");
            match word.as_str() {
                "--runs" => {
                    let count = value.parse().ok().filter(|count| *count > 0);
                    read.runs = count.ok_or_else(|| wrong("a number of runs"))?;
                }
                "--seed" => read.seed = value.parse().map_err(|_| wrong("a seed"))?,
                "--inject" => {
                    let percent = value.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok());
                    let percent = percent.filter(|percent| (0.0..1_000.0).contains(percent));
                    read.inject = percent.ok_or_else(|| wrong("a share such as 2%"))? / 100.0;
                }
                "--rows" => read.rows = value.split(',').map(str::to_owned).collect(),
                _ => return Err(format!("unknown word \"{word}\": {USAGE}")),
            }
        }
        if read.run.is_empty() { Err(USAGE.to_owned()) } else { Ok(read) }
    }
}
