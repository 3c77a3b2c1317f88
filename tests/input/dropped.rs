//! Nothing that a file holds is silently dropped, overridden or taken for something else.

use std::fs;

use crate::common::attn;

/// A folder with one file in it, and what `attn attend --only X` says to the file.
fn x_of(name: &str, bytes: impl AsRef<[u8]>) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let ran = attn("attend --only X --format csv --x").arg(path.to_str().unwrap()).run();
    match ran.code {
        0 => Ok(ran.out),
        code => {
            assert_eq!((code, ran.out.as_str()), (2, ""), "{}", ran.err);
            Err(ran.err.replace(&format!("{}/", folder.path().display()), ""))
        }
    }
}

/// The same of a file of several matrices.
fn bundle_of(name: &str, bytes: impl AsRef<[u8]>) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let ran = attn("attend --only O --format csv").arg(path.to_str().unwrap()).run();
    if ran.code == 0 { Ok(ran.out) } else { Err(ran.err) }
}

#[track_caller]
fn assert_refused(read: Result<String, String>, words: &str) {
    let said = read.unwrap_err();
    assert!(said.contains(words) && said.contains("help:"), "{said}");
}

#[test]
fn what_stands_behind_a_printed_array_is_refused() {
    for text in [
        "tensor([[1, 2]]), tensor([[3, 4]])",
        "array([[1, 2]])\narray([[9, 9]])",
        "tensor([[1, 2]]) garbage)",
    ] {
        assert_refused(x_of("p.txt", text), "stands after the last bracket");
        let typed = attn("attend --only X --format csv --x").arg(text).run();
        assert!(typed.code == 2 && typed.err.contains("stands after the last bracket"), "{}", typed.err);
    }
    assert_refused(x_of("p.txt", "tensor([[1, 2]], dtype=torch.complex64)"), "the type torch.complex64");
    for text in ["tensor([[1, 2]], device='cuda:0', grad_fn=<MmBackward0>)\n", "array([[1, 2]], dtype='<f4')"]
    {
        assert_eq!(x_of("p.txt", text).unwrap(), "1,2\n");
    }
}

#[test]
fn carriage_returns_end_lines_and_comments() {
    for (text, read) in [
        ("1,2\r# c\r3,4\r", "1,2\n3,4\n"),
        ("# c\r1,2\r3,4\n5,6\n", "1,2\n3,4\n5,6\n"),
        ("# it's \"so\r1,2\r\n# c\n3,4", "1,2\n3,4\n"),
        ("a,b\r1,2\r3,4", "a,b\n1,2\n3,4\n"),
    ] {
        assert_eq!(x_of("c.csv", text).unwrap(), read, "{text:?}");
    }
    for text in ["1 2\r3 4\r", "# c\r1 2\r3 4", "1 2;\r3 4", "1 2;3 4\r", "[[1 2]\r [3 4]]\r"] {
        assert_eq!(x_of("c.txt", text).unwrap(), "1,2\n3,4\n", "{text:?}");
    }
    assert!(x_of("c.csv", "1,2\r3,x\r").unwrap_err().starts_with("error: c.csv:2:3: `x` is not a number"));
    assert!(
        x_of("c.csv", "1,2\r\n3,x\r\n").unwrap_err().starts_with("error: c.csv:2:3: `x` is not a number")
    );
}

#[test]
fn many_lines_that_end_in_carriage_returns_take_as_long_as_others() {
    let rows = 200_000;
    let folder = tempfile::tempdir().unwrap();
    let took = |name: &str, end: &str| {
        let start = std::time::Instant::now();
        let path = folder.path().join(name);
        fs::write(&path, format!("1,2{end}").repeat(rows)).unwrap();
        let mut nothing = std::io::empty();
        let array = attn::input::Files::new(&mut nothing)
            .array(path.to_str().unwrap(), attn::read::AllowedNumbers::FINITE);
        assert_eq!(array.unwrap().dims(), [rows, 2]);
        start.elapsed()
    };
    let (newlines, returns) = (took("lf.csv", "\n"), took("cr.csv", "\r"));
    // The second file took forty times as long as the first.
    assert!(returns < newlines * 8, "{newlines:?}, {returns:?}");
}

