//! A mistake as data: one choice of a recipe, and its mistaken value.

use crate::attention::{Base, Mask, MatrixRule, Pairing, RopeScaling};
use crate::graph::detours::Detour;
use crate::graph::recipes::{
    AlibiSlopes, Alter, Alteration, Biasing, CapPlace, Gating, Groups, HeadSharing, Hiding, MagnitudeUse,
    Merge, NormPlace, Normalise, NormedRoles, PositionKind, Projection, Qkv, QkvSource, Recipe, Residual,
    Rotary, RotatedPart, RotatedRoles, Scale, Score, ScoreRows, SineSigns, SinkUse, Split, SplitRoles,
};
use crate::matrix::Matrix;

/// One changed choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// [`Recipe::scale`].
    Scale(Scale),
    /// [`Recipe::comparison`].
    Comparison(ScoreRows),
    /// [`Recipe::score`].
    Score(Score),
    /// [`Recipe::biasing`].
    Biasing(Biasing),
    /// [`Recipe::temperature`].
    Temperature(f64),
    /// [`Recipe::mask`].
    Mask(Mask),
    /// [`Recipe::mask`] and its matrix.
    MaskPattern(MaskPattern),
    /// [`Recipe::hiding`].
    Hiding(Hiding),
    /// [`Recipe::score_decimals`].
    ScoreDecimals(u32),
    /// [`Recipe::normalise`].
    Normalise(Normalise),
    /// [`Recipe::base`].
    Base(Base),
    /// [`Recipe::guarded`], taken away.
    Unguarded,
    /// [`Recipe::weight_decimals`].
    WeightDecimals(u32),
    /// [`Recipe::split`] and [`Recipe::split_roles`].
    Split(Split, SplitRoles),
    /// [`Recipe::heads`] and [`Recipe::kv_heads`].
    Heads(usize, usize),
    /// [`Recipe::groups`].
    Groups(Groups),
    /// [`Recipe::common`].
    Common(HeadSharing),
    /// [`Recipe::merge`].
    Merge(Merge),
    /// One of [`Recipe::roles`].
    Source(Qkv, QkvSource),
    /// All of [`Recipe::roles`] that come from their own weights.
    AllTransposed,
    /// The output projection.
    Projection(Projection),
    /// Whether the output is projected.
    Projected(bool),
    /// Whether the residual is added.
    Residual(bool),
    /// The addition of the residual.
    Addition(Residual),
    /// Positions, norms, soft-cap, sinks or gate.
    Mechanism(MechanismChange),
    /// [`Recipe::alteration`].
    Alteration(Alteration),
    /// No field: a step of the backward pass.
    Gradient(Detour),
    /// No field: the result is read with its rows as columns.
    Transposed,
}

