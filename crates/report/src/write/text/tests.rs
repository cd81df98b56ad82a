use super::*;
use crate::{
    document::Value,
    write::fixture::{HOSTILE, hostile, interleaved},
};

fn at(width: usize) -> Look {
    Look { width: Some(width), colours: false }
}

/// A run, one of whose services has reasons in place of figures, and another remarks beside them.
fn with_remarks() -> Document {
    let mut document = interleaved();
    let table = document.sections[0].table.as_mut().unwrap();
    let place = table.place("state").unwrap();
    let failed = "failed: its answer to GET /json was not that of the contract, in each of 1 000 requests";
    table.rows[2][place] = failed.into();
    table.rows[1][place] = "measured, and half of its values equal another".into();
    table.columns[place].title = "remark".to_owned();
    document
}

#[test]
fn the_short_form_at_four_widths() {
    let all = [60, 80, 120, 200].map(|width| format!("{width}\n{}", brief(&with_remarks(), at(width))));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn the_long_form_has_every_section() {
    insta::assert_snapshot!(whole(&with_remarks(), at(80)));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 120, 200] {
        for text in [brief(&with_remarks(), at(width)), whole(&with_remarks(), at(width))] {
            for line in text.lines() {
                assert!(width_of(line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_file_has_all_columns_and_no_colour() {
    let text = brief(&with_remarks(), Look::default());
    assert!(!text.contains('\u{1b}') && !text.contains("too narrow"), "{text}");
    let colours = Look { colours: true, ..Look::default() };
    let painted = brief(&with_remarks(), colours);
    assert!(painted.contains("\u{1b}[1mSample\u{1b}[0m\n"), "{painted}");
}

#[test]
fn names_change_nothing_of_a_terminal() {
    let text = whole(&hostile(), at(120));
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(text.contains(HOSTILE[0]));
}

#[test]
fn a_row_of_sentences_is_told_below() {
    let columns = ["claim", "verdict", "what was claimed"].map(|title| {
        crate::document::Column::new(&title.replace(' ', "_"), title, crate::document::Unit::Text)
    });
    let mut table = Table::new("Claims", columns.into());
    let long = "every framework costs more than two thirds of what a raw server does";
    table.rows.push(vec!["cost".into(), Value::Word("holds", Tone::Good), long.into()]);
    let text = super::table(&table, at(60));
    let expected = "claim  verdict\ncost   holds\n    what was claimed: every framework costs more than two\n    thirds of what a raw \
                    server does\n";
    assert_eq!(text, expected);
}
