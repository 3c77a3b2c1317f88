//! The limits of the machine: multiply-adds a second, bytes read a second. A kernel's speed means little without them.

mod loops;
mod rates;

pub(crate) use loops::{PeakKernel, chains, total};
pub use rates::{multiply_add_rate, read_once, read_rate};
