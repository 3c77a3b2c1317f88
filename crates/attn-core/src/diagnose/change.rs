//! A mistake as data: one choice of a recipe, and its mistaken value.

use crate::attention::{Base, Mask};
use crate::graph::detours::Detour;
use crate::graph::recipes::{
    Alter, Alteration, Biasing, Groups, HeadSharing, Hiding, Merge, Normalise, Projection, Qkv, QkvSource,
    Recipe, Residual, Scale, Score, ScoreRows, Split, SplitRoles,
};

use super::mask_pattern::MaskPattern;
use super::mechanism_change::MechanismChange;

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
