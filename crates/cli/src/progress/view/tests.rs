use insta::assert_snapshot;
use ratatui::{Terminal, backend::TestBackend};

use super::*;

/// What a terminal of this size shows of it.
pub fn drawn(view: &View, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| frame.render_widget(view, frame.area())).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y: u16| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..lines).map(|y| format!("|{}\n", line(y).trim_end())).collect()
}

fn row(name: &str, tier: &str, value: f64, interval: Option<(f64, f64)>) -> Row {
    let percent = |value: f64| format!("{:.1}%", value * 100.0);
    let ends = interval.map(|(low, high)| format!("{:.1} .. {}", low * 100.0, percent(high)));
    let cells = [tier, "183 k", &percent(value), &ends.unwrap_or("-".to_owned()), "5.21 µs", "4"];
    Row {
        name: name.to_owned(),
        cells: cells.map(str::to_owned).into(),
        range: Some(Range { value: Some(value), interval, marks: vec![1.0] }),
        ..Row::default()
    }
}

fn out(name: &str, state: &str) -> Row {
    Row { name: name.to_owned(), state: state.to_owned(), tone: Tone::Bad, is_out: true, ..Row::default() }
}

fn view() -> View {
    let columns =
        [("tier", 5), ("req/s", 1), ("of reference", 0), ("95% interval", 2), ("CPU/req", 4), ("n", 3)];
    let mut rows = vec![
        row("raw-socket", "1", 1.0, Some((1.0, 1.0))),
        row("hyper", "2", 0.81, Some((0.74, 0.88))),
        row("simple-web-server", "2", 0.79, Some((0.6, 1.05))),
        row("gin", "-", 0.42, None),
        out("restbed", "failed in block 3: was killed by SIGSEGV\nand said \u{1b}[31mnothing about it"),
        Row { name: "chi".to_owned(), cells: vec!["-".to_owned(); 6], ..Row::default() },
    ];
    (rows[2].is_now, rows[2].state, rows[2].interest) = (true, "measuring".to_owned(), 5);
    (rows[3].state, rows[3].tone) = ("generator-bound".to_owned(), Tone::Open);
    rows[4].interest = 4;
    View {
        title: "Quick: what does a framework cost?".to_owned(),
        place: "block 5 of about 12, round 3: simple-web-server".to_owned(),
        finding: String::new(),
        elapsed: Duration::from_secs(63),
        left: Duration::from_secs(125),
        table: Table {
            name: "service",
            columns: columns.map(|(title, spare)| Column { title, spare }).into(),
            scale: Some(Scale {
                from: 0.0,
                to: 1.05,
                ends: ["0".to_owned(), "105.0%".to_owned()],
                is_length: true,
            }),
            rows,
        },
        remarks: vec![
            "gin: generator-bound: the generator used 97% of its CPUs".to_owned(),
            "noisy host: other programs took 9% of the measured CPUs".to_owned(),
        ],
    }
}

#[test]
fn a_usual_terminal_has_it_all_but_some_figures() {
    assert_snapshot!(drawn(&view(), 80, 24));
}

#[test]
fn a_wide_terminal_has_all_figures() {
    assert_snapshot!(drawn(&view(), 120, 40));
}

#[test]
fn a_small_terminal_has_what_is_most_interesting() {
    assert_snapshot!(drawn(&view(), 40, 10));
}

#[test]
fn fifty_rows_are_the_most_interesting_ones_in_their_order() {
    let mut view = view();
    for place in 0..50u8 {
        let mut row =
            row(&format!("service-{place:02}"), "3", 0.4 - f64::from(place) / 200.0, Some((0.1, 0.4)));
        row.interest = u8::from(place % 6 == 5) * 3;
        view.table.rows.push(row);
    }
    assert_eq!(view.height(24), 24);
    assert_snapshot!(drawn(&view, 80, 20));
}

#[test]
fn a_view_has_as_many_lines_as_it_needs() {
    assert_eq!(view().height(24), 3 + 6 + 2);
    assert_eq!(view().height(5), 5);
}

#[test]
fn effects_stand_around_nothing() {
    let effect = |name: &str, value: f64, interval, bound| Row {
        name: name.to_owned(),
        cells: vec![format!("{:+.1}%", (value - 1.0) * 100.0)],
        range: Some(Range { value: Some(value), interval, marks: vec![1.0, bound] }),
        ..Row::default()
    };
    let mut view = view();
    view.finding = "a regression of 3% or more is excluded in throughput".to_owned();
    view.table = Table {
        name: "metric",
        columns: vec![Column { title: "change", spare: 0 }],
        scale: Some(Scale {
            from: 0.94,
            to: 1.06,
            ends: ["-6.0%".to_owned(), "+6.0%".to_owned()],
            is_length: false,
        }),
        rows: vec![
            effect("throughput *", 0.99, Some((0.975, 1.005)), 0.971),
            effect("CPU/request *", 1.02, Some((1.001, 1.05)), 1.03),
        ],
    };
    assert_snapshot!(drawn(&view, 80, 8));
}

/// No size and no text makes it panic.
#[test]
fn it_fits_everywhere() {
    let mut hostile = view();
    hostile.title = "\u{202e}\u{6587}\u{1f469}\u{200d}\u{1f680}<script>\t\u{7}".repeat(20);
    hostile.place.clone_from(&hostile.title);
    hostile.table.rows[1].name.clone_from(&hostile.title);
    hostile.table.rows[2].range =
        Some(Range { value: Some(f64::NAN), interval: Some((2.0, -1.0)), marks: vec![9.0] });
    for view in [&view(), &hostile, &View::default()] {
        for columns in 1..100 {
            for lines in [1, 2, 3, 4, 5, 6, 9, 30] {
                drawn(view, columns, lines);
            }
        }
    }
}
