//! `attn diagnose`, typed as a user types it; what comes back for every mistake is tested in `diagnose.rs`.

mod common;
mod exercise;
mod golden;

use std::fs;
use std::path::Path;

use attn::matrix::Matrix;
use common::{Outcome, attn};
use exercise::{
    EXERCISE, INVERTED, MASKED_WITH_A_BILLION, NO_SCALE, NO_SCALE_A, QUERIES_SCALED, RIGHT, RIGHT_A, RIGHT_S,
    X, by_hand, doubles, ids, npy, place, transposed, typed,
};
use serde_json::{Value, json};

/// What `--yours` says of it.
fn yours(what: impl Into<String>) -> Outcome {
    attn(EXERCISE).arg("--yours").arg(what).run()
}

/// The same as JSON.
fn judged(yours: &[String]) -> Value {
    let command = yours.iter().fold(attn(EXERCISE), |command, what| command.arg("--yours").arg(what));
    let outcome = command.arg("--format").arg("json").run();
    let value: Value = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{}", outcome.err));
    assert_eq!(outcome.code, u8::from(value["verdict"] == "wrong"), "{value}");
    value
}

#[test]
fn the_right_numbers_are_right() {
    let outcome = yours(typed(RIGHT));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.starts_with("O is right.\n"), "{}", outcome.out);
    assert!(outcome.err.is_empty(), "{}", outcome.err);
}

#[test]
fn a_forgotten_scale_is_told_in_the_first_sentence() {
    let outcome = yours(typed(NO_SCALE));
    assert_eq!(outcome.code, 1);
    let first = outcome.out.split("\n\n").next().unwrap().replace('\n', " ");
    assert_eq!(
        first,
        "O is wrong, from O[2,1] on. 1/√d_k was forgotten: the scores went into the softmax unscaled. [no-scale]"
    );
    assert!(outcome.out.contains("attn demo scale"), "{}", outcome.out);
    // 0.28370148861 - 0.04707418065
    assert!(outcome.out.contains("0.237") && outcome.out.contains("O[2,4]"), "{}", outcome.out);
}

#[test]
fn rounded_by_hand_it_is_right_to_the_decimals_that_it_carries() {
    for decimals in 1..=6 {
        assert_eq!(yours(by_hand(RIGHT, decimals)).code, 0, "{decimals} decimals");
    }
    // 1.228 in the last row: one unit of the second decimal off is wrong, as is what was cut off.
    let off = by_hand(RIGHT, 2).replace("1.23", "1.24");
    assert_eq!(yours(off).code, 1);
    assert_eq!(yours(by_hand(RIGHT, 2).replace("1.23", "1.22")).code, 1);
    let rounded = judged(&[by_hand(NO_SCALE, 2)]);
    assert_eq!(ids(&rounded), [["no-scale"]]);
}

#[test]
fn a_tolerance_is_what_the_user_says() {
    let off = typed(RIGHT).replace("1.2279426767190142", "1.2289426767190142");
    assert_eq!(yours(&off).code, 1);
    assert_eq!(attn(EXERCISE).arg("--yours").arg(&off).arg("--atol").arg("0.0011").run().code, 0);
    assert_eq!(attn(EXERCISE).arg("--yours").arg(&off).arg("--rtol").arg("1e-3").run().code, 0);
    assert_eq!(attn(EXERCISE).arg("--yours").arg(&off).arg("--atol").arg("0.0009").run().code, 1);
}

