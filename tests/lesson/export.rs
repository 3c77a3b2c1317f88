//! A lesson on screens of every kind, and what is handed out of it: transcript, Markdown, recording.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{attn, in_process_once, one_in, without_colours, words};
use attn::lesson::export::{self, Answers, Handout};
use attn::lesson::play::ScriptedAnswers;
use attn::lesson::show::LessonView;
use attn::lesson::{BUILT_IN, Lesson, Runner, draw, open};
use attn::render::{Charset, Screen, Theme};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

const MASK: &str = "tests/lessons/mask.md";

fn lesson(name: &str) -> Lesson {
    open(name).expect("a lesson").0
}

fn transcript(name: &str, screen: Screen) -> String {
    let (lesson, runner) = (lesson(name), Runner::new(&in_process_once));
    let mut show = LessonView::new(&lesson, &runner, screen);
    show.notes = true;
    show.transcript(true)
}

fn export(options: &str) -> String {
    attn(&format!("lesson export {MASK} {options}")).ok().out
}

#[test]
fn the_transcript_has_everything_in_order() {
    insta::assert_snapshot!("a_transcript", export("--to txt --notes"));
}

#[test]
fn the_ending_of_the_file_chooses_the_document_and_an_unknown_one_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (ending, kind) in [("html", "html"), ("md", "md"), ("txt", "txt"), ("cast", "cast")] {
        let file = folder.path().join(format!("x.{ending}"));
        attn(&format!("lesson export {MASK} -o {}", file.display())).ok();
        let written = fs::read_to_string(&file).expect("a document");
        assert!(written == export(&format!("--to {kind}")), "{ending}");
    }
    let file = folder.path().join("x.pdf");
    let refused = attn(&format!("lesson export {MASK} -o {}", file.display())).run();
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains(".html, .md, .txt or .cast"), "{}", refused.err);
    assert!(!file.exists());
}

#[test]
fn colours_are_all_that_colour_adds() {
    for width in [60, 80, 100, 200] {
        let coloured = transcript(MASK, Screen { colour: true, theme: Theme::Dark, ..Screen::plain(width) });
        let count = coloured.matches("\x1b[").count();
        assert!(count >= 200, "hardly any colour at {width}: {count}");
        // Titles, names, commands, questions, answers and the cells of matrices.
        for piece in ["1;7mWhy the", "36mbat", "1mattn attend", "1;35mQuestion", "1;32mAnswer: ", "48;5;"] {
            assert!(coloured.contains(&format!("\x1b[{piece}")), "no {piece} at {width}");
        }
        let (coloured, plain) = (without_colours(&coloured), transcript(MASK, Screen::plain(width)));
        assert_eq!(words(&coloured), words(&plain));
        assert!(
            plain.contains("“bat”") && !coloured.contains("“bat”") && !plain.contains("`bat`"),
            "quotation marks stand in for colour alone"
        );
    }
}

#[test]
fn nothing_is_wider_than_the_screen_and_sentences_stay_readable() {
    for charset in [Charset::Utf8, Charset::Ascii] {
        for width in [60, 80, 100, 200] {
            let text = transcript(MASK, Screen { charset, ..Screen::plain(width) });
            for line in text.lines() {
                assert!(line.width() <= width, "{width}: {line}");
                assert_eq!(line, line.trim_end(), "spaces at the end");
                let is_sentence =
                    line.matches(' ').count() > 8 && !line.contains("   ") && !line.starts_with('$');
                assert!(!is_sentence || line.width() <= 90, "{width}: {line}");
            }
            assert_eq!(text.is_ascii(), charset == Charset::Ascii);
        }
    }
}

#[test]
fn the_walkthroughs_fit_their_screens_and_are_handed_out_in_every_form() {
    for (file, _) in BUILT_IN.iter().step_by(one_in(10)) {
        let name = file.trim_end_matches(".md");
        let size = lesson(name).size;
        for width in BTreeSet::from([80, size.columns]) {
            let plain = transcript(name, Screen::plain(width));
            let coloured =
                transcript(name, Screen { colour: true, theme: Theme::Dark, ..Screen::plain(width) });
            assert_eq!(words(&without_colours(&coloured)), words(&plain), "{name} at {width}");
            for line in plain.lines() {
                assert!(line.width() <= width, "{name} at {width}: {line}");
            }
        }
        colours_change_no_text(&lesson(name));
        let (own, runner) = (lesson(name), Runner::new(&in_process_once));
        let drawn = draw(&own, &runner, 5).lesson;
        let handout =
            |lesson, answers| Handout { lesson, runner: &runner, answers, notes: false, live: false };
        let page = export::markdown(&handout(&drawn, Answers::Hidden));
        assert!(!page.contains("<!--") && !page.contains("<details>"), "{name}");
        let cast = export::cast(&handout(&own, Answers::Folded), ScriptedAnswers::default());
        assert_eq!(cast.matches(",\"m\",").count(), own.steps.len(), "{name}");
    }
}

