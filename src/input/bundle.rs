//! Several matrices from one file, under the names of the field.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::{Role, Stage};
use crate::read::{Array, ArrayFacts, EntryKind, Item, TOKENS, entry_name, shape_text};
use crate::tensor::Tensor;
use crate::text::{all_of, briefly, clip, listed_briefly};

use super::container::{Container, ReadOptions, allowed};
use super::layers::{Apart, Choice, Kept, LayerEntries, LayerOptions, Layout, behind, choose};

/// One matrix of a bundle, or a stack of heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its numbers, as stored.
    pub tensor: Tensor,
    /// Its layout, where the file implies it; a plain `W_Q` does not.
    pub layout: Option<Layout>,
    /// The number of heads, where weights have a dimension for them, or the names of Q, K or V have numbers.
    pub heads: Option<usize>,
    /// Its name in the file.
    pub name: String,
}

/// An entry of a file before it becomes a matrix of the layer.
struct Part {
    array: Array,
    layout: Option<Layout>,
    heads: Option<usize>,
    name: String,
}

/// The matrices of one attention layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// The matrices by role.
    pub entries: BTreeMap<Role, Entry>,
    /// The tokens, where the file names them.
    pub tokens: Option<Vec<String>>,
    /// True if the names are those of a model whose scores are not divided by √d.
    pub unscaled: bool,
    /// What a reader should know about how the file was read.
    pub notes: Vec<String>,
}

/// Reads from a container what belongs to one attention layer, as it is wanted. Masks and biases may hold ±∞, nothing else may.
///
/// # Errors
/// If a name is unknown or given twice, several layers are there and none was chosen, or an entry cannot be read.
pub(super) fn read(container: Container, options: LayerOptions<'_>, want: ReadOptions) -> Result<Bundle> {
    let Choice { own, layer } =
        choose(&container.names, options).map_err(|error| error.in_source(&container.name))?;
    let is_ignored = |name: &&String| options.ignore.iter().any(|end| name.ends_with(end.as_str()));
    let ignored: Vec<&str> = container.names.iter().filter(is_ignored).map(String::as_str).collect();
    let mut bundle = Bundle::default();
    if !ignored.is_empty() {
        let (ignored, file) = (listed_briefly(ignored), visible(&container.name));
        bundle.notes.push(format!("--ignore leaves out {ignored} of {file}."));
    }
    let mut file = LayerFile { container, options, bundle, stacks: Vec::new() };
    let own_bias = |&(position, ref kind): &(usize, EntryKind)| match kind {
        EntryKind::Whole(role) => Some((position, vec![role.weights_of_bias()?])),
        _ => None,
    };
    file.biases(own.iter().filter_map(own_bias), "", false)?;
    if let Some(layer) = layer {
        let biases = layer.biases.iter().map(|&(position, weights)| (position, weights.to_vec()));
        file.biases(biases, &layer.prefix, layer.scheme.head_by_head)?;
        file.layer(layer)?;
    }
    let mut heads: BTreeMap<Role, BTreeMap<usize, Part>> = BTreeMap::new();
    let mut tokens: Option<String> = None;
    for (position, kind) in own {
        match kind {
            EntryKind::Tokens => {
                let entry = file.name(position);
                if let Some(first) = tokens.replace(entry.clone()) {
                    return Err(file.both(TOKENS, [&first, &entry]));
                }
                match file.container.read(position)? {
                    Item::Words(words) => file.bundle.tokens = Some(words),
                    Item::Array(_) => {
                        return Err(Error::new("this holds numbers, but words are needed")
                            .in_source(file.container.place(position)));
                    }
                }
            }
            EntryKind::Whole(role) if role.weights_of_bias().is_some() => {}
            EntryKind::Whole(role) => file.whole(position, role, want)?,
            EntryKind::Head(role, number) => {
                let part = file.part(position, role)?;
                let heads = heads.entry(role).or_default();
                if let Some(first) = heads.get(&number) {
                    let step = Stage::Role(role).of_head(Some(number));
                    return Err(file.both(&step.to_string(), [&first.name, &part.name]));
                }
                heads.insert(number, part);
            }
        }
    }
    for (role, heads) in heads {
        let stack = stack(role.name(), heads).map_err(|error| error.in_source(&file.container.name))?;
        file.insert(role, stack)?;
    }
    let stacks = std::mem::take(&mut file.stacks);
    file.note(&stacks, "{is} read as a matrix for each head: (H, in, d), and (H, d, out) for W_O.");
    Ok(file.bundle)
}

