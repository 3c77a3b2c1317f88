//! Drawing questions again: other random numbers in what they show, ask and answer.
//!
//! A question drawn again is a question like any other: its commands have another seed, and its text, its options and its
//! outputs the numbers of that seed. Nothing else needs to know of seeds.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::lesson::check::check_by;
use crate::lesson::key::Value;
use crate::lesson::model::{Block, Exchange, Lesson, NamedRun, Question};
use crate::lesson::run::Runner;
use crate::render::Screen;

use super::command::Command;
use super::model::{Choice, Prose};
use super::prose::unchecked_numbers;
use super::run::RunValues;

/// Seeds that are tried before a question keeps its own numbers.
const TRIES: u32 = 100;
/// Seeds are smaller than this, so that commands stay short.
const SEEDS: u32 = 10_000;
/// The largest cell and the order of a row must be told apart at this many decimals, those of tables for a class.
const DECIMALS: usize = 2;

/// A lesson with questions drawn again.
#[derive(Clone, Debug)]
pub struct DrawResult {
    /// The lesson, in which only the questions of `redrawn` have changed.
    pub lesson: Lesson,
    /// The questions that were drawn again, by id.
    pub redrawn: Vec<String>,
    /// The questions that keep their own numbers, because no tried seed gives them exactly one right answer, by id.
    pub kept: Vec<String>,
}

/// Draws new numbers for every question whose seed is known. The new seed of a question depends on `seed` and its id alone, so it
/// is the same on every machine. If the question does not pass `check` with a seed, the next seed is tried.
pub fn draw(lesson: &Lesson, runner: &Runner<'_>, seed: u32) -> DrawResult {
    let mut drawn = DrawResult { lesson: lesson.clone(), redrawn: Vec::new(), kept: Vec::new() };
    for question in lesson.questions() {
        let Some(own) = question.seed(lesson) else { continue };
        let seeds = (0..TRIES).map(|attempt| seed_of(seed, &question.id, attempt));
        let mut others = seeds.filter(|other| other.to_string() != own);
        match others.find_map(|other| alone(question, &drawn.lesson, runner, other).ok()) {
            Some(alone) => {
                drawn.redrawn.push(question.id.clone());
                put_in(&mut drawn.lesson, alone);
            }
            None => drawn.kept.push(question.id.clone()),
        }
    }
    drawn
}

/// The seed of a question: FNV-1a over the text `SEED/ID/ATTEMPT`, in 32 bits, modulo [`SEEDS`].
fn seed_of(seed: u32, id: &str, attempt: u32) -> u32 {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    format!("{seed}/{id}/{attempt}").bytes().fold(2_166_136_261, hash) % SEEDS
}

/// A lesson of one question alone, under another seed. Its text is what the question's commands print.
///
/// # Errors
/// If something cannot be computed, or would not pass `check`.
fn alone(question: &Question, lesson: &Lesson, runner: &Runner<'_>, seed: u32) -> Result<Lesson> {
    let renamed = |name: &str| format!("{name}@{seed}");
    let again = |run: &NamedRun| NamedRun {
        name: renamed(&run.name),
        command: run.command.with_seed(seed),
        line: run.line,
    };
    let runs: Vec<NamedRun> = question.runs(lesson).into_iter().map(again).collect();
    let values = RunValues { runs: &runs, runner };
    let mut text = String::new();
    let mut question = question.clone();
    question.key = question.key.map(|key| key.computed_by(|expression| expression.of_runs(&renamed)));
    survives_rounding(&question, &values)?;
    let refill = |text: &mut Prose| -> Result<()> {
        for claim in &mut text.claims {
            claim.expression = claim.expression.of_runs(&renamed);
        }
        *text = text.refilled(&values)?;
        Ok(())
    };
    for choice in &mut question.choices {
        choice.text.as_mut().map_or(Ok(()), refill)?;
        for expression in [&mut choice.computed, &mut choice.condition].into_iter().flatten() {
            *expression = expression.of_runs(&renamed);
        }
    }
    for block in question.blocks_mut() {
        match block {
            Block::Prose(prose) => refill(prose)?,
            Block::Console(exchanges) => {
                for exchange in exchanges {
                    run_again(exchange, seed, runner, lesson, &mut text);
                }
            }
            _ => {}
        }
    }
    let alone = Lesson {
        name: lesson.name.clone(),
        title: lesson.title.clone(),
        file: lesson.file.clone(),
        size: lesson.size,
        runs,
        opening: vec![Block::Question(Box::new(in_order_of_numbers(question)))],
        text,
        ..Lesson::default()
    };
    if check_by(&alone, runner).holds() { Ok(alone) } else { Err(Error::new("it would not pass `check`")) }
}

