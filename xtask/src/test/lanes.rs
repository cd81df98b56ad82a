//! The CPUs of each lane.

use std::thread::available_parallelism;

use anyhow::Result;

use super::queue::Lane;

/// A measurement needs one CPU for the service and one for the generator.
const TO_MEASURE: usize = 2;
/// Priority of tests beside a measurement: about a tenth of the weight.
const NICE: &str = "10";

/// With four CPUs or more, measuring tests have two. With fewer, others share them at a lower priority.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Number of tests beside a measuring one.
    pub(super) beside: usize,
    measuring: Vec<String>,
    others: Vec<String>,
}

impl Lanes {
    pub(super) fn of_this_machine() -> Result<Lanes> {
        Ok(Lanes::of(available_parallelism()?.get()))
    }

    fn of(cpus: usize) -> Lanes {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match cpus.checked_sub(TO_MEASURE) {
            Some(left @ TO_MEASURE..) => Lanes {
                beside: left,
                measuring: words(&["taskset", "--cpu-list", "0-1"]),
                others: words(&["taskset", "--cpu-list", &format!("{TO_MEASURE}-{}", cpus - 1)]),
            },
            _ => Lanes { beside: 1, measuring: Vec::new(), others: words(&["nice", "-n", NICE]) },
        }
    }

    /// The program and arguments that start a test; empty for none.
    pub(super) fn wrapper(&self, lane: Lane) -> &[String] {
        match lane {
            Lane::Measuring => &self.measuring,
            Lane::Shared | Lane::Clock => &self.others,
            Lane::Alone => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_have_cpus_of_their_own_where_there_are_enough() {
        let eight = Lanes::of(8);
        assert_eq!((eight.beside, eight.wrapper(Lane::Measuring)[2].as_str()), (6, "0-1"));
        assert_eq!(eight.wrapper(Lane::Shared)[2], "2-7");
        for few in 1..4 {
            let lanes = Lanes::of(few);
            assert_eq!((lanes.beside, lanes.wrapper(Lane::Measuring).len()), (1, 0));
            assert_eq!(lanes.wrapper(Lane::Shared)[0], "nice");
        }
    }
}
