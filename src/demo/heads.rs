//! Demos of “Attention and Transformer Imagined” about several heads.

use super::builder::*;

/// `output`: heads of any width side by side, and W_O, which brings them back to the width of the input.
pub(super) fn output(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", numbers("1 0 1 0 0; 0 1 0 1 1").rows_named(&["red", "bat"]))?;
    demo.step("X holds n words of width d. Two heads read it, each with its own matrices.").together(&[x]);

    let one = [
        "1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1; 0 1 0 0",
        "1 0 0 0; 0 0 0 1; 0 0 1 0; 0 1 0 0; 0 0 0 0",
        "1 0 0; 0 1 0; 0 0 1; 1 0 0; 0 1 0",
    ];
    let one = demo.head_weights("_1", one.map(numbers))?;
    let projected_one = demo.roles("_1", x, one)?;
    demo.step(
        "The transformations of head 1. Query and key must have the same width h. The value may have another, h_v.",
    )
    .claim(
        all([
            equal(columns("Q_1"), 4.0),
            equal(columns("V_1"), 3.0),
            equal(columns("X"), 5.0),
        ]),
        "Here h = 4 and h_v = 3, and X has d = 5.",
    )
    .together(&one)
    .show(&projected_one);

    let (Weights { weights: a_one, .. }, o_one) = demo.head("_1", projected_one, &Recipe::default())?;
    demo.step(
        "Scores, scale and softmax give an n×n matrix, whatever h is. The output of the head is as wide as the values: h_v.",
    )
    .show(&[a_one, o_one]);

    let two = [
        "0 1 0 0; 1 0 0 0; 0 0 0 1; 0 0 1 0; 0 0 0 0",
        "1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1; 0 0 0 1",
        "0 1 0; 0 0 1; 1 0 0; 0 1 0; 0 0 1",
    ];
    let two = demo.head_weights("_2", two.map(numbers))?;
    let projected_two = demo.roles("_2", x, two)?;
    let (Weights { weights: a_two, .. }, o_two) = demo.head("_2", projected_two, &Recipe::default())?;
    demo.step("Head 2 does the same with its own matrices.")
        .claim(
            all([
                less("A_1[red,bat]", "A_1[red,red]"),
                less("A_1[bat,red]", "A_1[bat,bat]"),
                less("A_2[red,red]", "A_2[red,bat]"),
                less("A_2[bat,bat]", "A_2[bat,red]"),
            ]),
            "In head 1 each word attends mostly to itself, in head 2 to the other word.",
        )
        .show(&[a_two, o_two]);

    let c = demo.compute("C", Op::Concatenate, &[o_one, o_two])?;
    demo.step(
        "The heads stand side by side. C has H·h_v columns, which need not be d. (The text calls it A.)",
    )
    .claim(
        all([equal(columns("C"), 6.0), equal(columns("X"), 5.0)]),
        "Two heads of width 3 make 6 columns. X has 5, so C could not be added to X.",
    )
    .show(&[c]);
    let w_o =
        demo.given("W_O", numbers("1 0 0 0 0; 0 1 0 0 0; 0 0 1 0 0; 0 0 0 1 0; 0 0 0 0 1; 1 0 0 0 1"))?;
    let o = demo.product("O", c, w_o)?;
    demo.step("W_O takes every row from width H·h_v back to width d, and mixes the results of the heads.")
        .together(&[w_o])
        .show(&[o]);

    let names = [
        ("X", x),
        ("W_Q_1", one[0]),
        ("W_K_1", one[1]),
        ("W_V_1", one[2]),
        ("Q_1", projected_one[0]),
        ("K_1", projected_one[1]),
        ("V_1", projected_one[2]),
        ("S_1", demo.node("S_1")?),
        ("S_scaled_1", demo.node("S_scaled_1")?),
        ("A_1", a_one),
        ("O_1", o_one),
        ("C", c),
        ("W_O", w_o),
        ("O", o),
    ];
    let table = shapes(demo, &names)?;
    demo.step("Every matrix on the way, its shape, and what the text and common code call it.").table(table);
    one_line(demo, projected_one, projected_two, w_o)?;
    models(demo)
}

