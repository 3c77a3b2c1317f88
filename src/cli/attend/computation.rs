//! The options of a computation, as a recipe with its inputs.

use clap::{Args, ValueEnum};

use crate::attention::{Mask, MatrixRule};
use crate::cli::options::{choice, positive};
use crate::cli::word_vectors::WordArgs;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::graph::recipes::{AttendInputs, Output, Recipe, Scale, Score};
use crate::graph::{BackwardPass, Cells, Given, Graph, Origin, Role, Start, recipes, resolve};
use crate::input;
use crate::input::{Files, LayerOptions, Layout, ReadOptions, exists};
use crate::matrix::Matrix;
use crate::read::{self, AllowedNumbers};
use crate::tensor::Dtype;
use crate::text::{all_of, clip, counted, quoted};

use super::inputs::{InputLoader, LoadedInputs};
use super::mechanisms::{MechanismArgs, mechanism_options};

/// The inputs, and the options of attention.
#[derive(Args, Debug)]
pub(crate) struct ComputationArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    options: AttentionArgs,
    #[command(flatten)]
    mechanisms: MechanismArgs,
}

impl ComputationArgs {
    /// Words that are defined again by later options replace the earlier ones: `self` was parsed from both.
    pub(crate) fn replace_earlier(&mut self, earlier: &ComputationArgs) {
        self.inputs.replace_earlier(&earlier.inputs);
    }

    /// The recipe and the inputs of the options. With `dtype`, --q, --k, --v, --bias and --mask are read in that type of the
    /// fast path.
    pub(crate) fn computation(&self, dtype: Option<Dtype>, files: &mut Files<'_>) -> Result<Computation> {
        let mut loaded = self.inputs.load(files, dtype, self.options.heads, &self.mechanisms)?;
        let recipe = self.mechanisms.applied(self.options.recipe(&loaded)?, &loaded)?;
        MechanismArgs::spread_sink(&mut loaded, recipe.heads)?;
        loaded.beside_scores(recipe.heads, self.inputs.mask_kind)?;
        let of_mechanisms = MechanismArgs::notes(&recipe, &loaded);
        let mut notes = loaded.notes;
        notes.extend(of_mechanisms);
        if recipe.score == Score::Cosine && recipe.scale == Scale::Auto {
            notes.push("Cosines are at most 1 and do not need 1/√d_k; --scale none leaves it out.".into());
        }
        notes.extend(self.options.note_on_stacks(&loaded.stacks, recipe.heads));
        notes.extend(files.take_notes());
        let of_words = loaded.of_words;
        Ok(Computation { recipe, inputs: loaded.inputs, notes, of_words })
    }
}

/// A recipe with its inputs.
pub(crate) struct Computation {
    pub recipe: Recipe,
    pub inputs: AttendInputs,
    /// Notes on how the inputs were read.
    pub notes: Vec<String>,
    /// The notes on words, which are shown next to X.
    pub of_words: Vec<String>,
}

