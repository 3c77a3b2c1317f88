//! Several matrices from one file, under the names of the field.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::graph::{Dtype, Numbers, Role, Stage, Typed};

use super::allow::Allow;
use super::array::Array;
use super::container::{Container, Item, entry_name};
use super::files::Typing;
use super::layers::{Choice, choose};
use super::names::{Holds, TOKENS};
use super::open::Limit;
use crate::text::{briefly, clip};

/// How a weight matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// (in, out): a row of X times the matrix, x W.
    InOut,
    /// (out, in), as PyTorch's `Linear` keeps it: x Wᵀ.
    OutIn,
}

/// One matrix of a bundle, or a stack of heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its numbers, as stored.
    pub array: Array,
    /// How it is stored, where the name in the file implies it; a plain `W_Q` does not.
    pub layout: Option<Layout>,
    /// Its name in the file.
    pub name: String,
}

/// Numbers that were read straight in a type of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedEntry {
    /// The numbers.
    pub numbers: Numbers,
    /// Their name in the file.
    pub name: String,
}

/// The matrices of one attention layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// What each matrix is.
    pub entries: BTreeMap<Role, Entry>,
    /// Those that were asked for in types of their own.
    pub typed: BTreeMap<Role, TypedEntry>,
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

/// Reads from a container what belongs to one attention layer; whole Q, K, V, masks and biases in types of their own, if these
/// are given. Masks and biases may hold ±∞, nothing else may.
///
/// # Errors
/// If a name is unknown or given twice, several layers are there and none was chosen, or an entry cannot be read.
pub(super) fn read(
    name: &str,
    mut container: Container,
    layer: Option<&str>,
    typing: Option<Typing>,
) -> Result<Bundle> {
    let names = container.names();
    let Choice { chosen, ignored } = choose(&names, layer).map_err(|error| error.in_source(name))?;
    let mut bundle = Bundle { entries: BTreeMap::new(), typed: BTreeMap::new(), tokens: None, ignored };
    let mut heads: BTreeMap<Role, BTreeMap<usize, Entry>> = BTreeMap::new();
    let mut tokens: Option<String> = None;
    for (position, recognised) in chosen {
        let entry = names[position].clone();
        let place = entry_name(name, &entry);
        if let (Some(typing), Holds::Whole(role)) = (typing, &recognised.holds)
            && (role.has_heads() || role.is_beside_scores())
        {
            let role = *role;
            container.keep_within(Limit::LARGE);
            let numbers = typing.read(&mut container, (role, position), &place)?;
            bundle.insert_typed(name, role, TypedEntry { numbers, name: entry })?;
            continue;
        }
        container.keep_within(Limit::ANY);
        let item = container.read(position)?;
        let array = match (recognised.holds.clone(), item) {
            (Holds::Tokens, Item::Words(words)) => {
                if let Some(first) = tokens.replace(entry.clone()) {
                    return Err(both(name, TOKENS, [&first, &entry]));
                }
                bundle.tokens = Some(words);
                continue;
            }
            (Holds::Tokens, Item::Array(_)) => {
                return Err(Error::new("this holds numbers, but words are needed").in_source(place));
            }
            (_, Item::Words(_)) => {
                return Err(Error::new("this holds words, but numbers are needed").in_source(place));
            }
            (_, Item::Array(array)) => array.row_by_row(),
        };
        let allow = match recognised.holds {
            Holds::Whole(role) if role.is_beside_scores() => Allow::INFINITE,
            _ => Allow::FINITE,
        };
        let array = array.checked(&place, allow)?;
        if let Holds::Whole(role) = recognised.holds {
            array.check_heads(role.has_heads()).map_err(|error| error.in_source(&place))?;
        }
        let entry = Entry { array, layout: recognised.layout, name: entry };
        match recognised.holds {
            Holds::Whole(role) => bundle.insert(name, role, entry)?,
            Holds::Head(role, number) => {
                let heads = heads.entry(role).or_default();
                if let Some(first) = heads.get(&number) {
                    let step = Stage::Role(role).of_head(Some(number));
                    return Err(both(name, &step.to_string(), [&first.name, &entry.name]));
                }
                heads.insert(number, entry);
            }
            Holds::Stacked => {
                for (role, part) in unstack(entry).map_err(|error| error.in_source(place))? {
                    bundle.insert(name, role, part)?;
                }
            }
            Holds::Tokens => {}
        }
    }
    for (role, heads) in heads {
        let stack = stack(role.name(), heads).map_err(|error| error.in_source(name))?;
        bundle.insert(name, role, stack)?;
    }
    Ok(bundle)
}

