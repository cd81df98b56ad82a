//! The output of other programs.

use tare_crosscheck::{Tool, reading};

/// The output of a load generator: parsed rates are valid divisors.
pub(crate) fn tool(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for tool in Tool::ALL {
        if let Ok(reading) = reading::read(tool, text) {
            assert!(reading.answered > 0 && reading.per_second.is_finite() && reading.per_second > 0.0);
        }
    }
}
