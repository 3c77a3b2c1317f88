//! Time: what is read, checked and suggested costs no more than its size, or its size times a logarithm. Each of these took
//! minutes, or would have.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{attn, one_in};

#[test]
fn up_to_twenty_thousand_heads_are_computed_step_by_step() {
    let heads = 20_000 / one_in(8);
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("w.csv");
    fs::write(&weights, vec!["1"; heads].join(",")).unwrap();
    let w = weights.display();
    let command = format!("attend --x 1 --wq {w} --wk {w} --wv {w} --heads {heads} --only O");
    assert_eq!(attn(&format!("{command} --format csv")).ok().out, vec!["1"; heads].join(",") + "\n");
    attn(&command).ok();
}

#[test]
fn many_heads_are_written_and_explained_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("w.csv");
    fs::write(&weights, vec!["1"; 600].join(",")).unwrap();
    let w = weights.display();
    let command = format!("attend --x 1 --wq {w} --wk {w} --wv {w} --heads 600");
    let before = Instant::now();
    for format in ["html", "latex", "markdown", "json", "table"] {
        assert!(attn(&format!("{command} --format {format}")).ok().out.len() > 300_000, "{format}");
        attn(&format!("{command} --explain 'A_3[1,1]' --format {format}")).ok();
    }
    // A few seconds; the third power of the heads took an hour.
    assert!(before.elapsed() < Duration::from_secs(120), "{:?}", before.elapsed());
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_long_mistyped_name_is_compared_with_no_file_of_a_large_folder() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..9000 {
        fs::write(folder.path().join(format!("{}{i:04}", "x".repeat(200))), "").unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
    let output = command.current_dir(folder.path()).args(["attend", "--x", &"x".repeat(120_000)]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("neither an existing file nor a matrix"));
}

