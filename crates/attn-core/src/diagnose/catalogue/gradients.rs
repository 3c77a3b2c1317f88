//! Mistakes at the start of a backward pass, in the softmax, and in the steps of the scores before it.

use Operand::{Gradient, Other, Own};
use ProductKind::{FirstTransposed, Plain, SecondTransposed};

use crate::diagnose::{Change, Facts};
use crate::graph::Role;
use crate::graph::detours::{
    Detour, GroupSum, HandedTo, Operand, Path, Paths, Product, ProductKind, RotatedBack, ScoreStep,
    SoftmaxBack,
};
use crate::graph::recipes::{PositionKind, Recipe};

use super::{Way, Ways, if_possible, when};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("gradient-loss-mean", loss_mean),
    ("gradient-sign", sign),
    ("gradient-softmax-copied", |recipe, facts| {
        let copied = || Change::Gradient(Detour::Softmax(SoftmaxBack::Copied));
        let mut ways = vec![Way::plain(copied())];
        if scale_of(recipe, facts).is_some() {
            let with_scale =
                Way::detailed(copied(), "and through the scale").with(steps(ScoreStep::Scale, 0));
            ways.push(with_scale.rare());
        }
        if_possible(facts.loss.is_some(), ways)
    }),
    ("gradient-softmax-no-sums", |_, facts| softmax(facts, SoftmaxBack::WithoutSums)),
    ("gradient-softmax-diagonal", |_, facts| softmax(facts, SoftmaxBack::DiagonalOnly)),
    ("gradient-softmax-columns", |_, facts| softmax(facts, SoftmaxBack::AlongColumns)),
    ("gradient-softmax-plain-sums", |_, facts| softmax(facts, SoftmaxBack::SumsOfGradient)),
    ("gradient-softmax-unweighted", |_, facts| {
        let ways = [
            (SoftmaxBack::Unweighted, "dS = dA − row sums of A ∘ dA"),
            (SoftmaxBack::SumsUnweighted, "dS = A ∘ dA − row sums of A ∘ dA"),
        ];
        let way = |(back, what)| Way::detailed(Change::Gradient(Detour::Softmax(back)), what);
        if_possible(facts.loss.is_some(), ways.map(way).into())
    }),
    ("gradient-of-unmasked", |recipe, facts| {
        let unmasked = || Change::Gradient(Detour::Unmasked);
        let ways = vec![
            Way::detailed(unmasked(), "hidden cells have a gradient, too").with(steps(ScoreStep::Mask, 0)),
            Way::detailed(unmasked(), "hidden cells were set to 0 afterwards"),
        ];
        if_possible(facts.loss.is_some() && recipe.mask.is_some(), ways)
    }),
    ("gradient-mask-leak", |recipe, facts| {
        // With the right softmax it changes nothing.
        let way = Way { alone: false, ..Way::plain(steps(ScoreStep::Mask, 0)) };
        if_possible(facts.loss.is_some() && recipe.mask.is_some(), vec![way])
    }),
    ("gradient-scale-missing", |recipe, facts| scale(recipe, facts, 0)),
    ("gradient-scale-twice", |recipe, facts| scale(recipe, facts, 2)),
    ("gradient-temperature-missing", |recipe, facts| {
        let is_there = facts.loss.is_some() && recipe.temperature != 1.0;
        when(is_there, steps(ScoreStep::Temperature, 0))
    }),
    ("gradient-cap-missing", |recipe, facts| {
        when(facts.loss.is_some() && recipe.soft_cap.is_some(), steps(ScoreStep::SoftCap, 0))
    }),
    ("gradient-rotation", |recipe, facts| {
        let ways = [
            (RotatedBack::Never, "not at all"),
            (RotatedBack::Forward, "in the direction of the forward pass"),
        ];
        let way = |(back, what)| Way::detailed(Change::Gradient(Detour::Rotation(back)), what);
        let is_there = matches!(recipe.positions.kind, PositionKind::Rotary(_));
        if_possible(facts.loss.is_some() && is_there, ways.map(way).into())
    }),
    ("gradient-keys-untransposed", |_, facts| in_square(facts, HandedTo::Keys, (Plain, [Gradient, Other]))),
    ("gradient-queries-transposed", |_, facts| {
        in_square(facts, HandedTo::Queries, (FirstTransposed, [Gradient, Other]))
    }),
    ("gradient-queries-operand", |_, facts| in_square(facts, HandedTo::Queries, (Plain, [Gradient, Own]))),
    ("gradient-keys-operand", |_, facts| {
        in_square(facts, HandedTo::Keys, (FirstTransposed, [Gradient, Own]))
    }),
    ("gradient-values-untransposed", |_, facts| {
        in_square(facts, HandedTo::Values, (Plain, [Other, Gradient]))
    }),
    ("gradient-weights-product", |_, facts| {
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
    }),
    ("gradient-projection-transposed", |_, facts| {
        let transposed = (FirstTransposed, [Operand::Gradient, Operand::Other]);
        projections(facts, |role| product(HandedTo::Projection(role), transposed))
    }),
    ("gradient-projection-input", projection_input),
    ("gradient-input-untransposed", |_, facts| {
        let plain = (Plain, [Operand::Gradient, Operand::Other]);
        let is_square = facts.square_weights || facts.square_output;
        if_possible(is_square, projections(facts, |role| product(HandedTo::Input(role), plain)))
    }),
    ("gradient-path-missing", paths),
    ("gradient-group-sum-missing", |recipe, facts| {
        let of = |sum, what: &str| Way::detailed(group(sum), format!("the {what} of each group"));
        let ways = vec![of(GroupSum::First, "first"), of(GroupSum::Last, "last")];
        if_possible(is_grouped(recipe, facts), ways)
    }),
    ("gradient-group-mean", |recipe, facts| when(is_grouped(recipe, facts), group(GroupSum::Mean))),
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
    let in_product = |(to, what): (HandedTo, &str)| {
        Way::detailed(Change::Gradient(Detour::Times(to, -1.0)), format!("of {what} alone")).rare()
    };
    let products = [(HandedTo::Queries, "dQ"), (HandedTo::Keys, "dK"), (HandedTo::Values, "dV")];
    let mut ways = vec![
        Way::plain(Change::Gradient(Detour::Start(-1.0))),
        Way::detailed(softmax, "in the softmax: dS = A ∘ (row sums of A ∘ dA − dA)").rare(),
    ];
    ways.extend(products.map(in_product));
    if_possible(facts.loss.is_some(), ways)
}

/// The scale taken this many times on the way back, for queries and keys together or for one of them.
fn scale(recipe: &Recipe, facts: &Facts, times: u8) -> Vec<Way> {
    let Some(factor) = scale_of(recipe, facts) else { return Vec::new() };
    let number = if times == 0 { 1.0 / factor } else { factor };
    let alone = |(to, what): (HandedTo, &str)| {
        Way::detailed(Change::Gradient(Detour::Times(to, number)), format!("in {what} alone")).rare()
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

/// Another product at this place.
fn product(to: HandedTo, (kind, of): (ProductKind, [Operand; 2])) -> Change {
    Change::Gradient(Detour::Product(to, Product { kind, of }))
}

/// Another product at this place, where a transposed gradient of scores fits.
fn in_square(facts: &Facts, to: HandedTo, made: (ProductKind, [Operand; 2])) -> Vec<Way> {
    when(is_square(facts), product(to, made))
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
    let alone = |&role: &Role| Way::detailed(change(role), format!("of {} alone", role.name())).rare();
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
