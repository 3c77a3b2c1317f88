//! Options of `attn model` that would do nothing are refused.

use serde_json::Value;

use crate::common::attn;

const TEXT: &str = "model words 'the bat sleeps'";

#[test]
fn an_option_that_needs_a_text_says_so() {
    for option in [
        "--layer 1",
        "--only L1.A_1",
        "--explain L1.A_1[1,1]",
        "--symbolic",
        "--save E=e.npy",
        "--next 3",
        "--top 3",
        "--dtype f32",
        "--limit 1000000",
        "--without L1",
        "--without-first",
        "--versus '--without L1'",
        "--rows 1",
        "--cols 1",
        "--around bat",
        "--step 1",
        "--steps 1-2",
        "--until E",
        "--brief",
        "--precision 2",
    ] {
        let name = option.split(' ').next().unwrap();
        attn(&format!("model words {option}")).refused(&[&format!("{name} needs a text"), "--ids"]);
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let none_shown = "none are shown here";
    for (options, words) in [
        ("--layer 1 --top 3", &["--top", none_shown][..]),
        ("--only L1.A_1 --top 3", &["--top", none_shown]),
        ("--explain L1.A_1[1,1] --top 3", &["--top", none_shown]),
        ("--next 2 --top 3", &["--top", none_shown]),
        ("--survey --top 3", &["--top", none_shown]),
        ("--save E=e.npy --top 3", &["--top", none_shown]),
        ("--next 2 --rows 1", &["--rows chooses a part of matrices"]),
        ("--survey --around bat", &["--around chooses a part of matrices"]),
        ("--cols 1", &["--cols chooses a part of matrices", "--layer 1"]),
        ("--explain L1.A_1[1,1] --cols 1", &["--cols chooses a part of matrices"]),
        ("--layer 1 --versus '--without-first' --rows 1", &["--rows chooses a part of matrices"]),
        ("--save E=e.npy --rows 1", &["--rows chooses a part of matrices"]),
        ("--layer 1 --rows 1 --cols 1 --around bat", &["nothing for --around to choose"]),
        ("--step 1", &["--step chooses among steps", "--layer 1"]),
        ("--survey --brief", &["--brief chooses among steps"]),
        ("--next 2 --steps 1-2", &["--steps chooses among steps"]),
        ("--save E=e.npy --until E", &["--until chooses among steps"]),
        ("--layer 1 --only L1.A_1 --step 1", &["--step chooses among the steps, but --only shows"]),
        ("--explain L1.A_1[1,1] --brief", &["--brief chooses among the steps, but --explain shows"]),
        ("--layer 1 --versus '--without-first' --step 1", &["--step chooses among the steps, but --versus"]),
        ("--precision 2", &["--precision is about the numbers of matrices"]),
        ("--survey --precision 2", &["--precision is about the numbers of matrices"]),
        ("--next 2 --precision 2", &["--precision is about the numbers of matrices"]),
        ("--layer 1 --head 2 --versus '--without-first'", &["--versus compares all heads", "--only A"]),
        // Those that the parser knows.
        ("--seed 3", &["--next"]),
        ("--temperature 2", &["--next"]),
        ("--mean", &["--without"]),
        ("--depth 2", &["--explain"]),
        ("--head 2", &["--layer"]),
        ("--next 2 --versus '--without L1'", &["cannot be used with"]),
        ("--next 2 --survey", &["cannot be used with"]),
        ("--survey --layer 1", &["cannot be used with"]),
        ("--survey --versus '--without L1'", &["cannot be used with"]),
        ("--layer 1 --save E=e.npy --versus '--without L1'", &["cannot be used with"]),
        ("--ids 1,2", &["cannot be used with"]),
    ] {
        attn(&format!("{TEXT} {options}")).refused(words);
    }
    let bert = "model tests/models/bert-b --ids 1,2,3";
    attn(&format!("{bert} --top 2")).refused(&["--top", none_shown]);
    attn(&format!("{bert} --versus '--without L1'")).refused(&["no head that predicts words"]);
}

#[test]
fn options_that_go_together_are_used_together() {
    for options in [
        "--layer 1 --around bat --cols 1-2",
        "--layer 1 --step 2 --precision 2",
        "--layer 1 --brief",
        "--only L1.A_1 --explain L1.A_1[1,1] --rows 1",
        "--explain L1.A_1[1,1] --depth 2 --precision 2",
        "--layer 1 --versus '--without-first' --precision 2",
        "--top 2 --versus '--without L1'",
        "--without L1 --mean --top 3",
        "--survey --without L1 --dtype f32 --limit 1000000",
        "--next 3 --seed 2 --temperature 2 --without L1.A_1",
    ] {
        attn(&format!("{TEXT} {options}")).ok();
    }
    let text = "model words 'the bat sleeps in the cave . it is'";
    assert!(attn(&format!("{text} --layer 1 --head 3 --around cave --rows 2-3")).ok().out.contains("…"));
}

#[test]
fn layer_and_head_complete_short_names() {
    let shown = |options: &str| attn(&format!("{TEXT} {options}")).ok().out;
    let full = shown("--only L2.A_3");
    assert_eq!(shown("--layer 2 --only A_3"), full);
    assert_eq!(shown("--layer 2 --head 3 --only A"), full);
    assert_eq!(shown("--layer 2 --only L2.A_3"), full);
    assert_eq!(
        shown("--layer 2 --head 3 --explain A[bat,the]"),
        shown("--layer 2 --explain L2.A_3[bat,the]")
    );
    attn(&format!("{TEXT} --only A_3")).refused(&["A_3"]);
}

#[test]
fn a_head_chooses_its_own_matrices_in_every_format() {
    let names = |options: &str| -> Vec<String> {
        let out = attn(&format!("{TEXT} --layer 1 {options} --format json")).ok().out;
        let value: Value = serde_json::from_str(&out).unwrap();
        let nodes = value["graphs"][0]["nodes"].as_array().unwrap().clone();
        nodes.iter().map(|node| node["name"].as_str().unwrap().to_string()).collect()
    };
    let own = names("--head 3");
    assert!(own.contains(&"L1.A_3".to_string()) && !own.iter().any(|name| name.ends_with("_1")), "{own:?}");
    assert!(names("").contains(&"L1.A_1".to_string()));
}
