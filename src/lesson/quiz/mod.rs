//! The questions of a lesson, answered by one student alone.
//!
//! Plain lines in, plain lines out, and no keys: it works in every terminal and from a pipe, and a screen reader can follow.

mod result;

use std::collections::BTreeMap;
use std::io::{BufRead, ErrorKind, Write};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::terminal::{Readiness, Signals, wait};
use crate::text::{counted, quoted};

use super::model::Item;
use super::play::ScriptedAnswers;
use super::show::{Ink, LessonView, Text, Tone, Verdict, next_try};
use super::{Block, Question, QuizProgress};
use result::score;

pub use result::{Grade, QuestionResult, Results, tables};

// One question after the other: shown, answered, judged, and its answer shown.

/// Asks every question, and shows the verdict and the right answer at once. `asked` is the name or path that the lesson was opened by.
///
/// # Errors
/// If the lesson asks nothing, a key of it is false, or reading or writing fails.
pub fn quiz(show: &LessonView<'_>, asked: &str, student: &mut Student<'_>) -> Result<Results> {
    let places = places(show);
    if places.is_empty() {
        return Err(Error::new(format!("`{}` has no questions", show.lesson.name))
            .help("name another lesson: `attn lesson` lists them"));
    }
    for place in &places {
        sound(place.question, asked, show)?;
    }
    let mut sitting = Quiz { show, student, ended: false, stopped: false };
    sitting.say(&show.barred(&show.lesson.title, &counted(places.len(), "question")))?;
    sitting.tell_kept(&places)?;
    let mut graded = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let is_kept = sitting.kept(place.question).is_some();
        graded.push(sitting.ask(place, number + 1, places.len())?);
        if number + 1 < places.len() && !is_kept {
            sitting.pause()?;
        }
    }
    let interrupted = sitting.stopped;
    sitting.say(&[String::new(), String::new()])?;
    if interrupted {
        let done = graded.iter().filter(|one| one.is_done()).count();
        sitting.say(&[format!("Stopped after {done} of {}.", counted(places.len(), "question"))])?;
    }
    sitting.say(&score(&graded, interrupted, asked, show))?;
    Ok(Results::of(show, graded, interrupted))
}

/// The results of answers that a lesson was given while it was played.
pub fn played(show: &LessonView<'_>, answers: &BTreeMap<String, Vec<String>>) -> Results {
    let result = |place: &AskedQuestion<'_>| match answers.get(&place.question.id) {
        Some(answers) => place.answered_before(answers, 0, show),
        None => place.not_answered(show),
    };
    Results::of(show, places(show).iter().map(result).collect(), false)
}

/// # Errors
/// If the key of a question is false.
fn sound(question: &Question, asked: &str, show: &LessonView<'_>) -> Result<()> {
    let says = |error: Error| error.help(format!("see what is wrong: attn lesson check {}", quoted(asked)));
    let right = question.right_answer(&show.values()).map_err(says)?;
    if right.is_some_and(|right| !right.holds) {
        return Err(says(Error::new(format!("the key of `{}` is false", question.id))));
    }
    Ok(())
}

/// A quiz in progress.
struct Quiz<'s, 'p, 'a> {
    show: &'s LessonView<'s>,
    student: &'p mut Student<'a>,
    /// Whether the input has ended.
    ended: bool,
    /// Whether the student has stopped the quiz.
    stopped: bool,
}

