//! Rounds over all points in random order, with all services in random order at each, in fresh processes. A
//! service that hung at a point is not repeated: it would cost another deadline.

use std::{collections::BTreeSet, time::Duration};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    CutOff, Executor, ExecutorError, InstrumentFailure, Parts, ResumeState, RowFailure, Slot, StopRule, Watch,
};
use crate::{
    plan::Plan,
    record::{EndedRun, Ending, Journal, Record, StoppedService},
    sample::{ProcessFacts, Sample, SampleOutcome},
};

/// Takes all samples of `plan` that are not in `past`.
pub(super) fn run<E: Executor, J: Journal, W: Watch, D: StopRule>(
    plan: &Plan,
    mut parts: Parts<'_, E, J, W, D>,
    past: &[Record],
) -> Result<Ending, CutOff> {
    let began_ns = parts.executor.now_ns();
    let samples = || past.iter().filter_map(Record::sample);
    let done: BTreeSet<Slot> = samples().map(Slot::of).collect();
    let slots: Vec<Slot> = order(plan).into_iter().filter(|slot| !done.contains(slot)).collect();
    let mut hung: BTreeSet<(usize, usize)> = samples().filter_map(hung_at).collect();
    let expected_ns = |slot: &Slot| plan.points[slot.point].expected_ns();
    let mut left_ns = slots.iter().map(expected_ns).fold(0, u64::saturating_add);
    let mut ending = Ending::Complete;
    for (index, &slot) in slots.iter().enumerate() {
        left_ns = left_ns.saturating_sub(expected_ns(&slot));
        if hung.contains(&(slot.point, slot.row)) {
            continue;
        }
        let left = Duration::from_nanos(left_ns);
        parts.watch.begins(slot, done.len() + index, left);
        let Some(sample) = measure(plan, parts.executor, slot)? else {
            ending = Ending::Interrupted;
            break;
        };
        hung.extend(hung_at(&sample));
        parts.keep(&Record::Sample(Box::new(sample)), left)?;
    }
    let past_ns = ResumeState::of(plan, past).elapsed_ns;
    let elapsed_ns = past_ns + parts.executor.now_ns() - began_ns;
    parts.keep(&Record::Ended(EndedRun { reason: ending, elapsed_ns }), Duration::ZERO)?;
    Ok(ending)
}

/// One process from its start to its stop. Absent after an interrupt, because the sample is incomplete.
fn measure(
    plan: &Plan,
    executor: &mut impl Executor,
    slot: Slot,
) -> Result<Option<Sample>, InstrumentFailure> {
    if executor.interrupted() {
        return Ok(None);
    }
    let taken = take(plan, executor, slot);
    // An interrupt may disturb a service or a load, so the failure is ignored.
    if executor.interrupted() {
        return Ok(None);
    }
    let sample = match taken {
        Ok(sample) => sample,
        Err(ExecutorError::Row(RowFailure(reason))) => {
            Sample { outcome: SampleOutcome::Failed { reason }, ..Sample::default() }
        }
        // Sequential experiments have no agents.
        Err(ExecutorError::Slice(slice)) => Sample {
            outcome: SampleOutcome::Failed { reason: slice.reasons.join("; ") },
            ..Sample::default()
        },
        Err(ExecutorError::Instrument(failure)) => return Err(failure),
    };
    Ok(Some(slot.fill(sample, rate(plan, slot))))
}

fn rate(plan: &Plan, slot: Slot) -> Option<f64> {
    plan.points[slot.point].load.rate().map(|rate| rate.per_second(0.0))
}

fn take(plan: &Plan, executor: &mut impl Executor, slot: Slot) -> Result<Sample, ExecutorError> {
    let point = &plan.points[slot.point];
    let start_up = executor.start(slot, point.warm_up_ns)?;
    let sample = executor.sample(slot, plan.seed, rate(plan, slot))?;
    let stopped = match executor.stop(slot.row, slot.block) {
        // A service that hung has no further facts.
        Err(ExecutorError::Row(_)) if !sample.is_measured() => StoppedService::default(),
        stopped => stopped?,
    };
    let process = ProcessFacts {
        start_up_ns: start_up.map(|time| time.as_nanos() as u64).unwrap_or(0),
        rss_bytes_peak: stopped.rss_bytes_peak,
        unclean_stop: stopped.unclean_stop,
        backing: stopped.backing,
        placement: stopped.placement,
        wrong_aside: stopped.wrong_aside,
    };
    Ok(Sample { host: crate::sample::HostUsage { process: Some(process), ..sample.host }, ..sample })
}

fn hung_at(sample: &Sample) -> Option<(usize, usize)> {
    matches!(sample.outcome, SampleOutcome::Hung(_)).then_some((sample.point, sample.row))
}

/// All slots in the order of the seed, independent of interruptions.
pub fn order(plan: &Plan) -> Vec<Slot> {
    let mut slots = Vec::new();
    for round in 0..plan.rounds() {
        let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
        random.set_stream(round as u64);
        let mut points: Vec<usize> =
            (0..plan.points.len()).filter(|point| plan.points[*point].rounds > round).collect();
        points.shuffle(&mut random);
        for point in points {
            let mut rows: Vec<usize> = plan.members_at(&plan.points[point]).collect();
            rows.shuffle(&mut random);
            slots.extend(rows.into_iter().map(|row| Slot { block: 0, round, point, row }));
        }
    }
    slots
}

#[cfg(test)]
mod tests;