#[test]
fn files_of_single_and_half_precision_are_judged_by_what_these_can_hold() {
    let place = place();
    let file = |name: &str| place.path().join(name);
    let single = |rows: [[f64; 4]; 3]| rows.concat().iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
    let half = |rows: [[f64; 4]; 3]| {
        rows.concat().iter().flat_map(|&x| half::f16::from_f64(x).to_le_bytes()).collect()
    };
    npy(&file("f4.npy"), "<f4", &[3, 4], single(RIGHT));
    npy(&file("f2.npy"), "<f2", &[3, 4], half(RIGHT));
    npy(&file("wrong_f4.npy"), "<f4", &[3, 4], single(NO_SCALE));
    npy(&file("wrong_f2.npy"), "<f2", &[3, 4], half(NO_SCALE));
    for name in ["f4.npy", "f2.npy"] {
        assert_eq!(yours(file(name).to_str().unwrap()).code, 0, "{name}");
    }
    for name in ["wrong_f4.npy", "wrong_f2.npy"] {
        assert_eq!(ids(&judged(&[file(name).to_str().unwrap().into()])), [["no-scale"]], "{name}");
    }
    // The same digits as text claim more than half precision has.
    let text = RIGHT.map(|row| row.map(|x| half::f16::from_f64(x).to_f64()));
    assert_eq!(yours(typed(text)).code, 1);
}

#[test]
fn nan_is_data_in_every_format() {
    let place = place();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    npy(Path::new(&file("o.npy")), "<f8", &[3, 4], doubles(INVERTED.concat()));
    fs::write(file("o.csv"), typed(INVERTED).replace("; ", "\n").replace(' ', ",")).unwrap();
    let rows: Vec<Vec<Value>> = INVERTED
        .iter()
        .map(|row| row.iter().map(|&x| if x.is_nan() { "nan".into() } else { x.into() }).collect())
        .collect();
    fs::write(file("o.json"), json!(rows).to_string()).unwrap();
    for source in [file("o.npy"), file("o.csv"), file("o.json"), typed(INVERTED)] {
        let judged = judged(std::slice::from_ref(&source));
        assert_eq!(ids(&judged), [["mask-inverted"]], "{source}");
        assert_eq!(judged["nodes"][0]["largest"], "inf", "no number is near NaN");
    }
}

#[test]
fn heads_come_as_a_stack_or_one_by_one() {
    let place = place();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    npy(Path::new(&file("a.npy")), "<f8", &[2, 3, 3], doubles(RIGHT_A.concat().concat()));
    npy(Path::new(&file("a4.npy")), "<f8", &[1, 2, 3, 3], doubles(RIGHT_A.concat().concat()));
    npy(Path::new(&file("wrong.npy")), "<f8", &[2, 3, 3], doubles(NO_SCALE_A.concat().concat()));
    for name in ["a.npy", "a4.npy"] {
        assert_eq!(judged(&[format!("A={}", file(name))])["verdict"], "right");
    }
    assert_eq!(judged(&[format!("A_2={}", typed(RIGHT_A[1]))])["verdict"], "right");
    assert_eq!(judged(&[format!("A_1={}", typed(RIGHT_A[1]))])["verdict"], "wrong");
    let wrong = judged(&[format!("weights={}", file("wrong.npy"))]);
    assert_eq!((&wrong["first_wrong"], ids(&wrong)), (&json!("A"), vec![vec!["no-scale"]]));
    assert_eq!(wrong["nodes"][0]["first"], "A_1[2,1]");
}

#[test]
fn the_first_step_that_differs_is_named_and_what_follows_from_it_is_right() {
    let place = place();
    let path = place.path().join("steps.json");
    let steps = json!({ "scores": RIGHT_S, "Attention_Weights": NO_SCALE_A, "out": NO_SCALE, "X": [[1.0]] });
    fs::write(&path, steps.to_string()).unwrap();
    let source = path.to_str().unwrap();
    let all = judged(&[source.to_string()]);
    assert_eq!((&all["first_wrong"], ids(&all)), (&json!("A"), vec![vec!["no-scale"]]));
    let verdicts: Vec<_> =
        golden::list(&all, "nodes").iter().map(|node| (&node["name"], &node["verdict"])).collect();
    assert_eq!(json!(verdicts), json!([["S", "right"], ["A", "wrong"], ["O", "follows"]]));
    let told = attn(EXERCISE).arg("--yours").arg(source).arg("--width").arg("120").run();
    assert!(told.out.contains("right, given your own A"), "{}", told.out);
    assert!(told.out.contains("Not judged, because it is given: X."), "{}", told.out);
}

