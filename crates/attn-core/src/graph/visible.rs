//! A graph as it is shown: labels and other text from outside have escapes for invisible characters.

use std::sync::Arc;

use super::{Graph, Node, Op, Origin, Value};
use crate::foreign::{hidden, visible};
use crate::matrix::Labels;

impl Graph {
    /// Returns true if all its texts consist of visible characters.
    pub fn is_visible(&self) -> bool {
        let is_seen = |text: &String| hidden(text).next().is_none();
        let are_seen = |labels: Option<&Labels>| labels.is_none_or(|labels| labels.iter().all(is_seen));
        self.warnings.iter().all(is_seen)
            && self.nodes.iter().all(|node| {
                let (rows, cols) = node.labels();
                let Node { name, label, collects, op, .. } = node;
                let is_origin_seen = match op {
                    Op::Given(origin) => is_origin_seen(origin),
                    _ => true,
                };
                is_seen(name)
                    && label.iter().chain(collects).all(is_seen)
                    && is_origin_seen
                    && are_seen(rows)
                    && are_seen(cols)
            })
    }

    /// This graph with invisible characters escaped.
    pub fn made_visible(mut self) -> Graph {
        let show = |text: &mut String| *text = visible(text).into_owned();
        let vocabulary = self.vocabulary.as_ref().map(|own| (own.clone(), shown(own)));
        let shown = |labels: Option<&Labels>| match (labels?, &vocabulary) {
            // What is shared stays shared: a vocabulary is long.
            (labels, Some((own, shown))) if Arc::ptr_eq(labels, own) => Some(shown.clone()),
            (labels, _) => Some(shown(labels)),
        };
        self.vocabulary = vocabulary.as_ref().map(|(_, shown)| shown.clone());
        self.warnings.iter_mut().for_each(show);
        for node in &mut self.nodes {
            let shape = node.shape();
            let (rows, cols) = node.labels();
            let (rows, cols) = (shown(rows), shown(cols));
            [&mut node.name].into_iter().chain(&mut node.label).chain(&mut node.collects).for_each(show);
            if let Op::Given(origin) = &mut node.op {
                show_origin(origin);
            }
            let value = std::mem::replace(&mut node.value, Value::NeverFormed(shape));
            node.value = match value {
                Value::Formed(tensor) => Value::Formed(tensor.labelled(rows, cols)),
                never => never,
            };
        }
        self
    }
}

fn shown(labels: &Labels) -> Labels {
    labels.iter().map(|label| visible(label).into_owned()).collect()
}

fn is_origin_seen(origin: &Origin) -> bool {
    match origin {
        Origin::User(source) => hidden(source).next().is_none(),
        Origin::Rows(rows) => rows.iter().all(is_origin_seen),
        _ => true,
    }
}

fn show_origin(origin: &mut Origin) {
    match origin {
        Origin::User(source) => *source = visible(source).into_owned(),
        Origin::Rows(rows) => rows.iter_mut().for_each(show_origin),
        _ => {}
    }
}
