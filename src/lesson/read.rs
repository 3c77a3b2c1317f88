//! A Markdown text to a [`Lesson`].

use super::command::Command;
use super::directive::{Written, directive};
use super::exchanges::exchanges;
use super::faults::{Fault, Faults};
use super::head::{head, minutes};
use super::key::is_run_name;
use super::model::{Block, Console, Lesson, Literal, NamedRun, Note, Part, Size, Step};
use super::names::{ids_are_unique, runs_are_unique, slug};
use super::pieces::{Kind, Piece, pieces};
use super::prose::prose;
use super::question::{Draft, settings};
use super::source::Source;
use crate::foreign::visible;

/// Where a lesson's screen has no size of its own.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// Reads a lesson. `file` is what messages call it; its name is the file's without folder and ending.
///
/// # Errors
/// Everything that keeps it from being a lesson, in the order of the lines.
pub fn read(file: &str, text: &str) -> Result<Lesson, Faults> {
    let source = Source::new(file, text).map_err(|error| Faults(vec![Fault::of(1, error)]))?;
    let mut misread = Faults::default();
    let pieces = pieces(&source, &mut misread);
    let mut faults = Faults::default();
    let mut reader = Reader::new(&source, file);
    for piece in &pieces {
        reader.take(piece, &mut faults);
    }
    let is_lesson = reader.has_head;
    let mut lesson = reader.finish(&mut faults);
    ids_are_unique(&lesson, &mut faults);
    runs_are_unique(&lesson, &mut faults);
    if is_lesson && !misread.0.is_empty() {
        // What else seems wrong may come of blocks that are none.
        faults = misread;
    }
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
    has_title: bool,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, file: &str) -> Reader<'a> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let lesson = Lesson {
            name: visible(name.strip_suffix(".md").unwrap_or(name)).into_owned(),
            file: file.to_string(),
            title: String::new(),
            minutes: None,
            size: USUAL,
            runs: Vec::new(),
            opening: Vec::new(),
            steps: Vec::new(),
            text: String::new(),
            faults: Vec::new(),
            told: None,
        };
        Reader { source, lesson, question: None, tolerance: None, has_head: false, has_title: false }
    }

    fn take(&mut self, piece: &Piece, faults: &mut Faults) {
        if let Some(line) = self.tolerance
            && !matches!(piece.kind, Kind::Fence(..))
        {
            faults.push(
                Fault::new(line, "no block follows `tol`").help("write it directly above a ```console block"),
            );
            self.tolerance = None;
        }
        match &piece.kind {
            Kind::Head => {
                let text = &self.source.text[piece.at.clone()];
                self.has_head = head(text, piece.line, &mut self.lesson, faults);
            }
            Kind::Heading(depth, title) => self.heading(*depth, title, piece.line, faults),
            Kind::Fence(label, body) => self.fence(label, body.clone(), piece.line, faults),
            Kind::Comment(comment) => match directive(comment, piece.line) {
                Ok(written) => self.directive(written, piece.line, faults),
                Err(fault) => faults.push(fault),
            },
            Kind::DetailsBegin => match &mut self.question {
                Some(question) if !question.folded => question.folded = true,
                _ => faults.push(
                    Fault::new(piece.line, "<details> does not follow a question")
                        .help("put the folded answer after an <!-- ask: … -->"),
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

    fn heading(&mut self, depth: usize, title: &str, line: usize, faults: &mut Faults) {
        self.end_question(line, faults);
        match depth {
            1 if self.has_title || !self.lesson.steps.is_empty() => {
                faults.push(Fault::new(line, "a second title").help("write ## if this begins a step"));
            }
            1 => {
                self.has_title = true;
                if self.lesson.title.is_empty() {
                    self.lesson.title = title.to_string();
                } else if self.lesson.title != title {
                    faults.push(
                        Fault::new(
                            line,
                            format!("the title is “{title}” here and “{}” in the head", self.lesson.title),
                        )
                        .help("make both the same, or leave it out of the head"),
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
                    .help("write it in bold; # is the title, ## a step, ### a pause"),
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
                    match (minutes(value, line), self.lesson.steps.last_mut()) {
                        (Ok(minutes), Some(step)) => step.minutes = Some(minutes),
                        (Err(fault), _) => faults.push(fault),
                        (Ok(_), None) => {}
                    }
                }
            }
            "note" => self.add(Block::Note(Note { line, text: written.text })),
            "run" => self.run(&written.text, line, faults),
            "tol" if written.text == "last-digit" => self.tolerance = Some(line),
            "tol" => faults.push(
                Fault::new(line, format!("unknown tolerance `{}`", written.text))
                    .help("write <!-- tol: last-digit -->"),
            ),
            "ask" => {
                self.end_question(line, faults);
                self.question = Some(Draft::begin(&written.text, line, faults));
            }
            word => match &mut self.question {
                Some(question) if !question.folded => question.take(written, line, faults),
                Some(_) => faults.push(
                    Fault::new(line, format!("`{word}` inside the answer")).help("move it above <details>"),
                ),
                None => faults.push(
                    Fault::new(line, format!("`{word}` does not belong to a question"))
                        .help("begin one with <!-- ask: id=… kind=… -->"),
                ),
            },
        }
    }

    fn run(&mut self, text: &str, line: usize, faults: &mut Faults) {
        let Some((name, typed)) = text
            .split_once('=')
            .map(|(name, typed)| (name.trim(), typed.trim()))
            .filter(|(name, _)| is_run_name(name))
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
                        .help("remove it, or label the block `console`"),
                );
            }
            let text = self.source.text[body].to_string();
            if let Some(fault) = not_run(label, &text, line) {
                faults.push(fault);
            }
            self.add(Block::Literal(Literal { line, label: label.to_string(), text }));
            return;
        }
        let faults_before = faults.0.len();
        let exchanges = exchanges(self.source, body, faults);
        // Of a block whose commands cannot be run that has been said.
        if exchanges.is_empty() && faults.0.len() == faults_before {
            faults.push(
                Fault::new(line, "this console block has no command")
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
            let what = if folded { "this answer is never closed" } else { "this question has no answer" };
            let fault = Fault::new(question.line, format!("`{}` is {what} before line {line}", question.id));
            faults.push(fault.help("write the folded answer: <details>, <summary>Answer</summary>, an empty line, the answer, </details>"));
        }
        self.add(Block::Question(Box::new(question)));
    }

    fn finish(mut self, faults: &mut Faults) -> Lesson {
        let last = self.source.line(self.source.text.len());
        self.end_question(last, faults);
        if let Some(line) = self.tolerance {
            faults.push(
                Fault::new(line, "no block follows `tol`").help("write it directly above a ```console block"),
            );
        }
        if !self.has_head {
            // Everything else that is wrong with a file that is no lesson says nothing.
            faults.0.clear();
            faults.push(Fault::new(1, "this is not a lesson").help(
                "begin the file with the lines ---, attn-lesson: 1 and ---; attn lesson new NAME writes such a file",
            ));
        } else {
            if self.lesson.steps.is_empty() {
                faults.push(Fault::new(last, "the lesson has no steps").help("begin a step with ##"));
            }
            if self.lesson.title.is_empty() {
                faults.push(
                    Fault::new(1, "the lesson has no title")
                        .help("write # and the title, above the first ##"),
                );
            }
        }
        self.lesson
    }
}

/// What is wrong with a block that is only shown and looks as if it were run.
fn not_run(label: &str, text: &str, line: usize) -> Option<Fault> {
    const IGNORED: &str = "console,ignore";
    if label == IGNORED {
        return None;
    }
    if label.starts_with("console") || label.starts_with("trycmd") {
        let fault = Fault::new(line, format!("a block labelled `{label}`"));
        return Some(
            fault.help(format!("label it `console` to run and compare it, or `{IGNORED}` to show it only")),
        );
    }
    let row = text.lines().position(|line| line.starts_with("$ attn "))?;
    let fault =
        Fault::new(line + 1 + row, format!("a command in a block labelled `{label}`, which is not run"));
    Some(fault.help(format!("label it `console`, or `{IGNORED}` if it is only to be shown")))
}

#[cfg(test)]
mod tests;
