//! `attn softmax`.

use std::io::Read;

use serde::Deserialize;

use crate::attention::Base;
use crate::error::{Error, Result};
use crate::graph::{Convention, Origin, recipes};
use crate::matrix::Matrix;
use crate::render::Page;
use crate::story::Story;
use crate::{read, story};

use super::options::positive;
use super::output::one_page;
use super::program::{Env, Outcome, Program, Streams};
use super::versus::{ShownArgs, typed_with};

/// The options of `attn softmax`.
#[derive(Deserialize, Debug)]
pub(super) struct SoftmaxArgs {
    numbers: Vec<String>,
    #[serde(flatten)]
    varied: VariedArgs,
    #[serde(flatten)]
    shown: ShownArgs,
}

/// The options that `--versus` may change.
#[derive(Deserialize, Debug)]
struct VariedArgs {
    temperature: String,
    base: Option<String>,
}

impl SoftmaxArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let ShownArgs { versus, nodes, output, live } = &self.shown;
        live.check(output)?;
        let page = match versus.options() {
            None => {
                let page = nodes.page(self.story(false)?, output)?;
                // On a page that computes, the temperature can be changed also where it is 1.
                let is_whole = live.live && page.headed;
                let computing = is_whole.then(|| self.story(true)).transpose()?;
                Page { computing: computing.map(Box::new), ..page }
            }
            Some(options) => {
                let other = typed_with::<SoftmaxArgs>("softmax", program, options)?;
                let story = |args: &SoftmaxArgs, _: &mut dyn Read| args.story(false);
                self.shown.beside(options, [self, &other], streams.input, story)?
            }
        };
        one_page(page, "softmax", &self.shown.style(env, Convention::Rows), env, streams)
    }

    /// The story; of a temperature of 1 with its step only where it is `open`.
    fn story(&self, open: bool) -> Result<Story> {
        let temperature = positive("--temperature", &self.varied.temperature)?;
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
            Some(temperature).filter(|temperature| open || *temperature != 1.0),
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
