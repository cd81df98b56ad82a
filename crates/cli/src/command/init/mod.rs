//! `tare init`: sets up a repository for Tare. It looks for a way to start the service, tries it, learns its
//! answers, writes files, and ends with a first comparison.

mod ci;
mod file;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use tare_base::document;
use tare_base::units::parse_time;
use tare_service::{
    checkout::Checkout,
    discover::{self, Guess},
    learn::{LearnError, LearnRequest, Learned},
    revisions,
    settings::ServiceSettings,
    workspace::{Published, Root, Workspace, link_on_the_way},
};

use super::{
    asked::{self, AskedOptions},
    compare,
};
use crate::{
    exit::Outcome,
    output::{paint, print, write_files},
    trust,
    workspace::Global,
};
use ci::Ci;
use file::ProjectText;

/// The file that marks a repository that is set up.
const FILE: &str = "tare.toml";
/// The shortest and the longest time for the comparison.
const BUDGETS: std::ops::RangeInclusive<Duration> = Duration::from_secs(30)..=Duration::from_secs(180);
/// The comparison starts the service for two pilots and twice in each of eight blocks: 18 starts. It should
/// measure for as long.
const BUDGET_STARTS: u32 = 36;

/// Set up a repository: find out how its service starts and what it answers
///
/// Tare reads the files of the current folder (Procfile, Dockerfile, package.json, go.mod, pyproject and requirements, pom.xml,
/// Cargo.toml, ...) and starts the service in the ways that they suggest until it answers, in a clean checkout as CI has it. It
/// asks each request four times: those that you name, those of an OpenAPI document (a file, or what the service has of itself), or
/// `GET /`. What
/// all answers have in common becomes its contract, and the rest is written to `tare.toml`. At the end the service is compared
/// with itself, which shows what this
/// machine can see.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare init                                                     look, try, write, compare
  tare init --get /items/1 --get '/items?page=2'                what to ask for
  tare init --command 'node server.js' --get /items/1           how to start it, if the guess is wrong
  tare init --ci github                                         a workflow for pull requests too
  tare init --dry-run                                           what would be tried, and nothing else

Exit codes: 0 the files are written, 1 usage or set-up error, 2 the service could not be started, or it failed what it was asked, \
130 or 143 interrupted.")]
pub(crate) struct Args {
    /// How the service is started, such as `'node server.js'`: it listens on the port in PORT, or in place of `{port}` [default: what
    /// the files of the repository suggest]
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// The service's name [default: that of the folder]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    asked: AskedOptions,
    /// Also write a workflow that compares each pull request with its base
    #[arg(long, value_enum)]
    ci: Option<Ci>,
    /// Do not compare at the end
    #[arg(long)]
    no_compare: bool,
    /// Time for the comparison [default: 30s; up to 3m for a service that takes long to start]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    /// Print the ways that would be tried, and stop
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let folder = std::env::current_dir().context("cannot find the current folder")?;
    ensure!(!folder.join(FILE).exists(), "{FILE} is there already: change it, or remove it first");
    let name = args.name.clone().unwrap_or_else(|| name_of(&folder));
    let guesses = guesses(&folder, args.command.as_deref());
    ensure!(
        !guesses.is_empty(),
        "nothing here says how a service is started: say it by `tare init --command 'node server.js'`"
    );
    if args.dry_run {
        return print(&listed(&guesses)).map(|()| Outcome::Fine);
    }
    let site = Site { global, folder: &folder, name: &name, is_typed: args.command.is_some() };
    let Some((guess, learned)) = first_that_answers(&site, &guesses, asked(global, &folder, args)?)? else {
        bail!(
            "the service did not answer in any of these ways: say how it is started by --command, and what to ask by --get"
        );
    };
    let text = ProjectText { name: &name, guess, base: &base(&folder), has_contract: true };
    let mut written = vec![(file::contract(&name), learned.named(&name)), (PathBuf::from(FILE), text.text())];
    written.extend(args.ci.map(|ci| ci.file(&text)));
    write(&folder, &written)?;
    if let Some(edit) = args.ci.and_then(Ci::to_edit) {
        tare_host::message!("{}: {edit}", args.ci.map(|ci| ci.file(&text).0).unwrap_or_default().display());
    }
    if args.no_compare {
        return Ok(Outcome::Fine);
    }
    let budget = args.budget.unwrap_or(budget(learned.start_up.unwrap_or_default()));
    let names: Vec<String> = written.iter().map(|(path, _)| path.display().to_string()).collect();
    let stays = format!(
        "{} are written, and stay; `tare compare {name} {name}` makes the comparison",
        names.join(", ")
    );
    let compared = compare_with_itself(global, &name, budget);
    // An interrupted comparison reports itself, but not that the files remain.
    if compared.is_ok() && tare_host::signals::received().is_some() {
        tare_host::message!("{stays}");
    }
    compared.context(stays)
}

