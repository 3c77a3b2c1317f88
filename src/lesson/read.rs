//! A Markdown text to a [`Lesson`].

use std::collections::HashMap;

use crate::error::nearest;

use super::command::Command;
use super::directive::{Written, directive};
use super::faults::{Fault, Faults};
use super::model::{Block, Console, Exchange, Lesson, Literal, NamedRun, Note, Part, Size, Step};
use super::pieces::{Kind, Piece, pieces};
use super::prose::prose;
use super::question::{Draft, settings};
use super::source::Source;

/// Where a lesson's screen has no size of its own.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// Reads a lesson. `file` is what messages call it; its name is the file's without folder and ending.
///
/// # Errors
/// Everything that keeps it from being a lesson, in the order of the lines.
pub fn read(file: &str, text: &str) -> Result<Lesson, Faults> {
    let source = Source::new(file, text).map_err(|error| Faults(vec![Fault::of(1, error)]))?;
    let mut faults = Faults::default();
    let pieces = pieces(&source, &mut faults);
    let mut reader = Reader::new(&source, file);
    for piece in &pieces {
        reader.take(piece, &mut faults);
    }
    let mut lesson = reader.finish(&mut faults);
    ids_are_unique(&lesson, &mut faults);
    runs_are_unique(&lesson, &mut faults);
    for fault in &mut faults.0 {
        fault.step = lesson.step_at(fault.line).map(|step| step.title.clone());
    }
    faults.0.sort_by_key(|fault| fault.line);
    if !faults.0.is_empty() {
        return Err(faults);
    }
    lesson.faults = source.cleaning_faults().collect();
    lesson.text = source.text;
    Ok(lesson)
}

