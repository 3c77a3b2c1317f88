//! The matrices side by side: the operands, the current matrix, and what reads it.

use crate::graph::{Graph, NodeId, Op};
use crate::terminal::{Cells, Rect};
use crate::text::ScreenWidth;

use super::matrix::{HEAD, Shown};
use super::{Board, Hit, PLAIN};

/// The columns of a matrix that are shown at least.
const FEWEST_COLUMNS: usize = 2;

/// The sign before a matrix, and the matrix.
type Place<'a> = (&'static str, Shown<'a>);

/// The matrices of a step, and where they stand.
pub(super) struct Wall<'a> {
    places: Vec<Place<'a>>,
    plan: Plan,
}

impl<'a> Wall<'a> {
    /// The matrices around the cursor in this room.
    pub fn new(board: &'a Board<'a>, room: Room) -> Wall<'a> {
        let (places, marks) = (places(board), &board.marks);
        let is_current = |(_, shown): &Place<'_>| !shown.is_beside && shown.node == marks.cursor.node;
        let current = places.iter().position(is_current).unwrap_or(0);
        let is_chosen = |place: &usize| marks.chosen.is_some_and(|cell| cell.node == places[*place].1.node);
        let (first, others): (Vec<usize>, Vec<usize>) = (0..current).rev().partition(is_chosen);
        let size = |(_, shown): &Place<'_>| {
            let widths = shown.widths(room.height);
            let below = shown.moved_rows(room.height);
            let rows = shown.size().0;
            Size { whole: widths.whole(), least: widths.with(FEWEST_COLUMNS), rows, below }
        };
        let sizes = places.iter().map(size).collect();
        let operands = first.into_iter().chain(others).collect();
        let is_even = board.state.beside().is_some();
        let plan = Equation { sizes, current, operands, is_even }.plan(room);
        Wall { places, plan }
    }

    /// Whether there is room for the map too.
    pub fn has_map(&self) -> bool {
        self.plan.has_map
    }

    /// Draws the matrices; returns where their cells are.
    pub fn draw(&self, board: &Board<'_>, cells: &mut Cells, area: Rect) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut y = area.y;
        for (number, line) in self.plan.lines.iter().enumerate() {
            let mut x = area.x;
            let height = line.height as u16;
            let middles = line.places.iter().map(|(place, _)| self.places[*place].1.middle(line.height));
            let middle = y + middles.max().unwrap_or(0) as u16;
            let most = self.same_columns(board, line);
            for (at, &(place, width)) in line.places.iter().enumerate() {
                let (sign, shown) = &self.places[place];
                // The second line begins with its sign.
                if at + number > 0 {
                    let gap = self.plan.gap as u16;
                    let sign = board.spelled(sign);
                    let start = x + gap / 2 - sign.width() as u16 / 2;
                    board.put(cells, (start, middle), gap, &sign, PLAIN);
                    x += gap;
                }
                let place = Rect { x, y, width: width as u16, height };
                hits.extend(shown.draw(cells, place, most));
                x += width as u16;
            }
            y += height;
        }
        hits
    }

    /// The most columns that each matrix shows: beside an earlier state both show the same ones.
    fn same_columns(&self, board: &Board<'_>, line: &Line) -> usize {
        if board.state.beside().is_none() {
            return usize::MAX;
        }
        let columns =
            |&(place, width): &(usize, usize)| self.places[place].1.widths(line.height).fitting(width);
        line.places.iter().map(columns).min().unwrap_or(usize::MAX)
    }
}

