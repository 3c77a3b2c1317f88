//! Columns and heads: fused projections read in another order, reshapes in column-major order, key/value heads that the wrong query
//! heads read.

use crate::graph::Role;
use crate::graph::recipes::Change;
use crate::matrix::Matrix;

use super::{Alternative, Slip, Steps, only_slip, slip};

const ROLES: [Role; 3] = [Role::Q, Role::K, Role::V];

/// The orders of three axes, by the places of their names.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The place of a cell in memory whose axes stand in this order, the last the fastest.
fn place(at: [usize; 3], sizes: [usize; 3], order: [usize; 3]) -> usize {
    order.iter().fold(0, |place, &axis| place * sizes[axis] + at[axis])
}

/// The cell at a place.
fn cell(mut place: usize, sizes: [usize; 3], order: [usize; 3]) -> [usize; 3] {
    let mut at = [0; 3];
    for &axis in order.iter().rev() {
        at[axis] = place % sizes[axis];
        place /= sizes[axis];
    }
    at
}

/// An order in words: `[h, 3, d]`.
fn order_in_words(names: [&str; 3], order: [usize; 3]) -> String {
    format!("[{}]", order.map(|axis| names[axis]).join(", "))
}

/// The columns of one product for Q, K and V, `[3, h, d]`, taken for another order; and the other way round.
pub(super) fn fused(steps: &Steps<'_>) -> Vec<Alternative> {
    let whole: Option<Vec<&Matrix>> = ROLES.iter().map(|role| steps.matrix(role.name())).collect();
    let heads = steps.heads();
    let Some(whole) = whole.filter(|all| all.iter().all(|m| m.shape() == all[0].shape())) else {
        return Vec::new();
    };
    if steps.groups() != heads || whole[0].cols() % heads != 0 {
        return Vec::new();
    }
    let width = whole[0].cols() / heads;
    let sizes = [3, heads, width];
    let (names, usual) = (["3", "h", "d"], ORDERS[0]);
    let mut all = Vec::new();
    for order in ORDERS[1..].iter().filter(|order| heads > 1 || order[0] != 1) {
        for is_read in [true, false] {
            let (from, to) = if is_read { (usual, *order) } else { (*order, usual) };
            let column = |role: usize, c: usize| {
                let [role, head, column] = cell(place([role, c / width, c % width], sizes, to), sizes, from);
                (role, head * width + column)
            };
            let node = |role: usize| {
                let made = Matrix::from_fn(whole[0].rows(), whole[0].cols(), |i, c| {
                    let (role, c) = column(role, c);
                    whole[role][(i, c)]
                });
                (ROLES[role].name().to_string(), made)
            };
            let [stands, taken] = [from, to].map(|order| order_in_words(names, order));
            let said = format!(
                "The columns of the fused projection of Q, K and V stand as {stands}, and were read as {taken}."
            );
            let slip = slip("fused-qkv", format!("{stands} read as {taken}"), said);
            all.push(Alternative::new(slip, (0..3).map(node).collect()));
        }
    }
    all
}

/// Q, K and V reshaped to heads in another order of their axes, column by column as Julia, R and MATLAB do, or row by row.
pub(super) fn reshaped(steps: &Steps<'_>) -> Vec<Alternative> {
    let (heads, mut all) = (steps.heads(), Vec::new());
    if heads < 2 || steps.groups() != heads {
        return all;
    }
    for by_column in [true, false] {
        for order in ORDERS {
            let node = |role: &Role, head: usize| -> Option<(String, Matrix)> {
                let whole = steps.matrix(role.name())?;
                let (rows, width) = (whole.rows(), whole.cols() / heads);
                // Where the first axis is the fastest, the order is that of memory from right to left.
                let [x, y, z] = order;
                let memory = if by_column { [z, y, x] } else { order };
                let number = |t: usize, c: usize| {
                    let place = place([head, t, c], [heads, rows, width], memory);
                    if by_column {
                        whole[(place % rows, place / rows)]
                    } else {
                        whole[(place / whole.cols(), place % whole.cols())]
                    }
                };
                Some((steps.name(role.name(), head), Matrix::from_fn(rows, width, number)))
            };
            let nodes: Option<Vec<_>> = ROLES
                .iter()
                .flat_map(|role| (0..heads).map(move |head| (role, head)))
                .map(|(role, head)| node(role, head))
                .collect();
            let is_usual = order == if by_column { [1, 2, 0] } else { [1, 0, 2] };
            if let Some(nodes) = nodes.filter(|_| !is_usual) {
                let shape = order_in_words(["h", "T", "d"], order);
                let how = if by_column { "column by column" } else { "row by row" };
                let said =
                    format!("Q, K and V were reshaped to {shape}, {how}: that is not a split into heads.");
                all.push(Alternative::new(slip("heads-by-reshape", format!("{shape}, {how}"), said), nodes));
            }
        }
    }
    all
}

