//! Positions and norms between the projections and the scores.

use crate::attention::{Buckets, HeadOf, Places, RopeScaling, Rotation, Yarn, key_value_head};
use crate::elementary::pow;
use crate::error::{Error, Result};
use crate::graph::{Factor, Given, Graph, NodeId, Op, Role, Stage};
use crate::matrix::Shape;
use crate::text::counted;

use super::attend::{Pipeline, Sources};
use super::recipe::{
    AlibiSlopes, NormPlace, PositionKind, Recipe, Rotary, RotatedPart, RotatedRoles, SineSigns,
};

impl Pipeline<'_> {
    /// Records the given matrices of positions, norms, sinks and gates.
    pub fn mechanisms(&mut self, given: Vec<(Role, Given)>) -> Result<()> {
        for (role, given) in given {
            self.given(role, given)?;
        }
        let Some(sink) = self.graph.at(Role::Sink) else { return Ok(()) };
        let (heads, sinks) = (self.recipe.heads, self.shape(sink));
        let why = match sinks.rows {
            1 if sinks.cols == heads => return Ok(()),
            1 => format!("there are {} for {}", counted(sinks.cols, "sink"), counted(heads, "head")),
            _ => format!("the sinks are {sinks}, but they should be one row"),
        };
        let row = if heads > 1 { format!(" for all heads, or one row of {heads}") } else { String::new() };
        Err(Error::new(why).help(format!("give one number{row}")))
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
        let Shape { rows: tokens, cols: width } = self.shape(x);
        let vectors = Op::Sinusoidal { first: self.recipe.positions.first, tokens, width };
        let vectors = self.step(Stage::PositionVectors, (vectors, vec![]))?;
        let rows = self.graph[x].labels().0.cloned();
        self.graph.name_lines(vectors, rows, None);
        self.step(Stage::Positioned, (Op::Add, vec![x, vectors])).map(Some)
    }

    /// The positions of the first query and the first key: the last query is the last token, unless both begin together.
    pub fn first_positions(&self, [(q, _), (k, _), _]: &Sources) -> [usize; 2] {
        let (queries, keys) = (self.shape(*q).rows, self.shape(*k).rows);
        let first = self.recipe.positions.first;
        if self.recipe.mask.from_start {
            return [first; 2];
        }
        [first + keys.saturating_sub(queries), first + queries.saturating_sub(keys)]
    }

    /// The frequencies of rotary positions for the heads of these queries and keys, where the recipe has such positions.
    pub fn frequencies(&mut self, sources: &Sources) -> Result<Option<NodeId>> {
        let PositionKind::Rotary(rotary) = self.recipe.positions.kind else { return Ok(None) };
        let frequencies = self.scaled_frequencies(&rotary, sources)?;
        if rotary.signs != SineSigns::Reversed {
            return Ok(Some(frequencies));
        }
        self.graph.add("F_negated", Op::Scale(Factor::Number(-1.0)), &[frequencies]).map(Some)
    }

    /// The frequencies, with the scaling that the recipe has.
    fn scaled_frequencies(&mut self, rotary: &Rotary, sources: &Sources) -> Result<NodeId> {
        let [(q, _), (k, _), _] = *sources;
        let rotated = rotated_width(rotary, self.shape(q).cols / self.recipe.heads.max(1))?;
        let base = rotary.base;
        if !(base > 1.0 && base.is_finite()) {
            return Err(Error::new(format!(
                "the base of the rotary positions is {base}, but it must be above 1"
            ))
            .help("10000 is usual; a larger base makes slower rotations"));
        }
        let frequencies = Op::Frequencies { width: rotated, base };
        let plain = self.step(Stage::Frequencies, (frequencies, vec![]))?;
        let Some(scaling) = rotary.scaling else { return Ok(plain) };
        let length = self.recipe.positions.first + self.shape(q).rows.max(self.shape(k).rows);
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
        self.step(Stage::FrequenciesScaled, (Op::ScaledFrequencies(scaling), inputs))
    }

    /// LongRoPE's divisors for a short or a long text.
    fn divisors(&mut self, is_long: bool) -> Result<NodeId> {
        let divisors = self.graph.at(Role::Divisors).ok_or_else(|| {
            Error::new("the rope scaling longrope needs divisors of the frequencies").help(
                "give --rope-scaling a file of divisors: a row for short texts, and a row for long ones",
            )
        })?;
        match self.shape(divisors).rows {
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
        let Some((Some(gain), stage)) = self.gain(role) else { return Ok(node) };
        let (width, gains) = (self.shape(node).cols, self.shape(gain));
        if gains.rows == 1 && gains.cols == width && heads > 1 {
            return self.step(stage, (Op::RmsNorm(self.recipe.qk_norm.epsilon), vec![node, gain]));
        }
        if gains.rows == 1 && (gains.cols == width || gains.cols * heads == width) {
            return Ok(node);
        }
        let (name, own) = (role.name(), width / heads.max(1));
        let columns = counted(own, "column");
        let error =
            format!("the gains of the norm of {name} are {gains}, but each head of {name} has {columns}");
        Err(Error::new(error).help(match heads {
            1 => format!("give one row of {}", counted(width, "number")),
            _ => format!("give one row of {own} for every head alike, or of {width} for all heads together"),
        }))
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
        mut heads: Vec<NodeId>,
        frequencies: Option<NodeId>,
    ) -> Result<Vec<NodeId>> {
        let norms_first = self.recipe.qk_norm.place == NormPlace::BeforeRotation;
        if norms_first {
            heads = self.normed(role, heads)?;
        }
        if let (Some(frequencies), PositionKind::Rotary(rotary)) = (frequencies, self.recipe.positions.kind)
            && rotary.rotated.has(role)
        {
            heads = self.each_head(heads.len(), |pipeline, head| {
                pipeline.rotated((role, first), heads[head], &rotary, frequencies)
            })?;
        }
        if norms_first { Ok(heads) } else { self.normed(role, heads) }
    }

    /// The norm of each head of Q or K, before or after its rotation, unless all heads have been normed together.
    fn normed(&mut self, role: Role, heads: Vec<NodeId>) -> Result<Vec<NodeId>> {
        let Some((gain, stage)) = self.gain(role) else { return Ok(heads) };
        if self.recipe.heads > 1 && self.graph.at(stage).is_some() {
            return Ok(heads);
        }
        let norm = Op::RmsNorm(self.recipe.qk_norm.epsilon);
        self.each_head(heads.len(), |pipeline, head| {
            pipeline.step(stage, (norm.clone(), [Some(heads[head]), gain].into_iter().flatten().collect()))
        })
    }
}

