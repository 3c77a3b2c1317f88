//! `--versus`: the same command with further options beside it. Both sides are right, what moves is what differs, and the
//! graph of both answers as any other.

use crate::common::{Nodes, attn};
use attn::graph::{Graph, Origin, side_by_side};
use attn::matrix::Matrix;

/// A node's values as the other computation has them: its own where it differs, else those of the base.
fn of_the_other(both: &Nodes, base: &Nodes, name: &str) -> Matrix {
    let versus = format!("{name}_versus");
    match both.names() {
        names if names.contains(&&*versus) => both.matrix(&versus),
        names if names.contains(&name) && !base.names().contains(&name) => both.matrix(name),
        _ => base.matrix(name),
    }
}

#[test]
fn the_other_side_is_what_numpy_gives_under_its_options() {
    let golden = crate::golden::json("attend.json");
    let mut differing = 0;
    for case in crate::golden::list(&golden, "cases") {
        let (file, options) = (crate::golden::attend_bundle(&case["inputs"]), &case["options"]);
        let mut line = format!(
            "attend {} --heads {} --kv-heads {}",
            file.path().to_str().expect("a plain path"),
            options["heads"],
            options["kv_heads"]
        );
        if let Some(kind) = options["mask_kind"].as_str() {
            line.push_str(&format!(" --mask-kind {kind}"));
        }
        let base = attn(&line).nodes();
        let both = attn(&line).arg("--versus").arg(crate::golden::attend_options(options)).nodes();
        differing += usize::from(!both.names().is_empty());
        for (name, values) in case["expected"].as_object().expect("expected") {
            let has_output_step = base.names().contains(&"C") || both.names().contains(&"C");
            let name = if name == "C" && !has_output_step { "O" } else { name };
            let what = format!("{}, {name}", crate::golden::string(case, "name"));
            crate::golden::assert_close(
                &what,
                &of_the_other(&both, &base, name),
                &crate::golden::matrix(values),
            );
        }
    }
    assert!(differing > 40, "only {differing} cases differ from attention without options");
}

/// Numbers by NumPy 2.4.6: softmax of X Xᵀ / √2 and of X Xᵀ, row by row.
#[test]
fn without_the_root_the_largest_weights_grow() {
    let line = "attend --words 'bat cave racket' --versus '--scale none'";
    let nodes = attn(line).nodes();
    let names = ["S_scaled", "A", "A_versus", "A_change", "O", "O_versus", "O_change"];
    assert_eq!(nodes.names(), names);
    let change = Matrix::of([
        [6.868_480_096_777_652e-2, -1.031_325_536_637_697_4e-2, -5.837_154_560_139_95e-2],
        [-3.782_036_815_293_174_4e-2, 3.783_178_087_900_663e-2, -1.141_272_607_492_022_3e-5],
        [-8.032_070_761_846_72e-4, -2.099_083_576_744_918_2e-8, 8.032_280_670_203_784e-4],
    ]);
    crate::golden::assert_close("A_change", &nodes.matrix("A_change"), &change);
    let out = attn(line).ok().out;
    for said in [
        "Attention, compared with --scale none",
        "The same in both: X, W_Q, Q, W_K, K, W_V, V, S.",
        "S_scaled: no such step with --scale none.",
        "7 of 9 cells change visibly, most of all A[bat,bat]: 0.8816 → 0.9503",
        "(+0.0687); 2 by less than 0.00005.",
        "Every cell changes, most of all O[bat,animals]: 2.6956 → 2.8604 (+0.1648).",
    ] {
        assert!(out.contains(said), "no `{said}` in\n{out}");
    }
    // The last step has the largest change of all, and has said so.
    assert!(!out.contains("The largest change"), "{out}");
}

