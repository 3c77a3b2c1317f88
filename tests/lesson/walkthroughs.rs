//! The walkthroughs: every block prints on the real binary what stands there, every number in their prose is a
//! checked number, and each has what a lesson for a class should have.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::one_in;
use attn::demo::{Document, demos};
use attn::lesson::{Block, Lesson, Literal, Prose, Question, Step, is_lesson, read};
use pulldown_cmark::{Event, Options, Parser};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("walkthroughs")
}

/// Every lesson of the folder, in order, the tour first.
fn lessons() -> Vec<Lesson> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder()).expect("walkthroughs").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let texts =
        files.iter().map(|file| (file.display().to_string(), fs::read_to_string(file).expect("UTF-8")));
    let lessons: Vec<Lesson> = texts
        .filter(|(_, text)| is_lesson(text))
        .map(|(file, text)| read(&file, &text).unwrap_or_else(|faults| panic!("{file}: {faults:?}")))
        .collect();
    assert_eq!(
        lessons.len(),
        5 + Document::ALL.len(),
        "a tour, one for each document, one on the models of today, one on a trained model, and two on how models learn"
    );
    lessons
}

#[test]
fn every_block_prints_on_the_real_binary_what_stands_there_and_check_has_nothing_to_remark() {
    let files: Vec<String> = lessons().into_iter().step_by(one_in(4)).map(|lesson| lesson.file).collect();
    let checked = Command::new(env!("CARGO_BIN_EXE_attn")).args(["lesson", "check"]).args(&files).output();
    let checked = checked.expect("it starts");
    let out = String::from_utf8(checked.stdout).expect("UTF-8");
    assert_eq!(checked.status.code(), Some(0), "{out}");
    assert!(!out.contains("remark"), "{out}");
    assert!(out.contains(&format!("\n{} lessons, ", files.len())), "{out}");
}

/// The prose of a lesson, that of its options too.
fn prose(lesson: &Lesson) -> Vec<&Prose> {
    let blocks = lesson.every_block().filter_map(|block| match block {
        Block::Prose(prose) => Some(prose),
        _ => None,
    });
    let choices = lesson.questions().flat_map(|question| &question.choices);
    blocks.chain(choices.filter_map(|choice| choice.text.as_ref())).collect()
}

/// Digits that are a part of a name, and no claim.
const NAMES: [&str; 4] = ["DeepSeek-V3", "GPT-2", "GPT-3", "Llama 3 8B"];

/// The runs of digits in the words of a Markdown text that are no part of a checked number. Code is names, not claims, and so
/// are [`NAMES`] and the index of `W_1`.
fn unchecked(prose: &Prose) -> Vec<String> {
    let mut found = Vec::new();
    for (event, at) in Parser::new_ext(&prose.markdown, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Text(_) = event else { continue };
        let text = &prose.markdown[at.clone()];
        let is_digit = |c: char| c.is_ascii_digit();
        let mut from = 0;
        while let Some(begin) = text[from..].find(is_digit).map(|begin| from + begin) {
            from = text[begin..].find(|c| !is_digit(c)).map_or(text.len(), |end| begin + end);
            let place = at.start + begin..at.start + from;
            let checked =
                prose.claims.iter().any(|claim| claim.at.start <= place.start && place.end <= claim.at.end);
            let named = |name: &&str| {
                let mut places = prose.markdown.match_indices(*name);
                places.any(|(start, _)| start <= place.start && place.end <= start + name.len())
            };
            let is_index = prose.markdown[..place.start].ends_with('_');
            if !checked && !is_index && !NAMES.iter().any(named) {
                found.push(text[begin..from].to_string());
            }
        }
    }
    found
}

#[test]
fn a_number_that_is_not_checked_is_found() {
    let text = "---\nattn-lesson: 1\n---\n# T\n<!-- run: a = attn softmax 1 2 -->\n## S\n\n0.27<!-- = a:A[1,1] --> of `x2`, \
                and 3 or *0.5*, GPT-3 or GPT-33, W_1 x2\n\n| 7 |\n|---|\n| 8 |\n";
    let lesson = read("x.md", text).expect("a lesson");
    let found: Vec<String> = prose(&lesson).into_iter().flat_map(unchecked).collect();
    assert_eq!(found, ["3", "0", "5", "33", "2", "7", "8"]);
}

#[test]
fn every_number_in_the_prose_is_a_checked_number() {
    for lesson in lessons() {
        let all = prose(&lesson);
        for prose in &all {
            let found = unchecked(prose);
            assert!(found.is_empty(), "{}:{}: {found:?} in\n{}", lesson.file, prose.line, prose.markdown);
        }
        let claims: usize = all.iter().map(|prose| prose.claims.len()).sum();
        assert!(claims >= 10, "{}: only {claims} checked numbers", lesson.file);
    }
}

/// Whether a wrong answer of a question is computed, or proven wrong by a computed condition.
fn has_computed_distractor(question: &Question) -> bool {
    let right = question.key.as_ref().and_then(|key| key.letter);
    let wrong = question.choices.iter().filter(|choice| Some(choice.letter) != right);
    { wrong }.any(|choice| choice.computed.is_some() || choice.condition.is_some())
}

fn is_for_the_student(step: &Step) -> bool {
    let title = step.title.to_lowercase();
    let is_open_to_try = |block: &Block| match block {
        Block::Literal(Literal { text, .. }) => text.contains("$ attn "),
        Block::Question(question) => !question.kind.is_graded(),
        _ => false,
    };
    (title.contains("your own") || title.contains("yourself")) && step.blocks().any(is_open_to_try)
}

