//! The protocol between a controller and its agents.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use rustls::{ServerConfig, ServerConnection};
use tare_agent::{
    Token,
    align::AgentClock,
    frame::{Frames, framed},
    job::{Job, Requests},
    merge::{AgentEnd, MergeTiming, merge},
    message::{self, ControllerMessage, Greeting, Reply},
    tails::Tails,
    tls,
};
use tare_load::{Limits, RunInterval, RunReport, Waiting};

use crate::pushed::TOKEN;

const BYTES_MAX: usize = 1 << 16;

static AGENT: LazyLock<Arc<ServerConfig>> =
    LazyLock::new(|| tls::agent(&Token::parse(TOKEN).expect("random digits")));

/// A received message, and the raw stream. However a stream is split, it gives the same messages. A parsed
/// message round-trips, and no parsed job, report or interval breaks the code. Nothing authenticates.
pub(crate) fn agent(input: &[u8]) {
    wire(input);
    stranger(input);
    if let Ok(framed) = framed(input) {
        let mut frames = Frames::new(input.len());
        frames.push(&framed);
        assert_eq!(frames.take().ok().flatten().as_deref(), Some(input));
        assert!(frames.is_between_messages());
    }
    if let Ok(greeting) = message::read::<Greeting>(input) {
        assert_eq!(message::read::<Greeting>(&message::write(&greeting)).ok(), Some(greeting));
    }
    if let Ok(order) = message::read::<ControllerMessage>(input) {
        assert_eq!(message::read::<ControllerMessage>(&message::write(&order)).ok().as_ref(), Some(&order));
        if let ControllerMessage::Learn(given) | ControllerMessage::Prepare(given) = order {
            job(&given);
        }
    }
    if let Ok(reply) = message::read::<Reply>(input) {
        assert_eq!(message::read::<Reply>(&message::write(&reply)).ok().as_ref(), Some(&reply));
        match reply {
            Reply::Finished(parts) => drop(RunReport::try_from(*parts).map(report)),
            Reply::Interval(parts) => drop(RunInterval::try_from(*parts)),
            _ => {}
        }
    }
}

fn wire(input: &[u8]) {
    let all = |pieces: &[&[u8]]| {
        let (mut frames, mut found) = (Frames::new(BYTES_MAX), Vec::new());
        for piece in pieces {
            frames.push(piece);
            loop {
                match frames.take() {
                    Ok(Some(message)) => found.push(message),
                    Ok(None) => break,
                    Err(error) => return (found, Some(error)),
                }
            }
        }
        (found, None)
    };
    let (one, other) = input.split_at(input.len() / 3);
    assert_eq!(all(&[input]), all(&[one, other]));
}

/// Without the token a handshake never completes.
fn stranger(input: &[u8]) {
    let mut tls = ServerConnection::new(Arc::clone(&AGENT)).expect("a connection");
    let mut rest = input;
    while !rest.is_empty() && tls.read_tls(&mut rest).is_ok() && tls.process_new_packets().is_ok() {}
    assert!(tls.is_handshaking());
}

fn job(job: &Job) {
    let _ = (job.split(), job.protocol(), job.driver(), job.server.address(), job.rules.body());
    let _ = (job.load(Waiting::Sleep, 1), job.warm_up(Waiting::Poll, u64::MAX));
    let _ = job.waiting(1, Duration::ZERO);
    if let Requests::Listed(listed) = &job.requests {
        listed.iter().for_each(|one| drop(one.exchange()));
    }
}

/// A sum may contain anything that an agent can report.
fn report(report: RunReport) {
    let end = |report| AgentEnd {
        address: String::new(),
        report,
        clock: AgentClock::default(),
        given_ns: u64::MAX,
        silent_ns: u64::MAX,
    };
    let timing = MergeTiming { start_ns: 0, marks_ns: vec![1, 2] };
    let sum = merge(vec![end(report.clone()), end(report)], &timing, &Tails::default(), &Limits::default());
    assert_eq!(sum.rows.len(), 2);
    let _ = (sum.total.total.quantile(0.99), sum.total.answers_per_s(), sum.total.in_flight_mean());
}
