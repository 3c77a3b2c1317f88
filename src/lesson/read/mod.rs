//! A Markdown text to a [`Lesson`].

mod question;

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::foreign::visible;
use crate::text::did_you_mean;

use super::blocks::{
    DEEPEST, Mark, OPTIONS, deepest, end_of_head, fence, inside, mark, no_fence_within, plain,
};
use super::command::Command;
use super::directive::{DirectiveText, directive, settings};
use super::key::is_run_name;
use super::model::{Block, Exchange, Lesson, Literal, NamedRun, Part, Size, Step};
use super::prose::prose;
use super::source::{Fault, Faults, Source};
use question::QuestionDraft;

/// Reads a lesson. `file` is its name in messages; its own name is that without folder and ending.
///
/// # Errors
/// The faults that prevent playing it, in the order of the lines.
pub fn read(file: &str, text: &str) -> Result<Lesson, Faults> {
    let source = Source::new(file, text).map_err(|error| Faults(vec![Fault::of(1, error)]))?;
    let mut reader = Reader::new(&source, file);
    reader.blocks();
    let (mut lesson, faults) = reader.finish();
    if !faults.0.is_empty() {
        return Err(lesson.sorted(faults));
    }
    lesson.faults = source.cleaning_faults().collect();
    lesson.text = source.text;
    Ok(lesson)
}

