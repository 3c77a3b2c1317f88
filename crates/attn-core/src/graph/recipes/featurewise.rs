//! Scores computed feature by feature: mistaken replacements of the dot product.

use super::recipe::Featurewise;
use super::weights::Head;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

impl Head<'_> {
    /// One score for each query (T, d) and key (N, d): a function of each feature, and its sum or max over the features.
    pub(super) fn featurewise(
        &mut self,
        name: &str,
        how: Featurewise,
        [a, b]: [NodeId; 2],
    ) -> Result<NodeId> {
        let width = self.graph[a].shape().cols;
        let mut last: Option<NodeId> = None;
        for feature in 0..width {
            let own = self.feature(how, feature, [a, b])?;
            last = Some(match last {
                None => own,
                Some(before) => self.joined(how, feature, [before, own])?,
            });
        }
        let Some(last) = last else { return self.add(name, Op::ProductTransposed, &[a, b]) };
        match how {
            Featurewise::Manhattan | Featurewise::MaxDifference => {
                self.add(name, Op::Scale(Factor::Number(-1.0)), &[last])
            }
            _ => self.add(name, Op::Add, &[last]),
        }
    }

    /// The values of one feature for every query and key, (T, N).
    fn feature(&mut self, how: Featurewise, feature: usize, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let (rows, cols) = (self.graph[a].shape().rows, self.graph[b].shape().rows);
        let column = Op::Columns { start: feature, count: 1 };
        let q = self.add(&format!("q_feature{feature}"), column.clone(), &[a])?;
        let k = self.add(&format!("k_feature{feature}"), column, &[b])?;
        let named = |what: &str| format!("{what}_feature{feature}");
        if matches!(how, Featurewise::MaxProduct) {
            return self.add(&named("product"), Op::ProductTransposed, &[q, k]);
        }
        let across = self.add(&named("across"), Op::Ones { rows: cols, cols: 1 }, &[])?;
        let down = self.add(&named("down"), Op::Ones { rows, cols: 1 }, &[])?;
        let q = self.add(&named("queries"), Op::ProductTransposed, &[q, across])?;
        let k = self.add(&named("keys"), Op::ProductTransposed, &[down, k])?;
        match how {
            Featurewise::Sum => self.add(&named("sum"), Op::Add, &[q, k]),
            Featurewise::TanhOfSum => {
                // tanh x = 2 σ(2 x) − 1.
                let sum = self.add(&named("sum"), Op::Add, &[q, k])?;
                let twice = self.add(&named("twice"), Op::Scale(Factor::Number(2.0)), &[sum])?;
                let sigmoid = self.add(&named("sigmoid"), Op::Sigmoid, &[twice])?;
                let doubled = self.add(&named("doubled"), Op::Scale(Factor::Number(2.0)), &[sigmoid])?;
                let ones = self.add(&named("ones"), Op::Ones { rows, cols }, &[])?;
                self.add(&named("tanh"), Op::Subtract, &[doubled, ones])
            }
            _ => {
                let parts = [
                    self.add(&named("above"), Op::Subtract, &[q, k])?,
                    self.add(&named("below"), Op::Subtract, &[k, q])?,
                ];
                let parts = [
                    self.add(&named("above_0"), Op::Relu, &[parts[0]])?,
                    self.add(&named("below_0"), Op::Relu, &[parts[1]])?,
                ];
                self.add(&named("size"), Op::Add, &parts)
            }
        }
    }

    /// Two features together: their sum, or the larger of them.
    fn joined(&mut self, how: Featurewise, feature: usize, [a, b]: [NodeId; 2]) -> Result<NodeId> {
        let name = format!("features_to{feature}");
        match how {
            Featurewise::MaxProduct | Featurewise::MaxDifference => {
                let more = self.add(&format!("more_feature{feature}"), Op::Subtract, &[b, a])?;
                let more = self.add(&format!("more_0_feature{feature}"), Op::Relu, &[more])?;
                self.add(&name, Op::Add, &[a, more])
            }
            _ => self.add(&name, Op::Add, &[a, b]),
        }
    }
}
