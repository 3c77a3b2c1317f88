//! Bad lessons: each is refused, or failed, with a line, a step and a remedy; nothing that is done to a file makes the
//! program panic.

use std::fs;
use std::path::Path;

use crate::common::{Outcome, attn, in_process_once, one_in};
use attn::lesson::check::check;
use attn::lesson::read;
use proptest::prelude::*;

const HEAD: &str = "---\nattn-lesson: 1\nscreen: 80x24\n---\n\n# Bad\n\n<!-- run: soft = attn softmax 1 2 2 -->\n\n## The step\n\n";

/// The lesson of a head and what stands in its only step.
fn lesson(body: &str) -> String {
    format!("{HEAD}{body}")
}

fn checked(bytes: impl AsRef<[u8]>) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.md");
    fs::write(&path, bytes).expect("written");
    let outcome = attn("lesson check").arg(path.display().to_string()).run();
    assert!(outcome.err.is_empty() || outcome.code == 2, "{}", outcome.err);
    assert!(![&outcome.out, &outcome.err].iter().any(|said| said.contains('\u{1b}')), "{outcome:?}");
    outcome
}

/// The step's text is bad: `words` are said of the line that begins with `at`, with the step and a remedy.
#[track_caller]
fn bad(body: &str, code: u8, at: &str, words: &str) {
    let text = lesson(body);
    let line = 1 + text.lines().position(|line| line.starts_with(at)).expect(at);
    let outcome = checked(&text);
    assert_eq!(outcome.code, code, "{}", outcome.out);
    let place = format!("x.md:{line}: ");
    let is_it = |part: &str| {
        part.contains(&place)
            && part.contains(words)
            && part.contains("\n  step: The step")
            && part.contains("\n  help: ")
    };
    assert!(outcome.out.split("\n\n").any(is_it), "{place}“{words}” is not in\n{}", outcome.out);
}

fn ask(kind: &str, options: &str, rest: &str) -> String {
    format!(
        "<!-- ask: id=q kind={kind} -->\n\nWhich?\n\n{options}{rest}\n<details>\n<summary>Answer</summary>\n\nThat.\n\n</details>\n"
    )
}

#[test]
fn fences_and_directives_that_cannot_be_read_are_refused() {
    bad("```console\n$ attn softmax 1 2\n", 2, "```console", "never closed");
    bad("```\n$ attn softmax 1 2\n```\n", 2, "```", "without a label");
    bad("- a\n\n  ```text\n  b\n  ```\n", 2, "  ```text", "within a list");
    bad(
        "<!-- nope: x -->\n",
        2,
        "<!-- nope",
        "`nope: x -->` is not a directive".trim_start_matches("`nope: x -->` "),
    );
    bad("<!-- noet: x -->\n", 2, "<!-- noet", "is not a directive");
    bad("<!-- note x -->\n", 2, "<!-- note x", "has no colon");
    bad("text <!-- note: x --> text\n", 2, "text <!--", "inside a line of text");
    bad("<!-- key: A iff 1 == 1 -->\n", 2, "<!-- key", "does not belong to a question");
    bad("<script>x</script>\n", 2, "<script>", "HTML that a lesson does not support");
}

#[test]
fn commands_that_are_not_attn_or_would_begin_again_are_refused() {
    let block = |command: &str| format!("```console\n$ {command}\n\n```\n");
    for (command, words) in [
        ("rm -rf /", "`rm` is not attn"),
        ("attn lesson play x.md", "a lesson inside a lesson"),
        ("attn softmax 1 2 | sh", "there is no shell"),
        ("attn softmax $(id)", "there is no shell"),
        ("attn attend x.json --save O=o.npy", "cannot write files"),
        ("attn softmax '1 2", "not closed"),
    ] {
        bad(&block(command), 2, "$ ", words);
    }
    bad("<!-- run: again = attn lesson check x.md -->\n", 2, "<!-- run: again", "a lesson inside a lesson");
}

#[test]
fn a_lesson_that_was_slipped_in_by_another_spelling_does_not_begin_again() {
    // Whatever the arguments are, a command of a lesson that is a lesson itself is never run.
    for (command, words) in [
        ("attn --color always lesson check x.md", "unexpected argument '--color' found"),
        ("attn 'lesson' check x.md", "a lesson inside a lesson"),
        ("attn \"less\"on play tour", "a lesson inside a lesson"),
    ] {
        let outcome = checked(lesson(&format!("```console\n$ {command}\n\n```\n")));
        assert!(outcome.code > 0 && outcome.out.contains(words), "{command}: {}", outcome.out);
    }
}