/// By hand: the score of bat with bat is 18, scaled 18/√2 = 12.7279; no later step moves by 5.2721.
#[test]
fn the_largest_change_of_all_is_named_at_the_end_if_it_came_before_the_last_step() {
    let out = attn("attend --words 'bat cave' --versus '--scale 1'").ok().out;
    let last = out.trim_end().lines().last().expect("a line").trim();
    assert_eq!(last, "→ The largest change is in S_scaled[bat,bat]: 12.7279 → 18 (+5.2721).");
}

/// By hand: both scores are 0, so the weights are 1/2 and 1/2 and the result (1 + 3)/2 = 2. A window of 1 leaves the last
/// key alone: weights 0 and 1, result 3.
#[test]
fn a_window_takes_half_a_weight_from_one_key_to_the_other() {
    let line = "attend --q 1 --k '0; 0' --v '1; 3' --versus '--window 1'";
    let nodes = attn(line).nodes();
    assert_eq!(nodes.matrix("A_change"), Matrix::of([[-0.5, 0.5]]));
    assert_eq!(nodes.matrix("O_change"), Matrix::of([[1.0]]));
    assert_eq!(nodes.matrix("S_masked"), Matrix::of([[f64::NEG_INFINITY, 0.0]]));
    let out = attn(line).ok().out;
    for said in [
        "S_masked: an additional step with --window 1.",
        "Every cell changes, most of all A[1,1]: 0.5 → 0 (−0.5).",
        "It changes: O[1,1]: 2 → 3 (+1).",
    ] {
        assert!(out.contains(said), "no `{said}` in\n{out}");
    }
}

#[test]
fn a_cell_that_has_not_moved_is_a_point_and_one_that_has_carries_its_sign() {
    let out =
        attn("attend --words 'bat cave racket' --versus --causal --only A_change --precision 2").ok().out;
    for row in ["│ bat      │ +0.12   -0.01    -0.11 │", "│ racket   │  ·       ·        ·    │"]
    {
        assert!(out.contains(row), "no `{row}` in\n{out}");
    }
}

#[test]
fn another_matrix_or_seed_in_a_demo_moves_what_is_computed_from_it() {
    let line = "demo right --set 'X=1 0; 0 1' --set 'R=2 0; 0 3' --versus";
    let nodes = attn(line).arg("--set \"X=1 0; 0 -1\"").nodes();
    assert_eq!(nodes.matrix("X_change"), Matrix::of([[0.0, 0.0], [0.0, -2.0]]));
    assert_eq!(nodes.matrix("Y_change"), Matrix::of([[0.0, 0.0], [0.0, -6.0]]));
    assert!(!nodes.names().contains(&"R"), "R is the same");
    let nodes = attn("demo mask --versus '--seed 1' --only X").nodes();
    assert_eq!(nodes.names(), ["X", "X_versus", "X_change"]);
    assert!(nodes.matrix("X_versus").same_bits(&attn("demo mask --seed 1 --only X").nodes().matrix("X")));
}

#[test]
fn where_nothing_differs_it_says_so() {
    for line in [
        "attend --words 'bat cave' --versus '--scale auto'",
        "attend --words 'bat cave' --causal --versus --causal",
        "attend --x '1 2; 3 4' --tokens a,b --versus '--tokens c,d'",
        "demo mask --versus '--seed 0'",
    ] {
        let outcome = attn(line).ok();
        assert!(
            outcome.out.contains("Nothing differs: every number is the same in both."),
            "{}",
            outcome.out
        );
        assert!(attn(line).nodes().names().is_empty());
    }
}

#[test]
fn a_change_of_rounding_alone_is_called_that() {
    // One side multiplies by 0.1, the other divides by 10.
    let line = "attend --random 4,4 --scale 0.1 --versus '--scale none --temperature 10' --only A_change";
    assert!(attn(line).nodes().matrix("A_change").cells().all(|x| x.abs() < 1e-15));
    let out = attn(&line.replace(" --only A_change", "")).ok().out;
    assert!(out.contains("only by rounding") && out.contains("e−1"), "{out}");
    let out = attn("attend --random 4,4 --scale 0.1 --versus '--scale 0.100001'").ok().out;
    assert!(!out.contains("rounding"), "{out}");
}

