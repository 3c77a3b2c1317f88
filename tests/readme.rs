//! Every command block of the README runs on the real binary and prints what stands there; its two commands are what the
//! gate runs; its picture is what the program draws.

mod common;

use std::fs;
use std::path::Path;

#[path = "../examples/screen_to_svg.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod screen_to_svg;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("UTF-8")
}

#[test]
fn command_blocks_print_what_stands_there() {
    trycmd::TestCases::new()
        .env("COLUMNS", "80")
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .case("README.md");
}

#[test]
fn the_test_command_of_the_readme_is_what_the_gate_runs() {
    let readme = file("README.md");
    let start = readme.split("```sh\n").nth(1).expect("a shell block").split("```").next().expect("its end");
    assert_eq!(start, "cargo run --release -- demo mask\ncargo test\n");
    assert!(file(".ci/run").lines().any(|line| line.starts_with("cargo test")));
}

#[test]
fn the_picture_is_what_the_program_draws() {
    let args = ["demo", "mask", "--only", "S,S_masked,A,O", "--precision", "2"].map(String::from);
    assert_eq!(
        file("docs/mask.svg"),
        screen_to_svg::picture_of(&args),
        "draw it again: see examples/screen_to_svg.rs"
    );
}

#[test]
fn every_command_of_the_reading_guide_runs() {
    let guide = file("walkthroughs/README.md");
    let commands: Vec<&str> = guide.split('`').filter(|text| text.starts_with("attn ")).collect();
    assert!(commands.len() > 40, "only {} commands", commands.len());
    for command in commands {
        common::attn(&command.replace('"', "'").replacen("attn ", "", 1)).ok();
    }
}

#[test]
fn the_reading_guide_names_every_demo_and_every_document() {
    let guide = file("walkthroughs/README.md");
    for demo in attn::demo::demos() {
        assert!(guide.contains(&format!("`attn demo {}`", demo.name)), "{} is not in the guide", demo.name);
    }
    for document in attn::demo::Document::ALL {
        assert!(guide.contains(document.title()), "{}", document.title());
    }
}
