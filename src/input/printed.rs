//! Arrays as Python prints them: `[[1. 2.]` and so on by NumPy, `tensor([[1., 2.]])` by PyTorch, `[[1, 2]]` by itself.

use crate::error::{Error, Place, Result};
use crate::text::{clip, counted};

use super::allowed_numbers::AllowedNumbers;
use super::array::Array;
use super::cells::Cells;
use super::number::{check_commas, is_cell};
use super::printed_end;

/// The text before the brackets in the output of `repr`.
const PREFIXES: [&str; 3] = ["tensor(", "array(", "np.array("];
/// An array has no more dimensions than these.
const MOST_DIMENSIONS: usize = 4;
/// Marks of numbers that were left out.
const ELISIONS: [&str; 2] = ["...", "…"];

/// True if a text begins as a printed array does: brackets, and a number or an elision behind them. `[CLS],1,2` is a table
/// with labels.
pub(super) fn looks_printed(text: &str) -> bool {
    let (_, body) = split_prefix(after_prompts(text));
    let numbers = body.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    let first = numbers.split(ends_word).next().unwrap_or_default();
    body.starts_with('[') && (is_cell(first) || ELISIONS.contains(&first))
}

/// True if a text begins as a list in JSON does. `[CLS],1,2` is a table with labels.
pub(super) fn begins_list(text: &str) -> bool {
    let inside = text.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    let first = inside.split(ends_word).next().unwrap_or_default();
    let is_value = first.starts_with(['"', '{']) || first == "null" || is_cell(first);
    text.starts_with('[') && (is_value || inside.starts_with(']'))
}

/// Reads an array whose brackets decide the rows. Numbers stand apart by blanks or commas; line breaks mean nothing.
///
/// # Errors
/// At the row and column of what is no number; where rows differ in length, brackets do not close, or numbers were left
/// out in printing.
pub(super) fn printed(name: &str, text: &str, allow: AllowedNumbers) -> Result<Array> {
    let (prefix, body) = split_prefix(after_prompts(text.trim()));
    let wrong = |what: String| {
        Error::new(what)
            .in_source(name)
            .help("give one array with all its brackets: [[1, 2], [3, 4]]")
            .and_help("or put a label that begins with a bracket in quotation marks: \"[1\",2,3")
    };
    for row in body.split(['[', ']']) {
        check_commas(row).map_err(|error| error.in_source(name))?;
    }
    let mut brackets = Brackets::new(name, allow);
    let mut rest = body;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '[' => brackets.open().map(|()| 1),
            ']' => brackets.close().map(|()| 1),
            ',' => brackets.comma().map(|()| 1),
            blank if blank.is_whitespace() => Ok(blank.len_utf8()),
            _ => {
                let word = rest.split(ends_word).next().unwrap_or(rest);
                brackets.number(word).map(|()| word.len())
            }
        };
        rest = &rest[length?..];
        if brackets.open.is_empty() {
            break;
        }
    }
    let rest = rest.trim();
    if !brackets.open.is_empty() {
        return Err(wrong("a bracket is not closed".into()));
    }
    let behind =
        if prefix { printed_end::close(rest).map_err(|error| error.in_source(name))? } else { Some(rest) };
    match behind {
        Some("") => {}
        Some(behind) => return Err(wrong(format!("`{}` stands after the last bracket", clip(behind)))),
        None if rest.is_empty() => {
            return Err(wrong("the parenthesis before the array is not closed".into()));
        }
        None => return Err(wrong(format!("`{}` stands after the last bracket", clip(rest)))),
    }
    brackets.cells.into_array(brackets.lengths).map_err(|error| error.in_source(name))
}

/// The text behind what a Python or Jupyter session prints before an array: `>>> print(o)` and `In [3]: o` on lines of their own,
/// `Out[3]: ` before the array; or `o = ` as in a program.
fn after_prompts(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with(">>>") || rest.starts_with("In [") {
        rest = rest.split_once('\n').map_or("", |(_, below)| below.trim_start());
    }
    let behind = rest.strip_prefix("Out[").and_then(|rest| rest.split_once("]:"));
    let rest = behind.map_or(rest, |(_, array)| array.trim_start());
    // `o = [[1, 2]]`, as in a program.
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !is_cell(name)
    };
    match rest.split_once('=') {
        Some((name, array)) if is_name(name.trim()) => array.trim_start(),
        _ => rest,
    }
}

