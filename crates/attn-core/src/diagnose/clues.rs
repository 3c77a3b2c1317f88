//! Clues in numbers that no mistake explains.

use crate::graph::{Stage, Step};
use crate::matrix::Matrix;
use crate::text::counted;

use super::answer::Part;
use super::catalogue::numbers::number;
use super::compare::{CellTolerance, Tolerance, distance, ends, residual, spread};
use super::diagnosis::{Clue, Resemblance, capital};
use super::implied_weights::{self, BIAS_OF_QUERIES};
use super::task::standing_for;
use super::{Task, catalogue};

impl Clue {
    /// A clue without a usual cause.
    fn of(sentence: impl Into<String>) -> Clue {
        Clue { sentence: sentence.into(), cause: None }
    }

    /// The clue with its usual cause.
    fn because(self, cause: impl Into<String>) -> Clue {
        Clue { cause: Some(cause.into()), ..self }
    }

    /// A possible cause without proof: “a bias of the keys”.
    pub(super) fn consistent_with(what: &str) -> Clue {
        Clue::of(format!("The numbers are consistent with {what}."))
    }

    /// Every row of O is a sum of the right values, with other weights.
    pub(super) fn other_weights() -> Clue {
        Clue::of(
            "Every row of O is a sum of the right values: the values are right, and their weights are not.",
        )
    }

    /// Weights that dropout would leave.
    pub(super) fn dropout() -> Clue {
        let clue = Clue::of(
            "The numbers are consistent with dropout of the weights, which sets some to 0 and makes the others larger.",
        );
        Clue { cause: catalogue::find("dropout").ok().map(|dropout| dropout.fix.clone()), ..clue }
    }

    /// Some heads (from 0) are wrong, and the others are right.
    fn some_heads(node: &str, heads: &[usize]) -> Clue {
        let verb = if heads.len() == 1 { "is" } else { "are" };
        Clue::of(format!("Only {} of {node} {verb} wrong; the other heads are right.", listed("head", heads)))
    }

    /// Some rows, or columns (from 0), are wrong, and the others are right.
    fn some_lines(what: &str, node: &str, wrong: &[usize]) -> Clue {
        let (count, first) = (wrong.len(), wrong[0] + 1);
        Clue::of(match count {
            1 => format!("Only {what} {first} of {node} is wrong; the others are right."),
            _ => format!(
                "Only {count} {what}s of {node} are wrong, the first of them {what} {first}; the others are right."
            ),
        })
    }
}

/// “row 3”, “rows 1, 2, 5”: the places from 0.
fn listed(what: &str, places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().take(6).map(|place| (place + 1).to_string()).collect();
    let more = if places.len() > 6 { " …" } else { "" };
    let plural = if places.len() == 1 { "" } else { "s" };
    format!("{what}{plural} {}{more}", numbers.join(", "))
}

/// The clues in a part, the strongest first.
pub(super) fn clues(task: &Task, part: &Part<'_>, tolerance: &Tolerance) -> Vec<Clue> {
    const MOST: usize = 3;
    let mut all: Vec<Clue> = wrong_heads(task, part, tolerance).into_iter().collect();
    all.extend(implied_weights::clue(task, part, tolerance));
    let joined = task.recipe().heads;
    for (node, yours) in &part.matrices {
        let right = standing_for(task.right(), node);
        let allowed = CellTolerance::between(part.answer, right.unwrap_or(yours), tolerance);
        let is_joined =
            node == "C" || (node == "O" && !task.facts().projects && !task.recipe().output.residual);
        let heads = if is_joined { joined } else { 1 };
        let one = AnswerMatrix { task, node, yours, right, allowed, heads };
        one.not_finite(&mut all);
        if one.stage() == Some(Stage::Weights) {
            one.weights(&mut all);
        }
        if let Some(right) = right.filter(|right| right.shape() == yours.shape()) {
            one.beside(right, &mut all);
        }
        one.rows(&mut all);
        if all.len() >= MOST {
            break;
        }
    }
    // Matrices of a stack may have the same clue.
    let mut clues: Vec<Clue> = Vec::new();
    for clue in all {
        if !clues.contains(&clue) {
            clues.push(clue);
        }
    }
    clues.truncate(MOST);
    clues
}

