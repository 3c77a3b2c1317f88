//! `attn lesson check`, `update` and `new`: what holds passes, what does not is named at its line, outputs alone are rewritten.

use std::fs;
use std::path::PathBuf;

use crate::common::{Outcome, attn};
use attn::cli::Env;
use tempfile::TempDir;

/// A lesson in a folder of its own.
struct LessonFolder {
    folder: TempDir,
}

impl LessonFolder {
    /// The lesson that `attn lesson new` writes.
    fn new() -> LessonFolder {
        let bench = LessonFolder { folder: tempfile::tempdir().expect("a folder") };
        assert_eq!(attn("lesson new").arg(bench.path()).run().code, 0);
        bench
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("x.md")
    }

    fn path(&self) -> String {
        self.file().display().to_string()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).expect("UTF-8")
    }

    /// With one text replaced by another, wherever it stands.
    fn with(self, from: &str, to: &str) -> LessonFolder {
        let text = self.text();
        assert!(text.contains(from), "no `{from}`");
        self.holding(&text.replace(from, to))
    }

    fn holding(self, text: &str) -> LessonFolder {
        fs::write(self.file(), text).expect("written");
        self
    }

    fn check(&self) -> Outcome {
        attn("lesson check").arg(self.path()).run()
    }

    fn update(&self) -> Outcome {
        attn("lesson update").arg(self.path()).run()
    }

    /// Exit code 1, and these words said of the first line that begins with `at`, with its step and a remedy.
    #[track_caller]
    fn says(&self, at: &str, words: &str) {
        let outcome = self.check();
        assert_eq!(outcome.code, 1, "{}", outcome.out);
        let line = 1 + self.text().lines().position(|line| line.starts_with(at)).expect(at);
        let place = format!("x.md:{line}: ");
        let said: Vec<&str> = outcome.out.split("\n\n").filter(|part| part.contains(&place)).collect();
        let is_it = |part: &&&str| part.contains(words) && part.contains("\n  help: ");
        assert!(said.iter().any(|part| is_it(&part)), "{place}“{words}” is not in\n{}", outcome.out);
    }
}

#[test]
fn a_new_lesson_passes_and_says_how_much_was_checked() {
    let bench = LessonFolder::new();
    let outcome = bench.check();
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
    assert_eq!(outcome.out, format!("{}  4 steps, 4 commands, 6 numbers, 3 questions: ok\n", bench.path()));
    assert!(bench.text().contains("\n# X\n") && bench.text().contains("│ sun  │ 0.77   0.19   0.05 │"));
}

#[test]
fn a_new_lesson_can_be_played() {
    let played = attn("lesson play --no-input").arg(LessonFolder::new().path()).run();
    assert_eq!(played.code, 0, "{}", played.err);
    for words in ["Three words", "How much of its attention does", "Try it yourself"] {
        assert!(played.out.contains(words), "{words} in\n{}", played.out);
    }
}

#[test]
fn the_lesson_in_the_manual_passes_and_its_proofs_are_what_the_manual_says() {
    let manual = fs::read_to_string("docs/lessons.md").expect("UTF-8");
    let lesson =
        manual.split("````markdown\n").nth(1).and_then(|rest| rest.split("````").next()).expect("a lesson");
    let bench = LessonFolder::new().holding(lesson);
    let outcome = bench.check();
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    assert!(!outcome.out.contains("remark"), "{}", outcome.out);
    bench
        .with(
            "<!-- opt C iff count(causal:A[cave], == 0) == 2 -->",
            "<!-- opt C iff count(causal:A[cave], == 0) > 0 -->",
        )
        .says("- C. two", "option C of `zeros` is right too");
}