impl Bundle {
    fn insert(&mut self, file: &str, role: Role, entry: Entry) -> Result<()> {
        self.check_new(file, role, &entry.name)?;
        self.entries.insert(role, entry);
        Ok(())
    }

    fn insert_typed(&mut self, file: &str, role: Role, entry: TypedEntry) -> Result<()> {
        self.check_new(file, role, &entry.name)?;
        self.typed.insert(role, entry);
        Ok(())
    }

    /// # Errors
    /// If there is one of this name already.
    fn check_new(&self, file: &str, role: Role, second: &str) -> Result<()> {
        let first = self.entries.get(&role).map(|entry| &entry.name);
        match first.or(self.typed.get(&role).map(|entry| &entry.name)) {
            None => Ok(()),
            Some(first) => Err(both(file, role.name(), [first, second])),
        }
    }
}

/// What is said of two entries of a file that mean the same.
fn both(file: &str, canonical: &str, [first, second]: [&str; 2]) -> Error {
    Error::new(format!("`{}` and `{}` are both {canonical}", clip(first), clip(second)))
        .in_source(file)
        .help("remove one of them")
}

impl Typing {
    /// The entry at a position, which has this role.
    fn read(
        self,
        container: &mut Container,
        (role, position): (Role, usize),
        place: &str,
    ) -> Result<Numbers> {
        match self.dtype {
            Dtype::F64 => self.read_as::<f64>(container, (role, position), place),
            Dtype::F32 | Dtype::Bool => self.read_as::<f32>(container, (role, position), place),
        }
    }

    fn read_as<T: Typed>(
        self,
        container: &mut Container,
        (role, position): (Role, usize),
        place: &str,
    ) -> Result<Numbers> {
        let numbers = match role {
            Role::Mask => return container.mask::<T>(place, position, self.mask_as_truth),
            Role::Bias => container.numbers::<T>(place, position, Allow::INFINITE)?.into_matrix_numbers(),
            _ => container.numbers::<T>(place, position, Allow::FINITE)?.into_numbers(),
        };
        numbers.map_err(|error| error.in_source(place))
    }
}

/// W_Q, W_K and W_V from one matrix: below one another where rows are outputs, side by side where columns are.
fn unstack(entry: Entry) -> Result<[(Role, Entry); 3]> {
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
    let part = |third: usize| -> Result<Entry> {
        let (top, left) = if below { (third * rows, 0) } else { (0, third * cols) };
        let cells = (0..rows).flat_map(|i| (0..cols).map(move |j| (top + i) * width + left + j));
        let array = Array::new(vec![rows, cols], cells.map(|at| values[at]).collect())?;
        let array = array.with_decimals(entry.array.decimals()).with_roundoff(entry.array.roundoff());
        Ok(Entry { array, layout: entry.layout, name: entry.name.clone() })
    };
    Ok([(Role::WQ, part(0)?), (Role::WK, part(1)?), (Role::WV, part(2)?)])
}

/// The heads `Q_1`, `Q_2`, … as one stack.
fn stack(canonical: &str, heads: BTreeMap<usize, Entry>) -> Result<Entry> {
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
    Ok(Entry { array, layout: None, name: format!("{canonical}_1 to {canonical}_{count}") })
}

/// What a file of one matrix is told where a bundle belongs.
pub(super) fn nameless(name: &str) -> Error {
    Error::new("this is one matrix without a name, but matrices with names are needed").in_source(name).help(
        format!(
            "save them in a .npz, .safetensors or .json file under the names X, W_Q, W_K, W_V, or Q, K, V, and {TOKENS}"
        ),
    )
}
