//! The options of attention itself, as a recipe.

use clap::{Args, ValueEnum};

use super::input_loader::LoadedInputs;
use super::mechanism_options::mechanism_options;
use crate::attention::{Mask, MatrixRule};
use crate::cli::values::positive;
use crate::error::{Error, Result};
use crate::graph::Role;
use crate::graph::recipes::{Output, Recipe, Scale, Score};
use crate::input;
use crate::text::{all_of, counted};

/// The options of attention itself.
#[derive(Args, Debug)]
#[command(next_help_heading = "Attention")]
pub(super) struct AttentionArgs {
    /// Hide later tokens from each token
    #[arg(long)]
    causal: bool,
    /// Align queries and keys at the end or at the start
    ///
    /// It matters if there are more keys than queries: `end` is right with a key/value cache, `start` is what PyTorch does.
    #[arg(long, value_enum, default_value = "end", value_name = "WHERE", hide_short_help = true)]
    causal_from: FromArg,
    /// Hide tokens that are N or more positions away
    #[arg(long, value_name = "N")]
    window: Option<usize>,
    /// Keep the first N tokens visible outside the window
    #[arg(long, value_name = "N", hide_short_help = true)]
    keep_first: Option<usize>,
    /// Compare query and key by dot product or cosine
    #[arg(long, value_enum, default_value = "dot", value_name = "KIND")]
    score: ScoreArg,
    /// Multiply the scores: auto (1/√d_k), none or a number
    #[arg(long, default_value = "auto", value_name = "FACTOR")]
    scale: String,
    /// Divide the scores: below 1 sharpens, above 1 flattens
    #[arg(long, value_name = "T", default_value = "1")]
    temperature: String,
    /// Number of heads [default: 1, or a stacked Q's]
    #[arg(long, value_name = "H")]
    pub(super) heads: Option<usize>,
    /// Number of key/value heads [default: as --heads]
    #[arg(long, value_name = "G")]
    kv_heads: Option<usize>,
    /// Add X to the result (residual connection)
    #[arg(long)]
    residual: bool,
}

/// `--causal-from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FromArg {
    /// The last query belongs to the last key
    End,
    /// The first query belongs to the first key
    Start,
}

/// `--score`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScoreArg {
    /// The dot product
    Dot,
    /// The cosine
    Cosine,
}

impl AttentionArgs {
    /// The recipe that the options and what was loaded ask for.
    pub(super) fn recipe(&self, loaded: &LoadedInputs) -> Result<Recipe> {
        if self.causal_from == FromArg::Start && !self.causal && self.window.is_none() {
            return Err(Error::new("--causal-from start changes nothing without --causal or --window")
                .help("add --causal or --window"));
        }
        self.check_stack_beside_matrices(loaded)?;
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
                            Error::new(format!("--scale is `{number}`")).help("give auto, none or a number")
                        );
                    }
                },
            },
            temperature: positive("--temperature", &self.temperature)?,
            mask: Mask {
                causal: self.causal,
                window: self.window,
                keep_first: self.keep_first.unwrap_or(0),
                from_start: self.causal_from == FromArg::Start,
                matrix: loaded.mask_rule,
                ..Mask::default()
            },
            output: Output { residual: self.residual, ..Output::default() },
            ..Recipe::default()
        })
    }
}

impl AttentionArgs {
    /// # Errors
    /// If Q is a stack of heads, and K or V is a matrix that does not have as many side by side; or the other way round.
    fn check_stack_beside_matrices(&self, loaded: &LoadedInputs) -> Result<()> {
        if let (Some(heads @ 2..), None, Some(q), None) =
            (loaded.kv_heads, loaded.query_heads, &loaded.inputs.q, self.heads)
        {
            let cols = counted(q.shape().cols, "column");
            return Err(Error::new(format!("K and V have {heads} heads, but Q is one matrix with {cols}"))
                .help("give Q as a stack too, or say with --heads how many heads stand side by side in it"));
        }
        let (Some(heads @ 2..), Some(q), None) = (loaded.query_heads, &loaded.inputs.q, self.kv_heads) else {
            return Ok(());
        };
        let is_too_narrow = |role: Role| {
            let cols = loaded.inputs.get(role).filter(|_| !loaded.stacks.contains(&role))?.shape().cols;
            let fits = if role == Role::K { cols == q.shape().cols } else { cols % heads == 0 };
            (!fits && loaded.kv_heads.is_none()).then_some((role.name(), cols))
        };
        match [Role::K, Role::V].into_iter().find_map(is_too_narrow) {
            None => Ok(()),
            Some((name, cols)) => Err(Error::new(format!(
                "Q is a stack of {heads} heads, but {name} is one matrix with {}",
                counted(cols, "column")
            ))
            .help("give K and V as stacks too, or, if Q is a batch of sequences, one sequence alone")),
        }
    }

