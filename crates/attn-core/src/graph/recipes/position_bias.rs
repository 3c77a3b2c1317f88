//! Biases of the scores by the distance of query and key.

use super::attend::Pipeline;
use super::mechanisms::{AlibiSlopes, PositionKind};
use super::recipe::Recipe;
use super::weights::Head;
use crate::attention::{Buckets, HeadOf, Places, key_value_head};
use crate::elementary::pow;
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op, Role, Stage};
use crate::matrix::Shape;
use crate::text::counted;

impl Pipeline<'_> {
    /// The places of queries and keys.
    pub fn places(&self, [q, k]: [NodeId; 2]) -> Places {
        places(&self.graph, self.recipe, [q, k])
    }

    /// The table of positions and its buckets.
    pub fn buckets(&self, furthest: usize) -> Result<(NodeId, Buckets)> {
        buckets(&self.graph, self.recipe, furthest)
    }
}

impl Head<'_> {
    /// The bias of each distance, where the recipe has one.
    pub(super) fn position_bias(&mut self, pair: [NodeId; 2]) -> Result<Option<NodeId>> {
        let recipe = self.recipe;
        let places = places(self.graph, recipe, pair);
        let head = self.number.unwrap_or(1);
        let (op, inputs) = match recipe.positions.kind {
            PositionKind::Alibi { heads } => match mistaken_slope(recipe, head, heads) {
                Some(slope) => {
                    // The slope of the only head of one is 2^−8.
                    let unit = HeadOf { head: 1, heads: 1 };
                    let unscaled = self.add("B_unscaled", Op::Alibi(unit, places), &[])?;
                    (Op::Scale(Factor::Number(slope / unit.slope())), vec![unscaled])
                }
                None => (Op::Alibi(HeadOf { head, heads: recipe.heads }, places), vec![]),
            },
            PositionKind::Buckets { furthest } => {
                let (table, buckets) = buckets(self.graph, recipe, furthest)?;
                (Op::BucketBias { column: head - 1, buckets, places }, vec![table])
            }
            PositionKind::None | PositionKind::Rotary(_) | PositionKind::Sinusoidal => return Ok(None),
        };
        let bias = self.step(Stage::PositionBias, op, &inputs)?;
        let [rows, cols] = pair.map(|id| self.graph[id].labels().0.cloned());
        self.graph.name_lines(bias, rows, cols);
        Ok(Some(bias))
    }
}

/// The slope of a head, from 1, where the recipe has other slopes than ALiBi's; negative where scores rise with the distance.
fn mistaken_slope(recipe: &Recipe, head: usize, made_for: Option<usize>) -> Option<f64> {
    let (heads, groups) = (recipe.heads, recipe.kv_heads);
    let by_formula = |head: usize, heads: usize| pow(2.0, -(8.0 * head as f64) / heads as f64);
    match (made_for, recipe.positions.slopes) {
        (Some(number), _) => Some(by_formula(head, number)),
        (None, AlibiSlopes::OfHeads) => None,
        (None, AlibiSlopes::FromZero) => Some(by_formula(head - 1, heads)),
        (None, AlibiSlopes::OfGroups) => {
            let group = key_value_head(head - 1, heads, groups) + 1;
            Some(HeadOf { head: group, heads: groups }.slope())
        }
        (None, AlibiSlopes::Rising) => Some(-HeadOf { head, heads }.slope()),
    }
}

fn places(graph: &Graph, recipe: &Recipe, [q, k]: [NodeId; 2]) -> Places {
    let (queries, keys) = (graph[q].shape().rows, graph[k].shape().rows);
    let aligned = if recipe.mask.from_start { 0 } else { keys as isize - queries as isize };
    let shift = recipe.positions.query_shift - recipe.positions.key_shift;
    Places { queries, keys, offset: aligned + shift }
}

/// The table of positions and its buckets.
///
/// # Errors
/// If there is no table, or it has not a column for each head, or too few rows.
fn buckets(graph: &Graph, recipe: &Recipe, furthest: usize) -> Result<(NodeId, Buckets)> {
    let Some(table) = graph.at(Role::PositionTable) else {
        return Err(Error::new("the positions of T5 need a table of biases")
            .help("give --position-table a row for each bucket and a column for each head"));
    };
    let Shape { rows: count, cols } = graph[table].shape();
    if cols != recipe.heads {
        return Err(Error::new(format!(
            "the table of positions has {}, but there {} {}",
            counted(cols, "column"),
            if recipe.heads == 1 { "is" } else { "are" },
            counted(recipe.heads, "head")
        ))
        .help("give the table a column for each head"));
    }
    let both_ways = recipe.positions.later_buckets.unwrap_or(!recipe.mask.causal);
    let buckets = Buckets { count, furthest, both_ways };
    buckets.check()?;
    Ok((table, buckets))
}
