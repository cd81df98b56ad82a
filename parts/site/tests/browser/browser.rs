//! Driven browsers: as many as concurrent tests, reused by one test after the other. The interface is
//! synchronous, because a test is sequential.

use std::{
    cell::Cell,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    ops::Deref,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, mpsc},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tare_host::fixture::has_program;
use thirtyfour::{
    ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver,
    action_chain::ActionChain, error::WebDriverError, error::WebDriverErrorInner,
};

/// Far longer than any page takes, even on a busy machine: it only ends a hung test.
const PATIENCE: Duration = Duration::from_secs(600);
/// Longer than any script takes. One that waits for a frame may wait for ever: see [`Browser::open_again`].
const SCRIPT_PATIENCE: Duration = Duration::from_secs(120);

/// No network access beyond the test's requests, and no sandbox, which does not work for root. A window out of sight is drawn like any other.
const FLAGS: [&str; 13] = [
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
];

/// The kernel kills the driver and its browser when this process dies, even by SIGKILL.
const WITH_ITS_PARENT: [&str; 3] = ["--pdeathsig", "KILL", "--"];

/// The default window of a test.
const WINDOW: Size = (1400, 900);

/// Browsers that no test uses at the moment: starting one takes longer than most tests.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

pub struct Browser {
    session: Option<WebDriver>,
    runtime: tokio::runtime::Runtime,
    driver: Driver,
    /// Whether the test has used mouse or keyboard on its page.
    has_acted: Cell<bool>,
}

pub struct OpenBrowser(Option<Browser>);

impl Deref for OpenBrowser {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        self.0.as_ref().expect("it is taken on drop alone")
    }
}

impl Drop for OpenBrowser {
    fn drop(&mut self) {
        // A failed test may have left the browser in any state, so it is ended.
        if !thread::panicking() {
            idle().extend(self.0.take());
        }
    }
}

fn idle() -> MutexGuard<'static, Vec<Browser>> {
    IDLE.lock().expect("nothing fails while it is held")
}

/// The width and height of a window, in CSS pixels.
pub type Size = (u32, u32);

impl Browser {
    /// A browser with an empty page and no state of earlier tests. `None` if this machine has no browser: the
    /// test is skipped by name, or fails if tests may not be skipped.
    pub fn open() -> Option<OpenBrowser> {
        if !["chromium", "chromedriver", "setpriv"]
            .into_iter()
            .all(|program| has_program("the page", program))
        {
            return None;
        }
        // Release the lock while a browser starts.
        let waiting = idle().pop();
        let browser = waiting.unwrap_or_else(Browser::start);
        browser.clear();
        Some(OpenBrowser(Some(browser)))
    }

    fn start() -> Browser {
        let driver = Driver::start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut wanted = DesiredCapabilities::chrome();
        wanted.set_binary(&driver.browser.display().to_string()).unwrap();
        for flag in FLAGS {
            wanted.add_arg(flag).unwrap();
        }
        wanted.add_arg(&format!("--user-data-dir={}", driver.folder.join("profile").display())).unwrap();
        for log in ["browser", "performance"] {
            wanted.set_logging_prefs(log, LoggingPrefsLogLevel::All).unwrap();
        }
        // By default it gives up before the script may.
        let session = WebDriver::builder(format!("http://127.0.0.1:{}", driver.port), wanted)
            .request_timeout(PATIENCE + Duration::from_secs(60));
        let session = runtime.block_on(async { session.await });
        let session = session.unwrap();
        let browser = Browser { session: Some(session), runtime, driver, has_acted: Cell::new(false) };
        browser.give_scripts(SCRIPT_PATIENCE);
        browser
    }

    /// How long a script may take.
    pub fn give_scripts(&self, time: Duration) {
        self.runtime.block_on(self.session().set_script_timeout(time)).unwrap();
    }

    /// Removes a test's traces: its page, stored data, the emulated medium, and the size.
    fn clear(&self) {
        self.devtools("Storage.clearDataForOrigin", &json!({ "origin": "file://", "storageTypes": "all" }));
        self.go_to("about:blank");
        self.prefer("", &[]);
        self.resize(WINDOW);
    }

    fn session(&self) -> &WebDriver {
        self.session.as_ref().expect("it is taken on drop alone")
    }

    /// Opens a file like a user who clicks it, and clears the logs.
    pub fn visit(&self, page: &Path) {
        let _before = (self.logged("browser"), self.logged("performance"));
        self.go_to(&format!("file://{}", page.display()));
    }

    fn go_to(&self, url: &str) {
        self.runtime.block_on(self.session().goto(url)).unwrap();
        self.has_acted.set(false);
    }

    /// Opens the levels of a page that are folded at first: diagnostics and provenance.
    pub fn open_levels(&self) {
        self.run("for (const level of document.querySelectorAll('details.level')) level.open = true", &[]);
    }