struct Reader<'a> {
    source: &'a Source,
    lesson: Lesson,
    question: Option<Draft>,
    /// The line of a `tol` whose block has not come yet.
    tolerance: Option<usize>,
    has_head: bool,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, file: &str) -> Reader<'a> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let lesson = Lesson {
            name: name.strip_suffix(".md").unwrap_or(name).to_string(),
            file: file.to_string(),
            title: String::new(),
            minutes: None,
            size: USUAL,
            runs: Vec::new(),
            opening: Vec::new(),
            steps: Vec::new(),
            text: String::new(),
            faults: Vec::new(),
        };
        Reader { source, lesson, question: None, tolerance: None, has_head: false }
    }

    fn take(&mut self, piece: &Piece, faults: &mut Faults) {
        if let Some(line) = self.tolerance
            && !matches!(piece.kind, Kind::Fence(..))
        {
            faults.push(
                Fault::new(line, "`tol` without a block after it")
                    .help("write it directly above a ```console block"),
            );
            self.tolerance = None;
        }
        match &piece.kind {
            Kind::Head => self.head(piece, faults),
            Kind::Heading(depth, title) => self.heading(*depth, title, piece.line, faults),
            Kind::Fence(label, body) => self.fence(label, body.clone(), piece.line, faults),
            Kind::Comment(comment) => match directive(comment, piece.line) {
                Ok(written) => self.directive(written, piece.line, faults),
                Err(fault) => faults.push(fault),
            },
            Kind::DetailsBegin => match &mut self.question {
                Some(question) if !question.folded => question.folded = true,
                _ => faults.push(
                    Fault::new(piece.line, "<details> without a question")
                        .help("a folded answer follows an <!-- ask: … -->"),
                ),
            },
            Kind::Summary(_) => {}
            Kind::DetailsEnd => match self.question.take() {
                Some(question) if question.folded => self.close(question, faults),
                other => {
                    self.question = other;
                    faults.push(Fault::new(piece.line, "</details> without <details>").help("take it out"));
                }
            },
            Kind::Bullets => {
                let is_taken = self
                    .question
                    .as_mut()
                    .is_some_and(|question| question.take_options(piece, self.source, faults));
                if !is_taken {
                    self.prose(piece, faults);
                }
            }
            Kind::Prose => self.prose(piece, faults),
        }
    }

    /// The pairs between the `---`.
    fn head(&mut self, piece: &Piece, faults: &mut Faults) {
        self.has_head = true;
        let mut seen = false;
        for (number, text) in self.source.text[piece.at.clone()].lines().enumerate() {
            let line = piece.line + number;
            let Some((name, value)) = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()))
            else {
                continue;
            };
            let value = value.trim_matches('"');
            match name {
                "attn-lesson" => {
                    seen = true;
                    if value != "1" {
                        faults.push(
                            Fault::new(line, format!("the lesson format `{value}`"))
                                .help("this program reads format 1: attn-lesson: 1"),
                        );
                    }
                }
                "title" => self.lesson.title = value.to_string(),
                "minutes" => match value.parse::<f64>() {
                    Ok(minutes) if minutes > 0.0 && minutes.is_finite() => {
                        self.lesson.minutes = Some(minutes)
                    }
                    _ => faults.push(
                        Fault::new(line, format!("`{value}` minutes")).help("write a number: minutes: 12"),
                    ),
                },
                "screen" => match size(value) {
                    Some(size) => self.lesson.size = size,
                    None => faults.push(
                        Fault::new(line, format!("the screen `{value}`"))
                            .help("write columns x rows, from 40x10 to 400x200: screen: 100x30"),
                    ),
                },
                other => {
                    let fault = Fault::new(line, format!("`{other}` in the head is not understood"));
                    let known = ["attn-lesson", "title", "minutes", "screen"];
                    faults.push(match nearest(other, known) {
                        Some(near) => fault.help(format!("did you mean `{near}`?")),
                        None => fault.help(format!("it has {}", known.join(", "))),
                    });
                }
            }
        }
        self.has_head = seen;
    }

    fn heading(&mut self, depth: usize, title: &str, line: usize, faults: &mut Faults) {
        self.end_question(line, faults);
        match depth {
            1 if !self.lesson.steps.is_empty() => {
                faults.push(Fault::new(line, "a second title").help("a step begins with ##"));
            }
            1 => {
                if self.lesson.title.is_empty() {
                    self.lesson.title = title.to_string();
                } else if self.lesson.title != title {
                    faults.push(
                        Fault::new(
                            line,
                            format!("the title is «{title}» here and «{}» in the head", self.lesson.title),
                        )
                        .help("let both say the same, or leave it out of the head"),
                    );
                }
            }
            2 => self.lesson.steps.push(Step {
                id: slug(title),
                title: title.to_string(),
                line,
                minutes: None,
                parts: vec![Part::default()],
            }),
            3 => match self.lesson.steps.last_mut() {
                Some(step) => step.parts.push(Part { title: Some(title.to_string()), blocks: Vec::new() }),
                None => faults.push(
                    Fault::new(line, "a pause before the first step").help("begin a step with ## above it"),
                ),
            },
            _ => faults.push(
                Fault::new(line, "a heading of the fourth level or deeper")
                    .help("# is the title, ## a step, ### a pause; write it in bold"),
            ),
        }
    }

    fn directive(&mut self, written: Written, line: usize, faults: &mut Faults) {
        let fresh_step = self.lesson.steps.last_mut().filter(|step| step.parts.len() == 1);
        match written.word {
            "id" | "step" if fresh_step.is_none() || self.question.is_some() => {
                faults.push(
                    Fault::new(line, format!("`{}` is not about a step here", written.word))
                        .help("write it directly below the step's ##"),
                );
            }
            "id" => {
                if let Some(step) = fresh_step {
                    step.id = slug(&written.text);
                }
            }
            "step" => {
                for (_, value) in settings(&written.text, line, &["minutes"], faults) {
                    match (value.parse::<f64>(), self.lesson.steps.last_mut()) {
                        (Ok(minutes), Some(step)) if minutes > 0.0 && minutes.is_finite() => {
                            step.minutes = Some(minutes)
                        }
                        _ => faults.push(
                            Fault::new(line, format!("`{value}` minutes"))
                                .help("write a number: step: minutes=3"),
                        ),
                    }
                }
            }
            "note" => self.add(Block::Note(Note { line, text: written.text })),
            "run" => self.run(&written.text, line, faults),
            "tol" if written.text == "last-digit" => self.tolerance = Some(line),
            "tol" => faults.push(
                Fault::new(line, format!("the tolerance `{}`", written.text))
                    .help("there is one: <!-- tol: last-digit -->"),
            ),
            "ask" => {
                self.end_question(line, faults);
                self.question = Some(Draft::begin(&written.text, line, faults));
            }
            word => match &mut self.question {
                Some(question) if !question.folded => question.take(written, line, faults),
                Some(_) => faults.push(
                    Fault::new(line, format!("`{word}` within the answer")).help("write it above <details>"),
                ),
                None => faults.push(
                    Fault::new(line, format!("`{word}` without a question"))
                        .help("begin one with <!-- ask: id=… kind=… -->"),
                ),
            },
        }
    }

    fn run(&mut self, text: &str, line: usize, faults: &mut Faults) {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        };
        let Some((name, typed)) = text
            .split_once('=')
            .map(|(name, typed)| (name.trim(), typed.trim()))
            .filter(|(name, _)| is_name(name))
        else {
            faults.push(
                Fault::new(line, format!("`{text}` names no command"))
                    .help("write <!-- run: plain = attn attend … -->"),
            );
            return;
        };
        match Command::new(typed, line) {
            Ok(command) => self.lesson.runs.push(NamedRun { name: name.to_string(), command, line }),
            Err(fault) => faults.push(fault),
        }
    }

    fn fence(&mut self, label: &str, body: std::ops::Range<usize>, line: usize, faults: &mut Faults) {
        let last_digit_may_differ = self.tolerance.take().is_some();
        if label != "console" {
            if last_digit_may_differ {
                faults.push(
                    Fault::new(line, "`tol` above a block that is not run")
                        .help("take it out, or label the block `console`"),
                );
            }
            let text = self.source.text[body].to_string();
            self.add(Block::Literal(Literal { line, label: label.to_string(), text }));
            return;
        }
        let faults_before = faults.0.len();
        let exchanges = exchanges(self.source, body, faults);
        // Of a block whose commands cannot be run that has been said.
        if exchanges.is_empty() && faults.0.len() == faults_before {
            faults.push(
                Fault::new(line, "a console block without a command")
                    .help("begin it with $ attn …, or label it `text`"),
            );
        }
        self.add(Block::Console(Console { line, exchanges, last_digit_may_differ }));
    }

    fn prose(&mut self, piece: &Piece, faults: &mut Faults) {
        let prose = prose(self.source, piece.at.clone(), faults);
        self.add(Block::Prose(prose));
    }

    fn add(&mut self, block: Block) {
        if let Some(question) = &mut self.question {
            question.add(block);
            return;
        }
        let part = self.lesson.steps.last_mut().and_then(|step| step.parts.last_mut());
        part.map_or(&mut self.lesson.opening, |part| &mut part.blocks).push(block);
    }

    fn close(&mut self, question: Draft, faults: &mut Faults) {
        let question = question.finish(faults);
        self.add(Block::Question(Box::new(question)));
    }

    /// A question whose answer is not there when something else begins.
    fn end_question(&mut self, line: usize, faults: &mut Faults) {
        let Some(question) = self.question.take() else { return };
        let folded = question.folded;
        let question = question.finish(faults);
        if folded || question.kind != super::key::Kind::Open {
            let what = if folded { "an answer that is never closed" } else { "a question without an answer" };
            let fault = Fault::new(question.line, format!("`{}` is {what} before line {line}", question.id));
            faults.push(fault.help("fold the answer: <details>, <summary>Answer</summary>, an empty line, the answer, </details>"));
        }
        self.add(Block::Question(Box::new(question)));
    }

    fn finish(mut self, faults: &mut Faults) -> Lesson {
        let last = self.source.line(self.source.text.len());
        self.end_question(last, faults);
        if let Some(line) = self.tolerance {
            faults.push(
                Fault::new(line, "`tol` without a block after it")
                    .help("write it directly above a ```console block"),
            );
        }
        if !self.has_head {
            // Everything else that is wrong with a file that is no lesson says nothing.
            faults.0.clear();
            faults.push(Fault::new(1, "this is no lesson").help(
                "a lesson begins with a line ---, then attn-lesson: 1, and --- again; `attn lesson new NAME` writes one",
            ));
        } else {
            if self.lesson.steps.is_empty() {
                faults.push(Fault::new(last, "a lesson without a step").help("begin a step with ##"));
            }
            if self.lesson.title.is_empty() {
                faults.push(
                    Fault::new(1, "a lesson without a title")
                        .help("write # and the title, above the first ##"),
                );
            }
        }
        self.lesson
    }
}

