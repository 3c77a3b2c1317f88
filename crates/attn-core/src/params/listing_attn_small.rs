//! The weights of the small models that this program trains.

use crate::attention::WeightLayout;

use super::model::{Model, Positions};
use super::weight::{Dimension, ModelPart, Weight};
use super::weight_groups::unembedding;

/// Every matrix rows in, columns out, under the symbol that the screen has for it; norms have no weights.
pub(super) fn listed(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let mut listed = vec![Weight::matrix(ModelPart::Embedding, "W_E", "W_E", n.vocabulary, n.d)];
    if let Positions::Learned(value) = model.positions {
        let n_ctx = Dimension { symbol: "n_ctx", value };
        listed.push(Weight::matrix(ModelPart::Embedding, "W_P", "W_P", n_ctx, n.d));
    }
    let heads = [n.query_heads, n.d_k];
    let attention = ModelPart::Attention;
    let mut layer = vec![
        Weight::matrix(attention, "W_Q", "layers.*.W_Q", n.d, heads),
        Weight::matrix(attention, "W_K", "layers.*.W_K", n.d, heads),
        Weight::matrix(attention, "W_V", "layers.*.W_V", n.d, heads),
        Weight::matrix(attention, "W_O", "layers.*.W_O", heads, n.d),
    ];
    if model.has_mlp() {
        layer.extend([
            Weight::matrix(ModelPart::Mlp, "W_up", "layers.*.W_up", n.d, n.d_ff),
            Weight::matrix(ModelPart::Mlp, "W_down", "layers.*.W_down", n.d_ff, n.d),
        ]);
    }
    listed.extend(layer.into_iter().map(|weight| weight.times(n.layers)));
    listed.push(unembedding(model, "W_U", WeightLayout::InOut));
    listed
}