    /// Opens the page again. Now and then Chromium draws no more frames of a page, whatever is asked of it: pictures, other sizes and
    /// other windows were tried. It draws again once it has shown another page. What a test did there is lost with it, so then the test
    /// fails.
    fn open_again(&self, body: &str) {
        let page = self.runtime.block_on(self.session().current_url()).unwrap();
        assert!(!self.has_acted.get(), "the browser draws no more frames of {page}: {body}");
        self.go_to("about:blank");
        self.go_to(page.as_str());
    }

    /// The result of a function body for these arguments. A promise is awaited.
    pub fn run(&self, body: &str, arguments: &[Value]) -> Value {
        match self.try_run(body, arguments) {
            Err(error) if is_timeout(&error) => {
                self.open_again(body);
                self.try_run(body, arguments).unwrap()
            }
            ended => ended.unwrap(),
        }
    }

    fn try_run(&self, body: &str, arguments: &[Value]) -> Result<Value, WebDriverError> {
        let script = format!(
            "const done = arguments[arguments.length - 1];\n\
             (async (...args) => {{ {body} }})(...[...arguments].slice(0, -1))\n\
             .then(value => done({{ value: value === undefined ? null : value }}),\n\
                   error => done({{ error: String(error && error.stack || error) }}));"
        );
        let ended = self.runtime.block_on(self.session().execute_async(script, arguments.to_vec()));
        let ended = ended?.json().clone();
        assert!(ended["error"].is_null(), "{}: {body}", ended["error"]);
        Ok(ended["value"].clone())
    }

    /// Waits until a function body returns a true value, and returns it.
    pub fn until(&self, body: &str, arguments: &[Value]) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.try_run(body, arguments) {
                Ok(Value::Null | Value::Bool(false)) => {}
                Ok(found) => return found,
                Err(error) if is_timeout(&error) => self.open_again(body),
                Err(error) => panic!("{error}: {body}"),
            }
            assert!(Instant::now() < end, "never came true: {body} of {arguments:?}");
            // Not by a frame, which may not come.
            self.run("await new Promise(done => setTimeout(done, 20))", &[]);
        }
    }

    /// The errors and warnings of the page or the browser since the page was opened.
    pub fn complaints(&self) -> Vec<String> {
        self.logged("browser")
            .into_iter()
            .filter(|(level, _)| level != "INFO" && level != "DEBUG")
            .map(|(_, text)| text)
            .collect()
    }

    /// The requests to the network or the disk since the page was opened, including the page itself.
    pub fn requests(&self) -> Vec<String> {
        let events = self.logged("performance").into_iter();
        let url = |(_, text): (String, String)| {
            let event: Value = serde_json::from_str(&text).ok()?;
            let is_request = event["message"]["method"] == "Network.requestWillBeSent";
            is_request.then(|| event["message"]["params"]["request"]["url"].as_str().map(str::to_owned))?
        };
        events.filter_map(url).collect()
    }

    fn logged(&self, what: &str) -> Vec<(String, String)> {
        let entries = self.runtime.block_on(self.session().get_log(what)).unwrap();
        entries.into_iter().map(|entry| (entry.level, entry.message)).collect()
    }

    /// Runs a command of the DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.runtime.block_on(self.session().cdp().send_raw(command, parameters)).unwrap()
    }

    /// Sets the size of the window by the protocol, because a desktop window cannot be as narrow as a phone.
    pub fn resize(&self, (width, height): Size) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        self.until("return innerWidth === args[0]", &[width.into()]);
    }

    /// Emulates print, or a setting of the user's system: `("prefers-color-scheme", "dark")`.
    pub fn prefer(&self, media: &str, features: &[(&str, &str)]) {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.devtools("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
    }

    /// Moves the mouse to a point of the window, in pixels.
    pub fn point_at(&self, x: f64, y: f64) {
        self.act(|mouse| mouse.move_to(x as i64, y as i64));
    }

    /// Clicks at a point of the window.
    pub fn click_at(&self, x: f64, y: f64) {
        self.act(|mouse| mouse.move_to(x as i64, y as i64).click());
    }

    /// Clicks the element of a JavaScript expression with the mouse, where a user would see and hit it.
    pub fn click(&self, element: &str) {
        let at = self.run(
            &format!(
                "const element = {element};
                 if (!element) return 'is not there';
                 let box, still = 0;
                 // Charts that become visible change the layout.
                 for (let i = 0; still < 4 && i < 600; i++) {{
                     element.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }});
                     await new Promise(requestAnimationFrame);
                     const now = element.getBoundingClientRect();
                     still = box && now.left === box.left && now.top === box.top ? still + 1 : 0;
                     box = now;
                 }}
                 const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
                 const hit = document.elementFromPoint(x, y);
                 return element.contains(hit) ? [x, y] : 'is covered by ' + (hit ? hit.outerHTML.slice(0, 200) : 'nothing');"
            ),
            &[],
        );
        let (Some(x), Some(y)) = (at[0].as_f64(), at[1].as_f64()) else { panic!("{element} {at}") };
        self.click_at(x, y);
    }

    /// Presses keys, which go to the focused element.
    pub fn press(&self, keys: impl Into<thirtyfour::TypingData>) {
        let keys = keys.into();
        self.act(|keyboard| keyboard.send_keys(keys));
    }

    fn act(&self, what: impl FnOnce(ActionChain) -> ActionChain) {
        self.has_acted.set(true);
        let chain = ActionChain::new(Arc::clone(self.session().handle()));
        self.runtime.block_on(what(chain).perform()).unwrap();
    }

    /// Takes a picture of the window.
    pub fn picture(&self, file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        self.runtime.block_on(self.session().screenshot(file)).unwrap();
    }

    /// Takes a picture of the whole page, up to `height_max`.
    pub fn picture_of_all(&self, (width, height): Size, height_max: u32, file: &Path) {
        let tall = self.run("return document.documentElement.scrollHeight", &[]).as_u64().unwrap_or(0);
        self.resize((width, (tall as u32).clamp(height, height_max)));
        self.run("await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame)", &[]);
        self.picture(file);
        self.resize((width, height));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            // The driver ends the browser; remaining processes are ended below.
            let _ended = self.runtime.block_on(session.quit());
        }
        self.driver.end();
    }
}

