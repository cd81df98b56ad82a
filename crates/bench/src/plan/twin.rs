//! The twin: a second row of the same build, in its own process. Any difference between the two is one that
//! the run would also find between equal services, so the twin shows the resolution of the run. It duplicates
//! the reference or, in a comparison, the candidate.

use tare_service::catalogue::Row;

use super::{Plan, Until};

impl Plan {
    /// A second row of the reference, for the end of `rows`. Absent if nothing else is measured. Also absent
    /// if the user named such a row, which is then ordinary.
    pub fn twin_of(rows: &[Row], reference: &str) -> Option<Row> {
        let row = rows.iter().find(|row| row.label == reference)?;
        let label = format!("{}@2", row.service.word());
        let is_there = rows.iter().any(|row| row.label == label);
        (rows.len() > 1 && !is_there).then(|| Row { label, service: row.service.clone() })
    }

    /// Makes the row with this label the twin. It does not reduce the room for other rows in a block.
    #[must_use]
    pub fn with_twin(mut self, label: &str) -> Plan {
        self.twin = Some(label.to_owned());
        if let super::Order::Interleaved(blocks) = &mut self.order {
            blocks.group_max += 1;
        }
        self
    }

    /// Label of the row that a twin duplicates, whether there is a twin or not.
    pub fn original(&self) -> &str {
        match &self.until {
            Until::Gate(gate) => &gate.candidate,
            _ => self.reference(),
        }
    }

    /// Whether this row is the twin. `false` if the original has been changed to another service.
    pub fn is_twin(&self, label: &str) -> bool {
        let service = |wanted: &str| {
            let row = self.rows.iter().find(|row| row.label == wanted);
            row.map(|row| (&row.service, row.protocol))
        };
        self.twin.as_deref() == Some(label)
            && label != self.original()
            && service(label).is_some_and(|own| service(self.original()) == Some(own))
    }

    /// Label of the twin, if it duplicates the reference.
    pub fn twin_of_reference(&self) -> Option<&str> {
        let label = self.twin.as_deref()?;
        (self.is_twin(label) && self.is_reference(self.original())).then_some(label)
    }

    /// The row that this row duplicates, if this row is a twin.
    pub(crate) fn original_of(&self, row: usize) -> Option<usize> {
        let original = || self.rows.iter().position(|row| row.label == self.original());
        self.is_twin(&self.rows[row].label).then(original).flatten()
    }

    /// Whether this row is the reference or its twin.
    pub(crate) fn is_of_reference(&self, row: usize) -> bool {
        let label = self.rows[row].label.as_str();
        self.is_reference(label) || self.twin_of_reference() == Some(label)
    }
}
