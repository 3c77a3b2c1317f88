//! The tree of an explanation as JSON, every digit, so that a program can evaluate it.

use serde_json::{Map, Value, json};

use super::{Page, Style};
use crate::attention::Base;
use crate::explain::{Branch, Explanation};
use crate::graph::{Convention, Graph, PlainSymbols, Symbols, Term, address_of, formula, written};
use crate::json_number::value as number;
use crate::story::StepItem;

const SCHEMA: &str = "attn-explanation";
const VERSION: u32 = 1;

/// All explanations on the pages.
pub(super) fn value(pages: &[Page], command: &str, style: &Style) -> Value {
    let mut explanations = Vec::new();
    for page in pages {
        let graph = &page.story.graph;
        let writer = ExplanationJson { graph, symbols: Symbols::of(graph, style.convention) };
        for shown in page.story.steps.iter().flat_map(|step| &step.shown) {
            if let StepItem::Explained { of, .. } = shown {
                explanations.extend(of.iter().map(|one| writer.explanation(&one.explanation)));
            }
        }
    }
    json!({ "schema": SCHEMA, "version": VERSION, "command": command, "explanations": explanations })
}

struct ExplanationJson<'a> {
    graph: &'a Graph,
    symbols: Symbols,
}

impl ExplanationJson<'_> {
    /// The keys that every cell has, explained or not.
    fn cell(&self, cell: crate::graph::CellId) -> Map<String, Value> {
        let entries = [
            ("address", Value::from(address_of(self.graph, cell))),
            ("node", self.graph[cell.node].name.as_str().into()),
            ("row", (cell.row + 1).into()),
            ("col", (cell.col + 1).into()),
            ("symbol", self.symbols.cell(cell).into()),
            ("value", number(Term::Cell(cell).evaluate(self.graph))),
            ("equation", formula(self.graph, cell.node, Convention::Rows, false).into()),
        ];
        entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }

    fn explanation(&self, explanation: &Explanation) -> Value {
        let mut entry = self.cell(explanation.cell);
        let notation = PlainSymbols { symbols: &self.symbols };
        let note = |note: &crate::explain::Note| Value::from(note.text(self.graph, |x| x.to_string()));
        entry.insert("symbolic".into(), written(&explanation.term, &notation).into());
        entry.insert("term".into(), self.term(&explanation.term));
        entry.insert("notes".into(), explanation.notes.iter().map(note).collect());
        entry.insert("operands".into(), explanation.operands.iter().map(|one| self.branch(one)).collect());
        Value::Object(entry)
    }

    fn branch(&self, branch: &Branch) -> Value {
        let state = |state: &str, entry: Value| match entry {
            Value::Object(mut entry) => {
                entry.insert("state".into(), state.into());
                Value::Object(entry)
            }
            other => other,
        };
        match branch {
            Branch::Explained(explanation) => state("explained", self.explanation(explanation)),
            Branch::Repeated(cell) => state("repeated", Value::Object(self.cell(*cell))),
            Branch::Further(cell) => state("further", Value::Object(self.cell(*cell))),
        }
    }

    /// A term as one key, its operation, with its parts.
    fn term(&self, term: &Term) -> Value {
        let all = |terms: &[Term]| -> Value { terms.iter().map(|term| self.term(term)).collect() };
        match term {
            Term::Cell(cell) => json!({ "cell": address_of(self.graph, *cell) }),
            Term::Number(x) => json!({ "number": number(*x) }),
            Term::Sum(terms) => json!({ "sum": all(terms) }),
            Term::Product(terms) => json!({ "product": all(terms) }),
            Term::Max(terms) => json!({ "max": all(terms) }),
            Term::Difference(a, b) => json!({ "difference": [self.term(a), self.term(b)] }),
            Term::Quotient(a, b) => json!({ "quotient": [self.term(a), self.term(b)] }),
            Term::Power(base, exponent) => {
                let base = match base {
                    Base::E => "e".into(),
                    Base::Number(base) => number(*base),
                };
                json!({ "power": { "base": base, "exponent": self.term(exponent) } })
            }
            Term::Logarithm(term) => json!({ "logarithm": self.term(term) }),
            Term::Tanh(term) => json!({ "tanh": self.term(term) }),
            Term::Erf(term) => json!({ "erf": self.term(term) }),
            Term::Root(term) => json!({ "root": self.term(term) }),
            Term::Size(term) => json!({ "size": self.term(term) }),
            Term::Sine(angle) => json!({ "sine": self.term(angle) }),
            Term::Cosine(angle) => json!({ "cosine": self.term(angle) }),
            Term::Rounded(term, decimals) => json!({ "rounded": self.term(term), "decimals": decimals }),
            Term::Truncated(term, decimals) => json!({ "truncated": self.term(term), "decimals": decimals }),
            Term::Choice { taken, because } => json!({ "choice": self.term(taken), "because": because }),
            Term::Leaf(x, phrase) => json!({ "leaf": number(*x), "is": phrase }),
            Term::With { name, is, within } => {
                json!({ "with": name, "is": self.term(is), "within": self.term(within) })
            }
            Term::Named(name) => json!({ "name": name }),
            Term::Rest { count, value } => json!({ "rest": number(*value), "count": count }),
        }
    }
}
