//! One weight of a model: its name, its shape in letters and in figures, its count.

use std::fmt;

use serde::Deserialize;
use strum::{Display, EnumIter, IntoEnumIterator, IntoStaticStr};

use crate::attention::WeightLayout;
use crate::error::{Error, Result};

/// The part of a model that a weight belongs to. Biases belong to the part whose product they follow.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumIter, Display, IntoStaticStr, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum ModelPart {
    /// From a token, and its position where that is learned, to a vector.
    Embedding,
    /// Queries, keys, values and the way out of the heads.
    Attention,
    /// The two or three matrices that work on each token alone.
    #[strum(serialize = "MLP")]
    Mlp,
    /// Gains and biases of the normalisations.
    #[strum(serialize = "norms")]
    Norm,
    /// From the last vector to a score for every token.
    Unembedding,
    /// From the first token's last vector to one for the whole text.
    Pooler,
}

/// The place of a norm in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormSite {
    /// After the embedding.
    Embedding,
    /// Before attention.
    BeforeAttention,
    /// After attention: of its result, or of the sum with the residual stream.
    AfterAttention,
    /// Before the MLP.
    BeforeMlp,
    /// After the MLP, likewise.
    AfterMlp,
    /// After the last layer.
    Final,
}

/// A number with the letter that formulas use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The letter: `d`, `H`, `d_k` …; for a plain number the number itself.
    pub symbol: &'static str,
    /// Its value in this model.
    pub value: u64,
}

/// A product of dimensions: `H·d_k`. The empty product is 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent(Vec<Dimension>);

/// A weight matrix or vector, and the number of its copies in the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// The part of the model that it belongs to.
    pub part: ModelPart,
    /// Our symbol: `W_Q`, `b_O`, `gamma` …
    pub symbol: &'static str,
    /// For a gain or a bias of a norm: the place of the norm.
    pub norm: Option<NormSite>,
    /// Its name in a checkpoint, `*` standing for the layer.
    pub name: String,
    /// The rows of the matrix, or the length of the vector.
    pub rows: Extent,
    /// The columns; a vector has none.
    pub cols: Option<Extent>,
    /// The number of copies in the model: the layers, or 1.
    pub copies: Extent,
    /// Its layout in a checkpoint.
    pub layout: WeightLayout,
    /// The symbol of the matrix that this one is, transposed, where both are one and it is not counted again.
    pub same_as: Option<&'static str>,
    /// For the weight of an expert: the number of experts, and the number that work on one token.
    pub routed: Option<(u64, u64)>,
    /// copies · rows · columns, or 0 where it is counted elsewhere.
    pub count: u64,
    /// The count of parameters that one token uses: all of them, but of the experts only those that the router picks.
    pub active: u64,
}

impl ModelPart {
    /// All parts, in the order in which a token meets them.
    pub fn all() -> impl Iterator<Item = ModelPart> {
        ModelPart::iter()
    }

    /// Its name on the screen.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromIterator<Dimension> for Extent {
    fn from_iter<I: IntoIterator<Item = Dimension>>(dimensions: I) -> Extent {
        Extent(dimensions.into_iter().collect())
    }
}

impl Extent {
    /// The product, or nothing if it exceeds 2⁶⁴ − 1.
    pub fn value(&self) -> Option<u64> {
        self.0.iter().try_fold(1, |product: u64, dimension| product.checked_mul(dimension.value))
    }

    /// The dimensions that are multiplied.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.0
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbols: Vec<&str> = self.0.iter().map(|dimension| dimension.symbol).collect();
        f.write_str(&symbols.join("·"))
    }
}

impl Weight {
    /// This weight with its count filled in.
    ///
    /// # Errors
    /// If the count exceeds 2⁶⁴ − 1.
    pub(super) fn counted(self) -> Result<Weight> {
        let count = match self.same_as {
            Some(_) => 0,
            None => {
                let product = self.extents().try_fold(1, |product: u64, extent| {
                    extent.value().and_then(|value| product.checked_mul(value))
                });
                product.ok_or_else(|| too_many(&format!("`{}`, {}", self.name, self.figures())))?
            }
        };
        let active = self.routed.map_or(count, |(number, used)| count / number * used);
        Ok(Weight { count, active, ..self })
    }