/// The matrices in their order: `Q · Kᵀ = S`, `S → S_scaled`; beside an earlier state, the matrix as it was and as it is.
fn places<'a>(board: &'a Board<'a>) -> Vec<Place<'a>> {
    let Board { state, marks, .. } = board;
    let graph = state.graph();
    let node = state.cursor().node;
    let shown = |graph: &'a Graph, node: NodeId, turned: bool, more: &str| {
        let of = &graph[node];
        let transposed = if turned { "ᵀ" } else { "" };
        let shape = of.shape();
        let shape = if turned { format!("{}×{}", shape.cols, shape.rows) } else { shape.to_string() };
        let open = if of.tensor().is_none() { " (never formed)" } else { "" };
        let title = board.spelled(&format!("{}{transposed} {shape}{more}{open}", of.name));
        Shown { board, graph, node, turned, title, is_beside: !std::ptr::eq(graph, state.graph()) }
    };
    if let Some((before, changes)) = state.beside()
        && let Some(there) = before.find(&graph[node].name)
    {
        let said = if changes.is_nothing() { " at the start" } else { " before" };
        return vec![("", shown(before, there, false, said)), ("│", shown(graph, node, false, " now"))];
    }
    let op = &graph[node].op;
    let inputs = &graph[node].inputs;
    let sign = match op {
        Op::Product
        | Op::ProductTransposed
        | Op::TransposedProduct
        | Op::Linear(_)
        | Op::Multiply
        | Op::Times => "·",
        Op::Add => "+",
        Op::Subtract => "−",
        Op::Divide | Op::Quotient => "/",
        _ => ",",
    };
    // Of many operands those that are read, and the one that is chosen.
    let is_read = |input: &&NodeId| inputs.len() <= 3 || marks.read.contains(input);
    let mut operands: Vec<NodeId> = inputs.iter().filter(is_read).copied().collect();
    operands.dedup();
    let mut all: Vec<Place<'a>> = Vec::new();
    for (number, input) in operands.iter().enumerate() {
        let turned = matches!(op, Op::ProductTransposed) && number > 0
            || matches!(op, Op::TransposedProduct) && number == 0
            || matches!(op, Op::Linear(crate::attention::WeightLayout::OutIn)) && number == 1;
        all.push((if number == 0 { "" } else { sign }, shown(graph, *input, turned, "")));
    }
    // A product of a matrix with itself has two places.
    if matches!(op, Op::ProductTransposed) && operands.len() == 1 {
        all.push((sign, shown(graph, operands[0], true, "")));
    }
    let equals = if all.len() > 1 { "=" } else { "→" };
    all.push((equals, shown(graph, node, false, "")));
    if let Some(&reader) = marks.readers.first() {
        all.push(("→", shown(graph, reader, false, "")));
    }
    all
}

// The places of matrices: an equation on one line, on two, or without its largest operands where nothing else fits.

/// Two lines of matrices have at least this many rows of numbers each.
const FEWEST_ROWS: usize = 3;
/// The columns between two matrices, with a sign in the middle; the narrow ones where room is short.
const GAPS: [usize; 2] = [5, 3];

/// The size of a matrix on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// The columns for all of it.
    pub whole: usize,
    /// The columns for the least of it that says something.
    pub least: usize,
    /// Its rows of numbers.
    pub rows: usize,
    /// The lines that it fills with old numbers where there is room.
    pub below: usize,
}

/// What is to be laid out: operands from the left, the current matrix, and what reads it.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub sizes: Vec<Size>,
    /// The place of the current matrix.
    pub current: usize,
    /// The places of the operands, the one that matters most first.
    pub operands: Vec<usize>,
    /// Whether the matrices are the same one at two times, which share the room evenly.
    pub is_even: bool,
}

/// The room for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub width: usize,
    pub height: usize,
    /// The columns of the map, which gives way where an equation needs them; 0 for no map.
    pub map: usize,
}

impl Room {
    /// The columns beside the map, or without it.
    fn beside(self, has_map: bool) -> usize {
        if has_map { self.width - self.map } else { self.width }
    }
}

/// Matrices beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The places and their widths, from the left.
    pub places: Vec<(usize, usize)>,
    pub height: usize,
}

/// Where everything stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub has_map: bool,
    pub gap: usize,
    pub lines: Vec<Line>,
}

impl Equation {
    /// The first of these that has room: all of the equation, on one line or two, beside the map or without it; a part of each
    /// matrix, on one line or two; and at last the current matrix with the operands that fit.
    pub fn plan(&self, room: Room) -> Plan {
        let maps = [true, false].into_iter().filter(|has_map| room.map > 0 || !has_map);
        let one = |has_map, least| self.on_one_line(has_map, room, least);
        let two = |has_map, least| self.on_two_lines(has_map, room, least);
        let mut whole = maps.clone().flat_map(|has_map| [one(has_map, false), two(has_map, false)]).flatten();
        // Of large matrices more rows are seen on one line.
        let parts = |plan: &dyn Fn(bool) -> Option<Plan>| maps.clone().find_map(plan);
        let part = || parts(&|has_map| one(has_map, true)).or_else(|| parts(&|has_map| two(has_map, true)));
        whole.next().or_else(part).unwrap_or_else(|| {
            let most = maps.clone().map(|has_map| self.as_many_as_fit(has_map, room));
            // Of two with as many matrices the first one, which has the map.
            most.reduce(|first, next| if next.count() > first.count() { next } else { first })
                .unwrap_or(Plan { has_map: false, gap: GAPS[0], lines: Vec::new() })
        })
    }

