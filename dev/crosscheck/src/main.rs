//! The command of a cross-validation: `cargo run --release -p tare-crosscheck -- SERVICE`.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Write},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::{Context, anyhow, bail, ensure};
use clap::Parser;
use tare_base::units::parse_duration;
use tare_contract::{Contract, Request};
use tare_crosscheck::{
    self, Found, Pace, Plan, Report, Session, Shape, Tool,
    finding::Verdict,
    render,
    report::{FORMAT, Missing, ToolResult},
};
use tare_host::{
    cpus::{self, Pinning},
    process::{Isolation, Supervisor, sweep, watchdog},
    signals,
};
use tare_load::Protocol;
use tare_reference::{RawServer, variables};
use tare_service::{
    build::Site,
    catalogue::{self, RAW_SOCKET, Row, Service},
    certificate::Certificates,
    prove::{self, Proof},
    settings::ServiceSettings,
    workspace::{self, Root, Workspace},
};

/// Compare Tare's load generator with wrk, h2load, oha, httperf and locust on one service
///
/// Each tool and Tare's generator send the same request, to the byte, under a load that both can make. In every round each
/// tool and Tare's generator load the running service in turns, in random order. A service is asked in the protocol of its row:
/// +tls by wrk, h2load and oha, +h2 and +h2c by h2load and oha. Over HTTP/2 the header fields are the same.
#[derive(Debug, Parser)]
#[command(name = "tare-crosscheck", version, max_term_width = 110)]
#[command(after_help = "\
Examples:
  tare-crosscheck raw-socket                        every tool that is installed, 8 rounds
  tare-crosscheck hyper --tools wrk,h2load -c 256   two tools, 256 connections
  tare-crosscheck hyper+h2c --streams 8             HTTP/2, each connection with 8 requests out
  tare-crosscheck raw-socket --dry-run              print the plan

Exit codes: 0 every tool agrees, 1 usage or set-up, 2 the service failed, 4 a tool disagrees and no known reason
explains it, 5 inconclusive, 130 or 143 interrupted.")]
struct Args {
    /// A service, or a folder such as `./mine`, which has a slash
    service: String,
    /// The contract whose request is sent
    #[arg(long, default_value = "hello")]
    contract: String,
    /// The request, if the load of the contract has several: a GET of one fixed path
    #[arg(long, value_name = "NAME")]
    request: Option<String>,
    /// Only these tools [default: all that are installed]
    #[arg(long, value_delimiter = ',', value_name = "TOOL")]
    tools: Vec<String>,
    /// Number of rounds; a distribution-free interval needs 6
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// Length of one load, in whole seconds: wrk knows no others
    #[arg(short, long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    duration: Duration,
    /// Connections of wrk, h2load and oha
    #[arg(short, long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    connections: u16,
    /// Requests that a connection of HTTP/2 has out at a time [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    streams: Option<u16>,
    /// Threads of each generator that can have several
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Users of locust
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    users: u16,
    /// `THREADS` of the service
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    service_threads: u16,
    /// Load on the fresh process before the first round
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    warm_up: Duration,
    /// Orders the rounds [default: random, printed and stored]
    #[arg(long)]
    seed: Option<u64>,
    /// Folder for the results [default: a new one in `.tare/runs/`]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the plan and stop
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The checkout: the folder that holds `services/` and `contracts/` [default: the nearest one upwards]
    #[arg(long, env = "TARE_ROOT", value_name = "DIR")]
    root: Option<PathBuf>,
}

/// This program as the built-in service of its own cross-validation.
#[derive(Debug, Parser)]
struct RawSocket {
    #[arg(long, env = "PORT")]
    port: u16,
    #[arg(long, env = "THREADS", default_value_t = 1)]
    threads: u16,
    #[arg(long, default_value = "hello")]
    contract: String,
    #[arg(long, env = "PROTOCOL", default_value = "http/1.1")]
    protocol: String,
    #[arg(long, env = "TLS_CERT")]
    tls_cert: Option<PathBuf>,
    #[arg(long, env = "TLS_KEY")]
    tls_key: Option<PathBuf>,
}

