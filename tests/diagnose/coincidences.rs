//! Mistakes whose results coincide are named together: those that are the same by algebra, by another hand
//! (tests/golden/coincidences.py), and whatever else of the catalogue gives the same numbers on an exercise.

use std::collections::BTreeSet;
use std::fs;

use crate::common::attn;
use crate::golden;
use crate::mistakes::{More, OtherSlip, answer, coincidence_cases, named, same};
use attn::diagnose::{Change, Diagnosis, Examiner, Task, Tolerance, catalogue};
use attn::graph::recipes::{AttendInputs, NormPlace, QkNorm, Recipe};
use attn::matrix::Matrix;

/// The strings of a list of a record; none where it has no such list.
fn strings(slip: &OtherSlip, key: &str) -> Vec<String> {
    let list = slip.value.get(key).and_then(serde_json::Value::as_array);
    list.into_iter().flatten().map(|text| text.as_str().unwrap().to_string()).collect()
}

fn each_slip(mut visit: impl FnMut(&More, &OtherSlip, &Diagnosis)) {
    for case in coincidence_cases() {
        for slip in &case.slips {
            visit(case, slip, &case.examiner.examine(&[answer("O", &slip.result)]).unwrap());
        }
    }
}

#[test]
fn what_is_the_same_by_algebra_is_named_together() {
    let mut complaints = Vec::new();
    each_slip(|case, slip, diagnosis| {
        let names: BTreeSet<String> = named(diagnosis).into_iter().flatten().collect();
        let wanted: Vec<&String> = std::iter::once(&slip.id).chain(&slip.same_as).collect();
        let never = strings(slip, "never");
        let here = format!("{}: {}", case.name, slip.variant);
        if wanted.iter().any(|id| !names.contains(*id)) || never.iter().any(|id| names.contains(id)) {
            complaints.push(format!("{here}: {names:?}, not {wanted:?}"));
        }
        let judged = diagnosis.first_wrong().unwrap();
        let sentences: Vec<String> =
            judged.mistakes.iter().flat_map(|named| &named.slips).map(|slip| slip.sentence()).collect();
        for said in strings(slip, "says") {
            if !sentences.iter().any(|sentence| sentence.contains(&said)) {
                complaints.push(format!("{here}: nothing says `{said}`: {sentences:?}"));
            }
        }
    });
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_usual_one_of_two_causes_comes_first() {
    each_slip(|case, slip, diagnosis| {
        if !slip.same_as.is_empty() && !matches!(&*slip.id, "mask-added" | "mask-shifted") {
            let first = named(diagnosis).swap_remove(0);
            assert!(first.contains(&slip.id), "{}: {}: {first:?}", case.name, slip.variant);
        }
    });
}

/// Whether what these changes do includes what others do, and more.
fn goes_beyond(own: &[Change], other: &[Change]) -> bool {
    match (own, other) {
        ([Change::Alteration(own)], [Change::Alteration(part)]) => {
            own.alter == part.alter && own.stage.includes(part.stage)
        }
        _ => other.len() < own.len() && other.iter().all(|change| own.contains(change)),
    }
}

#[test]
fn every_mistake_of_the_catalogue_that_gives_the_same_numbers_is_named() {
    let mut complaints = Vec::new();
    let mut groups_seen = 0;
    for case in coincidence_cases().iter().take(3) {
        let task = case.examiner.task();
        let mut results: Vec<(&str, Vec<Change>, Matrix)> = Vec::new();
        for mistake in catalogue() {
            for way in mistake.ways(task).unwrap().into_iter().filter(|way| way.alone && !way.general) {
                let graph = task.with(&way.changes);
                let Some(result) = graph.find("O").and_then(|id| graph[id].matrix()) else { continue };
                let result = if way.changes.contains(&Change::Transposed) {
                    result.transposed()
                } else {
                    result.clone()
                };
                if result.cells().all(f64::is_finite) && !same(&result, &case.right) {
                    results.push((&mistake.id, way.changes, result));
                }
            }
        }
        let mut known = vec![false; results.len()];
        for at in 0..results.len() {
            let size = results[at].2.cells().fold(0.0, |max: f64, x| max.max(x.abs()));
            let alike = |other: &Matrix| {
                let own = &results[at].2;
                own.shape() == other.shape()
                    && own.cells().zip(other.cells()).all(|(a, b)| (a - b).abs() <= 1e-14 * size)
            };
            let group: Vec<usize> = (at..results.len()).filter(|&other| alike(&results[other].2)).collect();
            let is_known = known[at];
            group.iter().for_each(|&other| known[other] = true);
            let ids: BTreeSet<&str> = group.iter().map(|&at| results[at].0).collect();
            if is_known || ids.len() < 2 {
                continue;
            }
            groups_seen += 1;
            let is_more =
                |at: &usize| group.iter().any(|other| goes_beyond(&results[*at].1, &results[*other].1));
            let wanted: BTreeSet<&str> =
                group.iter().filter(|at| !is_more(at)).map(|&at| results[at].0).collect();
            let diagnosis = case.examiner.examine(&[answer("O", &results[at].2)]).unwrap();
            let names: BTreeSet<String> = named(&diagnosis).into_iter().flatten().collect();
            if wanted.iter().any(|id| !names.contains(*id)) {
                complaints.push(format!("{}: {names:?}, not {wanted:?}", case.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
    assert!(groups_seen > 20, "{groups_seen}");
}

/// The exercise of a golden case as files in a folder, and the options that name them.
fn as_files(case: &More, place: &std::path::Path) -> String {
    let golden = golden::json("coincidences.json");
    let value =
        golden::list(&golden, "cases").iter().find(|value| value["name"] == case.name.as_str()).unwrap();
    let mut options = String::new();
    for (name, matrix) in value["inputs"].as_object().unwrap() {
        let file = place.join(format!("{name}.json"));
        fs::write(&file, matrix.to_string()).unwrap();
        let option = name.to_lowercase().replace('_', "");
        options += &format!(" --{option} {}", file.display());
    }
    let given = &value["options"];
    options += &format!(" --heads {} --kv-heads {}", given["heads"], given["kv_heads"]);
    if given["causal"] == true {
        options += " --causal";
    }
    options
}

#[test]
fn weights_of_all_heads_and_rows_of_a_batch_of_one_are_read_as_what_they_are() {
    let case = &coincidence_cases()[1];
    let place = tempfile::tempdir().unwrap();
    let options = as_files(case, place.path());
    let golden = golden::json("coincidences.json");
    let right = &golden::list(&golden, "cases")[1]["right"];
    let heads: Vec<Matrix> = right["A"].as_array().unwrap().iter().map(golden::matrix).collect();
    let (rows, cols) = (heads[0].rows(), heads[0].cols());
    let write = |name: &str, value: serde_json::Value| {
        let file = place.path().join(name);
        fs::write(&file, value.to_string()).unwrap();
        file.display().to_string()
    };
    let rows_of =
        |matrix: &Matrix| -> Vec<Vec<f64>> { (0..matrix.rows()).map(|i| matrix.row(i).collect()).collect() };
    let judge = |yours: String| attn(&format!("diagnose{options} --yours {yours}")).run();

    let pile: Vec<Vec<f64>> = heads.iter().flat_map(rows_of).collect();
    let pile = write("pile.json", serde_json::json!(pile));
    let judged = judge(format!("A={pile}"));
    assert_eq!(judged.code, 0, "{}", judged.out);
    assert!(judged.out.contains("A is read as the 4 heads, one below the other."), "{}", judged.out);

    let mean = Matrix::from_fn(rows, cols, |i, j| heads.iter().map(|head| head[(i, j)]).sum::<f64>() / 4.0);
    let mean = write("mean.json", serde_json::json!(rows_of(&mean)));
    let judged = judge(format!("A={mean}"));
    assert_eq!(judged.code, 0, "{}", judged.out);
    assert!(judged.out.contains("mean of the weights of all heads"), "{}", judged.out);

    // [T, 1, E], and the mean of the weights beside a wrong result.
    let batch = |matrix: &Matrix| -> Vec<Vec<Vec<f64>>> {
        rows_of(matrix).into_iter().map(|row| vec![row]).collect()
    };
    let result = write("result.json", serde_json::json!(batch(&golden::matrix(&right["O"]))));
    let judged = judge(result);
    assert_eq!(judged.code, 0, "{}", judged.out);
    assert!(judged.out.contains("its shape is [6, 1, 16]"), "{}", judged.out);
    let wrong = write("wrong.json", serde_json::json!(batch(&case.slips[0].result)));
    let judged = judge(format!("{wrong} --yours A={mean}"));
    assert!(judged.code == 1 && judged.out.contains("mask-inverted"), "{}", judged.out);
}

#[test]
fn nothing_but_nan_says_what_is_sure_and_what_to_hand_in_before_it_names_anything() {
    let place = tempfile::tempdir().unwrap();
    let case = &coincidence_cases()[1];
    let options = as_files(case, place.path());
    let nan = vec!["nan ".repeat(16); 6].join("; ");
    let judged = attn(&format!("diagnose{options} --yours '{nan}'")).run();
    let said = judged.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with("O is wrong, from O[1,1] on. Every cell is NaN. "), "{said}");
    let hand_in = said.find("--yours S=FILE --yours A=FILE").expect("what to hand in");
    assert!(said.find("mask-times-infinity").is_some_and(|name| hand_in < name), "{said}");
    assert!(!said.contains("To fix it"), "{said}");
}

#[test]
fn rows_in_their_own_order_are_no_finding() {
    let case = &coincidence_cases()[1];
    let right = &case.right;
    let twice = attn::diagnose::Answer { matrices: vec![right.clone(), right.clone()], ..answer("O", right) };
    let diagnosis = case.examiner.examine(&[twice]).unwrap();
    let clues: Vec<String> = diagnosis.nodes[0].clues.iter().map(|clue| clue.sentence.clone()).collect();
    assert!(clues.iter().all(|clue| !clue.contains("in the order 1 2")), "{clues:?}");
}

#[test]
fn an_exercise_that_is_missing_is_asked_for_by_this_command() {
    let told = attn("diagnose --yours 1").run();
    assert_eq!(told.code, 2);
    assert!(told.err.contains("attn diagnose --words") && !told.err.contains("attn attend"), "{}", told.err);
}

#[test]
fn the_values_alone_are_named_where_a_second_norm_of_queries_and_keys_changes_nothing() {
    let inputs = coincidence_cases()[2].examiner.task().inputs().clone();
    let qk_norm = QkNorm { place: NormPlace::BeforeRotation, ..QkNorm::default() };
    let recipe = Recipe { heads: 2, kv_heads: 2, qk_norm, ..Recipe::causal() };
    let task = Task::new(recipe, AttendInputs { mask: None, ..inputs }).unwrap();
    let matrix = |name: &str| task.right()[task.right().find(name).unwrap()].matrix().unwrap();
    let (values, output) = (matrix("V"), matrix("W_O"));
    let (rows, width) = (values.rows(), values.cols() / 2);
    // Each head's values over their root mean square, mixed by the right weights.
    let mixed = |i: usize, c: usize| -> f64 {
        let own = c / width * width..c / width * width + width;
        let size = |j: usize| {
            (own.clone().map(|c| values[(j, c)] * values[(j, c)]).sum::<f64>() / width as f64).sqrt()
        };
        let weights = matrix(&format!("A_{}", c / width + 1));
        (0..rows).map(|j| weights[(i, j)] * values[(j, c)] / size(j)).sum()
    };
    let joined = Matrix::from_fn(rows, 2 * width, mixed);
    let result = Matrix::from_fn(rows, output.cols(), |i, j| {
        (0..2 * width).map(|c| joined[(i, c)] * output[(c, j)]).sum()
    });
    let diagnosis =
        Examiner::new(task.clone(), Tolerance::default()).examine(&[answer("O", &result)]).unwrap();
    let names: Vec<String> = named(&diagnosis).into_iter().flatten().collect();
    assert_eq!(names, ["values-altered"]);
}
