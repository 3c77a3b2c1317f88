//! `attn similarity`.

use std::io::Read;

use clap::Args;

use crate::error::{Error, Result};
use crate::graph::recipes::Measure;
use crate::graph::{Convention, recipes};
use crate::input::Files;
use crate::story::Story;
use crate::{input, story};

use super::options::choice;
use super::output::{LiveArgs, OutputArgs};
use super::program::{Env, Outcome, Program, Streams};
use super::selection::NodeArgs;
use super::versus::{ReplayedInput, VersusArgs};
use super::word_vectors::{WordArgs, WordVectors};
use super::{output, versus};

/// Compare words: dot products, cosines, distances
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimilarityArgs {
    /// The words, with blanks or commas between them
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
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
  attn similarity bat cave racket
  attn similarity \"any words of yours\"
  attn similarity bat dog --define dog=1,2
  attn similarity bat dog --define dog=1,2 --versus \"--define dog=2,1\"
  attn similarity bat cave --explain 'cosine[bat,cave]'
  attn similarity king queen --embeddings glove.txt.gz --measure cosine";

/// The options that `--versus` may change.
#[derive(Args, Debug)]
struct VariedArgs {
    /// Tables to show: dot, scaled, cosine, euclidean
    #[arg(long, value_parser = choice(MEASURES), value_name = "TABLE", value_delimiter = ',')]
    measure: Vec<Measure>,
    #[command(flatten)]
    vectors: WordArgs,
}

/// `--measure`.
const MEASURES: [(&str, &str, Measure); 4] = [
    ("dot", "The dot product", Measure::Dot),
    ("scaled", "The dot product divided by the root of the width", Measure::Scaled),
    ("cosine", "The cosine", Measure::Cosine),
    ("euclidean", "The distance", Measure::Euclidean),
];

impl SimilarityArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        self.live.check(&self.output)?;
        let page = match self.versus.options() {
            None => self.nodes.page(self.story(env, streams.input)?, &self.output)?,
            Some(options) => {
                let mut other =
                    versus::typed_with::<SimilarityArgs, VariedArgs>("similarity", program, options)?;
                other.varied.replace_earlier(&self.varied);
                let mut input = ReplayedInput::new(streams.input);
                let base = self.story(env, &mut input.first())?;
                let other = other.story(env, &mut input.again()).map_err(versus::in_versus)?;
                versus::page(base, other, options, &self.nodes.names(), self.output.digits.precision)?
            }
        };
        let style = self.live.style(&self.output, env, Convention::Rows);
        output::one_page(page, "similarity", &style, env, streams)
    }

    fn story(&self, env: &Env, input: &mut dyn Read) -> Result<Story> {
        let lists: Result<Vec<_>> = self.words.iter().map(|text| input::label_list(text)).collect();
        let words = lists?.concat();
        if words.is_empty() {
            return Err(Error::new("there is no word to compare").help("attn similarity bat cave racket"));
        }
        let WordVectors { matrix, origin, notes } =
            self.varied.vectors.vectors(&words, &mut Files::new(input).within(env.reading.clone()))?;
        let graph = recipes::similarity(matrix, origin, &self.varied.measures())?;
        Ok(story::similarity(graph, notes))
    }
}

impl VariedArgs {
    fn measures(&self) -> Vec<Measure> {
        if self.measure.is_empty() { Measure::ALL.to_vec() } else { self.measure.clone() }
    }

    /// Keeps the later of options that are given twice: `self` was parsed from both option lists.
    fn replace_earlier(&mut self, earlier: &VariedArgs) {
        self.vectors.replace_earlier(&earlier.vectors);
        if self.measure.len() > earlier.measure.len() {
            self.measure.drain(..earlier.measure.len());
        }
    }
}
