//! From the options of `attn attend` to the matrices of the pipeline.

use clap::{Args, ValueEnum};

use crate::cli::words::WordArgs;
use crate::error::{Error, Result};
use crate::graph::{Dtype, Origin};
use crate::input::{self, Allow, Files, Typing, clean_label};

use super::loading::{Loaded, Loading};

/// Where the matrices come from. FILE is .npy .npz .safetensors .csv .tsv .json, - for standard input, or "1 2; 3 4".
#[derive(Args, Debug)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArgs {
    /// A file that holds several matrices under their names: X W_Q W_K W_V W_O Q K V, q_proj.weight …
    file: Option<String>,
    /// Queries, a row for each token.
    #[arg(long, value_name = "FILE")]
    q: Option<String>,
    /// Keys.
    #[arg(long, value_name = "FILE")]
    k: Option<String>,
    /// Values.
    #[arg(long, value_name = "FILE")]
    v: Option<String>,
    /// Tokens, a row for each: Q, K and V are computed from it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["words", "random"])]
    x: Option<String>,
    /// The weights of the queries [default: the identity].
    #[arg(long, value_name = "FILE")]
    wq: Option<String>,
    /// The weights of the keys.
    #[arg(long, value_name = "FILE")]
    wk: Option<String>,
    /// The weights of the values.
    #[arg(long, value_name = "FILE")]
    wv: Option<String>,
    /// The output projection [default: none].
    #[arg(long, value_name = "FILE")]
    wo: Option<String>,
    /// A sentence of yours: each word becomes a token, and so does the punctuation around it.
    #[arg(long, value_name = "SENTENCE")]
    words: Option<String>,
    #[command(flatten)]
    vectors: WordArgs,
    /// Draw X (T×E) and the weights (E×E) as np.random.randn would; --words or --tokens name the rows.
    #[arg(long, value_name = "T,E")]
    random: Option<String>,
    /// The seed of --random.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "random")]
    seed: u32,
    /// How weights are stored: x·W (in-out) or PyTorch's Linear (out-in) [default: by their names, else in-out].
    #[arg(long, value_enum)]
    layout: Option<LayoutArg>,
    /// Which layer of a model's file.
    #[arg(long, value_name = "LAYER", requires = "file")]
    layer: Option<String>,
    /// Who may attend to whom: true/false, 1/0 with --mask-kind, or numbers to add.
    #[arg(long, value_name = "FILE")]
    mask: Option<String>,
    /// What the numbers of the mask mean: not 0 may attend, not 0 may not, or added to the scores.
    #[arg(long, value_enum, value_name = "KIND")]
    mask_kind: Option<MaskKindArg>,
    /// Numbers to add to the scores of every head.
    #[arg(long, value_name = "FILE")]
    bias: Option<String>,
    /// Names for the tokens: the,cat,sat or "the cat sat".
    #[arg(long, value_name = "A,B,…", conflicts_with = "words")]
    tokens: Option<String>,
}

/// `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LayoutArg {
    /// A row for each input feature: x·W.
    InOut,
    /// A row for each output feature: x·Wᵀ.
    OutIn,
}

/// `--mask-kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MaskKindArg {
    /// Not 0: may attend.
    Allow,
    /// Not 0: may not attend.
    Block,
    /// Added to the scores.
    Add,
}

impl InputArgs {
    /// Where words were defined earlier and again later, the later ones count: `self` was parsed from both.
    pub(super) fn replace_earlier(&mut self, earlier: &InputArgs) {
        self.vectors.replace_earlier(&earlier.vectors);
    }

    /// Reads everything that the options name; Q, K, V, bias and mask straight into numbers of a type, if one is given.
    pub(super) fn load(&self, files: &mut Files<'_>, dtype: Option<Dtype>) -> Result<Loaded> {
        let mut loading = Loading::with_layout(self.layout);
        let mask_as_truth = matches!(self.mask_kind, Some(MaskKindArg::Allow | MaskKindArg::Block));
        let typing = dtype.map(|dtype| Typing { dtype, mask_as_truth });
        if let Some(file) = &self.file {
            loading.bundle(files.bundle_in(file, self.layer.as_deref(), typing)?, file)?;
        }
        if self.words.is_none() || self.random.is_some() {
            self.vectors.check_unused()?;
        }
        match (&self.words, &self.random) {
            (Some(words), None) => loading.words(words, &self.vectors, files)?,
            (words, Some(random)) => {
                loading.random(random, self.seed)?;
                loading.tokens = words.as_deref().map(input::sentence);
            }
            (None, None) => {}
        }
        let options = [
            ("X", &self.x),
            ("W_Q", &self.wq),
            ("W_K", &self.wk),
            ("W_V", &self.wv),
            ("W_O", &self.wo),
            ("Q", &self.q),
            ("K", &self.k),
            ("V", &self.v),
            ("B", &self.bias),
            ("M", &self.mask),
        ];
        for (name, source) in options {
            if let Some(source) = source {
                let origin = Origin::User(clean_label(source).into_owned());
                let allow = if matches!(name, "B" | "M") { Allow::INFINITE } else { Allow::FINITE };
                let numbers = match (typing, name) {
                    (Some(typing), "M") => Some(files.mask(source, typing)?),
                    (Some(typing), "Q" | "K" | "V" | "B") => {
                        Some(files.numbers(source, typing.dtype, allow)?)
                    }
                    _ => None,
                };
                if let Some(numbers) = numbers {
                    loading.typed(name, numbers, origin)?;
                    continue;
                }
                loading.entry(name, files.array(source, allow)?, None, origin)?;
            }
        }
        if let Some(tokens) = &self.tokens {
            loading.tokens = Some(input::label_list(tokens));
        }
        let weights = [&self.wq, &self.wk, &self.wv, &self.wo];
        if self.layout.is_some() && self.file.is_none() && weights.into_iter().all(Option::is_none) {
            return Err(Error::new("--layout needs weights to be about")
                .help("give weights with --wq, --wk, --wv or --wo"));
        }
        loading.finished(self.mask_kind)
    }
}
