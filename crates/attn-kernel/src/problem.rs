//! The problem: queries, keys, values, and which keys each query sees.

use crate::error::{Error, Result, counted};
use crate::exp2::{Exp2, SoftCap};
use crate::layout::{Heads, Layout, View};
use crate::real::Real;
use crate::visibility::{BLOCK, Band, RelativeBias, Visibility};

/// Attention over many heads: `O = softmax(cap(Q Kᵀ · scale + bias), where visible) V`, and a sink beside the keys.
///
/// For query i, which sees the keys V(i), with c the soft cap and σ the head's sink:
///
/// ```text
/// s_j = q_i · k_j · scale + (bias_ij + relative_{j−i})     1. the scaled score and its biases
/// s_j = c · tanh(s_j / c)                                  2. with a soft cap
/// w_j = exp(s_j) / (exp(σ) + Σ_{l in V(i)} exp(s_l))       3. of visible keys; exp(σ) with a sink alone
/// o_i = Σ_{j in V(i)} w_j v_j                              4. the sink has no value
/// ```
///
/// # Shapes
/// H query heads of T queries, G key/value heads of N keys, H a multiple of G; query head h reads key/value head h·G/H,
/// both from 0. `q` is (H, T, d_k), `k` (G, N, d_k), `v` (G, N, d_v), `mask` and `bias` (H, T, N), `relative_bias`
/// (H, 1, N + T − 1), `sinks` (H).
///
/// ```
/// # use attn_kernel::{Attention, Heads, Layout};
/// # let x = [1.0_f32, 0.0, 0.0, 1.0];
/// # let tokens = Heads::new("X", &x, Layout::stacked(1, 2, 2))?;
/// let attention = Attention { soft_cap: Some(50.0), sinks: Some(&[0.5]), ..Attention::new(tokens, tokens, tokens) };
/// # Ok::<(), attn_kernel::Error>(())
/// ```
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
    /// Added to the scaled scores, by head and distance alone (ALiBi, T5): a row for each query head, in it the number for query
    /// i and key j at index j − i + T − 1. −∞ hides the key. A head stride of 0 gives all heads the same row. With a `bias`, the
    /// two are added to each other first.
    ///
    /// Source: Raffel et al. 2020, “T5”, section 2.1; Press et al. 2022, “Train Short, Test Long” (ALiBi).
    pub relative_bias: Option<Heads<'a, T>>,
    /// c: every scaled and biased score s becomes c · tanh(s / c), within ±c. Hidden keys stay hidden. Finite, and at least the
    /// smallest normal number; see [`SoftCap`].
    pub soft_cap: Option<T>,
    /// σ: a score for each query head that takes part in the softmax and has no key and no value, so that the weights of the keys
    /// sum to less than 1. It is neither scaled nor biased nor capped. −∞ gives the bits of a head without a sink; σ = 0 is the
    /// “off-by-one” softmax exp(s_j) / (1 + Σ exp(s_l)).
    ///
    /// Source: OpenAI 2025, “gpt-oss”, `gpt_oss/torch/model.py`; Miller 2023, “Attention Is Off By One”.
    pub sinks: Option<&'a [T]>,
}