#[test]
fn another_shape_is_shown_and_said() {
    let out = attn("attend --random 2,3 --versus '--random 3,3'").ok().out;
    assert!(out.contains("X has another shape with --random 3,3, so its cells cannot be compared."), "{out}");
    assert_eq!(out.matches("has another shape with").count(), 2, "X and the last step alone:\n{out}");
    assert!(out.contains("O has another shape") && out.contains("These have another shape too"), "{out}");
    let shown = attn("demo mask --versus '--set X=1'").ok().out;
    let times = shown.matches("has another shape with").count();
    assert_eq!(times, 6, "X, three weights, what is changed in X and the last step:\n{shown}");
    let nodes = attn("attend --random 2,3 --versus '--random 3,3' --only X").nodes();
    assert_eq!(nodes.names(), ["X", "X_versus"]);
}

#[test]
fn steps_stand_in_the_order_of_computing() {
    let line = "attend --random 2,4 --versus '--heads 2'";
    let nodes = attn(line).nodes();
    let names: Vec<&str> = nodes.names();
    let place =
        |name: &str| names.iter().position(|other| *other == name).unwrap_or_else(|| panic!("{name}"));
    for [before, after] in
        [["A", "Q_1"], ["Q_1", "S_1"], ["S_1", "A_1"], ["A_2", "O_2"], ["O_2", "O"], ["O", "O_versus"]]
    {
        assert!(place(before) < place(after), "{before} {after}: {names:?}");
    }
    let out = attn(line).ok().out;
    for said in ["S, S_scaled, A: no such steps with --heads 2.", "V_2, S_1, S_scaled_1, A_1, O_1, S_2,"] {
        assert!(out.contains(said), "no `{said}` in\n{out}");
    }
}

#[test]
fn only_the_comparison_of_the_nodes_asked_for_is_written() {
    let line = "attend --words 'bat cave' --versus --causal";
    let csv = attn(&format!("{line} --only A_change --format csv")).ok().out;
    assert!(csv.starts_with(",bat,cave\n") && csv.contains("\ncave,0,0") && !csv.contains('#'), "{csv}");
    let outcome = attn(&format!("{line} --only A,X")).ok();
    assert!(outcome.out.contains("A_versus (2×2) = softmax(S_masked (2×2))"), "{}", outcome.out);
    assert!(outcome.out.contains("X (2×2) = given") && outcome.err.contains("X is the same in both."));
    attn(&format!("{line} --only Z")).refused(&["no node `Z`", "A_versus"]);
}

#[test]
fn each_side_can_be_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let line = "attend --q 1 --k '0; 0' --v '1; 3' --versus '--window 1'";
    attn(line).arg("--save").arg(format!("A_versus={}", file.display())).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "0,1\n");
}

#[test]
fn standard_input_serves_both_sides() {
    let line = "attend --q - --k '1 0; 0 1' --v '1 2; 3 4' --only A";
    let alone = attn(&format!("{line} --scale 3")).input("1 0\n0 2\n").nodes().matrix("A");
    let both = attn(&format!("{line} --versus '--scale 3'")).input("1 0\n0 2\n").nodes();
    assert!(both.matrix("A_versus").same_bits(&alone));
    let line = "attend --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4' --only Q --versus '--q -'";
    assert_eq!(
        attn(line).input("1 0\n0 2\n").nodes().matrix("Q_versus"),
        Matrix::of([[1.0, 0.0], [0.0, 2.0]])
    );
}

#[test]
fn numbers_may_be_negative_and_words_quoted() {
    let nodes = attn("attend --q 1 --k '1; 2' --v '1; 3' --only S_scaled --versus '--scale -2'").nodes();
    assert_eq!(nodes.matrix("S_scaled_versus"), Matrix::of([[-2.0, -4.0]]));
    let nodes = attn("attend --q 1 --k '1; 2' --v '1; 3' --only K --versus").arg("--k=\"-1; -2\"").nodes();
    assert_eq!(nodes.matrix("K_versus"), Matrix::of([[-1.0], [-2.0]]));
}

