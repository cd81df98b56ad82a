//! Runs a crosscheck: the service, our engine, and the tools as jobs under the supervisor, so that no process
//! is left. Other modules define the loads, print the results and interpret them.

use std::{
    collections::BTreeMap,
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_base::{Clock, Endpoint, Monotonic, Route};
use tare_load::{
    ExchangePool, Generator, GeneratorSettings, Load, Protocol, RunReport, Schedule, Stop, TlsClient,
    TlsOffer, TlsOptions, TlsTrust, TlsVersion,
};

use super::{
    Found, Pace, Shape, Tool, capture,
    reading::{self, Latency, Reading},
    report::Sent,
    rounds,
    rounds::{Bench, Sample, Series, Side},
};
use tare_contract::{Contract, Request};
use tare_host::{
    cpus::{Pinning, Reading as CpuReading},
    process::{self, Ended, Launch, ProgramLimits, Sandbox, Supervisor},
};
use tare_service::{
    catalogue::Service,
    drive::{self, RESPONSE_TIMEOUT},
    launch::{self, LaunchError, LaunchSettings, Ready},
    probe::Readiness,
    prove::{CHECKS_AFTER_LOAD, GRACE, verify_options},
    settings::ServiceSettings,
    verify,
};

const LOCUSTFILE: &str = include_str!("locustfile.py");
/// A tool prints a page; a log of each request has some MB.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;
/// How long a tool may take beyond four times its planned time: locust starts Python for a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// The duration of the measurement of the service's speed.
const PILOT: Duration = Duration::from_millis(500);
const DRAIN: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct Plan {
    /// The installed tools, in the order of [`Tool::ALL`].
    pub tools: Vec<Found>,
    pub rounds: usize,
    /// The parameters of loads; the rates are measured.
    pub pace: Pace,
    /// The load on the fresh process before the first round.
    pub warm_up: Duration,
    pub service_settings: ServiceSettings,
    /// The CPUs of the service and the generators.
    pub pinning: Pinning,
    /// Determines the orders and think times.
    pub seed: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{0}")]
    Service(String),
    #[error("{}: {source}", path.display())]
    Keep { path: PathBuf, source: io::Error },
}

/// A service, with all of its generators.
#[derive(Debug)]
pub struct Session<'a> {
    plan: &'a Plan,
    service: &'a Service,
    contract: &'a Contract,
    request: &'a Request,
    supervisor: &'a Supervisor,
    folder: PathBuf,
    interrupt: Arc<AtomicBool>,
    ready: Ready,
    asked: BTreeMap<Tool, Asked>,
}

/// The kernel's counters at one instant.
#[derive(Debug)]
struct Look {
    server_cpu_ns: u64,
    segments: Option<u64>,
    cpus: Option<CpuReading>,
}

/// The difference between two instants.
#[derive(Debug)]
struct Spent {
    server_cpu_ns: u64,
    segments: Option<u64>,
    foreign_share: Option<f64>,
}

/// A tool that is ready to run.
#[derive(Debug)]
struct Asked {
    program: PathBuf,
    /// Its request, addressed to the service, or why it sent no repeatable request.
    request: Result<Vec<u8>, String>,
    start_cpu: Duration,
    shape: Shape,
}

impl<'a> Session<'a> {
    /// Captures each tool's request, starts the service, warms it up and measures it. Outputs go to `folder`.
    ///
    /// # Errors
    /// The service does not start or gives no correct answer, or `folder` cannot be written to.
    pub fn start(
        plan: &'a Plan,
        service: &'a Service,
        (contract, request): (&'a Contract, &'a Request),
        supervisor: &'a Supervisor,
        folder: &Path,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Session<'a>, Error> {
        let locustfile = folder.join("locustfile.py");
        let keep = |source| Error::Keep { path: locustfile.clone(), source };
        fs::create_dir_all(folder).map_err(keep)?;
        fs::write(&locustfile, LOCUSTFILE).map_err(keep)?;
        let settings = LaunchSettings {
            contract,
            service_settings: &plan.service_settings,
            cpus: &plan.pinning.server,
            seed: plan.seed,
            readiness: Readiness::AnswersRightly,
            port: None,
            serve_on: Ipv4Addr::LOCALHOST,
            sandbox: &Sandbox::default(),
        };
        let ready = launch::launch(service, &settings, supervisor, folder, "service")?;
        let (folder, asked) = (folder.to_owned(), BTreeMap::new());
        let mut session =
            Session { plan, service, contract, request, supervisor, folder, interrupt, ready, asked };
        let pace = session.warm_up()?;
        for found in &plan.tools {
            let asked = session.introduce(found, &pace)?;
            session.asked.insert(found.tool, asked);
        }
        Ok(session)
    }