    /// The note on stacks that may be heads or sequences.
    pub(super) fn note_on_stacks(&self, stacks: &[Role], heads: usize) -> Option<String> {
        if stacks.is_empty() || self.heads.is_some() || self.kv_heads.is_some() {
            return None;
        }
        let names: Vec<&str> = stacks.iter().map(|role| role.name()).collect();
        let (are, stacks) = if names.len() == 1 { ("is", "a stack") } else { ("are", "stacks") };
        Some(format!(
            "{} {are} {stacks} of matrices, read as {heads} heads of one sequence; a batch of sequences is given one by one. \
             --heads {heads} says that they are heads.",
            all_of(&names)
        ))
    }
}

/// The number of heads of the option or of the file; an error if both are given and differ.
fn agreed(option: &str, asked: Option<usize>, what: &str, found: Option<usize>) -> Result<Option<usize>> {
    match (asked, found) {
        (Some(asked), Some(found)) if asked != found => Err(Error::new(format!(
            "{option} is {asked}, but the file has {} of {what}",
            counted(found, "head")
        ))
        .help(format!("leave {option} out, or give a matrix instead of a stack of heads"))),
        (asked, found) => Ok(asked.or(found)),
    }
}

/// The options that give a recipe, without those that are the default.
pub(crate) fn options_of(recipe: &Recipe) -> String {
    let mut options: Vec<String> = Vec::new();
    if recipe.heads > 1 {
        options.push(format!("--heads {}", recipe.heads));
    }
    if recipe.kv_heads != recipe.heads {
        options.push(format!("--kv-heads {}", recipe.kv_heads));
    }
    if recipe.score == Score::Cosine {
        options.push("--score cosine".into());
    }
    if matches!(recipe.scale, Scale::None | Scale::Number(_)) {
        options.push(format!("--scale {}", scale_option(recipe.scale)));
    }
    if recipe.temperature != 1.0 {
        options.push(format!("--temperature {}", recipe.temperature));
    }
    let mask = &recipe.mask;
    if !mask_options(mask).is_empty() {
        options.push(mask_options(mask).join(" "));
    }
    options.extend(mask.matrix.map(|rule| {
        let kind = match rule {
            MatrixRule::Allow => "allow",
            MatrixRule::Block => "block",
            MatrixRule::Add => "add",
        };
        format!("--mask-kind {kind}")
    }));
    options.extend(recipe.output.residual.then(|| "--residual".to_string()));
    options.extend(mechanism_options(recipe));
    options.join(" ")
}

/// The value of `--scale` for a scale that it can give; any other is the default.
pub(crate) fn scale_option(scale: Scale) -> String {
    match scale {
        Scale::None => "none".to_string(),
        Scale::Number(number) => number.to_string(),
        _ => "auto".to_string(),
    }
}

/// The words that give the rules of a mask, without its matrix.
pub(crate) fn mask_options(mask: &Mask) -> Vec<String> {
    let mut words: Vec<String> = mask.causal.then(|| "--causal".to_string()).into_iter().collect();
    let mut with_value = |option: &str, value: String| words.extend([option.to_string(), value]);
    if let Some(window) = mask.window {
        with_value("--window", window.to_string());
    }
    if mask.keep_first > 0 {
        with_value("--keep-first", mask.keep_first.to_string());
    }
    // Without a rule that counts positions it would change nothing.
    if mask.from_start && (mask.causal || mask.window.is_some()) {
        with_value("--causal-from", "start".to_string());
    }
    words
}
