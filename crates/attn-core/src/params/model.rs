//! The properties of a transformer that determine its weights.

use crate::error::{Error, Result};
use crate::text::counted;

use super::family::{Family, Norms};

/// A decoder-only transformer, as far as its weights and its key/value cache depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The user's name for it: a built-in name or a file.
    pub name: String,
    /// The way of counting, for a model that is counted in more than one way.
    pub counting: Option<&'static str>,
    /// The family whose names and defaults the weights follow.
    pub family: Family,
    /// L: the number of blocks.
    pub layers: u64,
    /// d: the width of a token's vector between the blocks.
    pub hidden: u64,
    /// H: query heads in a layer.
    pub query_heads: u64,
    /// G: key/value heads in a layer; G = H is multi-head attention, G = 1 multi-query attention.
    pub key_value_heads: u64,
    /// d_k, which is also d_v: the width of a head. H·d_k need not be d.
    pub head_width: u64,
    /// d_ff: the width inside the MLP; 0 where layers have none.
    pub intermediate: u64,
    /// True if the MLP has a gate beside its up-projection.
    pub gated: bool,
    /// n_vocab: the number of tokens in the vocabulary.
    pub vocabulary: u64,
    /// True if a token sees only itself and earlier ones.
    pub causal: bool,
    /// The encoding of the positions of tokens.
    pub positions: Positions,
    /// True if the unembedding is the embedding, transposed.
    pub tied: bool,
    /// The products that add a bias.
    pub biases: Biases,
    /// The normalisations, if they are counted.
    pub norms: Option<Norms>,
    /// The layers that see only the last tokens, if there are any.
    pub windows: Option<Windows>,
    /// The experts among which a router chooses for each token, if there are any.
    pub experts: Option<Experts>,
    /// The compression of keys and values, if they are compressed.
    pub latent: Option<Latent>,
    /// d_E: the width of the embedding, where a projection leads from it to d.
    pub embedding_width: Option<u64>,
    /// n_types: kinds of tokens, each with a learned vector, where there are some.
    pub token_types: Option<u64>,
    /// The fields that the configuration leaves to the family's defaults.
    pub assumed: Vec<AssumedValue>,
    /// Remarks on this model's count.
    pub notes: Vec<String>,
}

/// The encoding of the positions of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// A learned vector for each of this many positions (n_ctx); there is none beyond them.
    Learned(u64),
    /// Queries and keys are turned by their position: no weights. The context it was made for, where given.
    Rotary(Option<u64>),
    /// Left out of the count.
    NotCounted,
}

/// The products of a layer that add a bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Biases {
    /// After W_Q, W_K and W_V.
    pub query_key_value: bool,
    /// After W_O.
    pub output: bool,
    /// After each matrix of the MLP.
    pub mlp: bool,
}

/// A mixture of experts: in some layers several MLPs stand side by side, and a router picks a few of them for each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// L_moe: the number of layers with experts; the others have one MLP.
    pub layers: u64,
    /// E: experts in such a layer.
    pub number: u64,
    /// The number of experts that work on a token.
    pub used: u64,
    /// d_e: the width inside an expert.
    pub width: u64,
    /// d_s: the width inside the expert that works on every token, where there is one.
    pub shared: Option<u64>,
    /// True if the shared expert has a gate of its own.
    pub shared_gate: bool,
    /// True if the router keeps a correction for each expert.
    pub correction: bool,
}

impl Experts {
    /// The number of shared experts of a layer: DeepSeek's are counted in one MLP that is as wide as all of them; Qwen has one,
    /// with a gate.
    pub fn shared_number(&self) -> u64 {
        match self.shared {
            None => 0,
            Some(_) if self.shared_gate => 1,
            Some(width) => width / self.width.max(1),
        }
    }
}

/// Multi-head latent attention (MLA): keys and values are computed from one short vector for each token, which is all that
/// the cache keeps next to a rotated part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latent {
    /// d_q: the width to which queries are compressed, if they are.
    pub query: Option<u64>,
    /// d_c: the width to which keys and values are compressed.
    pub key_value: u64,
    /// d_R: the part of a key that carries the position; all heads share it.
    pub rotary: u64,
    /// d_N: the part of a key without position.
    pub plain: u64,
    /// d_v: the width of a value.
    pub value: u64,
}

/// Layers whose tokens see only the last `window` tokens, themselves included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The number of tokens that such a layer sees.
    pub window: u64,
    /// The number of such layers.
    pub layers: u64,
}

/// A value that the configuration does not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedValue {
    /// The field's name in the configuration.
    pub field: String,
    /// The assumed value.
    pub value: String,
}

impl AssumedValue {
    /// It as a note.
    pub fn note(&self) -> String {
        format!("{} is not stated; {} is assumed", self.field, self.value)
    }
}

impl Positions {
    /// The longest context that the positions are made for, where one is known.
    pub fn longest(self) -> Option<u64> {
        match self {
            Positions::Learned(positions) => Some(positions),
            Positions::Rotary(context) => context,
            Positions::NotCounted => None,
        }
    }
}

impl Model {
    /// Returns true if each token sees all others and no token is generated: there is no key/value cache.
    pub fn is_encoder(&self) -> bool {
        !self.causal
    }

    /// Returns true if each layer has an MLP.
    pub fn has_mlp(&self) -> bool {
        self.intermediate > 0
    }

    /// Checks that the dimensions can be those of a model: all at least 1, and G divides H.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<()> {
        let sizes = [
            ("layers", self.layers),
            ("hidden size", self.hidden),
            ("query heads", self.query_heads),
            ("key/value heads", self.key_value_heads),
            ("head width", self.head_width),
            ("MLP's intermediate size", if self.family.is_small() { 1 } else { self.intermediate }),
            ("vocabulary", self.vocabulary),
            ("positions", if self.positions == Positions::Learned(0) { 0 } else { 1 }),
        ];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(Error::new(format!("the {what} must be at least 1, and is 0")).in_source(&self.name));
        }
        if let Some(experts) = self.experts.filter(|experts| experts.used > experts.number) {
            let error = Error::new(format!(
                "a token cannot use {} experts where there are {}",
                experts.used, experts.number
            ));
            return Err(error.in_source(&self.name).help("the experts used must be at most those there are"));
        }
        let (query_heads, key_value_heads) = (self.query_heads, self.key_value_heads);
        if !query_heads.is_multiple_of(key_value_heads) {
            let error = Error::new(format!(
                "{} cannot share {} evenly",
                counted(query_heads as usize, "query head"),
                counted(key_value_heads as usize, "key/value head")
            ));
            let help = "the number of key/value heads must divide the number of query heads";
            return Err(error.in_source(&self.name).help(help));
        }
        Ok(())
    }
}
