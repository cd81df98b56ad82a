//! `cargo xtask test`: compiles and lints the workspace once, and runs each test as its own process, in
//! groups like cargo-nextest. Measuring tests run one at a time; a waiting test occupies no thread.
//!
//! It lists and starts tests only. cargo-nextest would take longer to compile than the tests run.

mod build;
mod config;
mod lanes;
mod output;
mod process;
mod queue;

use std::{
    path::Path,
    process::ExitCode,
    sync::mpsc::{Sender, channel},
    time::Instant,
};

use anyhow::{Result, ensure};

use build::{Binary, Compiler};
use config::Config;
use lanes::Lanes;
use output::Output;
use process::Ended;
use queue::{Lane, Queue, Waiting};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Run all tests, also those that `dev/tests.toml` leaves to `make test-all`
    #[arg(long)]
    all: bool,
    /// Only list the tests, each with its group
    #[arg(long)]
    list: bool,
    /// Run each test this many times, in turns, to find one that fails now and then
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: usize,
    /// Only tests whose name contains one of these words; such as `e2e::slo`. Also finds tests that are left to `make test-all`
    filters: Vec<String>,
}

/// A test named PACKAGE::TARGET::TEST, or all tests of a program, with the program's name.
#[derive(Debug)]
struct Test<'a> {
    name: String,
    /// The number of tests in it.
    tests: usize,
    binary: &'a Binary,
    group: Option<&'a config::Group>,
    waits: bool,
}

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let config = Config::read(root)?;
    let is_quick = !arguments.all && arguments.filters.is_empty();
    let compiler = Compiler::find(root)?;
    let binaries = build::build(compiler, root, if is_quick { &config.later.packages } else { &[] })?;
    let known = tests(&config, &binaries, arguments.filters.is_empty())?;
    config.check(known.iter().map(|test| test.name.as_str()))?;
    let number = |tests: &[Test]| tests.iter().map(|test| test.tests).sum::<usize>();
    let found = number(&known);
    let chosen: Vec<Test> = known.into_iter().filter(|test| is_chosen(&config, arguments, test)).collect();
    if arguments.list {
        output::list(&chosen);
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(!chosen.is_empty(), "no test has a name that contains {}", arguments.filters.join(" or "));
    let mut output = Output::new(root, number(&chosen) * arguments.repeat, found - number(&chosen))?;
    run_all(root, &in_order(&config, chosen), arguments.repeat, &mut output)?;
    if is_quick || arguments.all {
        output.doctests(build::doctests(compiler, root)?);
    }
    output.close()
}

fn tests<'a>(config: &'a Config, binaries: &'a [Binary], may_share: bool) -> Result<Vec<Test<'a>>> {
    let mut tests = Vec::new();
    for binary in binaries {
        let names = binary.tests()?;
        let test = |name: String, tests| Test {
            group: config.group(&name),
            waits: config.waits(&name),
            name,
            tests,
            binary,
        };
        match may_share && config.is_shared(&binary.id) {
            true => tests.push(test(binary.id.clone(), names.len())),
            false => tests.extend(names.iter().map(|name| test(format!("{}::{name}", binary.id), 1))),
        }
    }
    Ok(tests)
}

fn is_chosen(config: &Config, arguments: &Arguments, test: &Test) -> bool {
    match arguments.filters.is_empty() {
        true => arguments.all || !config.is_later(&test.name),
        false => arguments.filters.iter().any(|filter| test.name.contains(filter)),
    }
}

/// The tests of `make test` come first, then the longest ones, so that no long test begins last.
fn in_order<'a>(config: &Config, mut tests: Vec<Test<'a>>) -> Vec<Test<'a>> {
    tests.sort_by_key(|test| (config.is_later(&test.name), config.place(&test.name)));
    tests
}

fn run_all(root: &Path, tests: &[Test], repeat: usize, output: &mut Output) -> Result<()> {
    let lanes = Lanes::of_this_machine()?;
    let waiting = (0..repeat).flat_map(|_| tests.iter().enumerate());
    let waiting = waiting.map(|(place, test)| Waiting { place, lane: lane(test) }).collect();
    let mut queue = Queue::new(waiting, lanes.beside);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        loop {
            while let Some(next) = queue.begin() {
                let (test, sender) = (&tests[next.place], sender.clone());
                let wrapper = lanes.wrapper(next.lane);
                scope.spawn(move || send(root, next, test, wrapper, &sender));
            }
            if queue.is_done() {
                return Ok(());
            }
            let (ended, result): (Waiting, Result<Ended>) = receiver.recv()?;
            queue.end(ended);
            output.ended(&tests[ended.place], result?)?;
        }
    })
}

fn lane(test: &Test) -> Lane {
    match test.group {
        None if test.waits => Lane::Clock,
        None => Lane::Shared,
        Some(group) if group.alone => Lane::Alone,
        Some(_) => Lane::Measuring,
    }
}

fn send(
    root: &Path,
    next: Waiting,
    test: &Test,
    wrapper: &[String],
    sender: &Sender<(Waiting, Result<Ended>)>,
) {
    let began = Instant::now();
    let ended = process::run(root, test, wrapper, began);
    // The receiver is gone if another test could not start; this result is then unused.
    let _ = sender.send((next, ended));
}