#[test]
fn directives_explains_every_word_of_the_format() {
    let data: serde_json::Value =
        serde_json::from_str(&attn("lesson directives --format json").ok().out).expect("JSON");
    let rows = data["tables"]
        .as_array()
        .expect("tables")
        .iter()
        .flat_map(|part| part["rows"].as_array().expect("rows"));
    let rows: Vec<Vec<&str>> = rows
        .map(|row| {
            row.as_object().expect("a row").values().map(|cell| cell.as_str().unwrap_or_default()).collect()
        })
        .collect();
    assert!(rows.iter().flatten().all(|cell| !cell.is_empty()), "{rows:?}");
    let forms = rows.iter().map(|row| row[0]);
    let words: Vec<&str> = attn::lesson::directives().map(|(word, _)| word).collect();
    assert_eq!(words, ["id", "step", "note", "run", "ask", "opt", "opt", "key", "if", "hint", "tol"]);
    for function in attn::lesson::key::functions(1) {
        assert!(forms.clone().any(|form| form == function.usage(1)), "{}", function.name);
    }
    for kind in attn::lesson::question::KINDS {
        assert!(forms.clone().any(|form| form == kind.word()), "{}", kind.word());
    }
}

#[test]
fn new_adds_the_ending_says_what_comes_next_and_overwrites_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("why the-mask").display().to_string();
    let said = attn("lesson new").arg(&name).run();
    assert_eq!(said.code, 0, "{}", said.err);
    for command in ["attn lesson play '", "attn lesson check '", "attn lesson check --update '"] {
        assert!(said.out.contains(&format!("{command}{name}.md'")), "{}", said.out);
    }
    let text = fs::read_to_string(format!("{name}.md")).expect("written");
    assert!(text.contains("\n# Why the mask\n"));
    let again = attn("lesson new").arg(format!("{name}.md")).run();
    assert_eq!(again.code, 2);
    assert!(again.err.contains("exists already"), "{}", again.err);
}

#[test]
fn an_output_that_differs_is_shown_as_a_diff_in_lines_of_the_file() {
    let bench = LessonFolder::new().with("│ sea  │ 0   2 │", "│ sea  │ 0   3 │");
    bench.says("$ attn attend --x \"2 0; 1 1; 0 2\" --tokens sun,moon,sea --only X", "prints something else");
    let out = bench.check().out;
    let line = 1 + bench.text().lines().position(|line| line == "│ sea  │ 0   3 │").expect("the line");
    assert!(out.contains(&format!("  @@ -{},", line - 3)), "{out}");
    assert!(out.contains("\n  -│ sea  │ 0   3 │\n  +│ sea  │ 0   2 │\n"), "{out}");
    assert!(out.contains("\n  step: Three words\n"), "{out}");
    let coloured = attn("lesson check").arg(bench.path()).env(Env { colour: true, ..Env::default() }).run();
    assert!(coloured.out.contains("\u{1b}[31m-│ sea") && coloured.out.contains("\u{1b}[32m+│ sea"));
}

#[test]
fn of_a_long_diff_the_beginning_is_shown() {
    let bench = LessonFolder::new().with("--tokens sun,moon,sea --only X\n", "--tokens sun,moon,sea\n");
    let out = bench.check().out;
    assert!(
        out.contains("\n  +Attention\n") && out.contains(" more lines\n") && out.lines().count() < 40,
        "{out}"
    );
}

#[test]
fn wildcards_stand_for_lines_and_for_parts_of_lines() {
    let bench = LessonFolder::new()
        .with("│ sun  │ 2   0 │\n│ moon │ 1   1 │\n", "...\n")
        .with("X (3×2) = given by 2 0; 1 1; 0 2", "X [..] = given by [..]");
    assert_eq!(bench.check().code, 0, "{}", bench.check().out);
    let wrong = bench.with("X [..] = given by [..]", "Y [..] = given by [..]");
    wrong.says("$ attn attend", "prints something else");
    assert!(wrong.check().out.contains("\n  -Y [..] = given by [..]\n  +X (3×2) = given by 2 0; 1 1; 0 2\n"));
}

