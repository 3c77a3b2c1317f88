//! A line of text above numbers names columns or says what they are; it never costs a number.

use attn::input::Files;
use attn::read::{AllowedNumbers, Array};

use crate::common::attn;

/// What is read from a text, with the notes on it.
fn read(text: &str) -> Result<(Array, Vec<String>), String> {
    let mut stdin = text.as_bytes();
    let mut files = Files::new(&mut stdin);
    let array = files.array("-", AllowedNumbers::FINITE).map_err(|error| error.to_string())?;
    Ok((array, files.take_notes()))
}

/// Two rows of numbers that tell their place, perhaps behind names.
fn rows(width: usize, names: bool, separator: &str) -> (String, Vec<f64>) {
    let number = |i: usize, j: usize| (10 * i + j) as f64 + 0.5;
    let row = |i: usize| {
        let name = names.then(|| ["bat", "cave"][i].to_string());
        let numbers = (0..width).map(|j| number(i, j).to_string());
        name.into_iter().chain(numbers).collect::<Vec<_>>().join(separator)
    };
    let all = (0..2).flat_map(|i| (0..width).map(move |j| number(i, j))).collect();
    (format!("{}\n{}\n", row(0), row(1)), all)
}

fn names(labels: Option<&attn::matrix::Labels>) -> Vec<String> {
    labels.map(|labels| labels.to_vec()).unwrap_or_default()
}

#[test]
fn a_line_that_says_what_the_numbers_are_is_no_header_at_any_width() {
    // What MATLAB, Julia and `print("Q:", q)` of Python write.
    for label in [
        "Q =\n\n",
        "\nans =\n\n",
        "Q:\n",
        "context vectors:\n",
        "attention weights\n",
        "Masked attention scores\n",
        "R×W Matrix{Float64}:\n",
        "R×W adjoint(::Matrix{Float64}) with eltype Float64:\n",
        "R×W Array{Float64, 2}:\n",
        "RxW Matrix\n",
        "sep=;\n",
        "R×W transpose(::Matrix{Float64}) with eltype Float64:\r\n",
    ] {
        for (width, named, separator) in
            (1..=6).flat_map(|w| [(w, false, "   "), (w, true, " "), (w, false, ","), (w, true, "\t")])
        {
            let (text, numbers) = rows(width, named, separator);
            let label = label.replace('R', "2").replace('W', &width.to_string());
            let (array, notes) = read(&format!("{label}{text}")).unwrap();
            assert_eq!((array.dims(), array.values()), (&[2, width][..], &numbers[..]), "{label}{text}");
            assert_eq!(names(array.row_labels()), if named { vec!["bat", "cave"] } else { vec![] });
            assert_eq!((array.col_labels(), notes.len()), (None, 0), "{label}{text}");
        }
    }
    for printed in
        ["Q:\n[[1. 2.]\n [3. 4.]]\n", "Q:\ntensor([[1., 2.],\n        [3., 4.]])", "Q =\n\n1 2; 3 4\n"]
    {
        assert_eq!(read(printed).unwrap().0.values(), [1.0, 2.0, 3.0, 4.0], "{printed}");
    }
    let (array, _) = read("Q:\n  x y\nbat 1 2\ncave 3 4\n").unwrap();
    assert_eq!((array.dims(), names(array.col_labels())), (&[2, 2][..], vec!["x".into(), "y".into()]));
    let (array, _) = read("     [,1] [,2]\n[1,]    1    2\n[2,]    3    4\n").unwrap();
    assert_eq!(
        (array.values(), names(array.row_labels())),
        (&[1.0, 2.0, 3.0, 4.0][..], vec!["[1,]".into(), "[2,]".into()])
    );
}

#[test]
fn a_whole_number_before_a_word_is_a_row_and_no_label() {
    for word in ["nan", "inf", "NA", "None", "abc"] {
        let said = read(&format!("1 {word}\n2 3\n4 5\n")).unwrap_err();
        assert!(said.contains(":1:3"), "{said}");
    }
}

#[test]
fn what_is_nearly_a_number_names_no_row() {
    for (cell, number) in [
        ("1/4", Some(0.25)),
        ("10%", Some(0.1)),
        ("1:", None),
        ("-1/2", Some(-0.5)),
        ("1/0", None),
        ("1/2/3", None),
    ] {
        for text in [format!("{cell} 1 2\n3 4 5\n"), format!("{cell},1,2\n3,4,5\n")] {
            match (number, read(&text)) {
                (Some(number), read) => {
                    assert_eq!(read.unwrap().0.values(), [number, 1.0, 2.0, 3.0, 4.0, 5.0], "{text}")
                }
                (None, Ok((array, _))) => {
                    assert_eq!((names(array.row_labels()).len(), cell), (2, "1/2/3"), "{text}")
                }
                (None, Err(said)) => {
                    assert!(said.contains(&format!("`{cell}` is not a number")), "{text}: {said}")
                }
            }
        }
    }
    assert_eq!(names(read("2024/01/02 1 2\n").unwrap().0.row_labels()), ["2024/01/02"]);
}