    /// All rounds of all tools; `watch` is called for each before it begins.
    pub fn rounds(&mut self, watch: impl FnMut(usize, Tool)) -> Vec<Series> {
        let tools: Vec<Tool> = self.plan.tools.iter().map(|found| found.tool).collect();
        let (rounds, seed) = (self.plan.rounds, self.plan.seed);
        rounds::run(&tools, rounds, seed, self, watch)
    }

    /// The load and the request of a tool.
    pub fn asked(&self, tool: Tool) -> Option<(Shape, Sent)> {
        let Asked { shape, request, .. } = self.asked.get(&tool)?;
        let sent = |request: &Vec<u8>| Sent {
            // Over HTTP/2 the length of a request depends on earlier ones.
            bytes: (!self.protocol().is_http2()).then_some(request.len()),
            headers: capture::header_names(request),
        };
        Some((*shape, request.as_ref().map(sent).unwrap_or_default()))
    }

    /// The address and port for the tools.
    fn target(&self) -> SocketAddr {
        match self.ready.address {
            Endpoint::Tcp(address) => address,
            Endpoint::Unix(_) => unreachable!("what is started here listens on a port"),
        }
    }

    fn protocol(&self) -> Protocol {
        self.service.protocol
    }

    /// Verifies the service again, and ends it.
    ///
    /// # Errors
    /// It crashed under load, answers incorrectly now, or does not stop correctly.
    pub fn stop(self) -> Result<(), Error> {
        let wrong = drive::death(&self.ready.process, "under load");
        let wrong = wrong.or_else(|| {
            let options = verify_options(self.service, self.plan.seed);
            let asked_again =
                || verify::verify_only(self.contract, &self.ready.address, &options, &CHECKS_AFTER_LOAD);
            let reason = if self.interrupted() { None } else { asked_again().reason() };
            reason.map(|reason| format!("wrong after the load: {reason}"))
        });
        let stopped = self.ready.process.stop(GRACE);
        match wrong {
            Some(wrong) => Err(Error::Service(wrong)),
            None if stopped.is_clean() => Ok(()),
            None => Err(Error::Service(stopped.to_string())),
        }
    }

    fn warm_up(&self) -> Result<Pace, Error> {
        let mut pace = self.plan.pace;
        let closed = |connections, streams| Shape::Closed {
            connections,
            streams,
            threads: pace.threads.min(connections),
            seconds: 1,
        };
        let window = |time| Load::new(Schedule::SATURATE, Stop::after(time, DRAIN), RESPONSE_TIMEOUT);
        let rate = |connections, streams, time| {
            let report = self.drive(&closed(connections, streams), &window(time), self.own_request());
            let report = report.map_err(Error::Service)?;
            match report.total.tally.answered {
                0 if !self.interrupted() => Err(Error::Service(drive::no_right_answer(&report))),
                _ => Ok(report.answers_per_s()),
            }
        };
        rate(pace.connections, pace.streams, self.plan.warm_up)?;
        pace.rate_all = rate(pace.connections, pace.streams, PILOT)?;
        pace.rate_one = rate(1, 1, PILOT)?;
        Ok(pace)
    }

