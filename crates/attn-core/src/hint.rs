//! Hints: settings that a sentence tells its reader to set, leave out or run. The library knows the fact only; a command line
//! supplies the words to type through its [`Vocabulary`] while it runs a command.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// Something that can be set or run, as part of a sentence. It is written as the vocabulary in use has it; without one it is
/// written by its name here: `kv_heads`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// The absolute tolerance of a comparison.
    AbsoluteTolerance,
    /// An answer to a question of a lesson, given beforehand.
    Answer,
    /// The command that computes attention.
    Attend,
    /// Later tokens are hidden from each token.
    Causal,
    /// When colours are written.
    Colour,
    /// The number of levels explained.
    Depth,
    /// Everything that was found.
    Details,
    /// The command that names mistakes.
    Diagnose,
    /// The demo that something is about.
    Demo,
    /// The type in which the fast path computes.
    Dtype,
    /// The cell that is explained.
    Explain,
    /// The fast path.
    Fast,
    /// The output format.
    Format,
    /// Everything that is folded.
    Full,
    /// The weights of the output gate.
    Gate,
    /// The matrix of this name: `Given("W_Q")`.
    Given(&'static str),
    /// The number of query heads.
    Heads,
    /// When numbers are shaded.
    Heat,
    /// The ids of tokens, in place of a text.
    Ids,
    /// Entries of a file that are left out.
    Ignore,
    /// Keys that a window does not hide.
    KeepFirst,
    /// The number of key/value heads.
    KeyValueHeads,
    /// The layer of a file.
    Layer,
    /// How weights are stored.
    Layout,
    /// The list of everything of a kind.
    List,
    /// A page that computes for itself.
    Live,
    /// The bytes of memory that may be used.
    Memory,
    /// Without a keyboard.
    NoInput,
    /// The nodes that are shown.
    Only,
    /// Line by line, in place of a full screen.
    Plain,
    /// Files that are there already are replaced.
    Overwrite,
    /// The way in which positions enter.
    Position,
    /// The table of position biases.
    PositionTable,
    /// The number of decimals shown.
    Precision,
    /// The norm of queries and keys.
    QkNorm,
    /// The number of queries of a benchmark.
    Queries,
    /// The relative tolerance of a comparison.
    RelativeTolerance,
    /// The residual connection.
    Residual,
    /// From the beginning again.
    Restart,
    /// The scaling of rotary positions.
    RopeScaling,
    /// The number of rotated columns.
    RopeWidth,
    /// A file for the numbers of a node.
    Save,
    /// The scoring function.
    Score,
    /// Other numbers for a given matrix.
    Set,
    /// The sinks.
    Sink,
    /// The bound of the scores.
    SoftCap,
    /// The steps shown.
    Steps,
    /// A file for an input that tells mistakes apart.
    SuggestInput,
    /// The temperature of a softmax.
    Temperature,
    /// The number of tokens of a benchmark.
    Tokens,
    /// That a lesson may read any file.
    Trust,
    /// The width of a head in a benchmark.
    Width,
    /// The width of the window: the number of neighbours that a token may attend to.
    Window,
    /// Words in place of a matrix.
    Words,
    /// A result that is compared with the right one.
    Yours,
}

impl Hint {
    /// Every fact, those of a matrix for one of them.
    pub const ALL: [Hint; 55] = [
        Hint::AbsoluteTolerance,
        Hint::Answer,
        Hint::Attend,
        Hint::Causal,
        Hint::Colour,
        Hint::Depth,
        Hint::Details,
        Hint::Diagnose,
        Hint::Demo,
        Hint::Dtype,
        Hint::Explain,
        Hint::Fast,
        Hint::Format,
        Hint::Full,
        Hint::Gate,
        Hint::Given("Q"),
        Hint::Heads,
        Hint::Heat,
        Hint::Ids,
        Hint::Ignore,
        Hint::KeepFirst,
        Hint::KeyValueHeads,
        Hint::Layer,
        Hint::Layout,
        Hint::List,
        Hint::Live,
        Hint::Memory,
        Hint::NoInput,
        Hint::Only,
        Hint::Plain,
        Hint::Overwrite,
        Hint::Position,
        Hint::PositionTable,
        Hint::Precision,
        Hint::QkNorm,
        Hint::Queries,
        Hint::RelativeTolerance,
        Hint::Residual,
        Hint::Restart,
        Hint::RopeScaling,
        Hint::RopeWidth,
        Hint::Save,
        Hint::Score,
        Hint::Set,
        Hint::Sink,
        Hint::SoftCap,
        Hint::Steps,
        Hint::SuggestInput,
        Hint::Temperature,
        Hint::Tokens,
        Hint::Trust,
        Hint::Width,
        Hint::Window,
        Hint::Words,
        Hint::Yours,
    ];

