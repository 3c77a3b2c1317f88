//! `--step`, `--steps`, `--brief` and `--until`: the part of a story that is shown.

use std::ops::RangeInclusive;

use clap::Args;

use super::negative_numbers;
use super::nodes::NodeArgs;
use super::output::OutputArgs;
use crate::error::{Error, Result};
use crate::render::Page;
use crate::story::Story;

/// Which steps are shown, and how much of each.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Steps")]
pub(super) struct StepArgs {
    /// Show only one step
    #[arg(long, value_name = "N", conflicts_with = "steps")]
    step: Option<String>,
    /// Show some steps: 3-5, 3- or -3
    ///
    /// 3- goes to the end, -3 begins at the start.
    #[arg(long, value_name = "FROM-TO", allow_hyphen_values = true)]
    steps: Option<String>,
    /// Show one sentence and one result for each step
    ///
    /// Operands and checks are left out.
    #[arg(long)]
    brief: bool,
    /// Stop at a node and leave its values open
    #[arg(long, value_name = "NODE")]
    until: Option<String>,
    /// Print everything at once, without waiting for keys
    ///
    /// On a terminal, what is longer than the screen is otherwise shown step by step.
    #[arg(long)]
    no_pause: bool,
}

impl StepArgs {
    /// The option for a part of a story that is used, if one is.
    pub(super) fn used(&self) -> Option<&'static str> {
        let all = [
            ("--step", self.step.is_some()),
            ("--steps", self.steps.is_some()),
            ("--until", self.until.is_some()),
            ("--brief", self.brief),
        ];
        all.into_iter().find(|(_, used)| *used).map(|(option, _)| option)
    }

    /// The option that is about the steps of one story, if one is used: `--brief` is about any number of them.
    pub(super) fn wants_one(&self) -> Option<&'static str> {
        self.used().filter(|option| *option != "--brief")
    }

    /// These options, with the node of `--until` renamed.
    pub(super) fn renamed(&self, rename: impl Fn(&str) -> Result<String>) -> Result<StepArgs> {
        let until = self.until.as_deref().map(rename).transpose()?;
        Ok(StepArgs { until, ..self.clone() })
    }

    /// Whether all is printed at once.
    pub(super) fn prints_all(&self) -> bool {
        self.no_pause
    }

    /// # Errors
    /// If a part of the story is asked for together with something that has no steps.
    pub(super) fn agree(&self, nodes: &NodeArgs, versus: bool) -> Result<()> {
        let Some(own) = self.used() else { return Ok(()) };
        let (other, shows) = match nodes.explain.used() {
            Some("--symbolic") => ("--symbolic", "one formula"),
            Some(option) => (option, "where one number comes from"),
            None if !nodes.only.is_empty() => ("--only", "matrices without their steps"),
            None if versus => ("--versus", "what differs, not the steps"),
            None => return Ok(()),
        };
        Err(Error::new(format!("{own} chooses among the steps, but {other} shows {shows}"))
            .help(format!("leave out {own} or {other}")))
    }

    /// The page of a story: the part that is asked for; or, where no part is, what the other options ask for.
    ///
    /// # Errors
    /// If there is no such step, node or cell. `whole` is the command without the options that choose steps, for an example that works.
    pub(super) fn page(
        &self,
        mut story: Story,
        nodes: &NodeArgs,
        output: &OutputArgs,
        whole: &str,
    ) -> Result<Page> {
        if self.used().is_none() {
            return nodes.page(story, output);
        }
        let steps = self.numbers(&story, whole)?;
        let mut shown: Vec<_> = story.graph.nodes().map(|(id, _)| id).collect();
        if let Some(until) = &self.until {
            let node = story.graph.require(until)?;
            shown.retain(|id| *id < node);
            story = story.until(node);
        }
        let (mut skipped, mut left) = (0, 0);
        if let Some(steps) = &steps {
            if *steps.start() > story.step_count() {
                let until = self.until.as_deref().unwrap_or_default();
                let last = story.step_count();
                return Err(Error::new(format!("step {} comes after {until}", steps.start()))
                    .help(format!("--until {until} ends in step {last}: {whole} --step {last}")));
            }
            skipped = steps.start() - 1;
            left = story.step_count().saturating_sub(*steps.end());
            story = story.only_steps(steps);
        }
        if self.brief {
            story = story.in_brief();
        }
        if steps.is_some() || self.brief {
            let told = story.shown_nodes();
            shown.retain(|id| told.contains(id));
        }
        Ok(Page { story, nodes: shown, headed: steps.is_none(), skipped, left, computing: None })
    }

    /// The numbers of the steps that are asked for.
    fn numbers(&self, story: &Story, whole: &str) -> Result<Option<RangeInclusive<usize>>> {
        let last = story.step_count();
        let steps = self.steps.as_deref().map(negative_numbers::unshielded);
        let range = match (&self.step, &steps) {
            (Some(step), _) => number(step).map(|number| (number, number)),
            (None, Some(steps)) => span(steps, last),
            (None, None) => return Ok(None),
        };
        let typed = self.step.as_ref().map(|step| format!("--step {step}"));
        let typed = typed.unwrap_or_else(|| format!("--steps {}", steps.unwrap_or_default()));
        let (what, help) = match range {
            Some((from, to)) if 1 <= from && from <= to && to <= last => return Ok(Some(from..=to)),
            Some((from, to)) if from > to && from <= last && to > 0 => {
                (format!("{typed} ends before it begins"), format!("--steps {to}-{from}"))
            }
            Some((from, to)) if from == to => (format!("there is no step {from}"), format!("--step {last}")),
            Some(_) => (format!("{typed}: there are no such steps"), format!("--steps 1-{last}")),
            None if self.step.is_some() => {
                (format!("{typed} is not the number of a step"), format!("--step {last}"))
            }
            None => (format!("{typed} is not a range of steps"), format!("--steps 1-{last}")),
        };
        let has = match last {
            1 => "there is one step".to_string(),
            _ => format!("the steps are 1 to {last}"),
        };
        Err(Error::new(what).help(format!("{has}: {whole} {help}")))
    }
}

/// `3`.
fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok()
}

/// `3-5`, `3-`, `-5` or `3`, of steps up to the last.
fn span(text: &str, last: usize) -> Option<(usize, usize)> {
    let text = text.trim();
    let Some((from, to)) = text.split_once(['-', '–']).or_else(|| text.split_once("..")) else {
        return number(text).map(|number| (number, number));
    };
    let end = |text: &str, open: usize| if text.is_empty() { Some(open) } else { number(text) };
    (!(from.is_empty() && to.is_empty())).then_some(())?;
    Some((end(from, 1)?, end(to, last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_may_be_open_at_one_end() {
        assert_eq!(span("3-5", 9), Some((3, 5)));
        assert_eq!(span("3-", 9), Some((3, 9)));
        assert_eq!(span("-3", 9), Some((1, 3)));
        assert_eq!(span("4", 9), Some((4, 4)));
        assert_eq!(span("5-3", 9), Some((5, 3)));
        for wrong in ["-", "", "x", "1-x", "1-2-3", "1.5"] {
            assert_eq!(span(wrong, 9), None, "{wrong}");
        }
    }
}