    /// The columns of some matrices, whole or the least of them.
    fn width(&self, places: &[usize], gap: usize, is_least: bool) -> usize {
        let width = |&place: &usize| if is_least { self.least(place) } else { self.sizes[place].whole };
        places.iter().map(width).sum::<usize>() + gap * places.len().saturating_sub(1)
    }

    fn least(&self, place: usize) -> usize {
        self.sizes[place].least.min(self.sizes[place].whole)
    }

    /// The current matrix, and its operands in the order of their importance.
    fn order(&self) -> Vec<usize> {
        [&[self.current], &self.operands[..]].concat()
    }

    /// All on one line. `None` if they have no room.
    fn on_one_line(&self, has_map: bool, room: Room, is_least: bool) -> Option<Plan> {
        let width = room.beside(has_map);
        let gap = GAPS.into_iter().find(|&gap| self.width(&self.order(), gap, is_least) <= width)?;
        let mut places = self.shared(self.order(), gap, width);
        self.add_readers(&mut places, gap, width);
        Some(Plan { has_map, gap, lines: vec![Line { places, height: room.height }] })
    }

    /// The operands on one line, and below them the current matrix. `None` if they have no room.
    fn on_two_lines(&self, has_map: bool, room: Room, is_least: bool) -> Option<Plan> {
        let ([gap, _], width) = (GAPS, room.beside(has_map));
        let rows = |places: &[usize]| {
            let all = places.iter().map(|&place| self.sizes[place].rows).max().unwrap_or(0);
            HEAD + if is_least { all.min(FEWEST_ROWS) } else { all }
        };
        let [above, below] = [rows(&self.operands), rows(&[self.current])];
        let fits = self.operands.len() >= 2
            && above + below <= room.height
            && self.width(&self.operands, gap, is_least) <= width
            && self.width(&[self.current], gap, is_least) + gap <= width;
        if !fits {
            return None;
        }
        // Large matrices share what is left; others need a rule and an empty line.
        let left = room.height - above - below;
        let wanted = self.sizes[self.current].below;
        let more = if is_least { left / 2 } else { left.saturating_sub(wanted).max(1).min(left).min(2) };
        let operands = self.shared(self.operands.clone(), gap, width);
        let mut result = self.shared(vec![self.current], gap, width - gap);
        self.add_readers(&mut result, gap, width - gap);
        let lines = vec![
            Line { places: operands, height: above + more },
            Line { places: result, height: below + left - more },
        ];
        Some(Plan { has_map, gap, lines })
    }

