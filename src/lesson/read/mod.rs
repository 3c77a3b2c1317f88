//! A Markdown text to a [`Lesson`].

mod heading;
mod labels;
mod options;
mod question;
mod settings;

use super::command::Command;
use super::directive::{DirectiveText, directive};
use super::exchanges::exchanges;
use super::faults::{Fault, Faults};
use super::head::{head, minutes};
use super::key::is_run_name;
use super::model::{Block, Console, Lesson, Literal, NamedRun, Note, Size};
use super::names::{ids_are_unique, runs_are_unique, slug};
use super::option_names::OptionNames;
use super::pieces::{Piece, PieceKind, pieces};
use super::prose::prose;
use super::source::Source;
use crate::foreign::visible;
use heading::{Heading, heading};
use labels::not_run;
use question::QuestionDraft;
use settings::settings;

/// The screen of a lesson that gives none.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// Reads a lesson. `file` is what messages call it; its name is the file's without folder and ending. `options` says how the
/// options of its commands are spelled.
///
/// # Errors
/// Everything that keeps it from being a lesson, in the order of the lines.
pub fn read(file: &str, text: &str, options: &'static OptionNames) -> Result<Lesson, Faults> {
    let source = Source::new(file, text).map_err(|error| Faults(vec![Fault::of(1, error)]))?;
    let mut misread = Faults::default();
    let pieces = pieces(&source, &mut misread);
    let mut faults = Faults::default();
    let mut reader = Reader::new(&source, file, options);
    for piece in &pieces {
        reader.take(piece, &mut faults);
    }
    let is_lesson = reader.has_head;
    let mut lesson = reader.finish(&mut faults);
    ids_are_unique(&lesson, &mut faults);
    runs_are_unique(&lesson, &mut faults);
    if is_lesson && !misread.0.is_empty() {
        // Other errors may only follow from these blocks.
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
    question: Option<QuestionDraft>,
    /// The line of a `tol` whose block has not come yet.
    tolerance: Option<usize>,
    has_head: bool,
    has_title: bool,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, file: &str, options: &'static OptionNames) -> Reader<'a> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let lesson = Lesson {
            name: visible(name.strip_suffix(".md").unwrap_or(name)).into_owned(),
            file: file.to_string(),
            title: String::new(),
            minutes: None,
            size: USUAL,
            options,
            runs: Vec::new(),
            opening: Vec::new(),
            steps: Vec::new(),
            text: String::new(),
            faults: Vec::new(),
            story: None,
        };
        Reader { source, lesson, question: None, tolerance: None, has_head: false, has_title: false }
    }

    fn take(&mut self, piece: &Piece, faults: &mut Faults) {
        if let Some(line) = self.tolerance
            && !matches!(piece.kind, PieceKind::Fence(..))
        {
            faults.push(
                Fault::new(line, "no block follows `tol`").help("write it directly above a ```console block"),
            );
            self.tolerance = None;
        }
        match &piece.kind {
            PieceKind::Head => {
                let text = &self.source.text[piece.at.clone()];
                self.has_head = head(text, piece.line, &mut self.lesson, faults);
            }
            PieceKind::Heading(depth, title) => {
                self.end_question(piece.line, faults);
                let found = Heading { depth: *depth, title, line: piece.line };
                heading(&found, &mut self.lesson, &mut self.has_title, faults);
            }
            PieceKind::Fence(label, body) => self.fence(label, body.clone(), piece.line, faults),
            PieceKind::Comment(comment) => match directive(comment, piece.line) {
                Ok(written) => self.directive(written, piece.line, faults),
                Err(fault) => faults.push(fault),
            },
            PieceKind::DetailsBegin => match &mut self.question {
                Some(question) if !question.folded => question.folded = true,
                _ => faults.push(
                    Fault::new(piece.line, "<details> does not follow a question")
                        .help("put the folded answer after an <!-- ask: … -->"),
                ),
            },
            PieceKind::Summary(_) => {}
            PieceKind::DetailsEnd => match self.question.take() {
                Some(question) if question.folded => self.close(question, faults),
                other => {
                    self.question = other;
                    faults.push(Fault::new(piece.line, "</details> without <details>").help("take it out"));
                }
            },
            PieceKind::Bullets => {
                let is_taken = self
                    .question
                    .as_mut()
                    .is_some_and(|question| question.take_options(piece, self.source, faults));
                if !is_taken {
                    self.prose(piece, faults);
                }
            }
            PieceKind::Prose => self.prose(piece, faults),
        }
    }

    fn directive(&mut self, written: DirectiveText, line: usize, faults: &mut Faults) {
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
                self.question = Some(QuestionDraft::begin(&written.text, line, faults));
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
        match Command::new(typed, line, self.lesson.options) {
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
        let exchanges = exchanges(self.source, body, self.lesson.options, faults);
        // A block whose commands cannot be run has an error already.
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

    fn close(&mut self, question: QuestionDraft, faults: &mut Faults) {
        let question = question.finish(faults);
        self.add(Block::Question(Box::new(question)));
    }

    /// A question whose answer is not there when something else begins.
    fn end_question(&mut self, line: usize, faults: &mut Faults) {
        let Some(question) = self.question.take() else { return };
        let folded = question.folded;
        let question = question.finish(faults);
        if folded || question.kind.is_graded() {
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

#[cfg(test)]
mod tests;
