//! Gradients with one or two mistakes in them, which NumPy computed: tests/golden/gradient_slips.json. Each is named.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use attn::diagnose::{Answer, Diagnosis, Examiner, Task, Tolerance, Verdict};
use attn::graph::recipes::{Recipe, Scale};
use attn::graph::{BackwardPass, Given, Origin, Start};
use attn::matrix::Matrix;
use serde_json::Value;

use crate::common::one_in;
use crate::diagnose::mechanism_slips;
use crate::golden;
use crate::mistakes::{Ids, answer, by_hand, inputs, named};

/// An exercise with a backward pass.
struct Exercise {
    name: String,
    examiner: Examiner,
    right: Vec<(String, Matrix)>,
    wrong: Vec<WrongGradient>,
    /// Weights rounded to two decimals, and gradients that are computed from them.
    from_rounded_weights: Vec<(String, Matrix)>,
}

struct WrongGradient {
    ids: Ids,
    variant: String,
    node: String,
    /// Whether many texts define the gradient so, which is no mistake.
    is_form: bool,
    same_as: Vec<Ids>,
    matrix: Matrix,
}

impl WrongGradient {
    /// Whether it is named, or what gives the same numbers is.
    fn is_named(&self, names: &[Ids]) -> bool {
        names.iter().any(|ids| *ids == self.ids || self.same_as.contains(ids))
    }
}

impl Exercise {
    fn of(value: &Value) -> Exercise {
        let options = &value["options"];
        let scale = options["scale"].as_f64().map_or(Scale::Auto, Scale::Number);
        let temperature = golden::number(&options["temperature"]);
        let recipe = Recipe { scale, temperature, ..mechanism_slips::recipe(options) };
        let start = match value.get("dO") {
            Some(rows) => Start::Given(Given::new(golden::matrix(rows), Origin::Stated)),
            None => Start::Ones,
        };
        let task = Task::new(recipe, inputs(&value["inputs"])).unwrap();
        let task = task.with_backward(BackwardPass::From("O".into(), Box::new(start))).unwrap();
        let ids = |value: &Value| {
            let ids = value.as_array().unwrap().iter();
            ids.map(|id| id.as_str().unwrap().to_string()).collect::<Ids>()
        };
        let wrong = |value: &Value| WrongGradient {
            ids: ids(&value["mistakes"]),
            variant: golden::string(value, "variant").to_string(),
            node: golden::string(value, "node").to_string(),
            is_form: value["form"] == true,
            same_as: golden::list(value, "same_as").iter().map(ids).collect(),
            matrix: golden::matrix(&value["matrix"]),
        };
        let matrices = |value: &Value| {
            let all = value.as_object().into_iter().flatten();
            all.map(|(name, rows)| (name.clone(), golden::matrix(rows))).collect()
        };
        Exercise {
            name: golden::string(value, "name").to_string(),
            examiner: Examiner::new(task, Tolerance::default()),
            right: matrices(&value["right"]),
            from_rounded_weights: matrices(&value["from_rounded_weights"]),
            wrong: golden::list(value, "wrong").iter().map(wrong).collect(),
        }
    }

    fn examine(&self, answers: &[Answer]) -> Diagnosis {
        self.examiner.examine(answers).unwrap()
    }

    fn right(&self, node: &str) -> &Matrix {
        &self.right.iter().find(|(name, _)| name == node).unwrap().1
    }

    /// Each wrong gradient of a kind that does not come back under its name.
    fn unnamed(&self, mistakes: usize) -> Vec<String> {
        let wrong = self.wrong.iter().filter(|wrong| wrong.ids.len() == mistakes && !wrong.is_form);
        let complaint = |wrong: &WrongGradient| {
            let names = named(&self.examine(&[answer(&wrong.node, &wrong.matrix)]));
            let WrongGradient { ids, variant, node, .. } = wrong;
            (!wrong.is_named(&names))
                .then(|| format!("{}: {ids:?} {variant} in {node} came back as {names:?}", self.name))
        };
        wrong.filter_map(complaint).collect()
    }
}

/// The names of all mistakes that have a record.
pub(crate) fn recorded() -> BTreeSet<&'static str> {
    exercises()
        .iter()
        .flat_map(|exercise| &exercise.wrong)
        .flat_map(|wrong| &wrong.ids)
        .map(String::as_str)
        .collect()
}

