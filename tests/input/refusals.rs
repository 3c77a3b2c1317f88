//! What nobody should have to wait for: every bad input ends in an error that names it, never in a panic, a hang or
//! memory that a header asked for.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{attn, one_in};
use attn::input::{Files, LayerOptions, ReadOptions};
use attn::read::AllowedNumbers;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The error for a file, from a thread that must come to an end.
#[track_caller]
fn refused(path: &Path) -> String {
    let path = path.to_str().unwrap().to_string();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let said = |result: attn::error::Result<()>| match result {
            Ok(()) => "read without an error".to_string(),
            Err(error) => error.to_string(),
        };
        let array = Files::new(&mut std::io::empty()).array(&path, AllowedNumbers::ANYTHING).map(drop);
        let bundle = Files::new(&mut std::io::empty())
            .bundle(&path, LayerOptions::default(), ReadOptions::default())
            .map(drop);
        let text = Files::new(&mut std::io::empty()).word_vectors(&path, &["bat"]).map(drop);
        let _ = sender.send([said(array), said(bundle), said(text)]);
    });
    let [array, bundle, words] = receiver.recv_timeout(Duration::from_secs(60)).expect("still reading");
    for said in [&array, &bundle, &words] {
        assert_ne!(said, "read without an error", "{array}\n{bundle}\n{words}");
    }
    array
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

#[track_caller]
fn assert_said(said: &str, expected: &str) {
    assert!(said.contains(expected), "{said}");
}

#[test]
fn empty_files_are_refused_in_every_format() {
    let folder = Folder::new();
    for ending in ["npy", "npz", "safetensors", "csv", "tsv", "txt", "json"] {
        assert_said(&refused(&folder.file(&format!("x.{ending}"), b"")), "the file is empty (0 bytes)");
    }
}

#[test]
fn text_and_ragged_rows_are_refused_with_their_line() {
    let folder = Folder::new();
    assert_said(
        &refused(&folder.file("scores.csv", b"1,2\n3,4\n5,x\n")),
        "scores.csv:3:3: `x` is not a number",
    );
    assert_said(
        &refused(&folder.file("scores.csv", b"1,2\n3\n")),
        "scores.csv:2:1: this line has 1 number, but line 1 has 2",
    );
    assert_said(&refused(&folder.file("x.tsv", b"1\t2\n3\t\n")), "x.tsv:2:3: a number is missing");
    assert_said(
        &refused(&folder.file("x.json", b"[[1, 2],\n[3],\n[4, 5]]")),
        "x.json:2:3: row 2 has 1 numbers",
    );
    assert_said(&refused(&folder.file("x.csv", b"1,2\n3,\xff\n")), "x.csv:2:3: this is not UTF-8");
    assert_said(&refused(&folder.file("x.json", b"[\"\xff\"]")), "x.json:1:3: this is not UTF-8");
}

#[test]
fn json_nested_a_million_deep_is_an_error() {
    let folder = Folder::new();
    assert_said(&refused(&folder.file("x.json", "[".repeat(1_000_000).as_bytes())), "recursion limit");
    assert_said(&refused(&folder.file("x.json", "{\"X\":".repeat(1_000_000).as_bytes())), "recursion limit");
}

#[test]
fn a_header_that_claims_2_to_the_62_rows_is_an_error() {
    let folder = Folder::new();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 2), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend([0; 64]);
    assert_said(&refused(&folder.file("x.npy", &npy)), "the shape (4611686018427387904, 2) has more than");
    let npz = archive(&npy);
    assert_said(&refused(&folder.file("x.npz", &npz)), "the shape (4611686018427387904, 2) has more than");
    assert_said(&refused(&folder.file("x.safetensors", &[0xff; 64])), "its header is cut off");
}

