//! The equations of positions.

use super::{FormulaWriter, number_text};
use crate::attention::{HeadOf, Pairing, RopeScaling, Rotation};
use crate::graph::Convention;

impl FormulaWriter<'_> {
    /// The position vectors of the first paper.
    pub(super) fn sinusoidal(&self, first: usize) -> String {
        let from = if first == 0 {
            "row t, pair p of columns, both from 0".to_string()
        } else {
            format!("row t from {first}, pair p of columns from 0")
        };
        format!("sin and cos of t / 10000^(2p/d): {from}")
    }

    /// The bias of ALiBi, with the head's slope.
    pub(super) fn alibi(&self, head: &HeadOf) -> String {
        let slope = match head.slope_exponent() {
            (above, below) if above % below == 0 => format!("2^−{}", above / below),
            (above, below) => format!("2^(−{above}/{below})"),
        };
        format!("−{slope} · |query − key|")
    }

    pub(super) fn rotary(&self, rotation: &Rotation) -> String {
        let pairs = self.graph[self.inputs[1]].shape().cols;
        let partners = match rotation.pairing {
            Pairing::Halves => format!("p and p + {pairs}"),
            Pairing::Neighbours => "2p and 2p + 1".into(),
        };
        let size = match rotation.magnitude {
            1.0 => String::new(),
            magnitude => format!(", sin and cos times {}", number_text(magnitude)),
        };
        let f = &self.graph[self.inputs[1]].name;
        let (columns, row) = (self.lines(false), self.line(true));
        format!(
            "{} with {columns} {partners} rotated by t · {f}[p]: {row} t from {}, p and {columns} from 0{size}",
            self.input(0),
            rotation.first
        )
    }

    pub(super) fn scaled_frequencies(&self, scaling: &RopeScaling) -> String {
        let f = &self.graph[self.inputs[0]].name;
        let number = number_text;
        match *scaling {
            RopeScaling::Linear { factor } => format!("{f} / {}", number(factor)),
            RopeScaling::Dynamic { original, length, .. } if length as f64 <= original => {
                format!("{f}: {length} tokens are not more than {}", number(original))
            }
            RopeScaling::Dynamic { factor, original, length } => format!(
                "{f} / r^(2p/(d − 2)), r = {} · {length}/{} − {}",
                number(factor),
                number(original),
                number(factor - 1.0)
            ),
            RopeScaling::Llama3 { factor, low, high, original } => format!(
                "{f}, or {f} / {} where 2π/{f} > {}/{}, blended down to {}/{}",
                number(factor),
                number(original),
                number(low),
                number(original),
                number(high)
            ),
            RopeScaling::Yarn(yarn) => {
                let [low, high] = yarn.ramp(2 * self.graph[self.inputs[0]].shape().cols);
                let factor = number(yarn.factor);
                format!(
                    "{f} · (1 − r) + {f}/{factor} · r, r from 0 at pair {} to 1 at pair {}",
                    number(low),
                    number(high)
                )
            }
            RopeScaling::LongRope { .. } => format!("{f} / {}", self.input(1)),
        }
    }

    /// The softmax with the sink of a head: `sink`, or `sink[1,2]` of several.
    pub(super) fn softmax_with_sink(&self, head: usize) -> String {
        let sink = self.input(1);
        let several = self.inputs.get(1).is_some_and(|&sink| self.graph[sink].shape().cols > 1);
        let cell = match (several, self.convention) {
            (false, _) => String::new(),
            (true, Convention::Rows) => format!("[1,{}]", head + 1),
            (true, Convention::Columns) => format!("[{},1]", head + 1),
        };
        format!("softmax([{}, {sink}{cell}]), last {} dropped", self.input(0), self.line(false))
    }
}
