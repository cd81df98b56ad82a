//! `tare examples`: common questions, each with the command that answers it.

use clap::Command;

use crate::{exit::Outcome, output};

/// Print common questions, each with the command that answers it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare examples              every question
  tare examples capacity     those that have this word

Exit codes: 0 fine, 1 no question has the word, or a usage error.")]
pub(crate) struct Args {
    /// Only questions and commands that contain this word
    #[arg(value_name = "WORD")]
    word: Option<String>,
}

/// A question, and its commands in the order in which they run.
struct Example {
    question: &'static str,
    needs: Needs,
    commands: &'static [&'static str],
}

/// What the commands need besides the program and the names given by the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// The stored runs of the repository of Tare.
    AClone,
}

const EXAMPLES: &[Example] = &[
    Example {
        question: "How do I begin in a repository of mine?",
        needs: Needs::Nothing,
        commands: &["tare init --dry-run", "tare init --get /items/1"],
    },
    Example {
        question: "How do I write a contract of my service?",
        needs: Needs::Nothing,
        commands: &[
            "tare record http://127.0.0.1:3000/items/1 --out shop.toml",
            "tare record openapi.yaml --server http://127.0.0.1:3000 --out shop.toml",
        ],
    },
    Example {
        question: "Which of two commands is cheaper, and by how much?",
        needs: Needs::Nothing,
        commands: &["tare compare 'node a.js' 'node b.js' --get /items/1"],
    },
    Example {
        question: "Which of two servers that run already is cheaper?",
        needs: Needs::Nothing,
        commands: &["tare compare http://127.0.0.1:3000 http://127.0.0.1:3001 --get /items/1"],
    },
    Example {
        question: "Which framework costs least, and which cannot be separated?",
        needs: Needs::Nothing,
        commands: &["tare run quick", "tare show", "tare report"],
    },
    Example {
        question: "Does it hold on other machines of a Slurm cluster?",
        needs: Needs::Nothing,
        commands: &[
            "tare cluster plan quick --on machines.toml --seeds 3 --output jobs.ndjson",
            "tare cluster submit jobs.ndjson --engine slurm --store /shared/tare",
            "tare cluster status /shared/tare/BATCH",
            "tare cluster collect /shared/tare/BATCH",
        ],
    },
    Example {
        question: "Can these published figures be true?",
        needs: Needs::AClone,
        commands: &["tare audit record/quick"],
    },
    Example {
        question: "How do two frameworks differ?",
        needs: Needs::Nothing,
        commands: &["tare compare hyper axum"],
    },
    Example {
        question: "Did this branch make my service slower?",
        needs: Needs::Nothing,
        commands: &["tare compare 'node server.js' --revisions main...HEAD --get /items/1"],
    },
    Example {
        question: "What did my service cost in each of its versions?",
        needs: Needs::Nothing,
        commands: &["tare history 'node server.js' v1.2 HEAD --get /items/1"],
    },
    Example {
        question: "Which commit made it slower?",
        needs: Needs::Nothing,
        commands: &["tare bisect HEAD~1 HEAD 'node server.js' --get /items/1"],
    },
    Example {
        question: "Did it, as a gate in CI that fails at a regression of 5% in CPU time?",
        needs: Needs::Nothing,
        commands: &[
            "tare compare --revisions main..HEAD ./my-service --metric cpu --delta 5% --out runs/gate",
            "tare report runs/gate --format junit --out gate.xml",
            "tare show runs/gate --format markdown",
        ],
    },
    Example {
        question: "How many requests per second does my service take, with its p99 below 10 ms?",
        needs: Needs::Nothing,
        commands: &["tare slo 'node server.js' --get /items/1 --slo p99=10ms"],
    },
    Example {
        question: "Is that capacity at least 20,000 requests per second?",
        needs: Needs::Nothing,
        commands: &["tare slo ./my-service --slo p99=10ms --at-least 20k"],
    },
    Example {
        question: "How fast is a server that is already running?",
        needs: Needs::Nothing,
        commands: &["tare load http://127.0.0.1:8080/"],
    },
    Example {
        question: "What is its latency at 20,000 requests per second?",
        needs: Needs::Nothing,
        commands: &["tare load -R 20k --arrivals poisson -d 1m --latency http://127.0.0.1:8080/"],
    },
    Example {
        question: "One machine cannot send enough: how do several load one server?",
        needs: Needs::Nothing,
        commands: &[
            "tare agent --token-file token --listen 10.0.0.7:7070 --target 10.0.0.9:8080",
            "tare load --agents 10.0.0.7:7070,10.0.0.8:7070 --token-file token --i-may-load 10.0.0.9 http://10.0.0.9:8080/",
        ],
    },
    Example {
        question: "How do services compare under load from several other machines?",
        needs: Needs::Nothing,
        commands: &[
            "tare agent --token-file token --listen 10.0.0.7:7070 --target 10.0.0.9 --keep",
            "tare run quick --agents 10.0.0.7:7070,10.0.0.8:7070 --token-file token --serve-on 10.0.0.9 --i-may-load 10.0.0.9",
        ],
    },
    Example {
        question: "Does my service answer as its contract says, and survive bad input?",
        needs: Needs::Nothing,
        commands: &["tare verify ./my-service", "tare verify ./my-service --endure"],
    },
    Example {
        question: "How do the services change from 16 connections to 256?",
        needs: Needs::Nothing,
        commands: &["tare run quick --connections 16,64,256"],
    },
    Example {
        question: "What changed between two runs, or over many?",
        needs: Needs::Nothing,
        commands: &["tare report runs/A runs/B", "tare report runs/A runs/B runs/C"],
    },
    Example {
        question: "How do I give the figures to benchstat, Bencher or Prometheus?",
        needs: Needs::Nothing,
        commands: &[
            "tare report runs/A --format go-bench --out bench.txt",
            "tare report runs/A --format bmf --out bmf.json",
            "tare report runs/A --format openmetrics --out tare.prom",
        ],
    },
    Example {
        question: "Is this machine good enough to measure on?",
        needs: Needs::Nothing,
        commands: &["tare doctor", "tare selftest --quick", "tare load --calibrate"],
    },
    Example {
        question: "Does a published benchmark still hold here?",
        needs: Needs::Nothing,
        commands: &["tare run restinio-2017"],
    },
];

