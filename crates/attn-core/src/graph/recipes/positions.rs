//! Positions and norms between the projections and the scores.

use crate::attention::{Buckets, HeadOf, Places, RopeScaling, Rotation, Yarn, key_value_head};
use crate::elementary::pow;
use crate::error::{Error, Result};
use crate::graph::{Factor, Given, Graph, NodeId, Op, Role, Stage};
use crate::matrix::Shape;
use crate::text::counted;

use super::attend::Pipeline;
use super::recipe::{
    AlibiSlopes, NormPlace, PositionKind, Recipe, Rotary, RotatedPart, RotatedRoles, SineSigns,
};
use super::weights::{Head, number, suffix};

/// The first positions of queries and of keys.
#[derive(Clone, Copy)]
pub(super) struct FirstPositions {
    pub query: usize,
    pub key: usize,
}

impl Pipeline<'_> {
    /// Records the given matrices of positions, norms, sinks and gates.
    pub fn mechanisms(&mut self, given: Vec<(Role, Given)>) -> Result<()> {
        for (role, given) in given {
            self.given(role, given)?;
        }
        let Some(sink) = self.graph.at(Role::Sink) else { return Ok(()) };
        let (heads, sinks) = (self.recipe.heads, self.shape(sink));
        if sinks == (1, heads) {
            return Ok(());
        }
        let error = match sinks {
            (1, sinks) => {
                Error::new(format!("there are {} for {}", counted(sinks, "sink"), counted(heads, "head")))
            }
            (rows, cols) => Error::new(format!("the sinks are {rows}×{cols}, but they should be one row")),
        };
        let row = if heads > 1 { format!(" for all heads, or one row of {heads}") } else { String::new() };
        Err(error.help(format!("give one number{row}")))
    }

    /// # Errors
    /// If the recipe adds positions to X, and nothing is computed from X.
    pub fn reads_tokens(&self, is_read: bool) -> Result<()> {
        if is_read || self.recipe.positions.kind != PositionKind::Sinusoidal {
            return Ok(());
        }
        Err(Error::new("sinusoidal positions are added to X, but Q, K and V are given")
            .help("give X in place of one of them, or other positions: --position rope"))
    }

    /// The tokens plus the vectors of their positions, where the recipe adds them.
    pub fn positioned(&mut self, x: Option<NodeId>) -> Result<Option<NodeId>> {
        if self.recipe.positions.kind != PositionKind::Sinusoidal {
            return Ok(x);
        }
        let Some(x) = x else {
            return Err(Error::new("sinusoidal positions are added to X, and there is no X")
                .help("give --x or --words, or other positions: --position rope"));
        };
        let (tokens, width) = self.shape(x);
        let vectors = Op::Sinusoidal { first: self.recipe.positions.first, tokens, width };
        let vectors = self.stage(Stage::PositionVectors, None, vectors, &[])?;
        let rows = self.graph[x].labels().0.cloned();
        self.graph.name_lines(vectors, rows, None);
        self.stage(Stage::Positioned, None, Op::Add, &[x, vectors]).map(Some)
    }

    /// The positions of the first query and the first key: the last query is the last token, unless both begin together.
    pub fn first_positions(&self, [q, k]: [NodeId; 2]) -> FirstPositions {
        let (queries, keys) = (self.shape(q).0, self.shape(k).0);
        let first = self.recipe.positions.first;
        if self.recipe.mask.from_start {
            return FirstPositions { query: first, key: first };
        }
        FirstPositions {
            query: first + keys.saturating_sub(queries),
            key: first + queries.saturating_sub(keys),
        }
    }

    /// The frequencies of rotary positions for the heads of these queries and keys, where the recipe has such positions.
    pub fn frequencies(&mut self, nodes: [NodeId; 2]) -> Result<Option<NodeId>> {
        let PositionKind::Rotary(rotary) = self.recipe.positions.kind else { return Ok(None) };
        let width = self.shape(nodes[0]).1 / self.recipe.heads.max(1);
        let frequencies = self.scaled_frequencies(&rotary, width, nodes)?;
        if rotary.signs != SineSigns::Reversed {
            return Ok(Some(frequencies));
        }
        self.graph.add("F_negated", Op::Scale(Factor::Number(-1.0)), &[frequencies]).map(Some)
    }

    /// The frequencies, with the scaling that the recipe has.
    fn scaled_frequencies(&mut self, rotary: &Rotary, width: usize, [q, k]: [NodeId; 2]) -> Result<NodeId> {
        let rotated = rotated_width(rotary, width)?;
        let base = rotary.base;
        if !(base > 1.0 && base.is_finite()) {
            return Err(Error::new(format!(
                "the base of the rotary positions is {base}, but it must be above 1"
            ))
            .help("10000 is usual; a larger base makes slower rotations"));
        }
        let frequencies = Op::Frequencies { width: rotated, base };
        let plain = self.stage(Stage::Frequencies, None, frequencies, &[])?;
        let Some(scaling) = rotary.scaling else { return Ok(plain) };
        let length = self.recipe.positions.first + self.shape(q).0.max(self.shape(k).0);
        let mut inputs = vec![plain];
        let scaling = match scaling {
            RopeScaling::Dynamic { factor, original, .. } => {
                RopeScaling::Dynamic { factor, original, length }
            }
            RopeScaling::Yarn(yarn) => RopeScaling::Yarn(Yarn { base, ..yarn }),
            RopeScaling::LongRope { original, .. } => {
                inputs.push(self.divisors((length as f64 > original) != rotary.swaps_divisors)?);
                scaling
            }
            RopeScaling::Linear { .. } | RopeScaling::Llama3 { .. } => scaling,
        };
        self.stage(Stage::FrequenciesScaled, None, Op::ScaledFrequencies(scaling), &inputs)
    }

    /// LongRoPE's divisors for a short or a long text.
    fn divisors(&mut self, is_long: bool) -> Result<NodeId> {
        let divisors = self.graph.at(Role::Divisors).ok_or_else(|| {
            Error::new("the rope scaling longrope needs divisors of the frequencies").help(
                "give --rope-scaling a file of divisors: a row for short texts, and a row for long ones",
            )
        })?;
        let (rows, _) = self.shape(divisors);
        match rows {
            1 => Ok(divisors),
            2 => {
                let (name, start) = if is_long { ("F_divisors_long", 1) } else { ("F_divisors_short", 0) };
                self.graph.add(name, Op::Rows { start, count: 1 }, &[divisors])
            }
            rows => Err(Error::new(format!("the divisors of longrope have {}", counted(rows, "row")))
                .help("give one row, or two: for short texts, and for long ones")),
        }
    }

    /// The norm of all heads of Q or K together, where its gains are as wide as all of them.
    pub fn normed_whole(&mut self, role: Role, node: NodeId, heads: usize) -> Result<NodeId> {
        let Some((gain, stage)) = self.gain(role) else { return Ok(node) };
        let (width, gains) = (self.shape(node).1, gain.map(|gain| self.shape(gain)));
        match gains {
            Some((1, cols)) if cols == width && heads > 1 => {
                let inputs: Vec<NodeId> = [Some(node), gain].into_iter().flatten().collect();
                self.stage(stage, None, Op::RmsNorm(self.recipe.qk_norm.epsilon), &inputs)
            }
            Some((rows, cols)) if rows != 1 || (cols != width && cols * heads != width) => {
                let name = role.name();
                Err(Error::new(format!(
                    "the gains of the norm of {name} are {rows}×{cols}, but each head of {name} has {}",
                    counted(width / heads.max(1), "column")
                ))
                .help(if heads == 1 {
                    format!("give one row of {}", counted(width, "number"))
                } else {
                    format!(
                        "give one row of {} for every head alike, or of {width} for all heads together",
                        width / heads
                    )
                }))
            }
            _ => Ok(node),
        }
    }

    /// The norm of one head of Q or K, before or after its rotation, unless all heads have been normed together.
    fn normed(&mut self, role: Role, node: NodeId, head: Option<usize>) -> Result<NodeId> {
        let Some((gain, stage)) = self.gain(role) else { return Ok(node) };
        if head.is_some() && self.graph.at(stage).is_some() {
            return Ok(node);
        }
        let inputs: Vec<NodeId> = [Some(node), gain].into_iter().flatten().collect();
        self.stage(stage, head, Op::RmsNorm(self.recipe.qk_norm.epsilon), &inputs)
    }

    /// The gains of the norm of Q or K, and the stage of its result; none where nothing is normed.
    fn gain(&self, role: Role) -> Option<(Option<NodeId>, Stage)> {
        if self.recipe.qk_norm.place == NormPlace::Nowhere || !self.recipe.qk_norm.normed.has(role) {
            return None;
        }
        match role {
            Role::Q => Some((self.graph.at(Role::QueryGain), Stage::QueriesNormed)),
            Role::K => Some((self.graph.at(Role::KeyGain), Stage::KeysNormed)),
            _ => None,
        }
    }

    /// Returns true if the values are rotated, too, by mistake.
    pub fn rotates_values(&self) -> bool {
        let PositionKind::Rotary(rotary) = self.recipe.positions.kind else { return false };
        rotary.rotated == RotatedRoles::WithValues
    }

    /// The heads of Q or K, normed and rotated as the recipe has it; those of V, rotated.
    pub fn prepared(
        &mut self,
        (role, first): (Role, usize),
        heads: &mut [NodeId],
        frequencies: Option<NodeId>,
    ) -> Result<()> {
        let norms_first = self.recipe.qk_norm.place == NormPlace::BeforeRotation;
        if norms_first {
            self.all_normed(role, heads)?;
        }
        if let (Some(frequencies), PositionKind::Rotary(rotary)) = (frequencies, self.recipe.positions.kind) {
            for (head, node) in heads.iter_mut().enumerate().filter(|_| rotary.rotated.has(role)) {
                let number = number(head, self.recipe.heads);
                *node = self.rotated((role, first), (*node, number), &rotary, frequencies)?;
            }
        }
        if norms_first { Ok(()) } else { self.all_normed(role, heads) }
    }

    fn all_normed(&mut self, role: Role, heads: &mut [NodeId]) -> Result<()> {
        for (head, node) in heads.iter_mut().enumerate() {
            *node = self.normed(role, *node, number(head, self.recipe.heads))?;
        }
        Ok(())
    }

    /// Records a step under its own name.
    pub fn stage(&mut self, stage: Stage, head: Option<usize>, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let step = stage.of_head(head);
        let id = self.graph.add(&step.to_string(), op, inputs)?;
        self.graph.mark(id, step);
        Ok(id)
    }
}

