//! A lesson may come from anyone: its commands read what lies below its folder and the working directory, unless it is trusted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const REFUSED: &str = "a lesson reads only files below its own folder";
const SECRET: &str = "7777";

fn lesson(command: &str) -> String {
    format!("---\nattn-lesson: 1\n---\n\n# T\n\n## The step\n\nText.\n\n```console\n$ {command}\n...\n```\n")
}

fn attn(args: &[&str], folder: &Path) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_attn")).args(args).current_dir(folder).output().unwrap();
    String::from_utf8([run.stderr, run.stdout].concat()).unwrap()
}

#[test]
fn only_a_trusted_lesson_reads_files_elsewhere() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for folder in ["home", "home/lessons", "other"] {
        fs::create_dir(at(folder)).unwrap();
    }
    fs::write(at("other/s.csv"), format!("{SECRET},2\n3,4\n")).unwrap();
    fs::write(at("other/v.txt"), format!("bat {SECRET} 2\ncave 1 2\n")).unwrap();
    fs::copy("examples/data/gpt2-config.json", at("other/c.json")).unwrap();
    symlink(at("other"), at("home/lessons/link")).unwrap();
    // A name that begins with a minus sign is read with a hyphen in its place.
    symlink(at("other"), at("home/-link")).unwrap();
    let other = at("other").to_str().unwrap().to_string();
    let file = at("home/lessons/l.md");
    for command in [
        format!("attn attend --x {other}/s.csv --only X"),
        "attn attend --x ../other/s.csv --only X".to_string(),
        "attn attend --x lessons/link/s.csv --only X".to_string(),
        "attn attend --x lessons/link/../s.csv --only X".to_string(),
        "attn attend --x \u{2212}link/s.csv --only X".to_string(),
        format!("attn attend {other}/s.csv"),
        format!("attn attend --random 2,2 --mask {other}/s.csv"),
        format!("attn attend --x {other}/s.csv --only X --fast"),
        format!("attn attend --x {other}/s.csv --versus=--causal"),
        format!("attn attend --x '1 2' --versus='--x {other}/s.csv'"),
        format!("attn attend --words 'bat cave' --embeddings {other}/v.txt --only X"),
        format!("attn similarity bat cave --embeddings {other}/v.txt"),
        format!("attn demo mask --set X={other}/s.csv"),
        format!("attn diagnose --x '1 2' --yours {other}/s.csv"),
        format!("attn diagnose --x '1 2' --yours O={other}/s.csv"),
        format!("attn diagnose --x '1 2' --batch {other}"),
        format!("attn params {other}/c.json"),
        format!("attn params {other}/none.json"),
    ] {
        fs::write(&file, lesson(&command)).unwrap();
        for arguments in [&["play"][..], &["export", "--to", "txt"], &["check"]] {
            let args: Vec<&str> =
                ["lesson"].iter().chain(arguments).copied().chain(["lessons/l.md"]).collect();
            let text = attn(&args, &at("home"));
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(REFUSED) && text.contains("--trust"), "{command}: {text}");
            assert!(!text.contains(SECRET), "{command}: {text}");
        }
        let trusted = attn(&["lesson", "play", "lessons/l.md", "--trust"], &at("home"));
        assert!(!trusted.contains(REFUSED), "{command}: {trusted}");
    }
    // Typed by hand, the same command reads it.
    assert!(attn(&["attend", "--x", &format!("{other}/s.csv"), "--only", "X"], &at("home")).contains(SECRET));
}

#[test]
fn a_lesson_reads_below_its_folder_and_the_working_directory() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for folder in ["lessons/data", "work/data"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    fs::write(at("lessons/data/x.csv"), "1,2\n").unwrap();
    fs::write(at("work/data/y.csv"), "1,2\n").unwrap();
    for name in [
        "../lessons/data/x.csv",
        at("lessons/data/x.csv").to_str().unwrap(),
        "data/y.csv",
        "examples/data/q.csv",
    ] {
        fs::write(at("lessons/l.md"), lesson(&format!("attn attend --x {name} --only X"))).unwrap();
        let text = attn(&["lesson", "play", "../lessons/l.md"], &at("work"));
        assert!(
            !text.contains(REFUSED) && (text.contains("given by") || text.contains("X (")),
            "{name}: {text}"
        );
    }
}