    /// The widths of matrices that share a line: each has the least, and then the first ones take what is left.
    fn shared(&self, order: Vec<usize>, gap: usize, width: usize) -> Vec<(usize, usize)> {
        let mut left = width.saturating_sub(self.width(&order, gap, true));
        if self.is_even {
            let even = (left + self.width(&order, 0, true)) / order.len().max(1);
            let share = |place: usize| (place, self.sizes[place].whole.min(even));
            let mut places: Vec<_> = order.into_iter().map(share).collect();
            places.sort_unstable();
            return places;
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        for place in order {
            let more = (self.sizes[place].whole - self.least(place)).min(left);
            left -= more;
            places.push((place, self.least(place) + more));
        }
        places.sort_unstable();
        places
    }

    /// Adds what reads the current matrix, as far as there is room.
    fn add_readers(&self, places: &mut Vec<(usize, usize)>, gap: usize, width: usize) {
        for reader in self.current + 1..self.sizes.len() {
            let taken: usize = places.iter().map(|(_, width)| width + gap).sum();
            let room = self.sizes[reader].whole.min(width.saturating_sub(taken));
            if room >= self.sizes[reader].least {
                places.push((reader, room));
            }
        }
    }

    /// The current matrix, and those operands that fit beside it.
    fn as_many_as_fit(&self, has_map: bool, room: Room) -> Plan {
        let ([_, gap], width) = (GAPS, room.beside(has_map));
        let mut order = vec![self.current];
        for &operand in &self.operands {
            if self.width(&[&order[..], &[operand]].concat(), gap, true) <= width {
                order.push(operand);
            }
        }
        let places = self.shared(order, gap, width);
        let places = places.into_iter().map(|(place, wanted)| (place, wanted.min(width))).collect();
        Plan { has_map, gap, lines: vec![Line { places, height: room.height }] }
    }
}

impl Plan {
    /// The number of matrices.
    fn count(&self) -> usize {
        self.lines.iter().map(|line| line.places.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equation(widths: [usize; 3], rows: usize) -> Equation {
        let size = |whole: usize| Size { whole, least: whole.min(20), rows, below: 0 };
        Equation { sizes: widths.map(size).to_vec(), current: 2, operands: vec![0, 1], is_even: false }
    }

    fn places(plan: &Plan) -> Vec<Vec<usize>> {
        plan.lines.iter().map(|line| line.places.iter().map(|(place, _)| *place).collect()).collect()
    }

    const ROOM: Room = Room { width: 80, height: 13, map: 13 };

    #[test]
    fn an_equation_stands_on_one_line_then_on_two_then_without_the_map() {
        let small = equation([15, 15, 20], 3).plan(ROOM);
        assert!(small.has_map && small.gap == 5 && places(&small) == [vec![0, 1, 2]], "{small:?}");
        let narrow = equation([20, 20, 20], 3).plan(ROOM);
        assert!(narrow.has_map && narrow.gap == 3 && places(&narrow) == [vec![0, 1, 2]], "{narrow:?}");
        let two = equation([31, 25, 25], 3).plan(ROOM);
        assert!(two.has_map && places(&two) == [vec![0, 1], vec![2]], "{two:?}");
        assert_eq!(two.lines.iter().map(|line| line.height).sum::<usize>(), 13);
        let high = equation([25, 25, 24], 8).plan(ROOM);
        assert!(!high.has_map && places(&high) == [vec![0, 1, 2]], "{high:?}");
    }

    #[test]
    fn of_large_matrices_each_shows_a_part() {
        let large = equation([200, 30, 30], 16).plan(ROOM);
        assert_eq!(places(&large), [vec![0, 1, 2]]);
        let width: usize = large.lines[0].places.iter().map(|(_, width)| width).sum();
        assert!(width + 2 * large.gap <= 67, "{large:?}");
        assert_eq!(large.lines[0].places[2].1, 21, "the result is whole where it can be: {large:?}");
    }

    #[test]
    fn a_matrix_at_two_times_has_the_same_room_twice() {
        let size = |whole: usize| Size { whole, least: 20, rows: 5, below: 0 };
        let sizes = vec![size(120), size(121)];
        let plan = Equation { sizes, current: 1, operands: vec![0], is_even: true }.plan(ROOM);
        let [(0, left), (1, right)] = plan.lines[0].places[..] else { panic!("{plan:?}") };
        assert!(left == right && left > 25, "{plan:?}");
    }

    #[test]
    fn nothing_is_wider_than_the_room() {
        for widths in [[5, 5, 5], [31, 25, 25], [90, 40, 300], [12, 200, 12], [61, 61, 61]] {
            for (width, height, map) in [(60, 7, 0), (76, 9, 18), (80, 13, 13), (120, 27, 25), (300, 40, 20)]
            {
                for rows in [1, 3, 16, 100] {
                    let plan = equation(widths, rows).plan(Room { width, height, map });
                    let free = width - if plan.has_map { map } else { 0 };
                    assert!(plan.lines.iter().map(|line| line.height).sum::<usize>() <= height);
                    for (number, line) in plan.lines.iter().enumerate() {
                        let gaps = plan.gap * (line.places.len() - 1 + number);
                        let taken: usize = line.places.iter().map(|(_, width)| width).sum();
                        assert!(taken + gaps <= free, "{widths:?} {width}: {plan:?}");
                    }
                    assert!(plan.lines.iter().flat_map(|line| &line.places).any(|(place, _)| *place == 2));
                }
            }
        }
    }
}
