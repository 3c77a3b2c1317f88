//! What a problem must fulfil before it is computed.

use crate::error::{Error, Result, counted};
use crate::layout::Layout;
use crate::problem::Attention;
use crate::real::Real;
use crate::soft_cap::SoftCap;

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
            return Err(Error::Shape(format!(
                "a mask of {} of {}×{} does not fit scores of {} of {}×{}",
                counted(mask.heads, "head"),
                mask.rows,
                mask.columns,
                counted(q.heads, "head"),
                q.rows,
                k.rows
            )));
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
            "a relative bias of {} of {}×{} does not fit {} of {} and {}: it has one row of N + T − 1 = {} for each query head",
            counted(relative.heads, "head"),
            relative.rows,
            relative.columns,
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
