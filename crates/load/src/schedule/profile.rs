//! The rate of arrivals over time, its integral, and the inverse of the integral.

use std::{sync::Arc, time::Duration};

use thiserror::Error;

const NS_PER_S: f64 = 1e9;
/// Instants are whole nanoseconds: a higher rate would only put several arrivals into each.
const RATE_PER_S_MAX: f64 = 1e9;

/// Why a rate over time is no valid profile.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProfileError {
    #[error("the rate {0} is not finite: give a number of requests per second")]
    NotFinite(f64),
    #[error("the rate {0} is negative: give 0 for a pause, or a positive number of requests per second")]
    Negative(f64),
    #[error("the rate {0} is above one request per nanosecond: give at most 1G per second")]
    TooHigh(f64),
    #[error("the rate is zero everywhere: give at least one rate above 0")]
    ZeroEverywhere,
    #[error("there are no steps: give at least one rate")]
    NoSteps,
    #[error("a ramp or step lasts no time: give it a duration above 0")]
    ZeroDuration,
    #[error("the profile is longer than 584 years: give shorter durations")]
    TooLong,
}

/// Rate over time, piecewise linear. The rate at the end of the last piece lasts for ever.
///
/// Profiles with the same rate at all times are equal: neighbouring steps of one rate are one step.
#[derive(Debug, Clone, PartialEq)]
pub struct RateProfile {
    segments: Arc<[Segment]>,
}

/// One linear piece. It lasts until the next one starts; the last one is constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Segment {
    pub(super) start_ns: u64,
    pub(super) rate_per_s: f64,
    pub(super) slope_per_s2: f64,
    /// The number of arrivals before the start.
    arrivals: f64,
}

impl Segment {
    #[inline]
    fn elapsed_s(&self, at_ns: u64) -> f64 {
        (at_ns - self.start_ns) as f64 / NS_PER_S
    }

    #[inline]
    fn arrivals_before(&self, at_ns: u64) -> f64 {
        let elapsed_s = self.elapsed_s(at_ns);
        self.arrivals + (self.rate_per_s + 0.5 * self.slope_per_s2 * elapsed_s) * elapsed_s
    }

    /// Nanoseconds from the start of the piece to an arrival in it; infinite or beyond its end when it has none.
    #[inline]
    fn offset_ns(&self, arrivals: f64) -> f64 {
        let within = arrivals - self.arrivals;
        if self.slope_per_s2 == 0.0 {
            // Multiply by 1e9 first: exact for whole and half arrivals up to nine million, so only one
            // rounding is left.
            return if self.rate_per_s > 0.0 { within * NS_PER_S / self.rate_per_s } else { f64::INFINITY };
        }
        if within == 0.0 {
            return 0.0;
        }
        // The root of rate t + slope/2 t^2 = within, without a subtraction: a small slope costs no digits.
        let square = self.rate_per_s * self.rate_per_s + 2.0 * self.slope_per_s2 * within;
        2.0 * within * NS_PER_S / (self.rate_per_s + square.max(0.0).sqrt())
    }
}

impl RateProfile {
    /// The same rate for ever.
    ///
    /// # Errors
    /// The rate is zero, negative, not finite, or above one request per nanosecond.
    pub fn constant(rate_per_s: f64) -> Result<RateProfile, ProfileError> {
        Self::build(&[], rate_per_s)
    }

    /// A linear change from one rate to another, after which the second lasts for ever.
    ///
    /// # Errors
    /// A rate is negative, not finite or too high, both are zero, or `over` is zero or longer than 584 years.
    pub(crate) fn ramp(from_per_s: f64, to_per_s: f64, over: Duration) -> Result<RateProfile, ProfileError> {
        Self::build(&[(from_per_s, to_per_s, over)], to_per_s)
    }

    /// One rate after another. The last one lasts for ever, whatever its duration.
    ///
    /// # Errors
    /// There is no step, a rate is negative, not finite or too high, all are zero, or a duration is zero or too long.
    pub(crate) fn steps(steps: &[(f64, Duration)]) -> Result<RateProfile, ProfileError> {
        let (&(last_per_s, _), first) = steps.split_last().ok_or(ProfileError::NoSteps)?;
        let pieces: Vec<_> =
            first.iter().map(|&(rate_per_s, lasts)| (rate_per_s, rate_per_s, lasts)).collect();
        Self::build(&pieces, last_per_s)
    }

