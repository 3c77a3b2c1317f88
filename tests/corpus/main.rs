//! What some thousands of command lines print: standard output, standard error, the files that they write and the exit code, as
//! hashes. `tests/corpus/README.md` says how to use it. The commands need the shell and the `sed` of Linux.
#![cfg(target_os = "linux")]

#[path = "../common/sweep.rs"]
mod sweep;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sweep::one_in;

/// The sample has every eighth command, and in `cargo test` a sixth of those, without those that train models for seconds.
const SAMPLE: usize = 8;
const SLOW: [&str; 3] = ["9-one-layer", "attn learn", "lesson check walkthroughs"];

/// Longer runs are ended: the exit code is then 124.
const LIMIT: Duration = Duration::from_secs(300);

/// What the commands read; each worker has a copy.
const READ: [&str; 9] = [
    "examples/data",
    "walkthroughs",
    "models",
    "docs",
    "tests/models",
    "tests/input",
    "tests/tokenizers",
    "tests/lessons",
    "tests/saved",
];

/// The golden files whose results are handed in.
const GOLDEN: [&str; 7] = [
    "mistakes",
    "more_mistakes",
    "reviewed_slips",
    "mechanism_slips",
    "coincidences",
    "operators",
    "gradient_slips",
];

/// What one command left behind.
struct Printed {
    code: i32,
    out: String,
    err: String,
}