/// The repository that is set up.
#[derive(Clone, Copy)]
struct Site<'a> {
    global: &'a Global,
    folder: &'a Path,
    name: &'a str,
    /// Whether the user typed the command, and thereby allows it.
    is_typed: bool,
}

/// The ways to start the service: `--command`, or else those that the files suggest.
fn guesses(folder: &Path, command: Option<&str>) -> Vec<Guess> {
    match command {
        Some(command) => {
            let what = "as asked for".to_owned();
            vec![Guess { what, command: command.to_owned(), ..Guess::default() }]
        }
        None => discover::guesses(folder),
    }
}

fn listed(guesses: &[Guess]) -> String {
    let line = |guess: &Guess| {
        let steps = guess.build.iter().map(|step| step.command.join(" "));
        let steps: Vec<String> = steps.chain([guess.command.clone()]).collect();
        format!("{} ({})\n    {}\n", guess.what, guess.file.display(), steps.join("\n    "))
    };
    guesses.iter().map(line).collect()
}

/// The user's requests, or those of a document in the repository. If empty, the service may have a document.
fn asked(global: &Global, folder: &Path, args: &Args) -> anyhow::Result<Vec<LearnRequest>> {
    if args.asked.is_empty() { Ok(documented(global, folder)) } else { args.asked.or_root() }
}

/// The requests of an OpenAPI document in the repository.
fn documented(global: &Global, folder: &Path) -> Vec<LearnRequest> {
    let names = ["openapi.yaml", "openapi.yml", "openapi.json"];
    let found = names.into_iter().find_map(|name| Some((name, document::read(&folder.join(name)).ok()?)));
    let Some((name, text)) = found else { return Vec::new() };
    let requests = match global.readers {
        Some(readers) => (readers.document)(&text),
        None => {
            Err("is not read: this build of Tare has no reader of OpenAPI, which every package of Tare has"
                .to_owned())
        }
    };
    requests.unwrap_or_else(|why| {
        tare_host::message!("{} {name} {why}", paint("33", "left out:"));
        Vec::new()
    })
}

/// Builds and starts the service in one way after the other, until it answers.
fn first_that_answers<'g>(
    site: &Site,
    guesses: &'g [Guess],
    mut asked: Vec<LearnRequest>,
) -> anyhow::Result<Option<(&'g Guess, Learned)>> {
    for guess in guesses {
        tare_host::message!("trying `{}`", guess.command);
        match try_one(site, guess, &mut asked) {
            Ok(learned) => return Ok(Some((guess, learned))),
            // This is the right way to start it; the refused request is another problem.
            Err(error) if matches!(error.downcast_ref(), Some(LearnError::Refused { .. })) => {
                let what = format!("`{}` starts it; give --get a path that it serves", guess.command);
                return Err(error.context(what));
            }
            Err(error) => tare_host::message!("{} {error:#}", paint("33", "that does not work:")),
        }
        ensure!(
            tare_host::signals::received().is_none(),
            "interrupted while it tried: {FILE} is not written"
        );
    }
    Ok(None)
}

/// Tries one way in a clean checkout, as CI would: files of the work tree only, such as `.venv`, are absent.
fn try_one(site: &Site, guess: &Guess, asked: &mut Vec<LearnRequest>) -> anyhow::Result<Learned> {
    let Site { global, folder, name, is_typed } = *site;
    let text = ProjectText { name, guess, base: "", has_contract: false }.text();
    let here = global.open_at(&Root::of_text(folder, &text)?)?;
    let allow = || -> anyhow::Result<()> {
        for (folder, commands) in here.named_commands(here.rows([name])?.iter().map(|row| &row.service)) {
            here.trust().allow(&folder, commands).with_context(|| folder.display().to_string())?;
        }
        Ok(())
    };
    if is_typed {
        allow()?;
    }
    trust::ask(&here, here.rows([name])?.iter().map(|row| &row.service))?;
    let checkout = Checkout::of(folder, &here.shelf())?;
    let mut clean = global.open_at(&Root::of_text(&checkout.folder, &text)?)?;
    // The commands are the same, and were allowed above.
    clean.trusts_all = true;
    let learned =
        learn_in(&clean, name, asked, &here.scratch("init")).with_context(|| where_it_failed(&checkout))?;
    // The user sets up the repository, and wants to run its commands later too.
    allow()?;
    Ok(learned)
}

