//! Why a service costs what it does, or more than another: `why.json` of a run folder. Slices of their own were sampled for it, after the
//! run. A part measures; this module knows only the file, and what it says in a sentence.

mod words;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tare_host::foreign;
use tare_stats::simultaneous::MeanInterval;

use words::shown;
pub use words::{plain_ns, signed_ns, with_interval};

/// The name of the file in its run folder.
pub const NAME: &str = "why.json";
/// The version of the file: `major.minor`.
pub const FORMAT: &str = "1.1";
/// The largest file that is read.
const BYTES_MAX: u64 = 256 << 20;
/// How many packages a sentence names.
const PACKAGES_SAID: usize = 3;
/// What all time in the kernel counts as, with or without its functions.
pub const KERNEL: &str = "[kernel]";
/// The package of the service's own functions.
pub const OWN_CODE: &str = "own code";
/// The unit of times.
pub const NANOSECONDS: &str = "ns";
/// With a greater share of samples without a name, a profile is no answer.
pub const UNNAMED_MAX: f64 = 0.2;

/// What one service, or the difference of two, consists of. Times are of one request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WhyReport {
    pub format: String,
    /// Baseline and candidate; or one service alone.
    pub subjects: Vec<ProfiledSubject>,
    /// Fresh starts of each, which are the samples of the statistics.
    pub blocks: usize,
    /// Time of a thread on a CPU between two samples.
    pub period_ns: u64,
    /// How callers were found, in words.
    pub chains: String,
    /// By how much a request of sampled slices costs more than one of slices that were not: 0.01 is 1%. Absent with too few of these.
    pub sampling_cost: Option<MeanInterval>,
    /// What the intervals of all functions hold with, together.
    pub confidence: f64,
    /// CPU time of the candidate less that of the baseline; absent for one service alone, or with too few blocks.
    pub difference: Option<MeanInterval>,
    /// The functions that had enough samples, those that explain the difference first.
    pub functions: Vec<FunctionCost>,
    /// The deepest functions that together explain the difference, as places in `functions`. Empty if none does.
    pub answer: Vec<usize>,
    /// The answer and what it calls, in the order of a reader.
    pub lines: Vec<WhyLine>,
    /// What the lines of the functions in the answer cost the candidate; of one service, those of its most expensive functions.
    pub source_lines: Vec<LineCost>,
    /// What each package costs by the own time of its functions: together they are the request.
    pub packages: Vec<PackageCost>,
    /// What else changed, such as system calls or garbage collection.
    pub others: Vec<OtherChange>,
    /// Why the answer is withheld, if it is.
    pub withheld: Option<String>,
    /// Facts that are needed to interpret it, a sentence each.
    pub notes: Vec<String>,
    /// All call stacks with their times, for exports. Each is from the outermost function, as places in `frames`.
    pub frames: Vec<String>,
    pub stacks: Vec<StackCost>,
    /// What a request of each row of a run consists of: each is a report of one subject. All else is then empty.
    pub profiles: Vec<WhyReport>,
}

/// A service whose slices were sampled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProfiledSubject {
    pub label: String,
    /// CPU time of the sampled slices.
    pub cpu_ns: f64,
    pub samples: u64,
    /// Samples for which the kernel had no room.
    pub lost: u64,
    /// Share of the samples whose function has no name.
    pub unnamed_share: f64,
    /// Share of the call chains that do not reach the beginning of their thread.
    pub broken_share: f64,
    /// Its runtime, if one that makes code at run time, and the variables with which it was started for that.
    pub runtime: Option<String>,
    /// Build ids of its programs and libraries.
    pub build_ids: Vec<String>,
}

/// A function, and what it costs each subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionCost {
    pub name: String,
    /// The library that it is in; empty for the program itself.
    pub module: String,
    /// The crate, package or library, or `own code`.
    pub package: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// The address at which a forge shows its file at the commit that was measured, if it is own code.
    pub page: Option<String>,
    /// For each subject, its own time.
    pub own_ns: Vec<f64>,
    /// For each subject, its time with all that it calls.
    pub all_ns: Vec<f64>,
    pub own_difference: Option<MeanInterval>,
    pub all_difference: Option<MeanInterval>,
}

