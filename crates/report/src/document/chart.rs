//! Charts: which columns of a section's table are drawn, and how. There is no data in them.

use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Chart {
    /// Its heading, where a section has several.
    pub title: String,
    pub shape: Shape,
    pub x: String,
    pub y: String,
    pub x_scale: Scale,
    pub y_scale: Scale,
    /// Rows with the same value of this column are one series; with none, all are.
    pub series: Option<String>,
    /// Key of the column that says how many blocks, slices or answers a point is made of: for who points at it.
    pub n: Option<String>,
    /// Key of a column of the unit of `x`: how far a figure may go before it means something else, as a mark across each row.
    pub bound: Option<String>,
    /// Keys of two columns of the unit of `x`, each of which may be empty: the range that was claimed of each row, as a band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<[String; 2]>,
    /// Key of a column of the unit of `x`: what was published of each row, hollow, and joined to what was found. The greatest row is
    /// the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Keys of columns of the unit of `x`: parts of it, drawn one behind the other in the place of one bar. One that a row does not
    /// have is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<Vec<String>>,
    /// It has the axes of all charts of its section that say so: they are read beside each other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alike: bool,
    /// Key of a flag: such rows are drawn, and not joined to others: dropped slices.
    pub apart: Option<String>,
    /// Rows of this text alone are drawn: a column and the text, where a table has more than one kind of row.
    pub only: Option<[String; 2]>,
    /// Series that are drawn at first, for tables with many; none for all.
    pub first: Option<usize>,
    /// What is to be seen in it, for who cannot see it.
    pub alt: String,
}

/// What is drawn for a row of the table. A column with an interval gets whiskers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A horizontal bar for each row: `y` names it, `x` is its length.
    Bars,
    #[default]
    Points,
    /// Points of a series, joined in the order of the table.
    Lines,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    #[default]
    Linear,
    Log,
    /// In nines: 90%, 99%, 99.9% in equal steps (G. Tene's HDR plots).
    Percentile,
    Names,
}

impl Chart {
    /// `y` over `x`, both linear, all in one series.
    pub(crate) fn new(shape: Shape, x: &str, y: &str, alt: &str) -> Chart {
        let y_scale = if shape == Shape::Bars { Scale::Names } else { Scale::Linear };
        let [x, y, alt] = [x, y, alt].map(str::to_owned);
        Chart { shape, x, y, y_scale, alt, ..Chart::default() }
    }

    pub(crate) fn title(self, title: &str) -> Chart {
        Chart { title: title.to_owned(), ..self }
    }

    /// A series for each value of that column.
    pub(crate) fn series(self, key: &str) -> Chart {
        Chart { series: Some(key.to_owned()), ..self }
    }

    pub(crate) fn scales(self, x_scale: Scale, y_scale: Scale) -> Chart {
        Chart { x_scale, y_scale, ..self }
    }

    pub(crate) fn n(self, key: &str) -> Chart {
        Chart { n: Some(key.to_owned()), ..self }
    }

    pub(crate) fn stack(self, keys: &[&str]) -> Chart {
        Chart { stack: Some(keys.iter().map(|key| (*key).to_owned()).collect()), ..self }
    }

    /// With a band from one column to another.
    pub(crate) fn band(self, from: &str, to: &str) -> Chart {
        Chart { band: Some([from.to_owned(), to.to_owned()]), ..self }
    }

    pub(crate) fn apart(self, key: &str) -> Chart {
        Chart { apart: Some(key.to_owned()), ..self }
    }

    pub(crate) fn only(self, key: &str, text: &str) -> Chart {
        Chart { only: Some([key.to_owned(), text.to_owned()]), ..self }
    }

    pub(crate) fn first(self, series: usize) -> Chart {
        Chart { first: Some(series), ..self }
    }
}
