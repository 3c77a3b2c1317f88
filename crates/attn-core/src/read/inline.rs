//! A matrix typed where a file name could stand: `"1 2; 3 4"`, over several lines, or pasted as Python prints it.

use crate::error::{Error, Place, Result};
use crate::text::{clip, counted};

use super::array::{AllowedNumbers, Array};
use super::number::{Cells, LINE_ENDS, check_commas, is_cell, is_comment};

/// Reads a matrix whose rows end at `;` or at the end of a line, and whose numbers stand apart by spaces or commas. A `;`
/// at the very end is no empty row, nor is an empty line. A single row is a 1×d matrix. In brackets, as Python prints
/// them, these decide the rows.
///
/// # Errors
/// At the row and column of what is no number, or where the rows differ in length.
pub fn inline(text: &str, allow: AllowedNumbers) -> Result<Array> {
    let name = format!("`{}`", clip(text));
    let read = if looks_printed(text) {
        printed(&name, text, allow)
    } else {
        read_rows(&name, text.split(LINE_ENDS), allow)
    };
    read.map_err(|error| error.in_source(name))
}

/// True if a text in a file or on standard input is typed as on the command line: `1 2; 3 4`. Its first line has a `;`, and a
/// blank between two numbers.
pub(super) fn looks_typed(text: &str) -> bool {
    let is_row = |piece: &str| {
        let words = || piece.split_whitespace().map(|word| word.trim_end_matches(','));
        words().count() > 1 && words().all(is_cell)
    };
    let first = lines_with_numbers(text).next().unwrap_or_default();
    first.contains(';') && first.split(';').any(is_row)
}

/// Reads a text that [`looks_typed`].
///
/// # Errors
/// As [`inline`].
pub(super) fn typed(name: &str, text: &str, allow: AllowedNumbers) -> Result<Array> {
    read_rows(name, lines_with_numbers(text), allow)
}

/// The lines that are neither blank nor comments.
fn lines_with_numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(LINE_ENDS).filter(|line| !line.trim().is_empty() && !is_comment(line))
}

/// The matrix that these lines of numbers make; `name` is what errors call it.
fn read_rows<'t>(name: &str, lines: impl Iterator<Item = &'t str>, allow: AllowedNumbers) -> Result<Array> {
    let wrong = |what: String| {
        Error::new(what).help("separate rows by `;` and numbers by spaces or commas: \"1 2; 3 4\"")
    };
    let mut cells = Cells::new(allow);
    let (mut rows, mut cols) = (0, 0);
    for row in rows_of(lines) {
        rows += 1;
        check_commas(row).map_err(|error| error.in_source(format!("{name}, row {rows}")))?;
        let mut count = 0;
        for cell in split_cells(row) {
            count += 1;
            cells.push(cell).map_err(|error| error.at(Place::Cell(name.to_string(), rows, count)))?;
        }
        if rows == 1 {
            cols = count;
        }
        if count != cols || count == 0 {
            let has = counted(count, "number");
            return Err(wrong(format!("row {rows} has {has}, but row 1 has {cols}")));
        }
    }
    if rows == 0 {
        return Err(wrong("there are no numbers".to_string()));
    }
    cells.into_array(vec![rows, cols])
}

/// The rows: a `;` ends one, and so does a line. Both together end one row.
fn rows_of<'t>(lines: impl Iterator<Item = &'t str>) -> impl Iterator<Item = &'t str> {
    let mut has_row = false;
    lines.flat_map(|line| line.split_inclusive(';')).filter_map(move |piece| {
        let (row, ends) = piece.strip_suffix(';').map_or((piece, false), |row| (row, true));
        let is_row = !row.trim().is_empty() || ends && !has_row;
        has_row = !ends && (has_row || is_row);
        is_row.then_some(row)
    })
}

/// The cells of one row. Between two commas a cell is missing, between two spaces none is.
fn split_cells(row: &str) -> impl Iterator<Item = &str> {
    let commas = row.contains(',');
    row.split(move |c: char| if commas { c == ',' } else { c.is_whitespace() })
        .flat_map(move |piece| {
            let mut words = piece.split_whitespace().peekable();
            let missing = commas && words.peek().is_none();
            missing.then_some("").into_iter().chain(words)
        })
        .filter(move |cell| commas || !cell.is_empty())
}

