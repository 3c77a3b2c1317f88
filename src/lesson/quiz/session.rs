//! One question after the other: shown, answered, judged, and its answer told.

use crate::foreign::{quoted, visible};
use std::io::{BufRead, Write};

use crate::error::{Error, Result, counted};
use crate::lesson::key::{Answer, Kind};
use crate::lesson::play::Scripted;
use crate::lesson::play::answers::{judged, next_try, options, right_answer};
use crate::lesson::show::{Ink, Show, Text, Tone};
use crate::lesson::{Block, Lesson, Question, Sitting};

use super::lines::read_line;
use super::result::{Graded, Outcome, Results, score};

/// What stands before what the student types.
const PROMPT: &str = "> ";

/// The student's side.
pub struct Student<'a> {
    /// What is typed, line by line.
    pub input: &'a mut dyn BufRead,
    /// What is shown.
    pub out: &'a mut dyn Write,
    /// Whether the student sits at a terminal: what is typed stands on the screen by itself, and an answer is left there until
    /// it has been read.
    pub at_terminal: bool,
    /// Answers that were given beforehand; no line is read for them.
    pub scripted: Scripted,
    /// Waits until a line can be read; `false` if the student stops the quiz.
    pub waits: &'a dyn Fn() -> bool,
    /// How many answers a question takes: after a wrong one another is asked for.
    pub tries: usize,
    /// What has been answered in an earlier sitting: those questions are not asked again.
    pub kept: Sitting,
}

/// Asks every question, and tells at once what is to be said of each answer. `asked` is what the lesson was asked for by.
///
/// # Errors
/// If the lesson asks nothing, a key of it is false, or reading or writing fails.
pub fn quiz(show: &Show<'_>, asked: &str, student: &mut Student<'_>) -> Result<Results> {
    let places = places(show);
    if places.is_empty() {
        return Err(Error::new(format!("`{}` has no questions", show.lesson.name))
            .help("name another lesson: `attn lesson` lists them"));
    }
    for place in &places {
        sound(place.question, asked, show)?;
    }
    let mut graded: Vec<Graded> = Vec::new();
    let mut sitting = Asking { show, student, ended: false, stopped: false };
    sitting.say(&show.barred(&show.lesson.title, &counted(places.len(), "question")))?;
    sitting.tell_kept(&places)?;
    for (number, place) in places.iter().enumerate() {
        let is_kept = sitting.kept(place.question).is_some();
        let Taken { outcome, hints, answers } = sitting.ask(place, number + 1, places.len())?;
        graded.push(Graded {
            id: place.question.id.clone(),
            kind: place.question.kind.word(),
            step: place.step,
            step_id: place.step.map(|step| show.lesson.steps[step].id.clone()).unwrap_or_default(),
            outcome,
            hints,
            answers,
            right: show.right(place.question).map(|right| right.typed()).unwrap_or_default(),
        });
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
    let Lesson { name, title, .. } = show.lesson;
    Ok(Results { lesson: name.clone(), title: title.clone(), seed: None, graded, interrupted })
}

/// A question, and what stands before it in its step.
struct Place<'l> {
    step: Option<usize>,
    /// The step again, where it is the first question of that.
    begins: Option<usize>,
    before: Vec<&'l Block>,
    question: &'l Question,
}

/// Every question with what a class has seen of its step when it is asked.
fn places<'l>(show: &Show<'l>) -> Vec<Place<'l>> {
    let lesson = show.lesson;
    let opening = std::iter::once((None, lesson.opening.iter().collect::<Vec<&Block>>()));
    let steps = lesson.steps.iter().enumerate().map(|(at, step)| (Some(at), step.blocks().collect()));
    let mut places = Vec::new();
    for (step, blocks) in opening.chain(steps) {
        let (mut before, mut begins) = (Vec::new(), step);
        for block in blocks {
            match block {
                Block::Question(question) => {
                    let before = std::mem::take(&mut before);
                    places.push(Place { step, begins: begins.take(), before, question });
                }
                other => before.push(other),
            }
        }
    }
    places
}

/// What has come of a question.
#[derive(Default)]
struct Taken {
    outcome: Outcome,
    hints: usize,
    answers: Vec<String>,
}

impl Taken {
    /// Of a question that is not answered any more.
    fn unanswered(mut self, question: &Question) -> Taken {
        self.outcome = match question.kind {
            Kind::Open => Outcome::Open,
            _ if self.answers.is_empty() => Outcome::Unanswered,
            _ => Outcome::Wrong,
        };
        self
    }
}

