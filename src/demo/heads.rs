//! Demos of “Attention and Transformer Imagined” about several heads.

use super::builder::*;
use crate::attention::key_value_head;

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

/// Query heads of the small example.
const HEADS: usize = 4;

/// `gqa`: heads that share keys and values, from one pair for each head to one for all, and the latent variant.
pub(super) fn gqa(demo: &mut Builder) -> Result<()> {
    demo.step(
        "H query heads share G key/value heads. With G = H this is multi-head attention (MHA), with G = 1 multi-query \
         attention (MQA), and anything in between is grouped-query attention (GQA).",
    )
    .table(who_reads_whom());

    let x = demo.given("X", numbers("1 0 1 0; 0 1 0 1; 1 1 0 0").rows_named(&["a", "red", "bat"]))?;
    let w_q = demo.given(
        "W_Q",
        numbers("1 0 0 1; 0 1 1 0; 1 1 0 0; 0 0 1 1").cols_named(&["head 1", "head 2", "head 3", "head 4"]),
    )?;
    let q = demo.product("Q", x, w_q)?;

    grouped(demo, x, w_q, q)?;
    multi_query(demo, x, q)?;
    latent(demo, x, q)?;
    sizes(demo)
}

fn who_reads_whom() -> Table {
    let readers = |groups| (0..HEADS).map(move |head| key_value_head(head, HEADS, groups) + 1);
    let row = |(name, groups): (&str, usize)| {
        let own = [name.to_string(), groups.to_string(), (HEADS / groups).to_string()];
        own.into_iter().chain(readers(groups).map(|head| format!("k{head} v{head}"))).collect()
    };
    let rows = [("MHA", 4), ("GQA", 2), ("MQA", 1)].map(row);
    Table::new(&["", "G", "H/G (document: g)", "q1 reads", "q2 reads", "q3 reads", "q4 reads"], rows)
}

fn grouped(demo: &mut Builder, x: NodeId, w_q: NodeId, q: NodeId) -> Result<()> {
    let names = ["kv 1", "kv 2"];
    let w_k = demo.given("W_K", numbers("1 0; 0 1; 1 1; 0 1").cols_named(&names))?;
    let w_v = demo.given("W_V", numbers("2 0; 0 1; 1 0; 0 3"))?;
    let shared = SharedKeysAndValues { name: "gqa", groups: 2, w_k, w_v };
    let [k, v, o] = shared.attend(demo, x, q)?;
    demo.step(
        "A small GQA. Each head has its own block of neighbouring columns. Heads 1 and 2 read the first block of K and V, \
         heads 3 and 4 the second.",
    )
    .claim(
        all([equal(columns("W_Q"), 4.0), equal(columns("W_K"), 2.0), equal(columns("W_V"), 2.0)]),
        "Here every head is one column wide.",
    )
    .folded(&[w_q, w_k, w_v])
    .together(&[x, k, v, o]);
    let [w_k_each, w_v_each, _, difference] = shared.written_out(demo, x, q, o)?;
    demo.step(
        "The same as MHA, with each shared block repeated for every head that reads it. So GQA is MHA in which several heads \
         have the same keys and values.",
    )
    .claim(
        equal("difference_gqa[1,1]", 0.0),
        "O_gqa_each equals O_gqa: the largest difference is {difference_gqa[1,1]}.",
    )
    .together(&[w_k, w_v, w_k_each, w_v_each])
    .show(&[difference]);
    Ok(())
}

fn multi_query(demo: &mut Builder, x: NodeId, q: NodeId) -> Result<()> {
    let w_k = demo.given("W_K_mqa", numbers("1; 1; 0; 1").cols_named(&["kv 1"]))?;
    let w_v = demo.given("W_V_mqa", numbers("1; 2; 0; 3"))?;
    let shared = SharedKeysAndValues { name: "mqa", groups: 1, w_k, w_v };
    let [_, _, o] = shared.attend(demo, x, q)?;
    let [_, _, _, difference] = shared.written_out(demo, x, q, o)?;
    demo.step(
        "G = 1 is MQA: all heads share one key and one value. It equals MHA with this block repeated for every head.",
    )
    .claim(equal("difference_mqa[1,1]", 0.0), "The largest difference is {difference_mqa[1,1]}.")
    .folded(&[w_k, w_v])
    .together(&[o])
    .show(&[difference]);
    Ok(())
}

/// Key and value weights that several query heads share.
struct SharedKeysAndValues {
    name: &'static str,
    groups: usize,
    w_k: NodeId,
    w_v: NodeId,
}