// The options of attention itself, as a recipe.

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
    #[arg(long, value_parser = choice(SCORES), default_value = "dot", value_name = "KIND")]
    score: Score,
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
const SCORES: [(&str, &str, Score); 2] =
    [("dot", "The dot product", Score::Dot), ("cosine", "The cosine", Score::Cosine)];

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
            score: self.score,
            scale: match self.scale.as_str() {
                "auto" => Scale::Auto,
                "none" => Scale::None,
                number => match read::number(number) {
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

// From the options of `attn attend` to the matrices of the pipeline.

/// Where the matrices come from. FILE is .npy .npz .safetensors .csv .tsv .json, - for standard input, or "1 2; 3 4".
#[derive(Args, Debug)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArgs {
    /// A file of several matrices: X, W_Q, W_K, W_V, …
    ///
    /// Names are X W_Q W_K W_V W_O Q K V, or those of a model's file such as q_proj.weight.
    file: Option<String>,
    /// Queries, one row for each token
    #[arg(long, value_name = "FILE")]
    q: Option<String>,
    /// Keys
    #[arg(long, value_name = "FILE")]
    k: Option<String>,
    /// Values
    #[arg(long, value_name = "FILE")]
    v: Option<String>,
    /// Tokens as vectors, for Q, K and V
    #[arg(long, value_name = "FILE", conflicts_with_all = ["words", "random"])]
    x: Option<String>,
    /// W_Q, for the queries [default: identity]
    #[arg(long, value_name = "FILE")]
    wq: Option<String>,
    /// W_K, for the keys [default: identity]
    #[arg(long, value_name = "FILE")]
    wk: Option<String>,
    /// W_V, for the values [default: identity]
    #[arg(long, value_name = "FILE")]
    wv: Option<String>,
    /// W_O, which mixes the heads [default: none]
    #[arg(long, value_name = "FILE")]
    wo: Option<String>,
    /// A sentence of yours: each word is a token
    ///
    /// Punctuation becomes tokens too. Words that have no vector get one invented from their letters.
    #[arg(long, value_name = "SENTENCE")]
    words: Option<String>,
    #[command(flatten)]
    vectors: WordArgs,
    /// Random tokens and weights: T tokens of width E
    ///
    /// X (T×E), then weights, all from np.random.randn; --words or --tokens name the rows.
    #[arg(long, value_name = "T,E")]
    random: Option<String>,
    /// Seed of --random
    #[arg(long, value_name = "N", default_value_t = 0, requires = "random")]
    seed: u32,
    /// Leave out entries of FILE that end so: bias
    #[arg(long, hide_short_help = true, value_name = "NAME,…", requires = "file", value_delimiter = ',')]
    ignore: Vec<String>,
    /// How weights are stored: x·W (in-out) or x·Wᵀ (out-in)
    ///
    /// PyTorch's Linear stores out-in. By default the names in the file decide, or else it is in-out.
    #[arg(long, value_parser = choice(LAYOUTS), value_name = "WAY", hide_short_help = true)]
    layout: Option<Layout>,
    /// Which layer of a model's file
    #[arg(long, hide_short_help = true, value_name = "LAYER", requires = "file")]
    layer: Option<String>,
    /// Which token may attend to which
    ///
    /// A matrix of true and false, of 1 and 0 with --mask-kind, or of numbers to add to the scores. (H, T, N) is one per head.
    #[arg(long, value_name = "FILE")]
    mask: Option<String>,
    /// What a 1 in the mask means: allow, block or add
    #[arg(long, value_parser = choice(MASK_KINDS), value_name = "KIND")]
    mask_kind: Option<MatrixRule>,
    /// A matrix added to the scores, or one per head
    #[arg(long, value_name = "FILE")]
    bias: Option<String>,
    /// Names of the tokens: the,cat,sat
    ///
    /// Without commas, blanks do: "the cat sat".
    #[arg(long, value_name = "A,B,…", conflicts_with = "words")]
    tokens: Option<String>,
}

/// `--layout`.
const LAYOUTS: [(&str, &str, Layout); 2] = [
    ("in-out", "One row for each input feature: x·W", Layout::InOut),
    ("out-in", "One row for each output feature: x·Wᵀ", Layout::OutIn),
];

/// `--mask-kind`.
const MASK_KINDS: [(&str, &str, MatrixRule); 3] = [
    ("allow", "1 may attend, 0 is hidden", MatrixRule::Allow),
    ("block", "1 is hidden, 0 may attend", MatrixRule::Block),
    ("add", "Added to the scores", MatrixRule::Add),
];

impl InputArgs {
    /// Keeps the later definition of each word that is defined twice: `self` was parsed from both option lists.
    pub(super) fn replace_earlier(&mut self, earlier: &InputArgs) {
        self.vectors.replace_earlier(&earlier.vectors);
    }

    /// Reads everything that the options name; Q, K, V, bias and mask straight into numbers of a type, if one is given. `heads` is
    /// what `--heads` says.
    pub(super) fn load(
        &self,
        files: &mut Files<'_>,
        dtype: Option<Dtype>,
        heads: Option<usize>,
        mechanisms: &MechanismArgs,
    ) -> Result<LoadedInputs> {
        let (layout, mask_kind) = (self.layout, self.mask_kind);
        let mut loader = InputLoader::with_layout(layout);
        let mask_as_truth = matches!(mask_kind, Some(MatrixRule::Allow | MatrixRule::Block));
        let want = ReadOptions { dtype, mask_as_truth };
        if let Some(file) = &self.file {
            refuse_word(file, self.words.as_deref())?;
            let options = LayerOptions { layer: self.layer.as_deref(), ignore: &self.ignore, layout, heads };
            loader.bundle(files.bundle(file, options, want)?, file)?;
        }
        if self.words.is_none() || self.random.is_some() {
            self.vectors.check_unused()?;
        }
        match (&self.words, &self.random) {
            (Some(words), None) => loader.words(words, &self.vectors, files)?,
            (words, Some(random)) => {
                let is_given = self.file.is_some() || self.q.is_some() || self.k.is_some();
                loader.random(random, self.seed, dtype.is_none() && !is_given)?;
                loader.tokens = words.as_deref().map(crate::input::sentence).transpose()?;
            }
            (None, None) => {}
        }
        let options = [
            (Role::X, &self.x),
            (Role::WQ, &self.wq),
            (Role::WK, &self.wk),
            (Role::WV, &self.wv),
            (Role::WO, &self.wo),
            (Role::Q, &self.q),
            (Role::K, &self.k),
            (Role::V, &self.v),
            (Role::Bias, &self.bias),
            (Role::Mask, &self.mask),
        ];
        for (role, source) in options {
            if let Some(source) = source {
                let origin = Origin::User(visible(source).into_owned());
                loader.take(role, files.read(source, role, want)?, None, origin)?;
            }
        }
        for (role, tensor, origin) in mechanisms.load(files)? {
            loader.take(role, tensor, None, origin)?;
        }
        if let Some(tokens) = &self.tokens {
            loader.tokens = Some(input::label_list(tokens)?);
        }
        let weights = [&self.wq, &self.wk, &self.wv, &self.wo];
        if self.layout.is_some() && self.file.is_none() && weights.into_iter().all(Option::is_none) {
            return Err(Error::new("--layout needs a weight matrix")
                .help("give weights with --wq, --wk, --wv or --wo"));
        }
        loader.finished(mask_kind)
    }
}

/// # Errors
/// If the argument is a word and not a file: words belong to --words.
fn refuse_word(file: &str, words: Option<&str>) -> Result<()> {
    let is_word =
        !file.is_empty() && file.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '\'' | ','));
    if !is_word || exists(file) {
        return Ok(());
    }
    let shown = visible(file).into_owned();
    let (how, sentence) = match words {
        Some(words) => ("put quotation marks around the whole sentence", format!("{words} {file}")),
        None => ("words go in --words", file.to_string()),
    };
    let help = format!("{how}: attn attend --words {}", quoted(&visible(&sentence)));
    Err(Error::new("no such file").in_source(shown).help(help))
}