/// True if somebody who typed this meant a matrix rather than a file: it has rows, or its first cell is a number.
pub fn looks_inline(text: &str) -> bool {
    text.contains(';') || looks_printed(text) || split_cells(text).next().is_some_and(is_cell)
}

// Arrays as Python prints them: `[[1. 2.]` and so on by NumPy, `tensor([[1., 2.]])` by PyTorch, `[[1, 2]]` by itself.

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
            .help("give one array with all its brackets: [[1, 2], [3, 4]]")
            .and_help("or put a label that begins with a bracket in quotation marks: \"[1\",2,3")
    };
    for row in body.split(['[', ']']) {
        check_commas(row)?;
    }
    let mut brackets = Brackets { name, cells: Cells::new(allow), expects: true, ..Brackets::default() };
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
    let behind = if prefix { close(rest)? } else { Some(rest) };
    match behind.unwrap_or(rest) {
        "" if behind.is_some() => {}
        "" => return Err(wrong("the parenthesis before the array is not closed".into())),
        behind => return Err(wrong(format!("`{}` stands after the last bracket", clip(behind)))),
    }
    brackets.cells.into_array(brackets.lengths)
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
#[derive(Default)]
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

impl Brackets<'_> {
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
        let depth = self.open.len();
        let column = self.open.last().map_or(1, |count| count + 1);
        let place = Place::Cell(self.name.to_string(), self.rows + 1, column);
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
        Error::new(what).help("put each row in brackets, all with the same length: [[1, 2], [3, 4]]")
    }
}

// The text after the brackets of an array that `repr` has printed: `, dtype=float32)`, `, grad_fn=<MmBackward0>)`.

/// Arguments between the brackets and the closing parenthesis, as `name=value`. None of them changes a number.
const NAMES: [&str; 9] =
    ["dtype", "shape", "size", "device", "grad_fn", "requires_grad", "layout", "names", "copy"];

/// The modules in which Python's packages have their types.
const MODULES: [&str; 7] = ["torch.", "np.", "numpy.", "jnp.", "jax.numpy.", "ml_dtypes.", ""];

/// Types of real numbers and truth values as NumPy, PyTorch and JAX name them.
const TYPES: &str = "float float16 float32 float64 float96 float128 float_ half single double longdouble bfloat16 \
    float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e4m3b11fnuz \
    int int8 int16 int32 int64 int_ byte short intc long longlong \
    uint uint8 uint16 uint32 uint64 ubyte ushort uintc ulonglong bool bool_";

/// NumPy's letters for types with another order of bytes, and their sizes in bytes: `'>f8'`.
const LETTERS: &str = "f2 f4 f8 f12 f16 i1 i2 i4 i8 u1 u2 u4 u8 b1";

/// The text after the parenthesis that closes the array; `None` if there is no such parenthesis.
///
/// # Errors
/// If the numbers are of a type that is not read, such as complex ones.
pub(super) fn close(text: &str) -> Result<Option<&str>> {
    let mut rest = text.trim_start();
    while let Some(part) = rest.strip_prefix(',').map(str::trim_start) {
        rest = part;
        if part.starts_with(')') {
            break;
        }
        let Some((name, value)) = part.split_once('=').filter(|(name, _)| NAMES.contains(&name.trim()))
        else {
            return Ok(None);
        };
        let value = value.trim_start();
        let Some(length) = length_of(value) else { return Ok(None) };
        if name.trim() == "dtype" && !is_real(&value[..length]) {
            return Err(Error::new(format!("the numbers have the type {}", clip(&value[..length])))
                .help("print real numbers, for example array.real or array.astype(float)"));
        }
        rest = value[length..].trim_start();
    }
    Ok(rest.strip_prefix(')').map(str::trim))
}

/// The length of the value at the start of a text: `float32`, `torch.float32`, `'<f4'`, `(2, 3)`, `<AddBackward0>`.
fn length_of(text: &str) -> Option<usize> {
    let until = |end: char| text[1..].find(end).map(|at| at + 1 + end.len_utf8());
    match text.chars().next()? {
        mark @ ('\'' | '"') => until(mark),
        '<' => until('>'),
        '(' => until(')'),
        '[' => until(']'),
        _ => Some(
            text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))).unwrap_or(text.len()),
        )
        .filter(|&length| length > 0),
    }
}

