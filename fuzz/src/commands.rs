//! Whole commands, in process: nothing is written, and nothing takes long.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use attn::cli::{Env, Streams, run};
use attn::input::WritePermission;
use attn::lesson::CommandOutput;

use super::assert_fit_for_a_terminal;
use super::bytes::pieces;

/// No whole number in an argument is larger: sizes, seeds, widths.
const LARGEST: u64 = 200;
const MOST_ARGUMENTS: usize = 40;

/// A command: a line for each argument; behind a line of `--` between line ends, standard input.
pub fn cli(bytes: &[u8]) {
    let parts = pieces(bytes);
    let (typed, input) = (parts[0], parts.get(1).copied().unwrap_or_default());
    let lines = typed.strip_suffix(b"\n").unwrap_or(typed).split(|&byte| byte == b'\n');
    let args: Vec<OsString> = lines.map(|line| OsString::from_vec(line.to_vec())).collect();
    if !is_harmless(&args) {
        return;
    }
    let first = ran(&args, input);
    if !args.iter().any(|arg| arg == "bench") {
        assert_eq!(first, ran(&args, input), "the same command prints something else");
    }
}

/// The exit code of a command and what it prints.
fn ran(args: &[OsString], input: &[u8]) -> (u8, String, String) {
    let CommandOutput { code, out, err, .. } = output(args, input);
    (code, out, err)
}

/// What a command leaves behind; its exit code is one of three, and what it prints is fit for a terminal.
pub fn output(args: &[OsString], input: &[u8]) -> CommandOutput {
    let env = Env { writing: WritePermission::Refused, ..Env::default() };
    let (mut out, mut err, mut input) = (Vec::new(), Vec::new(), input);
    let outcome = run(args, &env, &mut Streams { input: &mut input, out: &mut out, err: &mut err });
    let code = outcome.code;
    assert!(code <= 2, "attn {args:?} ends with {code}");
    let [out, err] = [out, err].map(|bytes| String::from_utf8(bytes).expect("what is printed is UTF-8"));
    let asked = |what: &str| args.iter().any(|arg| arg.to_string_lossy().contains(what));
    if !asked("color") {
        // Data keeps a label as it is.
        if !asked("csv") {
            assert_fit_for_a_terminal(&out);
        }
        assert_fit_for_a_terminal(&err);
    }
    CommandOutput { code, out, err, graphs: outcome.graphs.into_iter().map(Arc::new).collect() }
}

/// Whether a command writes no file, reads none outside this folder, and ends soon.
pub fn is_harmless(args: &[OsString]) -> bool {
    let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let small = args.iter().all(|arg| is_small(arg));
    let near = args.iter().all(|arg| !arg.contains("..") && !reaches_the_root(arg));
    // The commands of `lesson` write where they are told to: `new` and `update` always, others with -o.
    let writes = |arg: &str| {
        ["new", "update"].contains(&arg)
            || arg.starts_with("--o")
            || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('o')
    };
    let writes = has("lesson") && args.iter().any(|arg| writes(arg)) || has("demo") && has("new");
    // Without these two it measures for twenty seconds.
    let is_short = !has("bench") || has("--seconds=0.01") && has("--n=16");
    args.len() <= MOST_ARGUMENTS && small && near && !writes && is_short
}

/// Whether no whole number in a text is large.
pub fn is_small(text: &str) -> bool {
    whole_numbers(text).all(|number| number <= LARGEST)
}

/// The whole numbers in a text, without those that have a point or an exponent.
fn whole_numbers(text: &str) -> impl Iterator<Item = u64> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|word| word.parse().unwrap_or(u64::MAX))
}

/// Whether a `/` in it stands behind nothing, or behind something that is no part of a name.
fn reaches_the_root(text: &str) -> bool {
    let mut before = None;
    text.chars().any(|c| {
        let is_root = c == '/' && !before.is_some_and(char::is_alphanumeric);
        before = Some(c);
        is_root
    })
}

/// A file through the commands that read one: a configuration through `params`, numbers through the others.
pub fn through_the_program(path: &str, is_config: bool) {
    let params = [&["params", path][..]];
    let numbers = [
        &["attend", path][..],
        &["attend", "--x", path, "--fast", "--only", "O"],
        &["diagnose", "--x", "1 2; 3 4", "--got", path],
    ];
    for line in if is_config { &params[..] } else { &numbers[..] } {
        let args: Vec<OsString> = line.iter().map(OsString::from).collect();
        ran(&args, &[]);
    }
}
