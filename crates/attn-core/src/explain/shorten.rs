//! Long sums and maxima, cut to their largest terms for the screen.

use crate::graph::{Bindings, Graph, Term};

/// A sum of more terms is shortened.
pub const LONGEST: usize = 8;
/// The number of terms that are kept of it.
pub const SHOWN: usize = 6;

/// The term with every sum of more than [`LONGEST`] terms cut to the [`SHOWN`] largest by size, in their order, and a
/// [`Term::Rest`] for the sum of the others. Of a maximum the largest are kept.
pub fn shortened(graph: &Graph, term: &Term) -> Term {
    shortened_to(graph, term, SHOWN)
}

/// The term with every sum that has more than two terms beyond `most` cut to its `most` largest; see [`shortened`].
pub fn shortened_to(graph: &Graph, term: &Term, most: usize) -> Term {
    shorten(graph, term, &Bindings::default(), most)
}

/// This many terms more than are kept are not worth a line that says that they are left out.
const SPARED: usize = LONGEST - SHOWN;

fn shorten(graph: &Graph, term: &Term, names: &Bindings<'_>, most: usize) -> Term {
    match term {
        Term::Sum(terms) if terms.len() > most + SPARED => {
            let values: Vec<f64> = terms.iter().map(|term| term.value(graph, names)).collect();
            let kept = top(&values, f64::abs, most);
            let others = (0..terms.len()).filter(|i| !kept.contains(i));
            let rest = others.fold(0.0, |sum, i| sum + values[i]);
            Term::Sum(cut(graph, terms, names, &kept, rest, most))
        }
        Term::Max(terms) if terms.len() > most + SPARED => {
            let values: Vec<f64> = terms.iter().map(|term| term.value(graph, names)).collect();
            let kept = top(&values, |x| x, most);
            let others = (0..terms.len()).filter(|i| !kept.contains(i));
            let rest = others.map(|i| values[i]).fold(f64::NEG_INFINITY, f64::max);
            Term::Max(cut(graph, terms, names, &kept, rest, most))
        }
        Term::With { name, is, within } => {
            let inner = names.and(name, is.value(graph, names));
            let within = Box::new(shorten(graph, within, &inner, most));
            Term::With { name, is: Box::new(shorten(graph, is, names, most)), within }
        }
        other => other.map_parts(|part| shorten(graph, part, names, most)),
    }
}

/// The indices of the values to keep, in their order: NaN first, then those of maximum size, of equals the first.
fn top(values: &[f64], size: impl Fn(f64) -> f64, most: usize) -> Vec<usize> {
    let key = |i: usize| if values[i].is_nan() { f64::INFINITY } else { size(values[i]) };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    order.truncate(most);
    order.sort_unstable();
    order
}

fn cut(
    graph: &Graph,
    terms: &[Term],
    names: &Bindings<'_>,
    kept: &[usize],
    value: f64,
    most: usize,
) -> Vec<Term> {
    let rest = Term::Rest { count: terms.len() - kept.len(), value };
    kept.iter().map(|&i| shorten(graph, &terms[i], names, most)).chain([rest]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_terms_are_kept_in_their_order_and_the_rest_is_added_up() {
        let terms = [1.0, -9.0, 2.0, 8.0, 3.0, -7.0, 4.0, 6.0, 5.0].map(Term::Number).to_vec();
        let kept = [-9.0, 8.0, -7.0, 4.0, 6.0, 5.0].map(Term::Number);
        let mut expected = kept.to_vec();
        expected.push(Term::Rest { count: 3, value: 6.0 });
        assert_eq!(shortened(&Graph::new(), &Term::Sum(terms)), Term::Sum(expected));
    }

    #[test]
    fn fewer_terms_are_kept_where_fewer_are_asked_for() {
        let terms = [1.0, -9.0, 2.0, 8.0, 3.0, -7.0].map(Term::Number).to_vec();
        let mut expected = [-9.0, 8.0, -7.0].map(Term::Number).to_vec();
        expected.push(Term::Rest { count: 3, value: 6.0 });
        assert_eq!(shortened_to(&Graph::new(), &Term::Sum(terms), 3), Term::Sum(expected));
        let five = Term::Sum(vec![Term::Number(1.0); 5]);
        assert_eq!(shortened_to(&Graph::new(), &five, 3), five);
    }

    #[test]
    fn eight_terms_stay() {
        let eight = Term::Sum(vec![Term::Number(1.0); 8]);
        assert_eq!(shortened(&Graph::new(), &eight), eight);
    }
}
