//! What the machine can do at most: multiply-adds in a second, bytes read in a second. A kernel's speed says little without.
//!
//! The threads begin together. Each repeats a short piece of work until the time is up and keeps its best repetition among
//! those that end within it; the rates of all threads add up.

use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::attend::Machine;
use super::real::Real;
use super::simd::Simd;
use crate::error::{Error, Result};

/// How to find the limits of one set of instructions.
pub(super) struct PeakKernel<T: 'static> {
    /// Multiply-adds of one turn of [`chains`], all lanes together.
    pub per_turn: usize,
    /// See [`chains`].
    pub chains: unsafe fn(usize) -> T,
    /// See [`total`].
    pub total: unsafe fn(&[T]) -> T,
}

/// So many turns are timed together: some tenths of a millisecond.
const TURNS: usize = 100_000;

/// So many sums of [`total`] are under way at once: the addition of one does not wait for that of another.
const SUMS: usize = 8;

/// Without SIMD.
const PLAIN_CHAINS: usize = 16;

/// C chains of multiply-adds, each waiting for nothing but its own last: as many as both (or all four) units of a core need
/// to be always busy, and as there are registers for. The result is of no use but to be used.
#[inline(always)]
pub(super) fn chains<T: Real, S: Simd<T>, const C: usize>(simd: S, turns: usize) -> T {
    // x ↦ 0.999 x + 0.001 comes to rest at 1: no chain overflows or becomes subnormal, where arithmetic is slow.
    let (factor, summand) = (black_box(T::from_f64(0.999)), black_box(T::from_f64(0.001)));
    let (factor, summand) = (simd.splat(factor), simd.splat(summand));
    let mut chains = [simd.splat(T::ZERO); C];
    for (i, chain) in chains.iter_mut().enumerate() {
        *chain = simd.splat(black_box(T::from_f64(i as f64)));
    }
    for _ in 0..turns {
        for chain in &mut chains {
            *chain = simd.mul_add(*chain, factor, summand);
        }
    }
    sum_of_lanes(simd, &chains)
}

/// The sum of all numbers but a few last ones, which costs nothing beside reading them.
#[inline(always)]
pub(super) fn total<T: Real, S: Simd<T>>(simd: S, numbers: &[T]) -> T {
    let mut sums = [simd.splat(T::ZERO); SUMS];
    for numbers in numbers.chunks_exact(SUMS * S::LANES) {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: SUMS times so many are there.
            *sum = simd.add(*sum, unsafe { simd.load(&numbers[i * S::LANES..]) });
        }
    }
    sum_of_lanes(simd, &sums)
}

#[inline(always)]
fn sum_of_lanes<T: Real, S: Simd<T>>(simd: S, registers: &[S::Register]) -> T {
    let lanes = registers.iter().flat_map(|&register| simd.numbers(register));
    lanes.fold(T::ZERO, |sum, lane| sum + lane)
}

/// [`chains`] without registers.
fn plain_chains<T: Real>(turns: usize) -> T {
    let (factor, summand) = (black_box(T::from_f64(0.999)), black_box(T::from_f64(0.001)));
    let mut chains: [T; PLAIN_CHAINS] = std::array::from_fn(|i| black_box(T::from_f64(i as f64)));
    for _ in 0..turns {
        for chain in &mut chains {
            *chain = chain.mul_add(factor, summand);
        }
    }
    chains.iter().fold(T::ZERO, |sum, &chain| sum + chain)
}

/// [`total`] without registers.
fn plain_total<T: Real>(numbers: &[T]) -> T {
    let mut sums = [T::ZERO; SUMS];
    for numbers in numbers.chunks_exact(SUMS) {
        for (sum, &number) in sums.iter_mut().zip(numbers) {
            *sum = *sum + number;
        }
    }
    sums.iter().fold(T::ZERO, |all, &sum| all + sum)
}

impl<T: Real> PeakKernel<T> {
    fn of(machine: Machine) -> Result<PeakKernel<T>> {
        if !machine.simd.is_available() {
            return Err(Error::new(format!("this processor has no {}", machine.simd)));
        }
        let plain = PeakKernel { per_turn: PLAIN_CHAINS, chains: plain_chains::<T>, total: plain_total::<T> };
        Ok(T::peak(machine.simd).unwrap_or(plain))
    }
}

/// The machine's peak: floating-point operations a second, two for each fused multiply-add, with all numbers in registers.
///
/// # Errors
/// If this processor lacks `machine.simd`, or the system has fewer threads.
pub fn multiply_add_rate<T: Real>(machine: Machine, time: Duration) -> Result<f64> {
    let kernel = PeakKernel::<T>::of(machine)?;
    best_rates(machine.threads, time, &|_| {
        // SAFETY: the level was found available.
        black_box(unsafe { (kernel.chains)(black_box(TURNS)) });
        2 * TURNS * kernel.per_turn
    })
}

/// Bytes a second at which the threads read all of `arrays`, over and over, each its own part of every one.
///
/// # Errors
/// If this processor lacks `machine.simd`, or the system has fewer threads.
pub fn read_rate<T: Real>(machine: Machine, arrays: &[&[T]], time: Duration) -> Result<f64> {
    let kernel = PeakKernel::<T>::of(machine)?;
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

/// What of so many numbers is a thread's: the last has what is left over, too.
fn part(count: usize, thread: usize, threads: usize) -> Range<usize> {
    let each = count / threads;
    each * thread..if thread + 1 == threads { count } else { each * (thread + 1) }
}

const WAIT: u8 = 0;
const GO: u8 = 1;
const GO_HOME: u8 = 2;

/// The best of each thread, added up: `work` gets the thread's number and says how much it has done.
fn best_rates(threads: usize, time: Duration, work: &(dyn Fn(usize) -> usize + Sync)) -> Result<f64> {
    let (signal, ready) = (AtomicU8::new(WAIT), AtomicUsize::new(0));
    let run = |thread: usize| {
        work(thread);
        ready.fetch_add(1, Ordering::Release);
        while signal.load(Ordering::Acquire) == WAIT {
            spin_loop();
            thread::yield_now();
        }
        if signal.load(Ordering::Acquire) == GO { best_rate(time, || work(thread)) } else { 0.0 }
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
        signal.store(if all { GO } else { GO_HOME }, Ordering::Release);
        let rates: Vec<f64> = started.into_iter().filter_map(|thread| thread.join().ok()).collect();
        match rates.len() == threads && all {
            true => Ok(rates.iter().sum()),
            false => {
                Err(Error::new(format!("the system has fewer than {threads} threads")).help("ask for fewer"))
            }
        }
    })
}

/// The best of the repetitions that end before the time is up; of a single one, that.
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
    use super::*;
    use crate::kernel::SimdLevel;

    #[test]
    fn chains_come_to_rest_at_one_in_every_lane() {
        for simd in SimdLevel::available() {
            let kernel = PeakKernel::<f32>::of(Machine { simd, threads: 1 }).unwrap();
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
            let kernel = PeakKernel::<f64>::of(Machine { simd, threads: 1 }).unwrap();
            // SAFETY: the level is available.
            assert_eq!(unsafe { (kernel.total)(&numbers) }, 4095.0 * 4096.0 / 2.0, "{simd}");
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
