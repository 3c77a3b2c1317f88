//! Memory: what a command takes is estimated before it is allocated, and refused with a message instead of an abort.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::common::{attn, one_in};

/// Runs the program with so many kibibytes of address space.
fn within(kibibytes: u64, args: &[&str]) -> Output {
    let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_attn")]).args(args);
    command.env_remove("ATTN_MEMORY").output().expect("a shell runs")
}

#[track_caller]
fn assert_refused_for_memory(kibibytes: u64, args: &[&str]) {
    let output = within(kibibytes, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?} in {kibibytes} KiB: {said}");
    assert!(said.starts_with("error: ") && said.contains("--memory "), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
}

/// The header of a `.npy` file of `f4`.
fn header(rows: u64, cols: u64) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    header.push_str(&" ".repeat(117 - header.len()));
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), b"\n"].concat()
}

/// A `.npy` file of zeros that takes no room on the disk.
fn sparse(path: &Path, rows: u64, cols: u64) {
    let mut file = fs::File::create(path).unwrap();
    let header = header(rows, cols);
    file.write_all(&header).unwrap();
    file.set_len(header.len() as u64 + 4 * rows * cols).unwrap();
}

/// An `.npz` file of zeros, packed to a thousandth.
fn packed(path: &Path, rows: u64, cols: u64) {
    let mut zip = ZipWriter::new(fs::File::create(path).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("X.npy", options.compression_level(Some(1))).unwrap();
    zip.write_all(&header(rows, cols)).unwrap();
    let row = vec![0; 4 * cols as usize];
    (0..rows).for_each(|_| zip.write_all(&row).unwrap());
    zip.finish().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "seconds: .ci/run runs it"]
fn arrays_beyond_the_memory_limit_of_the_process_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    sparse(&path("large.npy"), 1000, 4_000_000);
    packed(&path("bomb.npz"), 1000, 60_000);
    let (large, bomb) = (path("large.npy"), path("bomb.npz"));
    let fast = |file: &Path, kibibytes: u64| {
        let file = file.to_str().unwrap();
        let args = ["attend", "--q", file, "--k", file, "--v", file, "--fast", "--only", "LSE"];
        assert_refused_for_memory(kibibytes, &args);
    };
    for kibibytes in [500_000, 1_000_000, 2_000_000] {
        fast(&large, kibibytes);
        assert_refused_for_memory(
            kibibytes,
            &["bench", "--n", "700000", "--n-q", "1", "--heads", "8", "--dim", "128"],
        );
    }
    fast(&bomb, 500_000);
}