/// A command is checked without colours, and a class sees it with them.
#[track_caller]
fn colours_change_no_text(lesson: &Lesson) {
    let plain = Screen::plain(lesson.size.columns);
    for exchange in lesson.exchanges() {
        let shown = |screen| in_process_once(&exchange.command.args, screen).shown();
        let coloured = shown(Screen { colour: true, theme: Theme::Dark, ..plain });
        assert_eq!(without_colours(&coloured), shown(plain), "{}", exchange.command.typed);
    }
}

#[test]
fn hidden_answers_are_nowhere_and_leave_a_line_to_write_on() {
    for to in ["txt", "md", "cast"] {
        let text = export(&format!("--to {to} --answers hidden"));
        assert_eq!(text.matches("Answer: ____").count(), 3, "{to}");
        for secret in [
            "Answer: C",
            "C.** Two",
            "C. Two",
            "0.408",
            "0.41",
            "True for finite",
            "details",
            "iff",
            "What does a row",
        ] {
            assert!(!text.contains(secret), "{to} tells `{secret}`");
        }
        let shown = export(&format!("--to {to} --answers shown")).replace("\\u001b", "\x1b");
        let shown = without_colours(&shown);
        for told in ["Answer: C", "Answer: 0.41", "True for finite scores", "0.311", "0.437"] {
            assert!(shown.contains(told), "{to} does not tell `{told}`");
        }
    }
}

#[test]
fn notes_are_the_teachers_alone() {
    for to in ["txt", "md", "cast"] {
        assert!(!export(&format!("--to {to}")).contains("Slide a sheet"), "{to}");
        assert!(without_colours(&export(&format!("--to {to} --notes"))).contains("Slide a sheet"), "{to}");
    }
}

#[test]
fn the_handout_is_plain_markdown_whose_outputs_are_fenced() {
    for answers in ["", "--answers hidden", "--answers shown"] {
        let text = export(&format!("--to md {answers} --notes"));
        let mut headings = Vec::new();
        let mut fences = Vec::new();
        let mut in_heading = false;
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Html(html) | Event::InlineHtml(html) => {
                    let known = ["<details>", "<summary>Answer</summary>", "</details>"];
                    assert!(answers.is_empty() && known.contains(&html.trim()), "{html}");
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(label))) => fences.push(label.to_string()),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => panic!("this block is indented"),
                Event::Start(Tag::Heading { .. }) => in_heading = true,
                Event::End(pulldown_cmark::TagEnd::Heading(_)) => in_heading = false,
                Event::Text(text) if in_heading => headings.push(text.to_string()),
                // What a terminal draws means something else to Markdown.
                Event::Text(text) => assert!(!text.contains('╭') || !fences.is_empty(), "{text}"),
                _ => {}
            }
        }
        assert_eq!(
            headings,
            ["Why the mask?", "Before the mask", "The words", "Predict: how many zeros?", "Other tokens"]
        );
        assert!(fences.iter().all(|label| label == "text"), "{fences:?}");
        let outputs = if answers.ends_with("hidden") { 3 } else { 6 };
        assert_eq!(fences.len(), outputs, "{answers}");
    }
}

#[test]
fn the_handout_is_what_the_program_prints_now() {
    let printed = attn("attend examples/data/bat.json --only A --precision 2").ok().out;
    let text = export("--to md");
    assert!(text.contains(&format!(" --only A --precision 2\n{printed}```\n")), "{text}");
}