#[test]
fn the_last_digit_may_differ_by_one_only_where_that_is_said() {
    let wrong = LessonFolder::new().with("│ sun  │ 0.77   0.19   0.05 │", "│ sun  │ 0.76   0.20   0.05 │");
    assert_eq!(wrong.check().code, 1);
    let block = "```console\n$ attn attend --x \"2 0; 1 1; 0 2\" --tokens sun,moon,sea --only A";
    let allowed = wrong.with(block, &format!("<!-- tol: last-digit -->\n\n{block}"));
    assert_eq!(allowed.check().code, 0, "{}", allowed.check().out);
    assert_eq!(allowed.with("0.76   0.20   0.05", "0.75   0.20   0.05").check().code, 1);
}

#[test]
fn a_block_that_closes_without_an_empty_line_is_told_so() {
    let bench = LessonFolder::new().with("╰──────┴───────╯\n\n```", "╰──────┴───────╯\n```");
    bench.says("$ attn attend", "write an empty line below it");
}

#[test]
fn a_command_that_fails_or_no_longer_does_is_named_with_what_it_says() {
    LessonFolder::new()
        .with("--only X\n", "--olny X\n")
        .says("$ attn attend", "fails with exit code 2: unexpected argument '--olny'");
    LessonFolder::new()
        .with("--only X\n", "--only X\n? 2\n")
        .says("$ attn attend", "succeeds, but exit code 2 is expected");
}

#[test]
fn a_number_in_the_text_is_held_to_the_digits_written() {
    LessonFolder::new()
        .with("2.83<!--", "2.82<!--")
        .says("2.82", "the text says `2.82`, but `plain:S_scaled[sun,sun]` is 2.83");
    assert_eq!(LessonFolder::new().with("2.83<!--", "2.8<!--").check().code, 0);
    LessonFolder::new().with("[sun,sun] --> for", "[sun,snu] --> for").says("2.83", "did you mean `sun`");
    LessonFolder::new()
        .with("= plain:S_scaled[sun,moon]", "= plan:S_scaled[sun,moon]")
        .says("2.83", "no command is named `plan`");
    LessonFolder::new().with("= plain:S_scaled[sun,moon]", "= plain:Z[sun,moon]").says("2.83", "Z");
    LessonFolder::new().with("= plain:S_scaled[sun,moon]", "= plain:S_scaled").says("2.83", "not a number");
}

#[test]
fn a_run_that_fails_is_said_once_and_not_again_at_all_that_reads_it() {
    let bench = LessonFolder::new()
        .with("plain = attn attend --x \"2 0; 1 1; 0 2\"", "plain = attn attend --x nowhere.csv");
    bench.says("<!-- run: plain", "the run `plain` gives no numbers: nowhere.csv: no such file");
    let out = bench.check().out;
    assert!(out.ends_with("3 questions: 1 fault\n"), "{out}");
}

#[test]
fn a_key_that_is_false_or_names_no_option_is_named() {
    let key = "B iff plain:A[sun,sun] > plain:A[sun,moon]";
    let smaller = LessonFolder::new().with(key, "B iff count(plain:A[sun], > 0.5) == 2");
    smaller.says("<!-- key: B", "the key of `keeps` is false: `count(plain:A[sun], > 0.5)` is 1");
    LessonFolder::new()
        .with(key, "E iff plain:A[sun,sun] > 0.5")
        .says("<!-- key: E", "option E, which does not exist");
    LessonFolder::new().with(key, "B iff plain:A[sun,snu] > 0.5").says("<!-- key: B", "the key of `keeps`: ");
}

