//! `--gradient`: what it says, and what it refuses.

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
