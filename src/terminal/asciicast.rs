//! A recording of a terminal: asciicast v2, <https://docs.asciinema.org/manual/asciicast/v2/>.

use serde_json::{Value, json};

/// Players shorten longer waits to these seconds by default.
const IDLE_LIMIT: u64 = 10;

/// A recording so far. The same events give the same bytes.
pub(crate) struct Asciicast {
    /// Milliseconds since the beginning.
    time: u64,
    lines: Vec<String>,
}

impl Asciicast {
    /// A recording of a terminal of this size.
    pub fn new(columns: usize, rows: usize, title: &str) -> Asciicast {
        let header = json!({
            "version": 2,
            "width": columns,
            "height": rows,
            "idle_time_limit": IDLE_LIMIT,
            "title": title,
            "env": { "SHELL": "/bin/sh", "TERM": "xterm-256color" },
        });
        Asciicast { time: 0, lines: vec![header.to_string()] }
    }

    /// The terminal writes something.
    pub fn writes(&mut self, text: &str) {
        self.event("o", text);
    }

    /// Something begins here that a player can go to.
    pub fn marks(&mut self, title: &str) {
        self.event("m", title);
    }

    /// Time goes by.
    pub fn wait(&mut self, milliseconds: u64) {
        self.time += milliseconds;
    }

    fn event(&mut self, code: &str, data: &str) {
        let event: Value = json!([self.time as f64 / 1000.0, code, data]);
        self.lines.push(event.to_string());
    }

    /// The whole recording.
    pub fn finish(self) -> String {
        self.lines.join("\n") + "\n"
    }
}