    /// The name of the fact, where there is no vocabulary.
    pub fn name(self) -> &'static str {
        match self {
            Hint::AbsoluteTolerance => "atol",
            Hint::Answer => "answer",
            Hint::Attend => "attend",
            Hint::Causal => "causal",
            Hint::Colour => "colour",
            Hint::Depth => "depth",
            Hint::Details => "the detailed report",
            Hint::Diagnose => "diagnose",
            Hint::Demo => "demo",
            Hint::Dtype => "dtype",
            Hint::Explain => "explain",
            Hint::Fast => "the fast path",
            Hint::Format => "format",
            Hint::Full => "full",
            Hint::Gate => "gate",
            Hint::Given(name) => name,
            Hint::Heads => "heads",
            Hint::Heat => "heat",
            Hint::Ids => "ids",
            Hint::Ignore => "ignore",
            Hint::KeepFirst => "keep_first",
            Hint::KeyValueHeads => "kv_heads",
            Hint::Layer => "layer",
            Hint::Layout => "layout",
            Hint::List => "list",
            Hint::Live => "live",
            Hint::Memory => "memory",
            Hint::NoInput => "no input",
            Hint::Only => "only",
            Hint::Plain => "plain",
            Hint::Overwrite => "overwrite",
            Hint::Position => "position",
            Hint::PositionTable => "position_table",
            Hint::Precision => "precision",
            Hint::QkNorm => "qk_norm",
            Hint::Queries => "queries",
            Hint::RelativeTolerance => "rtol",
            Hint::Residual => "the residual",
            Hint::Restart => "restart",
            Hint::RopeScaling => "rope_scaling",
            Hint::RopeWidth => "rope_width",
            Hint::Save => "save",
            Hint::Score => "score",
            Hint::Set => "set",
            Hint::Sink => "sink",
            Hint::SoftCap => "soft_cap",
            Hint::Steps => "steps",
            Hint::SuggestInput => "suggest_input",
            Hint::Temperature => "temperature",
            Hint::Tokens => "tokens",
            Hint::Trust => "trust",
            Hint::Width => "width",
            Hint::Window => "window",
            Hint::Words => "words",
            Hint::Yours => "yours",
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (VOCABULARY.get(), self) {
            (Some(typed), hint) => f.write_str(&typed(*hint)),
            (None, hint) => f.write_str(hint.name()),
        }
    }
}

/// A function that gives the words to type for a hint.
pub type Vocabulary = fn(Hint) -> String;

thread_local! {
    static VOCABULARY: Cell<Option<Vocabulary>> = const { Cell::new(None) };
}

/// While this lives, sentences of its thread are written in a vocabulary.
#[must_use]
pub struct VocabularyGuard {
    before: Option<Vocabulary>,
    here: PhantomData<*const ()>,
}

/// Writes the sentences of this thread in a vocabulary, until the result is dropped.
pub fn speak(vocabulary: Vocabulary) -> VocabularyGuard {
    VocabularyGuard { before: VOCABULARY.replace(Some(vocabulary)), here: PhantomData }
}

/// The vocabulary of this thread, for another one that works for it.
pub fn vocabulary() -> Option<Vocabulary> {
    VOCABULARY.get()
}

impl Drop for VocabularyGuard {
    fn drop(&mut self) {
        VOCABULARY.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_written_in_the_vocabulary_in_use_and_else_by_its_name() {
        let said = || format!("give {} or {}", Hint::KeyValueHeads, Hint::Given("Q"));
        assert_eq!(said(), "give kv_heads or Q");
        {
            let _speaking = speak(|hint| format!("<{hint:?}>"));
            assert_eq!(said(), "give <KeyValueHeads> or <Given(\"Q\")>");
        }
        assert_eq!(said(), "give kv_heads or Q");
    }
}