/// The command of an exchange with another seed, and what it prints.
fn run_again(exchange: &mut Exchange, seed: u32, runner: &Runner<'_>, lesson: &Lesson, text: &mut String) {
    let command = exchange.command.with_seed(seed);
    let lines = exchange.command.seed().map(|own| {
        let in_line = |line: &String| {
            [" ", "="].iter().fold(line.clone(), |line, between| {
                line.replacen(&format!("--seed{between}{own}"), &format!("--seed{between}{seed}"), 1)
            })
        };
        exchange.typed.iter().map(in_line).collect::<Vec<String>>()
    });
    exchange.typed =
        lines.filter(|lines| lines.join(" ") == command.typed).unwrap_or_else(|| vec![command.typed.clone()]);
    exchange.command = command;
    let start = text.len();
    text.push_str(&runner.run(&exchange.command.args, Screen::plain(lesson.size.columns)).shown());
    exchange.expected = start..text.len();
    text.push('\n');
}

/// # Errors
/// If the largest cell or the order of a row, rounded as a class sees the numbers, is another or none.
fn survives_rounding(question: &Question, values: &RunValues<'_>) -> Result<()> {
    let (Some(key), Some(right)) = (&question.key, question.right_answer(values)?) else { return Ok(()) };
    if !matches!(right.value, Value::Cell(_) | Value::Order(_)) {
        return Ok(());
    }
    let rounded = key.computed_by(|expression| expression.of_rounded(DECIMALS));
    let rounded = question.kind.evaluate(&rounded, values)?;
    let is_same = rounded.to_string() == right.to_string();
    if is_same { Ok(()) } else { Err(Error::new("rounding changes the answer")) }
}

/// Replaces a question of the lesson by the one question of `alone`, with its text, its runs and its exchanges.
fn put_in(lesson: &mut Lesson, alone: Lesson) {
    let Some(mut question) = alone.questions().next().cloned() else { return };
    let before = lesson.text.len();
    for block in question.blocks_mut() {
        let Block::Console(exchanges) = block else { continue };
        for Exchange { expected, .. } in exchanges {
            *expected = before + expected.start..before + expected.end;
        }
    }
    lesson.text.push_str(&alone.text);
    lesson.runs.extend(alone.runs);
    let parts = lesson.steps.iter_mut().flat_map(|step| &mut step.parts);
    let blocks = lesson.opening.iter_mut().chain(parts.flat_map(|part| &mut part.blocks));
    for block in blocks {
        if let Block::Question(old) = block
            && old.id == question.id
        {
            **old = question.clone();
        }
    }
}

// The questions that can be drawn again: those that depend on random numbers only.

impl Question {
    /// The seed of a question that can be drawn again: all its commands take that seed, all its options are computed,
    /// nothing outside of it shows its numbers, and no number in it would stay as it is.
    pub(super) fn seed<'a>(&'a self, lesson: &'a Lesson) -> Option<&'a str> {
        self.seed_whatever_its_words(lesson).filter(|_| self.number_that_stays(lesson).is_none())
    }

    /// The number for which alone it cannot be drawn again.
    pub(super) fn number_that_prevents_drawing(&self, lesson: &Lesson) -> Option<String> {
        self.seed_whatever_its_words(lesson).and_then(|_| self.number_that_stays(lesson))
    }

    fn seed_whatever_its_words<'a>(&'a self, lesson: &'a Lesson) -> Option<&'a str> {
        self.one_seed(lesson).filter(|seed| !self.is_shown_elsewhere(seed, lesson))
    }