// The rotation of one head by its positions.

impl Pipeline<'_> {
    /// One head of Q, K or V, rotated by its positions.
    fn rotated(
        &mut self,
        (role, first): (Role, usize),
        node: NodeId,
        rotary: &Rotary,
        frequencies: NodeId,
    ) -> Result<NodeId> {
        let positions = self.recipe.positions;
        let name = role.name();
        let (stage, shift) = match role {
            Role::Q => (Some(Stage::QueriesRotated), positions.query_shift),
            Role::K => (Some(Stage::KeysRotated), positions.key_shift),
            _ => (None, 0),
        };
        let first = first.checked_add_signed(shift).ok_or_else(|| Error::new("a position is below 0"))?;
        let magnitude = rotary.magnitude.of(rotary.scaling.map_or(1.0, |scaling| scaling.magnitude()));
        let rotation = Op::Rotary(Rotation { first, pairing: rotary.pairing, magnitude });
        let (width, rotated) = (self.shape(node).cols, 2 * self.shape(frequencies).cols);
        let columns = |start: usize, count: usize| Op::Columns { start, count };
        let Some(stage) = stage else {
            return self.add(&format!("{name}_rotated"), rotation, &[node, frequencies]);
        };
        let last = if rotary.signs == SineSigns::NoMinus {
            // The first half of the columns as the other direction has it, and the second half as it should be.
            let negative = Op::Scale(Factor::Number(-1.0));
            let back = self.add(&format!("F_negated_{name}"), negative, &[frequencies])?;
            let other = self.add(&format!("{name}_reversed"), rotation.clone(), &[node, back])?;
            let own = self.add(&format!("{name}_forward"), rotation, &[node, frequencies])?;
            let (half, rest) = (rotated / 2, width - rotated / 2);
            let first = self.add(&format!("{name}_first_half"), columns(0, half), &[other])?;
            let second = self.add(&format!("{name}_second_half"), columns(half, rest), &[own])?;
            (Op::Concatenate, vec![first, second])
        } else if rotary.part == RotatedPart::First || rotated == width {
            (rotation, vec![node, frequencies])
        } else {
            let start = width - rotated;
            let kept = self.add(&format!("{name}_first_columns"), columns(0, start), &[node])?;
            let last = self.add(&format!("{name}_last_columns"), columns(start, rotated), &[node])?;
            let last = self.add(&format!("{name}_last_rotated"), rotation, &[last, frequencies])?;
            (Op::Concatenate, vec![kept, last])
        };
        self.step(stage, last)
    }
}

/// The number of columns of a head that are rotated.
///
/// # Errors
/// If it is odd, or the head has fewer.
fn rotated_width(rotary: &Rotary, width: usize) -> Result<usize> {
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

impl Pipeline<'_> {
    /// The bias of each distance, where the recipe has one.
    pub(super) fn position_bias(&mut self, pair: [NodeId; 2]) -> Result<Option<NodeId>> {
        let recipe = self.recipe;
        let places = places(self.graph, recipe, pair);
        let head = self.head.number.unwrap_or(1);
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
        let bias = self.step(Stage::PositionBias, (op, inputs))?;
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