impl Change {
    /// Whether both change the same choice, so that they cannot be made together.
    pub fn same_field(&self, other: &Change) -> bool {
        use std::mem::discriminant;
        let is_mask = |change: &Change| matches!(change, Change::Mask(_) | Change::MaskPattern(_));
        match (self, other) {
            (Change::Source(a, _), Change::Source(b, _)) => a == b,
            (Change::Mechanism(a), Change::Mechanism(b)) => a.same_field(b),
            (Change::Gradient(a), Change::Gradient(b)) => a.same_step(b),
            _ if is_mask(self) && is_mask(other) => true,
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// Whether it only rounds numbers.
    pub(super) fn is_rounding(&self) -> bool {
        match self {
            Change::ScoreDecimals(_) | Change::WeightDecimals(_) => true,
            Change::Alteration(alteration) => {
                matches!(alteration.alter, Alter::Rounded(_) | Alter::Truncated(_))
            }
            _ => false,
        }
    }

    /// Whether it is in the backward pass, so that it changes gradients alone.
    pub(super) fn is_backward(&self) -> bool {
        matches!(self, Change::Gradient(_))
    }

    /// Puts the change into a recipe.
    pub fn put_into(&self, recipe: &mut Recipe) {
        match *self {
            Change::Scale(scale) => recipe.scale = scale,
            Change::Comparison(comparison) => recipe.comparison = comparison,
            Change::Score(score) => recipe.score = score,
            Change::Biasing(biasing) => recipe.biasing = biasing,
            Change::Temperature(temperature) => recipe.temperature = temperature,
            Change::Mask(mask) => recipe.mask = mask,
            Change::MaskPattern(_) => recipe.mask = MaskPattern::mask(),
            Change::Hiding(hiding) => recipe.hiding = hiding,
            Change::ScoreDecimals(decimals) => recipe.score_decimals = Some(decimals),
            Change::Normalise(normalise) => recipe.normalise = normalise,
            Change::Base(base) => recipe.base = base,
            Change::Unguarded => recipe.guarded = false,
            Change::WeightDecimals(decimals) => recipe.weight_decimals = Some(decimals),
            Change::Split(split, roles) => (recipe.split, recipe.split_roles) = (split, roles),
            Change::Heads(heads, groups) => (recipe.heads, recipe.kv_heads) = (heads, groups),
            Change::Groups(groups) => recipe.groups = groups,
            Change::Common(common) => recipe.common = common,
            Change::Merge(merge) => recipe.merge = merge,
            Change::Source(Qkv::Query, source) => recipe.roles.q = source,
            Change::Source(Qkv::Key, source) => recipe.roles.k = source,
            Change::Source(Qkv::Value, source) => recipe.roles.v = source,
            Change::AllTransposed => {
                let roles = &mut recipe.roles;
                for source in [&mut roles.q, &mut roles.k, &mut roles.v] {
                    if *source == QkvSource::Own {
                        *source = QkvSource::Transposed;
                    }
                }
            }
            Change::Projection(projection) => recipe.output.projection = projection,
            Change::Projected(projected) => recipe.output.projected = projected,
            Change::Residual(residual) => recipe.output.residual = residual,
            Change::Addition(addition) => recipe.output.addition = addition,
            Change::Mechanism(mechanism) => mechanism.put_into(recipe),
            Change::Alteration(alteration) => recipe.alteration = Some(alteration),
            Change::Gradient(_) | Change::Transposed => {}
        }
    }
}

// A mistake in what today's models add to attention: one choice of positions, norms, soft-cap, sink or gate.

/// One changed choice of the positions, norms, soft-cap, sinks or gate of a recipe. A choice of rotary positions changes nothing
/// where there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MechanismChange {
    /// No positions at all.
    NoPositions,
    /// [`Rotary::pairing`].
    Pairing(Pairing),
    /// [`Rotary::part`] and [`Rotary::width`].
    Part(RotatedPart, Option<usize>),
    /// [`Rotary::base`].
    Base(f64),
    /// [`Rotary::scaling`].
    Scaling(Option<RopeScaling>),
    /// [`Rotary::swaps_divisors`].
    OtherDivisors,
    /// [`Rotary::magnitude`].
    Magnitude(MagnitudeUse),
    /// [`Rotary::rotated`].
    Rotated(RotatedRoles),
    /// [`Rotary::signs`].
    SineSigns(SineSigns),
    /// The position of the first token.
    FirstPosition(usize),
    /// Numbers added to the positions of queries alone, and of keys alone.
    Shift {
        /// To the positions of queries.
        queries: isize,
        /// To the positions of keys.
        keys: isize,
    },
    /// The number of heads that ALiBi's slopes are made for.
    SlopesFor(usize),
    /// ALiBi's slopes.
    Slopes(AlibiSlopes),
    /// Whether later keys have buckets of their own in T5's table.
    LaterBuckets(bool),
    /// The place of the norm of queries and keys.
    NormPlace(NormPlace),
    /// What is normed.
    Normed(NormedRoles),
    /// The soft-cap.
    SoftCap(Option<f64>),
    /// The place of the soft-cap.
    CapPlace(CapPlace),
    /// The use of the sinks.
    Sink(SinkUse),
    /// The use of the gate.
    Gate(Gating),
}

impl MechanismChange {
    /// Whether both change the same choice, or one takes away what the other changes.
    pub(super) fn same_field(&self, other: &MechanismChange) -> bool {
        use MechanismChange::{NoPositions, Slopes, SlopesFor};
        match (self, other) {
            (NoPositions, change) | (change, NoPositions) => change.is_of_positions(),
            (Slopes(_), SlopesFor(_)) | (SlopesFor(_), Slopes(_)) => true,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn is_of_positions(&self) -> bool {
        use MechanismChange::{CapPlace, Gate, NormPlace, Normed, Sink, SoftCap};
        !matches!(self, NormPlace(_) | Normed(_) | SoftCap(_) | CapPlace(_) | Sink(_) | Gate(_))
    }

    /// Puts the change into a recipe.
    pub(super) fn put_into(&self, recipe: &mut Recipe) {
        let positions = &mut recipe.positions;
        match *self {
            MechanismChange::NoPositions => positions.kind = PositionKind::None,
            MechanismChange::FirstPosition(first) => positions.first = first,
            MechanismChange::Shift { queries, keys } => {
                (positions.query_shift, positions.key_shift) = (queries, keys);
            }
            MechanismChange::SlopesFor(heads) => positions.kind = PositionKind::Alibi { heads: Some(heads) },
            MechanismChange::Slopes(slopes) => positions.slopes = slopes,
            MechanismChange::LaterBuckets(later) => positions.later_buckets = Some(later),
            MechanismChange::NormPlace(place) => recipe.qk_norm.place = place,
            MechanismChange::Normed(normed) => recipe.qk_norm.normed = normed,
            MechanismChange::SoftCap(cap) => recipe.soft_cap = cap,
            MechanismChange::CapPlace(place) => recipe.cap_place = place,
            MechanismChange::Sink(sink) => recipe.sink = sink,
            MechanismChange::Gate(gate) => recipe.gate = gate,
            _ => {
                if let PositionKind::Rotary(rotary) = &mut positions.kind {
                    self.put_into_rotary(rotary);
                }
            }
        }
    }

    fn put_into_rotary(&self, rotary: &mut Rotary) {
        match *self {
            MechanismChange::Pairing(pairing) => rotary.pairing = pairing,
            MechanismChange::Part(part, width) => (rotary.part, rotary.width) = (part, width),
            MechanismChange::Base(base) => rotary.base = base,
            MechanismChange::Scaling(scaling) => rotary.scaling = scaling,
            MechanismChange::OtherDivisors => rotary.swaps_divisors = true,
            MechanismChange::Magnitude(magnitude) => rotary.magnitude = magnitude,
            MechanismChange::Rotated(rotated) => rotary.rotated = rotated,
            MechanismChange::SineSigns(signs) => rotary.signs = signs,
            _ => {}
        }
    }
}

// Wrong patterns of visible keys, as mistakes in the mask make them.

/// A wrong pattern, made from the right mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskPattern {
    /// The causal diagonal stands this many keys later.
    Later(i32),
    /// The mask matrix hides queries instead of keys: its first row is read as a column.
    OnQueries,
    /// It hides queries and keys.
    OnQueriesAndKeys,
    /// One row of the mask matrix is used for all rows.
    OneRow(MaskLine),
    /// One column of it is used for all columns.
    OneColumn(MaskLine),
    /// Rows and columns are exchanged.
    Turned,
    /// Each token sees itself alone.
    ItselfOnly,
    /// The first key is visible to all.
    FirstKeyShown,
    /// The first key is hidden from all.
    FirstKeyHidden,
    /// The last key is hidden from all.
    LastKeyHidden,
    /// Each token sees the keys of its own block, of this width.
    Blocks(usize),
    /// A key is visible if any of several masks allows it.
    AnyMask,
    /// The mask matrix hides one key more at each edge of the hidden keys.
    Wider,
    /// It hides one key less.
    Narrower,
    /// The columns of all masks together stand in reverse order.
    Reversed,
    /// Those of the mask matrix alone.
    MatrixReversed,
    /// The columns of all masks together stand one place later, or earlier; the one that falls off comes in at the other end.
    Rolled(i32),
}

/// The row or column of a mask matrix that is used for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskLine {
    /// The first.
    First,
    /// The last.
    Last,
    /// A key is visible if any of them allows it.
    Any,
}

impl MaskPattern {
    /// The mask rule that reads such a pattern as a matrix.
    pub fn mask() -> Mask {
        Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() }
    }