/// The commands of a block, each with its expected output.
fn exchanges(source: &Source, body: std::ops::Range<usize>, faults: &mut Faults) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut position = body.start;
    let mut lines = source.text[body.clone()].split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = position;
        position += line.len();
        let Some(first) = line.trim_end().strip_prefix("$ ") else {
            match found.last_mut() {
                Some(exchange) => exchange.expected.end = position,
                None => faults.push(
                    Fault::new(source.line(start), "output before the first command")
                        .help("begin the block with $ attn …"),
                ),
            }
            continue;
        };
        let mut typed = vec![first.trim().to_string()];
        while let Some(next) = lines.peek().and_then(|line| line.trim_end().strip_prefix("> ")) {
            typed.push(next.trim().to_string());
            position += lines.next().map_or(0, str::len);
        }
        let mut code = 0;
        if let Some(next) = lines.peek().and_then(|line| line.trim_end().strip_prefix("? ")) {
            match next.trim().parse() {
                Ok(number) => code = number,
                Err(_) => faults.push(
                    Fault::new(source.line(position), format!("`? {next}` is no exit code"))
                        .help("write ? 2 for a command that is refused"),
                ),
            }
            position += lines.next().map_or(0, str::len);
        }
        let line = source.line(start);
        match Command::new(&typed.join(" "), line) {
            Ok(command) => found.push(Exchange { line, command, typed, code, expected: position..position }),
            Err(fault) => faults.push(fault),
        }
    }
    for exchange in &mut found {
        // The empty line that closes the block, or stands before the next command, is none of the output.
        if source.text[exchange.expected.clone()].ends_with("\n\n")
            || &source.text[exchange.expected.clone()] == "\n"
        {
            exchange.expected.end -= 1;
        }
    }
    found
}