/// A file of several matrices while it is read.
struct LayerFile<'a> {
    container: Container,
    options: LayerOptions<'a>,
    bundle: Bundle,
    /// Weights under a name of ours that have a dimension for the heads.
    stacks: Vec<String>,
}

impl LayerFile<'_> {
    /// The name of an entry.
    fn name(&self, position: usize) -> String {
        self.container.names[position].clone()
    }

    /// A note on some entries, if there are any: what is said of one, with marks where it differs for several.
    fn note(&mut self, entries: &[String], said: &str) {
        const MARKS: [(&str, [&str; 2]); 3] =
            [("{is}", ["is", "are"]), ("{it}", ["it", "them"]), ("{it is}", ["it is", "they are of"])];
        let said = MARKS.iter().fold(said.to_string(), |said, (mark, words)| {
            said.replace(mark, words[usize::from(entries.len() > 1)])
        });
        if !entries.is_empty() {
            let names = visible(&all_of(entries)).into_owned();
            self.bundle.notes.push(format!("{names} in {} {said}", visible(&self.container.name)));
        }
    }

    /// The numbers at a position, for a role.
    fn part(&mut self, position: usize, role: Role) -> Result<Part> {
        let array = self.container.array(position)?;
        let array = array.checked(&self.container.place(position), allowed(role))?;
        Ok(Part { array, layout: None, heads: None, name: self.name(position) })
    }

    /// Takes the matrix at a position, whose name is one of ours.
    fn whole(&mut self, position: usize, role: Role, want: ReadOptions) -> Result<()> {
        if want.dtype_of(role).is_some() {
            let tensor = self.container.tensor(position, role, want)?;
            let name = self.name(position);
            return self.insert_entry(role, Entry { tensor, layout: None, heads: None, name });
        }
        let mut part = self.part(position, role)?;
        if role.is_weights() && part.array.dims().len() == 3 {
            let placed = |error: Error| error.in_source(self.container.place(position));
            part = self.for_heads(part, role, Kept::Heads).map_err(placed)?;
            self.stacks.push(part.name.clone());
        }
        self.insert(role, part)
    }

    /// Takes the weights of a layer of a model.
    fn layer(&mut self, layer: LayerEntries) -> Result<()> {
        let LayerEntries { scheme, prefix, mut weights, apart, .. } = layer;
        let of_kind = |kind: Apart| -> Vec<String> {
            let names = apart.iter().filter(|(_, apart)| *apart == kind);
            names.map(|(position, _)| behind(&prefix, &self.container.names[*position]).to_string()).collect()
        };
        let [masks, rotary, norms] = [Apart::CausalMask, Apart::Rotary, Apart::Norm].map(of_kind);
        for (position, _) in apart.iter().filter(|(_, apart)| *apart == Apart::CausalMask) {
            self.check_causal(*position, &prefix)?;
        }
        self.note(&masks, "{is} left out: {it is} the causal mask of that layer; --causal applies one.");
        self.note(
            &rotary,
            "{is} left out: the layer rotates queries and keys, and --position rope does that.",
        );
        self.note(&norms, "{is} left out: what follows the attention is not computed.");
        // A fused matrix says how the others are kept.
        weights.sort_by_key(|(_, roles)| roles.len() == 1);
        let mut sides = self.options.layout;
        let mut parameters = Vec::new();
        for (position, roles) in weights {
            let place = self.container.place(position);
            let mut part = self.part(position, roles[0])?;
            let layout = match scheme.kept {
                Kept::Linear => sides.unwrap_or(Layout::OutIn),
                Kept::Conv1dOrLinear => {
                    let found = sides.map_or_else(|| fused_sides(&part), Ok);
                    *sides.insert(found.map_err(|error| error.in_source(&place))?)
                }
                Kept::Kernel | Kept::Heads | Kept::Parameter => sides.unwrap_or(Layout::InOut),
            };
            part.layout = roles[0].is_weights().then_some(layout);
            if scheme.kept == Kept::Parameter && sides.is_none() {
                parameters.push(part.name.clone());
            }
            let parts = match roles {
                [role] if part.array.dims().len() == 3 && role.is_weights() => {
                    self.for_heads(part, *role, scheme.kept).map(|part| vec![part])
                }
                _ => self.shared(part, roles.len(), scheme.head_by_head),
            };
            let parts = parts.map_err(|error| error.in_source(&place))?;
            for (role, part) in roles.iter().zip(parts) {
                self.insert(*role, part)?;
            }
        }
        self.note(
            &parameters,
            "{is} read as x·W; --layout out-in reads {it} as PyTorch's Linear has {it}, x·Wᵀ.",
        );
        if !self.bundle.entries.contains_key(&Role::WO) {
            let layer =
                if prefix.is_empty() { "The layer".to_string() } else { format!("The layer {prefix}") };
            self.note(&[layer], "has no output projection: O is the heads side by side.");
        }
        self.bundle.unscaled |= scheme.unscaled;
        Ok(())
    }

    /// # Errors
    /// If a mask of a layer is another than the causal one, which an option applies; the single number that stands for −∞ is none.
    fn check_causal(&mut self, position: usize, prefix: &str) -> Result<()> {
        let part = self.part(position, Role::Mask)?;
        let values = part.array.values();
        let n = part.array.dims().last().copied().unwrap_or(1);
        let is_square = values.len() == n * n;
        let is_causal = values.len() == 1
            || is_square && {
                let (kept, hidden) = (values[0], values[n - 1]);
                kept != hidden
                    && values
                        .iter()
                        .enumerate()
                        .all(|(at, x)| *x == if at % n <= at / n { kept } else { hidden })
            };
        if is_causal {
            return Ok(());
        }
        let name = clip(behind(prefix, &part.name));
        Err(Error::new(format!("`{name}` is not a causal mask, and no other mask is taken from a layer"))
            .in_source(&self.container.name)
            .help(format!("to compute without it: --ignore {name}")))
    }

    /// The matrices of an entry that has those of `count` roles, with a note if it has one head after the other.
    fn shared(&mut self, part: Part, count: usize, head_by_head: bool) -> Result<Vec<Part>> {
        if count == 1 {
            return Ok(vec![part]);
        }
        let heads = self.options.heads.filter(|_| head_by_head);
        if head_by_head && heads.is_none() {
            return Err(Error::new("query, key and value of one head stand before those of the next")
                .help("give the number of heads with --heads"));
        }
        if head_by_head {
            let said =
                "is read head by head: query, key and value of the first head, then those of the next.";
            self.note(std::slice::from_ref(&part.name), said);
        }
        unstack(&part, count, heads)
    }

    /// Weights that have a dimension for the heads, as one matrix with the heads side by side.
    fn for_heads(&self, part: Part, role: Role, kept: Kept) -> Result<Part> {
        let (dims, is_output) = (part.array.dims().to_vec(), role == Role::WO);
        let [first, second, third] = dims[..] else { return Ok(part) };
        let is_kept = matches!(kept, Kept::Kernel | Kept::Heads) && role != Role::Gate;
        if !is_kept || self.options.layout == Some(Layout::OutIn) {
            return Err(Error::new(format!(
                "the shape is {}, but weights of x·Wᵀ are one matrix",
                shape_text(&dims)
            ))
            .help("save the matrix as it multiplies all heads together, (out, in)"));
        }
        let (heads, shape) = match (is_output, kept) {
            (true, _) => (first, vec![first * second, third]),
            (false, Kept::Heads) => (first, vec![second, first * third]),
            (false, _) => (second, vec![first, second * third]),
        };
        // Only (H, in, d) is not in order yet.
        let moved = kept == Kept::Heads && !is_output;
        let cells = (0..first * second * third).map(|cell| match (cell / third, cell % third) {
            (row, column) if moved => (row % heads * second + row / heads) * third + column,
            _ => cell,
        });
        let mut part = part.of_cells(shape, cells)?;
        (part.layout, part.heads) = (Some(Layout::InOut), Some(heads));
        Ok(part)
    }

    /// Biases, each with the weights that it belongs to. Those that are 0 add nothing.
    ///
    /// # Errors
    /// If one cannot be read, or shared out among queries, keys and values.
    fn biases(
        &mut self,
        biases: impl IntoIterator<Item = (usize, Vec<Role>)>,
        prefix: &str,
        head_by_head: bool,
    ) -> Result<()> {
        let mut zero = Vec::new();
        for (position, weights) in biases {
            let part = self.part(position, Role::BO)?;
            let count = part.array.values().len();
            if part.array.values().iter().all(|x| *x == 0.0) {
                zero.push(behind(prefix, &part.name).to_string());
                continue;
            }
            // A row; with a dimension for the heads, these stand side by side.
            let mut row = part.of_cells(vec![1, count], 0..count)?;
            row.layout = Some(Layout::InOut);
            let parts = if count.is_multiple_of(weights.len()) {
                self.shared(row, weights.len(), head_by_head)
            } else {
                Err(Error::new(format!(
                    "this bias has {count} numbers, which cannot be shared out among {} projections",
                    weights.len()
                )))
            };
            let parts = parts.map_err(|error| error.in_source(self.container.place(position)))?;
            for (role, mut part) in weights.iter().filter_map(|weights| weights.bias()).zip(parts) {
                part.layout = None;
                self.insert(role, part)?;
            }
        }
        self.note(&zero, "{is} 0 and {is} left out.");
        Ok(())
    }

    /// # Errors
    /// If heads are stacked where one matrix belongs, or there is one of this role already.
    fn insert(&mut self, role: Role, part: Part) -> Result<()> {
        let Part { array, layout, heads, name } = part;
        let place = entry_name(&self.container.name, &name);
        let tensor = array.into_exact(role).map_err(|error| error.in_source(place))?;
        self.insert_entry(role, Entry { tensor, layout, heads, name })
    }

    fn insert_entry(&mut self, role: Role, entry: Entry) -> Result<()> {
        if let Some(first) = self.bundle.entries.get(&role) {
            return Err(self.both(role.name(), [&first.name, &entry.name]));
        }
        self.bundle.entries.insert(role, entry);
        Ok(())
    }

    /// The error for two entries with the same role.
    fn both(&self, canonical: &str, [first, second]: [&str; 2]) -> Error {
        Error::new(format!("`{}` and `{}` are both {canonical}", clip(first), clip(second)))
            .in_source(&self.container.name)
            .help("remove one of them")
    }
}