impl Quiz<'_, '_, '_> {
    /// The answers to a question in an earlier sitting.
    fn kept(&self, question: &Question) -> Option<&Vec<String>> {
        self.student.kept.answers.get(&question.id)
    }

    /// Says how many questions are done already.
    fn tell_kept(&mut self, places: &[AskedQuestion<'_>]) -> Result<()> {
        let done = places.iter().filter(|place| self.kept(place.question).is_some()).count();
        if done == 0 {
            return Ok(());
        }
        let of = counted(places.len(), "question");
        let words = format!("You have answered {done} of {of} before. --restart asks them again.");
        self.say_block(self.wrapped(&words, Tone::Quiet))
    }

    /// A text in a tone, whose further lines are set in.
    fn wrapped(&self, text: &str, tone: Tone) -> Vec<String> {
        let screen = self.show.screen;
        Text::of(text, Ink::of(tone), screen).wrapped(screen.width, ["", "   "], screen)
    }

    /// Asks a question until it is answered, and shows the right answer.
    fn ask(&mut self, place: &AskedQuestion<'_>, number: usize, of: usize) -> Result<QuestionResult> {
        let (show, question) = (self.show, place.question);
        if let Some(answers) = self.kept(question) {
            let hints = self.student.kept.hints.get(&question.id).copied().unwrap_or_default();
            return Ok(place.answered_before(answers, hints, show));
        }
        let mut result = place.not_answered(show);
        let given = self.student.scripted.next(&question.id);
        if self.ended && given.is_none() {
            return Ok(result);
        }
        if let Some(step) = place.begins.and_then(|step| show.lesson.steps.get(step)) {
            self.say(&[String::new(), String::new()])?;
            self.say(&show.barred(&step.title, ""))?;
        }
        for block in &place.before {
            self.say_block(show.block(block))?;
        }
        let head = Ink { bold: true, ..Ink::of(Tone::Asked) };
        self.say_block(vec![head.on(&format!("Question {number} of {of}"), show.screen)])?;
        self.say_block(show.blocks(&question.asked))?;
        self.say_block(show.options(question))?;
        self.say_block(vec![Ink::of(Tone::Quiet).on(&wanted(question), show.screen)])?;
        self.answer(question, given, &mut result)?;
        if result.outcome != Grade::Unanswered && !self.stopped {
            self.tell_answer(question, &result)?;
        }
        Ok(result)
    }

    /// Tells the right answer, below what was typed where that was it.
    fn tell_answer(&mut self, question: &Question, result: &QuestionResult) -> Result<()> {
        let show = self.show;
        let is_right = matches!(result.outcome, Grade::Right | Grade::SecondTry);
        let typed = result.answers.last().filter(|_| is_right).map(String::as_str);
        let (answer, rest) = show.answer(question, typed, |_| false);
        if is_right {
            self.say(&answer)?
        } else {
            self.say_block(answer)?
        }
        if result.outcome == Grade::SecondTry {
            self.say(&[Ink::of(Tone::Quiet).on("A second try counts half.", show.screen)])?;
        }
        self.say_block(show.blocks(rest))
    }

    /// Waits for Enter at a terminal, so that the answer can be read.
    fn pause(&mut self) -> Result<()> {
        if !self.student.at_terminal || self.ended {
            return Ok(());
        }
        let words = Ink::of(Tone::Quiet).on("Press Enter to go on. ", self.show.screen);
        write!(self.student.out, "\n{words}")?;
        self.student.out.flush()?;
        self.read()?;
        Ok(())
    }

    /// The next line; `None` if the input ends or the student stops.
    fn read(&mut self) -> Result<Option<String>> {
        match read_line(self.student.input, self.student.waits)? {
            InputLine::Typed(line) => return Ok(Some(line)),
            InputLine::End => self.ended = true,
            InputLine::Stopped => (self.ended, self.stopped) = (true, true),
        }
        Ok(None)
    }

    /// An answer that begins with this line: numbers in brackets go on to the last bracket, or to an empty line.
    fn whole_answer(&mut self, question: &Question, line: &str) -> Result<String> {
        let mut typed = line.to_string();
        while question.kind.goes_on(&typed) && typed.len() < LONGEST {
            let Some(more) = self.read()?.filter(|more| !more.trim().is_empty()) else { break };
            typed.push('\n');
            typed.push_str(more.trim_end());
        }
        Ok(typed)
    }

    /// Reads answers until one is right or no try is left; the first may be scripted.
    fn answer(
        &mut self,
        question: &Question,
        mut given: Option<String>,
        result: &mut QuestionResult,
    ) -> Result<()> {
        let mut tries = if given.is_some() || question.letters().len() == 2 { 1 } else { self.student.tries };
        while tries > 0 {
            write!(self.student.out, "{}", Ink::of(Tone::Asked).on(PROMPT, self.show.screen))?;
            let typed = if let Some(typed) = given.take() {
                self.echo(&typed)?;
                typed
            } else {
                self.student.out.flush()?;
                let Some(line) = self.read()? else {
                    if self.stopped && !result.answers.is_empty() {
                        // The question is asked again in the next sitting.
                        result.answers.clear();
                        result.outcome = Grade::Unanswered;
                    }
                    return Ok(writeln!(self.student.out)?);
                };
                let typed = self.whole_answer(question, line.trim())?;
                if !self.student.at_terminal {
                    self.echo(&typed)?;
                }
                typed
            };
            let Some(outcome) = self.judge(question, &typed, tries > 1, result)? else { continue };
            let is_first = result.answers.is_empty();
            result.outcome = match outcome {
                Grade::Right if !is_first => Grade::SecondTry,
                Grade::Skipped if !is_first => Grade::Wrong,
                outcome => outcome,
            };
            result.answers.push(typed);
            tries = if outcome == Grade::Wrong { tries - 1 } else { 0 };
        }
        Ok(())
    }

    /// Shows the verdict on a typed line; `None` if it is not an answer.
    fn judge(
        &mut self,
        question: &Question,
        typed: &str,
        again: bool,
        result: &mut QuestionResult,
    ) -> Result<Option<Grade>> {
        if typed.is_empty() && question.kind.is_graded() {
            self.say(&["Skipped.".to_string()])?;
            return Ok(Some(Grade::Skipped));
        }
        let verdict = Verdict::of(typed, question, self.show);
        // An `h` may be an option, or the name of a column.
        let is_answer = verdict.as_ref().is_ok_and(|verdict| verdict.is_right.is_some());
        if typed == "?" || (typed.eq_ignore_ascii_case("h") && !is_answer) {
            self.hint(question, &mut result.hints)?;
            return Ok(None);
        }
        match verdict {
            Ok(verdict) => {
                let outcome = match verdict.is_right {
                    None => Grade::Open,
                    Some(true) => Grade::Right,
                    Some(false) => Grade::Wrong,
                };
                result.note(&verdict);
                let next = if again { next_try(question, result.hints) } else { "" };
                self.say(&verdict.lines(next, self.show.screen))?;
                Ok(Some(outcome))
            }
            Err(error) => {
                self.say(&self.wrapped(&error.in_one_line(), Tone::Note))?;
                Ok(None)
            }
        }
    }

    fn hint(&mut self, question: &Question, shown: &mut usize) -> Result<()> {
        let Some(hint) = question.hints.get(*shown) else {
            let none = if *shown == 0 { "There is no hint." } else { "There are no more hints." };
            return self.say(&[none.to_string()]);
        };
        *shown += 1;
        self.say(&self.show.marked("Hint: ", hint))
    }

    /// Ends the line of the prompt with what was typed, where the terminal has not shown it.
    fn echo(&mut self, typed: &str) -> Result<()> {
        let typed = visible(typed);
        Ok(writeln!(self.student.out, "{}", self.show.screen.charset.spelled(&typed))?)
    }

    /// Lines below an empty one, if there are any.
    fn say_block(&mut self, lines: Vec<String>) -> Result<()> {
        if lines.is_empty() { Ok(()) } else { self.say(&[vec![String::new()], lines].concat()) }
    }

    fn say(&mut self, lines: &[String]) -> Result<()> {
        for line in lines {
            writeln!(self.student.out, "{line}")?;
        }
        Ok(())
    }
}

