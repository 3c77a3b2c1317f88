//! Mistakes at the start of a backward pass, in the softmax, and in the steps of the scores before it.

use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::diagnose::{Change, Facts};
use crate::graph::detours::{Detour, HandedTo, RotatedBack, ScoreStep, SoftmaxBack};
use crate::graph::recipes::{PositionKind, Recipe};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "gradient-loss-mean",
        likelihood: Likelihood::Classic,
        slip: "The gradients are those of a mean instead of a sum: dO was divided by a number.",
        why: "The start dO says how fast the loss changes with each number of O. A mean divides that by the number of its numbers, \
              and then every gradient is as many times too small.",
        fix: "Begin with dO as it is given, and divide it by nothing.",
        symptom: "Every gradient is too small by the same whole number.",
        demo: Some("backward"),
        ways: loss_mean,
    },
    Mistake {
        id: "gradient-sign",
        likelihood: Likelihood::Classic,
        slip: "The gradient has the wrong sign.",
        why: "A gradient says how the loss grows. The minus sign of gradient descent comes later, where the weights are changed.",
        fix: "Leave the minus sign to the step that changes the weights; dS = A ∘ (dA − row sums of A ∘ dA), in this order.",
        symptom: "Every number is right but for its sign.",
        demo: Some("backward"),
        ways: sign,
    },
    Mistake {
        id: "gradient-softmax-copied",
        likelihood: Likelihood::Classic,
        slip: "The gradient was copied through the softmax: dS = dA.",
        why: "The weights of a row compete: if one score grows, all weights of its row change. So each weight needs its share: \
              dS = A ∘ (dA − row sums of A ∘ dA).",
        fix: "Write dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)).",
        symptom: "dS has the numbers of dA, and its rows do not sum to 0.",
        demo: Some("backward"),
        ways: |recipe, facts| {
            let copied = || Change::Gradient(Detour::Softmax(SoftmaxBack::Copied));
            let mut ways = vec![Way::plain(copied())];
            if scale_of(recipe, facts).is_some() {
                let with_scale =
                    Way::detailed(copied(), "and through the scale").with(steps(ScoreStep::Scale, 0));
                ways.push(Way { rare: true, ..with_scale });
            }
            if_possible(facts.loss.is_some(), ways)
        },
    },
    Mistake {
        id: "gradient-softmax-no-sums",
        likelihood: Likelihood::Classic,
        slip: "The row sums are missing in the softmax: you computed dS = A ∘ dA.",
        why: "A score that grows takes weight from all others of its row, and the row sums of A ∘ dA are that loss: \
              dS = A ∘ (dA − row sums of A ∘ dA).",
        fix: "Subtract (A * dA).sum(axis=-1, keepdims=True) from dA before you multiply by A.",
        symptom: "The rows of dS do not sum to 0.",
        demo: Some("backward"),
        ways: |_, facts| softmax(facts, SoftmaxBack::WithoutSums),
    },
    Mistake {
        id: "gradient-softmax-diagonal",
        likelihood: Likelihood::Classic,
        slip: "Only the diagonal of the softmax's Jacobian was used: you computed dS = A ∘ (1 − A) ∘ dA.",
        why: "a (1 − a) is how a weight changes with its own score. It changes with the other scores of its row too, by −a b: \
              dS = A ∘ (dA − row sums of A ∘ dA).",
        fix: "Write dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)).",
        symptom: "The rows of dS do not sum to 0, and each dS has the sign of its dA.",
        demo: Some("backward"),
        ways: |_, facts| softmax(facts, SoftmaxBack::DiagonalOnly),
    },
    Mistake {
        id: "gradient-softmax-columns",
        likelihood: Likelihood::Classic,
        slip: "On the way back through the softmax the sums run down the columns instead of along the rows.",
        why: "The softmax made each row of A sum to 1, so the sums in dS = A ∘ (dA − row sums of A ∘ dA) are those of rows.",
        fix: "Sum A * dA with axis=-1 and keepdims=True.",
        symptom: "The columns of dS sum to 0, and its rows do not.",
        demo: Some("backward"),
        ways: |_, facts| softmax(facts, SoftmaxBack::AlongColumns),
    },
    Mistake {
        id: "gradient-softmax-plain-sums",
        likelihood: Likelihood::Classic,
        slip: "The row sums in the softmax are those of dA, without A: you computed dS = A ∘ (dA − row sums of dA).",
        why: "What is subtracted is the mean of dA, in which each key counts by its weight: the row sums of A ∘ dA.",
        fix: "Sum A * dA, not dA.",
        symptom: "The rows of dS do not sum to 0, and the more keys there are, the larger the error is.",
        demo: Some("backward"),
        ways: |_, facts| softmax(facts, SoftmaxBack::SumsOfGradient),
    },
    Mistake {
        id: "gradient-softmax-unweighted",
        likelihood: Likelihood::Classic,
        slip: "A factor A is missing on the way back through the softmax.",
        why: "A score has an influence only through its own weight: A multiplies both terms, dS = A ∘ (dA − row sums of A ∘ dA).",
        fix: "Put the brackets around the difference, and multiply all of it by A.",
        symptom: "Keys with a small weight have a gradient that is too large.",
        demo: Some("backward"),
        ways: |_, facts| {
            let ways = [
                (SoftmaxBack::Unweighted, "dS = dA − row sums of A ∘ dA"),
                (SoftmaxBack::SumsUnweighted, "dS = A ∘ dA − row sums of A ∘ dA"),
            ];
            let way = |(back, what)| Way::detailed(Change::Gradient(Detour::Softmax(back)), what);
            if_possible(facts.loss.is_some(), ways.map(way).into())
        },
    },
    Mistake {
        id: "gradient-of-unmasked",
        likelihood: Likelihood::Classic,
        slip: "The backward pass uses weights without the mask: those of the softmax of the unmasked scores.",
        why: "A in dS = A ∘ (dA − row sums of A ∘ dA) are the weights of the forward pass. There a hidden key has the weight 0, so \
              its gradient is 0.",
        fix: "Keep A of the forward pass, and use the same A on the way back.",
        symptom: "Rows in which the mask hides something are wrong, and the others are right.",
        demo: Some("backward"),
        ways: |recipe, facts| {
            let unmasked = || Change::Gradient(Detour::Unmasked);
            let ways = vec![
                Way::detailed(unmasked(), "hidden cells have a gradient, too")
                    .with(steps(ScoreStep::Mask, 0)),
                Way::detailed(unmasked(), "hidden cells were set to 0 afterwards"),
            ];
            if_possible(facts.loss.is_some() && recipe.mask.is_some(), ways)
        },
    },
    Mistake {
        id: "gradient-mask-leak",
        likelihood: Likelihood::Classic,
        slip: "Hidden cells were not set to 0: the gradient leaks through the mask.",
        why: "A hidden score changes no weight, so its gradient is 0. The softmax gives that 0 by itself; what replaces the softmax \
              does not.",
        fix: "Write dS = np.where(visible, dS, 0).",
        symptom: "dS is not 0 where the mask hides a key.",
        demo: Some("backward"),
        ways: |recipe, facts| {
            // With the right softmax it changes nothing.
            let way = Way { alone: false, ..Way::plain(steps(ScoreStep::Mask, 0)) };
            if_possible(facts.loss.is_some() && recipe.mask.is_some(), vec![way])
        },
    },
    Mistake {
        id: "gradient-scale-missing",
        likelihood: Likelihood::Classic,
        slip: "The scale of the scores was forgotten on the way back to queries and keys.",
        why: "S = s · Q Kᵀ changes s times as fast as Q Kᵀ does, so the same factor comes once on the way back: dQ = s · dS K and \
              dK = s · dSᵀ Q.",
        fix: "Multiply by the scale of the forward pass once more: dQ = scale * dS @ K.",
        symptom: "dQ and dK are right but for one factor, √d_k.",
        demo: Some("backward"),
        ways: |recipe, facts| scale(recipe, facts, 0),
    },
    Mistake {
        id: "gradient-scale-twice",
        likelihood: Likelihood::Classic,
        slip: "The scale of the scores was applied twice on the way back to queries and keys.",
        why: "The scale multiplies the scores once, so it comes once on the way back: in dS or in dQ and dK, not in both.",
        fix: "Multiply by the scale in one place alone.",
        symptom: "dQ and dK are too small by √d_k.",
        demo: Some("backward"),
        ways: |recipe, facts| scale(recipe, facts, 2),
    },
    Mistake {
        id: "gradient-temperature-missing",
        likelihood: Likelihood::Classic,
        slip: "The temperature was forgotten on the way back.",
        why: "Scores that are divided by the temperature change the weights less by the same factor.",
        fix: "Divide the gradient of the scores by the temperature, too.",
        symptom: "dQ and dK are right but for one factor, the temperature.",
        demo: Some("backward"),
        ways: |recipe, facts| {
            let is_there = facts.loss.is_some() && recipe.temperature != 1.0;
            when(is_there, steps(ScoreStep::Temperature, 0))
        },
    },
    Mistake {
        id: "gradient-cap-missing",
        likelihood: Likelihood::Classic,
        slip: "The soft-cap was forgotten on the way back.",
        why: "y = c · tanh(s/c) has the slope 1 − (y/c)²: the nearer a score is to the cap, the less it changes.",
        fix: "Multiply the gradient of the capped scores by 1 − (S_capped / c)².",
        symptom: "Large scores have a gradient that is too large.",
        demo: Some("backward"),
        ways: |recipe, facts| {
            when(facts.loss.is_some() && recipe.soft_cap.is_some(), steps(ScoreStep::SoftCap, 0))
        },
    },
    Mistake {
        id: "gradient-rotation",
        likelihood: Likelihood::Classic,
        slip: "The gradients of queries and keys were not turned back by their positions.",
        why: "The forward pass turns each query and key by an angle. On the way back its gradient is turned by the same angle in \
              the other direction.",
        fix: "Rotate the gradient with the sines of the other sign.",
        symptom: "The first token is right, if its position is 0, and the others are not.",
        demo: Some("rope"),
        ways: |recipe, facts| {
            let ways = [
                (RotatedBack::Never, "not at all"),
                (RotatedBack::Forward, "in the direction of the forward pass"),
            ];
            let way = |(back, what)| Way::detailed(Change::Gradient(Detour::Rotation(back)), what);
            let is_there = matches!(recipe.positions.kind, PositionKind::Rotary(_));
            if_possible(facts.loss.is_some() && is_there, ways.map(way).into())
        },
    },
];