#[test]
fn a_computation_that_was_saved_as_json_is_judged_node_by_node() {
    let place = place();
    let path = place.path().join("graph.json");
    let exercise = EXERCISE.replacen("diagnose", "attend", 1);
    fs::write(&path, attn(&exercise).arg("--scale").arg("none").arg("--format").arg("json").ok().out)
        .unwrap();
    let all = judged(&[path.to_str().unwrap().to_string()]);
    assert_eq!((&all["verdict"], ids(&all)), (&json!("wrong"), vec![vec!["no-scale"]]));
    assert!(
        golden::list(&all, "nodes").iter().any(|node| node["name"] == "S_2" && node["verdict"] == "right")
    );
}

#[test]
fn what_is_worth_a_note_is_said_beside_the_data() {
    let exercise =
        "diagnose --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4' --mask '0 0; 1 1' --mask-kind allow";
    let outcome = attn(exercise).arg("--format").arg("json").arg("--yours").arg("0 0; 2 3").run();
    assert!(outcome.err.contains("warning: A: row 1 may attend to nothing"), "{}", outcome.err);
}

#[test]
fn other_ways_to_the_same_result_are_right() {
    let place = place();
    let file = |name: &str, stack: [[[f64; 3]; 3]; 2]| {
        let path = place.path().join(name);
        npy(&path, "<f8", &[2, 3, 3], doubles(stack.concat().concat()));
        path.to_str().unwrap().to_string()
    };
    let masked = judged(&[format!("S_masked={}", file("masked.npy", MASKED_WITH_A_BILLION))]);
    assert_eq!(masked["verdict"], "right", "−1e9 hides as well as −∞: {masked}");
    let scaled = judged(&[format!("S={}", file("scaled.npy", QUERIES_SCALED))]);
    assert_eq!(scaled["nodes"][0]["verdict"], "another-form", "{scaled}");
    assert_eq!(scaled["nodes"][0]["form"], "scaled-scores");
    let told = yours(format!("S={}", place.path().join("scaled.npy").display()));
    assert!(told.code == 0 && told.out.starts_with("S is right, in another form."), "{}", told.out);
}

#[test]
fn the_first_wrong_cell_is_explained_both_ways() {
    let told = attn(EXERCISE).arg("--yours").arg(typed(NO_SCALE)).arg("--width").arg("160").run().out;
    assert!(told.contains("The first wrong cell, O[2,1], in the right way and with the mistake."), "{told}");
    // It stands in the first head: A_1[2,1] · V_1[1,1] + … by NumPy, 0.0295 and 0.0133.
    assert!(told.contains("O_1[2,1]   O_1 = A_1 · V_1"), "{told}");
    assert!(
        told.contains("with no-scale") && told.contains("= 0.0295") && told.contains("= 0.0133"),
        "{told}"
    );
    // They part before the mask: S_1[2,1] is 4.1465, and 2.9320 divided by √2.
    assert!(told.contains("= 2.9320") && told.contains("= 4.1465"), "{told}");
}

#[test]
fn a_mistake_in_the_students_own_numbers_is_no_warning_of_ours() {
    let outcome = yours(typed(INVERTED));
    assert!(outcome.code == 1 && outcome.err.is_empty(), "{}", outcome.err);
}

#[test]
fn two_mistakes_are_both_told_in_the_order_of_the_steps() {
    // The unscaled result, plus X.
    let x: Vec<Vec<f64>> =
        X.split(';').map(|row| row.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect();
    let mut both = NO_SCALE;
    for (i, row) in both.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell += x[i][j];
        }
    }
    assert_eq!(ids(&judged(&[typed(both)])), [["no-scale", "residual-added"]]);
    let told = yours(typed(both)).out;
    let (scale, residual) = (told.find("[no-scale]").unwrap(), told.find("[residual-added]").unwrap());
    assert!(told.contains("Two mistakes together") && scale < residual, "{told}");
}

