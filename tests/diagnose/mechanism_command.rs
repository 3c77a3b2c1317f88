//! `attn diagnose` with the options of today's models: right steps are right under their usual names, and an input that tells
//! mistakes apart is read back with the printed options.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{attn, one_in};
use crate::exercise::place;
use tempfile::TempDir;

/// Six tokens of width 8, with weights for 2 heads on 1, gains, divisors, a table, sinks and a gate in files of their own.
fn exercise() -> TempDir {
    let place = place();
    let write = |name: &str, rows: usize, cols: usize, seed: usize| {
        let cell = |i: usize, j: usize| ((7 * i + 5 * j + 3 * seed + i * j) % 13) as f64 / 5.0 - 1.1;
        let row = |i| (0..cols).map(|j| format!("{:.2}", cell(i, j))).collect::<Vec<_>>().join(",");
        let text: Vec<String> = (0..rows).map(row).collect();
        std::fs::write(place.path().join(name), text.join("\n") + "\n").unwrap();
    };
    for (name, rows, cols) in
        [("x", 6, 8), ("wq", 8, 8), ("wk", 8, 4), ("wv", 8, 4), ("gains", 2, 4), ("table", 8, 2)]
    {
        write(&format!("{name}.csv"), rows, cols, name.len() + rows);
    }
    for (name, rows, cols) in [("sinks", 1, 2), ("gate", 8, 8)] {
        write(&format!("{name}.csv"), rows, cols, name.len());
    }
    std::fs::write(place.path().join("divisors.csv"), "1,1.5\n2,3.5\n").unwrap();
    place
}

/// The matrices of the exercise as options.
const GIVEN: &str =
    "--x {}/x.csv --wq {}/wq.csv --wk {}/wk.csv --wv {}/wv.csv --heads 2 --kv-heads 1 --causal";

/// Every option of today's models, each in an exercise, and a step that it adds.
const OPTIONS: &[(&str, &str)] = &[
    ("--position rope", "Q_rotated"),
    ("--position rope-interleaved --rope-base 500 --rope-width 2 --first-position 3", "K_rotated"),
    ("--position rope --rope-scaling linear:factor=4", "F_scaled"),
    ("--position rope --rope-scaling dynamic:factor=2,original=4", "Q_rotated"),
    ("--position rope --rope-scaling llama3:factor=8,low=1,high=4,original=64", "Q_rotated"),
    ("--position rope --rope-scaling yarn:factor=4,original=64,truncate=no,attention=1.2", "Q_rotated"),
    ("--position rope --rope-scaling longrope:factor=4,original=4,divisors={}/divisors.csv", "K_rotated"),
    ("--position alibi", "S_biased"),
    ("--position sinusoidal --first-position 2", "X_positioned"),
    ("--position t5 --position-table {}/table.csv", "B_position"),
    ("--position rope --qk-norm {}/gains.csv --qk-norm-eps 0.01", "Q_normed"),
    ("--qk-norm", "K_normed"),
    ("--softcap 0.75", "S_capped"),
    ("--window 2 --keep-first 1", "S_masked"),
    ("--sink -0.25", "A"),
    ("--sink {}/sinks.csv", "A"),
    ("--gate {}/gate.csv", "O_gated"),
];

fn at(text: &str, place: &TempDir) -> String {
    text.replace("{}", place.path().to_str().unwrap())
}

fn path(place: &TempDir, name: &str) -> String {
    place.path().join(name).to_str().unwrap().to_string()
}

/// Saves steps of an exercise to a file.
fn save(arguments: &str, file: &str) {
    attn(&format!("attend {arguments} --save")).arg(file).ok();
}

#[test]
fn right_results_and_steps_are_right_with_every_option() {
    let place = exercise();
    let file = path(&place, "all.json");
    for (options, step) in OPTIONS.iter().step_by(one_in(10)) {
        let arguments = at(&format!("{GIVEN} {options}"), &place);
        let nodes = attn(&format!("attend {arguments}")).nodes();
        let rows = |name: &str| -> Vec<Vec<f64>> {
            let matrix = nodes.matrix(name);
            (0..matrix.rows()).map(|i| matrix.row(i).collect()).collect()
        };
        let finite = |name: &&str| rows(name).iter().flatten().all(|x| x.is_finite());
        let names = nodes.names();
        let own = |name: &&str| {
            let base = name.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit());
            base == *step || ["S", "A", "O"].contains(&base)
        };
        let handed: serde_json::Map<String, serde_json::Value> = names
            .into_iter()
            .filter(own)
            .filter(finite)
            .map(|name| (name.to_string(), serde_json::json!(rows(name))))
            .collect();
        let is_there = handed.keys().any(|name| name.starts_with(step)) || *step == "S_masked";
        assert!(handed.len() >= 4 && is_there, "{options}: {:?}", handed.keys());
        std::fs::write(&file, serde_json::Value::Object(handed.clone()).to_string()).unwrap();
        let judged = attn(&format!("diagnose {arguments} --yours")).arg(&file).run();
        assert_eq!(judged.code, 0, "{options}: {}{}", judged.out, judged.err);
        for (name, rows) in handed {
            std::fs::write(&file, rows.to_string()).unwrap();
            let judged = attn(&format!("diagnose {arguments} --yours")).arg(format!("{name}={file}")).run();
            assert_eq!(judged.code, 0, "{options}: {name}: {}{}", judged.out, judged.err);
        }
    }
}