/// A line of a function, and what it costs the last subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineCost {
    /// A place in `functions`.
    pub function: usize,
    pub line: u32,
    /// Without what the line calls.
    pub own_ns: f64,
    pub all_ns: f64,
    /// The interval of `all_ns`; absent with too few blocks.
    pub all_interval: Option<MeanInterval>,
}

/// A crate, a package of Go, npm, PyPI or Java, an assembly, or a library, and what it costs each subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackageCost {
    pub name: String,
    /// For each subject, the own time of its functions.
    pub own_ns: Vec<f64>,
    pub difference: Option<MeanInterval>,
}

/// A line of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WhyLine {
    /// A place in `functions`.
    pub function: usize,
    /// How far it is indented: below what calls it.
    pub depth: usize,
}

/// Something else than a function: a count, or what a runtime does for the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherChange {
    /// What it is, such as `page faults` or `garbage collector`.
    pub name: String,
    /// [`NANOSECONDS`], `bytes`, or empty for counts.
    pub unit: String,
    /// For each subject, a request's.
    pub values: Vec<f64>,
    pub difference: Option<MeanInterval>,
}

/// A call stack, and its own time for each subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StackCost {
    pub frames: Vec<usize>,
    pub ns: Vec<f64>,
}

/// Why there is no such file to read.
#[derive(Debug, thiserror::Error)]
pub enum WhyFileError {
    #[error("{}: has no {NAME}: `tare compare ... --why` makes one", .0.display())]
    None(std::path::PathBuf),
    #[error("{NAME}: {0}")]
    Io(#[from] std::io::Error),
    #[error("{NAME} cannot be understood: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{NAME} has the format \"{0}\", which this tare does not know; it knows {FORMAT}")]
    Format(String),
}

/// A row that was not profiled.
#[derive(Debug, thiserror::Error)]
#[error("no row \"{label}\" was profiled in this run; these were: {known}")]
pub struct NoSuchRow {
    label: String,
    known: String,
}

impl WhyReport {
    /// What is stored in a run folder.
    ///
    /// # Errors
    /// There is nothing, it cannot be read, or a later Tare wrote it.
    pub fn read(run: &Path) -> Result<WhyReport, WhyFileError> {
        let path = run.join(NAME);
        if !path.exists() {
            return Err(WhyFileError::None(run.to_owned()));
        }
        let report: WhyReport = foreign::json(&foreign::read(&path, BYTES_MAX)?)?;
        match report.format.split_once('.') {
            Some((major, _)) if FORMAT.starts_with(&format!("{major}.")) => Ok(report.within_bounds()),
            _ => Err(WhyFileError::Format(report.format)),
        }
    }

    /// Without places that lead nowhere.
    fn within_bounds(mut self) -> WhyReport {
        let (functions, frames, subjects) = (self.functions.len(), self.frames.len(), self.subjects.len());
        self.answer.retain(|place| *place < functions);
        self.lines.retain(|line| line.function < functions);
        self.source_lines.retain(|line| line.function < functions);
        self.stacks
            .retain(|stack| stack.frames.iter().all(|frame| *frame < frames) && stack.ns.len() == subjects);
        self.functions.iter_mut().for_each(|function| {
            function.own_ns.resize(subjects, 0.0);
            function.all_ns.resize(subjects, 0.0);
        });
        self.packages.retain(|package| package.own_ns.len() == subjects);
        self.others.retain(|other| other.values.len() == subjects);
        self.profiles = self.profiles.into_iter().map(WhyReport::within_bounds).collect();
        self
    }

    /// The report of a run of which each row was sampled alone.
    pub fn of_rows(profiles: Vec<WhyReport>) -> WhyReport {
        WhyReport { format: FORMAT.to_owned(), profiles, ..WhyReport::default() }
    }

    /// The profile of the row with this label.
    ///
    /// # Errors
    /// There is no such row.
    pub fn row(self, label: &str) -> Result<WhyReport, NoSuchRow> {
        let labels = self.profiles.iter().flat_map(|report| &report.subjects).map(|subject| &*subject.label);
        let known = labels.collect::<Vec<_>>().join(", ");
        let is_it = |report: &WhyReport| report.subjects.iter().any(|subject| subject.label == label);
        let found = self.profiles.into_iter().find(is_it);
        found.ok_or_else(|| NoSuchRow { label: label.to_owned(), known })
    }

