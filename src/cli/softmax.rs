//! `attn softmax`.

use clap::Args;

use super::output::{self, NodeArgs, OutputArgs};
use super::{Env, Streams};
use crate::attention::Base;
use crate::demo::{Shown, Step, Story};
use crate::error::{Error, Result};
use crate::graph::{Convention, Graph, Origin, build};
use crate::input;
use crate::matrix::Matrix;

/// Numbers to weights, one step a column
///
/// Examples:
///   attn softmax 1 2 3
///   attn softmax 2.5 -1 -inf                a masked score gets weight 0
///   attn softmax 1 2 3 --temperature 0.5    sharper
///   attn softmax 1 2 3 --base 2             powers of 2 for powers of e
///   attn softmax 1 2 3 --explain 'A[1,3]'   one weight, worked out
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct SoftmaxArgs {
    /// The scores; negative ones and -inf as they are.
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
    /// Divide the scores by this first: below 1 sharpens, above 1 flattens.
    #[arg(long, value_name = "T", default_value = "1")]
    temperature: String,
    /// What is raised to the scores [default: e].
    #[arg(long, value_name = "B")]
    base: Option<String>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl SoftmaxArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let mut scores = Vec::new();
        let numbers =
            self.numbers.iter().flat_map(|text| text.split([',', ' '])).filter(|text| !text.is_empty());
        for (i, text) in numbers.enumerate() {
            let number =
                input::number(text).map_err(|error| error.in_source(format!("number {}", i + 1)))?.value;
            if number.is_nan() || number == f64::INFINITY {
                return Err(Error::new(format!("`{text}` is no score"))
                    .help("scores are finite, or -inf for a masked one"));
            }
            scores.push(number);
        }
        let graph = build::softmax(
            Matrix::from_row_major(1, scores.len(), &scores)?,
            Origin::User("the command line".into()),
            positive("--temperature", &self.temperature)?,
            self.base()?,
        )?;
        let page = self.nodes.page(story(graph), &self.output)?;
        output::pages(&[page], "softmax", &self.output.style(env, Convention::Rows), streams)
    }

    fn base(&self) -> Result<Base> {
        match self.base.as_deref() {
            None | Some("e") => Ok(Base::E),
            Some(text) => match positive("--base", text)? {
                base if base > 1.0 => Ok(Base::Number(base)),
                _ => Err(Error::new(format!("powers of {text} do not grow with the score"))
                    .help("take a base above 1, such as 2 or 10")),
            },
        }
    }
}

/// A positive number given to an option.
pub(super) fn positive(option: &str, text: &str) -> Result<f64> {
    let number = input::number(text).map_err(|error| error.in_source(option))?.value;
    if number > 0.0 && number.is_finite() {
        return Ok(number);
    }
    Err(Error::new(format!("{option} {text} is not a positive number")).help("take a number above 0"))
}

/// One table, a row for each number, a column for each step.
fn story(graph: Graph) -> Story {
    let sums = [("powers", "power_sum"), ("A", "A_sum")];
    let column = |name: &str| {
        let id = graph.find(name)?;
        let sum = sums.iter().find(|(of, _)| *of == name).and_then(|(_, sum)| graph.find(sum));
        Some((id, sum))
    };
    let columns = ["x", "x_tempered", "shifted", "powers", "A"].into_iter().filter_map(column).collect();
    let text =
        "Subtracting the largest changes no weight and lets no power overflow; then powers, over their sum.";
    let steps = vec![Step { text: text.into(), notice: None, shown: vec![Shown::Columns(columns)] }];
    Story::of_steps("Softmax", graph, steps)
}
