//! Browsers that are driven: as many as tests run at once, and each is asked by one test after the other.
//! Without a promise to await, since a test does one thing after the other.

use std::{
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
    ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver, action_chain::ActionChain,
};

/// Far more than a page of any size takes, on a machine whose CPUs others want: it ends what hangs, and judges nothing.
const PATIENCE: Duration = Duration::from_secs(180);

/// No network beyond what a test asks for, and no sandbox, which root cannot have.
const FLAGS: [&str; 10] = [
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

/// Who is killed together with us cannot end anybody: the kernel does it, for the driver and for its browser.
const WITH_ITS_PARENT: [&str; 3] = ["--pdeathsig", "KILL", "--"];

/// The window of a test that asks for no other.
const WINDOW: Size = (1400, 900);

/// Those that no test uses at the moment: to start one takes longer than most tests.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

/// A browser with one page.
pub struct Browser {
    session: Option<WebDriver>,
    runtime: tokio::runtime::Runtime,
    driver: Driver,
}

/// A browser, for one test alone.
pub struct OpenBrowser(Option<Browser>);

impl Deref for OpenBrowser {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        self.0.as_ref().expect("it is taken on drop alone")
    }
}

impl Drop for OpenBrowser {
    fn drop(&mut self) {
        // What a test that failed has left of it is not known: it ends.
        if !thread::panicking() {
            idle().extend(self.0.take());
        }
    }
}

fn idle() -> MutexGuard<'static, Vec<Browser>> {
    IDLE.lock().expect("nothing fails while it is held")
}

/// A width of a window, in CSS pixels, and its height.
pub type Size = (u32, u32);

impl Browser {
    /// With an empty page, and nothing left of the test before. Absent if there is no browser on this machine: it is skipped by
    /// name, and a failure where nothing may be skipped.
    pub fn open() -> Option<OpenBrowser> {
        if !["chromium", "chromedriver", "setpriv"]
            .into_iter()
            .all(|program| has_program("the page", program))
        {
            return None;
        }
        // Not held while one is started.
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
        let session = runtime.block_on(WebDriver::new(format!("http://127.0.0.1:{}", driver.port), wanted));
        let session = session.unwrap();
        runtime.block_on(session.set_script_timeout(PATIENCE)).unwrap();
        Browser { session: Some(session), runtime, driver }
    }

    /// What a test may leave: a page, what pages have stored, a medium, and a size.
    fn clear(&self) {
        self.devtools("Storage.clearDataForOrigin", &json!({ "origin": "file://", "storageTypes": "all" }));
        self.runtime.block_on(self.session().goto("about:blank")).unwrap();
        self.prefer("", &[]);
        self.resize(WINDOW);
    }

    fn session(&self) -> &WebDriver {
        self.session.as_ref().expect("it is taken on drop alone")
    }

    /// Opens a file as a user does who clicks it in a folder, and forgets what was logged before.
    pub fn visit(&self, page: &Path) {
        let _before = (self.logged("browser"), self.logged("performance"));
        let url = format!("file://{}", page.display());
        self.runtime.block_on(self.session().goto(&url)).unwrap();
    }

    /// What the body of a function gives for these arguments. A promise is awaited.
    pub fn run(&self, body: &str, arguments: &[Value]) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\n\
             (async (...args) => {{ {body} }})(...[...arguments].slice(0, -1))\n\
             .then(value => done({{ value: value === undefined ? null : value }}),\n\
                   error => done({{ error: String(error && error.stack || error) }}));"
        );
        let ended = self.runtime.block_on(self.session().execute_async(script, arguments.to_vec()));
        let ended = ended.unwrap().json().clone();
        assert!(ended["error"].is_null(), "{}: {body}", ended["error"]);
        ended["value"].clone()
    }

    /// Waits until the body of a function gives something true, and gives that.
    pub fn until(&self, body: &str, arguments: &[Value]) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.run(body, arguments);
            if !matches!(found, Value::Null | Value::Bool(false)) {
                return found;
            }
            assert!(Instant::now() < end, "never came true: {body} of {arguments:?}");
            self.run("await new Promise(requestAnimationFrame)", &[]);
        }
    }

    /// What the page or the browser complained of since the page was opened.
    pub fn complaints(&self) -> Vec<String> {
        self.logged("browser")
            .into_iter()
            .filter(|(level, _)| level != "INFO" && level != "DEBUG")
            .map(|(_, text)| text)
            .collect()
    }

    /// What was asked of the network or of the disk since the page was opened, the page itself among it.
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

    /// A command of the DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.runtime.block_on(self.session().cdp().send_raw(command, parameters)).unwrap()
    }

    /// A window of this size. By the protocol, since a window of a desktop cannot be as narrow as a phone.
    pub fn resize(&self, (width, height): Size) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        self.until("return innerWidth === args[0]", &[width.into()]);
    }

    /// As on paper, or as the user has asked of the system: `("prefers-color-scheme", "dark")`.
    pub fn prefer(&self, media: &str, features: &[(&str, &str)]) {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.devtools("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
    }

    /// The mouse, in pixels of the window.
    pub fn point_at(&self, x: f64, y: f64) {
        self.act(|mouse| mouse.move_to(x as i64, y as i64));
    }

    /// The mouse, pressed and released there.
    pub fn click_at(&self, x: f64, y: f64) {
        self.act(|mouse| mouse.move_to(x as i64, y as i64).click());
    }

    /// Clicks the element that an expression of JavaScript names, with the mouse, where a user would see and hit it.
    pub fn click(&self, element: &str) {
        let at = self.run(
            &format!(
                "const element = {element};
                 if (!element) return 'is not there';
                 let box, still = 0;
                 // Charts that come into sight make room for themselves.
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

    /// Keys of the keyboard, to whatever has the focus.
    pub fn press(&self, keys: impl Into<thirtyfour::TypingData>) {
        let keys = keys.into();
        self.act(|keyboard| keyboard.send_keys(keys));
    }

    fn act(&self, what: impl FnOnce(ActionChain) -> ActionChain) {
        let chain = ActionChain::new(Arc::clone(self.session().handle()));
        self.runtime.block_on(what(chain).perform()).unwrap();
    }

    /// A picture of what is in the window.
    pub fn picture(&self, file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        self.runtime.block_on(self.session().screenshot(file)).unwrap();
    }

    /// A picture of the whole page, up to `height_max`.
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
            // The driver ends the browser; whatever it does not is ended below.
            let _ended = self.runtime.block_on(session.quit());
        }
        self.driver.end();
    }
}

/// The program between us and the browser, and a folder that has all they write.
struct Driver {
    process: Child,
    port: u16,
    /// What it starts the browser by.
    browser: PathBuf,
    folder: PathBuf,
    /// Removes the folder once its input is closed, which the end of this process does too.
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
        // Until its end, so that it never waits for a reader.
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

    /// By their ids: the driver is our child, and the browser's processes name our folder on their command lines.
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

/// By a thread that never ends: for the kernel that is the parent, and a test's thread ends with its test.
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

/// `ChromeDriver was started successfully on port 41234.`
fn port_of(line: &str) -> Option<u16> {
    line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
}
