//! The weights of a model, in the order in which a token meets them: the rows of its family's layout that it has.

use crate::attention::WeightLayout;
use crate::error::Result;

use super::family::{Layout, NormKind, NormPlaces, Projections, QueryKeyNorm, Row};
use super::model::{Model, Positions};
use super::weight::{Dimension, Extent, ModelPart, NormSite, Weight};

/// Every weight of the model with its shape and its count. Matrices are written rows in, columns out (`x W`);
/// a checkpoint of another [`WeightLayout`] has them transposed.
///
/// # Errors
/// If the dimensions cannot be those of a model, or a count exceeds 2⁶⁴ − 1.
pub fn weights(model: &Model) -> Result<Vec<Weight>> {
    model.check()?;
    let layout = model.family.layout();
    let layer = layout.layer.iter().flat_map(|row| model.listed(row, Some(layout)));
    let first = layout.first.iter().flat_map(|row| model.listed(row, None));
    let last = layout.last.iter().flat_map(|row| model.listed(row, None));
    let counted = |weight: Weight| weight.counted().map_err(|error| error.in_source(&model.name));
    first.chain(layer).chain(last).map(counted).collect()
}

/// The head of an encoder that predicts masked words, which no count has.
pub(crate) fn masked_words(model: &Model) -> Vec<Weight> {
    model.family.layout().masked_words.iter().flat_map(|row| model.listed(row, None)).collect()
}

impl Model {
    /// The weights of a row, of each layer where the layout of the layers is given; none where the model has none.
    fn listed(&self, row: &Row, layers: Option<&Layout>) -> Vec<Weight> {
        let Some(own) = self.weight(row, layers) else { return Vec::new() };
        let (symbols, has_bias) = match (row.site, row.bias) {
            (Some(_), _) => {
                let is_layer_norm = self.norms.is_some_and(|norms| norms.kind == NormKind::LayerNorm);
                (["gamma", "beta"], is_layer_norm)
            }
            (None, Some(bias)) => ([row.of, bias], self.has_bias(own.part, row.of)),
            (None, None) => return vec![own],
        };
        let [name, of_bias] = ["weight", "bias"].map(|end| format!("{}.{end}", own.name));
        let length = own.cols.as_ref().unwrap_or(&own.rows).clone();
        let bias = Weight { symbol: symbols[1], name: of_bias, rows: length, cols: None, ..own.clone() };
        let own = Weight { symbol: symbols[0], name, ..own };
        std::iter::once(own).chain(has_bias.then_some(bias)).collect()
    }

