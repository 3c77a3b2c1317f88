//! Measurements: the speed of the ways to compute attention, the memory they need, and the growth of both.
//!
//! Three ways, of the same inputs: [`loop_over_queries`], [`step_by_step`] with whole matrices, and the fused path
//! ([`Problem::attend`]). The figures depend on the machine and its load; the results do not.

mod problem;

use std::array;
use std::time::{Duration, Instant};

use super::error::Result;
use super::graph::Precision;
use super::input::system::Ticks;
use super::kernel::{Kernels, MIN_QUERIES_FOR_TILES, Machine, Real, Resources, multiply_add_rate, read_rate};
use super::matrix::Labels;
use super::model::{Architecture, ModelRun, PassOptions, Tensors, Text, WeightReading};
use super::params::Positions;

pub use problem::{ExactResult, Problem, Shape, estimate, loop_over_queries, memory_limit, step_by_step};

// Repeats a task until its time is known well enough.

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
    /// From the seconds of each run, of which there is at least one.
    fn of(mut seconds: Vec<f64>, other_busy: Option<f64>) -> Timing {
        seconds.sort_by(f64::total_cmp);
        let runs = seconds.len();
        let median = 0.5 * (seconds[(runs - 1) / 2] + seconds[runs / 2]);
        Timing { median, least: seconds[0], runs, other_busy }
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
fn time_in_turns<const N: usize>(
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
    let (mut begin, mut ticks) = (Instant::now(), Ticks::now());
    let mut turns = vec![turn()?];
    let took: f64 = turns[0].iter().sum();
    if took <= 4.0 * budget.as_secs_f64() {
        while begin.elapsed() < (budget / 4).min(Duration::from_millis(500)) {
            turn()?;
        }
        (begin, ticks, turns) = (Instant::now(), Ticks::now(), Vec::new());
        let fewest = if took > budget.as_secs_f64() { 1 } else { MIN_RUNS };
        while turns.len() < fewest || (begin.elapsed() < budget && turns.len() < MAX_RUNS) {
            turns.push(turn()?);
        }
    }
    let others = || Ticks::now()?.others_since(&ticks?);
    let other_busy = if begin.elapsed() > TELLING { others() } else { None };
    Ok(array::from_fn(|at| Timing::of(turns.iter().map(|turn| turn[at]).collect(), other_busy)))
}

/// What was measured of runs of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The shape that was computed.
    pub shape: Shape,
    /// Its numbers: `f32` or `f64`.
    pub dtype: &'static str,
    /// The time of a run.
    pub timing: Timing,
    /// The memory beside inputs and outputs, and the threads that it was worth.
    pub used: Resources,
    /// The largest |O − exact| over some rows, see [`Problem::max_error`]; none of the exact path itself.
    pub max_error: Option<f64>,
}

impl Run {
    /// Useful flop in a second of a run that takes this long.
    pub fn rate(&self, seconds: f64) -> f64 {
        self.shape.flop() as f64 / seconds
    }
}

// The growth of time and memory with the length of the sequence, for each of three ways.

/// The lengths of the sequence, each twice the one before.
pub const SIZES: [usize; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// The maximum number of n×n matrices that the exact path holds at once, while it computes the weights.
const MAX_MATRICES: u128 = 6;

/// A way of computing attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// [`loop_over_queries`].
    Loop,
    /// [`step_by_step`].
    Steps,
    /// [`Problem::attend`].
    Fused,
}

/// The settings of a measurement of growth.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// The width of the head.
    pub width: usize,
    /// True if no query sees a later key.
    pub causal: bool,
    /// The machine of the fused path; the other ways have one thread and no SIMD of their own.
    pub machine: Machine,
    /// The time during which each size is repeated.
    pub each: Duration,
    /// The maximum time of one run; a size that would take longer is not measured.
    pub longest: Duration,
    /// The maximum memory in bytes; a size that would take more is not measured.
    pub most_bytes: u64,
}

/// The result of a measurement, or the reason why there is none.
#[derive(Clone, Copy, Debug)]
pub enum Measurement {
    /// It was run.
    Done(Run),
    /// It would take this many seconds, as the last measured size predicts.
    TooLong(f64),
    /// It would take this many bytes.
    TooLarge(u64),
}