    /// Whether it is of two services.
    pub fn is_difference(&self) -> bool {
        self.subjects.len() == 2
    }

    /// The answer in a sentence.
    pub fn answer_text(&self) -> String {
        if let Some(why) = &self.withheld {
            return format!("no answer: {why}");
        }
        if !self.is_difference() {
            let cost = self.subjects.first().map_or(0.0, |subject| subject.cpu_ns);
            let packages = self.packages_text().unwrap_or_default();
            return format!("a request costs {} of CPU time{packages}", plain_ns(cost));
        }
        let Some(difference) = self.difference else {
            return format!("no answer: only {} blocks could be sampled", self.blocks);
        };
        if !difference.excludes_zero() && self.answer.is_empty() {
            return format!(
                "no function differs; a request differs by {} of CPU time",
                with_interval(&difference)
            );
        }
        let of = format!("of {}", signed_ns(difference.mean));
        if self.answer.is_empty() {
            let why = "it is spread over many, or too small for these samples";
            let most = self.packages_text().or_else(|| self.moved_most_text()).unwrap_or_default();
            let chores = self.chores_text(difference.mean.signum());
            return format!("no function explains the {}: {why}{chores}{most}", with_interval(&difference));
        }
        let named = self.answer.iter().map(|place| {
            let function = &self.functions[*place];
            let interval = function.all_difference.unwrap_or_default();
            format!("`{}`{} {}", function.name_shown(), function.place_text(), with_interval(&interval))
        });
        let below: Vec<String> = self
            .below()
            .map(|function| {
                let interval = function.all_difference.unwrap_or_default();
                format!("`{}` {}", function.name_shown(), signed_ns(interval.mean))
            })
            .take(3)
            .collect();
        let below = if below.is_empty() { String::new() } else { format!("; below it {}", below.join(", ")) };
        format!("{} {of}{below}", named.collect::<Vec<_>>().join(", "))
    }

    /// The function whose own time moved most in the direction of the whole, whatever its interval.
    fn moved_most(&self) -> Option<&FunctionCost> {
        let sign = self.difference?.mean.signum();
        let moved = |function: &&FunctionCost| function.own_difference.map_or(0.0, |own| own.mean * sign);
        self.functions
            .iter()
            .filter(|function| moved(function) > 0.0)
            .max_by(|a, b| moved(a).total_cmp(&moved(b)))
    }

    /// The end of a sentence that names it.
    fn moved_most_text(&self) -> Option<String> {
        let most = self.moved_most()?;
        let interval = most.own_difference.unwrap_or_default();
        Some(format!("; the own time of `{}` moved most: {}", most.name_shown(), with_interval(&interval)))
    }

    /// The part of a sentence that names what a runtime surely does more of, or less, as the whole moved.
    fn chores_text(&self, sign: f64) -> String {
        let moved = |other: &&OtherChange| {
            other.unit == NANOSECONDS
                && other.difference.is_some_and(|one| one.excludes_zero() && one.mean * sign > 0.0)
        };
        let text = |other: &OtherChange| {
            format!("; {} {}", other.name, with_interval(&other.difference.unwrap_or_default()))
        };
        self.others.iter().filter(moved).map(text).collect()
    }

    /// The end of a sentence that names the packages that cost most, of a difference those that surely moved as the whole did.
    fn packages_text(&self) -> Option<String> {
        let sign = self.difference.map_or(1.0, |whole| whole.mean.signum());
        let cost = |package: &PackageCost| match package.difference {
            Some(moved) if moved.excludes_zero() => moved.mean * sign,
            None if !self.is_difference() => package.own_ns.iter().sum(),
            _ => 0.0,
        };
        let mut dearest: Vec<&PackageCost> =
            self.packages.iter().filter(|package| cost(package) > 0.0).collect();
        dearest.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        let text = |package: &&PackageCost| match &package.difference {
            Some(moved) => format!("{} {}", package.name, with_interval(moved)),
            None => format!("{} {}", package.name, plain_ns(cost(package))),
        };
        let dearest: Vec<String> = dearest.iter().take(PACKAGES_SAID).map(text).collect();
        (!dearest.is_empty()).then(|| format!("; by package: {}", dearest.join(", ")))
    }