fn is_timeout(error: &WebDriverError) -> bool {
    matches!(error.as_inner(), WebDriverErrorInner::ScriptTimeout(_))
}

#[test]
fn a_page_that_stands_still_is_opened_again_unless_the_test_has_acted_there() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&crate::pages::named("few").file);
    browser.give_scripts(Duration::from_secs(2));
    // It stands still until the page was opened as often as this.
    let opened =
        "if (!window.counted) { window.counted = true; localStorage.opened = (localStorage.opened | 0) + 1; }
         if (localStorage.opened < args[0]) await new Promise(() => {});
         return Number(localStorage.opened);";
    assert_eq!(browser.run(opened, &[2.into()]), 2);
    assert_eq!(browser.until(opened, &[4.into()]), 4);
    browser.point_at(1.0, 1.0);
    let lost = || browser.run(opened, &[5.into()]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(lost)).is_err());
    browser.give_scripts(SCRIPT_PATIENCE);
}

/// The driver program, and a folder for all files that it and the browser write.
struct Driver {
    process: Child,
    port: u16,
    browser: PathBuf,
    folder: PathBuf,
    /// Removes the folder once its input is closed, which also happens when this process ends.
    cleaner: Child,
}

impl Driver {
    fn start() -> Driver {
        let folder = tempfile::tempdir().unwrap().keep();
        let cleaner = Command::new("sh")
            .args(["-c", "read -r _; sleep 1; rm -rf \"$0\""])
            .arg(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let browser = folder.join("browser");
        let script = format!("#!/bin/sh\nexec setpriv {} chromium \"$@\"\n", WITH_ITS_PARENT.join(" "));
        fs::write(&browser, script)
            .and_then(|()| fs::set_permissions(&browser, Permissions::from_mode(0o755)))
            .unwrap();
        let mut process = spawned_for_good(driver(&folder));
        let (tell, told) = mpsc::channel();
        let stdout = process.stdout.take().expect("it is piped");
        // Reads until the end, so that the driver never blocks on its output.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _nobody_waits = tell.send(line);
            }
        });
        let port = std::iter::from_fn(|| told.recv_timeout(PATIENCE).ok()).find_map(|line| port_of(&line));
        let Some(port) = port else {
            let _ended = (process.kill(), process.wait());
            panic!("chromedriver did not say on which port it listens");
        };
        Driver { process, port, browser, folder, cleaner }
    }

    /// Ends processes by PID: the driver is our child, and the browser's processes have our folder in their
    /// command lines.
    fn end(&mut self) {
        let _ended = (self.process.kill(), self.process.wait());
        let ours = format!("--user-data-dir={}", self.folder.display());
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes.filter(|process| is_of(&process.path(), &ours)) {
            let id = process.file_name().to_string_lossy().into_owned();
            let _ended = Command::new("kill").args(["-KILL", &id]).status();
        }
        drop(self.cleaner.stdin.take());
        let _removed = self.cleaner.wait();
    }
}

fn driver(folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(WITH_ITS_PARENT).args(["chromedriver", "--port=0"]);
    command.env("HOME", folder).env("TMPDIR", folder).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Starts the process in a thread that never ends. For the kernel that thread is the parent, and a test's
/// thread ends with its test.
fn spawned_for_good(mut command: Command) -> Child {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let _nobody_waits = tell.send(command.spawn());
        loop {
            thread::park();
        }
    });
    told.recv().expect("it sends before it waits").expect("it was found on PATH")
}

fn is_of(process: &Path, argument: &str) -> bool {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(argument)
}

/// The port in `ChromeDriver was started successfully on port 41234.`
fn port_of(line: &str) -> Option<u16> {
    line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
}
