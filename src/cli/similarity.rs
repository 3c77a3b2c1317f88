//! `attn similarity`.

use std::io::Read;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::graph::recipes::Measure;
use crate::graph::{Convention, recipes};
use crate::input::Files;
use crate::story::Story;
use crate::{input, story};

use super::output::one_page;
use super::program::{Env, Outcome, Program, Streams};
use super::versus::{ShownArgs, typed_with};
use super::word_vectors::{WordArgs, WordVectors};

/// The options of `attn similarity`.
#[derive(Deserialize, Debug)]
pub(super) struct SimilarityArgs {
    words: Vec<String>,
    #[serde(flatten)]
    varied: VariedArgs,
    #[serde(flatten)]
    shown: ShownArgs,
}

/// The options that `--versus` may change.
#[derive(Deserialize, Debug)]
struct VariedArgs {
    measure: Vec<Measure>,
    #[serde(flatten)]
    vectors: WordArgs,
}

impl SimilarityArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let ShownArgs { versus, nodes, output, live } = &self.shown;
        live.check(output)?;
        let page = match versus.options() {
            None => nodes.page(self.story(env, streams.input)?, output)?,
            Some(options) => {
                let mut other = typed_with::<SimilarityArgs>("similarity", program, options)?;
                other.varied.replace_earlier(&self.varied);
                let story = |args: &SimilarityArgs, input: &mut dyn Read| args.story(env, input);
                self.shown.beside(options, [self, &other], streams.input, story)?
            }
        };
        one_page(page, "similarity", &self.shown.style(env, Convention::Rows), env, streams)
    }

    fn story(&self, env: &Env, input: &mut dyn Read) -> Result<Story> {
        let lists: Result<Vec<_>> = self.words.iter().map(|text| input::label_list(text)).collect();
        let words = lists?.concat();
        if words.is_empty() {
            return Err(Error::new("there is no word to compare").help("attn similarity bat cave racket"));
        }
        let WordVectors { matrix, origin, notes } =
            self.varied.vectors.vectors(&words, &mut Files::new(input).within(env.reading.clone()))?;
        let chosen = &self.varied.measure[..];
        let measures = if chosen.is_empty() { &Measure::ALL } else { chosen };
        let graph = recipes::similarity(matrix, origin, measures)?;
        Ok(story::similarity(graph, notes))
    }
}

impl VariedArgs {
    /// Keeps the later of options that are given twice: `self` was parsed from both option lists.
    fn replace_earlier(&mut self, earlier: &VariedArgs) {
        self.vectors.replace_earlier(&earlier.vectors);
        if self.measure.len() > earlier.measure.len() {
            self.measure.drain(..earlier.measure.len());
        }
    }
}
