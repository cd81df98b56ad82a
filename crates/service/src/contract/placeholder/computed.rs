//! Values of an answer that follow from others by arithmetic: sums, products, and a byte of a text that was sent.

use std::fmt;

use rand::Rng;

use super::{Cell, PlaceholderError, Tables, Values};

/// How a value follows from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    pub(in crate::contract) operation: Operation,
    pub(in crate::contract) operands: Vec<Operand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::contract) enum Operation {
    Add,
    Multiply,
    /// Of the first, the byte at the place that the second names, counted from 0.
    Byte,
}

/// What is computed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::contract) enum Operand {
    Number(u64),
    /// A placeholder of the request.
    Named(String),
    Cell(Cell),
}

impl Operation {
    const ALL: [Operation; 3] = [Operation::Add, Operation::Multiply, Operation::Byte];

    const fn word(self) -> &'static str {
        match self {
            Operation::Add => "add",
            Operation::Multiply => "multiply",
            Operation::Byte => "byte",
        }
    }
}

impl Computed {
    /// What stands between the braces, if it begins like one of these.
    pub(super) fn parse(inside: &str, tables: Option<&Tables>) -> Option<Result<Computed, PlaceholderError>> {
        let (word, rest) = inside.split_once(':')?;
        let operation = Operation::ALL.into_iter().find(|operation| operation.word() == word)?;
        let operands: Option<Vec<Operand>> =
            rest.split(':').map(|text| Operand::parse(text, tables)).collect();
        let is_right = |operands: &Vec<Operand>| match operation {
            Operation::Add | Operation::Multiply => operands.len() >= 2,
            Operation::Byte => matches!(operands.as_slice(), [Operand::Named(_), Operand::Named(_)]),
        };
        let operands = operands.filter(is_right);
        let wrong = || PlaceholderError::Operands { placeholder: inside.to_owned() };
        Some(operands.map(|operands| Computed { operation, operands }).ok_or_else(wrong))
    }

    /// The names of placeholders that it is computed from.
    pub(in crate::contract) fn names(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Named(name) => Some(name.as_str()),
            Operand::Number(_) | Operand::Cell(_) => None,
        })
    }

    /// The columns that it is computed from.
    pub(in crate::contract) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Cell(cell) => Some(cell),
            Operand::Number(_) | Operand::Named(_) => None,
        })
    }

    /// The value in an exchange. What is no number counts as 0, and what is too large is the largest number: both were refused when
    /// the contract was read, as far as that could be seen.
    pub(super) fn value<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        let values: Vec<String> = self.operands.iter().map(|operand| operand.value(values)).collect();
        let numbers = values.iter().map(|value| value.parse::<u64>().unwrap_or(0));
        match self.operation {
            Operation::Add => numbers.fold(0, u64::saturating_add).to_string(),
            Operation::Multiply => numbers.fold(1, u64::saturating_mul).to_string(),
            Operation::Byte => {
                let place = values[1].parse().unwrap_or(usize::MAX);
                values[0].as_bytes().get(place).copied().unwrap_or(0).to_string()
            }
        }
    }
}

impl Operand {
    fn value<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        match self {
            Operand::Number(number) => number.to_string(),
            Operand::Named(name) => values.known(name),
            Operand::Cell(cell) => values.cell(cell.table.name(), cell.column, |rng| cell.table.draw(rng)),
        }
    }

    fn parse(text: &str, tables: Option<&Tables>) -> Option<Operand> {
        if let Some((table, column)) = text.split_once('.') {
            return tables?.get(table)?.cell(column).ok().map(Operand::Cell);
        }
        let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        match text.parse() {
            Ok(number) => Some(Operand::Number(number)),
            Err(_) => {
                (!text.is_empty() && text.bytes().all(in_name)).then(|| Operand::Named(text.to_owned()))
            }
        }
    }
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation.word())?;
        self.operands.iter().try_for_each(|operand| match operand {
            Operand::Number(number) => write!(f, ":{number}"),
            Operand::Named(name) => write!(f, ":{name}"),
            Operand::Cell(cell) => write!(f, ":{cell}"),
        })
    }
}