#[test]
fn keys_that_fail_tie_or_cannot_be_read_are_named() {
    let choice = |key: &str| ask("choice", "- A. one\n- B. two\n\n", &format!("<!-- key: {key} -->\n"));
    bad(
        &choice("A iff count(soft:A, > 0.4) == 1"),
        1,
        "<!-- key",
        "the key of `q` is false: `count(soft:A, > 0.4)` is 2",
    );
    bad(&choice("C iff len(soft:A) == 3"), 1, "<!-- key", "option C, which does not exist");
    bad(&choice("A iff len(soft:A) == 3"), 1, "- B. two", "nothing proves that option B of `q` is wrong");
    bad(&choice("A iff len(hard:A) == 3"), 1, "<!-- key", "no command is named `hard`");
    bad(&choice("A iff len(soft:Z) == 3"), 1, "<!-- key", "Z");
    bad(&choice("A iff soft:A[9,9] == 3"), 1, "<!-- key", "9");
    bad(&choice("A iff soft:A[dog,1] == 3"), 1, "<!-- key", "dog");
    bad(&choice("A"), 2, "<!-- key", "typed, not computed");
    bad(
        &choice("A iff len(soft:A == 3"),
        2,
        "<!-- key",
        "where `,` or `)` is expected, at column 21 of `A iff",
    );
    bad(
        &ask("cell", "", "<!-- key: argmax(soft:A) -->\n"),
        1,
        "<!-- key",
        "the key of `q`: `argmax(soft:A)`: ",
    );
    bad(&ask("order", "", "<!-- key: rank(soft:A) -->\n"), 1, "<!-- key", "the key of `q`: `rank(soft:A)`: ");
    bad(
        &ask("number", "", "<!-- key: soft:A[1,1] ± 0.5 -->\n<!-- opt A: soft:A[1,2] -->\n"),
        1,
        "<!-- opt A",
        "count as the right answer",
    );
    bad(&ask("choice", "- A. one\n- B. two\n\n", ""), 2, "<!-- ask", "has no key");
    bad(&ask("guess", "", ""), 2, "<!-- ask", "`guess` is not a kind of question");
    bad(&ask("open", "", ""), 2, "<!-- ask", "is open, but has no note");
}

#[test]
fn exactly_one_option_may_be_right_and_each_other_must_be_proven_wrong() {
    let proven = |key: &str, others: &str| {
        let options = "- A. one\n- B. two\n- C. three\n\n";
        ask("choice", options, &format!("<!-- key: {key} -->\n{others}"))
    };
    let three = "C iff len(soft:A) == 3";
    let one = "<!-- opt A iff len(soft:A) == 1 -->\n";
    let two = "<!-- opt B iff len(soft:A) == 2 -->\n";
    let passes = checked(lesson(&proven(three, &format!("{one}{two}"))));
    assert_eq!(passes.code, 0, "{}", passes.out);

    let too = format!("{one}<!-- opt B iff len(soft:A) >= 2 -->\n");
    bad(&proven(three, &too), 1, "- B.", "option B of `q` is right too: `len(soft:A)` is 3");
    let none = format!("{one}{two}");
    let none_true = checked(lesson(&proven("C iff len(soft:A) == 4", &none)));
    assert_eq!(none_true.code, 1);
    assert!(
        none_true.out.contains("the key of `q` is false") && !none_true.out.contains("of `q` is right"),
        "{}",
        none_true.out
    );
    let other = format!("{one}<!-- opt B iff len(soft:A) == 3 -->\n");
    bad(
        &proven("C iff len(soft:A) == 4", &other),
        1,
        "- B.",
        "option B of `q` is the right one: `len(soft:A)` is 3",
    );
    bad(&proven(three, one), 1, "- B.", "nothing proves that option B of `q` is wrong");
    // A number proves nothing where the right option has none to compare it with.
    let number = ask(
        "choice",
        "- A. 0.27\n- B. two\n\n",
        "<!-- key: B iff len(soft:A) == 3 -->\n<!-- opt A: soft:A[1,1] -->\n",
    );
    bad(&number, 1, "- A.", "nothing proves that option A of `q` is wrong");
}