#[test]
fn what_cannot_stand_beside_it_is_refused() {
    let attend = "attend --words 'bat cave' --versus";
    for (options, words) in [
        ("", vec!["names no option", "--scale none"]),
        ("--scale 'none", vec!["not closed"]),
        (
            "--format json",
            vec![
                "in --versus: `--format` is not an option that changes the computation",
                "--scale",
                "--causal",
            ],
        ),
        ("--only A", vec!["`--only` is not an option"]),
        ("--save=O=o.csv", vec!["`--save=O=o.csv` is not an option"]),
        ("--versus --causal", vec!["`--versus` is not an option"]),
        ("--help", vec!["`--help` is not an option"]),
        ("--scael none", vec!["`--scael` is not an option"]),
        ("layer.npz", vec!["`layer.npz` is not an option"]),
        ("-2", vec!["`-2` is not an option"]),
        ("--", vec!["`--` is not an option"]),
        ("--score dots", vec!["in --versus: invalid value 'dots'", "dot, cosine"]),
        ("--scale", vec!["in --versus: a value is required for '--scale"]),
        ("--scale many", vec!["in --versus: --scale is `many`"]),
        ("--heads 3", vec!["in --versus: ", "cannot be split into 3 heads"]),
        ("--mask nowhere.csv", vec!["in --versus: nowhere.csv: no such file"]),
        ("--random 3,2", vec!["in --versus: ", "2 names for 3 tokens"]),
    ] {
        attn(attend).arg(options).refused(&words);
    }
    attn("demo mask")
        .arg("--versus")
        .arg("weights")
        .refused(&["`weights` is not an option", "--set --without --seed"]);
    attn("demo weights --versus '--seed 3'").refused(&["in --versus: --seed changes nothing here"]);
    attn("demo mask --versus '--set X=nowhere.csv'").refused(&["in --versus: nowhere.csv: no such file"]);
    attn("demo mask right --versus '--seed 3'").refused(&["--versus needs one demo, but you asked for 2"]);
    attn("demo --versus '--seed 3'").refused(&["--versus needs one demo"]);
    attn("demo mask --until A --versus '--seed 3'")
        .refused(&["--until chooses among the steps", "leave out"]);
}

#[test]
fn options_stand_before_what_ends_the_options() {
    let file = crate::golden::attend_bundle(&serde_json::json!({ "X": [[1.0, 2.0], [3.0, 4.0]] }));
    let line = format!("attend --only A --versus --causal -- {}", file.path().display());
    assert!(attn(&line).ok().out.contains("A_change"));
}

#[test]
fn both_together_hold_no_more_numbers_than_one_graph_may() {
    let mut base = Graph::new();
    base.given("X", Matrix::filled(3000, 3000, 1.0), Origin::Stated).unwrap();
    let mut other = Graph::new();
    other.given("X", Matrix::filled(3000, 3000, 2.0), Origin::Stated).unwrap();
    let error = side_by_side(base, other, "_versus").unwrap_err().to_string();
    assert!(error.starts_with("X_change, computed from X and X_versus: it would have"), "{error}");
}

#[test]
fn warnings_of_the_other_side_carry_its_names() {
    let outcome = attn("attend --random 2,2 --versus '--mask \"0 0; 1 1\" --mask-kind allow'").ok();
    assert_eq!(outcome.err.matches("warning").count(), 1, "{}", outcome.err);
    assert!(outcome.err.contains("A_versus: row 1 may attend to nothing"), "{}", outcome.err);
}

#[test]
fn a_picture_is_not_compared() {
    attn("attend --words 'bat cave' --only plane --versus --causal").refused(&[
        "plane is a picture",
        "--versus compares matrices",
        "leave out --only plane",
    ]);
    attn("demo similarity --only plane --versus '--set \"X=1 2; 3 4; 0 1\"'")
        .refused(&["plane is a picture"]);
}
