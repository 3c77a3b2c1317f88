//! The notations of the five texts, next to ours.

use super::Document;
use crate::story::Table;

/// The mark for a name that a text does not have.
const NONE: &str = "–";

/// The meaning; our name; the names of documents 000 to 004.
const ROWS: &[[&str; 7]] = &[
    ["a token is a …", "row", "row", "row", "row; column in A·v", "row", "column"],
    ["number of tokens", "T queries, N keys", "T", "n", "N", "n (in 29 a width)", "8; n in 116"],
    ["one token", "row of X", "row of x", "v_i", "row of x", "w_i (in 19 a word, in 29 a number)", "e_i"],
    ["width of a token", "d", "E", NONE, "input_dim", "d", "dim(E); E is the space"],
    ["input", "X", "X", "I (no identity)", "x", "X", "e_i"],
    ["query weights", "W_Q", "W^Q", "W^Q", "W_query, Q", "M_q; W_Q, q_proj (180)", "W_Q"],
    ["key weights", "W_K", "W^K", "W^K", "W_key, K", "M_k; W_K, k_proj (181)", "W_k"],
    ["value weights", "W_V", "W^V = R", "W^V", "W_value, V", "M_v; W_V, v_proj (182)", "V_d (W_V = V_u V_d)"],
    ["a weight matrix is stored …", "in-out", "in-out", "in-out", "out-in", "in-out", "out-in"],
    ["queries", "Q = X W_Q", "Q", "Q", "queries", "X M_q", "q_j = W_Q e_j"],
    ["keys", "K = X W_K", "K", "K", "keys", "X M_k", "k_i = W_k e_i"],
    ["values", "V = X W_V", "V = X R", "V", "values", "X M_v", "v_i = W_V e_i"],
    ["width of a key", "d_k", "H2", "d", "output_dim, d_out", "h, d_k", "dim(F), d_k"],
    ["width of a value", "d_v", "H1", NONE, "output_dim", "h_v, h", "dim(E); 128 for V_d"],
    ["scores", "S = Q Kᵀ", "Q Kᵀ", "Q Kᵀ", "attn_scores", "(X M_q)(X M_k)ᵀ", "grid [k_i·q_j] = Sᵀ"],
    ["scaled scores", "S_scaled", NONE, "S", "attn_scores / d_out**0.5", "S", "Q Kᵀ / √d_k"],
    ["mask", "M, added", "mask: 1 stays, 0 hides", NONE, "named in 158", "mask, added", "named in 130"],
    ["masked scores", "S_masked", "L before exp", NONE, NONE, "S + mask", "−∞ below the diagonal"],
    ["weights", "A", "L", "A, w_j", "attn_weights", "S′", "σ(k_i·q_j): Aᵀ"],
    ["the softmax runs along …", "rows", "rows", "rows", "rows (dim=-1)", "rows", "columns"],
    ["output of a head", "O_h = A_h V_h", "L V", "O", "context_vec", "head_i", "Δe_j (V_u follows V_d)"],
    ["heads", "H", "1", "1", "num_heads", "n_h", "96; n in 210"],
    ["key/value heads", "G", NONE, NONE, NONE, "n_k", NONE],
    ["query heads for each of them", "H / G", NONE, NONE, NONE, "g", NONE],
    ["the heads side by side", "C", NONE, NONE, "torch.cat", "A", "a sum of Δe instead"],
    ["output weights", "W_O", NONE, NONE, NONE, "M_o; W_O, o_proj (183)", "[V_u^(1) … V_u^(n)]"],
    ["result", "O = C W_O", "Y = L X R", "O", "torch.cat", "O", "Σ Δe"],
    ["with the residual", "X + O", "named in 202", NONE, NONE, "named in 249", "e + Σ Δe"],
    ["width inside the perceptron", "d_ff", NONE, NONE, NONE, "i (elsewhere an index)", NONE],
    ["perceptron", "W_up, W_down", NONE, NONE, NONE, "M_i, M_o (not the M_o of 135)", NONE],
    [
        "gated perceptron",
        "W_gate, W_up, W_down",
        NONE,
        NONE,
        NONE,
        "M_g, M_u, M_d; W_G, W_U, W_D; gate_proj, up_proj, down_proj (184)",
        NONE,
    ],
];

/// One table: a row for each thing that the texts name differently, a column for ours and for each document.
pub fn notation() -> Table {
    let documents = Document::ALL.map(Document::number);
    let header: Vec<&str> = ["what", "attn"].into_iter().chain(documents).collect();
    Table::new(&header, ROWS.iter().map(|row| row.map(String::from).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document's name for the thing that has this name here.
    fn called(ours: &str, document: Document) -> String {
        let table = notation();
        let column = table.header.iter().position(|head| head == document.number()).unwrap();
        let row = table.rows.iter().find(|row| row[1].split([' ', ',']).next() == Some(ours)).unwrap();
        row[column].clone()
    }

    #[test]
    fn the_letters_that_documents_use_differently_are_found_under_ours() {
        assert_eq!(called("A", Document::Understanding), "L");
        assert_eq!(called("X", Document::Multiplication), "I (no identity)");
        assert_eq!(called("W_Q", Document::Imagined), "M_q; W_Q, q_proj (180)");
        assert_eq!(called("C", Document::Imagined), "A");
        assert_eq!(called("d_k", Document::Understanding), "H2");
        assert!(called("S", Document::OneThird).ends_with("= Sᵀ"));
        assert!(called("in-out", Document::OneThird) == "out-in");
        assert!(called("M", Document::Imagined).starts_with("mask"));
    }

    #[test]
    fn nothing_is_listed_twice_and_no_cell_is_empty() {
        let table = notation();
        let mut names: Vec<&String> = table.rows.iter().map(|row| &row[0]).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.rows.len());
        assert!(table.rows.iter().flatten().all(|cell| !cell.trim().is_empty()));
        assert!(table.rows.iter().all(|row| row.len() == table.header.len()));
    }
}
