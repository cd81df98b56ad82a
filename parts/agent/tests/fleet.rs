//! A controller and its agents in one process, over real sockets: complete runs, and runs that lose one side.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tare_agent::control::{PollTimes, RunPlan};
use tare_agent::greet::{ControllerRequirement, answer as answer_greeting, greet};
use tare_agent::job::{AnswerRules, JobLoad, ListedRequest, Requests, ServerName};
use tare_agent::message::Reply;
use tare_agent::serve::{RunEnd, ServeEnd};
use tare_agent::window::marks;
use tare_agent::{
    AgentDescription, AgentOptions, Control, ControlError, CpuMeter, FleetReport, Job, LearnedByAgent,
    Notice, Prepared, ReadyJob, Resting, Rig, Token, serve, tls, token::hex,
};
use tare_load::{
    ArrivalProcess, Arrivals, Exchange, ExchangePool, Expected, ExpectedBody, GeneratorSettings, Limits,
    Load, RunInterval, RunReport, Schedule, Stop,
};

const MS: u64 = 1_000_000;
const BODY: &str = "Hello world!";

/// A server that gives every request the same answer; its connection threads end with the test.
fn server(body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, body));
        }
    });
    address
}

fn answer(stream: TcpStream, body: &str) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    loop {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if !matches!(reader.read_line(&mut line), Ok(1..)) {
                return;
            }
        }
        if reader.get_mut().write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

/// A rig that loads any server of a job.
struct Plain;

struct Ticks(AtomicU64);

impl CpuMeter for Ticks {
    fn cpu_ns(&self) -> std::io::Result<u64> {
        Ok(self.0.fetch_add(MS, Ordering::Relaxed))
    }
}

fn prepared(job: &Job) -> Prepared {
    Prepared { endpoint: job.server.address(), is_here: true, is_loopback: true, primed: None }
}

impl Rig for Plain {
    fn learn(&self, _: &Job) -> Result<LearnedByAgent, String> {
        Ok(LearnedByAgent { check: "the body".to_owned(), ..LearnedByAgent::default() })
    }

    fn prepare(&self, job: &Job) -> Result<ReadyJob, String> {
        let Requests::Listed(listed) = &job.requests else { return Err("no contracts here".to_owned()) };
        let exchanges = listed.iter().map(|one| one.exchange().unwrap()).collect();
        let address: SocketAddr = job.server.address().parse().unwrap();
        let split = job.split().unwrap();
        let settings = GeneratorSettings {
            split,
            ..GeneratorSettings::new(address.into(), job.connections(), job.seed)
        };
        let waiting = job.waiting(1, Duration::ZERO);
        Ok(ReadyJob {
            settings,
            pool: Arc::new(ExchangePool::new(exchanges)),
            waiting,
            prepared: prepared(job),
        })
    }

    fn watch(&self, job: &Job) -> Result<(Box<dyn CpuMeter>, Prepared), String> {
        Ok((Box::new(Ticks(AtomicU64::new(0))), prepared(job)))
    }
}

/// A token whose bytes count up from `first`.
fn token(first: u8) -> Token {
    let bytes: [u8; 32] = std::array::from_fn(|index| first + index as u8);
    Token::parse(&hex(&bytes)).unwrap()
}

fn options() -> AgentOptions {
    AgentOptions {
        token: token(1),
        tare: "1.0.0".to_owned(),
        target: None,
        watch: None,
        machine: "here".to_owned(),
        cpus: 1,
        pinned: Vec::new(),
        keep: false,
        silence: Duration::from_secs(3),
        wait: Some(Duration::from_secs(60)),
    }
}

struct Agent {
    address: String,
    stop: Arc<AtomicBool>,
    notices: Arc<Mutex<Vec<Notice>>>,
    thread: JoinHandle<ServeEnd>,
}

impl Agent {
    fn start(options: AgentOptions) -> Agent {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, notices) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (flag, noted) = (Arc::clone(&stop), Arc::clone(&notices));
        let thread = std::thread::spawn(move || {
            serve(&listener, &options, &Plain, &flag, &|notice| noted.lock().unwrap().push(notice)).unwrap()
        });
        Agent { address, stop, notices, thread }
    }

    fn refusals(&self) -> Vec<String> {
        let notices = self.notices.lock().unwrap();
        let refused = notices.iter().filter_map(|notice| match notice {
            Notice::Refused { why, .. } => Some(why.clone()),
            _ => None,
        });
        refused.collect()
    }
}

