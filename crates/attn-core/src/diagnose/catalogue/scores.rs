//! Mistakes in the scores and in their scale.

use super::{Likelihood, Mistake, Way, to_decimals, when};
use crate::diagnose::Change;
use crate::graph::recipes::{Scale, Score, ScoreRows};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "qk-swapped",
        likelihood: Likelihood::Classic,
        slip: "Keys and queries were swapped: the scores are K Qᵀ instead of Q Kᵀ.",
        why: "Row i of the scores must belong to query i: the softmax runs along it, over the keys.",
        fix: "Compute the scores as Q Kᵀ, with one row for each query.",
        symptom: "S is the transpose of the right scores; with as many queries as keys the shape does not show it.",
        demo: Some("columns"),
        ways: |_, _| vec![Way::plain(Change::Comparison(ScoreRows::KeysWithQueries))],
    },
    Mistake {
        id: "cosine-scores",
        likelihood: Likelihood::Classic,
        slip: "Queries and keys were compared by their cosine instead of their dot product.",
        why: "A cosine ignores the lengths of the vectors, but a token can get more attention through a long key.",
        fix: "Use the dot products Q Kᵀ, without dividing by the lengths of the vectors.",
        symptom: "No score is larger than 1, and the weights are nearly uniform.",
        demo: Some("similarity"),
        ways: |recipe, _| {
            let cosine = |detail| Way::detailed(Change::Score(Score::Cosine), detail);
            match (recipe.score, recipe.scale) {
                (Score::Cosine, _) => Vec::new(),
                (Score::Dot, Scale::None) => vec![Way::plain(Change::Score(Score::Cosine))],
                // A cosine needs no scale, so the scale may be left out with it.
                _ => vec![cosine("scaled"), cosine("unscaled").with(Change::Scale(Scale::None))],
            }
        },
    },
    Mistake {
        id: "no-scale",
        likelihood: Likelihood::Classic,
        slip: "The scores were not divided by √d_k before the softmax.",
        why: "Dot products grow with the width of the vectors, by about √d_k; without the scale they saturate the softmax.",
        fix: "Divide the scores by √d_k before the softmax.",
        symptom: "The weights are too sharp: near 0 and 1.",
        demo: Some("scale"),
        ways: |recipe, _| {
            let scaled = !matches!(recipe.scale, Scale::None) && recipe.scale != Scale::Number(1.0);
            when(scaled, Change::Scale(Scale::None))
        },
    },
    Mistake {
        id: "scale-by-d",
        likelihood: Likelihood::Classic,
        slip: "The scores were divided by d_k instead of √d_k.",
        why: "The spread of a dot product grows like the root of the width; dividing by the width makes the scores too small. \
              Dividing both Q and K by √d_k does the same.",
        fix: "Divide the scores by √d_k, not by d_k.",
        symptom: "The weights are too even.",
        demo: Some("scale"),
        ways: |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Inverse)),
    },
    Mistake {
        id: "scale-multiplied",
        likelihood: Likelihood::Classic,
        slip: "The scores were multiplied by √d_k instead of divided by it.",
        why: "The scale has to make large dot products smaller.",
        fix: "Divide the scores by √d_k instead of multiplying them by it.",
        symptom: "The weights are far too sharp: almost all on one key.",
        demo: Some("scale"),
        ways: |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Root)),
    },
    Mistake {
        id: "scale-model-width",
        likelihood: Likelihood::Classic,
        slip: "The scores were divided by √d_model, the root of the whole width, instead of the root of one head's width.",
        why: "A dot product has one term for each column of a head, and its spread depends only on their number.",
        fix: "Take d_k, the width of one head: divide the scores by √d_k.",
        symptom: "The weights of every head are a little too even.",
        demo: Some("scale"),
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
            let mut ways: Vec<Way> = match widths[..] {
                [only] => vec![Way::plain(change(only))],
                _ => {
                    widths.iter().map(|&width| Way::detailed(change(width), format!("by √{width}"))).collect()
                }
            };
            ways.extend(widths.iter().map(|&width| {
                let change = Change::Scale(Scale::InverseOf(width));
                Way { rare: true, ..Way::detailed(change, format!("by {width}")) }
                    .saying(format!("The scores were divided by {width}, the whole width, instead of √d_k."))
            }));
            ways
        },
    },
    Mistake {
        id: "scores-rounded",
        likelihood: Likelihood::Classic,
        slip: "The scores were rounded before the softmax.",
        why: "The softmax turns a difference of scores into a ratio of weights, so a small rounding error grows.",
        fix: "Round only what you print; compute with all digits.",
        symptom: "The weights are nearly right, and equal where the scores became equal.",
        demo: Some("context"),
        ways: |_, _| to_decimals(Change::ScoreDecimals),
    },
];
