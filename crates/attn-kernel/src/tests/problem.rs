//! Problems: numbers that lie in memory in every way that is allowed, and what comes out for them.

use crate::{Attention, Band, Heads, Kernels, Layout, Machine, Output, attend};

use super::random::Random;

/// How many of everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Query heads, a multiple of the key/value heads.
    pub heads: usize,
    /// Key/value heads.
    pub kv_heads: usize,
    /// T.
    pub queries: usize,
    /// N.
    pub keys: usize,
    /// d_k.
    pub width: usize,
    /// d_v.
    pub value_width: usize,
}

impl Shape {
    /// One head.
    pub fn one_head(queries: usize, keys: usize, width: usize) -> Shape {
        Shape { heads: 1, kv_heads: 1, queries, keys, width, value_width: width }
    }

    /// The key/value head that query head h reads.
    pub fn kv_head(&self, h: usize) -> usize {
        h * self.kv_heads / self.heads
    }
}

/// How numbers lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrangement {
    /// (heads, rows, columns).
    Stacked,
    /// (rows, heads, columns).
    SideBySide,
    /// (heads, columns, rows): the columns are apart.
    Transposed,
    /// Stacked, with gaps after every row and every head.
    Padded,
    /// Stacked, from the second number of the memory on.
    Unaligned,
    /// Every second column of something wider.
    EverySecond,
}

impl Arrangement {
    /// All.
    pub const ALL: [Arrangement; 6] = [
        Arrangement::Stacked,
        Arrangement::SideBySide,
        Arrangement::Transposed,
        Arrangement::Padded,
        Arrangement::Unaligned,
        Arrangement::EverySecond,
    ];

    /// The layout, and where in the memory it begins.
    pub fn layout(self, heads: usize, rows: usize, columns: usize) -> (Layout, usize) {
        let apart = |head_stride, row_stride, column_stride| Layout {
            heads,
            rows,
            columns,
            head_stride,
            row_stride,
            column_stride,
        };
        match self {
            Arrangement::Stacked => (Layout::stacked(heads, rows, columns), 0),
            Arrangement::SideBySide => (Layout::side_by_side(heads, rows, columns), 0),
            Arrangement::Transposed => (apart(rows * columns, 1, rows), 0),
            Arrangement::Padded => (apart(rows * (columns + 3) + 5, columns + 3, 1), 2),
            Arrangement::Unaligned => (Layout::stacked(heads, rows, columns), 1),
            Arrangement::EverySecond => (apart(rows * columns * 2, columns * 2, 2), 0),
        }
    }
}

/// How many numbers a layout reaches over.
fn reach(layout: &Layout) -> usize {
    let last = |count: usize, stride: usize| count.saturating_sub(1) * stride;
    let is_empty = layout.heads * layout.rows * layout.columns == 0;
    let reach = last(layout.heads, layout.head_stride)
        + last(layout.rows, layout.row_stride)
        + last(layout.columns, layout.column_stride);
    if is_empty { 0 } else { reach + 1 }
}

/// The place of a cell.
fn place(layout: &Layout, (h, i, j): (usize, usize, usize)) -> usize {
    h * layout.head_stride + i * layout.row_stride + j * layout.column_stride
}

/// Every cell of (heads, rows, columns), in order.
fn cells(layout: &Layout) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
    let Layout { heads, rows, columns, .. } = *layout;
    (0..heads).flat_map(move |h| (0..rows).flat_map(move |i| (0..columns).map(move |j| (h, i, j))))
}

/// Numbers in memory that is exactly as long as they reach.
#[derive(Clone, Debug)]
pub struct Stored<C> {
    memory: Vec<C>,
    start: usize,
    layout: Layout,
}

impl<C: Copy> Stored<C> {
    /// heads × rows × columns of `number`, with `gap` between them.
    pub fn new(
        arrangement: Arrangement,
        (heads, rows, columns): (usize, usize, usize),
        gap: C,
        mut number: impl FnMut(usize, usize, usize) -> C,
    ) -> Stored<C> {
        let (layout, start) = arrangement.layout(heads, rows, columns);
        let mut memory = vec![gap; start + reach(&layout)];
        for (h, i, j) in cells(&layout) {
            memory[start + place(&layout, (h, i, j))] = number(h, i, j);
        }
        Stored { memory, start, layout }
    }

