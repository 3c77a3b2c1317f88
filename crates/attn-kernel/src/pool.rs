//! The machine that a call runs on, an instruction set and a number of threads, and the pool of its threads: for work of a few
//! microseconds and up.
//!
//! Starting a thread costs tens of microseconds, waking one that sleeps about as much. So the workers live on, and look for
//! work without sleeping for a while after their last: attention comes in rows of calls, layer after layer. A worker that
//! wakes too late is not waited for: the caller takes the job back and does all the work alone.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::memory::{Scratch, fetch_some, is_available, with_scratch};
use crate::simd::SimdLevel;

/// The instruction set and the threads to use. The result does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The instruction set.
    pub simd: SimdLevel,
    /// The maximum number of threads.
    pub threads: usize,
}

impl Machine {
    /// All of this machine: its widest instruction set and as many threads as it runs in parallel.
    pub fn here() -> Machine {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { simd: SimdLevel::detect(), threads: threads.min(MAX_THREADS) }
    }

    /// # Errors
    /// [`Error::MissingSimd`] if this processor lacks the instruction set.
    pub(crate) fn check(self) -> Result<()> {
        if self.simd.is_available() { Ok(()) } else { Err(Error::MissingSimd(self.simd)) }
    }
}

impl SimdLevel {
    /// The level of this name, if this processor has it.
    ///
    /// # Errors
    /// [`Error::UnknownSimd`] if there is no such name, [`Error::MissingSimd`] if the processor lacks the instructions: they
    /// would end the program.
    pub fn named(name: &str) -> Result<SimdLevel> {
        let known = SimdLevel::ALL.into_iter().find(|level| level.name() == name);
        let level = known.ok_or_else(|| Error::UnknownSimd(name.to_string()))?;
        Machine { simd: level, threads: 1 }.check()?;
        Ok(level)
    }
}

/// The resources that a call used, apart from inputs and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Bytes of memory, of all threads together.
    pub extra_bytes: usize,
    /// Threads.
    pub threads: usize,
}

/// Calls `work` once with every number below `count`, on the threads that [`linear`](crate::linear()) and
/// [`attend`](crate::attend()) use. A call within a call is done by its caller.
///
/// # Panics
/// If `work` does, with its panic.
pub fn each_task(machine: Machine, count: usize, work: &(dyn Fn(usize) + Sync)) -> Resources {
    match count {
        0 => Resources::default(),
        _ => Resources { extra_bytes: 0, threads: run(machine.threads.max(1), count, work) },
    }
}

