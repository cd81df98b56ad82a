//! Values of an answer computed from others: sums, products, and a byte of a sent text.

use std::fmt;

use rand::Rng;

use super::{DrawnColumn, PlaceholderError, Tables, Values};

/// A computed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    pub(crate) operation: Operation,
    pub(crate) operands: Vec<Operand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Multiply,
    /// The byte of the first operand at the offset given by the second, counted from 0.
    Byte,
}

/// An operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    Number(u64),
    /// A placeholder of the request.
    Named(String),
    Cell(DrawnColumn),
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
    /// Parses the text between the braces, if it begins with an operation.
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

    /// The names of placeholders among the operands.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Named(name) => Some(name.as_str()),
            Operand::Number(_) | Operand::Cell(_) => None,
        })
    }

    /// The columns among the operands.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &DrawnColumn> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Cell(cell) => Some(cell),
            Operand::Number(_) | Operand::Named(_) => None,
        })
    }

    /// The value in an exchange. Text that is not a number counts as 0, overflow gives the largest number;
    /// contracts were checked for both as far as possible.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;

    fn parse(inside: &str) -> Option<Computed> {
        Computed::parse(inside, None).map(|parsed| parsed.unwrap_or_else(|error| panic!("{inside}: {error}")))
    }

    /// The value if names have these values.
    fn value(inside: &str, named: &[(&str, &str)]) -> String {
        let captured = named.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        parse(inside).unwrap().value(&mut Values::new(&mut rng, None).with(&captured))
    }

    #[test]
    fn sums_products_and_bytes_follow_from_their_operands() {
        assert_eq!(value("add:1:2:a", &[("a", "39")]), "42");
        assert_eq!(value("multiply:a:b:7", &[("a", "2"), ("b", "3")]), "42");
        assert_eq!(value("byte:text:at", &[("text", "aé"), ("at", "0")]), "97");
        assert_eq!(value("byte:text:at", &[("text", "aé"), ("at", "2")]), "169", "a byte, and no character");
    }

    #[test]
    fn what_cannot_be_computed_is_a_number_nevertheless() {
        assert_eq!(value("add:a:1", &[("a", "-5")]), "1");
        assert_eq!(value("multiply:a:2", &[("a", "18446744073709551615")]), u64::MAX.to_string());
        assert_eq!(value("add:a:1", &[("a", "18446744073709551615")]), u64::MAX.to_string());
        for at in ["1", "99999999999999999999", "", "x"] {
            assert_eq!(value("byte:text:at", &[("text", "a"), ("at", at)]), "0", "{at:?}");
        }
    }

    #[test]
    fn only_its_own_words_begin_one_and_each_has_its_operands() {
        assert!(
            ["add", "subtract:1:2", "label.add", "number:1-2", ""]
                .iter()
                .all(|inside| Computed::parse(inside, None).is_none())
        );
        for wrong in [
            "add:",
            "add:1",
            "multiply:2",
            "byte:a",
            "byte:1:a",
            "byte:a:b:c",
            "add:1:",
            "add:1:B",
            "add:1:t.c",
        ] {
            let error = Computed::parse(wrong, None).unwrap().unwrap_err();
            assert_eq!(error, PlaceholderError::Operands { placeholder: wrong.to_owned() });
        }
    }

    proptest! {
        #[test]
        fn it_is_read_as_it_is_written(
            operation in "add|multiply", operands in proptest::collection::vec("[a-z][a-z0-9_-]{0,8}|[1-9][0-9]{0,15}", 2..5),
        ) {
            let inside = format!("{operation}:{}", operands.join(":"));
            let computed = parse(&inside).unwrap();
            prop_assert_eq!(computed.to_string(), inside.clone());
            prop_assert_eq!(parse(&computed.to_string()), Some(computed.clone()));
            let names = operands.iter().map(String::as_str).filter(|operand| operand.parse::<u64>().is_err());
            prop_assert_eq!(computed.names().collect::<Vec<_>>(), names.collect::<Vec<_>>());
        }

        #[test]
        fn it_is_the_arithmetic_of_integers(numbers in proptest::collection::vec(0..1_000_000_u64, 2..4)) {
            let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let inside = |word: &str| format!("{word}:{}", texts.join(":"));
            prop_assert_eq!(value(&inside("add"), &[]), numbers.iter().sum::<u64>().to_string());
            prop_assert_eq!(value(&inside("multiply"), &[]), numbers.iter().product::<u64>().to_string());
        }
    }
}
