//! Whether agents will reach a service that was started here.

use std::{
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tare_service::launch::Ready;

use crate::{plan::Plan, schedule::RowFailure};

/// How long a service may take to accept a connection at the address that agents use, after it has answered at 127.0.0.1.
const REACHED_WITHIN: Duration = Duration::from_secs(2);

/// Whether a service that was started here listens where agents ask for it. If it listens on 127.0.0.1 alone no agent will ever
/// reach it.
pub(super) fn ensure_reached(plan: &Plan, ready: &Ready) -> Result<(), RowFailure> {
    let Some(agents) = plan.agents.as_ref().filter(|_| !ready.process.is_attached()) else { return Ok(()) };
    let address = SocketAddr::from((agents.serve_on, ready.address.port()));
    if address == ready.address {
        return Ok(());
    }
    match TcpStream::connect_timeout(&address, REACHED_WITHIN) {
        Ok(_) => Ok(()),
        Err(error) => Err(RowFailure(format!(
            "agents ask for it at {address}, where it does not listen ({error}): a service of a run with --serve-on must listen on \
             the address in SERVE_ON, or on all addresses"
        ))),
    }
}
