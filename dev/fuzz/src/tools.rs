//! What other programs print.

use tare_crosscheck::{Tool, reading};

/// The output of a load generator: what is read of it can be divided by.
pub(crate) fn tool(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for tool in Tool::ALL {
        if let Ok(reading) = reading::read(tool, text) {
            assert!(reading.answered > 0 && reading.per_second.is_finite() && reading.per_second > 0.0);
        }
    }
}
