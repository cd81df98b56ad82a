//! Checks that the guide's pages of commands equal the output of `--help`: a page for each command, and one for the options that
//! several have.

use std::{collections::BTreeMap, fs, path::Path};

use crate::support::helps;

const HEAD: &str = "# Commands\n\n\
    What `--help` prints. These pages are written by a test, and not by hand: after a change of a help text run\n\
    `INSTA_UPDATE=always cargo test -p tare-http --test e2e reference`.\n\n\
    Options that several commands have stand [on a page of their own](commands/common.md).\n\n";

const COMMON_HEAD: &str =
    "# Options of several commands\n\nEach command's page says which of these it has.\n";

/// A group of options with the same text in this many helps stands on the common page.
const COMMANDS_MIN: usize = 3;

#[test]
fn the_pages_of_commands_are_what_help_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let pages = pages(&helps());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        let _ = fs::remove_dir_all(root.join("commands"));
        fs::create_dir_all(root.join("commands")).unwrap();
        for (name, page) in &pages {
            fs::write(root.join(name), page).unwrap();
        }
    }
    for (name, page) in &pages {
        let stored = fs::read_to_string(root.join(name)).unwrap_or_default();
        let differing = stored.lines().zip(page.lines()).find(|(stored, now)| stored != now);
        assert!(
            stored == *page,
            "docs/reference/{name} is out of date ({differing:?}): commands.md says what to run"
        );
    }
    let stored = fs::read_dir(root.join("commands")).unwrap().count();
    assert_eq!(stored + 1, pages.len(), "docs/reference/commands has a page of no command");
}

/// A help text: blocks without indentation, each with its heading.
struct Help<'a> {
    command: &'a str,
    about: &'a str,
    blocks: Vec<String>,
}

impl Help<'_> {
    fn of<'a>((command, text): &'a (String, String)) -> Help<'a> {
        let mut blocks: Vec<String> = Vec::new();
        for line in text.trim().lines().map(str::trim_end) {
            let begins = is_heading(line) || blocks.is_empty();
            if begins {
                blocks.push(String::new());
            }
            let block = blocks.last_mut().unwrap();
            *block += line;
            block.push('\n');
        }
        Help { command, about: text.trim().lines().next().unwrap_or_default(), blocks }
    }

    /// `compare` of `tare compare`; subcommands are on the page of their command.
    fn page(&self) -> &str {
        self.command.split(' ').nth(1).unwrap_or("tare")
    }
}

fn is_heading(line: &str) -> bool {
    line.ends_with(':') && line.starts_with(|first: char| first.is_ascii_uppercase())
}

fn title(block: &str) -> &str {
    block.lines().next().unwrap_or_default().trim_end_matches(':')
}

/// Whether a block may stand on the common page: a command's own options are never the same by meaning.
fn is_group(block: &str) -> bool {
    is_heading(block.lines().next().unwrap_or_default())
        && !["Options", "Arguments", "Commands"].contains(&title(block))
}

/// All pages by their names below `docs/reference`.
fn pages(helps: &[(String, String)]) -> BTreeMap<String, String> {
    let helps: Vec<Help> = helps.iter().map(|help| Help::of(help)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for block in helps.iter().flat_map(|help| &help.blocks).filter(|block| is_group(block)) {
        *counts.entry(block.as_str()).or_default() += 1;
    }
    let common: Vec<&str> =
        counts.into_iter().filter(|(_, count)| *count >= COMMANDS_MIN).map(|(block, _)| block).collect();
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut index = HEAD.to_owned();
    for help in &helps {
        let name = format!("commands/{}.md", help.page());
        if !pages.contains_key(&name) {
            index += &format!("- [{}]({name}): {}\n", help.command, help.about);
        }
        let is_first = !pages.contains_key(&name);
        pages.entry(name).or_default().push_str(&section(help, &common, is_first));
    }
    let groups: String =
        common.iter().map(|block| format!("\n## {}\n{}", title(block), fenced(block))).collect();
    pages.insert("commands/common.md".to_owned(), format!("{COMMON_HEAD}{groups}"));
    pages.insert("commands.md".to_owned(), index);
    pages
}

fn section(help: &Help, common: &[&str], is_first: bool) -> String {
    let (shared, own): (Vec<&String>, Vec<&String>) =
        help.blocks.iter().partition(|block| common.contains(&block.as_str()));
    let own: String = own.into_iter().map(String::as_str).collect();
    let link = |block: &&String| {
        let title = title(block);
        format!("- [{title}](common.md#{})\n", title.to_lowercase().replace(' ', "-"))
    };
    let links: String = shared.iter().map(link).collect();
    let links = if links.is_empty() {
        links
    } else {
        format!("\nIt has these options of several commands too:\n\n{links}")
    };
    let mark = if is_first { "# " } else { "\n## " };
    format!("{mark}{}\n{}{links}", help.command, fenced(&own))
}

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim())
}
