use insta::assert_snapshot;
use tare_report::document::{ALWAYS, Tone, Unit, Value};

use super::*;

/// The view on a terminal of this size.
pub(crate) fn drawn(view: &View, columns: u16, lines: u16) -> String {
    let lines = view.lines(Size { columns, lines }, false);
    lines.iter().map(|line| format!("|{line}\n")).collect()
}

const COLUMNS: [(&str, Unit, u8); 7] = [
    ("service", Unit::Text, ALWAYS),
    ("rank", Unit::Count, 20),
    ("req/s", Unit::PerSecond, 90),
    ("of reference", Unit::Share, ALWAYS),
    ("CPU/request", Unit::Nanoseconds, 30),
    ("state", Unit::Text, 100),
    ("reason", Unit::Text, ALWAYS),
];

fn row(name: &str, rank: u64, share: f64, state: Value) -> [Value; 7] {
    let rate = 183_000.0 * share;
    [name.into(), rank.into(), rate.into(), share.into(), 5_210_u64.into(), state, Value::None]
}

fn out(name: &str, reason: &str) -> [Value; 7] {
    let none = || Value::None;
    [name.into(), none(), none(), none(), none(), ("failed", Tone::Bad).into(), reason.into()]
}

fn view() -> View {
    let rows = vec![
        row("raw-socket", 1, 1.0, Value::None),
        row("hyper", 2, 0.81, Value::None),
        row("simple-web-server", 2, 0.79, "measuring".into()),
        row("gin", 3, 0.42, ("generator-bound", Tone::Open).into()),
        out("restbed", "block 3: was killed by SIGSEGV\nand said \u{1b}[31mnothing about it"),
    ];
    View {
        title: "Quick: what does a framework cost?".to_owned(),
        place: "block 5 of about 12, round 3: simple-web-server".to_owned(),
        answer: String::new(),
        elapsed: Duration::from_secs(63),
        left: Duration::from_secs(125),
        table: Table::plain(COLUMNS, rows),
        interest: vec![Interest::Reference, Interest::None, Interest::Now, Interest::None, Interest::Failed],
        remarks: vec![
            "gin: generator-bound: the generator used 97% of its CPUs".to_owned(),
            "noisy host: other programs took 9% of the measured CPUs".to_owned(),
        ],
    }
}

#[test]
fn a_usual_terminal_has_it_all() {
    assert_snapshot!(drawn(&view(), 80, 24));
}

#[test]
fn a_small_terminal_has_what_is_most_interesting() {
    assert_snapshot!(drawn(&view(), 40, 7));
}

#[test]
fn fifty_rows_are_the_most_interesting_ones_in_their_order() {
    let mut view = view();
    for place in 0..50_u64 {
        let share = 0.4 - place as f64 / 200.0;
        view.table.rows.push(row(&format!("service-{place:02}"), 4, share, Value::None).into());
        view.interest.push(if place % 6 == 5 { Interest::InBlock } else { Interest::None });
    }
    assert_snapshot!(drawn(&view, 80, 20));
}

#[test]
fn the_row_at_work_and_the_failed_one_have_a_colour() {
    let lines = view().lines(Size { columns: 80, lines: 24 }, true);
    assert!(
        lines.iter().any(|line| line.starts_with("\u{1b}[1;36m▶ \u{1b}[0msimple-web-server")),
        "{lines:?}"
    );
    assert!(lines.iter().any(|line| line.contains("\u{1b}[31mfailed\u{1b}[0m")), "{lines:?}");
}

/// No size and no text causes a panic, or a line longer than the terminal.
#[test]
fn it_fits_everywhere() {
    let mut hostile = view();
    hostile.title = "\u{202e}\u{6587}\u{1f469}\u{200d}\u{1f680}<script>\t\u{7}".repeat(20);
    hostile.place.clone_from(&hostile.title);
    hostile.table.rows[1][0] = hostile.title.as_str().into();
    hostile.table.rows[2][3] = f64::NAN.into();
    for view in [&view(), &hostile, &View::default()] {
        for columns in 1..100 {
            for lines in [1, 2, 3, 4, 5, 6, 9, 30] {
                let shown = view.lines(Size { columns, lines }, true);
                assert!(shown.len() <= lines.into());
                assert!(shown.iter().all(|line| measure_text_width(line) <= columns.into()), "{shown:?}");
            }
        }
    }
}
