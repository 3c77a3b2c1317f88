//! `--gradient` and `--loss`: what they say, and what they refuse.

use crate::common::attn;

const BAT: &str = "attend --words 'bat cave racket' --causal";

/// Of W_V alone, O is linear: the gradient of O[cave,animals] with respect to W_V[animals,animals] is the mean of the first
/// coordinates (3, 4 and 0) under the weights of “cave”, which is O[cave,animals] itself.
#[test]
fn the_last_sentence_names_the_number_with_the_largest_influence() {
    let nodes = attn(&format!("{BAT} --gradient O[cave,1]")).nodes();
    let o = nodes.matrix("O")[(1, 0)];
    assert!((nodes.matrix("dW_V")[(0, 0)] - o).abs() < 1e-12);
    let said = attn(&format!("{BAT} --gradient O[cave,1] --width 200")).ok().out;
    let sentence =
        format!("W_V[animals,animals] has the largest influence on O[cave,animals]: its gradient is {o:.4}.");
    assert!(said.contains(&sentence), "{said}");
}

#[test]
fn the_backward_pass_is_told_after_the_forward_one_in_one_sentence_for_each_part() {
    let said = attn(&format!("{BAT} --gradient ones --brief --width 200")).ok().out;
    let sentences = [
        "The result, one row for each query.",
        "Now backward: how fast does the sum of O change with every number before it?",
        "What each weight did to the result:",
        "Back through the softmax.",
        "Back through the mask:",
        "Back through the scale:",
        "What each query, key and value did.",
        "What each weight matrix did:",
        "What each token did:",
    ];
    let places: Vec<usize> =
        sentences.iter().map(|text| said.find(text).unwrap_or_else(|| panic!("{text}: {said}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn with_several_heads_each_is_told_for_itself() {
    let said = attn("attend --random 3,4 --heads 2 --gradient ones").ok().out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let places: Vec<usize> = [
        "What each number of the joined heads did.",
        "Head 1: back through the softmax.",
        "Head 2: back through the softmax.",
        "What each query, key and value of each head did.",
        "The gradients of the heads stand side by side.",
    ]
    .into_iter()
    .map(|text| said.find(text).unwrap_or_else(|| panic!("{text}: {said}")))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_number_of_the_backward_pass_is_explained_as_any_other() {
    let said = attn(&format!("{BAT} --gradient O[cave,1] --explain dS[cave,bat] --depth all")).ok().out;
    for text in ["dS_scaled[cave,bat]", "dA_centred[cave,bat]", "dO[cave,animals]", "V[bat,animals]"] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn the_same_start_gives_the_same_gradients_however_it_is_given() {
    let from = |start: &str| attn(&format!("{BAT} --gradient {start}")).nodes().matrix("dX").clone();
    assert_eq!(from("O[cave,1]"), from("'dO=0 0; 1 0; 0 0'"));
    assert_eq!(from("ones"), from("'dO=1 1; 1 1; 1 1'"));
    assert_eq!(from("O"), from("ones"));
    assert_eq!(from("O[cave]"), from("'dO=0 0; 1 1; 0 0'"));
}

#[test]
fn a_start_that_is_none_is_refused_in_plain_words() {
    for (start, words) in [
        ("Z[1,1]", &["--gradient", "no node `Z`"][..]),
        ("O[9,1]", &["has no row 9"]),
        ("'dO=1 2'", &["dO is 1×2, but O is 3×2", "one number for each cell of O"]),
        ("dO=", &["names no gradient", "dO=FILE"]),
        ("'O=1 2'", &["names no gradient"]),
        ("'dO=1 nan; 1 1; 1 1'", &["nan"]),
        ("X", &["X depends on none of the numbers"]),
    ] {
        attn(&format!("{BAT} --gradient {start}")).refused(words);
    }
    attn(&format!("{BAT} --fast --gradient ones")).refused(&["--fast does not form"]);
}

#[test]
fn of_a_fully_masked_row_every_gradient_is_zero() {
    let line = "attend --q '1 0; 0 1' --k '1 2; 3 4' --v '1 2; 3 4' --mask '0 0; 1 1' --mask-kind allow --gradient ones";
    let nodes = attn(line).nodes();
    assert!(["dS", "dQ"].into_iter().all(|name| nodes.matrix(name).row(0).all(|x| x == 0.0)));
    assert!(nodes.matrix("dQ").row(1).any(|x| x != 0.0));
}

const LOSS: &str = "attend --words 'bat cave racket' --causal --loss cross-entropy --targets animals,-,2";

/// softmax(3, 3) = (1/2, 1/2), so the first row costs ln 2, and half of it in the mean over two rows.
#[test]
fn a_loss_of_the_result_is_told_before_the_backward_pass() {
    let said = attn(&format!("{LOSS} --brief --width 200")).ok().out;
    let sentences = [
        "The result, one row for each query.",
        "The loss: each row of O is read as logits",
        "How surprising is a target?",
        "The loss L is the mean over the rows that have a target.",
        "Now backward: how fast does L change with every number before it?",
        "Back through the mean to the loss of each target.",
        "Back through the logarithm and the softmax at once",
        "What each weight did to the result:",
    ];
    let places: Vec<usize> =
        sentences.iter().map(|text| said.find(text).unwrap_or_else(|| panic!("{text}: {said}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let whole = attn(&format!("{LOSS} --width 200")).ok().out;
    assert!(whole.contains("influence on L than W_V[animals,animals]: its gradient is −0.75."), "{whole}");
    let nodes = attn(LOSS).nodes();
    assert!((nodes.matrix("L_rows")[(0, 0)] - attn::elementary::ln(2.0)).abs() < 1e-15);
    assert_eq!(
        nodes.matrix("L")[(0, 0)],
        (nodes.matrix("L_rows")[(0, 0)] + nodes.matrix("L_rows")[(2, 0)]) / 2.0
    );
    let d_o = nodes.matrix("dO");
    assert_eq!((d_o[(0, 0)], d_o[(0, 1)]), (-0.25, 0.25));
    assert!(d_o.row(1).all(|x| x == 0.0), "a row without a target counts for nothing");
}

#[test]
fn every_number_from_the_loss_to_a_weight_is_explained() {
    let said =
        attn(&format!("{LOSS} --explain L --explain 'dO[2,1]' --explain 'dW_Q[2,1]' --depth all")).ok().out;
    for text in [
        "L[1,1]",
        "L_rows[bat,sum]",
        "ln(exp(",
        "dO[cave,animals]",
        "dW_Q[sport,animals]",
        "dL_rows[bat,sum]",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn targets_are_columns_by_name_or_number_in_place_or_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("targets.txt");
    std::fs::write(&file, "animals\nnone\nsport\n").unwrap();
    let file = file.to_str().unwrap();
    let of = |targets: &str| {
        let line = "attend --words 'bat cave racket' --causal --loss cross-entropy --targets";
        attn(line).arg(targets).nodes().matrix("dX").clone()
    };
    let expected = attn(LOSS).nodes().matrix("dX").clone();
    for targets in ["1,-,2", "1, none, sport", file] {
        assert_eq!(of(targets), expected, "{targets}");
    }
    assert_ne!(of("2,-,2"), expected);
    assert_eq!(of("-,2,1").rows(), 3, "a list may begin with a row that does not count");
}

#[test]
fn a_loss_that_cannot_be_computed_is_refused_in_plain_words() {
    let loss = "--loss cross-entropy --targets";
    for (options, words) in [
        ("--loss cross-entropy".to_string(), &["--targets"][..]),
        ("--targets 1,2,1".to_string(), &["--loss"]),
        (format!("{loss} 1,2,1 --gradient ones"), &["--gradient", "--loss"]),
        ("--loss mse --targets 1,2,1".to_string(), &["mse", "cross-entropy"]),
        (format!("{loss} 1"), &["there is 1 target, but O has 3 rows", "or - for a row that does not count"]),
        (format!("{loss} 1,2,3"), &["O (3×2) has no column 3"]),
        (format!("{loss} 1,bird,2"), &["no column `bird`", "animals sport"]),
        (format!("{loss} -,-,-"), &["no row has a target"]),
        (format!("{loss} ./none.txt"), &["no such file"]),
        (format!("{loss} 1,2,1 --fast"), &["--loss reads steps that --fast does not form"]),
    ] {
        attn(&format!("attend --words 'bat cave racket' {options}")).refused(words);
    }
}

#[test]
fn a_loss_has_a_page_latex_and_a_comparison_like_every_other_step() {
    for format in ["html", "latex", "markdown", "numpy", "csv"] {
        let said = attn(&format!("{LOSS} --only Y_hat,L,dO --format {format}")).ok().out;
        assert!(said.contains("0.9776"), "{format}: {said}");
    }
    let said = attn(&format!("{LOSS} --versus '--scale none' --only L,dW_V")).ok().out;
    assert!(said.contains("dW_V"), "{said}");
    assert!(attn(&format!("{LOSS} --format html --live --only O,dO")).ok().out.contains("dL_all"));
}
