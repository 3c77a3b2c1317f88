//! Graphs as stories: the sentences and matrices of each step. Nothing here knows colours, widths or formats; `render` does.
//!
//! [`attend`], [`softmax`], [`similarity`] and [`comparison`] tell a graph that a recipe built, [`diagnosis`] what is wrong with
//! a result; a demo builds its own story.

mod attend;
mod backward;
mod comparison;
pub mod condition;
pub mod diagnosis;
mod given_weights;
mod look_at;
mod model;
mod model_layer;
mod model_text;
mod porting;
mod portion;
mod sentence;

pub use attend::{attend, similarity, softmax};
pub use comparison::{Comparison, comparison};
pub use condition::Claim;
pub use given_weights::{ShownWeights, given_weights};
pub use model::{
    Digits, ExplainedCell, Plane, Step, StepItem, Story, Table, Window, numbers_of_tables, place_of,
};
pub use model_layer::{HeadStep, ShownLayer, head_steps, model_layer};
pub use model_text::{
    MeasuredText, Prediction, change_table, entropy_grid, head_grid, head_in_words, head_letter, head_rules,
    heads_that_stand_out, last_token_grid, lens_in_words, lens_table, measures_table, percent,
    position_table, prediction_table, stand_out_title, survey_table,
};
pub use porting::porting;
pub use portion::sentences;
pub use sentence::{capitalised, fill, in_sentence};