#[test]
fn options_that_cannot_be_told_apart_are_named() {
    let same = LessonFolder::new().with("opt A: unscaled:", "opt A: plain:").with("- A. 0.87", "- A. 0.77");
    same.says("- B. 0.77", "options A and B show the same number, 0.77");
    // At one decimal 0.67 shows what 0.7 does too, but a wrong option that shows 0.8 passes for the right one, 0.77.
    let coarse = LessonFolder::new()
        .with("opt A: unscaled:A[sun,sun]", "opt A: plain:A[sea,sea]")
        .with("- A. 0.87", "- A. 0.8");
    coarse.says("- B. 0.77", "options A and B show the same number");
    LessonFolder::new()
        .with("- C. 0.67", "- C. 0.68")
        .says("- C. 0.68", "the text says `0.68`, but `halved:A[sun,sun]` is 0.67");
    LessonFolder::new()
        .with("<!-- opt C: halved:A[sun,sun] -->\n", "")
        .with(
            "<!-- run: halved = attn attend --x \"2 0; 1 1; 0 2\" --tokens sun,moon,sea --scale 0.5 -->\n",
            "",
        )
        .says("- C. 0.67", "the number of option C is not computed, but others are");
}

#[test]
fn a_wrong_answer_that_would_pass_or_is_never_recognised_is_named() {
    LessonFolder::new()
        .with("± 0.01 -->", "± 0.2 -->")
        .says("<!-- opt A: plain:A[moon", "would count as the right answer, 0.5 ± 0.2");
    let twice = "<!-- opt A: plain:A[moon,sun] -->\n<!-- opt B: plain:A[moon,moon] -->";
    LessonFolder::new()
        .with("<!-- opt A: plain:A[moon,sun] -->", twice)
        .says("<!-- opt B: plain:A[moon,moon]", "would count as option A");
    LessonFolder::new()
        .with("<!-- if A: That was its weight", "<!-- if D: That was its weight")
        .says("<!-- if D: That", "`if D` is never shown");
    let cell = "<!-- opt A: argmax(plain:A) -->";
    LessonFolder::new().with("<!-- opt A: plain:A[moon,sun] -->", cell).says(cell, "tie");
}

#[test]
fn ties_are_no_answers() {
    let cell = LessonFolder::new()
        .with("kind=number", "kind=cell")
        .with("causal:A[moon,sun] ± 0.01", "argmax(plain:A)");
    cell.says("<!-- key: argmax", "the key of `masked`: `argmax(plain:A)`: ");
    let order = LessonFolder::new()
        .with("kind=number", "kind=order")
        .with("causal:A[moon,sun] ± 0.01", "rank(plain:A[moon])");
    order.says("<!-- key: rank", "the key of `masked`: `rank(plain:A[moon])`: ");
}

#[test]
fn the_options_of_an_order_are_the_columns_in_their_order() {
    let listed = "?\n\n- A. the moon\n- B. the sun\n- C. the sea\n\n<!-- key: rank(plain:A[sun]) -->";
    let bench = LessonFolder::new()
        .with("kind=number", "kind=order")
        .with("?\n\n<!-- key: causal:A[moon,sun] ± 0.01 -->", listed)
        .with("<!-- opt A: plain:A[moon,sun] -->", "<!-- opt A: rank(plain:A[sea]) -->");
    bench.says("- A. the moon", "the options of `masked` are not the columns of its row");
    let bench = bench.with("- A. the moon\n- B. the sun", "- A. the sun\n- B. the moon");
    assert_eq!(bench.check().code, 0, "{}", bench.check().out);
}

#[test]
fn what_does_not_fit_the_screen_is_named() {
    let wide = LessonFolder::new()
        .with("--only S_scaled --precision 2", "--only S_scaled --precision 2 --width 100");
    let wide = wide.with("screen: 100x30", "screen: 60x30");
    let said = "--width 100` prints a line of 63 columns, but the screen has 60\n  step: Three words\n  help: print less";
    assert!(wide.check().out.contains(said), "{}", wide.check().out);
    LessonFolder::new()
        .with("screen: 100x30", "screen: 100x10")
        .with(
            "$ attn attend --x \"2 0; 1 1; 0 2\" --tokens sun,moon,sea --only X",
            "$ attn attend --random 7,2 --only X",
        )
        .says("$ attn attend --random", "prints 12 lines without a break, but the screen shows 8");
    let text = format!("```text\n{}\n```\n\n## Without", "═".repeat(101));
    LessonFolder::new().with("## Without", &text).says("═", "a line has 101 columns, but the screen has 100");
    let text = format!("```text\n{}```\n\n## Without", "a\n".repeat(29));
    LessonFolder::new()
        .with("## Without", &text)
        .says("```text", "a text of 29 lines without a break, but the screen shows 28");
}

