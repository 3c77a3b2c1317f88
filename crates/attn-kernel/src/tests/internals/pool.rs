//! The pool works at several tasks at a time. Its results alone cannot tell: a loop in the caller gives them too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::pool;
use crate::tests::sweep::one_in;

/// The time that a task waits for the others.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pool serves one caller at a time, and another test may be the one.
const TRIES: usize = 10;

/// Runs as many tasks as threads, each of which waits until all have begun; returns true if all of them saw that.
fn all_are_at_work_together(threads: usize) -> bool {
    let (waiting, came, met) = (Mutex::new(0), Condvar::new(), AtomicUsize::new(0));
    pool::run(threads, threads, &|_| {
        let mut here = waiting.lock().expect("no task panics");
        *here += 1;
        came.notify_all();
        let alone = |here: &mut usize| *here < threads;
        let (mut here, waited) = came.wait_timeout_while(here, PATIENCE, alone).expect("no task panics");
        if waited.timed_out() {
            // A task that gives up is not counted by those that come later.
            *here -= 1;
        } else {
            met.fetch_add(1, Ordering::Relaxed);
        }
    });
    met.into_inner() == threads
}

#[test]
fn tasks_are_at_work_at_the_same_time() {
    for threads in [2, 3].into_iter().step_by(one_in(2)) {
        assert!((0..TRIES).any(|_| all_are_at_work_together(threads)), "{threads} threads never met");
    }
}