#[test]
fn another_shape_is_a_finding() {
    let turned = judged(&[typed(transposed(RIGHT))]);
    assert_eq!(ids(&turned), [["column-convention"]]);
    assert_eq!(turned["nodes"][0]["verdict"], "other-shape");
    assert_eq!(
        (&turned["nodes"][0]["shape"], &turned["nodes"][0]["expected_shape"]),
        (&json!([4, 3]), &json!([3, 4]))
    );
    assert_eq!(ids(&judged(&[typed(transposed(NO_SCALE))])), [["no-scale", "column-convention"]]);
    let strange = judged(&["1 2; 3 4".to_string()]);
    assert_eq!((&strange["verdict"], ids(&strange)), (&json!("wrong"), vec![]));
}

#[test]
fn nothing_is_named_for_noise() {
    let noise = yours("0.31 -1.2 0.8 2.1; 0.7 0.33 -0.4 1.9; -2.2 0.1 0.6 0.5");
    assert_eq!(noise.code, 1);
    let said = noise.out.replace('\n', " ");
    assert!(said.contains("No classic mistake, and no pair of them, gives these numbers."), "{said}");
    assert!(said.contains("--yours S=FILE"), "{said}");
}

#[test]
fn numbers_without_digits_prove_nothing() {
    let coarse = "0 2 0 0; 0 2 0 0; 2 -1 0 0".to_string();
    let judged = judged(std::slice::from_ref(&coarse));
    assert_eq!((&judged["verdict"], &judged["mistakes"]), (&json!("wrong"), &json!([])), "{judged}");
    assert_eq!(judged["nodes"][0]["mistakes"], json!([]), "{judged}");
    assert!(!yours(coarse).out.contains("was forgotten"));
}

#[test]
fn what_this_input_cannot_show_is_neither_blamed_nor_ruled_out() {
    // One column: √d_k is 1, and every scale is the same.
    let outcome = attn("diagnose --q '0; 0' --k '1; 2' --v '1; 3' --yours '2; 2'").run();
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("no-scale") && outcome.out.contains("--suggest-input"), "{}", outcome.out);
    let value = attn("diagnose --q '0; 0' --k '1; 2' --v '1; 3' --yours '2; 2' --format json").run().out;
    let value: Value = serde_json::from_str(&value).unwrap();
    assert!(golden::list(&value, "undetectable").contains(&json!("no-scale")), "{value}");
}

#[test]
fn tokens_name_the_cells() {
    let outcome =
        attn(EXERCISE).arg("--tokens").arg("the,bat,sleeps").arg("--yours").arg(typed(NO_SCALE)).run();
    assert!(outcome.out.starts_with("O is wrong, from O[bat,1] on."), "{}", outcome.out);
}

#[test]
fn json_has_every_key() {
    let right = judged(&[typed(RIGHT)]);
    let keys: Vec<&String> = right.as_object().unwrap().keys().collect();
    let expected = [
        "schema",
        "version",
        "verdict",
        "first_wrong",
        "mistakes",
        "nodes",
        "undetectable",
        "too_coarse",
        "pairs_tried",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&right["schema"], &right["version"]), (&json!("attn-diagnosis"), &json!(1)));
    assert_eq!(
        (&right["verdict"], &right["first_wrong"], &right["mistakes"]),
        (&json!("right"), &Value::Null, &json!([]))
    );
    let wrong = judged(&[typed(NO_SCALE)]);
    let mistake = &wrong["mistakes"][0];
    assert_eq!(
        (&mistake["ids"], &mistake["details"], &mistake["ambiguous_with"]),
        (&json!(["no-scale"]), &json!([null]), &json!([]))
    );
    assert!(golden::number(&mistake["residual"]) < 1e-12);
    let node = &wrong["nodes"][0];
    assert_eq!(
        (&node["name"], &node["verdict"], &node["cells"], &node["of"]),
        (&json!("O"), &json!("wrong"), &json!(8), &json!(12))
    );
    assert_eq!((&node["first"], &node["at"]), (&json!("O[2,1]"), &json!("O[2,4]")));
    assert!((golden::number(&node["largest"]) - 0.23662730796154135).abs() < 1e-12);
}

