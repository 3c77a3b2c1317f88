//! `attn diagnose --batch`: a folder of submissions, good and bad.

use std::fs;
use std::path::Path;

use crate::common::{Outcome, attn, one_in};
use crate::exercise::{
    EXERCISE, INVERTED, NO_SCALE, NO_SCALE_A, RIGHT, by_hand, doubles, ids, npy, place, typed,
};
use attn::matrix::Matrix;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of submissions, good and bad.
fn class() -> TempDir {
    let place = place();
    let file = |name: &str| place.path().join(name);
    npy(&file("anna.npy"), "<f8", &[3, 4], doubles(RIGHT.concat()));
    fs::write(file("ben.csv"), typed(NO_SCALE).replace("; ", "\n").replace(' ', ",")).unwrap();
    npy(&file("cara.npy"), "<f8", &[3, 4], doubles(INVERTED.concat()));
    fs::write(file("dora.txt"), "0.31 -1.2 0.8 2.1\n0.7 0.33 -0.4 1.9\n-2.2 0.1 0.6 0.5\n").unwrap();
    fs::write(file("eve.json"), json!({ "A": NO_SCALE_A, "O": NO_SCALE }).to_string()).unwrap();
    fs::write(file(".hidden"), "not to be seen").unwrap();
    place
}

/// Files that cannot be judged.
fn spoil(folder: &Path) -> usize {
    let file = |name: &str| folder.join(name);
    fs::write(file("brackets.json"), "[".repeat(10_000_000)).unwrap();
    fs::write(file("brackets.csv"), "[".repeat(10_000_000)).unwrap();
    fs::write(file("empty.csv"), "").unwrap();
    fs::write(file("garbage"), [0x80, 0xff, 0x00, 0x1b, b'[', b'2', b'J']).unwrap();
    fs::write(file("header.npy"), b"\x93NUMPY\x01\x00\x10\x00{'shape': NaN   }").unwrap();
    fs::write(
        file("huge.npy"),
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1073741824, 8), }\n",
    )
    .unwrap();
    fs::write(file("model.onnx"), "PK").unwrap();
    fs::write(file("unknown.json"), r#"{"foo": [[1]], "bar": [[2]]}"#).unwrap();
    fs::create_dir(file("sub")).unwrap();
    fs::write(file("sub/inner.csv"), "1").unwrap();
    let mut count = 9;
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/dev/zero", file("zero.npy")).unwrap();
        std::os::unix::fs::symlink("nowhere", file("dangling.npy")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(file("pipe.csv")).status();
        count += 2 + usize::from(made.is_ok_and(|status| status.success()));
    }
    count
}

fn batch(folder: &Path, more: &[&str]) -> Outcome {
    let command = attn(EXERCISE).arg("--batch").arg(folder.to_str().unwrap());
    more.iter().fold(command, |command, arg| command.arg(*arg)).run()
}

#[test]
fn a_folder_is_judged_file_by_file() {
    let class = class();
    let outcome = batch(class.path(), &[]);
    assert_eq!(outcome.code, 1, "{}", outcome.err);
    let words: Vec<Vec<&str>> =
        outcome.out.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(words[1], ["anna.npy", "right", "to", "all"]);
    assert_eq!(words[2][..4], ["ben.csv", "wrong", "O[2,1]", "no-scale"]);
    assert_eq!(words[3][..4], ["cara.npy", "wrong", "O[1,1]", "mask-inverted"]);
    assert_eq!(words[4][..3], ["dora.txt", "wrong", "O[1,1]"]);
    assert_eq!(words[5][..4], ["eve.json", "wrong", "A_1[2,1]", "no-scale"]);
    assert!(outcome.out.contains("\n5 files: 1 right, 4 wrong\n"), "{}", outcome.out);
    // ben and eve forgot the scale, cara inverted the mask, and of dora nothing is known.
    for counted in ["2   no-scale", "1   mask-inverted", "1   no known mistake"] {
        assert!(outcome.out.contains(&format!("{counted} ")), "no `{counted}`: {}", outcome.out);
    }
    assert!(!outcome.out.contains(".hidden"), "{}", outcome.out);
}

