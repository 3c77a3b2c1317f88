//! Every kind of broken folder, through the program: exit code 2, one error that names what, where and what to do, within little
//! memory.

mod configuration;
mod folders;
mod rotary;
mod tensors;
mod tokenizers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The address space of the program, in KiB: far below what lying sizes ask for.
const MOST_MEMORY: u32 = 700_000;

/// A folder, and the words of its error.
struct Case {
    kind: &'static str,
    folder: TempDir,
    /// Where the command is not about the folder itself.
    path: Option<PathBuf>,
    args: Vec<String>,
    words: Vec<String>,
}

impl Case {
    fn of_args(mut self, args: &[&str]) -> Case {
        self.args = args.iter().map(|arg| arg.to_string()).collect();
        self
    }

    fn of_text(self, text: &str) -> Case {
        self.of_args(&[text])
    }

    fn of_ids(self, ids: &str) -> Case {
        self.of_args(&["--ids", ids])
    }

    fn at(mut self, file: &str) -> Case {
        self.path = Some(self.folder.path().join(file));
        self
    }
}

/// A case with the words of its error.
fn case(kind: &'static str, folder: TempDir, words: &[&str]) -> Case {
    let words = words.iter().map(|word| word.to_string()).collect();
    Case { kind, folder, path: None, args: Vec::new(), words }.of_ids("1,2,3")
}

/// Runs the program with little memory, where the system can set a limit.
fn run(path: &Path, args: &[String]) -> Output {
    let program = env!("CARGO_BIN_EXE_attn");
    let mut command = if cfg!(target_os = "linux") {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -v {MOST_MEMORY} && exec \"$0\" \"$@\"")).arg(program);
        shell
    } else {
        Command::new(program)
    };
    command.arg("model").arg(path).args(args).output().unwrap()
}

/// What is wrong with the answer to a case; `None` if it is right.
fn fault(case: &Case) -> Option<String> {
    let path = case.path.as_deref().unwrap_or(case.folder.path());
    let output = run(path, &case.args);
    let said = String::from_utf8(output.stderr).unwrap();
    let said = said.replace(case.folder.path().to_str().unwrap(), "FOLDER");
    let fault = if output.status.code() != Some(2) {
        format!("ended with {}", output.status)
    } else if !output.stdout.is_empty() {
        "printed something before it failed".to_string()
    } else if said.matches("error: ").count() != 1 || said.matches("help: ").count() != 1 {
        "is not one error with one help".to_string()
    } else {
        format!("has no `{}`", case.words.iter().find(|word| !said.contains(*word))?)
    };
    Some(format!("{}: {fault}\n{said}", case.kind))
}

#[track_caller]
fn assert_refused(cases: impl IntoIterator<Item = Case>, count: usize) {
    let cases: Vec<Case> = cases.into_iter().collect();
    assert_eq!(cases.len(), count);
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {count}\n{}", faults.len(), faults.join("\n"));
}
