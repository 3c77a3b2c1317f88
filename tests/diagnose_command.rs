//! `attn diagnose`, typed as a user types it. The figures are NumPy's (2.4.6), by the lines of comment above each of them; tests
//! of what comes back for every mistake stand in `diagnose.rs`.

mod common;
mod golden;

use std::fs;
use std::path::Path;

use attn::matrix::Matrix;
use common::{Outcome, attn};
use serde_json::{Value, json};
use tempfile::TempDir;

// def softmax(S, axis=-1): e = np.exp(S - S.max(axis=axis, keepdims=True)); return e / e.sum(axis=axis, keepdims=True)
// def heads(M): return M.reshape(3, 2, 2).transpose(1, 0, 2)
// Q, K, V = heads(X @ W_Q), heads(X @ W_K), heads(X @ W_V); S = Q @ K.transpose(0, 2, 1); see = np.tril(np.ones((3, 3))) > 0
// A = softmax(np.where(see, S / np.sqrt(2), -np.inf)); O = (A @ V).transpose(1, 0, 2).reshape(3, 4)
const X: &str = "1.2 -0.4 0.7 0.1; 0.3 0.9 -1.1 0.5; -0.8 0.2 0.6 1.4";
const EXERCISE: &str = "diagnose --x '1.2 -0.4 0.7 0.1; 0.3 0.9 -1.1 0.5; -0.8 0.2 0.6 1.4' \
    --wq '0.5 -1.2 0.3 0.8; 1.1 0.4 -0.6 0.2; -0.7 0.9 1.3 -0.5; 0.6 -0.3 0.4 1.0' \
    --wk '0.9 0.3 -0.8 0.5; -0.4 1.2 0.7 0.1; 0.2 -0.9 1.1 0.6; 1.3 0.4 -0.2 -0.7' \
    --wv '0.4 1.0 -0.5 0.7; 0.8 -0.6 0.2 1.1; -0.3 0.5 0.9 -1.2; 0.6 0.1 -0.7 0.3' --heads 2 --causal";
const RIGHT: [[f64; 4]; 3] = [
    [0.00999999999999997, 1.8, -0.11999999999999995, -0.41],
    [0.029485244385683115, 1.7661010131920307, -0.3880210296916753, 0.2837014886137477],
    [1.2279426767190142, -0.5083059040691946, -0.21847447757280733, -0.1123233682222336],
];
const RIGHT_S: [[[f64; 3]; 3]; 2] = [
    [[0.3022999999999999, -2.4518, -0.3278], [4.1465, -1.939, 2.4966], [-0.4612, 2.8192, 0.2968]],
    [[-0.1862, -1.9111, 1.168], [2.1609, 0.4137, -3.4188], [-0.0252, -1.2866, 0.6368]],
];
const RIGHT_A: [[[f64; 3]; 3]; 2] = [
    [
        [1.0, 0.0, 0.0],
        [0.9866539422015869, 0.01334605779841311, 0.0],
        [0.07763572066012131, 0.7896744122087355, 0.13268986713114322],
    ],
    [
        [1.0, 0.0, 0.0],
        [0.7747722439565755, 0.2252277560434246, 0.0],
        [0.3325769878740201, 0.13630934276940837, 0.5311136693565714],
    ],
];
// The same with S for S / np.sqrt(2).
const NO_SCALE: [[f64; 4]; 3] = [
    [0.00999999999999997, 1.8, -0.11999999999999995, -0.41],
    [0.013314870883774622, 1.794233032846036, -0.2965968425247161, 0.04707418065220635],
    [1.3512269436011632, -0.63586815521842, -0.15241423220576467, -0.27761353020887924],
];
const NO_SCALE_A: [[[f64; 3]; 3]; 2] = [
    [
        [1.0, 0.0, 0.0],
        [0.9977295404905654, 0.0022704595094346913, 0.0],
        [0.033646912376180255, 0.8945504439850428, 0.07180264363877677],
    ],
    [
        [1.0, 0.0, 0.0],
        [0.8515992919960369, 0.1484007080039631, 0.0],
        [0.3103736514568629, 0.08791556796255053, 0.6017107805805866],
    ],
];
// The same with ~see for see.
const INVERTED: [[f64; 4]; 3] = [
    [0.6766787979419949, -0.5273572035720813, -0.13337359244239477, -0.30300260230204046],
    [0.4999999999999999, -0.4800000000000001, 1.0658141036401502e-16, -0.6399999999999999],
    [f64::NAN; 4],
];
// np.where(see, S / np.sqrt(2), -1e9), and (Q / np.sqrt(2)) @ K.transpose(0, 2, 1)
const MASKED_WITH_A_BILLION: [[[f64; 3]; 3]; 2] = [
    [
        [0.21375837995269323, -1e9, -1e9],
        [2.932018268190019, -1.371080048720716, -1e9],
        [-0.3261176474832358, 1.9934754375211152, 0.2098692926561672],
    ],
    [
        [-0.13166328265693514, -1e9, -1e9],
        [1.5279870434660103, 0.29253007537687503, -1e9],
        [-0.01781909088590114, -0.9097635846746122, 0.45028559825959363],
    ],
];
const QUERIES_SCALED: [[[f64; 3]; 3]; 2] = [
    [
        [0.21375837995269317, -1.733684406113177, -0.23178960287295022],
        [2.932018268190019, -1.371080048720716, 1.7653627899103341],
        [-0.3261176474832358, 1.9934754375211152, 0.20986929265616722],
    ],
    [
        [-0.13166328265693517, -1.3513517695256112, 0.8259007204258879],
        [1.5279870434660103, 0.29253007537687503, -2.4174566635205688],
        [-0.01781909088590121, -0.909763584674612, 0.4502855982595938],
    ],
];