// `--gradient`, `--loss` and `--targets`: the start of the backward pass.

/// The backward pass after the forward one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Attention")]
pub(crate) struct GradientArgs {
    /// Gradients back from O: ones, dO=FILE, O[bat,x]
    #[arg(long, value_name = "START", hide_short_help = true, conflicts_with = "loss")]
    gradient: Option<String>,
    /// Gradients back from a loss of O: cross-entropy
    #[arg(
        long,
        value_enum,
        value_name = "LOSS",
        hide_short_help = true,
        hide_possible_values = true,
        requires = "targets"
    )]
    loss: Option<LossArg>,
    /// The right column of O per row, - for none: x,2,-
    #[arg(long, value_name = "A,B,…", hide_short_help = true, requires = "loss", allow_hyphen_values = true)]
    targets: Option<String>,
}

/// `--loss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LossArg {
    CrossEntropy,
}

impl GradientArgs {
    /// The option that asks for a backward pass, if there is one.
    pub(super) fn option(&self) -> Option<&'static str> {
        let of_gradient = self.gradient.as_ref().map(|_| "--gradient");
        of_gradient.or_else(|| self.loss.map(|_| "--loss"))
    }

    /// The backward pass over the graph of a pipeline, if one is asked for.
    ///
    /// # Errors
    /// If the start names no step, a file cannot be read, or the targets do not fit O.
    pub(crate) fn pass(&self, graph: &Graph, files: &mut Files<'_>) -> Result<Option<BackwardPass>> {
        if let Some(text) = &self.gradient {
            return Ok(Some(start(graph, text, files)?));
        }
        let targets = self.targets.as_deref().filter(|_| self.loss.is_some());
        targets.map(|text| Ok(BackwardPass::CrossEntropy(targets_of(graph, text, files)?))).transpose()
    }

    /// An error of the computation with the backward pass; without one it is possible.
    pub(crate) fn refused(&self, error: Error) -> Error {
        match (&self.gradient, &self.targets) {
            (Some(text), _) => error.in_source(format!("--gradient {}", visible(text))),
            (None, Some(text)) => error.in_source(format!("--targets {}", visible(text))),
            (None, None) => error,
        }
    }

    /// The inputs of a recipe, with the backward pass if there is one, so that it is computed with everything else, and again.
    ///
    /// # Errors
    /// Those of [`GradientArgs::pass`].
    pub(crate) fn with_pass(
        &self,
        recipe: &Recipe,
        inputs: AttendInputs,
        files: &mut Files<'_>,
    ) -> Result<AttendInputs> {
        if self.option().is_none() {
            return Ok(inputs);
        }
        let backward = self.pass(&recipes::attend(recipe, inputs.clone())?, files)?;
        Ok(AttendInputs { backward, ..inputs })
    }
}

