//! The ids of mistakes with a number, or a row of numbers, of their own: solved for, not tried.

/// The fix of a row over something else than its own sum, in an exercise with a sink.
pub(in crate::diagnose) const OWN_SUM_WITH_SINK: &str =
    "Divide each row of exp(S) by its own sum, with exp(sink) of the head in it.";
/// A number in the place of −∞ that hides too little.
pub(in crate::diagnose) const WEAK_MASK: &str = "mask-weak";
/// A wrong temperature.
pub(in crate::diagnose) const TEMPERATURE: &str = "temperature";
/// Everything times one number.
pub(in crate::diagnose) const FACTOR: &str = "wrong-factor";
/// The same row added to every row.
pub(in crate::diagnose) const BIAS: &str = "bias-added";
/// The right numbers in another shape.
pub(in crate::diagnose) const RESHAPED: &str = "result-reshaped";
/// X with a factor of its own.
pub(in crate::diagnose) const RESIDUAL: &str = "residual-scaled";
/// Heads with factors of their own.
pub(in crate::diagnose) const HEADS: &str = "heads-weighted";
/// Rows with factors of their own.
pub(in crate::diagnose) const ROWS: &str = "rows-scaled";
/// The right rows in another order.
pub(in crate::diagnose) const ROW_ORDER: &str = "rows-reordered";
/// The right columns in another order.
pub(in crate::diagnose) const COLUMN_ORDER: &str = "columns-reordered";
/// Some of the right rows or columns.
pub(in crate::diagnose) const INCOMPLETE: &str = "result-incomplete";
/// Rows or columns that are 0.
pub(in crate::diagnose) const ZEROED: &str = "result-left-zero";
/// One wrong number.
pub(in crate::diagnose) const ONE_CELL: &str = "one-number-wrong";
/// Two numbers in each other's place.
pub(in crate::diagnose) const EXCHANGED: &str = "numbers-exchanged";
/// Dropout that was left on.
pub(in crate::diagnose) const DROPPED: &str = "dropout";
/// A header or an index among the numbers.
pub(in crate::diagnose) const SURPLUS: &str = "result-surplus";

/// In some rows alone.
pub(in crate::diagnose) const SOME_ROWS: &str = "only-some-rows";
/// In one head alone.
pub(in crate::diagnose) const ONE_HEAD: &str = "only-one-head";
