//! The options of a computation, as a recipe with its inputs.

use serde::Deserialize;

use crate::attention::{Mask, MatrixRule, RopeScaling};
use crate::cli::options::positive;
use crate::cli::registry;
use crate::cli::word_vectors::{WordArgs, WordVectors};
use crate::error::{Error, ErrorKind, Result};
use crate::explore::Changes;
use crate::foreign::visible;
use crate::graph::recipes::{
    AttendInputs, Output, PositionKind, Positions, Recipe, Rotary, Scale, Score, tree,
};
use crate::graph::{BackwardPass, Cells, Given, Graph, MAX_CELLS, Origin, Role, Start, recipes, resolve};
use crate::input::{self, Bundle, Files, LayerOptions, Layout, ReadOptions, exists};
use crate::matrix::{Labels, Matrix, Shape};
use crate::memory;
use crate::random::LegacyStream;
use crate::read::{self, AllowedNumbers};
use crate::tensor::{Dtype, Tensor};
use crate::text::{all_of, clip, counted, quoted};

use super::mechanisms::{MechanismArgs, position_name, scaling_option};

/// The inputs, and the options of attention.
#[derive(Deserialize, Debug)]
pub(crate) struct ComputationArgs {
    #[serde(flatten)]
    inputs: InputArgs,
    #[serde(flatten)]
    options: AttentionArgs,
    #[serde(flatten)]
    mechanisms: MechanismArgs,
}

impl ComputationArgs {
    /// Whether tokens, or queries, are given.
    pub(crate) fn is_given(&self) -> bool {
        let InputArgs { file, words, random, x, q, .. } = &self.inputs;
        [file.is_some(), words.is_some(), random.is_some(), x.is_some(), q.is_some()].contains(&true)
    }

    /// Words that are defined again by later options replace the earlier ones: `self` was parsed from both.
    pub(crate) fn replace_earlier(&mut self, earlier: &ComputationArgs) {
        self.inputs.vectors.replace_earlier(&earlier.inputs.vectors);
    }

