//! What one layer and two layers learn of `attn learn induction`, from many seeds: the tables of lesson 9.
//!
//! `cargo bench --bench layers` trains each model from each seed, and prints the share of right predictions on 1,000 new examples.
//! It takes about ten minutes on one core, most of it for the wide models. `-- 400` trains only those of 400 steps.

use std::io::Write;

use attn::learn::{AdamSettings, Defaults, Task, Trainer, defaults};

/// Layers, heads, width, width of the MLP, steps, learning rate, seeds.
type Model = (usize, usize, usize, Option<usize>, usize, f64, u32);

const MODELS: [Model; 7] = [
    (2, 1, 32, None, 400, 0.01, 20),
    (1, 1, 32, None, 400, 0.01, 20),
    (1, 2, 48, None, 400, 0.01, 20),
    (1, 2, 48, None, 4000, 0.01, 5),
    (1, 2, 48, Some(96), 4000, 0.005, 5),
    (1, 4, 128, None, 4000, 0.003, 3),
    (1, 4, 128, Some(256), 4000, 0.003, 3),
];

fn main() {
    let only: Option<usize> = std::env::args().find_map(|arg| arg.parse().ok());
    for (layers, heads, width, mlp, steps, rate, seeds) in MODELS {
        if only.is_some_and(|only| only != steps) {
            continue;
        }
        let usual = Defaults { layers, heads, width, mlp, ..defaults("induction") };
        let (mut all, mut parameters) = (Vec::new(), 0);
        for seed in 1..=seeds {
            let task = Task::induction((2, 4)).expect("words of 2 to 4 letters can be drawn");
            let mut settings = usual.settings(&task, seed);
            settings.adam = AdamSettings::new(steps, rate);
            parameters = settings.size.parameters();
            let mut trainer = Trainer::<f32>::new(settings, task.examples(seed)).expect("the sizes fit");
            (0..steps).for_each(|_| drop(trainer.step().expect("the rate is small enough")));
            all.push(100.0 * trainer.test().expect("there is room").1);
        }
        let shares: Vec<String> = all.iter().map(|share| format!("{share:.1}")).collect();
        all.sort_by(f64::total_cmp);
        let mlp = mlp.map_or(String::new(), |width| format!(", an MLP of {width}"));
        let mut report = std::io::stdout().lock();
        writeln!(
            report,
            "layers {layers}, heads {heads}, width {width}{mlp}; {parameters} parameters; {steps} steps, rate {rate}\n  seeds 1 to \
             {seeds}: {}\n  least {:.1}, middle {:.1}, most {:.1}",
            shares.join(" "),
            all[0],
            all[all.len() / 2],
            all[all.len() - 1]
        )
        .expect("standard output can be written to");
    }
}