impl Part {
    /// The same part with some of its cells, in this order and shape.
    fn of_cells(&self, dims: Vec<usize>, cells: impl Iterator<Item = usize>) -> Result<Part> {
        let values = self.array.values();
        let (decimals, roundoff) = (self.array.facts.decimals, self.array.facts.roundoff);
        let facts = ArrayFacts { decimals, roundoff, ..ArrayFacts::default() };
        let array = Array::new(dims, cells.map(|at| values[at]).collect())?.with(facts);
        Ok(Part { array, layout: self.layout, heads: self.heads, name: self.name.clone() })
    }
}

/// Which way a fused matrix is three times as long.
fn fused_sides(part: &Part) -> Result<Layout> {
    match *part.array.dims() {
        [rows, cols] if rows == 3 * cols => Ok(Layout::OutIn),
        [rows, cols] if cols == 3 * rows => Ok(Layout::InOut),
        ref dims => {
            Err(Error::new(format!("the shape is {}, neither (E, 3E) nor (3E, E)", shape_text(dims)))
                .help("say with --layout which of both it is: in-out or out-in"))
        }
    }
}

/// The matrices of a fused one: below one another where rows are outputs, side by side where columns are. Each has a third of the
/// outputs, or, with `heads`, a third of those of each head.
fn unstack(entry: &Part, parts: usize, heads: Option<usize>) -> Result<Vec<Part>> {
    let below = entry.layout == Some(Layout::OutIn);
    let (outputs, inputs) = match *entry.array.dims() {
        [rows, cols] if below => (rows, cols),
        [rows, cols] => (cols, rows),
        _ => (0, 0),
    };
    let each = outputs / parts;
    if each == 0 || outputs % parts != 0 || !each.is_multiple_of(heads.unwrap_or(1).max(1)) {
        let all = if parts == 2 { "key and value" } else { "query, key and value" };
        let rule = if below {
            format!("{parts}E×E, with the rows of")
        } else {
            format!("E×{parts}E, with the columns of")
        };
        let of_heads = heads.map_or(String::new(), |heads| format!(", and E is a multiple of {heads} heads"));
        let dims = shape_text(entry.array.dims());
        return Err(Error::new(format!("the shape is {dims}, but it should be {rule} {all}{of_heads}")));
    }
    let head = each / heads.unwrap_or(1).max(1);
    let part = |part: usize| {
        let output = move |at: usize| at / head * parts * head + part * head + at % head;
        if below {
            let cells = (0..each).flat_map(|i| (0..inputs).map(move |j| output(i) * inputs + j));
            entry.of_cells(vec![each, inputs], cells)
        } else {
            let cells = (0..inputs).flat_map(|i| (0..each).map(move |j| i * outputs + output(j)));
            entry.of_cells(vec![inputs, each], cells)
        }
    };
    (0..parts).map(part).collect()
}

