//! Drawing questions again: other random numbers in what they show, ask and answer.
//!
//! A question drawn again is a question like any other: its commands have another seed, and its text, its options and its
//! outputs the numbers of that seed. Nothing else needs to know of seeds.

mod eligibility;
mod option_order;

use crate::error::{Error, Result};

use crate::lesson::check::check_by;
use crate::lesson::key::{Expression, Function, Value};
use crate::lesson::model::{Block, Exchange, Lesson, NamedRun, Question};
use crate::lesson::run::Runner;
use crate::lesson::values::RunValues;
use crate::render::Screen;

use option_order::in_order_of_numbers;

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
        command: run.command.with_seed(seed, lesson.options),
        line: run.line,
    };
    let runs: Vec<NamedRun> = question.runs(lesson).into_iter().map(again).collect();
    let values = RunValues { runs: &runs, runner };
    let mut text = String::new();
    let mut question = question.clone();
    for text in question.texts_mut() {
        for claim in &mut text.claims {
            claim.expression = claim.expression.of_runs(&renamed);
        }
        *text = text.refilled(&values)?;
    }
    for choice in &mut question.choices {
        for expression in [&mut choice.computed, &mut choice.condition].into_iter().flatten() {
            *expression = expression.of_runs(&renamed);
        }
    }
    question.key = question.key.map(|key| key.computed_by(|expression| expression.of_runs(&renamed)));
    survives_rounding(&question, &values)?;
    for exchange in question.exchanges_mut() {
        run_again(exchange, seed, runner, lesson, &mut text);
    }
    let alone = Lesson {
        name: lesson.name.clone(),
        file: lesson.file.clone(),
        title: lesson.title.clone(),
        minutes: None,
        size: lesson.size,
        options: lesson.options,
        runs,
        opening: vec![Block::Question(Box::new(in_order_of_numbers(question)))],
        steps: Vec::new(),
        text,
        faults: Vec::new(),
        story: None,
    };
    let holds = check_by(&alone, runner).holds();
    if holds { Ok(alone) } else { Err(Error::new("it would not pass `check`")) }
}

/// The command of an exchange with another seed, and what it prints.
fn run_again(exchange: &mut Exchange, seed: u32, runner: &Runner<'_>, lesson: &Lesson, text: &mut String) {
    let command = exchange.command.with_seed(seed, lesson.options);
    let lines = exchange.command.seed(lesson.options).map(|own| {
        let option = lesson.options.seed;
        let in_line = |line: &String| {
            [" ", "="].iter().fold(line.clone(), |line, between| {
                line.replacen(&format!("{option}{between}{own}"), &format!("{option}{between}{seed}"), 1)
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
    let rounded = key.computed_by(|expression| match expression {
        Expression::Call(function, of) => {
            let of = Expression::Call(Function::Round(DECIMALS), of.clone());
            Expression::Call(*function, Box::new(of))
        }
        other => other.clone(),
    });
    let rounded = question.kind.evaluate(&rounded, values)?;
    let is_same = rounded.to_string() == right.to_string();
    if is_same { Ok(()) } else { Err(Error::new("rounding changes the answer")) }
}

/// Replaces a question of the lesson by the one question of `alone`, with its text, its runs and its exchanges.
fn put_in(lesson: &mut Lesson, alone: Lesson) {
    let Some(mut question) = alone.questions().next().cloned() else { return };
    let before = lesson.text.len();
    for exchange in question.exchanges_mut() {
        exchange.expected = before + exchange.expected.start..before + exchange.expected.end;
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