fn main() -> ExitCode {
    let done = match parts() {
        Some(done) => done.map(|()| 0),
        None => match Args::try_parse() {
            Ok(args) => run(&args),
            Err(error) => {
                let _ = error.print();
                Ok(u8::from(error.use_stderr()))
            }
        },
    };
    let code = done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        1
    });
    ExitCode::from(signals::received().map_or(code, |signal| 128 + signal as u8))
}

/// The action when this program is started by its own supervisor; a service gets its port in the environment.
fn parts() -> Option<anyhow::Result<()>> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let first = words.first()?;
    if first == watchdog::SUBCOMMAND {
        watchdog::main(io::stdin(), io::stdout());
        return Some(Ok(()));
    }
    if first != RAW_SOCKET {
        return None;
    }
    if words.get(1).is_some_and(|word| word == "--version") {
        println!("{}", env!("CARGO_PKG_VERSION"));
        return Some(Ok(()));
    }
    env::var_os("PORT").is_some().then(|| serve(&RawSocket::parse_from(&words)))
}

fn serve(server: &RawSocket) -> anyhow::Result<()> {
    let workspace = open(None)?;
    let response = tare_contract::fixed_response(workspace.contract(&server.contract)?);
    let response = response.context("this contract has no single fixed response")?;
    let (version, identity) =
        variables::read(&server.protocol, server.tls_cert.as_deref(), server.tls_key.as_deref())?;
    let (port, threads, identity) = (server.port, server.threads.into(), identity.as_ref());
    let address = Ipv4Addr::LOCALHOST;
    let server = RawServer {
        address,
        port,
        threads,
        response: &response,
        version,
        identity,
        fault: None,
        ballast: None,
    };
    server.run(&*signals::listen()?)?;
    signals::forget();
    Ok(())
}

fn open(root: Option<&Path>) -> anyhow::Result<Workspace> {
    let root = Root::find(root)?;
    let home = workspace::home(None, &root.folder);
    Ok(Workspace::open(&root, &env::current_exe()?, &home)?)
}

/// Runs the command and returns its exit status.
fn run(args: &Args) -> anyhow::Result<u8> {
    let word = args.service.as_str();
    let named = tools(&args.tools)?;
    let mut workspace = open(args.root.as_deref())?;
    workspace.adopt([word])?;
    let mut row = row(&workspace, word)?;
    let asked = speaking(named, !args.tools.is_empty(), row.service.protocol)?;
    ensure!(
        args.streams.is_none() || row.service.protocol.is_http2(),
        "--streams is of HTTP/2: name the service as {word}+h2c or {word}+h2"
    );
    let contract = workspace.contract(&args.contract)?;
    let declares = row.service.contracts.contains(&contract.name);
    ensure!(declares, "\"{}\" does not declare the contract \"{}\"", row.label, contract.name);
    let request = tare_crosscheck::fixed_get(contract, args.request.as_deref())?;
    let plan = plan(args, Tool::find(&asked, &workspace.root))?;
    let missing = asked.into_iter().filter(|tool| plan.tools.iter().all(|found| found.tool != *tool));
    let missing: Vec<Missing> = missing.map(|tool| Missing { tool, install: tool.install() }).collect();
    announce(&plan, &row, request, &missing);
    if plan.tools.is_empty() {
        bail!("none of these tools is installed");
    }
    if args.dry_run {
        return Ok(0);
    }
    let began = jiff::Timestamp::now();
    let folder = args.out.clone().unwrap_or_else(|| workspace.new_run("crosscheck", began));
    ensure!(!folder.exists(), "{}: exists already; choose another folder", folder.display());
    catalogue::certify(std::slice::from_mut(&mut row), || Certificates::make(&folder))?;
    let command = Command { workspace: &workspace, args, row: &row, contract, request, plan: &plan };
    let report = command.execute(missing, began, &folder)?;
    store(&folder, &report)?;
    let text = if args.json { json(&report)? } else { render::text(&report) };
    io::stdout().write_all(text.as_bytes()).context("cannot write to stdout")?;
    eprintln!("stored in {}", folder.display());
    Ok(status(&report))
}