#[test]
fn heads_and_tokens_given_twice_are_refused() {
    let twice = r#"{"Q_1":[[1,2]],"q_1":[[5,6]],"K":[[1,2]],"V":[[1,2]]}"#;
    assert_refused(bundle_of("d.json", twice), "`Q_1` and `q_1` are both Q_1");
    let twice = r#"{"Q_1":[[1,2]],"Q_01":[[5,6]],"K":[[1,2]],"V":[[1,2]]}"#;
    assert_refused(bundle_of("d.json", twice), "`Q_1` and `Q_01` are both Q_1");
    let twice = r#"{"X":[[1],[2]],"tokens":["a","b"],"TOKENS":["c","d"]}"#;
    assert_refused(bundle_of("d.json", twice), "`tokens` and `TOKENS` are both tokens");
}

#[test]
fn a_name_given_twice_is_refused_in_every_format() {
    let tensor = r#"{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}"#;
    let header = format!(r#"{{"X":{tensor},"X":{tensor}}}"#);
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat();
    assert_refused(bundle_of("x.safetensors", file), "`X` appears twice");
    assert_refused(bundle_of("x.json", r#"{"X":[[1]],"X":[[2]]}"#), "`X` appears twice");
    let config = include_str!("../../examples/data/gpt2-config.json");
    let config = config.replacen("\"n_layer\": 12", "\"n_layer\": 12, \"n_layer\": 1", 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    fs::write(&path, config).unwrap();
    let ran = attn("params").arg(path.to_str().unwrap()).run();
    assert!(ran.code == 2 && ran.err.contains("`n_layer` appears twice"), "{}", ran.err);
}

#[test]
fn an_archive_with_a_name_twice_or_with_bytes_around_it_is_refused() {
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/input/numpy_reads.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    for (what, words) in [
        ("name twice", "`X` appears twice"),
        ("bytes behind", "or other bytes stand behind it"),
        ("end of the archive, field 16 + 7", "does not have its list of entries where it says"),
        ("end of the archive, field 10 + 1", "does not list as many entries as it says"),
    ] {
        let is_it = |case: &&serde_json::Value| case["what"] == what && case["name"] == "x.npz";
        let hex = cases.iter().find(is_it).unwrap()["bytes"].as_str().unwrap();
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digit).collect();
        assert_refused(bundle_of("x.npz", bytes), words);
    }
}

#[test]
fn what_was_meant_as_a_number_is_no_label() {
    for number in ["1e400", "-1e400", "0x1", "0b1", "1_0", "+-1", "1,000,000", "−−1"] {
        let read = x_of("r.csv", format!("{number};2\n3;4\n"));
        let said = read.unwrap_err();
        assert!(said.starts_with("error: r.csv:1:1: "), "{number}: {said}");
    }
    assert_eq!(x_of("r.csv", "1,5;2\n3;4\n").unwrap(), "1.5,2\n3,4\n");
    assert_refused(x_of("r.csv", "1e400,2\n3,4\n"), "beyond the range of a 64-bit float");
    // In quotation marks, or clearly no number, it is a label.
    for label in ["\"0x1\"", "2024-01-31", "3rd", "v1.2.3", "0xy", "1e", "--help"] {
        let read = x_of("r.csv", format!("{label},2\nb,4\n")).unwrap();
        assert!(read.contains(",2\n"), "{label}: {read}");
    }
}

#[test]
fn integers_that_no_64_bit_float_holds_are_rounded_with_a_note() {
    let integer = |value: i64| {
        let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1)}";
        [
            b"\x93NUMPY\x01\x00",
            &(header.len() as u16).to_le_bytes()[..],
            header.as_bytes(),
            &value.to_le_bytes(),
        ]
        .concat()
    };
    let folder = tempfile::tempdir().unwrap();
    for (value, noted) in [((1 << 53) + 1, true), (1 << 53, false), (i64::MIN, false), (i64::MAX, true)] {
        let path = folder.path().join("x.npy");
        fs::write(&path, integer(value)).unwrap();
        for fast in ["", " --fast --dtype f64"] {
            let ran =
                attn(&format!("attend --k 1 --v 1 --only O{fast} --q")).arg(path.to_str().unwrap()).run();
            let said = ran.err.contains("Q has integers beyond 2⁵³")
                || ran.out.contains("Q has integers beyond 2⁵³");
            assert_eq!((ran.code, said), (0, noted), "{value}{fast}: {}{}", ran.out, ran.err);
        }
    }
}

#[test]
fn a_table_whose_first_label_looks_like_an_array_or_a_number_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for label in [
        "[1]",
        "[[1",
        "[[",
        "]",
        "{",
        "[CLS]",
        "1e400",
        "0x1",
        "+-1",
        "1_0",
        "tensor([1",
        "#1",
        "...",
        "[...",
        "1;2",
        "1,2",
    ] {
        let json =
            serde_json::json!({"rows": [label, "b"], "cols": [label, "d"], "values": [[1, 2], [3, 4]]});
        let from = folder.path().join("r.json");
        fs::write(&from, json.to_string()).unwrap();
        for name in ["r.csv", "r.tsv"] {
            let to = folder.path().join(name);
            let save = attn("attend --only X --format json").arg("--x").arg(from.to_str().unwrap());
            let saved = save.arg("--save").arg(format!("X={}", to.display())).run();
            assert_eq!(saved.code, 0, "{label}: {}", saved.err);
            // What was given says from where.
            let names = |out: &str| out.replace("r.json", name);
            let back = attn("attend --only X --format json").arg("--x").arg(to.to_str().unwrap()).run();
            assert_eq!(
                (back.code, back.out.clone()),
                (0, names(&saved.out)),
                "{label} in {name}: {}",
                back.err
            );
            let bytes = fs::read(&to).unwrap();
            let piped = attn("attend --only X --format json --x -").input(bytes).run();
            let from = |name: &str| [format!("given by {name}"), format!("\"source\":\"{name}\"")];
            let of_file = from(&to.display().to_string());
            let piped_out =
                from("-").iter().zip(&of_file).fold(piped.out, |out, (piped, file)| out.replace(piped, file));
            assert_eq!(
                (piped.code, piped_out),
                (0, names(&saved.out)),
                "{label} in {name}, piped: {}",
                piped.err
            );
        }
    }
}