/// At most this many assignments of key/value heads are tried.
const MOST_ASSIGNED: usize = 256;

/// Every assignment of key/value heads to query heads: of both, of the keys alone, of the values alone.
pub(super) fn assigned(steps: &Steps<'_>) -> Vec<Alternative> {
    let (heads, groups) = (steps.heads(), steps.groups());
    let count = u32::try_from(heads).ok().and_then(|heads| groups.checked_pow(heads));
    let Some(count) = count.filter(|&count| groups > 1 && count <= MOST_ASSIGNED && heads > groups) else {
        return Vec::new();
    };
    let share = heads / groups;
    let right: Vec<usize> = (0..heads).map(|head| head / share).collect();
    let tiled: Vec<usize> = (0..heads).map(|head| head % groups).collect();
    let read = |number: usize| -> Vec<usize> {
        (0..heads)
            .scan(number, |rest, _| {
                let own = *rest % groups;
                *rest /= groups;
                Some(own)
            })
            .collect()
    };
    let mut all = Vec::new();
    for own in (0..count).map(read).filter(|own| *own != right) {
        let list = own.iter().map(|group| (group + 1).to_string()).collect::<Vec<_>>().join(" ");
        let in_words = if own == tiled { "in turn".to_string() } else { format!("in the order {list}") };
        for (roles, what) in [
            (&ROLES[1..], "key/value heads"),
            (&ROLES[1..2], "heads of the keys"),
            (&ROLES[2..], "heads of the values"),
        ] {
            let note = if roles.len() == 2 { "" } else { " alone" };
            let said = format!(
                "The query heads read the {what}{note} {in_words}; it should be {}.",
                right.iter().map(|group| (group + 1).to_string()).collect::<Vec<_>>().join(" ")
            );
            let slip = slip("gqa-assignment", format!("{what}: {in_words}"), said);
            all.extend(regrouped(steps, slip, |role, head, at| {
                let group = if roles.contains(&role) { own[head] } else { right[head] };
                steps.matrix(role.name()).map_or(0.0, |whole| {
                    let width = whole.cols() / groups;
                    whole[(at.0, group * width + at.1)]
                })
            }));
        }
    }
    all
}

/// The exercise with a key/value head for each query head, made by a function of the role, the head and the cell.
fn regrouped(
    steps: &Steps<'_>,
    slip: Slip,
    made: impl Fn(Role, usize, (usize, usize)) -> f64,
) -> Option<Alternative> {
    let (heads, groups) = (steps.heads(), steps.groups());
    let node = |role: &Role| {
        let whole = steps.matrix(role.name())?;
        let width = whole.cols() / groups;
        Some((
            role.name().to_string(),
            Matrix::from_fn(whole.rows(), heads * width, |i, c| made(*role, c / width, (i, c % width))),
        ))
    };
    let nodes = ROLES[1..].iter().map(node).collect::<Option<Vec<_>>>()?;
    Some(Alternative { changes: vec![Change::setting("kv_heads", heads)], ..Alternative::new(slip, nodes) })
}