/// True if a type is one of real numbers or truth values, as a package names it.
fn is_real(dtype: &str) -> bool {
    let bare =
        ['\'', '"'].iter().find_map(|&mark| dtype.strip_prefix(mark)?.strip_suffix(mark)).unwrap_or(dtype);
    let is_one_of = |types: &str, name: &str| types.split(' ').any(|known| known == name);
    let name = MODULES.iter().find_map(|module| bare.strip_prefix(module)).unwrap_or(bare);
    let in_bytes = bare.strip_prefix(['<', '>', '=', '|']).unwrap_or(bare);
    is_one_of(TYPES, name) || is_one_of(LETTERS, in_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Array {
        inline(text, AllowedNumbers::INFINITE).unwrap()
    }

    fn fails(text: &str) -> String {
        inline(text, AllowedNumbers::FINITE).unwrap_err().to_string()
    }

    #[test]
    fn rows_end_at_semicolons_and_numbers_at_spaces_or_commas() {
        for text in [
            "1 2; 3 4",
            "[[1, 2], [3, 4]]",
            "tensor([[1., 2.], [3., 4.]])",
            "1,2;3,4",
            " 1, 2 ;\t3 , 4; ",
            "1  2;3  4",
            "1 2;\n3 4",
            "1 2\n3 4",
            "\n1 2\r\n\n3 4\n",
            "1,2\n3,4;",
        ] {
            let array = read(text);
            assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.0, 3.0, 4.0][..]), "{text:?}");
        }
    }

    #[test]
    fn rows_in_a_text_are_typed_ones_only_where_blanks_part_their_numbers() {
        for text in ["1 2; 3 4\n", "# two rows\n1 2;\n3 4\n", "1, 2; 3, 4", "1;2 3", "-1 2; 3"] {
            assert!(looks_typed(text), "{text:?}");
        }
        for text in ["1;2\n3;4", "1,5;2,5", "a b;c d\n1;2", "bat;1;2", "1 2\n3 4", ""] {
            assert!(!looks_typed(text), "{text:?}");
        }
        let array = typed("x.txt", "# two rows\n1 2;\n3 4\n", AllowedNumbers::FINITE).unwrap();
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.0, 3.0, 4.0][..]));
    }

    #[test]
    fn a_minus_sign_of_either_kind_and_infinity_are_read() {
        let array = read("\u{2212}1 -2; -inf \u{2212}∞");
        assert_eq!(array.values(), [-1.0, -2.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
    }

    #[test]
    fn truth_values_make_a_boolean_matrix() {
        let array = read("true false; TRUE True");
        assert!(array.facts.boolean);
        assert_eq!(array.values(), [1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn decimals_are_those_written() {
        assert_eq!(read("0.43 1.500").facts.decimals, Some(3));
    }

    #[test]
    fn what_is_no_number_is_named_with_its_row_and_column() {
        assert!(fails("1 2; 3 x").starts_with("`1 2; 3 x`, row 2, column 2: `x` is not a number"));
        assert!(fails("1,,2").starts_with("`1,,2`, row 1, column 2: a number is missing"));
        assert!(fails("1 nan").contains("row 1, column 2: this is NaN"));
    }

    #[test]
    fn ragged_and_empty_rows_are_refused_with_both_counts() {
        assert!(fails("1 2; 3").contains("row 2 has 1 number, but row 1 has 2"));
        assert!(fails("1 2;; 3 4").contains("row 2 has 0 numbers"));
        assert!(fails(";").contains("row 1 has 0 numbers"));
        assert!(fails("").contains("there are no numbers"));
    }

    #[test]
    fn a_name_does_not_look_like_a_matrix() {
        for text in ["1 2", "-1", "[[1, 2], [3, 4]]", "1 2; 3 x", "a; b", "true false"] {
            assert!(looks_inline(text), "{text}");
        }
        for text in ["scores.csv", "scores", "1.csv", ""] {
            assert!(!looks_inline(text), "{text}");
        }
    }

    fn read_printed(text: &str) -> Array {
        assert!(looks_printed(text), "{text}");
        printed("x.txt", text, AllowedNumbers::ANYTHING).unwrap()
    }

    fn fails_as_printed(text: &str) -> String {
        printed("x.txt", text, AllowedNumbers::FINITE).unwrap_err().to_string()
    }

    #[test]
    fn what_numpy_prints_is_read() {
        // print(np.array([[1, 2.5], [-3, 4]])) and so on, NumPy 2.4.6
        let array = read_printed("[[ 1.   2.5]\n [-3.   4. ]]\n");
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, -3.0, 4.0][..]));
        assert_eq!(array.facts.decimals, Some(1));
        let wrapped = "[[0.         0.11111111 0.22222222\n  0.33333333]\n [0.5        0.61111111 0.72222222\n  0.83333333]]";
        let array = read_printed(wrapped);
        assert_eq!(
            (array.dims(), array.facts.decimals, array.values()[7]),
            (&[2, 4][..], Some(8), 0.83333333)
        );
        let array = read_printed("[[           nan            inf]\n [          -inf 1.00000000e-10]]");
        assert!(array.values()[0].is_nan() && array.values()[1..3] == [f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(array.values()[3], 1e-10);
        let stack = read_printed("[[[1. 2.]]\n\n [[3. 4.]]]");
        assert_eq!((stack.dims(), stack.facts.decimals), (&[2, 1, 2][..], Some(0)));
        assert!(read_printed("[[ True False]]").facts.boolean);
    }

    #[test]
    fn what_repr_and_pytorch_print_is_read() {
        // print(torch.tensor([[1, 2.5], [3, 4]])), PyTorch 2.15.0
        for text in [
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])",
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], dtype=torch.float64)",
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], grad_fn=<MmBackward0>)\n",
        ] {
            let array = read_printed(text);
            assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, 3.0, 4.0][..]), "{text}");
            assert_eq!(array.facts.decimals, Some(4));
        }
        let array = read_printed("array([[1. , 2.5],\n       [3. , 4. ]], dtype=float32)");
        assert_eq!((array.dims(), array.facts.decimals), (&[2, 2][..], Some(1)));
        assert_eq!(read_printed("[1, 2, 3]").dims(), [3]);
        assert_eq!(read_printed("[[1, 2,], [3, 4],]").dims(), [2, 2]);
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
            assert_eq!(read_printed(text).values(), [1.0, 2.5, 3.0, 4.0], "{text}");
        }
        assert!(!looks_printed(">>> o.shape\n(2, 2)"));
    }

    #[test]
    fn numbers_that_were_left_out_are_asked_for() {
        for text in ["[[0. 1. ... 2.]\n [3. 4. ... 5.]]", "[...]", "[[1 2]\n ...\n [3 4]]"] {
            let said = fails_as_printed(text);
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
            assert!(fails_as_printed(text).contains(said), "{text}: {}", fails_as_printed(text));
        }
    }

    #[test]
    fn labels_in_brackets_are_labels() {
        for text in ["[CLS],1,2\n[SEP],3,4", "[[[[", "1 2; 3 4", "tensor", "[]", ""] {
            assert!(!looks_printed(text), "{text}");
        }
    }

    #[test]
    fn what_python_prints_behind_an_array_closes_it() {
        for text in [
            ")",
            " )\n",
            ",)",
            ", dtype=float32)",
            ", dtype='<f4')",
            ", dtype=torch.float64, grad_fn=<MmBackward0>)",
            ", device='cuda:0', dtype=torch.bfloat16,\n       requires_grad=True)",
            ", shape=(1000, 1000), dtype=int64)",
            ", size=(0, 3))",
            ", dtype=bool)",
            ", dtype=np.float16)",
            ", dtype='>f8')",
            ", dtype=torch.float8_e4m3fn)",
            ", dtype=longdouble)",
            ", dtype=torch.long)",
        ] {
            assert_eq!(close(text).unwrap(), Some(""), "{text}");
        }
    }

    #[test]
    fn what_stands_behind_that_is_given_back() {
        assert_eq!(close("), tensor([[3, 4]])").unwrap(), Some(", tensor([[3, 4]])"));
        assert_eq!(close(")\narray([[9, 9]])").unwrap(), Some("array([[9, 9]])"));
        for text in
            [" garbage)", "", ",", ", 3)", ", other=3)", ", [1, 2])", ", dtype=)", ", dtype='f8)", "]"]
        {
            assert_eq!(close(text).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn complex_numbers_and_objects_are_refused() {
        for dtype in ["complex64", "torch.complex128", "'<c16'", "object", "'<U5'", "datetime64"]
            .into_iter()
            // No package has these.
            .chain(["torch1:a.float64", "a.float64", "torch.float65", "float064", "f3", "torch.float8_x"])
        {
            let said = close(&format!(", dtype={dtype})")).unwrap_err().to_string();
            assert!(said.contains("have the type"), "{said}");
        }
    }
}
