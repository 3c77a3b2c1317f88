//! Whether a claim is true, judged from the condition as data and the recorded numbers, without asking the program.

use attn::graph::{Graph, Node, Op, Origin};
use attn::language::{Expression, ExpressionKind as Kind, Sign};
use attn::story::Claim;

/// Whether the sentence may stand there: its condition is true, and every cell that it names exists.
pub fn is_true(graph: &Graph, claim: &Claim) -> bool {
    truth(graph, &claim.condition) == Some(true) && named(&claim.text).all(|cell| one(graph, cell).is_some())
}

/// The addresses between braces, without the number of decimals.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).map(|inside| {
        match inside.rsplit_once(':') {
            Some((address, places)) if places.parse::<u8>().is_ok() => address,
            _ => inside,
        }
    })
}

fn truth(graph: &Graph, condition: &Expression) -> Option<bool> {
    match &*condition.kind {
        Kind::Number(number) => Some(*number != 0.0),
        Kind::Unary(Sign::Not, part) => truth(graph, part).map(|truth| !truth),
        Kind::Binary(Sign::And, a, b) => every(graph, [a, b]).map(|truths| !truths.contains(&false)),
        Kind::Binary(Sign::Or, a, b) => every(graph, [a, b]).map(|truths| truths.contains(&true)),
        Kind::Binary(Sign::Equal, a, b) => compared(graph, a, b, |a, b| a == b),
        Kind::Binary(Sign::Differs, a, b) => compared(graph, a, b, |a, b| a == b).map(|same| !same),
        Kind::Binary(Sign::Less, a, b) => compared(graph, a, b, |a, b| b > a),
        Kind::Binary(Sign::AtMost, a, b) => compared(graph, a, b, |a, b| b >= a),
        Kind::Binary(Sign::More, a, b) => compared(graph, b, a, |b, a| a > b),
        Kind::Binary(Sign::AtLeast, a, b) => compared(graph, b, a, |b, a| a >= b),
        Kind::Close(a, b, within) => {
            let most = match within {
                Some(within) => number(graph, within)?,
                None => 1e-9,
            };
            compared(graph, a, b, |a, b| a == b || (b - a <= most && a - b <= most))
        }
        Kind::Call { function, arguments, .. } => said(graph, function, arguments),
        _ => None,
    }
}

/// Whether what a function says of its arguments is true.
fn said(graph: &Graph, function: &str, arguments: &[Expression]) -> Option<bool> {
    let whole = || table(graph, arguments.first()?);
    match function {
        "all" => every(graph, arguments).map(|truths| !truths.contains(&false)),
        "any" => every(graph, arguments).map(|truths| truths.contains(&true)),
        "nan" => Some(whole()?.concat().into_iter().any(f64::is_nan)),
        "whole" => Some(whole()?.concat().into_iter().all(|x| x == x.round())),
        "top" => {
            let Kind::Reference { address, .. } = &*arguments.first()?.kind else { return None };
            let (node, row, col) = split(graph, address)?;
            let mut row = rows_of(node).swap_remove(row?);
            if row.iter().any(|x| x.is_nan()) {
                return None;
            }
            let own = row.remove(col?);
            Some(row.into_iter().all(|other| other < own))
        }
        "identity" => {
            let table = whole()?;
            let unit = |i: usize| (0..table.len()).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
            Some(table.iter().enumerate().all(|(i, row)| *row == unit(i)))
        }
        "lower_triangular" => {
            Some(whole()?.iter().enumerate().all(|(i, row)| row.iter().skip(i + 1).all(|&x| x == 0.0)))
        }
        "symmetric" => {
            let table = whole()?;
            let turned: Vec<Vec<f64>> =
                (0..table[0].len()).map(|j| table.iter().map(|row| row[j]).collect()).collect();
            Some(table == turned)
        }
        "own" => {
            let name = |of: &Expression| match &*of.kind {
                Kind::Text(name) => Some(name.clone()),
                _ => None,
            };
            let names: Vec<String> = arguments.iter().filter_map(name).collect();
            let given: Vec<(&str, &Op)> = graph
                .nodes()
                .filter(|(_, node)| matches!(node.op, Op::Given(_)))
                .map(|(_, node)| (node.name.as_str(), &node.op))
                .collect();
            if names.iter().any(|name| !given.iter().any(|(other, _)| other == name)) {
                return None;
            }
            let meant = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
            let foreign = |op: &Op| match op {
                Op::Given(Origin::User(_) | Origin::Fitted) => true,
                Op::Given(Origin::Drawn(seed)) => *seed != 0,
                _ => false,
            };
            Some(!given.into_iter().any(|(name, op)| meant(name) && foreign(op)))
        }
        _ => None,
    }
}

fn every<'a>(graph: &Graph, parts: impl IntoIterator<Item = &'a Expression>) -> Option<Vec<bool>> {
    parts.into_iter().map(|part| truth(graph, part)).collect()
}

