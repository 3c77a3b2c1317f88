//! From the options of `attn attend` to the matrices of the pipeline.

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::graph::{Dtype, Origin};
use crate::input::{Allow, Files, Typing, clean_label};

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
    /// Words as tokens: "bat cave racket".
    #[arg(long, conflicts_with = "random")]
    words: Option<String>,
    /// Word vectors for --words: a word and its numbers on every line, plain or gzip.
    #[arg(long, value_name = "FILE", requires = "words")]
    embeddings: Option<String>,
    /// Draw X (T×E) and the weights (E×E) as np.random.randn would.
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
    /// Names for the tokens.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with = "words")]
    tokens: Vec<String>,
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
    /// Where names were typed earlier and again later, the later ones count: `self` was parsed from both.
    pub(super) fn replace_earlier(&mut self, earlier: &InputArgs) {
        if self.tokens.len() > earlier.tokens.len() {
            self.tokens.drain(..earlier.tokens.len());
        }
    }

    /// Reads everything that the options name; Q, K, V, bias and mask straight into numbers of a type, if one is given.
    pub(super) fn load(&self, files: &mut Files<'_>, dtype: Option<Dtype>) -> Result<Loaded> {
        let mut loading = Loading::with_layout(self.layout);
        let mask_as_truth = matches!(self.mask_kind, Some(MaskKindArg::Allow | MaskKindArg::Block));
        let typing = dtype.map(|dtype| Typing { dtype, mask_as_truth });
        if let Some(file) = &self.file {
            loading.bundle(files.bundle_in(file, self.layer.as_deref(), typing)?, file)?;
        }
        if let Some(words) = &self.words {
            loading.words(words, self.embeddings.as_deref(), files)?;
        }
        if let Some(random) = &self.random {
            loading.random(random, self.seed)?;
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
        if !self.tokens.is_empty() {
            loading.tokens = Some(self.tokens.clone());
        }
        let weights = [&self.wq, &self.wk, &self.wv, &self.wo];
        if self.layout.is_some() && self.file.is_none() && weights.into_iter().all(Option::is_none) {
            return Err(Error::new("--layout, and no weights that it is about")
                .help("give weights with --wq, --wk, --wv or --wo"));
        }
        loading.finished(self.mask_kind)
    }
}