/// The step where the backward pass starts, and its gradient.
fn start(graph: &Graph, text: &str, files: &mut Files<'_>) -> Result<BackwardPass> {
    let from = |name: &str, start| Ok(BackwardPass::From(name.to_string(), Box::new(start)));
    if text == "ones" {
        return from("O", Start::Ones);
    }
    if let Some((name, file)) = text.split_once('=') {
        let of = name.trim().strip_prefix('d').filter(|_| !file.is_empty()).ok_or_else(|| {
            Error::new(format!("`--gradient {}` names no gradient", visible(text)))
                .help("write --gradient dO=FILE, with a number for each cell of O")
        })?;
        let matrix = files.matrix(file, AllowedNumbers::FINITE)?;
        graph.require(of)?;
        return from(of, Start::Given(Given::new(matrix, Origin::User(visible(file).into_owned()))));
    }
    match resolve(graph, text).map_err(|error| error.in_source("--gradient"))? {
        Cells::Node(node) => from(&graph[node].name, Start::Ones),
        Cells::Cell(cell) => from(&graph[cell.node].name, Start::Cell(cell.row, cell.col)),
        Cells::Row(node, row) => {
            let shape = graph[node].shape();
            let ones = Matrix::from_fn(shape.rows, shape.cols, |i, _| if i == row { 1.0 } else { 0.0 });
            from(&graph[node].name, Start::Given(Given::new(ones, Origin::Stated)))
        }
    }
}

/// The target of each row of O: a list in place, whatever files there are, or else one in a file.
fn targets_of(graph: &Graph, text: &str, files: &mut Files<'_>) -> Result<Vec<Option<usize>>> {
    match listed_targets(graph, text, None) {
        Err(_) if exists(text) || text.contains(['/', '\\']) => {
            listed_targets(graph, text, Some(files.text(text)?))
        }
        in_place => in_place,
    }
}

fn listed_targets(graph: &Graph, text: &str, of_file: Option<String>) -> Result<Vec<Option<usize>>> {
    let is_between = |c: char| c == ',' || c.is_whitespace() && of_file.is_some();
    let list = of_file.as_deref().unwrap_or(text).trim().split(is_between).map(str::trim);
    let list: Vec<&str> = list.filter(|target| of_file.is_none() || !target.is_empty()).collect();
    let rows = graph[graph.require("O")?].shape().rows;
    let in_targets = |error: Error| error.in_source(format!("--targets {}", visible(text)));
    if list.len() != rows {
        let there = counted(list.len(), "target");
        let verb = if list.len() == 1 { "is" } else { "are" };
        let error = Error::new(format!("there {verb} {there}, but O has {}", counted(rows, "row")));
        let help = "give one for each row: a column of O, by its name or its number from 1, or - for a row that does not count";
        return Err(in_targets(error.of_kind(ErrorKind::Shape).help(help)));
    }
    let column = |(row, target): (usize, &&str)| match *target {
        // A minus before numbers reaches here as the typographic one.
        "-" | "−" | "none" => Ok(None),
        target => match resolve(graph, &format!("O[{},{target}]", row + 1)).map_err(in_targets)? {
            Cells::Cell(cell) => Ok(Some(cell.col)),
            _ => Err(in_targets(Error::new(format!("`{}` is no column of O", clip(target))))),
        },
    };
    list.iter().enumerate().map(column).collect()
}