impl SharedKeysAndValues {
    /// K, V and the result of all heads.
    fn attend(&self, demo: &mut Builder, x: NodeId, q: NodeId) -> Result<[NodeId; 3]> {
        let name = self.name;
        let k = demo.product(&format!("K_{name}"), x, self.w_k)?;
        let v = demo.product(&format!("V_{name}"), x, self.w_v)?;
        Ok([k, v, all_heads(demo, name, [q, k, v], self.groups)?])
    }

    /// The weights with each shared block repeated for every head that reads it, the result of MHA with them, and the largest
    /// difference from `shared`.
    fn written_out(&self, demo: &mut Builder, x: NodeId, q: NodeId, shared: NodeId) -> Result<[NodeId; 4]> {
        let name = format!("{}_each", self.name);
        let mut each = Vec::new();
        for (letter, weights) in [("W_K", self.w_k), ("W_V", self.w_v)] {
            let blocks = demo.split(&format!("{letter}_{}", self.name), weights, self.groups)?;
            let repeated: Vec<NodeId> = (0..HEADS)
                .filter_map(|head| blocks.get(key_value_head(head, HEADS, self.groups)).copied())
                .collect();
            let what = format!("blocks of {letter}, one for each head,");
            each.push(demo.side_by_side(&format!("{letter}_{name}"), &what, &repeated)?);
        }
        let k = demo.product(&format!("K_{name}"), x, each[0])?;
        let v = demo.product(&format!("V_{name}"), x, each[1])?;
        let o = all_heads(demo, &name, [q, k, v], HEADS)?;
        let change = demo.compute(&format!("change_{}", self.name), Op::Subtract, &[o, shared])?;
        let largest = LARGEST;
        Ok([each[0], each[1], o, demo.compute(&format!("difference_{}", self.name), largest, &[change])?])
    }
}

/// Every query head with the key/value head it reads, side by side.
fn all_heads(demo: &mut Builder, name: &str, [q, k, v]: [NodeId; 3], groups: usize) -> Result<NodeId> {
    let queries = demo.split(&format!("Q_{name}"), q, HEADS)?;
    let (keys, values) =
        (demo.split(&format!("K_{name}"), k, groups)?, demo.split(&format!("V_{name}"), v, groups)?);
    let mut heads = Vec::new();
    for (i, &query) in queries.iter().enumerate() {
        let group = key_value_head(i, HEADS, groups);
        let suffix = format!("_{name}_{}", i + 1);
        heads.push(demo.head(&suffix, [query, keys[group], values[group]], &Recipe::default())?.1);
    }
    demo.side_by_side(&format!("O_{name}"), "heads", &heads)
}

fn latent(demo: &mut Builder, x: NodeId, q: NodeId) -> Result<()> {
    let down = demo.given("W_down", numbers("1 0; 0 1; 1 0; 0 2"))?;
    let up_k = demo.given("W_up_K", numbers("1 0 1 0; 0 1 1 2"))?;
    let up_v = demo.given("W_up_V", numbers("2 0 1 0; 0 1 0 3"))?;
    let latent = demo.product("latent", x, down)?;
    let k = demo.product("K_mla", latent, up_k)?;
    let v = demo.product("V_mla", latent, up_v)?;
    demo.step(
        "The latent variant (MLA) caches one narrow row for each word. The keys and values of all heads are computed from it.",
    )
    .claim(
        all([equal(columns("latent"), 2.0), equal(columns("K_mla"), 4.0), equal(columns("V_mla"), 4.0)]),
        "Two cached numbers give four keys and four values for each word.",
    )
    .folded(&[down, up_k, up_v])
    .together(&[latent, k, v]);

    all_heads(demo, "mla", [q, k, v], HEADS)?;
    let ups = demo.split("W_up_K", up_k, HEADS)?;
    let mut changes = Vec::new();
    for (i, up) in ups.into_iter().enumerate() {
        let i = i + 1;
        let query = demo.node(&format!("Q_mla_{i}"))?;
        let s = demo.node(&format!("S_mla_{i}"))?;
        let moved = demo.compute(&format!("Q_latent_{i}"), Op::ProductTransposed, &[query, up])?;
        let direct = demo.compute(&format!("S_latent_{i}"), Op::ProductTransposed, &[moved, latent])?;
        changes.push(demo.compute(&format!("change_mla_{i}"), Op::Subtract, &[direct, s])?);
    }
    let changes = demo.collect("change_mla", "heads", None, &changes)?;
    demo.label(changes, "score differences");
    let difference = demo.compute("difference_mla", LARGEST, &[changes])?;
    let [moved, direct] = [demo.node("Q_latent_1")?, demo.node("S_latent_1")?];
    demo.step(
        "The keys need not even be computed: W_up_K can be folded into the query, which is then compared with the latent row \
         directly. The scores stay the same in every head; head 1 is shown. (DeepSeek-V2 also caches a small rotary key, which \
         is left out here.)",
    )
    .claim(within(1e-9, "difference_mla[1,1]", 0.0), "The largest difference in all four heads is {difference_mla[1,1]}.")
    .together(&[moved, direct])
    .show(&[difference]);
    Ok(())
}