/// The named tools; the default is all.
fn tools(names: &[String]) -> anyhow::Result<Vec<Tool>> {
    let tool = |name: &String| {
        let nearest = || tare_base::spelling::suggestion(name, Tool::ALL.iter().map(|tool| tool.name()));
        Tool::named(name).ok_or_else(|| anyhow!("--tools: unknown tool \"{name}\"{}", nearest()))
    };
    let named = names.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
    Ok(Tool::ALL.into_iter().filter(|tool| named.is_empty() || named.contains(tool)).collect())
}

/// The tools that speak `protocol`; named tools that do not are an error.
fn speaking(tools: Vec<Tool>, are_named: bool, protocol: Protocol) -> anyhow::Result<Vec<Tool>> {
    let silent = tools.iter().find(|tool| are_named && !tool.speaks(protocol));
    ensure!(
        silent.is_none(),
        "--tools: {} is not asked in {protocol}",
        silent.map_or("", |tool| tool.name())
    );
    Ok(tools.into_iter().filter(|tool| tool.speaks(protocol)).collect())
}

fn row(workspace: &Workspace, word: &str) -> anyhow::Result<Row> {
    let mut rows = workspace.rows([word])?;
    ensure!(rows.len() == 1, "\"{word}\" is {} services: name one", rows.len());
    let row = rows.remove(0);
    match row.service.why_not_asked() {
        Some(reason) => bail!("{}: {reason}", row.label),
        None => Ok(row),
    }
}

fn plan(args: &Args, tools: Vec<Found>) -> anyhow::Result<Plan> {
    let seconds = args.duration.as_secs();
    ensure!(
        (1..=600).contains(&seconds) && args.duration.subsec_nanos() == 0,
        "--duration: give whole seconds, 1s to 10m"
    );
    let (threads, service_threads) = (usize::from(args.threads), usize::from(args.service_threads));
    let pace = Pace {
        seconds,
        connections: args.connections.into(),
        streams: args.streams.unwrap_or(1).into(),
        threads,
        users: args.users.into(),
        rate_all: 0.0,
        rate_one: 0.0,
    };
    Ok(Plan {
        tools,
        rounds: args.rounds.into(),
        pace,
        warm_up: args.warm_up,
        service_settings: ServiceSettings::of_threads(service_threads),
        pinning: Pinning::choose(&cpus::available(), service_threads, threads),
        seed: args.seed.unwrap_or_else(tare_host::seed::draw),
    })
}

/// Prints the plan and its duration.
fn announce(plan: &Plan, row: &Row, request: &Request, missing: &[Missing]) {
    let names: Vec<String> = plan.tools.iter().map(ToString::to_string).collect();
    let path = request.ask.path.fixed().unwrap_or_default();
    let seconds = plan.pace.seconds * (2 * plan.rounds * plan.tools.len()) as u64 + plan.warm_up.as_secs();
    eprintln!(
        "GET {path} of {} by {}: {} rounds of {} s, each paired with one by Tare; about {} s, seed {}",
        row.label,
        names.join(", "),
        plan.rounds,
        plan.pace.seconds,
        seconds,
        plan.seed
    );
    for missing in missing {
        eprintln!("missing {}: install it with `{}`", missing.tool, missing.install);
    }
    let unknown = |shape: Shape| matches!(shape, Shape::Each { .. } | Shape::Sessions { .. });
    for found in &plan.tools {
        let shape = Shape::of(found.tool, &plan.pace);
        let text =
            if unknown(shape) { "as many requests as fit that time".to_owned() } else { shape.to_string() };
        eprintln!("  {found}: {text}");
    }
}