fn exercises() -> &'static [Exercise] {
    static ALL: OnceLock<Vec<Exercise>> = OnceLock::new();
    ALL.get_or_init(|| {
        golden::list(&golden::json("gradient_slips.json"), "cases").iter().map(Exercise::of).collect()
    })
}

#[test]
fn each_mistake_of_a_backward_pass_is_named_in_every_gradient_that_it_changes() {
    let complaints: Vec<String> = exercises().iter().flat_map(|exercise| exercise.unnamed(1)).collect();
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
    assert!(recorded().len() >= 25, "{:?}", recorded());
}

#[test]
fn a_gradient_is_not_put_down_to_a_forward_mistake_that_is_seldom_made() {
    // A result with the wrong sign gives the same dQ as a gradient with the wrong sign.
    let exercise = &exercises()[0];
    let is_sign = |wrong: &&WrongGradient| wrong.ids.iter().eq(["gradient-sign"]) && wrong.node == "dS";
    let sign = exercise.wrong.iter().find(is_sign).unwrap();
    let names = named(&exercise.examine(&[answer("dS", &sign.matrix)]));
    assert!(names.len() == 1 && names[0] == sign.ids, "{names:?}");
    // Scores that are used as weights give dS = dA, too, and every class makes that mistake.
    let is_copied =
        |wrong: &&WrongGradient| wrong.ids.iter().eq(["gradient-softmax-copied"]) && wrong.node == "dS";
    let copied = exercise.wrong.iter().find(is_copied).unwrap();
    let names = named(&exercise.examine(&[answer("dS", &copied.matrix)]));
    let first: Vec<&String> = names.iter().map(|ids| ids.first().unwrap()).collect();
    assert_eq!(first, ["gradient-softmax-copied", "no-softmax"]);
}