    /// The first number in its words, or in the headings above it, that nothing computes: next to other random numbers it
    /// would tell of the old ones.
    fn number_that_stays(&self, lesson: &Lesson) -> Option<String> {
        let texts = self.texts().map(|text| (text.markdown.as_str(), &text.claims[..]));
        let feedback = self.choices.iter().filter_map(|choice| choice.feedback.as_deref());
        let plain = self.hints.iter().map(String::as_str).chain(feedback).chain(self.headings(lesson));
        let all = texts.chain(plain.map(|text| (text, &[][..])));
        all.flat_map(|(text, claims)| unchecked_numbers(text, claims)).map(|loose| loose.text).next()
    }

    /// The titles of its step and its part.
    fn headings<'a>(&self, lesson: &'a Lesson) -> impl Iterator<Item = &'a str> {
        let is_own = |block: &Block| block.question().is_some_and(|question| question.id == self.id);
        let parts = lesson.steps.iter().flat_map(|step| step.parts.iter().map(move |part| (step, part)));
        let own = parts.into_iter().find(|(_, part)| part.blocks.iter().any(is_own));
        own.into_iter()
            .flat_map(|(step, part)| std::iter::once(step.title.as_str()).chain(part.title.as_deref()))
    }

    /// The one seed of all its commands, where every option is computed.
    fn one_seed<'a>(&'a self, lesson: &'a Lesson) -> Option<&'a str> {
        let is_computed = |choice: &Choice| choice.text.is_none() || choice.computed.is_some();
        if self.key.is_none() || self.kind.is_chosen_by_letter() && !self.choices.iter().all(is_computed) {
            return None;
        }
        let named = self.runs(lesson).into_iter().map(|run| &run.command);
        let shown = self.blocks().flat_map(commands);
        let mut seeds = named.chain(shown).map(|command| command.seed());
        let seed = seeds.next()??;
        seeds.all(|other| other == Some(seed)).then_some(seed)
    }

    /// Whether a text or a command outside of all questions has its numbers: it would tell of others than the question
    /// drawn again. Commands of the same kind with the same seed count as the same numbers.
    fn is_shown_elsewhere(&self, seed: &str, lesson: &Lesson) -> bool {
        let runs = self.runs(lesson);
        let reads = |name: &str| runs.iter().any(|run| run.name == name);
        let mut claims = lesson.blocks().filter_map(Block::prose).flat_map(|prose| &prose.claims);
        let is_alike = |command: &Command| {
            let of_the_kind = |run: &&NamedRun| run.command.args.first() == command.args.first();
            command.seed() == Some(seed) && runs.iter().any(of_the_kind)
        };
        claims.any(|claim| claim.expression.runs().into_iter().any(reads))
            || lesson.blocks().flat_map(commands).any(is_alike)
    }
}

impl Lesson {
    /// The number of questions that can be drawn again.
    pub fn drawable(&self) -> usize {
        self.questions().filter(|question| question.seed(self).is_some()).count()
    }
}

fn commands(block: &Block) -> impl Iterator<Item = &Command> {
    block.exchanges().iter().map(|exchange| &exchange.command)
}

// The order of options and their letters. In a question drawn again the options stand in the order of their numbers: if they
// kept their places the right letter would be the same on every sheet.

/// The same question with its options, all of them numbers, from the smallest to the largest, with new letters, also where the
/// answer begins with its letter, `**C.**`. As it was where a text may mean an option by any other letter.
fn in_order_of_numbers(question: Question) -> Question {
    let Some(right) = question.key.as_ref().and_then(|key| key.letter) else { return question };
    let mut numbered: Vec<(f64, Choice)> = Vec::new();
    for choice in &question.choices {
        let text = choice.text.as_ref();
        let Some(number) = text.and_then(|text| text.number(text.claims.first()?)) else { return question };
        numbered.push((number.value(), choice.clone()));
    }
    let letters: Vec<char> = question.choices.iter().map(|choice| choice.letter).collect();
    if texts(&question).any(|text| !letters_in(text, &letters).is_empty()) {
        return question;
    }
    numbered.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let letter_now = |old: char| {
        let at = numbered.iter().position(|(_, choice)| choice.letter == old);
        at.and_then(|at| letters.get(at)).copied().unwrap_or(old)
    };
    let mut lettered = question;
    lettered.choices = numbered
        .iter()
        .map(|(_, choice)| Choice { letter: letter_now(choice.letter), ..choice.clone() })
        .collect();
    if let Some(key) = &mut lettered.key {
        key.letter = Some(letter_now(right));
    }
    for block in &mut lettered.reveal {
        if let Block::Prose(prose) = block
            && let Some((at, letter)) = named_at_start(&prose.markdown)
        {
            prose.markdown.replace_range(at, &letter_now(letter).to_string());
        }
    }
    lettered
}