/// The names of each matrix in the document and in common code, and its shape in letters and in numbers.
fn shapes(demo: &Builder, nodes: &[(&str, NodeId)]) -> Result<Table> {
    let other_names = |name: &str| match name {
        "X" => ("X", "hidden_states", "n×d"),
        "W_Q_1" => ("M_q", "q_proj", "d×h"),
        "W_K_1" => ("M_k", "k_proj", "d×h"),
        "W_V_1" => ("M_v", "v_proj", "d×h_v"),
        "Q_1" => ("X M_q", "query_states", "n×h"),
        "K_1" => ("X M_k", "key_states", "n×h"),
        "V_1" => ("X M_v", "value_states", "n×h_v"),
        "S_1" => ("(X M_q)(X M_k)ᵀ", "", "n×n"),
        "S_scaled_1" => ("S", "attn_weights", "n×n"),
        "A_1" => ("S′", "attn_weights", "n×n"),
        "O_1" => ("head_1", "", "n×h_v"),
        "C" => ("A", "attn_output", "n×(H·h_v)"),
        "W_O" => ("M_o", "o_proj", "(H·h_v)×d"),
        _ => ("O", "", "n×d"),
    };
    let row = |(name, id): &(&str, NodeId)| {
        let (document, code, letters) = other_names(name);
        let shape = demo.matrix(*id)?.shape().to_string();
        Ok([*name, document, code, letters, &shape].map(str::to_string).to_vec())
    };
    let rows = nodes.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(Table::new(&["node", "document", "in code", "shape", "here"], rows))
}

/// The document's one-line formula with its labels, and the causal mask in it.
fn one_line(demo: &mut Builder, one: [NodeId; 3], two: [NodeId; 3], w_o: NodeId) -> Result<()> {
    let (mut weights, mut outputs) = (Vec::new(), Vec::new());
    for (head, [_, _, v]) in [one, two].into_iter().enumerate() {
        let head = head + 1;
        let scaled = demo.node(&format!("S_scaled_{head}"))?;
        let causal = Op::Mask(CAUSAL);
        let masked = demo.compute(&format!("S_masked_{head}"), causal, &[scaled])?;
        let a = demo.compute(&format!("A_causal_{head}"), SOFTMAX, &[masked])?;
        weights.push(a);
        outputs.push(demo.product(&format!("O_causal_{head}"), a, v)?);
    }
    let c = demo.compute("C_causal", Op::Concatenate, &outputs)?;
    let o = demo.product("O_causal", c, w_o)?;
    let rows = [
        ["transform1", "X M_q", "Q_1, Q_2"],
        ["transform2", "(X M_k)ᵀ", "K_1ᵀ, K_2ᵀ"],
        ["similarity", "… / √d_k + mask", "S_masked_1, S_masked_2"],
        ["no cheating", "mask", "−∞ for later words"],
        ["normalising weights", "softmax( … )", "A_causal_1, A_causal_2"],
        ["transformation3", "X M_v", "V_1, V_2"],
        ["weighted average", "softmax( … ) (X M_v)", "O_causal_1, O_causal_2"],
        ["concat heads", "concat( … )", "C_causal"],
        ["Getting back to input space", "concat( … ) M_o", "O_causal"],
    ];
    let rows = rows.map(|row| row.map(str::to_string).to_vec());
    demo.step(
        "The whole formula of the text in one line: O = concat(softmax((X M_q)(X M_k)ᵀ / √d_k + mask) (X M_v)) M_o. These \
         are its labels, from the inside out. The mask hides later words.",
    )
    .claim(
        all([zeros_above_diagonal("A_causal_1"), zeros_above_diagonal("A_causal_2")]),
        "In both heads the weights above the diagonal are 0: “no cheating”.",
    )
    .table(Table::new(&["label in the text", "part of the formula", "here"], rows))
    .together(&weights)
    .show(&[o]);
    Ok(())
}

/// Widths of published models.
fn models(demo: &mut Builder) -> Result<()> {
    let models = demo.own_labels(&["H", "h_v", "d"], &["Llama 3 8B", "Gemma 2 9B"]);
    let mut sizes = Vec::new();
    for (name, llama, gemma) in [("H", 32.0, 16.0), ("h_v", 128.0, 256.0), ("d", 4096.0, 3584.0)] {
        sizes.push(demo.given(name, Matrix::of([[llama], [gemma]]).with_row_labels(models.clone()))?);
    }
    let concatenated = demo.compute("C_width", Op::Multiply, &sizes[..2])?;
    demo.step("In published models C also has H·h_v columns. If that is not d, W_O is not square.")
        .claim(
            own(&["H", "h_v", "d"]),
            "In Llama 3 8B both are {d[1,1]}. Gemma 2 9B goes from {C_width[2,1]} back to {d[2,1]}.",
        )
        .together(&sizes)
        .show(&[concatenated]);
    Ok(())
}