#[test]
fn unusable_files_get_their_line_and_stop_nothing() {
    let class = class();
    let bad = spoil(class.path());
    let outcome = batch(class.path(), &["--format", "json"]);
    assert_eq!(outcome.code, 2);
    let lines: Vec<Value> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5 + bad);
    let names: Vec<&str> = lines.iter().map(|line| line["file"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    let unusable = lines.iter().filter(|line| line.get("error").is_some_and(|error| error.is_string()));
    assert_eq!(unusable.count(), bad);
    #[cfg(unix)]
    {
        let links = lines.iter().filter(|line| line["error"] == "this is a link, and links are not followed");
        assert_eq!(links.count(), 2);
    }
    assert_eq!(lines.iter().filter(|line| line["verdict"] == "right").count(), 1);
    let verdicts = |word: &str| lines.iter().filter(|line| line["verdict"] == word).count();
    // A PyTorch file, a folder, and what is no file: nobody expects them to be read.
    let ignored = if cfg!(unix) { bad - 9 + 2 } else { 2 };
    assert_eq!((verdicts("ignored"), verdicts("unusable")), (ignored, bad - ignored));
    let told = batch(class.path(), &[]).out;
    assert!(!told.contains('\u{1b}'));
    let last = told.split("Ignored (").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(last.starts_with(&format!("{ignored} files): ")) && last.contains("model.onnx"), "{last}");
    assert!(last.contains("sub") && !last.contains("garbage") && last.lines().count() < 3, "{last}");
}

#[test]
fn two_mistakes_of_one_student_count_for_both_and_a_wrong_shape_is_none_of_them() {
    // NumPy 2.4.6: S for S / np.sqrt(2), and softmax(S) for softmax(np.where(see, S, -np.inf))
    const NEITHER: [[f64; 4]; 3] = [
        [0.23171132, 0.93801773, -0.06996049, -0.47772054],
        [0.09158137, 1.42850117, -0.29564673, 0.04487322],
        [1.35122694, -0.63586816, -0.15241423, -0.27761353],
    ];
    let place = place();
    let csv = |text: String| text.replace("; ", "\n").replace(' ', ",");
    let write = |name: &str, text: String| fs::write(place.path().join(name), csv(text)).unwrap();
    write("one.csv", typed(NO_SCALE));
    write("two.csv", typed(NEITHER));
    write("three.csv", "1 2; 3 4".into());
    let out = batch(place.path(), &["--by-mistake", "--format", "csv"]).out;
    assert_eq!(out.lines().nth(1), Some(r#"no-scale,2,"one.csv, two.csv""#), "{out}");
    assert!(
        out.contains("\nmask-missing,1,two.csv\n") && out.contains("\nwrong shape,1,three.csv\n"),
        "{out}"
    );
}

#[test]
fn what_is_far_larger_than_the_exercise_is_not_read() {
    let place = place();
    let file = |name: &str| place.path().join(name);
    // Files with holes: they have their length and take no room.
    for name in ["nul.csv", "nul.json", "nul.npy", "nul.safetensors", "nul"] {
        fs::File::create(file(name)).unwrap().set_len(3 << 30).unwrap();
    }
    let zeros = Matrix::filled(1000, 1000, 0.0);
    attn::input::save_bundle(
        &file("packed.npz"),
        None,
        &[("O", &zeros)],
        attn::input::WritePermission::Allowed,
    )
    .unwrap();
    let outcome = batch(place.path(), &["--width", "120"]);
    assert_eq!(outcome.code, 2);
    // X 12, W 48, Q K V 36, and twice Q K V 18, S S_scaled S_masked A 36, O 6; the heads side by side 12, O 12
    let said = outcome.out.matches("larger than 1 MiB, but the exercise has only 240 numbers").count();
    assert_eq!(said, 5, "{}", outcome.out);
    assert!(outcome.out.contains("unpacks to more than 1 MiB"), "{}", outcome.out);
    for name in ["nul.csv", "nul.npy"] {
        let yours = file(name).to_str().unwrap().to_string();
        attn(EXERCISE).arg("--yours").arg(yours).refused(&["larger than 1 MiB"]);
    }
}

#[test]
fn how_a_file_was_read_is_told_below_the_rows() {
    let place = place();
    fs::write(place.path().join("anna.json"), json!({ "O": RIGHT, "mask": [[1]] }).to_string()).unwrap();
    let told = batch(place.path(), &["--width", "120"]).out;
    assert!(
        told.contains("\nanna.json: Not checked, because this exercise has no such step: `mask`."),
        "{told}"
    );
}

#[test]
fn the_exit_code_of_a_batch_is_the_worst() {
    let place = place();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("a.csv", &by_hand(RIGHT, 3).replace("; ", "\n").replace(' ', ","));
    assert_eq!(batch(place.path(), &[]).code, 0);
    write("b.csv", &typed(NO_SCALE).replace("; ", "\n").replace(' ', ","));
    assert_eq!(batch(place.path(), &[]).code, 1);
    write("a0.csv", "1,x,y");
    assert_eq!(batch(place.path(), &[]).code, 2);
}

#[test]
fn a_teacher_gets_a_table_by_mistake() {
    let class = class();
    fs::write(class.path().join("fred.csv"), typed(NO_SCALE).replace("; ", "\n").replace(' ', ",")).unwrap();
    spoil(class.path());
    let outcome = batch(class.path(), &["--by-mistake", "--format", "csv"]);
    assert_eq!(outcome.code, 2);
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert_eq!(lines[0], "mistake,files,which");
    assert_eq!(lines[1], r#"no-scale,3,"ben.csv, eve.json, fred.csv""#, "the most frequent comes first");
    assert!(lines.contains(&"mask-inverted,1,cara.npy") && lines.contains(&"right,1,anna.npy"), "{lines:?}");
    assert!(lines.contains(&"no known mistake,1,dora.txt"), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("unusable,7,")), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("ignored,"), "{lines:?}");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn every_line_fits_the_screen_and_no_id_is_cut() {
    let class = class();
    let file = |name: &str| class.path().join(name);
    let csv = |text: String| text.replace("; ", "\n").replace(' ', ",");
    fs::write(file("a_very_long_name_of_a_student_and_of_a_university.csv"), csv(by_hand(RIGHT, 2))).unwrap();
    // Rounded to one decimal, several mistakes fit.
    fs::write(file("hal.csv"), csv(by_hand(INVERTED, 1))).unwrap();
    fs::write(file("ida.csv"), "1,2\n3,4\n").unwrap();
    fs::write(file("jim.csv"), "1,2\n3,4,5\n").unwrap();
    let known: Vec<&str> = attn::diagnose::catalogue().map(|mistake| &*mistake.id).collect();
    for width in [20, 40, 50, 60, 80, 120, 200].into_iter().step_by(one_in(3)) {
        let out = batch(class.path(), &["--width", &width.to_string(), "--charset", "ascii"]).out;
        let named: Vec<&str> = out.split_whitespace().filter(|word| known.contains(word)).collect();
        assert!(named.len() >= 3, "{width}:\n{out}");
        assert!(!out.lines().any(|line| line.ends_with(' ')), "{width}:\n{out}");
        for line in out.lines().filter(|_| width >= 40) {
            assert!(line.len() <= width, "{width}: {line}");
        }
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("2x2, not 3x4") && words.contains("to 2 decimals"), "{width}:\n{out}");
        assert!(words.contains("this line has 3 numbers, but line 1 has 2"), "{width}:\n{out}");
    }
}

/// The options that stand for those of an exercise of the golden file.
fn options(options: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (key, option) in [
        ("heads", "--heads"),
        ("kv_heads", "--kv-heads"),
        ("score", "--score"),
        ("scale", "--scale"),
        ("temperature", "--temperature"),
        ("window", "--window"),
        ("mask_kind", "--mask-kind"),
    ] {
        match &options[key] {
            Value::Null => {}
            Value::String(text) => all.extend([option.to_string(), text.clone()]),
            number => all.extend([option.to_string(), number.to_string()]),
        }
    }
    if options["causal"] == true {
        all.push("--causal".into());
    }
    if options["causal_from"] == "start" {
        all.extend(["--causal-from".to_string(), "start".to_string()]);
    }
    if options["residual"] == true {
        all.push("--residual".into());
    }
    all
}

#[test]
fn single_mistakes_of_every_exercise_are_found_through_files() {
    let mut named = 0;
    for case in crate::golden::list(&crate::golden::json("mistakes.json"), "cases").iter().step_by(one_in(5))
    {
        let place = place();
        let mut inputs = case["inputs"].clone();
        for (from, to) in [("mask", "M"), ("bias", "B")] {
            if let Some(value) = inputs.as_object_mut().unwrap().remove(from) {
                inputs[to] = value;
            }
        }
        let bundle = place.path().join("inputs.json");
        fs::write(&bundle, inputs.to_string()).unwrap();
        let folder = place.path().join("class");
        fs::create_dir(&folder).unwrap();
        let singles = crate::golden::list(case, "wrong")
            .iter()
            .filter(|wrong| wrong["O"].is_array() && crate::golden::list(wrong, "mistakes").len() == 1);
        let singles: Vec<&Value> = singles.collect();
        for (at, wrong) in singles.iter().enumerate() {
            let matrix = crate::golden::matrix(&wrong["O"]);
            let path = folder.join(format!("{at:03}.npy"));
            npy(&path, "<f8", &[matrix.rows(), matrix.cols()], doubles(matrix.cells()));
        }
        let mut command = attn("diagnose").arg(bundle.to_str().unwrap());
        for option in options(&case["options"]) {
            command = command.arg(option);
        }
        let outcome = command.arg("--batch").arg(folder.to_str().unwrap()).arg("--format").arg("json").run();
        assert!(outcome.code < 2, "{}: {}", case["name"], outcome.err);
        let right = crate::golden::matrix(&case["right"]["O"]);
        for (wrong, line) in singles.iter().zip(outcome.out.lines()) {
            let found: Value = serde_json::from_str(line).unwrap();
            let made = crate::golden::list(wrong, "mistakes")[0].as_str().unwrap();
            let is_named = ids(&found).iter().any(|set| set.contains(&made));
            // Nothing but zeros, or NaN, is called that; a single number of three decimals proves nothing.
            let says_nothing = ["zeros", "nan"].iter().any(|what| found["nodes"][0]["resembles"] == **what)
                || found["nodes"][0]["too_few_digits"] == true;
            let same = same(&crate::golden::matrix(&wrong["O"]), &right);
            assert!(
                is_named || says_nothing || (same && found["verdict"] == "right"),
                "{}: {made} came back as {line}",
                case["name"]
            );
            named += usize::from(is_named);
        }
    }
    assert!(named > 200 / one_in(10), "only {named}");
}

/// Whether two results are the same to six digits.
fn same(a: &Matrix, b: &Matrix) -> bool {
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| (a - b).abs() < 1e-6)
}

#[test]
fn the_lines_of_a_batch_stand_below_each_other() {
    let class = class();
    fs::write(class.path().join("gus.csv"), "1,x\n").unwrap();
    insta::assert_snapshot!("a_batch", batch(class.path(), &[]).out);
    insta::assert_snapshot!("a_batch_by_mistake", batch(class.path(), &["--by-mistake"]).out);
}
