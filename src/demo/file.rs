//! A demo that is a text: docs/language.md. It builds the same graphs and the same steps as a demo in Rust.

use std::cell::Cell;
use std::collections::HashMap;

use super::builder::*;
use super::source::Source;
use crate::attention::RopeScaling;
use crate::error::Place;
use crate::graph::Factor;
use crate::language::{
    At, Definition, Expression, ExpressionKind as Kind, Index, Line, LineKind, Name, Paragraph, Piece,
    Program, Sign, expression, program,
};
use crate::matrix::Shape;
use crate::story::{Digits, Story};
use crate::text::{clip, counted, nearest};

/// No demo has more steps of computation.
const MOST_NODES: usize = 4000;
/// No demo computes more, in multiplications.
const MOST_WORK: f64 = 2e9;
/// No paragraph is repeated more often.
const MOST_TIMES: usize = 256;
/// A matrix by a rule has at most this many rows, and columns.
const MOST_LINES: usize = 2048;

/// A first demo, to begin with.
pub const NEW_DEMO: &str = include_str!("new_demo.attn");

/// What the head of a file may say.
const HEAD: [&str; 7] = ["title", "summary", "topic", "source", "keywords", "digits", "begin"];

/// A demo from a file.
#[derive(Debug)]
pub struct FileDemo {
    /// The name of the file.
    pub file: String,
    program: Program,
    digits: Digits,
}

impl FileDemo {
    /// The demo of a text.
    ///
    /// # Errors
    /// At the line and column of what cannot be read.
    pub fn read(file: &str, text: &str) -> Result<FileDemo> {
        let program = program(file, text)?;
        let of_head = |what: String| Error::new(what).in_source(file);
        for (key, _) in &program.head {
            if !HEAD.contains(&key.as_str()) {
                let near = nearest(key, HEAD).map(|near| format!("did you mean `{near}`? "));
                return Err(of_head(format!("the head says `{}`", clip(key))).help(format!(
                    "{}it has {}",
                    near.unwrap_or_default(),
                    HEAD.join(", ")
                )));
            }
        }
        let mut demo = FileDemo { file: file.to_string(), program, digits: Digits::Places(4) };
        if demo.head("title").is_none() {
            return Err(
                of_head("the demo has no title".into()).help("write title: and a title below the first line")
            );
        }
        if let Some(digits) = demo.head("digits") {
            let places = digits.parse().ok().filter(|places| *places <= 15);
            let places = places
                .ok_or_else(|| of_head(format!("`digits: {}` is no number of decimals", clip(digits))))?;
            demo.digits = Digits::Places(places);
        }
        Ok(demo)
    }

