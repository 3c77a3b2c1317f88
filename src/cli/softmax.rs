//! `attn softmax`.

use std::io::Read;

use serde::Deserialize;

use crate::attention::Base;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::{Convention, Origin, recipes};
use crate::input::{self, Files};
use crate::matrix::Matrix;
use crate::read::{self, AllowedNumbers, Array, told};
use crate::render::Page;
use crate::story::{self, Story};

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
                let scores = self.scores(env, streams.input)?;
                let page = nodes.page(self.story(&scores, false)?, output)?;
                // On a page that computes, the temperature can be changed also where it is 1.
                let is_whole = live.live && page.headed;
                let computing = is_whole.then(|| self.story(&scores, true)).transpose()?;
                Page { computing: computing.map(Box::new), ..page }
            }
            Some(options) => {
                let other = typed_with::<SoftmaxArgs>("softmax", program, options)?;
                let story =
                    |args: &SoftmaxArgs, input: &mut dyn Read| args.story(&args.scores(env, input)?, false);
                self.shown.beside(options, [self, &other], streams.input, story)?
            }
        };
        one_page(page, "softmax", &self.shown.style(env, Convention::Rows), env, streams)
    }

    /// The scores: typed, as a program prints them in brackets, or from a file.
    fn scores(&self, env: &Env, input: &mut dyn Read) -> Result<Scores> {
        let typed = self.numbers.join(" ");
        let is_file = |text: &str| text == "-" || read::number(text).is_err() && input::exists(text);
        let (read, origin, notes) = match &self.numbers[..] {
            [file] if is_file(file) => {
                let mut files = Files::new(input).within(env.reading.clone());
                let array = files.array(file, AllowedNumbers::INFINITE)?;
                let notes = [files.take_notes(), in_one_row(&array)].concat();
                (array.values().to_vec(), visible(file).into_owned(), notes)
            }
            _ if typed.contains(['[', '{', '(']) && read::looks_inline(&typed)
                || read::is_document(&typed) =>
            {
                let array = read::inline(&typed, AllowedNumbers::INFINITE)?;
                let notes = [told("The text", &array), in_one_row(&array)].concat();
                (array.values().to_vec(), "the command line".into(), notes)
            }
            _ => {
                let percent =
                    typed.contains('%').then(|| "Percentages are taken for hundredths.".to_string());
                (self.typed()?, "the command line".into(), percent.into_iter().collect())
            }
        };
        if let Some(number) = read.iter().find(|number| number.is_nan() || **number == f64::INFINITY) {
            return Err(not_a_score(&number.to_string()));
        }
        Ok(Scores { numbers: read, origin, notes })
    }

    /// The numbers of the command line.
    fn typed(&self) -> Result<Vec<f64>> {
        let mut scores = Vec::new();
        read::check_commas(&self.numbers.join(" "))?;
        let numbers = self
            .numbers
            .iter()
            .flat_map(|text| text.split(|c: char| c == ',' || c.is_whitespace()))
            .filter(|text| !text.is_empty());
        for (i, text) in numbers.enumerate() {
            let number =
                read::cell(text).map_err(|error| error.in_source(format!("number {}", i + 1)))?.value;
            if number.is_nan() || number == f64::INFINITY {
                return Err(not_a_score(text));
            }
            scores.push(number);
        }
        if scores.is_empty() {
            return Err(Error::new("there is no number").help("attn softmax 1 2 3"));
        }
        Ok(scores)
    }

    /// The story; of a temperature of 1 with its step only where it is `open`.
    fn story(&self, scores: &Scores, open: bool) -> Result<Story> {
        let temperature = positive("--temperature", &self.varied.temperature)?;
        let graph = recipes::softmax(
            Matrix::from_row_major(1, scores.numbers.len(), &scores.numbers)?,
            Origin::User(scores.origin.clone()),
            Some(temperature).filter(|temperature| open || *temperature != 1.0),
            self.varied.base()?,
        )?;
        let mut story = story::softmax(graph);
        story.notes.extend(scores.notes.iter().cloned());
        Ok(story)
    }
}

/// Scores, where they are from, and notes on how they were read.
struct Scores {
    numbers: Vec<f64>,
    origin: String,
    notes: Vec<String>,
}

/// What to say of a matrix whose numbers are all taken for one row of scores.
fn in_one_row(array: &Array) -> Vec<String> {
    let rows = array.values().len() / array.dims().last().copied().unwrap_or(1).max(1);
    let said = format!("The {rows} rows of numbers are taken for one row of scores.");
    (rows > 1).then_some(said).into_iter().collect()
}

fn not_a_score(text: &str) -> Error {
    Error::new(format!("`{text}` is not a score")).help("write finite numbers, or -inf for a masked score")
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
