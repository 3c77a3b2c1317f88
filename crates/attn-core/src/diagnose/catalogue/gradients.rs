//! Mistakes at the start of a backward pass, in the softmax, and in the steps of the scores before it.

use ProductKind::{FirstTransposed, Plain, SecondTransposed};

use crate::diagnose::{Change, Facts};
use crate::graph::Role;
use crate::graph::detours::{
    Detour, GroupSum, HandedTo, Operand, Path, Paths, Product, ProductKind, RotatedBack, ScoreStep,
    SoftmaxBack,
};
use crate::graph::recipes::{PositionKind, Recipe};

use super::{Likelihood, Mistake, Way, if_possible, when};

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

// Mistakes in the products and sums of a backward pass: a matrix that is not transposed, another operand, a missing part.

/// The projections to queries, keys and values.
const ROLES: [(Role, Role, &str); 3] =
    [(Role::WQ, Role::Q, "Q"), (Role::WK, Role::K, "K"), (Role::WV, Role::V, "V")];

pub(super) const PRODUCTS: &[Mistake] = &[
    Mistake {
        id: "gradient-keys-untransposed",
        likelihood: Likelihood::Classic,
        slip: "dS was not transposed for the keys: you computed dS Q instead of dSᵀ Q.",
        why: "A key is a column of the scores: dK sums over the queries, and these are the rows of dS.",
        fix: "Write dK = dS.T @ Q.",
        symptom: "dK is wrong although dS is right, and dQ is right.",
        demo: Some("backward"),
        ways: |_, facts| {
            let dk = (Plain, [Operand::Gradient, Operand::Other]);
            when(is_square(facts), product(HandedTo::Keys, dk))
        },
    },
    Mistake {
        id: "gradient-queries-transposed",
        likelihood: Likelihood::Classic,
        slip: "dS was transposed for the queries: you computed dSᵀ K instead of dS K.",
        why: "A query is a row of the scores: dQ sums over the keys, and these are the columns of dS.",
        fix: "Write dQ = dS @ K; the transpose belongs to dK = dS.T @ Q.",
        symptom: "dQ is wrong although dS is right, and dK is right.",
        demo: Some("backward"),
        ways: |_, facts| {
            let dq = (FirstTransposed, [Operand::Gradient, Operand::Other]);
            when(is_square(facts), product(HandedTo::Queries, dq))
        },
    },
    Mistake {
        id: "gradient-queries-operand",
        likelihood: Likelihood::Classic,
        slip: "dQ was computed with the queries instead of the keys: dS Q instead of dS K.",
        why: "A query meets the keys in Q Kᵀ, so the loss changes with a query as fast as the keys say.",
        fix: "Write dQ = dS @ K.",
        symptom: "dQ is wrong although dS is right.",
        demo: Some("backward"),
        ways: |_, facts| {
            let dq = (Plain, [Operand::Gradient, Operand::Own]);
            when(is_square(facts), product(HandedTo::Queries, dq))
        },
    },
    Mistake {
        id: "gradient-keys-operand",
        likelihood: Likelihood::Classic,
        slip: "dK was computed with the keys instead of the queries: dSᵀ K instead of dSᵀ Q.",
        why: "A key meets the queries in Q Kᵀ, so the loss changes with a key as fast as the queries say.",
        fix: "Write dK = dS.T @ Q.",
        symptom: "dK is wrong although dS is right.",
        demo: Some("backward"),
        ways: |_, facts| {
            let dk = (FirstTransposed, [Operand::Gradient, Operand::Own]);
            when(is_square(facts), product(HandedTo::Keys, dk))
        },
    },
    Mistake {
        id: "gradient-values-untransposed",
        likelihood: Likelihood::Classic,
        slip: "A was not transposed for the values: you computed A dO instead of Aᵀ dO.",
        why: "A value is a column of the weights: dV sums over the queries that mixed it, and these are the rows of A.",
        fix: "Write dV = A.T @ dO.",
        symptom: "dV is wrong, and dA is right.",
        demo: Some("backward"),
        ways: |_, facts| {
            let dv = (Plain, [Operand::Other, Operand::Gradient]);
            when(is_square(facts), product(HandedTo::Values, dv))
        },
    },
    Mistake {
        id: "gradient-weights-product",
        likelihood: Likelihood::Classic,
        slip: "The gradient of the weights was computed by another product than dO Vᵀ.",
        why: "A weight multiplies a value, so dA has the dot product of each row of dO with each row of V.",
        fix: "Write dA = dO @ V.T.",
        symptom: "dA is wrong from the first cell on.",
        demo: Some("backward"),
        ways: |_, facts| {
            let da = |kind, other, what: &str| {
                let made = product(HandedTo::Weights, (kind, [Operand::Gradient, other]));
                Way::detailed(made, format!("you computed {what}"))
            };
            let mut ways = Vec::new();
            if facts.loss.is_some() && facts.d_v == facts.keys {
                ways.push(da(Plain, Operand::Other, "dO V"));
            }
            if is_square(facts) {
                ways.push(da(SecondTransposed, Operand::Output, "dO Oᵀ"));
            }
            ways
        },
    },
    Mistake {
        id: "gradient-projection-transposed",
        likelihood: Likelihood::Classic,
        slip: "The gradient of a projection is transposed: you computed dQᵀ X instead of Xᵀ dQ, or likewise for another one.",
        why: "dW_Q has the shape of W_Q: a row for each column of X. With Q = X W_Q it is Xᵀ dQ; dQᵀ X belongs to PyTorch's layout \
              (out, in).",
        fix: "Write dW_Q = X.T @ dQ.",
        symptom: "Rows and columns of the gradient are exchanged.",
        demo: Some("backward"),
        ways: |_, facts| {
            let transposed = (FirstTransposed, [Operand::Gradient, Operand::Other]);
            projections(facts, |role| product(HandedTo::Projection(role), transposed))
        },
    },
    Mistake {
        id: "gradient-projection-input",
        likelihood: Likelihood::Classic,
        slip: "The gradient of a projection was computed with the wrong matrix; dW_Q is Xᵀ dQ.",
        why: "dW_Q = Xᵀ dQ: what the projection reads, transposed, times the gradient of what it makes.",
        fix: "Write dW_Q = X.T @ dQ, dW_K = X.T @ dK, dW_V = X.T @ dV.",
        symptom: "The gradients of Q, K and V are right, and that of a projection is not.",
        demo: Some("backward"),
        ways: projection_input,
    },
    Mistake {
        id: "gradient-input-untransposed",
        likelihood: Likelihood::Classic,
        slip: "W was not transposed on the way back to what it reads: you computed dQ W_Q instead of dQ W_Qᵀ, or likewise.",
        why: "Q = X W_Q leads from tokens to queries, and W_Qᵀ leads back: dX = dQ W_Qᵀ + dK W_Kᵀ + dV W_Vᵀ.",
        fix: "Write dX = dQ @ W_Q.T + dK @ W_K.T + dV @ W_V.T.",
        symptom: "The gradient before the projection is wrong, and that after it is right.",
        demo: Some("backward"),
        ways: |_, facts| {
            let plain = (Plain, [Operand::Gradient, Operand::Other]);
            let is_square = facts.square_weights || facts.square_output;
            if_possible(is_square, projections(facts, |role| product(HandedTo::Input(role), plain)))
        },
    },
    Mistake {
        id: "gradient-path-missing",
        likelihood: Likelihood::Classic,
        slip: "A part is missing in the gradient of the tokens: dX is a sum over everything that reads X.",
        why: "X is read by the queries, the keys and the values, and each of them hands a part back: \
              dX = dQ W_Qᵀ + dK W_Kᵀ + dV W_Vᵀ, and dO on top where X is added to the result.",
        fix: "Add up the parts of everything that reads X.",
        symptom: "dX is wrong, and dQ, dK and dV are right.",
        demo: Some("backward"),
        ways: paths,
    },
    Mistake {
        id: "gradient-group-sum-missing",
        likelihood: Likelihood::Classic,
        slip: "The sum over a group of query heads is missing: keys and values got the gradient of one head alone.",
        why: "All query heads of a group read the same keys and values, and each hands its gradient on: dK and dV are the sums \
              over the group.",
        fix: "Sum over the query heads of each group: dK.reshape(groups, heads // groups, N, d).sum(axis=1).",
        symptom: "dK and dV are too small, and dQ is right.",
        demo: Some("gqa"),
        ways: |recipe, facts| {
            let of = |sum, what: &str| Way::detailed(group(sum), format!("the {what} of each group"));
            let ways = vec![of(GroupSum::First, "first"), of(GroupSum::Last, "last")];
            if_possible(is_grouped(recipe, facts), ways)
        },
    },
    Mistake {
        id: "gradient-group-mean",
        likelihood: Likelihood::Classic,
        slip: "Keys and values got the mean over a group of query heads instead of the sum.",
        why: "All query heads of a group read the same keys and values, so their influences add up.",
        fix: "Take the sum over the query heads of a group, not the mean.",
        symptom: "dK and dV are too small by the number of query heads in a group, and dQ is right.",
        demo: Some("gqa"),
        ways: |recipe, facts| when(is_grouped(recipe, facts), group(GroupSum::Mean)),
    },
];

