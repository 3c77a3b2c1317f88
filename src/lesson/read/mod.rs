//! A Markdown text to a [`Lesson`].

mod question;

use std::collections::HashMap;
use std::ops::Range;

use crate::foreign::visible;
use crate::text::nearest;

use super::blocks::{Piece, PieceKind, pieces};
use super::command::Command;
use super::directive::{DirectiveText, directive, settings};
use super::key::is_run_name;
use super::model::{Block, Console, Exchange, Lesson, Literal, NamedRun, Note, Part, Size, Step};
use super::prose::prose;
use super::source::{Fault, Faults, Source};
use question::QuestionDraft;

/// Reads a lesson. `file` is its name in messages; its own name is that without folder and ending.
///
/// # Errors
/// The faults that prevent playing it, in the order of the lines.
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
        // Other faults may be consequences of these.
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

// Reads the pieces of a text into a lesson.

/// The screen of a lesson that gives none.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// A lesson while it is read, piece by piece.
struct Reader<'a> {
    source: &'a Source,
    lesson: Lesson,
    question: Option<QuestionDraft>,
    /// The line of a `tol` that waits for its block.
    tolerance: Option<usize>,
    has_head: bool,
    has_title: bool,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, file: &str) -> Reader<'a> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = visible(name.strip_suffix(".md").unwrap_or(name)).into_owned();
        let lesson = Lesson { name, ..Lesson::empty(file, USUAL) };
        Reader { source, lesson, question: None, tolerance: None, has_head: false, has_title: false }
    }

    fn take(&mut self, piece: &Piece, faults: &mut Faults) {
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
                self.heading(*depth, title, piece.line, faults);
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

    /// The title, a step, or a pause inside a step; the depth is 1 for `#`.
    fn heading(&mut self, depth: usize, title: &str, line: usize, faults: &mut Faults) {
        match depth {
            1 if self.has_title || !self.lesson.steps.is_empty() => {
                faults.add(line, "a second title", "write ## if this begins a step");
            }
            1 => {
                self.has_title = true;
                if self.lesson.title.is_empty() {
                    self.lesson.title = title.to_string();
                } else if self.lesson.title != title {
                    faults.add(
                        line,
                        format!("the title is “{title}” here and “{}” in the head", self.lesson.title),
                        "make both the same, or leave it out of the head",
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
                None => faults.add(line, "a pause before the first step", "begin a step with ## above it"),
            },
            _ => faults.add(
                line,
                "a heading of the fourth level or deeper",
                "write it in bold; # is the title, ## a step, ### a pause",
            ),
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
        match Command::new(typed, line) {
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
        let exchanges = exchanges(self.source, body, faults);
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

    fn finish(mut self, faults: &mut Faults) -> Lesson {
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

// The labels of blocks that are shown and not run.

/// The fault of a block that is only shown but looks as if it were run.
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

// The head of a lesson: the pairs between the `---` at its start.

/// The names that a head may have.
const NAMES: [&str; 4] = ["attn-lesson", "title", "minutes", "screen"];

/// The longest that anything is planned for: a day.
const LONGEST_MINUTES: f64 = 1440.0;

/// Reads a head that begins at a line. Says whether it is one of a lesson.
fn head(text: &str, line: usize, lesson: &mut Lesson, faults: &mut Faults) -> bool {
    let mut is_lesson = false;
    for (number, pair) in text.lines().enumerate() {
        let line = line + number;
        if pair.trim().is_empty() || pair.trim_end() == "---" || pair.starts_with('#') {
            continue;
        }
        let Some((name, value)) = pair.split_once(':') else {
            let fault = Fault::new(line, format!("`{}` in the head has no colon", pair.trim()));
            faults.push(fault.help("write a name, a colon and a value: minutes: 12"));
            continue;
        };
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        is_lesson |= name == NAMES[0];
        if let Err(fault) = set(lesson, name, value, line) {
            faults.push(fault);
        }
    }
    is_lesson
}

fn set(lesson: &mut Lesson, name: &str, value: &str, line: usize) -> Result<(), Fault> {
    match name {
        "attn-lesson" if value == "1" => {}
        "attn-lesson" => {
            return Err(Fault::new(line, format!("unknown lesson format `{value}`"))
                .help("write format 1: attn-lesson: 1"));
        }
        "title" => lesson.title = value.to_string(),
        "minutes" => lesson.minutes = Some(minutes(value, line)?),
        "screen" => {
            lesson.size = size(value).ok_or_else(|| {
                Fault::new(line, format!("`{value}` is not a screen size"))
                    .help("write columns x rows, from 40x10 to 400x200: screen: 100x30")
            })?;
        }
        other => {
            let fault = Fault::new(line, format!("`{other}` in the head is not understood"));
            return Err(match nearest(other, NAMES) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help(format!("it has {}", NAMES.join(", "))),
            });
        }
    }
    Ok(())
}

/// A plan in minutes.
fn minutes(value: &str, line: usize) -> Result<f64, Fault> {
    match value.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= LONGEST_MINUTES => Ok(minutes),
        _ => Err(Fault::new(line, format!("`{value}` is not a number of minutes"))
            .help("write a number, such as 12 or 1.5")),
    }
}

/// `100x30`
fn size(text: &str) -> Option<Size> {
    let (columns, rows) = text.split_once(['x', '×'])?;
    let (columns, rows) = (columns.trim().parse().ok()?, rows.trim().parse().ok()?);
    ((40..=400).contains(&columns) && (10..=200).contains(&rows)).then_some(Size { columns, rows })
}

// The names within a lesson: of steps, questions and commands.

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
            faults.add(
                line,
                format!("line {first} already has the name `{id}`"),
                "give one of them another name: <!-- id: … --> below a step's ##, id=… in an ask",
            );
        } else {
            seen.insert(id, line);
        }
    }
}

/// Each name must belong to one command.
fn runs_are_unique(lesson: &Lesson, faults: &mut Faults) {
    let mut seen = HashMap::new();
    for run in &lesson.runs {
        let first = *seen.entry(run.name.as_str()).or_insert(run);
        if !std::ptr::eq(first, run) {
            faults.add(
                run.line,
                format!("the command at line {1} already has the name `{0}`", run.name, first.line),
                "give one of them another name",
            );
        }
    }
}

// The commands of a `console` block, and what each is expected to print.

/// The commands of a block, each with its expected output.
fn exchanges(source: &Source, body: Range<usize>, faults: &mut Faults) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut refused = false;
    let mut position = body.start;
    let mut lines = source.text[body.clone()].split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = position;
        position += line.len();
        let Some(first) = line.trim_end().strip_prefix("$ ") else {
            match found.last_mut() {
                _ if refused => {}
                Some(exchange) => exchange.expected.end = position,
                None => faults.add(
                    source.line(start),
                    "there is output before the first command",
                    "begin the block with $ attn …",
                ),
            }
            continue;
        };
        let mut typed = vec![first.trim().to_string()];
        while let Some(next) = lines.peek().and_then(|line| continued(&mut typed, line)) {
            typed.push(next);
            position += lines.next().map_or(0, str::len);
        }
        let mut code = 0;
        if let Some(next) = lines.peek().and_then(|line| line.trim_end().strip_prefix("? ")) {
            match next.trim().parse() {
                Ok(number) => code = number,
                Err(_) => faults.add(
                    source.line(position),
                    format!("`? {next}` is not an exit code"),
                    "write ? 2 for a command that fails",
                ),
            }
            position += lines.next().map_or(0, str::len);
        }
        let line = source.line(start);
        let command = Command::new(&typed.join(" "), line);
        refused = command.is_err();
        match command {
            Ok(command) => found.push(Exchange { line, command, typed, code, expected: position..position }),
            Err(fault) => faults.push(fault),
        }
    }
    for exchange in &mut found {
        // The empty line before the end of the block or the next command is not output.
        if source.text[exchange.expected.clone()].ends_with("\n\n")
            || &source.text[exchange.expected.clone()] == "\n"
        {
            exchange.expected.end -= 1;
        }
    }
    found
}

/// The continuation of a command: a line after `> `, or after a line that ends with ` \\`, which is removed.
fn continued(typed: &mut [String], line: &str) -> Option<String> {
    let above = typed.last_mut()?;
    let joined = above.strip_suffix('\\').map(|above| above.trim_end().to_string());
    let next = line.trim_end().strip_prefix("> ").or(joined.is_some().then_some(line))?;
    if let Some(joined) = joined {
        *above = joined;
    }
    Some(next.trim().to_string())
}

#[cfg(test)]
mod tests;
