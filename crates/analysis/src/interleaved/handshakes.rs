//! TLS parameters that client and services negotiated, which are a part of the load.

use tare_bench::{
    folder::StoredRun,
    record::{KeptHandshakes, Record},
};

/// The handshakes with one row, over all blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct RowHandshakes {
    pub label: String,
    pub handshakes: KeptHandshakes,
}

/// The handshakes of each row over TLS, in the order of the plan.
pub fn handshakes(stored: &StoredRun) -> Vec<RowHandshakes> {
    let plan = &stored.header.plan;
    let rows = plan.rows.iter().enumerate().map(|(place, row)| {
        let mut handshakes = KeptHandshakes::default();
        for record in &stored.records {
            if let Record::Stopped(stopped) = record
                && stopped.row == place
                && let Some(of_block) = &stopped.handshakes
            {
                handshakes.add(of_block);
            }
        }
        RowHandshakes { label: row.label.clone(), handshakes }
    });
    rows.filter(|row| row.handshakes != KeptHandshakes::default()).collect()
}
