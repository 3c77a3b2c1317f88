//! The problem: queries, keys, values, and which keys each query sees.

use std::ops::Range;

use crate::blocks::BLOCK;
use crate::error::{Error, Result, counted};
use crate::exp2::Exp2;
use crate::heads::{Heads, View};
use crate::real::Real;

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
    /// The factor of the scores.
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
    /// The first key, relative to the query's index; `None`: the first of all.
    pub from: Option<isize>,
    /// The key after the last, relative to the query's index; `None`: to the last of all.
    pub until: Option<isize>,
}

impl Band {
    /// The causal mask where the T queries are the last of the N tokens: i sees j ≤ N − T + i.
    pub fn causal(queries: usize, keys: usize) -> Band {
        let offset = keys as isize - queries as isize;
        Band { from: None, until: Some(offset.saturating_add(1)) }
    }

    /// The keys that query i sees, out of `keys`.
    #[inline(always)]
    pub fn keys(&self, i: usize, keys: usize) -> Range<usize> {
        let at = |offset: Option<isize>, otherwise: usize| match offset {
            Some(offset) => (i as isize).saturating_add(offset).clamp(0, keys as isize) as usize,
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
    /// [`Error::Shape`] if the shapes do not fit each other, [`Error::Scale`] if the scale is not finite.
    pub(crate) fn check(&self) -> Result<()> {
        let (q, k, v) = (self.q.layout(), self.k.layout(), self.v.layout());
        let wrong = |what: String| Err(Error::Shape(what));
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
            return Err(Error::Scale(format!("{:?}", self.scale)));
        }
        Ok(())
    }

    /// The number of query heads that share a key/value head.
    pub(crate) fn group(&self) -> usize {
        self.q.layout().heads / self.k.layout().heads.max(1)
    }

    /// Query head h with its keys and values.
    pub(crate) fn head(&self, h: usize) -> Head<'a, T> {
        let (k, v) = (self.k.head(h / self.group()), self.v.head(h / self.group()));
        let (mask, bias) = (self.mask.map(|mask| mask.head(h)), self.bias.map(|bias| bias.head(h)));
        let visibility = Visibility { band: self.band, keys: k.rows, mask, bias };
        let fits_factor = exponent_factor(self.scale).to_f64().is_finite();
        let scale_first = self.bias.is_some() || self.scale <= T::ZERO || !fits_factor;
        Head { q: self.q.head(h), k, v, scale: self.scale, scale_first, visibility }
    }
}

/// scale · log₂ e, since exp(scale · y) = 2^(y · scale · log₂ e).
fn exponent_factor<T: Real>(scale: T) -> T {
    T::from_f64(scale.to_f64() * std::f64::consts::LOG2_E)
}

/// One query head with its keys and values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a, T> {
    pub q: View<'a, T>,
    pub k: View<'a, T>,
    pub v: View<'a, T>,
    pub scale: T,
    /// True if the scale and the bias are applied to the scores before their max is taken. Otherwise the scale is part of the
    /// exponential's factor; it is positive then, and scale · log₂ e does not overflow.
    pub scale_first: bool,
    pub visibility: Visibility<'a, T>,
}

impl<T: Real> Head<'_, T> {
    /// The exponential of this head's softmax, 2^(y · scale · log₂ e − shift); without the scale if `scale_first`.
    pub fn exp2(&self, shift: u32) -> Exp2<T> {
        let scale = if self.scale_first { T::ONE } else { self.scale };
        Exp2::of_multiples(exponent_factor(scale), shift)
    }

    /// The shift of the weights where values are so large that their weighted sum overflows: 2^shift > 2N.
    pub fn shift_against_overflow(&self) -> u32 {
        usize::BITS - self.k.rows.leading_zeros() + 1
    }

    /// The number of elements of a block that are copied if the rows of keys or values are not contiguous, as the inner loops
    /// need them.
    pub fn copy_len(&self) -> usize {
        self.k.copy_len(BLOCK).max(self.v.copy_len(BLOCK))
    }

    /// The bias of the scaled score, 0 without one.
    #[inline(always)]
    pub fn bias(&self, i: usize, j: usize) -> T {
        self.visibility.bias.map_or(T::ZERO, |bias| bias.at(i, j))
    }
}

/// The visibility of the keys of a head: a query sees those of its band that neither the mask nor a bias of −∞ hides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visibility<'a, T> {
    pub band: Band,
    pub keys: usize,
    pub mask: Option<View<'a, bool>>,
    pub bias: Option<View<'a, T>>,
}

impl<T: Real> Visibility<'_, T> {
    /// Returns true if query i sees key j.
    #[inline(always)]
    pub fn is_visible(&self, i: usize, j: usize) -> bool {
        self.band.keys(i, self.keys).contains(&j)
            && self.mask.is_none_or(|mask| mask.at(i, j))
            && self.bias.is_none_or(|bias| bias.at(i, j) != T::NEG_INFINITY)
    }

    /// The range of keys that covers the bands of all `queries`.
    pub fn keys(&self, queries: &Range<usize>) -> Range<usize> {
        // From query to query both ends move up, or stay.
        let first = self.band.keys(queries.start, self.keys);
        let last = self.band.keys(queries.end - 1, self.keys);
        first.start.min(last.start)..first.end.max(last.end)
    }
}