fn within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + time;
    while !is_so() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    is_so()
}

fn connect(agents: &[&Agent]) -> Result<Control, ControlError> {
    let addresses: Vec<String> = agents.iter().map(|agent| agent.address.clone()).collect();
    let times = PollTimes { silence: Duration::from_secs(3), ..PollTimes::default() };
    Control::connect(&addresses, &token(1), "1.0.0", times)
}

fn open(rate: &str, window_ms: u64) -> Load {
    let schedule =
        Schedule::Open(Arrivals { profile: rate.parse().unwrap(), process: ArrivalProcess::Poisson });
    load(schedule, window_ms)
}

fn load(schedule: Schedule, window_ms: u64) -> Load {
    let stop = Stop::after(Duration::from_millis(window_ms), Duration::from_secs(2));
    Load { interval: Some(Duration::from_millis(100)), ..Load::new(schedule, stop, Duration::from_secs(2)) }
}

/// The jobs of `of` agents that send a load.
fn jobs(server: SocketAddr, load: &Load, of: usize) -> Vec<Job> {
    let exchange = Exchange {
        request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        is_head: false,
        expected: Expected { status: 200, body: ExpectedBody::Exact(BODY.into()) },
        name: "GET /".to_owned(),
        step: None,
    };
    let host = server.ip().to_string();
    let name = ServerName { authority: server.to_string(), host, port: server.port() };
    let job = |index| Job {
        server: name.clone(),
        may_load: false,
        rules: AnswerRules::default(),
        requests: Requests::Listed(vec![ListedRequest::of(&exchange).unwrap()]),
        index,
        of,
        connections: 4,
        threads: 1,
        opens_before: true,
        primes: false,
        seed: 7,
        protocol: "http/1.1".to_owned(),
        streams: 1,
        tls: None,
        driver: "epoll".to_owned(),
        load: JobLoad::of(load, None, marks(load.stop.window().as_nanos() as u64)),
        warm_up_ns: None,
    };
    (0..of).map(job).collect()
}

fn plan(job: &Job) -> RunPlan {
    RunPlan {
        window_ns: job.load.window_ns,
        drain_ns: job.load.drain_ns,
        warm_up_ns: job.warm_up_ns,
        marks_ns: job.load.marks_ns.clone(),
        limits: Limits::default(),
    }
}

/// Prepares and runs a load; `during` is called once the load has begun.
fn run(
    control: &mut Control,
    jobs: &[Job],
    during: &mut dyn FnMut(&RunInterval),
) -> Result<FleetReport, ControlError> {
    let never = AtomicBool::new(false);
    control.prepare(jobs, &never)?;
    control.run(&plan(&jobs[0]), &never, &mut |_| {}, during)
}

#[test]
fn two_agents_load_one_server_and_their_reports_are_added() {
    let server = server(BODY);
    let agents = [Agent::start(options()), Agent::start(options())];
    let mut control = connect(&[&agents[0], &agents[1]]).unwrap();
    let jobs = jobs(server, &open("2k", 600), 2);
    let never = AtomicBool::new(false);
    assert_eq!(control.learn(&jobs[0], &never).unwrap().check, "the body");
    let mut answered = 0;
    let report =
        run(&mut control, &jobs, &mut |interval| answered += interval.measures.tally.answered).unwrap();
    control.end();
    for agent in agents {
        assert_eq!(agent.thread.join().unwrap(), ServeEnd::Run(RunEnd::Complete));
    }
    let tally = &report.total.total.tally;
    assert_eq!(answered, tally.answered, "the intervals are all of it");
    assert_eq!(report.rows.len(), 2);
    let sum: u64 = report.rows.iter().map(|row| row.report.total.tally.sent).sum();
    assert_eq!(sum, tally.sent);
    let counts: Vec<u64> =
        report.rows.iter().map(|row| row.report.total.tally.sent + row.report.total.tally.unsent).collect();
    assert!(counts[0].abs_diff(counts[1]) <= 1, "one process, split by index: {counts:?}");
    let window = report.counted.expect("a window");
    assert!(window.ns() > 300 * MS && window.uncertainty_ns < 20 * MS, "{window:?}");
    assert!(tally.answered_in_window > 0 && tally.answered_in_window <= tally.answered);
    assert_eq!(report.total.total.latency.count(), tally.answered);
}

