//! The demos about gradients against PyTorch's autograd (tests/golden/gradient_demos.py).

use attn::matrix::Matrix;

use crate::common::attn;
use crate::demo_numbers::{cell, node, told};

#[test]
fn every_gradient_of_the_demos_is_that_of_pytorch() {
    let golden = crate::golden::json("gradient_demos.json");
    let cases = crate::golden::list(&golden, "cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let demo = crate::golden::string(case, "demo");
        let story = told(demo, &[]).unwrap();
        let nodes = case["nodes"].as_object().unwrap();
        assert!(nodes.len() >= 6, "{demo}");
        for (name, theirs) in nodes {
            let what = format!("{demo}: {name}");
            crate::golden::assert_close(&what, node(&story, name), &crate::golden::matrix(theirs));
        }
    }
}

#[test]
fn moving_one_weight_moves_the_loss_as_its_gradient_says() {
    for at in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let nudge = Matrix::from_fn(2, 2, |i, j| if (i, j) == at { 1e-6 } else { 0.0 });
        let story = told("backward", &[("nudge", nudge)]).unwrap();
        let slope = cell(&story, "loss_change") / 1e-6;
        let gradient = node(&story, "dW_Q")[at];
        assert!((slope - gradient).abs() < 1e-4, "{at:?}: {slope} but {gradient}");
    }
}

#[test]
fn a_gradient_that_is_the_same_for_all_weights_changes_no_score() {
    let story = told("backward", &[("da", Matrix::filled(1, 3, 2.5))]).unwrap();
    assert!(node(&story, "ds").cells().all(|x| x.abs() < 1e-15));
}

#[test]
fn what_the_demos_follow_is_one_row_of_scores() {
    for demo in ["backward", "saturated"] {
        attn(&format!("demo {demo} --set"))
            .arg("s=1 2; 3 4")
            .refused(&["s is 2×2, and the demo follows one row of"]);
    }
}