impl Measurement {
    /// The run, if there was one.
    pub fn run(&self) -> Option<&Run> {
        match self {
            Measurement::Done(run) => Some(run),
            _ => None,
        }
    }
}

impl Growth {
    /// The measurement of one size. `shorter` are those before it, on the same way.
    ///
    /// # Errors
    /// If this processor lacks `machine.simd`.
    pub fn measured<T: Kernels>(
        &self,
        way: Method,
        n: usize,
        shorter: &[Measurement],
    ) -> Result<Measurement> {
        let shape = self.shape(n);
        let matrices = if way == Method::Steps { MAX_MATRICES } else { 0 };
        let bytes = matrices * (n * n * size_of::<f64>()) as u128 + Problem::<f64>::bytes(shape);
        if bytes > u128::from(self.most_bytes) {
            return Ok(Measurement::TooLarge(u64::try_from(bytes).unwrap_or(u64::MAX)));
        }
        if let Some(run) = shorter.iter().rev().find_map(Measurement::run) {
            let times = n / run.shape.keys;
            let seconds = run.timing.median * (times * times) as f64;
            if seconds > self.longest.as_secs_f64() {
                return Ok(Measurement::TooLong(seconds));
            }
        }
        if way == Method::Fused {
            let mut problem = Problem::<T>::drawn(shape)?;
            let used = problem.attend(self.machine)?;
            let max_error = Some(problem.max_error()?);
            let timing = time(self.each, || problem.attend(self.machine).map(drop))?;
            return Ok(Measurement::Done(Run { shape, dtype: T::NAME, timing, used, max_error }));
        }
        let [q, k, v] = Problem::<f64>::drawn(shape)?.exact(0)?;
        let mut used = Resources { extra_bytes: 0, threads: 1 };
        let timing = time(self.each, || {
            let formed = match way {
                Method::Loop => loop_over_queries(&q, &k, &v, shape.causal)?,
                _ => step_by_step(&q, &k, &v, shape.causal)?,
            };
            used.extra_bytes = formed.extra_bytes;
            Ok(())
        })?;
        Ok(Measurement::Done(Run { shape, dtype: f64::NAME, timing, used, max_error: None }))
    }

    /// The problem of one size.
    pub fn shape(&self, n: usize) -> Shape {
        let Growth { width, causal, .. } = *self;
        Shape { heads: 1, key_value_heads: 1, queries: n, keys: n, width, causal }
    }
}

// One shape, measured thoroughly: the fused path beside the machine's limits, taken in the same seconds.

/// More bytes than any cache holds: reading them is reading from memory.
const BEYOND_CACHES: usize = 1 << 29;

/// The minimum time of reading from memory: several times over.
const READING: Duration = Duration::from_millis(250);

/// The measurement of one shape.
#[derive(Clone, Debug)]
pub struct ShapeMeasurement {
    /// Its runs.
    pub run: Run,
    /// The machine that it was measured on.
    pub machine: Machine,
    /// The peak of multiply-adds on as many threads as were used, in flop/s: the larger of one before and one after.
    pub peak: f64,
    /// For few queries, where memory is the limit.
    pub reading: Option<ReadRates>,
}

/// The rate at which keys and values are read, in bytes a second.
#[derive(Clone, Copy, Debug)]
pub struct ReadRates {
    /// By the fused path: all keys and values once, in the median time.
    pub fused: f64,
    /// By reading the same keys and values and doing nothing with them.
    pub alone: f64,
    /// By reading more than fits any cache; `None` where there is too little memory.
    pub memory: Option<f64>,
}

