//! Graphs as stories: the sentences and matrices of each step. Nothing here knows colours, widths or formats; `render` does.
//!
//! [`attend`], [`softmax`], [`similarity`] and [`comparison`] tell a graph that a recipe built, [`diagnosis`] what is wrong with
//! a result; a demo builds its own story.

mod attend;
mod backward;
mod comparison;
pub mod condition;
pub mod diagnosis;
mod head_steps;
mod look_at;
mod mechanisms;
mod model;
mod model_layer;
mod model_text;
mod numbers_of_tables;
mod plane;
mod porting;
mod portion;
mod sentence;
mod sentences;
mod similarity;
mod softmax;
mod table;
mod truth;
mod visible;
mod window;

pub use attend::attend;
pub use comparison::{Comparison, comparison};
pub use condition::{Claim, Condition, Quantity, Relation};
pub use head_steps::{HeadStep, head_steps};
pub use model::{Digits, ExplainedCell, Step, StepItem, Story};
pub use model_layer::{ShownLayer, model_layer, shown_nodes};
pub use model_text::{
    HeadGrid, MeasuredText, Prediction, change_table, entropy_grid, head_grid, head_in_words, head_letter,
    head_rules, heads_that_stand_out, last_token_grid, lens_in_words, lens_table, measures_table, percent,
    position_table, prediction_table, stand_out_title, survey_table,
};
pub use numbers_of_tables::numbers_of_tables;
pub use plane::Plane;
pub use porting::porting;
pub use sentence::{fill, in_sentence};
pub use sentences::sentences;
pub use similarity::similarity;
pub use softmax::softmax;
pub use table::Table;
pub use window::{Window, place_of};
