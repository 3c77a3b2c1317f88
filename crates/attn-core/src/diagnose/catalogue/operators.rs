//! The operators that alter the numbers at a site, and their sentences.

use crate::attention::{Axis, Mask, Order};
use crate::diagnose::Facts;
use crate::graph::recipes::{Alter, Combine, Move, Norm, OtherMatrix, Recipe, Site};
use crate::graph::{GeluForm, Role};

use super::stages::{PLACES, PROJECTIONS, StageWords};
use super::{Way, Ways, altered};

/// The subject of an operator's sentence: the altered numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// All of its numbers: “the queries”.
    All,
    /// A part in the plural: “the rows” of the queries.
    Parts(&'static str),
    /// A part in the singular: “the first row” of the queries.
    Part(&'static str),
}

/// An operator on numbers, and its sentence: “The first row of the queries was set to 0.”
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operator {
    pub alter: Alter,
    pub of: Subject,
    /// The operation, as a participle: “squared”. `{their}` stands for “their” or “its”.
    pub done: String,
}

fn all(alter: Alter, done: impl Into<String>) -> Operator {
    Operator { alter, of: Subject::All, done: done.into() }
}

/// All operators at a site of an exercise.
pub(super) fn operators(place: &StageWords, recipe: &Recipe, facts: &Facts) -> Vec<Operator> {
    let mut operators = functions();
    operators.extend(norms());
    operators.extend([Axis::Rows, Axis::Columns].into_iter().flat_map(moves));
    operators.extend(patterns());
    operators.extend(positions());
    operators.extend(with_others(place));
    // What multiplies all scores, weights, values or results is solved for.
    let is_fitted = !matches!(
        place.stage,
        Site::Tokens
            | Site::TokensAndResidual
            | Site::Residual
            | Site::RoleWeights
            | Site::Roles
            | Site::KeysAndValues
            | Site::Projected
            | Site::Heads
    );
    if !is_fitted {
        operators.extend(factors(recipe, facts));
    }
    operators
}

/// Functions of each number.
fn functions() -> Vec<Operator> {
    let mut functions = vec![
        all(Alter::Negated, "negated"),
        all(Alter::Plus(1.0), "increased by 1"),
        all(Alter::Plus(-1.0), "reduced by 1"),
        all(Alter::From(1.0), "subtracted from 1"),
        all(Alter::Relu, "put through a ReLU"),
        all(Alter::LeakyRelu, "put through a leaky ReLU"),
        all(Alter::Gelu(GeluForm::Erf), "put through a GELU"),
        all(Alter::Gelu(GeluForm::Tanh), "put through a GELU, approximated by a tanh,"),
        all(Alter::Elu, "put through an ELU"),
        all(Alter::Silu, "put through a SiLU"),
        all(Alter::Softplus, "put through a softplus"),
        all(Alter::Sigmoid, "put through a sigmoid"),
        all(Alter::Tanh, "put through a tanh"),
        all(Alter::Exponential, "put through exp"),
        all(Alter::LogarithmOfSize, "put through ln |x|"),
        all(Alter::LogarithmOfOneAndSize, "put through ln(1 + |x|)"),
        all(Alter::RootOfSize, "put through √|x|"),
        all(Alter::Inverse, "put through 1/x"),
        all(Alter::Squared, "squared"),
        all(Alter::Cubed, "cubed"),
        all(Alter::Absolute, "replaced by {their} absolute values"),
        all(Alter::Sign, "replaced by {their} signs"),
        all(Alter::Clipped(-1.0, 1.0), "clipped to the range from −1 to 1"),
        all(Alter::Clipped(0.0, 1.0), "clipped to the range from 0 to 1"),
        all(Alter::Truncated(0), "cut off to whole numbers"),
    ];
    functions.extend(
        (0..=3).map(|digits| all(Alter::Rounded(digits), format!("rounded {}", super::decimals(digits)))),
    );
    functions
}

/// Times and over the usual numbers of the exercise, none of them twice.
fn factors(recipe: &Recipe, facts: &Facts) -> Vec<Operator> {
    let root = |n: usize| (n as f64).sqrt();
    let width = facts.x.map_or(facts.q.cols, |x| x.cols);
    let numbers = [
        (2.0, "2".to_string()),
        (3.0, "3".to_string()),
        (10.0, "10".to_string()),
        (root(facts.d_k), "√d_k".to_string()),
        (facts.d_k as f64, "d_k".to_string()),
        (root(width), "√d_model".to_string()),
        (width as f64, "d_model".to_string()),
        (root(facts.keys), "√N, the root of the number of tokens,".to_string()),
        (facts.keys as f64, "N, the number of tokens,".to_string()),
        (root(recipe.heads), "√H, the root of the number of heads,".to_string()),
        (recipe.heads as f64, "H, the number of heads,".to_string()),
    ];
    let mut known: Vec<f64> = vec![1.0];
    let mut factors = Vec::new();
    for (number, name) in numbers {
        if known.iter().any(|known| (known - number).abs() < 1e-9) {
            continue;
        }
        known.push(number);
        factors.push(all(Alter::Times(number), format!("multiplied by {name}").trim_end_matches(',')));
        factors.push(all(Alter::Times(1.0 / number), format!("divided by {name}").trim_end_matches(',')));
    }
    factors
}

/// Norms along every axis.
fn norms() -> Vec<Operator> {
    let standard = |epsilon, sample| Norm::Standard { epsilon, sample };
    let axes = [(Axis::Rows, "each row"), (Axis::Columns, "each column"), (Axis::Whole, "the whole matrix")];
    axes.into_iter()
        .flat_map(|(axis, each)| {
            let within = format!("standardised within {each}");
            let norms = [
                (Norm::Softmax, format!("put through a softmax of {each}")),
                (Norm::Sum, format!("divided by the sum of {each}")),
                (Norm::SizeSum, format!("divided by the sum of the absolute values of {each}")),
                (Norm::Length, format!("divided by the Euclidean length of {each}")),
                (Norm::Max, format!("divided by the largest number of {each}")),
                (Norm::MaxSize, format!("divided by the largest absolute value of {each}")),
                (Norm::Range, format!("scaled to the range from 0 to 1 within {each}")),
                (Norm::Centred, format!("reduced by the mean of {each}")),
                (Norm::MinusMax, format!("reduced by the largest number of {each}")),
                (standard(1e-5, false), within.clone()),
                (standard(0.0, false), format!("{within}, without ε,")),
                (standard(1e-5, true), format!("{within}, with n − 1 in the variance,")),
                (standard(0.0, true), format!("{within}, with n − 1 in the variance and without ε,")),
                (Norm::RootMeanSquare(1e-5), format!("divided by the root mean square of {each}")),
                (Norm::RootMeanSquare(0.0), format!("divided by the root mean square of {each}, without ε,")),
            ];
            norms.map(|(norm, done)| all(Alter::Normed(norm, axis), done))
        })
        .collect()
}

/// Rearranged rows or columns.
fn moves(axis: Axis) -> Vec<Operator> {
    let is_rows = axis == Axis::Rows;
    let word = |rows: &'static str, columns: &'static str| if is_rows { rows } else { columns };
    let each = Subject::Parts(word("the rows", "the columns"));
    let first = Subject::Part(word("the first row", "the first column"));
    let last = Subject::Part(word("the last row", "the last column"));
    let first_half = Subject::Part(word("the first half of the rows", "the first half of the columns"));
    let last_half = Subject::Part(word("the last half of the rows", "the last half of the columns"));
    let halves = Subject::Parts(word("the two halves of the rows", "the two halves of the columns"));
    let ends = Subject::Parts(word("the first and the last row", "the first and the last column"));
    let max = word("the largest number of each column", "the largest number of each row");
    let moves = [
        (Move::Reversed, each, "put in reverse order".to_string()),
        (Move::Later, each, "rolled by one place, so that the last one came first,".to_string()),
        (Move::Earlier, each, "rolled by one place, so that the first one came last,".to_string()),
        (Move::FirstZero, first, "set to 0".to_string()),
        (Move::LastZero, last, "set to 0".to_string()),
        (Move::FirstHalfZero, first_half, "set to 0".to_string()),
        (Move::LastHalfZero, last_half, "set to 0".to_string()),
        (Move::LaterFromZero, each, "moved one place later, with zeros in the first place,".to_string()),
        (Move::EarlierToZero, each, "moved one place earlier, with zeros in the last place,".to_string()),
        (Move::FirstTwice, each, "moved one place later, with the first one twice,".to_string()),
        (Move::LastTwice, each, "moved one place earlier, with the last one twice,".to_string()),
        (Move::LastReplaced, last, "replaced by the one before it".to_string()),
        (Move::FirstGone, first, "left out".to_string()),
        (Move::LastGone, last, "left out".to_string()),
        (Move::EndsSwapped, ends, "swapped".to_string()),
        (Move::HalvesSwapped, halves, "swapped".to_string()),
        (Move::NeighboursSwapped, each, "swapped in pairs of neighbours".to_string()),
        (Move::FirstForAll, each, "all replaced by the first one".to_string()),
        (Move::LastForAll, each, "all replaced by the last one".to_string()),
        (Move::MeanForAll, each, "all replaced by their mean".to_string()),
        (Move::SumForAll, each, "all replaced by their sum".to_string()),
        (Move::MaxForAll, each, format!("all replaced by {max}")),
        (Move::Cumulative, each, "replaced by their running sums".to_string()),
        (Move::CumulativeFromEnd, each, "replaced by their running sums from the end".to_string()),
        (Move::RunningMean, each, "replaced by their running means".to_string()),
        (Move::Differences, each, "replaced by their differences from the one before".to_string()),
        (Move::Repeated, each, "taken twice".to_string()),
        (Move::MeanOnly, each, "averaged into one".to_string()),
        (Move::SumOnly, each, "added up into one".to_string()),
        (Move::MaxOnly, each, format!("reduced to one, {max},")),
        (Move::FirstOnly, each, "reduced to the first one".to_string()),
        (Move::LastOnly, each, "reduced to the last one".to_string()),
    ];
    let operator = |(how, of, done)| Operator { alter: Alter::Moved(how, axis), of, done };
    moves.into_iter().map(operator).collect()
}

/// Triangles, diagonals, and other readings of the same cells.
fn patterns() -> Vec<Operator> {
    let plain = Mask { from_start: true, ..Mask::default() };
    let lower = Mask { causal: true, ..plain };
    let diagonal = Mask { window: Some(1), ..plain };
    let strict = Mask { hides_own: true, ..lower };
    vec![
        all(Alter::Kept(lower), "cut to the lower triangle"),
        all(Alter::Kept(strict), "cut to the triangle below the diagonal"),
        all(Alter::Kept(Mask { inverted: true, ..strict }), "cut to the upper triangle"),
        all(Alter::Kept(Mask { inverted: true, ..lower }), "cut to the triangle above the diagonal"),
        all(Alter::Kept(diagonal), "cut to the diagonal"),
        Operator {
            alter: Alter::Kept(Mask { inverted: true, ..diagonal }),
            of: Subject::Part("the diagonal"),
            done: "set to 0".into(),
        },
        all(Alter::IdentityAdded, "increased by the identity matrix"),
        all(Alter::Transposed, "transposed"),
        all(Alter::ReadByColumn, "transposed and read back into the old shape row by row"),
        all(Alter::ReshapedAndTransposed, "reshaped to the transposed shape and transposed back"),
        all(Alter::Sorted(Order::Ascending, Axis::Rows), "sorted within each row"),
        all(Alter::Sorted(Order::Ascending, Axis::Columns), "sorted within each column"),
    ]
}

/// Positions, added or as angles.
fn positions() -> Vec<Operator> {
    vec![
        all(Alter::Positions(1), "given sinusoidal positions"),
        all(Alter::Positions(2), "given sinusoidal positions twice"),
        all(Alter::PositionsFromOne, "given sinusoidal positions that count from 1"),
        all(Alter::PositionsInHalves, "given positions with all sines before all cosines"),
        all(Alter::RotaryHalves, "rotated by {their} positions (RoPE, halves)"),
        all(Alter::RotaryNeighbours, "rotated by {their} positions (RoPE, neighbouring columns)"),
    ]
}

/// Whether a node is one of the projection matrices.
fn is_projection(name: &str) -> bool {
    [Role::WQ, Role::WK, Role::WV, Role::WO].iter().any(|role| role.name() == name)
}

/// Other matrices of the same computation, added, subtracted, multiplied.
fn with_others(place: &StageWords) -> Vec<Operator> {
    let mut operators = Vec::new();
    for &name in place.others {
        let said = match name {
            "S" => "the scores",
            "S_scaled" => "the scaled scores",
            _ => name,
        };
        let other = OtherMatrix::Node(name);
        if is_projection(name) && place.id != PROJECTIONS {
            let again = if is_own(place.stage, name) { " once more" } else { "" };
            operators.push(all(Alter::With(Combine::Product, other), format!("multiplied by {name}{again}")));
            let turned = Alter::With(Combine::ProductTransposed, other);
            operators.push(all(turned, format!("multiplied by the transpose of {name}")));
            continue;
        }
        let ways = [
            (Combine::Replaced, format!("replaced by {said}")),
            (Combine::Added, format!("increased by {said}")),
            (Combine::Subtracted, format!("reduced by {said}")),
            (Combine::SubtractedFrom, format!("subtracted from {said}")),
            (Combine::Multiplied, format!("multiplied by {said} cell by cell")),
            (Combine::Averaged, format!("averaged with {said}")),
            (Combine::Product, format!("multiplied by {said} as a matrix")),
            (Combine::ProductTransposed, format!("multiplied by the transpose of {said}")),
        ];
        operators.extend(ways.map(|(how, done)| all(Alter::With(how, other), done)));
    }
    let turned = OtherMatrix::ItselfTransposed;
    operators.extend([
        all(Alter::With(Combine::Added, turned), "increased by {their} transpose"),
        all(Alter::With(Combine::Averaged, turned), "averaged with {their} transpose"),
        all(Alter::With(Combine::Subtracted, turned), "reduced by {their} transpose"),
        all(Alter::With(Combine::Multiplied, turned), "multiplied by {their} transpose cell by cell"),
        all(Alter::With(Combine::Product, OtherMatrix::Itself), "multiplied by themselves as a matrix"),
        all(Alter::With(Combine::ProductTransposed, OtherMatrix::Itself), "multiplied by {their} transpose"),
    ]);
    operators
}

/// Whether a projection is the one that made the numbers at a site.
fn is_own(stage: Site, name: &str) -> bool {
    match stage {
        Site::WholeQueries | Site::Queries => name == "W_Q",
        Site::WholeKeys | Site::Keys => name == "W_K",
        Site::WholeValues | Site::Values => name == "W_V",
        Site::Result | Site::Projected => name == "W_O",
        _ => false,
    }
}

// What to look for in the code where something was done that attention does not do.

/// “Use the queries as they are: look for `np.roll`, or a range that is off by one.”
pub(super) fn fix(place: &StageWords, alter: Alter) -> String {
    let are = if place.plural { "they are" } else { "it is" };
    let as_is = match place.stage {
        Site::Result => "Hand in the result as it is".to_string(),
        _ => format!("Use {} as {are}", place.noun),
    };
    match cause(alter) {
        Some(cause) => format!("{as_is}: {cause}."),
        None => format!("{as_is}."),
    }
}

/// What usually does it, and is to be deleted or corrected.
fn cause(alter: Alter) -> Option<&'static str> {
    let cause = match alter {
        Alter::Negated => "look for a minus sign that should not be there",
        Alter::Times(_) => "leave out the factor",
        Alter::Plus(_) | Alter::From(_) => "leave out the number that is added or subtracted",
        Alter::Relu
        | Alter::LeakyRelu
        | Alter::Gelu(_)
        | Alter::Elu
        | Alter::EluAndOne
        | Alter::Silu
        | Alter::Softplus
        | Alter::Sigmoid
        | Alter::Tanh => "leave out the activation function",
        Alter::Exponential
        | Alter::LogarithmOfSize
        | Alter::LogarithmOfOneAndSize
        | Alter::RootOfSize
        | Alter::Inverse
        | Alter::Squared
        | Alter::Cubed
        | Alter::Absolute
        | Alter::Sign
        | Alter::Clipped(..) => "leave out the function",
        Alter::Normed(Norm::Softmax, _) => "leave out the softmax",
        Alter::Normed(..) => "leave out the norm",
        Alter::Rounded(_) => "round only what you print",
        Alter::Truncated(_) => "look for a conversion to `int`, and round only what you print",
        Alter::Moved(how, _) => return moved(how),
        Alter::With(Combine::Added | Combine::Subtracted | Combine::SubtractedFrom, _) => {
            "leave out what is added or subtracted"
        }
        Alter::With(Combine::Multiplied | Combine::Product | Combine::ProductTransposed, _) => {
            "leave out the product"
        }
        Alter::With(Combine::Averaged, _) => "leave out the average",
        Alter::With(Combine::Replaced, _) => "look for a variable of another name",
        Alter::Transposed => "look for `.T` or `transpose`",
        Alter::ReadByColumn | Alter::ReshapedAndTransposed | Alter::Reshaped { .. } => {
            "look for a reshape where a transpose is meant"
        }
        Alter::Kept(_) => "look for `tril`, `triu` or `diag`",
        Alter::IdentityAdded => "look for an identity matrix (`eye`) that is added",
        Alter::Sorted(..) => "look for `sort`",
        Alter::TopK { .. } => "look for `topk`",
        Alter::Slanted(_) => "look for a reference without `$` in a formula that was filled down",
        Alter::Positions(_) | Alter::PositionsFromOne | Alter::PositionsInHalves => "leave out the positions",
        Alter::RotaryHalves | Alter::RotaryNeighbours => "leave out the rotary positions",
        Alter::PaddingZeroed(_) | Alter::Biased | Alter::AttendedAgain => return None,
    };
    Some(cause)
}

