use super::*;
use crate::{
    document::{Column, Extra, Unit, Value},
    write::fixture::{HOSTILE, hostile, interleaved},
};

fn at(width: usize) -> TextLook {
    TextLook { width: Some(width), ..TextLook::default() }
}

/// A run in which one service has reasons instead of figures, and another remarks beside them.
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
    let text = brief(&with_remarks(), TextLook::default());
    assert!(!text.contains('\u{1b}') && !text.contains("too narrow"), "{text}");
    let colours = TextLook { colours: true, ..TextLook::default() };
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

#[test]
fn an_interval_is_not_broken() {
    assert_eq!(words("of 1.03x (0.99 .. 1.07x), a  b"), ["of", "1.03x", "(0.99 .. 1.07x),", "a", "b"]);
    for width in 20..60 {
        let text = at(width).wrapped(
            "",
            "the cheapest has 1.32x (1.30 .. 1.33x) of the CPU per request, at 76.4% (75.4 .. 77.5%)",
        );
        let is_whole = |interval| text.lines().any(|line| line.contains(interval));
        assert!(is_whole("(1.30 .. 1.33x)") && is_whole("(75.4 .. 77.5%)"), "{width}: {text}");
    }
}

/// References and services as in a run, with an interval of a tenth to each side.
fn ranked() -> Table {
    let text = |key: &str| Column::new(key, key, Unit::Text);
    let hidden = |key: &str, unit| Column::new(key, key, unit).hidden();
    let ratio = Column::new("cpu_ratio", "CPU of reference", Unit::Times).interval("low", "high").track();
    let columns = vec![
        text("service"),
        text("ranks"),
        ratio,
        hidden("low", Unit::Times),
        hidden("high", Unit::Times),
        hidden("is_reference", Unit::Flag),
        hidden("is_tied_to_next", Unit::Flag),
        Column { extra: Extra::IfAlike, ..Column::new("errors", "errors", Unit::Count) },
    ];
    let row = |(name, rank, value, is_reference, is_tied): (&str, Option<&str>, f64, bool, bool)| {
        let rank: Value = rank.into();
        let end = |factor: f64| Value::from((!is_reference).then_some(value * factor));
        vec![
            name.into(),
            rank,
            value.into(),
            end(0.9),
            end(1.1),
            is_reference.into(),
            is_tied.into(),
            0_usize.into(),
        ]
    };
    let rows = [
        ("raw-socket", None, 1.0, true, false),
        ("hyper", Some("1-2"), 2.0, false, true),
        ("axum", Some("1-3"), 2.1, false, true),
        ("warp", Some("2-3"), 2.2, false, false),
        ("flask", Some("4"), 10.0, false, false),
    ];
    Table { rows: rows.map(row).into(), ..Table::new("Services", columns) }
}

#[test]
fn references_stand_apart_and_rows_that_are_not_separated_together() {
    let in_utf8 = super::table(&ranked(), at(60));
    let in_ascii = super::table(&ranked(), TextLook { ascii: true, ..at(60) });
    insta::assert_snapshot!(format!("{in_utf8}\n{in_ascii}"));
    let painted = super::table(&ranked(), TextLook { colours: true, ..at(60) });
    let dim: Vec<&str> = painted.lines().filter(|line| line.starts_with("\u{1b}[2mraw-socket")).collect();
    assert_eq!(dim.len(), 1, "{painted}");
    assert!(painted.lines().any(|line| line.starts_with("hyper")), "{painted}");
}

/// A track is at least ten cells wide, and no figure is truncated for it.
#[test]
fn a_figure_is_whole_at_every_width() {
    for width in 30..120 {
        let text = super::table(&ranked(), at(width));
        assert!(text.lines().all(|line| width_of(line) <= width), "{width}: {text}");
        let hyper: Vec<&str> = text.lines().filter(|line| line.starts_with("hyper")).collect();
        assert!(hyper.iter().any(|line| line.contains("2.00x")), "{width}: {text}");
        assert!(width < 60 || hyper[0].contains("1.80 .. 2.20x"), "{width}: {text}");
        let track = |line: &&str| line.contains('●');
        assert!(width < 60 || text.lines().filter(track).count() == 5, "{width}: {text}");
    }
}
