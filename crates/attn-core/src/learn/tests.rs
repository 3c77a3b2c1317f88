//! Tests of the whole loop.

#[path = "../../../../tests/common/sweep.rs"]
mod sweep;

use crate::elementary;
use crate::model::Look;

use super::evaluation::{Plans, largest};
use super::example::ExampleGraph;
use super::*;
use sweep::one_in;

fn settings(task: &Task, (layers, heads, width): (usize, usize, usize), rich: bool) -> Settings {
    let usual = defaults(task.name()).settings(task, 3);
    let size = ModelSize { width, layers, heads, mlp: rich.then_some(3 * width), normed: rich, ..usual.size };
    let patterns = vec![Pattern::Look(Look::Previous), Pattern::Look(Look::Induction)];
    Settings { size, adam: AdamSettings::new(100, 0.01), batch: 5, patterns, ..usual }
}

fn pairs() -> Task {
    let pair =
        |(i, (input, output)): (usize, (&'static str, &'static str))| Pair { input, output, number: i + 1 };
    let all = [("ab", "b"), ("abc", "cb"), ("b", "b"), ("ca", "ac"), ("cab", "ba"), ("bb", "b")];
    Task::pairs(&all.into_iter().enumerate().map(pair).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_step_of_the_plan_has_the_bits_of_the_graphs_of_its_examples() {
    let tasks = [
        (Task::induction((2, 4)).unwrap(), (2, 1, 16), false),
        (Task::reverse((3, 6)), (1, 2, 8), false),
        (Task::sort((4, 4)), (2, 4, 8), true),
        (pairs(), (1, 2, 6), true),
    ];
    for (task, shape, rich) in tasks {
        let name = task.name();
        let settings = settings(&task, shape, rich);
        let mut trainer = Trainer::<f64>::new(settings.clone(), task.examples(3)).unwrap();
        // Some steps away from the start, where gradients are unlike each other.
        (0..3).for_each(|_| drop(trainer.step().unwrap()));
        let (batch, weights) = (trainer.next_batch(), trainer.weights().to_vec());
        let graphs: Vec<ExampleGraph> = (0..batch.examples())
            .map(|at| trainer.graph_of(&batch.example(at), batch.counted()).unwrap())
            .collect();
        let model = &trainer.model;
        let mut plans = Plans::new(crate::kernel::SimdLevel::detect());
        let compiled = plans.run(model, &weights, &batch).unwrap();
        let numbers = |id| compiled.plan.numbers(id).unwrap().to_vec();
        for (at, id) in compiled.gradients.iter().chain([&compiled.loss]).enumerate() {
            let of_plan = numbers(*id);
            let mut of_graphs = vec![0.0; of_plan.len()];
            for example in &graphs {
                let node = *example.weights.get(at).unwrap_or(&example.loss.loss);
                let cells: Vec<f64> = example.graph.matrix(node).unwrap().cells().collect();
                of_graphs.iter_mut().zip(cells).for_each(|(sum, x)| *sum += x);
            }
            let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&of_plan), bits(&of_graphs), "{name}: weight {at}");
            assert!(of_plan.iter().any(|x| *x != 0.0), "{name}: weight {at} has a gradient");
        }
        // The step is that of Adam with these gradients.
        let step = trainer.step().unwrap();
        assert_eq!(step.loss.to_bits(), numbers(compiled.loss)[0].to_bits());
    }
}

#[test]
fn equal_weights_in_a_head_are_those_of_a_head_whose_queries_are_0() {
    let task = Task::sort((4, 4));
    let mut trainer = Trainer::<f64>::new(settings(&task, (2, 2, 8), true), task.examples(3)).unwrap();
    (0..30).for_each(|_| drop(trainer.step().unwrap()));
    let (batch, weights) = (trainer.next_batch(), trainer.weights().to_vec());
    let mut plans = Plans::new(crate::kernel::SimdLevel::detect());
    let model = &trainer.model;
    let as_it_is = plans.run(model, &weights, &batch).unwrap().logits().unwrap().to_vec();
    for (layer, head) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut without = weights.clone();
        let names = model.size().weights();
        let at = names.iter().position(|weight| weight.name == format!("layers.{layer}.W_Q")).unwrap();
        without[at].chunks_exact_mut(8).for_each(|row| row[4 * head..4 * head + 4].fill(0.0));
        let expected = plans.run(model, &without, &batch).unwrap().logits().unwrap().to_vec();
        let compiled = plans.with_weights(model, &weights, &batch).unwrap();
        compiled.run_with(&batch, ((layer, head), None), true).unwrap();
        let ours = compiled.logits().unwrap();
        assert!(ours.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{layer}, {head}");
        assert!(ours.iter().zip(&as_it_is).any(|(a, b)| (a - b).abs() > 1e-3), "{layer}, {head}");
    }
}

