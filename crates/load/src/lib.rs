//! The load engine: it sends known requests over kept connections, by HTTP/1.1 or HTTP/2, with TLS or without, checks every
//! response, and counts every outcome.
//!
//! A load is three values: a [`schedule`] (when the next request is due), a [`stop`] (when no more are sent)
//! and a transport (the target and connections that a [`generator`] holds). None of them knows the others.
//! The kernel is reached through one interface, [`driver`], and [`tls`] is a driver on top of another one. A
//! run sees a protocol as a [`client`]. The protocols themselves, in [`http1`] and [`http2`], do no I/O.
//!
//! The crate deliberately knows no configuration format, no files and no service by name: the caller provides
//! [`exchange`]s as bytes.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod client;
mod driver;
pub mod events;
pub mod exchange;
pub mod generator;
pub mod http1;
pub mod http2;
mod judgement;
mod negotiated;
pub mod pattern;
mod protocol;
mod request_buffer;
mod same_bytes;
mod same_json;
pub mod schedule;
pub mod sequence;
mod split;
mod statuses;
mod stop;
pub mod tally;
pub mod text_pattern;
mod tls;
mod tls_error;

pub use driver::{ChosenDriver, DriverChoice, DriverKind};
pub use events::EventMeasures;
pub use exchange::{
    BodyJudge, BodyShape, EventIds, EventJudge, EventPace, EventRule, Exchange, ExchangePool, Expected,
    ExpectedBody, ExpectedEvent, ExpectedEvents, Flight, Judged, SequenceStep, StepRule,
};
pub use generator::{
    Aligned, AlignedRun, Connections, Contradiction, EngineFinding, Generator, GeneratorError,
    GeneratorSettings, Limits, Load, LoadError, Measures, OpenError, Quantile, RunInterval, RunReport,
    Waiting, evaluate,
};
pub use negotiated::{Handshakes, Negotiated};
pub use protocol::Protocol;
pub use same_json::KnownJson;
pub use schedule::{ArrivalProcess, Arrivals, RateProfile, Schedule, Think};
pub use sequence::{Captured, MissingValue};
pub use split::Split;
pub use statuses::Statuses;
pub use stop::{After, RequestQuota, Stop};
pub use tally::{Failure, FailureSample, Failures, Tally, Unreconciled};
#[doc(hidden)]
pub use tls::probe as tls_probe;
pub use tls::{ClientCertificate, TlsClient, TlsOffer, TlsOptions, TlsTrust, TlsVersion};
pub use tls_error::{TlsError, TlsObstacle};
