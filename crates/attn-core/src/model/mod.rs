//! Models from their files: which tensors a family has, and the graph of its layers.
//!
//! An [`Architecture`] is read from a `config.json`: each layer's attention is a [`Recipe`](crate::Recipe), the one that
//! `attend` has, and around it stand the norms, the MLP and the residual stream. [`Tensors`] finds the weights of each step among
//! the names of a [`Checkpoint`]. [`ModelRun`] builds the graph: the embedding, one layer after the other, the logits. Weights
//! stay in their type and in their file until a step reads them.
//!
//! Nothing is opened here; a program implements [`Checkpoint`] for its files.
//!
//! # Names of nodes
//!
//! | name | shape | is |
//! |---|---|---|
//! | `E` | (T, d) | the input of the first layer |
//! | `L3.X` | (T, d) | the residual stream that enters layer 3; `X_final` leaves the last one |
//! | `L3.X_normed` | (T, d) | its norm, which attention reads |
//! | `L3.Q_2` `L3.K_1` `L3.A_2` | | as in `attend`, for each head |
//! | `L3.C` `L3.O` | (T, H·d_v) (T, d) | the heads side by side, and times W_O |
//! | `L3.X_mid` | (T, d) | the stream plus the result of attention |
//! | `L3.MLP_up` `L3.MLP_gate` `L3.MLP_hidden` | (T, d_ff) | inside the MLP |
//! | `L3.MLP` | (T, d) | its result |
//! | `logits` | (T, n_vocab) | a score for each token that may come next |

mod architecture;
mod forward;
pub mod porting;
mod rope;
mod run;
mod tensors;

pub use crate::graph::recipes::HeadCache;
pub use crate::params::{Gain, Projections};
pub use architecture::{
    Activation, AfterNorm, Architecture, Block, Conv1dReading, GateUse, Norm, Slips, Sublayers,
};
pub use forward::{
    Forward, HeadMeasures, Look, NAMED_BY, NAMED_FROM, PassOptions, Share, mean_entropy, name_vocabulary,
};
pub use run::{Edits, LayerEdit, ModelRun, Removal, Text};
pub use tensors::{Checkpoint, Entry, NamedWeight, Slot, Tensors, WeightReading};
