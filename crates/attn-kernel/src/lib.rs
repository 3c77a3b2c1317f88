//! Fused attention: `softmax(cap(Q Kᵀ · scale + bias), where visible) V` without its n×n matrix, in the widest registers of the
//! processor; with soft caps, sinks, biases by distance, and windows that keep the first keys.
//!
//! ```
//! use attn_kernel::{Attention, Band, Heads, Layout, Machine, Output, attend};
//!
//! // One head, two tokens of width 2, the same numbers as queries, keys and values.
//! let (x, layout) = ([1.0_f32, 0.0, 0.0, 1.0], Layout::stacked(1, 2, 2));
//! let tokens = Heads::new("X", &x, layout)?;
//! let attention = Attention { band: Band::causal(2, 2), ..Attention::new(tokens, tokens, tokens) };
//! let (mut o, mut lse) = ([0.0; 4], [0.0; 2]);
//! attend(&attention, Machine::here(), Output::new(&mut o, layout).with_log_sum_exps(&mut lse))?;
//! assert_eq!(o[..2], x[..2]); // the first token sees itself alone
//! assert_eq!(lse[0], 0.5_f32.sqrt()); // its only score, q · k / √2
//! # Ok::<(), attn_kernel::Error>(())
//! ```
//!
//! # The idea
//!
//! A row of the softmax needs the max of its scores and the sum of its exponentials before the first weight is known. It seems
//! that all scores have to be there first. They need not: go through the keys block by block, keep a running max m and a running
//! sum l, and when a block raises the max, correct what has been summed until then.
//!
//! ```text
//! for every query q:
//!     m = −∞    l = 0    o = (0, …, 0)                running max, running sum, accumulator
//!     for every block of 128 keys and values:
//!         s_j = q · k_j                               1. scores
//!         m' = max(m, max_j s_j)
//!         p_j = exp(scale · (s_j − m'))               2. weights relative to the running max
//!         c   = exp(scale · (m  − m'))                   correction of older sums
//!         l = l · c + Σ_j p_j
//!         o = o · c + Σ_j p_j v_j                     3. weighted values
//!         m = m'
//!     result: o / l       log-sum-exp: scale · m + ln l
//! ```
//!
//! That is the whole algorithm. A row needs memory for one block of scores instead of n scores: memory grows with the threads,
//! not with n². Milakov & Gimelshein (2018) found the online softmax; Dao et al. (2022, “FlashAttention”) showed that it makes
//! attention fast.
//!
//! The code has five things more. *Visibility*: a band of keys, a mask, and a bias of −∞ say which keys a query sees.
//! exp(scale · x) is 2^(factor · x) with factor = scale · log₂ e, so that the scale costs nothing; only with a bias, a soft cap, a
//! sink, or a scale that is not positive, the scores are scaled first (`scale_first`). A *sink* is a score without a key: the row
//! begins with m = sink and l = 1. A *shift* makes all weights 2^shift times smaller; it is 0 except in departure 10. A *sum
//! order* fixes the order of additions, which decides the last bits of a sum.
//!
//! # The rest of a layer
//!
//! [`linear`] multiplies by the weights of a layer, of type `f32`, `f16` or `bf16` and in either order, read in place; an output is one
//! chain of fused multiply-adds, so that a token alone has the bits of the same token among many. [`activate`] and
//! [`softmax_rows`] do what is between the products.
//!
//! # Many small products
//!
//! A training step multiplies thousands of small matrices, one for each example of a batch: [`multiply_examples`]. A cell is one chain
//! from left to right: fused multiply-adds in `f32`, and in `f64` the two roundings of the definition.
//!
//! # Where to read
//!
//! 1. `problem.rs`: the problem, and what is refused; `visibility.rs`: which keys each query sees; `layout.rs` and `output.rs`: where the
//!    numbers are.
//! 2. `plain.rs`: the algorithm above, one query and one number at a time. It is the explanation, the reference (every faster version
//!    gives its bits exactly), and what runs without SIMD. Its second part is for a few queries over many keys.
//! 3. `tile.rs`: the same three steps for a tile of queries, one a lane, with the inner loop; `exp2.rs` has the exponential and the cap
//!    of the scores.
//! 4. `decode.rs`: the lanes for a few queries over many keys.
//! 5. `linear/`, `rowwise.rs` and `activation.rs`: the rest of a layer; `products.rs`: many small products.
//! 6. `simd/`: the dozen operations that all this is written with, for one number and for each instruction set, and the list of sets. `kernels.rs`
//!    compiles the algorithms for each; `attend.rs` cuts the problem into tasks, `pool.rs` runs them in memory from `memory.rs`,
//!    where idle threads also fetch what comes next.
//!    `real.rs` has what differs between `f32` and `f64`; `peak.rs` measures the limits of the machine.
//!
//! # The differences between the lane version and the plain one, and their gains
//!
//! Figures: GF/s of useful operations without the change and with it, everything else alike; `f32`, AVX-512, d = 64, n = 128,
//! 8 heads, one core of a Sapphire Rapids Xeon whose multiply-add peak was 158, the best of several runs, 2026-11-22.
//!
//! 1. *A query in each lane* (0.3 → 103; the plain version pays for multiply-adds in software too). Within one query, a dot
//!    product in lanes would end in a sum across the register for every score. Sixteen queries side by side do the plain
//!    version's operations, sixteen at a time, and the softmax needs nothing across lanes either.
//! 2. *M keys times R registers of queries at a time* (26 → 103 against one times one). A multiply-add takes four cycles
//!    and two can start each cycle: at least eight independent sums must be under way. 6 × 4 are, or 8 × 2, and each number
//!    that is loaded is used four times or six.
//! 3. *Keys and values are read in place.* Lanes are queries, so a key's numbers go to all lanes alike, and only the queries have
//!    to be transposed, in registers (30 → 54 at n = 16 against number by number).
//! 4. *An exponential of a dozen operations* (12 → 103 against `expf`), with the scale folded in, which also saves a rounding.
//! 5. *The accumulator is corrected once a block*, in the multiply-add that adds the block's own sum. This also shortens the chain
//!    of roundings, from n to 128 + n/128. (75 → 80 against blocks of 16, at a time when others used the core.)
//! 6. *Masks are ranges first and bits second.* Blocks that no query sees are never read; blocks that all see cost nothing extra;
//!    only in the others each pair has a bit. Causal attention at n = 4096 is as fast as full, over half the pairs; with a bit for
//!    every pair it takes twice as long.
//! 7. *Narrow, middle and wide tiles*, whichever wastes least. With n = 1024 narrow ones alone reach 0.76 of the speed of wide
//!    ones and middle ones 0.91, by the median of many pairs; with n = 16 wide ones reach 0.31 of narrow ones.
//! 8. *A few queries: lanes of columns* (3.5 → 17 when decoding, 32 heads over 8, 8192 keys, d = 128): a key is read once for
//!    all heads that share it, and prefetched sixteen keys ahead (12 → 17).
//! 9. *Threads that stay awake* between calls (146 → 183 with two threads, against starting them).
//! 10. *Huge values*: where a weighted sum overflows although the mean would not, the row is computed again with smaller weights.
//!     Plain and lanes agree on this too. The check costs a multiply-add per result (4 to 9 % at n = 16, not measurable at
//!     n = 1024).
//!
//! # One result
//!
//! Every score is one chain of fused multiply-adds over the columns; every cell of the output is one chain over the keys of a
//! block and then one over the blocks; the running sum is four chains (key j in chain j mod 4). The block is part of the
//! definition, not of the machine; hidden keys take no part, and a sink comes before all keys. So the result depends on the
//! inputs alone: not on the threads, the tile's shape or the instruction set. Only tiles and a few queries use two different
//! orders, and the shape decides between them.
// An index here is a key, a column, a lane or a register, of several arrays at once.
// Elsewhere, as in a page, the portable versions alone run.
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, unused_imports, unused_variables, unused_macros)
)]
#![allow(clippy::needless_range_loop)]

