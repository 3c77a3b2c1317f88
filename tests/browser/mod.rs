//! A real browser for pages: headless Chromium, spoken to in the DevTools protocol over a pipe.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Where Debian and others put it.
const PLACES: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
];

/// Nothing takes longer, even on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two browsers for all tests, so that two of them run at the same time; they end with the process, when their pipes close.
static BROWSERS: [LazyLock<Option<Mutex<Browser>>>; 2] = [
    LazyLock::new(|| Browser::start("first").map(Mutex::new)),
    LazyLock::new(|| Browser::start("second").map(Mutex::new)),
];

/// A browser that is free, or the first one when it is; `None`, said aloud, where none is installed.
pub fn browser() -> Option<MutexGuard<'static, Browser>> {
    let free = BROWSERS.iter().filter_map(|browser| match browser.as_ref()?.try_lock() {
        Ok(browser) => Some(browser),
        Err(TryLockError::Poisoned(browser)) => Some(browser.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    let first = || Some(BROWSERS[0].as_ref()?.lock().unwrap_or_else(PoisonError::into_inner));
    let browser = { free }.next().or_else(first);
    if browser.is_none() {
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN in a browser: no Chromium among {}; install the package chromium",
            PLACES.join(", ")
        );
    }
    browser
}

/// A running browser.
pub struct Browser {
    _process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    asked: u64,
    folder: PathBuf,
    events: VecDeque<Value>,
}

/// A page that is open.
pub struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
    target: String,
    file: String,
}

/// How large the window is, and what it is like.
#[derive(Clone, Copy)]
pub struct Window {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    pub touch: bool,
}

/// A window of so many pixels.
pub fn window(width: u32, height: u32) -> Window {
    Window { width, height, dark: false, touch: false }
}

