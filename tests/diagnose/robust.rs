//! Whatever is handed in is judged: any steps, of any shape, with any numbers.

use crate::common::one_in;
use crate::mistakes::{Case, cases};
use attn::diagnose::Answer;
use attn::matrix::Matrix;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

/// What is handed in for a step: a kind, and numbers to draw on.
type Choice = (Index, usize, u64, Option<usize>);

fn matrix(right: &Matrix, kind: usize, seed: u64) -> Vec<Matrix> {
    let mut stream = attn::random::LegacyStream::seeded(seed as u32);
    let mut noise = |rows: usize, cols: usize| stream.standard_normal_matrix(rows, cols);
    let (rows, cols) = (right.rows(), right.cols());
    match kind {
        0 => vec![right.clone()],
        1 => vec![right.transposed()],
        2 => vec![noise(rows, cols)],
        3 => vec![noise(cols + 1, rows)],
        4 => vec![right.map(|_| f64::NAN)],
        5 => vec![right.map(|x| x * 1e300 * 1e10)],
        6 => vec![Matrix::filled(1, 1, f64::NEG_INFINITY)],
        7 => vec![right.clone(), right.clone()],
        8 => vec![right.map(|x| if x.is_finite() { x / 2.0 } else { -1e9 })],
        9 => vec![right.map(f64::abs), noise(2, 2), noise(1, 3)],
        _ => vec![Matrix::filled(rows, cols, 0.0)],
    }
}

fn submission(case: &Case, choices: &[Choice]) -> Vec<Answer> {
    let graph = case.examiner.task().right();
    let computed: Vec<_> = graph.nodes().filter(|(_, node)| !node.op.is_given()).collect();
    let mut answers: Vec<Answer> = Vec::new();
    for (which, kind, seed, decimals) in choices {
        let (_, node) = which.get(&computed);
        if answers.iter().all(|known| known.name != node.name) {
            let matrices = matrix(node.matrix().unwrap(), *kind, *seed);
            answers.push(Answer {
                name: node.name.clone(),
                matrices,
                decimals: *decimals,
                digits: None,
                roundoff: 0.0,
            });
        }
    }
    answers
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn no_submission_ends_in_a_panic_and_all_right_steps_are_right() {
    let is_even = |(at, case): (usize, &'static Case)| at.is_multiple_of(2).then_some(case);
    judge_random_submissions(&cases().iter().enumerate().filter_map(is_even).collect::<Vec<_>>());
}

#[test]
fn the_same_of_the_other_half_of_the_exercises() {
    let is_odd = |(at, case): (usize, &'static Case)| (!at.is_multiple_of(2)).then_some(case);
    judge_random_submissions(&cases().iter().enumerate().filter_map(is_odd).collect::<Vec<_>>());
}

/// Up to 100 submissions to some of these exercises.
fn judge_random_submissions(cases: &[&'static Case]) {
    let decimals = prop_oneof![Just(None), (0..18_usize).prop_map(Some)];
    let choice = (any::<Index>(), 0..11_usize, any::<u64>(), decimals);
    let strategy = (any::<Index>(), prop::collection::vec(choice, 1..6));
    let mut runner = TestRunner::new(Config {
        cases: 100 / one_in(25) as u32,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&strategy, |(which, choices)| {
            let case = which.get(cases);
            // A stack of keys stands for the keys of every head: then these may be there twice, which is refused.
            let Ok(diagnosis) = case.examiner.examine(&submission(case, &choices)) else { return Ok(()) };
            let all_right = choices.iter().all(|(_, kind, _, decimals)| *kind == 0 && decimals.is_none());
            prop_assert!(!all_right || diagnosis.is_right());
            Ok(())
        })
        .unwrap();
}
