//! The definitions of a demo: matrices that are given, and steps of the computation.

use super::functions::Call;
use super::names::*;
use crate::attention::{Base, WeightLayout};
use crate::demo::SEED;
use crate::graph::{self, Factor};
use crate::language::{Definition, Lines};
use crate::random::LegacyStream;

/// No demo has more steps of computation.
const MOST_NODES: usize = 4000;

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

impl Teller<'_> {
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
            let node = self.name(name).ok().and_then(|name| self.graph.require(&name).ok());
            shapes.extend(node.and_then(|node| self.graph.matrix(node).ok()).map(Matrix::shape));
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

    /// Counts steps of the computation before they are made.
    pub(super) fn count_nodes(&mut self, at: At, more: usize) -> Result<()> {
        self.nodes += more;
        if self.nodes > MOST_NODES {
            return Err(self.wrong(at, format!("this demo has more than {MOST_NODES} definitions")));
        }
        Ok(())
    }

    pub(super) fn define(&mut self, definition: &Definition) -> Result<()> {
        let Definition { name, is, rows, cols, label, of, origin, stage } = definition;
        self.count_nodes(name.at, 1)?;
        let spelled = self.name(name)?;
        if spelled.trim().is_empty() {
            return Err(self.wrong(name.at, "a name has at least one letter"));
        }
        if self.values.borrow().contains_key(&spelled) {
            return Err(self.wrong(name.at, format!("`{}` is a number already", clip(&spelled))));
        }
        self.spend(name.at, self.cost(is))?;
        let named = |lines: &Option<Lines>| lines.as_ref().map(|lines| self.labels(lines)).transpose();
        let (row_names, col_names) = (named(rows)?.flatten(), named(cols)?.flatten());
        let node = match self.given(&spelled, is, (row_names.clone(), col_names.clone()), origin.as_ref())? {
            Some(node) => node,
            None if origin.is_some() => {
                return Err(self.wrong(is.at, "only numbers that are given have an origin"));
            }
            None => {
                let node = self.computed(&spelled, is, of.as_deref(), row_names.clone());
                let node = node.map_err(|error| self.placed(error, is.at))?;
                if row_names.is_some() || col_names.is_some() {
                    let matrix = self.graph.matrix(node)?;
                    let named = |names: &Option<Labels>, own: Option<&Labels>| match names {
                        Some(names) if names.is_empty() => None,
                        names => names.clone().or_else(|| own.cloned()),
                    };
                    let rows = named(&row_names, matrix.row_labels());
                    let cols = named(&col_names, matrix.col_labels());
                    self.graph.name_lines(node, rows, cols);
                }
                if let (Kind::Call { function, .. }, Some(of)) = (&*is.kind, of)
                    && function.starts_with("op.")
                {
                    self.graph.collects(node, of);
                }
                node
            }
        };
        if let Some(label) = label {
            self.graph.label(node, label);
        }
        if let Some(stage) = stage {
            let step: graph::Step = self.read_object(stage)?;
            self.graph.mark(node, step);
        }
        let shape = self.graph.matrix(node)?.shape();
        for (what, names, lines) in [("row", row_names, shape.rows), ("column", col_names, shape.cols)] {
            let names = names.as_ref().map_or(lines, |labels| labels.len());
            if self.own.is_none() && names != lines && names > 0 {
                let (lines, names) = (counted(lines, what), counted(names, "name"));
                return Err(
                    self.wrong(name.at, format!("`{}` has {lines}, and {names} for them", clip(&spelled)))
                );
            }
        }
        Ok(())
    }

    /// The names of rows or columns; none if they belong to numbers that the user has changed.
    fn labels(&self, lines: &Lines) -> Result<Option<Labels>> {
        for name in &lines.own {
            if self.settings.set.contains_key(&self.name(name)?) {
                return Ok(None);
            }
        }
        if let Some((of_rows, like)) = &lines.like {
            let matrix = self.graph.matrix(self.node(like)?)?;
            let labels = if *of_rows { matrix.row_labels() } else { matrix.col_labels() };
            let before: String = lines.names.iter().map(|before| format!("{before} ")).collect();
            return Ok(labels.map(|labels| labels.iter().map(|label| format!("{before}{label}")).collect()));
        }
        let once =
            || lines.names.iter().map(|name| Ok(plain(&self.text(name)?))).collect::<Result<Vec<String>>>();
        Ok(Some(self.repeated(lines.repeat.as_ref(), lines.names.len(), once)?.concat().into()))
    }

    /// A matrix that the user may replace, if the expression is one.
    fn given(
        &mut self,
        name: &str,
        is: &Expression,
        (rows, cols): (Option<Labels>, Option<Labels>),
        origin: Option<&Expression>,
    ) -> Result<Option<NodeId>> {
        let labelled = |matrix: Matrix| matrix.with_row_labels(rows.clone()).with_col_labels(cols.clone());
        let made = match &*is.kind {
            Kind::Matrix(rows) => {
                let origin = origin.map(|origin| self.read_object(origin)).transpose()?;
                let origin = origin.unwrap_or(Origin::Stated);
                let is_identity = |(i, row): (usize, &Vec<f64>)| {
                    row.iter().enumerate().all(|(j, x)| *x == f64::from(u8::from(i == j)))
                };
                let origin = match origin {
                    // Somebody has changed its numbers.
                    Origin::Identity if !rows.iter().enumerate().all(is_identity) => Origin::Stated,
                    origin => origin,
                };
                if let Origin::Drawn(seed) = origin {
                    self.own_seed = seed;
                }
                self.leaf(name, labelled(Matrix::from_rows(rows)?), origin)
            }
            Kind::Draw(height, width, after) => {
                let (height, width) = (self.side(height)?, self.side(width)?);
                let skipped = match after {
                    Some(after) => match self.whole(after)? {
                        skipped if skipped <= 1 << 20 => skipped,
                        _ => return Err(self.wrong(after.at, "at most 1048576 numbers can be skipped")),
                    },
                    None => self.drawn,
                };
                self.drawn = skipped + height * width;
                self.spend(is.at, 10.0 * self.drawn as f64)?;
                let seed = self.settings.seed.unwrap_or(SEED);
                let mut stream = LegacyStream::seeded(seed);
                (0..skipped).for_each(|_| {
                    stream.standard_normal();
                });
                let matrix = stream.standard_normal_matrix(height, width);
                self.leaf(name, labelled(matrix), Origin::Drawn(seed))
            }
            Kind::Table(height, width, rule) => {
                let (height, width) = (self.side(height)?, self.side(width)?);
                self.spend(is.at, 40.0 * (height * width * size(rule)) as f64)?;
                let matrix = self.by_rule(height, width, rule)?;
                self.fitted(name, labelled(matrix))
            }
            Kind::Fitted(numbers, like) => {
                let shape = self.graph.matrix(self.node(like)?)?.shape();
                let cell = |i: usize, j: usize| {
                    let row = &numbers[i % numbers.len()];
                    row[j % row.len()]
                };
                self.fitted(name, labelled(Matrix::from_fn(shape.rows, shape.cols, cell)))
            }
            Kind::Repeated(numbers, count) => {
                let (rows, width) = (self.side(count)?, numbers[0].len());
                let cell = |i: usize, j: usize| numbers[i % numbers.len()][j];
                self.fitted(name, labelled(Matrix::from_fn(rows, width, cell)))
            }
            Kind::Whole(own, least, most) => {
                let [own, least, most] = [self.whole(own)?, self.whole(least)?, self.whole(most)?];
                if own < least.max(1) || own > most {
                    return Err(
                        self.wrong(is.at, format!("{own} is not between {} and {most}", least.max(1)))
                    );
                }
                self.count(name, own, most)
            }
            _ => return Ok(None),
        };
        made.map(Some).map_err(|error| self.placed(error, is.at))
    }

    fn fitted(&mut self, name: &str, matrix: Matrix) -> Result<NodeId> {
        let own = self.own.as_ref().and_then(|own| own.get(name)).copied().unwrap_or(matrix.shape());
        let origin = if matrix.shape() == own { Origin::Stated } else { Origin::Fitted };
        self.leaf(name, matrix, origin)
    }

    /// A matrix that is given, unless the user puts in another; the names of rows and columns are kept for it where it has none.
    fn leaf(&mut self, name: &str, matrix: Matrix, origin: Origin) -> Result<NodeId> {
        let Some((user, source)) = self.settings.set.get(name) else {
            return self.graph.given(name, matrix, origin);
        };
        let rows = user.row_labels().or(matrix.row_labels()).cloned();
        let cols = user.col_labels().or(matrix.col_labels()).cloned();
        let user = user.clone().with_row_labels(rows).with_col_labels(cols);
        self.graph.given(name, user, Origin::User(source.clone()))
    }

    /// A whole number, such as the length of a block, unless the user puts in another.
    fn count(&mut self, name: &str, own: usize, most: usize) -> Result<NodeId> {
        let id = self.leaf(name, Matrix::filled(1, 1, own as f64), Origin::Stated)?;
        let cells: Vec<f64> = self.graph.matrix(id)?.cells().collect();
        match cells[..] {
            [number] if (1.0..=most as f64).contains(&number) && number.fract() == 0.0 => {
                self.bind(name, Some(Value::Number(number)));
                Ok(id)
            }
            _ => Err(Error::new(format!("{name} must be one whole number from 1 to {most}"))
                .help(format!("for example --set {name}={own}, as in the demo"))),
        }
    }

    fn by_rule(&self, rows: usize, cols: usize, rule: &Expression) -> Result<Matrix> {
        let before = ["i", "j"].map(|name| (name, self.values.borrow().get(name).cloned()));
        let mut cells = Vec::with_capacity(rows * cols);
        for i in 1..=rows {
            for j in 1..=cols {
                self.bind("i", Some(Value::Number(i as f64)));
                self.bind("j", Some(Value::Number(j as f64)));
                cells.push(self.number(rule)?);
            }
        }
        for (name, value) in before {
            self.bind(name, value);
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
            teller.graph.add(name, op, &[a])
        };
        let two = |teller: &mut Self, op: Op, a: &Expression, b: &Expression| {
            let inputs = [teller.operand(a)?, teller.operand(b)?];
            teller.graph.add(name, op, &inputs)
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
                _ => {
                    let (left, right) = (self.operand(a)?, self.operand(b)?);
                    let is_one = self.own_shape(b, right)? == Shape { rows: 1, cols: 1 };
                    // A product does not fit there, so it is meant cell by cell.
                    let op = match is_one && self.own_shape(a, left)?.cols != 1 {
                        true => Op::Times,
                        false => Op::Product,
                    };
                    self.graph.add(name, op, &[left, right])
                }
            },
            Kind::Binary(Sign::Divide, a, b) => self.divided(name, a, b),
            Kind::Binary(Sign::Multiply, a, b) if self.is_number(a) || self.is_number(b) => {
                let (number, a) = if self.is_number(a) { (a, b) } else { (b, a) };
                let factor = Factor::Number(self.number(number)?);
                one(self, Op::Scale(factor), a)
            }
            Kind::Binary(Sign::Multiply, a, b) => two(self, Op::Multiply, a, b),
            Kind::Binary(Sign::Power, base, a) => {
                let base = self.number(base)?;
                one(self, Op::Exponential(Base::Number(base)), a)
            }
            Kind::Binary(Sign::Minus, a, b) => two(self, Op::Subtract, a, b),
            Kind::Binary(Sign::Plus, product, bias) if self.is_product(product) => {
                let Kind::Binary(_, x, weights) = &*product.kind else { return self.operand(product) };
                let (layout, weights) = match &*weights.kind {
                    Kind::Transposed(weights) => (WeightLayout::OutIn, weights),
                    _ => (WeightLayout::InOut, weights),
                };
                let inputs = [self.operand(x)?, self.operand(weights)?, self.operand(bias)?];
                self.graph.add(name, Op::Linear(layout), &inputs)
            }
            Kind::Binary(Sign::Plus, ..) => {
                let mut parts = Vec::new();
                let mut left = is;
                while let Kind::Binary(Sign::Plus, a, b) = &*left.kind {
                    parts.push(self.operand(b)?);
                    left = a;
                }
                parts.push(self.operand(left)?);
                parts.reverse();
                self.graph.add(name, Op::Add, &parts)
            }
            Kind::Unary(Sign::Minus, a) => one(self, Op::Scale(Factor::Number(-1.0)), a),
            Kind::Transposed(a) => one(self, Op::Transpose, a),
            Kind::LargestSize(a) => one(self, LARGEST, a),
            Kind::Part(whole, indices) => self.part(name, whole, indices),
            Kind::Each { function, first, argument, repeat } => {
                let mut parts = self.operands(first)?;
                parts.extend(self.repeated(Some(repeat), 1, || self.operand(argument))?);
                self.put_together(name, function, is.at, &parts, of, rows)
            }
            Kind::Call { function, arguments, settings }
                if matches!(function.as_str(), "stack" | "beside" | "add") =>
            {
                if let Some((_, setting)) = settings.first() {
                    return Err(self.wrong(setting.at, format!("`{function}` has no settings")));
                }
                let parts = self.operands(arguments)?;
                self.put_together(name, function, is.at, &parts, of, rows)
            }
            Kind::Call { function, arguments, settings } if function == "lens" && settings.is_empty() => {
                self.lens(name, is.at, arguments, rows)
            }
            Kind::Call { function, arguments, settings } => {
                self.called(Call { name, at: is.at, function, arguments, settings })
            }
            Kind::Name(other) => {
                self.operand(is)?;
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

    /// Whether an expression is a product of two matrices.
    fn is_product(&self, of: &Expression) -> bool {
        match &*of.kind {
            Kind::Binary(Sign::Product, a, b) => !self.is_number(a) && !self.is_number(b),
            _ => false,
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
            "add" => Op::Add,
            other => {
                return Err(self
                    .wrong(at, format!("`{}` puts nothing together", clip(other)))
                    .help("stack(…), beside(…) or add(…)"));
            }
        };
        if parts.len() > MOST_NODES {
            return Err(self.wrong(at, format!("more than {MOST_NODES} matrices are put together")));
        }
        let node = self.graph.add(name, op, parts)?;
        if let Some(of) = of {
            // “The one word”, and “the two words”.
            let of = if parts.len() == 1 { of.strip_suffix('s').unwrap_or(of) } else { of };
            self.graph.collects(node, of);
        }
        Ok(node)
    }

    fn divided(&mut self, name: &str, a: &Expression, b: &Expression) -> Result<NodeId> {
        // `S · 1/√64` and `S · 1/8` are read as they are printed.
        let (a, is_inverse) = match &*a.kind {
            Kind::Binary(Sign::Product, a, one) if matches!(*one.kind, Kind::Number(1.0)) => (a, true),
            _ => (a, false),
        };
        let of = self.operand(a)?;
        if let Kind::Call { function, arguments, .. } = &*b.kind
            && let ("sqrt", [width]) = (function.as_str(), &arguments[..])
        {
            let width = self.whole(width)?;
            return self.graph.add(name, Op::Scale(Factor::InverseRoot(width)), &[of]);
        }
        if self.is_number(b) {
            let op = match is_inverse {
                true => Op::Scale(Factor::Inverse(self.whole(b)?)),
                false => Op::Temperature(self.number(b)?),
            };
            return self.graph.add(name, op, &[of]);
        }
        let by = self.operand(b)?;
        let is_one = self.own_shape(b, by)? == Shape { rows: 1, cols: 1 };
        self.graph.add(name, if is_one { Op::Divide } else { Op::Quotient }, &[of, by])
    }

    /// The shape of a matrix in the demo itself: which op is meant does not depend on what the user has put in.
    fn own_shape(&self, of: &Expression, node: NodeId) -> Result<Shape> {
        let own = match (&self.own, &*of.kind) {
            (Some(own), Kind::Name(name)) => own.get(&self.name(name)?).copied(),
            _ => None,
        };
        own.map_or_else(|| Ok(self.graph.matrix(node)?.shape()), Ok)
    }

    /// Rows or columns of a matrix.
    fn part(&mut self, name: &str, whole: &Name, indices: &[Index]) -> Result<NodeId> {
        let of = self.node(whole)?;
        let matrix = self.graph.matrix(of)?.clone();
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
        self.graph.add(name, op, &[of])
    }

    /// The place of a row or column, from 1: a number, `last`, or its name.
    fn place(&self, of: &Expression, length: usize, labels: Option<&Labels>) -> Result<usize> {
        let spelled = match &*of.kind {
            // A number goes before a row of the same name.
            Kind::Name(name) if self.is_variable(name) => None,
            Kind::Text(text) => Some(self.text(text)?),
            Kind::Name(name) => Some(self.name_or_word(name)?),
            _ => None,
        };
        if spelled.as_deref() == Some("last") {
            return Ok(length);
        }
        // `capital or last`: the first of these that is there.
        if let Kind::Binary(Sign::Or, first, second) = &*of.kind {
            return self.place(first, length, labels).or_else(|_| self.place(second, length, labels));
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
}
