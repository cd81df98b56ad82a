//! One figure as a matrix, such as loads by services, an overview of cells that have rows elsewhere.

use crate::{
    document::{Rank, Table, Unit, Value},
    gather::columns::Columns,
};

pub(crate) struct Matrix<'a> {
    pub(crate) caption: &'a str,
    /// Key and title of the column that names the rows.
    pub(crate) lines: [&'a str; 2],
    /// The prefix of the other columns' keys.
    pub(crate) across: &'a str,
    pub(crate) unit: Unit,
    /// What to mark in each row, if anything: whether the smallest is the best.
    pub(crate) least_is_best: Option<bool>,
}

/// The names of a row and of a column, and their figure.
pub(crate) type Crossing = (String, String, Value);

impl Matrix<'_> {
    /// Rows and columns are in the order of the cells.
    pub(crate) fn table(&self, cells: &[Crossing]) -> Table {
        let across = distinct(cells.iter().map(|(_, column, _)| column.as_str()));
        let [key, title] = self.lines;
        let mut columns =
            Columns::new().text(key, title, |(name, _): &(&str, Vec<Value>)| (*name).to_owned());
        for (place, name) in across.iter().enumerate() {
            let key = format!("{}_{}", self.across, place + 1);
            columns = columns.add(self.unit, &key, name, move |(_, values)| values[place].clone());
        }
        let lines = distinct(cells.iter().map(|(line, ..)| line.as_str()));
        columns.table(self.caption, lines.into_iter().map(|line| (line, self.values(line, &across, cells))))
    }

    /// A row of figures, with its best and worst marked.
    fn values(&self, line: &str, across: &[&str], cells: &[Crossing]) -> Vec<Value> {
        let figure = |name: &&str| {
            let mut mine = cells.iter().filter(|cell| cell.0 == line && cell.1 == *name);
            mine.find(|cell| cell.2 != Value::None).map_or(Value::None, |cell| cell.2.clone())
        };
        let figures: Vec<Value> = across.iter().map(figure).collect();
        let known = || figures.iter().filter_map(Value::number);
        let (least, most) =
            (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        let rank = |figure: f64| match self.least_is_best.filter(|_| least < most)? {
            least_is_best if figure == least => Some(if least_is_best { Rank::Best } else { Rank::Worst }),
            least_is_best if figure == most => Some(if least_is_best { Rank::Worst } else { Rank::Best }),
            _ => None,
        };
        let ranked = |value: &Value| Some(Value::Ranked(value.number()?, rank(value.number()?)?));
        figures.iter().map(|value| ranked(value).unwrap_or_else(|| value.clone())).collect()
    }
}

pub(crate) const MARKS: &str = "* is the best of its line and ! the worst, as measured: where intervals overlap, neither is \
                                shown to be so; x never ended";

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    names.for_each(|name| {
        if !all.contains(&name) {
            all.push(name);
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_and_the_worst_of_each_line_are_marked() {
        let cell = |line: &str, column: &str, figure: Option<f64>| {
            (line.to_owned(), column.to_owned(), figure.map_or(Value::Never, Value::from))
        };
        let cells = [
            cell("C=4", "a", Some(2.0)),
            cell("C=4", "b", Some(1.0)),
            cell("C=4", "c", Some(3.0)),
            cell("C=2", "b", Some(5.0)),
            cell("C=2", "a", None),
        ];
        let of = |least_is_best| {
            let lines = ["load", "load"];
            let matrix = Matrix { caption: "M", lines, across: "service", unit: Unit::Count, least_is_best };
            let table = matrix.table(&cells);
            let shown =
                table.rows.iter().map(|row| row.iter().map(|value| value.show(Unit::Count)).collect());
            shown.collect::<Vec<Vec<String>>>()
        };
        assert_eq!(of(Some(true)), [["C=4", "2", "* 1", "! 3"], ["C=2", "x", "5", "-"]]);
        assert_eq!(of(Some(false))[0], ["C=4", "2", "! 1", "* 3"]);
        assert_eq!(of(None)[0], ["C=4", "2", "1", "3"]);
    }
}