const VARIANTS: [&str; 3] = ["MHA", "GQA", "MQA"];

fn number(demo: &mut Builder, name: &str, value: f64) -> Result<NodeId> {
    demo.given(name, Matrix::filled(1, 1, value))
}

/// Parameters and cache at the sizes of Llama 3 8B; its own choice is the row GQA.
fn sizes(demo: &mut Builder) -> Result<()> {
    let shared = demo.given("G", numbers("32; 8; 1").rows_named(&VARIANTS))?;
    let readers = demo.given("g", numbers("1; 4; 32").rows_named(&VARIANTS))?;
    let heads = demo.compute("H", Op::Multiply, &[readers, shared])?;
    let rows = demo.compute("key_and_value", Op::Scale(Factor::Number(2.0)), &[shared])?;
    let latent = demo.given("latent_rows", numbers("4").rows_named(&["MLA"]))?;
    let rows = demo.collect("cached_rows", "parts", None, &[rows, latent])?;
    let h = number(demo, "h", 128.0)?;
    let cached = demo.product("cached", rows, h)?;
    demo.step(
        "The text's g is the number of queries for each key, our G is the number of key/value heads: g · G = H. For every \
         word a layer caches G keys and G values of width h. MLA caches one latent row.",
    )
    .claim(
        own(&["G", "g", "h", "latent_rows"]),
        "The sizes are those of Llama 3 8B, which uses the row GQA. The latent row has {latent_rows[1,1]} · h numbers, as in \
         DeepSeek-V2.",
    )
    .together(&[h, readers, shared, heads, rows, cached]);
    cache(demo, cached)?;
    parameters(demo, cached)
}

fn cache(demo: &mut Builder, cached: NodeId) -> Result<()> {
    let layers = number(demo, "layers", 32.0)?;
    let bytes = number(demo, "bytes", 2.0)?;
    let tokens = number(demo, "tokens", 8192.0)?;
    let all = demo.product("cached_layers", cached, layers)?;
    let token = demo.product("token_bytes", all, bytes)?;
    let whole = demo.product("cache_bytes", token, tokens)?;
    let mebi = number(demo, "MiB", 1_048_576.0)?;
    let mebi = demo.compute("cache_MiB", Op::Divide, &[whole, mebi])?;
    demo.step(
        "The cache in bytes: these numbers times layers, bytes for each number, and tokens. A MiB is 1024 · 1024 bytes.",
    )
    .claim(
        own(&["MiB"]),
        "A context of {tokens[1,1]} tokens needs {cache_MiB[MHA,1]} MiB with MHA, {cache_MiB[GQA,1]} MiB with GQA and \
         {cache_MiB[MQA,1]} MiB with MQA.",
    )
    .together(&[layers, bytes, tokens])
    .together(&[token, mebi]);
    Ok(())
}

/// The weights that make keys and values in one layer.
fn parameters(demo: &mut Builder, cached: NodeId) -> Result<()> {
    let d = number(demo, "d", 4096.0)?;
    let plain = demo.compute("cached_plain", Op::Rows { start: 0, count: 3 }, &[cached])?;
    let plain = demo.product("parameters_plain", plain, d)?;
    let full = demo.row("cached_MHA", cached, 0)?;
    let both = demo.compute("in_and_out", Op::Add, &[d, full])?;
    let latent = demo.row("cached_MLA", cached, 3)?;
    let latent = demo.product("parameters_MLA", latent, both)?;
    let all = demo.collect("parameters", "parts", None, &[plain, latent])?;
    demo.step(
        "The weights that make keys and values, in each layer: d times what is cached. MLA goes down from d to its latent row, \
         and up to the keys and values of all heads.",
    )
    .claim(
        own(&["G", "h", "d"]),
        "W_K and W_V of a layer of Llama 3 8B hold {parameters[GQA,1]} weights. With MHA they would hold {parameters[MHA,1]}.",
    )
    .show(&[all]);
    Ok(())
}
