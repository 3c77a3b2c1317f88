//! Every command block of the README and of `docs/` runs on the real binary and prints what stands there; the README's two
//! commands are what the gate runs; its pictures are what the program draws; its links lead somewhere.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

#[path = "../../examples/screen_to_svg.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod screen_to_svg;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("UTF-8")
}

/// The commands in the `console` blocks of a page, without `attn`, each with its exit code and its output.
fn exchanges(page: &str) -> Vec<(&str, i32, &str)> {
    let blocks = page.split("\n```console\n$ attn ").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks
        .flat_map(|block| block.split("\n$ attn "))
        .map(|exchange| {
            let (command, output) = exchange.split_once('\n').unwrap_or((exchange, ""));
            match output.strip_prefix("? ").map(|rest| rest.split_once('\n').unwrap_or((rest, ""))) {
                Some((code, output)) => (command, code.parse().expect("an exit code"), output),
                None => (command, 0, output),
            }
        })
        .collect()
}

#[test]
fn command_blocks_print_what_stands_there() {
    let pages = fs::read_dir("docs").expect("docs").map(|entry| entry.expect("an entry").path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut count = 0;
    for page in pages.chain(["README.md".into()]) {
        let page = page.display().to_string();
        let text = file(&page);
        // docs/lessons.md shows a whole lesson in one block; tests/lesson/check.rs runs it.
        if text.contains("````markdown") {
            continue;
        }
        let exchanges = exchanges(&text);
        assert_eq!(
            exchanges.len(),
            text.matches("\n$ attn ").count(),
            "{page}: every block begins with a command"
        );
        for (typed, code, output) in exchanges {
            // What is said and what is printed stand in the order of the screen.
            let (mut screen, writer) = std::io::pipe().expect("a pipe");
            let mut attn = Command::new(env!("CARGO_BIN_EXE_attn"));
            attn.args(shlex::split(typed).expect("words")).stdin(Stdio::null());
            attn.stdout(writer.try_clone().expect("its other end")).stderr(writer);
            attn.env("COLUMNS", "80").env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
            let mut running = attn.spawn().expect("it starts");
            drop(attn);
            let mut printed = String::new();
            screen.read_to_string(&mut printed).expect("UTF-8");
            let ended = running.wait().expect("it ends").code();
            assert_eq!((ended, printed.trim_end()), (Some(code), output.trim_end()), "{page}: attn {typed}");
            count += 1;
        }
    }
    assert!(count > 20, "{count} commands");
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    assert!(file("README.md").lines().count() <= 200);
    for page in ["README.md", "docs/reference.md", "docs/formats.md", "docs/speed.md"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let folder = folder.parent().expect("a folder");
        let text = file(page);
        let links: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        for link in links.into_iter().filter(|link| !link.starts_with("http")) {
            assert!(folder.join(link).exists(), "{page}: {link}");
        }
    }
}

#[test]
fn the_readme_names_the_rust_version_and_the_five_texts() {
    let readme = file("README.md");
    let wanted =
        file("Cargo.toml").lines().find_map(|line| line.strip_prefix("rust-version = ").map(String::from));
    assert!(readme.contains(wanted.expect("a version").trim_matches('"')), "the required Rust version");
    for document in attn::demo::Document::ALL {
        assert!(readme.contains(document.title()), "{}", document.title());
        // Addresses stand behind the words that they belong to.
        let told = readme.split("](http").enumerate().map(|(i, part)| match i {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, rest)| rest),
        });
        assert!(told.collect::<String>().replace('[', "").contains(document.found()), "{}", document.found());
    }
}

#[test]
fn the_test_command_of_the_readme_is_what_the_gate_runs() {
    let readme = file("README.md");
    let start = readme.split("```sh\n").nth(1).expect("a shell block").split("```").next().expect("its end");
    assert_eq!(start, "cargo run --release -- lesson play 0-tour\ncargo test\n");
    assert!(file(".ci/run").lines().any(|line| line.starts_with("cargo test")));
}

#[test]
fn the_pictures_are_what_the_program_draws() {
    let again = "draw it again: docs/pictures.sh";
    let cast = ["lesson", "export", "0-tour", "--to", "cast", "--answer", "share=A11 B6 C4"];
    let cast = cast.into_iter().fold(crate::common::attn(""), |attn, arg| attn.arg(arg)).ok().out;
    assert!(file("docs/tour.svg") == screen_to_svg::svg::moving(&cast, 3).expect("a recording"), "{again}");
    let folder = tempfile::tempdir().expect("a folder");
    let walk = folder.path().join("walk.cast");
    let explore = "attend -x --words 'bat cave racket' --causal --cell O[bat,animals] --theme dark --play docs/walk.keys.txt --cast";
    crate::common::attn(explore).arg(walk.display().to_string()).ok();
    let walk = std::fs::read_to_string(walk).expect("a recording");
    assert!(file("docs/walk.cast") == walk, "{again}");
    assert!(file("docs/walk.svg") == screen_to_svg::svg::moving(&walk, 0).expect("a recording"), "{again}");
    let batch = "diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers";
    let batch: Vec<String> = batch.split(' ').map(String::from).collect();
    assert!(file("docs/batch.svg") == screen_to_svg::picture_of(&batch), "{again}");
}

#[test]
fn every_command_of_the_reading_guide_runs() {
    let guide = file("walkthroughs/README.md");
    let commands: Vec<&str> = guide.split('`').filter(|text| text.starts_with("attn ")).collect();
    assert!(commands.len() > 40, "only {} commands", commands.len());
    for command in commands.into_iter().step_by(crate::common::one_in(10)) {
        crate::common::attn(&command.replace('"', "'").replacen("attn ", "", 1)).ok();
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