#[test]
fn what_cannot_be_judged_is_refused_with_what_to_do() {
    let right = typed(RIGHT);
    let refusals: [(&[&str], &str); 19] = [
        (&[], "nothing to judge"),
        (&["--yours", "foo=1 2"], "`foo` names no step of this exercise"),
        (&["--yours", "A_3=1 2"], "`A_3` names no step"),
        (&["--yours", "X=1 2"], "X is given, not computed"),
        (&["--yours", "no-such-file.npy"], "no such file"),
        (&["--yours", &right, "--yours", &right], "O is handed in twice"),
        (&["--yours", &right, "--rtol", "-1"], "--rtol is"),
        (&["--yours", &right, "--atol", "much"], "--atol is `much`"),
        (&["--yours", &right, "--format", "csv"], "a diagnosis is no matrix"),
        (&["--yours", &right, "--format", "numpy"], "a diagnosis is no matrix"),
        (&["--yours", &right, "--batch", "."], "cannot be used with"),
        (&["--by-mistake"], "--batch"),
        (&["--by-mistake", "--yours", &right], "cannot be used with"),
        (&["--by-mistake", "--list"], "cannot be used with"),
        (&["--by-mistake", "--suggest-input", "x.npz"], "cannot be used with"),
        (&["--rtol", "1", "--list"], "cannot be used with"),
        (&["--atol", "1", "--suggest-input", "x.npz"], "cannot be used with"),
        (&["--yours", &right, "--explain", "O[1,1]"], "unexpected argument '--explain'"),
        (&["--batch", "no-such-folder"], "no-such-folder: no such file"),
    ];
    for (args, said) in refusals {
        let outcome = args.iter().fold(attn(EXERCISE), |command, arg| command.arg(*arg)).run();
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.out);
        assert!(outcome.err.contains(said), "{args:?}: {}", outcome.err);
        assert!(outcome.out.is_empty(), "{args:?}: {}", outcome.out);
    }
    let twice = attn("diagnose --q - --k '1 2' --v '1 2' --yours -").input("1 2").run();
    assert!(twice.code == 2 && twice.err.contains("read a second time"), "{}", twice.err);
}

#[test]
fn standard_input_may_hold_what_was_computed() {
    let text = typed(RIGHT).replace("; ", "\n");
    assert_eq!(attn(EXERCISE).arg("--yours").arg("-").input(text).run().code, 0);
}

#[test]
fn what_python_prints_is_judged_wherever_it_is_pasted() {
    let place = place();
    let path = place.path().join("o.txt");
    let rows = |open: &str, comma: &str, end: &str| {
        let rows = NO_SCALE.map(|row| row.map(|x| format!("{x:7.4}")).join(&format!("{comma} ")));
        format!("{open}[[{}]]{end}", rows.join(&format!("]{comma}\n [")))
    };
    let numpy = rows("", "", "\n");
    let torch = rows("tensor(", ",", ", grad_fn=<UnsafeViewBackward0>)\n");
    for text in [&numpy, &torch, &rows("", ",", "")] {
        fs::write(&path, text).unwrap();
        assert_eq!(ids(&judged(&[path.to_str().unwrap().to_string()])), [["no-scale"]], "{text}");
        assert_eq!(ids(&judged(&[text.trim().to_string()])), [["no-scale"]], "{text}");
        let piped = attn(EXERCISE).arg("--yours").arg("-").input(text.as_bytes()).run();
        assert!(
            piped.out.contains("[no-scale]") && piped.out.contains("4 decimals"),
            "{text}: {}",
            piped.err
        );
    }
    fs::write(&path, "[[1. 2. ... 3.]\n ...\n [4. 5. ... 6.]]\n").unwrap();
    attn(EXERCISE).arg("--yours").arg(path.to_str().unwrap()).refused(&["left out", "np.save"]);
}

#[test]
fn the_example_of_the_help_names_a_mistake() {
    let help = attn("diagnose --help").ok().out;
    let line = help.lines().map(str::trim).find(|line| line.starts_with("attn diagnose --words")).unwrap();
    let typed = line.trim_start_matches("attn ").replace('"', "'");
    let outcome = attn(&typed).run();
    assert!(outcome.code == 1 && outcome.out.contains("[no-scale]"), "{}{}", outcome.out, outcome.err);
}