#[test]
fn two_mistakes_of_a_backward_pass_are_named_together() {
    let some = exercises().iter().step_by(one_in(2));
    let complaints: Vec<String> = some.flat_map(|exercise| exercise.unnamed(2)).collect();
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn right_gradients_are_right_exact_in_single_precision_and_rounded_by_hand() {
    for exercise in exercises() {
        for (node, matrix) in &exercise.right {
            let single = matrix.map(|x| f64::from(x as f32));
            let single = Answer { roundoff: f64::from(f32::EPSILON) / 2.0, ..answer(node, &single) };
            for handed in [answer(node, matrix), single, by_hand(node, matrix, 3)] {
                let diagnosis = exercise.examine(&[handed]);
                let verdict = &diagnosis.nodes[0].verdict;
                assert!(
                    matches!(verdict, Verdict::Right(_) | Verdict::AnotherForm(_)),
                    "{}: {node}: {verdict:?}",
                    exercise.name
                );
                assert!(named(&diagnosis).is_empty());
            }
        }
        let all: Vec<Answer> = exercise.right.iter().map(|(node, matrix)| answer(node, matrix)).collect();
        assert!(exercise.examine(&all).is_right(), "{}", exercise.name);
    }
}

#[test]
fn of_a_whole_backward_pass_with_a_mistake_the_first_wrong_gradient_names_it() {
    let (mut complaints, mut told) = (Vec::new(), 0);
    for exercise in exercises() {
        let mut alone: Vec<&WrongGradient> = exercise.wrong.iter().filter(|one| one.ids.len() == 1).collect();
        alone.sort_by_key(|one| (&one.ids, &one.variant));
        for of_one in alone.chunk_by(|a, b| a.ids == b.ids && a.variant == b.variant) {
            let wrong = |node: &str| of_one.iter().find(|wrong| wrong.node == node);
            let answers = exercise
                .right
                .iter()
                .map(|(node, right)| answer(node, wrong(node).map_or(right, |wrong| &wrong.matrix)));
            let names = named(&exercise.examine(&answers.collect::<Vec<_>>()));
            if !of_one.iter().any(|one| one.is_named(&names)) {
                let WrongGradient { ids, variant, .. } = of_one[0];
                complaints.push(format!("{}: {ids:?} {variant} came back as {names:?}", exercise.name));
            }
            told += 1;
        }
    }
    assert!(told >= 150, "{told}");
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn the_gradient_of_scaled_or_masked_scores_is_right_in_another_form() {
    let mut told = 0;
    for exercise in exercises() {
        for form in exercise.wrong.iter().filter(|wrong| wrong.is_form) {
            let diagnosis = exercise.examine(&[answer(&form.node, &form.matrix)]);
            assert!(matches!(diagnosis.nodes[0].verdict, Verdict::AnotherForm(_)), "{}", exercise.name);
            told += 1;
        }
    }
    assert!(told >= 4, "{told}");
}

#[test]
fn numbers_without_any_meaning_get_no_name() {
    for exercise in exercises().iter().step_by(one_in(3)) {
        for (node, right) in &exercise.right {
            // The digits of √3, √5, √7 … are no gradient of anything.
            let cell = |i: usize, j: usize| ((i * right.cols() + j) as f64 * 2.0 + 3.0).sqrt().fract() - 0.5;
            let numbers = Matrix::from_fn(right.rows(), right.cols(), cell);
            let diagnosis = exercise.examine(&[answer(node, &numbers)]);
            let names = named(&diagnosis);
            assert!(names.is_empty() && !diagnosis.is_right(), "{}: {node}: {names:?}", exercise.name);
        }
    }
}

#[test]
fn a_right_gradient_with_its_rows_as_columns_or_in_one_row_is_named_as_that() {
    let exercise = &exercises()[0];
    let right = exercise.right("dQ");
    let transposed = named(&exercise.examine(&[answer("dQ", &right.transposed())]));
    assert!(transposed[0].iter().eq(["column-convention"]), "{transposed:?}");
    let flat: Vec<f64> = (0..right.rows()).flat_map(|i| right.row(i).collect::<Vec<f64>>()).collect();
    let flat = Matrix::from_rows(&[flat]).unwrap();
    let flat = named(&exercise.examine(&[answer("dQ", &flat)]));
    assert!(flat[0].iter().eq(["result-reshaped"]), "{flat:?}");
}

#[test]
fn a_gradient_is_judged_after_those_that_are_right_before_it() {
    // dK is right, so that the scale is missing in dQ alone.
    let exercise = &exercises()[0];
    let missing = exercise.wrong.iter().find(|wrong| {
        wrong.ids.iter().eq(["gradient-scale-missing"]) && wrong.variant == "dq" && wrong.node == "dQ"
    });
    let answers = [answer("dK", exercise.right("dK")), answer("dQ", &missing.unwrap().matrix)];
    let diagnosis = exercise.examine(&answers);
    let sentence = diagnosis.first_wrong().unwrap().mistakes[0].slips[0].sentence();
    assert!(sentence.ends_with("(in dQ alone)."), "{sentence}");
}

#[test]
fn what_follows_from_a_wrong_gradient_or_from_rounded_weights_is_not_wrong_again() {
    let exercise = &exercises()[0];
    let of = |node: &str, ids: &str| {
        let wrong = exercise.wrong.iter().find(|wrong| wrong.ids.iter().eq([ids]) && wrong.node == node);
        answer(node, &wrong.unwrap().matrix)
    };
    let copied = ["dS", "dK", "dQ"].map(|node| of(node, "gradient-softmax-copied"));
    let diagnosis = exercise.examine(&copied);
    let verdicts: Vec<&Verdict> = diagnosis.nodes.iter().map(|node| &node.verdict).collect();
    assert!(matches!(verdicts[..], [Verdict::Wrong(_), Verdict::Follows, Verdict::Follows]), "{verdicts:?}");

    // A is rounded to two decimals, and the gradients are computed from these numbers.
    let mut told = 0;
    for exercise in exercises().iter().filter(|exercise| !exercise.from_rounded_weights.is_empty()) {
        let handed = exercise.from_rounded_weights.iter().map(|(node, matrix)| match &**node {
            "A" => by_hand(node, matrix, 2),
            _ => answer(node, matrix),
        });
        let diagnosis = exercise.examine(&handed.collect::<Vec<_>>());
        let verdicts: Vec<&Verdict> = diagnosis.nodes.iter().map(|node| &node.verdict).collect();
        assert!(
            matches!(verdicts[..], [Verdict::Right(_), Verdict::Follows, Verdict::Follows]),
            "{}: {verdicts:?}",
            exercise.name
        );
        told += 1;
    }
    assert!(told >= 3, "{told}");
}