struct Command<'a> {
    workspace: &'a Workspace,
    args: &'a Args,
    row: &'a Row,
    contract: &'a Contract,
    request: &'a Request,
    plan: &'a Plan,
}

impl Command<'_> {
    fn execute(
        &self,
        missing: Vec<Missing>,
        began: jiff::Timestamp,
        folder: &Path,
    ) -> anyhow::Result<Report> {
        let interrupt = signals::listen()?;
        let supervisor = supervisor()?;
        let mut report = self.report(missing, began);
        say("building");
        let site = Site::new(&supervisor, &interrupt);
        let built = self.workspace.builder().build(&self.row.service, &site, false)?;
        let service = &self.row.service.at(built.place);
        report.version = built.version;
        say("verifying");
        match self.prove(service, &supervisor, folder) {
            Some(reason) => report.failure = Some(reason),
            None => {
                say("starting the service and capturing the request of each tool");
                let asked = (self.contract, self.request);
                match Session::start(self.plan, service, asked, &supervisor, folder, Arc::clone(&interrupt)) {
                    Err(error) => report.failure = Some(error.to_string()),
                    Ok(session) => self.measure(session, &mut report),
                }
            }
        }
        report.interrupted = interrupt.load(Ordering::Relaxed);
        Ok(report)
    }

    fn measure(&self, mut session: Session, report: &mut Report) {
        let rounds = self.plan.rounds;
        let all = session.rounds(|round, tool| say(&format!("round {} of {rounds}: {tool}", round + 1)));
        for (found, series) in self.plan.tools.iter().zip(all) {
            if let Some((shape, sent)) = session.asked(found.tool) {
                report.tools.push(ToolResult::new(found, shape, sent, series));
            }
        }
        report.failure = session.stop().err().map(|error| error.to_string());
    }

    /// Why the service is not loaded: it does not honour the contract.
    fn prove(&self, service: &Service, supervisor: &Supervisor, folder: &Path) -> Option<String> {
        let (service_settings, seed) = (&self.plan.service_settings, self.plan.seed);
        let serve_on = Ipv4Addr::LOCALHOST;
        let proof = Proof { service_settings, seed, port: None, serve_on, supervisor, folder };
        match prove::prove(service, self.contract, &proof) {
            Err(reason) => Some(reason.to_string()),
            Ok(transcript) => transcript.reason().map(|reason| format!("failed verify: {reason}")),
        }
    }

    fn report(&self, missing: Vec<Missing>, began: jiff::Timestamp) -> Report {
        Report {
            format: FORMAT,
            tare: env!("CARGO_PKG_VERSION").to_owned(),
            began: began.to_string(),
            service: self.row.label.clone(),
            version: String::new(),
            protocol: self.row.service.protocol.name(),
            contract: self.args.contract.clone(),
            request: format!("GET {}", self.request.ask.path.fixed().unwrap_or_default()),
            service_settings: self.plan.service_settings.clone(),
            pinning: self.plan.pinning.clone(),
            rounds: self.plan.rounds,
            seed: self.plan.seed,
            interrupted: false,
            failure: None,
            tools: Vec::new(),
            missing,
        }
    }
}

fn say(text: &str) {
    if io::stderr().is_terminal() {
        eprintln!("{text}");
    }
}

fn supervisor() -> anyhow::Result<Supervisor> {
    let isolation = Isolation::detect();
    sweep(&isolation);
    Ok(Supervisor::start(&env::current_exe()?, isolation)?)
}

fn store(folder: &Path, report: &Report) -> anyhow::Result<()> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())
    };
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    write("crosscheck.json", json(report)?)?;
    write("crosscheck.md", render::markdown(report))
}

fn json(report: &Report) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