    /// Runs a tool's smallest load against a listener.
    fn introduce(&self, found: &Found, pace: &Pace) -> Result<Asked, Error> {
        let tool = found.tool;
        let keep = |source| Error::Keep { path: self.folder.clone(), source };
        let plain = if self.protocol().is_http2() { Protocol::H2c } else { Protocol::Http1 };
        let listener = capture::Listener::start(plain.is_http2()).map_err(keep)?;
        let shape = Shape::least(tool);
        let (from, path) = (listener.address, self.path());
        let said = self.ask((tool, &found.program), &shape, plain, from, "introduced");
        let seen = listener.finish();
        let start_cpu = said.as_ref().map_or(Duration::ZERO, |(_, cpu)| *cpu);
        let request = match (seen, said) {
            (Some(request), _) if capture::line(&request) == format!("GET {path}") => {
                Ok(capture::readdress(&request, from, self.target()))
            }
            (Some(request), _) => {
                Err(format!("it asks for \"{}\", and not for \"GET {path}\"", capture::line(&request)))
            }
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err("it sent no request".to_owned()),
        };
        // Only locust's start costs CPU time; wrk's cost in its second is that of the load.
        let start_cpu = if tool == Tool::Locust { start_cpu } else { Duration::ZERO };
        Ok(Asked { program: found.program.clone(), request, start_cpu, shape: Shape::of(tool, pace) })
    }

