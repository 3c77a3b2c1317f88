//! `attn softmax`.

use clap::Args;

use crate::attention::Base;
use crate::error::{Error, Result};
use crate::graph::{Convention, Origin, recipes};
use crate::matrix::Matrix;
use crate::render::Page;
use crate::story::Story;
use crate::{read, story};

use super::options::positive;
use super::output::{LiveArgs, OutputArgs};
use super::program::{Env, Outcome, Program, Streams};
use super::selection::NodeArgs;
use super::versus::VersusArgs;
use super::{output, versus};

/// Turn numbers into weights, one column per step
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct SoftmaxArgs {
    /// The scores; -1 and -inf can be typed as they are
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
    #[command(flatten)]
    varied: VariedArgs,
    #[command(flatten)]
    versus: VersusArgs,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    live: LiveArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn softmax 1 2 3
  attn softmax 2.5 -1 -inf                 a hidden score gets weight 0
  attn softmax 1 2 3 --temperature 0.5     sharper
  attn softmax 1 2 3 --base 2              powers of 2 instead of powers of e
  attn softmax 1 2 3 --versus '--temperature 2'
  attn softmax 1 2 3 --explain 'A[1,3]'    one weight, worked out";

/// The options that `--versus` may change.
#[derive(Args, Debug)]
struct VariedArgs {
    /// Divide the scores: below 1 sharpens, above 1 flattens
    #[arg(long, value_name = "T", default_value = "1")]
    temperature: String,
    /// The base of the powers [default: e]
    #[arg(long, value_name = "B")]
    base: Option<String>,
}

impl SoftmaxArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        self.live.check(&self.output)?;
        let page = match self.versus.options() {
            None => {
                let page = self.nodes.page(self.story()?, &self.output)?;
                let is_whole = self.live.live && page.headed;
                let computing = is_whole.then(|| self.story_with_temperature()).transpose()?;
                Page { computing: computing.map(Box::new), ..page }
            }
            Some(options) => {
                let other = versus::typed_with::<SoftmaxArgs, VariedArgs>("softmax", program, options)?;
                let other = other.story().map_err(versus::in_versus)?;
                versus::page(
                    self.story()?,
                    other,
                    options,
                    &self.nodes.names(),
                    self.output.digits.precision,
                )?
            }
        };
        let style = self.live.style(&self.output, env, Convention::Rows);
        output::one_page(page, "softmax", &style, env, streams)
    }

    fn story(&self) -> Result<Story> {
        let temperature = positive("--temperature", &self.varied.temperature)?;
        self.story_at((temperature != 1.0).then_some(temperature))
    }

    /// The story with the step of the temperature, also where that is 1.
    fn story_with_temperature(&self) -> Result<Story> {
        self.story_at(Some(positive("--temperature", &self.varied.temperature)?))
    }

    fn story_at(&self, temperature: Option<f64>) -> Result<Story> {
        let mut scores = Vec::new();
        read::check_commas(&self.numbers.join(" "))?;
        let numbers =
            self.numbers.iter().flat_map(|text| text.split([',', ' '])).filter(|text| !text.is_empty());
        for (i, text) in numbers.enumerate() {
            let number =
                read::number(text).map_err(|error| error.in_source(format!("number {}", i + 1)))?.value;
            if number.is_nan() || number == f64::INFINITY {
                return Err(Error::new(format!("`{text}` is not a score"))
                    .help("write finite numbers, or -inf for a masked score"));
            }
            scores.push(number);
        }
        if scores.is_empty() {
            return Err(Error::new("there is no number").help("attn softmax 1 2 3"));
        }
        let graph = recipes::softmax(
            Matrix::from_row_major(1, scores.len(), &scores)?,
            Origin::User("the command line".into()),
            temperature,
            self.varied.base()?,
        )?;
        Ok(story::softmax(graph))
    }
}

impl VariedArgs {
    fn base(&self) -> Result<Base> {
        match self.base.as_deref() {
            None | Some("e") => Ok(Base::E),
            Some(text) => match positive("--base", text)? {
                base if base > 1.0 => Ok(Base::Number(base)),
                _ => Err(Error::new(format!("powers of {text} do not grow with the exponent"))
                    .help("give a base above 1, such as 2 or 10")),
            },
        }
    }
}
