//! The defaults of the tasks are learned, from every seed that a lesson may name.
//!
//! They stand in this crate because it is compiled with some optimisation for tests.

use super::*;

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

#[test]
fn one_layer_does_not_learn_induction() {
    let usual = Defaults { layers: 1, steps: 300, ..defaults("induction") };
    let task = Task::induction((2, 4)).unwrap();
    let mut trainer = Trainer::<f32>::new(usual.settings(&task, 1), task.examples(1)).unwrap();
    (0..300).for_each(|_| drop(trainer.step().unwrap()));
    let (_, right) = trainer.test().unwrap();
    assert!(right < 0.6, "{right}");
}