    /// Numbers through a layout of one's own, for instance one that repeats them.
    pub fn repeated(layout: Layout, mut number: impl FnMut() -> C) -> Stored<C> {
        Stored { memory: (0..reach(&layout)).map(|_| number()).collect(), start: 0, layout }
    }

    /// The cell (head, row, column).
    pub fn at(&self, h: usize, i: usize, j: usize) -> C {
        self.memory[self.start + place(&self.layout, (h, i, j))]
    }

    /// Changes the cell (head, row, column).
    pub fn set(&mut self, h: usize, i: usize, j: usize, number: C) {
        self.memory[self.start + place(&self.layout, (h, i, j))] = number;
    }

    /// Changes a whole row.
    pub fn set_row(&mut self, h: usize, i: usize, number: C) {
        (0..self.layout.columns).for_each(|j| self.set(h, i, j, number));
    }

    /// As the kernel reads it.
    pub fn heads(&self) -> Heads<'_, C> {
        Heads::new("the input", &self.memory[self.start..], self.layout).expect("the memory is long enough")
    }
}

/// A problem that owns its numbers.
#[derive(Clone, Debug)]
pub struct Problem<T> {
    pub shape: Shape,
    pub q: Stored<T>,
    pub k: Stored<T>,
    pub v: Stored<T>,
    pub band: Band,
    pub mask: Option<Stored<bool>>,
    pub bias: Option<Stored<T>>,
    /// (heads, 1, keys + queries − 1).
    pub relative_bias: Option<Stored<T>>,
    pub soft_cap: Option<T>,
    pub sinks: Option<Vec<T>>,
    /// 1/√d_k where there is none.
    pub scale: Option<T>,
}

/// A row for every query of every head, and its log-sum-exp.
#[derive(Clone, Debug)]
pub struct Results<T> {
    pub rows: Vec<Vec<T>>,
    pub log_sum_exps: Vec<T>,
}

impl<T: Kernels> Results<T> {
    /// All numbers of a row: its output, then its log-sum-exp.
    pub fn row(&self, row: usize) -> impl Iterator<Item = T> {
        self.rows[row].iter().copied().chain([self.log_sum_exps[row]])
    }
}

impl<T: Kernels> Problem<T> {
    /// Full attention on numbers of N(0, 1), with NaN in every gap between them.
    pub fn normal(shape: Shape, arrangements: [Arrangement; 3], random: &mut Random) -> Problem<T> {
        let Shape { heads, kv_heads, queries, keys, width, value_width } = shape;
        let mut stored = |arrangement, extent| {
            Stored::new(arrangement, extent, T::from_f64(f64::NAN), |_, _, _| T::from_f64(random.normal()))
        };
        Problem {
            shape,
            q: stored(arrangements[0], (heads, queries, width)),
            k: stored(arrangements[1], (kv_heads, keys, width)),
            v: stored(arrangements[2], (kv_heads, keys, value_width)),
            band: Band::default(),
            mask: None,
            bias: None,
            relative_bias: None,
            soft_cap: None,
            sinks: None,
            scale: None,
        }
    }

    /// The same, with every number of Q, K and V given by (head, row, column), stacked.
    pub fn of(
        shape: Shape,
        q: impl FnMut(usize, usize, usize) -> T,
        k: impl FnMut(usize, usize, usize) -> T,
        v: impl FnMut(usize, usize, usize) -> T,
    ) -> Problem<T> {
        let Shape { heads, kv_heads, queries, keys, width, value_width } = shape;
        let stacked = Arrangement::Stacked;
        Problem {
            shape,
            q: Stored::new(stacked, (heads, queries, width), T::ZERO, q),
            k: Stored::new(stacked, (kv_heads, keys, width), T::ZERO, k),
            v: Stored::new(stacked, (kv_heads, keys, value_width), T::ZERO, v),
            band: Band::default(),
            mask: None,
            bias: None,
            relative_bias: None,
            soft_cap: None,
            sinks: None,
            scale: None,
        }
    }

