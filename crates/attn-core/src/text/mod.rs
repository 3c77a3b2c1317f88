//! Text for people: counts with their nouns, lists of words, clipped quotations, quantities with units, likely meanings of a
//! mistyped word. Every module uses these, so that the same thing is written in one way everywhere.

mod clip;
mod count;
mod list;
mod near;
mod number;
mod quantity;
mod quote;
mod width;

pub use clip::{CUT, abridged, clip, clipped, clipped_at_word};
pub use count::{counted, grouped};
pub use list::{all_of, briefly, choices, listed_briefly, one_of};
pub use near::{near, nearest};
pub use number::{number, typed};
pub use quantity::{giga, percent, seconds, size, size_in_brief, three_digits, times, waiting};
pub use quote::quoted;
pub use width::ScreenWidth;