// The rotation of one head by its positions.

impl Pipeline<'_> {
    /// One head of Q, K or V, rotated by its positions.
    pub fn rotated(
        &mut self,
        (role, first): (Role, usize),
        (node, head): (NodeId, Option<usize>),
        rotary: &Rotary,
        frequencies: NodeId,
    ) -> Result<NodeId> {
        let positions = self.recipe.positions;
        let (stage, shift) = match role {
            Role::Q => (Some(Stage::QueriesRotated), positions.query_shift),
            Role::K => (Some(Stage::KeysRotated), positions.key_shift),
            _ => (None, 0),
        };
        let first = first.checked_add_signed(shift).ok_or_else(|| Error::new("a position is below 0"))?;
        let magnitude = rotary.magnitude.of(rotary.scaling.map_or(1.0, |scaling| scaling.magnitude()));
        let rotation = Op::Rotary(Rotation { first, pairing: rotary.pairing, magnitude });
        let (width, rotated) = (self.shape(node).1, 2 * self.shape(frequencies).1);
        let (name, suffix) = (role.name(), suffix(head));
        let Some(stage) = stage else {
            return self.graph.add(&format!("{name}_rotated{suffix}"), rotation, &[node, frequencies]);
        };
        if rotary.signs == SineSigns::NoMinus {
            let halves = self.rotated_without_minus((role, head), node, rotation, frequencies)?;
            return self.stage(stage, head, Op::Concatenate, &halves);
        }
        if rotary.part == RotatedPart::First || rotated == width {
            return self.stage(stage, head, rotation, &[node, frequencies]);
        }
        let start = width - rotated;
        let kept = Op::Columns { start: 0, count: start };
        let kept = self.graph.add(&format!("{name}_first_columns{suffix}"), kept, &[node])?;
        let last = Op::Columns { start, count: rotated };
        let last = self.graph.add(&format!("{name}_last_columns{suffix}"), last, &[node])?;
        let last = self.graph.add(&format!("{name}_last_rotated{suffix}"), rotation, &[last, frequencies])?;
        self.stage(stage, head, Op::Concatenate, &[kept, last])
    }

    /// The first half of the columns of one head as the other direction has it, and the second half as it should be.
    fn rotated_without_minus(
        &mut self,
        (role, head): (Role, Option<usize>),
        node: NodeId,
        rotation: Op,
        frequencies: NodeId,
    ) -> Result<[NodeId; 2]> {
        let (width, rotated) = (self.shape(node).1, 2 * self.shape(frequencies).1);
        let (name, suffix) = (role.name(), suffix(head));
        let back = format!("F_negated_{name}{suffix}");
        let back = self.graph.add(&back, Op::Scale(Factor::Number(-1.0)), &[frequencies])?;
        let other = self.graph.add(&format!("{name}_reversed{suffix}"), rotation.clone(), &[node, back])?;
        let own = self.graph.add(&format!("{name}_forward{suffix}"), rotation, &[node, frequencies])?;
        let half = rotated / 2;
        let first = Op::Columns { start: 0, count: half };
        let first = self.graph.add(&format!("{name}_first_half{suffix}"), first, &[other])?;
        let second = Op::Columns { start: half, count: width - half };
        let second = self.graph.add(&format!("{name}_second_half{suffix}"), second, &[own])?;
        Ok([first, second])
    }
}

