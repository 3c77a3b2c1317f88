//! The language of demos: what the screen prints can be typed. docs/language.md tells it to people.
//!
//! A text becomes a [`Program`]: data without meaning, in which every part knows its place. What its names are, who computes them.

mod check;
mod functions;
mod lexer;
mod parser;
mod values;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use functions::{CELL_FUNCTIONS, CellFunction, Gives, function_of, functions, of_numbers, simple_op};
pub use lexer::is_run_name;
pub use parser::{KEYWORDS, KeyParts, LINE_WORDS, LONGEST, expression, key, key_expression, program};
pub use values::{Lookup, Values, change, number_value, sentence};

/// A place in the text: line and column, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// A whole demo.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What stands above the first empty line: `title: …`.
    pub head: Vec<(String, String)>,
    /// The paragraphs, with empty lines between them.
    pub paragraphs: Vec<Paragraph>,
}

/// Lines without an empty one between them: definitions, and the step that tells them.
#[derive(Clone, Debug, PartialEq)]
pub struct Paragraph {
    /// How often it is repeated.
    pub repeat: Option<Repeat>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// `for t in 1..T`, `for width in 4, 64`, `for case in zero, small`.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// The name of the number, or of the word.
    pub variable: String,
    /// What it is, one after the other.
    pub over: Over,
}

/// What something is repeated for.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// The whole numbers from one to another, both included.
    Range(Expression, Expression),
    /// These numbers and words.
    Each(Vec<Expression>),
}

/// `A, O`, `output_{i} for i in 2..n`
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    /// The names.
    pub names: Vec<Name>,
    /// How often they are repeated.
    pub repeat: Option<Repeat>,
}

/// A line, with those that continue it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Where it begins.
    pub at: At,
    /// What it does.
    pub kind: LineKind,
}

/// What a line does.
#[derive(Clone, Debug, PartialEq)]
pub enum LineKind {
    /// `NAME = …`
    Define(Box<Definition>),
    /// `let NAME = …`
    Let(String, Expression),
    /// `: text`
    Say(String),
    /// `show A, O`, each after the other.
    Show(Names),
    /// `show Q | K | V`, side by side, and `show alone X`.
    Together(Names),
    /// `fold W_Q, W_K`
    Fold(Names),
    /// `brief S`
    Brief(Name),
    /// `columns S | P sum total`: rows of numbers as the columns of one table, with the sums below them.
    Columns(Vec<(Name, Option<Name>)>),
    /// `symbols X`
    Symbols(Name),
    /// `plane X, Y, X → O`: points, and arrows from the rows of one matrix to those of another.
    Plane(Vec<Name>, Vec<Arrow>),
    /// `words kind: empty, mixed, full`: the cells 0, 1 and 2 in words.
    Words(Name, Vec<String>),
    /// `take E, L1.A_3 from cave`: matrices of a run of a model.
    Take(Vec<Name>, String),
    /// `if CONDITION: text`, and `instead if CONDITION: text`.
    If {
        /// Whether the text takes the place of the step's sentence.
        instead: bool,
        /// When.
        condition: Expression,
        /// The text.
        text: String,
    },
    /// `need CONDITION: text`, and `help: text` behind it.
    Need {
        /// What has to hold.
        condition: Expression,
        /// The error.
        error: String,
        /// What to do.
        help: Option<String>,
    },
    /// `gradients of O from dO to X, W_Q`
    Gradients {
        /// What they begin at.
        of: Name,
        /// The gradient of that; of a single number it is 1.
        from: Option<Name>,
        /// What they lead to.
        to: Vec<Name>,
    },
    /// `| a | b |`, `| {t} | {A_{t}[1,1]} | for t in 1..3`
    Row(Vec<String>, Option<Repeat>),
}

/// From the rows of one matrix to those of another: `X → O`.
pub type Arrow = (Name, Name);

/// `S = Q Kᵀ rows bat, cave label "scores"`
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: Name,
    /// What it is.
    pub is: Expression,
    /// The names of its rows.
    pub rows: Option<Lines>,
    /// The names of its columns.
    pub cols: Option<Lines>,
    /// Its name on the screen.
    pub label: Option<String>,
    /// What was put together: “heads”.
    pub of: Option<String>,
    /// Where given numbers come from: `origin (kind = "drawn", seed = 0)`.
    pub origin: Option<Expression>,
    /// The step of attention that it is: `stage (stage = "scores", head = 1)`.
    pub stage: Option<Expression>,
}

/// Names of rows or columns, `rows ()` for none: `rows bat, cave`, `cols "head {h}" for h in 1..H`, `rows like rows(X)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The names, or what stands before those of another matrix.
    pub names: Vec<String>,
    /// How often they are repeated.
    pub repeat: Option<Repeat>,
    /// The matrix whose rows, or else columns, have these names.
    pub like: Option<(bool, Name)>,
    /// The names are those of the demo's own numbers: it has none where the user changes one of these matrices.
    pub own: Vec<Name>,
}

/// A name, in which `{…}` stands for numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// Where it stands.
    pub at: At,
    /// Its texts, and the numbers between them.
    pub pieces: Vec<Piece>,
}

