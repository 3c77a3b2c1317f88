//! The language of demos: what the screen prints can be typed. docs/language.md tells it to people.
//!
//! A text becomes a [`Program`]: data without meaning, in which every part knows its place. What its names are, who computes them.

mod lexer;
mod parser;

pub use parser::{expression, program};

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
    /// How often it is repeated: a name for the number, the first and the last.
    pub repeat: Option<(String, Expression, Expression)>,
    /// The lines.
    pub lines: Vec<Line>,
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
    Define(Definition),
    /// `let NAME = …`
    Let(String, Expression),
    /// `: text`
    Say(String),
    /// `show A, O`, each after the other.
    Show(Vec<Name>),
    /// `show Q | K | V`, side by side, and `show alone X`.
    Together(Vec<Name>),
    /// `fold W_Q, W_K`
    Fold(Vec<Name>),
    /// `brief S`
    Brief(Name),
    /// `if CONDITION: text`, and `instead if CONDITION: text`.
    If {
        /// Whether the text takes the place of the step's sentence.
        instead: bool,
        /// When.
        condition: Expression,
        /// The text.
        text: String,
    },
    /// `need CONDITION: text`
    Need(Expression, String),
    /// `gradients of O from dO to X, W_Q`
    Gradients {
        /// What they begin at.
        of: Name,
        /// The gradient of that.
        from: Name,
        /// What they lead to.
        to: Vec<Name>,
    },
    /// `| a | b |`
    Row(Vec<String>),
}

/// `S = Q Kᵀ rows bat, cave label "scores"`
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: Name,
    /// What it is.
    pub is: Expression,
    /// The names of its rows.
    pub rows: Vec<String>,
    /// The names of its columns.
    pub cols: Vec<String>,
    /// Its name on the screen.
    pub label: Option<String>,
    /// What was put together: “heads”.
    pub of: Option<String>,
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

/// An expression, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Where it begins.
    pub at: At,
    /// What it is.
    pub kind: Box<ExpressionKind>,
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
    /// `X[1..3]`, `A[bat,cave]`
    Part(Name, Vec<Index>),
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
        /// The argument that is repeated.
        argument: Expression,
        /// The number.
        variable: String,
        /// The first.
        first: Expression,
        /// The last.
        last: Expression,
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