/// Splits off a name before the brackets: true if there is one, and the rest.
fn split_prefix(text: &str) -> (bool, &str) {
    match PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        Some(body) => (true, body.trim_start()),
        None => (false, text),
    }
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, ',' | '[' | ']')
}

/// The brackets as far as they have been read.
struct Brackets<'n> {
    name: &'n str,
    cells: Cells,
    /// The number of elements of each open bracket, from the outermost.
    open: Vec<usize>,
    /// The number of elements in brackets of each depth, once one of them is closed.
    lengths: Vec<usize>,
    /// The depth at which numbers stand.
    innermost: Option<usize>,
    /// The number of closed rows.
    rows: usize,
    /// True if an element must follow.
    expects: bool,
}

impl<'n> Brackets<'n> {
    fn new(name: &'n str, allow: AllowedNumbers) -> Brackets<'n> {
        let cells = Cells::new(allow);
        Brackets {
            name,
            cells,
            open: Vec::new(),
            lengths: Vec::new(),
            innermost: None,
            rows: 0,
            expects: true,
        }
    }

    fn open(&mut self) -> Result<()> {
        if self.open.len() == MOST_DIMENSIONS {
            return Err(self.wrong(format!("the array has more than {MOST_DIMENSIONS} dimensions")));
        }
        if self.innermost.is_some_and(|depth| depth <= self.open.len()) {
            return Err(self.wrong("a row of numbers contains another row".into()));
        }
        if let Some(count) = self.open.last_mut() {
            *count += 1;
        }
        self.open.push(0);
        self.expects = true;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(count) = self.open.pop() else {
            return Err(self.wrong("there is one closing bracket too many".into()));
        };
        let depth = self.open.len();
        if self.lengths.len() <= depth {
            self.lengths.resize(depth + 1, 0);
        }
        let known = self.lengths[depth];
        let is_row = self.innermost == Some(depth + 1);
        self.rows += usize::from(is_row);
        if count == 0 || (known != 0 && known != count) {
            let what = if is_row {
                format!("row {} has {}, but row 1 has {known}", self.rows, counted(count, "number"))
            } else if count == 0 {
                "two brackets have nothing between them".to_string()
            } else {
                format!("one matrix has {}, and another has {known}", counted(count, "row"))
            };
            return Err(self.wrong(what));
        }
        self.lengths[depth] = count;
        self.expects = false;
        Ok(())
    }

    fn comma(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.expects, true) {
            return Err(self.wrong("a number is missing before a comma".into()));
        }
        Ok(())
    }

    fn number(&mut self, word: &str) -> Result<()> {
        let place = |row, count| Place::Cell(self.name.to_string(), row, count);
        let depth = self.open.len();
        let column = self.open.last().map_or(1, |count| count + 1);
        let place = place(self.rows + 1, column);
        if ELISIONS.contains(&word) {
            return Err(Error::new(format!("`{word}` stands for numbers that were not printed"))
                .at(place)
                .help("save the array with np.save(\"o.npy\", o), or print all of it after np.set_printoptions(threshold=np.inf)"));
        }
        if *self.innermost.get_or_insert(depth) != depth {
            return Err(self.wrong("a list contains both a number and a row".into()));
        }
        self.cells.push(word).map_err(|error| error.at(place))?;
        if let Some(count) = self.open.last_mut() {
            *count += 1;
        }
        self.expects = false;
        Ok(())
    }