/// Numbers are compared; one number with every cell of a table; two tables cell by cell, if they have one shape.
fn compared(graph: &Graph, a: &Expression, b: &Expression, is_so: impl Fn(f64, f64) -> bool) -> Option<bool> {
    let (a, b) = (table(graph, a)?, table(graph, b)?);
    let (x, y) = (a.concat(), b.concat());
    if x.iter().chain(&y).any(|x| x.is_nan()) {
        return None;
    }
    Some(match (&x[..], &y[..]) {
        ([x], y) => !y.is_empty() && y.iter().all(|y| is_so(*x, *y)),
        (x, [y]) => !x.is_empty() && x.iter().all(|x| is_so(*x, *y)),
        (x, y) => {
            let lengths = |rows: &[Vec<f64>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
            lengths(&a) == lengths(&b) && x.iter().zip(y).all(|(x, y)| is_so(*x, *y))
        }
    })
}

fn number(graph: &Graph, of: &Expression) -> Option<f64> {
    match table(graph, of)?.concat()[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// The numbers of an expression, row by row.
fn table(graph: &Graph, of: &Expression) -> Option<Vec<Vec<f64>>> {
    // From the smallest to the largest; nothing compares with NaN.
    let sorted = |of: &Expression| {
        let mut all = table(graph, of)?.concat();
        if all.iter().any(|x| x.is_nan()) {
            all = vec![f64::NAN];
        }
        all.sort_by(f64::total_cmp);
        Some(all)
    };
    let one = match &*of.kind {
        Kind::Reference { address, .. } => return numbers(graph, address),
        Kind::Number(number) => *number,
        Kind::Unary(Sign::Minus, a) => -number(graph, a)?,
        Kind::Binary(Sign::Plus, a, b) => number(graph, a)? + number(graph, b)?,
        Kind::Binary(Sign::Minus, a, b) => number(graph, a)? - number(graph, b)?,
        Kind::Binary(Sign::Product | Sign::Multiply, a, b) => number(graph, a)? * number(graph, b)?,
        Kind::Binary(Sign::Divide, a, b) => number(graph, a)? / number(graph, b)?,
        Kind::Binary(Sign::Power, a, b) => attn::elementary::pow(number(graph, a)?, number(graph, b)?),
        Kind::LargestSize(a) => {
            let all = sorted(a)?;
            if -all[0] > all[all.len() - 1] { -all[0] } else { all[all.len() - 1] }
        }
        Kind::Call { function, arguments, .. } => match (function.as_str(), &arguments[..]) {
            ("max", [a]) => sorted(a)?.pop()?,
            ("min", [a]) => *sorted(a)?.first()?,
            ("sum", [a]) => table(graph, a)?.concat().into_iter().fold(0.0, |sum, x| sum + x),
            _ => return None,
        },
        _ => return None,
    };
    Some(vec![vec![one]])
}

fn one(graph: &Graph, address: &str) -> Option<f64> {
    match split(graph, address)? {
        (node, Some(row), Some(col)) => Some(rows_of(node)[row][col]),
        (node, None, None) => match rows_of(node).concat()[..] {
            [only] => Some(only),
            _ => None,
        },
        _ => None,
    }
}

fn numbers(graph: &Graph, address: &str) -> Option<Vec<Vec<f64>>> {
    let (node, row, col) = split(graph, address)?;
    let chosen = |i: &usize, chosen: Option<usize>| chosen.is_none_or(|only| only == *i);
    let table = rows_of(node);
    let rows = table.iter().enumerate().filter(|(i, _)| chosen(i, row));
    let cells =
        |cells: &[f64]| cells.iter().enumerate().filter(|(j, _)| chosen(j, col)).map(|(_, x)| *x).collect();
    Some(rows.map(|(_, row)| cells(row)).collect())
}

fn node<'a>(graph: &'a Graph, name: &str) -> Option<&'a Node> {
    graph.nodes().map(|(_, node)| node).find(|node| node.name == name)
}

fn rows_of(node: &Node) -> Vec<Vec<f64>> {
    let matrix = node.matrix().unwrap();
    (0..matrix.rows()).map(|i| (0..matrix.cols()).map(|j| matrix[(i, j)]).collect()).collect()
}

/// A node, and the row and column that the address picks from it.
fn split<'a>(graph: &'a Graph, address: &str) -> Option<(&'a Node, Option<usize>, Option<usize>)> {
    let Some((name, inside)) = address.split_once('[') else {
        return Some((node(graph, address)?, None, None));
    };
    let node = node(graph, name)?;
    let matrix = node.matrix().unwrap();
    let (row, col) = match inside.trim_end_matches(']').split_once(',') {
        Some((row, col)) => (row, Some(col)),
        None => (inside.trim_end_matches(']'), None),
    };
    let place = |text: &str, count: usize, labels: Option<&[String]>| -> Option<usize> {
        if let Ok(number) = text.parse::<usize>() {
            return (1..=count).contains(&number).then(|| number - 1);
        }
        let (label, which) = text.split_once('#').unwrap_or((text, "1"));
        let places: Vec<usize> = (0..count).filter(|&i| labels.is_some_and(|all| all[i] == label)).collect();
        if places.len() > 1 && !text.contains('#') {
            return None;
        }
        places.get(which.parse::<usize>().unwrap() - 1).copied()
    };
    let row = match row {
        "*" => None,
        row => Some(place(row, matrix.rows(), matrix.row_labels().map(|labels| &labels[..]))?),
    };
    let col = match col {
        Some(col) => Some(place(col, matrix.cols(), matrix.col_labels().map(|labels| &labels[..]))?),
        None => None,
    };
    Some((node, row, col))
}