/// What usually moves, repeats or drops rows and columns.
fn moved(how: Move) -> Option<&'static str> {
    let cause = match how {
        Move::Reversed => "look for `[::-1]` or `flip`",
        Move::Later
        | Move::Earlier
        | Move::LaterFromZero
        | Move::EarlierToZero
        | Move::FirstTwice
        | Move::LastTwice => "look for `roll`, or an index that is off by one",
        Move::FirstGone => "look for a range that begins at 1, or a first line that was read as a header",
        Move::LastGone | Move::LastZero | Move::LastReplaced => "look for a range that ends one too early",
        Move::FirstZero => "look for a range that begins at 1",
        Move::FirstHalfZero | Move::LastHalfZero => "look for a loop over half of the range",
        Move::EndsSwapped | Move::HalvesSwapped | Move::NeighboursSwapped => {
            "look for an index in another order"
        }
        Move::FirstForAll | Move::FirstOnly => "look for an index of 0 where the loop's own index is meant",
        Move::LastForAll | Move::LastOnly => "look for an index of −1, or a variable that a loop overwrites",
        Move::MeanForAll | Move::MeanOnly => "look for a call of `mean` over the rows or columns",
        Move::SumForAll | Move::SumOnly => "look for a call of `sum` over the rows or columns",
        Move::MaxForAll | Move::MaxOnly => "look for a call of `max` over the rows or columns",
        Move::Cumulative | Move::CumulativeFromEnd => "look for `cumsum`, or a sum that is not set back to 0",
        Move::RunningMean => "look for a mean of all rows so far",
        Move::Differences => "look for `diff`",
        Move::Repeated => "look for `repeat` or `concatenate`",
    };
    Some(cause)
}