/// The number of columns of a head that are rotated.
///
/// # Errors
/// If it is odd, or the head has fewer.
pub(super) fn rotated_width(rotary: &Rotary, width: usize) -> Result<usize> {
    let rotated = rotary.width.unwrap_or(width);
    let even = width - width % 2;
    if rotated > width || rotated == 0 {
        return Err(Error::new(format!(
            "{} of a head cannot be rotated: it has {}",
            counted(rotated, "column"),
            counted(width, "column")
        ))
        .help(format!("give --rope-width an even number up to {even}")));
    }
    if !rotated.is_multiple_of(2) {
        let which = if rotary.width.is_some() { "the rotated width is" } else { "the width of a head is" };
        let error = Error::new(format!("{which} {rotated}, but rotary positions rotate pairs of columns"));
        let help = match rotated - 1 {
            0 => "give queries and keys of an even width, or leave out --position".to_string(),
            even => {
                format!("give an even width, or rotate the first columns alone: --rope-width {even}")
            }
        };
        return Err(error.help(help));
    }
    Ok(rotated)
}

// Biases of the scores by the distance of query and key.

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

/// The places of queries and keys.
pub(super) fn places(graph: &Graph, recipe: &Recipe, [q, k]: [NodeId; 2]) -> Places {
    let (queries, keys) = (graph[q].shape().rows, graph[k].shape().rows);
    let aligned = if recipe.mask.from_start { 0 } else { keys as isize - queries as isize };
    let shift = recipe.positions.query_shift - recipe.positions.key_shift;
    Places { queries, keys, offset: aligned + shift }
}

/// The table of positions and its buckets.
///
/// # Errors
/// If there is no table, or it has not a column for each head, or too few rows.
pub(super) fn buckets(graph: &Graph, recipe: &Recipe, furthest: usize) -> Result<(NodeId, Buckets)> {
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
