//! A part of a demo, or of `attend`: one step, some steps, each in brief; and the whole step by step on a terminal.

use crate::common::{Outcome, attn, one_in};
use attn::demo::{Demo, Settings, demos};
use attn::story::StepItem;
use serde_json::Value;

const WORDS: &str = "attend --words 'bat cave racket' --causal";

fn demo(name: &str, options: &str) -> Outcome {
    attn(&format!("demo {name} {options}")).ok()
}

/// The commands that tell a story: every demo, and `attend`.
fn stories() -> Vec<String> {
    demos().map(|demo: &Demo| format!("demo {}", demo.name)).chain([WORDS.to_string()]).collect()
}

/// The words of a text. That given matrices are folded is said once in the whole, and again in a step that stands alone.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    ["them", "it"].iter().fold(words, |words, what| words.replace(&format!("; --full shows {what}"), ""))
}

/// How many steps a story has: the error of a step too many says it.
fn steps(story: &str) -> usize {
    let refused = attn(&format!("{story} --step 1000")).run();
    assert_eq!(refused.code, 2, "{story}");
    let rest = refused.err.split_once("the steps are 1 to ").expect("a range").1;
    rest.split(':').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn all_steps_of_every_story_one_by_one_are_the_whole() {
    for story in stories().into_iter().step_by(one_in(4)) {
        let whole = attn(&story).ok().out;
        let parts: Vec<String> =
            (1..=steps(&story)).map(|step| attn(&format!("{story} --step {step}")).ok().out).collect();
        for (at, part) in parts.iter().enumerate() {
            assert!(part.starts_with(&format!("{:<3}", at + 1)), "{story} {}: {part}", at + 1);
        }
        let (whole, told) = (plain(&whole), plain(&parts.join("\n")));
        // What `attend` remarks on its input stands below the last step of the whole.
        let (head, _) = whole
            .split_once(&told)
            .unwrap_or_else(|| panic!("{story}: the steps are not the whole:\n{told}"));
        assert!(head.split(' ').count() <= 60, "{story}: a step is missing:\n{head}");
    }
}

#[test]
fn some_steps_keep_their_numbers_in_every_format_for_people() {
    for format in ["table", "markdown", "latex"] {
        let [two, three, both] = ["--step 2", "--step 3", "--steps 2-3"]
            .map(|part| demo("mask", &format!("{part} --format {format}")).out);
        // What LaTeX needs is said once, at the top.
        let needs = "% Needs, before \\begin{document}: \\usepackage{amsmath}\n";
        assert_eq!(three.starts_with(needs), format == "latex");
        assert_eq!(both, format!("{two}\n{}", three.trim_start_matches(needs)), "{format}");
        assert_ne!(two, three);
    }
    assert!(demo("mask", "--step 3 --format markdown").out.starts_with("**3.** "));
    assert!(demo("mask", "--step 3 --format latex").out.contains("\\textbf{3.}"));
    let page = demo("mask", "--steps 3-4 --format html").out;
    assert_eq!(page.matches("<section class=\"step\"").count(), 2);
    assert!(
        page.contains("<span class=\"count\">3</span>") && page.contains("<span class=\"count\">4</span>")
    );
    assert_eq!(demo("mask", "--steps -2").out, demo("mask", "--steps 1-2").out);
    assert_eq!(
        demo("mask", "--steps 5-").out,
        demo("mask", &format!("--steps 5-{}", steps("demo mask"))).out
    );
    assert_eq!(demo("mask", "--steps 3").out, demo("mask", "--step 3").out);
}

/// The names of the nodes in JSON.
fn nodes(story: &str) -> Vec<String> {
    let out = attn(&format!("{story} --format json")).ok().out;
    let value: Value = serde_json::from_str(&out).expect("JSON");
    let nodes = value["graphs"][0]["nodes"].as_array().expect("nodes");
    nodes.iter().map(|node| node["name"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn programs_get_the_nodes_of_the_steps_and_in_brief_the_results() {
    assert_eq!(nodes(&format!("{WORDS} --step 1")), ["X", "W_Q", "W_K", "W_V"]);
    let one = nodes("demo mask --step 2");
    assert!(one.iter().any(|name| name == "Q") && !one.iter().any(|name| name == "X"), "{one:?}");
    let (all, brief) = (nodes("demo mask"), nodes("demo mask --brief"));
    assert!(all.contains(&"W_Q".to_string()) && !brief.contains(&"W_Q".to_string()), "{brief:?}");
    assert!(["S", "A"].iter().all(|name| brief.iter().any(|other| other == name)), "{brief:?}");
    let csv = demo("mask", "--step 3 --format csv").out;
    assert_eq!(csv, demo("mask", "--only S,M --format csv").out);
}

#[test]
fn in_brief_every_story_is_shorter_and_every_step_is_there() {
    for story in stories().into_iter().step_by(one_in(4)) {
        let (whole, brief) = (attn(&story).ok().out, attn(&format!("{story} --brief")).ok().out);
        assert!(brief.lines().count() < whole.lines().count(), "{story}");
        let numbers = |text: &str| -> Vec<String> {
            // “3  ” and “12 ” begin a step; “1 remark” does not.
            let first = |line: &&str| {
                line.get(..3)
                    .is_some_and(|mark| mark.ends_with(' ') && mark.trim_end().parse::<usize>().is_ok())
                    && !(line.starts_with(|c: char| c.is_ascii_digit())
                        && line.as_bytes()[1] == b' '
                        && line.as_bytes()[2] != b' ')
            };
            text.lines().filter(first).map(|line| line[..2].trim().to_string()).collect()
        };
        assert_eq!(numbers(&brief), numbers(&whole), "{story}");
        for format in ["markdown", "latex", "html"] {
            attn(&format!("{story} --brief --format {format}")).ok();
        }
    }
    // The sentence and the result; no operand stands beside it.
    let scores = demo("weights", "--brief").out;
    assert!(!scores.contains("Note"), "{scores}");
    let step = attn("attend --words 'bat cave' --brief --step 3").ok().out;
    assert_eq!(step.matches('╭').count(), 1, "{step}");
}

#[test]
fn in_brief_every_step_has_one_sentence_and_one_result() {
    use attn::demo::Settings;
    use attn::story::StepItem;
    let told = demos().map(|demo| demo.story(&Settings::default()).unwrap().in_brief());
    for story in told {
        for step in story.steps {
            let what = format!("{}: {}", story.title, step.text);
            // A full stop, question or exclamation mark before a capital begins a second sentence.
            let ends = step.text.match_indices(['.', '?', '!']).filter(|(at, _)| {
                let mut rest = step.text[at + 1..].chars();
                rest.next() == Some(' ')
                    && rest.next().is_some_and(|next| next.is_uppercase() || "“(".contains(next))
            });
            assert_eq!(ends.count(), 0, "{what}");
            assert!(!step.text.is_empty() && step.notice.is_none(), "{what}");
            match &step.shown[..] {
                [StepItem::Table(_) | StepItem::Symbols(_)] => {}
                [StepItem::Together(ids) | StepItem::Folded(ids)] if ids.len() == 1 => {}
                other => panic!("{what} {other:?}"),
            }
        }
    }
    // `attend` is told by the same code; its screen has one matrix, or one equation, below each sentence.
    let brief = attn(&format!("{WORDS} --brief --width 100")).ok().out;
    let is_step = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    let steps: Vec<&str> = brief.split("\n\n").filter(is_step).collect();
    assert!(steps.len() > 4, "{brief}");
    for step in steps {
        assert!(step.matches('╭').count() <= 1, "{step}");
        // The last step is a picture of the plane.
        assert_eq!(step.matches(" = ").count() + step.matches("↑ sport").count(), 1, "{step}");
    }
}

#[test]
fn until_leaves_a_node_of_attend_open_too() {
    let open = attn(&format!("{WORDS} --until A")).ok().out;
    let whole = attn(WORDS).ok().out;
    assert!(open.contains('?') && whole.contains("0.0025") && !open.contains("0.0025"), "{open}");
    let part = attn(&format!("{WORDS} --until A --step 2")).ok().out;
    assert_eq!(part, attn(&format!("{WORDS} --step 2")).ok().out);
    attn(&format!("{WORDS} --until S --step 6")).refused(&["step 6 comes after S", "--until S"]);
    attn(&format!("{WORDS} --until AA")).refused(&["AA"]);
}

#[test]
fn a_part_that_is_not_there_is_refused_with_the_range_and_a_command_that_works() {
    let last = steps("demo mask");
    for (part, what) in [
        ("--step 99", "there is no step 99"),
        ("--step 0", "there is no step 0"),
        ("--steps 5-3", "--steps 5-3 ends before it begins"),
        ("--steps 3-99", "--steps 3-99: there are no such steps"),
        ("--step three", "--step three is not the number of a step"),
        ("--steps 1,2", "--steps 1,2 is not a range of steps"),
    ] {
        let refused = attn(&format!("demo mask {part}")).run();
        assert_eq!(refused.code, 2, "{part}");
        assert!(refused.err.contains(what), "{part}: {}", refused.err);
        let help = refused.err.split_once(&format!("the steps are 1 to {last}: attn ")).expect("a range").1;
        attn(help.trim()).ok();
    }
    attn("demo mask right --step 3").refused(&["--step needs one demo"]);
    attn("demo mask right --brief").ok();
    for (other, words) in [
        ("--only S", "--only shows"),
        ("--explain 'S[1,1]'", "--explain shows"),
        ("--symbolic 'S[1,1]'", "--symbolic shows"),
        ("--versus '--seed 1'", "--versus shows"),
    ] {
        for part in ["--step 3", "--steps 1-2", "--brief", "--until A"] {
            attn(&format!("demo mask {part} {other}")).refused(&[words, "leave out"]);
        }
    }
}

#[test]
fn each_step_of_attend_says_what_to_look_at() {
    let told = |line: &str| {
        let out = attn(line).ok().out;
        let lines = out.lines().filter_map(|line| line.trim_start().strip_prefix("→ ")).map(String::from);
        lines.filter(|line| line.ends_with('.')).collect::<Vec<_>>()
    };
    // By hand: bat = (3, 3), cave = (4, 0), racket = (0, 5); 25/√2 = 17.6777; 1/(1 + e^(4/√2)) = 0.0558.
    let expected = [
        "The longest key: K[racket], with the length 5.",
        "One of the largest scores between two different tokens: S[bat,racket] = 15.",
        "The largest score by size was 25 and is now 17.6777.",
        "The mask hides 3 of 9 scores.",
        "The largest weight between two different tokens: A[cave,bat] = 0.0558.",
        "O[cave] = 0.9442 · V[cave] + 0.0558 · V[bat].",
        // The way from (4, 0) to (3.9442, 0.1674).
        "No token moves further than X[cave]: by 0.1765.",
    ];
    assert_eq!(told(WORDS), expected);
    assert_eq!(told(&format!("{WORDS} --scale 0"))[2], "The largest score by size was 25 and is now 0.");
    // 1e200 squared is no number: no length and no largest score are told. 1e-299 is not 0.
    let large = told("attend --x '0 1e200; 1e200 0'");
    assert!(!large.iter().any(|line| line.contains("longest") || line.contains("score")), "{large:?}");
    let small = told("attend --x '1 0; 0 2' --temperature 1e300");
    assert!(small.iter().any(|line| line.ends_with("= 2.8e−300.")), "{small:?}");
    // One token has no other one; queries and keys that are given may be of different tokens.
    assert_eq!(told("attend --x '2'")[1], "The largest score: S[1,1] = 4.");
    assert_eq!(told("attend --q '1; 2' --k '1; 3' --v '1; 0'")[0], "The largest score: S[2,2] = 6.");
    assert_eq!(
        told("attend --x '1 0; 0 1' --mask '1 0; 0 1' --mask-kind allow")[4],
        "No token attends to another one."
    );
}

#[test]
fn no_brief_step_shows_a_number_that_only_says_that_others_are_right() {
    for demo in demos() {
        let brief = demo.story(&Settings::default()).expect("a story").in_brief();
        for id in brief.steps.iter().flat_map(|step| &step.shown).flat_map(StepItem::nodes) {
            let node = &brief.graph[id];
            let number = node.matrix().filter(|matrix| (matrix.rows(), matrix.cols()) == (1, 1));
            let number = number.filter(|_| !node.op.is_given()).map(|matrix| matrix[(0, 0)]);
            let is_check = number.is_some_and(|x| x.abs() < 5e-5 || (x - 1.0).abs() < 5e-5 || x.is_nan());
            assert!(!is_check, "{}: {}", demo.name, node.name);
        }
    }
}
