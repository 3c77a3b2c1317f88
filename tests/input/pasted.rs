//! Files as people have them, and what they paste: each is read as NumPy has its numbers, with a line on what had to be guessed, or refused
//! with what it is and how to convert it (`tests/input/pasted.py`).

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use attn::graph::Role;
use attn::input::{Files, ReadOptions};
use attn::read::{AllowedNumbers, Limit, arrays};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::common::attn;

fn path(name: &str) -> String {
    format!("{}/tests/input/pasted/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn table() -> serde_json::Map<String, Value> {
    let text = include_str!("pasted.json");
    serde_json::from_str::<Value>(text).unwrap().as_object().unwrap().clone()
}

/// The shape and the numbers of Q in a file, and the notes on how it was read.
fn read(source: &str, stdin: &[u8]) -> Result<(Vec<usize>, Vec<f64>, String), String> {
    let mut stdin = stdin;
    let mut files = Files::new(&mut stdin);
    let tensor = files.read(source, Role::Q, ReadOptions::default()).map_err(|error| error.to_string())?;
    let (heads, shape) = (tensor.head_count(), tensor.shape());
    let width = shape.cols / heads;
    let cells = (0..heads)
        .flat_map(|head| (0..shape.rows).flat_map(move |i| (0..width).map(move |j| (i, head * width + j))));
    let dims = if heads > 1 { vec![heads, shape.rows, width] } else { vec![shape.rows, width] };
    Ok((dims, cells.map(|(i, j)| tensor.at(i, j)).collect(), files.take_notes().join("\n")))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// What is wrong with what was read, if anything is.
fn fault(expected: &Value, outcome: &Result<(Vec<usize>, Vec<f64>, String), String>) -> Option<String> {
    match (outcome, expected["refused"].as_str()) {
        (Err(said), Some(refused)) => {
            let help = expected["help"].as_str().unwrap();
            let has =
                said.contains(refused) && said.split("help: ").nth(1).is_some_and(|text| text.contains(help));
            (!has).then(|| format!("is refused with {said}"))
        }
        (Ok(read), Some(_)) => Some(format!("is read as {read:?}")),
        (Err(said), None) => Some(format!("is refused with {said}")),
        (Ok((dims, values, notes)), None) => {
            let mut wanted: Vec<usize> =
                numbers(&expected["dims"]).iter().map(|&side| side as usize).collect();
            if wanted.len() == 1 {
                wanted.insert(0, 1);
            }
            if wanted.len() == 3 && wanted[0] == 1 {
                wanted.remove(0);
            }
            let rtol = expected["rtol"].as_f64().unwrap();
            let is_near = |(read, right): (&f64, f64)| (read - right).abs() <= rtol * right.abs();
            let right = numbers(&expected["values"]);
            if *dims != wanted || values.len() != right.len() || !values.iter().zip(right).all(is_near) {
                return Some(format!("is read as {dims:?} {values:?}"));
            }
            match expected["told"].as_str() {
                None if !notes.is_empty() => Some(format!("leaves no doubt, but is noted: {notes}")),
                Some(told) if !notes.contains(told) => Some(format!("has the notes “{notes}”, not “{told}”")),
                _ => None,
            }
        }
    }
}

#[test]
fn files_as_people_have_them_are_read_with_a_line_on_guesses_or_refused_with_a_remedy() {
    let table = table();
    let mut faults = Vec::new();
    let listed: Vec<String> = fs::read_dir(path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in &listed {
        assert!(table.contains_key(name) || name == "q_true.npy", "{name} is not in pasted.json");
    }
    for (name, expected) in &table {
        faults.extend(fault(expected, &read(&path(name), &[])).map(|fault| format!("{name} {fault}")));
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), table.len(), faults.join("\n"));
    let read = table.values().filter(|expected| expected["refused"].is_null()).count();
    assert!(table.len() >= 140 && read >= 120, "{read} of {} files are read", table.len());
}

#[test]
fn what_is_pasted_or_piped_is_known_without_its_ending() {
    // A comma before a tab decides only where a file is called .csv, and MATLAB 7.3 is HDF5 like any other.
    let by_ending = ["v73.mat", "q_v4.mat"];
    let mut faults = Vec::new();
    for (name, expected) in table().iter().filter(|(name, _)| !by_ending.contains(&name.as_str())) {
        let bytes = fs::read(path(name)).unwrap();
        let mut expected = expected.clone();
        for key in ["refused", "told"] {
            if let Some(text) = expected[key].as_str() {
                // The name of the file is that of the stream.
                expected[key] = text.replace(name.as_str(), "standard input").into();
            }
        }
        faults.extend(fault(&expected, &read("-", &bytes)).map(|fault| format!("{name} {fault}")));
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_short_text_is_typed_in_place_as_it_stands_in_a_file() {
    let mut faults = Vec::new();
    for (name, expected) in table() {
        let Ok(text) = fs::read_to_string(path(&name)) else { continue };
        if !text.contains(['[', '{'])
            || text.trim_start().starts_with(['{', '<', '|', '%', '\\', '$'])
            || text.contains("\\begin")
        {
            continue;
        }
        if text.contains(['…', '*'])
            || name.ends_with("jsonl")
            || expected["told"].is_string()
            || expected["refused"].is_string()
        {
            continue;
        }
        faults.extend(fault(&expected, &read(&text, &[])).map(|fault| format!("{name} {fault}")));
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_box_of_a_page_reads_what_a_file_may_have() {
    for (name, expected) in table() {
        let Ok(text) = fs::read_to_string(path(&name)) else { continue };
        let is_json = name.contains("json");
        if expected["refused"].is_string() || is_json || name == "csv.gz" || text.contains('\0') {
            continue;
        }
        let read = arrays("your numbers", &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read[0].1.values().len(), numbers(&expected["values"]).len(), "{name}");
    }
}

#[test]
fn every_format_that_attn_writes_is_read_back() {
    for format in ["markdown", "latex", "html", "numpy", "csv", "json", "table"] {
        for exercise in ["--words 'bat cave racket'", "--random 3,4 --heads 2 --causal"] {
            for nodes in ["O", "O,Q", "Q_1,V_2,O"] {
                if nodes.contains('_') != exercise.contains("heads") && nodes != "O" {
                    continue;
                }
                let written = attn(&format!("attend {exercise} --only {nodes} --format {format}")).ok().out;
                let judged = attn(&format!("diagnose {exercise} --yours -")).input(written.clone()).run();
                assert_eq!(
                    judged.code, 0,
                    "{format} {exercise} {nodes}\n{written}\n{}{}",
                    judged.out, judged.err
                );
            }
        }
    }
    let demo = attn("attend --words 'bat cave' --format attn").ok().out;
    let refused = attn("diagnose --words 'bat cave' --yours -").input(demo).run();
    assert!(refused.code == 2 && refused.err.contains("attn demo"), "{}", refused.err);
}

#[test]
fn the_line_on_a_guess_says_the_form_the_shape_and_the_first_and_last_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.csv");
    fs::write(&file, "0,5;1,25\n2;-3,5\n").unwrap();
    let notes = read(file.to_str().unwrap(), &[]).unwrap().2;
    let said = "is taken for numbers with decimal commas, and `;` between them: 2×2, its first row is 0.5 1.25, its last 2 -3.5.";
    assert!(notes.ends_with(said), "{notes}");
    for command in ["attend --only X --x", "diagnose --words 'bat cave' --yours"] {
        let ran = attn(command).arg(file.to_str().unwrap()).run();
        let all = format!("{} {}", ran.out, ran.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains("numbers with decimal commas"), "{command}: {all}");
    }
    let scores = attn("softmax").arg(file.to_str().unwrap()).run();
    assert!(
        format!("{}{}", scores.out, scores.err).contains("decimal commas"),
        "{}{}",
        scores.out,
        scores.err
    );
}

#[test]
fn scores_come_from_a_print_from_a_file_and_from_standard_input() {
    let plain = attn("softmax 1 2 3 --format csv").ok().out;
    for typed in ["[1, 2, 3]", "tensor([1., 2., 3.])", "{1, 2, 3}", "Q = [1 2 3]"] {
        assert_eq!(attn("softmax --format csv").arg(typed).ok().out, plain, "{typed}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scores.txt");
    fs::write(&file, "array([1., 2., 3.])\n").unwrap();
    assert_eq!(attn("softmax --format csv").arg(file.to_str().unwrap()).ok().out, plain);
    assert_eq!(attn("softmax - --format csv").input("[1. 2. 3.]\n").ok().out, plain);
}

#[test]
fn word_vectors_are_found_in_every_form() {
    let q = [[-0.75f32, 1.5], [2.0, 0.25], [0.5, -3.0]];
    let words = ["bat", "cave", "owl"];
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: Vec<u8>| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_string()
    };
    let rows = |line: &dyn Fn(&str, &[f32; 2]) -> String| -> String {
        words.iter().zip(&q).map(|(word, row)| line(word, row)).collect()
    };
    let lines = rows(&|word, [x, y]| format!("{word} {x} {y}\n"));
    let mut binary = b"3 2\n".to_vec();
    for (word, row) in words.iter().zip(&q) {
        binary.extend(word.as_bytes());
        binary.push(b' ');
        row.iter().for_each(|number| binary.extend(number.to_le_bytes()));
        binary.push(b'\n');
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&binary).unwrap();
    let records = rows(&|word, [x, y]| format!("{{\"word\": \"{word}\", \"vector\": [{x}, {y}]}},"));
    let table = rows(&|word, [x, y]| format!("| {word} | {x} | {y} |\n"));
    let files = [
        file("glove.txt", lines.clone().into_bytes()),
        file("fasttext.vec", format!("3 2\n{lines}").into_bytes()),
        file("word2vec.bin", binary.clone()),
        file("word2vec.bin.gz", packed.finish().unwrap()),
        file("plain.csv", rows(&|word, [x, y]| format!("{word},{x},{y}\n")).into_bytes()),
        file(
            "header.csv",
            format!("word,x,y\n{}", rows(&|word, [x, y]| format!("\"{word}\",{x}, {y}\n"))).into_bytes(),
        ),
        file("german.csv", rows(&|word, [x, y]| format!("{word};{x};{y}\n")).replace('.', ",").into_bytes()),
        file(
            "dict.json",
            format!("{{{}}}", rows(&|word, [x, y]| format!("\"{word}\": [{x}, {y}],")).trim_end_matches(','))
                .into_bytes(),
        ),
        file("records.json", format!("[{}]", records.trim_end_matches(',')).into_bytes()),
        file("table.md", format!("| word | x | y |\n|---|---|---|\n{table}").into_bytes()),
    ];
    for source in &files {
        for (source, stdin) in [(source.as_str(), Vec::new()), ("-", fs::read(source).unwrap())] {
            let mut stdin = &stdin[..];
            let vectors = Files::new(&mut stdin).word_vectors(source, &["Owl", "none", "bat"]);
            let rows = vectors.unwrap_or_else(|error| panic!("{source}: {error}")).rows;
            let row = |row: [f32; 2]| Some(row.map(f64::from).to_vec());
            assert_eq!(rows, [row(q[2]), None, row(q[0])], "{source}");
        }
    }
    // Cut off anywhere, a binary file is an error, or lacks what is behind.
    for length in 0..binary.len() {
        let mut stdin = &binary[..length];
        let _ = Files::new(&mut stdin).word_vectors("-", &["owl"]);
    }
}

#[test]
fn a_file_of_three_matrices_gives_each_role_its_own() {
    let ran = attn("attend --q")
        .arg(path("all_words.npz"))
        .arg("--k")
        .arg(path("all_words.npz"))
        .arg("--v")
        .arg(path("all_words.npz"));
    let apart = ran.arg("--only").arg("O").arg("--format").arg("csv").ok().out;
    let whole = attn("attend --only O --format csv").arg(path("all_words.npz")).ok().out;
    assert_eq!(apart, whole);
    let several = "Q = [[1, 2], [3, 4]]\nK:\n[[5 6]\n [7 8]]\n\nV = tensor([[9., 1.],\n        [2., 3.]])\n";
    assert_eq!(read("-", several.as_bytes()).unwrap().1, [1.0, 2.0, 3.0, 4.0]);
    let matlab = "Q =\n\n 1 2\n 3 4\n\nK =\n\n 5 6\n 7 8\n";
    assert_eq!(read("-", matlab.as_bytes()).unwrap().1, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn what_unpacks_to_more_than_an_exercise_needs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![b'1'; 8 << 20]).unwrap();
    let gzip = packed.finish().unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&vec![0; 8 << 20]).unwrap();
    let zlib = zlib.finish().unwrap();
    let mut mat = fs::read(path("compressed.mat")).unwrap()[..128].to_vec();
    mat.extend(15u32.to_le_bytes());
    mat.extend((zlib.len() as u32).to_le_bytes());
    mat.extend(zlib);
    let mut workbook = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    workbook.start_file("xl/workbook.xml", options).unwrap();
    workbook.write_all(&vec![b' '; 8 << 20]).unwrap();
    let workbook = workbook.finish().unwrap().into_inner();
    for (name, bytes) in [("x.csv.gz", gzip), ("x.mat", mat), ("x.xlsx", workbook)] {
        assert!(bytes.len() < 64 << 10, "{name}");
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        let said = Files::new(&mut std::io::empty()).named(file.to_str().unwrap(), Limit::of_numbers(12));
        let said = said.unwrap_err().to_string();
        assert!(said.contains("1 MiB"), "{name}: {said}");
    }
}

#[test]
fn no_pickle_runs_code_shares_values_without_end_or_nests_them() {
    let refused = |bytes: &[u8]| {
        let mut stdin = bytes;
        let said = Files::new(&mut stdin).array("-", AllowedNumbers::ANYTHING).unwrap_err().to_string();
        assert!(said.contains("help:"), "{said}");
        said
    };
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ran");
    let command = format!("touch {}", mark.display());
    let length = [command.len() as u8];
    for call in [
        [&b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c"[..], &length, command.as_bytes(), b"\x85R."]
            .concat(),
        [&b"\x80\x02cbuiltins\neval\nU"[..], &length, command.as_bytes(), b"\x85R."].concat(),
        [&b"\x80\x02(U"[..], &length, command.as_bytes(), b"ios\nsystem\n."].concat(),
    ] {
        assert!(refused(&call).contains("no code is run"));
    }
    assert!(!mark.exists());
    // A tuple that holds the one before it twice, forty times over.
    let mut laughs = b"\x80\x02)q\x00".to_vec();
    for level in 0..40 {
        laughs.extend([b'h', level, b'h', level, 0x86, b'q', level + 1]);
    }
    refused(&[&laughs[..], b"."].concat());
    refused(&[&b"\x80\x02"[..], &b")\x85"[..], &b"\x85".repeat(100_000)[..], b"."].concat());
    refused(&[&b"\x80\x02"[..], &b"]".repeat(100_000)[..], &b"a".repeat(99_999)[..], b"."].concat());
}

#[test]
fn hostile_texts_are_read_or_refused_soon() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for piece in [
            "[",
            "(",
            "f(",
            "a(1 ",
            "[1 ",
            "[1],\n",
            "\\begin{matrix}",
            "\\a{",
            "&",
            "<td>",
            "| ",
            "+-",
            "[1] 1\n",
            "1//",
            "Q =\n1 2\n\n",
        ] {
            let body = piece.repeat((1 << 18) / piece.len());
            for text in [
                body.clone(),
                format!("<table><tr><td>1{body}"),
                format!("\\begin{{matrix}} {body} \\end{{matrix}}"),
            ] {
                let _ = arrays("your numbers", &text);
            }
        }
        sender.send(()).unwrap();
    });
    receiver.recv_timeout(Duration::from_secs(60)).expect("still reading");
}

#[test]
fn packed_and_binary_files_that_are_cut_off_or_changed_never_break_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "dict.pt",
        "bf16.pt",
        "q.pkl",
        "list.pkl",
        "q.mat",
        "q_v4.mat",
        "compressed.mat",
        "q.xlsx",
        "csv.gz",
        "q.mtx",
    ] {
        let whole = fs::read(path(name)).unwrap();
        let file = folder.path().join(name);
        let step = if whole.len() > 2000 { 41 } else { 3 };
        let read = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            let _ = Files::new(&mut std::io::empty()).named(file.to_str().unwrap(), Limit::ANY);
        };
        for at in (1..whole.len()).step_by(step) {
            read(&whole[..at]);
            for bit in [0x01, 0x80] {
                let mut changed = whole.clone();
                changed[at] ^= bit;
                read(&changed);
            }
        }
    }
    assert!(Path::new(&path("q.mat")).exists());
}