    /// Runs a tool to its end; returns its output and its CPU time.
    fn ask(
        &self,
        (tool, program): (Tool, &Path),
        shape: &Shape,
        protocol: Protocol,
        target: SocketAddr,
        stem: &str,
    ) -> Result<(String, Duration), String> {
        let file = |what: &str| self.folder.join(format!("{tool}-{stem}.{what}"));
        let mut command = vec![program.display().to_string()];
        command.extend(shape.words(tool, protocol, target, &self.path()));
        let launch = Launch {
            name: tool.name().to_owned(),
            command,
            dir: self.folder.clone(),
            env: self.environment(shape),
            cpus: self.plan.pinning.generator.clone(),
            stdout: file("stdout"),
            stderr: file("stderr"),
            ..Launch::default()
        };
        let limits = ProgramLimits {
            time: self.expected() * 4 + PATIENCE,
            output_bytes: OUTPUT_BYTES_MAX,
            interrupt: &self.interrupt,
        };
        let job = process::run_to_end(&launch, self.supervisor, limits).map_err(|error| error.to_string())?;
        let printed = |what| fs::read(file(what)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match job.ended {
            // The status is no criterion: locust's is 1 if a single request failed. The output counts.
            Ended::Itself(_) => Ok((printed("stdout").map_err(|error| error.to_string())?, job.cpu)),
            Ended::TooLong => Err(format!("did not end within {:?}", limits.time)),
            Ended::TooMuch => Err(format!("printed more than {OUTPUT_BYTES_MAX} bytes")),
            Ended::Interrupted => Err("interrupted".to_owned()),
        }
    }

    fn environment(&self, shape: &Shape) -> Vec<(String, String)> {
        let Shape::Users { wait_ms_min, wait_ms_max, .. } = shape else { return Vec::new() };
        let wait = format!("{wait_ms_min},{wait_ms_max}");
        vec![("TARE_PATH".to_owned(), self.path()), ("TARE_WAIT".to_owned(), wait)]
    }

    fn theirs(&self, tool: Tool, round: usize) -> Result<Sample, String> {
        let asked = self.asked.get(&tool).ok_or("was not introduced")?;
        // A tool whose request our engine cannot repeat is not compared.
        asked.request.as_ref().map_err(Clone::clone)?;
        let before = self.look()?;
        let (target, protocol) = (self.target(), self.protocol());
        let stem = format!("round-{round:03}");
        let (text, cpu) = self.ask((tool, &asked.program), &asked.shape, protocol, target, &stem)?;
        let Spent { server_cpu_ns, segments, foreign_share } = self.since(&before, cpu.as_nanos() as u64)?;
        let read = reading::read_in(tool, protocol, &text).map_err(|error| error.to_string())?;
        let Reading { answered, failed, complaints, per_second, latency, descriptors_lacking } = read;
        let out_at_the_end = match asked.shape {
            Shape::Closed { .. } => asked.shape.in_flight_max() as u64,
            _ => 0,
        };
        Ok(Sample {
            answered,
            served: answered.saturating_add(failed).saturating_add(out_at_the_end),
            failed,
            complaints,
            per_second,
            latency,
            client_cpu_ns: cpu.saturating_sub(asked.start_cpu).as_nanos() as u64,
            client_threads: asked.shape.connections().threads,
            server_cpu_ns,
            server_cpus: self.plan.pinning.server.len(),
            segments,
            foreign_share,
            descriptors_lacking,
        })
    }

    fn ours(&self, tool: Tool) -> Result<Sample, String> {
        let asked = self.asked.get(&tool).ok_or("was not introduced")?;
        let request = asked.request.clone()?;
        let before = self.look()?;
        let report = self.drive(&asked.shape, &asked.shape.load(self.expected()), request)?;
        report.total.tally.reconcile().map_err(|error| error.to_string())?;
        let Spent { server_cpu_ns, segments, foreign_share } =
            self.since(&before, report.generator_cpu_ns)?;
        Ok(Sample {
            server_cpu_ns,
            server_cpus: self.plan.pinning.server.len(),
            segments,
            foreign_share,
            ..sample(&report)
        })
    }

    /// Runs a load by our engine, with connections of its own.
    fn drive(&self, shape: &Shape, load: &Load, request: Vec<u8>) -> Result<RunReport, String> {
        let exchange = tare_load::Exchange { request, ..self.exchange() };
        let settings = self.driven(shape)?;
        let generator = Generator::new(settings, Arc::new(ExchangePool::new(vec![exchange])));
        let mut generator = generator.map_err(|error| error.to_string())?;
        generator.run(load, &self.interrupt).map_err(|error| error.to_string())
    }

    fn driven(&self, shape: &Shape) -> Result<GeneratorSettings, String> {
        let protocol = self.protocol();
        let options = TlsOptions {
            // Like the tools, none of which checks certificates.
            trust: TlsTrust::Anything,
            server_name: "localhost".to_owned(),
            alpn: protocol.alpn(),
            resume: false,
            offer: TlsOffer::Usual,
            version: TlsVersion::Tls13,
            certificate: None,
        };
        let tls = protocol.is_tls().then(|| TlsClient::new(options)).transpose();
        let route = Route::from(self.ready.address.clone());
        Ok(GeneratorSettings {
            cpus: self.plan.pinning.generator.clone(),
            protocol,
            streams: shape.streams(),
            tls: tls.map_err(|error| error.to_string())?.map(Arc::new),
            ..GeneratorSettings::new(route, shape.connections(), self.plan.seed)
        })
    }

    fn exchange(&self) -> tare_load::Exchange {
        let mut random = ChaCha8Rng::seed_from_u64(self.plan.seed);
        self.contract.exchange(self.request, &self.ready.host, &mut random)
    }

    fn own_request(&self) -> Vec<u8> {
        self.exchange().request
    }

    /// The path, which was checked to have no placeholders.
    fn path(&self) -> String {
        self.request.ask.path.fixed().unwrap_or_default()
    }

    fn expected(&self) -> Duration {
        Duration::from_secs(self.plan.pace.seconds)
    }

    fn look(&self) -> Result<Look, String> {
        let cpus = CpuReading::take(&self.plan.pinning, Monotonic.now_ns());
        Ok(Look { server_cpu_ns: self.server_cpu_ns()?, segments: segments(), cpus })
    }

    /// The difference since an earlier look; the caller provides the generator's CPU time.
    fn since(&self, before: &Look, client_cpu_ns: u64) -> Result<Spent, String> {
        let after = self.look()?;
        let pinning = &self.plan.pinning;
        let server_cpu_ns = after.server_cpu_ns.saturating_sub(before.server_cpu_ns);
        let cpus = after.cpus.zip(before.cpus).map(|(after, before)| after.since(&before));
        let segments = after.segments.zip(before.segments);
        Ok(Spent {
            server_cpu_ns,
            segments: segments.map(|(after, before)| after.saturating_sub(before)),
            foreign_share: cpus.filter(|cpus| cpus.wall_ns > 0).map(|cpus| {
                let foreign_ns = cpus.foreign_ns(pinning, server_cpu_ns + client_cpu_ns);
                foreign_ns as f64 / (cpus.wall_ns as f64 * pinning.all().len() as f64)
            }),
        })
    }

    fn server_cpu_ns(&self) -> Result<u64, String> {
        let cpu_ns = self.ready.process.cpu_ns().map_err(|error| error.to_string())?;
        cpu_ns.ok_or_else(|| "its CPU time is not known".to_owned())
    }
}

impl Bench for Session<'_> {
    fn run(&mut self, tool: Tool, side: Side, round: usize) -> Result<Sample, String> {
        match side {
            Side::Theirs => self.theirs(tool, round),
            Side::Ours => self.ours(tool),
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

fn sample(report: &RunReport) -> Sample {
    let (total, tally) = (&report.total, &report.total.tally);
    let quantile = |q| Some(total.quantile(q).ns as f64);
    let failures = [drive::kinds(&tally.failed), drive::kinds(&tally.connection_failed)];
    Sample {
        answered: tally.answered,
        served: tally.sent,
        failed: tally.failed.total() + tally.connection_failed.total(),
        complaints: failures.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(", "),
        per_second: report.answers_per_s(),
        latency: Latency {
            mean_ns: Some(total.latency.mean_ns()),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            max_ns: quantile(1.0),
            mean_step_ns: 0.0,
            percentile_step_ns: 0.0,
        },
        client_cpu_ns: report.generator_cpu_ns,
        client_threads: report.threads,
        ..Sample::default()
    }
}

/// TCP segments with data that the whole host has sent so far: a count that does not depend on a generator.
fn segments() -> Option<u64> {
    segments_in(&fs::read_to_string("/proc/net/netstat").ok()?)
}

/// Parses the two `TcpExt:` lines: names and numbers.
fn segments_in(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split(' ').position(|name| name == "TCPOrigDataSent")?;
    values.split(' ').nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kernels_count_of_segments() {
        let text = "TcpExt: SyncookiesSent TCPOrigDataSent X\nTcpExt: 0 1234 5\nIpExt: A\nIpExt: 7\n";
        assert_eq!(segments_in(text), Some(1234));
        assert_eq!(segments_in(""), None);
        assert!(segments().is_some());
    }

    proptest! {
        #[test]
        fn the_count_is_found_wherever_the_kernel_puts_it(
            names in proptest::collection::vec("[A-Z][A-Za-z]{2,12}", 0..40), at in 0..40_usize, count in any::<u64>(),
        ) {
            let at = at.min(names.len());
            let mut names: Vec<String> = names.into_iter().filter(|name| name != "TCPOrigDataSent").collect();
            let at = at.min(names.len());
            names.insert(at, "TCPOrigDataSent".to_owned());
            let values: Vec<String> =
                (0..names.len()).map(|index| if index == at { count.to_string() } else { "7".to_owned() }).collect();
            let text = format!("TcpExt: {}\nTcpExt: {}\nMPTcpExt: A\nMPTcpExt: 1\n", names.join(" "), values.join(" "));
            prop_assert_eq!(segments_in(&text), Some(count));
            let short = format!("TcpExt: {}\nTcpExt: {}\n", names.join(" "), values[..at].join(" "));
            prop_assert_eq!(segments_in(&short), None, "fewer numbers than names");
        }

        #[test]
        fn no_table_of_counters_is_too_much(text in "(TcpExt: |TCPOrigDataSent|[0-9]{1,25}| |\n|[A-Za-z]{1,6}){0,30}") {
            let _any = segments_in(&text);
        }
    }

    #[test]
    fn a_report_of_our_engine_becomes_a_sample() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        drop(server);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts");
        let contracts = Contract::load_all(&root).unwrap();
        let connections = tare_load::Connections { total: 2, threads: 1 };
        let mut generator =
            drive::generator(&contracts["hello"], &address.to_string(), address, connections, &[], 1)
                .unwrap();
        let stop = Stop::after(Duration::from_millis(50), Duration::ZERO);
        let report =
            generator.run(&Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT), &Arc::default()).unwrap();
        let sample = sample(&report);
        // No server listens, so all connections are refused.
        assert_eq!((sample.answered, sample.served, sample.per_second), (0, 0, 0.0));
        assert!(sample.failed > 0 && sample.complaints.ends_with(" refused"), "{}", sample.complaints);
        assert_eq!((sample.client_threads, sample.latency.percentile_step_ns), (1, 0.0));
    }
}