#[test]
fn an_archive_whose_entry_has_another_name_than_its_list_is_refused() {
    let mut bytes = include_bytes!("stored.npz").to_vec();
    // The first place is the entry itself, the last one the list. zipfile.BadZipFile, Python 3.11: “File name in directory
    // 'tokens.npy' and header b'tokenz.npy' differ.”
    let at = bytes.windows(10).position(|name| name == b"tokens.npy").unwrap();
    bytes[at + 5] = b'z';
    assert_refused(bundle_of("x.npz", bytes), "has another entry where it lists `tokens.npy`");
}

#[test]
fn in_a_csv_file_a_comma_wins_over_a_tab() {
    for text in ["1,\t2\n3,\t4\n", "\t1,2\n\t3,4\n"] {
        assert_eq!(x_of("t.csv", text).unwrap(), "1,2\n3,4\n", "{text:?}");
    }
    for name in ["t.csv", "t.txt", "t.tsv"] {
        assert_eq!(x_of(name, "1\t2\n3\t4\n").unwrap(), "1,2\n3,4\n", "{name}");
    }
}

#[test]
fn a_type_that_no_package_has_is_refused_behind_a_printed_array() {
    for dtype in ["torch1:a.float64", "float65", "a.float32"] {
        let text = format!("tensor([[1, 2]], dtype={dtype})");
        assert_refused(x_of("p.txt", text), &format!("the numbers have the type {dtype}"));
    }
}

#[test]
fn a_label_or_a_name_that_is_no_utf_8_is_refused_and_never_changed() {
    for (name, place) in [("l.csv", "l.csv:2:2"), ("l.txt", "l.txt:2:2"), ("l.tsv", "l.tsv:2:2")] {
        assert_refused(
            x_of(name, b"bat,1,2\nh\xf6hle,3,4\n"),
            &format!("error: {place}: this is not UTF-8 text"),
        );
    }
    let json = b"{\"rows\":[\"bat\",\n\"h\xf6hle\"],\"values\":[[1],[2]]}";
    assert_refused(x_of("l.json", json), "error: l.json:2:3: this is not UTF-8 text");
    assert_refused(
        bundle_of("l.json", b"{\"X\":[[1]],\"\xff\":[[1]]}"),
        ".json:1:13: this is not UTF-8 text",
    );
    let mut header = b"{\"X\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}".to_vec();
    header.splice(..0, (header.len() as u64).to_le_bytes());
    header.extend([0; 4]);
    assert_refused(bundle_of("l.safetensors", header), "the header of the .safetensors file cannot be read");
}

#[test]
fn tokens_and_names_in_npz_that_are_no_text_are_refused_and_never_changed() {
    let words = [&npy("'|S2'", 2)[..], b"a\0h\xf6"].concat();
    let x = [&npy("'<f8'", 2)[..], &[0; 16]].concat();
    let npz = |name: &[u8; 6]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in [("X.npy", &x), ("tokens.npy", &words)] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut zip, bytes).unwrap();
        }
        let mut bytes = zip.finish().unwrap().into_inner();
        // A name stands before its entry and in the list at the end; the writer takes text alone.
        while let Some(at) = bytes.windows(6).position(|window| window == b"tokens" && window != name) {
            bytes[at..at + 6].copy_from_slice(name);
        }
        bytes
    };
    assert_refused(
        bundle_of("n.npz", npz(b"tok\xffns")),
        "n.npz: the name `tok\\xffns.npy` is not UTF-8 text",
    );
    assert_refused(bundle_of("n.npz", npz(b"tokens")), "n.npz, tokens: word 2, `h\\xf6`, is not UTF-8 text");
    assert_refused(x_of("w.npy", words), "w.npy: word 2, `h\\xf6`, is not UTF-8 text");
}

