//! Whether the generator may poll: if the server cannot use the generator's CPUs, polling takes nothing from
//! the server, and saves it the work of waking the generator.

use tare_base::{Endpoint, units::several};
use tare_host::{
    cpus,
    process::{CountedProcesses, Server},
};
use tare_load::{Schedule, Think, Waiting};

use super::{args::Args, plan::Plan};

/// Makes a closed loop poll if it has CPUs of its own, unless the user chose otherwise. Returns a note.
pub(super) fn poll_on_them(plan: &mut Plan, args: &Args, target: &Endpoint) -> Option<String> {
    let is_asked =
        args.pace.spin.is_none() && matches!(plan.load.schedule, Schedule::Closed { think: Think::None });
    let threads = usize::from(args.transport.threads);
    let mut own = args.transport.cpus.clone().unwrap_or_else(cpus::available);
    let of_server =
        || Server::find(target.clone(), true, &CountedProcesses::Listener).map(|server| server.cpus());
    if !is_asked || !are_own(&own, &of_server().unwrap_or_default(), threads) {
        return None;
    }
    let loads = [Some(&mut plan.load), plan.warm_up.as_mut()];
    loads.into_iter().flatten().for_each(|load| load.waiting = Waiting::Poll);
    own.truncate(threads);
    let numbers: Vec<String> = own.iter().map(usize::to_string).collect();
    Some(format!(
        "the generator polls on {} that the server may not use (CPU {}), so the server never has to wake it; `--spin 0` makes it sleep",
        several(own.len(), "CPU"),
        numbers.join(", ")
    ))
}

/// A server without known CPUs may use any.
fn are_own(generator: &[usize], server: &[usize], threads: usize) -> bool {
    !server.is_empty() && generator.len() >= threads && !generator.iter().any(|cpu| server.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_its_own_if_the_server_may_use_none_of_them() {
        assert!(are_own(&[1], &[0], 1) && are_own(&[2, 3], &[0, 1], 2));
        assert!(!are_own(&[1], &[0, 1], 1), "the server may use it too");
        assert!(!are_own(&[0, 1], &[0], 1), "it may run on the server's");
        assert!(!are_own(&[1], &[], 1), "a server that is not seen");
        assert!(!are_own(&[1], &[0], 2), "two threads on one CPU");
    }
}