/// Like the slices of an experiment, with a pause longer than the agents' limit for silent controllers.
#[test]
fn one_controller_has_several_loads_and_its_agents_wait_for_it_in_between() {
    let server = server(BODY);
    let patience = AgentOptions { keep: true, silence: Duration::from_millis(600), ..options() };
    let agents = [Agent::start(patience.clone()), Agent::start(patience)];
    let mut control = connect(&[&agents[0], &agents[1]]).unwrap();
    let load = load(Schedule::SATURATE, 300);
    let parts: Vec<Job> = jobs(server, &load, 2).into_iter().map(|job| Job { primes: true, ..job }).collect();
    let never = AtomicBool::new(false);
    for _ in 0..2 {
        let prepared = control.prepare(&parts, &never).unwrap();
        for (one, job) in prepared.into_iter().zip(&parts) {
            let primed = RunReport::try_from(*one.primed.expect("a report")).unwrap();
            assert_eq!(primed.total.tally.answered, job.connections as u64, "one over each connection");
        }
        let resting = Resting::of(control);
        std::thread::sleep(Duration::from_millis(900));
        control = resting.wake().unwrap();
        let start = AtomicU64::new(0);
        let mut begun = |at_ns| start.store(at_ns, Ordering::Relaxed);
        let report = control.run(&plan(&parts[0]), &never, &mut begun, &mut |_| {}).unwrap();
        assert!(start.into_inner() > 0 && report.total.total.tally.answered > 0);
        assert!(report.counted.is_some(), "{:?}", report.findings);
        control.release().unwrap();
    }
    drop(control);
    for agent in agents {
        agent.stop.store(true, Ordering::Relaxed);
        assert_eq!(agent.thread.join().unwrap(), ServeEnd::Stopped);
    }
}

#[test]
fn a_controller_at_rest_notices_that_an_agent_is_gone() {
    let agents = [Agent::start(options()), Agent::start(options())];
    let resting = Resting::of(connect(&[&agents[0], &agents[1]]).unwrap());
    agents[1].stop.store(true, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(500));
    let lost = resting.wake().unwrap_err().to_string();
    assert!(lost.contains(&agents[1].address), "{lost}");
    agents.into_iter().for_each(|agent| drop(agent.thread.join().unwrap()));
}

#[test]
fn a_closed_loop_is_warmed_up_and_its_service_is_watched() {
    let server = server(BODY);
    let watcher = Agent::start(AgentOptions { watch: Some(1), ..options() });
    let agents = [Agent::start(options()), Agent::start(options())];
    let mut control = connect(&[&agents[0], &watcher, &agents[1]]).unwrap();
    assert_eq!(control.agents().filter(|(_, about)| about.watch.is_some()).count(), 1);
    let mut jobs = jobs(server, &load(Schedule::SATURATE, 400), 2);
    jobs.iter_mut().for_each(|job| job.warm_up_ns = Some(50 * MS));
    // The watching agent has the same job, and sends nothing.
    jobs.insert(1, jobs[0].clone());
    let report = run(&mut control, &jobs, &mut |_| {}).unwrap();
    control.end();
    assert_eq!(report.rows.len(), 2, "what watches is no generator");
    let cpu = report.service_cpu.expect("it was read");
    // Each reading adds a millisecond.
    let marks = jobs[0].load.marks_ns.len() as u64;
    assert!((MS..marks * MS).contains(&cpu.cpu_ns) && cpu.ns_per_answer > 0.0, "{cpu:?}");
}

#[test]
fn two_versions_are_refused_and_both_are_named() {
    let agents =
        [Agent::start(options()), Agent::start(AgentOptions { tare: "0.9.0".to_owned(), ..options() })];
    let error = connect(&[&agents[0], &agents[1]]).unwrap_err().to_string();
    let address = &agents[1].address;
    let expected = format!(
        "the agent at {address}: it is Tare 0.9.0, and this is Tare 1.0.0: use the same version on all machines"
    );
    assert_eq!(error, expected);
    // The agent reached first serves only one run, and that is over.
    let [one, other] = agents;
    assert!(matches!(one.thread.join().unwrap(), ServeEnd::Run(RunEnd::Gone(_))));
    other.stop.store(true, Ordering::Relaxed);
    assert!(within(Duration::from_secs(10), || other.refusals().len() == 1));
    assert_eq!(other.thread.join().unwrap(), ServeEnd::Stopped);
}