#[test]
fn conditions_of_options_that_say_nothing_are_refused() {
    let choice = |opt: &str| {
        ask("choice", "- A. one\n- B. two\n\n", &format!("<!-- key: A iff len(soft:A) == 3 -->\n{opt}\n"))
    };
    for (opt, code, words) in [
        ("<!-- opt B iff 1 == 2 -->", 2, "typed, not computed"),
        ("<!-- opt B iff soft:A[1,1] -->", 2, "is not a comparison"),
        ("<!-- opt B iff len(soft:A == 3 -->", 2, "where `,` or `)` is expected"),
        ("<!-- opt B iff -->", 2, "is not a directive"),
        ("<!-- opt D iff len(soft:A) == 2 -->", 2, "there is no option D"),
        ("<!-- opt B iff len(soft:A) == 2 -->\n<!-- opt B iff len(soft:A) == 1 -->", 2, "a second `opt B`"),
    ] {
        let outcome = checked(lesson(&choice(opt)));
        assert_eq!(outcome.code, code, "{opt}: {}", outcome.out);
        assert!(outcome.out.contains(words) || opt.ends_with("iff -->"), "{opt}: {}", outcome.out);
    }
    bad(&choice("<!-- opt A iff len(soft:A) == 3 -->"), 1, "- A.", "is the right one");
    let number = ask("number", "", "<!-- key: soft:A[1,1] ± 0.01 -->\n<!-- opt A iff soft:A[1,1] > 1 -->\n");
    bad(&number, 1, "<!-- opt A", "in a question of kind number");
}

#[test]
fn a_number_is_asked_for_at_the_digits_that_the_question_shows() {
    let output = |key: &str, precision: &str| {
        let show =
            format!("```console\n$ attn attend --random 2,2 --seed 3 --only A,V{precision}\n...\n```\n\n");
        let run = "<!-- run: drawn = attn attend --random 2,2 --seed 3 -->\n\n";
        format!("{run}{}", ask("number", &show, &format!("<!-- key: {key} -->\n")))
    };
    let two = " --precision 2";
    let passes = checked(lesson(&output("drawn:O[2,2] ± 0.05 from 2 decimals", two)));
    assert_eq!(passes.code, 0, "{}", passes.out);
    bad(&output("drawn:O[2,2] ± 0.001", two), 1, "<!-- key", "from which an answer can be off by 0.0");
    bad(
        &output("drawn:O[2,2] ± 0.05 from 3 decimals", two),
        1,
        "<!-- key",
        "shows none of its operands that way",
    );
    bad(&output("drawn:A[2,2] ± 0.05 from 2 decimals", two), 1, "<!-- key", "more than sums and products");
    bad(&output("sum(drawn:A[2]) ± 0.05 from 2 decimals", two), 2, "<!-- key", "needs a single cell");
    bad(
        &output("drawn:O[2,2] ± 0.05 from two decimals", two),
        2,
        "<!-- key",
        "`two` is not a number of decimals",
    );
    bad(&output("drawn:O[2,2] ± 0.05 from 99 decimals", two), 2, "<!-- key", "is not a number of decimals");
}

#[test]
fn version_2_has_the_conditions_of_demos_in_its_keys() {
    let options = "- A. one\n- B. two\n- C. three\n\n";
    let proofs = |key: &str| {
        format!(
            "<!-- key: C iff {key} -->\n<!-- opt A iff top(soft:A[1,1]) or rows(soft:A) > 1 -->\n\
             <!-- opt B iff not sum(soft:A) ≈ 1 -->\n"
        )
    };
    let half = "The rest is 0.58<!-- = 1 − soft:A[1,2] -->.\n\n";
    let of_version = |version: &str, key: &str| {
        lesson(&format!("{half}{}", ask("choice", options, &proofs(key))))
            .replace("attn-lesson: 1", &format!("attn-lesson: {version}"))
    };
    let right = "cols(soft:A) == 3 and all(soft:A[1,{i}] ≈ soft:A[1,3] ± 0.01 for i in 2..3)";
    let passes = checked(of_version("2", right));
    assert_eq!(passes.code, 0, "{}", passes.out);

    let wrong = checked(of_version("2", "max|soft:A| − min(soft:A) < 0.1"));
    assert_eq!(wrong.code, 1, "{}", wrong.out);
    let because = "the key of `q` is false: `max|soft:A| − min(soft:A)` is 0.2";
    assert!(wrong.out.contains(because), "{}", wrong.out);

    let first = checked(of_version("1", right));
    assert_eq!(first.code, 2, "{}", first.out);
    for words in
        ["`1 − soft:A[1,2]` is not part of attn-lesson: 1", "`≈` is not part", "`top(soft:A[1,1]) or"]
    {
        assert!(first.out.contains(words), "{words}: {}", first.out);
    }
    assert!(first.out.contains("help: write attn-lesson: 2 in the head of the lesson"), "{}", first.out);
}

