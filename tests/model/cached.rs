//! A pass in parts: tokens after a cache, layers computed again, greedy continuations.

use attn::graph::{Graph, Op, Precision};
use attn::kernel::Machine;
use attn::model::{ModelRun, PassOptions, Text};

use crate::model::fixtures::{Expected, Fixture, folders, text};

fn options(precision: Precision) -> PassOptions {
    PassOptions { precision, ..PassOptions::default() }
}

fn part(text: &Text, rows: std::ops::Range<usize>) -> Text {
    Text { ids: text.ids[rows.clone()].to_vec(), tokens: text.tokens[rows].iter().cloned().collect() }
}

fn of_every_decoder(check: impl Fn(&str, ModelRun<'_>, &Expected)) {
    for folder in folders() {
        let fixture = Fixture::open(&folder);
        if fixture.architecture.model.is_encoder() {
            continue;
        }
        for (name, expected) in Expected::of(&folder) {
            fixture.with_run(|run| check(&name, run, &expected));
        }
    }
}

#[test]
fn tokens_after_a_cache_have_the_bits_of_a_pass_over_all_of_them() {
    of_every_decoder(|name, run, expected| {
        let whole = text(expected.integers("ids").unwrap());
        for precision in [Precision::Exact, Precision::Single(Machine::here())] {
            let full = run.forward(whole.clone(), options(precision)).unwrap();
            let tokens = whole.ids.len();
            let mut parts = run.forward(part(&whole, 0..tokens - 4), options(precision)).unwrap();
            for (from, to) in [(tokens - 4, tokens - 3), (tokens - 3, tokens - 1), (tokens - 1, tokens)] {
                parts = run.continued(parts, &part(&whole, from..to)).unwrap();
            }
            assert_eq!(parts.text, full.text);
            for (layer, (a, b)) in parts.streams.iter().zip(&full.streams).enumerate() {
                assert!(a.same_bits(b), "{name}: the stream at {layer} differs in {precision:?}");
            }
        }
    });
}

#[test]
fn a_pass_whose_heads_nobody_measures_has_the_same_bits() {
    of_every_decoder(|name, run, expected| {
        let whole = text(expected.integers("ids").unwrap());
        let single = options(Precision::Single(Machine { threads: 2, ..Machine::here() }));
        let pass = |measured| run.forward(whole.clone(), PassOptions { measured, ..single.clone() }).unwrap();
        let (measured, fast) = (pass(true), pass(false));
        for (layer, (a, b)) in measured.streams.iter().zip(&fast.streams).enumerate() {
            assert!(a.same_bits(b), "{name}: the stream at {layer} differs");
        }
    });
}

#[test]
fn the_weights_of_a_token_are_listed_in_the_order_in_which_steps_read_them() {
    for folder in folders() {
        let fixture = Fixture::open(&folder);
        let ids = Expected::of(&folder)[0].1.integers("ids").unwrap();
        fixture.with_tensors(|tensors| {
            let run = ModelRun::new(&fixture.architecture, tensors);
            let forward = run.forward(text(ids), options(Precision::Exact)).unwrap();
            let mut graph = run.layers_again(&forward, 1..=run.layers()).unwrap();
            if tensors.has_head {
                let stream = graph.find("X_final").unwrap();
                run.logits(&mut graph, stream).unwrap();
            }
            let steps = graph.nodes().filter(|(_, node)| matches!(node.op, Op::Linear(_)));
            let read: Vec<Vec<u8>> = steps
                .map(|(_, node)| graph[node.inputs[1]].tensor().unwrap().bytes().unwrap().to_vec())
                .collect();
            let listed = tensors.product_weights().unwrap();
            let listed: Vec<Vec<u8>> = listed.iter().map(|tensor| tensor.bytes().unwrap().to_vec()).collect();
            assert!(read == listed, "{}", folder.display());
        });
    }
}

#[test]
fn a_layer_computed_again_has_the_bits_of_the_pass() {
    of_every_decoder(|name, run, expected| {
        let whole = text(expected.integers("ids").unwrap());
        for precision in [Precision::Exact, Precision::Single(Machine::here())] {
            let forward = run.forward(whole.clone(), options(precision)).unwrap();
            for layer in 1..=run.layers() {
                let graph: Graph = run.layers_again(&forward, layer..=layer).unwrap();
                let last =
                    if layer == run.layers() { "X_final".to_string() } else { format!("L{}.X", layer + 1) };
                let stream = graph[graph.find(&last).unwrap()].tensor().unwrap();
                assert!(stream.same_bits(&forward.streams[layer]), "{name}: layer {layer} in {precision:?}");
            }
        }
    });
}

#[test]
fn a_text_goes_on_as_in_transformers() {
    of_every_decoder(|name, run, expected| {
        let next = expected.integers("next").unwrap();
        let mut forward =
            run.forward(text(expected.integers("ids").unwrap()), options(Precision::Exact)).unwrap();
        for id in next {
            let tokens = forward.text.ids.len();
            let logits: Vec<f64> = run.logits_of(&forward, tokens - 1..tokens).unwrap().cells().collect();
            let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
            assert_eq!(best, id, "{name}, token {}", tokens + 1);
            forward = run.continued(forward, &text(vec![id])).unwrap();
        }
    });
}

#[test]
fn a_pass_has_room_for_one_head_at_a_time_and_a_layer_with_all_steps_for_all() {
    of_every_decoder(|name, run, expected| {
        let whole = text(expected.integers("ids").unwrap());
        for precision in [Precision::Exact, Precision::Single(Machine::here())] {
            let limited = |limit| PassOptions { limit, ..options(precision) };
            let fits = |limit: &usize| run.forward(whole.clone(), limited(*limit)).is_ok();
            let limits: Vec<usize> = (0..400_000).step_by(100).collect();
            let least = limits[limits.partition_point(|limit| !fits(limit))];
            let forward = run.forward(whole.clone(), limited(least)).unwrap();
            let several = (1..=run.layers()).any(|layer| run.recipe(layer).unwrap().heads > 1);
            let again = (1..=run.layers()).all(|layer| run.layers_again(&forward, layer..=layer).is_ok());
            assert!(!(several && again), "{name}: {least} numbers are enough for all heads in {precision:?}");
        }
    });
}
