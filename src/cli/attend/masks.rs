//! The meaning of the numbers of a mask.

use crate::attention::MatrixRule;
use crate::error::{Error, Result};
use crate::graph::Origin;

pub(super) fn is_infinity(x: f64) -> bool {
    x == f64::INFINITY
}

/// The source of a matrix for an error, or `name`.
pub(super) fn place_of(origin: &Origin, name: &str) -> String {
    match origin {
        Origin::User(source) => source.clone(),
        _ => name.to_string(),
    }
}

/// The meaning of a mask's numbers: `kind`, or else booleans allow and numbers are added. A mask of only 0 and 1 needs `kind`,
/// because the wrong meaning would silently hide nothing.
pub(super) fn mask_rule<C: Iterator<Item = f64>>(
    is_boolean: bool,
    cells: impl Fn() -> C,
    kind: Option<MatrixRule>,
    origin: &Origin,
) -> Result<MatrixRule> {
    let place = place_of(origin, "the mask");
    if !is_boolean && cells().any(is_infinity) {
        return Err(Error::new("`inf` in a mask")
            .in_source(place)
            .help("write -inf to hide a key; with inf no other score would count"));
    }
    match kind {
        Some(MatrixRule::Add) if is_boolean => Err(Error::new("true and false cannot be added to scores")
            .in_source(place)
            .help("give --mask-kind allow or --mask-kind block")),
        Some(kind) => Ok(kind),
        None if is_boolean => Ok(MatrixRule::Allow),
        None if cells().all(|x| x == 0.0 || x == 1.0) => {
            Err(Error::new("a mask with only 0 and 1 can mean three things")
                .in_source(place)
                .help("give --mask-kind allow (1 may attend), block (1 may not), add (added to the scores)"))
        }
        None => Ok(MatrixRule::Add),
    }
}