/// # Errors
/// If a question has no right answer: nobody may be graded by it.
fn sound(question: &Question, asked: &str, show: &Show<'_>) -> Result<()> {
    let says = |error: Error| error.help(format!("see what is wrong: attn lesson check {}", quoted(asked)));
    match right_answer(question, show).map_err(says)? {
        Some(Answer::Choice { holds: false, .. }) => {
            Err(says(Error::new(format!("the key of `{}` is false", question.id))))
        }
        _ => Ok(()),
    }
}

/// A quiz that goes on.
struct Asking<'s, 'p, 'a> {
    show: &'s Show<'s>,
    student: &'p mut Student<'a>,
    /// Whether the input has ended.
    ended: bool,
    /// Whether the student has stopped the quiz.
    stopped: bool,
}

impl Asking<'_, '_, '_> {
    /// What was typed to a question in an earlier sitting.
    fn kept(&self, question: &Question) -> Option<&Vec<String>> {
        self.student.kept.answers.get(&question.id)
    }

    /// Says how many questions are done already.
    fn tell_kept(&mut self, places: &[Place<'_>]) -> Result<()> {
        let done = places.iter().filter(|place| self.kept(place.question).is_some()).count();
        if done == 0 {
            return Ok(());
        }
        let of = counted(places.len(), "question");
        let words = format!("You have answered {done} of {of} before. --restart asks them again.");
        let screen = self.show.screen;
        self.say_block(Text::of(&words, Ink::of(Tone::Quiet), screen).wrapped(
            screen.width,
            ["", "   "],
            screen,
        ))
    }

    /// Shows a question until it is answered, and tells the answer.
    fn ask(&mut self, place: &Place<'_>, number: usize, of: usize) -> Result<Taken> {
        let (show, question) = (self.show, place.question);
        if let Some(answers) = self.kept(question) {
            return Ok(self.graded_before(question, answers.clone()));
        }
        let given = self.student.scripted.next(&question.id);
        if self.ended && given.is_none() {
            return Ok(Taken::default().unanswered(question));
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
        let taken = self.answered(question, given)?;
        if matches!(taken.outcome, Outcome::Unanswered) || self.stopped {
            return Ok(taken);
        }
        self.tell_answer(question, &taken)?;
        Ok(taken)
    }

    /// What came of a question in an earlier sitting: its answers are judged again.
    fn graded_before(&self, question: &Question, answers: Vec<String>) -> Taken {
        let right = |typed: &String| {
            judged(question, typed, self.show).is_ok_and(|judged| judged.right == Some(true))
        };
        let hints = self.student.kept.hints.get(&question.id).copied().unwrap_or_default();
        let outcome = match (question.kind, answers.iter().position(right)) {
            (Kind::Open, _) => Outcome::Open,
            (_, Some(0)) => Outcome::Right,
            (_, Some(_)) => Outcome::SecondTry,
            (_, None) if answers.iter().all(String::is_empty) => Outcome::Skipped,
            (_, None) => Outcome::Wrong,
        };
        Taken { outcome, hints, answers }
    }

    /// Tells the right answer, below what was typed where that was it.
    fn tell_answer(&mut self, question: &Question, taken: &Taken) -> Result<()> {
        let show = self.show;
        let is_right = matches!(taken.outcome, Outcome::Right | Outcome::SecondTry);
        let typed = taken.answers.last().filter(|_| is_right).map(String::as_str);
        let (answer, rest) = show.answer(question, typed, |_| false);
        match is_right {
            true => self.say(&answer)?,
            false => self.say_block(answer)?,
        }
        if taken.outcome == Outcome::SecondTry {
            self.say(&[Ink::of(Tone::Quiet).on("A second try counts half.", show.screen)])?;
        }
        self.say_block(show.blocks(rest))
    }

    /// Gives time to read the answer, where somebody reads.
    fn pause(&mut self) -> Result<()> {
        if !self.student.at_terminal || self.ended {
            return Ok(());
        }
        write!(
            self.student.out,
            "\n{}",
            Ink::of(Tone::Quiet).on("Press Enter to go on. ", self.show.screen)
        )?;
        self.student.out.flush()?;
        self.read()?;
        Ok(())
    }

    /// The next line; none where the input ends, or the student stops.
    fn read(&mut self) -> Result<Option<String>> {
        if !(self.student.waits)() {
            (self.ended, self.stopped) = (true, true);
            return Ok(None);
        }
        let line = read_line(self.student.input)?;
        self.ended = line.is_none();
        Ok(line)
    }

    /// Takes answers until one is right or none is left; the first may have been given beforehand.
    fn answered(&mut self, question: &Question, given: Option<String>) -> Result<Taken> {
        let mut taken = Taken::default();
        let mut tries = if given.is_some() || options(question) == 2 { 1 } else { self.student.tries };
        let mut given = given;
        loop {
            let typed = match given.take() {
                Some(typed) => {
                    self.prompt(Some(&typed))?;
                    typed
                }
                None => {
                    self.prompt(None)?;
                    let Some(line) = self.read()? else {
                        writeln!(self.student.out)?;
                        if self.stopped {
                            // In the next sitting it is asked once more.
                            taken.answers.clear();
                        }
                        return Ok(taken.unanswered(question));
                    };
                    let typed = line.trim().to_string();
                    if !self.student.at_terminal {
                        self.echo(&typed)?;
                    }
                    typed
                }
            };
            let Some(outcome) = self.judge(question, &typed, tries > 1, &mut taken.hints)? else { continue };
            let is_first = taken.answers.is_empty();
            taken.outcome = match outcome {
                Outcome::Right if !is_first => Outcome::SecondTry,
                Outcome::Skipped if !is_first => Outcome::Wrong,
                outcome => outcome,
            };
            taken.answers.push(typed);
            tries = tries.saturating_sub(1);
            if outcome != Outcome::Wrong || tries == 0 {
                return Ok(taken);
            }
        }
    }

    /// Says what is to be said to what was typed; nothing comes of it where it is no answer.
    fn judge(
        &mut self,
        question: &Question,
        typed: &str,
        again: bool,
        hints: &mut usize,
    ) -> Result<Option<Outcome>> {
        if typed.is_empty() && question.kind != Kind::Open {
            self.say(&["Skipped.".to_string()])?;
            return Ok(Some(Outcome::Skipped));
        }
        let judged = judged(question, typed, self.show);
        // An `h` may be an option, or the name of a column.
        let is_answer = judged.as_ref().is_ok_and(|judged| judged.right.is_some());
        if typed == "?" || (typed.eq_ignore_ascii_case("h") && !is_answer) {
            self.hint(question, hints)?;
            return Ok(None);
        }
        let screen = self.show.screen;
        match judged {
            Ok(judged) => {
                let outcome = match judged.right {
                    None => Outcome::Open,
                    Some(true) => Outcome::Right,
                    Some(false) => Outcome::Wrong,
                };
                let next = if again { next_try(question, *hints) } else { "" };
                self.say(&judged.wrong(next, screen))?;
                Ok(Some(outcome))
            }
            Err(error) => {
                let text = error.to_string().replace("\n  help: ", "; ");
                let text = Text::of(&text, Ink::of(Tone::Note), screen);
                self.say(&text.wrapped(screen.width, ["", "   "], screen))?;
                Ok(None)
            }
        }
    }

    fn hint(&mut self, question: &Question, shown: &mut usize) -> Result<()> {
        let none = match *shown {
            0 => "There is no hint.",
            _ => "There are no more hints.",
        };
        let Some(hint) = question.hints.get(*shown) else { return self.say(&[none.to_string()]) };
        *shown += 1;
        self.say(&self.show.marked("Hint: ", hint))
    }

    /// The prompt; behind it what was given beforehand, if anything was.
    fn prompt(&mut self, given: Option<&str>) -> Result<()> {
        let prompt = Ink::of(Tone::Asked).on(PROMPT, self.show.screen);
        write!(self.student.out, "{prompt}")?;
        match given {
            Some(typed) => self.echo(typed),
            None => Ok(self.student.out.flush()?),
        }
    }

    /// Ends the line of the prompt with what was typed, where it does not stand there already.
    fn echo(&mut self, typed: &str) -> Result<()> {
        let typed = visible(typed);
        Ok(writeln!(self.student.out, "{}", self.show.screen.charset.spelled(&typed))?)
    }

    fn say_block(&mut self, lines: Vec<String>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.say(&[String::new()])?;
        self.say(&lines)
    }

    fn say(&mut self, lines: &[String]) -> Result<()> {
        for line in lines {
            writeln!(self.student.out, "{line}")?;
        }
        Ok(())
    }
}

/// What the student may type.
fn wanted(question: &Question) -> String {
    let answer = match question.kind {
        Kind::Choice => {
            let letters: Vec<String> =
                question.choices.iter().map(|choice| choice.letter.to_string()).collect();
            match letters.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => letters.concat(),
            }
        }
        Kind::Number => "a number".to_string(),
        Kind::Cell => "a row and a column".to_string(),
        Kind::Order if options(question) > 0 => "the letters, the largest first".to_string(),
        Kind::Order => "the names, the largest first".to_string(),
        Kind::Open => return "Write your answer; nobody grades it.".to_string(),
    };
    let hint = if question.hints.is_empty() { "" } else { "; h for a hint" };
    format!("Type {answer}{hint}; Enter alone skips.")
}