/// The start of a `.npy` file with `count` elements in one dimension.
fn npy(descr: &str, count: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({count},), }}");
    header.push_str(&" ".repeat(117 - header.len()));
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), b"\n"].concat()
}

#[test]
fn a_formula_or_an_error_of_a_spreadsheet_is_no_label_and_no_comment() {
    for (text, place) in [
        ("1,2\n3,=A1*2\n", "c.csv:2:3: `=A1*2` is a formula, not a number (row 2, column 2 of the matrix)"),
        ("=A2*2,2\n3,4\n", "c.csv:1:1: `=A2*2` is a formula"),
        ("=A2*2,=B2\n3,4\n", "c.csv:1:1: `=A2*2` is a formula"),
        ("x,y\n+B1/2,2\n", "c.csv:2:1: `+B1/2` is a formula"),
        ("1,2\n3,+total\n", "c.csv:2:3: `+total` is a formula"),
        ("1,2\n3,@SUM(A1:A3)\n", "c.csv:2:3: `@SUM(A1:A3)` is a formula"),
        ("1,2\n#REF!,4\n", "c.csv:2:1: `#REF!` is an error of a spreadsheet, not a number"),
        ("#N/A,2\n3,4\n", "c.csv:1:1: `#N/A` is an error of a spreadsheet"),
        ("1\n#DIV/0!\n", "c.csv:2:1: `#DIV/0!` is an error of a spreadsheet"),
    ] {
        let said = x_of("c.csv", text).unwrap_err();
        assert!(said.starts_with(&format!("error: {place}")), "{text:?}: {said}");
        assert!(said.contains("help: export the values of the cells, not their formulas"), "{said}");
    }
    // A comment stays a comment, and a token a label.
    assert_eq!(x_of("c.csv", "#REF! is gone\n=,1\n+,2\n@bat,3\n=>,4\n").unwrap(), "=,1\n+,2\n@bat,3\n=>,4\n");
}

#[test]
fn labels_that_begin_as_formulas_keep_their_bytes_in_every_file_that_is_saved() {
    let labels = ["=A1*2", "=cmd|' /C calc'!A0", "+1+2", "@SUM(A1)", "-2+3", "#REF!", "="];
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let write = |labels: &[&str]| {
        let values = vec![[1]; labels.len()];
        fs::write(path("r.json"), serde_json::json!({ "rows": labels, "values": values }).to_string())
            .unwrap();
    };
    write(&labels);
    let rows_of = |file: String| {
        let out = attn("attend --only X --format json --x").arg(file).ok().out;
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        json["graphs"][0]["nodes"][0]["rows"].clone()
    };
    assert_eq!(rows_of(path("r.json")), serde_json::json!(labels));
    for first in 0..labels.len() {
        // Each of them once as the first row, which decides whether there are labels.
        let mut turned = labels;
        turned.rotate_left(first);
        write(&turned);
        for name in ["s.csv", "s.tsv", "s.json"] {
            attn("attend --only X --x")
                .arg(path("r.json"))
                .arg("--save")
                .arg(format!("X={}", path(name)))
                .ok();
            assert_eq!(rows_of(path(name)), serde_json::json!(turned), "{name}");
        }
        let printed = attn("attend --only X --format csv --x").arg(path("r.json")).ok().out;
        fs::write(path("p.csv"), &printed).unwrap();
        let again = attn("attend --only X --format csv --x").arg(path("p.csv")).ok().out;
        assert_eq!(again, printed);
        assert!(turned.iter().all(|label| printed.contains(label)), "{printed}");
    }
}

#[test]
fn a_name_in_an_argument_that_is_no_utf_8_is_refused_before_it_is_saved() {
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;
    let name = std::ffi::OsStr::from_bytes(b"bat h\xf6hle");
    for option in [["attend", "--random", "2,2", "--tokens"], ["attend", "--random", "2,2", "--words"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_attn")).args(option).arg(name).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with("error: the name `h\\xF6hle` is not UTF-8 text\n  help: write it in UTF-8"),
            "{said}"
        );
    }
}
