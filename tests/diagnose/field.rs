//! Slips that people made in public threads are named, and named first: those of tests/golden/field_slips.py, and the results of
//! field_cases.json, which once had no name. `field.py` prints what is said to each of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{attn, one_in};
use crate::diagnose::mechanism_slips;
use crate::golden;
use crate::mistakes::inputs;
use attn::attention::MatrixRule;
use attn::diagnose::{Answer, Diagnosis, Examiner, Task, Tolerance};
use attn::graph::recipes::Recipe;
use attn::matrix::Matrix;
use serde_json::Value;

/// An exercise with results in each of which one slip was made.
struct Exercise {
    examiner: Examiner,
    wrong: Vec<Wrong>,
}

/// A result, and the names that tell its slip rightly.
struct Wrong {
    name: String,
    ids: Vec<String>,
    node: String,
    matrix: Matrix,
}

fn recipe(value: &Value) -> Recipe {
    let mut recipe = mechanism_slips::recipe(&value["options"]);
    recipe.mask.matrix = value["inputs"].get("mask").map(|_| MatrixRule::Allow);
    recipe
}

impl Exercise {
    fn of(value: &Value) -> Exercise {
        let task = Task::new(recipe(value), inputs(&value["inputs"])).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let wrong = |value: &Value| Wrong {
            name: text(&value["variant"]),
            ids: golden::list(value, "mistakes").iter().map(text).collect(),
            node: text(&value["node"]),
            matrix: golden::matrix(&value["matrix"]),
        };
        Exercise {
            examiner: Examiner::new(task, Tolerance::default()),
            wrong: golden::list(value, "wrong").iter().map(wrong).collect(),
        }
    }
}

impl Wrong {
    fn diagnosed(&self, examiner: &Examiner, decimals: Option<usize>) -> Diagnosis {
        let matrix = match decimals {
            Some(decimals) => self.matrix.map(|x| format!("{x:.decimals$}").parse().unwrap()),
            None => self.matrix.clone(),
        };
        let answer =
            Answer { name: self.node.clone(), matrices: vec![matrix], decimals, digits: None, roundoff: 0.0 };
        examiner.examine(&[answer]).unwrap()
    }

    /// The names that are told first.
    fn first(diagnosis: &Diagnosis) -> String {
        let first = diagnosis.nodes[0].mistakes.first();
        first.map_or_else(String::new, |named| named.ids().join("+"))
    }
}

fn exercises() -> Vec<Exercise> {
    golden::list(&golden::json("field_slips.json"), "cases").iter().map(Exercise::of).collect()
}

/// The ids of which there is a result.
pub(crate) fn recorded() -> BTreeSet<String> {
    let ids = exercises().into_iter().flat_map(|exercise| exercise.wrong).flat_map(|wrong| wrong.ids);
    ids.flat_map(|ids| ids.split('+').map(str::to_string).collect::<Vec<_>>()).collect()
}

/// The results whose slip is not told first, and how many results there are.
fn missed(decimals: Option<usize>) -> (Vec<String>, usize) {
    let (mut missed, mut all) = (Vec::new(), 0);
    for Exercise { examiner, wrong } in exercises() {
        for one in wrong {
            let first = Wrong::first(&one.diagnosed(&examiner, decimals));
            all += 1;
            if !one.ids.contains(&first) {
                missed.push(format!("{}: `{first}`", one.name));
            }
        }
    }
    (missed, all)
}

#[test]
fn nine_slips_of_ten_that_people_made_are_named_first() {
    for decimals in [None, Some(4)] {
        let (missed, all) = missed(decimals);
        assert!(10 * missed.len() <= all, "{} of {all}, {decimals:?} decimals: {missed:#?}", missed.len());
    }
}

