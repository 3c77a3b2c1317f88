//! What the numbers of a mask mean.

use crate::attention::MatrixRule;
use crate::error::{Error, Result};
use crate::graph::Origin;

use super::inputs::MaskKindArg;

pub(super) fn is_infinity(x: f64) -> bool {
    x == f64::INFINITY
}

/// What errors call it: where it comes from, or `name`.
pub(super) fn place_of(origin: &Origin, name: &str) -> String {
    match origin {
        Origin::User(source) => source.clone(),
        _ => name.to_string(),
    }
}

/// What a mask's numbers mean: as `--mask-kind` says, else booleans allow and numbers are added. Numbers of only 0 and 1
/// must say, because read the wrong way they silently hide nothing.
pub(super) fn mask_rule<C: Iterator<Item = f64>>(
    is_boolean: bool,
    cells: impl Fn() -> C,
    kind: Option<MaskKindArg>,
    origin: &Origin,
) -> Result<MatrixRule> {
    let place = place_of(origin, "the mask");
    if !is_boolean && cells().any(is_infinity) {
        return Err(Error::new("`inf` in a mask")
            .in_source(place)
            .help("write -inf to hide a key; with inf no other score would count"));
    }
    match kind {
        Some(MaskKindArg::Allow) => Ok(MatrixRule::Allow),
        Some(MaskKindArg::Block) => Ok(MatrixRule::Block),
        Some(MaskKindArg::Add) if is_boolean => Err(Error::new("true and false cannot be added to scores")
            .in_source(place)
            .help("give --mask-kind allow or --mask-kind block")),
        Some(MaskKindArg::Add) => Ok(MatrixRule::Add),
        None if is_boolean => Ok(MatrixRule::Allow),
        None if cells().all(|x| x == 0.0 || x == 1.0) => {
            Err(Error::new("a mask with only 0 and 1 can mean three things")
                .in_source(place)
                .help("give --mask-kind allow (1 may attend), block (1 may not), add (added to the scores)"))
        }
        None => Ok(MatrixRule::Add),
    }
}
