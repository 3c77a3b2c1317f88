//! Submissions of several nodes, other right forms, results that mean nothing, and inputs that cannot tell.

use crate::common::one_in;
use crate::mistakes::{Case, answer, by_hand, cases, named};
use attn::attention::Mask;
use attn::diagnose::{Answer, Examiner, Task, Tolerance, Verdict, catalogue, suggest};
use attn::graph::Given;
use attn::graph::recipes::{AttendInputs, Recipe};
use attn::matrix::Matrix;
use attn::random::LegacyStream;

/// The steps of a case that a student might hand in, in the order of computing.
fn steps(case: &Case, steps: &serde_json::Value) -> Vec<Answer> {
    let known = |name: &str| case.examiner.task().right().find(name).is_some();
    let steps = steps.as_object().expect("steps").iter().filter(|(name, _)| known(name));
    steps.map(|(name, value)| answer(name, &crate::golden::matrix(value))).collect()
}

#[test]
fn one_slip_is_reported_once_however_many_steps_are_handed_in() {
    let mut checked = 0;
    for case in cases() {
        for wrong in case.wrong.iter().filter(|wrong| wrong.value.get("steps").is_some()) {
            let mut answers = steps(case, &wrong.value["steps"]);
            answers.push(answer("O", &wrong.result));
            let diagnosis = case.examiner.examine(&answers).unwrap();
            let slips: Vec<&str> = diagnosis
                .nodes
                .iter()
                .filter(|node| matches!(node.verdict, Verdict::Wrong(_) | Verdict::OtherShape(..)))
                .map(|node| node.name.as_str())
                .collect();
            assert!(slips.len() <= 1, "{}: {} is reported at {slips:?}", case.name, wrong.label);
            if let Some(ids) = named(&diagnosis).first() {
                assert!(
                    named(&diagnosis).contains(&wrong.ids),
                    "{}: {} came back as {ids:?}",
                    case.name,
                    wrong.label
                );
                checked += 1;
            }
        }
    }
    assert!(checked >= 40, "only {checked}");
}

#[test]
fn no_mistake_is_named_for_noise() {
    let mut stream = LegacyStream::seeded(11);
    let mut noisy: Vec<(&Case, f64, Matrix)> = Vec::new();
    for case in cases().iter().step_by(one_in(6)) {
        for size in [1e-3, 1e-2, 0.1, 1.0, 10.0] {
            let noise = || stream.standard_normal_matrix(case.right.rows(), case.right.cols());
            noisy
                .extend(std::iter::repeat_with(noise).take(10 / one_in(10)).map(|noise| (case, size, noise)));
        }
    }
    let judge = |(case, size, noise): &(&Case, f64, Matrix)| {
        let (rows, cols) = (case.right.rows(), case.right.cols());
        let near = Matrix::from_fn(rows, cols, |i, j| case.right[(i, j)] + size * noise[(i, j)]);
        for answer in [answer("O", &near), answer("O", noise), by_hand("O", &near, 2), by_hand("O", &near, 1)]
        {
            let diagnosis = case.examiner.examine(&[answer]).unwrap();
            assert!(named(&diagnosis).is_empty(), "{}, {size}: {:?}", case.name, named(&diagnosis));
        }
    };
    // The last of the long tests: on two cores.
    let (half, other) = noisy.split_at(noisy.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| other.iter().for_each(judge));
        half.iter().for_each(judge);
    });
}

fn given(rows: &[&[f64]]) -> Option<Given> {
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
    Some(Matrix::from_rows(&rows).unwrap().into())
}

/// Two queries, keys and values of width 4: the scale is exactly 1/2.
fn halved(recipe: Recipe) -> Examiner {
    let inputs = AttendInputs {
        q: given(&[&[2.0, 0.0, 0.0, 0.0], &[0.0, 2.0, 0.0, 2.0]]),
        k: given(&[&[1.0, 0.0, 3.0, 0.0], &[0.0, 1.0, 0.0, 2.0]]),
        v: given(&[&[1.0, 0.0], &[0.0, 1.0]]),
        ..AttendInputs::default()
    };
    Examiner::new(Task::new(recipe, inputs).unwrap(), Tolerance::default())
}