/// The heads `Q_1`, `Q_2`, … as one stack.
fn stack(canonical: &str, heads: BTreeMap<usize, Part>) -> Result<Part> {
    let count = heads.len();
    if !heads.keys().copied().eq(1..=count) {
        return Err(Error::new(format!(
            "{canonical} has the heads {}, but they must be numbered from 1 without a gap",
            briefly(heads.keys().map(usize::to_string))
        )));
    }
    let dims = heads[&1].array.dims();
    let mut facts = ArrayFacts { decimals: Some(0), ..ArrayFacts::default() };
    let mut values = Vec::new();
    for (number, Part { array, .. }) in &heads {
        if array.dims() != dims || dims.len() != 2 {
            return Err(Error::new(format!(
                "{canonical}_{number} has the shape {:?}, but {canonical}_1 has {dims:?}",
                array.dims()
            ))
            .help("give every head the same shape"));
        }
        values.extend_from_slice(array.values());
        facts.decimals = facts.decimals.max(array.facts.decimals);
        facts.roundoff = facts.roundoff.max(array.facts.roundoff);
    }
    facts.boolean = heads.values().all(|part| part.array.facts.boolean);
    let first = &heads[&1].array;
    let array = Array::new([&[count], dims].concat(), values)?.with(facts);
    let array = array.labelled(first.row_labels().cloned(), first.col_labels().cloned());
    let name = format!("{canonical}_1 to {canonical}_{count}");
    Ok(Part { array, layout: None, heads: Some(count), name })
}