/// What `unsafe` code relies on, checked in the tests of this crate and in debug builds.
macro_rules! assert_in_tests {
    ($claim:expr) => {
        if cfg!(any(test, debug_assertions)) {
            assert!($claim)
        }
    };
}

mod activation;
mod attend;
mod decode;
mod error;
mod exp2;
mod kernels;
mod layout;
mod linear;
mod memory;
mod output;
mod peak;
mod plain;
mod pool;
mod problem;
mod products;
mod real;
mod rowwise;
mod simd;
#[cfg(test)]
extern crate self as attn_kernel;
#[cfg(test)]
mod tests;
mod tile;
mod visibility;

pub use attend::{MIN_QUERIES_FOR_TILES, attend};
pub use error::{Error, Result};
pub use exp2::{Exp2, SoftCap};
pub use kernels::{Kernels, multiply_examples};
pub use layout::{Heads, Layout};
pub use linear::{Linear, LinearWeight, Rows, Weight, WeightOrder, linear};
pub use memory::read_ahead;
pub use output::Output;
pub use peak::{multiply_add_rate, read_once, read_rate};
pub use pool::{MAX_THREADS, Machine, Resources, each_task};
pub use problem::Attention;
pub use products::{Operand, Products};
pub use real::Real;
pub use rowwise::{Activation, activate, softmax_rows};
pub use simd::SimdLevel;
pub use visibility::{BLOCK, Band};