    fn build(pieces: &[(f64, f64, Duration)], last_per_s: f64) -> Result<RateProfile, ProfileError> {
        let mut segments = Vec::with_capacity(pieces.len() + 1);
        let mut start_ns = 0_u64;
        for &(from_per_s, to_per_s, lasts) in pieces {
            let (from_per_s, to_per_s) = (checked_rate(from_per_s)?, checked_rate(to_per_s)?);
            if lasts.is_zero() {
                return Err(ProfileError::ZeroDuration);
            }
            let lasts_ns = u64::try_from(lasts.as_nanos()).map_err(|_| ProfileError::TooLong)?;
            let slope_per_s2 = (to_per_s - from_per_s) / (lasts_ns as f64 / NS_PER_S);
            append(&mut segments, start_ns, from_per_s, slope_per_s2);
            start_ns = start_ns.checked_add(lasts_ns).ok_or(ProfileError::TooLong)?;
        }
        append(&mut segments, start_ns, checked_rate(last_per_s)?, 0.0);
        let profile = RateProfile { segments: segments.into() };
        if profile.rate_per_s_max() > 0.0 { Ok(profile) } else { Err(ProfileError::ZeroEverywhere) }
    }

    /// The rate at an instant; at a step, the one that starts there.
    #[must_use]
    pub fn rate_per_s(&self, at_ns: u64) -> f64 {
        let index = self.index_at(at_ns);
        let segment = &self.segments[index];
        let Some(next) = self.segments.get(index + 1).filter(|_| segment.slope_per_s2 != 0.0) else {
            return segment.rate_per_s;
        };
        let rate_per_s = segment.rate_per_s + segment.slope_per_s2 * segment.elapsed_s(at_ns);
        // Rounding must not move a ramp beyond its ends, least of all below zero.
        rate_per_s.clamp(segment.rate_per_s.min(next.rate_per_s), segment.rate_per_s.max(next.rate_per_s))
    }

    /// Arrivals expected in `[0, at)`: the integral of the rate, Λ.
    #[must_use]
    pub fn arrivals_before(&self, at_ns: u64) -> f64 {
        self.segments[self.index_at(at_ns)].arrivals_before(at_ns)
    }

    /// The inverse of [`arrivals_before`](Self::arrivals_before): the nanosecond in which the integral
    /// reaches a number of arrivals.
    ///
    /// An arrival at the start of a stretch without arrivals is due at its end, so that none is due while the
    /// rate is zero. `None` if the integral never exceeds the number, or not within the 584 years of a u64.
    /// Rounded down: an arrival lies before a whole nanosecond exactly when its instant does. Ascending
    /// numbers give ascending instants, except in the last bits of a float on a ramp. A negative number and
    /// NaN count as 0.
    #[must_use]
    pub fn instant_ns(&self, arrivals: f64) -> Option<u64> {
        let mut index =
            self.segments.partition_point(|segment| segment.arrivals <= arrivals).saturating_sub(1);
        self.instant_from(&mut index, arrivals.max(0.0))
    }

    /// The same for ascending arrivals: the index of the segment only moves forward.
    #[inline]
    pub(super) fn instant_from(&self, index: &mut usize, arrivals: f64) -> Option<u64> {
        // `<=` instead of `<`: a segment without arrivals starts and ends at the same number and is skipped.
        while self.segments.get(*index + 1).is_some_and(|next| next.arrivals <= arrivals) {
            *index += 1;
        }
        let segment = &self.segments[*index];
        // The cast and the sum saturate: u64::MAX means never.
        let instant_ns = segment.start_ns.saturating_add(segment.offset_ns(arrivals) as u64);
        match self.segments.get(*index + 1) {
            Some(next) => Some(instant_ns.min(next.start_ns)),
            None => (instant_ns < u64::MAX).then_some(instant_ns),
        }
    }

    /// The highest rate at any time.
    #[must_use]
    pub fn rate_per_s_max(&self) -> f64 {
        // A line is highest at one of its ends, and every end is the start of the next segment.
        self.segments.iter().map(|segment| segment.rate_per_s).fold(0.0, f64::max)
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    fn index_at(&self, at_ns: u64) -> usize {
        // The first segment starts at 0: the partition point is at least 1.
        self.segments.partition_point(|segment| segment.start_ns <= at_ns) - 1
    }
}

fn checked_rate(rate_per_s: f64) -> Result<f64, ProfileError> {
    match rate_per_s {
        rate if !rate.is_finite() => Err(ProfileError::NotFinite(rate)),
        rate if rate < 0.0 => Err(ProfileError::Negative(rate)),
        rate if rate > RATE_PER_S_MAX => Err(ProfileError::TooHigh(rate)),
        // Turns -0 into 0, because -0 would be printed with its sign.
        rate => Ok(rate + 0.0),
    }
}

/// Equal level neighbours become one segment, so that profiles with the same rates are equal.
fn append(segments: &mut Vec<Segment>, start_ns: u64, rate_per_s: f64, slope_per_s2: f64) {
    let is_level = |segment: &&Segment| segment.slope_per_s2 == 0.0 && slope_per_s2 == 0.0;
    if segments.last().filter(is_level).is_some_and(|segment| segment.rate_per_s == rate_per_s) {
        return;
    }
    let arrivals = segments.last().map_or(0.0, |segment| segment.arrivals_before(start_ns));
    segments.push(Segment { start_ns, rate_per_s, slope_per_s2, arrivals });
}
