//! The demo of an induction head against NumPy with full weight matrices (tests/golden/induction.py).

use attn::matrix::Matrix;
use serde_json::Value;

use crate::common::attn;
use crate::documents::demo_numbers::{cell, node, number, told};
use crate::golden::{assert_close, json, list, matrix};

fn strength(case: &Value, name: &str) -> f64 {
    case[name].as_f64().unwrap()
}

/// The demo's own text with these strengths, or another text.
fn story(case: &Value) -> attn::story::Story {
    let strengths = ["beta_1", "beta_2", "gamma"].map(|name| (name, number(strength(case, name))));
    let tokens = ("tokens", matrix(&case["tokens"]));
    told("induction", &[&[tokens], &strengths[..]].concat()).unwrap()
}

#[test]
fn both_heads_and_the_prediction_are_those_of_full_weight_matrices() {
    let golden = json("induction.json");
    let cases = list(&golden, "cases");
    assert_eq!(cases.len(), 5);
    for (at, case) in cases.iter().enumerate() {
        let story = story(case);
        for (name, theirs) in case["nodes"].as_object().unwrap() {
            assert_close(&format!("case {at}: {name}"), node(&story, name), &matrix(theirs));
        }
    }
    let own = told("induction", &[]).unwrap();
    assert_close("the demo itself", node(&own, "P"), &matrix(&cases[0]["nodes"]["P"]));
}

#[test]
fn the_weights_of_the_last_query_are_their_closed_forms() {
    let golden = json("induction.json");
    let mut sharp = 0;
    for case in list(&golden, "cases") {
        let story = story(case);
        let last = node(&story, "A_1").rows();
        let before = node(&story, "A_1")[(last - 1, last - 2)];
        assert!((before - strength(case, "closed_1")).abs() < 1e-12);
        assert!((cell(&story, "closed_1") - strength(case, "closed_1")).abs() < 1e-12);
        // The second form is that of whole matches: a first head that is not sharp smears them.
        if strength(case, "beta_1") < 20.0 {
            continue;
        }
        sharp += 1;
        let largest = node(&story, "A_2").row(last - 1).fold(0.0, f64::max);
        for ours in [largest, cell(&story, "closed_2")] {
            assert!((ours - strength(case, "closed_2")).abs() < 1e-7, "{ours}");
        }
        assert!((cell(&story, "m_2") - strength(case, "m")).abs() < 1e-7);
        assert!((cell(&story, "needed") - strength(case, "needed")).abs() < 1e-6);
    }
    assert_eq!(sharp, 4);
}

#[test]
fn the_strength_that_is_needed_gives_what_was_wanted() {
    let golden = json("induction.json");
    let [_, of_six, ..] = list(&golden, "needed") else { panic!("four sizes") };
    let story = told("induction", &[("beta_1", number(40.0))]).unwrap();
    assert!((cell(&story, "needed") - strength(of_six, "beta")).abs() < 1e-12);
    let needed = number(strength(of_six, "beta"));
    let story = told("induction", &[("beta_1", number(40.0)), ("beta_2", needed)]).unwrap();
    assert!((node(&story, "A_2")[(5, 3)] - 0.99).abs() < 1e-12);
}

#[test]
fn a_text_is_rows_with_one_1_each() {
    for tokens in
        [Matrix::of([[1.0, 0.0]]), Matrix::of([[1.0, 1.0], [0.0, 1.0]]), Matrix::of([[0.5, 0.5], [0.0, 1.0]])]
    {
        let error = told("induction", &[("tokens", tokens)]).unwrap_err().to_string();
        assert!(error.contains("tokens needs at least two rows, each with a single 1"), "{error}");
    }
    attn("demo induction --set beta_2=1,2").refused(&["beta_2"]);
}
