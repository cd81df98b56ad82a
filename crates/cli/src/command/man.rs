//! `tare man`: the manual pages, from the same definition as the help.

use std::{fs, path::PathBuf};

use anyhow::{Context, bail};
use clap_mangen::Man;
use tare_base::spelling::suggestion;

use super::shown;
use crate::{exit::Outcome, output};

/// Print a manual page, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare man | man -l -                            the page tare(1)
  tare man compare | man -l -                    the page tare-compare(1)
  tare man --out ~/.local/share/man/man1         every page, for `man tare-compare`

Exit codes: 0 fine, 1 usage or set-up error.")]
pub(crate) struct Args {
    /// The page of this command, such as `compare` or `cluster plan` [default: the page of tare itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write every page into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(cli: clap::Command, args: &Args) -> anyhow::Result<Outcome> {
    let pages = pages(cli)?;
    let Some(folder) = &args.out else {
        let command = (!args.command.is_empty()).then(|| args.command.join(" "));
        output::print_bytes(&chosen(&pages, command.as_deref())?.text)?;
        return Ok(Outcome::Fine);
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for page in &pages {
        output::write_file(&folder.join(&page.name), &page.text)?;
    }
    tare_host::message!("written to {}: {} pages", folder.display(), pages.len());
    Ok(Outcome::Fine)
}

struct ManualPage {
    /// The command; `None` for `tare` itself.
    command: Option<String>,
    /// `tare-compare.1`
    name: String,
    text: Vec<u8>,
}

fn chosen<'p>(pages: &'p [ManualPage], command: Option<&str>) -> anyhow::Result<&'p ManualPage> {
    let Some(page) = pages.iter().find(|page| page.command.as_deref() == command) else {
        let given = command.unwrap_or_default();
        let valid = pages.iter().filter_map(|page| page.command.as_deref());
        bail!("unknown command \"{given}\"{}", suggestion(given, valid));
    };
    Ok(page)
}

fn pages(mut cli: clap::Command) -> anyhow::Result<Vec<ManualPage>> {
    // Propagates global options to the commands.
    cli.build();
    let own = page(&cli, None)?;
    let named = |command: &clap::Command, above: &str| format!("{above}{}", command.get_name());
    let of_commands = shown(&cli).flat_map(|command| {
        let name = named(command, "");
        let below = format!("{name} ");
        let nested =
            shown(command).map(|nested| page(nested, Some(named(nested, &below)))).collect::<Vec<_>>();
        std::iter::once(page(command, Some(name))).chain(nested)
    });
    std::iter::once(Ok(own)).chain(of_commands).collect()
}

fn page(of: &clap::Command, command: Option<String>) -> anyhow::Result<ManualPage> {
    let man = Man::new(of.clone()).manual("Tare").source(concat!("tare ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if shown(of).next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    let rest = of.get_after_long_help().or(of.get_after_help()).map(ToString::to_string);
    text.extend(rest.iter().flat_map(|rest| rest.split("\n\n")).flat_map(|part| section(part).into_bytes()));
    Ok(ManualPage { command, name: man.get_filename(), text })
}

/// Formats the end of a help: `Examples:` with literal lines, or `Exit codes: ...` as a paragraph.
fn section(part: &str) -> String {
    match part.split_once(':') {
        Some((head, lines)) if lines.starts_with('\n') => {
            format!(".SH {:?}\n.nf\n{}\n.fi\n", head.to_uppercase(), escaped(&lines[1..]))
        }
        Some((head, text)) => format!(".SH {:?}\n{}\n", head.to_uppercase(), escaped(text.trim())),
        None => format!(".PP\n{}\n", escaped(part)),
    }
}

/// Escapes text for roff: a leading point or apostrophe, and the hyphens of options.
fn escaped(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        if line.starts_with('.') { format!("\\&{line}") } else { line }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use clap::CommandFactory;
    use tare_host::fixture::has_program;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_has_a_page_with_its_options_and_examples() {
        let pages = pages(Cli::command()).unwrap();
        let nested: &[&str] = match crate::parts::left_out("cluster") {
            None => &["cluster plan", "cluster collect"],
            Some(_) => &[],
        };
        let has = |command: &str| pages.iter().any(|page| page.command.as_deref() == Some(command));
        assert_eq!(pages.len() > 1 + shown(&Cli::command()).count(), !nested.is_empty());
        assert!(nested.iter().copied().all(has));
        let own = String::from_utf8_lossy(&pages[0].text).into_owned();
        for page in &pages[1..] {
            let text = String::from_utf8_lossy(&page.text);
            let command = page.command.as_deref().unwrap();
            assert_eq!(page.name, format!("tare-{}.1", command.replace(' ', "-")));
            let first = command.split(' ').next().unwrap().replace('-', "\\-");
            assert!(own.contains(&format!("tare\\-{first}")), "{command} in {own}");
            assert!(text.contains(".SH \"EXAMPLES\"\n.nf\n  tare "), "{text}");
            assert!(text.contains("\\-\\-root"), "{text}");
        }
        assert!(own.contains(".SH \"EXIT CODES\"\n0 fine, 1 usage or set\\-up error"), "{own}");
        assert!(!own.contains("watchdog"), "it is started by tare, not by people");
    }

    #[test]
    fn a_line_that_begins_with_a_point_is_text() {
        assert_eq!(escaped(".x\n a 'b' --c \\"), "\\&.x\n a \\(aqb\\(aq \\-\\-c \\e");
        assert_eq!(section("Exit codes: 0 fine"), ".SH \"EXIT CODES\"\n0 fine\n");
    }

    /// groff is in every Debian, and warns of errors.
    #[test]
    fn groff_sets_every_page_without_a_warning() {
        if !has_program("groff_sets_every_page_without_a_warning", "groff") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        for page in pages(Cli::command()).unwrap() {
            let path = folder.path().join(&page.name);
            fs::write(&path, &page.text).unwrap();
            let mut groff = Command::new("groff");
            let set = groff.args(["-man", "-Tutf8", "-ww"]).arg(&path).stdin(Stdio::null()).output().unwrap();
            assert!(
                set.status.success() && set.stderr.is_empty(),
                "{}: {}",
                page.name,
                String::from_utf8_lossy(&set.stderr)
            );
        }
    }
}