/// A part of a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// `{h}`
    Number(Expression),
}

/// An expression, and where it begins. Two are equal if they say the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Where it begins.
    pub at: At,
    /// What it is.
    pub kind: Box<ExpressionKind>,
    /// The text that it stands in, and its bytes there.
    text: Arc<str>,
    bytes: Range<usize>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.kind == other.kind
    }
}

impl fmt::Display for Expression {
    /// As it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text[self.bytes.clone()])
    }
}

impl Expression {
    /// Where it begins, and its first byte.
    fn begin(&self) -> (At, usize) {
        (self.at, self.bytes.start)
    }

    /// Something else in its place.
    #[must_use]
    pub fn with(&self, kind: ExpressionKind) -> Expression {
        Expression { kind: Box::new(kind), text: Arc::clone(&self.text), bytes: self.bytes.clone(), ..*self }
    }

    /// The expressions that it is made of.
    pub fn parts_mut(&mut self) -> Vec<&mut Expression> {
        use ExpressionKind as Kind;
        match &mut *self.kind {
            Kind::Call { arguments, .. } => arguments.iter_mut().collect(),
            Kind::Each { first, argument, repeat, .. } => {
                let bounds = match &mut repeat.over {
                    Over::Range(from, to) => vec![from, to],
                    Over::Each(_) => Vec::new(),
                };
                first.iter_mut().chain([argument]).chain(bounds).collect()
            }
            Kind::LargestSize(a) | Kind::Transposed(a) | Kind::Unary(_, a) | Kind::Is(_, a) => vec![a],
            Kind::Binary(_, a, b) => vec![a, b],
            Kind::Close(a, b, within) => [a, b].into_iter().chain(within).collect(),
            Kind::Choice(a, b, c) => vec![a, b, c],
            _ => Vec::new(),
        }
    }

    /// Visits it, and then all that it is made of.
    pub fn each(&mut self, visit: &mut dyn FnMut(&mut ExpressionKind)) {
        visit(&mut self.kind);
        self.parts_mut().into_iter().for_each(|part| part.each(visit));
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// `0.5`, `1e-9`, `inf`
    Number(f64),
    /// `Q_{h}`
    Name(Name),
    /// `causal`-like words and labels in quotes: `"layer 1"`.
    Text(String),
    /// `[1 0; 0 1]`
    Matrix(Vec<Vec<f64>>),
    /// `(kind = "drawn", seed = 0)`
    Object(Vec<(String, Expression)>),
    /// `X[1..3]`, `A[bat,cave]`
    Part(Name, Vec<Index>),
    /// `plain:A[bat,cave]` of a lesson; of a demo, where the names of a condition are written out, without a run.
    Reference {
        /// The name of the run.
        run: String,
        /// The node, row, column or cell, as everywhere in `attn`; a column is `A[*,cave]`.
        address: String,
    },
    /// `== 0`, as `count(A, == 0)` has it.
    Is(Sign, Expression),
    /// `softmax(S)`, `attend(Q, K, V, heads = 4)`
    Call {
        /// The function.
        function: String,
        /// Its arguments.
        arguments: Vec<Expression>,
        /// Those with a name.
        settings: Vec<(String, Expression)>,
    },
    /// `stack(o_{t} for t in 1..T)`
    Each {
        /// The function.
        function: String,
        /// The arguments before it.
        first: Vec<Expression>,
        /// The argument that is repeated.
        argument: Expression,
        /// How often.
        repeat: Repeat,
    },
    /// `max|D|`
    LargestSize(Expression),
    /// `Kᵀ`
    Transposed(Expression),
    /// `−x`, `not c`
    Unary(Sign, Expression),
    /// `a + b`
    Binary(Sign, Expression, Expression),
    /// `a ≈ b ± 0.001`
    Close(Expression, Expression, Option<Expression>),
    /// `a if c else b`
    Choice(Expression, Expression, Expression),
    /// `table(3, 3): 1 if i == j else 0`
    Table(Expression, Expression, Expression),
    /// `100 in 1..1000`
    Whole(Expression, Expression, Expression),
    /// `draw(4, 5) after 297`
    Draw(Expression, Expression, Option<Expression>),
    /// `[1 3 0] fitted to a`
    Fitted(Vec<Vec<f64>>, Name),
    /// `[4 0; 0 2] repeated to rows(X)`
    Repeated(Vec<Vec<f64>>, Expression),
}

/// A row or column, or several.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// All of them.
    All,
    /// One, by its number or its name.
    One(Expression),
    /// From one to another, both included.
    Range(Expression, Expression),
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `a b`, `a · b`, `a @ b`
    Product,
    /// `a ∘ b`, `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a + b`
    Plus,
    /// `a − b`, `−a`
    Minus,
    /// `a mod b`
    Modulo,
    /// `a ^ b`
    Power,
    /// `a == b`
    Equal,
    /// `a != b`
    Differs,
    /// `a < b`
    Less,
    /// `a <= b`
    AtMost,
    /// `a > b`
    More,
    /// `a >= b`
    AtLeast,
    /// `a and b`
    And,
    /// `a or b`
    Or,
    /// `not a`
    Not,
}
