//! Runs commands in process, as a shell would, and reads what they print.
#![allow(dead_code, reason = "each test takes what it needs")]

pub mod steps;
mod sweep;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use attn::cli::{Env, Streams, run};
use attn::graph::{CellId, Graph};
use attn::input::WritePermission;
use attn::lesson::CommandOutput;
use attn::matrix::Matrix;
use attn::render::Screen;
use serde_json::Value;

#[allow(unused_imports, reason = "each test takes what it needs")]
pub use sweep::one_in;

/// What a command left behind.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// A command to be run; by default in a pipe of 80 columns.
#[must_use]
pub struct Attn {
    args: Vec<String>,
    env: Env,
    input: Vec<u8>,
}

/// A command with its arguments, split at spaces; `'…'` keeps spaces.
pub fn attn(line: &str) -> Attn {
    let mut args = Vec::new();
    let mut current = String::new();
    let (mut quoted, mut any) = (false, false);
    for character in line.chars() {
        match character {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    args.push(std::mem::take(&mut current));
                }
                any = false;
            }
            other => {
                current.push(other);
                any = true;
            }
        }
    }
    if any {
        args.push(current);
    }
    Attn { args, env: Env::default(), input: Vec::new() }
}

impl Attn {
    /// One more argument, as it is.
    pub fn arg(mut self, arg: impl Into<String>) -> Attn {
        self.args.push(arg.into());
        self
    }

    /// Its arguments.
    pub fn args(self) -> Vec<String> {
        self.args
    }

    /// In other surroundings.
    pub fn env(mut self, env: Env) -> Attn {
        self.env = env;
        self
    }

    /// With something on standard input.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Attn {
        self.input = input.into();
        self
    }

    /// Runs it.
    pub fn run(self) -> Outcome {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut input: &[u8] = &self.input;
        let mut streams = Streams { input: &mut input, out: &mut out, err: &mut err };
        let code = run(&self.args, &self.env, &mut streams).code;
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Outcome { code, out: text(out), err: text(err) }
    }

    /// Runs it, and expects it to succeed.
    #[track_caller]
    pub fn ok(self) -> Outcome {
        let line = self.args.join(" ");
        let outcome = self.run();
        assert_eq!(outcome.code, 0, "attn {line}\n{}", outcome.err);
        outcome
    }

    /// Runs it, and expects it to be refused with these words on standard error and nothing on standard output.
    #[track_caller]
    pub fn refused(self, words: &[&str]) {
        let line = self.args.join(" ");
        let outcome = self.run();
        assert_eq!(outcome.code, 2, "attn {line}\n{}{}", outcome.out, outcome.err);
        assert_eq!(outcome.out, "", "attn {line} printed something before it failed");
        for word in words {
            assert!(outcome.err.contains(word), "attn {line}: no `{word}` in\n{}", outcome.err);
        }
    }

    /// Runs it with `--format json`, and reads the nodes of its first graph.
    #[track_caller]
    pub fn nodes(self) -> Nodes {
        let outcome = self.arg("--format").arg("json").ok();
        let value: Value = serde_json::from_str(&outcome.out).expect("JSON");
        Nodes(value["graphs"][0]["nodes"].as_array().expect("nodes").clone())
    }
}

/// The program's own `run`, as lessons are given it.
pub fn in_process(args: &[String], screen: Screen) -> CommandOutput {
    let env = Env {
        writing: WritePermission::Refused,
        width: screen.width,
        colour: screen.colour,
        colour_err: screen.colour,
        theme: screen.theme,
        charset: screen.charset,
        ..Env::default()
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let outcome =
        run(args, &env, &mut Streams { input: &mut std::io::empty(), out: &mut out, err: &mut err });
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let graphs = outcome.graphs.into_iter().map(Arc::new).collect();
    CommandOutput { code: outcome.code, out: text(out), err: text(err), graphs }
}

/// Like [`in_process`], for lessons with the same commands: commands are pure, so all tests together run each only once on the same
/// screen.
pub fn in_process_once(args: &[String], screen: Screen) -> CommandOutput {
    type Outputs = HashMap<(Vec<String>, Screen), Arc<OnceLock<CommandOutput>>>;
    static OUTPUTS: Mutex<Option<Outputs>> = Mutex::new(None);
    let mut outputs = OUTPUTS.lock().expect("no test panics here");
    let output = Arc::clone(outputs.get_or_insert_default().entry((args.to_vec(), screen)).or_default());
    drop(outputs);
    output.get_or_init(|| in_process(args, screen)).clone()
}

/// The nodes of a graph as JSON has them.
pub struct Nodes(pub Vec<Value>);

impl Nodes {
    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|node| node["name"].as_str().expect("a name")).collect()
    }

    /// A node's values.
    #[track_caller]
    pub fn matrix(&self, name: &str) -> Matrix {
        let node = self.0.iter().find(|node| node["name"] == name);
        let node = node.unwrap_or_else(|| panic!("no node {name} among {:?}", self.names()));
        let number = |value: &Value| match value {
            Value::String(text) => text.parse().expect("inf, -inf or nan"),
            other => other.as_f64().expect("a number"),
        };
        let row = |row: &Value| row.as_array().expect("a row").iter().map(number).collect();
        let rows: Vec<Vec<f64>> = node["values"].as_array().expect("values").iter().map(row).collect();
        Matrix::from_rows(&rows).expect("rows of one length")
    }
}

/// Compares every cell of every node with its terms; NaN equals NaN.
#[track_caller]
pub fn assert_terms_give_the_recorded_bits(graph: &Graph) {
    for (node, content) in graph.nodes() {
        let matrix = content.matrix().expect("the exact path records everything");
        for row in 0..matrix.rows() {
            for col in 0..matrix.cols() {
                let (terms, recorded) =
                    (graph.terms(CellId { node, row, col }).evaluate(graph), matrix[(row, col)]);
                let same = terms.to_bits() == recorded.to_bits() || (terms.is_nan() && recorded.is_nan());
                assert!(
                    same,
                    "{}[{},{}]: terms {terms:e}, recorded {recorded:e}",
                    content.name,
                    row + 1,
                    col + 1
                );
            }
        }
    }
}

/// The words of a text, however its lines are broken and its tables ruled: with colours, names stand without backticks.
pub fn words(text: &str) -> Vec<String> {
    let text = text.replace(['`', '“', '”', '"'], "");
    let is_rule = |word: &&str| word.chars().all(|c| "─│-".contains(c));
    text.split_whitespace().filter(|word| !is_rule(word)).map(str::to_string).collect()
}

/// The text without its escape sequences for colours.
pub fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').expect("a colour ends in m").1;
    }
    out + rest
}
