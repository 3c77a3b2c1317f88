//! Mistakes in the products and sums of a backward pass: a matrix that is not transposed, another operand, a missing part.

use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::diagnose::{Change, Facts};
use crate::graph::Role;
use crate::graph::detours::{Detour, GroupSum, HandedTo, Operand, Path, Paths, Product, ProductKind};
use crate::graph::recipes::Recipe;

use ProductKind::{FirstTransposed, Plain, SecondTransposed};

/// The projections to queries, keys and values.
const ROLES: [(Role, Role, &str); 3] =
    [(Role::WQ, Role::Q, "Q"), (Role::WK, Role::K, "K"), (Role::WV, Role::V, "V")];

pub(super) const MISTAKES: &[Mistake] = &[
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