    /// The weight of a row, not yet counted, under the name of its module if it is a part of one.
    fn weight(&self, row: &Row, layers: Option<&Layout>) -> Option<Weight> {
        let holds = |word: &'static str| match word.strip_prefix('!') {
            Some(word) => !self.holds(word),
            None => self.holds(word),
        };
        if !row.condition.split_whitespace().all(holds) || !row.site.is_none_or(|site| self.norms_at(site)) {
            return None;
        }
        let shape = if row.site.is_some() { "d" } else { row.shape };
        let (rows, cols) = match shape.split_once(" × ") {
            Some((rows, cols)) => (rows, Some(self.extent(cols)?)),
            None => (shape, None),
        };
        let is_expert = row.times.is_some_and(|times| times.ends_with("·E"));
        let is_in_out = row.in_out
            || layers.is_some_and(|layout| layout.in_out)
            || ["W_E", "W_P", "W_T"].contains(&row.of);
        Some(Weight {
            part: row.part.unwrap_or(ModelPart::Norm),
            symbol: row.of,
            norm: row.site,
            name: format!("{}{}", layers.map_or("", |layout| layout.layers), row.name),
            rows: self.extent(rows)?,
            cols,
            copies: self.extent(row.times.unwrap_or(if layers.is_some() { "L" } else { "" }))?,
            layout: if is_in_out { WeightLayout::InOut } else { WeightLayout::OutIn },
            same_as: (row.of == "W_U" && self.tied).then_some("W_E"),
            routed: self.experts.filter(|_| is_expert).map(|experts| (experts.number, experts.used)),
            count: 0,
            active: 0,
        })
    }

    /// Returns true if a product of this part adds a bias.
    fn has_bias(&self, part: ModelPart, symbol: &str) -> bool {
        match part {
            ModelPart::Mlp => self.biases.mlp,
            ModelPart::Attention if symbol == "W_O" => self.biases.output,
            ModelPart::Attention => self.biases.query_key_value,
            _ => true,
        }
    }

    /// Returns true if there is a norm with weights at this place.
    fn norms_at(&self, site: NormSite) -> bool {
        self.norms.is_some_and(|norms| match site {
            NormSite::BeforeAttention | NormSite::BeforeMlp => norms.places != NormPlaces::After,
            NormSite::AfterAttention | NormSite::AfterMlp => norms.places != NormPlaces::Before,
            NormSite::Embedding | NormSite::Final => true,
        })
    }

    /// Returns true if a word of a condition holds; a dimension holds where the model has it.
    fn holds(&self, word: &'static str) -> bool {
        let query_key = self.norms.map(|norms| norms.query_key);
        match word {
            "separate" => self.family.facts().projections == Projections::Separate,
            "fused" => self.family.facts().projections == Projections::Fused,
            "each-head" => query_key == Some(QueryKeyNorm::EachHead),
            "all-heads" => query_key == Some(QueryKeyNorm::AllHeads),
            "normed-after" => self.norms_at(NormSite::AfterAttention),
            "corrected" => self.experts.is_some_and(|experts| experts.correction),
            "shared-gate" => self.experts.is_some_and(|experts| experts.shared_gate),
            _ => self.family.has_type(word) || self.dimension(word).is_some(),
        }
    }

    /// A product of dimensions; none where the model lacks one of them.
    fn extent(&self, text: &'static str) -> Option<Extent> {
        text.split('·').filter(|symbol| !symbol.is_empty()).map(|symbol| self.dimension(symbol)).collect()
    }

    /// A dimension by the letters that formulas use; none where the model has no such thing.
    fn dimension(&self, symbol: &'static str) -> Option<Dimension> {
        let (latent, experts) = (self.latent, self.experts);
        let learned = match self.positions {
            Positions::Learned(positions) => Some(positions),
            _ => None,
        };
        let value = match symbol {
            "1" | "2" | "3" => symbol.parse().ok()?,
            "L" => self.layers,
            "L_dense" if experts.is_none() => return self.dimension("L"),
            "L_dense" => self.layers.checked_sub(experts?.layers).filter(|layers| *layers > 0)?,
            "L_moe" => experts?.layers,
            "d" => self.hidden,
            "H" => self.query_heads,
            "G" => self.key_value_heads,
            "(H+2G)" => self.query_heads.saturating_add(self.key_value_heads.saturating_mul(2)),
            "d_k" => self.head_width,
            "d_v" => latent.map_or(self.head_width, |latent| latent.value),
            "d_ff" => Some(self.intermediate).filter(|width| *width > 0)?,
            "n_vocab" => self.vocabulary,
            "n_ctx" => learned?,
            "(n_ctx+2)" => learned?.saturating_add(2),
            "n_types" => self.token_types?,
            "d_E" => self.embedding_width?,
            "d_q" => latent?.query?,
            "d_c" => latent?.key_value,
            "(d_c+d_R)" => latent?.key_value.saturating_add(latent?.rotary),
            "(d_N+d_v)" => latent?.plain.saturating_add(latent?.value),
            "E" => experts?.number,
            "d_e" => experts?.width,
            "d_s" => experts?.shared?,
            _ => return None,
        };
        Some(Dimension { symbol, value })
    }
}
