//! Several matrices from one file, under the names of the field.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::graph::{Role, Stage};
use crate::tensor::{Dtype, Tensor};

use super::array::Array;
use super::container::Container;
use super::item::{Item, entry_name};
use super::layers::{Choice, choose};
use super::limit::Limit;
use super::names::{EntryKind, Layout, TOKENS};
use super::read_options::{ReadOptions, allowed};
use crate::text::{briefly, clip};

/// One matrix of a bundle, or a stack of heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its numbers, as stored.
    pub tensor: Tensor,
    /// Its layout, where the name in the file implies it; a plain `W_Q` does not.
    pub layout: Option<Layout>,
    /// Its name in the file.
    pub name: String,
}

/// An entry of a file before it becomes a matrix of the layer.
struct Part {
    array: Array,
    layout: Option<Layout>,
    name: String,
}

/// The matrices of one attention layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The matrices by role.
    pub entries: BTreeMap<Role, Entry>,
    /// The tokens, where the file names them.
    pub tokens: Option<Vec<String>>,
    /// Parts of a model that were left alone: embeddings, norms, other layers, biases of the projections.
    pub ignored: Vec<String>,
}

impl Bundle {
    /// The biases of the chosen projections: without them the numbers differ from the model's.
    pub fn ignored_biases(&self) -> impl Iterator<Item = &str> {
        let layers: Vec<&str> = self
            .entries
            .values()
            .filter(|entry| entry.layout.is_some())
            .map(|entry| entry.name.trim_end_matches("weight"))
            .collect();
        self.ignored
            .iter()
            .filter(move |name| {
                name.strip_suffix("bias").is_some_and(|start| !start.is_empty() && layers.contains(&start))
            })
            .map(String::as_str)
    }
}

/// Reads from a container what belongs to one attention layer, as it is wanted. Masks and biases may hold ±∞, nothing else may.
///
/// # Errors
/// If a name is unknown or given twice, several layers are there and none was chosen, or an entry cannot be read.
pub(super) fn read(
    name: &str,
    mut container: Container,
    layer: Option<&str>,
    want: ReadOptions,
) -> Result<Bundle> {
    let names = container.names();
    let Choice { chosen, ignored } = choose(&names, layer).map_err(|error| error.in_source(name))?;
    let mut bundle = Bundle { entries: BTreeMap::new(), tokens: None, ignored };
    let mut heads: BTreeMap<Role, BTreeMap<usize, Part>> = BTreeMap::new();
    let mut tokens: Option<String> = None;
    for (position, recognised) in chosen {
        let entry = names[position].clone();
        let place = entry_name(name, &entry);
        if let EntryKind::Whole(role) = recognised.kind
            && let Some(dtype) = want.dtype_of(role)
        {
            let tensor = match dtype {
                Dtype::F64 => container.typed::<f64>(&place, position, role, want)?,
                _ => container.typed::<f32>(&place, position, role, want)?,
            };
            bundle.insert(name, role, Entry { tensor, layout: None, name: entry })?;
            continue;
        }
        container.keep_within(Limit::ANY);
        let item = container.read(position)?;
        let array = match (recognised.kind.clone(), item) {
            (EntryKind::Tokens, Item::Words(words)) => {
                if let Some(first) = tokens.replace(entry.clone()) {
                    return Err(both(name, TOKENS, [&first, &entry]));
                }
                bundle.tokens = Some(words);
                continue;
            }
            (EntryKind::Tokens, Item::Array(_)) => {
                return Err(Error::new("this kind numbers, but words are needed").in_source(place));
            }
            (_, Item::Words(_)) => {
                return Err(Error::new("this kind words, but numbers are needed").in_source(place));
            }
            (_, Item::Array(array)) => array.row_by_row(),
        };
        let role = match recognised.kind {
            EntryKind::Whole(role) | EntryKind::Head(role, _) => role,
            EntryKind::Stacked | EntryKind::Tokens => Role::X,
        };
        let array = array.checked(&place, allowed(role))?;
        let part = Part { array, layout: recognised.layout, name: entry };
        match recognised.kind {
            EntryKind::Whole(role) => bundle.insert(name, role, part.into_entry(role, &place)?)?,
            EntryKind::Head(role, number) => {
                let heads = heads.entry(role).or_default();
                if let Some(first) = heads.get(&number) {
                    let step = Stage::Role(role).of_head(Some(number));
                    return Err(both(name, &step.to_string(), [&first.name, &part.name]));
                }
                heads.insert(number, part);
            }
            EntryKind::Stacked => {
                for (role, part) in unstack(part).map_err(|error| error.in_source(&place))? {
                    bundle.insert(name, role, part.into_entry(role, &place)?)?;
                }
            }
            EntryKind::Tokens => {}
        }
    }
    for (role, heads) in heads {
        let stack = stack(role.name(), heads).map_err(|error| error.in_source(name))?;
        bundle.insert(name, role, stack.into_entry(role, name)?)?;
    }
    Ok(bundle)
}

