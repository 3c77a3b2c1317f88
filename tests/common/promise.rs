//! The errors that [`attn_kernel::attend`] promises not to exceed: the one place where the tests have that formula.
#![allow(dead_code, reason = "each test takes what it needs")]

use attn_kernel::BLOCK;
use libm::log as ln;

/// What the promise for a row depends on.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// u, half a unit in the last place of 1.
    pub unit: f64,
    /// The smallest number above 0.
    pub least: f64,
    /// d_k.
    pub width: usize,
    /// N.
    pub keys: usize,
    /// A, the largest |scale| · Σ_c |q_c k_c| + |bias| + |relative bias| of the keys that the query sees, or |sink|.
    pub max_score: f64,
    /// c, the soft cap.
    pub soft_cap: Option<f64>,
}

impl Promise {
    /// Of O: u · max|v| · (2(d_k+7)·A + 8⌈N/128⌉ + 176), where a soft cap c adds 16·min(c, A) in the brackets, and half of the
    /// smallest subnormal for every product, of which there are N + N/128 + 2.
    pub fn output(&self, max_value: f64) -> f64 {
        let keys = self.keys as f64;
        let lost = (keys + keys / BLOCK as f64 + 2.0) * 0.5 * self.least;
        self.unit * max_value * (self.scores() + 8.0 * self.blocks() + 176.0) + lost
    }

    /// Of the log-sum-exp: u · (2(d_k+7)·A + 6⌈N/128⌉ + 3·ln N + 40), with a soft cap as above.
    pub fn log_sum_exp(&self) -> f64 {
        self.unit * (self.scores() + 6.0 * self.blocks() + 3.0 * ln(self.keys as f64) + 40.0)
    }

    fn scores(&self) -> f64 {
        let capped = self.soft_cap.map_or(0.0, |cap| 16.0 * cap.min(self.max_score));
        2.0 * (self.width as f64 + 7.0) * self.max_score + capped
    }

    fn blocks(&self) -> f64 {
        self.keys.div_ceil(BLOCK) as f64
    }
}
