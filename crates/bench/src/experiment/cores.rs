//! Experiments over several cores: `[service] threads` as a list, and the generator's threads for each.

use super::{
    load::{LoadSetting, THREADS, is_within},
    threads::ThreadsFile,
};

/// One row per service and number: more would make blocks last for many minutes.
const NUMBERS_MAX: usize = 16;
const SERVICE_THREADS: std::ops::RangeInclusive<usize> = 1..=1024;
/// All CPUs that the service leaves.
const LEFT: &str = "left";

/// The numbers of threads of a scalability experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores {
    /// `THREADS` of the services, ascending.
    pub threads: Vec<usize>,
    pub generator: GeneratorThreads,
}

/// Threads of the generator, each on a CPU of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GeneratorThreads {
    /// One number per number of service threads.
    Each(Vec<usize>),
    /// All CPUs that the service leaves, at most one per connection.
    Left,
}

/// Combines the two keys; absent if the service has one number of threads. An error names its table.
pub(super) fn read(
    service: &ThreadsFile,
    generator: &ThreadsFile,
    loads: &[LoadSetting],
) -> Result<Option<Cores>, (&'static str, String)> {
    let of_load = |message: String| ("[load]", message);
    if let ThreadsFile::Word(word) = generator
        && word != LEFT
    {
        return Err(of_load(format!("\"threads\" is \"{word}\"; it must be a number, a list or \"{LEFT}\"")));
    }
    let threads = match (service, generator) {
        (ThreadsFile::Many(threads), _) => threads.clone(),
        (ThreadsFile::One(_), ThreadsFile::One(_)) => return Ok(None),
        (ThreadsFile::One(_), _) => {
            return Err(of_load(
                "\"threads\" is a number unless \"threads\" of [service] is a list".to_owned(),
            ));
        }
        (ThreadsFile::Word(_), _) => {
            return Err(("[service]", "\"threads\" must be a number or a list of numbers".to_owned()));
        }
    };
    check_numbers(&threads).map_err(|message| ("[service]", message))?;
    let generator = match generator {
        ThreadsFile::One(number) => GeneratorThreads::Each(vec![*number; threads.len()]),
        ThreadsFile::Many(numbers) => GeneratorThreads::Each(numbers.clone()),
        ThreadsFile::Word(_) => GeneratorThreads::Left,
    };
    check_generator(&generator, &threads, loads).map_err(of_load)?;
    Ok(Some(Cores { threads, generator }))
}

fn check_numbers(threads: &[usize]) -> Result<(), String> {
    if threads.is_empty() || threads.len() > NUMBERS_MAX {
        return Err(format!("\"threads\" has {} numbers; it must have 1 to {NUMBERS_MAX}", threads.len()));
    }
    threads.iter().try_for_each(|number| is_within("threads", *number, SERVICE_THREADS))?;
    match threads.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(()),
        false => Err("\"threads\" must rise from number to number, such as [1, 2, 4]".to_owned()),
    }
}

fn check_generator(
    generator: &GeneratorThreads,
    threads: &[usize],
    loads: &[LoadSetting],
) -> Result<(), String> {
    let GeneratorThreads::Each(numbers) = generator else { return Ok(()) };
    if numbers.len() != threads.len() {
        return Err(format!(
            "\"threads\" has {} numbers, and \"threads\" of [service] has {}: give one for each",
            numbers.len(),
            threads.len()
        ));
    }
    numbers.iter().try_for_each(|number| is_within("threads", *number, THREADS))?;
    let most = numbers.iter().copied().max().unwrap_or(1);
    match loads.iter().find(|load| load.connections < most) {
        None => Ok(()),
        Some(load) => Err(format!(
            "{} cannot be shared by {most} threads: give a connection or more for each",
            load.label()
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::experiment::Experiment;

    const QUICK: &str = include_str!("../../../../experiments/quick.toml");

    /// Reads an experiment with these two keys; the second one is the service's.
    fn read(generator: &str, service: &str) -> Result<Option<Cores>, String> {
        let text = QUICK.replacen("threads     = 1", &format!("threads = {generator}"), 1).replacen(
            "threads  = 1",
            &format!("threads = {service}"),
            1,
        );
        let found = Experiment::parse(Path::new("quick.toml"), &text);
        found.map(|experiment| experiment.cores).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_of_threads_is_a_row_for_each() {
        let each = |numbers: &[usize]| GeneratorThreads::Each(numbers.to_vec());
        for (generator, expected) in
            [("[1, 2, 3]", each(&[1, 2, 3])), ("2", each(&[2, 2, 2])), ("\"left\"", GeneratorThreads::Left)]
        {
            let found = read(generator, "[1, 2, 4]").unwrap().unwrap();
            assert_eq!(found, Cores { threads: vec![1, 2, 4], generator: expected });
        }
        assert_eq!(read("1", "1"), Ok(None));
    }

    #[test]
    fn the_first_number_is_that_of_the_plan() {
        let text = QUICK.replacen("threads  = 1", "threads = [2, 4]", 1);
        let experiment = Experiment::parse(Path::new("quick.toml"), &text).unwrap();
        assert_eq!(experiment.service_settings.threads, 2);
    }

    #[test]
    fn mistakes_name_what_is_wrong() {
        for (generator, service, says) in [
            ("1", "[]", "\"threads\" has 0 numbers; it must have 1 to 16"),
            ("1", "[1, 0]", "\"threads\" is 0; it must be 1 to 1024"),
            ("1", "[2, 1]", "\"threads\" must rise from number to number, such as [1, 2, 4]"),
            ("1", "[1, 1]", "\"threads\" must rise from number to number, such as [1, 2, 4]"),
            ("[1, 2]", "[1, 2, 4]", "has 2 numbers, and \"threads\" of [service] has 3: give one for each"),
            ("[1, 2]", "2", "\"threads\" is a number unless \"threads\" of [service] is a list"),
            ("\"left\"", "2", "\"threads\" is a number unless \"threads\" of [service] is a list"),
            ("\"rest\"", "[1, 2]", "\"threads\" is \"rest\"; it must be a number, a list or \"left\""),
            ("1", "\"left\"", "\"threads\" must be a number or a list of numbers"),
            (
                "[1, 65]",
                "[1, 2]",
                "64 connections cannot be shared by 65 threads: give a connection or more for each",
            ),
        ] {
            let error = read(generator, service).unwrap_err();
            assert!(error.ends_with(says) && error.starts_with("quick.toml:"), "{error}");
        }
    }
}