pub(crate) fn run(cli: &Command, args: &Args) -> anyhow::Result<Outcome> {
    let word = args.word.as_deref().unwrap_or_default();
    let known = EXAMPLES.iter().filter(|example| example.is_known_to(cli));
    let text: Vec<String> = known.filter(|example| example.has(word)).map(Example::text).collect();
    anyhow::ensure!(
        !text.is_empty(),
        "no example has the word \"{word}\"; `tare examples` prints all of them"
    );
    output::print(&text.join("\n"))?;
    Ok(Outcome::Fine)
}

impl Example {
    fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.commands.iter().chain([&self.question]).any(|text| text.to_lowercase().contains(&word))
    }

    /// Whether this build has all its commands: it may leave out parts.
    fn is_known_to(&self, cli: &Command) -> bool {
        let mut names = self.commands.iter().filter_map(|command| command.split(' ').nth(1));
        names.all(|name| cli.find_subcommand(name).is_some())
    }

    fn text(&self) -> String {
        let commands: String = self.commands.iter().map(|command| format!("  {command}\n")).collect();
        let needs = match self.needs {
            Needs::Nothing => "",
            Needs::AClone => " (in a clone of the repository of Tare)",
        };
        format!("{}{needs}\n{commands}", output::paint("1", self.question))
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::{Cli, command::shown};

    /// The words of a command up to a pipe, split like a shell; quotes keep white space.
    fn words(line: &str) -> Vec<String> {
        let mut quoted = false;
        let mut words = vec![String::new()];
        for c in line.split([';', '|', '>']).next().unwrap().trim().chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                _ => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    fn is_understood(line: &str) {
        if let Err(error) = Cli::try_parse_from(words(line)) {
            assert!(!error.use_stderr(), "{line}: {error}");
        }
    }

    #[test]
    fn every_command_of_an_example_is_understood() {
        let cli = Cli::command();
        let known = EXAMPLES.iter().filter(|example| example.is_known_to(&cli));
        let commands = known.flat_map(|example| example.commands);
        commands.for_each(|command| is_understood(command));
    }

    /// Two or more spaces separate a command from its description.
    #[test]
    fn every_example_of_a_help_is_understood() {
        let mut cli = Cli::command();
        cli.build();
        let helps =
            shown(&cli).chain([&cli]).filter_map(|of| of.get_after_long_help().or(of.get_after_help()));
        let helps: Vec<String> = helps.map(ToString::to_string).collect();
        let lines =
            helps.iter().flat_map(|help| help.lines()).filter_map(|line| line.strip_prefix("  tare "));
        let mut count = 0;
        for line in lines.filter(|line| !line.starts_with("COMMAND")) {
            let command = line.split("  ").next().unwrap().replace("URL", "http://127.0.0.1:8080/");
            is_understood(&format!("tare {command}"));
            count += 1;
        }
        assert!(count > 40, "only {count} examples were found");
    }

    #[test]
    fn a_word_chooses_and_one_that_no_example_has_is_an_error() {
        let having = |word: &str| EXAMPLES.iter().filter(|example| example.has(word)).count();
        assert_eq!(having(""), EXAMPLES.len());
        assert!((1..EXAMPLES.len()).contains(&having("Capacity")));
        assert!(run(&Cli::command(), &Args { word: Some("no such word".to_owned()) }).is_err());
    }
}
