//! The quiz: one student alone; and questions drawn again, compared with NumPy.

use std::collections::HashSet;
use std::fs;

use crate::common::{Outcome, attn, in_process, in_process_once, one_in, without_colours, words};
use crate::golden::{list, number, string};
use attn::cli::Env;
use attn::lesson::check::check;
use attn::lesson::key::Value as Answered;
use attn::lesson::question::Answer;
use attn::lesson::show::LessonView;
use attn::lesson::{BUILT_IN, Block, DrawResult, Lesson, Question, Runner, draw, open};
use attn::render::{Charset, Screen};
use serde_json::Value;

const DRAWN: &str = "tests/lessons/drawn.md";
const MASK: &str = "tests/lessons/mask.md";

fn drawn(name: &str, seed: u32) -> DrawResult {
    let lesson = open(name).expect("a lesson").0;
    draw(&lesson, &Runner::new(&in_process), seed)
}

/// A lesson without its questions but one, which is drawn as in the whole lesson: no question's numbers depend on another's.
fn drawn_alone(name: &str, id: &str, seed: u32) -> Lesson {
    let mut lesson = open(name).expect("a lesson").0;
    for part in lesson.steps.iter_mut().flat_map(|step| &mut step.parts) {
        part.blocks.retain(|block| !matches!(block, Block::Question(question) if question.id != id));
    }
    draw(&lesson, &Runner::new(&in_process), seed).lesson
}

fn question<'l>(lesson: &'l Lesson, id: &str) -> &'l Question {
    lesson.questions().find(|question| question.id == id).expect(id)
}

fn answer(lesson: &Lesson, id: &str) -> Answer {
    let runner = Runner::new(&in_process);
    LessonView::new(lesson, &runner, Screen::plain(100)).right(question(lesson, id)).expect("a right answer")
}

/// The commands of a question's blocks, as they are typed.
fn commands(question: &Question) -> Vec<&str> {
    let blocks = question.asked.iter().chain(&question.reveal);
    let consoles = blocks.filter_map(|block| match block {
        Block::Console(console) => Some(console),
        _ => None,
    });
    consoles.flatten().map(|exchange| exchange.command.typed.as_str()).collect()
}