/// `100x30`
fn size(text: &str) -> Option<Size> {
    let (columns, rows) = text.split_once(['x', '×'])?;
    let (columns, rows) = (columns.trim().parse().ok()?, rows.trim().parse().ok()?);
    ((40..=400).contains(&columns) && (10..=200).contains(&rows)).then_some(Size { columns, rows })
}

/// A heading as a name: lower case, words joined by `-`.
fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Steps and questions share one space of names.
fn ids_are_unique(lesson: &Lesson, faults: &mut Faults) {
    let steps = lesson.steps.iter().map(|step| (step.id.as_str(), step.line));
    let questions = lesson.questions().map(|question| (question.id.as_str(), question.line));
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut all: Vec<(&str, usize)> = steps.chain(questions).collect();
    all.sort_by_key(|(_, line)| *line);
    for (id, line) in all {
        if let Some(first) = seen.get(id) {
            faults.push(
                Fault::new(line, format!("`{id}` names this and what stands at line {first}"))
                    .help("give one of them another: <!-- id: … --> below a step's ##, id=… in an ask"),
            );
        } else {
            seen.insert(id, line);
        }
    }
}

fn runs_are_unique(lesson: &Lesson, faults: &mut Faults) {
    for (position, run) in lesson.runs.iter().enumerate() {
        if let Some(first) = lesson.runs[..position].iter().find(|other| other.name == run.name) {
            faults.push(
                Fault::new(
                    run.line,
                    format!("`{}` names a command already, at line {}", run.name, first.line),
                )
                .help("give one of them another name"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::key::Kind as QuestionKind;

    const WHOLE: &str = r#"---
attn-lesson: 1
title: Why the mask?
minutes: 12
screen: 100x30
---

# Why the mask?

A decoder may not read the future.

<!-- note: Slide a sheet of paper along a sentence,
word by word. -->
<!-- run: plain = attn attend examples/data/bat.json -->
<!-- run: causal = attn attend examples/data/bat.json --causal -->

## Before the mask

<!-- step: minutes=3 -->

Each row sums to 1:
`bat` gives 0.18<!-- = plain:A[bat,cave] --> to `cave`.

```console
$ attn attend examples/data/bat.json --only A
the table

$ attn nonsense
? 2
error

```

### A pause

```text
as it is
```

## Predict: how many zeros?

<!-- ask: id=zeros kind=choice think=30s -->

After the mask, how many?

- A. none, a softmax is never zero
- B. one
- C. two

<!-- key: C iff count(causal:A[bat], == 0) == 2 -->
<!-- if A: True for finite scores. -->
<!-- hint: Look to the right. -->

<details>
<summary>Answer</summary>

**C.** Two.

</details>
"#;

    #[test]
    fn the_lesson_of_the_format_is_read() {
        let lesson = read("folder/mask.md", WHOLE).unwrap();
        assert_eq!((lesson.name.as_str(), lesson.title.as_str()), ("mask", "Why the mask?"));
        assert_eq!((lesson.minutes, lesson.size), (Some(12.0), Size { columns: 100, rows: 30 }));
        assert_eq!(lesson.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["plain", "causal"]);
        assert_eq!(lesson.opening.len(), 2);
        let ids: Vec<&str> = lesson.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["before-the-mask", "predict-how-many-zeros"]);
        assert_eq!(lesson.steps[0].minutes, Some(3.0));
        assert_eq!(lesson.steps[0].parts.len(), 2);
        let Block::Console(console) = &lesson.steps[0].parts[0].blocks[1] else { panic!("a console block") };
        let expected: Vec<(&str, u8)> =
            console.exchanges.iter().map(|one| (&lesson.text[one.expected.clone()], one.code)).collect();
        assert_eq!(expected, [("the table\n", 0), ("error\n", 2)]);
        let question = lesson.questions().next().unwrap();
        assert_eq!((question.id.as_str(), question.kind), ("zeros", QuestionKind::Choice));
        assert_eq!(question.think.unwrap().as_secs(), 30);
        assert_eq!(question.choices.len(), 3);
        assert_eq!(question.choices[2].text.as_ref().unwrap().markdown, "two");
        assert!(question.choices[0].feedback.is_some() && question.key.is_some());
        assert_eq!((question.asked.len(), question.reveal.len(), question.hints.len()), (1, 1, 1));
    }

    /// The lesson with one text replaced by another, and what must be said of the line that begins with `at`.
    #[track_caller]
    fn spoilt(from: &str, to: &str, at: &str, words: &str) {
        assert!(WHOLE.contains(from), "{from}");
        let text = WHOLE.replacen(from, to, 1);
        let line = 1 + text.lines().position(|line| line.starts_with(at)).expect(at);
        let faults = read("x.md", &text).expect_err(to);
        let is_it = |fault: &Fault| fault.line == line && fault.what.contains(words) && fault.help.is_some();
        assert!(faults.0.iter().any(is_it), "{to}: no «{words}» at {line} in {faults:?}");
    }

    #[test]
    fn every_fault_is_named_at_its_line_with_a_remedy() {
        for (from, to, at, words) in [
            ("attn-lesson: 1", "attn-lesson: 2", "attn-lesson", "format `2`"),
            ("minutes: 12", "minutes: soon", "minutes", "`soon` minutes"),
            ("screen: 100x30", "screen: wide", "screen", "screen `wide`"),
            ("title: Why", "titel: Why", "titel", "`titel`"),
            ("<!-- note:", "<!-- nota:", "<!-- nota", "is no directive"),
            (
                "<!-- run: causal",
                "<!-- run: plain",
                "<!-- run: plain = attn attend examples/data/bat.json --c",
                "names a command already, at line 14",
            ),
            (
                "= attn attend examples/data/bat.json --causal",
                "= python x",
                "<!-- run: causal",
                "`python` is not attn",
            ),
            ("## Before the mask", "## Zeros", "<!-- ask", "`zeros` names this"),
            ("```text\nas it is\n```", "```text\nas it is\n", "```text", "never closed"),
            ("kind=choice", "kind=choise", "<!-- ask", "`choise` is no kind"),
            ("<!-- key: C iff count(causal:A[bat], == 0) == 2 -->\n", "", "<!-- ask", "has no key"),
            ("</details>\n", "", "<!-- ask", "never closed"),
            ("<!-- if A:", "<!-- if D:", "<!-- if D", "no option D"),
            ("- C. two", "- D. two", "- D. two", "the option D where C comes next"),
            (
                "```console\n$",
                "<!-- tol: last-digit -->\n\ntext\n\n```console\n$",
                "<!-- tol",
                "`tol` without a block",
            ),
            ("$ attn nonsense", "$ ls", "$ ls", "`ls` is not attn"),
        ] {
            spoilt(from, to, at, words);
        }
    }

    #[test]
    fn a_fault_knows_its_step() {
        let faults = read("x.md", &WHOLE.replacen("kind=choice", "kind=x", 1)).unwrap_err();
        assert_eq!(faults.0[0].step.as_deref(), Some("Predict: how many zeros?"));
        let said = faults.0[0].in_file("x.md").to_string();
        assert!(said.starts_with("x.md:42: `x` is no kind of question\n  step: Predict"), "{said}");
    }

    #[test]
    fn a_file_that_is_no_lesson_is_called_that_and_nothing_else() {
        let faults = read("x.md", "# Read me\n\n```\nx\n```\n").unwrap_err();
        assert_eq!(faults.0.len(), 1);
        assert!(faults.0[0].what.contains("no lesson"));
    }
}
