//! What a student may have meant by a step, and numbers that are no attention gone wrong.

use crate::common::one_in;
use crate::mistakes::{answer, by_hand, named};
use attn::attention::Mask;
use attn::diagnose::{Answer, Diagnosis, Examiner, Resemblance, Task, Tolerance, Verdict};
use attn::graph::Graph;
use attn::graph::recipes::{AttendInputs, Hiding, Recipe, Scale};
use attn::matrix::Matrix;

/// Five causal tokens from drawn X and square weights, one head unless told.
fn task(heads: usize) -> Task {
    with_queries(heads, 0.7)
}

/// The same with queries of another size.
fn with_queries(heads: usize, size: f64) -> Task {
    let mut stream = attn::random::LegacyStream::seeded(3);
    let mut draw =
        |rows, cols, size: f64| Some(stream.standard_normal_matrix(rows, cols).map(|x| size * x).into());
    let inputs = AttendInputs {
        x: draw(5, 4, 1.0),
        w_q: draw(4, 4, size),
        w_k: draw(4, 4, 0.7),
        w_v: draw(4, 4, 0.7),
        ..AttendInputs::default()
    };
    Task::new(Recipe { heads, kv_heads: heads, ..Recipe::causal() }, inputs).unwrap()
}

fn examine(task: &Task, answers: &[Answer]) -> Diagnosis {
    Examiner::new(task.clone(), Tolerance::default()).examine(answers).unwrap()
}

fn of(graph: &Graph, name: &str) -> Matrix {
    graph.matrix(graph.require(name).unwrap()).unwrap().clone()
}

fn right(task: &Task, name: &str) -> Matrix {
    of(task.right(), name)
}

fn ids(diagnosis: &Diagnosis) -> Vec<Vec<String>> {
    named(diagnosis).into_iter().map(|ids| ids.into_iter().collect()).collect()
}

#[test]
fn scores_that_are_scaled_or_masked_already_are_the_same_scores() {
    let task = task(1);
    let masked = right(&task, "S_masked");
    let billion = masked.map(|x| if x == f64::NEG_INFINITY { -1e9 } else { x });
    for (scores, form) in
        [(right(&task, "S_scaled"), "scaled-scores"), (masked, "masked-scores"), (billion, "masked-scores")]
    {
        let diagnosis = examine(&task, &[answer("S", &scores), answer("O", &right(&task, "O"))]);
        assert!(diagnosis.is_right());
        assert!(matches!(diagnosis.nodes[0].verdict, Verdict::AnotherForm(known) if known.id == form));
    }
}

#[test]
fn a_wrong_scale_is_named_in_scores_that_hold_it_and_what_follows_from_them_is_right() {
    let task = task(1);
    // Width 4: divided by 4 where 2 belongs, so that half of the right scaled scores is what comes out.
    let scores = right(&task, "S_scaled").map(|x| x / 2.0);
    let weights = softmax_of_causal(&scores);
    let diagnosis = examine(&task, &[answer("S", &scores), answer("A", &weights)]);
    // The tokens and the values are as wide as the keys here; tokens over √2 give half of every score.
    assert_eq!(
        ids(&diagnosis),
        [["scale-by-d"], ["scale-model-width"], ["tokens-scaled"], ["scale-by-value-width"]]
    );
    assert_eq!(diagnosis.nodes[0].read_as.as_deref(), Some("S_scaled"));
    assert!(matches!(diagnosis.nodes[1].verdict, Verdict::Follows));
}

/// The softmax of the visible scores of each row, written out.
fn softmax_of_causal(scores: &Matrix) -> Matrix {
    let power = |i: usize, j: usize| if j <= i { attn::elementary::exp(scores[(i, j)]) } else { 0.0 };
    let n = scores.rows();
    let sums: Vec<f64> = (0..n).map(|i| (0..n).map(|j| power(i, j)).sum()).collect();
    Matrix::from_fn(n, n, |i, j| power(i, j) / sums[i])
}

#[test]
fn keys_handed_in_as_values_and_queries_exchanged_with_keys_are_named_there() {
    let task = task(1);
    let (q, k, x) = (right(&task, "Q"), right(&task, "K"), right(&task, "X"));
    assert_eq!(ids(&examine(&task, &[answer("V", &k)])), [["values-are-keys"]]);
    assert_eq!(ids(&examine(&task, &[answer("V", &x)])), [["values-unprojected"]]);
    let diagnosis = examine(&task, &[answer("Q", &k), answer("K", &q)]);
    assert_eq!(ids(&diagnosis)[0], ["qk-swapped"]);
    assert!(matches!(diagnosis.nodes[1].verdict, Verdict::Follows), "{:?}", diagnosis.nodes[1].verdict);
}

