//! The answer keys, and the options next to them.

use crate::error::Error;
use crate::lesson::key::{Expression, Key, Value, WrittenNumber, numbers_in};
use crate::lesson::model::{Block, Choice, Prose, Question};
use crate::lesson::question::Answer;
use crate::lesson::run::ShownOperands;
use crate::lesson::show::LessonView;
use crate::lesson::source::Fault;
use crate::render::Screen;
use crate::text::counted;

use super::Check;

/// A question whose key has a value.
struct Keyed<'a> {
    question: &'a Question,
    key: &'a Key,
    answer: Answer,
}

/// An option with a number: as it is shown, and as it is computed.
struct NumberedOption<'a> {
    choice: &'a Choice,
    shown: WrittenNumber,
    value: f64,
}

/// Decimals of a table where `--precision` says nothing else.
const USUAL_DECIMALS: usize = 4;

/// The form of a proof, for the help of a fault.
const FORM: &str = "write a condition that would make it right, but is false: <!-- opt B iff count(RUN:A[bat], == 0) == 1 -->";

impl<'a> Check<'a> {
    /// Checks every key, and every option against it.
    pub(super) fn questions(&mut self) {
        for question in self.lesson.questions() {
            if let Some(key) = question.key.as_ref().filter(|key| !self.fails(&key.expression)) {
                match question.kind.evaluate(key, &self.values) {
                    Ok(answer) => self.key(&Keyed { question, key, answer }),
                    Err(error) => self.in_key(question, error),
                }
            }
            self.idle_directives(question);
            if let Some(number) = question.number_that_prevents_drawing(self.lesson) {
                let what =
                    format!("`{}` cannot be drawn again: `{number}` in it is not computed", question.id);
                let help = format!("check it: {number}<!-- = RUN:CELL -->; or leave the number out");
                self.remark(question.line, what, help);
            }
        }
    }

    fn in_key(&mut self, question: &Question, error: Error) {
        let mut fault = Fault::of(question.key_line, error);
        fault.what = format!("the key of `{}`: {}", question.id, fault.what);
        self.findings.push(fault);
    }

    fn key(&mut self, keyed: &Keyed<'_>) {
        let Keyed { question, answer, .. } = keyed;
        if let Some(letter) = answer.value.letter() {
            return self.by_letter(keyed, letter);
        }
        if let (true, Value::Order(order)) = (question.kind.options_are_columns(), &answer.value) {
            self.listed_in_order(question, &order.columns());
        }
        if let Some(number) = answer.untypable_number() {
            let what = format!("the answer of `{}` has too many digits to type: {number}", question.id);
            self.fault(question.key_line, what, "give the key a tolerance: … ± 0.005");
        } else if question.kind.is_numbers() {
            self.numbers_of_a_step(question);
        } else {
            self.foreseen(keyed);
            self.enough(keyed);
        }
    }

    /// A question whose answer is all numbers of a step: they can be judged, and no wrong answer is foreseen.
    fn numbers_of_a_step(&mut self, question: &Question) {
        let show = LessonView::new(self.lesson, self.values.runner, Screen::plain(80));
        if let Err(error) = show.exercise(question) {
            self.in_key(question, error);
        }
        if let Some(choice) = question.choices.first() {
            let what = format!("`{}` foresees a wrong answer", question.id);
            let help = "remove it: mistakes in numbers are found and explained without it";
            self.fault(choice.line, what, help);
        }
    }

    /// Wrong answers foreseen that would pass for the right one, or for each other.
    fn foreseen(&mut self, Keyed { question, answer, .. }: &Keyed<'_>) {
        let mut seen: Vec<(char, Answer)> = Vec::new();
        for choice in &question.choices {
            let Some(expression) = choice.computed.as_ref().filter(|expression| !self.fails(expression))
            else {
                continue;
            };
            let (letter, line) = (choice.letter, choice.line);
            let value = match expression.evaluate(&self.values) {
                Ok(value) => value,
                Err(error) => {
                    self.findings.push(Fault::of(line, error));
                    continue;
                }
            };
            let Some(as_right) = answer.with_value(&value) else {
                let what =
                    format!("option {letter}, `{expression}`, is {}, but the key is not", value.kind());
                self.fault(line, what, "compute it like the key, but from another run");
                continue;
            };
            if answer.accepts(&value) {
                let what = format!("option {letter} ({value}) would count as the right answer, {answer}");
                let help = match answer.value {
                    Value::Number(_) => "give the key a smaller tolerance, or use another mistake",
                    _ => "use another mistake",
                };
                self.fault(line, what, help);
            } else if let Some((other, _)) = seen.iter().find(|(_, other)| other.accepts(&value)) {
                let what = format!("option {letter} ({value}) would count as option {other}");
                self.fault(line, what, "remove one of them, or use another mistake");
            }
            seen.push((letter, as_right));
        }
    }