#[test]
fn a_long_row_that_is_not_there_is_compared_with_none_of_many_labels() {
    let folder = tempfile::tempdir().unwrap();
    let x = folder.path().join("x.csv");
    let rows: String = (0..20_000).map(|i| format!("{}{i:05},1\n", "z".repeat(30))).collect();
    fs::write(&x, rows).unwrap();
    let one = "1";
    let error = attn(&format!("attend --q {one} --k {one} --v {one}")).ok();
    assert!(!error.out.is_empty());
    let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
    let x = x.to_str().unwrap();
    let asked = format!("Q[{},1]", "z".repeat(100_000));
    let args = ["attend", "--q", x, "--k", "1", "--v", "1", "--explain", &asked];
    let output = command.args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no row `zzz"));
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn of_two_thousand_words_that_a_large_file_has_not_a_few_get_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = folder.path().join("v.txt");
    let lines: String = (0..50_000).map(|i| format!("quux{i:06} 1 2\n")).collect();
    fs::write(&vectors, lines).unwrap();
    let words: Vec<String> = (0..2000).map(|i| format!("quuy{i:06}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut nothing = std::io::empty();
    let found =
        attn::input::Files::new(&mut nothing).word_vectors(vectors.to_str().unwrap(), &words).unwrap();
    assert!(found.rows.iter().all(Option::is_none));
    assert_eq!(found.hints.len(), 20);
    assert!(found.hints[0].starts_with("for `quuy000000` did you mean `quux000000`"), "{:?}", found.hints[0]);
}

#[test]
fn a_lesson_whose_steps_all_have_one_name_is_refused_with_each_of_them() {
    let text = format!("---\nattn-lesson: 1\ntitle: T\n---\n\n{}", "## S\n\nx\n\n".repeat(75_000));
    let faults = attn::lesson::read("s.md", &text).unwrap_err();
    assert_eq!(faults.0.len(), 74_999);
    assert!(faults.0.iter().all(|fault| fault.step.as_deref() == Some("S")));
}

#[test]
fn random_refuses_before_it_draws_and_a_pipeline_before_it_computes() {
    attn("attend --random 2000,2000").refused(&["--random 2000,2000", "28000000", "limit of 20000000"]);
    let before = Instant::now();
    attn("attend --random 1400,1400").refused(&["1 head over 1400 queries and 1400 keys", "--fast"]);
    // To compute first takes minutes.
    assert!(before.elapsed() < Duration::from_secs(30), "{:?}", before.elapsed());
    // 4 · 1500² are drawn, and Q, K, V, S and A have 1500² each.
    attn("attend --random 1500,1500").refused(&["with Q, K, V, S and A they are 20250000", "--fast"]);
    use attn::graph::recipes::{AttendInputs, Recipe, attend_as_far_as_possible};
    use attn::matrix::Matrix;
    let inputs = AttendInputs::of_tokens(Matrix::filled(5000, 1, 1.0));
    let (graph, error) = attend_as_far_as_possible(&Recipe::default(), inputs);
    assert!(error.unwrap().to_string().contains("at least 75025003 numbers"));
    assert_eq!(graph.nodes().count(), 0, "nothing is computed");
}

#[test]
fn the_fast_path_refuses_weights_that_are_too_large_before_it_multiplies() {
    let folder = tempfile::tempdir().unwrap();
    let x = folder.path().join("x.csv");
    // 2600² cells for each of three identities: with Q and K recorded the weights of V no longer fit.
    fs::write(&x, format!("{}\n", vec!["1"; 2600].join(",")).repeat(20)).unwrap();
    let before = Instant::now();
    attn(&format!("attend --x {} --fast --only O --format csv", x.display())).refused(&[
        "X, the weights and what is computed from them step by step take 20488000 numbers",
        "--q, --k and --v",
    ]);
    assert!(before.elapsed() < Duration::from_secs(30), "{:?}", before.elapsed());
}

#[test]
fn many_tables_on_one_screen_cost_no_more_than_their_lines() {
    let took = |heads: usize| {
        let only: Vec<String> = (1..=heads).map(|head| format!("A_{head}")).collect();
        let before = Instant::now();
        let command = format!("attend --random 3,{heads} --heads {heads} --only {}", only.join(","));
        assert!(attn(&command).ok().out.contains(&format!("A_{heads} ")));
        before.elapsed()
    };
    took(10);
    let (few, many) = (took(40), took(160));
    // Four times as many; with every number of neighbours tried under shared equations it was the third power of that.
    assert!(many < few * 24, "{few:?}, {many:?}");
}

#[test]
fn a_node_that_is_named_twice_is_shown_once() {
    for format in ["table", "json", "csv", "numpy", "html"] {
        let out = |only: &str| attn(&format!("attend --random 3,3 --format {format} --only {only}")).ok().out;
        assert_eq!(out("A,S,A,A"), out("A,S"), "{format}");
    }
    let compared =
        |only: &str| attn(&format!("attend --random 3,3 --versus '--scale none' --only {only}")).ok().out;
    assert_eq!(compared("A,A"), compared("A"));
}

#[test]
fn of_many_unknown_names_in_a_file_a_few_are_listed() {
    let count = 100_000;
    let tensor = |i: usize| {
        format!("\"k{i}\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{},{}]}}", 4 * i, 4 * i + 4)
    };
    let header = format!("{{{}}}", (0..count).map(tensor).collect::<Vec<_>>().join(","));
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; 4 * count]].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n.safetensors");
    fs::write(&path, file).unwrap();
    // Each name was compared with each.
    attn(&format!("attend {} --only X", path.display()))
        .refused(&["no name in this file is that of a matrix", "`k11` and 99988 more"]);
}

#[test]
fn a_search_for_many_words_ends_with_the_first_that_is_missing() {
    let strange: Vec<String> = (0..15_000).map(|i| format!("quux{i}")).collect();
    let repeated = vec!["attention"; 30_000];
    let before = Instant::now();
    attn(&format!("find {}", strange.join(" "))).refused(&["nothing here is about `quux0 quux1 "]);
    assert_eq!(attn(&format!("find {}", repeated.join(" "))).ok().out, attn("find attention").ok().out);
    // Each word was looked up in each of thousand entries: more than a minute.
    assert!(before.elapsed() < Duration::from_secs(30), "{:?}", before.elapsed());
}
