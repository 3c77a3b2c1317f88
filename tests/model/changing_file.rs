//! A file that is changed while the program computes with it: an error or the right result, and never a signal.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::common::one_in;
use crate::model::broken_folders::WEIGHTS;
use crate::model::zeros::zeros;

const POSITIONS: usize = 16;

fn model() -> TempDir {
    zeros(POSITIONS)
}

fn opened(path: &Path) -> fs::File {
    fs::OpenOptions::new().write(true).open(path).unwrap()
}

/// Runs the program, and does something to the folder while it runs.
fn run(folder: &Path, delay: Duration, change: impl FnOnce()) -> Output {
    let ids = vec!["1"; POSITIONS].join(",");
    let child = Command::new(env!("CARGO_BIN_EXE_attn"))
        .arg("model")
        .arg(folder)
        .args(["--ids", &ids, "--dtype", "f64"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(delay);
    change();
    child.wait_with_output().unwrap()
}

/// Changes the file later and later, until the program was in the middle of it. Every other end is one of the two right ones:
/// it found the file as it was and had finished, or it found the file damaged from the beginning.
fn assert_found(folder: &TempDir, change: impl Fn(&Path), restore: impl Fn(&Path)) {
    let path = folder.path().join(WEIGHTS);
    let mut ends = Vec::new();
    for power in 0..12 {
        let output = run(folder.path(), Duration::from_millis(8 << power), || change(&path));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        restore(&path);
        match output.status.code() {
            Some(2) if error.contains("model.safetensors: the file changed while it was in use") => {
                assert!(output.stdout.is_empty() && error.contains("help: "), "{error}");
                return;
            }
            Some(2) if error.contains("model.safetensors: ") && output.stdout.is_empty() => {
                ends.push("damaged from the beginning")
            }
            Some(0) if error.is_empty() => ends.push("finished before"),
            _ => panic!("after {ends:?}: {}\n{error}", output.status),
        }
    }
    panic!("the program was never in the middle of the file: {ends:?}");
}

#[test]
fn a_file_that_shrinks_while_the_program_computes_is_an_error() {
    let folder = model();
    let length = fs::metadata(folder.path().join(WEIGHTS)).unwrap().len();
    let resized = |length: u64| move |path: &Path| opened(path).set_len(length).unwrap();
    assert_found(&folder, resized(length / 2), resized(length));
    assert_found(&folder, resized(0), |path| {
        let whole = model();
        fs::copy(whole.path().join(WEIGHTS), path).unwrap();
    });
}

#[test]
fn a_file_whose_numbers_change_is_an_error() {
    let folder = model();
    let write = |path: &Path, byte: u8, seconds: u64| {
        let mut file = opened(path);
        file.seek(SeekFrom::End(-1)).unwrap();
        file.write_all(&[byte]).unwrap();
        // A clock that ticks slowly may give both versions the same time.
        file.set_modified(SystemTime::now() + Duration::from_secs(seconds)).unwrap();
    };
    assert_found(&folder, |path| write(path, 1, 9), |path| write(path, 0, 0));
}

#[cfg(unix)]
#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_file_that_is_replaced_by_another_stays_as_it_was_opened() {
    let folder = model();
    let path = folder.path().join(WEIGHTS);
    let expected = run(folder.path(), Duration::ZERO, || ());
    assert!(expected.status.success());
    for power in (0..8).step_by(one_in(4)) {
        // The new file has the same numbers, so that it does not matter which of them is opened.
        let new = model();
        let moved = folder.path().join("new");
        fs::copy(new.path().join(WEIGHTS), &moved).unwrap();
        let output =
            run(folder.path(), Duration::from_millis(8 << power), || fs::rename(&moved, &path).unwrap());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, expected.stdout);
    }
}
