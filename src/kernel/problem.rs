//! What is to be computed: queries, keys, values, and who sees whom.

use std::ops::Range;

use super::exp2::Exp2;
use super::layout::{Heads, View};
use super::plain::BLOCK;
use super::real::Real;
use crate::error::{Error, Result, counted};

/// Attention over many heads: `O = softmax(Q Kᵀ · scale + bias, where visible) V`.
///
/// # Shapes
/// H query heads of T queries, G key/value heads of N keys, H a multiple of G; query head h reads key/value head h·G/H,
/// both from 0. `q` is (H, T, d_k), `k` (G, N, d_k), `v` (G, N, d_v), `mask` and `bias` (H, T, N).
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a, T> {
    /// The queries.
    pub q: Heads<'a, T>,
    /// The keys.
    pub k: Heads<'a, T>,
    /// The values.
    pub v: Heads<'a, T>,
    /// What the scores are multiplied by.
    pub scale: T,
    /// The keys that a query sees by its position.
    pub band: Band,
    /// `true` = may attend.
    pub mask: Option<Heads<'a, bool>>,
    /// Added to the scaled scores; −∞ hides the key.
    pub bias: Option<Heads<'a, T>>,
}

/// Query i sees the keys i + from ≤ j < i + until: a causal mask with any offset, a sliding window, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// From which key on, counted from the query's own number; `None`: from the first.
    pub from: Option<isize>,
    /// Before which key, counted likewise; `None`: to the last.
    pub until: Option<isize>,
}

impl Band {
    /// T queries that are the last of N tokens and see no later one: i sees j ≤ N − T + i.
    pub fn causal(queries: usize, keys: usize) -> Band {
        let offset = keys as isize - queries as isize;
        Band { from: None, until: Some(offset.saturating_add(1)) }
    }

    /// The keys of `keys` that query i sees.
    #[inline(always)]
    pub fn keys(&self, i: usize, keys: usize) -> Range<usize> {
        let at = |distance: Option<isize>, otherwise: usize| match distance {
            Some(distance) => (i as isize).saturating_add(distance).clamp(0, keys as isize) as usize,
            None => otherwise,
        };
        let end = at(self.until, keys);
        at(self.from, 0).min(end)..end
    }
}

impl<'a, T: Real> Attention<'a, T> {
    /// Unmasked, with the scale 1/√d_k.
    pub fn new(q: Heads<'a, T>, k: Heads<'a, T>, v: Heads<'a, T>) -> Attention<'a, T> {
        let scale = T::from_f64(1.0 / (q.layout().columns.max(1) as f64).sqrt());
        Attention { q, k, v, scale, band: Band::default(), mask: None, bias: None }
    }

    /// # Errors
    /// If the shapes do not fit each other, or the scale is not finite.
    pub(super) fn check(&self) -> Result<()> {
        let (q, k, v) = (self.q.layout(), self.k.layout(), self.v.layout());
        let wrong = |what: String| Err(Error::new(what));
        if q.columns != k.columns {
            return wrong(format!(
                "queries of width {} cannot be compared with keys of width {}",
                q.columns, k.columns
            ));
        }
        if k.heads != v.heads || k.rows != v.rows {
            return wrong(format!(
                "{} of {} do not fit {} of {}",
                counted(k.heads, "head"),
                counted(k.rows, "key"),
                counted(v.heads, "head"),
                counted(v.rows, "value")
            ));
        }
        if q.heads != 0 && (k.heads == 0 || q.heads % k.heads != 0) {
            return wrong(format!(
                "{} cannot share {} equally",
                counted(q.heads, "query head"),
                counted(k.heads, "key/value head")
            ));
        }
        let scores = (q.heads, q.rows, k.rows);
        let fits = |heads: usize, rows: usize, columns: usize| (heads, rows, columns) == scores;
        let masks = [self.mask.map(|mask| mask.layout()), self.bias.map(|bias| bias.layout())];
        if let Some(mask) = masks.into_iter().flatten().find(|m| !fits(m.heads, m.rows, m.columns)) {
            return wrong(format!(
                "a mask of {} of {}×{} does not fit scores of {} of {}×{}",
                counted(mask.heads, "head"),
                mask.rows,
                mask.columns,
                counted(scores.0, "head"),
                scores.1,
                scores.2
            ));
        }
        if !self.scale.to_f64().is_finite() {
            return wrong(format!("a scale of {:?} leaves no number", self.scale));
        }
        Ok(())
    }

    /// So many query heads share a key/value head.
    pub(super) fn group(&self) -> usize {
        self.q.layout().heads / self.k.layout().heads.max(1)
    }

    /// Query head h with its keys and values.
    pub(super) fn head(&self, h: usize) -> Head<'a, T> {
        let (k, v) = (self.k.head(h / self.group()), self.v.head(h / self.group()));
        let (mask, bias) = (self.mask.map(|mask| mask.head(h)), self.bias.map(|bias| bias.head(h)));
        let sight = Sight { band: self.band, keys: k.rows, mask, bias };
        let fits_factor = exponent_factor(self.scale).to_f64().is_finite();
        let scale_first = self.bias.is_some() || self.scale <= T::ZERO || !fits_factor;
        Head { q: self.q.head(h), k, v, scale: self.scale, scale_first, sight }
    }
}