#[cfg(target_os = "linux")]
#[test]
fn text_that_the_limits_of_the_process_have_no_room_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("line.csv");
    fs::write(&csv, "1,".repeat(19_999_990) + "1\n").unwrap();
    assert_refused_for_memory(500_000, &["attend", "--x", csv.to_str().unwrap()]);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_byte_of_text_costs_at_most_twelve_bytes_of_memory() {
    // What the program takes without a file, in KiB: its own code, which is not optimised here, and small matrices.
    let typed = ["attend", "--q", "1 2", "--k", "1 2 3", "--v", "1", "--fast"];
    let runs = |limit: &u64| {
        let said = within(*limit, &typed).stderr;
        String::from_utf8_lossy(&said).contains("cannot be compared with a key of width 3")
    };
    let alone = (16..64).map(|mebibytes| mebibytes << 10).find(runs).expect("the program runs");
    let folder = tempfile::tempdir().unwrap();
    let many = 1_500_000;
    for (name, text) in [
        ("line.csv", "1,".repeat(many) + "1\n"),
        ("lines.csv", "1,2,3,4\n".repeat(many / 4)),
        ("blanks.txt", "1 ".repeat(many) + "1\n"),
        ("padded.txt", " ".repeat(2 * many) + "1 1\n"),
        ("list.json", format!("[{}1]", "1,".repeat(many))),
        ("rows.json", format!("[{}[1,2]]", "[1,2],".repeat(many / 3))),
        ("printed.txt", format!("array([{}[1, 2]])", "[1, 2], ".repeat(many / 4))),
    ]
    .into_iter()
    .step_by(one_in(4))
    {
        let file = folder.path().join(name);
        fs::write(&file, &text).unwrap();
        let file = file.to_str().unwrap();
        // The estimate is out of the way: what is really allocated has to fit.
        let args = ["attend", "--q", file, "--k", "1 2 3", "--v", "1", "--fast", "--memory", "100G"];
        let output = within(alone + 12 * text.len() as u64 / 1024, &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot be compared with a key of width 3"), "{name}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "seconds: .ci/run runs it"]
fn what_the_estimate_does_not_see_is_refused_as_well_and_no_abort() {
    let folder = tempfile::tempdir().unwrap();
    let many = 2_000_000;
    // The program itself, when it is not optimised, may fill this limit: what a small matrix needs.
    let starts = |kibibytes: &u64| within(*kibibytes, &["attend", "--x", "1 2"]).status.success();
    let limit = (32..64).map(|mebibytes| mebibytes << 10).find(starts).expect("the program starts");
    for (name, text) in [
        ("line.csv", "1,".repeat(many) + "1\n"),
        ("list.json", format!("[{}1]", "1,".repeat(many))),
        ("rows.json", format!("[{}[1,2]]", "[1,2],".repeat(many / 2))),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        assert_refused_for_memory(limit, &["attend", "--x", file.to_str().unwrap(), "--memory", "100G"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_tokenizer_that_the_limits_of_the_process_have_no_room_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let run = |kibibytes: u64, model: String| {
        fs::write(&path, format!(r#"{{"model": {{{model}}}}}"#)).unwrap();
        assert_refused_for_memory(kibibytes, &["tokens", path.to_str().unwrap(), "bat"]);
    };
    // Objects of one entry, which take the room of three; words that share no beginning, each letter of which is a node.
    let objects: Vec<String> = (0..300_000).map(|id| format!(r#""w{id}":{{"a":{{"b":1}}}}"#)).collect();
    run(200_000, format!(r#""type": "BPE", "merges": [], "vocab": {{{}}}"#, objects.join(",")));
    let pieces: Vec<String> = (0..60_000u64)
        .map(|id| format!(r#"["{:016x}",-1]"#, id.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    run(200_000, format!(r#""type": "Unigram", "unk_id": 0, "vocab": [{}]"#, pieces.join(",")));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_lesson_of_many_long_outputs_takes_no_more_memory_than_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let lesson = folder.path().join("long.md");
    let block = |seed: usize| {
        format!("```console\n$ attn attend --random 1000,2 --seed {seed} --only A --format csv\n\n```\n\n")
    };
    let count = 16;
    let blocks: String = (0..count).map(block).collect();
    fs::write(&lesson, format!("---\nattn-lesson: 1\ntitle: Long\n---\n\n## All\n\n{blocks}")).unwrap();
    let output = within(350_000, &["lesson", "check", lesson.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.matches("there is more to print than 16 MiB").count(), count, "{said}");
}

#[test]
fn memory_sets_what_a_command_may_take_and_changes_no_output() {
    let command = "attend --random 900,3 --only O --format csv";
    let usual = attn(command).ok();
    for allowed in ["64M", "0.5G", "67108864"] {
        assert_eq!(attn(&format!("{command} --memory {allowed}")).ok().out, usual.out);
    }
    attn(&format!("{command} --memory 10M"))
        .refused(&["of memory, but at most 10.0 MiB may be used here", "allow more: --memory 32M"]);
    attn("model words 'the bat' --memory 1K").refused(&["allow more: --memory 32M"]);
    attn("bench --n 100000 --memory 100M").refused(&["but at most 100 MiB may be used here", "--memory 2G"]);
    attn(&format!("{command} --memory 10Q")).refused(&["write a size such as 500M or 2G"]);
    attn(&format!("{command} --memory 0")).refused(&["write a size such as 500M or 2G"]);
}

#[test]
fn attn_memory_stands_for_the_option_and_the_option_wins() {
    let run = |value: &str, more: &[&str]| {
        let args = [&["attend", "--random", "900,3", "--only", "O", "--format", "csv"], more].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
        command.args(args).env("ATTN_MEMORY", value).output().unwrap()
    };
    let refused = run("10M", &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--memory"));
    assert_eq!(run("10M", &["--memory", "1G"]).status.code(), Some(0));
    let wrong = run("much", &[]);
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("error: ATTN_MEMORY: "));
}

#[test]
fn a_folder_of_many_files_is_judged_in_the_memory_of_one() {
    let folder = tempfile::tempdir().unwrap();
    // Each takes a hundredth of a MiB while it is read, all together more than is allowed.
    let padding = " ".repeat(200_000);
    for i in 0..40 {
        fs::write(folder.path().join(format!("{i}.csv")), format!("1,0\n0,1\n# {padding}\n")).unwrap();
    }
    let batch = folder.path().to_str().unwrap().to_string();
    let outcome = attn("diagnose --x '1 0; 0 1' --memory 20M --format csv --batch").arg(batch).run();
    assert!(!outcome.out.contains("unusable") && outcome.out.lines().count() > 40, "{outcome:?}");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn texts_configurations_and_computations_are_read_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    fs::write(path("long.txt"), "the bat sleeps in the cave . ".repeat(100_000)).unwrap();
    fs::write(path("pairs.txt"), (0..100_000).map(|i| format!("{i} → {}\n", i % 7)).collect::<String>())
        .unwrap();
    let refused = |line: String| attn(&line).refused(&["of memory, but at most", "--memory "]);
    refused(format!("learn --text {} --steps 1 --memory 3M", path("long.txt")));
    refused(format!("learn --pairs {} --steps 1 --memory 3M", path("pairs.txt")));
    attn(&format!("learn --text {} --steps 1 --memory 40M --format csv", path("long.txt"))).ok();
    attn(&format!("learn --pairs {} --steps 1 --memory 40M --format csv", path("pairs.txt"))).ok();
    // A list of numbers takes 36 times its text as a tree.
    let numbers = |count: usize| format!("[{}1]", "1,".repeat(count));
    fs::write(path("config.json"), format!(r#"{{"model_type": "gpt2", "x": {}}}"#, numbers(1_000_000)))
        .unwrap();
    refused(format!("params {} --memory 50M", path("config.json")));
    fs::write(path("config.json"), format!(r#"{{"model_type": "gpt2", "x": "{}"}}"#, "a".repeat(17 << 20)))
        .unwrap();
    attn(&format!("params {}", path("config.json"))).refused(&["a configuration has at most 16 MiB"]);
    fs::write(path("tokenizer.json"), format!(r#"{{"model": {{"vocab": {}}}}}"#, numbers(1_000_000)))
        .unwrap();
    refused(format!("tokens {} bat --memory 50M", path("tokenizer.json")));
    // Fields that nobody knows take no memory; those of a node do.
    let graph = attn("demo mask --format json").ok().out;
    let with = |graph: &str, place: &str| {
        graph.replacen(place, &format!("{place} \"x\": {},", numbers(1_000_000)), 1)
    };
    let (document, params) = (with(&graph, "{"), with(&graph, "\"params\":{"));
    assert!(document.len() > 2_000_000 && params.len() > 2_000_000);
    fs::write(path("graph.json"), document).unwrap();
    fs::write(path("q"), "q\n").unwrap();
    let explore = format!("explore {} --plain --play {} --memory 50M", path("graph.json"), path("q"));
    attn(&explore).ok();
    fs::write(path("graph.json"), params).unwrap();
    refused(explore);
}
