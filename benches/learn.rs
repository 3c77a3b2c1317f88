//! How fast small models learn, on one thread.
//!
//! `cargo bench --bench learn` trains each model several times from its default settings, and prints the median of the time until
//! ten batches in a row are 99 % right, and of the time of one step. With `--json` each line is an object; `benches/learn.py` runs
//! PyTorch beside it.

use std::io::Write;
use std::time::Instant;

use attn::learn::{Learner, Task, Trainer, defaults};

/// The trainings of each model.
const RUNS: u32 = 5;

fn main() {
    let as_json = std::env::args().any(|arg| arg == "--json");
    for task in ["reverse", "induction"] {
        measure::<f32>(task, as_json);
        measure::<f64>(task, as_json);
    }
}

fn task(name: &str) -> Task {
    match name {
        "reverse" => Task::reverse((6, 6)),
        _ => Task::induction((2, 4)).expect("words of 2 to 4 letters can be drawn"),
    }
}

fn measure<T: Learner>(name: &str, as_json: bool) {
    let (mut learned, mut steps, mut parameters) = (Vec::new(), Vec::new(), 0);
    for seed in 1..=RUNS {
        let task = task(name);
        let settings = defaults(name).settings(&task, seed);
        parameters = settings.size.parameters();
        let all = settings.adam.steps;
        let begun = Instant::now();
        let mut trainer = Trainer::<T>::new(settings, task.examples(seed)).expect("the defaults fit");
        let (mut right, mut until) = (Vec::new(), None);
        for _ in 0..all {
            let step_begun = Instant::now();
            right.push(trainer.step().expect("the defaults learn").accuracy);
            steps.push(step_begun.elapsed().as_secs_f64());
            let last = &right[right.len().saturating_sub(10)..];
            if until.is_none() && last.len() == 10 && last.iter().sum::<f64>() >= 9.9 {
                until = Some(begun.elapsed().as_secs_f64());
            }
        }
        learned.extend(until);
    }
    let (reached, step) = (learned.len(), median(&mut steps));
    let until = median(&mut learned);
    let mut report = std::io::stdout().lock();
    let written = if as_json {
        writeln!(
            report,
            "{{\"task\":\"{name}\",\"dtype\":\"{}\",\"parameters\":{parameters},\"seconds_to_99\":{until},\"step_seconds\":{step}}}",
            T::NAME
        )
    } else {
        writeln!(
            report,
            "{name:<10} {}  {parameters:>5} parameters  99 % after {until:.3} s ({reached} of {RUNS} seeds)  one step {:.3} ms",
            T::NAME,
            1000.0 * step
        )
    };
    written.expect("standard output can be written to");
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
