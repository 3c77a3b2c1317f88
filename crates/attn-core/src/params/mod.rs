//! A model's configuration, and from it every weight matrix with its shape and its count.
//!
//! The listing of a model is one table: each row names its dimensions, and its count, its formula and its
//! figures are all read from those, so that a formula cannot say something else than was computed.
//! Nothing is opened and nothing is printed here.
//!
//! # To add a model family
//!
//! 1. `data/families.toml`: its entry, and the layout of its weights where no other family has it; the head of the file says what they
//!    have. A rule that no other family has is a variant in `family.rs`, and its reading a function in `config.rs`.
//! 2. `data/models.toml`: its published models that can be named on the command line.
//! 3. `tests/golden/params_more.py`: a configuration and its count by plain arithmetic, from the paper and not from this code;
//!    `python params_more.py` writes `params_more.json`, which `cargo test --test all input::params::` reads.
//!
//! ```
//! use attn_core::params::{Counts, ModelPart, named, weights};
//!
//! let gpt2 = &named("gpt2")?[0];
//! let listed = weights(gpt2)?;
//! assert_eq!(listed[0].name, "transformer.wte.weight");
//! assert_eq!(listed[0].formula(), "n_vocab × d");
//! assert_eq!(listed[0].figures(), "50257 × 768");
//!
//! let counts = Counts::of(&listed)?;
//! assert_eq!(counts.total, 124_439_808);
//! let share = counts.share(counts.part(ModelPart::Attention));
//! assert_eq!(format!("{:.1} %", 100.0 * share), "22.8 %");
//! # Ok::<(), attn_core::error::Error>(())
//! ```

mod built_in;
mod cache;
pub(crate) mod config;
pub(crate) mod family;
pub(crate) mod fields;
mod listing;
mod model;
mod weight;

pub use crate::attention::WeightLayout;
pub use built_in::{BuiltIn, built_in, named};
pub use cache::{Cache, cache, caches_by_sharing};
pub use config::check_length as check_config_length;
pub use family::{Family, Gain, NormKind, NormPlaces, Norms, Projections, QueryKeyNorm};
pub(crate) use listing::masked_words;
pub use listing::weights;
pub use model::{AssumedValue, Biases, Experts, Latent, Model, Positions, Windows};
pub use weight::{Counts, Dimension, Extent, ModelPart, NormSite, Weight};