/// All texts of a question; those of its answer without the letter that they begin with.
fn texts(question: &Question) -> impl Iterator<Item = &str> {
    let feedback = question.choices.iter().filter_map(|choice| choice.feedback.as_deref());
    let options = question.options().map(|text| text.markdown.as_str());
    let blocks = question.blocks().filter_map(Block::prose).map(|prose| {
        let named = named_at_start(&prose.markdown).map_or(0, |(at, _)| at.end);
        &prose.markdown[named..]
    });
    feedback.chain(options).chain(question.hints.iter().map(String::as_str)).chain(blocks)
}

/// The letter of `**C.** …`, and where it is.
fn named_at_start(markdown: &str) -> Option<(Range<usize>, char)> {
    let rest = markdown.strip_prefix("**")?;
    let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
    let closes = rest[1..].strip_prefix('.').unwrap_or(&rest[1..]).starts_with("**");
    closes.then_some((2..3, letter))
}

/// The letters among these that stand alone in a text, outside of code: `A` in “not A”, and “A token”, which may mean no option.
fn letters_in(markdown: &str, letters: &[char]) -> Vec<char> {
    let outside_of_code = markdown.split('`').step_by(2);
    let words = outside_of_code.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let single = words.filter_map(|word| {
        let mut characters = word.chars();
        characters.next().filter(|_| characters.next().is_none())
    });
    single.filter(|letter| letters.contains(letter)).collect()
}

#[cfg(test)]
mod tests {
    use crate::lesson::{Lesson, read};

    use super::*;

    fn lesson(asked: &str, reveal: &str) -> Lesson {
        let text = format!(
            "---\nattn-lesson: 1\n---\n\n# T\n\n<!-- run: x = attn softmax 1 2 -->\n\n## S\n\n<!-- ask: id=q kind=choice -->\n\n\
             {asked}\n\n- A. 0.9\n- B. 0.1, no\n- C. about 0.5\n\n<!-- key: C iff x:A[1,1] < 1 -->\n<!-- opt A: x:A[1,1] -->\n\
             <!-- opt B: x:A[1,1] -->\n<!-- opt C: x:A[1,1] -->\n<!-- if A: too much -->\n\n<details>\n<summary>Answer</summary>\n\n\
             {reveal}\n\n</details>\n"
        );
        read("x.md", &text).unwrap()
    }

    fn ordered(asked: &str, reveal: &str) -> Question {
        in_order_of_numbers(lesson(asked, reveal).questions().next().unwrap().clone())
    }

    #[test]
    fn options_stand_in_the_order_of_their_numbers_and_the_key_follows() {
        let question = ordered("How much?", "**C.** Neither `A` nor W_A.");
        let options: Vec<(char, &str)> = question
            .choices
            .iter()
            .map(|choice| (choice.letter, choice.text.as_ref().unwrap().markdown.as_str()))
            .collect();
        assert_eq!(options, [('A', "0.1, no"), ('B', "about 0.5"), ('C', "0.9")]);
        assert_eq!(question.choices[2].feedback.as_deref(), Some("too much"));
        assert_eq!(question.key.as_ref().unwrap().letter, Some('B'));
        let Block::Prose(prose) = &question.reveal[0] else { panic!("prose") };
        assert_eq!(prose.markdown, "**B.** Neither `A` nor W_A.");
    }

    #[test]
    fn they_stay_where_a_text_may_mean_one_by_its_letter() {
        for (asked, reveal) in [
            ("A token looks. How much?", "**C.** So."),
            ("How much?", "**C.** And not B."),
            ("How much?", "It is C."),
            ("How much?", "The answer is **C.**"),
        ] {
            let question = ordered(asked, reveal);
            assert_eq!(question.key.as_ref().unwrap().letter, Some('C'), "{asked} {reveal}");
            assert_eq!(question.choices[0].text.as_ref().unwrap().markdown, "0.9");
        }
    }
}