/// The only way through the softmax, where there is a backward pass.
fn softmax(facts: &Facts, back: SoftmaxBack) -> Vec<Way> {
    when(facts.loss.is_some(), Change::Gradient(Detour::Softmax(back)))
}

/// A step of single scores, taken this many times on the way back.
fn steps(step: ScoreStep, times: u8) -> Change {
    Change::Gradient(Detour::Score(step, times))
}

/// The start divided by the number of rows, of columns, or of cells.
fn loss_mean(_: &Recipe, facts: &Facts) -> Vec<Way> {
    let Some(loss) = facts.loss else { return Vec::new() };
    let counts = [
        (loss.rows * loss.cols, "the number of its cells"),
        (loss.rows, "the number of its rows"),
        (loss.cols, "the number of its columns"),
    ];
    let way = |(count, what): &(usize, &str)| {
        Way::detailed(Change::Gradient(Detour::Start(1.0 / *count as f64)), *what)
    };
    counts.iter().filter(|(count, _)| *count > 1).map(way).collect()
}

/// The sign turned at the start, in the softmax, or in one of the last products.
fn sign(_: &Recipe, facts: &Facts) -> Vec<Way> {
    let softmax = Change::Gradient(Detour::Softmax(SoftmaxBack::Negated));
    let in_product = |(to, what): (HandedTo, &str)| Way {
        rare: true,
        ..Way::detailed(Change::Gradient(Detour::Times(to, -1.0)), format!("of {what} alone"))
    };
    let products = [(HandedTo::Queries, "dQ"), (HandedTo::Keys, "dK"), (HandedTo::Values, "dV")];
    let mut ways = vec![
        Way::plain(Change::Gradient(Detour::Start(-1.0))),
        Way {
            rare: true, ..Way::detailed(softmax, "in the softmax: dS = A ∘ (row sums of A ∘ dA − dA)")
        },
    ];
    ways.extend(products.map(in_product));
    if_possible(facts.loss.is_some(), ways)
}

/// The scale taken this many times on the way back, for queries and keys together or for one of them.
fn scale(recipe: &Recipe, facts: &Facts, times: u8) -> Vec<Way> {
    let Some(factor) = scale_of(recipe, facts) else { return Vec::new() };
    let number = if times == 0 { 1.0 / factor } else { factor };
    let alone = |(to, what): (HandedTo, &str)| Way {
        rare: true,
        ..Way::detailed(Change::Gradient(Detour::Times(to, number)), format!("in {what} alone"))
    };
    let mut ways = vec![Way::plain(steps(ScoreStep::Scale, times))];
    ways.extend([(HandedTo::Queries, "dQ"), (HandedTo::Keys, "dK")].map(alone));
    if_possible(facts.loss.is_some(), ways)
}

/// The factor of the scores; none where it changes nothing or leaves nothing.
fn scale_of(recipe: &Recipe, facts: &Facts) -> Option<f64> {
    let factor = recipe.scale.factor(facts.d_k)?.value();
    (factor != 1.0 && factor != 0.0).then_some(factor)
}
