//! The `attn` command: surroundings, standard streams and the exit code around [`attn::cli::run`].

use std::io::{self, BufWriter};
use std::process::ExitCode;

use attn::cli::{Env, Streams, run, settle};

fn main() -> ExitCode {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut streams =
        Streams { input: &mut io::stdin().lock(), out: &mut out, err: &mut io::stderr().lock() };
    let outcome = run(std::env::args_os().skip(1), &Env::of_process(), &mut streams);
    settle();
    ExitCode::from(outcome.code)
}