    /// Options that list columns name these in their own order, in whatever words.
    fn listed_in_order(&mut self, question: &Question, columns: &[String]) {
        let listed: Vec<(&Choice, &Prose)> = question.offered().collect();
        let Some((first, _)) = listed.first() else { return };
        let columns_of: Vec<Vec<String>> = columns.iter().map(|column| words(column)).collect();
        let is_own = |(at, (_, text)): (usize, &(&Choice, &Prose))| {
            let text = words(&text.markdown);
            let shared = |column: &Vec<String>| column.iter().filter(|word| text.contains(word)).count();
            columns_of.iter().map(shared).max() == columns_of.get(at).map(shared).filter(|&own| own > 0)
        };
        if listed.len() != columns.len() || !listed.iter().enumerate().all(is_own) {
            let what = format!("the options of `{}` are not the columns of its row", question.id);
            self.fault(first.line, what, format!("list them in this order: {}", columns.join(", ")));
        }
    }

    /// Feedback that is never shown, because its answer cannot be given; and conditions where there is no letter to be proven.
    fn idle_directives(&mut self, question: &Question) {
        let by_letter = question.kind.is_chosen_by_letter();
        for Choice { letter, line, text, computed, condition, feedback } in &question.choices {
            if feedback.is_some() && computed.is_none() && !(by_letter && text.is_some()) {
                let what = format!("`if {letter}` is never shown: nothing computes the answer {letter}");
                self.fault(*line, what, format!("write <!-- opt {letter}: … --> next to it"));
            }
            if condition.is_some() && !by_letter {
                let what = format!("`opt {letter} iff` in a question of kind {}", question.kind.word());
                let help =
                    "compute the wrong answer: opt A: RUN:A[1,2]; only options of a choice have conditions";
                self.fault(*line, what, help);
            }
        }
    }

    // Whether a number can be answered from the digits that the question shows.

    /// An answer computed from the numbers as the question shows them must be right; and a key that counts on a number of decimals
    /// must have them on the screen.
    fn enough(&mut self, Keyed { question, key, answer }: &Keyed<'_>) {
        let Some((run, address)) = key.expression.reference() else { return };
        // A cell that is given, or that is not a sum of products, has nothing to be held against.
        let Ok(cell) = self.values.operands(run, address) else { return };
        let on_screen = decimals_on_screen(question, &cell);
        if let Some(decimals) = key.shown.filter(|decimals| !on_screen.contains(decimals)) {
            let what = format!(
                "the key of `{}` expects numbers shown at {}, but the question shows none of its operands that way",
                question.id,
                counted(decimals, "decimal")
            );
            let operands = cell.operands().join(" and ");
            let help =
                format!("its operands are {operands}: show them with --only and --precision {decimals}");
            return self.fault(question.key_line, what, help);
        }
        let slacks = on_screen.into_iter().find_map(|decimals| Some((decimals, cell.slack(decimals).ok()?)));
        let Some((decimals, slack)) = slacks else { return };
        if slack > answer.tolerance * (1.0 + 1e-9) {
            let (decimals, allowed) = (counted(decimals, "decimal"), answer.tolerance);
            let what = format!(
                "`{}` shows its numbers at {decimals}, from which an answer can be off by {slack:.4}, and the key allows {allowed}",
                question.id,
            );
            let help = format!("accept what these digits allow: {} ± … from {decimals}", key.expression);
            self.fault(question.key_line, what, help);
        }
    }

    // Questions whose options are chosen by their letters.