/// Of several heads, those that are wrong, if others are right.
fn wrong_heads(task: &Task, part: &Part<'_>, tolerance: &Tolerance) -> Option<Clue> {
    let is_wrong = |(node, yours): &(String, &Matrix)| {
        let right = standing_for(task.right(), node);
        right.is_some_and(|right| {
            residual(yours, right, CellTolerance::between(part.answer, right, tolerance)).is_none()
        })
    };
    let all: Vec<bool> = part.matrices.iter().map(is_wrong).collect();
    let wrong: Vec<usize> = (0..all.len()).filter(|&head| all[head]).collect();
    let some = all.len() > 1 && all.len() == part.expected && !wrong.is_empty() && wrong.len() < all.len();
    some.then(|| Clue::some_heads(&part.answer.name, &wrong))
}

/// One matrix that was handed in.
struct AnswerMatrix<'a> {
    task: &'a Task,
    node: &'a str,
    yours: &'a Matrix,
    right: Option<&'a Matrix>,
    allowed: CellTolerance,
    /// The number of heads side by side in it.
    heads: usize,
}

impl AnswerMatrix<'_> {
    fn stage(&self) -> Option<Stage> {
        Step::parse(self.node).map(|step| step.stage)
    }

    fn is_scores(&self) -> bool {
        self.stage().is_some_and(Stage::is_scores)
    }

    fn same(&self, a: f64, b: f64) -> bool {
        distance(a, b) <= self.allowed.around(b)
    }

    fn has_nan(&self) -> bool {
        self.yours.cells().any(f64::is_nan)
    }

    fn not_finite(&self, all: &mut Vec<Clue>) {
        let node = self.node;
        let cells = |is: fn(f64) -> bool| self.yours.cells().filter(|x| is(*x)).count();
        let (nan, infinite) = (cells(f64::is_nan), cells(f64::is_infinite));
        if nan > 0 {
            let is_nan = |row: &usize| self.yours.row(*row).all(f64::is_nan);
            let rows: Vec<usize> = (0..self.yours.rows()).filter(is_nan).collect();
            all.push(match rows[..] {
                [] => Clue::of(format!("{node} has NaN in {}.", counted(nan, "cell"))).because(
                    "0 times −∞ is NaN: set the hidden scores with np.where(mask, S, -np.inf), and do not multiply a mask by −∞.",
                ),
                _ => Clue::of(format!("{node} is NaN in {}.", listed("row", &rows))).because(of_nan_rows(self.task)),
            });
        }
        if infinite > 0 && self.right.is_none_or(|right| right.cells().all(f64::is_finite)) {
            let clue = match infinite {
                1 => format!("{node} has an infinite number in 1 cell."),
                _ => format!("{node} has infinite numbers in {infinite} cells."),
            };
            all.push(Clue::of(clue).because(overflow(self.task)));
        }
    }

    fn weights(&self, all: &mut Vec<Clue>) {
        let node = self.node;
        let sum = |cells: &mut dyn Iterator<Item = f64>| cells.fold(0.0, |sum, x| sum + x);
        let rows: Vec<f64> = (0..self.yours.rows()).map(|i| sum(&mut self.yours.row(i))).collect();
        let columns: Vec<f64> = (0..self.yours.cols()).map(|j| sum(&mut self.yours.col(j))).collect();
        let near = 1e-6 + self.allowed.rounding() * self.yours.cols().max(self.yours.rows()) as f64;
        let are_one = |sums: &[f64]| sums.iter().all(|sum| (sum - 1.0).abs() <= near || *sum == 0.0);
        let ends = |sums: &mut dyn Iterator<Item = f64>| ends(sums.filter(|x| x.is_finite()));
        // A sum with NaN is no evidence, and beside a sink the right weights do not sum to 1 either.
        let right_sums =
            |right: &Matrix| (0..right.rows()).map(|i| sum(&mut right.row(i))).collect::<Vec<f64>>();
        let has_sums = !self.has_nan() && self.right.is_none_or(|right| are_one(&right_sums(right)));
        if has_sums && !are_one(&rows) && are_one(&columns) {
            let clue = Clue::of(format!("The columns of {node} sum to 1, but its rows should."));
            all.push(clue.because("The softmax ran along the wrong axis: use axis=-1."));
        } else if has_sums && !are_one(&rows) {
            let is_wrong = |row: &usize| !are_one(&rows[*row..=*row]);
            let wrong_rows: Vec<usize> = (0..rows.len()).filter(is_wrong).collect();
            let (low, high) = ends(&mut wrong_rows.iter().map(|&row| rows[row]));
            if low <= high {
                let sums = if high - low <= near {
                    format!("to {}", number(low))
                } else {
                    format!("to numbers from {} to {}", number(low), number(high))
                };
                let clue = match wrong_rows[..] {
                    _ if wrong_rows.len() == rows.len() => {
                        format!("The rows of {node} sum {sums}, not to 1.")
                    }
                    [row] => format!("Row {} of {node} sums {sums}, not to 1.", row + 1),
                    _ => format!("{} of {node} sum {sums}, not to 1.", capital(&listed("row", &wrong_rows))),
                };
                all.push(Clue::of(clue).because(
                    "A softmax divides each row of exp(S) by its own sum; look at that division, and at what comes after it.",
                ));
            }
        }
        let (low, high) = ends(&mut self.yours.cells());
        let cause = "A softmax gives numbers from 0 to 1: check that A comes after it.";
        if low < -near {
            let low = number(low);
            let clue = format!("{node} has negative weights, down to {low}; a softmax gives none below 0.");
            all.push(Clue::of(clue).because(cause));
        }
        if high > 1.0 + near {
            let high = number(high);
            let clue = format!("{node} has weights above 1, up to {high}; a softmax gives none above 1.");
            all.push(Clue::of(clue).because(cause));
        }
    }

    /// Clues from a comparison with the right numbers.
    fn beside(&self, right: &Matrix, all: &mut Vec<Clue>) {
        let (node, rows, cols) = (self.node, self.yours.rows(), self.yours.cols());
        let row_is = |i: usize, k: usize| (0..cols).all(|j| self.same(self.yours[(i, j)], right[(k, j)]));
        let column_is = |j: usize| (0..rows).all(|i| self.same(self.yours[(i, j)], right[(i, j)]));
        let wrong: Vec<usize> = (0..rows).filter(|&i| !row_is(i, i)).collect();
        let order: Option<Vec<usize>> = (0..rows).map(|i| (0..rows).find(|&k| row_is(i, k))).collect();
        match order {
            // Rows in their own order say nothing.
            _ if wrong.is_empty() => {}
            Some(order) if cols > 0 => {
                let order: Vec<String> = order.iter().map(|row| (row + 1).to_string()).collect();
                let order = order.join(" ");
                all.push(Clue::of(format!("The rows of {node} are right, but in the order {order}.")));
            }
            _ if wrong.len() < rows => {
                all.push(Clue::some_lines("row", node, &wrong));
                all.extend(self.where_weights_matter(&wrong));
            }
            _ => {
                let wrong: Vec<usize> = (0..cols).filter(|&j| !column_is(j)).collect();
                let heads = self.heads_of(&wrong, cols);
                if self.heads > 1 && heads.len() < self.heads {
                    all.push(Clue::some_heads(node, &heads));
                } else if wrong.len() < cols {
                    all.push(Clue::some_lines("column", node, &wrong));
                }
            }
        }
        self.noisy(right, all);
        let opposite = self.yours.cells().zip(right.cells()).filter(|(a, b)| a * b < 0.0).count();
        if opposite * 10 > rows * cols * 8 {
            all.push(Clue::of(format!("Most numbers of {node} have the wrong sign.")));
        }
        if self.is_scores() {
            self.shifted(right, all);
        }
    }

    /// Rows of a result that see one key alone have the weight 1, whatever its score is: where they are right and no other row is, the
    /// weights are wrong, or what they are made of.
    fn where_weights_matter(&self, wrong: &[usize]) -> Option<Clue> {
        let (right, heads) = (self.task.right(), self.task.recipe().heads);
        let of_head = |head: usize| {
            let weights = Stage::Weights.of_head((heads > 1).then_some(head)).to_string();
            right[right.find(&weights)?].matrix()
        };
        let all: Vec<&Matrix> = (1..=heads).map(of_head).collect::<Option<_>>()?;
        let sees_one =
            |row: usize| all.iter().all(|weights| weights.row(row).filter(|x| *x != 0.0).count() == 1);
        let is_it =
            self.node == "O" && (0..self.yours.rows()).all(|row| wrong.contains(&row) != sees_one(row));
        is_it.then(|| {
            Clue::of(
                "The rows that see one key alone are right, and no others: the values are right, and the error lies in the weights or \
                 before them, in queries, keys, positions, scores or mask.",
            )
        })
    }

    /// The heads that these columns belong to.
    fn heads_of(&self, columns: &[usize], cols: usize) -> Vec<usize> {
        let width = (cols / self.heads).max(1);
        let mut heads: Vec<usize> = columns.iter().map(|column| column / width).collect();
        heads.dedup();
        heads
    }

    /// Numbers that are all a little off, in both directions.
    fn noisy(&self, right: &Matrix, all: &mut Vec<Clue>) {
        /// Noise moves numbers by less than this share of their spread.
        const LITTLE: f64 = 0.05;
        let is_moved = |i: usize| {
            let mut cells = self.yours.row(i).zip(right.row(i));
            cells.any(|(yours, right)| !self.same(yours, right))
        };
        let moved = || self.yours.cells().zip(right.cells()).map(|(yours, right)| yours - right);
        let ends = || moved().fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let (low, high) = ends();
        let is_little = high.max(-low) <= LITTLE * spread(right);
        // Noise would not leave sums of the right values, and it would not be where the mask hides and nowhere else.
        let is_mixed = all.contains(&Clue::other_weights());
        let is_hidden = |(yours, right): (f64, f64)| right == 0.0 && yours != 0.0;
        let is_mixed = is_mixed || self.yours.cells().zip(right.cells()).any(is_hidden);
        if moved().all(f64::is_finite)
            && !is_mixed
            && is_little
            && low < 0.0
            && high > 0.0
            && (0..right.rows()).all(is_moved)
        {
            all.push(Clue::consistent_with("noise, or with numbers that were rounded on the way"));
        }
    }

    /// Scores that differ by one number down each column: a bias of the queries gives that, among other things.
    fn shifted(&self, right: &Matrix, all: &mut Vec<Clue>) {
        let moved = |i: usize, j: usize| self.yours[(i, j)] - right[(i, j)];
        let near = |i: usize, j: usize| self.allowed.around(right[(i, j)]);
        let (rows, cols) = (self.yours.rows(), self.yours.cols());
        let columns =
            (0..cols).all(|j| (0..rows).all(|i| (moved(i, j) - moved(0, j)).abs() <= 2.0 * near(i, j)));
        if rows > 1 && columns {
            all.push(Clue::consistent_with(BIAS_OF_QUERIES));
        }
    }

    fn rows(&self, all: &mut Vec<Clue>) {
        let (node, rows, cols) = (self.node, self.yours.rows(), self.yours.cols());
        let equal = |a: usize, b: usize| self.yours.row(a).eq(self.yours.row(b));
        let right_equal = |a: usize, b: usize| {
            self.right.is_some_and(|right| right.rows() == rows && right.row(a).eq(right.row(b)))
        };
        if rows > 1 && (1..rows).all(|i| equal(0, i)) && !(1..rows).all(|i| right_equal(0, i)) {
            let clue = format!("All rows of {node} are equal: the queries make no difference.");
            all.push(Clue::of(clue));
        } else if rows <= 64 {
            let mut pairs = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
            let twins = pairs.find(|&(a, b)| cols > 0 && equal(a, b) && !right_equal(a, b));
            let clue = |(a, b)| Clue::of(format!("Rows {} and {} of {node} are equal.", a + 1, b + 1));
            all.extend(twins.map(clue));
        }
        let mirrors = |of: &Matrix| {
            (of.rows(), of.cols()) == (rows, rows)
                && (0..rows).all(|i| (0..i).all(|j| self.same(of[(i, j)], of[(j, i)])))
        };
        let symmetric =
            rows > 1 && !self.has_nan() && mirrors(self.yours) && !self.right.is_some_and(mirrors);
        if symmetric && (self.is_scores() || self.stage() == Some(Stage::Weights)) {
            let clue = format!("{node} equals its own transpose, as if queries and keys were the same.");
            all.push(Clue::of(clue));
        }
    }
}

/// exp of more than this overflows in single precision, and then ∞/∞ is NaN.
const OVERFLOWS: f64 = 88.7;

/// The usual cause of what stands out, with a fix; `None` where there is no usual cause.
pub fn cause(task: &Task, resembles: Option<&Resemblance>, clues: &[Clue]) -> Option<String> {
    match resembles {
        Some(Resemblance::NotANumber) => Some(of_nan_rows(task)),
        _ => clues.iter().find_map(|clue| clue.cause.clone()),
    }
}

fn of_nan_rows(task: &Task) -> String {
    if task.facts().max_score > OVERFLOWS {
        return overflow(task);
    }
    "Two things usually make a whole row NaN: exp overflowed (subtract each row's maximum first), or the mask leaves the row \
     nothing to attend to (0 divided by 0)."
        .into()
}

fn overflow(task: &Task) -> String {
    let score = task.facts().max_score;
    if score > OVERFLOWS {
        format!("exp overflowed: the largest score is {score:.0}. Subtract each row's maximum before exp.")
    } else {
        "exp usually overflows so: subtract each row's maximum before exp.".into()
    }
}
