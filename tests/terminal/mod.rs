//! A real pseudo-terminal, and what stands on its screen.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Nothing is waited for longer than this.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(5);
/// At most this many lines that have left the screen are kept.
const SCROLLBACK: usize = 5000;

/// A terminal with a program in it.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    parser: Arc<Mutex<vt100::Parser>>,
    /// Ends when all that was written has been taken to the screen, and nobody is left who could write more.
    reader: thread::JoinHandle<()>,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn count(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a screen has columns and rows")
}

impl Terminal {
    /// `attn lesson …` on a screen of 80×24, with its own state folder.
    pub fn attn(state: &Path, args: &[&str]) -> Terminal {
        Terminal::start(state, env!("CARGO_BIN_EXE_attn"), &[&["lesson"], args].concat(), 80, 24)
    }

    /// A program on a screen of a size.
    pub fn start(state: &Path, program: &str, args: &[&str], columns: u16, rows: u16) -> Terminal {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        for variable in ["COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE", "LC_CTYPE", "ENV"] {
            command.env_remove(variable);
        }
        command.env("ATTN_STATE_DIR", state);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.env("NO_COLOR", "1");
        command.env("PS1", "shell> ");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let parser = Arc::new(Mutex::new(vt100::Parser::new(count(rows), count(columns), SCROLLBACK)));
        let mut output = pair.master.try_clone_reader().expect("a reader");
        let screen = Arc::clone(&parser);
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                screen.lock().expect("the screen").process(&bytes[..read]);
            }
        });
        let keys = pair.master.take_writer().expect("a keyboard");
        Terminal { master: pair.master, child, keys, parser, reader }
    }

    /// Presses keys, as a terminal sends them.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the keyboard works");
        self.keys.flush().expect("the keyboard works");
    }

    /// Sends bytes that no terminal sends.
    pub fn press_bytes(&mut self, bytes: &[u8]) {
        self.keys.write_all(bytes).expect("the keyboard works");
    }

    /// Tells the program that the screen has this size; what it writes goes to the screen as it is.
    pub fn resize_program(&self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).expect("a new size");
    }

    /// Presses keys, and waits for words on the screen.
    #[track_caller]
    pub fn shows(&mut self, keys: &str, words: &str) -> String {
        self.press(keys);
        self.wait_for(words)
    }

    /// What stands on the screen.
    pub fn screen(&self) -> String {
        self.parser.lock().expect("the screen").screen().contents()
    }

    /// What stands on the screen and above it.
    pub fn all(&self) -> String {
        let mut parser = self.parser.lock().expect("the screen");
        let rows = usize::from(parser.screen().size().0.get());
        let mut above = parser.screen().scrollback_len();
        let mut text = String::new();
        while above > 0 {
            parser.screen_mut().set_scrollback(above);
            let shown = parser.screen().contents();
            text.extend(shown.lines().take(above.min(rows)).map(|line| format!("{line}\n")));
            above = above.saturating_sub(rows);
        }
        parser.screen_mut().set_scrollback(0);
        text + &parser.screen().contents()
    }

    /// The row and the column of the cursor.
    pub fn cursor(&self) -> (u16, u16) {
        self.parser.lock().expect("the screen").screen().cursor_position()
    }

    /// Waits for words on the screen.
    #[track_caller]
    pub fn wait_for(&self, words: &str) -> String {
        self.wait_until(&format!("`{words}`"), |screen| screen.contains(words))
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "{what} did not come:\n{screen}");
            thread::sleep(LOOK);
        }
    }

    /// Makes the screen larger or smaller.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.parser.lock().expect("the screen").screen_mut().set_size(count(rows), count(columns));
        self.master.resize(size(columns, rows)).expect("a new size");
    }

    /// How the terminal is set: whether it echoes, waits for lines, makes signals …
    pub fn settings(&self) -> String {
        format!("{:?}", self.master.get_termios().expect("settings"))
    }

    /// The number of the program's process.
    pub fn process(&self) -> u32 {
        self.child.process_id().expect("a process")
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.process() as i32).expect("a process");
        rustix::process::kill_process(pid, signal).expect("the signal is sent");
    }

    /// Waits until the program has ended and all that it has written stands on the screen; its exit code.
    #[track_caller]
    pub fn ended(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            let ended = self.child.try_wait().expect("a child");
            if let Some(status) = ended.filter(|_| self.reader.is_finished()) {
                return status.exit_code();
            }
            assert!(begun.elapsed() < PATIENCE, "the program goes on:\n{}", self.screen());
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
