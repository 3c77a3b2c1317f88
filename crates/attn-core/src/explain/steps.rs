//! A formula worked out as on a blackboard: numbers for symbols, then one layer of operations after the other.

use crate::graph::{Bindings, Graph, Term};

/// The term with numbers in it, then with every operation carried out whose operands are numbers, and so on; the last is the
/// number itself. A name is replaced by its value, a case by its result.
pub fn steps(graph: &Graph, term: &Term) -> Vec<Term> {
    let mut steps = vec![in_numbers(graph, term, &Bindings::default())];
    while let Some(last) = steps.last()
        && !matches!(last, Term::Number(_))
    {
        let next = worked_out(graph, last);
        steps.push(next);
    }
    steps
}

fn in_numbers(graph: &Graph, term: &Term, names: &Bindings<'_>) -> Term {
    match term {
        Term::Cell(_) | Term::Leaf(..) | Term::Named(_) => Term::Number(term.value(graph, names)),
        Term::Choice { taken, .. } => in_numbers(graph, taken, names),
        Term::With { name, is, within } => {
            in_numbers(graph, within, &names.and(name, is.value(graph, names)))
        }
        Term::Sum(terms) if terms.len() == 1 => in_numbers(graph, &terms[0], names),
        other => other.map_parts(|part| in_numbers(graph, part, names)),
    }
}

/// The term with every operation carried out whose operands are numbers.
pub fn worked_out(graph: &Graph, term: &Term) -> Term {
    let is_number = |part: &&Term| matches!(part, Term::Number(_) | Term::Rest { .. });
    if let Term::Rest { .. } = term {
        return term.clone();
    }
    if term.parts().iter().all(is_number) {
        Term::Number(term.evaluate(graph))
    } else {
        term.map_parts(|part| worked_out(graph, part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::symbolic;

    #[test]
    fn one_layer_after_the_other() {
        let product = |a, b| Term::Product(vec![Term::Number(a), Term::Number(b)]);
        let root = Term::Root(Box::new(Term::Number(16.0)));
        let sum = Term::Sum(vec![product(3.0, 4.0), product(2.0, 2.0)]);
        let term = Term::Quotient(Box::new(sum), Box::new(root));
        let graph = Graph::new();
        let texts: Vec<String> = steps(&graph, &term).iter().map(|step| symbolic(&graph, step)).collect();
        assert_eq!(texts, ["(3·4 + 2·2) / √16", "(12 + 4) / 4", "16 / 4", "4"]);
    }
}