#[test]
fn numbers_that_are_not_numbers_are_no_keys() {
    let text = lesson(
        "<!-- run: nothing = attn attend --x \"1 0; 0 1\" --mask \"0 0; 0 0\" -->\n\n0.5<!-- = nothing:A[1,3] -->\n",
    );
    assert_eq!(checked(&text).code, 1);
    let nan = ask("number", "", "<!-- key: far:euclidean[a,b] ± 0.1 -->\n");
    let run = "<!-- run: far = attn similarity a b --define a=1e200,0 --define b=-1e200,nan -->\n\n";
    let outcome = checked(lesson(&format!("{run}{nan}")));
    assert_eq!(outcome.code, 1, "{}", outcome.out);
    assert!(outcome.out.contains("the run `far` gives no numbers"), "{}", outcome.out);
}

#[test]
fn two_correct_options_and_two_of_one_name_are_named() {
    let same = ask(
        "choice",
        "- A. 0.42\n- B. 0.42\n\n",
        "<!-- key: A iff soft:A[1,2] > 0.4 -->\n<!-- opt A: soft:A[1,2] -->\n<!-- opt B: soft:A[1,3] -->\n",
    );
    bad(&same, 1, "- B", "options A and B show the same number, 0.42");
    let twice =
        format!("{}\n{}", ask("open", "", "<!-- note: x -->\n"), ask("open", "", "<!-- note: y -->\n"));
    let outcome = checked(lesson(&twice));
    assert_eq!(outcome.code, 2);
    assert!(outcome.out.contains("already has the name `q`"), "{}", outcome.out);
    let outcome = checked(lesson("## The step\n"));
    assert!(outcome.out.contains("x.md:12: line 10 already has the name `the-step`"), "{}", outcome.out);
}

#[test]
fn a_table_that_is_too_wide_or_too_tall_is_named() {
    let wide = "```console\n$ attn attend --random 4,4 --width 200 --format csv\n...\n```\n";
    bad(wide, 1, "$ attn", "columns, but the screen has 80");
    let tall = "```console\n$ attn attend --random 30,2 --only X\n...\n```\n";
    bad(tall, 1, "$ attn", "lines without a break, but the screen shows 22");
}

#[test]
fn characters_that_could_drive_a_terminal_are_named_and_never_printed() {
    bad("\u{1b}]0;title\u{7}text\n", 1, "\u{1b}", "characters that cannot be seen");
    let text = lesson("```console\n$ attn softmax 1 2 --color always\n...\n```\n");
    assert!(checked(text).out.contains("prints escape or control characters"));
    let named = checked(lesson("<!-- \u{1b}[31mx: y -->\n"));
    assert_eq!(named.code, 2, "{}", named.out);
}

