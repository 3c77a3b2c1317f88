//! A mistake as data: one field of a recipe, and what stands in it by mistake.

use std::mem::discriminant;

use crate::attention::{Base, Mask};
use crate::graph::build::{
    Comparison, Groups, Hiding, Merge, Normalise, Projection, Recipe, Scale, Score, Split, Values,
};

/// One changed field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// [`Recipe::scale`].
    Scale(Scale),
    /// [`Recipe::comparison`].
    Comparison(Comparison),
    /// [`Recipe::score`].
    Score(Score),
    /// [`Recipe::mask`].
    Mask(Mask),
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
    /// [`Recipe::split`].
    Split(Split),
    /// [`Recipe::heads`] and [`Recipe::kv_heads`], both 1.
    OneHead,
    /// [`Recipe::groups`].
    Groups(Groups),
    /// [`Recipe::merge`].
    Merge(Merge),
    /// [`Recipe::projection`].
    Projection(Projection),
    /// [`Recipe::values`].
    Values(Values),
    /// Whether the output is projected.
    Projected(bool),
    /// Whether the residual is added.
    Residual(bool),
    /// No field: the result is read with its rows as columns.
    Transposed,
}

impl Change {
    /// Whether both change the same field, so that they cannot be made together.
    pub fn same_field(&self, other: &Change) -> bool {
        discriminant(self) == discriminant(other)
    }

    /// Puts the change into a recipe.
    pub fn put_into(&self, recipe: &mut Recipe) {
        match *self {
            Change::Scale(scale) => recipe.scale = scale,
            Change::Comparison(comparison) => recipe.comparison = comparison,
            Change::Score(score) => recipe.score = score,
            Change::Mask(mask) => recipe.mask = mask,
            Change::Hiding(hiding) => recipe.hiding = hiding,
            Change::ScoreDecimals(decimals) => recipe.score_decimals = Some(decimals),
            Change::Normalise(normalise) => recipe.normalise = normalise,
            Change::Base(base) => recipe.base = base,
            Change::Unguarded => recipe.guarded = false,
            Change::WeightDecimals(decimals) => recipe.weight_decimals = Some(decimals),
            Change::Split(split) => recipe.split = split,
            Change::OneHead => (recipe.heads, recipe.kv_heads) = (1, 1),
            Change::Groups(groups) => recipe.groups = groups,
            Change::Merge(merge) => recipe.merge = merge,
            Change::Projection(projection) => recipe.projection = projection,
            Change::Values(values) => recipe.values = values,
            Change::Projected(projected) => recipe.output.projected = projected,
            Change::Residual(residual) => recipe.output.residual = residual,
            Change::Transposed => {}
        }
    }
}