#[test]
fn queries_scaled_before_the_product_are_another_right_form() {
    // S = Q Kᵀ is [2 0; 0 6]; from queries that were halved it is [1 0; 0 3].
    let diagnosis =
        halved(Recipe::default()).examine(&[answer("S", &Matrix::of([[1.0, 0.0], [0.0, 3.0]]))]).unwrap();
    assert!(diagnosis.is_right());
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::AnotherForm(form) if form.id == "scaled-scores"));
}

#[test]
fn a_very_negative_number_hides_as_well_as_minus_infinity_but_not_a_whole_row() {
    let masked = |hidden: f64| Matrix::of([[1.0, hidden], [0.0, 3.0]]);
    for (hidden, is_right) in
        [(f64::NEG_INFINITY, true), (-1e9, true), (-65504.0, true), (-100.0, false), (0.0, false)]
    {
        let diagnosis = halved(Recipe::causal()).examine(&[answer("S_masked", &masked(hidden))]).unwrap();
        assert_eq!(diagnosis.is_right(), is_right, "{hidden}");
    }
    let nothing = Recipe { mask: Mask { hides_own: true, ..Recipe::causal().mask }, ..Recipe::default() };
    let evenly = Matrix::of([[0.5, 0.5], [1.0, 0.0]]);
    assert!(!halved(nothing).examine(&[answer("A", &evenly)]).unwrap().is_right());
}

#[test]
fn what_follows_from_rounded_scores_of_ones_own_is_right() {
    // Scaled scores [1 0; 0 3], handed in as [1.2 0; 0 3] to no purpose: e^1.2/(e^1.2 + 1) = 0.768524783499018.
    let own = Matrix::of([[1.2, 0.0], [0.0, 3.0]]);
    let share = 0.768_524_783_499_018;
    let late = 0.952_574_126_822_433_3;
    let weights = Matrix::of([[share, 1.0 - share], [1.0 - late, late]]);
    let diagnosis =
        halved(Recipe::default()).examine(&[answer("S_scaled", &own), answer("A", &weights)]).unwrap();
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::Wrong(_)));
    assert!(matches!(diagnosis.nodes[1].verdict, Verdict::Follows));
    assert_eq!(diagnosis.first_wrong().unwrap().name, "S_scaled");
}

#[test]
fn a_result_of_another_shape_is_a_finding() {
    let case = cases().iter().find(|case| case.right.rows() != case.right.cols()).unwrap();
    let diagnosis = case.examiner.examine(&[answer("O", &case.right.transposed())]).unwrap();
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::OtherShape(..)));
    assert!(named(&diagnosis)[0].contains("column-convention"));
    let diagnosis = case.examiner.examine(&[answer("O", &Matrix::of([[1.0]]))]).unwrap();
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::OtherShape(..)) && named(&diagnosis).is_empty());
}

