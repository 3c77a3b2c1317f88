//! The cross-entropy of logits and the targets of their rows.

use crate::attention::{Axis, Base};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::detours::Detour;
use crate::graph::{BackwardPass, BackwardSteps, Factor, Gradients, Graph, NodeId, Op, Origin, Stage, Start};
use crate::matrix::{Matrix, Shape};
use crate::text::counted;

/// Adds the mean cross-entropy of logits and targets, `L = −(1/n) Σ ln softmax(logits)[i, target of i]` over the n rows that have a
/// target: how surprising the targets are. A target is a column, from 0; a row without one does not count.
///
/// The steps are `Y` (1 at the target of each row), `Y_hat` (the probabilities, the softmax of each row), `L_all` (the loss of each
/// row, if this column were its target: `−ln Y_hat`, exact where a probability is near 0 or 1), `L_target` (that of the targets
/// alone), `L_rows` (one loss for each row), `L_sum` and `L`. The gradient of the logits comes out as `(Y_hat − Y) / n`, and as 0 in
/// rows that do not count.
///
/// # Shapes
/// The logits are (T, N), and there are T targets; L is one number.
/// # Errors
/// If the number of targets is not T, one of them is not a column, no row counts, the names are taken, or there is no room.
/// # Source
/// Goodfellow et al., “Deep Learning”, section 6.2.2.3.
pub fn cross_entropy(graph: &mut Graph, logits: NodeId, targets: &[Option<usize>]) -> Result<NodeId> {
    let counted = targets.iter().flatten().count();
    Ok(cross_entropy_in_batch(graph, logits, targets, counted)?.loss)
}

/// The nodes of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossEntropy {
    /// `Y`, 1 at the target of each row.
    pub one_hot: NodeId,
    /// `L_sum`, over all rows.
    pub sum: NodeId,
    /// `L`.
    pub loss: NodeId,
}

/// The part of [`cross_entropy`] that one example of a batch has: its sum is divided by `counted`, the number of rows with a target
/// in the whole batch, so that the losses and the gradients of all examples add up to those of the batch.
///
/// # Errors
/// Those of [`cross_entropy`].
pub fn cross_entropy_in_batch(
    graph: &mut Graph,
    logits: NodeId,
    targets: &[Option<usize>],
    counted: usize,
) -> Result<CrossEntropy> {
    let shape = graph[logits].shape();
    check(&graph[logits].name, shape, targets)?;
    let one_hot = |i: usize, j: usize| if targets[i] == Some(j) { 1.0 } else { 0.0 };
    let one_hot = Matrix::from_fn(shape.rows, shape.cols, one_hot);
    let (rows, cols) = graph[logits].labels();
    let one_hot = one_hot.labelled_by(rows, cols);
    let begun = graph.nodes().count();
    let one_hot = graph.given("Y", one_hot, Origin::Stated)?;
    graph.add("Y_hat", Op::Softmax(Axis::Rows, Base::E), &[logits])?;
    let all = graph.add("L_all", Op::NegativeLogSoftmax, &[logits])?;
    let of_targets = graph.add("L_target", Op::Multiply, &[one_hot, all])?;
    let of_rows = graph.add("L_rows", Op::Sums(Axis::Rows), &[of_targets])?;
    let sum = graph.add("L_sum", Op::Sums(Axis::Whole), &[of_rows])?;
    let loss = graph.add("L", Op::Scale(Factor::Inverse(counted)), &[sum])?;
    let added: Vec<NodeId> = graph.nodes().map(|(id, _)| id).skip(begun).collect();
    added.into_iter().for_each(|id| graph.mark(id, Stage::Loss));
    Ok(CrossEntropy { one_hot, sum, loss })
}

/// Refuses targets that do not fit.
fn check(name: &str, shape: Shape, targets: &[Option<usize>]) -> Result<()> {
    let refused = |what: String, help: String| Err(Error::new(what).of_kind(ErrorKind::Shape).help(help));
    if targets.len() != shape.rows {
        let there = counted(targets.len(), "target");
        return refused(
            format!("there is {there}, but {name} has {}", counted(shape.rows, "row")),
            format!("give one target for each row of {name}"),
        );
    }
    if let Some((row, target)) = targets
        .iter()
        .enumerate()
        .find_map(|(row, target)| target.filter(|target| *target >= shape.cols).map(|target| (row, target)))
    {
        return refused(
            format!(
                "the target of row {} is column {}, but {name} has {}",
                row + 1,
                target + 1,
                counted(shape.cols, "column")
            ),
            format!("a target is a column of {name}"),
        );
    }
    if targets.iter().all(Option::is_none) {
        return refused("no row has a target, so there is no loss".into(), "give a row a target".into());
    }
    Ok(())
}

// The backward pass after a pipeline of attention: it is added whenever the pipeline is computed.

impl BackwardPass {
    /// Adds the loss, where it is none of the steps, and the gradients of all given matrices.
    ///
    /// # Errors
    /// If the step is not there, the start or the targets do not fit, a step between has no gradient, or there is no room.
    pub fn add(&self, graph: &mut Graph) -> Result<()> {
        self.add_with(graph, &[]).map(|_| ())
    }