impl<'a, T: Real> Attention<'a, T> {
    /// Unmasked, with the scale 1/√d_k.
    pub fn new(q: Heads<'a, T>, k: Heads<'a, T>, v: Heads<'a, T>) -> Attention<'a, T> {
        let scale = T::from_f64(1.0 / (q.layout().columns.max(1) as f64).sqrt());
        let band = Band::default();
        Attention {
            q,
            k,
            v,
            scale,
            band,
            mask: None,
            bias: None,
            relative_bias: None,
            soft_cap: None,
            sinks: None,
        }
    }

    /// The number of query heads that share a key/value head.
    pub(crate) fn group(&self) -> usize {
        self.q.layout().heads / self.k.layout().heads.max(1)
    }

    /// Query head h with its keys and values.
    pub(crate) fn head(&self, h: usize) -> Head<'a, T> {
        let (k, v) = (self.k.head(h / self.group()), self.v.head(h / self.group()));
        let (mask, bias) = (self.mask.map(|mask| mask.head(h)), self.bias.map(|bias| bias.head(h)));
        let queries = self.q.layout().rows;
        let relative_bias = self.relative_bias.map(|relative| RelativeBias::new(relative.head(h), queries));
        let visibility = Visibility { band: self.band, keys: k.rows, mask, bias, relative_bias };
        let soft_cap = self.soft_cap.and_then(|cap| SoftCap::new(cap).ok());
        let sink = self.sinks.map(|sinks| sinks[h]).filter(|sink| *sink != T::NEG_INFINITY);
        let fits_factor = exponent_factor(self.scale).to_f64().is_finite();
        let changes_scores = self.bias.is_some() || relative_bias.is_some() || soft_cap.is_some();
        let scale_first = changes_scores || sink.is_some() || self.scale <= T::ZERO || !fits_factor;
        Head { q: self.q.head(h), k, v, scale: self.scale, scale_first, soft_cap, sink, visibility }
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
    /// True if the scale, the biases and the soft cap are applied to the scores before their max is taken. Otherwise the scale is
    /// part of the exponential's factor; there are no biases, no cap and no sink then, the scale is positive, and scale · log₂ e
    /// does not overflow.
    pub scale_first: bool,
    pub soft_cap: Option<SoftCap<T>>,
    /// The score without a key; not −∞.
    pub sink: Option<T>,
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

    /// Returns true if something is added to the scaled scores.
    #[inline(always)]
    pub fn has_biases(&self) -> bool {
        self.visibility.bias.is_some() || self.visibility.relative_bias.is_some()
    }

    /// The sum of the scaled score's biases, 0 without one.
    #[inline(always)]
    pub fn bias(&self, i: usize, j: usize) -> T {
        let Visibility { bias, relative_bias, .. } = self.visibility;
        let bias = bias.map(|bias| bias.at(i, j));
        match (bias, relative_bias.map(|relative| relative.at(i, j))) {
            (Some(bias), Some(relative)) => bias + relative,
            (bias, relative) => bias.or(relative).unwrap_or(T::ZERO),
        }
    }

    /// The score of this product q_i · k_j: scaled, biased and capped if the head does that first.
    #[inline(always)]
    pub fn score(&self, product: T, i: usize, j: usize) -> T {
        if !self.scale_first {
            return product;
        }
        let score = product.mul_add(self.scale, self.bias(i, j));
        self.soft_cap.map_or(score, |cap| cap.of(score))
    }
}

impl<T: Real> Attention<'_, T> {
    /// # Errors
    /// [`Error::Shape`] if the shapes do not fit each other, [`Error::Scale`] if the scale is not finite, [`Error::SoftCap`] and
    /// [`Error::Sink`] for such numbers.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_heads()?;
        let (q, k) = (self.q.layout(), self.k.layout());
        let masks = [self.mask.map(|mask| mask.layout()), self.bias.map(|bias| bias.layout())];
        let fits = |mask: &Layout| (mask.heads, mask.rows, mask.columns) == (q.heads, q.rows, k.rows);
        if let Some(mask) = masks.into_iter().flatten().find(|mask| !fits(mask)) {
            let scores = Layout::stacked(q.heads, q.rows, k.rows);
            return Err(Error::Shape(format!("a mask of {mask} does not fit scores of {scores}")));
        }
        self.check_relative_bias()?;
        if !self.scale.to_f64().is_finite() {
            return Err(Error::Scale(format!("{:?}", self.scale)));
        }
        self.soft_cap.map(SoftCap::new).transpose()?;
        self.check_sinks()
    }

    fn check_heads(&self) -> Result<()> {
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
        Ok(())
    }

    fn check_relative_bias(&self) -> Result<()> {
        let Some(relative) = self.relative_bias.map(|relative| relative.layout()) else { return Ok(()) };
        let (heads, queries, keys) = (self.q.layout().heads, self.q.layout().rows, self.k.layout().rows);
        let distances = (queries + keys).saturating_sub(1);
        if (relative.heads, relative.rows, relative.columns) == (heads, 1, distances) {
            return Ok(());
        }
        Err(Error::Shape(format!(
            "a relative bias of {relative} does not fit {} of {} and {}: it has one row of N + T − 1 = {} for each query head",
            counted(heads, "head"),
            counted_queries(queries),
            counted(keys, "key"),
            counted(distances, "number")
        )))
    }

    fn check_sinks(&self) -> Result<()> {
        let (Some(sinks), heads) = (self.sinks, self.q.layout().heads) else { return Ok(()) };
        if sinks.len() != heads {
            return Err(Error::Shape(format!(
                "{} cannot serve {}: there must be one for each",
                counted(sinks.len(), "sink"),
                counted(heads, "query head")
            )));
        }
        let is_allowed = |sink: &T| sink.to_f64().is_finite() || *sink == T::NEG_INFINITY;
        match sinks.iter().position(|sink| !is_allowed(sink)) {
            Some(head) => Err(Error::Sink { head, sink: format!("{:?}", sinks[head]) }),
            None => Ok(()),
        }
    }
}

/// “1 query”, “2 queries”.
fn counted_queries(count: usize) -> String {
    format!("{count} {}", if count == 1 { "query" } else { "queries" })
}