/// Another product at this place.
fn product(to: HandedTo, (kind, of): (ProductKind, [Operand; 2])) -> Change {
    Change::Gradient(Detour::Product(to, Product { kind, of }))
}

fn group(sum: GroupSum) -> Change {
    Change::Gradient(Detour::Group(sum))
}

/// Whether there are as many queries as keys, so that a transposed gradient of scores fits, too.
fn is_square(facts: &Facts) -> bool {
    facts.loss.is_some() && facts.q.rows == facts.keys
}

fn is_grouped(recipe: &Recipe, facts: &Facts) -> bool {
    facts.loss.is_some() && recipe.kv_heads < recipe.heads
}

/// A change for all projections that the exercise has, and for each of them alone.
fn projections(facts: &Facts, change: impl Fn(Role) -> Change) -> Vec<Way> {
    let roles = ROLES.iter().map(|(weights, ..)| *weights).filter(|_| facts.projects_roles);
    let roles: Vec<Role> = roles.chain(facts.projects.then_some(Role::WO)).collect();
    let Some((&first, rest)) = roles.split_first().filter(|_| facts.loss.is_some()) else {
        return Vec::new();
    };
    let all = rest.iter().fold(Way::plain(change(first)), |way, &role| way.with(change(role)));
    let alone =
        |&role: &Role| Way { rare: true, ..Way::detailed(change(role), format!("of {} alone", role.name())) };
    let each = roles.iter().filter(|_| !rest.is_empty()).map(alone);
    std::iter::once(all).chain(each).collect()
}

