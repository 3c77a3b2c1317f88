//! One question after the other: shown, answered, judged, and its answer shown.
use crate::text::{counted, quoted};

use crate::error::{Error, Result};
use crate::lesson::show::{Ink, LessonView, Text, Tone};
use crate::lesson::verdict::{Verdict, next_try};
use crate::lesson::{Lesson, Question};

use super::attempts::Attempts;
use super::lines::{InputLine, read_line};
use super::places::{AskedQuestion, places};
use super::result::{Grade, QuestionResult, Results, score};
use super::student::Student;

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
    let mut graded: Vec<QuestionResult> = Vec::new();
    let mut sitting = Quiz { show, student, ended: false, stopped: false };
    sitting.student.say(&show.barred(&show.lesson.title, &counted(places.len(), "question")))?;
    sitting.tell_kept(&places)?;
    for (number, place) in places.iter().enumerate() {
        let is_kept = sitting.kept(place.question).is_some();
        let Attempts { outcome, hints, answers } = sitting.ask(place, number + 1, places.len())?;
        graded.push(QuestionResult {
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
    sitting.student.say(&[String::new(), String::new()])?;
    if interrupted {
        let done = graded.iter().filter(|one| one.is_done()).count();
        sitting.student.say(&[format!("Stopped after {done} of {}.", counted(places.len(), "question"))])?;
    }
    sitting.student.say(&score(&graded, interrupted, asked, show))?;
    let Lesson { name, title, .. } = show.lesson;
    Ok(Results { lesson: name.clone(), title: title.clone(), seed: None, graded, interrupted })
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
        let screen = self.show.screen;
        self.student.say_block(Text::of(&words, Ink::of(Tone::Quiet), screen).wrapped(
            screen.width,
            ["", "   "],
            screen,
        ))
    }

    /// Asks a question until it is answered, and shows the right answer.
    fn ask(&mut self, place: &AskedQuestion<'_>, number: usize, of: usize) -> Result<Attempts> {
        let (show, question) = (self.show, place.question);
        if let Some(answers) = self.kept(question) {
            let hints = self.student.kept.hints.get(&question.id).copied().unwrap_or_default();
            return Ok(Attempts::of_earlier_sitting(question, answers, hints, show));
        }
        let given = self.student.scripted.next(&question.id);
        if self.ended && given.is_none() {
            return Ok(Attempts::default().unanswered(question));
        }
        if let Some(step) = place.begins.and_then(|step| show.lesson.steps.get(step)) {
            self.student.say(&[String::new(), String::new()])?;
            self.student.say(&show.barred(&step.title, ""))?;
        }
        for block in &place.before {
            self.student.say_block(show.block(block))?;
        }
        let head = Ink { bold: true, ..Ink::of(Tone::Asked) };
        self.student.say_block(vec![head.on(&format!("Question {number} of {of}"), show.screen)])?;
        self.student.say_block(show.blocks(&question.asked))?;
        self.student.say_block(show.options(question))?;
        self.student.say_block(vec![Ink::of(Tone::Quiet).on(&wanted(question), show.screen)])?;
        let attempts = self.answered(question, given)?;
        if matches!(attempts.outcome, Grade::Unanswered) || self.stopped {
            return Ok(attempts);
        }
        self.tell_answer(question, &attempts)?;
        Ok(attempts)
    }

    /// Tells the right answer, below what was typed where that was it.
    fn tell_answer(&mut self, question: &Question, attempts: &Attempts) -> Result<()> {
        let show = self.show;
        let is_right = matches!(attempts.outcome, Grade::Right | Grade::SecondTry);
        let typed = attempts.answers.last().filter(|_| is_right).map(String::as_str);
        let (answer, rest) = show.answer(question, typed, |_| false);
        if is_right {
            self.student.say(&answer)?
        } else {
            self.student.say_block(answer)?
        }
        if attempts.outcome == Grade::SecondTry {
            self.student.say(&[Ink::of(Tone::Quiet).on("A second try counts half.", show.screen)])?;
        }
        self.student.say_block(show.blocks(rest))
    }

    /// Waits for Enter at a terminal, so that the answer can be read.
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

    /// The next line; `None` if the input ends or the student stops.
    fn read(&mut self) -> Result<Option<String>> {
        match read_line(self.student.input, self.student.waits)? {
            InputLine::Typed(line) => return Ok(Some(line)),
            InputLine::End => self.ended = true,
            InputLine::Stopped => (self.ended, self.stopped) = (true, true),
        }
        Ok(None)
    }

    /// Reads answers until one is right or no try is left; the first may be scripted.
    fn answered(&mut self, question: &Question, given: Option<String>) -> Result<Attempts> {
        let mut attempts = Attempts::default();
        let mut tries = if given.is_some() || question.letters().len() == 2 { 1 } else { self.student.tries };
        let mut given = given;
        loop {
            let typed = match given.take() {
                Some(typed) => {
                    self.student.prompt(Some(&typed), self.show.screen)?;
                    typed
                }
                None => {
                    self.student.prompt(None, self.show.screen)?;
                    let Some(line) = self.read()? else {
                        writeln!(self.student.out)?;
                        if self.stopped {
                            // The question is asked again in the next sitting.
                            attempts.answers.clear();
                        }
                        return Ok(attempts.unanswered(question));
                    };
                    let typed = line.trim().to_string();
                    if !self.student.at_terminal {
                        self.student.echo(&typed, self.show.screen)?;
                    }
                    typed
                }
            };
            let Some(outcome) = self.judge(question, &typed, tries > 1, &mut attempts.hints)? else {
                continue;
            };
            let is_first = attempts.answers.is_empty();
            attempts.outcome = match outcome {
                Grade::Right if !is_first => Grade::SecondTry,
                Grade::Skipped if !is_first => Grade::Wrong,
                outcome => outcome,
            };
            attempts.answers.push(typed);
            tries = tries.saturating_sub(1);
            if outcome != Grade::Wrong || tries == 0 {
                return Ok(attempts);
            }
        }
    }

    /// Shows the verdict on a typed line; `None` if it is not an answer.
    fn judge(
        &mut self,
        question: &Question,
        typed: &str,
        again: bool,
        hints: &mut usize,
    ) -> Result<Option<Grade>> {
        if typed.is_empty() && question.kind.is_graded() {
            self.student.say(&["Skipped.".to_string()])?;
            return Ok(Some(Grade::Skipped));
        }
        let verdict = Verdict::of(typed, question, self.show);
        // An `h` may be an option, or the name of a column.
        let is_answer = verdict.as_ref().is_ok_and(|verdict| verdict.is_right.is_some());
        if typed == "?" || (typed.eq_ignore_ascii_case("h") && !is_answer) {
            self.hint(question, hints)?;
            return Ok(None);
        }
        let screen = self.show.screen;
        match verdict {
            Ok(verdict) => {
                let outcome = match verdict.is_right {
                    None => Grade::Open,
                    Some(true) => Grade::Right,
                    Some(false) => Grade::Wrong,
                };
                let next = if again { next_try(question, *hints) } else { "" };
                self.student.say(&verdict.lines(next, screen))?;
                Ok(Some(outcome))
            }
            Err(error) => {
                let text = error.to_string().replace("\n  help: ", "; ");
                let text = Text::of(&text, Ink::of(Tone::Note), screen);
                self.student.say(&text.wrapped(screen.width, ["", "   "], screen))?;
                Ok(None)
            }
        }
    }

    fn hint(&mut self, question: &Question, shown: &mut usize) -> Result<()> {
        let none = match *shown {
            0 => "There is no hint.",
            _ => "There are no more hints.",
        };
        let Some(hint) = question.hints.get(*shown) else { return self.student.say(&[none.to_string()]) };
        *shown += 1;
        self.student.say(&self.show.marked("Hint: ", hint))
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