    fn wrong(&self, what: String) -> Error {
        Error::new(what)
            .in_source(self.name)
            .help("put each row in brackets, all with the same length: [[1, 2], [3, 4]]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Array {
        assert!(looks_printed(text), "{text}");
        printed("x.txt", text, AllowedNumbers::ANYTHING).unwrap()
    }

    fn fails(text: &str) -> String {
        printed("x.txt", text, AllowedNumbers::FINITE).unwrap_err().to_string()
    }

    #[test]
    fn what_numpy_prints_is_read() {
        // print(np.array([[1, 2.5], [-3, 4]])) and so on, NumPy 2.4.6
        let array = read("[[ 1.   2.5]\n [-3.   4. ]]\n");
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, -3.0, 4.0][..]));
        assert_eq!(array.decimals(), Some(1));
        let wrapped = "[[0.         0.11111111 0.22222222\n  0.33333333]\n [0.5        0.61111111 0.72222222\n  0.83333333]]";
        let array = read(wrapped);
        assert_eq!((array.dims(), array.decimals(), array.values()[7]), (&[2, 4][..], Some(8), 0.83333333));
        let array = read("[[           nan            inf]\n [          -inf 1.00000000e-10]]");
        assert!(array.values()[0].is_nan() && array.values()[1..3] == [f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(array.values()[3], 1e-10);
        let stack = read("[[[1. 2.]]\n\n [[3. 4.]]]");
        assert_eq!((stack.dims(), stack.decimals()), (&[2, 1, 2][..], Some(0)));
        assert!(read("[[ True False]]").is_boolean());
    }

    #[test]
    fn what_repr_and_pytorch_print_is_read() {
        // print(torch.tensor([[1, 2.5], [3, 4]])), PyTorch 2.15.0
        for text in [
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])",
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], dtype=torch.float64)",
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], grad_fn=<MmBackward0>)\n",
        ] {
            let array = read(text);
            assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, 3.0, 4.0][..]), "{text}");
            assert_eq!(array.decimals(), Some(4));
        }
        let array = read("array([[1. , 2.5],\n       [3. , 4. ]], dtype=float32)");
        assert_eq!((array.dims(), array.decimals()), (&[2, 2][..], Some(1)));
        assert_eq!(read("[1, 2, 3]").dims(), [3]);
        assert_eq!(read("[[1, 2,], [3, 4],]").dims(), [2, 2]);
    }

    #[test]
    fn prompts_before_an_array_are_not_part_of_it() {
        for text in [
            ">>> print(o)\n[[1.  2.5]\n [3.  4. ]]\n",
            ">>> o = attend(x)\n>>> o\narray([[1. , 2.5],\n       [3. , 4. ]])",
            "In [3]: o\nOut[3]: \narray([[1. , 2.5],\n       [3. , 4. ]])",
            "Out[3]: tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])",
            "O = [[1, 2.5], [3, 4]]",
            "out_1 = np.array([[1, 2.5], [3, 4]])",
        ] {
            assert!(looks_printed(text), "{text}");
            assert_eq!(read(text).values(), [1.0, 2.5, 3.0, 4.0], "{text}");
        }
        assert!(!looks_printed(">>> o.shape\n(2, 2)"));
    }

    #[test]
    fn numbers_that_were_left_out_are_asked_for() {
        for text in ["[[0. 1. ... 2.]\n [3. 4. ... 5.]]", "[...]", "[[1 2]\n ...\n [3 4]]"] {
            let said = fails(text);
            assert!(
                looks_printed(text) && said.contains("not printed") && said.contains("np.save"),
                "{said}"
            );
        }
    }

    #[test]
    fn what_is_no_rectangle_is_refused_at_its_place() {
        for (text, said) in [
            ("[[1 2]\n [3]]", "row 2 has 1 number, but row 1 has 2"),
            ("[[1, 2], [3, x]]", "x.txt, row 2, column 2: `x` is not a number"),
            ("[[1,,2]]", "a number is missing"),
            ("[[1, nan]]", "x.txt, row 1, column 2: this is NaN"),
            ("[[1 2]", "is not closed"),
            ("[[1 2]]]", "`]` stands after the last bracket"),
            ("[[1 2]]\n[[3 4]]", "after the last bracket"),
            ("tensor([[1, 2]]", "is not closed"),
            ("tensor([[1, 2]]), tensor([[3, 4]])", "`, tensor([[3, 4]])` stands after the last bracket"),
            ("array([[1, 2]])\narray([[9, 9]])", "`array([[9, 9]])` stands after the last bracket"),
            ("tensor([[1, 2]]) garbage)", "`garbage)` stands after the last bracket"),
            ("tensor([[1, 2]] garbage)", "`garbage)` stands after the last bracket"),
            ("tensor([[1, 2]], dtype=torch.complex64)", "the numbers have the type torch.complex64"),
            ("[[[1]], [[2], [3]]]", "one matrix has 2 rows, and another has 1"),
            ("[[1], 2]", "a list contains both a number and a row"),
            ("[1, [2]]", "a row of numbers contains another row"),
            ("[[1], []]", "row 2 has 0 numbers, but row 1 has 1"),
            ("[[[1]], []]", "nothing between them"),
            ("[[[[[1]]]]]", "more than 4 dimensions"),
        ] {
            assert!(fails(text).contains(said), "{text}: {}", fails(text));
        }
    }

    #[test]
    fn labels_in_brackets_are_labels() {
        for text in ["[CLS],1,2\n[SEP],3,4", "[[[[", "1 2; 3 4", "tensor", "[]", ""] {
            assert!(!looks_printed(text), "{text}");
        }
    }
}