    /// The recipe and the inputs of the options. With `dtype`, --q, --k, --v, --bias and --mask are read in that type of the
    /// fast path.
    pub(crate) fn computation(&self, dtype: Option<Dtype>, files: &mut Files<'_>) -> Result<Computation> {
        let mut loaded = self.inputs.load(files, dtype, self.options.heads, &self.mechanisms)?;
        let recipe = self.mechanisms.applied(self.options.recipe(&loaded)?, &loaded.inputs)?;
        MechanismArgs::spread_sink(&mut loaded.inputs, recipe.heads)?;
        loaded.beside_scores(recipe.heads, self.inputs.mask_kind)?;
        let of_mechanisms = MechanismArgs::notes(&recipe, &loaded.inputs, loaded.unscaled);
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
#[derive(Deserialize, Debug)]
pub(super) struct AttentionArgs {
    causal: bool,
    causal_from: String,
    window: Option<usize>,
    keep_first: Option<usize>,
    score: Score,
    scale: String,
    temperature: String,
    pub(super) heads: Option<usize>,
    kv_heads: Option<usize>,
    residual: bool,
}

impl AttentionArgs {
    /// The recipe that the options and what was loaded ask for.
    pub(super) fn recipe(&self, loaded: &LoadedInputs) -> Result<Recipe> {
        let from_start = self.causal_from == "start";
        if from_start && !self.causal && self.window.is_none() {
            return Err(Error::new("--causal-from start changes nothing without --causal or --window")
                .help("add --causal or --window"));
        }
        self.check_stack_beside_matrices(loaded)?;
        let heads = agreed("--heads", self.heads, "Q", loaded.query_heads)?.unwrap_or(1);
        let kv_heads = agreed("--kv-heads", self.kv_heads, "K and V", loaded.kv_heads())?.unwrap_or(heads);
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
                from_start,
                matrix: loaded.mask_rule,
                ..Mask::default()
            },
            output: Output { residual: self.residual, ..Output::default() },
            ..Recipe::default()
        })
    }

    /// # Errors
    /// If Q is a stack of heads, and K or V is a matrix that does not have as many side by side; or the other way round.
    fn check_stack_beside_matrices(&self, loaded: &LoadedInputs) -> Result<()> {
        if let (Some(heads @ 2..), None, Some(q), None) =
            (loaded.kv_heads(), loaded.query_heads, &loaded.inputs.q, self.heads)
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
            (!fits && loaded.kv_heads().is_none()).then_some((role.name(), cols))
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

/// The options that give a recipe, each with its value, without those that are the default. Matrices come from a file.
pub(crate) fn words_of(recipe: &Recipe) -> Vec<String> {
    let Recipe { heads, mask, positions, scale, .. } = *recipe;
    // Without a rule that counts positions it would change nothing where they begin.
    let from_start = mask.from_start && !mask.causal && mask.window.is_none();
    let usual = Recipe { kv_heads: heads, mask: Mask { from_start, ..Mask::default() }, ..Recipe::default() };
    let kind = PositionKind::Rotary(Rotary::default());
    let rotary = Recipe { positions: Positions { kind, ..Positions::default() }, ..usual };
    let [own, usual, rotary] = [recipe, &usual, &rotary].map(tree);
    let written = registry::of_settings("attend").filter_map(|option| {
        let place = format!("/{}", option.path.replace('.', "/"));
        let usual = usual.pointer(&place).or_else(|| rotary.pointer(&place));
        let value = own.pointer(&place).filter(|own| Some(*own) != usual)?;
        let of_this = |text: String| vec![option.spelling.clone(), text];
        Some(match (option.path, scale) {
            // The other scales are mistakes, which no option makes.
            ("scale", Scale::Number(number)) => of_this(number.to_string()),
            ("scale", Scale::None) => of_this("none".to_string()),
            ("scale", _) => return None,
            ("positions.kind", _) => of_this(position_name(positions.kind).to_string()),
            ("positions.kind.rotary.scaling", _) => {
                of_this(scaling_option(&RopeScaling::deserialize(value).ok()?))
            }
            _ => option.words(value),
        })
    });
    written.flatten().collect()
}

/// The options that give the settings of these changes: those that give them now, and how the others are spelled.
pub(crate) fn options_of_changes(changes: &Changes) -> (Vec<String>, Vec<String>) {
    let mut recipe = Recipe::default();
    let mut changed = Vec::new();
    for setting in changes.settings.values() {
        changed.push(setting.path());
        setting.put(&mut recipe);
    }
    // A matrix stays what its own option says.
    let is_changed = |path: &str| path != "mask.matrix" && changed.iter().any(|own| path.starts_with(own));
    recipe.mask.matrix = None;
    let replaced = registry::of_settings("attend").filter(|option| is_changed(option.path));
    (words_of(&recipe), replaced.map(|option| option.spelling).collect())
}

// From the options of `attn attend` to the matrices of the pipeline.

/// Where the matrices come from. FILE is .npy .npz .safetensors .csv .tsv .json, - for standard input, or "1 2; 3 4".
#[derive(Deserialize, Debug)]
pub(super) struct InputArgs {
    /// A file of several matrices: X, W_Q, W_K, W_V, …
    ///
    /// Names are X W_Q W_K W_V W_O Q K V, or those of a model's file such as q_proj.weight.
    file: Option<String>,
    q: Option<String>,
    k: Option<String>,
    v: Option<String>,
    x: Option<String>,
    wq: Option<String>,
    wk: Option<String>,
    wv: Option<String>,
    wo: Option<String>,
    words: Option<String>,
    #[serde(flatten)]
    vectors: WordArgs,
    random: Option<String>,
    seed: u32,
    ignore: Vec<String>,
    layout: Option<Layout>,
    layer: Option<String>,
    mask: Option<String>,
    mask_kind: Option<MatrixRule>,
    bias: Option<String>,
    tokens: Option<String>,
    key_tokens: Option<String>,
}

impl InputArgs {
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
        let mut loader = LoadedInputs { layout, ..LoadedInputs::default() };
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
                loader.tokens = words.as_deref().map(input::sentence).transpose()?;
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
        if let Some(tokens) = &self.key_tokens {
            loader.inputs.key_tokens = Some(input::label_list(tokens)?.into_iter().collect());
        }
        let weights = [&self.wq, &self.wk, &self.wv, &self.wo];
        if self.layout.is_some() && self.file.is_none() && weights.into_iter().all(Option::is_none) {
            return Err(Error::new("--layout needs a weight matrix")
                .help("give weights with --wq, --wk, --wv or --wo"));
        }
        loader.finish(mask_kind)?;
        Ok(loader)
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

// The inputs while they are read: heads side by side, weights in one layout, the meaning of masks.

/// The inputs of a computation, and what is known of them.
#[derive(Default)]
pub(super) struct LoadedInputs {
    /// The matrices.
    pub inputs: AttendInputs,
    /// The layout in which weights are read; without one, that which their names imply.
    pub layout: Option<Layout>,
    /// The names of the tokens.
    pub tokens: Option<Vec<String>>,
    /// The number of heads if Q was a stack.
    pub query_heads: Option<usize>,
    /// The number of heads if K was a stack.
    pub key_heads: Option<usize>,
    /// The number of heads if V was a stack.
    pub value_heads: Option<usize>,
    /// Of Q, K and V those that are stacks of several matrices, which the names in a file do not number.
    pub stacks: Vec<Role>,
    /// True if the names in a file are those of a model whose scores are not divided by √d.
    pub unscaled: bool,
    /// The meaning of the numbers in the mask.
    pub mask_rule: Option<MatrixRule>,
    /// Notes on how the inputs were read.
    pub notes: Vec<String>,
    /// The notes on words.
    pub of_words: Vec<String>,
}

impl LoadedInputs {
    /// The number of heads if K or V was a stack.
    fn kv_heads(&self) -> Option<usize> {
        self.key_heads.or(self.value_heads)
    }

    fn bundle(&mut self, bundle: Bundle, file: &str) -> Result<()> {
        self.notes.extend(bundle.notes);
        self.unscaled = bundle.unscaled;
        self.tokens = bundle.tokens;
        for (role, entry) in bundle.entries {
            let origin = Origin::User(format!("{} in {}", visible(&entry.name), visible(file)));
            self.take(role, entry.tensor, entry.layout, origin)?;
            self.stacks.retain(|stack| *stack != role || entry.heads.is_none());
            match role {
                Role::WQ => self.query_heads = entry.heads,
                Role::WK => self.key_heads = entry.heads,
                Role::WV => self.value_heads = entry.heads,
                _ => {}
            }
        }
        Ok(())
    }

    fn words(&mut self, text: &str, vectors: &WordArgs, files: &mut Files<'_>) -> Result<()> {
        let words = input::sentence(text)?;
        if words.is_empty() {
            return Err(Error::new("there is no word in --words").help("--words \"bat cave racket\""));
        }
        let WordVectors { matrix, origin, notes } = vectors.vectors(&words, files)?;
        self.tokens = Some(words);
        self.inputs.x = Some(Given::new(matrix, origin));
        self.of_words.clone_from(&notes);
        self.notes.extend(notes);
        Ok(())
    }

    /// Draws the tokens and the weights; `has_pairs` says whether the scores and the attention weights of these tokens are
    /// recorded too.
    fn random(&mut self, shape: &str, seed: u32, has_pairs: bool) -> Result<()> {
        let wrong = || {
            Error::new(format!("`--random {shape}` is not a shape"))
                .help("write --random 4,5 for four tokens of width five; both are at most 4096")
        };
        let (tokens, width) = shape.split_once(',').ok_or_else(wrong)?;
        let count = |text: &str| {
            text.trim().parse::<usize>().ok().filter(|n| (1..=4096).contains(n)).ok_or_else(wrong)
        };
        let (tokens, width) = (count(tokens)?, count(width)?);
        let cells = tokens * width + 3 * width * width;
        let of_roles = cells + 3 * tokens * width;
        let of_pairs = of_roles + 2 * tokens * tokens;
        let with =
            |made: &str, all: usize| format!("draws {cells} numbers, and with {made} they are {all} numbers");
        let refused = if cells > MAX_CELLS {
            Some((format!("would draw {cells} numbers"), ""))
        } else if of_roles > MAX_CELLS {
            Some((with("Q, K and V", of_roles), ""))
        } else if has_pairs && of_pairs > MAX_CELLS {
            Some((with("Q, K, V, S and A", of_pairs), ", or use --fast, which does not store S and A"))
        } else {
            None
        };
        if let Some((numbers, or)) = refused {
            return Err(Error::new(format!(
                "--random {shape} {numbers}, more than the limit of {MAX_CELLS}"
            ))
            .help(format!("give fewer tokens or a smaller width{or}")));
        }
        // Each is drawn, and recorded.
        memory::hold(memory::bytes_of::<f64>(2 * cells))?.keep();
        let mut stream = LegacyStream::seeded(seed);
        let mut draw =
            |rows| Some(Given::new(stream.standard_normal_matrix(rows, width), Origin::Drawn(seed)));
        self.inputs.x = draw(tokens);
        self.inputs.w_q = draw(width);
        self.inputs.w_k = draw(width);
        self.inputs.w_v = draw(width);
        Ok(())
    }

    /// Stores the matrix of a role, transposed if its layout asks for it.
    ///
    /// # Errors
    /// If numbers in a file cannot be read.
    fn take(&mut self, role: Role, tensor: Tensor, layout: Option<Layout>, origin: Origin) -> Result<()> {
        if tensor.is_inexact() && tensor.dtype() == Dtype::F64 {
            self.notes.push(rounded_integers(role.name()));
        }
        if role.has_heads() {
            self.stacked(role, tensor.is_stack().then(|| tensor.head_count()));
            self.stacks.retain(|stack| *stack != role);
            self.stacks.extend((tensor.is_stack() && tensor.head_count() > 1).then_some(role));
        }
        let turns = layout.or(self.layout) == Some(Layout::OutIn) && role.is_weights();
        let tensor: Tensor = if turns { tensor.into_matrix()?.transposed().into() } else { tensor };
        self.inputs.set(role, Given::new(tensor, origin));
        Ok(())
    }

    /// Stores the number of heads of a stacked array.
    fn stacked(&mut self, role: Role, heads: Option<usize>) {
        match role {
            Role::Q => self.query_heads = heads,
            Role::K => self.key_heads = heads,
            _ => self.value_heads = heads,
        }
    }

    /// Checks all inputs together, once they are there.
    ///
    /// # Errors
    /// If they do not fit each other, or have no meaning.
    fn finish(&mut self, mask_kind: Option<MatrixRule>) -> Result<()> {
        if let Some(Given { tensor, origin }) = &self.inputs.bias
            && tensor.cells().any(is_infinity)
        {
            return Err(Error::new("`inf` in a bias")
                .in_source(place_of(origin, "the bias"))
                .help("write -inf to hide a key; with inf no other score would count"));
        }
        self.which_wins();
        if let (Some(keys), Some(values)) = (self.key_heads, self.value_heads)
            && keys != values
        {
            return Err(Error::new(format!("K has {} and V has {values}", counted(keys, "head")))
                .help("give keys and values the same number of heads"));
        }
        self.mask_rule = self.inputs.mask.as_ref().map(|mask| mask_rule(mask, mask_kind)).transpose()?;
        if self.mask_rule.is_none() && mask_kind.is_some() {
            return Err(Error::new("--mask-kind needs a mask").help("give the mask with --mask FILE"));
        }
        self.inputs.tokens = self.tokens.take().map(|tokens| tokens.into_iter().collect());
        check_tokens(&self.inputs)
    }

    /// Says which of the given matrices are not used because Q, K or V is given itself.
    fn which_wins(&mut self) {
        let inputs = &self.inputs;
        let given = [
            ("Q", inputs.q.is_some(), &inputs.w_q),
            ("K", inputs.k.is_some(), &inputs.w_k),
            ("V", inputs.v.is_some(), &inputs.w_v),
        ];
        let taken: Vec<_> = given.iter().filter(|(_, role, _)| *role).collect();
        if inputs.x.is_none() && taken.iter().all(|(_, _, weights)| weights.is_none()) {
            return;
        }
        for (name, _, weights) in taken {
            let unused = if weights.is_some() {
                format!("W_{name} is not used")
            } else {
                "X is not used to compute it".into()
            };
            self.notes.push(format!("{name} is taken as given; {unused}."));
        }
    }

    /// Bias and mask with a row for each query, and those of several heads side by side; says how each was read. What has another
    /// shape is left to the pipeline, which refuses it.
    ///
    /// # Errors
    /// If there is no room for a copy.
    fn beside_scores(&mut self, heads: usize, kind: Option<MatrixRule>) -> Result<()> {
        let AttendInputs { x, q, k, bias, mask, .. } = &mut self.inputs;
        let rows = |own: &Option<Given>| own.as_ref().or(x.as_ref()).map(|given| given.shape().rows);
        let (Some(queries), Some(keys)) = (rows(q), rows(k)) else { return Ok(()) };
        for (what, given) in [("bias", bias), ("mask", mask)] {
            let Some(Given { tensor, .. }) = given else { continue };
            let (Shape { rows, cols }, stacked) = (tensor.shape(), tensor.head_count());
            let is_below = heads > 1 && (rows, cols, stacked) == (heads.saturating_mul(queries), keys, 1);
            let is_own =
                is_below || heads > 1 && cols == heads.saturating_mul(keys) && [1, heads].contains(&stacked);
            let is_one_row = queries > 1 && rows == 1 && (is_own || cols == keys);
            if !is_own && !is_one_row {
                continue;
            }
            let (one, holds) = match is_one_row {
                true => ("row", ", which holds for every query"),
                false => ("matrix", ""),
            };
            let place = match stacked {
                1 if is_below => ", one below the other",
                1 => ", side by side",
                _ => "",
            };
            let (has, of_pytorch) = match is_own {
                true => (format!("a {one} for each of {heads} heads{place}"), "MultiheadAttention"),
                false => (format!("one {one}"), "key_padding_mask"),
            };
            let means = match tensor.dtype() == Dtype::Bool && kind.is_none() {
                true => format!(
                    " True is a key that may be seen; PyTorch's {of_pytorch} has it the other way round: --mask-kind block."
                ),
                false => String::new(),
            };
            self.notes.push(format!("The {what} has {has}{holds}.{means}"));
            if is_below {
                *tensor = tensor.clone().of_heads_below(heads)?;
            }
            if is_one_row {
                *tensor = tensor.clone().in_every_row(queries)?;
            }
        }
        Ok(())
    }
}

/// The note on a matrix of integers beyond 2⁵³.
fn rounded_integers(name: &str) -> String {
    format!("{name} has integers beyond 2⁵³; each is rounded to the nearest 64-bit float.")
}

/// Checks that there is one name for each token.
fn check_tokens(inputs: &AttendInputs) -> Result<()> {
    if inputs.key_tokens.is_some() && (inputs.k.is_none() || inputs.v.is_none()) {
        return Err(Error::new("--key-tokens names the rows of given keys and values")
            .help("give --k and --v; tokens that are their own keys have the names of --tokens"));
    }
    let named: [(&Option<Labels>, &[Role]); 3] = [
        (&inputs.tokens, &[Role::X, Role::Q, Role::K]),
        (&inputs.key_tokens, &[Role::K]),
        (&inputs.key_tokens, &[Role::V]),
    ];
    for (tokens, roles) in named {
        let Some(count) = tokens.as_ref().map(|tokens| tokens.len()) else { continue };
        let rows = |role: &Role| inputs.get(*role).map(|given| (role.name(), given.shape().rows));
        if let Some((name, rows)) = roles.iter().find_map(rows).filter(|(_, rows)| *rows != count) {
            let help = format!("give {}: {name} has {}", counted(rows, "name"), counted(rows, "row"));
            let verb = if count == 1 { "is" } else { "are" };
            let names = counted(count, "name");
            return Err(Error::new(format!("there {verb} {names} for {}", counted(rows, "token"))).help(help));
        }
    }
    Ok(())
}

// The meaning of the numbers of a mask.

fn is_infinity(x: f64) -> bool {
    x == f64::INFINITY
}

/// The source of a matrix for an error, or `name`.
fn place_of(origin: &Origin, name: &str) -> String {
    match origin {
        Origin::User(source) => source.clone(),
        _ => name.to_string(),
    }
}

/// The meaning of a mask's numbers: `kind`, or else booleans allow and numbers are added. A mask of only 0 and 1 needs `kind`,
/// because the wrong meaning would silently hide nothing.
fn mask_rule(Given { tensor, origin }: &Given, kind: Option<MatrixRule>) -> Result<MatrixRule> {
    let is_boolean = tensor.dtype() == Dtype::Bool;
    let (what, help) = match kind {
        _ if !is_boolean && tensor.cells().any(is_infinity) => {
            ("`inf` in a mask", "write -inf to hide a key; with inf no other score would count")
        }
        Some(MatrixRule::Add) if is_boolean => {
            ("true and false cannot be added to scores", "give --mask-kind allow or --mask-kind block")
        }
        Some(kind) => return Ok(kind),
        None if is_boolean => return Ok(MatrixRule::Allow),
        None if tensor.cells().all(|x| x == 0.0 || x == 1.0) => (
            "a mask with only 0 and 1 can mean three things",
            "give --mask-kind allow (1 may attend), block (1 may not), add (added to the scores)",
        ),
        None => return Ok(MatrixRule::Add),
    };
    Err(Error::new(what).in_source(place_of(origin, "the mask")).help(help))
}

// `--gradient`, `--loss` and `--targets`: the start of the backward pass.

/// The backward pass after the forward one.
#[derive(Deserialize, Debug)]
pub(crate) struct GradientArgs {
    gradient: Option<String>,
    loss: Option<String>,
    targets: Option<String>,
}

impl GradientArgs {
    /// The option that asks for a backward pass, if there is one.
    pub(super) fn option(&self) -> Option<&'static str> {
        let of_gradient = self.gradient.as_ref().map(|_| "--gradient");
        of_gradient.or_else(|| self.loss.as_ref().map(|_| "--loss"))
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