/// A lesson while it is read, block by block.
struct Reader<'a> {
    source: &'a Source,
    lesson: Lesson,
    question: Option<QuestionDraft>,
    /// The line of a `tol` that waits for its block.
    tolerance: Option<usize>,
    /// The version of the format; 0 where there is no head of a lesson.
    version: u8,
    has_title: bool,
    /// The line of the present block.
    line: usize,
    faults: Faults,
    /// The faults of what is no Markdown of a lesson.
    misread: Faults,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, file: &str) -> Reader<'a> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = visible(name.strip_suffix(".md").unwrap_or(name)).into_owned();
        let lesson = Lesson { name, file: file.to_string(), ..Lesson::default() };
        let (line, faults, misread) = (1, Faults::default(), Faults::default());
        let (question, tolerance) = (None, None);
        Reader { source, lesson, question, tolerance, version: 0, has_title: false, line, faults, misread }
    }

    /// Adds a fault of the present block.
    fn fault(&mut self, what: impl Into<String>, help: impl Into<String>) {
        self.faults.add(self.line, what, help);
    }

    /// Reads the head, and the blocks on the top level of the text.
    fn blocks(&mut self) {
        let source = self.source;
        let (head, body) = source.text.split_at(end_of_head(&source.text));
        for pair in head.lines() {
            self.pair(pair);
            self.line += 1;
        }
        let events = Parser::new_ext(body, OPTIONS).into_offset_iter();
        let mut events = events.map(|(event, at)| (event, head.len() + at.start..head.len() + at.end));
        while let Some((event, at)) = events.next() {
            self.line = source.line(at.start);
            let Event::Start(tag) = event else {
                self.text(at, false);
                continue;
            };
            let inside = inside(&mut events);
            match tag {
                Tag::Heading { level, .. } => self.heading(level as usize, &plain(&inside)),
                Tag::CodeBlock(CodeBlockKind::Fenced(label)) => match fence(&label, &at, source) {
                    Ok((label, body)) => self.fence(&label, body),
                    Err(fault) => self.misread.push(fault),
                },
                Tag::CodeBlock(CodeBlockKind::Indented) => {
                    let help = "put it between ```text and ```, at the start of the line";
                    self.misread.add(self.line, "this block is indented", help);
                }
                Tag::HtmlBlock => self.html(at),
                _ if deepest(&inside) > DEEPEST => {
                    let help = format!("use at most {DEEPEST} levels");
                    self.misread.add(self.line, "lists or quotations are nested too deep", help);
                }
                tag => {
                    no_fence_within(&inside, source, &mut self.misread);
                    self.text(at, matches!(tag, Tag::List(None)));
                }
            }
        }
    }

    /// A paragraph, a list, a table, a quotation, a rule; a list without numbers may be that of the options of a question.
    fn text(&mut self, at: Range<usize>, is_list: bool) {
        self.end_tolerance();
        if let Some(question) = self.question.as_mut().filter(|_| is_list)
            && question.take_options(at.clone(), self.line, self.source, &mut self.faults)
        {
            return;
        }
        let prose = prose(self.source, at, self.version, &mut self.faults);
        self.add(Block::Prose(prose));
    }

    /// A block of HTML: comments, and the tags of a folded answer.
    fn html(&mut self, at: Range<usize>) {
        let (source, mut position) = (self.source, at.start);
        while position < at.end {
            let rest = &source.text[position..at.end];
            position += rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            if rest.is_empty() {
                return;
            }
            self.line = source.line(position);
            if rest.starts_with("<!--") && !rest.contains("-->") {
                return self.misread.add(self.line, "a comment that is never closed", "end it with -->");
            }
            let Some((mark, length)) = mark(rest) else {
                let first = rest.lines().next().unwrap_or_default();
                if !rest.starts_with('<') {
                    let what = format!("text directly below HTML: `{first}`");
                    return self.misread.add(self.line, what, "leave an empty line above it");
                }
                let help = "write Markdown; the only HTML is <!-- directives -->, <details>, <summary>…</summary> and </details>, \
                            each alone on its line, with an empty line after it";
                let what = format!("HTML that a lesson does not support: `{first}`");
                return self.misread.add(self.line, what, help);
            };
            let end = position + length;
            let alone = source.text[source.start(self.line)..position].trim().is_empty()
                && source.text[end..].lines().next().is_none_or(|rest| rest.trim().is_empty());
            if !alone {
                let help = "give it a line of its own";
                self.misread.add(self.line, "a directive that is not alone on its line", help);
            }
            if matches!(mark, Mark::Comment(text) if text.contains("<!--")) {
                let what = "a comment that is not closed before another begins";
                self.misread.add(self.line, what, "end it with -->");
            }
            self.mark(mark);
            position = end;
        }
    }

    fn mark(&mut self, mark: Mark<'_>) {
        self.end_tolerance();
        match mark {
            Mark::Comment(comment) => match directive(comment, self.line) {
                Ok(written) => self.directive(written),
                Err(fault) => self.faults.push(fault),
            },
            Mark::DetailsBegin => match &mut self.question {
                Some(question) if !question.folded => question.folded = true,
                _ => {
                    let help = "put the folded answer after an <!-- ask: … -->";
                    self.fault("<details> does not follow a question", help);
                }
            },
            Mark::Summary => {}
            Mark::DetailsEnd => match self.question.take_if(|question| question.folded) {
                Some(question) => {
                    let question = question.finish(&mut self.faults);
                    self.add(Block::Question(Box::new(question)));
                }
                None => self.fault("</details> without <details>", "take it out"),
            },
        }
    }

    /// The title, a step, or a pause inside a step; the depth is 1 for `#`.
    fn heading(&mut self, depth: usize, title: &str) {
        self.end_tolerance();
        self.end_question();
        let steps = &mut self.lesson.steps;
        match (depth, steps.last_mut()) {
            (1, step) if self.has_title || step.is_some() => {
                self.fault("a second title", "write ## if this begins a step");
            }
            (1, _) => {
                self.has_title = true;
                let stated = &mut self.lesson.title;
                if stated.is_empty() {
                    *stated = title.to_string();
                } else if stated != title {
                    let what = format!("the title is “{title}” here and “{stated}” in the head");
                    self.fault(what, "make both the same, or leave it out of the head");
                }
            }
            (2, _) => steps.push(Step {
                id: slug(title),
                title: title.to_string(),
                line: self.line,
                parts: vec![Part::default()],
                ..Step::default()
            }),
            (3, Some(step)) => step.parts.push(Part { title: Some(title.to_string()), blocks: Vec::new() }),
            (3, None) => self.fault("a pause before the first step", "begin a step with ## above it"),
            _ => {
                let help = "write it in bold; # is the title, ## a step, ### a pause";
                self.fault("a heading of the fourth level or deeper", help);
            }
        }
    }

    fn directive(&mut self, written: DirectiveText) {
        let DirectiveText { word, text, .. } = &written;
        let step = self.lesson.steps.last().filter(|_| self.question.is_none());
        let is_fresh = step.is_some_and(|step| step.parts.len() == 1);
        match *word {
            "id" | "step" if !is_fresh => {
                let what = format!("`{word}` is not about a step here");
                self.fault(what, "write it directly below the step's ##");
            }
            "id" => {
                if let Some(step) = self.lesson.steps.last_mut() {
                    step.id = slug(text);
                }
            }
            "step" => {
                for (_, value) in settings(text, self.line, &["minutes"], &mut self.faults) {
                    let minutes = self.minutes(value);
                    if let Some(step) = self.lesson.steps.last_mut() {
                        step.minutes = minutes;
                    }
                }
            }
            "note" => self.add(Block::Note(written.text)),
            "run" => self.run(text),
            "tol" if text == "last-digit" => self.tolerance = Some(self.line),
            "tol" => self.fault(format!("unknown tolerance `{text}`"), "write <!-- tol: last-digit -->"),
            "ask" => {
                self.end_question();
                self.question = Some(QuestionDraft::begin(text, self.line, self.version, &mut self.faults));
            }
            word => match &mut self.question {
                Some(question) if !question.folded => {
                    self.faults.0.extend(question.take(written, self.line).err());
                }
                Some(_) => self.fault(format!("`{word}` inside the answer"), "move it above <details>"),
                None => {
                    let help = "begin one with <!-- ask: id=… kind=… -->";
                    self.fault(format!("`{word}` does not belong to a question"), help);
                }
            },
        }
    }

    fn run(&mut self, text: &str) {
        let pair = text.split_once('=').map(|(name, typed)| (name.trim(), typed.trim()));
        let Some((name, typed)) = pair.filter(|(name, _)| is_run_name(name)) else {
            let what = format!("`{text}` names no command");
            return self.fault(what, "write <!-- run: plain = attn attend … -->");
        };
        let line = self.line;
        match Command::new(typed, line) {
            Ok(command) => self.lesson.runs.push(NamedRun { name: name.to_string(), command, line }),
            Err(fault) => self.faults.push(fault),
        }
    }

    fn fence(&mut self, label: &str, body: Range<usize>) {
        let last_digit_may_differ = self.tolerance.take().is_some();
        if label != "console" {
            if last_digit_may_differ {
                let help = "remove it, or label the block `console`";
                self.fault("`tol` above a block that is not run", help);
            }
            let text = self.source.text[body].to_string();
            self.check_label(label, &text);
            let (line, label) = (self.line, label.to_string());
            return self.add(Block::Literal(Literal { line, label, text }));
        }
        let faults_before = self.faults.0.len();
        let mut exchanges = exchanges(self.source, body, &mut self.faults);
        // A block whose commands cannot be read has a fault already.
        if exchanges.is_empty() && self.faults.0.len() == faults_before {
            self.fault("this console block has no command", "begin it with $ attn …, or label it `text`");
        }
        exchanges.iter_mut().for_each(|one| one.last_digit_may_differ = last_digit_may_differ);
        self.add(Block::Console(exchanges));
    }

    fn add(&mut self, block: Block) {
        if let Some(question) = &mut self.question {
            return question.add(block);
        }
        let part = self.lesson.steps.last_mut().and_then(|step| step.parts.last_mut());
        part.map_or(&mut self.lesson.opening, |part| &mut part.blocks).push(block);
    }

    /// A `tol` must stand directly above a block.
    fn end_tolerance(&mut self) {
        if let Some(line) = self.tolerance.take() {
            self.faults.add(line, "no block follows `tol`", "write it directly above a ```console block");
        }
    }

    /// Ends a question that has no answer when something else begins.
    fn end_question(&mut self) {
        let Some(question) = self.question.take() else { return };
        let folded = question.folded;
        let question = question.finish(&mut self.faults);
        if folded || question.kind.is_graded() {
            let what = if folded { "an answer that is never closed" } else { "no answer" };
            let what = format!("`{}` has {what} before line {}", question.id, self.line);
            let help = "write the folded answer: <details>, <summary>Answer</summary>, an empty line, the answer, </details>";
            self.faults.add(question.line, what, help);
        }
        self.add(Block::Question(Box::new(question)));
    }

    fn finish(mut self) -> (Lesson, Faults) {
        self.line = self.source.line(self.source.text.len());
        self.end_question();
        self.end_tolerance();
        let Reader { mut faults, lesson, line, misread, version, .. } = self;
        if version == 0 {
            // Other faults of a file that is not a lesson are meaningless.
            let help = "begin the file with the lines ---, attn-lesson: 1 and ---; attn lesson new NAME writes such a file";
            return (lesson, Faults(vec![Fault::new(1, "this is not a lesson").help(help)]));
        }
        if !misread.0.is_empty() {
            // Other faults may be consequences of these.
            return (lesson, misread);
        }
        if lesson.steps.is_empty() {
            faults.add(line, "the lesson has no steps", "begin a step with ##");
        }
        if lesson.title.is_empty() {
            faults.add(1, "the lesson has no title", "write # and the title, above the first ##");
        }
        names_are_unique(&lesson, &mut faults);
        (lesson, faults)
    }
}