// Every operator at every site, with sentences composed from the two tables. Mistakes with a name of their own are found before.

/// The ways of one mistake: everything that can be done at its stages.
pub(super) fn ways(id: &str, recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let places = PLACES.iter().filter(|place| place.id == id && (place.is_there)(recipe, facts));
    places
        .flat_map(|place| {
            operators(place, recipe, facts).into_iter().map(move |operator| way(place, &operator))
        })
        .collect()
}

fn way(place: &StageWords, operator: &Operator) -> Way {
    let way = Way::detailed(altered(place.stage, operator.alter), detail(place, operator));
    Way { general: true, ..way.saying(sentence(place, operator)).fixing(fix(place, operator.alter)) }
}

/// The clause of an operator, with “their” or “its” and “themselves” or “itself”.
fn done(place: &StageWords, operator: &Operator) -> String {
    let is_plural = match operator.of {
        Subject::All => place.plural,
        Subject::Parts(_) => true,
        Subject::Part(_) => false,
    };
    let done = operator.done.replace("{their}", if is_plural { "their" } else { "its" });
    if is_plural { done } else { done.replace("themselves", "itself") }
}

/// “The first row of the queries was set to 0 before the scores were computed.”
fn sentence(place: &StageWords, operator: &Operator) -> String {
    let (subject, verb) = match operator.of {
        Subject::All => (place.noun.to_string(), place.verb()),
        Subject::Parts(parts) => (format!("{parts} of {}", place.noun), "were"),
        Subject::Part(part) => (format!("{part} of {}", place.noun), "was"),
    };
    let done = done(place, operator);
    let rest = match place.when {
        "" => done.trim_end_matches(',').to_string(),
        when => format!("{done} {when}"),
    };
    let sentence = format!("{subject} {verb} {rest}.");
    let (first, rest) = sentence.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// “first row set to 0, after the scale”.
fn detail(place: &StageWords, operator: &Operator) -> String {
    let done = done(place, operator);
    let done = done.trim_end_matches(',');
    let what = match operator.of {
        Subject::All => done.to_string(),
        Subject::Parts(part) | Subject::Part(part) => format!("{} {done}", part.trim_start_matches("the ")),
    };
    if place.note.is_empty() { what } else { format!("{what}, {}", place.note) }
}

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("tokens-altered", |recipe, facts| ways("tokens-altered", recipe, facts)),
    ("projections-altered", |recipe, facts| ways("projections-altered", recipe, facts)),
    ("queries-altered", |recipe, facts| ways("queries-altered", recipe, facts)),
    ("keys-altered", |recipe, facts| ways("keys-altered", recipe, facts)),
    ("keys-values-altered", |recipe, facts| ways("keys-values-altered", recipe, facts)),
    ("queries-keys-values-altered", |recipe, facts| ways("queries-keys-values-altered", recipe, facts)),
    ("heads-altered", |recipe, facts| ways("heads-altered", recipe, facts)),
    ("residual-altered", |recipe, facts| ways("residual-altered", recipe, facts)),
    ("result-altered", |recipe, facts| ways("result-altered", recipe, facts)),
];
