//! Whether a claim is true, judged from the condition as data and the recorded numbers, without asking the program.

use attn::graph::{Graph, Node, Op, Origin};
use attn::story::{Claim, Condition, Quantity, Relation};

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

fn truth(graph: &Graph, condition: &Condition) -> Option<bool> {
    let table = |name: &str| node(graph, name).map(rows_of);
    match condition {
        Condition::Compare(a, relation, b) => {
            let (a, b) = (number(graph, a)?, number(graph, b)?);
            if a.is_nan() || b.is_nan() {
                return None;
            }
            Some(match relation {
                Relation::Less => b > a,
                Relation::AtMost => b >= a,
                Relation::Equal => a == b,
                Relation::Within(most) => a == b || (b - a <= *most && a - b <= *most),
            })
        }
        Condition::TopOfRow(address) => {
            let (node, row, col) = split(graph, address)?;
            let mut row = rows_of(node).swap_remove(row?);
            if row.iter().any(|x| x.is_nan()) {
                return None;
            }
            let own = row.remove(col?);
            Some(row.into_iter().all(|other| other < own))
        }
        Condition::Same(a, b, _) => Some(table(a)? == table(b)?),
        Condition::Identity(name) => {
            let table = table(name)?;
            let unit = |i: usize| (0..table.len()).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
            Some(table.iter().enumerate().all(|(i, row)| *row == unit(i)))
        }
        Condition::ZerosAboveDiagonal(name) => {
            Some(table(name)?.iter().enumerate().all(|(i, row)| row.iter().skip(i + 1).all(|&x| x == 0.0)))
        }
        Condition::Symmetric(name) => {
            let table = table(name)?;
            let turned: Vec<Vec<f64>> =
                (0..table[0].len()).map(|j| table.iter().map(|row| row[j]).collect()).collect();
            Some(table == turned)
        }
        Condition::Whole(name) => Some(table(name)?.concat().into_iter().all(|x| x == x.round())),
        Condition::NotANumber(address) => Some(numbers(graph, address)?.into_iter().any(f64::is_nan)),
        Condition::Own(names) => {
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
        Condition::All(parts) => every(graph, parts).map(|truths| !truths.contains(&false)),
        Condition::Any(parts) => every(graph, parts).map(|truths| truths.contains(&true)),
        Condition::Not(part) => truth(graph, part).map(|truth| !truth),
    }
}

fn every(graph: &Graph, parts: &[Condition]) -> Option<Vec<bool>> {
    parts.iter().map(|part| truth(graph, part)).collect()
}

fn number(graph: &Graph, quantity: &Quantity) -> Option<f64> {
    // From the smallest to the largest; nothing compares with NaN.
    let sorted = |address: &str| {
        let mut all = numbers(graph, address)?;
        if all.iter().any(|x| x.is_nan()) {
            all = vec![f64::NAN];
        }
        all.sort_by(f64::total_cmp);
        Some(all)
    };
    match quantity {
        Quantity::Number(number) => Some(*number),
        Quantity::Cell(address) => one(graph, address),
        Quantity::Max(address) => sorted(address)?.pop(),
        Quantity::Min(address) => sorted(address)?.first().copied(),
        Quantity::MaxSize(address) => {
            let all = sorted(address)?;
            Some(if -all[0] > all[all.len() - 1] { -all[0] } else { all[all.len() - 1] })
        }
        Quantity::Sum(address) => Some(numbers(graph, address)?.into_iter().fold(0.0, |sum, x| sum + x)),
        Quantity::Plus(a, b) => Some(number(graph, a)? + number(graph, b)?),
        Quantity::Times(a, b) => Some(number(graph, a)? * number(graph, b)?),
    }
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

fn numbers(graph: &Graph, address: &str) -> Option<Vec<f64>> {
    let (node, row, col) = split(graph, address)?;
    let chosen = |i: &usize, chosen: Option<usize>| chosen.is_none_or(|only| only == *i);
    let table = rows_of(node);
    let rows = table.iter().enumerate().filter(|(i, _)| chosen(i, row));
    Some(
        rows.flat_map(|(_, cells)| cells.iter().enumerate().filter(|(j, _)| chosen(j, col)).map(|(_, x)| *x))
            .collect(),
    )
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