#[test]
fn a_stack_of_queries_is_one_matrix_a_head() {
    let task = task(2);
    let stack = Answer {
        matrices: vec![right(&task, "Q_1"), right(&task, "Q_2")],
        ..answer("Q", &right(&task, "Q_1"))
    };
    assert!(examine(&task, &[stack]).is_right());
}

#[test]
fn numbers_that_say_nothing_are_blamed_on_no_mistake() {
    for heads in [1, 2].into_iter().step_by(one_in(2)) {
        let task = task(heads);
        let all = |value: f64| Matrix::filled(5, 4, value);
        for (handed_in, instead) in [
            (all(0.0), Resemblance::Zeros),
            (right(&task, "X"), Resemblance::Node("X".into())),
            (right(&task, "V"), Resemblance::Node("V".into())),
        ] {
            let diagnosis = examine(&task, &[answer("O", &handed_in)]);
            assert_eq!(diagnosis.nodes[0].resembles, Some(instead));
            assert!(named(&diagnosis).is_empty(), "{:?}", ids(&diagnosis));
        }
        for value in [1.0, -0.5, 1e6] {
            let diagnosis = examine(&task, &[answer("O", &all(value))]);
            assert!(!diagnosis.is_right() && named(&diagnosis).is_empty(), "{value}: {:?}", ids(&diagnosis));
        }
    }
    // Weights handed in as the result have another shape, and are known all the same.
    let task = task(1);
    let diagnosis = examine(&task, &[answer("O", &right(&task, "A"))]);
    assert_eq!(diagnosis.nodes[0].resembles, Some(Resemblance::Node("A".into())));
}

#[test]
fn equal_weights_are_called_equal_weights() {
    let task = task(1);
    let v = right(&task, "V");
    // The mean of what each token may see.
    let mean = Matrix::from_fn(5, 4, |i, j| (0..=i).map(|k| v[(k, j)]).sum::<f64>() / (i + 1) as f64);
    let diagnosis = examine(&task, &[answer("O", &mean)]);
    assert!(ids(&diagnosis).contains(&vec!["uniform-weights".to_string()]), "{:?}", ids(&diagnosis));
}

#[test]
fn a_row_with_nothing_to_see_may_be_filled_with_minus_a_billion() {
    let task = task(1);
    // A strict mask hides all of the first row: −1e9 everywhere in it weighs all five tokens the same.
    let (s, v) = (right(&task, "S_scaled"), right(&task, "V"));
    let weight = |i: usize, j: usize| match (i, j < i) {
        (0, _) => 1.0,
        (_, true) => attn::elementary::exp(s[(i, j)]),
        (_, false) => 0.0,
    };
    let sum = |i: usize| (0..5).map(|j| weight(i, j)).sum::<f64>();
    let o = Matrix::from_fn(5, 4, |i, c| (0..5).map(|j| weight(i, j) * v[(j, c)]).sum::<f64>() / sum(i));
    let names = ids(&examine(&task, &[answer("O", &o)]));
    assert!(names.contains(&vec!["mask-strict".to_string()]), "{names:?}");
}

#[test]
fn a_mask_of_minus_a_billion_hides_no_other_mistake() {
    let task = task(1);
    let unscaled = right(&task, "S");
    let masked = Matrix::from_fn(5, 5, |i, j| if j <= i { unscaled[(i, j)] } else { -1e9 });
    assert_eq!(ids(&examine(&task, &[answer("S_masked", &masked)])), [["no-scale"]]);
}

#[test]
fn zeros_that_round_everything_away_are_not_right() {
    let task = task(1);
    let small = right(&task, "A").map(|x| x / 20.0);
    assert!(small.cells().all(|x| x <= 0.05));
    let diagnosis = examine(&task, &[by_hand("A", &Matrix::filled(5, 5, 0.0), 1)]);
    assert!(!diagnosis.is_right());
}

#[test]
fn one_number_of_many_digits_is_enough_for_a_single_mistake() {
    let given = |cells: &[f64]| Some(Matrix::from_row_major(1, cells.len(), cells).unwrap().into());
    let two = Some(Matrix::of([[0.9, 0.4], [-0.3, 1.1]]).into());
    let v = Some(Matrix::of([[0.2], [0.9]]).into());
    let inputs = AttendInputs { q: given(&[1.2, -0.7]), k: two, v, ..AttendInputs::default() };
    let task = Task::new(Recipe::default(), inputs).unwrap();
    // Scores 0.8 and −1.13 unscaled: (0.2 e^0.8 + 0.9 e^−1.13) / (e^0.8 + e^−1.13).
    let (a, b) = (attn::elementary::exp(0.8), attn::elementary::exp(-1.13));
    let o = (0.2 * a + 0.9 * b) / (a + b);
    // With one query and two keys, roots of their numbers are the same scales as others.
    assert_eq!(ids(&examine(&task, &[answer("O", &Matrix::of([[o]]))]))[0], ["no-scale"]);
}