fn texts(blocks: &[Block]) -> Vec<&str> {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Prose(prose) => Some(prose.markdown.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_sheet_is_what_numpy_makes_of_its_seed() {
    for sheet in list(&crate::golden::json("drawn.json"), "sheets") {
        let seed = sheet["seed"].as_u64().expect("a seed") as u32;
        let lesson = drawn(DRAWN, seed).lesson;
        let two = |value: &Value| format!("{:.2}", number(value));

        let rest = &sheet["rest"];
        let asked =
            format!("gives {} to the first and {} to", two(&rest["shown"][0]), two(&rest["shown"][1]));
        assert!(texts(&question(&lesson, "rest").asked)[0].contains(&asked), "{seed}: {asked}");
        let told = format!("so {}.", two(&rest["answer"]));
        assert!(texts(&question(&lesson, "rest").reveal)[0].contains(&told), "{seed}: {told}");
        let value = answer(&lesson, "rest").value.number().expect("a number");
        assert!((value - number(&rest["answer"])).abs() < 1e-12, "{seed}");

        let place = &sheet["largest"]["answer"];
        assert_eq!(answer(&lesson, "largest").to_string(), format!("A[{},{}]", place[0], place[1]));

        let hidden = &sheet["hidden"];
        let choices = question(&lesson, "hidden").choices.iter();
        let options: Vec<&str> =
            choices.map(|choice| choice.text.as_ref().expect("an option").markdown.as_str()).collect();
        assert_eq!(options, list(hidden, "options").iter().map(two).collect::<Vec<_>>());
        assert_eq!(answer(&lesson, "hidden").to_string(), string(hidden, "answer"));
        let reveal = format!("**{}.** The others keep their ratio.", string(hidden, "answer"));
        assert_eq!(texts(&question(&lesson, "hidden").reveal), [reveal]);

        let order: Vec<&str> =
            list(&sheet["ranked"], "answer").iter().map(|name| name.as_str().expect("a name")).collect();
        assert_eq!(answer(&lesson, "ranked").to_string(), order.join(" "));

        for id in ["rest", "largest", "ranked"] {
            let expected = sheet[id]["seed"].to_string();
            for command in commands(question(&lesson, id)) {
                let seed = command.split(['=', ' ']).skip_while(|word| *word != "--seed").nth(1);
                assert_eq!(seed, Some(expected.as_str()), "{id}: {command}");
            }
        }
    }
}

/// The numbers in the row of a table that a question shows.
fn row(lesson: &Lesson, question: &Question, node: &str, name: &str) -> Vec<f64> {
    let consoles = question.asked.iter().filter_map(|block| match block {
        Block::Console(console) => Some(console),
        _ => None,
    });
    let exchange = consoles.flatten().next().expect("a command");
    let mut lines = lesson.text[exchange.expected.clone()].lines();
    // Tables that share a frame have their names in its first line, after the column of row names.
    let names = lines.find(|line| line.contains(&format!("─ {node} "))).expect(node);
    let table = names.split('┬').position(|part| part.contains(&format!("─ {node} "))).expect(node);
    let line = lines.find(|line| line.starts_with(&format!("│ {name}"))).expect(name);
    let cells = line.trim_matches('│').split('│').nth(table).expect(node);
    cells.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn an_answer_computed_from_the_digits_on_the_sheet_is_right() {
    let mut rounding_matters = 0;
    for seed in 0..100 / one_in(5) as u32 {
        let lesson = drawn_alone("2-matrix-multiplication", "mix", seed);
        let question = question(&lesson, "mix");
        // As a student does it: with the two decimals shown, and one decimal as the result.
        let weights = row(&lesson, question, "A", "saw");
        let values = ["she", "saw"].map(|name| row(&lesson, question, "V", name)[1]);
        let output = (10.0 * (weights[0] * values[0] + weights[1] * values[1])).round() / 10.0;
        let right = answer(&lesson, "mix");
        assert!(right.accepts(&Answered::Number(output)), "{seed}: {output} is not {right}");
        let value = right.value.number().expect("a number");
        let tolerance = right.tolerance;
        assert!(tolerance <= 0.2, "{seed}: everything is right with {tolerance}");
        rounding_matters += usize::from((output - value).abs() > 0.06);
    }
    assert!(rounding_matters > 0, "no seed shows the difference");
}

#[test]
fn a_seed_that_would_not_pass_the_check_is_passed_over() {
    let attempts = |sheet: &Value| ["rest", "largest", "hidden"].map(|id| sheet[id]["attempt"].as_u64());
    let golden = crate::golden::json("drawn.json");
    let later =
        list(&golden, "sheets").iter().flat_map(attempts).filter(|attempt| *attempt > Some(0)).count();
    assert!(later >= 5, "the figures hold only {later} questions that were drawn again");
}

#[test]
fn the_right_letter_is_not_the_same_on_every_sheet() {
    let mut letters = (0..12).map(|seed| answer(&drawn_alone(DRAWN, "hidden", seed), "hidden").to_string());
    let first = letters.next();
    assert!(letters.any(|other| Some(&other) != first.as_ref()), "{first:?} on each of twelve sheets");
}

#[test]
fn what_cannot_be_drawn_again_stays_as_it_is() {
    let own = open(DRAWN).expect("a lesson").0;
    let sheet = drawn(DRAWN, 3);
    assert_eq!(sheet.redrawn, ["rest", "largest", "hidden", "ranked"]);
    assert_eq!(sheet.kept, ["only-here"]);
    for id in ["told", "half-computed", "only-here", "words", "why"] {
        let [own, drawn] = [&own, &sheet.lesson].map(|lesson| format!("{:?}", question(lesson, id)));
        assert_eq!(own, drawn, "{id}");
    }
    let outcome = attn(&format!("lesson export {DRAWN} --to md --seed 3")).ok();
    assert_eq!(
        outcome.err,
        "remark: `only-here` keeps its numbers: no other numbers were found with exactly one right answer\n"
    );
    let unread = attn(&format!("lesson export {MASK} --to md --seed 3")).ok();
    assert_eq!(unread.err, "");
}

#[test]
fn a_lesson_without_such_questions_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("words.md");
    let text = fs::read_to_string(MASK)
        .expect("a lesson")
        .replace("--seed 7", "")
        .replace("--random 3,2", "examples/data/bat.json");
    fs::write(&path, text).expect("written");
    let outcome = attn("lesson export --to txt --seed 3").arg(path.display().to_string()).ok();
    assert_eq!(outcome.err, "remark: no question of `words` can have other numbers; all stay as they are\n");
}

#[test]
fn every_sheet_of_every_walkthrough_passes_the_check_and_is_another() {
    let runner = Runner::new(&in_process_once);
    for (file, _) in BUILT_IN.iter().step_by(one_in(10)) {
        let name = file.trim_end_matches(".md");
        let own = open(name).expect("a lesson").0;
        assert!(own.drawable() >= 1, "{name}");
        let sheets = [1, 2, 3].map(|seed| draw(&own, &runner, seed));
        for sheet in &sheets {
            assert_eq!((sheet.redrawn.len(), sheet.kept.len()), (own.drawable(), 0), "{name}");
            let report = check(&sheet.lesson, &in_process_once);
            assert!(report.holds(), "{name}: {:?}", report.findings);
        }
        for id in &sheets[0].redrawn {
            let all = std::iter::once(&own).chain(sheets.iter().map(|sheet| &sheet.lesson));
            let told = |lesson: &Lesson| {
                let question = question(lesson, id);
                let runs = question.key.as_ref().expect("a key").runs().join(" ");
                (runs, format!("{:?}{:?}", texts(&question.asked), commands(question)))
            };
            let (runs, shown): (HashSet<String>, HashSet<String>) = all.clone().map(told).unzip();
            assert_eq!((runs.len(), shown.len()), (4, 4), "{name}: {id} repeats itself");
            for lesson in all {
                the_printed_table_has_the_answer(lesson, question(lesson, id));
            }
        }
    }
}

/// Reads the answer of a `cell` off the table of weights that the question shows at the end.
fn the_printed_table_has_the_answer(lesson: &Lesson, question: &Question) {
    if question.kind.word() != "cell" {
        return;
    }
    let Some(Block::Console(console)) = question.reveal.last() else { panic!("no table") };
    let exchange = console.last().expect("a command");
    let printed = &lesson.text[exchange.expected.clone()];
    // The rightmost box is the matrix of the heading.
    let lines = printed.lines().filter(|line| line.starts_with('│'));
    let rows = lines.map(|line| line.trim_end_matches('│').rsplit('│').next().expect("cells"));
    let numbers =
        |row: &str| row.split_whitespace().map(|word| word.parse::<f64>().ok()).collect::<Option<Vec<_>>>();
    let rows: Vec<Vec<f64>> = rows.skip(1).map(|row| numbers(row).expect("numbers")).collect();
    let cells =
        rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, x)| (*x, (i, j))));
    let (_, (row, col)) = cells.max_by(|(a, _), (b, _)| a.total_cmp(b)).expect("a cell");
    match answer(lesson, &question.id).value {
        Answered::Cell(cell) => assert_eq!((cell.row, cell.col), (row, col), "{printed}"),
        other => panic!("{other}"),
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_same_seed_is_the_same_sheet_to_the_byte_in_every_form() {
    for to in ["md", "html", "txt", "cast"] {
        let sheet = |seed: u32| attn(&format!("lesson export {DRAWN} --to {to} --seed {seed}")).ok().out;
        let [four, again, five] = [4, 4, 5].map(sheet);
        assert_eq!(four, again, "{to}");
        assert_ne!(four, five, "{to}");
    }
    assert_eq!(quiz(DRAWN, "--seed 4", "").out, quiz(DRAWN, "--seed 4", "").out);
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_sheet_that_is_printed_is_the_one_that_is_asked() {
    let asked = "The second token gives 0.26 to the first and 0.35 to itself.";
    let sheet = attn(&format!("lesson export {DRAWN} --to md --answers hidden --seed 2")).ok().out;
    let shown = attn(&format!("lesson export {DRAWN} --to md --answers shown --seed 2")).ok().out;
    for text in [&sheet, &shown, &quiz(DRAWN, "--seed 2 --width 100", "").out] {
        assert!(text.contains(asked), "{text}");
    }
    assert!(!sheet.contains("0.39") && shown.contains("so 0.39"), "{sheet}");
    assert!(
        shown.contains(" --seed 4056 --only A --precision 2\n"),
        "the command that was drawn stands in the answer: {shown}"
    );
}

fn quiz(lesson: &str, options: &str, typed: &str) -> Outcome {
    attn(&format!("lesson quiz {lesson} {options}")).input(typed).run()
}

/// The part of a quiz between two of its texts.
#[track_caller]
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let rest = text.split_once(begin).unwrap_or_else(|| panic!("no `{begin}` in\n{text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("no `{end}` behind `{begin}` in\n{text}")).0
}

#[test]
fn answers_from_a_pipe_are_graded() {
    let outcome = quiz(MASK, "", "c\n0.41\nIt would cheat.\n");
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
    assert!(outcome.out.ends_with("\n2 of 2 right\n1 open question not graded\n"), "{}", outcome.out);
    assert!(!outcome.out.contains("Go back"), "{}", outcome.out);
    let words =
        ["> c\nRight: C. Two tokens lie in the future", "> 0.41\nRight: 0.41\n", "> It would cheat.\n"];
    for word in words {
        assert!(outcome.out.contains(word), "{word}: {}", outcome.out);
    }
}

#[test]
fn a_wrong_option_is_told_its_own_mistake_and_then_the_answer() {
    let outcome = quiz(MASK, "", "A\n.31\nx\n");
    assert_eq!(outcome.code, 1);
    assert!(!outcome.out.contains("Try again"), "a pipe has one line for each question: {}", outcome.out);
    let first = between(&outcome.out, "> A\n", "Question 2");
    assert!(first.starts_with("Not quite: A\n"), "{first}");
    let mut rest = first;
    for words in ["True for finite scores.", "Answer: C", "Two tokens lie in the future", "S_masked"] {
        rest = rest.split_once(words).unwrap_or_else(|| panic!("no `{words}` in its place:\n{first}")).1;
    }
    let second = between(&outcome.out, "> .31\n", "Question 3");
    assert!(second.contains("That is what the third gives to the second."), "{second}");
    assert!(!second.contains("That is without the scale."), "{second}");
    let end = "0 of 2 right\n1 open question not graded\n\nGo back to\n   Predict: how many zeros?\n      attn lesson play \
               tests/lessons/mask.md#predict-how-many-zeros\n   Other tokens\n      attn lesson play tests/lessons/mask.md#other-tokens\n";
    assert!(outcome.out.ends_with(end), "{}", outcome.out);
}

#[test]
fn what_is_no_answer_is_asked_again_and_hints_are_counted() {
    let outcome = quiz(MASK, "", "maybe\nh\nH\nC\nmuch\n?\n?\n0.41\n\n");
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    let first = between(&outcome.out, "> maybe\n", "Question 2");
    assert!(
        first.starts_with("`maybe` is not an option; type a letter A to C\n> h\nThere is no hint.\n"),
        "{first}"
    );
    let second = between(&outcome.out, "> much\n", "Right: 0.41");
    assert!(second.contains("is not a number"), "{second}");
    assert!(
        second.contains("Hint: What does a row sum to?") && second.contains("There are no more hints."),
        "{second}"
    );
    assert!(outcome.out.contains("\n2 of 2 right, with 1 hint\n"), "{}", outcome.out);
}

#[test]
fn an_empty_line_skips_and_the_end_of_the_input_leaves_the_rest_unanswered() {
    let outcome = quiz(MASK, "", "\n");
    assert_eq!(outcome.code, 1);
    assert!(between(&outcome.out, "> \n", "Question 2").contains("Answer: C"), "{}", outcome.out);
    assert!(outcome.out.contains("\n0 of 2 right, 1 skipped, 1 unanswered\n"), "{}", outcome.out);
    let unanswered = between(&outcome.out, "Question 2", "Go back");
    assert!(!unanswered.contains("Answer:") && !unanswered.contains("sums to 1, so"), "{unanswered}");
    assert!(!outcome.out.contains("Question 3"), "{}", outcome.out);
}

#[test]
fn answers_given_beforehand_are_not_read_from_the_input() {
    let options = "--answer zeros=C --answer rest=0.41 --answer why=x";
    assert_eq!(quiz(MASK, options, "").code, 0);
    let outcome = quiz(MASK, "--answer rest=0.41", "B\n");
    assert!(outcome.out.contains("\n1 of 2 right\n"), "{}", outcome.out);
    // The input has ended, and what was given beforehand still counts.
    let outcome = quiz(MASK, "--answer rest=0.41", "");
    assert!(outcome.out.contains("\n1 of 2 right, 1 unanswered\n"), "{}", outcome.out);
    let outcome = quiz(DRAWN, "--seed 2 --answer rest=0.39 --answer hidden=C --answer ranked=cba", "");
    assert!(outcome.out.contains("\n3 of 8 right, 5 unanswered\n"), "{}", outcome.out);
}

#[test]
fn what_stands_in_the_step_before_a_question_is_shown_with_it_and_notes_are_not() {
    let out = quiz(MASK, "", "C\n.41\nx\n").out;
    assert!(quiz("0-tour", "", "").out.contains("Multiply their animal numbers"));
    for words in ["Option A is the tempting one", "It would read off", "Slide a sheet", "Before the mask"] {
        assert!(!out.contains(words), "{words}: {out}");
    }
    let both = quiz(DRAWN, "", "\n\n\n\n\n\n\n\n\n").out;
    assert_eq!(both.matches("The numbers of this table").count(), 1);
    assert_eq!(both.matches("\nAs they are\n").count(), 1);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    attn("lesson quiz 0-tuor").refused(&["no lesson `0-tuor`", "did you mean `0-tour`?"]);
    attn("lesson quiz 0-tour#2").refused(&["a quiz covers a whole lesson"]);
    attn("lesson quiz 0-tour --seed x").refused(&["--seed"]);
    attn("lesson quiz 0-tour --answer rset=1").refused(&["did you mean `rest`?"]);
    attn("lesson quiz 0-tour --answer rest=much").refused(&["not a number"]);
    attn("lesson quiz 0-tour --answer rest=1 --answer rest=2").refused(&["a second answer to `rest`"]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.md");
    let text = fs::read_to_string(MASK).expect("a lesson");
    for (text, words) in [
        (text.replace("== 0) == 2 -->", "== 0) == 1 -->"), "the key of `zeros` is false"),
        ("---\nattn-lesson: 1\n---\n\n# T\n\n## S\n\nNothing.\n".to_string(), "`x` has no questions"),
    ] {
        fs::write(&path, text).expect("written");
        attn("lesson quiz").arg(path.display().to_string()).refused(&[words]);
    }
}

#[test]
fn no_typed_bytes_break_it_and_none_reach_the_terminal() {
    let mut typed = b"\x1b[31mred\x07\n\xff\xfe\n".to_vec();
    typed.extend(vec![b'9'; 3 << 20]);
    typed.extend(b"\r\nC\r\n0,41\r\nlast");
    let outcome = attn(&format!("lesson quiz {MASK}")).input(typed).run();
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    assert!(outcome.out.len() < 100_000 && !outcome.out.contains('\x1b') && !outcome.out.contains('\x07'));
}

#[test]
fn it_fits_every_screen_and_colours_change_no_text() {
    let typed = "A\n?\n.31\nx\n";
    for width in [70, 80, 100, 200] {
        for charset in [Charset::Utf8, Charset::Ascii] {
            let env = Env { width, charset, ..Env::default() };
            let shown = |env: Env| attn(&format!("lesson quiz {MASK}")).env(env).input(typed).run().out;
            let plain = shown(env.clone());
            assert_eq!(words(&without_colours(&shown(Env { colour: true, ..env }))), words(&plain));
            assert!(charset == Charset::Utf8 || plain.is_ascii());
            assert!(charset == Charset::Utf8 || plain.contains("Answer: 0.41\n"), "{plain}");
            let widest = plain.lines().map(unicode_width::UnicodeWidthStr::width).max();
            assert!(widest <= Some(width), "{width}: {plain}");
        }
    }
}

#[test]
fn a_terminal_echoes_input_once_and_an_answer_waits_for_a_key() {
    let env = Env { has_keys: true, has_screen: true, ..Env::default() };
    let out = attn(&format!("lesson quiz {MASK}")).env(env).input("C\n\n0.41\n").run().out;
    assert!(out.contains("> Right: C. Two tokens") && out.contains("> Right: 0.41\n"), "{out}");
    assert_eq!(out.matches("Press Enter to go on.").count(), 2, "{out}");
    assert!(out.contains("\n2 of 2 right\n"), "{out}");
    assert!(!quiz(MASK, "", "C\n").out.contains("Press Enter to go on."));
}

#[test]
fn a_wrong_answer_may_be_followed_by_a_second_which_counts_half() {
    let outcome = quiz(MASK, "--tries 2", "A\nc\n.31\nh\n.5\nx\n");
    assert_eq!(outcome.code, 1, "{}", outcome.out);
    let first = between(&outcome.out, "> A\n", "Question 2");
    assert!(first.starts_with("Not quite: A. Try again.\n"), "{first}");
    assert!(
        first.contains("> c\nRight: C. Two tokens") && first.contains("A second try counts half."),
        "{first}"
    );
    let second = between(&outcome.out, "> .31\n", "Question 3");
    assert!(second.starts_with("Not quite: .31") || second.contains("That is what the third"), "{second}");
    assert!(
        second.contains("Hint: What does a row sum to?") && second.contains("> .5\nNot quite: .5\n"),
        "{second}"
    );
    assert!(second.contains("Answer: "), "{second}");
    assert!(
        outcome.out.contains("\n1 of 2 right, 1 of them at the second try, with 1 hint\n"),
        "{}",
        outcome.out
    );
    assert!(outcome.out.contains("\n0.5 of 2 points: a second try counts half\n"), "{}", outcome.out);
    let all = quiz(MASK, "--tries 2", "A\nC\n0.41\nx\n");
    assert_eq!(all.code, 0, "{}", all.out);
    assert!(all.out.contains("\n1.5 of 2 points"), "{}", all.out);
    let missed = quiz(MASK, "--tries 2", "A\n\n0.41\nx\n");
    assert!(missed.code == 1 && missed.out.contains("\n1 of 2 right\n"), "{}", missed.out);
    assert!(quiz(MASK, "--tries 2", ".31\nC\n.31\n.4\n").out.contains("Try again, or h for a hint."));
}

#[test]
fn results_are_data_for_the_teacher() {
    let outcome = quiz(MASK, "--tries 2 --name 'Ana, 9b' --format json", "A\nC\nh\n.31\n\nx\n");
    assert_eq!(outcome.code, 1);
    let value: Value = serde_json::from_str(&outcome.out).expect("nothing but JSON");
    assert_eq!((&value["schema"], &value["command"]), (&"attn-table".into(), &"lesson quiz".into()));
    let rows = value["tables"][0]["rows"].as_array().expect("rows");
    let told = |row: &Value| {
        let text = |key: &str| row[key].as_str().expect(key).to_string();
        (
            text("question"),
            text("outcome"),
            row["points"].as_f64(),
            row["tries"].as_u64(),
            row["hints"].as_u64(),
        )
    };
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [
            ("zeros".to_string(), "second try".to_string(), Some(0.5), Some(2), Some(0)),
            ("rest".to_string(), "wrong".to_string(), Some(0.0), Some(1), Some(1)),
            ("why".to_string(), "open".to_string(), None, Some(1), Some(0)),
        ]
    );
    assert!(rows.iter().all(|row| row["name"] == "Ana, 9b" && row["lesson"] == "mask"), "{rows:?}");
    assert_eq!((&rows[0]["right"], &rows[0]["answer"]), (&"C".into(), &"C".into()));
    let sum = &value["tables"][1]["rows"][0];
    assert_eq!(
        (sum["points"].as_f64(), sum["of"].as_u64(), &sum["complete"]),
        (Some(0.5), Some(2), &"yes".into())
    );

    let csv = quiz(DRAWN, "--seed 4 --format csv", "");
    let mut reader = csv::Reader::from_reader(csv.out.as_bytes());
    let heads = reader.headers().expect("a header").clone();
    let at = |head: &str| heads.iter().position(|own| own == head).expect("a column");
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    let all = open(DRAWN).expect("a lesson").0;
    assert_eq!(records.len(), all.questions().count());
    for record in &records {
        assert_eq!(&record[at("seed")], "4");
        assert!(["unanswered", "open"].contains(&&record[at("outcome")]), "{record:?}");
    }
}

#[test]
fn results_go_to_a_file_and_the_questions_stay_on_the_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let to =
        |file: &str| attn(&format!("lesson quiz {MASK} --name Ben --output")).arg(file).input("C\n0.41\nx\n");
    let outcome = to(&file("ben.csv")).ok();
    assert!(outcome.out.contains("\n2 of 2 right\n"), "{}", outcome.out);
    let written = fs::read_to_string(file("ben.csv")).expect("written");
    assert!(written.starts_with("name,lesson,seed,question,") && written.lines().count() == 4, "{written}");
    assert!(written.contains("\nBen,mask,,zeros,"), "{written}");
    to(&file("ben.json")).ok();
    let json = fs::read_to_string(file("ben.json")).expect("written");
    assert!(json.starts_with("{\"schema\":\"attn-table\""), "{json}");
    to(&file("ben.txt")).refused(&["results can only be JSON or CSV", "--format csv"]);
    fs::write(file("own.md"), fs::read_to_string(MASK).expect("a lesson")).expect("written");
    to(&file("own.md")).arg("--format").arg("csv").refused(&["is a lesson"]);
}
