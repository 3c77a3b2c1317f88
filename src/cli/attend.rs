//! `attn attend`: its options, and what comes out.

mod inputs;
mod loading;

use std::path::Path;

use clap::{Args, ValueEnum};

use super::output::{self, NodeArgs, OutputArgs};
use super::softmax::positive;
use super::{Env, Streams};
use crate::attention::Mask;
use crate::demo;
use crate::error::{Error, Result};
use crate::graph::build::{self, Output, Recipe, Scale, Score};
use crate::graph::{Convention, Graph, NodeId};
use crate::input;

/// Attention on your own matrices, every step on show
///
/// Examples:
///   attn attend --words "bat cave racket"
///   attn attend --q q.csv --k k.csv --v v.csv --causal
///   attn attend --q "1 0; 0 1" --k "1 0; 0 1" --v "1 2; 3 4"
///   attn attend --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --heads 4
///   attn attend layer.safetensors --x x.npy --heads 8 --only A_1,O
///   attn attend --random 4,6 --heads 2 --save O=out.npy
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct AttendArgs {
    #[command(flatten)]
    inputs: inputs::InputArgs,

    /// Hide from each query the keys after it.
    #[arg(long, help_heading = "Attention")]
    causal: bool,
    /// Where queries and keys are aligned if there are more of one: at the last token, as with a cache, or at the first.
    #[arg(long, value_enum, default_value = "end", help_heading = "Attention", value_name = "WHERE")]
    causal_from: FromArg,
    /// Hide keys N or more positions away.
    #[arg(long, value_name = "N", help_heading = "Attention")]
    window: Option<usize>,
    /// How a query is compared with a key.
    #[arg(long, value_enum, default_value = "dot", help_heading = "Attention")]
    score: ScoreArg,
    /// What scores are multiplied by: auto is 1/√d_k, none, or a number.
    #[arg(long, default_value = "auto", help_heading = "Attention")]
    scale: String,
    /// Divide scores by this: below 1 sharpens, above 1 flattens.
    #[arg(long, value_name = "T", default_value = "1", help_heading = "Attention")]
    temperature: String,
    /// Query heads [default: 1, or as many as Q is stacked of].
    #[arg(long, value_name = "H", help_heading = "Attention")]
    heads: Option<usize>,
    /// Key/value heads that the query heads share [default: as many as query heads].
    #[arg(long, value_name = "G", help_heading = "Attention")]
    kv_heads: Option<usize>,
    /// Add X to the result.
    #[arg(long, help_heading = "Attention")]
    residual: bool,

    /// Show tokens as rows or as columns; JSON and saved files stay in rows.
    #[arg(long, value_enum, default_value = "rows", help_heading = "Output")]
    convention: ConventionArg,
    /// Write one matrix to a file, in the format of its ending: O=out.npy.
    #[arg(long, value_name = "NODE=FILE", help_heading = "Output")]
    save: Vec<String>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// `--causal-from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FromArg {
    /// The last query stands at the last key.
    End,
    /// The first query stands at the first key.
    Start,
}

/// `--score`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScoreArg {
    /// The dot product.
    Dot,
    /// The cosine.
    Cosine,
}

/// `--convention`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConventionArg {
    /// A row for each token.
    Rows,
    /// A column for each token.
    Columns,
}

impl AttendArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let loaded = self.inputs.load(streams.input)?;
        let recipe = self.recipe(&loaded)?;
        let graph = build::attend(&recipe, loaded.inputs)?;
        let savings = self.savings(&graph)?;
        let mut notes = loaded.notes;
        if recipe.score == Score::Cosine && recipe.scale == Scale::Auto {
            notes.push("Cosines are at most 1 and need no 1/√d_k; `--scale none` leaves it out.".into());
        }
        let convention = match self.convention {
            ConventionArg::Rows => Convention::Rows,
            ConventionArg::Columns => Convention::Columns,
        };
        let page = self.nodes.page(demo::pipeline("Attention", graph, convention, notes))?;
        // Nothing is written before all that was asked for is known to be there.
        for (node, file) in savings {
            let graph = &page.story.graph;
            input::save(Path::new(&file), &graph[node].name, graph.matrix(node)?)?;
        }
        output::pages(&[page], "attend", &self.output.style(env, convention), streams)
    }

    fn recipe(&self, loaded: &loading::Loaded) -> Result<Recipe> {
        if self.causal_from == FromArg::Start && !self.causal && self.window.is_none() {
            return Err(Error::new("--causal-from start, and nothing that it aligns")
                .help("give --causal or --window with it"));
        }
        let heads = agreed("--heads", self.heads, "Q", loaded.query_heads)?.unwrap_or(1);
        let kv_heads = agreed("--kv-heads", self.kv_heads, "K and V", loaded.kv_heads)?.unwrap_or(heads);
        Ok(Recipe {
            heads,
            kv_heads,
            score: match self.score {
                ScoreArg::Dot => Score::Dot,
                ScoreArg::Cosine => Score::Cosine,
            },
            scale: match self.scale.as_str() {
                "auto" => Scale::Auto,
                "none" => Scale::None,
                number => match input::number(number) {
                    Ok(number) => Scale::Number(number.value),
                    Err(_) => {
                        return Err(
                            Error::new(format!("--scale is `{number}`")).help("take auto, none or a number")
                        );
                    }
                },
            },
            temperature: positive("--temperature", &self.temperature)?,
            mask: Mask {
                causal: self.causal,
                window: self.window,
                from_start: self.causal_from == FromArg::Start,
                matrix: loaded.mask_rule,
                ..Mask::default()
            },
            output: Output { residual: self.residual, ..Output::default() },
            ..Recipe::default()
        })
    }

    /// What `--save` asks for: nodes that exist, and files whose endings are known.
    fn savings(&self, graph: &Graph) -> Result<Vec<(NodeId, String)>> {
        let parse = |saving: &String| {
            let wrong =
                || Error::new(format!("`--save {saving}` names no file")).help("write --save O=out.npy");
            let (name, file) =
                saving.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(wrong)?;
            input::check_ending(Path::new(file))?;
            Ok((graph.require(name.trim())?, file.to_string()))
        };
        self.save.iter().map(parse).collect()
    }
}

/// What an option says, or what the file's own heads say; both must agree where both are there.
fn agreed(option: &str, asked: Option<usize>, what: &str, found: Option<usize>) -> Result<Option<usize>> {
    match (asked, found) {
        (Some(asked), Some(found)) if asked != found => {
            Err(Error::new(format!("{option} is {asked}, but {what} come in {found} heads"))
                .help(format!("leave {option} out, or give a matrix instead of a stack of heads")))
        }
        (asked, found) => Ok(asked.or(found)),
    }
}
