//! The fast path: shapes, distances, masks, variants and numbers from bytes.

use attn::kernel::{Attention, Band, Heads, Kernels, Layout, Machine, Output, SimdLevel, attend};

use super::bytes::Bytes;

/// What lies where no result belongs.
const UNTOUCHED: f64 = 12345.0;

/// One problem in both types, by every set of instructions and by one and three threads: the same bits, or the same refusal.
pub fn kernel(bytes: &[u8]) {
    compare::<f32>(Bytes(bytes));
    compare::<f64>(Bytes(bytes));
}

/// What comes out: the numbers and the log-sum-exps by their bits, or what is wrong.
type Outcome = Result<(Vec<u64>, Vec<u64>), String>;

fn compare<T: Kernels>(mut bytes: Bytes<'_>) {
    let shape = Shape::of(&mut bytes);
    let problem: Problem<T> = shape.problem(&mut bytes);
    let plain = problem.run(Machine { simd: SimdLevel::Portable, threads: 1 });
    for simd in SimdLevel::available() {
        for threads in [1, 3] {
            let found = problem.run(Machine { simd, threads });
            assert!(plain == found, "{} {simd} differs from the plain version: {shape:?}", T::NAME);
        }
    }
}

#[derive(Debug)]
struct Shape {
    heads: usize,
    kv_heads: usize,
    queries: usize,
    keys: usize,
    width: usize,
    value_width: usize,
}

impl Shape {
    fn of(bytes: &mut Bytes<'_>) -> Shape {
        let kv_heads = bytes.below(4);
        Shape {
            // Now and then they do not share equally.
            heads: kv_heads * bytes.below(4) + usize::from(bytes.byte() > 250),
            kv_heads,
            queries: bytes.below(40),
            keys: bytes.below(256) + if bytes.byte() > 220 { 300 } else { 0 },
            width: bytes.below(70),
            value_width: bytes.below(70),
        }
    }

    fn problem<T: Kernels>(&self, bytes: &mut Bytes<'_>) -> Problem<T> {
        let Shape { heads, kv_heads, queries, keys, width, value_width } = *self;
        let q = Numbers::of([heads, queries, width], bytes);
        let k = Numbers::of([kv_heads, keys, width], bytes);
        let v = Numbers::of([kv_heads, keys, value_width], bytes);
        let scores = [heads, queries, keys];
        let mask = bytes.byte().is_multiple_of(3).then(|| Numbers::of(scores, bytes));
        let bias = bytes.byte().is_multiple_of(3).then(|| Numbers::of(scores, bytes));
        let edge = |bytes: &mut Bytes<'_>| match bytes.byte() {
            0..100 => None,
            250.. => Some(isize::MAX),
            other => Some(isize::from(other) - 175),
        };
        let band = Band { from: edge(bytes), until: edge(bytes), keep_first: 0 };
        let output = Numbers::<T>::layout([heads, queries, value_width], bytes);
        let scale = bytes.number();
        // After all else: a seed that ends here has none of it.
        let band = Band { keep_first: usize::from(bytes.byte()), ..band };
        let mut is_wanted = || bytes.byte() % 4 == 1;
        let (relative, capped, sinks) = (is_wanted(), is_wanted(), is_wanted());
        let distances = [heads, 1, (queries + keys).saturating_sub(1)];
        Problem {
            q,
            k,
            v,
            mask,
            bias,
            relative: relative.then(|| Numbers::of(distances, bytes)),
            soft_cap: capped.then(|| bytes.number().abs()),
            // Now and then there is one too many.
            sinks: sinks
                .then(|| (0..heads + usize::from(bytes.byte() > 250)).map(|_| bytes.number()).collect()),
            band,
            scale,
            output,
            rows: heads * queries,
        }
    }
}

struct Problem<T> {
    q: Numbers<T>,
    k: Numbers<T>,
    v: Numbers<T>,
    mask: Option<Numbers<T>>,
    bias: Option<Numbers<T>>,
    relative: Option<Numbers<T>>,
    soft_cap: Option<f64>,
    sinks: Option<Vec<f64>>,
    band: Band,
    scale: f64,
    output: Layout,
    rows: usize,
}