    /// What the head says under a key.
    pub(super) fn head(&self, key: &str) -> Option<&str> {
        self.program.head.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// The story under the user's settings.
    ///
    /// # Errors
    /// At the line and column of what cannot be computed, or if what the user set does not fit.
    pub fn story(&self, settings: &Settings) -> Result<Story> {
        settings.check()?;
        let own = if settings.set.is_empty() { None } else { Some(self.own_shapes()?) };
        let mut builder = Builder::new(settings);
        self.build(&mut builder, own)?;
        let title = self.head("title").unwrap_or_default();
        let source = self.head("source").map(|source| Source::of_text(source).to_string());
        let story = builder.finish(title, source.clone().unwrap_or_default(), Vec::new(), self.digits);
        let story = story.map_err(|error| match self.file.as_str() {
            "" => error,
            file => error.in_source(file),
        })?;
        Ok(Story { source, ..story })
    }

    /// The shapes of the demo's own given matrices.
    fn own_shapes(&self) -> Result<HashMap<String, Shape>> {
        let mut builder = Builder::new(&Settings::default());
        self.build(&mut builder, None)?;
        let story = builder.finish("", String::new(), Vec::new(), self.digits)?;
        let given = story.graph.nodes().filter(|(_, node)| node.op.is_given());
        Ok(given.map(|(_, node)| (node.name.clone(), node.shape())).collect())
    }

    fn build(&self, builder: &mut Builder, own: Option<HashMap<String, Shape>>) -> Result<()> {
        let mut teller = Teller {
            file: &self.file,
            demo: builder,
            numbers: HashMap::new(),
            own,
            drawn: 0,
            nodes: 0,
            work: Cell::new(0.0),
        };
        for paragraph in &self.program.paragraphs {
            teller.paragraph(paragraph)?;
        }
        if let Some(begin) = self.head("begin") {
            builder.begin_at(begin);
        }
        Ok(())
    }
}

/// The place of the brace that closes one that was opened before this text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What it takes to write out the texts and names of a line.
fn line_cost(kind: &LineKind) -> f64 {
    let text = |text: &str| 20.0 * text.len() as f64 + 300.0 * text.matches('{').count() as f64;
    match kind {
        LineKind::Say(said) | LineKind::If { text: said, .. } | LineKind::Need(_, said) => text(said),
        LineKind::Row(cells) => cells.iter().map(|cell| text(cell)).sum(),
        LineKind::Show(names) | LineKind::Together(names) | LineKind::Fold(names) => 1e4 * names.len() as f64,
        LineKind::Define(_) | LineKind::Let(..) | LineKind::Brief(_) | LineKind::Gradients { .. } => 0.0,
    }
}

/// The parts of an expression.
fn size(of: &Expression) -> usize {
    match &*of.kind {
        Kind::Unary(_, a) => 1 + size(a),
        Kind::Binary(_, a, b) => 1 + size(a) + size(b),
        Kind::Choice(a, b, c) => 1 + size(a) + size(b) + size(c),
        Kind::Call { arguments, .. } => 1 + arguments.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// Tells a program to a builder.
struct Teller<'a> {
    file: &'a str,
    demo: &'a mut Builder,
    /// The numbers that have names.
    numbers: HashMap<String, f64>,
    /// The shapes of the demo's own matrices, where the user has put in others.
    own: Option<HashMap<String, Shape>>,
    /// The numbers that were drawn.
    drawn: usize,
    /// The steps of computation so far.
    nodes: usize,
    /// The work so far; see [`Teller::spend`].
    work: Cell<f64>,
}

impl Teller<'_> {
    fn wrong(&self, at: At, what: impl Into<String>) -> Error {
        self.placed(Error::new(what), at)
    }

    fn placed(&self, error: Error, at: At) -> Error {
        // A place in a demo of the program says nothing to its user.
        if self.file.is_empty() {
            return error;
        }
        error.within(Place::Text(self.file.to_string(), at.line, at.column))
    }

    fn paragraph(&mut self, paragraph: &Paragraph) -> Result<()> {
        let Some((variable, first, last)) = &paragraph.repeat else { return self.once(paragraph) };
        let [from, to] = [self.whole(first)?, self.whole(last)?];
        if to.saturating_sub(from) >= MOST_TIMES {
            return Err(self.wrong(first.at, format!("this repeats more than {MOST_TIMES} times")));
        }
        let outer = self.numbers.get(variable).copied();
        for number in from..=to {
            self.numbers.insert(variable.clone(), number as f64);
            self.once(paragraph)?;
        }
        match outer {
            Some(number) => self.numbers.insert(variable.clone(), number),
            None => self.numbers.remove(variable),
        };
        Ok(())
    }

    fn once(&mut self, paragraph: &Paragraph) -> Result<()> {
        for Line { at, kind } in &paragraph.lines {
            self.spend(*at, 10_000.0 + line_cost(kind))?;
            match kind {
                LineKind::Define(definition) => self.define(definition)?,
                LineKind::Let(name, is) => {
                    let number = self.number(is)?;
                    self.numbers.insert(name.clone(), number);
                }
                LineKind::Need(condition, text) if !self.holds(condition)? => {
                    return Err(self.wrong(*at, self.text(text)));
                }
                LineKind::Gradients { of, from, to } => {
                    let [of, from] = [self.node(of)?, self.node(from)?];
                    let to: Vec<NodeId> = to.iter().map(|name| self.node(name)).collect::<Result<_>>()?;
                    let made = self.demo.gradients(of, Start::Node(from), &to);
                    made.map_err(|error| self.placed(error, *at))?;
                }
                _ => {}
            }
        }
        self.tell(paragraph)
    }

    /// Whether a condition holds for the numbers so far.
    fn holds(&self, condition: &Expression) -> Result<bool> {
        if self.is_number(condition) {
            return Ok(self.number(condition)? != 0.0);
        }
        Ok(self.demo.holds(&self.condition(condition)?))
    }

    /// The step of a paragraph, if it has a sentence.
    fn tell(&mut self, paragraph: &Paragraph) -> Result<()> {
        let mut said = paragraph.lines.iter().filter_map(|line| match &line.kind {
            LineKind::Say(text) => Some((line.at, text)),
            _ => None,
        });
        let Some((place, sentence)) = said.next() else {
            let told = paragraph.lines.iter().find(|line| {
                !matches!(
                    line.kind,
                    LineKind::Define(_) | LineKind::Let(..) | LineKind::Need(..) | LineKind::Gradients { .. }
                )
            });
            return match told {
                None => Ok(()),
                Some(line) => Err(self
                    .wrong(line.at, "this paragraph shows something, but has no sentence")
                    .help("write a line that begins with a colon: what the step says")),
            };
        };
        if let Some((at, _)) = said.next() {
            return Err(self
                .wrong(at, "a second sentence in one paragraph")
                .help("begin a new paragraph with an empty line"));
        }
        drop(said);
        let mut sentence = self.without_cells(sentence, place)?;
        enum Part {
            Show(Vec<NodeId>),
            Together(Vec<NodeId>),
            Fold(Vec<NodeId>),
            Brief(NodeId),
            Claim(Condition, String, bool),
        }
        let (mut parts, mut rows) = (Vec::new(), Vec::new());
        for line in &paragraph.lines {
            let nodes =
                |names: &[Name]| names.iter().map(|name| self.node(name)).collect::<Result<Vec<NodeId>>>();
            match &line.kind {
                LineKind::Show(names) => parts.push(Part::Show(nodes(names)?)),
                LineKind::Together(names) => parts.push(Part::Together(nodes(names)?)),
                LineKind::Fold(names) => parts.push(Part::Fold(nodes(names)?)),
                LineKind::Brief(name) => parts.push(Part::Brief(self.node(name)?)),
                // What no number of the user decides is decided here.
                LineKind::If { condition, .. }
                    if self.is_constant(condition) && self.number(condition)? == 0.0 => {}
                LineKind::If { instead: true, condition, text } if self.is_constant(condition) => {
                    sentence = self.text(text);
                }
                LineKind::If { instead, condition, text } => {
                    parts.push(Part::Claim(self.condition(condition)?, self.text(text), *instead));
                }
                LineKind::Row(cells) => {
                    let cells = cells.iter().map(|cell| self.without_cells(cell, line.at));
                    rows.push((line.at, cells.collect::<Result<Vec<_>>>()?));
                }
                _ => {}
            }
        }
        let table = match rows.split_first() {
            None => None,
            Some(((_, header), rows)) => {
                if let Some((at, row)) = rows.iter().find(|(_, row)| row.len() != header.len()) {
                    return Err(self.wrong(
                        *at,
                        format!("this row has {} cells, and the header {}", row.len(), header.len()),
                    ));
                }
                let header: Vec<&str> = header.iter().map(String::as_str).collect();
                Some(Table::new(&header, rows.iter().map(|(_, row)| row.clone())))
            }
        };
        let mut step = self.demo.step(&sentence);
        if let Some(table) = table {
            step = step.table(table);
        }
        for part in parts {
            step = match part {
                Part::Show(nodes) => step.show(&nodes),
                Part::Together(nodes) => step.together(&nodes),
                Part::Fold(nodes) => step.folded(&nodes),
                Part::Brief(node) => step.in_brief(node),
                Part::Claim(condition, text, true) => step.heading_if(condition, &text),
                Part::Claim(condition, text, false) => step.claim(condition, &text),
            };
        }
        Ok(())
    }

    /// A sentence in which numbers in braces are written out; cells stay for later.
    fn text(&self, text: &str) -> String {
        // A name may have a number in it, `{A_{h}[1,2]}`; nothing is deeper.
        self.text_within(text, |inside| self.text_within(inside, str::to_string))
    }

    /// The same, after `inner` has written out what is in the braces of the braces.
    fn text_within(&self, text: &str, inner: impl Fn(&str) -> String) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let Some(close) = closing(after) else { break };
            out.push_str(before);
            let inside = inner(&after[..close]);
            let number = expression(self.file, &inside, At::default()).and_then(|read| self.number(&read));
            match number {
                Ok(number) => out.push_str(&crate::story::in_sentence(number, 4)),
                Err(_) => out.push_str(&format!("{{{inside}}}")),
            }
            rest = &after[close + 1..];
        }
        out + rest
    }

    /// A sentence that is true for any numbers, and so names no cell.
    fn without_cells(&self, text: &str, at: At) -> Result<String> {
        let text = self.text(text);
        match text.split_once('{') {
            None => Ok(text),
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

    /// Counts work before it is done: about one for a multiplication.
    fn spend(&self, at: At, work: f64) -> Result<()> {
        self.work.set(self.work.get() + work);
        if self.work.get() > MOST_WORK {
            return Err(self
                .wrong(at, "this demo computes too much: more than 2,000,000,000 multiplications")
                .help("make its matrices smaller, or its repetitions fewer"));
        }
        Ok(())
    }

    /// About how many multiplications a definition takes.
    fn cost(&self, is: &Expression) -> f64 {
        let mut shapes = Vec::new();
        self.shapes_in(is, &mut shapes);
        let cells = |shape: &Shape| shape.rows as f64 * shape.cols as f64;
        let pairs = match (&shapes[..], &*is.kind) {
            ([a, b, ..], Kind::Binary(Sign::Product, ..)) => cells(a) * b.rows.max(b.cols) as f64,
            ([a, b, ..], Kind::Call { function, .. })
                if ["cosine", "distance", "attend"].contains(&function.as_str()) =>
            {
                8.0 * cells(a) * b.rows as f64
            }
            _ => 0.0,
        };
        pairs + 4.0 * shapes.iter().map(cells).sum::<f64>()
    }

    /// The shapes of the matrices that an expression names.
    fn shapes_in(&self, of: &Expression, shapes: &mut Vec<Shape>) {
        let mut named = |name: &Name| {
            let node = self.name(name).ok().and_then(|name| self.demo.node(&name).ok());
            shapes.extend(node.and_then(|node| self.demo.matrix(node).ok()).map(Matrix::shape));
        };
        match &*of.kind {
            Kind::Name(name) | Kind::Part(name, _) => named(name),
            Kind::Transposed(a) | Kind::Unary(_, a) | Kind::LargestSize(a) => self.shapes_in(a, shapes),
            Kind::Binary(_, a, b) => {
                self.shapes_in(a, shapes);
                self.shapes_in(b, shapes);
            }
            Kind::Call { arguments, .. } => arguments.iter().for_each(|of| self.shapes_in(of, shapes)),
            _ => {}
        }
    }

    // Names and numbers.

    fn name(&self, name: &Name) -> Result<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Ok(text.clone()),
            Piece::Number(number) => Ok(self.number(number)?.to_string()),
        };
        name.pieces.iter().map(piece).collect()
    }

    fn node(&self, name: &Name) -> Result<NodeId> {
        let spelled = self.name(name)?;
        self.demo.node(&spelled).map_err(|error| {
            let error = self.placed(error, name.at);
            if FUNCTIONS.contains(&spelled.as_str()) {
                return error.with_help(format!("a function has brackets: {spelled}(S)"));
            }
            error
        })
    }

    /// The node of an expression that is a name.
    fn operand(&self, of: &Expression) -> Result<NodeId> {
        match &*of.kind {
            Kind::Name(name) => self.node(name),
            Kind::Call { function, arguments, .. } if !FUNCTIONS.contains(&function.as_str()) => {
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
    fn is_constant(&self, of: &Expression) -> bool {
        let is_plain = |name: &Name| {
            let spelled = self.name(name).unwrap_or_default();
            self.numbers.contains_key(&spelled) && self.demo.node(&spelled).is_err()
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
    fn is_number(&self, of: &Expression) -> bool {
        self.number(of).is_ok()
    }

    fn number(&self, of: &Expression) -> Result<f64> {
        let truth = |holds: bool| f64::from(u8::from(holds));
        let number = match &*of.kind {
            Kind::Number(number) => *number,
            Kind::Name(name) => {
                let spelled = self.name(name)?;
                match self.numbers.get(&spelled) {
                    Some(number) => *number,
                    None if self.demo.node(&spelled).is_ok() => {
                        return Err(self
                            .wrong(
                                of.at,
                                format!("`{}` is a matrix, and a number is expected", clip(&spelled)),
                            )
                            .help("a number: 3, rows(X), or a name that `let` or `in` has defined"));
                    }
                    None => {
                        let known = self.numbers.keys().map(String::as_str);
                        let near = nearest(&spelled, known).map(|near| format!("did you mean `{near}`?"));
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
            Kind::Binary(sign, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                match sign {
                    Sign::Product | Sign::Multiply => a * b,
                    Sign::Divide => a / b,
                    Sign::Plus => a + b,
                    Sign::Minus => a - b,
                    Sign::Modulo => a.rem_euclid(b),
                    Sign::Equal => truth(a == b),
                    Sign::Differs => truth(a != b),
                    Sign::Less => truth(a < b),
                    Sign::AtMost => truth(a <= b),
                    Sign::More => truth(a > b),
                    Sign::AtLeast => truth(a >= b),
                    Sign::And => truth(a != 0.0 && b != 0.0),
                    Sign::Or => truth(a != 0.0 || b != 0.0),
                    Sign::Not => unreachable!("`not` has one side"),
                }
            }
            Kind::Choice(yes, condition, no) => {
                self.number(if self.number(condition)? != 0.0 { yes } else { no })?
            }
            Kind::Call { function, arguments, settings } if settings.is_empty() => {
                match (function.as_str(), &arguments[..]) {
                    ("rows", [of]) => self.demo.matrix(self.operand(of)?)?.rows() as f64,
                    ("cols", [of]) => self.demo.matrix(self.operand(of)?)?.cols() as f64,
                    ("sqrt", [of]) => self.number(of)?.sqrt(),
                    ("even", [of]) => truth(self.number(of)? % 2.0 == 0.0),
                    _ => return Err(self.wrong(of.at, format!("`{}` gives no number here", clip(function)))),
                }
            }
            _ => return Err(self.wrong(of.at, "a number is expected here")),
        };
        Ok(number)
    }

    fn whole(&self, of: &Expression) -> Result<usize> {
        let number = self.number(of)?;
        if number >= 0.0 && number.fract() == 0.0 && number < 1e15 {
            return Ok(number as usize);
        }
        Err(self.wrong(of.at, format!("{number} is no whole number from 0 on")))
    }

    fn window(&self, of: &Expression) -> Result<usize> {
        match self.whole(of)? {
            0 => Err(self.wrong(of.at, "a window of 1 shows a query its own position, and none is smaller")),
            window => Ok(window),
        }
    }

    fn side(&self, of: &Expression) -> Result<usize> {
        let side = self.whole(of)?;
        if side > MOST_LINES {
            return Err(
                self.wrong(of.at, format!("a matrix by a rule has at most {MOST_LINES} rows and columns"))
            );
        }
        Ok(side)
    }

    // Definitions.

    fn define(&mut self, definition: &Definition) -> Result<()> {
        let Definition { name, is, rows, cols, label, of } = definition;
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.wrong(name.at, format!("this demo has more than {MOST_NODES} definitions")));
        }
        let spelled = self.name(name)?;
        if self.numbers.contains_key(&spelled) {
            return Err(self.wrong(name.at, format!("`{}` is a number already", clip(&spelled))));
        }
        self.spend(name.at, self.cost(is))?;
        let named =
            |names: &[String]| -> Option<Labels> { (!names.is_empty()).then(|| names.to_vec().into()) };
        let (row_names, col_names) = (named(rows), named(cols));
        let node = match self.given(&spelled, is, (row_names.clone(), col_names.clone()))? {
            Some(node) => node,
            None => {
                let node = self.computed(&spelled, is, of.as_deref(), row_names.clone());
                let node = node.map_err(|error| self.placed(error, is.at))?;
                if row_names.is_some() || col_names.is_some() {
                    let matrix = self.demo.matrix(node)?;
                    let rows = row_names.or_else(|| matrix.row_labels().cloned());
                    let cols = col_names.or_else(|| matrix.col_labels().cloned());
                    self.demo.name_lines(node, rows, cols);
                }
                node
            }
        };
        if let Some(label) = label {
            self.demo.label(node, label);
        }
        let shape = self.demo.matrix(node)?.shape();
        for (what, names, lines) in [("row", rows, shape.rows), ("column", cols, shape.cols)] {
            if self.own.is_none() && !names.is_empty() && names.len() != lines {
                let (lines, names) = (counted(lines, what), counted(names.len(), "name"));
                return Err(
                    self.wrong(name.at, format!("`{}` has {lines}, and {names} for them", clip(&spelled)))
                );
            }
        }
        Ok(())
    }

    /// A matrix that the user may replace, if the expression is one.
    fn given(
        &mut self,
        name: &str,
        is: &Expression,
        (rows, cols): (Option<Labels>, Option<Labels>),
    ) -> Result<Option<NodeId>> {
        let labelled = |matrix: Matrix| matrix.with_row_labels(rows.clone()).with_col_labels(cols.clone());
        let made = match &*is.kind {
            Kind::Matrix(rows) => self.demo.given(name, labelled(Matrix::from_rows(rows)?)),
            Kind::Draw(height, width, after) => {
                let (height, width) = (self.side(height)?, self.side(width)?);
                let skipped = match after {
                    Some(after) => self.whole(after)?.min(1 << 20),
                    None => self.drawn,
                };
                self.drawn = skipped + height * width;
                self.spend(is.at, 10.0 * self.drawn as f64)?;
                let mut stream = LegacyStream::seeded(self.demo.seed());
                (0..skipped).for_each(|_| {
                    stream.standard_normal();
                });
                let matrix = stream.standard_normal_matrix(height, width);
                self.demo.drawn(name, labelled(matrix))
            }
            Kind::Table(height, width, rule) => {
                let (height, width) = (self.side(height)?, self.side(width)?);
                self.spend(is.at, 40.0 * (height * width * size(rule)) as f64)?;
                let matrix = self.by_rule(height, width, rule)?;
                self.fitted(name, labelled(matrix))
            }
            Kind::Fitted(numbers, like) => {
                let shape = self.demo.matrix(self.node(like)?)?.shape();
                let cell = |i: usize, j: usize| {
                    let row = &numbers[i % numbers.len()];
                    row[j % row.len()]
                };
                self.fitted(name, labelled(Matrix::from_fn(shape.rows, shape.cols, cell)))
            }
            Kind::Whole(own, least, most) => {
                let [own, least, most] = [self.whole(own)?, self.whole(least)?, self.whole(most)?];
                if own < least.max(1) || own > most {
                    return Err(
                        self.wrong(is.at, format!("{own} is not between {} and {most}", least.max(1)))
                    );
                }
                self.demo.count(name, own, most).map(|(node, number)| {
                    self.numbers.insert(name.to_string(), number as f64);
                    node
                })
            }
            _ => return Ok(None),
        };
        made.map(Some).map_err(|error| self.placed(error, is.at))
    }

    fn fitted(&mut self, name: &str, matrix: Matrix) -> Result<NodeId> {
        let own = self.own.as_ref().and_then(|own| own.get(name)).copied().unwrap_or(matrix.shape());
        self.demo.fitted(name, matrix, (own.rows, own.cols))
    }

    fn by_rule(&mut self, rows: usize, cols: usize, rule: &Expression) -> Result<Matrix> {
        let outer = ["i", "j"].map(|name| self.numbers.get(name).copied());
        let mut cells = Vec::with_capacity(rows * cols);
        for i in 1..=rows {
            for j in 1..=cols {
                self.numbers.insert("i".into(), i as f64);
                self.numbers.insert("j".into(), j as f64);
                cells.push(self.number(rule)?);
            }
        }
        for (name, outer) in ["i", "j"].into_iter().zip(outer) {
            match outer {
                Some(number) => self.numbers.insert(name.into(), number),
                None => self.numbers.remove(name),
            };
        }
        Matrix::from_row_major(rows, cols, &cells)
    }

    /// A step of the computation.
    fn computed(
        &mut self,
        name: &str,
        is: &Expression,
        of: Option<&str>,
        rows: Option<Labels>,
    ) -> Result<NodeId> {
        let one = |teller: &mut Self, op: Op, a: &Expression| {
            let a = teller.operand(a)?;
            teller.demo.compute(name, op, &[a])
        };
        let two = |teller: &mut Self, op: Op, a: &Expression, b: &Expression| {
            let inputs = [teller.operand(a)?, teller.operand(b)?];
            teller.demo.compute(name, op, &inputs)
        };
        match &*is.kind {
            Kind::Binary(Sign::Product, a, b) => match (&*a.kind, &*b.kind) {
                _ if self.is_number(a) => {
                    let factor = Factor::Number(self.number(a)?);
                    one(self, Op::Scale(factor), b)
                }
                _ if self.is_number(b) => {
                    let factor = Factor::Number(self.number(b)?);
                    one(self, Op::Scale(factor), a)
                }
                (_, Kind::Transposed(b)) => two(self, Op::ProductTransposed, a, b),
                (Kind::Transposed(a), _) => two(self, Op::TransposedProduct, a, b),
                _ => two(self, Op::Product, a, b),
            },
            Kind::Binary(Sign::Divide, a, b) => self.divided(name, a, b),
            Kind::Binary(Sign::Multiply, a, b) => two(self, Op::Multiply, a, b),
            Kind::Binary(Sign::Minus, a, b) => two(self, Op::Subtract, a, b),
            Kind::Binary(Sign::Plus, ..) => {
                let mut parts = Vec::new();
                let mut left = is;
                while let Kind::Binary(Sign::Plus, a, b) = &*left.kind {
                    parts.push(self.operand(b)?);
                    left = a;
                }
                parts.push(self.operand(left)?);
                parts.reverse();
                self.demo.compute(name, Op::Add, &parts)
            }
            Kind::Unary(Sign::Minus, a) => one(self, Op::Scale(Factor::Number(-1.0)), a),
            Kind::Transposed(a) => one(self, Op::Transpose, a),
            Kind::LargestSize(a) => one(self, LARGEST, a),
            Kind::Part(whole, indices) => self.part(name, whole, indices),
            Kind::Each { function, argument, variable, first, last } => {
                let [from, to] = [self.whole(first)?, self.whole(last)?];
                if to.saturating_sub(from) >= MOST_TIMES {
                    return Err(self.wrong(first.at, format!("this repeats more than {MOST_TIMES} times")));
                }
                let outer = self.numbers.get(variable).copied();
                let mut parts = Vec::new();
                for number in from..=to {
                    self.numbers.insert(variable.clone(), number as f64);
                    parts.push(self.operand(argument)?);
                }
                match outer {
                    Some(number) => self.numbers.insert(variable.clone(), number),
                    None => self.numbers.remove(variable),
                };
                self.put_together(name, function, is.at, &parts, of, rows)
            }
            Kind::Call { function, arguments, settings }
                if matches!(function.as_str(), "stack" | "beside") =>
            {
                if let Some((_, setting)) = settings.first() {
                    return Err(self.wrong(setting.at, format!("`{function}` has no settings")));
                }
                let parts: Vec<NodeId> =
                    arguments.iter().map(|part| self.operand(part)).collect::<Result<_>>()?;
                self.put_together(name, function, is.at, &parts, of, rows)
            }
            Kind::Call { function, arguments, settings } => {
                self.called(name, is.at, function, arguments, settings)
            }
            Kind::Name(other) => {
                let other = self.name(other)?;
                Err(self
                    .wrong(is.at, format!("this gives `{}` a second name", clip(&other)))
                    .help("use the first one"))
            }
            _ => Err(self
                .wrong(is.at, "a step of a computation is expected here")
                .help("for example S = Q Kᵀ, or A = softmax(S)")),
        }
    }

    fn put_together(
        &mut self,
        name: &str,
        function: &str,
        at: At,
        parts: &[NodeId],
        of: Option<&str>,
        rows: Option<Labels>,
    ) -> Result<NodeId> {
        let op = match function {
            "stack" => Op::Stack(rows),
            "beside" => Op::Concatenate,
            other => {
                return Err(self
                    .wrong(at, format!("`{}` puts nothing together", clip(other)))
                    .help("stack(…) or beside(…)"));
            }
        };
        let node = self.demo.compute(name, op, parts)?;
        if let Some(of) = of {
            // “The one word”, and “the two words”.
            let of = if parts.len() == 1 { of.strip_suffix('s').unwrap_or(of) } else { of };
            self.demo.collects(node, of);
        }
        Ok(node)
    }

    fn divided(&mut self, name: &str, a: &Expression, b: &Expression) -> Result<NodeId> {
        // `S · 1/√64` is written as it is printed.
        let a = match &*a.kind {
            Kind::Binary(Sign::Product, a, one) if matches!(*one.kind, Kind::Number(1.0)) => a,
            _ => a,
        };
        let of = self.operand(a)?;
        if let Kind::Call { function, arguments, .. } = &*b.kind
            && let ("sqrt", [width]) = (function.as_str(), &arguments[..])
        {
            let width = self.whole(width)?;
            return self.demo.compute(name, Op::Scale(Factor::InverseRoot(width)), &[of]);
        }
        if self.is_number(b) {
            let width = self.whole(b)?;
            return self.demo.compute(name, Op::Scale(Factor::Inverse(width)), &[of]);
        }
        let by = self.operand(b)?;
        let is_one = self.demo.matrix(by)?.shape() == Shape { rows: 1, cols: 1 };
        self.demo.compute(name, if is_one { Op::Divide } else { Op::Quotient }, &[of, by])
    }

    /// Rows or columns of a matrix.
    fn part(&mut self, name: &str, whole: &Name, indices: &[Index]) -> Result<NodeId> {
        let of = self.node(whole)?;
        let matrix = self.demo.matrix(of)?.clone();
        let (of_rows, index) = match indices {
            [index] | [index, Index::All] => (true, index),
            [Index::All, index] => (false, index),
            _ => return Err(self.wrong(whole.at, "a part is rows, `X[1..3]`, or columns, `X[:, 2]`")),
        };
        let (length, labels) = match of_rows {
            true => (matrix.rows(), matrix.row_labels()),
            false => (matrix.cols(), matrix.col_labels()),
        };
        let place = |at: &Expression| self.place(at, length, labels);
        let (first, last) = match index {
            Index::All => (1, length),
            Index::One(at) => (place(at)?, place(at)?),
            // Of one row, those before the last are none: `X[1..rows(X)−1]`.
            Index::Range(first, last) if self.is_number(last) && self.whole(last)? == 0 => (place(first)?, 0),
            Index::Range(first, last) => (place(first)?, place(last)?),
        };
        let (start, count) = (first.saturating_sub(1), (last + 1).saturating_sub(first));
        let op = if of_rows { Op::Rows { start, count } } else { Op::Columns { start, count } };
        self.demo.compute(name, op, &[of])
    }

    /// The place of a row or column, from 1: a number, `last`, or its name.
    fn place(&self, of: &Expression, length: usize, labels: Option<&Labels>) -> Result<usize> {
        let spelled = match &*of.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Name(name) => Some(self.name(name)?),
            _ => None,
        };
        if spelled.as_deref() == Some("last") {
            return Ok(length);
        }
        let labelled = spelled.and_then(|spelled| labels?.iter().position(|label| *label == spelled));
        match labelled {
            Some(at) => Ok(at + 1),
            None => match self.whole(of)? {
                0 => Err(self.wrong(of.at, "rows and columns count from 1")),
                place => Ok(place),
            },
        }
    }

    /// A function of matrices.
    fn called(
        &mut self,
        name: &str,
        at: At,
        function: &str,
        arguments: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<NodeId> {
        if function == "attend" {
            return self.attend(name, at, arguments, settings);
        }
        if let ("visible" | "mask", [scores, rule @ ..]) = (function, arguments) {
            return self.masked(name, at, function == "visible", scores, rule, settings);
        }
        if let ("rotate", [x, f, pairing]) = (function, arguments) {
            return self.rotated(name, [x, f, pairing], settings);
        }
        if !FUNCTIONS.contains(&function) {
            return Err(self.unknown(at, function, arguments.len()));
        }
        if let Some((unknown, setting)) = settings.first() {
            return Err(
                self.wrong(setting.at, format!("`{}` has no setting `{}`", clip(function), clip(unknown)))
            );
        }
        let op = match (function, arguments) {
            ("softmax", [_]) => SOFTMAX,
            ("exp", [_]) => Op::Exponential(Base::E),
            ("ln", [_]) => Op::Logarithm,
            ("sqrt", [_]) => Op::Root,
            ("tanh", [_]) => Op::Tanh,
            ("relu", [_]) => Op::Relu,
            ("silu", [_]) => Op::Silu,
            ("sigmoid", [_]) => Op::Sigmoid,
            ("gelu", [_]) => Op::Gelu(crate::graph::GeluForm::Erf),
            ("sum", [_]) => Op::Sums(Axis::Whole),
            ("row_sums", [_]) => Op::Sums(Axis::Rows),
            ("column_sums", [_]) => Op::Sums(Axis::Columns),
            ("diag", [_]) => Op::Diagonal,
            ("minus_mean", [_]) => Op::MinusMean,
            ("unit_rows", [_]) => Op::UnitRows,
            ("rms_norm", [_] | [_, _]) => Op::RmsNorm(EPSILON),
            ("layer_norm", [_] | [_, _] | [_, _, _]) => Op::LayerNorm(EPSILON),
            ("change", [_, _]) => Op::Change,
            ("cosine", [_, _]) => Op::Cosine,
            ("distance", [_, _]) => Op::Euclidean,
            ("gap", [a, b]) => {
                let nodes = [self.operand(a)?, self.operand(b)?];
                let inner = match name.strip_prefix("gap_") {
                    Some(rest) => format!("change_{rest}"),
                    None => format!("change_{name}"),
                };
                let [change, gap] = self.demo.difference([&inner, name], nodes)?;
                self.demo.label(change, "difference");
                return Ok(gap);
            }
            ("ones", [rows, cols]) => {
                let (rows, cols) = (self.side(rows)?, self.side(cols)?);
                return self.demo.compute(name, Op::Ones { rows, cols }, &[]);
            }
            ("frequencies", [width, base]) => {
                let (width, base) = (self.side(width)?, self.number(base)?);
                return self.demo.compute(name, Op::Frequencies { width, base }, &[]);
            }
            ("linear_scaling", [of, factor]) => {
                let linear = RopeScaling::Linear { factor: self.number(factor)? };
                let of = self.operand(of)?;
                return self.demo.compute(name, Op::ScaledFrequencies(linear), &[of]);
            }
            ("part", [of, number, count]) => {
                let (number, count) = (self.whole(number)?, self.whole(count)?);
                let of = self.operand(of)?;
                let width = self.demo.matrix(of)?.cols();
                if count == 0 || number == 0 || number > count || !width.is_multiple_of(count) {
                    return Err(self
                        .wrong(at, format!("{width} columns have no part {number} of {count} equal ones")));
                }
                let width = width / count;
                return self.demo.compute(
                    name,
                    Op::Columns { start: (number - 1) * width, count: width },
                    &[of],
                );
            }
            _ => return Err(self.unknown(at, function, arguments.len())),
        };
        let inputs: Vec<NodeId> = arguments.iter().map(|of| self.operand(of)).collect::<Result<_>>()?;
        self.demo.compute(name, op, &inputs)
    }

    /// The error of a function that does not exist.
    fn unknown(&self, at: At, function: &str, arguments: usize) -> Error {
        let arguments = counted(arguments, "argument");
        let error = self.wrong(at, format!("there is no `{}` of {arguments}", clip(function)));
        match nearest(function.trim_start_matches("np."), FUNCTIONS).filter(|near| *near != function) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("the functions are {}", FUNCTIONS.join(" "))),
        }
    }

    /// Rows turned by their positions, from `first` on.
    fn rotated(
        &mut self,
        name: &str,
        [x, f, pairing]: [&Expression; 3],
        settings: &[(String, Expression)],
    ) -> Result<NodeId> {
        let word = match &*pairing.kind {
            Kind::Name(word) => self.name(word)?,
            _ => String::new(),
        };
        let pairing = match word.as_str() {
            "halves" => Pairing::Halves,
            "neighbours" => Pairing::Neighbours,
            _ => return Err(self.wrong(pairing.at, "the pairs of columns are `halves` or `neighbours`")),
        };
        let mut first = 0;
        for (setting, value) in settings {
            if setting != "first" {
                let error = self.wrong(value.at, format!("`rotate` has no setting `{}`", clip(setting)));
                return Err(error.help("first = 1"));
            }
            first = self.whole(value)?;
        }
        let inputs = [self.operand(x)?, self.operand(f)?];
        self.demo.compute(name, Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), &inputs)
    }

    /// The rules of a mask, `causal` and `window = 2`, and the matrix in it.
    fn rules(
        &self,
        rule: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<(Mask, Option<NodeId>)> {
        let (mut mask, mut matrix) = (Mask::default(), None);
        for part in rule {
            match &*part.kind {
                Kind::Name(name) if self.name(name)? == "causal" => mask.causal = true,
                _ => {
                    mask.matrix = Some(MatrixRule::Allow);
                    let rule = self.operand(part);
                    let rules = "the rules are `causal`, `window = 2` and a matrix of 0 and 1";
                    matrix = Some(rule.map_err(|error| error.with_help(rules.into()))?);
                }
            }
        }
        for (name, value) in settings {
            if name != "window" {
                return Err(self
                    .wrong(value.at, format!("a mask has no setting `{}`", clip(name)))
                    .help("window = 2"));
            }
            mask.window = Some(self.window(value)?);
        }
        Ok((mask, matrix))
    }

    fn masked(
        &mut self,
        name: &str,
        at: At,
        is_pattern: bool,
        scores: &Expression,
        rule: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<NodeId> {
        let (mask, matrix) = self.rules(rule, settings)?;
        if !mask.is_some() {
            return Err(self
                .wrong(at, "this mask hides nothing")
                .help("mask(S, causal), mask(S, causal, window = 2) or mask(S, M)"));
        }
        let op = if is_pattern { Op::MaskPattern(mask) } else { Op::Mask(mask) };
        let inputs: Vec<NodeId> = [self.operand(scores)?].into_iter().chain(matrix).collect();
        self.demo.compute(name, op, &inputs)
    }

    /// A whole attention: its steps have the ending of its name.
    fn attend(
        &mut self,
        name: &str,
        at: At,
        arguments: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<NodeId> {
        let [q, k, v] = arguments else {
            return Err(self
                .wrong(at, "`attend` takes queries, keys and values")
                .help("O = attend(Q, K, V)"));
        };
        let Some(suffix) = name.strip_prefix('O').map(str::to_string) else {
            return Err(self
                .wrong(at, "the result of `attend` is called O")
                .help("O = attend(…), or O_2 = attend(…): then its scores are S_2"));
        };
        let roles = [self.operand(q)?, self.operand(k)?, self.operand(v)?];
        let (mut heads, mut groups, mut recipe) = (1, None, Recipe::default());
        for (setting, value) in settings {
            match setting.as_str() {
                "heads" => heads = self.whole(value)?,
                "kv_heads" => groups = Some(self.whole(value)?),
                "window" => recipe.mask.window = Some(self.window(value)?),
                "mask" if matches!(&*value.kind, Kind::Name(name) if self.name(name)? == "causal") => {
                    recipe.mask.causal = true;
                }
                "scale" if matches!(&*value.kind, Kind::Name(name) if self.name(name)? == "none") => {
                    recipe.scale = crate::graph::recipes::Scale::None;
                }
                other => {
                    return Err(self
                        .wrong(value.at, format!("`attend` cannot have this `{}`", clip(other)))
                        .help("mask = causal, window = 2, scale = none, heads = 4, kv_heads = 2"));
                }
            }
        }
        let groups = groups.unwrap_or(heads);
        if heads == 1 {
            return Ok(self.demo.head(&suffix, roles, &recipe)?.1);
        }
        if heads == 0 || groups == 0 || heads > 64 || !heads.is_multiple_of(groups) {
            return Err(self.wrong(at, format!("{heads} heads cannot share {groups} keys and values")));
        }
        let [q, k, v] = roles;
        let queries = self.demo.split(&format!("Q{suffix}"), q, heads)?;
        let keys = self.demo.split(&format!("K{suffix}"), k, groups)?;
        let values = self.demo.split(&format!("V{suffix}"), v, groups)?;
        let mut outputs = Vec::new();
        for (head, query) in queries.into_iter().enumerate() {
            let group = crate::attention::key_value_head(head, heads, groups);
            let roles = [query, keys[group], values[group]];
            outputs.push(self.demo.head(&format!("{suffix}_{}", head + 1), roles, &recipe)?.1);
        }
        self.demo.side_by_side(name, "heads", &outputs)
    }

    // Conditions.

    fn condition(&self, of: &Expression) -> Result<Condition> {
        match &*of.kind {
            Kind::Unary(Sign::Not, of) => Ok(not(self.condition(of)?)),
            Kind::Binary(Sign::And, a, b) => Ok(Condition::All(vec![self.condition(a)?, self.condition(b)?])),
            Kind::Binary(Sign::Or, a, b) => Ok(Condition::Any(vec![self.condition(a)?, self.condition(b)?])),
            Kind::Close(a, b, within) => {
                let within = within.as_ref().map(|within| self.number(within)).transpose()?;
                self.compared(a, Relation::Within(within.unwrap_or(ROUNDING)), b)
            }
            Kind::Binary(Sign::Equal, a, b) => self.compared(a, Relation::Equal, b),
            Kind::Binary(Sign::Differs, a, b) => Ok(not(self.compared(a, Relation::Equal, b)?)),
            Kind::Binary(Sign::Less, a, b) => self.compared(a, Relation::Less, b),
            Kind::Binary(Sign::AtMost, a, b) => self.compared(a, Relation::AtMost, b),
            Kind::Binary(Sign::More, a, b) => self.compared(b, Relation::Less, a),
            Kind::Binary(Sign::AtLeast, a, b) => self.compared(b, Relation::AtMost, a),
            Kind::Call { function, arguments, .. } if function == "own" => {
                let names: Result<Vec<String>> = arguments
                    .iter()
                    .map(|of| match &*of.kind {
                        Kind::Name(name) => {
                            self.node(name)?;
                            self.name(name)
                        }
                        _ => Err(self.wrong(of.at, "`own` takes names of matrices")),
                    })
                    .collect();
                Ok(Condition::Own(names?))
            }
            Kind::Call { function, arguments, .. } if function == "top" && arguments.len() == 1 => {
                match self.address(&arguments[0])? {
                    Some(Address { text, is_cell: true }) => Ok(Condition::TopOfRow(text)),
                    _ => Err(self.wrong(of.at, "`top` takes a cell: top(A[1,2])")),
                }
            }
            _ if self.is_number(of) => Ok(if self.number(of)? != 0.0 { all([]) } else { any([]) }),
            _ => Err(self
                .wrong(of.at, "a condition is expected here")
                .help("for example A[1,1] == 1, or own(X)")),
        }
    }

    /// A comparison; a matrix or a row stands for all of its cells.
    fn compared(&self, a: &Expression, relation: Relation, b: &Expression) -> Result<Condition> {
        let (whole_a, whole_b, place) = (self.several(a)?, self.several(b)?, a.at);
        let compare = |a: Quantity, b: Quantity| Condition::Compare(a, relation, b);
        match (whole_a, whole_b) {
            (None, None) => Ok(compare(self.quantity(a)?, self.quantity(b)?)),
            (Some(a), Some(b)) => match relation {
                Relation::Equal => Ok(Condition::Same(a, b, 0.0)),
                Relation::Within(within) => Ok(Condition::Same(a, b, within)),
                Relation::Less | Relation::AtMost => Err(self
                    .wrong(place, "two matrices are compared with `==` and `≈` alone")
                    .help("compare max(A) with min(B), or cells")),
            },
            (Some(a), None) => {
                let b = self.quantity(b)?;
                Ok(all([compare(max_of(&a), b.clone()), compare(min_of(&a), b)]))
            }
            (None, Some(b)) => {
                let a = self.quantity(a)?;
                Ok(all([compare(a.clone(), max_of(&b)), compare(a, min_of(&b))]))
            }
        }
    }

    /// The address of a matrix or a row of several cells.
    fn several(&self, of: &Expression) -> Result<Option<String>> {
        Ok(self.address(of)?.filter(|address| !address.is_cell).map(|address| address.text))
    }

    /// The address that an expression is, if it is one. A number in a name or an index is written out.
    fn address(&self, of: &Expression) -> Result<Option<Address>> {
        let index = |at: &Expression| -> Result<String> {
            match &*at.kind {
                Kind::Text(text) => Ok(text.clone()),
                Kind::Name(name) if !self.is_number(at) => self.name(name),
                _ => Ok(self.whole(at)?.to_string()),
            }
        };
        match &*of.kind {
            Kind::Name(name) if self.demo.node(&self.name(name)?).is_ok() || !self.is_number(of) => {
                let node = self.node(name)?;
                let shape = self.demo.matrix(node)?.shape();
                self.spend(of.at, 4.0 * (shape.rows * shape.cols) as f64)?;
                let is_one = self.demo.matrix(node)?.shape() == Shape { rows: 1, cols: 1 };
                let name = self.name(name)?;
                Ok(Some(Address {
                    text: if is_one { format!("{name}[1,1]") } else { name },
                    is_cell: is_one,
                }))
            }
            Kind::Part(name, indices) => {
                self.node(name)?;
                let name = self.name(name)?;
                match &indices[..] {
                    [Index::One(i), Index::One(j)] => Ok(Some(Address {
                        text: format!("{name}[{},{}]", index(i)?, index(j)?),
                        is_cell: true,
                    })),
                    [Index::One(i)] | [Index::One(i), Index::All] => {
                        Ok(Some(Address { text: format!("{name}[{}]", index(i)?), is_cell: false }))
                    }
                    [Index::All, Index::One(j)] => {
                        Ok(Some(Address { text: format!("{name}[*,{}]", index(j)?), is_cell: false }))
                    }
                    _ => Err(self.wrong(of.at, "a condition names a cell, a row or a column")),
                }
            }
            _ => Ok(None),
        }
    }

    fn quantity(&self, of: &Expression) -> Result<Quantity> {
        let is_node = matches!(&*of.kind, Kind::Name(name) if self.demo.node(&self.name(name)?).is_ok());
        if !is_node && self.is_number(of) {
            return Ok(Quantity::Number(self.number(of)?));
        }
        let address = |of: &Expression| -> Result<String> {
            let address = self.address(of)?.map(|address| address.text);
            address.ok_or_else(|| self.wrong(of.at, "a matrix, a row or a cell is expected here"))
        };
        match &*of.kind {
            Kind::Name(_) | Kind::Part(..) => Ok(Quantity::Cell(address(of)?)),
            Kind::LargestSize(of) => Ok(Quantity::MaxSize(address(of)?)),
            Kind::Binary(Sign::Plus, a, b) => Ok(plus(self.quantity(a)?, self.quantity(b)?)),
            Kind::Binary(Sign::Product | Sign::Multiply, a, b) => {
                Ok(times(self.quantity(a)?, self.quantity(b)?))
            }
            Kind::Call { function, arguments, .. } => match (function.as_str(), &arguments[..]) {
                ("max", [of]) => Ok(Quantity::Max(address(of)?)),
                ("min", [of]) => Ok(Quantity::Min(address(of)?)),
                ("sum", [of]) => Ok(Quantity::Sum(address(of)?)),
                _ => Err(self.wrong(of.at, format!("`{}` is no number of a condition", clip(function)))),
            },
            _ => Err(self.wrong(of.at, "a number or a cell is expected here")),
        }
    }
}

/// What a condition reads.
struct Address {
    text: String,
    is_cell: bool,
}

/// ε of the norms, as in PyTorch's LayerNorm.
const EPSILON: f64 = 1e-5;

/// The functions of matrices.
const FUNCTIONS: [&str; 29] = [
    "attend",
    "beside",
    "change",
    "column_sums",
    "cosine",
    "diag",
    "distance",
    "exp",
    "frequencies",
    "gap",
    "gelu",
    "layer_norm",
    "linear_scaling",
    "ln",
    "mask",
    "minus_mean",
    "ones",
    "part",
    "relu",
    "rotate",
    "rms_norm",
    "row_sums",
    "sigmoid",
    "silu",
    "softmax",
    "sqrt",
    "stack",
    "sum",
    "visible",
];
