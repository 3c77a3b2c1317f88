//! The demos about gradients against PyTorch's autograd (tests/golden/gradient_demos.py).

use attn::elementary::ln;
use attn::matrix::Matrix;

use crate::common::attn;
use crate::documents::demo_numbers::{cell, node, told};

#[test]
fn every_gradient_of_the_demos_is_that_of_pytorch() {
    let golden = crate::golden::json("gradient_demos.json");
    let cases = crate::golden::list(&golden, "cases");
    assert_eq!(cases.len(), 3);
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
        for size in [0.5, 0.003, 1e-6, -1e-6] {
            let nudge = Matrix::from_fn(2, 2, |i, j| if (i, j) == at { size } else { 0.0 });
            let story = told("backward", &[("nudge", nudge)]).unwrap();
            // A slope belongs to a move of 1, whatever the move was; its sign is that of the move.
            let slope = cell(&story, "slope") * f64::signum(size);
            assert!((slope - cell(&story, "loss_change") / size).abs() < 1e-15, "{at:?} {size}");
            let gradient = node(&story, "dW_Q")[at];
            assert!(
                (cell(&story, "slope_by_rules") * f64::signum(size) - gradient).abs() < 1e-15,
                "{at:?} {size}"
            );
            assert!(size.abs() > 1e-6 || (slope - gradient).abs() < 1e-4, "{at:?}: {slope} but {gradient}");
        }
    }
}

#[test]
fn a_nudge_that_is_too_small_is_lost_in_rounding() {
    let error = |size: f64| {
        let story = told("backward", &[("nudge", Matrix::of([[size, 0.0], [0.0, 0.0]]))]).unwrap();
        (cell(&story, "slope") - cell(&story, "slope_by_rules")).abs()
    };
    assert!(error(1e-3) > error(1e-5) && error(1e-5) > error(1e-7), "smaller is better at first");
    assert!(error(1e-13) > 1e3 * error(1e-8), "{} {}", error(1e-13), error(1e-8));
}

#[test]
fn a_move_of_0_has_no_slope_and_a_small_one_is_said_not_to_be_0() {
    let said = |size: f64| {
        let story = told("backward", &[("nudge", Matrix::of([[size, 0.0], [0.0, 0.0]]))]).unwrap();
        format!("{:?}", story.steps.last().unwrap().notice)
    };
    for (size, sentence) in
        [(0.0, "0 divided by 0 is no slope"), (1e-12, "The move is not 0"), (1e-5, "The move is not 0")]
    {
        assert!(said(size).contains(sentence), "{size}: {}", said(size));
    }
    assert!(!said(1e-3).contains("not 0") && !said(1e-12).contains("no slope"));
}

/// The sentences about the steps of a descent are true of the steps that were made.
#[test]
fn a_descent_is_told_as_it_went() {
    let told_of = |set: &[(&str, f64)]| {
        let set: Vec<(&str, Matrix)> =
            set.iter().map(|(name, x)| (*name, Matrix::filled(1, 1, *x))).collect();
        let story = told("descent", &set).unwrap();
        story.steps.iter().map(|step| format!("{} {:?} ", step.text, step.notice)).collect::<String>()
    };
    let own = told_of(&[]);
    for sentence in ["hardly move", "a larger learning rate", "jumps from one side", "so do the steps"] {
        assert!(own.contains(sentence), "{sentence}: {own}");
    }
    let wild = told_of(&[("rate", 3.0)]);
    assert!(!wild.contains("hardly move") && !wild.contains("so do the steps"), "{wild}");
    for slow in [0.1, -0.1] {
        let slow = told_of(&[("rate_far", slow)]);
        assert!(!slow.contains("larger learning rate") && !slow.contains("jumps"), "{slow}");
    }
}

#[test]
fn a_gradient_that_is_the_same_for_all_weights_changes_no_score() {
    let story = told("backward", &[("da", Matrix::filled(1, 3, 2.5))]).unwrap();
    assert!(node(&story, "ds").cells().all(|x| x.abs() < 1e-15));
}

/// The scores of “cave” and “racket” are 2 w1 and 2 w2 above that of “bat”: the wanted weights 0.2, 0.7 and 0.1 are those of
/// w = (ln 3.5, ln 0.5) / 2. There the loss is −0.2 ln 0.2 − 0.7 ln 0.7 − 0.1 ln 0.1, and there is no way further down.
#[test]
fn a_descent_that_begins_at_the_goal_stays_there() {
    let goal = Matrix::of([[ln(3.5) / 2.0, ln(0.5) / 2.0]]);
    let story = told("descent", &[("w_0", goal)]).unwrap();
    assert!(node(&story, "slopes").cells().all(|x| x.abs() < 1e-15));
    let entropy: f64 = [0.2, 0.7, 0.1].into_iter().map(|y| -y * ln(y)).sum();
    assert!(node(&story, "losses_far").cells().all(|loss| (loss - entropy).abs() < 1e-15));
    // From anywhere else the ten steps of the demo come near.
    let from_afar = told("descent", &[]).unwrap();
    assert!((node(&from_afar, "losses")[(10, 0)] - entropy).abs() < 1e-4);
}

#[test]
fn a_learning_rate_of_0_goes_nowhere_and_a_large_one_jumps_over_the_goal() {
    let still = told("descent", &[("rate", Matrix::filled(1, 1, 0.0))]).unwrap();
    assert!(node(&still, "path").row(10).eq([-1.0, 1.0]));
    let losses = |rate: f64| -> Vec<f64> {
        let story = told("descent", &[("rate", Matrix::filled(1, 1, rate))]).unwrap();
        node(&story, "losses").cells().collect()
    };
    assert!(losses(0.5).is_sorted_by(|before, after| before > after));
    assert!(!losses(3.0).is_sorted_by(|before, after| before > after));
}

#[test]
fn the_path_of_the_descent_is_drawn_and_each_of_its_numbers_explained() {
    let said = attn("demo descent").ok().out;
    for text in ["● w_0 (−1, 1)", "·w_1 (−0.32, 0.23)", "w1 →", "over the goal"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(!said.contains("w_0′"), "the end of a step is the begin of the next one: {said}");
    let said = attn("demo descent --explain w_4[1,1] --depth 3").ok().out;
    for text in ["w_4[bat,1]", "step_4[bat,1]", "dw_3[bat,1]", "rate[1,1]", "ds_3[bat,cave]"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let html = attn("demo descent --only plane --format html").ok().out;
    assert!(html.contains("<figure class=\"plane\">") && html.contains("w_10 (0.62, −0.36)"), "{html}");
}

#[test]
fn a_descent_needs_two_weights_and_a_rate_of_one_number() {
    attn("demo descent --set").arg("w_0=1 2 3").refused(&["w_0 is 1×3", "two weights"]);
    attn("demo descent --set").arg("rate=1 2").refused(&["rate is 1×2, but it is one number"]);
}

#[test]
fn what_the_demos_follow_is_one_row_of_scores() {
    for demo in ["backward", "saturated"] {
        attn(&format!("demo {demo} --set"))
            .arg("s=1 2; 3 4")
            .refused(&["s is 2×2, and the demo follows one row of"]);
    }
}
