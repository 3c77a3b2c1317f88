//! The lines of a demo, told in order: paragraphs, their definitions, and the steps that they tell.

use super::names::*;
use crate::graph::Start;
use crate::language::{Line, LineKind, Paragraph};
use crate::story::{Plane, StepItem, Table};

/// A matrix in words has at most this many rows and columns.
const MOST_IN_WORDS: usize = 7;

/// What it takes to write out the texts and names of a line.
fn line_cost(kind: &LineKind) -> f64 {
    let text = |text: &str| 20.0 * text.len() as f64 + 300.0 * text.matches('{').count() as f64;
    match kind {
        LineKind::Say(said) | LineKind::If { text: said, .. } | LineKind::Need { error: said, .. } => {
            text(said)
        }
        LineKind::Row(cells, _) => cells.iter().map(|cell| text(cell)).sum(),
        LineKind::Show(names) | LineKind::Together(names) | LineKind::Fold(names) => {
            1e4 * names.names.len() as f64
        }
        LineKind::Columns(columns) => 1e4 * columns.len() as f64,
        LineKind::Take(..) => 1e6,
        LineKind::Plane(points, arrows) => 1e4 * (points.len() + arrows.len()) as f64,
        LineKind::Words(..)
        | LineKind::Symbols(_)
        | LineKind::Define(_)
        | LineKind::Let(..)
        | LineKind::Brief(_)
        | LineKind::Gradients { .. } => 0.0,
    }
}