/// Rows as they are typed in place: `1 2; 3 4`.
fn typed<const T: usize, const N: usize>(rows: [[f64; N]; T]) -> String {
    let row = |row: [f64; N]| row.map(|x| x.to_string()).join(" ");
    rows.map(row).join("; ")
}

/// The same rounded to so many decimals.
fn by_hand<const T: usize, const N: usize>(rows: [[f64; N]; T], decimals: usize) -> String {
    let row = |row: [f64; N]| row.map(|x| format!("{x:.decimals$}")).join(" ");
    rows.map(row).join("; ")
}

fn transposed<const T: usize, const N: usize>(rows: [[f64; N]; T]) -> [[f64; T]; N] {
    std::array::from_fn(|j| std::array::from_fn(|i| rows[i][j]))
}

/// A file of NumPy's in the type `descr`, each number written by `bytes`.
fn npy(path: &Path, descr: &str, dims: &[usize], bytes: Vec<u8>) {
    let dims: Vec<String> = dims.iter().map(|side| format!("{side},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", dims.concat());
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    fs::write(path, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &bytes].concat()).unwrap();
}

fn doubles(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

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

/// The sets of mistakes that are named.
fn ids(judged: &Value) -> Vec<Vec<&str>> {
    golden::list(judged, "mistakes")
        .iter()
        .map(|named| golden::list(named, "ids").iter().map(|id| id.as_str().unwrap()).collect())
        .collect()
}

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
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
    assert_eq!(scaled["nodes"][0]["form"], "queries-scaled");
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
    let coarse = yours("0 2 0 0; 0 2 0 0; 2 -1 0 0");
    assert_eq!(coarse.code, 1);
    assert!(!coarse.out.contains("was forgotten"), "{}", coarse.out);
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
    let expected =
        ["schema", "version", "verdict", "first_wrong", "mistakes", "nodes", "undetectable", "pairs_tried"];
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
    let refusals: [(&[&str], &str); 14] = [
        (&[], "nothing to judge"),
        (&["--yours", "foo=1 2"], "`foo` names no step of this exercise"),
        (&["--yours", "A_3=1 2"], "`A_3` names no step"),
        (&["--yours", "X=1 2"], "X is given, not computed"),
        (&["--yours", "no-such-file.npy"], "no such file"),
        (&["--yours", "A=1 2 3; 1 2 3; 1 2 3"], "A comes in 2 heads"),
        (&["--yours", &right, "--yours", &right], "O is handed in twice"),
        (&["--yours", &right, "--rtol", "-1"], "--rtol is"),
        (&["--yours", &right, "--atol", "much"], "--atol is `much`"),
        (&["--yours", &right, "--format", "csv"], "a diagnosis is no matrix"),
        (&["--yours", &right, "--format", "numpy"], "a diagnosis is no matrix"),
        (&["--yours", &right, "--batch", "."], "cannot be used with"),
        (&["--by-mistake"], "--batch"),
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
    fs::write(file("model.pt"), "PK").unwrap();
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
    assert_eq!(words[1], ["anna.npy", "right"]);
    assert_eq!(words[2][..4], ["ben.csv", "wrong", "O", "no-scale"]);
    assert_eq!(words[3][..4], ["cara.npy", "wrong", "O", "mask-inverted"]);
    assert_eq!(words[4][..3], ["dora.txt", "wrong", "O"]);
    assert_eq!(words[5][..4], ["eve.json", "wrong", "A", "no-scale"]);
    assert!(outcome.out.ends_with("\n5 files: 1 right, 4 wrong, 0 unusable\n"), "{}", outcome.out);
    assert!(!outcome.out.contains("hidden"));
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
    assert_eq!(lines.iter().filter(|line| line["verdict"] == "right").count(), 1);
    assert!(!batch(class.path(), &[]).out.contains('\u{1b}'));
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
    assert!(lines.contains(&"no classic mistake,1,dora.txt"), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("unusable,"), "{lines:?}");
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
        ("none/x.npz", "cannot be written"),
        ("", ".npz or .json"),
    ] {
        let outcome =
            attn(EXERCISE).arg("--suggest-input").arg(place.path().join(name).to_str().unwrap()).run();
        assert_eq!(outcome.code, 2, "{name}");
        assert!(outcome.err.contains(said), "{name}: {}", outcome.err);
    }
    assert_eq!(before(place.path()), 0);
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
    for case in golden::list(&golden::json("mistakes.json"), "cases") {
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
        let singles = golden::list(case, "wrong")
            .iter()
            .filter(|wrong| wrong["O"].is_array() && golden::list(wrong, "mistakes").len() == 1);
        let singles: Vec<&Value> = singles.collect();
        for (at, wrong) in singles.iter().enumerate() {
            let matrix = golden::matrix(&wrong["O"]);
            let path = folder.join(format!("{at:03}.npy"));
            npy(&path, "<f8", &[matrix.rows(), matrix.cols()], doubles(matrix.cells()));
        }
        let mut command = attn("diagnose").arg(bundle.to_str().unwrap());
        for option in options(&case["options"]) {
            command = command.arg(option);
        }
        let outcome = command.arg("--batch").arg(folder.to_str().unwrap()).arg("--format").arg("json").run();
        assert!(outcome.code < 2, "{}: {}", case["name"], outcome.err);
        let right = golden::matrix(&case["right"]["O"]);
        for (wrong, line) in singles.iter().zip(outcome.out.lines()) {
            let found: Value = serde_json::from_str(line).unwrap();
            let made = golden::list(wrong, "mistakes")[0].as_str().unwrap();
            let is_named = ids(&found).iter().any(|set| set.contains(&made));
            let same = same(&golden::matrix(&wrong["O"]), &right);
            assert!(
                is_named || (same && found["verdict"] == "right"),
                "{}: {made} came back as {line}",
                case["name"]
            );
            named += usize::from(is_named);
        }
    }
    assert!(named > 200, "only {named}");
}

/// Whether two results are the same to six digits.
fn same(a: &Matrix, b: &Matrix) -> bool {
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| (a - b).abs() < 1e-6)
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

#[test]
fn the_lines_of_a_batch_stand_below_each_other() {
    let class = class();
    fs::write(class.path().join("gus.csv"), "1,x\n").unwrap();
    insta::assert_snapshot!("a_batch", batch(class.path(), &[]).out);
    insta::assert_snapshot!("a_batch_by_mistake", batch(class.path(), &["--by-mistake"]).out);
}
