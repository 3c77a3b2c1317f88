//! What a model makes of a text: predictions, and what its heads look at, as tables.

mod heads;
mod prediction;

pub use heads::{
    HeadGrid, MeasuredText, entropy_grid, head_grid, head_letter, head_rules, last_token_grid,
    measures_table, survey_table, top_heads,
};
pub use prediction::{Prediction, change_table, lens_table, position_table, prediction_table};