/// A folder for the browser of this process; those of processes that are gone are taken away.
fn own_folder() -> PathBuf {
    let all = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix("browser-").and_then(|id| id.parse::<u32>().ok());
        if process.is_some_and(|id| fs::metadata(format!("/proc/{id}")).is_err()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    all.join(format!("browser-{}", std::process::id()))
}

impl Browser {
    #[allow(clippy::zombie_processes, reason = "it lives as long as the tests, and ends with the pipe to it")]
    fn start(name: &str) -> Option<Browser> {
        let program = PLACES.into_iter().find(|place| fs::metadata(place).is_ok())?;
        let folder = own_folder().join(name);
        fs::create_dir_all(&folder).expect("a folder for the browser");
        // The protocol wants its two ends at 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null", program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--disable-quic"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh starts");
        let (to, out) = (child.stdin.take()?, child.stdout.take()?);
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(out);
            loop {
                let mut message = Vec::new();
                match reader.read_until(0, &mut message) {
                    Ok(length) if length > 0 => {
                        message.pop();
                        let Ok(value) = serde_json::from_slice(&message) else { return };
                        if send.send(value).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
        Some(Browser { _process: child, to, from, asked: 0, folder, events: VecDeque::new() })
    }

    /// Asks for something and waits for the answer; events that come before it are kept.
    #[track_caller]
    fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).and_then(|()| self.to.flush()).expect("the browser listens");
        loop {
            let answer = self.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    /// Opens a page of HTML in a window and waits until it is loaded.
    #[track_caller]
    pub fn open(&mut self, html: &str, window: Window) -> Page<'_> {
        let path = self.folder.join("page.html");
        fs::write(&path, html).expect("the page is written");
        self.visit(&format!("file://{}", path.display()), window)
    }

    /// Opens an address in a window and waits until it is loaded.
    #[track_caller]
    pub fn visit(&mut self, address: &str, window: Window) -> Page<'_> {
        let file = address.to_string();
        let target = self.ask(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let target = target["targetId"].as_str().expect("a target").to_string();
        let attached =
            self.ask(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        let session = attached["sessionId"].as_str().expect("a session").to_string();
        self.events.clear();
        let mut page = Page { browser: self, session, target, file: file.clone() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.ask(&format!("{domain}.enable"), json!({}));
        }
        page.ask(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": window.width, "height": window.height, "deviceScaleFactor": 1, "mobile": window.touch }),
        );
        if window.touch {
            page.ask("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
        }
        page.media("", window.dark);
        page.ask("Page.navigate", json!({ "url": file }));
        page.wait_for("Page.loadEventFired");
        page
    }
}

impl Page<'_> {
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let session = self.session.clone();
        self.browser.ask(Some(&session), method, params)
    }

    #[track_caller]
    fn wait_for(&mut self, method: &str) {
        let start = Instant::now();
        loop {
            if self.browser.events.iter().any(|event| event["method"] == method) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "no {method}");
            let event = self.browser.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no {method}"));
            self.browser.events.push_back(event);
        }
    }

    /// Loads the page again and waits until it is loaded.
    #[track_caller]
    pub fn reload(&mut self) {
        self.browser.events.clear();
        self.ask("Page.reload", json!({}));
        self.wait_for("Page.loadEventFired");
    }

    /// Another medium, `print` or `screen`, and whether the surroundings are dark.
    #[track_caller]
    pub fn media(&mut self, medium: &str, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({ "media": medium, "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
    }

    /// The value of an expression of JavaScript, as JSON.
    #[track_caller]
    pub fn eval(&mut self, script: &str) -> Value {
        let answer = self.ask(
            "Runtime.evaluate",
            json!({ "expression": script, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(answer["exceptionDetails"].is_null(), "{script}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The middle of the first element that a selector names, scrolled into the window.
    #[track_caller]
    fn middle(&mut self, selector: &str) -> (f64, f64) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        ));
        (place[0].as_f64().expect("x"), place[1].as_f64().expect("y"))
    }

    /// Moves the mouse over an element.
    #[track_caller]
    pub fn hover(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.ask("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Says that the mouse is over an element, without scrolling to it.
    #[track_caller]
    pub fn point_at(&mut self, selector: &str) {
        self.eval(&format!(
            "document.querySelector({}).dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}))",
            json!(selector)
        ));
    }

    /// Presses the mouse's left button on an element.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            self.ask(
                "Input.dispatchMouseEvent",
                json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 }),
            );
        }
    }

    /// Taps an element with a finger.
    #[track_caller]
    pub fn tap(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.ask(
            "Input.dispatchTouchEvent",
            json!({ "type": "touchStart", "touchPoints": [{ "x": x, "y": y }] }),
        );
        self.ask("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }));
        // The click follows once the gesture is known to be a tap.
        self.eval("new Promise((done) => setTimeout(done, 400))");
    }

    /// Presses a key: `Tab`, `Enter`, `ArrowRight` …
    #[track_caller]
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            " " => 32,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "-" => 189,
            "." => 190,
            one if one.len() == 1 => one.to_uppercase().as_bytes()[0],
            other => panic!("no code for {other}"),
        };
        let mut down = json!({ "type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code });
        if key.len() == 1 {
            down["text"] = key.into();
        } else if key == "Enter" {
            down["text"] = "\r".into();
        }
        self.ask("Input.dispatchKeyEvent", down);
        self.ask(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code }),
        );
    }

    /// Presses a key together with the control key.
    #[track_caller]
    pub fn press_with_control(&mut self, key: &str) {
        let code = key.to_uppercase().as_bytes()[0];
        for kind in ["rawKeyDown", "keyUp"] {
            self.ask(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "modifiers": 2, "windowsVirtualKeyCode": code }),
            );
        }
    }

    /// Types a text into what has the focus.
    #[track_caller]
    pub fn write(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Waits until an expression of JavaScript is true.
    #[track_caller]
    pub fn wait_until(&mut self, script: &str) {
        let start = Instant::now();
        while self.eval(script) != true {
            assert!(start.elapsed() < PATIENCE, "never: {script}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The roles and names that a screen reader is told.
    #[track_caller]
    pub fn accessible(&mut self) -> Vec<(String, String)> {
        let tree = self.ask("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().expect("nodes");
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_string();
        nodes.iter().map(|node| (text(&node["role"]), text(&node["name"]))).collect()
    }

    /// Takes the network away.
    #[track_caller]
    pub fn go_offline(&mut self) {
        self.ask(
            "Network.emulateNetworkConditions",
            json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 }),
        );
    }

    /// Whether the page is wider than its window.
    #[track_caller]
    pub fn scrolls_sideways(&mut self) -> bool {
        self.eval(
            "document.documentElement.scrollWidth > innerWidth || document.body.scrollWidth > innerWidth",
        ) == true
    }

    /// A picture of the whole page, as the bytes of a PNG in Base64.
    #[track_caller]
    pub fn picture(&mut self) -> String {
        let picture =
            self.ask("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        picture["data"].as_str().expect("a picture").to_string()
    }

    /// A picture of what the window shows, as the bytes of a PNG in Base64.
    #[track_caller]
    pub fn view(&mut self) -> String {
        let picture = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        picture["data"].as_str().expect("a picture").to_string()
    }

    /// The page as it is printed, as the bytes of a PDF in Base64.
    #[track_caller]
    pub fn printed(&mut self) -> String {
        let printed = self.ask("Page.printToPDF", json!({ "printBackground": false }));
        printed["data"].as_str().expect("a document").to_string()
    }

    /// What the page has asked the network for, itself and what stands in it left out.
    pub fn requests(&mut self) -> Vec<String> {
        self.eval("0");
        let file = self.file.clone();
        let asked = self.browser.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = asked.filter_map(|event| event["params"]["request"]["url"].as_str());
        urls.filter(|url| *url != file && !url.starts_with(&format!("{file}#")) && !url.starts_with("data:"))
            .map(str::to_string)
            .collect()
    }

    /// What has gone wrong: uncaught errors, errors on the console, what the page's policy has refused.
    pub fn complaints(&mut self) -> Vec<String> {
        self.eval("0");
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        self.browser.events.iter().filter(is_complaint).map(|event| event["params"].to_string()).collect()
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        let target = self.target.clone();
        if !std::thread::panicking() {
            self.browser.ask(None, "Target.closeTarget", json!({ "targetId": target }));
        }
    }
}

/// Asserts that numbers of a page, by their places `node:row,column`, have the bits of a graph as JSON; returns how many they are.
#[track_caller]
pub fn assert_bits(on_page: &Value, json: &Value) -> usize {
    let nodes = json["graphs"][0]["nodes"].as_array().expect("nodes");
    let on_page = on_page.as_object().expect("numbers by their places");
    for (place, exact) in on_page {
        let at: Vec<usize> = place.split([':', ',']).map(|part| part.parse().unwrap()).collect();
        let there = &nodes[at[0]]["values"][at[1]][at[2]];
        let there = there.as_f64().unwrap_or_else(|| there.as_str().unwrap().parse().unwrap());
        let here: f64 = exact.as_str().unwrap().parse().unwrap();
        assert_eq!(here.to_bits(), there.to_bits(), "{}[{},{}]", nodes[at[0]]["name"], at[1], at[2]);
    }
    on_page.len()
}