/// The possible answers, for the prompt.
fn wanted(question: &Question) -> String {
    let Some(answer) = question.kind.quiz_prompt(&question.letters()) else {
        return "Write your answer; nobody grades it.".to_string();
    };
    let hint = if question.hints.is_empty() { "" } else { "; h for a hint" };
    format!("Type {answer}{hint}; Enter alone skips.")
}

// Lines that a student types, however long.

/// The maximum length of an answer in bytes; the rest of a longer line is dropped.
const LONGEST: usize = 4096;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
enum InputLine {
    /// A line with its end, or the beginning of a very long one.
    Typed(String),
    /// The input has ended.
    End,
    /// The student has stopped the quiz.
    Stopped,
}

/// The next line. `waits` is asked before each piece of it, until something can be read: at a terminal Ctrl-D hands over what is
/// typed so far, and the rest of the line may never come.
///
/// # Errors
/// If reading fails.
fn read_line(input: &mut dyn BufRead, waits: &dyn Fn() -> bool) -> Result<InputLine> {
    let (mut line, mut begun) = (Vec::new(), false);
    loop {
        if !waits() {
            return Ok(InputLine::Stopped);
        }
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Error::new(format!("cannot read standard input: {error}"))
                    .help("type your answers, or pipe them in, line by line"));
            }
        };
        let end = memchr::memchr(b'\n', piece).map(|at| at + 1);
        let length = end.unwrap_or(piece.len());
        line.extend_from_slice(&piece[..length.min(LONGEST - line.len())]);
        input.consume(length);
        match (length, end) {
            (0, _) if !begun => return Ok(InputLine::End),
            (0, _) | (_, Some(_)) => {
                return Ok(InputLine::Typed(String::from_utf8_lossy(&line).into_owned()));
            }
            (_, None) => begun = true,
        }
    }
}