#[test]
fn nodes_that_are_not_there_or_not_computed_or_twice_there_are_refused() {
    let examiner = halved(Recipe::default());
    let two = Matrix::of([[1.0, 0.0], [0.0, 1.0]]);
    for (names, said) in [
        (vec!["S_scald"], "did you mean `S_scaled`"),
        (vec!["Q"], "given, not computed"),
        (vec!["A", "A"], "handed in twice"),
    ] {
        let answers: Vec<Answer> = names.iter().map(|name| answer(name, &two)).collect();
        let error = examiner.examine(&answers).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn too_few_digits_to_tell_are_said_to_be_too_few() {
    // One query over two keys with values 0 and 1: the result is one number, and many mistakes give 0.9 or so.
    let inputs = AttendInputs {
        q: given(&[&[1.0, 1.0]]),
        k: given(&[&[1.0, 0.5], &[0.0, 0.3]]),
        v: given(&[&[0.2], &[0.9]]),
        ..AttendInputs::default()
    };
    let examiner = Examiner::new(Task::new(Recipe::default(), inputs).unwrap(), Tolerance::default());
    let wrong = (0..100).filter_map(|hundredths| {
        let diagnosis =
            examiner.examine(&[by_hand("O", &Matrix::of([[f64::from(hundredths) / 100.0]]), 2)]).unwrap();
        assert!(named(&diagnosis).is_empty(), "{hundredths}: {:?}", named(&diagnosis));
        diagnosis.nodes.into_iter().find(|node| node.too_few_digits)
    });
    assert!(wrong.count() > 0);
}

#[test]
fn a_suggested_input_tells_what_the_exercise_itself_hides() {
    // Widths of 1: √1 = 1 hides every scale, and without projections tokens, keys and values are the same.
    let x = given(&[&[1.0], &[2.0], &[-1.0]]);
    let task = Task::new(Recipe::default(), AttendInputs { x, ..AttendInputs::default() }).unwrap();
    let examiner = Examiner::new(task.clone(), Tolerance::default());
    let right = task.right().matrix(task.right().last().unwrap()).unwrap().clone();
    let ids = |mistakes: &[std::sync::Arc<attn::diagnose::Mistake>]| {
        mistakes.iter().map(|m| m.id.clone()).collect::<Vec<_>>()
    };
    let hidden = ids(&examiner.examine(&[answer("O", &right)]).unwrap().undetectable);
    for id in ["no-scale", "scale-by-d", "values-are-keys", "values-unprojected"] {
        assert!(hidden.iter().any(|hidden| hidden == id), "{id} is not hidden: {hidden:?}");
    }
    let suggestion = suggest(&task, 0).unwrap();
    assert!(suggestion.hidden.is_empty(), "{:?}", ids(&suggestion.hidden));
    let other = Examiner::new(Task::new(Recipe::default(), suggestion.inputs).unwrap(), Tolerance::default());
    let right = other.task().right();
    let right = right.matrix(right.last().unwrap()).unwrap().clone();
    assert!(other.examine(&[answer("O", &right)]).unwrap().undetectable.is_empty());
}

#[test]
fn the_catalogue_has_each_mistake_once_with_everything_said() {
    let mut ids: Vec<&str> = catalogue().map(|mistake| &*mistake.id).collect();
    assert!(ids.len() >= 32);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), catalogue().count());
    for mistake in catalogue() {
        let is_there = mistake.demo.as_ref().is_none_or(|demo| attn::demo::find(demo).is_ok());
        assert!(is_there, "{}: no demo {:?}", mistake.id, mistake.demo);
        for text in [&mistake.slip, &mistake.why, &mistake.fix, &mistake.symptom] {
            assert!(text.ends_with('.') && text.len() > 15, "{}: {text}", mistake.id);
        }
    }
}

#[test]
fn one_matrix_where_every_head_has_its_own_is_a_finding() {
    let all = cases();
    let split = |case: &&Case| case.name == "6 tokens of width 8, 2 heads, causal";
    let case = all.iter().find(split).unwrap();
    let not_split = case.wrong.iter().find(|wrong| wrong.ids.iter().eq(["heads-not-split"])).unwrap();
    let weights = crate::golden::matrix(&not_split.value["steps"]["A"]);
    let diagnosis = case.examiner.examine(&[answer("A", &weights)]).unwrap();
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::OtherCount(1, 2)));
    assert_eq!(named(&diagnosis), std::slice::from_ref(&not_split.ids));
    let stack = Answer { matrices: vec![case.right.clone(); 3], ..answer("O", &case.right) };
    let diagnosis = case.examiner.examine(&[stack]).unwrap();
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::AnotherForm(form) if form.id == "batch"));
    let mut wrong = vec![case.right.clone(); 3];
    wrong[1] = wrong[1].map(|x| x + 1.0);
    let diagnosis = case.examiner.examine(&[Answer { matrices: wrong, ..answer("O", &case.right) }]).unwrap();
    assert!(matches!(diagnosis.nodes[0].verdict, Verdict::OtherCount(3, 1)) && named(&diagnosis).is_empty());
}
