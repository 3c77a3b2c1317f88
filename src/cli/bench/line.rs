//! A measurement as one line of JSON for a script: the fields that `benches/peers.py` writes for every peer, and those
//! that only the program itself can fill in.

use serde_json::{Value, json};

use crate::bench::{Shape, Timing};

/// The result of a measurement of any kind.
pub(super) struct MeasurementLine<'a> {
    /// Who: `attn`, or one of the ways, `attn.loop`.
    pub peer: &'a str,
    pub shape: Shape,
    pub dtype: &'a str,
    /// The instructions that were asked for, where there is a choice.
    pub simd: Option<&'a str>,
    /// The threads that were asked for, and those that it was worth.
    pub threads: [usize; 2],
    pub timing: &'a Timing,
    /// Bytes beside inputs and outputs.
    pub extra_bytes: usize,
    /// The largest |O − exact|, where it is not the exact path itself.
    pub max_error: Option<f64>,
    /// The peak of multiply-adds on the threads that were used, in flop/s.
    pub peak: f64,
}

impl MeasurementLine<'_> {
    /// The line.
    pub(super) fn value(&self) -> Value {
        let Timing { median, least, runs, other_busy } = *self.timing;
        let flop = self.shape.flop() as f64;
        json!({
            "peer": self.peer,
            "version": env!("CARGO_PKG_VERSION"),
            "shape": self.shape.to_string(),
            "threads": self.threads[0],
            "median_s": median,
            "min_s": least,
            "runs": runs,
            "gflops": flop / median / 1e9,
            "gflops_best": flop / least / 1e9,
            "max_err": self.max_error,
            "other_busy": other_busy,
            "peak_gflops": self.peak / 1e9,
            "extra_bytes": self.extra_bytes,
            "threads_used": self.threads[1],
            "dtype": self.dtype,
            "simd": self.simd,
        })
    }
}