impl Teller<'_> {
    pub(super) fn paragraph(&mut self, paragraph: &Paragraph) -> Result<()> {
        let Some(repeat) = &paragraph.repeat else { return self.once(paragraph) };
        let before = self.values.borrow().get(&repeat.variable).cloned();
        for value in self.each(repeat)? {
            self.bind(&repeat.variable, Some(value));
            self.once(paragraph)?;
        }
        self.bind(&repeat.variable, before);
        Ok(())
    }

    fn once(&mut self, paragraph: &Paragraph) -> Result<()> {
        for Line { at, kind } in &paragraph.lines {
            self.spend(*at, 10_000.0 + line_cost(kind))?;
            match kind {
                LineKind::Define(definition) => self.define(definition)?,
                LineKind::Let(name, is) => self.name_value(*at, name, is)?,
                LineKind::Need { condition, error, help } if !self.holds(condition)? => {
                    let error = self.wrong(*at, self.without_cells(error, *at)?);
                    return Err(match help {
                        Some(help) => error.help(self.without_cells(help, *at)?),
                        None => error,
                    });
                }
                LineKind::Take(names, run) => self.take(*at, names, run)?,
                LineKind::Gradients { of, from, to } => {
                    let of = self.node(of)?;
                    let start = match from {
                        Some(from) => Start::Node(self.node(from)?),
                        None => Start::Ones,
                    };
                    let to: Vec<NodeId> = to.iter().map(|name| self.node(name)).collect::<Result<_>>()?;
                    let made = self.graph.gradients(of, start, &to);
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
        Ok(matches!(self.truth(&self.condition(condition)?), Ok(true)))
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
                    LineKind::Define(_)
                        | LineKind::Let(..)
                        | LineKind::Need { .. }
                        | LineKind::Take(..)
                        | LineKind::Gradients { .. }
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
        let (mut step, mut rows, mut place_of_table) = (Step::default(), Vec::new(), None);
        for line in &paragraph.lines {
            match &line.kind {
                LineKind::Words(name, words) => {
                    step.shown.extend(self.in_words_table(name, words)?.map(StepItem::Table));
                }
                LineKind::If { instead: true, condition, text } if self.is_constant(condition) => {
                    if self.number(condition)? != 0.0 {
                        sentence = self.text(text)?;
                    }
                }
                LineKind::Row(cells, repeat) => {
                    place_of_table.get_or_insert(step.shown.len());
                    let row =
                        || cells.iter().map(|cell| self.without_cells(cell, line.at)).collect::<Result<_>>();
                    rows.extend(
                        self.repeated(repeat.as_ref(), 10 * cells.len(), row)?
                            .into_iter()
                            .map(|row| (line.at, row)),
                    );
                }
                LineKind::Brief(name) => step.in_brief = Some(StepItem::Together(vec![self.node(name)?])),
                // What no number of the user decides is decided here.
                LineKind::If { condition, .. }
                    if self.is_constant(condition) && self.number(condition)? == 0.0 => {}
                LineKind::If { instead, condition, text } => {
                    let (condition, text) = (condition.clone(), self.text(text)?);
                    let step = self.steps.len();
                    let claim = Claim { step, condition, text, is_heading: *instead, shown: false };
                    self.claims.push((claim, line.at, self.values.borrow().clone()));
                }
                kind => step.shown.extend(self.items(kind)?),
            }
        }
        if let Some(place) = place_of_table {
            step.shown.insert(place, StepItem::Table(self.table(&rows)?));
        }
        self.steps.push(Step { text: sentence, ..step });
        Ok(())
    }

    /// What a line shows in its step.
    fn items(&self, line: &LineKind) -> Result<Vec<StepItem>> {
        let node = |name: &Name| self.node(name);
        let each = |nodes: Vec<NodeId>| nodes.into_iter().map(StepItem::Node).collect();
        Ok(match line {
            LineKind::Show(names) => each(self.listed(names)?),
            LineKind::Together(names) => vec![StepItem::Together(self.listed(names)?)],
            LineKind::Fold(names) => vec![StepItem::Folded(self.listed(names)?)],
            LineKind::Symbols(name) => vec![StepItem::Symbols(node(name)?)],
            LineKind::Columns(columns) => {
                let column = |(name, sum): &(Name, Option<Name>)| {
                    Ok((node(name)?, sum.as_ref().map(node).transpose()?))
                };
                let columns: Vec<(NodeId, Option<NodeId>)> =
                    columns.iter().map(column).collect::<Result<_>>()?;
                match columns.iter().all(|(id, _)| self.graph[*id].shape().rows == 1) {
                    true => vec![StepItem::Columns(columns)],
                    false => each(columns.iter().flat_map(|(id, sum)| [Some(*id), *sum]).flatten().collect()),
                }
            }
            LineKind::Plane(points, arrows) => {
                let points: Vec<NodeId> = points.iter().map(node).collect::<Result<_>>()?;
                let arrow = |(from, to): &(Name, Name)| Ok((node(from)?, node(to)?));
                let arrows: Vec<(NodeId, NodeId)> = arrows.iter().map(arrow).collect::<Result<_>>()?;
                let mut drawn = arrows.iter().flat_map(|(from, to)| [from, to]).chain(&points);
                match drawn.all(|&id| self.graph[id].shape().cols == 2) {
                    true => vec![StepItem::Plane(Plane::new(&points, &arrows))],
                    false => Vec::new(),
                }
            }
            _ => Vec::new(),
        })
    }

    /// A table of words; `#` before a head says that its column holds numbers.
    fn table(&self, rows: &[(At, Vec<String>)]) -> Result<Table> {
        let Some(((_, header), rows)) = rows.split_first() else { return Ok(Table::default()) };
        if let Some((at, row)) = rows.iter().find(|(_, row)| row.len() != header.len()) {
            let error = format!("this row has {} cells, and the header {}", row.len(), header.len());
            return Err(self.wrong(*at, error));
        }
        let head =
            |head: &String| head.strip_prefix('#').map_or(head.clone(), |head| head.trim().to_string());
        let numbers: Vec<String> = header.iter().filter(|text| text.starts_with('#')).map(head).collect();
        let header: Vec<String> = header.iter().map(head).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        Ok(Table::new(&header, rows.iter().map(|(_, row)| row.clone())).with_numbers(&numbers))
    }

    /// The cells of a matrix in words, under the names of its columns; none if it is large.
    fn in_words_table(&self, name: &Name, words: &[String]) -> Result<Option<Table>> {
        let matrix = self.graph.matrix(self.node(name)?)?;
        if matrix.rows().max(matrix.cols()) > MOST_IN_WORDS {
            return Ok(None);
        }
        let numbered = |count: usize| (1..=count).map(|number| number.to_string()).collect();
        let names =
            |labels: Option<&Labels>, count| labels.map_or_else(|| numbered(count), |labels| labels.to_vec());
        let header = [vec!["block".to_string()], names(matrix.col_labels(), matrix.cols())].concat();
        let word = |cell: f64| words.get(cell as usize).or(words.last()).cloned().unwrap_or_default();
        let rows = names(matrix.row_labels(), matrix.rows()).into_iter().enumerate();
        let rows = rows.map(|(i, name)| std::iter::once(name).chain(matrix.row(i).map(word)).collect());
        Ok(Some(Table { header, rows: rows.collect(), ..Table::default() }))
    }
}