/// What a projection makes in the place of what it reads, or the gradient of another one.
fn projection_input(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    if facts.loss.is_none() {
        return Vec::new();
    }
    let made = (FirstTransposed, [Operand::Output, Operand::Gradient]);
    let of_output = Way::detailed(product(HandedTo::Projection(Role::WO), made), "dW_O = Oᵀ dO");
    let mut ways = if_possible(facts.square_output && !recipe.output.residual, vec![of_output]);
    if !facts.projects_roles {
        return ways;
    }
    for (at, (weights, _, name)) in ROLES.into_iter().enumerate() {
        let way = |of, what: String| {
            Way::detailed(product(HandedTo::Projection(weights), (FirstTransposed, of)), what)
        };
        if facts.square[at] {
            ways.push(way(made.1, format!("dW_{name} = {name}ᵀ d{name}")));
        }
        // The walk comes to the values first, and to the queries last: what comes later is not known yet.
        for (_, other, letter) in &ROLES[at + 1..] {
            let other = [Operand::Other, Operand::GradientOf(*other)];
            ways.push(way(other, format!("dW_{name} = Xᵀ d{letter}")));
        }
    }
    ways
}

/// One way back to the tokens alone, or all but one.
fn paths(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mut all = vec![(Path::Queries, "dQ"), (Path::Keys, "dK"), (Path::Values, "dV")];
    if recipe.output.residual {
        all.push((Path::Residual, "the residual"));
    }
    let change = |paths| Change::Gradient(Detour::Paths(paths));
    let only = all.iter().map(|(path, what)| {
        Way::detailed(change(Paths::Only(*path)), format!("only the part of {what} is there"))
    });
    let without = all.iter().map(|(path, what)| {
        Way::detailed(change(Paths::Without(*path)), format!("the part of {what} is missing"))
    });
    if_possible(facts.loss.is_some() && facts.from_tokens, only.chain(without).collect())
}