// The questions of a lesson, with the text before each.

/// A question, and the blocks before it in its step.
struct AskedQuestion<'l> {
    pub step: Option<usize>,
    /// The step again, where it is the first question of that.
    pub begins: Option<usize>,
    pub before: Vec<&'l Block>,
    pub question: &'l Question,
}

impl AskedQuestion<'_> {
    /// The result of a question that was not answered.
    fn not_answered(&self, show: &LessonView<'_>) -> QuestionResult {
        let AskedQuestion { step, question, .. } = *self;
        QuestionResult {
            id: question.id.clone(),
            kind: question.kind.word(),
            step,
            step_id: step.map(|step| show.lesson.steps[step].id.clone()).unwrap_or_default(),
            outcome: if question.kind.is_graded() { Grade::Unanswered } else { Grade::Open },
            hints: 0,
            answers: Vec::new(),
            mistakes: Vec::new(),
            right: show.right(question).map(|right| right.typed()).unwrap_or_default(),
        }
    }

    /// The result of the answers in an earlier sitting: they are judged again.
    fn answered_before(&self, answers: &[String], hints: usize, show: &LessonView<'_>) -> QuestionResult {
        let mut result = QuestionResult { hints, answers: answers.to_vec(), ..self.not_answered(show) };
        let mut right = None;
        for (at, typed) in answers.iter().enumerate() {
            let Ok(verdict) = Verdict::of(typed, self.question, show) else { continue };
            result.note(&verdict);
            right = right.or((verdict.is_right == Some(true)).then_some(at));
        }
        result.outcome = match right {
            _ if !self.question.kind.is_graded() => Grade::Open,
            Some(0) => Grade::Right,
            Some(1) => Grade::SecondTry,
            None if answers.iter().all(String::is_empty) => Grade::Skipped,
            Some(_) | None => Grade::Wrong,
        };
        result
    }
}

impl QuestionResult {
    /// Notes the mistakes that an answer shows, each once.
    fn note(&mut self, verdict: &Verdict) {
        for mistake in &verdict.mistakes {
            if !self.mistakes.contains(mistake) {
                self.mistakes.push(mistake.clone());
            }
        }
    }
}

/// Every question with the blocks that a class has seen of its step.
fn places<'l>(show: &LessonView<'l>) -> Vec<AskedQuestion<'l>> {
    let (mut places, mut before) = (Vec::new(), Vec::new());
    let (mut step, mut begins) = (None, None);
    for item in show.lesson.items(None) {
        match item {
            Item::Step(at) => {
                (step, begins) = (Some(at), Some(at));
                before.clear();
            }
            Item::Pause(_) => {}
            Item::Block(Block::Question(question)) => {
                let before = std::mem::take(&mut before);
                places.push(AskedQuestion { step, begins: begins.take(), before, question });
            }
            Item::Block(other) => before.push(other),
        }
    }
    places
}