#[test]
fn a_plan_uses_its_memory_again() {
    let task = Task::induction((2, 4)).unwrap();
    let settings = settings(&task, (2, 1, 16), false);
    let mut trainer = Trainer::<f32>::new(settings, task.examples(1)).unwrap();
    let batch = trainer.next_batch();
    let numbers: usize = trainer
        .graph_of(&batch.example(0), 1)
        .unwrap()
        .graph
        .nodes()
        .fold(0, |sum, (_, node)| sum + node.shape().rows * node.shape().cols);
    trainer.step().unwrap();
    let (steps, kept) = trainer.plans.made.values().next().unwrap().plan.size();
    assert!(kept * 2 < numbers * batch.examples(), "{steps} steps keep {kept} of {numbers} for each example");
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
    let losses = |seed: u32| -> Vec<u64> {
        let task = Task::reverse((6, 6));
        let settings = Settings { seed, ..settings(&task, (1, 1, 8), false) };
        let mut trainer = Trainer::<f32>::new(settings, task.examples(seed)).unwrap();
        (0..5).map(|_| trainer.step().unwrap().loss.to_bits()).collect()
    };
    assert_eq!(losses(4), losses(4));
    assert_ne!(losses(4), losses(5));
}

#[test]
fn every_level_of_registers_gives_the_same_weights() {
    fn weights<T: Learner>(simd: crate::kernel::SimdLevel) -> Vec<u64> {
        let task = Task::sort((4, 4));
        let settings = settings(&task, (2, 2, 12), true);
        let mut trainer = Trainer::<T>::new(settings, task.examples(1)).unwrap().on(simd);
        (0..4).for_each(|_| drop(trainer.step().unwrap()));
        trainer.weights().iter().flatten().map(|x| x.bits()).collect()
    }
    let portable = crate::kernel::SimdLevel::Portable;
    for simd in crate::kernel::SimdLevel::available() {
        assert_eq!(weights::<f32>(simd), weights::<f32>(portable), "{simd}");
        assert_eq!(weights::<f64>(simd), weights::<f64>(portable), "{simd}");
    }
}

#[test]
fn a_learning_rate_that_is_far_too_large_stops_and_keeps_the_last_good_weights() {
    let task = Task::reverse((6, 6));
    let mut settings = settings(&task, (1, 1, 8), false);
    settings.adam = AdamSettings::new(200, 50.0);
    let mut trainer = Trainer::<f32>::new(settings, task.examples(1)).unwrap();
    let error = loop {
        match trainer.step() {
            Ok(_) => assert!(trainer.steps() < 200, "it never stops"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with(&format!("training stops at step {}", trainer.steps() + 1)), "{error}");
    assert!(
        error.contains("the learning rate of this step is ") && error.contains("smaller learning rate"),
        "{error}"
    );
    assert!(trainer.weights().iter().flatten().all(|x| x.is_finite()));
    // What is kept is good: the step that ruined the weights is taken back.
    let untrained = elementary::ln(10.0);
    let (loss, _) = trainer.test().unwrap();
    assert!(loss < 2.0 * untrained, "the loss of what is kept is {loss}");
}

#[test]
fn what_is_held_out_is_never_learned_from() {
    let task = Task::addition();
    let examples = task.examples(2);
    let mut stream = crate::random::LegacyStream::seeded(9);
    assert!(examples.held_out().len() > 900);
    for _ in 0..20 {
        let batch = examples.batch(&mut stream, 32);
        for at in 0..batch.examples() {
            let example = batch.example(at);
            assert!(examples.held_out().iter().all(|other| other.tokens != example.tokens));
        }
    }
}

// The defaults of the tasks are learned, from every seed that a lesson may name. This stands here because the crate is compiled
// with some optimisation for tests.

/// A trainer with the defaults of a task.
fn default_trainer(name: &str, seed: u32) -> Trainer<f32> {
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
    let mut trainer = default_trainer(name, seed);
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
    for seed in seeds.step_by(one_in(5)) {
        let (steps, right) = learned(name, seed);
        assert!(right >= 0.99, "{name}, seed {seed}: {right} after {steps} steps");
    }
}

#[test]
fn reversing_is_learned_from_seeds_1_to_5() {
    all_learn("reverse", 1..=5);
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn induction_is_learned_from_seeds_1_to_5() {
    all_learn("induction", 1..=5);
}

#[test]
fn sorting_is_learned_from_seeds_1_to_5() {
    all_learn("sort", 1..=5);
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
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
#[ignore = "seconds: .ci/run runs it"]
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
#[ignore = "seconds: .ci/run runs it"]
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
            right += usize::from(Some(largest(row)) == *target);
        }
    }
    assert!(asked > 1000 && right * 20 < asked, "{right} of {asked}");
}
