//! Bad input on the real binary: exit code 2, a message, nothing on standard output, and little memory.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

fn attn(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attn")).args(args).output().expect("the binary runs")
}

/// Runs with at most 2 GB of address space, so that memory on a header's word would end the process.
fn attn_in_little_memory(args: &[&str]) -> Output {
    let script = "ulimit -v 2000000 2>/dev/null; exec \"$0\" \"$@\"";
    Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_attn")])
        .args(args)
        .output()
        .expect("a shell runs")
}

#[track_caller]
fn assert_refused(output: &Output, what: &str) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {err}");
    assert!(err.starts_with("error: ") && !err.contains("panicked"), "{what}: {err}");
    assert!(output.stdout.is_empty(), "{what} printed something");
}

/// A .npy file of the given shape whose numbers are all ones, or absent.
fn npy(folder: &TempDir, name: &str, rows: u64, cols: u64, with_data: bool) -> PathBuf {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    if with_data {
        for _ in 0..rows * cols {
            bytes.extend(1.0_f64.to_le_bytes());
        }
    }
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("written");
    path
}

fn file(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).expect("written");
    path
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = "[".repeat(1_000_000);
    let files = [
        file(&folder, "empty.csv", b""),
        file(&folder, "ragged.csv", b"1,2\n3\n"),
        file(&folder, "text.csv", b"1,2\n3,abc\n"),
        file(&folder, "nan.csv", b"1,nan\n"),
        file(&folder, "latin1.csv", b"a\xe9,b\n1,2\n"),
        file(&folder, "empty.npy", b""),
        file(&folder, "cut.npz", b"PK\x03\x04\x14\x00"),
        file(&folder, "cut.safetensors", &[255; 9]),
        file(&folder, "deep.json", deep.as_bytes()),
        file(&folder, "broken.json", b"{\"X\": [[1, 2], [3"),
        npy(&folder, "huge.npy", 1 << 62, 1 << 62, false),
        npy(&folder, "absent.npy", 1000, 1000, false),
        folder.path().to_path_buf(),
        folder.path().join("nowhere.csv"),
    ];
    for path in &files {
        let path = path.to_str().expect("UTF-8");
        assert_refused(&attn_in_little_memory(&["attend", "--x", path]), path);
        assert_refused(&attn_in_little_memory(&["demo", "mask", "--set", &format!("X={path}")]), path);
    }
}

#[test]
fn decimal_commas_are_told_or_refused_and_never_taken_for_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, numbers) in [
        ("one.csv", "1,5;2\n", Some("1.5,2\n")),
        ("two.csv", "1,5;2\n2,5;3\n", Some("1.5,2\n2.5,3\n")),
        ("quoted.csv", "\"1,5\",\"2\"\n\"3\",\"4\"\n", Some("1.5,2\n3,4\n")),
        ("half.csv", "\"1,5\",2\n\"3,5\",4\n", None),
        ("blanks.csv", "1,5 2,5\n", None),
    ] {
        let path = file(&folder, name, text.as_bytes());
        let output =
            attn(&["attend", "--x", path.to_str().expect("UTF-8"), "--only", "X", "--format", "csv"]);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match numbers {
            Some(numbers) => {
                assert_eq!(out, numbers, "{name}: {err}");
                assert!(err.contains("decimal commas"), "{name}: {err}");
            }
            // In quotation marks beside numbers without them it is a name.
            None if name == "half.csv" => assert_eq!(out, "\"1,5\",2\n\"3,5\",4\n", "{err}"),
            None => {
                assert_refused(&output, name);
                assert!(err.contains("write a decimal point"), "{name}: {err}");
            }
        }
    }
}

#[test]
fn what_would_be_made_to_fit_a_wide_matrix_is_counted_before_it_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let wide = npy(&folder, "wide.npy", 1, 30_000, true);
    let wide = wide.to_str().expect("UTF-8");
    let tall = npy(&folder, "tall.npy", 100_000, 1, true);
    let tall = tall.to_str().expect("UTF-8");
    assert_refused(&attn_in_little_memory(&["attend", "--x", wide]), "an identity of 30000×30000");
    for demo in ["left", "mask", "interact", "qkv"] {
        for file in [wide, tall] {
            let set = format!("X={file}");
            assert_refused(&attn_in_little_memory(&["demo", demo, "--set", &set]), demo);
        }
    }
    assert_refused(
        &attn_in_little_memory(&["attend", "--q", tall, "--k", tall, "--v", tall]),
        "scores of 100000×100000",
    );
}

#[test]
fn options_without_a_sense_are_refused() {
    for args in [
        &["attend", "--random", "2,2", "--layout", "out-in"][..],
        &["attend", "--random", "2,2", "--causal-from", "start"],
        &["attend", "--words", "bat cave", "--tokens", "a,b"],
        &["demo", "--seed", "3"],
        &["demo", "context", "--seed", "3"],
        &["params", "--context", "5"],
        &["notation", "--format", "numpy"],
        &["attend", "--random", "9000,9000"],
        &["demo", "mask", "--set", "X=inf 1; 1 1"],
    ] {
        assert_refused(&attn(args), &args.join(" "));
    }
}

#[test]
fn colour_as_asked_for_holds_for_errors_too() {
    let coloured = attn(&["demo", "maks", "--color", "always"]);
    assert!(String::from_utf8_lossy(&coloured.stderr).contains("\x1b["));
    let plain = attn(&["demo", "--color=never", "--nonsense"]);
    assert!(!String::from_utf8_lossy(&plain.stderr).contains("\x1b["));
}
