//! What stands behind the words of a demo: the matrices that have names, numbers and words, and the work that is counted.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

// What all parts of a teller need.
pub(super) use crate::demo::Settings;
pub(super) use crate::error::{Error, Result};
pub(super) use crate::graph::{NodeId, Op, Origin};
pub(super) use crate::language::{At, Expression, ExpressionKind as Kind, Index, Name, Sign};
pub(super) use crate::matrix::{Labels, Matrix, Shape};
pub(super) use crate::story::{Claim, Step};
pub(super) use crate::text::{clip, counted, nearest};

use crate::error::Place;
use crate::graph::{Graph, Statistic};
use crate::language::{Names, Over, Piece, Repeat, expression, functions, of_numbers};
use crate::model::{Forward, Text};

/// The size of the largest number.
pub(super) const LARGEST: Op = Op::Summary(Statistic::MaxSize);

/// No demo computes more, in multiplications.
const MOST_WORK: f64 = 2e9;
/// A matrix by a rule has at most this many rows, and columns; nothing is repeated more often.
const MOST_LINES: usize = 2048;

/// What a name stands for that is no matrix.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number.
    Number(f64),
    /// A word, such as the name of a case.
    Word(String),
}

/// The names that are no matrices.
pub(super) type Values = HashMap<String, Value>;

/// Tells a program: makes its graph and its steps. Nothing here computes: every value comes from an op of the graph.
pub(super) struct Teller<'a> {
    pub(super) file: &'a str,
    pub(super) settings: &'a Settings,
    pub(super) graph: Graph,
    pub(super) steps: Vec<Step>,
    /// The remarks, where they stand, and what has a name there. Their conditions are read in the end: they may be about what is defined below.
    pub(super) claims: Vec<(Claim, At, Values)>,
    /// The numbers and words that have names.
    pub(super) values: RefCell<Values>,
    /// The shapes of all matrices of the demo itself, where the user has put in others.
    pub(super) own: Option<HashMap<String, Shape>>,
    /// Where the numbers have their names.
    pub(super) named: HashMap<String, At>,
    /// The texts that the model reads.
    pub(super) runs: HashMap<String, Run>,
    /// The numbers that were drawn.
    pub(super) drawn: usize,
    /// The seed of the demo's own random matrices; a demo that was written out says which it was.
    pub(super) own_seed: u32,
    /// The steps of computation so far.
    pub(super) nodes: usize,
    /// The work so far; see [`Teller::spend`].
    work: Cell<f64>,
}

/// A text that the model reads.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) text: Text,
    /// What the model computes, where asked for without a head.
    pub(super) forward: Rc<Forward>,
}

/// Braces that stand for themselves, until all numbers are written out.
const HIDDEN: [(char, char); 2] = [('{', '\u{e000}'), ('}', '\u{e001}')];

/// A text in which braces stand for themselves.
pub(super) fn hidden(text: &str) -> String {
    HIDDEN.iter().fold(text.to_string(), |text, (brace, hidden)| text.replace(*brace, &hidden.to_string()))
}

/// The text itself again.
pub(super) fn plain(text: &str) -> String {
    HIDDEN.iter().fold(text.to_string(), |text, (brace, hidden)| text.replace(*hidden, &brace.to_string()))
}