    /// Hides what `sees` does not hold for, by a mask.
    pub fn masked(mut self, mut sees: impl FnMut(usize, usize, usize) -> bool) -> Problem<T> {
        let extent = (self.shape.heads, self.shape.queries, self.shape.keys);
        self.mask = Some(Stored::new(Arrangement::Stacked, extent, true, &mut sees));
        self
    }

    /// Adds a bias.
    pub fn biased(mut self, bias: impl FnMut(usize, usize, usize) -> T) -> Problem<T> {
        let extent = (self.shape.heads, self.shape.queries, self.shape.keys);
        self.bias = Some(Stored::new(Arrangement::Stacked, extent, T::ZERO, bias));
        self
    }

    /// Adds a bias by head and by distance, key less query.
    pub fn relatively_biased(mut self, mut bias: impl FnMut(usize, isize) -> T) -> Problem<T> {
        let Shape { heads, queries, keys, .. } = self.shape;
        let extent = (heads, 1, (keys + queries).saturating_sub(1));
        let number = |h, _, at: usize| bias(h, at as isize + 1 - queries as isize);
        self.relative_bias = Some(Stored::new(Arrangement::Stacked, extent, T::ZERO, number));
        self
    }

    /// What is added to the scaled score by distance, 0 without it.
    pub fn relative_at(&self, h: usize, i: usize, j: usize) -> T {
        self.relative_bias.as_ref().map_or(T::ZERO, |bias| bias.at(h, 0, j + self.shape.queries - 1 - i))
    }

    /// As the kernel takes it.
    pub fn attention(&self) -> Attention<'_, T> {
        let mut attention = Attention::new(self.q.heads(), self.k.heads(), self.v.heads());
        attention.scale = self.scale.unwrap_or(attention.scale);
        attention.band = self.band;
        attention.mask = self.mask.as_ref().map(Stored::heads);
        attention.bias = self.bias.as_ref().map(Stored::heads);
        attention.relative_bias = self.relative_bias.as_ref().map(Stored::heads);
        attention.soft_cap = self.soft_cap;
        attention.sinks = self.sinks.as_deref();
        attention
    }

    /// Whether query i of head h sees key j.
    pub fn sees(&self, h: usize, i: usize, j: usize) -> bool {
        let (i_, j_) = (i as isize, j as isize);
        (j < self.band.keep_first || self.band.from.is_none_or(|from| i_ + from <= j_))
            && self.band.until.is_none_or(|until| j_ < i_ + until)
            && self.mask.as_ref().is_none_or(|mask| mask.at(h, i, j))
            && self.bias.as_ref().is_none_or(|bias| bias.at(h, i, j) != T::NEG_INFINITY)
            && self.relative_at(h, i, j) != T::NEG_INFINITY
    }

    /// What the kernel makes of it. Around every row of the outputs stand canaries, which are found alive.
    #[track_caller]
    pub fn run(&self, machine: Machine, arrangement: Arrangement) -> Results<T> {
        let Shape { heads, queries, value_width, .. } = self.shape;
        let canary = T::from_f64(-12_345.678_9);
        let is_canary = |x: &T| x.bits() == canary.bits();
        let (layout, start) = arrangement.layout(heads, queries, value_width);
        let end = start + reach(&layout);
        let mut memory = vec![canary; end + 16];
        let mut log_sum_exps = vec![canary; 3 + heads * queries + 16];
        let lse_range = 3..3 + heads * queries;
        let output = Output::new(&mut memory[start..end], layout)
            .with_log_sum_exps(&mut log_sum_exps[lse_range.clone()]);
        attend(&self.attention(), machine, output).expect("the shapes fit");
        let mut take = |h, i, j| std::mem::replace(&mut memory[start + place(&layout, (h, i, j))], canary);
        let mut row = |h, i| (0..value_width).map(|j| take(h, i, j)).collect();
        let rows = (0..heads * queries).map(|r| row(r / queries.max(1), r % queries.max(1))).collect();
        let written = log_sum_exps[lse_range.clone()].to_vec();
        log_sum_exps[lse_range].fill(canary);
        let alive = memory.iter().chain(&log_sum_exps).all(is_canary);
        assert!(alive, "{machine:?}, {arrangement:?}: something beside the output was written");
        Results { rows, log_sum_exps: written }
    }
}