impl Printed {
    /// The exit code and two hashes, as a line of the record begins.
    fn key(&self) -> String {
        format!("{} {} {}", self.code, hash(&self.out), hash(&self.err))
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts behind the hashes.
fn cache() -> PathBuf {
    std::env::var_os("CORPUS_CACHE").map_or_else(|| project().join("target/corpus"), PathBuf::from)
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else if from.is_file() {
        fs::copy(from, to).unwrap();
    }
}

/// Writes each exercise of the golden files, and each result of it, as a file that a student could hand in.
fn write_submissions(place: &Path) {
    for name in GOLDEN {
        let text = fs::read_to_string(project().join(format!("tests/golden/{name}.json"))).unwrap();
        let golden: Value = serde_json::from_str(&text).unwrap();
        for (at, case) in golden["cases"].as_array().unwrap().iter().enumerate() {
            let folder = place.join(format!("golden/{name}/{:02}", at + 1));
            fs::create_dir_all(folder.join("results")).unwrap();
            let mut inputs = case["inputs"].clone();
            for (from, to) in [("mask", "M"), ("bias", "B")] {
                if let Some(value) = inputs.as_object_mut().unwrap().remove(from) {
                    inputs[to] = value;
                }
            }
            fs::write(folder.join("inputs.json"), inputs.to_string()).unwrap();
            fs::write(folder.join("dO.json"), case["dO"].to_string()).unwrap();
            for (at, wrong) in case["wrong"].as_array().unwrap().iter().enumerate() {
                let result = match wrong["node"].as_str() {
                    Some(node) => json!({ node: wrong["matrix"] }),
                    None => json!({ "O": wrong["O"] }),
                };
                fs::write(folder.join(format!("results/{:04}.json", at + 1)), result.to_string()).unwrap();
            }
        }
    }
}

/// A folder in which commands run: a copy of what they read, and nothing else.
struct Place {
    root: PathBuf,
    work: PathBuf,
    own: Vec<std::ffi::OsString>,
}

impl Place {
    fn new(root: &Path, program: &Path) -> Place {
        let work = root.join("work");
        for name in READ {
            copy(&project().join(name), &work.join(name));
        }
        write_submissions(&work);
        fs::create_dir_all(root.join("bin")).unwrap();
        std::os::unix::fs::symlink(program, root.join("bin/attn")).unwrap();
        let own = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        Place { root: root.to_path_buf(), work, own }
    }

    fn run(&self, line: &str) -> Printed {
        for name in ["home", "state"] {
            let _ = fs::remove_dir_all(self.root.join(name));
            fs::create_dir_all(self.root.join(name)).unwrap();
        }
        let mut child = Command::new("sh")
            .args(["-c", line])
            .current_dir(&self.work)
            .env_clear()
            .env("PATH", format!("{}/bin:/usr/bin:/bin", self.root.display()))
            .env("HOME", self.root.join("home"))
            .env("ATTN_STATE_DIR", self.root.join("state"))
            .envs([("LANG", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "xterm-256color"), ("COLUMNS", "80")])
            .envs([("ATTN_MEMORY", "4G"), ("ATTN_SIMD", "portable")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (out, err, code) = std::thread::scope(|scope| {
            let reader = scope.spawn(move || read(&mut out));
            let errors = scope.spawn(move || read(&mut err));
            let begun = Instant::now();
            let code = loop {
                match child.try_wait().unwrap() {
                    Some(status) => break status.code().unwrap_or(-1),
                    None if begun.elapsed() > LIMIT => {
                        child.kill().unwrap();
                        break 124;
                    }
                    None => std::thread::sleep(Duration::from_millis(2)),
                }
            };
            (reader.join().unwrap(), errors.join().unwrap(), code)
        });
        let out = out + &self.written();
        Printed { code, out: self.fixed(&out), err: self.fixed(&err) }
    }

    /// The files that the command wrote, with their names; they are removed.
    fn written(&self) -> String {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.work).unwrap() {
            let name = entry.unwrap().file_name();
            if !self.own.contains(&name) {
                take(&self.work.join(&name), &name.to_string_lossy(), &mut files);
            }
        }
        let text = |(name, bytes): (String, Vec<u8>)| match String::from_utf8(bytes) {
            Ok(text) => format!("\n=== {name}\n{text}"),
            Err(bytes) => {
                format!("\n=== {name}: bytes {:x?}", Sha256::digest(bytes.as_bytes()).as_slice())
            }
        };
        files.into_iter().map(text).collect()
    }

    /// Without this folder's name, and with a word in place of the program that live pages contain.
    fn fixed(&self, text: &str) -> String {
        let text = text.replace(&*self.root.to_string_lossy(), "HERE");
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        let is_program = |word: &&str| word.len() > 300_000 && word.chars().all(is_base64);
        match text.split(['<', '>']).find(is_program) {
            Some(program) => text.replace(program, "PROGRAM"),
            None => text,
        }
    }
}

fn read(from: &mut dyn Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a file, or all files of a folder, and removes them. How an archive is deflated differs between processors: what is in it
/// counts.
fn take(path: &Path, name: &str, into: &mut BTreeMap<String, Vec<u8>>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let inner = entry.unwrap().file_name();
            take(&path.join(&inner), &format!("{name}/{}", inner.to_string_lossy()), into);
        }
        fs::remove_dir_all(path).unwrap();
        return;
    }
    if name.ends_with(".npz") {
        let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
        for at in 0..archive.len() {
            let mut entry = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            into.insert(format!("{name}/{}", entry.name().unwrap()), bytes);
        }
    } else {
        into.insert(name.to_string(), fs::read(path).unwrap());
    }
    fs::remove_file(path).unwrap();
}

/// The lines of the record: what was printed, and the command.
fn record() -> Vec<(String, String)> {
    let text = fs::read_to_string(project().join("tests/corpus/record.txt")).unwrap();
    let line = |line: &str| {
        let mut parts = line.splitn(4, ' ');
        let mut next = || parts.next().unwrap().to_string();
        (format!("{} {} {}", next(), next(), next()), next())
    };
    text.lines().map(line).collect()
}

/// Runs commands on all cores; the results in their order.
fn run_all(commands: &[&str]) -> Vec<Printed> {
    let program = std::env::var_os("ATTN").map_or_else(|| env!("CARGO_BIN_EXE_attn").into(), PathBuf::from);
    let place = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(HashMap::new());
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let root = place.path().join(worker.to_string());
            let (next, results, program) = (&next, &results, &program);
            scope.spawn(move || {
                let place = Place::new(&root, program);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(command) = commands.get(at) else { break };
                    let printed = place.run(command);
                    results.lock().unwrap().insert(at, printed);
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    (0..commands.len()).map(|at| results.remove(&at).unwrap()).collect()
}

/// Keeps a text under its hash.
fn keep(text: &str) {
    let path = cache().join(hash(text));
    if !path.exists() {
        fs::create_dir_all(cache()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// What differs between a text of the record and the present one, as far as the cache has the old one.
fn difference(was: &str, is: &str) -> String {
    keep(is);
    match fs::read(cache().join(was)) {
        Err(_) => format!("  was {was}, which the cache {} does not have", cache().display()),
        Ok(_) => {
            let run =
                Command::new("diff").arg("-U1").arg(cache().join(was)).arg(cache().join(hash(is))).output();
            let said = run.map(|run| String::from_utf8_lossy(&run.stdout).into_owned()).unwrap_or_default();
            said.lines().skip(2).take(30).map(|line| format!("  {:.200}\n", line)).collect()
        }
    }
}

fn compare(record: &[(String, String)]) {
    let only = std::env::var("CORPUS_ONLY").unwrap_or_default();
    let chosen: Vec<&(String, String)> =
        record.iter().filter(|(_, command)| command.contains(&only)).collect();
    assert!(!chosen.is_empty(), "no command of the record has `{only}` in it");
    let commands: Vec<&str> = chosen.iter().map(|(_, command)| command.as_str()).collect();
    let mut report = String::new();
    let mut differing = 0;
    for ((was, command), is) in chosen.iter().zip(run_all(&commands)) {
        if *was == is.key() {
            continue;
        }
        differing += 1;
        report += &format!("\n{command}\n");
        let parts: Vec<&str> = was.split(' ').collect();
        if parts[0] != is.code.to_string() {
            report += &format!("  exit code {}, was {}\n", is.code, parts[0]);
        }
        for (was, is) in [(parts[1], &is.out), (parts[2], &is.err)] {
            if was != hash(is) {
                report += &difference(was, is);
            }
        }
    }
    assert!(differing == 0, "{differing} of {} commands print something else:\n{report}", commands.len());
}

#[test]
fn a_sample_of_the_commands_prints_what_it_printed() {
    let is_slow = |command: &str| SLOW.iter().any(|words| command.contains(words));
    let quick: Vec<_> = record().into_iter().filter(|(_, command)| !is_slow(command)).collect();
    compare(&quick.into_iter().step_by(SAMPLE * one_in(6)).collect::<Vec<_>>());
}

#[test]
#[ignore = "takes minutes; `tests/corpus/corpus all`"]
fn every_command_prints_what_it_printed() {
    compare(&record());
}

/// Writes the record again, and keeps the texts in the cache.
#[test]
#[ignore = "writes tests/corpus/record.txt; `tests/corpus/corpus record`"]
fn write_the_record() {
    let commands =
        fs::read_to_string(std::env::var_os("CORPUS_COMMANDS").expect("a file of commands")).unwrap();
    let commands: Vec<&str> = commands.lines().collect();
    let mut lines = String::new();
    for (command, printed) in commands.iter().zip(run_all(&commands)) {
        keep(&printed.out);
        keep(&printed.err);
        lines += &format!("{} {command}\n", printed.key());
    }
    fs::write(project().join("tests/corpus/record.txt"), lines).unwrap();
}