    /// The same with some steps done otherwise than they should be.
    ///
    /// # Errors
    /// Those of [`BackwardPass::add`], and if matrices do not fit a step that is done otherwise; what could be computed before is
    /// there.
    pub fn add_with(&self, graph: &mut Graph, detours: &[Detour]) -> Result<Gradients> {
        let of: Vec<NodeId> =
            graph.nodes().filter(|(_, node)| node.op.is_given()).map(|(id, _)| id).collect();
        let begun = graph.nodes().count();
        let (loss, start) = match self {
            BackwardPass::From(step, start) => (graph.require(step)?, Start::clone(start)),
            BackwardPass::CrossEntropy(targets) => {
                let logits = graph.require(Stage::Output.name())?;
                (cross_entropy(graph, logits, targets)?, Start::Ones)
            }
        };
        let steps = graph.nodes().map(|(id, _)| id).skip(begun).collect();
        let gradients = graph.gradients_with(loss, start, &of, detours)?;
        graph.ends_with(BackwardSteps { pass: self.clone(), loss: steps, gradients: gradients.clone(), of });
        Ok(gradients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Start;

    fn graph(logits: Matrix) -> (Graph, NodeId) {
        let mut graph = Graph::new();
        let logits = graph.given("O", logits, Origin::Stated).unwrap();
        (graph, logits)
    }

    fn number(graph: &Graph, id: NodeId) -> f64 {
        graph.matrix(id).unwrap()[(0, 0)]
    }

    #[test]
    fn the_loss_is_the_mean_surprise_of_the_targets() {
        // softmax(0, ln 3) = (1/4, 3/4) and softmax(ln 4, 0) = (4/5, 1/5); the middle row does not count.
        let ln = crate::elementary::ln;
        let (mut graph, o) = graph(Matrix::of([[0.0, ln(3.0)], [9.0, -9.0], [ln(4.0), 0.0]]));
        let loss = cross_entropy(&mut graph, o, &[Some(0), None, Some(1)]).unwrap();
        assert!((number(&graph, loss) - (ln(4.0) + ln(5.0)) / 2.0).abs() < 1e-15);
        let rows: Vec<f64> = graph.matrix(graph.find("L_rows").unwrap()).unwrap().cells().collect();
        assert_eq!(rows[1], 0.0);
    }

    #[test]
    fn the_gradient_of_the_logits_is_softmax_minus_one_hot_over_the_rows_that_count() {
        let (mut graph, o) = graph(Matrix::of([
            [0.3, -1.7, 2.5, 0.1],
            [4.0, 1.0, -3.0, 0.5],
            [800.0, -30.0, 799.0, 2.0],
            [0.0, 0.0, 0.0, 0.0],
        ]));
        let targets = [Some(1), None, Some(3), Some(0)];
        let loss = cross_entropy(&mut graph, o, &targets).unwrap();
        let before = graph.nodes().count();
        let gradients = graph.gradients(loss, Start::Ones, &[o]).unwrap();
        let ours = graph.matrix(gradients.of(o).unwrap()).unwrap();
        for (i, target) in targets.iter().enumerate() {
            let powers: Vec<f64> = (0..4)
                .map(|j| graph.matrix(o).unwrap()[(i, j)])
                .map(|x| crate::elementary::exp(x - [2.5, 4.0, 800.0, 0.0][i]))
                .collect();
            for j in 0..4 {
                let probability = powers[j] / powers.iter().sum::<f64>();
                let one = if *target == Some(j) { 1.0 } else { 0.0 };
                let expected = if target.is_some() { (probability - one) / 3.0 } else { 0.0 };
                assert!((ours[(i, j)] - expected).abs() < 1e-15, "[{i},{j}]: {} {expected}", ours[(i, j)]);
            }
        }
        // No second softmax: the way back reads the probabilities that are there.
        assert!(graph.nodes().count() - before <= 11, "{} steps", graph.nodes().count() - before);
        assert_eq!(graph.nodes().filter(|(_, node)| matches!(node.op, Op::Softmax(..))).count(), 1);
    }

    #[test]
    fn a_target_that_is_almost_impossible_has_a_finite_loss() {
        let (mut graph, o) = graph(Matrix::of([[0.0, 1000.0]]));
        let loss = cross_entropy(&mut graph, o, &[Some(0)]).unwrap();
        assert_eq!(number(&graph, loss), 1000.0);
    }

    #[test]
    fn targets_that_do_not_fit_are_refused_and_nothing_is_added() {
        let (mut graph, o) = graph(Matrix::of([[0.0, 1.0], [2.0, 3.0]]));
        for (targets, said) in [
            (vec![Some(0)], "there is 1 target, but O has 2 rows"),
            (vec![Some(0), Some(2)], "the target of row 2 is column 3, but O has 2 columns"),
            (vec![None, None], "no row has a target"),
        ] {
            let error = cross_entropy(&mut graph, o, &targets).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert_eq!(graph.nodes().count(), 1);
    }
}
