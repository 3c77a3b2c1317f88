//! `attn bench` as its user sees it: what is compared is said in words, and nobody waits for what takes too long.

use crate::common::attn;
use serde_json::Value;

/// What is printed, as one line of words.
fn words(options: &str) -> String {
    attn(&format!("bench {options}")).ok().out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_overview_says_of_what_and_with_what_each_way_was_measured() {
    for mask in ["causal", "no mask"] {
        let causal = if mask == "causal" { "--causal" } else { "" };
        let out = words(&format!("--dim 8 --seconds 0.3 --threads 2 --simd portable --width 200 {causal}"));
        for way in ["Loop over queries", "Step by step as `attn attend`", "Fused as `attn attend --fast`"] {
            assert!(out.contains(&format!("{way}, 1 head of 8, {mask}:")), "{way}: {out}");
        }
        assert!(out.contains("│ n threads time growth"), "{out}");
        assert!(out.contains("time over n: one head of 8, both axes logarithmic"), "{out}");
        assert!(out.contains("the time of whole matrices, both in f64 on 1 thread."), "{out}");
        assert!(out.contains("whole matrices, in f64 on 1 thread, take"), "{out}");
        assert!(
            out.contains("the time of the fused path, in f32 on") && out.contains("with portable"),
            "{out}"
        );
        assert!(out.contains("from the exact path, on some rows of every length"), "{out}");
    }
}

#[test]
fn all_ways_have_the_mask_that_is_asked_for_and_the_fields_of_a_single_shape() {
    let out = attn("bench --dim 8 --seconds 0.3 --causal --threads 2 --format json").ok().out;
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let single = attn("bench --n 64 --heads 1 --dim 8 --seconds 0.01 --format json").ok().out;
    let single: Value = serde_json::from_str(&single).expect("JSON");
    let fields = |line: &Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for way in ["attn.loop", "attn.steps", "attn.fused"] {
        let of_way = || lines.iter().filter(|line| line["peer"] == way);
        assert_eq!(of_way().count(), 8);
        assert!(of_way().all(|line| line["shape"].as_str().unwrap().ends_with(",causal")), "{way}");
        let first = of_way().next().unwrap();
        assert_eq!(fields(first), fields(&single), "{way}");
        let fused = way == "attn.fused";
        assert_eq!(first["threads"], if fused { 2 } else { 1 });
        // 64 queries are not worth a second thread.
        assert_eq!(first["threads_used"], 1);
        assert_eq!(first["simd"].is_string(), fused);
        assert_eq!(first["max_err"].is_number(), fused);
    }
}

#[test]
fn a_shape_is_told_in_words_and_written_in_letters() {
    let out = words("--n 64 --n-q 3 --heads 4 --kv-heads 2 --dim 8 --causal --seconds 0.01 --width 200");
    let expected = "4 heads of 8 over 2 key/value heads, 3 queries × 64 keys, causal; f32,";
    assert!(out.starts_with(expected), "{out}");
}

#[test]
fn the_share_of_the_peak_is_of_the_threads_that_were_used() {
    let small = words("--n 8 --heads 1 --dim 8 --seconds 0.01 --threads 2 --width 200");
    assert!(small.contains("GFLOP/s of multiply-adds on 1 thread;"), "{small}");
    assert!(small.contains("1 thread used: there is too little work for more"), "{small}");
}

#[test]
fn what_would_keep_its_user_waiting_is_refused_with_how_long_it_takes() {
    attn("bench --n 500000 --seconds 0.1").refused(&[
        "8 heads of 64, 500000 queries × 500000 keys: the measurement would take about",
        "the limit is 20 seconds",
        "give a shorter sequence",
    ]);
}

#[test]
fn instructions_are_found_however_they_are_spelt() {
    for name in ["portable", "Portable", "PORTABLE"] {
        assert!(words(&format!("--n 16 --heads 1 --seconds 0.01 --simd {name}")).contains("portable, "));
        attn(&format!("attend --words bat --fast --simd {name}")).ok();
    }
}