    /// The count in letters: `L · (d × H·d_k)`.
    pub fn formula(&self) -> String {
        self.product(Extent::to_string, |dimension| dimension.symbol.to_string())
    }

    /// The count in figures: `32 · (4096 × 4096)`, each extent multiplied out where that is possible.
    pub fn figures(&self) -> String {
        let value = |extent: &Extent| match extent.value() {
            Some(value) => value.to_string(),
            None => {
                let values: Vec<String> = extent.0.iter().map(|factor| factor.value.to_string()).collect();
                values.join("·")
            }
        };
        self.product(value, |dimension| dimension.value.to_string())
    }

    /// Rows and columns as a checkpoint stores them; a vector has rows alone. Nothing if one exceeds 2⁶⁴ − 1.
    pub fn stored_shape(&self) -> Option<Vec<u64>> {
        let mut shape: Vec<u64> = [Some(&self.rows), self.cols.as_ref()]
            .into_iter()
            .flatten()
            .map(Extent::value)
            .collect::<Option<_>>()?;
        if self.layout == WeightLayout::OutIn {
            shape.reverse();
        }
        Some(shape)
    }

    fn extents(&self) -> impl Iterator<Item = &Extent> {
        [Some(&self.copies), Some(&self.rows), self.cols.as_ref()].into_iter().flatten()
    }

    fn product(&self, write: impl Fn(&Extent) -> String, factor: impl Fn(&Dimension) -> String) -> String {
        let shape = match &self.cols {
            Some(cols) => format!("{} × {}", write(&self.rows), write(cols)),
            None => write(&self.rows),
        };
        let copies: Vec<String> = self.copies.0.iter().map(factor).collect();
        match (copies.is_empty(), &self.cols) {
            (true, _) => shape,
            (false, Some(_)) => format!("{} · ({shape})", copies.join(" · ")),
            (false, None) => format!("{} · {shape}", copies.join(" · ")),
        }
    }
}

/// A count that no model has: more than 2⁶⁴ − 1.
pub(super) fn too_many(what: &str) -> Error {
    Error::new(format!("{what} is more than can be counted in 64 bits"))
        .help("check the sizes in the configuration; the largest models have some 10^12 parameters")
}

// Totals over a listing of weights.

/// The number of parameters, in total and by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All parameters.
    pub total: u64,
    /// The parameters that one token uses: of the experts only those that the router picks.
    pub active: u64,
    /// The parameters of every part, in the order of [`ModelPart::all`]; a part without any has 0.
    pub by_part: Vec<(ModelPart, u64)>,
}

impl Counts {
    /// The totals of these weights.
    ///
    /// # Errors
    /// If the total exceeds 2⁶⁴ − 1.
    pub fn of(weights: &[Weight]) -> Result<Counts> {
        let sum = |part: Option<ModelPart>| {
            weights
                .iter()
                .filter(|weight| part.is_none_or(|part| weight.part == part))
                .try_fold(0, |sum: u64, weight| sum.checked_add(weight.count))
                .ok_or_else(|| too_many("the number of parameters"))
        };
        let by_part = ModelPart::all().map(|part| Ok((part, sum(Some(part))?))).collect::<Result<_>>()?;
        // No weight is used more often than it is there: the sum cannot be larger than the total.
        let active = weights.iter().map(|weight| u128::from(weight.active)).sum::<u128>();
        let total = sum(None)?;
        Ok(Counts { total, active: u64::try_from(active).unwrap_or(total), by_part })
    }

    /// The parameters of one part.
    pub fn part(&self, part: ModelPart) -> u64 {
        self.by_part.iter().find(|(named, _)| *named == part).map_or(0, |(_, count)| *count)
    }

    /// `count / total`, between 0 and 1; 0 where there are no parameters at all.
    pub fn share(&self, count: u64) -> f64 {
        if self.total == 0 { 0.0 } else { count as f64 / self.total as f64 }
    }
}