/// The mean of the key/value heads, and columns repeated in the place of heads.
pub(super) fn pooled(steps: &Steps<'_>) -> Vec<Alternative> {
    let (heads, groups) = (steps.heads(), steps.groups());
    if groups < 2 || heads == groups {
        return Vec::new();
    }
    let share = heads / groups;
    let whole = |role: Role| steps.matrix(role.name());
    let mean = |role: Role, (i, c): (usize, usize)| {
        whole(role).map_or(0.0, |whole| {
            let width = whole.cols() / groups;
            (0..groups).map(|group| whole[(i, group * width + c)]).sum::<f64>() / groups as f64
        })
    };
    let repeated = |role: Role, head: usize, (i, c): (usize, usize)| {
        whole(role).map_or(0.0, |whole| {
            let width = whole.cols() / groups;
            whole[(i, (head * width + c) / share)]
        })
    };
    let each_head = |role: Role, head: usize, (i, c): (usize, usize)| {
        whole(role).map_or(0.0, |whole| {
            let width = whole.cols() / groups;
            let at = (head % share) * width + c;
            whole[(i, (head / share) * width + at / share)]
        })
    };
    let of_mean = only_slip("gqa-mean", "All query heads read the mean of the key/value heads.");
    let of_columns =
        only_slip("gqa-features", "The columns of keys and values were repeated, not their heads.");
    [
        regrouped(steps, of_mean, |role, _, at| mean(role, at)),
        regrouped(steps, of_columns.clone(), repeated),
        regrouped(steps, Slip { detail: Some("within each head".into()), ..of_columns }, each_head),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the heads mixed, joined in another order, or their queries; of few heads in every order.
pub(super) fn put_back(steps: &Steps<'_>) -> Vec<Alternative> {
    const MOST: usize = 4;
    let heads = steps.heads();
    if heads < 2 {
        return Vec::new();
    }
    let mut orders = vec![(0..heads).rev().collect::<Vec<usize>>()];
    let divisors = (2..heads).filter(|rows| heads.is_multiple_of(*rows));
    orders
        .extend(divisors.map(|rows| (0..heads).map(|at| (at % rows) * (heads / rows) + at / rows).collect()));
    if heads <= MOST {
        orders = permutations(heads);
    }
    let right: Vec<usize> = (0..heads).collect();
    let of_order = |(step, order): (&str, &Vec<usize>)| -> Option<Alternative> {
        let node = |head: usize| Some((steps.name(step, head), steps.of_head(step, order[head])?.clone()));
        let nodes = (0..heads).map(node).collect::<Option<Vec<_>>>()?;
        let list = order.iter().map(|head| (head + 1).to_string()).collect::<Vec<_>>().join(" ");
        let said = match step {
            "O" => format!(
                "The results of the heads were joined in the order {list}, not put back in their own."
            ),
            _ => format!(
                "The query heads stand in the order {list}: they compare themselves with the keys of other heads."
            ),
        };
        Some(Alternative::new(slip("heads-order", format!("{step}: {list}"), said), nodes))
    };
    let orders = orders.iter().filter(|order| **order != right);
    orders.flat_map(|order| [("O", order), ("Q", order)]).filter_map(of_order).collect()
}

/// All orders of this many.
pub(super) fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..count)
                .filter(|at| !order.contains(at))
                .map(|at| [&order[..], &[at]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The arguments of cross-attention exchanged: the keys ask, and the queries are keys and values.
pub(super) fn exchanged(steps: &Steps<'_>) -> Vec<Alternative> {
    let of = |role: Role| steps.matrix(role.name());
    let (Some(q), Some(k), 1) = (of(Role::Q), of(Role::K), steps.heads()) else { return Vec::new() };
    if steps.task.facts().from_tokens || steps.task.recipe().mask.matrix.is_some() || q.cols() != k.cols() {
        return Vec::new();
    }
    let said = "Queries and keys changed places, and the queries were mixed: the arguments of cross-attention are exchanged.";
    let nodes = [("Q", k), ("K", q), ("V", q)].map(|(name, matrix)| (name.to_string(), matrix.clone()));
    vec![Alternative::new(only_slip("cross-exchanged", said), nodes.to_vec())]
}
