//! What a lesson reads of a training: the numbers that its JSON has, under names.

use attn::graph::{Cells, Graph, resolve};
use attn::lesson::CommandOutput;
use attn::render::Screen;
use serde_json::Value;

use crate::common::in_process;

fn run(command: &str) -> CommandOutput {
    let args: Vec<String> = command.split(' ').map(str::to_string).collect();
    let output = in_process(&args, Screen::plain(80));
    assert_eq!(output.code, 0, "{}", output.err);
    output
}

/// The number at an address.
fn cell(graph: &Graph, address: &str) -> f64 {
    match resolve(graph, address).expect("an address") {
        Cells::Cell(cell) => graph.matrix(cell.node).expect("numbers")[(cell.row, cell.col)],
        _ => panic!("{address} is no cell"),
    }
}

#[test]
fn a_lesson_reads_the_numbers_that_the_json_of_a_training_has() {
    let output = run("learn reverse --steps 60 --format json");
    let json: Value = serde_json::from_str(&output.out).expect("JSON");
    let [graph] = &output.graphs[..] else { panic!("one graph") };
    let steps = json["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 60);
    for step in steps {
        let (number, head) = (step["step"].as_u64().expect("a number"), &step["heads"][0]);
        for (column, value) in [
            ("loss", &step["loss"]),
            ("accuracy", &step["accuracy"]),
            ("L1.A mirror", &head["mirror"]),
            ("L1.A answer", &head["answer"]),
        ] {
            assert_eq!(Some(cell(graph, &format!("step[{number},{column}]"))), value.as_f64(), "{column}");
        }
    }
    for way in ["equal weights", "mirror", "answer"] {
        let right = json["instead"][0][way].as_f64();
        assert_eq!(Some(cell(graph, &format!("instead[L1.A,{way}]"))), right, "{way}");
    }
    for (column, name) in [
        ("parameters", "parameters"),
        ("heldout_loss", "heldout_loss"),
        ("heldout_accuracy", "heldout_accuracy"),
    ] {
        assert_eq!(Some(cell(graph, &format!("training[reverse,{column}]"))), json[name].as_f64(), "{name}");
    }
}

#[test]
fn a_head_has_the_step_from_which_ten_scores_lie_above_a_half_and_their_last_mean() {
    let output = run("learn reverse --steps 120 --format json");
    let json: Value = serde_json::from_str(&output.out).expect("JSON");
    let [graph] = &output.graphs[..] else { panic!("one graph") };
    let scores: Vec<f64> = json["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| step["heads"][0]["mirror"].as_f64().expect("a score"))
        .collect();
    let mean = |from: usize| scores[from..from + 10].iter().sum::<f64>() / 10.0;
    let first = (0..=110).find(|from| mean(*from) >= 0.5).expect("a step");
    assert!((20..100).contains(&first), "{first}");
    assert_eq!(cell(graph, "head[L1.A mirror,half_from]"), (first + 1) as f64);
    assert!((cell(graph, "head[L1.A mirror,last]") - mean(110)).abs() < 1e-12);
}

#[test]
fn a_step_that_never_comes_is_infinite() {
    let output = run("learn induction --layers 1 --steps 12 --batch 2");
    let [graph] = &output.graphs[..] else { panic!("one graph") };
    assert_eq!(cell(graph, "head[L1.A induction,half_from]"), f64::INFINITY);
    assert_eq!(cell(graph, "training[induction,right_from]"), f64::INFINITY);
}

#[test]
fn a_document_has_few_steps_with_the_first_and_the_last_and_csv_has_all() {
    let numbers = |format: &str| -> Vec<usize> {
        let output = run(&format!("learn reverse --steps 60 --format {format}"));
        let first =
            output.out.lines().filter_map(|line| line.trim_start_matches("| ").split([' ', ',']).next());
        first.filter_map(|cell| cell.parse().ok()).collect()
    };
    let few = numbers("markdown");
    assert!(few.len() < 45 && few.is_sorted(), "{few:?}");
    assert_eq!((few.first(), few.last()), (Some(&1), Some(&60)));
    assert_eq!(numbers("csv"), (1..=60).collect::<Vec<_>>());
}