#[test]
fn a_file_that_is_no_text_or_no_lesson_is_refused() {
    let binary = b"---\nattn-lesson: 1\n---\n\0\x01\x02".to_vec();
    let utf16: Vec<u8> =
        [0xff, 0xfe, 0].into_iter().chain("---\nattn".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let many = format!("{HEAD}{}", "a line of a long lesson\n\n".repeat(430_000));
    for (bytes, words) in [
        (binary, "a zero byte"),
        (utf16, "damaged UTF-16 text\n  help: save it as UTF-8"),
        (b"---\nattn-lesson: 1\n---\n\xff\xfe\xff".to_vec(), "x.md:4:1: this is not UTF-8 text"),
        (many.into_bytes(), "but at most 1048576 are read"),
        (Vec::new(), "0 bytes"),
        (b"# Read me\n".to_vec(), "this is not a lesson"),
        (b"---\nattn-lesson: 3\n---\n# T\n## S\n".to_vec(), "unknown lesson format `3`"),
        (b"---\nattn-lesson: 1\n---\n# T\n".to_vec(), "has no steps"),
        (b"---\nattn-lesson: 1\n".to_vec(), "this is not a lesson"),
    ] {
        let outcome = checked(&bytes);
        assert_eq!(outcome.code, 2, "{words}: {}", outcome.out);
        let said = format!("{}{}", outcome.out, outcome.err);
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn the_ends_of_lines_of_other_systems_are_read() {
    let text = lesson("One.\n\n```console\n$ attn softmax 1 2 --only A\n...\n```\n").replace('\n', "\r\n");
    assert_eq!(checked(text).code, 0);
}

#[test]
fn a_missing_file_folder_or_lesson_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let empty = attn("lesson check").arg(&path).run();
    assert_eq!(empty.code, 2);
    assert!(
        empty.err.starts_with("error: ") && empty.err.contains("this folder has no lessons\n  help: "),
        "{}",
        empty.err
    );
    let missing = attn("lesson check").arg(format!("{path}/none.md")).run();
    assert_eq!(missing.code, 2);
    assert!(missing.err.starts_with("error: ") && missing.err.contains("no such file"), "{}", missing.err);
    // The list of files has its line all the same.
    assert!(missing.out.ends_with("none.md  not read\n"), "{}", missing.out);
    let input = lesson(
        "```console\n$ attn attend nowhere/x.json\n\n```\n\n<!-- run: none = attn attend nowhere/x.json -->\n",
    );
    let outcome = checked(input);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("fails with exit code 2: nowhere/x.json: no such file"), "{}", outcome.out);
    assert!(
        outcome.out.contains("the run `none` gives no numbers: nowhere/x.json: no such file"),
        "{}",
        outcome.out
    );
    attn("lesson check").refused(&["<PATH>"]);
}

/// What a slip of the hand does to a text.
#[derive(Clone, Debug)]
enum Slip {
    /// Lines are cut out.
    Cut(usize, usize),
    /// A line is written twice.
    Twice(usize),
    /// Two lines change places.
    Swap(usize, usize),
    /// A line is cut short.
    Short(usize, usize),
    /// A character is put into a line.
    Typed(usize, usize, char),
}

fn slip() -> impl Strategy<Value = Slip> {
    let line = || 0..10_000usize;
    prop_oneof![
        (line(), 1..30usize).prop_map(|(at, count)| Slip::Cut(at, count)),
        line().prop_map(Slip::Twice),
        (line(), line()).prop_map(|(a, b)| Slip::Swap(a, b)),
        (line(), 0..100usize).prop_map(|(at, length)| Slip::Short(at, length)),
        (
            line(),
            0..100usize,
            prop::sample::select("`$<>-:#[]|&;.=±\u{1b}\u{0}é9 ".chars().collect::<Vec<char>>())
        )
            .prop_map(|(at, column, typed)| Slip::Typed(at, column, typed)),
    ]
}

fn slipped(text: &str, slips: &[Slip]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for slip in slips {
        let count = lines.len().max(1);
        if lines.is_empty() {
            break;
        }
        match *slip {
            Slip::Cut(at, many) => drop(lines.drain(at % count..(at % count + many).min(count))),
            Slip::Twice(at) => lines.insert(at % count, lines[at % count].clone()),
            Slip::Swap(a, b) => lines.swap(a % count, b % count),
            Slip::Short(at, length) => lines[at % count] = lines[at % count].chars().take(length).collect(),
            Slip::Typed(at, column, typed) => {
                let line = &mut lines[at % count];
                let column = line.char_indices().map(|(at, _)| at).nth(column).unwrap_or(line.len());
                line.insert(column, typed);
            }
        }
    }
    lines.join("\n") + "\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200 / one_in(5) as u32))]

    #[test]
    fn no_slip_of_the_hand_makes_read_or_check_panic(
        which in 0..9usize,
        slips in prop::collection::vec(slip(), 1..6),
    ) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("walkthroughs");
        // A slip in the lesson that trains models could make a training endless.
        let names = ["0-tour", "1-interaction-matrices", "2-matrix-multiplication", "3-self-attention",
            "4-transformer-imagined", "5-one-third", "6-todays-models", "7-a-trained-model", "8-where-weights-come-from"];
        let text = fs::read_to_string(folder.join(format!("{}.md", names[which]))).expect("UTF-8");
        let text = slipped(&text, &slips);
        match read("x.md", &text) {
            Ok(lesson) => {
                for finding in check(&lesson, &in_process_once).findings {
                    prop_assert!(finding.line <= 1 + text.lines().count());
                    prop_assert!(finding.help.is_some(), "{:?}", finding);
                }
            }
            Err(faults) => {
                for fault in faults.0 {
                    prop_assert!(fault.line <= 1 + text.lines().count());
                    prop_assert!(fault.help.is_some(), "{:?}", fault);
                }
            }
        }
    }
}
