//! The results and the list of durations. The last line has the format of `cargo test`, for CI systems.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    fmt::{self, Write as _},
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::{
    Test,
    process::{self, Ended, Outcome},
};

/// A test that takes longer is printed with its time.
const SLOW: Duration = Duration::from_secs(5);
/// A single test should not take longer, unless `dev/tests.toml` lists it among the first tests.
const LONG: Duration = Duration::from_secs(30);

pub(super) struct Output {
    times: PathBuf,
    /// Written after each test, so that results survive an abort.
    journal: File,
    began: Instant,
    left_out: usize,
    passed: usize,
    ignored: usize,
    failed: Vec<String>,
    ended: Vec<Line>,
}

/// A test in the list of times.
struct Line {
    wall: Duration,
    cpu: Duration,
    group: String,
    binary: String,
    name: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { wall, cpu, group, name, .. } = self;
        write!(f, "{:.2}\t{:.2}\t{group}\t{name}", wall.as_secs_f64(), cpu.as_secs_f64())
    }
}

pub(super) fn list(tests: &[Test]) {
    for test in tests {
        println!("{}\t{}", test.group.map_or("-", |group| &group.name), test.name);
    }
}

impl Output {
    pub(super) fn new(root: &Path, tests: usize, left_out: usize) -> Result<Output> {
        let folder = process::folder(root);
        fs::create_dir_all(&folder)?;
        let times = folder.join("times.tsv");
        let journal = File::create(&times)?;
        println!("running {tests} tests");
        Ok(Output {
            times,
            journal,
            began: Instant::now(),
            left_out,
            passed: 0,
            ignored: 0,
            failed: Vec::new(),
            ended: Vec::new(),
        })
    }

    /// Records the end of a test, and prints failures, skips and slow tests.
    pub(super) fn ended(&mut self, test: &Test, ended: Ended) -> Result<()> {
        let name = &test.name;
        for line in ended.printed.lines().filter(|line| line.starts_with("skipped: ")) {
            println!("{line} [{name}]");
        }
        let seconds = format!("{:7.2} s", ended.wall.as_secs_f64());
        match ended.outcome {
            Outcome::Passed { passed, ignored } => {
                self.passed += passed;
                self.ignored += ignored;
                if ended.wall >= SLOW {
                    println!("ok      {seconds}  {name}");
                }
            }
            Outcome::Failed | Outcome::TimedOut => {
                println!("\n{}\nFAILED  {seconds}  {name}\n", ended.printed);
                self.failed.push(name.clone());
            }
        }
        let line = Line {
            wall: ended.wall,
            cpu: ended.cpu,
            group: test.group.map_or("-", |group| &group.name).to_owned(),
            binary: test.binary.id.clone(),
            name: name.clone(),
        };
        writeln!(self.journal, "{line}")?;
        self.ended.push(line);
        Ok(())
    }

    /// Adds the documentation examples; Cargo prints one line of results per crate.
    pub(super) fn doctests(&mut self, (printed, is_fine): (String, bool)) {
        let results = printed.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
        let passed = results.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        self.passed += passed.sum::<usize>();
        if !is_fine {
            println!("{printed}");
            self.failed.push("examples of the documentation".to_owned());
        }
    }

    /// Rewrites the list of durations, the longest first.
    fn sort_times(&mut self) -> Result<()> {
        self.ended.sort_by_key(|line| Reverse(line.wall));
        let mut text = "wall_s\tcpu_s\tgroup\ttest\n".to_owned();
        for line in &self.ended {
            writeln!(text, "{line}")?;
        }
        Ok(fs::write(&self.times, text)?)
    }

    /// Prints the totals of time, and the result.
    pub(super) fn close(mut self) -> Result<ExitCode> {
        self.sort_times()?;
        let mut programs: BTreeMap<&str, (usize, Duration, Duration)> = BTreeMap::new();
        for line in &self.ended {
            let (tests, wall, cpu) = programs.entry(&line.binary).or_default();
            *tests += 1;
            *wall += line.wall;
            *cpu += line.cpu;
        }
        println!("\n tests   wall s    CPU s  program");
        for (program, (tests, wall, cpu)) in programs {
            println!("{tests:6} {:8.1} {:8.1}  {program}", wall.as_secs_f64(), cpu.as_secs_f64());
        }
        for line in self.ended.iter().filter(|line| line.wall > LONG) {
            println!("longer than {} s: {:.0} s  {}", LONG.as_secs(), line.wall.as_secs_f64(), line.name);
        }
        println!("times of all tests: {}", self.times.display());
        if !self.failed.is_empty() {
            println!("\nfailures:\n    {}", self.failed.join("\n    "));
        }
        let result = if self.failed.is_empty() { "ok" } else { "FAILED" };
        println!(
            "\ntest result: {result}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
            self.passed,
            self.failed.len(),
            self.ignored,
            self.left_out,
            self.began.elapsed().as_secs_f64()
        );
        Ok(if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(101) })
    }
}
