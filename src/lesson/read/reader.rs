//! Reads the pieces of a text into a lesson.

use crate::foreign::visible;
use crate::lesson::command::Command;
use crate::lesson::directive::{DirectiveText, directive};
use crate::lesson::exchanges::exchanges;
use crate::lesson::faults::{Fault, Faults};
use crate::lesson::head::{head, minutes};
use crate::lesson::key::is_run_name;
use crate::lesson::model::{Block, Console, Lesson, Literal, NamedRun, Note, Size};
use crate::lesson::names::slug;
use crate::lesson::option_names::OptionNames;
use crate::lesson::pieces::{Piece, PieceKind};
use crate::lesson::prose::prose;
use crate::lesson::source::Source;

use super::heading::{Heading, heading};
use super::labels::not_run;
use super::question::QuestionDraft;
use super::settings::settings;

/// The screen of a lesson that gives none.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// A lesson while it is read, piece by piece.
pub(super) struct Reader<'a> {
    source: &'a Source,
    lesson: Lesson,
    question: Option<QuestionDraft>,
    /// The line of a `tol` that waits for its block.
    tolerance: Option<usize>,
    pub has_head: bool,
    has_title: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source, file: &str, options: &'static OptionNames) -> Reader<'a> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = visible(name.strip_suffix(".md").unwrap_or(name)).into_owned();
        let lesson = Lesson { name, ..Lesson::empty(file, USUAL, options) };
        Reader { source, lesson, question: None, tolerance: None, has_head: false, has_title: false }
    }

    pub(super) fn take(&mut self, piece: &Piece, faults: &mut Faults) {
        if !matches!(piece.kind, PieceKind::Fence(..)) {
            self.end_tolerance(faults);
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
                _ => faults.add(
                    piece.line,
                    "<details> does not follow a question",
                    "put the folded answer after an <!-- ask: … -->",
                ),
            },
            PieceKind::Summary(_) => {}
            PieceKind::DetailsEnd => match self.question.take() {
                Some(question) if question.folded => self.close(question, faults),
                other => {
                    self.question = other;
                    faults.add(piece.line, "</details> without <details>", "take it out");
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
                faults.add(
                    line,
                    format!("`{}` is not about a step here", written.word),
                    "write it directly below the step's ##",
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
            "tol" => faults.add(
                line,
                format!("unknown tolerance `{}`", written.text),
                "write <!-- tol: last-digit -->",
            ),
            "ask" => {
                self.end_question(line, faults);
                self.question = Some(QuestionDraft::begin(&written.text, line, faults));
            }
            word => match &mut self.question {
                Some(question) if !question.folded => question.take(written, line, faults),
                Some(_) => faults.add(line, format!("`{word}` inside the answer"), "move it above <details>"),
                None => faults.add(
                    line,
                    format!("`{word}` does not belong to a question"),
                    "begin one with <!-- ask: id=… kind=… -->",
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
            faults.add(
                line,
                format!("`{text}` names no command"),
                "write <!-- run: plain = attn attend … -->",
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
                faults.add(
                    line,
                    "`tol` above a block that is not run",
                    "remove it, or label the block `console`",
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
        // A block whose commands cannot be read has a fault already.
        if exchanges.is_empty() && faults.0.len() == faults_before {
            faults.add(
                line,
                "this console block has no command",
                "begin it with $ attn …, or label it `text`",
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

    /// A `tol` must stand directly above a block.
    fn end_tolerance(&mut self, faults: &mut Faults) {
        if let Some(line) = self.tolerance.take() {
            faults.add(line, "no block follows `tol`", "write it directly above a ```console block");
        }
    }

    fn close(&mut self, question: QuestionDraft, faults: &mut Faults) {
        let question = question.finish(faults);
        self.add(Block::Question(Box::new(question)));
    }

    /// Ends a question that has no answer when something else begins.
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

    pub(super) fn finish(mut self, faults: &mut Faults) -> Lesson {
        let last = self.source.line(self.source.text.len());
        self.end_question(last, faults);
        self.end_tolerance(faults);
        if !self.has_head {
            // Other faults of a file that is not a lesson are meaningless.
            faults.0.clear();
            faults.add(1, "this is not a lesson", "begin the file with the lines ---, attn-lesson: 1 and ---; attn lesson new NAME writes such a file");
        } else {
            if self.lesson.steps.is_empty() {
                faults.add(last, "the lesson has no steps", "begin a step with ##");
            }
            if self.lesson.title.is_empty() {
                faults.add(1, "the lesson has no title", "write # and the title, above the first ##");
            }
        }
        self.lesson
    }
}
