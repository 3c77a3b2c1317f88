//! Lists in JSON, put together element by element: a rectangle of numbers, or labels.

use super::dims::MOST_CELLS;
use super::json_value::{Json, Outcome, Rectangle, number_in};
use crate::memory;

/// The most strings that one list holds as strings.
const MOST_TEXTS: usize = 1 << 20;

/// Room for more numbers of a list.
fn grow(values: &mut Vec<f64>, more: usize) -> Outcome<()> {
    memory::grow(values, more, MOST_CELLS).map_err(|_| memory::EXHAUSTED.to_string())
}

/// A list as far as it has been read.
#[derive(Default)]
pub(super) enum List {
    #[default]
    Nothing,
    /// Numbers and truth values themselves, or strings among numbers.
    Flat {
        values: Vec<f64>,
        boolean: bool,
    },
    /// Strings alone so far: labels, or numbers that had to be strings.
    Texts(Vec<String>),
    /// Lists of these dimensions.
    Stack {
        count: usize,
        inner: Vec<usize>,
        values: Vec<f64>,
        boolean: bool,
    },
    Objects(Vec<Json>),
}

impl List {
    /// The list with one more element.
    ///
    /// # Errors
    /// If the element does not go with those before it.
    pub(super) fn push(self, element: Json) -> Outcome<List> {
        match (self, element) {
            (List::Nothing, Json::Text(text)) => Ok(List::Texts(vec![text])),
            // A list this long holds numbers, not labels, and a number takes less memory than a string.
            (List::Texts(texts), Json::Text(text)) if texts.len() == MOST_TEXTS => {
                let Rectangle { values, boolean, .. } = Rectangle::of_texts(&texts)
                    .map_err(|_| format!("there are more than {MOST_TEXTS} strings"))?;
                List::Flat { values, boolean }.push(Json::Text(text))
            }
            (List::Texts(mut texts), Json::Text(text)) => {
                texts.push(text);
                Ok(List::Texts(texts))
            }
            (List::Nothing, object @ Json::Object(_)) => Ok(List::Objects(vec![object])),
            (List::Objects(mut objects), object @ Json::Object(_)) => {
                objects.push(object);
                Ok(List::Objects(objects))
            }
            (_, Json::Null) => Err("there is null, but a number is needed".into()),
            (_, Json::Nothing) => Err("a row is empty".into()),
            (list, Json::Number(value)) => list.push_cell(value, false),
            (list, Json::Truth(truth)) => list.push_cell(f64::from(u8::from(truth)), true),
            (list @ List::Flat { .. }, Json::Text(text)) => list.push_cell(number_in(&text)?, false),
            (list, Json::Numbers(row)) => list.push_row(row),
            (list, Json::Texts(texts)) => list.push_row(Rectangle::of_texts(&texts)?),
            (_, other) => Err(format!("{} follows elements of another kind", other.kind())),
        }
    }

    fn push_cell(self, value: f64, is_truth: bool) -> Outcome<List> {
        let (mut values, boolean) = match self {
            List::Nothing => (Vec::new(), is_truth),
            List::Flat { values, boolean } => (values, boolean),
            List::Texts(texts) => (Rectangle::of_texts(&texts)?.values, false),
            List::Stack { .. } => return Err("a number follows rows".into()),
            List::Objects(_) => return Err("a number follows objects".into()),
        };
        if boolean != is_truth {
            return Err("this mixes numbers with true and false".into());
        }
        if values.len() == MOST_CELLS {
            return Err(format!("there are more than {MOST_CELLS} numbers"));
        }
        grow(&mut values, 1)?;
        values.push(value);
        Ok(List::Flat { values, boolean })
    }

    fn push_row(self, row: Rectangle) -> Outcome<List> {
        let (count, inner, mut values, boolean) = match self {
            List::Nothing => (0, row.dims.clone(), Vec::new(), row.boolean),
            List::Stack { count, inner, values, boolean } => (count, inner, values, boolean),
            _ => return Err("a row follows elements that are not rows".into()),
        };
        if inner != row.dims {
            let (has, first) = (side(&row.dims), side(&inner));
            return Err(format!("row {} has {has}, but row 1 has {first}", count + 1));
        }
        if boolean != row.boolean {
            return Err("this mixes numbers with true and false".into());
        }
        if values.len() + row.values.len() > MOST_CELLS {
            return Err(format!("there are more than {MOST_CELLS} numbers"));
        }
        // One row alone is not copied.
        if values.is_empty() {
            values = row.values;
        } else {
            grow(&mut values, row.values.len())?;
            values.extend(row.values);
        }
        Ok(List::Stack { count: count + 1, inner, values, boolean })
    }

    /// The list as a value, once it has ended.
    pub(super) fn finish(self) -> Json {
        match self {
            List::Nothing => Json::Nothing,
            List::Flat { values, boolean } => {
                Json::Numbers(Rectangle { dims: vec![values.len()], values, boolean })
            }
            List::Texts(texts) => Json::Texts(texts),
            List::Stack { count, mut inner, values, boolean } => {
                inner.insert(0, count);
                Json::Numbers(Rectangle { dims: inner, values, boolean })
            }
            List::Objects(objects) => Json::Objects(objects),
        }
    }
}

/// `3 numbers` or `2×3 numbers`.
fn side(dims: &[usize]) -> String {
    let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("{} numbers", sides.join("×"))
}
