//! From a recipe back to the options of today's models: positions, the norm of queries and keys, the soft-cap.

use crate::attention::{Pairing, RopeScaling, Yarn};
use crate::graph::recipes::{NormPlace, PositionKind, QK_NORM_EPSILON, Recipe, Rotary};

/// The options that give the positions, norm and soft-cap of a recipe, without those that are the default. Gains, tables, divisors,
/// sinks and gates are matrices, and come from a file.
pub(super) fn mechanism_options(recipe: &Recipe) -> Vec<String> {
    let mut options: Vec<String> =
        position_options(recipe.positions.kind).chunks(2).map(|pair| pair.join(" ")).collect();
    if recipe.positions.first > 0 {
        options.push(format!("--first-position {}", recipe.positions.first));
    }
    if recipe.qk_norm.place != NormPlace::Nowhere {
        options.push("--qk-norm".into());
        if recipe.qk_norm.epsilon != QK_NORM_EPSILON {
            options.push(format!("--qk-norm-eps {}", recipe.qk_norm.epsilon));
        }
    }
    options.extend(recipe.soft_cap.map(|cap| format!("--softcap {cap}")));
    options
}

/// The words that give a kind of positions: each option, and its value.
pub(crate) fn position_options(kind: PositionKind) -> Vec<String> {
    let of_kind = |kind: &str| vec!["--position".to_string(), kind.to_string()];
    match kind {
        PositionKind::None => Vec::new(),
        PositionKind::Rotary(rotary) => rotary_options(&rotary),
        PositionKind::Alibi { .. } => of_kind("alibi"),
        PositionKind::Buckets { .. } => of_kind("t5"),
        PositionKind::Sinusoidal => of_kind("sinusoidal"),
    }
}

fn rotary_options(rotary: &Rotary) -> Vec<String> {
    let usual = Rotary::default();
    let kind = match rotary.pairing {
        Pairing::Halves => "rope",
        Pairing::Neighbours => "rope-interleaved",
    };
    let base = (rotary.base != usual.base).then(|| rotary.base.to_string());
    let all = [
        ("--position", Some(kind.to_string())),
        ("--rope-base", base),
        ("--rope-width", rotary.width.map(|width| width.to_string())),
        ("--rope-scaling", rotary.scaling.map(|scaling| scaling_option(&scaling))),
    ];
    all.into_iter().filter_map(|(option, value)| Some([option.to_string(), value?])).flatten().collect()
}

/// A scaling as `--rope-scaling` takes it: `linear:factor=4`.
fn scaling_option(scaling: &RopeScaling) -> String {
    let parameters = match *scaling {
        RopeScaling::Linear { factor } => format!("factor={factor}"),
        RopeScaling::Dynamic { factor, original, .. } | RopeScaling::LongRope { factor, original, .. } => {
            format!("factor={factor},original={original}")
        }
        RopeScaling::Llama3 { factor, low, high, original } => {
            format!("factor={factor},low={low},high={high},original={original}")
        }
        RopeScaling::Yarn(yarn) => yarn_parameters(&yarn),
    };
    format!("{}:{parameters}", scaling.name())
}

fn yarn_parameters(yarn: &Yarn) -> String {
    let mut parameters = vec![format!("factor={},original={}", yarn.factor, yarn.original)];
    if yarn.fast != 32.0 {
        parameters.push(format!("fast={}", yarn.fast));
    }
    if yarn.slow != 1.0 {
        parameters.push(format!("slow={}", yarn.slow));
    }
    if !yarn.truncate {
        parameters.push("truncate=no".into());
    }
    parameters.extend(yarn.attention.map(|attention| format!("attention={attention}")));
    parameters.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::attend::rope_scaling::RopeScalingArg;

    #[test]
    fn every_scaling_is_printed_as_it_was_given() {
        for text in [
            "linear:factor=4",
            "dynamic:factor=2,original=4096",
            "llama3:factor=8,low=1,high=4,original=8192",
            "yarn:factor=4,original=4096",
            "yarn:factor=4,original=4096,fast=16,slow=2,truncate=no,attention=1.25",
            "longrope:factor=32,original=4096",
        ] {
            let scaling = RopeScalingArg::parse(text).unwrap().scaling;
            assert_eq!(scaling_option(&scaling), text);
        }
    }
}