// The labels of blocks that are shown and not run.

impl Reader<'_> {
    /// Adds the fault of a block that is only shown but looks as if it were run.
    fn check_label(&mut self, label: &str, text: &str) {
        const IGNORED: &str = "console,ignore";
        if label == IGNORED {
            return;
        }
        if label.starts_with("console") || label.starts_with("trycmd") {
            let help = format!("label it `console` to run and compare it, or `{IGNORED}` to show it only");
            return self.fault(format!("a block labelled `{label}`"), help);
        }
        if let Some(row) = text.lines().position(|line| line.starts_with("$ attn ")) {
            let what = format!("a command in a block labelled `{label}`, which is not run");
            let help = format!("label it `console`, or `{IGNORED}` if it is only to be shown");
            self.faults.add(self.line + 1 + row, what, help);
        }
    }
}

// The head of a lesson: the pairs between the `---` at its start.

/// The names that a head may have.
const NAMES: [&str; 4] = ["attn-lesson", "title", "minutes", "screen"];

/// The longest that anything is planned for: a day.
const LONGEST_MINUTES: f64 = 1440.0;

impl Reader<'_> {
    /// Reads a line of the head.
    fn pair(&mut self, pair: &str) {
        if pair.trim().is_empty() || pair.trim_end() == "---" || pair.starts_with('#') {
            return;
        }
        let Some((name, value)) = pair.split_once(':') else {
            let what = format!("`{}` in the head has no colon", pair.trim());
            return self.fault(what, "write a name, a colon and a value: minutes: 12");
        };
        let value = value.trim().trim_matches('"');
        match name.trim() {
            "attn-lesson" => {
                self.version = if value == "1" { 1 } else { 2 };
                if !["1", "2"].contains(&value) {
                    let help = "write attn-lesson: 1, or attn-lesson: 2 for keys with everything that conditions of demos have";
                    self.fault(format!("unknown lesson format `{value}`"), help);
                }
            }
            "title" => self.lesson.title = value.to_string(),
            "minutes" => self.lesson.minutes = self.minutes(value),
            "screen" => match size(value) {
                Some(size) => self.lesson.size = size,
                None => {
                    let help = "write columns x rows, from 40x10 to 400x200: screen: 100x30";
                    self.fault(format!("`{value}` is not a screen size"), help);
                }
            },
            other => {
                let names = || format!("it has {}", NAMES.join(", "));
                let help = did_you_mean(other, NAMES).unwrap_or_else(names);
                self.fault(format!("`{other}` in the head is not understood"), help);
            }
        }
    }

    /// A plan in minutes.
    fn minutes(&mut self, value: &str) -> Option<f64> {
        let minutes = value.parse().ok().filter(|minutes| *minutes > 0.0 && *minutes <= LONGEST_MINUTES);
        if minutes.is_none() {
            let what = format!("`{value}` is not a number of minutes");
            self.fault(what, "write a number, such as 12 or 1.5");
        }
        minutes
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

/// Each name must belong to one command, and one to a step or a question.
fn names_are_unique(lesson: &Lesson, faults: &mut Faults) {
    let steps = lesson.steps.iter().map(|step| (step.id.as_str(), step.line));
    let questions = lesson.questions().map(|question| (question.id.as_str(), question.line));
    for (line, id, first) in taken(steps.chain(questions)) {
        faults.add(
            line,
            format!("line {first} already has the name `{id}`"),
            "give one of them another name: <!-- id: … --> below a step's ##, id=… in an ask",
        );
    }
    for (line, name, first) in taken(lesson.runs.iter().map(|run| (run.name.as_str(), run.line))) {
        let what = format!("the command at line {first} already has the name `{name}`");
        faults.add(line, what, "give one of them another name");
    }
}

/// The lines of names that an earlier line has, with these and with the first such line.
fn taken<'n>(names: impl Iterator<Item = (&'n str, usize)>) -> Vec<(usize, &'n str, usize)> {
    let mut names: Vec<(&str, usize)> = names.collect();
    names.sort_by_key(|(_, line)| *line);
    let mut seen = HashMap::new();
    let firsts = names.into_iter().map(|(name, line)| (line, name, *seen.entry(name).or_insert(line)));
    firsts.filter(|(line, _, first)| line != first).collect()
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
            Ok(command) => {
                let (expected, last_digit_may_differ) = (position..position, false);
                found.push(Exchange { line, command, typed, code, expected, last_digit_may_differ });
            }
            Err(fault) => faults.push(fault),
        }
    }
    for Exchange { expected, .. } in &mut found {
        // The empty line before the end of the block or the next command is not output.
        let text = &source.text[expected.clone()];
        expected.end -= usize::from(text.ends_with("\n\n") || text == "\n");
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
