//! What a model makes of a text: predictions, and what its heads attend to, as tables.

mod heads;
mod prediction;

pub use heads::{
    HeadGrid, MeasuredText, entropy_grid, head_grid, head_in_words, head_letter, head_rules,
    heads_that_stand_out, last_token_grid, measures_table, stand_out_title, survey_table,
};
pub use prediction::{
    Prediction, change_table, lens_in_words, lens_table, percent, position_table, prediction_table,
};