#[test]
fn steps_are_accepted_under_usual_names_and_with_all_heads_side_by_side() {
    let place = exercise();
    let options = "--position rope --qk-norm --softcap 2 --gate {}/gate.csv";
    let arguments = at(&format!("{GIVEN} {options}"), &place);
    for (node, name) in [
        ("Q_rotated_1", "q_rot1"),
        ("K_rotated_1", "k_embed"),
        ("Q_normed_2", "q_norm2"),
        ("S_capped_1", "capped_scores_1"),
        ("O_gated", "gated_output"),
        ("G", "gate"),
    ] {
        let file = path(&place, "step.npy");
        save(&arguments, &format!("{node}={file}"));
        let judged = attn(&format!("diagnose {arguments} --yours")).arg(format!("{name}={file}")).run();
        assert_eq!(judged.code, 0, "{name}: {}{}", judged.out, judged.err);
    }
    let nodes = attn(&format!("attend {arguments}")).nodes();
    let heads = [nodes.matrix("Q_rotated_1"), nodes.matrix("Q_rotated_2")];
    let row =
        |i| heads.iter().flat_map(|head| head.row(i)).map(|x| x.to_string()).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..heads[0].rows()).map(row).collect();
    let file = path(&place, "whole.csv");
    std::fs::write(&file, rows.join("\n")).unwrap();
    for name in ["Q_rotated", "Q"] {
        let judged = attn(&format!("diagnose {arguments} --yours")).arg(format!("{name}={file}")).run();
        assert_eq!(judged.code, 0, "{name}: {}{}", judged.out, judged.err);
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_suggested_input_is_read_back_with_the_printed_options() {
    let place = exercise();
    for (at_number, (options, _)) in OPTIONS.iter().enumerate().step_by(one_in(8)) {
        let arguments = at(&format!("{GIVEN} {options}"), &place);
        let better = path(&place, &format!("better{at_number}.npz"));
        let told = attn(&format!("diagnose {arguments} --format json --suggest-input")).arg(&better).ok().out;
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        let again = told["tables"][0]["rows"][0]["arguments"].as_str();
        let again = again.unwrap_or_else(|| panic!("{options}: {told}"));
        let names = |arguments: &str| -> BTreeSet<String> {
            let nodes = attn(&format!("attend {arguments}")).nodes();
            nodes.names().into_iter().map(str::to_string).collect()
        };
        assert_eq!(names(again), names(&arguments), "{options}: {again}");
        // The right result of the printed exercise is right there, and one without the scale is not.
        let own = path(&place, "own.npy");
        save(again, &format!("O={own}"));
        assert_eq!(attn(&format!("diagnose {again} --yours")).arg(&own).run().code, 0, "{options}");
        save(&format!("{again} --scale none"), &format!("O={own}"));
        let judged = attn(&format!("diagnose {again} --yours")).arg(&own).run();
        assert!(judged.code == 1 && judged.out.contains("[no-scale]"), "{options}: {}", judged.out);
    }
    assert!(Path::new(&path(&place, "better0.npz")).exists());
}

#[test]
fn a_cap_after_the_mask_that_no_digit_shows_is_not_ruled_out() {
    let place = exercise();
    for (cap, is_hidden) in [("2", false), ("50", true)] {
        let arguments = at(&format!("{GIVEN} --softcap {cap}"), &place);
        let file = path(&place, "result.npy");
        save(&arguments, &format!("O={file}"));
        let judged = attn(&format!("diagnose {arguments} --yours")).arg(&file).run();
        assert_eq!(judged.out.contains("softcap-late"), is_hidden, "{cap}: {}", judged.out);
        assert!(!is_hidden || judged.out.contains("neither found nor ruled out"), "{}", judged.out);
    }
}

#[test]
fn another_input_is_suggested_only_where_one_can_show_more() {
    let place = exercise();
    for (options, is_suggested) in [("--position rope", false), ("--softcap 50", true)] {
        // Other values than keys, whose weights are the same numbers.
        let given = GIVEN.replace("wv.csv", "gate.csv");
        let arguments = at(&format!("{given} {options}"), &place);
        let file = path(&place, "result.npy");
        save(&arguments, &format!("O={file}"));
        for details in ["", " --details"] {
            let judged = attn(&format!("diagnose {arguments}{details} --yours")).arg(&file).ok().out;
            let judged = judged.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(judged.contains("neither found nor ruled out"), "{options}{details}: {judged}");
            assert_eq!(judged.contains("--suggest-input"), is_suggested, "{options}{details}: {judged}");
        }
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_suggestion_says_on_any_numbers_only_what_is_proven_for_any_numbers() {
    let place = exercise();
    for (at_number, (options, id, is_proven)) in [
        ("--position rope", "positions-start", true),
        ("--softcap 50", "softcap-late", false),
        ("--position rope --rope-scaling dynamic:factor=2,original=400", "rope-scaling", false),
    ]
    .into_iter()
    .enumerate()
    {
        let arguments = at(&format!("{GIVEN} {options}"), &place);
        let better = path(&place, &format!("said{at_number}.npz"));
        let told = attn(&format!("diagnose {arguments} --suggest-input")).arg(&better).ok().out;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("│ {id} ")), "{options}: {told}");
        assert_eq!(told.contains("on any numbers"), is_proven, "{options}: {told}");
        assert_eq!(told.contains("another number of tokens"), !is_proven, "{options}: {told}");
    }
}

#[test]
fn a_mistake_without_a_demo_points_to_none() {
    for (id, demo) in [
        ("softcap-late", None),
        ("gate-missing", None),
        ("t5-direction", None),
        ("window-off-by-one", Some("sink")),
    ] {
        let told = attn(&format!("diagnose --list {id}")).ok().out;
        let expected = demo.map(|demo| format!("The correct step: attn demo {demo}."));
        assert_eq!(told.contains("The correct step"), demo.is_some(), "{told}");
        assert!(expected.is_none_or(|expected| told.contains(&expected)), "{told}");
    }
}