#[test]
fn each_has_what_a_lesson_for_a_class_should_have() {
    for (number, lesson) in lessons().iter().enumerate() {
        let file = &lesson.file;
        let steps = lesson.steps.len();
        assert!(if number == 0 { steps == 8 } else { (8..=15).contains(&steps) }, "{file}: {steps} steps");

        let computed: Vec<&Question> =
            lesson.questions().filter(|question| has_computed_distractor(question)).collect();
        let kinds: BTreeSet<&str> = computed.iter().map(|question| question.kind.word()).collect();
        assert!(computed.len() >= 4, "{file}: {} questions have computed wrong answers", computed.len());
        assert!(kinds.len() >= 3, "{file}: their kinds are {kinds:?}");
        let foreseen = computed.iter().flat_map(|question| &question.choices);
        assert!(
            foreseen.filter(|choice| choice.feedback.is_some()).count() >= 4,
            "{file}: who errs is told nothing"
        );

        let planned: f64 = lesson.steps.iter().map(|step| step.minutes.expect("a plan for each step")).sum();
        assert_eq!(
            lesson.minutes.map(|minutes| (minutes * 10.0).round()),
            Some((planned * 10.0).round()),
            "{file}"
        );

        let notes = lesson.every_block().filter(|block| matches!(block, Block::Note(_))).count();
        assert!(notes >= steps / 2, "{file}: {notes} notes for {steps} steps");
        assert!(
            lesson.steps.iter().any(is_for_the_student),
            "{file}: nothing to try with numbers of one's own"
        );

        let drawn = |question: &Question| {
            let runs = question.key.iter().flat_map(|key| key.runs());
            let mut named = runs.map(|name| lesson.runs.iter().find(|run| run.name == name).expect("a run"));
            question.kind.is_graded() && named.all(|run| run.command.seed().is_some())
        };
        assert!(lesson.questions().any(drawn), "{file}: no question can be drawn again");
    }
}

#[test]
fn together_they_name_every_demo_of_their_document() {
    let lessons = lessons();
    for (document, lesson) in Document::ALL.into_iter().zip(&lessons[1..]) {
        for demo in demos().filter(|demo| demo.source.document() == Some(document)) {
            let command = format!("attn demo {}", demo.name);
            let mut rest = lesson.text.split(&command).skip(1);
            assert!(
                rest.any(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '-')),
                "{}: no `{command}`",
                lesson.file
            );
        }
    }
}

/// The sections of the five texts, as they are headed there.
const SECTIONS: [&[&str]; 5] = [
    &[
        "Token interaction as matrix multiplication",
        "Interaction matrices in practice",
        "Parameterizing query, key, and value",
        "Masked attention",
        "Conclusion",
    ],
    &["Computing the attention weights", "Computing the outputs", "Finishing thoughts"],
    &[
        "Introduction",
        "Embeddings",
        "Word Similarity",
        "So what is self-attention?",
        "Queries, Keys and Values",
        "Intuition behind K, Q and V matrices",
        "Implementing Multi-head self-attention",
    ],
    &[
        "Introduction",
        "The word vectors",
        "Attention",
        "The formulation",
        "The similarity",
        "The transformations",
        "Putting it all together",
        "Additional Modifications",
        "MLP or FFNN",
        "The nomenclature",
        "Finishing notes",
    ],
    &[
        "Attention",
        "Queries",
        "Keys",
        "Recap",
        "Example",
        "Normalization",
        "Compact form",
        "Values",
        "Output",
        "Architecture",
    ],
];

#[test]
fn the_guide_has_a_row_for_every_section_of_every_text_in_its_order() {
    let guide = fs::read_to_string(folder().join("README.md")).expect("UTF-8");
    for (document, sections) in Document::ALL.into_iter().zip(SECTIONS) {
        let head = format!("## {} {}\n", document.number(), document.title());
        let (_, rows) = guide.split_once(&head).unwrap_or_else(|| panic!("no `{head}`"));
        let rows = rows.split("\n## ").next().unwrap_or_default();
        let mut titles = rows.lines().filter_map(|row| {
            let mut cells = row.strip_prefix("| ")?.split(" | ");
            let title = cells.next()?.trim();
            let says_what_to_type = cells.next().is_some_and(|cell| cell.starts_with("`attn "));
            (says_what_to_type && !title.is_empty()).then_some(title)
        });
        for section in sections {
            assert!(titles.any(|title| title == *section), "{}: no row for “{section}”", document.title());
        }
    }
}

/// What style.md bans in sentences for people; “so many” only where it stands for a number.
const BANNED: [&str; 12] = [
    "mends",
    "mend",
    "deed",
    "deeds",
    "asked softly",
    "anew",
    "whoever",
    "whom",
    "beside",
    "pupil",
    "pupils",
    "so many",
];

#[test]
fn no_lesson_has_a_word_that_we_do_not_use() {
    for lesson in lessons() {
        // Outputs are the program's sentences, which are looked at where they are made.
        let outputs: Vec<_> = lesson.exchanges().map(|exchange| &exchange.expected).collect();
        let mut at = 0;
        for line in lesson.text.split_inclusive('\n') {
            let place = at;
            at += line.len();
            if outputs.iter().any(|output| output.contains(&place)) {
                continue;
            }
            let words: Vec<String> = line
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect();
            let sentence = format!(" {} ", words.join(" "));
            let found = BANNED.iter().find(|banned| sentence.contains(&format!(" {banned} ")));
            assert!(found.is_none(), "{}: `{}` in `{}`", lesson.file, found.unwrap_or(&""), line.trim());
        }
    }
}
