//! The fast path: attention without its n×n matrix, in the widest registers that the processor has.
//!
//! # The idea
//!
//! A row of the softmax needs its largest score and the sum of its exponentials before the first weight is known. It seems
//! that all scores have to be there first. They need not: go through the keys block by block, keep the largest score *so
//! far*, and when a block brings a larger one, shrink what has been summed up to then.
//!
//! ```text
//! for every query q:
//!     m = −∞    l = 0    o = (0, …, 0)                the largest score, the sum of the weights, the mixture of the values
//!     for every block of 128 keys and values:
//!         s_j = q · k_j                               1. scores
//!         m' = max(m, max_j s_j)
//!         p_j = exp(scale · (s_j − m'))               2. weights, relative to the largest so far
//!         c   = exp(scale · (m  − m'))                   what older sums are worth now
//!         l = l · c + Σ_j p_j
//!         o = o · c + Σ_j p_j v_j                     3. mixture
//!         m = m'
//!     result: o / l       log-sum-exp: scale · m + ln l
//! ```
//!
//! That is the whole algorithm. A row costs a block of scores, not n of them: memory grows with the threads, not with n².
//! Milakov & Gimelshein (2018) found the online softmax, Dao et al. (2022, “FlashAttention”) that it makes attention fast.
//!
//! Four things stand in the code that do not stand above. *Sight* is what a query sees: a band of keys, a mask, a bias of −∞.
//! exp(scale · x) is 2^(factor · x) with factor = scale · log₂ e, so that the scale costs nothing; only with a bias, or a scale
//! that is not positive, the scores are scaled first (`scale_first`). A *shift* makes all weights 2^shift times smaller; it is 0
//! but in departure 10. And an *order* says how sums are taken, since the order of a sum decides its last bits.
//!
//! # Where to read
//!
//! 1. `problem.rs`: what is given, and who sees whom; `layout.rs` says where the numbers lie.
//! 2. `plain.rs`: just the above, one query and one number at a time. It is the explanation, it is the judge (every faster
//!    version gives its bits exactly), and it is what runs where there is no SIMD.
//! 3. `tile.rs`: the same three steps for a tile of queries, one a lane. `product.rs` is its inner loop, `exp2.rs` its
//!    exponential, `transpose.rs` brings queries into lanes and results back, `visible.rs` knows what masks leave.
//! 4. `plain_decode.rs`, `decode.rs`, `decode_block.rs`: few queries over many keys, again plain first.
//! 5. `simd/`: the dozen operations that all this is written with, for each kind of processor. `dispatch.rs` compiles the
//!    algorithm for each and picks at run time; `attend.rs` cuts the problem into tasks, `pool.rs` runs them in memory from
//!    `scratch.rs`. `real.rs` has what differs between `f32` and `f64`; `peak.rs` measures what the machine can do at most.
//!
//! # Where the lane version departs from the plain one, and what it gains
//!
//! Figures: GF/s of useful operations without the change and with it, everything else alike; `f32`, AVX-512, d = 64, n = 128,
//! 8 heads, one core of a Sapphire Rapids Xeon whose multiply-add peak was 158, the best of several runs, 2026-11-22.
//!
//! 1. *A query in each lane* (0.3 → 103; the plain version pays for multiply-adds in software too). Within one query a dot
//!    product in lanes would end in a sum across the register, for every score. Sixteen queries side by side do the plain
//!    version's operations, sixteen at a time, and the softmax needs nothing across lanes either.
//! 2. *M keys times R registers of queries at a time* (26 → 103 against one times one). A multiply-add takes four cycles
//!    and two can start each cycle: eight independent sums at least must be under way. 6 × 4 are, or 8 × 2, and each number
//!    that is loaded is used four times or six.
//! 3. *Keys and values are read where they lie.* Lanes are queries, so a key's numbers go to all lanes alike, and only the
//!    queries have to be turned round, in registers (30 → 54 at n = 16 against number by number).
//! 4. *An exponential of a dozen operations* (12 → 103 against `expf`), with the scale folded in: one rounding less as well.
//! 5. *Older mixtures shrink once a block*, in the multiply-add that adds the block's own. This also shortens the chain of
//!    roundings, from n to 128 + n/128. (75 → 80 against blocks of 16, at a time when others used the core.)
//! 6. *Masks are ranges first and bits second.* Blocks that nobody sees are never touched; blocks that all see pay nothing;
//!    only in the others every lane has a bit. Causal attention at n = 4096 is as fast as full, over half the pairs; with a
//!    bit for every pair instead it takes twice as long.
//! 7. *Narrow, middle and wide tiles*, whichever computes least for nothing. With n = 1024 narrow ones alone reach 0.76 of what
//!    wide ones do and middle ones 0.91, by the median of many pairs; with n = 16 wide ones reach 0.31 of narrow ones.
//! 8. *Few queries: lanes of columns* (3.5 → 17 when decoding, 32 heads over 8, 8192 keys, d = 128): a key is read once for
//!    all heads that share it; and it is asked for sixteen keys ahead (12 → 17).
//! 9. *Threads that stay awake* between calls (146 → 183 with two threads, against starting them).
//! 10. *Huge values*: where a sum overflows though the mean would not, the row is done again with smaller weights. Plain
//!     and lanes agree on this too; it costs a multiply-add per result to notice (4 to 9 % at n = 16, nothing to be seen at n = 1024).
//!
//! # One result
//!
//! Every score is one chain of fused multiply-adds over the columns, every mixture one chain over the keys of a block and
//! then one per block, the weights' sum four chains (key j in chain j mod 4). The block is part of the definition, not of
//! the machine; hidden keys take no part. So the result depends on the inputs alone: not on the threads, not on the tile's
//! shape, not on the instruction set. Only the choice between tiles and few queries has two orders, and the shape decides it.
// An index here is a key, a column, a lane or a register, of several arrays at once.
#![allow(clippy::needless_range_loop)]

mod attend;
mod blocks;
mod decode;
mod error;
mod exp2;
mod heads;
mod kernels;
mod layout;
mod machine;
mod output;
mod peak;
mod plain;
mod plain_decode;
mod pool;
mod problem;
mod real;
mod scratch;
mod simd;
mod softmax;
#[cfg(test)]
mod tests;
mod tile;
mod visibility;

pub use attend::{MIN_QUERIES_FOR_TILES, attend};
pub use blocks::BLOCK;
pub use error::{Error, Result};
pub use exp2::Exp2;
pub use heads::Heads;
pub use kernels::Kernels;
pub use layout::Layout;
pub use machine::{Machine, Used};
pub use output::Output;
pub use peak::{multiply_add_rate, read_rate};
pub use pool::MAX_THREADS;
pub use problem::{Attention, Band};
pub use real::Real;
pub use simd::SimdLevel;