#[test]
fn a_recording_plays_to_the_end_with_a_marker_at_each_step() {
    let cast = export("--to cast");
    assert_eq!(cast, export("--to cast"), "the bytes differ from run to run");
    let mut lines = cast.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let header = lines.next().expect("a header");
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&2.into(), &80.into(), &24.into())
    );
    assert_eq!(header["title"], "Why the mask?");
    let mut terminal = vt100::Parser::new(24.try_into().expect("rows"), 80.try_into().expect("columns"), 0);
    let (mut last, mut markers, mut typed) = (0.0, Vec::new(), String::new());
    let mut shown_at = Vec::new();
    for event in lines {
        let (time, data) = (event[0].as_f64().expect("a time"), event[2].as_str().expect("a text"));
        assert!(time >= last, "{time} after {last}");
        last = time;
        match event[1].as_str() {
            Some("o") => {
                terminal.process(data.as_bytes());
                let plain = without_colours(data);
                assert!(!plain.replace("\r\n", "").contains(['\r', '\n', '\x1b']), "{data:?}");
                if plain.chars().count() == 1 {
                    typed.push_str(&plain);
                }
                shown_at.push((time, plain));
            }
            Some("m") => markers.push(data.to_string()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(markers, ["Before the mask", "Predict: how many zeros?", "Other tokens"]);
    assert!(typed.starts_with("attn attend examples/data/bat.json --only A"), "{typed}");
    let screen = terminal.screen().contents();
    assert!(
        screen.contains("(exit code 2)") && screen.trim_end().ends_with("Nothing else is to be said."),
        "{screen}"
    );
    assert!((60.0..600.0).contains(&last), "{last} seconds");
    let at = |words: &str| shown_at.iter().find(|(_, text)| text.contains(words)).expect(words).0;
    assert!(at("Answer: C") - at("none, a softmax") >= 30.0, "no time to think");
}

#[test]
fn a_recording_shows_how_the_class_voted_before_the_answer() {
    let recording = |answers: &[&str]| {
        let mut cast = attn(&format!("lesson export {MASK} --to cast"));
        for answer in answers {
            cast = cast.arg("--answer").arg(*answer);
        }
        cast.ok().out
    };
    let said = |cast: &str| -> String {
        let data =
            |line: &str| serde_json::from_str::<Value>(line).expect("JSON")[2].as_str().map(without_colours);
        cast.lines().skip(1).filter_map(data).collect()
    };
    let voted = said(&recording(&["zeros=A3 B14 C8", "zeros=A"]));
    let mut rest = voted.as_str();
    for words in ["none, a softmax", "votes: A3 B14 C8", "25 hands", "answer: A", "Answer: C"] {
        rest = rest.split_once(words).unwrap_or_else(|| panic!("no `{words}` in its place:\n{voted}")).1;
    }
    assert!(!said(&recording(&[])).contains("votes:"));
    attn(&format!("lesson export {MASK} --to cast --answer nothing=A")).refused(&["no question `nothing`"]);
    attn(&format!("lesson export {MASK} --to txt --answer zeros=A")).refused(&["--to cast"]);
}

#[test]
fn a_file_is_written_whole_and_a_single_step_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mask.txt");
    let told =
        attn(&format!("lesson export {MASK} --to txt --output")).arg(path.to_str().expect("UTF-8")).ok();
    assert_eq!(told.out, "");
    assert_eq!(fs::read_to_string(&path).expect("the file"), export("--to txt"));
    attn(&format!("lesson export {MASK}#other-tokens --to txt")).refused(&["whole lesson", "#"]);
    attn(&format!("lesson export {MASK} --to pdf")).refused(&["pdf", "txt"]);
    attn("lesson export nowhere.md --to txt").refused(&["nowhere.md"]);
}

#[test]
fn no_export_takes_the_place_of_a_lesson() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::copy(MASK, path("x.md")).expect("copied");
    fs::copy(MASK, path("other.md")).expect("copied");
    for target in ["x.md", "other.md"] {
        let refused = attn("lesson export --to md").arg(path("x.md")).arg("--output").arg(path(target)).run();
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("is a lesson"), "{}", refused.err);
        assert_eq!(fs::read(path(target)).expect("bytes"), fs::read(MASK).expect("bytes"));
    }
    fs::write(path("old.md"), "# Something else\n").expect("written");
    for _ in 0..2 {
        attn("lesson export --to md").arg(path("x.md")).arg("--output").arg(path("old.md")).ok();
        assert_eq!(fs::read_to_string(path("old.md")).expect("UTF-8"), export("--to md"));
    }
}

#[test]
fn every_fold_begins_with_the_answer_and_a_sheet_without_has_room_for_a_name() {
    for (to, begin, told) in [
        ("md", "<summary>Answer</summary>\n\n", ["**Answer: C.** Two tokens", "**Answer: 0.41**"]),
        (
            "html",
            "<summary>Answer</summary>\n<div class=\"right\"><p><strong>",
            ["Answer: C.</strong>", "Answer: 0.41</strong>"],
        ),
    ] {
        let folded = export(&format!("--to {to}"));
        for answer in told {
            assert!(folded.contains(answer), "{to} does not tell `{answer}`");
        }
        assert!(folded.contains(begin), "{to}");
        let hidden = export(&format!("--to {to} --answers hidden"));
        assert!(
            ["Name:", "Date:"].iter().all(|word| hidden.contains(word) && !folded.contains(word)),
            "{to}"
        );
        for secret in [
            "Answer: C",
            "0.408",
            "C.</strong> Two",
            "True for finite",
            "class=\"answer\"",
            "class=\"right\"",
        ] {
            assert!(!hidden.contains(secret), "{to} tells `{secret}`");
        }
        // Three more lines for the one open question.
        let lines = if to == "md" {
            hidden.matches("\n\n______").count()
        } else {
            hidden.matches("<p class=\"write\"></p>").count()
        };
        assert_eq!(lines, 3, "{to}");
        assert!(!hidden.contains("<details class=\"hint\" open"));
    }
}