/// scale · log₂ e: exp(scale · y) is 2 to this times y.
fn exponent_factor<T: Real>(scale: T) -> T {
    T::from_f64(scale.to_f64() * std::f64::consts::LOG2_E)
}

/// One query head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a, T> {
    pub q: View<'a, T>,
    pub k: View<'a, T>,
    pub v: View<'a, T>,
    pub scale: T,
    /// Whether the scores are scaled, and the bias added, before the largest is looked for. Otherwise the scale, which is
    /// positive then, and not so large that scale · log₂ e overflows, is part of the exponential's factor.
    pub scale_first: bool,
    pub sight: Sight<'a, T>,
}

impl<T: Real> Head<'_, T> {
    /// The exponential of this head's softmax, 2^(y · scale · log₂ e − shift); without the scale if that comes first.
    pub fn exp2(&self, shift: u32) -> Exp2<T> {
        let scale = if self.scale_first { T::ONE } else { self.scale };
        Exp2::of_multiples(exponent_factor(scale), shift)
    }

    /// So far the weights are shifted down where values are so large that their sum overflows: 2^shift > 2N.
    pub fn shift_against_overflow(&self) -> u32 {
        usize::BITS - self.k.rows.leading_zeros() + 1
    }

    /// So many numbers of a block are copied at a time where the columns of keys or values lie apart: the inner loops want
    /// neighbours.
    pub fn copied(&self) -> usize {
        self.k.copied(BLOCK).max(self.v.copied(BLOCK))
    }

    /// What is added to the scaled score.
    #[inline(always)]
    pub fn bias(&self, i: usize, j: usize) -> T {
        self.sight.bias.map_or(T::ZERO, |bias| bias.at(i, j))
    }
}

/// Who sees whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'a, T> {
    pub band: Band,
    pub keys: usize,
    pub mask: Option<View<'a, bool>>,
    pub bias: Option<View<'a, T>>,
}

impl<T: Real> Sight<'_, T> {
    /// Whether query i sees key j.
    #[inline(always)]
    pub fn sees(&self, i: usize, j: usize) -> bool {
        self.band.keys(i, self.keys).contains(&j)
            && self.mask.is_none_or(|mask| mask.at(i, j))
            && self.bias.is_none_or(|bias| bias.at(i, j) != T::NEG_INFINITY)
    }

    /// The keys outside of which no query of `queries` sees anything by its position.
    pub fn keys(&self, queries: &Range<usize>) -> Range<usize> {
        // From query to query both ends move up, or stay.
        let first = self.band.keys(queries.start, self.keys);
        let last = self.band.keys(queries.end - 1, self.keys);
        first.start.min(last.start)..first.end.max(last.end)
    }
}
