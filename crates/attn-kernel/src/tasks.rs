//! Tasks of others on the threads of the kernel.

use crate::machine::{Machine, Resources};
use crate::pool;

/// Calls `work` once with every number below `count`, on the threads that [`linear`](crate::linear()) and
/// [`attend`](crate::attend()) use. A call within a call is done by its caller.
///
/// # Panics
/// If `work` does, with its panic.
pub fn each_task(machine: Machine, count: usize, work: &(dyn Fn(usize) + Sync)) -> Resources {
    match count {
        0 => Resources::default(),
        _ => Resources { extra_bytes: 0, threads: pool::run(machine.threads.max(1), count, work) },
    }
}
