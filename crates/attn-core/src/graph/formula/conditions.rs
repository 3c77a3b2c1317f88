//! The conditions of visibility, and the other steps on the scores, as parts of an equation.

use super::{FormulaWriter, number_text};
use crate::attention::{Mask, MatrixRule};
use crate::graph::op_parameters::{Factor, FusedSteps};
use crate::matrix::Shape;

impl FormulaWriter<'_> {
    /// The steps on the scores that differ from the default: `, causal, window 128, scale 0.5`.
    pub(super) fn fused_steps(
        &self,
        FusedSteps { scale, temperature, soft_cap, mask }: &FusedSteps,
    ) -> String {
        let mut steps = Vec::new();
        let from = if mask.from_start { " from the first key" } else { "" };
        steps.extend(mask.causal.then(|| format!("causal{from}")));
        steps.extend(mask.window.map(|window| format!("window {window}{from}")));
        if mask.keep_first > 0 {
            steps.push(format!("first {} kept", mask.keep_first));
        }
        let matrix = || self.input(self.inputs.len().saturating_sub(1));
        steps.extend(mask.matrix.map(|rule| match rule {
            MatrixRule::Allow => format!("where {} ≠ 0", matrix()),
            MatrixRule::Block => format!("where {} = 0", matrix()),
            MatrixRule::Add => format!("{} added", matrix()),
        }));
        match scale {
            // The usual one.
            Some(Factor::InverseRoot(_)) => {}
            Some(factor) => steps.push(format!("scale {}", number_text(factor.value()))),
            None => steps.push("not scaled".to_string()),
        }
        if *temperature != 1.0 {
            steps.push(format!("temperature {}", number_text(*temperature)));
        }
        steps.extend(soft_cap.map(|cap| format!("soft-cap {}", number_text(cap))));
        steps.iter().map(|step| format!(", {step}")).collect()
    }

    pub(super) fn masked(&self, mask: &Mask) -> String {
        let kept = match mask.matrix {
            Some(MatrixRule::Add) if !mask.inverted => self.joined(" + "),
            _ => self.input(0),
        };
        match self.conditions(mask) {
            conditions if conditions.is_empty() => kept,
            conditions => format!("{kept} where {conditions}, else −∞"),
        }
    }

    /// The condition under which a query sees a key: `key ≤ query + 2 and M ≠ 0`.
    pub(super) fn conditions(&self, mask: &Mask) -> String {
        let shape = self.inputs.first().map_or(Shape { rows: 0, cols: 0 }, |&a| self.graph[a].shape());
        let shift = if mask.from_start { 0 } else { shape.cols as i128 - shape.rows as i128 };
        let query = match shift {
            0 => "query".to_string(),
            shift if shift > 0 => format!("query + {shift}"),
            shift => format!("query − {}", -shift),
        };
        let mut conditions = Vec::new();
        if mask.causal {
            conditions.push(format!("key ≤ {query}"));
        }
        if let Some(window) = mask.window {
            let near = if mask.causal {
                format!("{query} − key < {window}")
            } else {
                format!("|{query} − key| < {window}")
            };
            conditions.push(match mask.keep_first {
                0 => near,
                // Positions count from 0 here, as the op does.
                kept => format!("({near} or key < {kept})"),
            });
        }
        match mask.matrix {
            Some(MatrixRule::Allow) => conditions.push(format!("{} ≠ 0", self.input(1))),
            Some(MatrixRule::Block) => conditions.push(format!("{} = 0", self.input(1))),
            Some(MatrixRule::Add) if mask.inverted => conditions.push(format!("{} ≠ −∞", self.input(1))),
            Some(MatrixRule::Add) | None => {}
        }
        if mask.hides_own {
            conditions.push(format!("key ≠ {query}"));
        }
        let conditions = conditions.join(" and ");
        if mask.inverted { format!("not ({conditions})") } else { conditions }
    }
}