#[test]
fn a_plan_adds_up() {
    LessonFolder::new()
        .with("minutes: 10", "minutes: 12")
        .says("minutes: 12", "the steps take 10 minutes together, but the lesson is planned for 12");
    let some = LessonFolder::new().with("<!-- step: minutes=1 -->\n", "");
    assert_eq!(some.check().code, 0);
    some.with("minutes: 10", "minutes: 8").says("minutes: 8", "3 of 4 steps already take 9 minutes");
}

#[test]
fn what_nothing_uses_is_remarked_and_no_fault() {
    let bench = LessonFolder::new()
        .with("## Three words", "<!-- run: spare = attn softmax 1 2 -->\n\n## Three words");
    let outcome = bench.check();
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    assert!(outcome.out.contains("remark: nothing uses the run `spare`"), "{}", outcome.out);
    assert!(outcome.out.ends_with(": ok, 1 remark\n"), "{}", outcome.out);
}

#[test]
fn of_a_folder_lessons_are_checked_and_the_worst_counts() {
    let bench = LessonFolder::new();
    let folder = bench.folder.path().to_path_buf();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("written");
    write("README.md", "# No lesson\n\n```\nx\n```\n");
    let path = folder.display().to_string();
    let checked = || attn("lesson check").arg(&path).run();
    assert_eq!(checked().out.lines().count(), 1, "{}", checked().out);
    write("y.md", &bench.text().replace("2.83<!--", "2.82<!--"));
    assert_eq!(checked().code, 1);
    write("z.md", "---\nattn-lesson: 1\n---\n\n# T\n\n## S\n\n```console\n$ ls\n```\n");
    let all = checked();
    assert_eq!(all.code, 2);
    for line in [
        "x.md  4 steps",
        "y.md  4 steps, 4 commands, 6 numbers, 3 questions: 1 fault",
        "z.md  not checked: 1 fault",
        "3 lessons, 8 steps",
    ] {
        assert!(all.out.contains(line), "{line} in\n{}", all.out);
    }
    assert!(all.out.ends_with("6 questions: 2 not ok\n") && !all.out.contains("README"), "{}", all.out);
}

#[test]
fn update_writes_outputs_and_nothing_else_and_keeps_wildcards_that_match() {
    let bench = LessonFolder::new();
    let right = bench.text();
    let kept = right.replace("│ sun  │ 2   0 │\n", "...\n");
    let bench = bench
        .holding(&kept.replace("│ sea  │ 0   2 │", "│ old  │ 0   0 │").replace("0.77   0.19", "[..]   0.99"));
    let outcome = bench.update();
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    assert_eq!(bench.text(), kept);
    assert!(outcome.out.contains("  -│ old  │ 0   0 │\n  +│ sea  │ 0   2 │\n"), "{}", outcome.out);
    assert!(outcome.out.ends_with("x.md  2 outputs rewritten\n"), "{}", outcome.out);
    let again = bench.update();
    assert_eq!((again.code, again.out), (0, format!("{}  nothing to rewrite\n", bench.path())));
}

#[test]
fn update_fills_empty_blocks_and_keeps_the_ends_of_lines() {
    let bench = LessonFolder::new();
    let whole = bench.text().replace('\n', "\r\n");
    let table = whole.find("X (3×2)").expect("the output")..whole.find("### Every").expect("the pause");
    let mut empty = whole.clone();
    empty.replace_range(table, "```\r\n\r\n");
    let bench = bench.holding(&empty);
    assert_eq!(bench.update().code, 0, "{}", bench.check().out);
    assert_eq!(bench.text(), whole);
}

