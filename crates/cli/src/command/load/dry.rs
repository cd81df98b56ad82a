//! The output of `--dry-run`: everything that would be done. Nothing is sent.

use tare_base::units::spell_duration;

use super::{Job, expect, plan::describe};

/// The most requests of a contract that are shown.
const REQUESTS_SHOWN: usize = 8;

/// The requests byte for byte, the expectation and the plan.
pub(super) fn text(job: &Job) -> String {
    let endpoints: Vec<String> = job.endpoints.iter().map(ToString::to_string).collect();
    let mut out = format!(
        "to       {} ({})\nload     {}\n",
        job.url,
        endpoints.join(", or "),
        describe(job.plan.connections, (job.spoken.protocol, job.spoken.streams), &job.plan.load)
    );
    if let Some(warm_up) = &job.plan.warm_up {
        out += &format!("before   the same for {}, not reported\n", spell_duration(warm_up.stop.window()));
    }
    out += &format!(
        "compare  {}\nwait     {} for a response, {} for what is in flight at the end\nseed     {}\n",
        expect::planned(&job.rules, job.contract.as_deref(), job.varies()),
        spell_duration(job.plan.load.response_timeout),
        spell_duration(job.plan.load.stop.drain),
        job.seed
    );
    let count = job.exchanges.len();
    for (index, exchange) in job.exchanges.iter().take(REQUESTS_SHOWN).enumerate() {
        out += &format!(
            "\nrequest {} of {count}, {} bytes: {}\n",
            index + 1,
            exchange.request.len(),
            exchange.name
        );
        for line in exchange.request.split_inclusive(|byte| *byte == b'\n') {
            out += &format!("  {}\n", line.escape_ascii());
        }
        if job.contract.is_some() {
            out += &format!("  answer: {}\n", exchange.expected.describe());
        }
    }
    if count > REQUESTS_SHOWN {
        out += &format!("\nand {} more\n", count - REQUESTS_SHOWN);
    }
    out
}