#[test]
fn the_catalogue_is_listed_and_each_mistake_explained() {
    let list = attn("diagnose --list").ok().out;
    for mistake in attn::diagnose::catalogue() {
        assert!(list.contains(&format!("│ {} ", mistake.id)), "{}", mistake.id);
        let one = attn("diagnose --list").arg(mistake.id).ok().out;
        assert!(one.contains(&format!("attn demo {}", mistake.demo)), "{one}");
        attn(&format!("demo {}", mistake.demo)).ok();
    }
    let whole: Value = serde_json::from_str(&attn("diagnose --list --format json").ok().out).unwrap();
    let rows = golden::list(&whole["tables"][0], "rows").len();
    assert_eq!(rows, attn::diagnose::catalogue().count());
    assert!(!whole["tables"][0]["rows"][0]["why"].as_str().unwrap().is_empty());
    let near = attn("diagnose --list no-scales").run();
    assert!(near.code == 2 && near.err.contains("did you mean `no-scale`?"), "{}", near.err);
}

#[test]
fn an_input_that_would_tell_is_written_and_read_back() {
    let place = place();
    let mut drawn: Option<Matrix> = None;
    for name in ["better.npz", "better.json"] {
        let path = place.path().join(name);
        let path = path.to_str().unwrap();
        let exercise = "diagnose --words 'bat cave racket' --causal --suggest-input";
        let told = attn(exercise).arg(path).ok().out;
        assert!(told.contains(&format!("attn attend {path} --causal")), "{told}");
        let nodes = attn(&format!("attend {path} --causal")).nodes();
        let x = nodes.matrix("X");
        assert!(x.cells().all(|x| (x * 100.0 - (x * 100.0).round()).abs() < 1e-9), "two decimals");
        assert!(drawn.get_or_insert_with(|| x.clone()).same_bits(&x), "both formats keep every bit");
        // A result without the scale is seen there.
        let wrong = place.path().join("wrong.npy");
        let save = format!("O={}", wrong.display());
        attn(&format!("attend {path} --causal --scale none --save")).arg(save).ok();
        let judged = attn(&format!("diagnose {path} --causal --yours")).arg(wrong.to_str().unwrap()).run();
        assert!(judged.code == 1 && judged.out.contains("[no-scale]"), "{}", judged.out);
    }
}

#[test]
fn tokens_are_kept_in_what_is_written() {
    let place = place();
    for name in ["named.npz", "named.json"] {
        let path = place.path().join(name);
        attn(EXERCISE)
            .arg("--tokens")
            .arg("the,höhle,sleeps")
            .arg("--suggest-input")
            .arg(path.to_str().unwrap())
            .ok();
        let shown = attn("attend").arg(path.to_str().unwrap()).arg("--heads").arg("2").ok().out;
        assert!(shown.contains("│ höhle "), "{name}: {shown}");
    }
}

#[test]
fn nothing_is_written_where_it_cannot_be() {
    let place = place();
    let before = |path: &Path| fs::read_dir(path).unwrap().count();
    for (name, said) in [
        ("x.npy", ".npz or .json"),
        ("x.csv", ".npz or .json"),
        ("none/x.npz", "there is no folder `"),
        ("", ".npz or .json"),
    ] {
        let outcome =
            attn(EXERCISE).arg("--suggest-input").arg(place.path().join(name).to_str().unwrap()).run();
        assert_eq!(outcome.code, 2, "{name}");
        assert!(outcome.err.contains(said), "{name}: {}", outcome.err);
    }
    assert_eq!(before(place.path()), 0);
}