#[test]
fn update_refuses_while_a_key_or_a_character_is_wrong() {
    for (from, to, words) in [
        ("B iff plain:A[sun,sun] > plain", "B iff plain:A[sun,sun] < plain", "the key of `keeps` is false"),
        ("Each word is", "Each \u{1b}[31mword is", "characters that cannot be seen"),
        (
            "--tokens sun,moon,sea --causal --only A",
            "--tokens sun,moon --causal --only A",
            "fails with exit code 2",
        ),
    ] {
        let bench = LessonFolder::new().with("│ sea  │ 0   2 │", "│ old  │ 0   0 │").with(from, to);
        let before = bench.text();
        let outcome = bench.update();
        assert_eq!((outcome.code, bench.text()), (1, before), "{}", outcome.out);
        assert!(outcome.out.contains(words) && outcome.out.contains("not written: "), "{}", outcome.out);
    }
}

#[test]
fn update_leaves_numbers_to_their_author_and_says_so_at_the_new_lines() {
    let bench = LessonFolder::new().with("│ sea  │ 0   2 │\n", "").with("2.83<!--", "2.82<!--");
    let outcome = bench.update();
    assert_eq!(outcome.code, 1, "{}", outcome.out);
    assert!(outcome.out.ends_with("x.md  1 output rewritten, 1 fault to fix\n"), "{}", outcome.out);
    let line = 1 + bench.text().lines().position(|line| line.starts_with("2.82")).expect("the line");
    assert!(outcome.out.contains(&format!("x.md:{line}: the text says `2.82`")), "{}", outcome.out);
}

#[test]
fn the_small_inputs_are_found_wherever_the_program_is_started_and_files_come_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("attn").expect("the program");
        let output = command.current_dir(folder.path()).args(args).output().expect("it runs");
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("UTF-8"),
            String::from_utf8(output.stderr).expect("UTF-8"),
        )
    };
    for args in [
        &["attend", "examples/data/bat.json", "--only", "X"][..],
        &["attend", "--q", "examples/data/q.csv", "--k", "examples/data/k.csv", "--v", "examples/data/v.csv"],
        &["similarity", "cat", "dog", "--embeddings", "examples/data/animals.txt"],
        &["params", "examples/data/gpt2-config.json"],
        &["demo", "mask", "--set", "L=examples/data/q.csv"],
    ] {
        let (code, _, err) = run(args);
        assert!(!err.contains("no such file"), "{args:?}: {err}");
        assert!(code == Some(0) || args[0] == "demo", "{args:?}: {err}");
    }
    let judged =
        ["diagnose", "--random", "6,4", "--seed", "1", "--causal", "--batch", "examples/data/answers"];
    let (code, out, err) = run(&judged);
    assert_eq!(code, Some(1), "{err}");
    for (file, mistake) in [
        ("02.csv", "no-scale"),
        ("03.csv", "mask-missing"),
        ("05.csv", "mask-zero"),
        ("06.csv", "softmax-axis"),
        ("07.csv", "no-scale + mask-missing"),
    ] {
        let line = out.lines().find(|line| line.starts_with(file)).expect(file);
        assert!(line.contains("wrong") && line.contains(&format!(" {mistake} ")), "{line}");
    }
    assert!(out.contains("7 files: 2 right, 5 wrong\n"), "{out}");
    let (_, _, err) = run(&["attend", "examples/data/bta.json"]);
    assert!(err.contains("did you mean `examples/data/bat.json`"), "{err}");
    fs::create_dir_all(folder.path().join("examples/data")).expect("made");
    fs::write(folder.path().join("examples/data/bat.json"), r#"{"X": [[7, 8]]}"#).expect("written");
    let (_, out, _) = run(&["attend", "examples/data/bat.json", "--only", "X"]);
    assert!(out.contains('7') && !out.contains("cave"), "{out}");
}