    /// One of the options is right, and proven to be the only one.
    fn by_letter(&mut self, keyed: &Keyed<'_>, letter: char) {
        let Keyed { question, key, answer } = keyed;
        if !question.choices.iter().any(|choice| choice.letter == letter) {
            let letters: Vec<String> =
                question.choices.iter().map(|choice| choice.letter.to_string()).collect();
            let what = format!("the key of `{}` names option {letter}, which does not exist", question.id);
            self.fault(question.key_line, what, format!("the options are {}", letters.join(", ")));
        } else if !answer.holds {
            let condition = &key.expression;
            let what = format!("the key of `{}` is false{}", question.id, self.sides(condition));
            let help = format!(
                "`{condition}` must be true: check whether another option is right, or whether you meant another command"
            );
            self.fault(question.key_line, what, help);
        }
        self.worded_alike(question);
        self.one_right_option(keyed, letter);
        let shown = self.numbered_options(question);
        self.shown_alike(&shown, letter);
        if let Some(right) = shown.iter().find(|one| one.choice.letter == letter) {
            self.about_its_option(keyed, right);
        }
    }

    /// “: `count(causal:A[bat], == 0)` is 1”: the values of the sides of a comparison, without literal numbers.
    fn sides(&self, comparison: &Expression) -> String {
        let Some(sides) = comparison.sides() else { return String::new() };
        let [Ok(left), Ok(right)] = sides.each_ref().map(|side| side.evaluate(&self.values)) else {
            return String::new();
        };
        let brief = [&left, &right].map(briefly);
        let texts = if brief[0] == brief[1] { [left, right].map(|value| value.to_string()) } else { brief };
        let computed = sides.iter().zip(texts).filter(|(side, _)| !side.is_literal());
        let said: Vec<String> = computed.map(|(side, text)| format!("`{side}` is {text}")).collect();
        format!(": {}", said.join(", and "))
    }

    /// Options that say the same: if one of them is right, so is the other.
    fn worded_alike(&mut self, question: &Question) {
        let words = |choice: &Choice| choice.text.as_ref().map(|text| text.markdown.trim().to_lowercase());
        for (at, choice) in question.choices.iter().enumerate() {
            let first = question.choices[..at].iter().find(|other| words(other) == words(choice));
            if let (Some(first), Some(text), None) = (first, words(choice), &choice.computed) {
                let what = format!("options {} and {} are the same, `{text}`", first.letter, choice.letter);
                self.fault(choice.line, what, "remove one of them, or use another mistake");
            }
        }
    }