impl Bundle {
    fn insert(&mut self, file: &str, role: Role, entry: Entry) -> Result<()> {
        self.check_new(file, role, &entry.name)?;
        self.entries.insert(role, entry);
        Ok(())
    }

    /// # Errors
    /// If there is one of this name already.
    fn check_new(&self, file: &str, role: Role, second: &str) -> Result<()> {
        match self.entries.get(&role).map(|entry| &entry.name) {
            None => Ok(()),
            Some(first) => Err(both(file, role.name(), [first, second])),
        }
    }
}

/// The error for two entries of a file with the same role.
fn both(file: &str, canonical: &str, [first, second]: [&str; 2]) -> Error {
    Error::new(format!("`{}` and `{}` are both {canonical}", clip(first), clip(second)))
        .in_source(file)
        .help("remove one of them")
}

impl Part {
    /// # Errors
    /// If heads are stacked where one matrix belongs, or more than that.
    fn into_entry(self, role: Role, place: &str) -> Result<Entry> {
        let Part { array, layout, name } = self;
        let tensor = array.into_exact(role).map_err(|error| error.in_source(place))?;
        Ok(Entry { tensor, layout, name })
    }
}

/// W_Q, W_K and W_V from one matrix: below one another where rows are outputs, side by side where columns are.
fn unstack(entry: Part) -> Result<[(Role, Part); 3]> {
    let below = entry.layout == Some(Layout::OutIn);
    let (rows, cols) = match *entry.array.dims() {
        [rows, cols] if below && rows % 3 == 0 => (rows / 3, cols),
        [rows, cols] if !below && cols % 3 == 0 => (rows, cols / 3),
        _ => {
            let rule = if below {
                "3E×E, with the rows for the query above those for the key and the value"
            } else {
                "E×3E, with query, key and value side by side"
            };
            return Err(Error::new(format!(
                "the shape is {:?}, but it should be {rule}",
                entry.array.dims()
            )));
        }
    };
    let (values, width) = (entry.array.values(), if below { cols } else { 3 * cols });
    let part = |third: usize| -> Result<Part> {
        let (top, left) = if below { (third * rows, 0) } else { (0, third * cols) };
        let cells = (0..rows).flat_map(|i| (0..cols).map(move |j| (top + i) * width + left + j));
        let array = Array::new(vec![rows, cols], cells.map(|at| values[at]).collect())?;
        let array = array.with_decimals(entry.array.decimals()).with_roundoff(entry.array.roundoff());
        Ok(Part { array, layout: entry.layout, name: entry.name.clone() })
    };
    Ok([(Role::WQ, part(0)?), (Role::WK, part(1)?), (Role::WV, part(2)?)])
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
    let mut dims: Vec<usize> = Vec::new();
    let mut values = Vec::new();
    let (mut decimals, mut roundoff) = (Some(0), 0.0_f64);
    let mut labels = (None, None);
    for (number, head) in &heads {
        if *number == 1 {
            dims = head.array.dims().to_vec();
            labels = (head.array.row_labels().cloned(), head.array.col_labels().cloned());
        }
        if head.array.dims() != dims || dims.len() != 2 {
            return Err(Error::new(format!(
                "{canonical}_{number} has the shape {:?}, but {canonical}_1 has {dims:?}",
                head.array.dims()
            ))
            .help("give every head the same shape"));
        }
        values.extend_from_slice(head.array.values());
        decimals = decimals.max(head.array.decimals());
        roundoff = roundoff.max(head.array.roundoff());
    }
    dims.insert(0, count);
    let array = Array::new(dims, values)?.with_decimals(decimals).with_roundoff(roundoff);
    let array = array.labelled(labels.0, labels.1);
    Ok(Part { array, layout: None, name: format!("{canonical}_1 to {canonical}_{count}") })
}

/// The error for a file of one matrix where a bundle is needed.
pub(super) fn nameless(name: &str) -> Error {
    Error::new("this is one matrix without a name, but matrices with names are needed").in_source(name).help(
        format!(
            "save them in a .npz, .safetensors or .json file under the names X, W_Q, W_K, W_V, or Q, K, V, and {TOKENS}"
        ),
    )
}
