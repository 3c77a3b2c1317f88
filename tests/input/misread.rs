//! What must not be read as other numbers: it is refused, or told.

use std::fs;

use attn::read::{arrays, told};

use crate::common::attn;
use crate::exercise::place;

/// The outcome of an exercise whose tokens are this text, in a file.
fn of_file(text: &str) -> crate::common::Outcome {
    let folder = place();
    let path = folder.path().join("x.txt");
    fs::write(&path, text).unwrap();
    attn("attend --only X --x").arg(path.display().to_string()).run()
}

#[test]
fn what_computes_with_an_array_in_brackets_is_refused() {
    for text in [
        "-[[1.5, 2], [3, 4]]",
        "-np.array([[1.5, 2], [3, 4]])",
        "−[[1.5, 2], [3, 4]]",
        "0.5 [[1.5, 2], [3, 4]]",
        "½[[1.5, 2], [3, 4]]",
        "√[[1.5, 2], [3, 4]]",
        "1e-3 × [[1.5, 2], [3, 4]]",
        "Transpose[{{1.5, 2}, {3, 4}}]",
    ] {
        let said = of_file(text);
        assert!(
            said.code == 2 && said.err.contains("nothing is computed here"),
            "{text}: {}{}",
            said.out,
            said.err
        );
    }
    for text in [
        "Q = [[1.5, 2], [3, 4]]",
        "vec![[1.5, 2.0], [3.0, 4.0]]",
        "Float64[1.5 2; 3 4]",
        "- [1.5, 2]\n- [3, 4]",
    ] {
        let said = of_file(text);
        assert!(said.code == 0 && said.out.contains("X (2×2)"), "{text}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_number_that_is_mistyped_is_no_name_of_a_row_or_a_column() {
    for text in [
        "1'500.0 2'250.0\n3 4\n5 6\n",
        "1.5f 2.5f\n3 4\n",
        "$1.5 $2.5\n3 4\n",
        "1.5±0.1 2\n3 4\n",
        "1'000 2 3\n4 5 6\n",
    ] {
        let said = of_file(text);
        assert!(said.code == 2 && said.err.contains("is not a number"), "{text}: {}{}", said.out, said.err);
    }
    let named = of_file("day,2nd,3D\n1.5.2024,0.5,1\n2.5.2024,2,3\n");
    assert!(named.code == 0 && named.out.contains("1.5.2024"), "{}{}", named.out, named.err);
}

#[test]
fn commands_of_latex_that_change_a_number_are_refused_and_short_fractions_are_read() {
    let table = |cell: &str| format!("\\begin{{bmatrix}} {cell} & 2 \\\\ 3 & 4 \\end{{bmatrix}}\n");
    for cell in ["\\sqrt{4}", "0.\\overline{3}", "\\hat{2}"] {
        let said = of_file(&table(cell));
        assert!(said.code == 2 && said.err.contains("is not a number"), "{cell}: {}{}", said.out, said.err);
    }
    for (cell, shown) in [("\\frac12", "0.5"), ("-\\dfrac34", "-0.75"), ("\\mathbf{0.25}", "0.25")] {
        let said = of_file(&table(cell));
        assert!(said.code == 0 && said.out.contains(shown), "{cell}: {}{}", said.out, said.err);
    }
}

#[test]
fn lines_with_semicolons_are_the_same_numbers_in_an_argument_and_in_a_file() {
    for (text, first) in
        [("1,5;2,25\n3,5;4,5", "1.50   2.25"), ("1.5;2.5\n3;4", "1.5   2.5"), ("1 2;\n3 4", "1   2")]
    {
        for said in [of_file(text), attn("attend --only X --x").arg(text).run()] {
            assert!(
                said.code == 0 && said.out.contains("X (2×2)") && said.out.contains(first),
                "{text}: {}{}",
                said.out,
                said.err
            );
        }
    }
}

/// The shape and the numbers of a matrix, and the notes on how it was read.
type Reading = (Vec<usize>, Vec<f64>, String);

/// Each matrix of a text, or the error.
fn read(text: &str) -> Result<Vec<Reading>, String> {
    let all = arrays("x.txt", text).map_err(|error| error.to_string())?;
    let each = all
        .iter()
        .map(|(_, array)| (array.dims().to_vec(), array.values().to_vec(), told("x.txt", array).join("\n")));
    Ok(each.collect())
}

#[test]
fn what_was_typed_at_a_prompt_is_no_part_of_the_numbers() {
    for text in [
        ">> Q\n\nQ =\n\n   1.5   2\n   3   4\n\n>> ",
        ">> Q = [9 9; 9 9]\nQ =\n\n   1.5   2\n   3   4\n",
        "octave:1> Q\nQ =\n\n   1.5   2\n   3   4\n\n",
        "julia> Q\n2×2 Matrix{Float64}:\n 1.5  2.0\n 3.0  4.0\n\njulia> ",
        ">>> q\narray([[1.5, 2. ],\n       [3. , 4. ]])\n>>> ",
        ">>> df\n     a    b\n0  1.5  2.0\n1  3.0  4.0\n",
        "In [3]: q\nOut[3]: \narray([[1.5, 2. ],\n       [3. , 4. ]])\n\nIn [4]: ",
        "In [3]: print(df)\n     a    b\n0  1.5  2.0\n1  3.0  4.0\n",
        "> q\n     [,1] [,2]\n[1,]  1.5    2\n[2,]  3.0    4\n> ",
        ">>> q = np.array([[1.5, 2],\n...               [3, 4]])\n",
        "> 1.5 2\n> 3 4\n",
    ] {
        let all = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(all.len() == 1 && all[0].0 == [2, 2] && all[0].1 == [1.5, 2.0, 3.0, 4.0], "{text}: {all:?}");
    }
    for text in [">>> q\narray([[1., 2.]])\n>>> k\narray([[3., 4.]])\n", ">> Q\nQ =\n 1 2\n>> K\nK =\n 3 4\n"]
    {
        let all = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(all.len() == 2 && all[0].1 == [1.0, 2.0] && all[1].1 == [3.0, 4.0], "{text}: {all:?}");
    }
    let named = read("Q\n1 2\n3 4\n\nK\n5 6\n7 8\n").unwrap();
    assert!(named.len() == 2 && named[1].1 == [5.0, 6.0, 7.0, 8.0], "{named:?}");
    // Numbers behind a prompt are not passed over.
    assert!(read("> 1 2\n3 4\n").is_err());
}

#[test]
fn code_of_r_gives_a_matrix_by_columns_or_by_rows() {
    let by_columns = [1.0, 3.0, 5.0, 2.0, 4.0, 6.0];
    let by_rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for (text, numbers) in [
        ("matrix(c(1, 2, 3, 4, 5, 6), nrow = 2)", by_columns),
        ("Q <- matrix(c(1,2,3,4,5,6), 2, 3)", by_columns),
        ("matrix(c(1L,2L,3L,4L,5L,6L), ncol=3, byrow=FALSE)", by_columns),
        ("matrix(c(1,2,3,4,5,6), nrow=2, byrow=TRUE)", by_rows),
        ("q = rbind(c(1,2,3),\n          c(4,5,6))", by_rows),
        ("rbind(a = c(1,2,3), b = c(4,5,6))", by_rows),
        ("cbind(c(1,2),c(3,4),c(5,6))", by_columns),
    ] {
        let all = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(all.len() == 1 && all[0].0 == [2, 3] && all[0].1 == numbers, "{text}: {all:?}");
        assert_eq!(all[0].2.contains("column by column"), numbers == by_columns, "{text}");
        let typed = attn("attend --only X --format csv --x").arg(text).ok().out;
        let row = if numbers == by_rows { "1,2,3\n4,5,6" } else { "1,3,5\n2,4,6" };
        assert!(typed.contains(row), "{text}: {typed}");
    }
    for (text, said) in [
        ("matrix(c(1,2,3), nrow=2)", "3 numbers do not fill a matrix of 2×2"),
        ("matrix(c(1,2), nrow=0)", "`nrow` in this code of R is not read"),
        ("matrix(1:4, nrow=2)", "`1:4` in this code of R is not read"),
        ("matrix(c(1,2,3,4), 2) %*% q", "`%*% q` in this code of R is not read"),
        ("rbind(c(1,2),c(3))", "vector 2 has 1 number, but the first has 2"),
        ("matrix(c(1,x), 1)", "`x` is not a number"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn marks_of_numbers_that_were_left_out_are_named_with_the_line_that_prints_all() {
    for text in [
        "1 2 3\n⋮\n4 5 6\n",
        "     a    b\n0  1.5  2.0\n..  ...  ...\n9  3.0  4.0\n\n[10 rows x 2 columns]\n",
        "\\begin{bmatrix} 1 & \\cdots & 2 \\\\ \\vdots & \\ddots & \\vdots \\\\ 3 & \\cdots & 4 \\end{bmatrix}",
        "{{1, 2, <<8>>, 3}, {1, 2, <<8>>, 3}}",
        "{{1, 2}, <<8>>, {1, 2}}",
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains("not printed") && error.contains("set_printoptions"), "{text}: {error}");
    }
}

#[test]
fn rows_with_blank_lines_between_them_are_told() {
    for text in ["1 2\n3 4\n\n5 6\n7 8\n", "1,2\n3,4\n\n5,6\n7,8\n", "1 2; 3 4\n\n5 6; 7 8\n"] {
        let all = read(text).unwrap();
        assert_eq!((&all[0].0[..], all.len()), (&[4, 2][..], 1), "{text}");
        assert!(all[0].2.contains("in 2 parts with blank lines between them"), "{text}: {all:?}");
    }
    for text in ["1 2\n\n3 4\n\n5 6\n", "a b\n\n1 2\n3 4\n", "1 2\n3 4\n\n"] {
        assert_eq!(read(text).unwrap()[0].2, "", "{text}");
    }
}

#[test]
fn a_shape_that_contradicts_the_numbers_is_an_error_that_names_both() {
    let table = |cols| {
        format!(
            "shape: (2, {cols})\n┌─────┬─────┐\n│ a   ┆ b   │\n╞═════╪═════╡\n│ 1.0 ┆ 2.0 │\n│ 3.0 ┆ 4.0 │\n└─────┴─────┘\n"
        )
    };
    for text in [
        "2×{}3 Matrix{Float64}:\n 1.0 2.0\n 3.0 4.0\n",
        "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, {}3), dtype=float32)",
        "<tf.Tensor: shape=(2, {}3), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.]], dtype=float32)>",
        "# A tibble: 2 × {}3\n      a     b\n  <dbl> <dbl>\n1   1.5     2\n2   3       4\n",
        "     a    b\n0  1.5  2.0\n1  3.0  4.0\n\n[2 rows x {}3 columns]\n",
        "tensor([[1., 2.],\n        [3., 4.]])\ntorch.Size([2, {}3])\n",
        "torch.Size([2, {}3])\ntensor([[1., 2.],\n        [3., 4.]])\n",
        " 1 2\n 3 4\n[torch.FloatTensor of size 2x{}3]\n",
        &table("{}3"),
    ] {
        let error = read(&text.replace("{}3", "3")).expect_err(text);
        assert!(error.contains("the shape is (2, 3), but its numbers are (2, 2)"), "{text}: {error}");
        let all = read(&text.replace("{}3", "2")).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(all[0].0, [2, 2], "{text}");
    }
    // A row with a name that looks like a shape is a row.
    assert_eq!(read("3x3 conv,0.5\n1x1 conv,0.25\n").unwrap()[0].1, [0.5, 0.25]);
    // A print of pandas counts the columns without the names of the rows, one of R with them.
    assert!(read("     a    b\nw  1.5  2.0\nv  3.0  4.0\n\n[2 rows x 2 columns]\n").is_ok());
}

#[test]
fn comments_in_a_literal_and_a_name_above_rows_are_no_numbers() {
    for text in [
        "Q = np.array([[1.5, 2], # the first row [0]\n [3, 4]]) # all\n",
        "Q = [1.5 2 % the first row\n 3 4];",
        "float q[2][2] = {{1.5, 2}, // 1 of 2\n {3, 4}};",
        "float q[2][2] = {{1.5, 2}, /* first\n row */ {3, 4}};",
        "Q\n1.5 2\n3 4\n",
    ] {
        let all = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(all[0].0 == [2, 2] && all[0].1 == [1.5, 2.0, 3.0, 4.0], "{text}: {all:?}");
    }
    assert_eq!(read("[1//2 3//4]").unwrap()[0].1, [0.5, 0.75]);
    assert_eq!(read("[[50%, 25%]]").unwrap()[0].1, [0.5, 0.25]);
    // A column and its index, as pandas prints them.
    assert_eq!(read("Q\n0 1.5\n1 2.5\n").unwrap()[0].1, [1.5, 2.5]);
}

#[test]
fn a_frame_whose_columns_are_numbers_is_read_from_its_blocks() {
    let text = "     0    1  \\\n0  1.5  2.0   \n1  3.0  4.0   \n\n     2  \n0  5.0  \n1  6.0  \n";
    let all = read(text).unwrap();
    assert!(all[0].0 == [2, 3] && all[0].1 == [1.5, 2.0, 5.0, 3.0, 4.0, 6.0], "{all:?}");
    assert!(all[0].2.contains("columns in 2 blocks"), "{all:?}");
}

#[test]
fn a_tuple_of_arrays_is_refused_with_the_line_that_prints_one() {
    let text = "(tensor([[[1., 2.],\n         [3., 4.]]], grad_fn=<TransposeBackward0>), tensor([[[0.5, 0.5],\n         [0.25, 0.75]]]))";
    let error = read(text).unwrap_err();
    assert!(error.contains("a tuple of several arrays") && error.contains("print(o)"), "{error}");
}

#[test]
fn powers_of_ten_are_numbers_and_other_raised_text_is_none() {
    for text in ["1.5·10^-3 2", "1.5×10⁻³ 2", "1.5 × 10⁻³,2", "| 1.5 × 10⁻³ | 2 |\n|---|---|\n"]
    {
        let all = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(all[0].1, [1.5e-3, 2.0], "{text}");
    }
    let cells = "<table><tr><td>1.5&times;10<sup>-3</sup></td><td>10<sup>2</sup></td><td>&minus;4&nbsp;</td></tr></table>";
    assert_eq!(read(cells).unwrap()[0].1, [1.5e-3, 100.0, -4.0]);
    for cell in ["1.5<sup>2</sup>", "1.5<sub>2</sub>", "1.5<sup>a</sup>", "10<sup>1.5</sup>"] {
        let error = read(&format!("<table><tr><td>{cell}</td><td>2</td></tr></table>")).expect_err(cell);
        assert!(error.contains("is not a number"), "{cell}: {error}");
    }
    assert!(read("2^3 2\n3 4\n").is_err());
}

#[test]
fn what_a_file_may_be_is_typed_in_place_too() {
    for text in [
        "| a | b |\n|---|---|\n| 1.5 | 2 |",
        "\\begin{bmatrix} 1.5 & 2 \\end{bmatrix}",
        "$\\begin{pmatrix}3/2&2\\end{pmatrix}$",
        "<table><tr><td>1.5</td><td>2</td></tr></table>",
        "{\"a\": [[1.5, 2]]}",
        "3/2 2",
        "150% 2",
    ] {
        for (command, shown) in [("attend --only X --format csv --x", "1.5,2"), ("softmax", "1.5")] {
            let said = attn(command).arg(text).run();
            assert!(said.code == 0 && said.out.contains(shown), "{command} {text}: {}{}", said.out, said.err);
            let is_told = text.contains(['|', '\\', '<', '%']);
            let notes = format!("{}{}", said.out, said.err);
            assert!(!is_told || notes.contains("taken for"), "{command} {text}: {notes}");
        }
    }
    for text in ["1,234.5 2", "1,5 2,25"] {
        for command in ["attend --only X --x", "softmax"] {
            let said = attn(command).arg(text).run();
            assert!(said.code == 2 && said.err.contains("may be one number or two"), "{text}: {}", said.err);
        }
    }
    let rows = attn("softmax").arg("[[1, 2], [3, 4]]").ok();
    assert!(
        format!("{}{}", rows.out, rows.err).contains("2 rows of numbers are taken for one row"),
        "{}",
        rows.out
    );
}