    /// The functions that the first one of the answer calls.
    fn below(&self) -> impl Iterator<Item = &FunctionCost> {
        let called = self.lines.iter().skip(1).take_while(|line| line.depth > 0);
        called.map(|line| &self.functions[line.function])
    }
}

/// What call stacks call a function: its name, and its library.
pub fn frame(name: &str, module: &str) -> String {
    match module {
        "" => name.to_owned(),
        module => format!("{name} ({module})"),
    }
}

impl OtherChange {
    /// By how much it surely changed, in words; of one service alone, what a request takes of it, if that is a time.
    pub fn text(&self) -> Option<String> {
        match (&self.difference, &self.values[..]) {
            (Some(moved), _) if !moved.excludes_zero() => None,
            (Some(moved), _) if self.unit == NANOSECONDS => {
                Some(format!("{}: {} of a request", self.name, with_interval(moved)))
            }
            (Some(MeanInterval { mean, low, high }), _) => {
                Some(format!("{} of a request: {mean:+.2} ({low:+.2} .. {high:+.2})", self.name))
            }
            (None, [ns]) if self.unit == NANOSECONDS => {
                Some(format!("{}: {} of a request", self.name, plain_ns(*ns)))
            }
            (None, _) => None,
        }
    }
}

impl FunctionCost {
    /// The name as a line has room for it.
    pub fn name_shown(&self) -> String {
        shown(&self.name)
    }

    /// What call stacks call it.
    pub fn frame(&self) -> String {
        frame(&self.name, &self.module)
    }

    /// ` (main.go:7)`, or nothing.
    pub fn place_text(&self) -> String {
        self.place().map(|place| format!(" ({place})")).unwrap_or_default()
    }

    /// The address at which a forge shows this line of its file.
    pub fn page_at(&self, line: Option<u32>) -> Option<String> {
        let page = self.page.as_ref()?;
        Some(line.map_or_else(|| page.clone(), |line| format!("{page}#L{line}")))
    }

    /// `main.go:7`, or the library.
    pub fn place(&self) -> Option<String> {
        self.place_at(self.line)
    }

