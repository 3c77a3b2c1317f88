//! Mistakes on the way to the scores, and in them.

use super::{Mistake, Way, to_decimals, when};
use crate::diagnose::Change;
use crate::graph::build::{Comparison, Projection, Scale, Score};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "weights-transposed",
        slip: "The projections were turned: X Wᵀ was computed where X W belongs, in W_Q, W_K and W_V.",
        why: "Row i of X meets column j of W. PyTorch's Linear keeps its weights as (out, in) and multiplies by Wᵀ; \
              with square weights nothing complains when the two layouts are mixed up.",
        symptom: "Q, K and V are wrong from the first cell on, although every shape is right.",
        demo: "qkv",
        ways: |_, facts| match (facts.square_weights, facts.square_output) {
            (false, _) => Vec::new(),
            (true, false) => vec![Way::plain(Change::Projection(Projection::Transposed))],
            (true, true) => vec![
                Way::plain(Change::Projection(Projection::Transposed)),
                Way::detailed(Change::Projection(Projection::AllTransposed), "and in W_O"),
            ],
        },
    },
    Mistake {
        id: "qk-swapped",
        slip: "Keys and queries were swapped: the scores are K Qᵀ where Q Kᵀ belongs.",
        why: "Row i of the scores must belong to query i: the softmax runs along it, over the keys.",
        symptom: "S is the transpose of the right scores; with as many queries as keys no shape gives it away.",
        demo: "columns",
        ways: |_, _| vec![Way::plain(Change::Comparison(Comparison::KeysWithQueries))],
    },
    Mistake {
        id: "cosine-scores",
        slip: "Queries and keys were compared by their cosine, where the dot product belongs.",
        why: "A cosine forgets how long the vectors are, and a long key is how a token says that it matters.",
        symptom: "No score is larger than 1, and the weights are nearly uniform.",
        demo: "similarity",
        ways: |recipe, _| {
            let cosine = |detail| Way::detailed(Change::Score(Score::Cosine), detail);
            match (recipe.score, recipe.scale) {
                (Score::Cosine, _) => Vec::new(),
                (Score::Dot, Scale::None) => vec![Way::plain(Change::Score(Score::Cosine))],
                // A cosine needs no scale, and whoever takes it may leave the scale out.
                _ => vec![cosine("scaled"), cosine("unscaled").with(Change::Scale(Scale::None))],
            }
        },
    },
    Mistake {
        id: "no-scale",
        slip: "1/√d_k was forgotten: the scores went into the softmax unscaled.",
        why: "Dot products of wide vectors are large, by about √d_k; unscaled they saturate the softmax.",
        symptom: "The weights are too sharp: near 0 and 1.",
        demo: "scale",
        ways: |recipe, _| {
            let scaled = !matches!(recipe.scale, Scale::None) && recipe.scale != Scale::Number(1.0);
            when(scaled, Change::Scale(Scale::None))
        },
    },
    Mistake {
        id: "scale-by-d",
        slip: "The scores were divided by d_k, where its root √d_k belongs.",
        why: "The spread of a dot product grows like the root of the width; dividing by the width itself flattens it.",
        symptom: "The weights are too even.",
        demo: "scale",
        ways: |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Inverse)),
    },
    Mistake {
        id: "scale-multiplied",
        slip: "The scores were multiplied by √d_k, where they are to be divided by it.",
        why: "The scale is there to make large dot products smaller.",
        symptom: "The weights are far too sharp: almost all on one key.",
        demo: "scale",
        ways: |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Root)),
    },
    Mistake {
        id: "scale-model-width",
        slip: "The scores were divided by √d_model, the root of the whole width, where the width of one head belongs.",
        why: "A dot product has as many terms as a head is wide, and its spread grows with their number alone.",
        symptom: "The weights of every head are a little too even.",
        demo: "scale",
        ways: |recipe, facts| {
            let mut widths: Vec<usize> = facts.x.iter().map(|x| x.cols).collect();
            if !widths.contains(&facts.q.cols) {
                widths.push(facts.q.cols);
            }
            // Without tokens the width of the model is that of Q, and with one head that is d_k itself.
            if recipe.scale != Scale::Auto || (facts.x.is_none() && recipe.heads == 1) {
                widths.clear();
            }
            let change = |width| Change::Scale(Scale::InverseRootOf(width));
            match widths[..] {
                [only] => vec![Way::plain(change(only))],
                _ => {
                    widths.iter().map(|&width| Way::detailed(change(width), format!("by √{width}"))).collect()
                }
            }
        },
    },
    Mistake {
        id: "scores-rounded",
        slip: "The scores were rounded before the softmax.",
        why: "The softmax turns a difference of scores into a ratio of weights: what is cut off there is multiplied. Round \
              what is shown, never what is computed with.",
        symptom: "The weights are nearly right, and equal where the scores became equal.",
        demo: "context",
        ways: |_, _| to_decimals(Change::ScoreDecimals),
    },
];
