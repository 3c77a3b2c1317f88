//! Repeats a task until its time is known well enough.

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::input::system::Ticks;

/// The minimum number of runs, unless one takes longer than the budget.
const MIN_RUNS: usize = 3;

/// The maximum number of runs.
const MAX_RUNS: usize = 20_000;

/// In less time than this the system's ticks are too coarse.
const TELLING: Duration = Duration::from_millis(200);

/// The times of repeated runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The median of all runs, in seconds.
    pub median: f64,
    /// The fastest run, in seconds.
    pub least: f64,
    /// The number of runs.
    pub runs: usize,
    /// The number of processors that other processes kept busy meanwhile, if it is known.
    pub other_busy: Option<f64>,
}

impl Timing {
    /// From the seconds of each run; `None` of none.
    fn of(mut seconds: Vec<f64>, other_busy: Option<f64>) -> Option<Timing> {
        seconds.sort_by(f64::total_cmp);
        let (runs, least) = (seconds.len(), *seconds.first()?);
        let median = 0.5 * (seconds[(runs - 1) / 2] + seconds[runs / 2]);
        Some(Timing { median, least, runs, other_busy })
    }
}

/// Runs `work` once, warms up for a quarter of the time (half a second at most), then repeats until the time is up. What
/// takes longer than four times the time is not repeated.
///
/// # Errors
/// If `work` fails.
pub fn time(budget: Duration, mut work: impl FnMut() -> Result<()>) -> Result<Timing> {
    let [timing] = time_in_turns(budget, [&mut work])?;
    Ok(timing)
}

/// As [`time`], for several works in turns, so that all of them meet the same machine: it may be slower a minute later. The budget
/// is that of all together.
///
/// # Errors
/// If one of them fails.
pub fn time_in_turns<const N: usize>(
    budget: Duration,
    mut works: [&mut dyn FnMut() -> Result<()>; N],
) -> Result<[Timing; N]> {
    let mut turn = || -> Result<[f64; N]> {
        let mut seconds = [0.0; N];
        for (work, seconds) in works.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            work()?;
            // A clock may be too coarse to see anything pass.
            *seconds = start.elapsed().as_secs_f64().max(1e-9);
        }
        Ok(seconds)
    };
    let (begin, ticks) = (Instant::now(), Ticks::now());
    let first = turn()?;
    let took: f64 = first.iter().sum();
    let others = |earlier: Option<Ticks>| Ticks::now()?.others_since(&earlier?);
    let once = |other_busy| first.map(|first| Timing { median: first, least: first, runs: 1, other_busy });
    if took > 4.0 * budget.as_secs_f64() {
        return Ok(once(others(ticks)));
    }
    while begin.elapsed() < (budget / 4).min(Duration::from_millis(500)) {
        turn()?;
    }
    let (begin, ticks) = (Instant::now(), Ticks::now());
    let fewest = if took > budget.as_secs_f64() { 1 } else { MIN_RUNS };
    let mut turns: Vec<[f64; N]> = Vec::new();
    while turns.len() < fewest || (begin.elapsed() < budget && turns.len() < MAX_RUNS) {
        turns.push(turn()?);
    }
    let other_busy = if begin.elapsed() > TELLING { others(ticks) } else { None };
    let mut timings = once(other_busy);
    for (at, timing) in timings.iter_mut().enumerate() {
        let seconds = turns.iter().map(|turn| turn[at]).collect();
        *timing = Timing::of(seconds, other_busy).unwrap_or(*timing);
    }
    Ok(timings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_runs_lies_between_the_middle_ones() {
        let timing = Timing::of(vec![4.0, 1.0, 2.0, 8.0], None).unwrap();
        assert_eq!((timing.median, timing.least, timing.runs), (3.0, 1.0, 4));
        assert_eq!(Timing::of(vec![2.0, 1.0, 9.0], None).unwrap().median, 2.0);
        assert_eq!(Timing::of(Vec::new(), None), None);
    }

    #[test]
    fn works_take_turns() {
        let order = std::cell::RefCell::new(String::new());
        let [a, b] = ['a', 'b'].map(|name| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                Ok(())
            }
        });
        let (mut a, mut b) = (a, b);
        let [first, second] = time_in_turns(Duration::from_millis(1), [&mut a, &mut b]).unwrap();
        assert_eq!(first.runs, second.runs);
        let order = order.into_inner();
        assert_eq!(order, "ab".repeat(order.len() / 2));
        assert!(order.len() > 2 * first.runs);
    }

    #[test]
    fn what_is_quick_is_repeated_and_what_takes_too_long_is_not() {
        let mut count = 0;
        let timing = time(Duration::from_millis(2), || {
            count += 1;
            Ok(())
        });
        assert!(timing.unwrap().runs >= MIN_RUNS && count > MIN_RUNS);
        let slow = time(Duration::from_nanos(1), || {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        assert_eq!(slow.unwrap().runs, 1);
    }
}