/// Calls `work` once with every number below `count`, on up to `threads` threads, each time with `bytes` of its thread's scratch
/// memory.
///
/// # Errors
/// If a thread cannot have this many bytes.
pub(crate) fn run_with_scratch(
    threads: usize,
    count: usize,
    bytes: usize,
    work: &(dyn Fn(usize, Scratch<'_>) + Sync),
) -> Result<Resources> {
    is_available(bytes)?;
    let threads = run(threads, count, &|task| with_scratch(bytes, |scratch| work(task, scratch)));
    Ok(Resources { extra_bytes: bytes * threads, threads })
}

/// The time that a worker polls for a job before it sleeps, after its last one and after reading ahead.
const AWAKE: Duration = Duration::from_micros(200);

/// Polls between two looks at the clock, or before the processor is yielded.
const POLLS: u32 = 256;

/// The maximum number of threads; more are never used.
pub const MAX_THREADS: usize = 256;

/// Tasks 0 .. count, each done once, by the first thread that takes it.
struct Job<'w> {
    work: &'w (dyn Fn(usize) + Sync),
    count: usize,
    next: AtomicUsize,
    /// The number of workers that hold a reference to the job.
    held: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job<'_> {
    /// Takes tasks until none is left.
    fn help(&self) {
        let help = || {
            loop {
                let task = self.next.fetch_add(1, Ordering::Relaxed);
                if task >= self.count {
                    break;
                }
                (self.work)(task);
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(help)) {
            self.next.store(self.count, Ordering::Relaxed);
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
    }
}

/// The job that a worker is to help with, or null. Aligned so that no two share a cache line.
#[repr(align(128))]
struct JobSlot(AtomicPtr<Job<'static>>);

struct Worker {
    slot: Arc<JobSlot>,
    thread: Thread,
}

static WORKERS: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Calls `work` once with every number below `count`, on up to `threads` threads including the caller's, and returns the number
/// of threads when all is done. If the pool is busy, the caller does all of it.
///
/// # Panics
/// If `work` does, with its panic.
pub(crate) fn run(threads: usize, count: usize, work: &(dyn Fn(usize) + Sync)) -> usize {
    let helpers = threads.min(count).min(MAX_THREADS).saturating_sub(1);
    let mut workers = match (helpers, WORKERS.try_lock()) {
        (0, _) | (_, Err(TryLockError::WouldBlock)) => {
            (0..count).for_each(work);
            return 1;
        }
        (_, Ok(workers)) => workers,
        (_, Err(TryLockError::Poisoned(poisoned))) => poisoned.into_inner(),
    };
    while workers.len() < helpers {
        match start_worker() {
            Some(worker) => workers.push(worker),
            None => break,
        }
    }
    let job =
        Job { work, count, next: AtomicUsize::new(0), held: AtomicUsize::new(0), panic: Mutex::new(None) };
    let helpers = helpers.min(workers.len());
    job.held.store(helpers, Ordering::Relaxed);
    let address = (&raw const job).cast::<Job<'static>>().cast_mut();
    for worker in &workers[..helpers] {
        worker.slot.0.store(address, Ordering::Release);
        worker.thread.unpark();
    }
    job.help();
    for worker in &workers[..helpers] {
        // A worker that has not taken the job yet would find nothing left to do.
        let slot = &worker.slot.0;
        if slot.compare_exchange(address, null_mut(), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            job.held.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let mut polls = 0u32;
    while job.held.load(Ordering::Acquire) != 0 {
        polls = polls.wrapping_add(1);
        if polls.is_multiple_of(POLLS) {
            thread::yield_now();
        } else if !fetch_some() {
            spin_loop();
        }
    }
    drop(workers);
    if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(panic);
    }
    helpers + 1
}

/// A new worker, unless the system has no more threads.
fn start_worker() -> Option<Worker> {
    let slot = Arc::new(JobSlot(AtomicPtr::new(null_mut())));
    let of_worker = Arc::clone(&slot);
    let handle =
        thread::Builder::new().name("attention".into()).spawn(move || work_for_ever(&of_worker)).ok()?;
    Some(Worker { slot, thread: handle.thread().clone() })
}

fn work_for_ever(slot: &JobSlot) {
    loop {
        let job = next_job(slot);
        // SAFETY: `run` keeps the job alive until every worker that took it has released it, as the next lines do.
        unsafe {
            (*job).help();
            (*job).held.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Waits for a job and takes it.
fn next_job(slot: &JobSlot) -> *mut Job<'static> {
    let mut since = Instant::now();
    loop {
        let mut fetched = false;
        for _ in 0..POLLS {
            if !slot.0.load(Ordering::Relaxed).is_null() {
                let job = slot.0.swap(null_mut(), Ordering::AcqRel);
                if !job.is_null() {
                    return job;
                }
            }
            if fetch_some() {
                fetched = true;
            } else {
                spin_loop();
            }
        }
        if fetched {
            since = Instant::now();
        } else if since.elapsed() > AWAKE {
            thread::park();
            since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once_by_any_number_of_threads() {
        for threads in [1, 2, 3, 8] {
            for count in [0, 1, 2, 7, 1000] {
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                run(threads, count, &|task| {
                    done[task].fetch_add(1, Ordering::Relaxed);
                });
                assert!(
                    done.iter().all(|times| times.load(Ordering::Relaxed) == 1),
                    "{threads} threads, {count} tasks"
                );
            }
        }
    }

    #[test]
    fn a_call_within_a_call_is_done_by_its_caller() {
        let done = AtomicUsize::new(0);
        run(2, 4, &|_| {
            run(2, 4, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(done.load(Ordering::Relaxed), 16);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_works_on() {
        let panicking = catch_unwind(|| run(2, 100, &|task| assert!(task != 50)));
        assert!(panicking.is_err());
        let done = AtomicUsize::new(0);
        run(2, 100, &|_| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn workers_that_went_to_sleep_wake_up_again() {
        for _ in 0..3 {
            let done = AtomicUsize::new(0);
            run(2, 64, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(done.load(Ordering::Relaxed), 64);
            thread::sleep(AWAKE * 3);
        }
    }
}