impl ShapeMeasurement {
    /// Measures a shape for about `budget`, and the limits of the machine for about as long.
    ///
    /// # Errors
    /// If the shape is none, there is not the memory, or this processor lacks `machine.simd`.
    pub fn measure<T: Kernels>(shape: Shape, machine: Machine, budget: Duration) -> Result<ShapeMeasurement> {
        let mut problem = Problem::<T>::drawn(shape)?;
        let used = problem.attend(machine)?;
        let max_error = Some(problem.max_error()?);
        let aside = (budget / 4).min(Duration::from_millis(250));
        let busy = Machine { threads: used.threads, ..machine };
        let before = multiply_add_rate::<T>(busy, aside)?;
        let timing = time(budget, || problem.attend(machine).map(drop))?;
        let peak = before.max(multiply_add_rate::<T>(busy, aside)?);
        let mut reading = None;
        if shape.queries < MIN_QUERIES_FOR_TILES {
            let arrays = problem.keys_and_values();
            let bytes = arrays.iter().map(|numbers| size_of_val(*numbers)).sum::<usize>();
            let alone = read_rate(machine, &arrays, aside)?;
            let mut memory = None;
            if memory_limit() > BEYOND_CACHES as u64 {
                let numbers = vec![T::ONE; BEYOND_CACHES / size_of::<T>()];
                memory = Some(read_rate(machine, &[&numbers], aside.max(READING))?);
            }
            reading = Some(ReadRates { fused: bytes as f64 / timing.median, alone, memory });
        }
        let run = Run { shape, dtype: T::NAME, timing, used, max_error };
        Ok(ShapeMeasurement { run, machine, peak, reading })
    }
}

// A whole model, measured: a text at once, one more token, and reading its weights.

/// The number of tokens after which a text begins again.
const MOST_MORE_TOKENS: usize = 64;

/// The measurement of a model in `f32`.
#[derive(Clone, Debug)]
pub struct ModelMeasurement {
    /// The machine that it was measured on.
    pub machine: Machine,
    /// The number of tokens of the text.
    pub tokens: usize,
    /// A pass over the text, with the logits of all tokens.
    pub forward: Timing,
    /// The flop of that pass in products with weights: two for each weight and token.
    pub flop: u64,
    /// One more token, with its logits, from a cache of the text; `None` for an encoder, and where the text fills the context.
    pub decode: Option<Timing>,
    /// The bytes of the weights that a token is multiplied with: each new token reads them once.
    pub weight_bytes: u64,
    /// Reading them once, where nothing is done with them.
    pub reading: Timing,
}

impl ModelMeasurement {
    /// Measures a model on the first `tokens` ids of its vocabulary, each part for about `budget`.
    ///
    /// # Errors
    /// If the text is longer than the model's context, or weights cannot be read.
    pub fn measure(
        architecture: &Architecture,
        tensors: &Tensors,
        tokens: usize,
        (machine, budget): (Machine, Duration),
    ) -> Result<ModelMeasurement> {
        let run = ModelRun::new(architecture, tensors);
        let vocabulary = architecture.model.vocabulary as usize;
        let options = PassOptions {
            precision: Precision::Single(machine),
            measured: false,
            limit: usize::MAX,
            ..PassOptions::default()
        };
        let text = text_of(tokens, vocabulary);
        let forward = time(budget, || {
            let forward = run.forward(text.clone(), options.clone())?;
            if tensors.has_head { run.logits_of(&forward, 0..tokens).map(drop) } else { Ok(()) }
        })?;
        let longest = match architecture.model.positions {
            Positions::Learned(positions) => (tokens + MOST_MORE_TOKENS).min(positions as usize),
            _ => tokens + MOST_MORE_TOKENS,
        };
        let has_next = !architecture.model.is_encoder() && longest > tokens;
        let weights = WeightReading::of(tensors)?;
        let (decode, reading) = if has_next {
            let [decode, reading] = decoded(&run, &text, &options, &weights, (machine, longest, budget))?;
            (Some(decode), reading)
        } else {
            (None, time(budget, || weights.read(machine))?)
        };
        let flop = tensors.weights_per_token().saturating_mul(2 * tokens as u64);
        let weight_bytes = weights.bytes();
        Ok(ModelMeasurement { machine, tokens, forward, flop, decode, weight_bytes, reading })
    }

    /// The bytes a second at which the weights are read.
    pub fn read_rate(&self) -> f64 {
        self.weight_bytes as f64 / self.reading.median
    }