impl<T: Kernels> Problem<T> {
    fn run(&self, machine: Machine) -> Outcome {
        let truth: Option<Vec<bool>> =
            self.mask.as_ref().map(|mask| mask.numbers.iter().map(|&x| x > T::ZERO).collect());
        let sinks: Option<Vec<T>> =
            self.sinks.as_ref().map(|sinks| sinks.iter().copied().map(T::from_f64).collect());
        let mut output = vec![T::from_f64(UNTOUCHED); reach(&self.output) + 3];
        let mut lse = vec![T::ZERO; self.rows];
        let mut run = || {
            let mut attention = Attention::new(self.q.heads("q")?, self.k.heads("k")?, self.v.heads("v")?);
            attention.band = self.band;
            attention.scale = T::from_f64(self.scale);
            if let (Some(mask), Some(truth)) = (&self.mask, &truth) {
                attention.mask = Some(Heads::new("mask", truth, mask.layout)?);
            }
            attention.bias = self.bias.as_ref().map(|bias| bias.heads("bias")).transpose()?;
            attention.relative_bias =
                self.relative.as_ref().map(|relative| relative.heads("relative bias")).transpose()?;
            attention.soft_cap = self.soft_cap.map(T::from_f64);
            attention.sinks = sinks.as_deref();
            let output = Output::new(&mut output, self.output).with_log_sum_exps(&mut lse);
            attend(&attention, machine, output)
        };
        run().map_err(|error: attn::kernel::Error| error.to_string())?;
        let bits = |numbers: &[T]| numbers.iter().map(|&x| bits(x)).collect::<Vec<u64>>();
        let tail = &output[output.len() - 3..];
        assert!(tail.iter().all(|&x| x == T::from_f64(UNTOUCHED)), "written past the end");
        Ok((bits(&output), bits(&lse)))
    }
}

/// No NaN differs from another.
fn bits<T: Kernels>(x: T) -> u64 {
    if x.to_f64().is_nan() { u64::MAX } else { x.bits() }
}

/// Numbers and how they lie in memory.
struct Numbers<T> {
    numbers: Vec<T>,
    layout: Layout,
}

impl<T: Kernels> Numbers<T> {
    fn of(dims: [usize; 3], bytes: &mut Bytes<'_>) -> Numbers<T> {
        let layout = Numbers::<T>::layout(dims, bytes);
        // Now and then there is one number too few.
        let missing = usize::from(bytes.byte() == 255);
        let period = 1 + bytes.below(97);
        let some: Vec<T> = (0..period).map(|_| T::from_f64(bytes.number())).collect();
        let numbers = (0..reach(&layout).saturating_sub(missing)).map(|at| some[at % period]).collect();
        Numbers { numbers, layout }
    }

    /// Row by row, side by side, by columns, with gaps, repeated, or overlapping.
    fn layout([heads, rows, columns]: [usize; 3], bytes: &mut Bytes<'_>) -> Layout {
        let stacked = Layout::stacked(heads, rows, columns);
        match bytes.byte() % 8 {
            0..3 => stacked,
            3 => Layout::side_by_side(heads, rows, columns),
            4 => Layout { row_stride: 1, column_stride: rows, ..stacked },
            5 => Layout {
                head_stride: rows * (2 * columns + 1),
                row_stride: 2 * columns + 1,
                column_stride: 2,
                ..stacked
            },
            6 => Layout { head_stride: 0, ..stacked },
            _ => Layout {
                head_stride: bytes.below(50),
                row_stride: bytes.below(20),
                column_stride: bytes.below(4),
                ..stacked
            },
        }
    }

    fn heads(&self, name: &str) -> attn::kernel::Result<Heads<'_, T>> {
        Heads::new(name, &self.numbers, self.layout)
    }
}

/// How many numbers a layout reaches over.
fn reach(layout: &Layout) -> usize {
    if layout.heads == 0 || layout.rows == 0 || layout.columns == 0 {
        return 0;
    }
    let last = |count: usize, stride: usize| (count - 1) * stride;
    1 + last(layout.heads, layout.head_stride)
        + last(layout.rows, layout.row_stride)
        + last(layout.columns, layout.column_stride)
}