    /// The same of another of its lines.
    pub fn place_at(&self, line: Option<u32>) -> Option<String> {
        match (&self.file, line) {
            (Some(file), Some(line)) => Some(format!("{}:{line}", short(file))),
            (Some(file), None) => Some(short(file).to_owned()),
            (None, _) if self.module.is_empty() => None,
            (None, _) => Some(self.module.clone()),
        }
    }
}

/// The end of a path that is long, or not of the service.
fn short(path: &str) -> &str {
    match path.starts_with('/') {
        true => path.rsplit('/').next().unwrap_or(path),
        false => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, file: Option<&str>, mean: f64) -> FunctionCost {
        let all_difference = Some(MeanInterval { mean, low: mean - 84.0, high: mean + 84.0 });
        let (file, line) = (file.map(str::to_owned), file.map(|_| 7));
        let own_ns = vec![1.0, 2.0];
        FunctionCost {
            name: name.to_owned(),
            file,
            line,
            all_ns: own_ns.clone(),
            own_ns,
            all_difference,
            ..FunctionCost::default()
        }
    }

    fn report() -> WhyReport {
        WhyReport {
            format: FORMAT.to_owned(),
            subjects: vec![ProfiledSubject::default(); 2],
            blocks: 12,
            difference: Some(MeanInterval { mean: 801.0, low: 700.0, high: 1902.0 }),
            functions: vec![
                function("signBody", Some("main.go"), 794.0),
                function("sha256.blockSHANI", None, 298.0),
            ],
            answer: vec![0],
            lines: vec![WhyLine { function: 0, depth: 0 }, WhyLine { function: 1, depth: 1 }],
            ..WhyReport::default()
        }
    }

    #[test]
    fn the_answer_names_the_function_its_line_and_what_it_calls() {
        let expected =
            "`signBody` (main.go:7) +794 ns (+710 .. +878) of +801 ns; below it `sha256.blockSHANI` +298 ns";
        assert_eq!(report().answer_text(), expected);
        let equal = MeanInterval { mean: 4.0, low: -30.0, high: 38.0 };
        let none = WhyReport { difference: Some(equal), answer: Vec::new(), ..report() };
        assert_eq!(
            none.answer_text(),
            "no function differs; a request differs by +4 ns (-30 .. +38) of CPU time"
        );
        let spread = WhyReport { answer: Vec::new(), ..report() };
        let expected = "no function explains the +801 ns (+700 .. +1,902): it is spread over many, or too small for these samples";
        assert_eq!(spread.answer_text(), expected);
        let package = |name: &str, mean: f64| {
            let difference = Some(MeanInterval { mean, low: mean - 50.0, high: mean + 50.0 });
            PackageCost { name: name.to_owned(), own_ns: vec![900.0, 900.0 + mean], difference }
        };
        let packages = ["std", "tower", "axum", "matchit", "http"].into_iter();
        let packages =
            packages.zip([40.0, 210.0, -300.0, 310.0, 90.0]).map(|(name, mean)| package(name, mean));
        let of_many = WhyReport { packages: packages.collect(), ..spread.clone() };
        let moved = "; by package: matchit +310 ns (+260 .. +360), tower +210 ns (+160 .. +260), http +90 ns (+40 .. +140)";
        assert_eq!(of_many.answer_text(), format!("{expected}{moved}"));
        let alone = PackageCost { own_ns: vec![900.0], difference: None, ..package("hyper", 0.0) };
        let subjects = vec![ProfiledSubject { cpu_ns: 9_000.0, ..ProfiledSubject::default() }];
        let alone = WhyReport { subjects, packages: vec![alone], ..report() };
        let text = "a request costs 9,000 ns of CPU time; by package: hyper 900 ns";
        assert_eq!(alone.answer_text(), text);
        let withheld = WhyReport { withheld: Some("31% of the samples have no name".to_owned()), ..report() };
        assert_eq!(withheld.answer_text(), "no answer: 31% of the samples have no name");
    }

    #[test]
    fn what_is_stored_is_read_again_and_what_leads_nowhere_is_left_out() {
        let run = tempfile::tempdir().unwrap();
        let write = |report: &WhyReport| {
            std::fs::write(run.path().join(NAME), serde_json::to_vec(report).unwrap()).unwrap()
        };
        assert!(matches!(WhyReport::read(run.path()), Err(WhyFileError::None(_))));
        write(&report());
        assert_eq!(WhyReport::read(run.path()).unwrap(), report());
        let stack = StackCost { frames: vec![9], ns: vec![1.0, 1.0] };
        write(&WhyReport { answer: vec![0, 7], stacks: vec![stack], ..report() });
        assert_eq!(WhyReport::read(run.path()).unwrap(), report());
        write(&WhyReport { format: "2.0".to_owned(), ..report() });
        assert!(WhyReport::read(run.path()).unwrap_err().to_string().contains("\"2.0\""));
        std::fs::write(run.path().join(NAME), "{\"format\":\"1.7\",\"later\":1}").unwrap();
        assert_eq!(WhyReport::read(run.path()).unwrap().subjects, []);
    }

    #[test]
    fn what_changed_beside_functions_is_said_if_it_surely_changed() {
        let change = |unit: &str, mean: f64| OtherChange {
            name: "garbage collector".to_owned(),
            unit: unit.to_owned(),
            values: vec![100.0, 100.0 + mean],
            difference: Some(MeanInterval { mean, low: mean - 50.0, high: mean + 50.0 }),
        };
        assert_eq!(change("ns", 20.0).text(), None);
        let text = "garbage collector: +310 ns (+260 .. +360) of a request";
        assert_eq!(change("ns", 310.0).text().as_deref(), Some(text));
        let text = "garbage collector of a request: +310.00 (+260.00 .. +360.00)";
        assert_eq!(change("", 310.0).text().as_deref(), Some(text));
        let alone = OtherChange { values: vec![420.0], difference: None, ..change("ns", 0.0) };
        assert_eq!(alone.text().as_deref(), Some("garbage collector: 420 ns of a request"));
        assert_eq!(OtherChange { unit: String::new(), ..alone }.text(), None);
        let spread = WhyReport {
            answer: Vec::new(),
            others: vec![change("ns", 310.0), change("ns", -310.0)],
            ..report()
        };
        let text = spread.answer_text();
        assert!(text.ends_with("for these samples; garbage collector +310 ns (+260 .. +360)"), "{text}");
    }
}