#[test]
fn no_words_above_numbers_cost_a_number() {
    let words = ["attention", "weights", "of", "my", "first", "head", "today", "=", "Q:"];
    let mut refused = 0;
    for (count, from) in (1..=7).flat_map(|count| (0..=2).map(move |from| (count, from))) {
        let line = words[from..from + count].join(" ");
        for (width, named) in (1..=6).flat_map(|width| [(width, false), (width, true)]) {
            let (text, numbers) = rows(width, named, " ");
            match read(&format!("{line}\n{text}")) {
                Ok((array, notes)) => {
                    assert_eq!(
                        (array.dims(), array.values()),
                        (&[2, width][..], &numbers[..]),
                        "{line}\n{text}"
                    );
                    assert_eq!(array.row_labels().is_some(), named, "{line}\n{text}");
                    let is_label = line.ends_with([':', '=']) || line == "attention weights";
                    let is_short = named && count == width && !is_label;
                    assert_eq!(notes.len(), usize::from(is_short), "{line}\n{text}: {notes:?}");
                    assert_eq!(array.col_labels().is_some(), !is_label, "{line}\n{text}");
                }
                Err(said) => {
                    refused += 1;
                    let cause = format!("the text above it, `{line}`, names {count} column");
                    let cause = if named && width + 1 != count { "the text above it, `" } else { &cause };
                    assert!(
                        said.contains(cause) && said.contains("begin a title with #"),
                        "{line}\n{text}: {said}"
                    );
                    assert!(count != width && !(named && count == width + 1), "{line}\n{text}: {said}");
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn names_of_rows_that_are_numbers_need_a_sign_or_count_the_rows() {
    // What R's write.table and pandas write without a name for the first column.
    for first in [0, 1] {
        let (array, notes) = read(&format!("x y\n{first} 0.5 1.5\n{} 10.5 11.5\n", first + 1)).unwrap();
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[0.5, 1.5, 10.5, 11.5][..]));
        assert!(notes[0].contains("is taken for the names of the rows"), "{notes:?}");
    }
    let said = read("x y\n1 0 0\n1 1 0\n").unwrap_err();
    assert!(
        said.contains("3:1: this line has 3 numbers, but the text above it, `x y`, names 2 columns"),
        "{said}"
    );
    let said = read("x y\n4 0.5 1.5\n5 10.5 11.5\n").unwrap_err();
    assert!(
        said.contains("2:1: this line has 3 numbers, but the text above it, `x y`, names 2 columns"),
        "{said}"
    );
    assert!(said.contains("if the first column names the rows by numbers"), "{said}");
    for text in ["\"x\",\"y\"\n\"1\",0.5,1.5\n\"2\",10.5,11.5\n", ",x,y\n1,0.5,1.5\n2,10.5,11.5\n"] {
        let (array, notes) = read(text).unwrap();
        assert_eq!(
            (names(array.row_labels()), array.values()),
            (vec!["1".into(), "2".into()], &[0.5, 1.5, 10.5, 11.5][..])
        );
        // An empty cell of the header is a name's place.
        assert_eq!(notes.len(), usize::from(text.starts_with('"')), "{notes:?}");
    }
}

#[test]
fn a_column_taken_for_names_is_told_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, "x,y\nbat,3,3\ncave,4,0\nracket,0,5\n").unwrap();
    let path = path.to_str().unwrap();
    let note = "is taken for the names of the rows";
    let ran = attn("attend --only X --x").arg(path).ok();
    assert!(ran.err.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{}", ran.err);
    let ran = attn("diagnose --words 'bat cave racket' --format json --yours").arg(path).run();
    assert!(ran.err.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{}", ran.err);
}

#[test]
fn a_right_result_that_matlab_or_julia_printed_is_right() {
    let o = attn("attend --words 'bat cave racket' --only O --format csv").ok().out;
    let rows: Vec<&str> = o.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
    let body = rows.join("\n").replace(',', "   ");
    for print in [format!("\nO =\n\n{body}\n"), format!("3×2 Matrix{{Float64}}:\n {body}")] {
        let ran = attn("diagnose --words 'bat cave racket' --yours -").input(print.clone()).run();
        assert_eq!(ran.code, 0, "{print}{}{}", ran.out, ran.err);
    }
    // Three columns under two words.
    let wide = attn("diagnose --random 5,3 --yours -").input("first second\n1 2 3\n4 5 6\n").run();
    assert!(wide.code == 2 && wide.err.contains("`first second`, names 2 columns"), "{}", wide.err);
}

#[test]
fn decimal_commas_beside_blanks_are_refused() {
    for line in ["softmax 1,5 2,5", "softmax '1,5 2'", "softmax -- -1,5 2,5"] {
        attn(line).refused(&["may be one number or two", "write a decimal point"]);
    }
    for typed in ["1,5 2,5; 3,5 4,5", "[[1,5 2,5], [3,5 4,5]]"] {
        attn("attend --x").arg(typed).refused(&["`1,5` may be one number or two"]);
    }
    assert_eq!(attn("softmax 1,2,3 --format csv").ok().out, attn("softmax 1 2 3 --format csv").ok().out);
    assert_eq!(attn("softmax '1, 2, 3' --format csv").ok().out, attn("softmax 1 2 3 --format csv").ok().out);
}
