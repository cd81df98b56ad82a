//! Unmeasured loads on a warm process; only silences are recorded, because stalls occur there too.

use tare_host::cpus;
use tare_load::{Load, RunReport};

use super::{
    Bench,
    process::{Counted, Running},
};
use crate::{sample::UnmeasuredLoads, schedule::ExecutorError};

impl Bench<'_> {
    /// The service is thawed before and after.
    pub(super) fn load_aside(&self, running: &mut Running, load: &Load) -> Result<RunReport, ExecutorError> {
        let before = self.cpu_before(running);
        let report = running.generator.run(load, &self.interrupt)?;
        running.handshakes.take_in(&report);
        let foreign_cpu_ns = before.and_then(|before| self.foreign_since(running, before, &report));
        let aside = UnmeasuredLoads {
            elapsed_ns: report.elapsed_ns,
            silent_ns_max: report.total.silent_ns_max,
            foreign_cpu_ns,
        };
        running.aside = Some(match running.aside {
            Some(earlier) => earlier.and(aside),
            None => aside,
        });
        Ok(report)
    }

    fn cpu_before(&self, running: &Running) -> Option<(Counted, cpus::Reading)> {
        Some((running.cpu_time().ok()?, self.reading(running)?))
    }

    fn foreign_since(
        &self,
        running: &Running,
        (cpu_time, before): (Counted, cpus::Reading),
        report: &RunReport,
    ) -> Option<i64> {
        let accounting = self.reading(running)?.since(&before);
        let server_cpu_ns = running.cpu_ns_since(&cpu_time).ok()?.ok()?;
        let own_ns = server_cpu_ns + report.generator_cpu_ns;
        Some(accounting.foreign_ns(self.pinning(running), own_ns))
    }
}

impl UnmeasuredLoads {
    /// Combines two successive loads. CPU time that others took during either may explain a silence.
    fn and(self, later: UnmeasuredLoads) -> UnmeasuredLoads {
        UnmeasuredLoads {
            elapsed_ns: self.elapsed_ns + later.elapsed_ns,
            silent_ns_max: self.silent_ns_max.max(later.silent_ns_max),
            foreign_cpu_ns: self.foreign_cpu_ns.zip(later.foreign_cpu_ns).map(|(one, other)| one + other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_loads_have_the_longer_silence_and_what_others_took_of_both() {
        let one = UnmeasuredLoads { elapsed_ns: 300, silent_ns_max: 20, foreign_cpu_ns: Some(7) };
        let other = UnmeasuredLoads { elapsed_ns: 4, silent_ns_max: 3, foreign_cpu_ns: Some(-2) };
        let both = UnmeasuredLoads { elapsed_ns: 304, silent_ns_max: 20, foreign_cpu_ns: Some(5) };
        assert_eq!((one.and(other), other.and(one)), (both, both));
        let unknown = UnmeasuredLoads { foreign_cpu_ns: None, ..other };
        assert_eq!(one.and(unknown).foreign_cpu_ns, None);
    }
}
