//! The views of a model.

/// What a command shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// What the model consists of.
    Model,
    /// What it makes of a text.
    Text,
    /// How a text goes on.
    Continuation,
    /// All heads, scored.
    Survey,
    /// The steps of a layer, or nodes and cells of layers.
    Layers,
    /// Nothing: matrices are only saved.
    Files,
}
