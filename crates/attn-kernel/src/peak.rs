//! The limits of the machine: multiply-adds a second, bytes read a second. A kernel's speed means little without them.
//!
//! The threads start together. Each repeats a short piece of work until the time is up and keeps its best rate; the rates of all
//! threads are added.

use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::kernels::{Kernels, PeakKernel};
use crate::pool::{self, Machine};

/// The turns that are timed together: some tenths of a millisecond.
const TURNS: usize = 100_000;

/// The numbers that a thread reads at a time, before it takes the next: some tenths of a millisecond.
const PIECE: usize = 1 << 20;

/// The loops for a machine.
fn kernel_of<T: Kernels>(machine: Machine) -> Result<PeakKernel<T>> {
    machine.check()?;
    Ok(T::kernels(machine.simd).map_or_else(PeakKernel::plain, |kernels| kernels.peak))
}

/// The peak of the machine: floating-point operations a second, two for each fused multiply-add, with all numbers in registers.
///
/// # Errors
/// If this processor lacks `machine.simd`, or the system has fewer threads.
pub fn multiply_add_rate<T: Kernels>(machine: Machine, time: Duration) -> Result<f64> {
    let kernel = kernel_of::<T>(machine)?;
    best_rates(machine.threads, time, &|_| {
        // SAFETY: the level was found available.
        black_box(unsafe { (kernel.chains)(black_box(TURNS)) });
        2 * TURNS * kernel.per_turn
    })
}

/// Bytes a second at which the threads read all of `arrays`, over and over, each thread its own part.
///
/// # Errors
/// If this processor lacks `machine.simd`, or the system has fewer threads.
pub fn read_rate<T: Kernels>(machine: Machine, arrays: &[&[T]], time: Duration) -> Result<f64> {
    let kernel = kernel_of::<T>(machine)?;
    let threads = machine.threads.max(1);
    best_rates(threads, time, &|thread| {
        let part = |numbers: &&[T]| {
            let numbers = &numbers[part(numbers.len(), thread, threads)];
            // SAFETY: the level was found available.
            black_box(unsafe { (kernel.total)(black_box(numbers)) });
            size_of_val(numbers)
        };
        arrays.iter().map(part).sum()
    })
}

/// Reads all of `arrays` once, on the threads that [`linear`](crate::linear()) and [`attend`](crate::attend()) use, and returns the
/// bytes: no product with these numbers can be formed sooner.
///
/// # Errors
/// If this processor lacks `machine.simd`.
pub fn read_once<T: Kernels>(machine: Machine, arrays: &[&[T]]) -> Result<usize> {
    let kernel = kernel_of::<T>(machine)?;
    let pieces: Vec<&[T]> = arrays.iter().flat_map(|array| array.chunks(PIECE)).collect();
    pool::run(machine.threads, pieces.len(), &|piece| {
        // SAFETY: the level was found available.
        black_box(unsafe { (kernel.total)(black_box(pieces[piece])) });
    });
    Ok(pieces.iter().map(|piece| size_of_val(*piece)).sum())
}

/// The range of `count` numbers that a thread reads; the last thread takes the remainder.
fn part(count: usize, thread: usize, threads: usize) -> Range<usize> {
    let each = count / threads;
    each * thread..if thread + 1 == threads { count } else { each * (thread + 1) }
}

/// The states of the signal that starts the threads once all are ready.
const WAIT: u8 = 0;
const START: u8 = 1;
const CANCEL: u8 = 2;

/// The sum of the threads' best rates. `work` takes a thread's index and returns the amount of work done.
fn best_rates(threads: usize, time: Duration, work: &(dyn Fn(usize) -> usize + Sync)) -> Result<f64> {
    let (signal, ready) = (AtomicU8::new(WAIT), AtomicUsize::new(0));
    let run = |thread: usize| {
        work(thread);
        ready.fetch_add(1, Ordering::Release);
        while signal.load(Ordering::Acquire) == WAIT {
            spin_loop();
            thread::yield_now();
        }
        if signal.load(Ordering::Acquire) == START { best_rate(time, || work(thread)) } else { 0.0 }
    };
    let threads = threads.max(1);
    thread::scope(|scope| {
        let run = &run;
        let start = |thread| thread::Builder::new().spawn_scoped(scope, move || run(thread));
        let started: Vec<_> = (0..threads).map_while(|thread| start(thread).ok()).collect();
        let all = started.len() == threads;
        while all && ready.load(Ordering::Acquire) < threads {
            thread::yield_now();
        }
        signal.store(if all { START } else { CANCEL }, Ordering::Release);
        let rates: Vec<f64> = started.into_iter().filter_map(|thread| thread.join().ok()).collect();
        if rates.len() == threads { Ok(rates.iter().sum()) } else { Err(Error::Threads(threads)) }
    })
}

/// The best rate among the repetitions that end before the time is up, or that of the only one.
fn best_rate(time: Duration, work: impl Fn() -> usize) -> f64 {
    let begin = Instant::now();
    let mut best = 0.0_f64;
    loop {
        let start = Instant::now();
        let done = work();
        let rate = done as f64 / start.elapsed().as_secs_f64().max(1e-9);
        if begin.elapsed() >= time {
            return if best > 0.0 { best } else { rate };
        }
        best = best.max(rate);
    }
}

#[cfg(test)]
mod tests {
    use crate::SimdLevel;

    use super::*;

    #[test]
    fn chains_come_to_rest_at_one_in_every_lane() {
        for simd in SimdLevel::available() {
            let kernel = kernel_of::<f32>(Machine { simd, threads: 1 }).unwrap();
            // SAFETY: the level is available.
            let sum = unsafe { (kernel.chains)(50_000) };
            let each = sum / kernel.per_turn as f32;
            assert!((each - 1.0).abs() < 1e-3, "{simd}: {each}");
        }
    }

    #[test]
    fn every_number_is_read_once() {
        let numbers: Vec<f64> = (0..4096).map(f64::from).collect();
        for simd in SimdLevel::available() {
            let kernel = kernel_of::<f64>(Machine { simd, threads: 1 }).unwrap();
            // SAFETY: the level is available.
            assert_eq!(unsafe { (kernel.total)(&numbers) }, 4095.0 * 4096.0 / 2.0, "{simd}");
        }
    }

    #[test]
    fn arrays_of_all_lengths_are_read_once() {
        let numbers = vec![1.0_f32; 2 * PIECE + 5];
        let arrays = [&numbers[..], &[], &numbers[..3]];
        for simd in SimdLevel::available() {
            assert_eq!(
                read_once(Machine { simd, threads: 2 }, &arrays).unwrap(),
                4 * (2 * PIECE + 8),
                "{simd}"
            );
        }
    }

    #[test]
    fn all_parts_together_are_all_there_is() {
        for (count, threads) in [(1000, 3), (2, 3), (8, 1)] {
            let parts: Vec<usize> = (0..threads).flat_map(|thread| part(count, thread, threads)).collect();
            assert_eq!(parts, (0..count).collect::<Vec<_>>(), "{count} in {threads} parts");
        }
    }

    #[test]
    fn every_thread_works_and_their_rates_add_up() {
        let worked = AtomicUsize::new(0);
        let rate = best_rates(3, Duration::ZERO, &|thread| {
            worked.fetch_add(1 << (8 * thread), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(10));
            100
        });
        // Each thread works once to be ready and once for the clock, and does 100 in 10 ms or a little more.
        assert_eq!(worked.load(Ordering::Relaxed), 0x02_02_02);
        assert!((1.0..=30_000.0).contains(&rate.unwrap()));
    }
}