#[test]
fn a_wrong_token_is_refused_and_counted() {
    let agent = Agent::start(AgentOptions { token: token(2), ..options() });
    for _ in 0..2 {
        let error = connect(&[&agent]).unwrap_err().to_string();
        assert!(error.contains("it has another token: give both the same --token-file"), "{error}");
    }
    // The agent counts a refusal when it has read the alert.
    assert!(within(Duration::from_secs(10), || agent.refusals().len() == 2));
    agent.stop.store(true, Ordering::Relaxed);
    assert_eq!(agent.thread.join().unwrap(), ServeEnd::Stopped);
    let count = agent
        .notices
        .lock()
        .unwrap()
        .iter()
        .map(|notice| match notice {
            Notice::Refused { count, .. } => *count,
            other => panic!("{other:?}"),
        })
        .max();
    assert_eq!(count, Some(2));
}

#[test]
fn an_agent_that_ends_within_the_load_is_named_and_the_others_end() {
    let server = server(BODY);
    let agents = [Agent::start(options()), Agent::start(options())];
    let mut control = connect(&[&agents[0], &agents[1]]).unwrap();
    let jobs = jobs(server, &open("500", 60_000), 2);
    let stop = Arc::clone(&agents[1].stop);
    let began = Instant::now();
    let error = run(&mut control, &jobs, &mut |_| stop.store(true, Ordering::Relaxed)).unwrap_err();
    assert!(error.to_string().contains(&agents[1].address), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20));
    drop(control);
    let [one, other] = agents;
    assert!(matches!(one.thread.join().unwrap(), ServeEnd::Run(RunEnd::Gone(_))));
    assert_eq!(other.thread.join().unwrap(), ServeEnd::Stopped);
}

#[test]
fn an_agent_ends_its_load_when_its_controller_is_gone() {
    let server = server(BODY);
    let agent = Agent::start(options());
    let mut control = connect(&[&agent]).unwrap();
    let jobs = jobs(server, &open("500", 60_000), 1);
    let interrupt = AtomicBool::new(false);
    control.prepare(&jobs, &interrupt).unwrap();
    let began = Instant::now();
    // A panic of this side in the middle of a load acts like a kill.
    let gone = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _ =
            control.run(&plan(&jobs[0]), &interrupt, &mut |_| {}, &mut |_| panic!("the controller is gone"));
    }));
    assert!(gone.is_err());
    assert!(matches!(agent.thread.join().unwrap(), ServeEnd::Run(RunEnd::Gone(_))));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn an_interrupt_ends_the_load_and_what_is_known_is_reported() {
    let server = server(BODY);
    let agents = [Agent::start(options()), Agent::start(options())];
    let mut control = connect(&[&agents[0], &agents[1]]).unwrap();
    let jobs = jobs(server, &open("1k", 60_000), 2);
    let interrupt = AtomicBool::new(false);
    control.prepare(&jobs, &interrupt).unwrap();
    let mut intervals = 0;
    let report = control.run(&plan(&jobs[0]), &interrupt, &mut |_| {}, &mut |_| {
        intervals += 1;
        interrupt.store(intervals >= 13, Ordering::Relaxed);
    });
    let report = report.unwrap();
    assert!(report.total.interrupted);
    let window = report.counted.expect("a second was loaded");
    assert_eq!(window.to_ns, 1_000 * MS, "the last mark before the end");
    control.end();
}

#[test]
fn an_agent_serves_one_run_at_a_time_and_with_keep_one_after_the_other() {
    let server = server(BODY);
    let agent = Agent::start(AgentOptions { keep: true, ..options() });
    let mut control = connect(&[&agent]).unwrap();
    let busy = connect(&[&agent]).unwrap_err().to_string();
    assert!(busy.contains("it serves another run"), "{busy}");
    let jobs = jobs(server, &open("500", 100), 1);
    run(&mut control, &jobs, &mut |_| {}).unwrap();
    control.end();
    let again = Instant::now() + Duration::from_secs(10);
    let mut control = loop {
        match connect(&[&agent]) {
            Ok(control) => break control,
            Err(error) => assert!(Instant::now() < again, "{error}"),
        }
    };
    run(&mut control, &jobs, &mut |_| {}).unwrap();
    control.end();
    agent.stop.store(true, Ordering::Relaxed);
    assert_eq!(agent.thread.join().unwrap(), ServeEnd::Stopped);
}

