//! From the options of `attn attend` to the matrices of the pipeline.

use clap::{Args, ValueEnum};

use crate::attention::MatrixRule;
use crate::cli::word_vectors::WordArgs;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::{Origin, Role};
use crate::input::{self, Files, LayerOptions, Layout, ReadOptions, exists};
use crate::tensor::Dtype;
use crate::text::quoted;

use super::input_loader::{InputLoader, LoadedInputs};
use super::mechanisms::MechanismArgs;

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
    #[arg(long, value_enum, value_name = "WAY", hide_short_help = true)]
    layout: Option<LayoutArg>,
    /// Which layer of a model's file
    #[arg(long, hide_short_help = true, value_name = "LAYER", requires = "file")]
    layer: Option<String>,
    /// Which token may attend to which
    ///
    /// A matrix of true and false, of 1 and 0 with --mask-kind, or of numbers to add to the scores.
    #[arg(long, value_name = "FILE")]
    mask: Option<String>,
    /// What a 1 in the mask means: allow, block or add
    #[arg(long, value_enum, value_name = "KIND")]
    mask_kind: Option<MaskKindArg>,
    /// A matrix that is added to the scores of every head
    #[arg(long, value_name = "FILE")]
    bias: Option<String>,
    /// Names of the tokens: the,cat,sat
    ///
    /// Without commas, blanks do: "the cat sat".
    #[arg(long, value_name = "A,B,…", conflicts_with = "words")]
    tokens: Option<String>,
}

/// `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LayoutArg {
    /// One row for each input feature: x·W
    InOut,
    /// One row for each output feature: x·Wᵀ
    OutIn,
}

/// `--mask-kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MaskKindArg {
    /// 1 may attend, 0 is hidden
    Allow,
    /// 1 is hidden, 0 may attend
    Block,
    /// Added to the scores
    Add,
}

impl LayoutArg {
    fn layout(self) -> Layout {
        match self {
            LayoutArg::InOut => Layout::InOut,
            LayoutArg::OutIn => Layout::OutIn,
        }
    }
}

impl MaskKindArg {
    fn rule(self) -> MatrixRule {
        match self {
            MaskKindArg::Allow => MatrixRule::Allow,
            MaskKindArg::Block => MatrixRule::Block,
            MaskKindArg::Add => MatrixRule::Add,
        }
    }
}

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
        let layout = self.layout.map(LayoutArg::layout);
        let mut loader = InputLoader::with_layout(layout);
        let mask_kind = self.mask_kind.map(MaskKindArg::rule);
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
