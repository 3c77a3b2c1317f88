//! One question after the other: shown, answered, judged, and its answer told.

use std::io::{BufRead, Write};

use crate::error::{Error, Result, counted};
use crate::input::{clean_label, quoted};
use crate::lesson::key::{Answer, Kind};
use crate::lesson::play::Scripted;
use crate::lesson::play::answers::{judged, options, right_answer};
use crate::lesson::show::{Ink, Show, Text, Tone};
use crate::lesson::{Block, Question};

use super::lines::read_line;
use super::result::{Graded, Outcome, all_right, score};

/// What stands before what the pupil types.
const PROMPT: &str = "> ";

/// The pupil's side.
pub struct Pupil<'a> {
    /// What is typed, line by line.
    pub input: &'a mut dyn BufRead,
    /// What is shown.
    pub out: &'a mut dyn Write,
    /// Whether the pupil sits at a terminal: what is typed stands on the screen by itself, and an answer is left there until
    /// it has been read.
    pub at_terminal: bool,
    /// Answers that were given beforehand; no line is read for them.
    pub scripted: Scripted,
}

/// Asks every question, and tells at once what is to be said of each answer. `asked` is what the lesson was asked for by.
/// Gives whether all is right.
///
/// # Errors
/// If the lesson asks nothing, a key of it is false, or reading or writing fails.
pub fn quiz(show: &Show<'_>, asked: &str, pupil: &mut Pupil<'_>) -> Result<bool> {
    let places = places(show);
    if places.is_empty() {
        return Err(Error::new(format!("`{}` asks nothing", show.lesson.name))
            .help("name a lesson that has questions: `attn lesson` lists the lessons"));
    }
    for place in &places {
        sound(place.question, asked, show)?;
    }
    let mut graded: Vec<Graded> = Vec::new();
    let mut sitting = Sitting { show, pupil, ended: false };
    sitting.say(&show.barred(&show.lesson.title, &counted(places.len(), "question")))?;
    for (number, place) in places.iter().enumerate() {
        let (outcome, hints) = sitting.ask(place, number + 1, places.len())?;
        graded.push(Graded { step: place.step, outcome, hints });
        if number + 1 < places.len() {
            sitting.pause()?;
        }
    }
    sitting.say(&[String::new(), String::new()])?;
    sitting.say(&score(&graded, asked, show))?;
    Ok(all_right(&graded))
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

/// What comes of a question that nobody has answered.
fn unanswered(question: &Question) -> Outcome {
    match question.kind {
        Kind::Open => Outcome::Open,
        _ => Outcome::Unanswered,
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
struct Sitting<'s, 'p, 'a> {
    show: &'s Show<'s>,
    pupil: &'p mut Pupil<'a>,
    /// Whether the input has ended.
    ended: bool,
}

impl Sitting<'_, '_, '_> {
    /// Shows a question until it is answered, and tells the answer.
    fn ask(&mut self, place: &Place<'_>, number: usize, of: usize) -> Result<(Outcome, usize)> {
        let (show, question) = (self.show, place.question);
        let given = self.pupil.scripted.next(&question.id);
        if self.ended && given.is_none() {
            return Ok((unanswered(question), 0));
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
        let mut hints = 0;
        let answer = match given {
            Some(typed) => {
                self.prompt(Some(&typed))?;
                self.judge(question, &typed, &mut hints)?
            }
            None => None,
        };
        let answer = match answer {
            None => self.answered(question, &mut hints)?,
            given => given,
        };
        let Some(outcome) = answer else { return Ok((unanswered(question), hints)) };
        // Of a right answer it has been said.
        if outcome != Outcome::Right {
            self.say_block(show.right_line(question))?;
        }
        self.say_block(show.blocks(&question.reveal))?;
        Ok((outcome, hints))
    }

    /// Gives time to read the answer, where somebody reads.
    fn pause(&mut self) -> Result<()> {
        if !self.pupil.at_terminal || self.ended {
            return Ok(());
        }
        write!(self.pupil.out, "\n{}", Ink::of(Tone::Quiet).on("Enter goes on. ", self.show.screen))?;
        self.pupil.out.flush()?;
        self.ended = read_line(self.pupil.input)?.is_none();
        Ok(())
    }

    /// Reads until something is an answer; none is where the input ends.
    fn answered(&mut self, question: &Question, hints: &mut usize) -> Result<Option<Outcome>> {
        loop {
            self.prompt(None)?;
            let Some(typed) = read_line(self.pupil.input)? else {
                self.ended = true;
                writeln!(self.pupil.out)?;
                return Ok(None);
            };
            let typed = typed.trim();
            if !self.pupil.at_terminal {
                self.echo(typed)?;
            }
            if let Some(outcome) = self.judge(question, typed, hints)? {
                return Ok(Some(outcome));
            }
        }
    }

    /// Says what is to be said to what was typed; nothing comes of it where it is no answer.
    fn judge(&mut self, question: &Question, typed: &str, hints: &mut usize) -> Result<Option<Outcome>> {
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
        match judged {
            Ok(judged) => {
                self.say(&judged.lines)?;
                Ok(Some(
                    judged.right.map_or(
                        Outcome::Open,
                        |right| {
                            if right { Outcome::Right } else { Outcome::Wrong }
                        },
                    ),
                ))
            }
            Err(error) => {
                let text = error.to_string().replace("\n  help: ", "; ");
                let screen = self.show.screen;
                self.say(&Text::of(&text, Ink::of(Tone::Note), screen).wrapped(
                    screen.width,
                    ["", "   "],
                    screen,
                ))?;
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
        write!(self.pupil.out, "{prompt}")?;
        match given {
            Some(typed) => self.echo(typed),
            None => Ok(self.pupil.out.flush()?),
        }
    }

    /// Ends the line of the prompt with what was typed, where it does not stand there already.
    fn echo(&mut self, typed: &str) -> Result<()> {
        let typed = clean_label(typed);
        Ok(writeln!(self.pupil.out, "{}", self.show.screen.charset.spelled(&typed))?)
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
            writeln!(self.pupil.out, "{line}")?;
        }
        Ok(())
    }
}

/// What a pupil may type.
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
