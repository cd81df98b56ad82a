//! Charts: which columns of a section's table are drawn, and how. A chart contains no data.

use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Chart {
    /// The heading, if a section has several charts.
    pub title: String,
    pub shape: Shape,
    pub x: String,
    pub y: String,
    pub x_scale: Scale,
    pub y_scale: Scale,
    /// Rows with the same value of this column form one series; without it, all rows do.
    pub series: Option<String>,
    /// Key of the column with the number of blocks, slices or answers behind a point; shown as a tooltip.
    pub n: Option<String>,
    /// Key of a column in the unit of `x`: the limit of a figure's meaning, as a mark in each row.
    pub bound: Option<String>,
    /// Keys of two columns in the unit of `x`, either of which may be empty: each row's claimed range, as a
    /// band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<[String; 2]>,
    /// Key of a column in the unit of `x`: the published value of each row, drawn hollow and joined to the
    /// measured one. Rows are sorted in descending order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Keys of columns in the unit of `x`: parts of `x`, stacked instead of one bar. Missing parts are
    /// omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<Vec<String>>,
    /// Whether it shares its axes with the other such charts of its section, so that they can be compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alike: bool,
    /// Key of a flag: flagged rows, such as dropped slices, are drawn without joining them to others.
    pub apart: Option<String>,
    /// A column and a text, if a table has several kinds of rows: only rows with this text are drawn.
    pub only: Option<[String; 2]>,
    /// The number of series that are drawn at first, for tables with many; `None` means all.
    pub first: Option<usize>,
    /// Whether the other series are drawn too, in grey. Then the last one is among the `first`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub grey: bool,
    /// A description of the chart for readers who cannot see it.
    pub alt: String,
}

/// How a row of the table is drawn. A column with an interval gets whiskers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A horizontal bar for each row: `y` names it, `x` is its length.
    Bars,
    #[default]
    Points,
    /// Points of a series, joined in the order of the table.
    Lines,
    /// A box for each row, below that of the last row with a smaller `level`: `x` is its width, `against` another one.
    Flame,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    #[default]
    Linear,
    Log,
    /// An axis in nines: 90%, 99%, 99.9% in equal steps (G. Tene's HDR plots).
    Percentile,
    Names,
}

impl Chart {
    /// A chart of `y` over `x`, both linear, with all rows in one series.
    pub fn new(shape: Shape, x: &str, y: &str, alt: &str) -> Chart {
        let y_scale = if shape == Shape::Bars { Scale::Names } else { Scale::Linear };
        let [x, y, alt] = [x, y, alt].map(str::to_owned);
        Chart { shape, x, y, y_scale, alt, ..Chart::default() }
    }

    pub fn title(self, title: &str) -> Chart {
        Chart { title: title.to_owned(), ..self }
    }

    /// Sets the column whose values form the series.
    pub fn series(self, key: &str) -> Chart {
        Chart { series: Some(key.to_owned()), ..self }
    }

    pub fn scales(self, x_scale: Scale, y_scale: Scale) -> Chart {
        Chart { x_scale, y_scale, ..self }
    }

    pub fn n(self, key: &str) -> Chart {
        Chart { n: Some(key.to_owned()), ..self }
    }

    pub fn stack(self, keys: &[&str]) -> Chart {
        Chart { stack: Some(keys.iter().map(|key| (*key).to_owned()).collect()), ..self }
    }

    /// Adds a band from one column to another.
    pub fn band(self, from: &str, to: &str) -> Chart {
        Chart { band: Some([from.to_owned(), to.to_owned()]), ..self }
    }

    pub fn apart(self, key: &str) -> Chart {
        Chart { apart: Some(key.to_owned()), ..self }
    }

    pub fn only(self, key: &str, text: &str) -> Chart {
        Chart { only: Some([key.to_owned(), text.to_owned()]), ..self }
    }

    pub fn first(self, series: usize) -> Chart {
        Chart { first: Some(series), ..self }
    }

    /// Gives colours to this number of series, and draws the others in grey.
    pub fn among_grey(self, coloured: usize) -> Chart {
        Chart { grey: true, ..self.first(coloured) }
    }
}