    /// The options with numbers. One whose number is not computed, where others are, is a fault.
    fn numbered_options<'q>(&mut self, question: &'q Question) -> Vec<NumberedOption<'q>> {
        let has_computed = question.choices.iter().any(|choice| choice.computed.is_some());
        let mut numbered = Vec::new();
        for (choice, text) in question.offered() {
            if let Some(expression) = &choice.computed {
                let shown = text.claims.first().and_then(|claim| text.number(claim));
                if let (Some(shown), Ok(value)) = (shown, expression.number(&self.values)) {
                    numbered.push(NumberedOption { choice, shown, value });
                }
            } else if has_computed && text.claims.is_empty() && !numbers_in(&text.markdown).is_empty() {
                let what = format!("the number of option {} is not computed, but others are", choice.letter);
                let help = format!("compute it: <!-- opt {}: RUN:CELL -->", choice.letter);
                self.fault(choice.line, what, help);
            }
        }
        numbered
    }

    /// Options whose numbers are equal at the digits shown.
    fn shown_alike(&mut self, offered: &[NumberedOption<'_>], key: char) {
        for (at, one) in offered.iter().enumerate() {
            let is_alike = |other: &&NumberedOption<'_>| {
                // A wrong option must also differ from the right one at the digits that it shows.
                let passes = (other.choice.letter == key && one.shown.agrees(other.value))
                    || (one.choice.letter == key && other.shown.agrees(one.value));
                other.shown.value() == one.shown.value() || passes
            };
            if let Some(other) = offered[..at].iter().find(is_alike) {
                let (first, second) = (other.choice.letter, one.choice.letter);
                let what = format!("options {first} and {second} show the same number, {}", one.shown.text());
                let help = "use another mistake for one of them, or show more digits";
                self.fault(one.choice.line, what, help);
            }
        }
    }

    /// If options are computed, the condition of the key must begin with the number of the right one: a condition about anything
    /// else would allow any letter.
    fn about_its_option(&mut self, Keyed { question, key, .. }: &Keyed<'_>, right: &NumberedOption<'_>) {
        let of = key.expression.sides().map_or_else(|| key.expression.clone(), |[left, _]| left);
        if of.number(&self.values).is_ok_and(|value| right.shown.agrees(value)) {
            return;
        }
        let (letter, shown) = (right.choice.letter, right.shown.text());
        let what = format!(
            "the key of `{}` is {letter}, which shows {shown}, but its condition is about another number, `{of}`",
            question.id,
        );
        let computed = right.choice.computed.as_ref().map(Expression::to_string).unwrap_or_default();
        let help = format!("say what makes that option right: {letter} iff {computed} …");
        self.fault(question.key_line, what, help);
    }

    /// Every option but the right one has to be proven wrong: by a condition that does not hold, or, where the right option
    /// shows a computed number, by a computed number that differs from it.
    fn one_right_option(&mut self, Keyed { question, answer, .. }: &Keyed<'_>, letter: char) {
        let is_right = |choice: &Choice| choice.letter == letter;
        let has_number = question.choices.iter().any(|choice| is_right(choice) && choice.computed.is_some());
        for choice in &question.choices {
            let (other, line) = (choice.letter, choice.line);
            match (&choice.condition, &choice.computed) {
                (Some(_), _) if is_right(choice) => {
                    let what = format!("option {other} is the right one, but has its own condition");
                    self.fault(line, what, "remove its `opt`: the key has its condition");
                }
                _ if is_right(choice) => {}
                (Some(condition), _) if self.fails(condition) => {}
                (Some(condition), _) => match condition.evaluate(&self.values) {
                    Ok(Value::Truth(false)) => {}
                    Ok(_) => {
                        let right = if answer.holds { "right too" } else { "the right one" };
                        let because = self.sides(condition);
                        let what = format!("option {other} of `{}` is {right}{because}", question.id);
                        let help = format!(
                            "`{condition}` is true: ask for something else, or correct the condition"
                        );
                        self.fault(line, what, help);
                    }
                    Err(error) => self.findings.push(Fault::of(line, error)),
                },
                (None, Some(_)) if has_number => {}
                (None, _) => {
                    let what = format!("nothing proves that option {other} of `{}` is wrong", question.id);
                    self.fault(line, what, FORM.replace("opt B", &format!("opt {other}")));
                }
            }
        }
    }
}

/// The decimals at which the question shows operands of a cell: in its tables, and in its text. The fewest first.
fn decimals_on_screen(question: &Question, cell: &ShownOperands) -> Vec<usize> {
    let operands = cell.operands();
    let is_operand = |address: &str| {
        let node = address.split('[').next().unwrap_or_default().trim();
        operands.contains(&node)
    };
    let mut decimals: Vec<usize> = Vec::new();
    for command in question.asked.iter().flat_map(Block::exchanges).map(|exchange| &exchange.command) {
        if command.value("--only").is_some_and(|only| only.split(',').any(is_operand)) {
            let precision = command.value("--precision").and_then(|text| text.parse().ok());
            decimals.push(precision.unwrap_or(USUAL_DECIMALS));
        }
    }
    for text in question.asked.iter().filter_map(Block::prose) {
        let is_of_operand = |of: &Expression| of.reference().is_some_and(|(_, address)| is_operand(address));
        let claims = text.claims.iter().filter(|claim| is_of_operand(&claim.expression));
        decimals.extend(claims.filter_map(|claim| text.number(claim)).map(|written| written.decimals()));
    }
    decimals.sort_unstable();
    decimals
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// A value; a number with at most the digits of a table.
fn briefly(value: &Value) -> String {
    match value.number() {
        Some(number) if number.fract() != 0.0 && number.abs() >= 0.001 => {
            format!("{number:.4}").replace('-', "−")
        }
        _ => value.to_string(),
    }
}
