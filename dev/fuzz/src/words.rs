//! Command-line arguments and values in files.

use tare_base::units::{parse_count, parse_duration_with_unit, parse_rate, parse_size};
use tare_bench::slo::Slo;
use tare_contract::Varied;
use tare_host::link::LinkSpec;
use tare_load::schedule::RateProfile;

use crate::text_parts;

/// Instants at which the rate of an arrival profile is queried.
const INSTANTS_NS: [u64; 4] = [0, 1, 1_500_000_000, u64::MAX];

/// One argument, parsed as every type: nothing panics, and parsed values round-trip as text.
pub(crate) fn words(input: &[u8]) {
    let Ok(word) = std::str::from_utf8(input) else { return };
    let _ = (parse_count(word), parse_rate(word), parse_size(word), parse_duration_with_unit(word));
    let _ = (Slo::parse([word]), word.parse::<LinkSpec>());
    if let Ok(profile) = word.parse::<RateProfile>() {
        assert_eq!(profile.to_string().parse::<RateProfile>(), Ok(profile.clone()));
        INSTANTS_NS.into_iter().for_each(|at_ns| at(&profile, at_ns));
    }
}

fn at(profile: &RateProfile, at_ns: u64) {
    let (rate_per_s, arrivals) = (profile.rate_per_s(at_ns), profile.arrivals_before(at_ns));
    assert!((0.0..=profile.rate_per_s_max()).contains(&rate_per_s), "{rate_per_s} at {at_ns}");
    assert!(arrivals.is_finite() && arrivals >= 0.0, "{arrivals} before {at_ns}");
    let _ = profile.instant_ns(arrivals);
}

/// A path and a body with placeholders: a seed always gives the same values, and none ends the request line.
pub(crate) fn placeholders(input: &[u8]) {
    let Some([path, body]) = text_parts(input) else { return };
    let Ok(varied) = Varied::parse(path, &[body]) else { return };
    let filled = varied.fill(1, 2);
    assert_eq!(filled, varied.fill(1, 2));
    let ends_line = |text: &str| text.contains(['\r', '\n']);
    assert!(ends_line(path) || !filled.iter().any(|filled| ends_line(&filled.path)));
}