/// The place of the brace that closes one that was opened before this text.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl<'a> Teller<'a> {
    /// A teller under the user's settings.
    pub(super) fn new(
        file: &'a str,
        settings: &'a Settings,
        own: Option<HashMap<String, Shape>>,
    ) -> Teller<'a> {
        Teller {
            file,
            settings,
            graph: Graph::new(),
            steps: Vec::new(),
            claims: Vec::new(),
            values: RefCell::default(),
            own,
            named: HashMap::new(),
            runs: HashMap::new(),
            drawn: 0,
            own_seed: crate::demo::SEED,
            nodes: 0,
            work: Cell::new(0.0),
        }
    }

    pub(super) fn wrong(&self, at: At, what: impl Into<String>) -> Error {
        self.placed(Error::new(what), at)
    }

    pub(super) fn placed(&self, error: Error, at: At) -> Error {
        // A place in a demo of the program says nothing to its user.
        if self.file.is_empty() {
            return error;
        }
        // A number in braces has no place of its own.
        if at.line == 0 {
            return error.in_source(self.file);
        }
        error.within(Place::Text(self.file.to_string(), at.line, at.column))
    }

    /// Counts work before it is done: about one for a multiplication.
    pub(super) fn spend(&self, at: At, work: f64) -> Result<()> {
        self.work.set(self.work.get() + work);
        if self.work.get() > MOST_WORK {
            return Err(self
                .wrong(at, "this demo computes too much: more than 2,000,000,000 multiplications")
                .help("make its matrices smaller, or its repetitions fewer"));
        }
        Ok(())
    }

    // What is repeated.

    /// What a name stands for, one after the other.
    pub(super) fn each(&self, repeat: &Repeat) -> Result<Vec<Value>> {
        let values = match &repeat.over {
            Over::Range(first, last) => {
                let [from, to] = [self.whole(first)?, self.whole(last)?];
                if to.saturating_sub(from) >= MOST_LINES {
                    return Err(self.wrong(first.at, format!("this repeats more than {MOST_LINES} times")));
                }
                if to + 1 < from {
                    return Err(self
                        .wrong(first.at, format!("this repeats from {from} to {to}"))
                        .help("the last number is at least the first; one less means not at all"));
                }
                (from..=to).map(|number| Value::Number(number as f64)).collect()
            }
            Over::Each(items) => {
                let item = |item: &Expression| match &*item.kind {
                    Kind::Text(word) => Ok(Value::Word(word.clone())),
                    Kind::Name(name) if !self.is_number(item) => Ok(Value::Word(self.name(name)?)),
                    _ => Ok(Value::Number(self.number(item)?)),
                };
                items.iter().map(item).collect::<Result<Vec<_>>>()?
            }
        };
        Ok(values)
    }

    /// Gives a name another value; returns the one that it had.
    pub(super) fn bind(&self, name: &str, value: Option<Value>) -> Option<Value> {
        let mut values = self.values.borrow_mut();
        match value {
            Some(value) => values.insert(name.to_string(), value),
            None => values.remove(name),
        }
    }

    /// The results of something of this many parts that is repeated, or done once.
    pub(super) fn repeated<T>(
        &self,
        repeat: Option<&Repeat>,
        parts: usize,
        mut once: impl FnMut() -> Result<T>,
    ) -> Result<Vec<T>> {
        let Some(repeat) = repeat else { return Ok(vec![once()?]) };
        let values = self.each(repeat)?;
        let before = self.values.borrow().get(&repeat.variable).cloned();
        let each = |value: Value| {
            self.spend(At::default(), 2000.0 + 200.0 * parts as f64)?;
            self.bind(&repeat.variable, Some(value));
            once()
        };
        // Also after an error: a remark about what is defined below is read a second time.
        let results = values.into_iter().map(each).collect();
        self.bind(&repeat.variable, before);
        results
    }

    // Names and numbers.

    pub(super) fn name(&self, name: &Name) -> Result<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Ok(text.clone()),
            Piece::Number(number) => match &*number.kind {
                Kind::Name(name) if let Some(word) = self.word(name) => Ok(word),
                _ => Ok(self.number(number)?.to_string()),
            },
        };
        name.pieces.iter().map(piece).collect()
    }

    /// Whether a name is that of a number.
    pub(super) fn is_variable(&self, name: &Name) -> bool {
        let spelled = self.name(name).unwrap_or_default();
        matches!(self.values.borrow().get(&spelled), Some(Value::Number(_)))
    }

    /// The word that a name stands for, or else the name.
    pub(super) fn name_or_word(&self, name: &Name) -> Result<String> {
        self.word(name).map_or_else(|| self.name(name), Ok)
    }

    /// The word that a name stands for.
    pub(super) fn word(&self, name: &Name) -> Option<String> {
        match (&name.pieces[..], self.values.borrow()) {
            ([Piece::Text(name)], values) => match values.get(name) {
                Some(Value::Word(word)) => Some(word.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The nodes of some names.
    pub(super) fn listed(&self, names: &Names) -> Result<Vec<NodeId>> {
        let once = || names.names.iter().map(|name| self.node(name)).collect::<Result<Vec<NodeId>>>();
        Ok(self.repeated(names.repeat.as_ref(), names.names.len(), once)?.concat())
    }

    pub(super) fn node(&self, name: &Name) -> Result<NodeId> {
        let spelled = self.name(name)?;
        self.graph.require(&spelled).map_err(|error| {
            let error = self.placed(error, name.at);
            if functions().contains(&spelled.as_str()) {
                return error.with_help(format!("a function has brackets: {spelled}(S)"));
            }
            error
        })
    }

    /// The node of an expression that is a name.
    pub(super) fn operand(&self, of: &Expression) -> Result<NodeId> {
        match &*of.kind {
            Kind::Name(name) => self.node(name),
            Kind::Text(name) => self.graph.require(name).map_err(|error| self.placed(error, of.at)),
            Kind::Call { function, arguments, .. } if !functions().contains(&function.as_str()) => {
                Err(self.unknown(of.at, function, arguments.len()))
            }
            Kind::Transposed(_) => Err(self
                .wrong(of.at, "this is a second step in one definition")
                .help("a product of matrices is Q Kᵀ or Q @ K.T; for another step give the transposed matrix a name")),
            _ => Err(self
                .wrong(of.at, "this is a second step in one definition")
                .help("give it a name in a line of its own, and write the name here")),
        }
    }

    /// Whether an expression is a number on which no number of the user has an influence.
    pub(super) fn is_constant(&self, of: &Expression) -> bool {
        let is_plain = |name: &Name| {
            let spelled = self.name(name).unwrap_or_default();
            self.values.borrow().contains_key(&spelled) && self.graph.require(&spelled).is_err()
        };
        match &*of.kind {
            Kind::Number(_) => true,
            Kind::Name(name) => is_plain(name),
            Kind::Unary(_, a) => self.is_constant(a),
            Kind::Binary(_, a, b) => self.is_constant(a) && self.is_constant(b),
            _ => false,
        }
    }

    /// Whether an expression is a number that shapes and names may depend on.
    pub(super) fn is_number(&self, of: &Expression) -> bool {
        self.number(of).is_ok()
    }

    pub(super) fn number(&self, of: &Expression) -> Result<f64> {
        let truth = |holds: bool| f64::from(u8::from(holds));
        let number = match &*of.kind {
            Kind::Number(number) => *number,
            Kind::Name(name) => {
                let spelled = self.name(name)?;
                match self.values.borrow().get(&spelled) {
                    Some(Value::Number(number)) => *number,
                    Some(Value::Word(word)) => {
                        return Err(self.wrong(
                            of.at,
                            format!(
                                "`{}` is the word `{}`, and a number is expected",
                                clip(&spelled),
                                clip(word)
                            ),
                        ));
                    }
                    None if self.graph.require(&spelled).is_ok() => {
                        return Err(self
                            .wrong(
                                of.at,
                                format!("`{}` is a matrix, and a number is expected", clip(&spelled)),
                            )
                            .help("a number: 3, rows(X), or a name that `let` or `in` has defined"));
                    }
                    None => {
                        let values = self.values.borrow();
                        let near = nearest(&spelled, values.keys().map(String::as_str));
                        let near = near.map(|near| format!("did you mean `{near}`?"));
                        let error = self.wrong(of.at, format!("there is no number `{}`", clip(&spelled)));
                        return Err(match near {
                            Some(near) => error.help(near),
                            None => error.help("define it above: let n = rows(X)"),
                        });
                    }
                }
            }
            Kind::Unary(Sign::Minus, of) => -self.number(of)?,
            Kind::Unary(_, of) => truth(self.number(of)? == 0.0),
            Kind::Binary(sign, a, b) => sign.of(self.number(a)?, self.number(b)?),
            Kind::Choice(yes, condition, no) => {
                self.number(if self.number(condition)? != 0.0 { yes } else { no })?
            }
            Kind::Call { function, arguments, settings } if settings.is_empty() => {
                match (function.as_str(), &arguments[..]) {
                    ("rows", [of]) => self.graph.matrix(self.operand(of)?)?.rows() as f64,
                    ("cols", [of]) => self.graph.matrix(self.operand(of)?)?.cols() as f64,
                    ("id", [run, word]) => self.id(run, word)?,
                    (name, _) => {
                        let numbers =
                            arguments.iter().map(|a| self.number(a)).collect::<Result<Vec<f64>>>()?;
                        // Of one argument they are functions of a matrix.
                        let is_of_cells = numbers.len() == 1 && ["sum", "min", "max"].contains(&name);
                        of_numbers(name, &numbers).filter(|_| !is_of_cells).ok_or_else(|| {
                            self.wrong(of.at, format!("`{}` gives no number here", clip(function)))
                        })?
                    }
                }
            }
            Kind::Each { function, first, argument, repeat } if function == "sum" && first.is_empty() => {
                self.repeated(Some(repeat), 1, || self.number(argument))?.into_iter().sum()
            }
            _ => return Err(self.wrong(of.at, "a number is expected here")),
        };
        Ok(number)
    }

    pub(super) fn whole(&self, of: &Expression) -> Result<usize> {
        let number = self.number(of)?;
        if number >= 0.0 && number.fract() == 0.0 && number < 1e15 {
            return Ok(number as usize);
        }
        Err(self.wrong(of.at, format!("{number} is no whole number from 0 on")))
    }

    pub(super) fn window(&self, of: &Expression) -> Result<usize> {
        match self.whole(of)? {
            0 => Err(self.wrong(of.at, "a window of 1 shows a query its own position, and none is smaller")),
            window => Ok(window),
        }
    }

    pub(super) fn side(&self, of: &Expression) -> Result<usize> {
        let side = self.whole(of)?;
        if side > MOST_LINES {
            return Err(
                self.wrong(of.at, format!("a matrix by a rule has at most {MOST_LINES} rows and columns"))
            );
        }
        Ok(side)
    }

    // Sentences.

    /// A sentence in which numbers and words in braces are written out; cells stay for later.
    ///
    /// # Errors
    /// If it names a token that a text does not have.
    pub(super) fn text(&self, text: &str) -> Result<String> {
        // A name may have a number in it, `{A_{h}[1,2]}`; nothing is deeper.
        self.text_within(text, |inside| self.text_within(inside, |inside| Ok(inside.to_string())))
    }

    /// The same, after `inner` has written out what is in the braces of the braces.
    fn text_within(&self, text: &str, inner: impl Fn(&str) -> Result<String>) -> Result<String> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let Some(close) = closing(after) else { break };
            out.push_str(before);
            let inside = inner(&after[..close])?;
            match self.written_out(&inside)? {
                Some(text) => out.push_str(&hidden(&text)),
                // An address has its names without quotes.
                None => out.push_str(&format!("{{{}}}", inside.replace('"', ""))),
            }
            rest = &after[close + 1..];
        }
        Ok(out + rest)
    }

    /// What stands for the content of braces: a word or a number; none for a cell.
    fn written_out(&self, inside: &str) -> Result<Option<String>> {
        let Ok(read) = expression(self.file, inside, At::default()) else { return Ok(None) };
        let word = match &*read.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Name(name) => self.word(name),
            Kind::Call { function, arguments, .. } if function == "token" => Some(self.token(arguments)?),
            Kind::Call { function, .. } if function == "id" => None,
            _ => return Ok(self.number(&read).ok().map(|number| crate::story::in_sentence(number, 4))),
        };
        if word.is_some() || matches!(&*read.kind, Kind::Name(_)) {
            return Ok(word.or_else(|| Some(crate::story::in_sentence(self.number(&read).ok()?, 4))));
        }
        self.number(&read).map(|number| Some(crate::story::in_sentence(number, 4)))
    }

    /// A sentence that is true for any numbers, and so names no cell.
    pub(super) fn without_cells(&self, text: &str, at: At) -> Result<String> {
        let text = self.text(text)?;
        match text.split_once('{') {
            None => Ok(plain(&text)),
            Some((_, rest)) => {
                let inside = rest.split_once('}').map_or(rest, |(inside, _)| inside);
                let error = format!(
                    "`{{{}}}` is no number, and this text has to be true for any cells",
                    clip(inside)
                );
                Err(self.wrong(at, error).help("tell a cell in a remark: if own(): … {A[1,2]} …"))
            }
        }
    }
}