fn status(report: &Report) -> u8 {
    let verdicts: Vec<Verdict> = report.verdicts().collect();
    if report.failure.is_some() {
        2
    } else if report.some_fault() || verdicts.contains(&Verdict::Disagree) {
        4
    } else if verdicts.contains(&Verdict::Unclear) || verdicts.is_empty() {
        5
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &str) -> Args {
        Args::try_parse_from(["tare-crosscheck"].into_iter().chain(words.split(' '))).unwrap()
    }

    fn planned(words: &str) -> Result<Plan, String> {
        plan(&args(words), Vec::new()).map_err(|error| error.to_string())
    }

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn tools_come_in_one_order_and_once() {
        assert_eq!(tools(&[]).unwrap(), Tool::ALL);
        assert_eq!(tools(&names(&["locust", "wrk", "wrk"])).unwrap(), [Tool::Wrk, Tool::Locust]);
        let error = tools(&names(&["wrk", "locsut"])).unwrap_err().to_string();
        assert_eq!(error, "--tools: unknown tool \"locsut\"; did you mean \"locust\"?");
    }

    #[test]
    fn tools_that_do_not_speak_a_protocol_are_left_out_or_refused() {
        let all = |protocol| speaking(Tool::ALL.to_vec(), false, protocol).unwrap();
        assert_eq!(all(Protocol::H2c), [Tool::H2load, Tool::Oha]);
        assert_eq!(all(Protocol::Http1), Tool::ALL);
        let error = speaking(vec![Tool::Wrk], true, Protocol::H2).unwrap_err().to_string();
        assert_eq!(error, "--tools: wrk is not asked in h2");
        assert_eq!(speaking(vec![Tool::Wrk], true, Protocol::Http1Tls).unwrap(), [Tool::Wrk]);
    }

    #[test]
    fn a_plan_is_what_was_asked_for() {
        let words = "hyper --rounds 3 -d 5s -c 16 --streams 4 -t 2 --users 7 --warm-up 1500ms --seed 9";
        let plan = planned(words).unwrap();
        assert_eq!((plan.rounds, plan.seed, plan.warm_up), (3, 9, Duration::from_millis(1500)));
        let Pace { seconds, connections, streams, threads, users, .. } = plan.pace;
        assert_eq!((seconds, connections, streams, threads, users), (5, 16, 4, 2, 7));
        assert_eq!(plan.service_settings, ServiceSettings::of_threads(1));
    }

    #[test]
    fn times_that_no_tool_knows_are_refused() {
        for words in ["hyper -d 1500ms", "hyper -d 0s", "hyper -d 11m"] {
            let error = planned(words).unwrap_err();
            assert_eq!(error, "--duration: give whole seconds, 1s to 10m", "{words}");
        }
    }

    #[test]
    fn options_have_limits() {
        for words in [
            "--rounds 0",
            "--rounds 1001",
            "-c 0",
            "-c 20001",
            "-t 0",
            "--users 0",
            "--service-threads 0",
            "",
        ] {
            let words = ["tare-crosscheck", "hyper"].into_iter().chain(words.split(' '));
            assert!(Args::try_parse_from(words).is_err());
        }
        assert_eq!(args("hyper").rounds, 8);
    }

    #[test]
    fn a_run_without_a_tool_is_inconclusive_and_a_failed_service_comes_first() {
        let report = |failure: Option<&str>| Report {
            format: FORMAT,
            tare: String::new(),
            began: String::new(),
            service: String::new(),
            version: String::new(),
            protocol: Protocol::Http1.name(),
            contract: String::new(),
            request: String::new(),
            service_settings: ServiceSettings::of_threads(1),
            pinning: Pinning { server: vec![0], generator: vec![1] },
            rounds: 1,
            seed: 1,
            interrupted: false,
            failure: failure.map(str::to_owned),
            tools: Vec::new(),
            missing: Vec::new(),
        };
        assert_eq!((status(&report(None)), status(&report(Some("it died")))), (5, 2));
    }
}