#[test]
fn slips_of_loops_pairs_copies_and_types_are_all_named_first() {
    let mut seen = 0;
    for (Exercise { examiner, wrong }, value) in
        exercises().iter().zip(golden::list(&golden::json("field_slips.json"), "cases"))
    {
        for one in wrong.iter().filter(|_| golden::string(value, "name").starts_with("all named")) {
            let first = Wrong::first(&one.diagnosed(examiner, None));
            assert!(one.ids.contains(&first), "{}: `{first}`", one.name);
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn right_numbers_that_are_cut_off_are_right_and_told_so() {
    for value in golden::list(&golden::json("field_slips.json"), "cases") {
        let Exercise { examiner, .. } = Exercise::of(value);
        for (decimals, units, cut) in
            [(3, 1e3, f64::trunc as fn(f64) -> f64), (4, 1e4, f64::trunc), (3, 1e3, f64::floor)]
        {
            let matrix = golden::matrix(&value["right"]).map(|x| cut(x * units) / units);
            let name = format!("{} after {decimals} decimals", golden::string(value, "name"));
            let one = Wrong { name, ids: Vec::new(), node: "O".into(), matrix };
            assert!(one.diagnosed(&examiner, Some(decimals)).is_right(), "{}", one.name);
        }
    }
}

/// The command for one of the cases of field_cases.json, whose matrices are written into a folder.
fn command(case: &Value, place: &Path) -> String {
    for (name, matrix) in case["inputs"].as_object().unwrap() {
        fs::write(place.join(format!("{name}.json")), matrix.to_string()).unwrap();
    }
    let yours = golden::matrix(&case["yours"]["matrix"]);
    let cell = |x: f64| match case["yours"]["decimals"].as_u64() {
        Some(decimals) => format!("{x:.0$}", decimals as usize),
        None => x.to_string(),
    };
    let rows = (0..yours.rows()).map(|i| yours.row(i).map(cell).collect::<Vec<_>>().join(","));
    fs::write(place.join("yours.csv"), rows.collect::<Vec<_>>().join("\n")).unwrap();
    let here = |word: &str| match word.rsplit_once('=') {
        _ if !(word.ends_with(".json") || word.ends_with(".csv")) => word.to_string(),
        Some((node, file)) => format!("{node}={}", place.join(file).display()),
        None => place.join(word).display().to_string(),
    };
    let words: Vec<String> = case["arguments"].as_str().unwrap().split(' ').map(here).collect();
    format!("diagnose {}", words.join(" "))
}

/// The names that the command tells first, or its verdict.
fn told(case: &Value) -> String {
    let place = tempfile::tempdir().unwrap();
    let out = attn(&format!("{} --format json", command(case, place.path()))).run().out;
    let report: Value = serde_json::from_str(&out).unwrap();
    let first = golden::list(&report, "nodes").iter().find_map(|node| node["mistakes"].get(0));
    match first {
        Some(named) => {
            let ids = golden::list(named, "ids").iter().map(|id| id.as_str().unwrap());
            ids.collect::<Vec<_>>().join("+")
        }
        None => report["verdict"].as_str().unwrap().to_string(),
    }
}

/// The cases of field_cases.json.
fn cases() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("field_cases.json")).unwrap();
    golden::list(&all, "cases").to_vec()
}

#[test]
fn what_once_had_no_name_is_named_first() {
    // Nothing but NaN: the likelier of two causes comes first, and this is the other one.
    let other = "mask-after-softmax";
    for case in cases().iter().step_by(one_in(4)) {
        let (first, name) = (told(case), golden::string(case, "name"));
        let right = golden::list(case, "first").iter().any(|id| *id == first.as_str());
        assert!(right || name == other, "{name}: {first}");
    }
}

#[test]
fn what_gives_the_same_numbers_is_told_together() {
    let pairs = [
        ("window-both-sides", "mask-part-missing", "causal-off-by-one"),
        ("mask-pad-first-two", "mask-reversed", "rows-shifted"),
        ("mask-bool-times-1e9", "mask-inverted", "mask-positive"),
    ];
    let mut seen = 0;
    for Exercise { examiner, wrong } in exercises() {
        for one in wrong {
            let told = |id: &str| {
                let diagnosis = one.diagnosed(&examiner, None);
                diagnosis.nodes[0].mistakes.iter().any(|named| named.ids() == [id])
            };
            for (_, a, b) in pairs.iter().filter(|(name, ..)| *name == one.name) {
                assert!(told(a) && told(b), "{}", one.name);
                seen += 1;
            }
            // Column by column, (T, H, d) is a split into every H-th column.
            if one.name == "heads-forder-wrong" {
                assert!(told("heads-interleaved"));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, pairs.len() + 1);
}

#[test]
fn rope_from_another_first_position_gives_the_same_result() {
    let golden = golden::json("field_slips.json");
    let value = &golden::list(&golden, "cases")[0];
    let result = |first: usize| {
        let mut recipe = recipe(value);
        recipe.positions.first = first;
        let task = Task::new(recipe, inputs(&value["inputs"])).unwrap();
        task.right()[task.right().find("O").unwrap()].matrix().unwrap().clone()
    };
    let (own, other) = (result(0), result(5));
    assert!(own.cells().zip(other.cells()).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn the_steps_before_are_asked_for_only_where_they_decide() {
    let said = |name: &str| {
        let place = tempfile::tempdir().unwrap();
        let case = cases().into_iter().find(|case| case["name"] == name).unwrap();
        attn(&command(&case, place.path())).run().out
    };
    // −∞ on the wrong side, and +1e9 on the other: the same scores before the mask, and the same weights.
    let polarity = said("polarity-1e9-mh");
    assert!(!polarity.contains("--yours S=FILE") && polarity.contains("--suggest-input"), "{polarity}");
    // Keys in reverse order have other scores than a mask in reverse order.
    let reversed = said("mask-pad-first-two");
    assert!(reversed.contains("--yours S=FILE"), "{reversed}");
}

#[test]
fn rows_that_see_one_key_alone_tell_where_the_error_lies() {
    let golden = golden::json("field_slips.json");
    let value = &golden::list(&golden, "cases")[0];
    let Exercise { examiner, .. } = Exercise::of(value);
    let right = golden::matrix(&value["right"]);
    let clue = |from: usize| {
        let moved = |i: usize, j: usize| if i < from { 0.0 } else { ((7 * i + 3 * j) % 11) as f64 - 5.0 };
        let matrix = Matrix::from_fn(right.rows(), right.cols(), |i, j| right[(i, j)] + moved(i, j));
        let one = Wrong { name: String::new(), ids: Vec::new(), node: "O".into(), matrix };
        let clues = one.diagnosed(&examiner, None).nodes.swap_remove(0).clues;
        clues.iter().any(|clue| clue.sentence.contains("see one key alone"))
    };
    // Under the causal mask the first row sees itself alone.
    assert!(clue(1));
    assert!(!clue(0) && !clue(2));
}