    /// The pattern, 1 where a key is visible to a query, from the right mask, its matrix, and the numbers of queries and keys. Of a
    /// matrix for each head, side by side, it is the pattern of each.
    pub(super) fn pattern(
        self,
        mask: &Mask,
        matrix: Option<&Matrix>,
        (queries, keys): (usize, usize),
    ) -> Matrix {
        if let Some(all) = matrix.filter(|all| all.cols() > keys) {
            let own = |head| Matrix::from_fn(queries, keys, |i, j| all[(i, head * keys + j)]);
            let heads =
                (0..all.cols() / keys).map(|head| self.pattern(mask, Some(&own(head)), (queries, keys)));
            let heads: Vec<Matrix> = heads.collect();
            return Matrix::from_fn(queries, all.cols(), |i, j| heads[j / keys][(i, j % keys)]);
        }
        let rules = Mask { matrix: None, ..*mask };
        let given = Mask { matrix: mask.matrix, ..Mask::default() };
        let size = (queries, keys);
        let (by_rules, by_matrix) =
            (rules.pattern(queries, keys, None), given.pattern(queries, keys, matrix));
        let shows = |i: usize, j: usize| by_rules[(i, j)] == 1.0;
        let allows = |i: usize, j: usize| by_matrix[(i, j)] == 1.0;
        let is_seen = |i: usize, j: usize| shows(i, j) && allows(i, j);
        let line = |line: MaskLine, count: usize, allows: &dyn Fn(usize) -> bool| match line {
            MaskLine::First => allows(0),
            MaskLine::Last => allows(count - 1),
            MaskLine::Any => (0..count).any(allows),
        };
        let offset = if mask.from_start { 0 } else { keys as i64 - queries as i64 };
        let around = |j: usize| j.saturating_sub(1)..(j + 2).min(keys);
        let sees = |i: usize, j: usize| match self {
            MaskPattern::Later(keys) => {
                let open = Mask { causal: false, ..*mask };
                let cell = matrix.map(|matrix| matrix[(i, j)]);
                let others = open.is_visible((i, j), size, cell);
                others && (j as i64) <= i as i64 + offset + i64::from(keys)
            }
            MaskPattern::OnQueries => shows(i, j) && i < keys && allows(0, i),
            MaskPattern::OnQueriesAndKeys => is_seen(i, j) && i < keys && allows(0, i),
            MaskPattern::OneRow(which) => shows(i, j) && line(which, queries, &|row| allows(row, j)),
            MaskPattern::OneColumn(which) => shows(i, j) && line(which, keys, &|col| allows(i, col)),
            MaskPattern::Turned => i < keys && j < queries && is_seen(j, i),
            MaskPattern::ItselfOnly => j as i64 == i as i64 + offset,
            MaskPattern::FirstKeyShown => j == 0 || is_seen(i, j),
            MaskPattern::FirstKeyHidden => j != 0 && is_seen(i, j),
            MaskPattern::LastKeyHidden => j + 1 != keys && is_seen(i, j),
            MaskPattern::Blocks(width) => {
                let width = width.max(1) as i64;
                (i as i64 + offset).div_euclid(width) == (j as i64).div_euclid(width)
            }
            MaskPattern::AnyMask => shows(i, j) || allows(i, j),
            MaskPattern::Wider => shows(i, j) && around(j).all(|key| allows(i, key)),
            MaskPattern::Narrower => shows(i, j) && around(j).any(|key| allows(i, key)),
            MaskPattern::Reversed => is_seen(i, keys - 1 - j),
            MaskPattern::MatrixReversed => shows(i, j) && allows(i, keys - 1 - j),
            MaskPattern::Rolled(later) => {
                let from = (j as i64 - i64::from(later)).rem_euclid(keys as i64) as usize;
                is_seen(i, from)
            }
        };
        Matrix::from_fn(queries, keys, |i, j| f64::from(u8::from(sees(i, j))))
    }
}