fn where_it_failed(checkout: &Checkout) -> &'static str {
    match checkout.is_head {
        true => "in a clean checkout of HEAD, which has nothing that git ignores",
        false => "in a copy of all that git does not ignore",
    }
}

fn learn_in(
    workspace: &Workspace,
    name: &str,
    asked: &mut Vec<LearnRequest>,
    scratch: &Path,
) -> anyhow::Result<Learned> {
    let rows = workspace.rows([name])?;
    let settings = ServiceSettings::of_threads(1);
    if asked.is_empty() {
        *asked = of_the_service(asked::published(workspace, &rows, &settings, scratch)?);
    }
    loop {
        let learned = asked::learn(workspace, &rows, asked, &settings, scratch);
        let Err(error) = learned else { return learned };
        // If one of several requests is refused, it is left out: a document may name paths that the service
        // does not have.
        match error.downcast_ref() {
            Some(LearnError::Refused { asked: refused, .. }) if asked.len() > 1 => {
                tare_host::message!("{} {error:#}", paint("33", "left out:"));
                let refused = refused.clone();
                asked.retain(|asked| *asked != *refused);
            }
            _ => return Err(error),
        }
    }
}

/// The requests of the service's own document, or its root.
fn of_the_service(published: Option<Published>) -> Vec<LearnRequest> {
    let root = || vec![LearnRequest::new("GET", "/", None)];
    published.map_or_else(root, |(place, asked)| {
        tare_host::message!("the service's OpenAPI document at {place} says what to ask");
        asked
    })
}

fn write(folder: &Path, files: &[(PathBuf, String)]) -> anyhow::Result<()> {
    let taken = files.iter().find(|(path, _)| folder.join(path).exists());
    if let Some((path, _)) = taken {
        bail!("{}: is there already; nothing is written", path.display());
    }
    if let Some(link) = files.iter().find_map(|(path, _)| link_on_the_way(folder, &folder.join(path))) {
        bail!(
            "{}: is a symbolic link, and what is written stays in the repository: nothing is written",
            link.display()
        );
    }
    let names: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let texts = files.iter().map(|(_, text)| text.as_bytes());
    let named: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(texts).collect();
    write_files(folder, &named)?;
    tare_host::message!("wrote {}: read them, and commit them", names.join(", "));
    Ok(())
}

/// Compares the service with itself: a difference between two processes of one build comes from the machine.
fn compare_with_itself(global: &Global, name: &str, budget: Duration) -> anyhow::Result<Outcome> {
    tare_host::message!("comparing {name} with itself, to see what this machine can see");
    let budget = format!("{}ms", budget.as_millis());
    let words = ["compare", name, name, "--metric", "cpu", "--budget", &budget, "--fail-on", "regression"];
    compare::run_words(global, &words)
}

/// The time for comparing a service with this start-up time.
fn budget(start_up: Duration) -> Duration {
    (start_up * BUDGET_STARTS).clamp(*BUDGETS.start(), *BUDGETS.end())
}

/// The name of the folder, reduced to valid characters.
fn name_of(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let kept: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    match kept.trim_matches('-') {
        "" | "raw-socket" => "service".to_owned(),
        name => name.to_owned(),
    }
}

/// The base branch of pull requests.
fn base(folder: &Path) -> String {
    revisions::default_branch(folder).unwrap_or_else(|| "origin/main".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_takes_long_to_start_is_compared_for_longer() {
        let of = |start_up_ms| budget(Duration::from_millis(start_up_ms)).as_secs();
        assert_eq!([50, 2_000, 6_000].map(of), [30, 72, 180]);
    }

    #[test]
    fn a_folder_gives_a_service_its_name() {
        let of = |name: &str| name_of(&Path::new("/repositories").join(name));
        assert_eq!(
            (of("My Shop"), of("shop.v2"), of("--")),
            ("my-shop".into(), "shop-v2".into(), "service".into())
        );
    }
}