#[test]
fn a_built_in_lesson_is_checked_by_its_name_and_has_no_file_to_update() {
    let checked = attn("lesson check tour").run();
    assert_eq!(checked.code, 0, "{}", checked.out);
    assert!(
        checked.out.starts_with("0-tour (built in)  8 steps, ") && checked.out.ends_with(": ok\n"),
        "{}",
        checked.out
    );
    let updated = attn("lesson update tour").run();
    assert_eq!(updated.code, 2);
    assert!(updated.err.contains("error: 0-tour (built in): there is no file to write"), "{}", updated.err);
}

#[test]
fn a_lesson_that_would_write_files_is_refused_and_nothing_is_written() {
    for option in
        ["--save O=FOLDER/o.npy", "--suggest-input FOLDER/made.npz", "--suggest-input=FOLDER/made.npz"]
    {
        let bench = LessonFolder::new();
        let option = option.replace("FOLDER", &bench.folder.path().display().to_string());
        let command = if option.starts_with("--save") { "attend" } else { "diagnose" };
        let block =
            format!("```console\n$ attn {command} examples/data/bat.json {option}\n\n```\n\n## Three words");
        let bench = bench.with("## Three words", &block);
        let outcome = bench.check();
        assert_eq!(outcome.code, 2, "{}", outcome.out);
        assert!(outcome.out.contains("a lesson cannot write files"), "{}", outcome.out);
        assert_eq!(fs::read_dir(bench.folder.path()).expect("a folder").count(), 1, "{option}");
    }
}

#[test]
fn a_new_lesson_is_not_called_as_one_of_the_program() {
    for name in ["0-tour", "0-tour.md", "tour"] {
        let refused = attn("lesson new").arg(name).run();
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("`0-tour` of the program"), "{}", refused.err);
        assert!(["0-tour.md", "tour.md"].iter().all(|file| !std::path::Path::new(file).exists()));
    }
}

#[test]
fn a_list_is_of_a_folder() {
    let bench = LessonFolder::new();
    let refused = attn("lesson list").arg(bench.path()).run();
    assert_eq!(refused.code, 2);
    for words in ["is not a folder", "name its folder", "attn lesson play"] {
        assert!(refused.err.contains(words), "{}", refused.err);
    }
}

#[test]
fn a_question_that_quotes_its_own_seed_is_reported_and_not_redrawn() {
    let tour = fs::read_to_string("walkthroughs/0-tour.md").expect("UTF-8");
    let hint = "<!-- hint: What does a row of weights sum to? -->";
    let checked = |to: &str| {
        assert!(tour.contains(hint));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.md");
        fs::write(&file, tour.replace(hint, to)).expect("written");
        let path = file.display().to_string();
        let outcome = attn("lesson check").arg(&path).run();
        assert_eq!(outcome.code, 0, "{}", outcome.out);
        let export = attn("lesson export --to md --seed 5").arg(&path).run();
        (outcome.out, export)
    };
    let (said, drawn) = checked(hint);
    assert!(!said.contains("cannot be drawn again") && drawn.err.is_empty(), "{said}{}", drawn.err);
    for number in ["0.358", "`0.358`"] {
        let (said, kept) = checked(&hint.replace("sum to?", &format!("sum to? It keeps {number}.")));
        assert!(said.contains("cannot be drawn again: `0.358` in it is not computed"), "{said}");
        assert!(kept.err.contains("no question of `x` can have other numbers"), "{}", kept.err);
        assert_ne!(kept.out, drawn.out);
    }
}

/// The first is the slowest.
#[test]
fn lessons_checked_at_the_same_time_are_listed_in_the_order_of_the_paths() {
    let names = ["8-where-weights-come-from", "6-todays-models", "1-interaction-matrices", "0-tour"];
    let out = names.iter().fold(attn("lesson check"), |check, name| check.arg(*name)).run().out;
    let listed: Vec<&str> =
        out.lines().filter_map(|line| line.split_once(" (built in)")).map(|(name, _)| name).collect();
    assert_eq!(listed, names, "{out}");
}
