//! Positions and norms between the projections and the scores.

use super::attend::Pipeline;
use super::mechanisms::{NormPlace, PositionKind, Rotary, RotatedRoles, SineSigns};
use super::rotation::rotated_width;
use crate::attention::{RopeScaling, Yarn};
use crate::error::{Error, Result};
use crate::graph::{Factor, Given, NodeId, Op, Role, Stage};
use crate::text::counted;

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

    /// The frequencies of rotary positions for heads of this width, where the recipe has such positions.
    pub fn frequencies(&mut self, width: usize, nodes: [NodeId; 2]) -> Result<Option<NodeId>> {
        let PositionKind::Rotary(rotary) = self.recipe.positions.kind else { return Ok(None) };
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
        heads: &mut [(NodeId, Option<usize>)],
        frequencies: Option<NodeId>,
    ) -> Result<()> {
        let norms_first = self.recipe.qk_norm.place == NormPlace::BeforeRotation;
        if norms_first {
            self.all_normed(role, heads)?;
        }
        if let (Some(frequencies), PositionKind::Rotary(rotary)) = (frequencies, self.recipe.positions.kind) {
            for (node, head) in heads.iter_mut().filter(|_| rotary.rotated.has(role)) {
                *node = self.rotated((role, first), (*node, *head), &rotary, frequencies)?;
            }
        }
        if norms_first { Ok(()) } else { self.all_normed(role, heads) }
    }

    fn all_normed(&mut self, role: Role, heads: &mut [(NodeId, Option<usize>)]) -> Result<()> {
        for (node, head) in heads {
            *node = self.normed(role, *node, *head)?;
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