/// 100 silent connections, and three clients that reconnect as soon as the agent closes their connection.
#[test]
fn strangers_keep_no_controller_away() {
    let server = server(BODY);
    let agent = Agent::start(AgentOptions { keep: true, ..options() });
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&agent.address).unwrap()).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x16, 3, 1, 1, 0], &[]] {
            let (address, is_over) = (&agent.address, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let mut stranger = TcpStream::connect(address).unwrap();
                    let _refused = stranger.write_all(words);
                    stranger.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                    let _turned_out = std::io::Read::read(&mut stranger, &mut [0]);
                }
            });
        }
        let measured = connect(&[&agent]).and_then(|mut control| {
            let report = run(&mut control, &jobs(server, &open("500", 300), 1), &mut |_| {})?;
            control.end();
            Ok(report)
        });
        is_over.store(true, Ordering::Relaxed);
        assert!(measured.unwrap().total.total.tally.answered > 0);
    });
    let stopped = Instant::now();
    agent.stop.store(true, Ordering::Relaxed);
    assert_eq!(agent.thread.join().unwrap(), ServeEnd::Stopped);
    assert!(stopped.elapsed() < Duration::from_secs(4), "it waits for no stranger");
    drop(silent);
}

#[test]
fn an_agent_that_is_not_needed_ends_by_itself() {
    let agent = Agent::start(AgentOptions { wait: Some(Duration::from_millis(50)), ..options() });
    assert_eq!(agent.thread.join().unwrap(), ServeEnd::NoRun);
}

#[test]
fn a_wrong_answer_is_checked_where_it_arrives_and_makes_the_sum_invalid() {
    let server = server("Hello other!");
    let agents = [Agent::start(options()), Agent::start(options())];
    let mut control = connect(&[&agents[0], &agents[1]]).unwrap();
    let jobs = jobs(server, &open("500", 300), 2);
    let report = run(&mut control, &jobs, &mut |_| {}).unwrap();
    control.end();
    let names: Vec<&str> = report.findings.iter().map(|finding| finding.name()).collect();
    assert!(names.iter().filter(|name| **name == "agent").count() == 2, "{names:?}");
    assert_eq!(report.total.total.tally.answered, 0);
    let first = report.total.first_failure.expect("a sample of what came");
    assert_eq!(first.got, b"Hello other!");
}

#[test]
fn an_agent_that_is_named_twice_is_refused() {
    let agent = Agent::start(options());
    let twice = connect(&[&agent, &agent]).unwrap_err().to_string();
    assert!(twice.contains("it serves another run"), "{twice}");
}

/// An interrupted network sends no end of a connection.
#[test]
fn a_controller_that_says_nothing_is_gone() {
    let agent = Agent::start(AgentOptions { silence: Duration::from_millis(400), ..options() });
    let stream = TcpStream::connect(&agent.address).unwrap();
    let began = Instant::now();
    let link = greet(stream, &tls::controller(&token(1)), "1.0.0", Duration::from_secs(10)).unwrap();
    let end = agent.thread.join().unwrap();
    assert!(matches!(&end, ServeEnd::Run(RunEnd::Gone(why)) if why.contains("said nothing")), "{end:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(link);
}

#[test]
fn an_agent_that_says_nothing_is_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let silent = std::thread::spawn(move || {
        let tls = tls::agent(&token(1));
        let gate = ControllerRequirement { tls: &tls, tare: "1.0.0", claim: &|| true };
        let stream = Arc::new(listener.accept().unwrap().0);
        let (mut sender, receiver) = answer_greeting(stream, &gate, Duration::from_secs(10)).unwrap();
        let (target, watch, pinned) = (None, None, Vec::new());
        let about =
            AgentDescription { target, watch, machine: "here".to_owned(), cpus: 1, pinned, keep: false };
        sender.send(&Reply::About(about)).unwrap();
        (sender, receiver)
    });
    let times = PollTimes { silence: Duration::from_millis(400), ..PollTimes::default() };
    let mut control = Control::connect(std::slice::from_ref(&address), &token(1), "1.0.0", times).unwrap();
    let jobs = jobs(server(BODY), &open("500", 100), 1);
    let error = control.prepare(&jobs, &AtomicBool::new(false)).unwrap_err();
    assert!(error.is_loss() && error.to_string().contains(&address), "{error}");
    drop(silent.join().unwrap());
}
