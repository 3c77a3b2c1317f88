//! The numbers of tables of words.

use super::table::Table;
use crate::error::Result;
use crate::graph::{Graph, Origin};
use crate::matrix::Matrix;

/// The columns of numbers of each table as a matrix: a node with the name of the table's first column, whose cells label the
/// rows, as in `part[all,count]`. The second table of that name is `part_2`. `None` if no table has numbers.
///
/// # Errors
/// If there is no room for the numbers.
pub fn numbers_of_tables<'t>(tables: impl IntoIterator<Item = &'t Table>) -> Result<Option<Graph>> {
    let mut graph = Graph::new();
    for table in tables {
        let (Some(matrix), Some(name)) = (numbers(table)?, table.header.first()) else { continue };
        let further = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(further);
        let free = names.find(|name| graph.find(name).is_none()).unwrap_or_default();
        graph.given(&free, matrix, Origin::Stated)?;
    }
    Ok(graph.last().is_some().then_some(graph))
}

/// The columns that have a number in the first row.
fn numbers(table: &Table) -> Result<Option<Matrix>> {
    let number = |cell: &String| cell.parse::<f64>().ok();
    let Some(first) = table.rows.first() else { return Ok(None) };
    let columns: Vec<usize> =
        table.numbers.iter().copied().filter(|&j| first.get(j).and_then(number).is_some()).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let cells = |row: &Vec<String>| -> Vec<f64> {
        columns.iter().map(|&j| row.get(j).and_then(number).unwrap_or(f64::NAN)).collect()
    };
    let rows: Vec<Vec<f64>> = table.rows.iter().map(cells).collect();
    let labels: Vec<&str> = table.rows.iter().map(|row| row.first().map_or("", String::as_str)).collect();
    let heads: Vec<&str> = columns.iter().map(|&j| table.header[j].as_str()).collect();
    Ok(Some(Matrix::from_rows(&rows)?.rows_named(&labels).cols_named(&heads)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::resolve;

    #[test]
    fn columns_of_numbers_are_a_node_named_by_the_first_column() {
        let row = |cells: [&str; 3]| cells.map(str::to_string).to_vec();
        let table = || {
            Table::new(&["part", "said", "count"], [row(["attention", "1", "12"]), row(["all", "2", "30"])])
                .with_numbers(&["count"])
        };
        let graph = numbers_of_tables(&[table(), table()]).unwrap().unwrap();
        let names: Vec<&str> = graph.nodes().map(|(_, node)| node.name.as_str()).collect();
        assert_eq!(names, ["part", "part_2"]);
        let matrix = graph.matrix(graph.find("part").unwrap()).unwrap();
        assert_eq!((matrix[(1, 0)], matrix.cols()), (30.0, 1));
        assert!(resolve(&graph, "part[all,count]").is_ok());
        assert!(numbers_of_tables(&[Table::new(&["part"], [vec!["3".to_string()]])]).unwrap().is_none());
    }
}
