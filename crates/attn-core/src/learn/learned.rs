//! The defaults of the tasks are learned, from every seed that a lesson may name.
//!
//! They stand in this crate because it is compiled with some optimisation for tests.

use super::*;
use crate::model::Look;

/// A trainer with the defaults of a task.
fn trainer(name: &str, seed: u32) -> Trainer<f32> {
    let usual = defaults(name);
    let lengths = usual.lengths.unwrap_or((1, 1));
    let task = match name {
        "reverse" => Task::reverse(lengths),
        "sort" => Task::sort(lengths),
        "induction" => Task::induction(lengths).unwrap(),
        _ => Task::addition(),
    };
    Trainer::new(usual.settings(&task, seed), task.examples(seed)).unwrap()
}

/// Trains until the last batches are nearly all right, and tests on what was held out; the steps and the share of right predictions.
fn learned(name: &str, seed: u32) -> (usize, f64) {
    let mut trainer = trainer(name, seed);
    let mut recent = 0.0;
    while trainer.steps() < trainer.settings().adam.steps {
        recent = 0.8 * recent + 0.2 * trainer.step().unwrap().accuracy;
        if recent > 0.99 {
            let (_, right) = trainer.test().unwrap();
            if right >= 0.99 {
                return (trainer.steps(), right);
            }
            recent = 0.9;
        }
    }
    (trainer.steps(), trainer.test().unwrap().1)
}

#[track_caller]
fn all_learn(name: &str, seeds: std::ops::RangeInclusive<u32>) {
    for seed in seeds {
        let (steps, right) = learned(name, seed);
        assert!(right >= 0.99, "{name}, seed {seed}: {right} after {steps} steps");
    }
}

#[test]
fn reversing_is_learned_from_seeds_1_to_5() {
    all_learn("reverse", 1..=5);
}

#[test]
fn induction_is_learned_from_seeds_1_to_5() {
    all_learn("induction", 1..=5);
}

#[test]
fn sorting_is_learned_from_seeds_1_to_5() {
    all_learn("sort", 1..=5);
}

#[test]
fn addition_is_learned_from_seeds_1_to_5() {
    all_learn("addition", 1..=5);
}

/// A training of `induction` with words of these lengths.
fn trained(model: Defaults, lengths: (usize, usize)) -> Trainer<f32> {
    let task = Task::induction(lengths).unwrap();
    let mut trainer = Trainer::new(model.settings(&task, 1), task.examples(1)).unwrap();
    (0..model.steps).for_each(|_| drop(trainer.step().unwrap()));
    trainer
}

const PREVIOUS: Option<Pattern> = Some(Pattern::Look(Look::Previous));
const INDUCTION: Option<Pattern> = Some(Pattern::Look(Look::Induction));

#[test]
fn one_layer_with_more_parameters_than_two_layers_copies_well_but_does_not_find_the_place_in_as_many_steps() {
    let (one, two) =
        (Defaults { layers: 1, heads: 2, width: 48, ..defaults("induction") }, defaults("induction"));
    let task = Task::induction((2, 4)).unwrap();
    assert!(one.size(&task).parameters() > two.size(&task).parameters());
    let mut trainer = trained(one, (2, 4));
    let (_, right) = trainer.test().unwrap();
    assert!((0.2..0.35).contains(&right), "{right}");
    let found = trainer.right_with((0, 0), INDUCTION).unwrap();
    assert!(found > 0.99, "{found}");
}

#[test]
fn the_first_of_two_layers_is_needed_and_the_token_before_is_all_that_it_has_to_attend_to() {
    let mut trainer = trained(defaults("induction"), (2, 4));
    let mut right = |head, way| trainer.right_with(head, way).unwrap();
    assert!(right((0, 0), PREVIOUS) > 0.99 && right((1, 0), INDUCTION) > 0.99);
    assert!(right((0, 0), None) < 0.4 && right((1, 0), None) < 0.2);
}

#[test]
fn one_layer_that_learned_words_of_ten_letters_counts_places_and_finds_nothing_in_words_of_nine() {
    let usual = Defaults { layers: 1, steps: 100, ..defaults("induction") };
    let mut trainer = trained(usual, (10, 10));
    assert!(trainer.test().unwrap().1 > 0.99);
    let others = Task::induction((9, 9)).unwrap().examples(1);
    let (mut right, mut asked) = (0, 0);
    for example in &others.held_out()[..100] {
        let logits = trainer.logits(&example.tokens).unwrap();
        let rows = logits.chunks_exact(others.task().symbols().count());
        for (row, target) in rows.zip(&example.targets).filter(|(_, target)| target.is_some()) {
            asked += 1;
            right += usize::from(Some(super::compiled::largest(row)) == *target);
        }
    }
    assert!(asked > 1000 && right * 20 < asked, "{right} of {asked}");
}
