//! The answers as a table for people.

use anyhow::Result;

use super::{Answer, Pinned, version};

const HEADINGS: [&str; 7] = ["service", "package", "used", "newest", "date", "lock", ""];

const MOVES: &str = "to move a lock, in its folder: cargo update; go get -u; npm install NAME@latest; for pip \
    requirements.in and the command on top of requirements.txt; for maven pom.xml; apt-get upgrade";

/// One line per service, a line of totals, and a line with the commands that update a lock.
pub(super) fn render(pinned: &[Pinned], answers: &[Result<Answer>]) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(pinned.iter().zip(answers).map(|(service, answer)| row(service, answer)));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: [usize; 7] = std::array::from_fn(width);

    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    let asked = answers.iter().flatten().count();
    let behind = answers.iter().flatten().filter(|answer| is_behind(answer)).count();
    text.push_str(&format!(
        "\n{behind} of {asked} have something newer, {} were not asked; lock: other locked packages with something newer\n",
        answers.len() - asked
    ));
    text + MOVES + "\n"
}

fn row(service: &Pinned, answer: &Result<Answer>) -> [String; 7] {
    let none = || "-".to_owned();
    let name = service.name.clone();
    let package = service.package.as_ref().map_or_else(none, ToString::to_string);
    match answer {
        Ok(answer) => [
            name,
            package,
            answer.used.clone(),
            answer.newest.clone(),
            answer.date.map_or_else(none, |date| date.to_string()),
            answer.lock.map_or_else(none, |count| count.to_string()),
            if is_behind(answer) { "newer" } else { "" }.to_owned(),
        ],
        Err(reason) => [name, package, none(), none(), none(), none(), format!("not asked: {reason:#}")],
    }
}

fn is_behind(answer: &Answer) -> bool {
    version::is_newer(&answer.newest, &answer.used)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use jiff::civil::date;

    use super::*;

    #[test]
    fn columns_are_aligned_and_reasons_stand_last() {
        let service = |name: &str, package: Option<&str>| Pinned {
            name: name.to_owned(),
            folder: ".".into(),
            package: package.map(|text| text.parse().unwrap()),
        };
        let services = [service("ntex", Some("pkg:cargo/ntex")), service("net-http", None)];
        let newer = Answer {
            used: "3.12.3".into(),
            newest: "4.5.0".into(),
            date: Some(date(2026, 11, 1)),
            lock: Some(2),
        };
        let text = render(&services, &[Ok(newer), Err(anyhow!("it comes with the language"))]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "service   package         used    newest  date        lock",
                "ntex      pkg:cargo/ntex  3.12.3  4.5.0   2026-11-01  2     newer",
                "net-http  -               -       -       -           -     not asked: it comes with the language",
            ]
        );
        assert!(lines[4].starts_with("1 of 1 have something newer, 1 were not asked"), "{text}");
        assert_eq!(lines.len(), 6);
    }
}