// The student's side of a quiz: input and output.

/// The prompt.
const PROMPT: &str = "> ";

/// The student's side.
pub struct Student<'a> {
    /// The typed lines.
    pub input: &'a mut dyn BufRead,
    /// The output.
    pub out: &'a mut dyn Write,
    /// True if the student uses a terminal: it echoes what is typed, and the quiz waits after an answer until the student has
    /// read it.
    pub at_terminal: bool,
    /// Scripted answers; no line is read for them.
    pub scripted: ScriptedAnswers,
    /// Waits until a line can be read; `false` if the student stops the quiz.
    pub waits: &'a dyn Fn() -> bool,
    /// The maximum number of answers to a question: after a wrong one another is asked for.
    pub tries: usize,
    /// The answers of an earlier sitting: those questions are not asked again.
    pub kept: QuizProgress,
}

// Ctrl-C in a quiz: it ends the quiz, but not the program: the score is still shown.

/// The interval at which signals are checked.
const LOOK: Duration = Duration::from_millis(500);

/// Listens for Ctrl-C, as long as it lives.
pub struct Interrupt(Signals);

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new() -> Result<Interrupt> {
        let refused = |error: std::io::Error| {
            Error::new(format!("the terminal cannot be used: {error}"))
                .help("pipe the answers in, line by line: attn lesson quiz NAME < answers.txt")
        };
        Signals::new().map(Interrupt).map_err(refused)
    }

    /// Waits until a line can be read; `false` if a signal ends the program, or the terminal is gone.
    pub fn waits(&self) -> bool {
        loop {
            if self.0.ending().is_some() {
                return false;
            }
            match wait(LOOK) {
                Ok(Readiness::Nothing) => {}
                Ok(Readiness::Ready) => return true,
                Ok(Readiness::Gone) | Err(_) => return false,
            }
        }
    }

    /// The exit code of the signal that ended it, if one did.
    pub fn code(&self) -> Option<u8> {
        self.0.ending()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::io::{BufReader, Read};

    use super::*;

    /// Gives these pieces, one with each read, as a terminal does; an empty one ends the input.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let piece = if self.0.is_empty() { &[][..] } else { self.0.remove(0) };
            out[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    /// The lines of these pieces, where the student stops instead of waiting for the piece after so many.
    fn lines(pieces: &[&'static [u8]], stops_after: usize) -> Vec<InputLine> {
        let mut input = BufReader::new(Pieces(pieces.to_vec()));
        let waited = Cell::new(0);
        let waits = || waited.replace(waited.get() + 1) < stops_after;
        let mut lines = Vec::new();
        while !matches!(lines.last(), Some(InputLine::End | InputLine::Stopped)) {
            lines.push(read_line(&mut input, &waits).unwrap());
        }
        lines
    }

    fn typed(text: &str) -> InputLine {
        InputLine::Typed(text.to_string())
    }

    #[test]
    fn a_line_that_comes_in_pieces_is_one_line_and_each_piece_is_waited_for() {
        let pieces: [&[u8]; 3] = [b"ab", b"c\n", b"d\n"];
        assert_eq!(lines(&pieces, 9), [typed("abc\n"), typed("d\n"), InputLine::End]);
        assert_eq!(lines(&pieces, 1), [InputLine::Stopped]);
        assert_eq!(lines(&pieces, 2), [typed("abc\n"), InputLine::Stopped]);
    }

    #[test]
    fn the_end_of_the_input_ends_a_line_that_has_begun() {
        assert_eq!(lines(&[b"ab", b""], 9), [typed("ab"), InputLine::End]);
        assert_eq!(lines(&[b""], 9), [InputLine::End]);
    }

    #[test]
    fn of_a_very_long_line_the_beginning_is_kept() {
        let long: &[u8] = &[b'x'; 3000];
        let read = lines(&[long, long, b"\n", b"a\n"], 9);
        assert_eq!(read[1..], [typed("a\n"), InputLine::End]);
        assert!(matches!(&read[0], InputLine::Typed(line) if line.len() == LONGEST));
    }
}