    /// The share of the read rate that decoding reaches: 1 where reading the weights takes all of its time.
    pub fn share_of_reading(&self) -> Option<f64> {
        self.decode.map(|decode| self.reading.median / decode.median)
    }
}

/// The times of one token after another, each with the cache of those before, and of reading the weights, in turns; the text begins
/// again where it would become longer than `longest`.
fn decoded(
    run: &ModelRun<'_>,
    text: &Text,
    options: &PassOptions,
    weights: &WeightReading,
    (machine, longest, budget): (Machine, usize, Duration),
) -> Result<[Timing; 2]> {
    let more = Text { ids: vec![0], tokens: ["0".to_string()].into_iter().collect() };
    let begin = || run.forward(text.clone(), options.clone());
    let mut before = Some(begin()?);
    let mut token = || {
        let forward = match before.take().filter(|forward| forward.text.ids.len() < longest) {
            Some(forward) => forward,
            None => begin()?,
        };
        let last = forward.text.ids.len();
        let forward = before.insert(run.continued(forward, &more)?);
        run.logits_of(forward, last..last + 1).map(drop)
    };
    let mut read = || weights.read(machine);
    time_in_turns(budget, [&mut token, &mut read])
}

/// A text of the vocabulary's first tokens, over and over.
fn text_of(tokens: usize, vocabulary: usize) -> Text {
    let ids: Vec<usize> = (0..tokens).map(|at| at % vocabulary.max(1)).collect();
    let labels: Labels = ids.iter().map(usize::to_string).collect();
    Text { ids, tokens: labels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_runs_lies_between_the_middle_ones() {
        let timing = Timing::of(vec![4.0, 1.0, 2.0, 8.0], None);
        assert_eq!((timing.median, timing.least, timing.runs), (3.0, 1.0, 4));
        assert_eq!(Timing::of(vec![2.0, 1.0, 9.0], None).median, 2.0);
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

    fn growth() -> Growth {
        Growth {
            width: 4,
            causal: false,
            machine: Machine { threads: 1, ..Machine::here() },
            each: Duration::from_micros(10),
            longest: Duration::from_secs(5),
            most_bytes: 1 << 30,
        }
    }

    fn bytes(measured: Measurement) -> usize {
        match measured {
            Measurement::Done(run) => run.used.extra_bytes,
            refused => panic!("{refused:?}"),
        }
    }

    #[test]
    fn memory_grows_quadratically_linearly_or_not_by_path() {
        let growth = growth();
        let both = |way| [64, 128].map(|n| bytes(growth.measured::<f32>(way, n, &[]).unwrap()));
        assert_eq!(both(Method::Steps), [3 * 64 * 64 * 8, 3 * 128 * 128 * 8]);
        assert_eq!(both(Method::Loop), [3 * 64 * 8, 3 * 128 * 8]);
        let fused = both(Method::Fused);
        assert_eq!(fused[0], fused[1]);
    }

    #[test]
    fn what_would_take_too_long_or_too_much_says_so() {
        let mut growth = growth();
        let timing = Timing { median: 2.0, least: 2.0, runs: 1, other_busy: None };
        let used = Resources { extra_bytes: 0, threads: 1 };
        let run = Run { shape: growth.shape(64), dtype: "f64", timing, used, max_error: None };
        let shorter = [Measurement::Done(run), Measurement::TooLong(8.0)];
        let longer = growth.measured::<f32>(Method::Loop, 256, &shorter).unwrap();
        assert!(matches!(longer, Measurement::TooLong(32.0)), "{longer:?}");
        growth.most_bytes = 6 * 256 * 256 * 8;
        let larger = growth.measured::<f32>(Method::Steps, 256, &[]).unwrap();
        assert!(matches!(larger, Measurement::TooLarge(bytes) if bytes > growth.most_bytes), "{larger:?}");
        // The fused path forms no matrices.
        assert!(bytes(growth.measured::<f32>(Method::Fused, 256, &[]).unwrap()) > 0);
        growth.width = usize::MAX;
        let wide = growth.measured::<f32>(Method::Fused, 64, &[]).unwrap();
        assert!(matches!(wide, Measurement::TooLarge(u64::MAX)), "{wide:?}");
    }
}