/// A zip archive of one entry, deflated.
fn archive(entry: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("X.npy", options).unwrap();
    zip.write_all(entry).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A `.npy` of 2×2 zeros, and as many bytes more.
fn small_array_and(more: usize) -> Vec<u8> {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.resize(npy.len() + 32 + more, 0);
    npy
}

#[test]
fn a_bomb_is_refused_by_what_its_array_says() {
    let folder = Folder::new();
    let bomb = archive(&small_array_and(200 << 20));
    assert!(bomb.len() < 300_000, "{} bytes packed", bomb.len());
    assert_said(
        &refused(&folder.file("x.npz", &bomb)),
        "the header says (2, 2), 32 bytes, but 209715232 bytes follow",
    );
}

#[test]
fn a_bomb_that_lies_about_its_size_is_unpacked_one_byte_too_far_and_no_further() {
    let folder = Folder::new();
    let whole = small_array_and(200 << 20);
    let honest = small_array_and(0).len() as u32;
    let mut bomb = archive(&whole);
    let real = (whole.len() as u32).to_le_bytes();
    let places: Vec<usize> = (0..bomb.len() - 4).filter(|&at| bomb[at..at + 4] == real).collect();
    assert_eq!(places.len(), 2, "once before the entry, once in the directory");
    for at in places {
        bomb[at..at + 4].copy_from_slice(&honest.to_le_bytes());
    }
    let said = refused(&folder.file("x.npz", &bomb));
    assert!(said.contains("but 33 bytes follow") || said.contains("cannot be read"), "{said}");
}

#[test]
fn archives_and_arrays_cut_off_anywhere_are_refused() {
    let folder = Folder::new();
    for name in ["deflated.npz", "stored.npz", "model.safetensors", "heads.npy"] {
        let whole = fs::read(format!("{}/tests/input/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for length in (1..whole.len()).step_by(7) {
            refused(&folder.file(name, &whole[..length]));
        }
    }
}

#[test]
fn a_flipped_bit_in_an_archive_is_found_by_its_sum_and_never_panics() {
    let folder = Folder::new();
    let whole = archive(&[&small_array_and(0)[..]].concat());
    assert!(
        Files::new(&mut std::io::empty())
            .array(folder.file("x.npz", &whole).to_str().unwrap(), AllowedNumbers::FINITE)
            .is_ok()
    );
    let start = 30 + "X.npy".len();
    for at in start..start + 20 {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        refused(&folder.file("x.npz", &damaged));
    }
}

#[test]
fn directories_pipes_and_devices_are_not_waited_for() {
    let folder = Folder::new();
    assert_said(&refused(folder.0.path()), "this is a folder");
    let pipe = folder.0.path().join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_said(&refused(&pipe), "this is not a regular file");
    assert_said(&refused(Path::new("/dev/zero")), "this is not a regular file");
    assert_said(&refused(Path::new("/dev/null")), "this is not a regular file");
}

#[test]
fn a_text_larger_than_is_read_at_once_is_refused_by_its_length() {
    let folder = Folder::new();
    for ending in ["csv", "json"] {
        // A file with a hole: three gigabytes long, no block on the disk.
        let path = folder.file(&format!("x.{ending}"), b"1");
        fs::File::options().write(true).open(&path).unwrap().set_len(3 << 30).unwrap();
        assert_said(&refused(&path), "larger than 1024 MiB");
    }
}

#[test]
fn unknown_endings_and_pickles_are_refused_with_a_remedy() {
    let folder = Folder::new();
    assert_said(
        &refused(&folder.file("x.xlsx", b"1")),
        "this is text, and no .xlsx file\n  help: if it is a text of numbers, give it the ending .txt",
    );
    assert_said(&refused(&folder.file("x.pt", b"\x80\x02cposix\nsystem\n.")), "a pickle with `posix.system`");
    assert_said(&refused(&folder.file("x.parquet", b"PAR1")), "pandas.read_parquet('");
}

#[test]
fn what_is_named_wrongly_is_refused() {
    let folder = Folder::new();
    assert_said(&refused(&folder.file("x.npy", b"1,2\n3,4\n5,6\n")), "not a .npy file");
    assert_said(&refused(&folder.file("x.npz", b"1,2\n3,4\n5,6\n")), "the zip archive is incomplete");
    assert_said(&refused(&folder.file("x.json", b"1,2\n3,4\n5,6\n")), "not JSON");
    assert_said(&refused(&folder.file("x.csv", b"\x93NUMPY\x01\x00")), "not UTF-8");
    assert_said(&refused(&folder.0.path().join("missing.csv")), "no such file");
}

#[test]
fn an_error_repeats_no_more_than_a_line_of_what_a_user_gave() {
    let folder = tempfile::tempdir().unwrap();
    let x = folder.path().join("x.csv");
    fs::write(&x, (0..20_000).map(|i| format!("row{i},1\n")).collect::<String>()).unwrap();
    let long = "z".repeat(120_000 / one_in(6));
    let said = |command: &str, argument: &str| {
        let outcome = attn(command).arg(argument).run();
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        outcome.err
    };
    let rows = said(&format!("attend --q {} --k 1 --v 1 --explain", x.display()), "Q[zzz,1]");
    assert!(rows.contains("its rows are row0 row1 row2") && rows.contains("and 19960 more"), "{rows}");
    let explained = format!("Q[{long},1]");
    for (command, argument) in [
        ("attend --x", long.as_str()),
        ("attend --q 1 --k 1 --v 1 --only", &long),
        ("attend --q 1 --k 1 --v 1 --explain", &explained),
        ("attend --q 1 --k 1 --v 1 --seed", &long),
        ("attend --random", &long),
        ("demo", &long),
        ("lesson play", &long),
        ("find", &long),
    ] {
        let said = said(command, argument);
        assert!(said.len() < 3000, "{command}: {} bytes", said.len());
        assert!(said.contains("zzz"), "{command}: {said}");
    }
}

#[test]
fn what_a_damaged_file_is_refused_with_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut bytes = include_bytes!("stored.npz").to_vec();
    // One bit of the numbers of X.
    let entry = bytes.windows(5).position(|name| name == b"X.npy").unwrap();
    bytes[entry + 160] ^= 1;
    fs::write(&path, bytes).unwrap();
    attn("attend --only X").arg(path.to_str().unwrap()).refused(&["Invalid checksum", "help:"]);
    for (name, bytes) in
        [("h.csv", &b"a,b\n"[..]), ("c.csv", b"# c\n"), ("v.npy", b"\x93NUMPY\x2c\x20 \0\0\0\0\0")]
    {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        attn("attend --only X --x").arg(path.to_str().unwrap()).refused(&["help:"]);
    }
}
