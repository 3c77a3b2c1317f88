//! Saving: a file is there whole or not at all, and is the one that was named.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

const ATTN: &str = env!("CARGO_BIN_EXE_attn");

fn saved(folder: &Path, savings: &[&str]) -> (i32, String) {
    let mut args = vec!["attend", "--random", "2,2", "--only", "O"];
    args.extend(savings.iter().flat_map(|saving| ["--save", saving]));
    let Output { status, stderr, .. } = Command::new(ATTN).args(args).current_dir(folder).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn through_a_link_that_leads_nowhere_its_end_is_written_and_a_loop_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    symlink("deep/second.npy", at("first.npy")).unwrap();
    symlink("end.npy", at("deep/second.npy")).unwrap();
    assert_eq!(saved(place.path(), &["O=first.npy"]).0, 0);
    assert!(fs::symlink_metadata(at("first.npy")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(at("deep/second.npy")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(at("deep/end.npy")).unwrap().is_file());
    symlink("b.npy", at("a.npy")).unwrap();
    symlink("a.npy", at("b.npy")).unwrap();
    let (code, said) = saved(place.path(), &["O=a.npy"]);
    assert!(
        code == 2 && said.contains("a.npy: the file cannot be written: the link leads back to itself"),
        "{said}"
    );
    assert!(fs::symlink_metadata(at("a.npy")).unwrap().is_symlink());
}

#[test]
fn two_savings_to_one_file_are_refused_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    symlink("t.npy", place.path().join("l.npy")).unwrap();
    for second in ["A=t.npy", "A=./t.npy", "A=l.npy"] {
        let (code, said) = saved(place.path(), &["O=t.npy", second]);
        assert!(code == 2 && said.contains("two --save options write this file"), "{said}");
        assert!(!place.path().join("t.npy").exists());
    }
    assert_eq!(saved(place.path(), &["O=o.npy", "A=a.npy"]).0, 0);
}

#[test]
fn a_replaced_file_keeps_who_may_read_it_and_takes_on_no_rights_of_its_owner() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("o.npy");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o6640)).unwrap();
    assert_eq!(saved(place.path(), &["O=o.npy"]).0, 0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
}

#[test]
fn a_full_disk_is_said_once_in_every_format_and_nothing_is_left() {
    for ending in ["npy", "npz", "safetensors", "csv", "tsv", "json"] {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(format!("o.{ending}")), "old").unwrap();
        // A file of more than a few kilobytes meets the limit as it would meet the end of the disk.
        let script = format!(
            "trap '' 25; ulimit -f 4; exec {ATTN} attend --random 90,90 --only O --save O=o.{ending}"
        );
        let run = Command::new("sh").args(["-c", &script]).current_dir(place.path()).output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2), "{ending}: {said}");
        assert!(said.starts_with(&format!("error: o.{ending}: the file cannot be written: ")), "{said}");
        assert_eq!(said.lines().count(), 2, "{said}");
        let left: Vec<_> =
            fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [format!("o.{ending}").as_str()]);
        assert_eq!(fs::read(place.path().join(format!("o.{ending}"))).unwrap(), b"old");
    }
}