#[test]
fn mistakes_made_after_a_step_are_not_said_to_be_hidden_in_it() {
    let task = task(2);
    let stack = Answer {
        matrices: vec![right(&task, "A_1"), right(&task, "A_2")],
        ..answer("A", &right(&task, "A_1"))
    };
    let diagnosis = examine(&task, &[stack]);
    assert!(diagnosis.is_right());
    assert!(
        diagnosis.undetectable.is_empty(),
        "{:?}",
        diagnosis.undetectable.iter().map(|m| m.id.clone()).collect::<Vec<_>>()
    );
}

#[test]
fn digits_that_hide_a_mistake_are_told_from_inputs_that_do() {
    // Scores near 0 give weights that are nearly even, whatever the scale.
    let task = with_queries(1, 0.001);
    let o = right(&task, "O");
    let coarse = |answer| examine(&task, &[answer]).too_coarse.iter().any(|mistake| mistake.id == "no-scale");
    assert!(coarse(by_hand("O", &o, 1)) && !coarse(answer("O", &o)));
}

#[test]
fn a_step_of_another_shape_is_not_computed_with() {
    let task = task(1);
    let large = Matrix::filled(700, 700, 0.5);
    let diagnosis = examine(&task, &[answer("Q", &large), answer("O", &Matrix::filled(5, 4, 0.25))]);
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::OtherShape(..)));
    assert!(matches!(diagnosis.nodes[1].verdict, Verdict::Unjudged));
    let diagnosis = examine(&task, &[answer("Q", &large), answer("O", &right(&task, "O"))]);
    assert!(matches!(diagnosis.nodes[1].verdict, Verdict::Right(_)));
}

#[test]
fn an_empty_matrix_is_another_shape_and_no_panic() {
    let task = task(1);
    let diagnosis = examine(&task, &[answer("O", &Matrix::filled(0, 0, 0.0))]);
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::OtherShape(..)));
}

#[test]
fn what_the_recipes_of_mistakes_compute_is_what_they_say() {
    // Scores of zero where the scale is 0, and −1e9 where nothing is visible.
    let task = task(1);
    let even = task.with(&[attn::diagnose::Change::setting("scale", Scale::Number(0.0))]);
    assert!(of(&even, "S_scaled").cells().all(|x| x == 0.0));
    let strict = Mask { hides_own: true, ..Recipe::causal().mask };
    let filled = [("mask", serde_json::json!(strict)), ("hiding", serde_json::json!(Hiding::Replaced(-1e9)))]
        .map(|(path, value)| attn::diagnose::Change::setting(path, value));
    assert!(of(&task.with(&filled), "S_masked").row(0).all(|x| x == -1e9));
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn noise_in_several_steps_is_wrong_in_the_first_and_blamed_on_nothing() {
    let mut stream = attn::random::LegacyStream::seeded(5);
    for heads in [1, 2] {
        let task = task(heads);
        let mut noise =
            |name: &str| answer(name, &stream.standard_normal_matrix(5, if name == "O" { 4 } else { 5 }));
        let names = if heads == 1 { vec!["S", "A", "O"] } else { vec!["S_1", "A_1", "S_2", "A_2", "O"] };
        let answers: Vec<Answer> = names.into_iter().map(&mut noise).collect();
        let diagnosis = examine(&task, &answers);
        assert!(!diagnosis.is_right() && diagnosis.nodes.iter().all(|node| node.mistakes.is_empty()));
    }
}

#[test]
fn scores_with_one_number_added_to_each_row_are_right_in_another_form() {
    let task = task(1);
    let (scores, weights) = (right(&task, "S_scaled"), right(&task, "A"));
    let moved = Matrix::from_fn(scores.rows(), scores.cols(), |i, j| scores[(i, j)] - 1.5 * i as f64 - 0.25);
    let diagnosis = examine(&task, &[answer("S_scaled", &moved), answer("A", &weights)]);
    assert!(
        matches!(diagnosis.nodes[0].verdict, Verdict::AnotherForm(_)),
        "{:?}",
        diagnosis.nodes[0].verdict
    );
    assert!(diagnosis.is_right());
    // What is added to columns is not cancelled.
    let moved = Matrix::from_fn(scores.rows(), scores.cols(), |i, j| scores[(i, j)] - 1.5 * j as f64);
    assert!(!examine(&task, &[answer("S_scaled", &moved)]).is_right());
}