#[test]
fn what_is_there_is_not_overwritten_by_a_suggestion() {
    let place = place();
    let exercise = place.path().join("exercise.json");
    fs::write(&exercise, r#"{"X": [[1, 0.5], [0.25, 2]]}"#).unwrap();
    let path = exercise.to_str().unwrap();
    let before = fs::read(&exercise).unwrap();
    attn("diagnose").arg(path).arg("--suggest-input").arg(path).refused(&["exists already", "new file"]);
    assert_eq!(fs::read(&exercise).unwrap(), before);
}

#[test]
fn a_suggestion_says_how_many_mistakes_of_how_many_it_shows_and_which_it_does_not() {
    let place = place();
    // A mask that hides nothing: whether it is there or not, nothing changes.
    let exercise =
        "diagnose --q '1 2; 2 1' --k '1 0; 2 1' --v '1; 3' --mask '0 0; 0 0' --mask-kind add --format json";
    let told = attn(exercise).arg("--suggest-input").arg(place.path().join("a.npz").to_str().unwrap()).ok();
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let row = &told["tables"][0]["rows"][0];
    let (shown, hidden) = (row["shown"].clone(), row["hidden"].as_str().unwrap().to_string());
    let hidden: Vec<&str> = hidden.split_whitespace().collect();
    let exercise = exercise.replace("json", "table");
    let told =
        attn(&exercise).arg("--suggest-input").arg(place.path().join("b.npz").to_str().unwrap()).ok().out;
    let shown: usize =
        shown.as_str().map_or_else(|| shown.as_u64().unwrap() as usize, |s| s.parse().unwrap());
    assert!(
        hidden.contains(&"mask-missing")
            && told.contains(&format!("{shown} of {} mistakes", shown + hidden.len())),
        "{told}"
    );
    assert!(hidden.iter().all(|id| told.contains(&format!("│ {id} "))), "{told}");
}

#[test]
fn a_far_fetched_option_is_not_proposed_and_a_near_one_is() {
    let far = attn(EXERCISE).arg("--explain").arg("O[1,1]").run();
    assert!(far.code == 2 && !far.err.contains("'--x'"), "{}", far.err);
    let near = attn(EXERCISE).arg("--your").arg("1").run();
    assert!(near.code == 2 && near.err.contains("'--yours'"), "{}", near.err);
}

#[test]
fn arrays_that_the_exercise_has_no_step_for_are_left_aside() {
    let place = place();
    let path = place.path().join("all.json");
    let all = json!({ "mask": [[0, 1], [1, 1]], "O": NO_SCALE, "att": [1], "loss": [[0.5]], "X": [[1.0]] });
    fs::write(&path, all.to_string()).unwrap();
    let source = path.to_str().unwrap().to_string();
    assert_eq!(ids(&judged(std::slice::from_ref(&source))), [["no-scale"]]);
    let told = attn(EXERCISE).arg("--yours").arg(&source).arg("--width").arg("120").run().out;
    assert!(told.contains("Left aside: `mask`, `att`, `loss`"), "{told}");
    fs::write(&path, json!({ "mask": [[0, 1]], "att": [1], "X": [[1.0]] }).to_string()).unwrap();
    attn(EXERCISE).arg("--yours").arg(&source).refused(&["`mask` names no step of this exercise"]);
}

macro_rules! screens {
    ($($name:ident: $more:expr;)*) => {
        $(#[test]
        fn $name() {
            let more: Vec<String> = $more;
            let command = more.iter().fold(attn(EXERCISE), |command, arg| command.arg(arg));
            // Digits become 0: the layout is held, not the numbers.
            let out: String =
                command.run().out.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            insta::assert_snapshot!(stringify!($name), out);
        })*
    };
}

fn args(yours: String) -> Vec<String> {
    vec!["--yours".into(), yours]
}

screens! {
    one_mistake: args(by_hand(NO_SCALE, 2));
    a_right_answer: args(typed(RIGHT));
    two_mistakes: args(typed(transposed(NO_SCALE)));
    nothing_fits: args("0.31 -1.2 0.8 2.1; 0.7 0.33 -0.4 1.9; -2.2 0.1 0.6 0.5".into());
    the_list_of_mistakes: vec!["--list".into()];
    one_of_the_list: vec!["--list".into(), "mask-late".into()];
}
