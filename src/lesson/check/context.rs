//! The context of checks of numbers and keys.

use std::collections::HashSet;

use crate::lesson::key::{Expression, Value};
use crate::lesson::option_names::OptionNames;
use crate::lesson::values::RunValues;

/// The values that numbers and keys are computed from.
#[derive(Clone, Copy)]
pub(super) struct CheckContext<'a> {
    /// The numbers of the runs.
    pub values: &'a RunValues<'a>,
    /// The runs without numbers; each has been reported already.
    pub failing: &'a HashSet<&'a str>,
    /// The spelling of the options of the commands.
    pub options: &'static OptionNames,
}

impl CheckContext<'_> {
    /// Whether an expression reads a run without numbers.
    pub fn fails(&self, expression: &Expression) -> bool {
        expression.runs().iter().any(|run| self.failing.contains(run))
    }
}

/// “: `count(causal:A[bat], == 0)` is 1”: the values of the sides of a comparison, without literal numbers.
pub(super) fn sides(left: &Expression, right: &Expression, context: CheckContext<'_>) -> Option<String> {
    let values = [left.evaluate(context.values).ok()?, right.evaluate(context.values).ok()?];
    let brief = values.each_ref().map(briefly);
    let texts = if brief[0] == brief[1] { values.map(|value| value.to_string()) } else { brief };
    let computed =
        [left, right].into_iter().zip(texts).filter(|(side, _)| !matches!(side, Expression::Number(_)));
    let said: Vec<String> = computed.map(|(side, text)| format!("`{side}` is {text}")).collect();
    Some(format!(": {}", said.join(", and ")))
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
