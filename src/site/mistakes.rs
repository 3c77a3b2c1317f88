//! The page of mistakes: each with its sentences, and with an example where the catalogue can make it.

use crate::diagnose::{GROUPS, Mistake, Task};
use crate::graph::{Graph, Node};
use crate::matrix::Matrix;
use crate::render::html_page::escaped;
use crate::render::number_alone;

/// An exercise in which mistakes are made: what is typed behind `attn attend`, and the exercise itself.
pub struct Exercise {
    /// The arguments.
    pub typed: &'static str,
    /// The exercise.
    pub task: Task,
}

/// What is typed for the exercises of the page; a mistake is shown in the first one in which it changes a number.
pub const EXERCISES: [&str; 22] = [
    "--random 4,4 --seed 1",
    "--random 4,4 --seed 1 --causal",
    "--random 4,4 --seed 1 --heads 2",
    "--q '1 0 2 1; 0 1 1 2; 1 1 0 1; 2 0 1 1' --k '1 2; 0 1; 2 1; 1 0' --v '1 0; 0 2; 1 1; 2 1' --heads 2 --kv-heads 1",
    "--q '1 0 2 1; 0 1 1 2; 1 1 0 1; 2 0 1 1' --k '1 2; 0 1; 2 1; 1 0' --v '1 0; 0 2; 1 1; 2 1' --heads 4 --kv-heads 2 --causal",
    "--random 4,4 --seed 1 --residual",
    "--random 4,4 --seed 1 --wo '1 0 2 0; 0 1 0 1; 1 1 0 0; 0 2 1 1'",
    "--random 4,4 --seed 1 --bias '0 1 2 3; 1 0 1 2; 2 1 0 1; 3 2 1 0'",
    "--random 4,4 --seed 1 --mask '1 1 0 0; 1 1 1 0; 0 1 1 1; 0 0 0 0' --mask-kind allow",
    "--random 4,4 --seed 1 --score cosine",
    "--random 4,4 --seed 1 --position rope",
    "--random 4,4 --seed 1 --position rope-interleaved",
    "--random 4,8 --seed 1 --position rope --rope-width 4 --heads 2",
    "--random 4,4 --seed 1 --position rope --rope-scaling linear:factor=4",
    "--random 4,4 --seed 1 --position alibi --heads 2",
    "--random 4,4 --seed 1 --position sinusoidal",
    "--random 4,4 --seed 1 --qk-norm",
    "--random 4,4 --seed 1 --softcap 1",
    "--random 4,4 --seed 1 --window 2 --causal --keep-first 1",
    "--random 4,4 --seed 1 --sink 0.5",
    "--random 4,4 --seed 1 --temperature 2",
    "--random 4,4 --seed 1 --causal --gradient ones",
];

/// The decimals of the numbers of examples.
const DECIMALS: usize = 2;

/// Matrices with more columns are too wide to be compared at a glance.
const MOST_COLUMNS: usize = 8;

/// All mistakes, in the order of the steps in which they are made.
pub(super) fn page(exercises: &[Exercise]) -> String {
    let mut out = String::from(
        "<h1>Mistakes</h1>\n<p>What goes wrong when attention is computed: why it is wrong, what one sees, and how to fix it. \
         In the examples the numbers that differ are marked.</p>\n",
    );
    for group in GROUPS.iter() {
        out.push_str(&format!("<h2>{}</h2>\n", escaped(group.title)));
        group.mistakes.iter().for_each(|mistake| out.push_str(&entry(mistake, exercises)));
    }
    out
}

fn entry(mistake: &Mistake, exercises: &[Exercise]) -> String {
    let demo = mistake.demo.map(|demo| {
        format!("<p>The correct step: <a href=\"demos/{demo}.html\"><code>attn demo {demo}</code></a></p>\n")
    });
    let Mistake { id, slip, why, symptom, fix, .. } = mistake;
    let example = exercises.iter().find_map(|exercise| example(mistake, exercise)).unwrap_or_default();
    format!(
        "<section class=\"mistake\" id=\"{id}\">\n<h3><a href=\"#{id}\">{id}</a></h3>\n<p>{}</p>\n<p>{}</p>\n\
         <p><strong>What one sees:</strong> {}</p>\n<p><strong>To fix it:</strong> {}</p>\n{}{example}</section>\n",
        escaped(slip),
        escaped(why),
        escaped(symptom),
        escaped(fix),
        demo.unwrap_or_default()
    )
}

/// The first step of an exercise in which a mistake changes a number that is shown: right, and with the mistake.
fn example(mistake: &Mistake, Exercise { typed, task }: &Exercise) -> Option<String> {
    let ways = (mistake.ways)(task.recipe(), task.facts());
    ways.iter().filter(|way| way.alone).find_map(|way| {
        let (name, [right, wrong]) = first_difference(task, &task.with(&way.changes))?;
        let how = way.detail.as_deref().filter(|detail| !detail.is_empty());
        let how = how.map(|detail| format!(", {}", escaped(detail))).unwrap_or_default();
        Some(format!(
            "<details class=\"example\">\n<summary>An example</summary>\n<p><code>attn attend {}</code>{how}</p>\n\
             <div class=\"pair\">\n{}{}</div>\n</details>\n",
            escaped(typed),
            table(&format!("{name}, right"), &right, &right),
            table(&format!("{name}, with the mistake"), &wrong, &right)
        ))
    })
}

/// The first step of an exercise that differs in what is shown: its name, and its numbers in both. Of a backward pass it is a gradient of
/// something given: what stands between has several right forms.
fn first_difference(task: &Task, wrong: &Graph) -> Option<(String, [Vec<Vec<String>>; 2])> {
    let difference = |node: &Node| {
        let other = wrong[wrong.find(&node.name)?].matrix()?;
        let own = node.matrix()?;
        let fits = own.shape() == other.shape() && own.cols() <= MOST_COLUMNS;
        let both = [own, other].map(shown);
        (fits && both[0] != both[1]).then(|| (node.name.clone(), both))
    };
    let has_gradients = task.results().len() > 1;
    let counts = |node: &Node| !node.op.is_given() && (!has_gradients || task.results().contains(&node.name));
    task.right().nodes().filter(|(_, node)| counts(node)).find_map(|(_, node)| difference(node))
}

fn shown(matrix: &Matrix) -> Vec<Vec<String>> {
    let row = |i| (0..matrix.cols()).map(|j| number_alone(matrix[(i, j)], DECIMALS)).collect();
    (0..matrix.rows()).map(row).collect()
}

/// A table whose cells are marked where they differ from those of another one.
fn table(caption: &str, numbers: &[Vec<String>], others: &[Vec<String>]) -> String {
    let cell = |(number, other): (&String, &String)| {
        let differs = if number == other { "" } else { " class=\"differs\"" };
        format!("<td{differs}>{number}</td>")
    };
    let row = |(at, (row, other)): (usize, (&Vec<String>, &Vec<String>))| {
        let cells: String = row.iter().zip(other).map(cell).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", at + 1)
    };
    let head: String = (1..=numbers.first().map_or(0, Vec::len))
        .map(|col| format!("<th scope=\"col\">{col}</th>"))
        .collect();
    let rows: String = numbers.iter().zip(others).enumerate().map(row).collect();
    format!(
        "<div class=\"scroll\"><table class=\"matrix\">\n<caption>{}</caption>\n\
         <thead><tr><td></td>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        escaped(caption)
    )
}
