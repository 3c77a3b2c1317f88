//! What models weigh: every figure comes from `golden/params.json`, which PyTorch and plain arithmetic made.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use attn::params::{
    Counts, Model, ModelPart, Weight, WeightLayout, built_in, cache, caches_by_sharing, named, weights,
};
use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

static GOLDEN: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../golden/params.json")).unwrap());

/// Models that `golden/params_more.py` counts by plain arithmetic.
static MORE: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../golden/params_more.json")).unwrap());

const TINY: &str = r#"{"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 16, "vocab_size": 10}"#;

/// The model as the library reads it, and what the golden file says of it.
fn all_models() -> Vec<(String, Model, &'static Value)> {
    let built_in = GOLDEN["built_in"].as_object().unwrap().iter();
    let built_in = built_in.map(|(name, golden)| (name.clone(), named(name).unwrap().pop().unwrap(), golden));
    let read = ["built_in", "cases"].into_iter().flat_map(|kind| GOLDEN[kind].as_object().unwrap());
    let read = read.map(|(name, golden)| {
        (name.clone(), Model::from_config(&golden["config"].to_string(), "config.json").unwrap(), golden)
    });
    built_in.chain(read).collect()
}

fn total(model: &Model) -> u64 {
    Counts::of(&weights(model).unwrap()).unwrap().total
}

/// The product of all factors in a formula such as `L · (d × H·d_k)`.
fn product_of(formula: &str, value: impl Fn(&str) -> u64) -> u64 {
    formula.split([' ', '·', '×', '(', ')']).filter(|factor| !factor.is_empty()).map(value).product()
}

fn value_of(model: &Model, symbol: &str) -> u64 {
    match symbol {
        "L" => model.layers,
        "d" => model.hidden,
        "H" => model.query_heads,
        "G" => model.key_value_heads,
        "d_k" | "d_v" => model.head_width,
        "d_ff" => model.intermediate,
        "n_vocab" => model.vocabulary,
        "n_ctx" => model.positions.longest().unwrap(),
        number => number.parse().unwrap(),
    }
}

fn config(family: &str, changes: &[(&str, Value)]) -> String {
    let mut object: Value = match family {
        "gpt2" => json!({"n_embd": 8, "n_layer": 2, "n_head": 4, "n_positions": 16, "vocab_size": 10}),
        _ => serde_json::from_str(TINY).unwrap(),
    };
    object["model_type"] = json!(family);
    for (key, value) in changes {
        object[key] = value.clone();
    }
    object.to_string()
}

fn refusal(text: &str) -> String {
    Model::from_config(text, "my.json").unwrap_err().to_string()
}

#[test]
fn every_model_has_the_weights_that_transformers_gives_it() {
    for (name, model, golden) in all_models() {
        let listed = weights(&model).unwrap();
        let mut ours: Vec<Value> = listed
            .iter()
            .filter(|weight| weight.same_as.is_none())
            .map(|weight| {
                json!({"name": weight.name, "shape": weight.stored_shape().unwrap(),
                    "copies": weight.copies.value().unwrap(), "part": weight.part.name()})
            })
            .collect();
        let mut theirs = golden["weights"].as_array().unwrap().clone();
        let by_name = |weight: &Value| weight["name"].as_str().unwrap().to_string();
        ours.sort_by_key(by_name);
        theirs.sort_by_key(by_name);
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(total(&model), golden["total"].as_u64().unwrap(), "{name}");
    }
}

#[test]
fn every_part_has_the_parameters_that_transformers_gives_it() {
    for (name, model, golden) in all_models() {
        let counts = Counts::of(&weights(&model).unwrap()).unwrap();
        for part in ModelPart::all() {
            let theirs = golden["parts"].get(part.name()).map_or(0, |count| count.as_u64().unwrap());
            assert_eq!(counts.part(part), theirs, "{name}, {part}");
        }
    }
}

#[test]
fn every_cache_has_the_bytes_of_a_sum_over_the_layers() {
    for (name, model, golden) in all_models() {
        for theirs in golden["caches"].as_array().unwrap() {
            let context = theirs["context"].as_u64().unwrap();
            let ours = cache(&model, context, 2).unwrap();
            assert_eq!(ours.bytes, theirs["bytes"].as_u64().unwrap(), "{name}, {context} tokens");
            assert_eq!(cache(&model, context, 4).unwrap().bytes, 2 * ours.bytes);
        }
    }
}

#[test]
fn the_golden_file_knows_every_built_in_model() {
    let golden: Vec<&String> = GOLDEN["built_in"].as_object().unwrap().keys().collect();
    let more = MORE.as_object().unwrap();
    let built_in: Vec<&str> = built_in().iter().map(|known| known.name).collect();
    assert_eq!(golden, built_in[..golden.len()]);
    assert!(built_in[golden.len()..].iter().all(|name| more.contains_key(*name)), "{built_in:?}");
}

#[test]
fn experts_latent_attention_fused_matrices_and_encoders_have_the_published_totals() {
    for (name, golden) in MORE.as_object().unwrap() {
        let read = Model::from_config(&golden["config"].to_string(), name).unwrap();
        let known = built_in().iter().any(|known| known.name == name).then(|| named(name).unwrap().remove(0));
        for model in known.into_iter().chain([read]) {
            let listed = weights(&model).unwrap();
            let counts = Counts::of(&listed).unwrap();
            assert_eq!(counts.total, golden["total"].as_u64().unwrap(), "{name}");
            assert_eq!(counts.active, golden["active"].as_u64().unwrap(), "{name}, used by one token");
            let parts: u64 = counts.by_part.iter().map(|(_, count)| count).sum();
            assert_eq!(parts, counts.total, "{name}");
            let mut names: Vec<&str> = listed.iter().map(|weight| weight.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), listed.len(), "{name}: a name stands there twice");
        }
    }
}

#[test]
fn the_cache_of_latent_attention_keeps_one_short_vector_for_each_token() {
    // DeepSeek V3: 61 layers keep 512 + 64 numbers for each token.
    let v3 = named("deepseek-v3").unwrap().remove(0);
    let kept = cache(&v3, 1000, 2).unwrap();
    assert_eq!(kept.bytes, 61 * (512 + 64) * 1000 * 2);
    assert_eq!(
        (kept.formula().as_str(), kept.figures().as_str()),
        ("L · (d_c + d_R) · context · bytes", "61 · (512 + 64) · 1000 · 2",)
    );
    let error = cache(&named("bert-base").unwrap()[0], 10, 2).unwrap_err().to_string();
    assert!(error.contains("encoder"), "{error}");
}

#[test]
fn no_hint_leads_to_the_count_of_another_model() {
    for (name, meant) in
        [("gtp2", Some("gpt2")), ("lama3-8b", Some("llama3-8b")), ("gpt4", None), ("opt", None)]
    {
        let error = named(name).unwrap_err().to_string();
        match meant {
            Some(meant) => assert!(error.contains(&format!("did you mean `{meant}`")), "{error}"),
            None => assert!(!error.contains("did you mean"), "{error}"),
        }
    }
    for (stated, hint) in
        [("gptj", None), ("mixtrall", None), ("GPT-2", Some("gpt2")), ("qwen2moe", Some("qwen2_moe"))]
    {
        let error = refusal(&config(stated, &[]));
        match hint {
            Some(hint) => assert!(error.contains(&format!("write `{hint}`")), "{error}"),
            None => assert!(!error.contains("write `") && !error.contains("nearest"), "{error}"),
        }
    }
}

#[test]
fn a_token_cannot_use_more_experts_than_there_are() {
    let mut text = MORE["mixtral-8x7b"]["config"].clone();
    text["num_experts_per_tok"] = json!(9);
    assert!(refusal(&text.to_string()).contains("cannot use 9 experts where there are 8"));
}

#[test]
fn a_third_of_gpt3_is_attention_as_the_lecture_counts() {
    let [lecture, built] = <[Model; 2]>::try_from(named("GPT3").unwrap()).unwrap();
    let golden = &GOLDEN["lecture"];
    let listed = weights(&lecture).unwrap();
    let ours: BTreeMap<&str, u64> =
        listed.iter().map(|weight| (weight.name.as_str(), weight.count)).collect();
    assert_eq!(json!(ours), golden["weights"]);
    let counts = Counts::of(&listed).unwrap();
    assert_eq!(counts.total, 175_181_291_520);
    assert_eq!(counts.part(ModelPart::Attention), 57_982_058_496);
    assert_eq!(format!("{:.3}", counts.share(counts.part(ModelPart::Attention))), "0.331");
    assert_eq!(total(&built), 174_604_259_328);
    assert!(lecture.counting.is_some() && built.counting.is_some());
}

#[test]
fn the_third_is_a_sixth_in_llama_3_and_less_than_a_quarter_in_gpt2() {
    for (name, share) in [("llama3-8b", "16.7"), ("gpt2", "22.8")] {
        let counts = Counts::of(&weights(&named(name).unwrap()[0]).unwrap()).unwrap();
        let percent = 100.0 * counts.share(counts.part(ModelPart::Attention));
        assert_eq!(format!("{percent:.1}"), share, "{name}");
    }
}

#[test]
fn a_formula_names_the_dimensions_that_were_multiplied() {
    let lecture = named("gpt3").unwrap().remove(0);
    for model in all_models().into_iter().map(|(_, model, _)| model).chain([lecture]) {
        for weight in weights(&model).unwrap().iter().filter(|weight| weight.same_as.is_none()) {
            let formula = weight.formula();
            let by_symbols = product_of(&formula, |symbol| value_of(&model, symbol));
            assert_eq!(by_symbols, weight.count, "{}: {formula}", weight.name);
            let figures = weight.figures();
            let by_figures = product_of(&figures, |number| number.parse().unwrap());
            assert_eq!(by_figures, weight.count, "{}: {figures}", weight.name);
        }
    }
}

#[test]
fn formulas_read_as_a_reader_expects() {
    let find = |name: &str, weight: &str| -> Weight {
        let model = named(name).unwrap().remove(0);
        weights(&model).unwrap().into_iter().find(|listed| listed.name == weight).unwrap()
    };
    let key = find("llama3-8b", "model.layers.*.self_attn.k_proj.weight");
    assert_eq!((key.symbol, key.layout), ("W_K", WeightLayout::OutIn));
    assert_eq!(key.formula(), "L · (d × G·d_k)");
    assert_eq!(key.figures(), "32 · (4096 × 1024)");
    let query = find("gpt3", "query");
    assert_eq!(query.formula(), "L · H · (d × d_k)");
    assert_eq!(query.figures(), "96 · 96 · (12288 × 128)");
    let norm = find("llama3-8b", "model.norm.weight");
    assert_eq!((norm.formula().as_str(), norm.figures().as_str()), ("d", "4096"));
}

#[test]
fn tied_embeddings_are_counted_once() {
    let tied = Model::from_config(&config("llama", &[("tie_word_embeddings", json!(true))]), "tied").unwrap();
    let apart =
        Model::from_config(&config("llama", &[("tie_word_embeddings", json!(false))]), "apart").unwrap();
    let listed = weights(&tied).unwrap();
    let unembedding = listed.last().unwrap();
    assert_eq!((unembedding.part, unembedding.count), (ModelPart::Unembedding, 0));
    assert_eq!(unembedding.same_as, Some("W_E"));
    assert_eq!(unembedding.stored_shape(), Some(vec![10, 8]));
    assert_eq!(total(&apart) - total(&tied), 10 * 8);
}

#[test]
fn gpt2_and_gemma_tie_by_default_and_llama_does_not() {
    let families = [("gpt2", true), ("llama", false), ("mistral", false), ("qwen2", false), ("qwen3", false)];
    let gemmas = [("gemma", true), ("gemma2", true), ("gemma3_text", true)];
    for (family, tied) in families.into_iter().chain(gemmas) {
        let heads = [("num_key_value_heads", json!(4))];
        let model = Model::from_config(&config(family, &heads), "config.json").unwrap();
        assert_eq!(model.tied, tied, "{family}");
        assert!(model.assumed.iter().any(|assumed| assumed.field == "tie_word_embeddings"), "{family}");
    }
}

#[test]
fn what_a_configuration_leaves_out_is_said() {
    let model = Model::from_config(TINY, "config.json").unwrap();
    let said: Vec<String> =
        model.assumed.iter().map(|assumed| format!("{} = {}", assumed.field, assumed.value)).collect();
    let expected = [
        "num_key_value_heads = 4 (as many as query heads)",
        "head_dim = 2 (hidden_size / num_attention_heads)",
        "tie_word_embeddings = false",
    ];
    assert_eq!(said, expected);
    assert!(named("gpt2").unwrap()[0].assumed.is_empty());
}

#[test]
fn the_example_configurations_are_the_built_in_models() {
    let examples = [
        ("gpt2", include_str!("../../examples/data/gpt2-config.json")),
        ("llama3-8b", include_str!("../../examples/data/llama3-8b-config.json")),
        ("gemma2-2b", include_str!("../../examples/data/gemma2-2b-config.json")),
    ];
    for (name, text) in examples {
        let read = Model::from_config(text, name).unwrap();
        assert_eq!(total(&read), GOLDEN["built_in"][name]["total"].as_u64().unwrap());
        assert_eq!(Model { assumed: Vec::new(), ..read }, named(name).unwrap()[0]);
    }
}

#[test]
fn a_cache_shrinks_with_the_key_value_heads() {
    let model = named("llama3-8b").unwrap().remove(0);
    let caches = caches_by_sharing(&model, 8192, 2).unwrap();
    let said: Vec<_> = caches.iter().map(|(sharing, cache)| (*sharing, cache.bytes >> 20)).collect();
    // 2 · 32 layers · G · 128 · 8192 tokens · 2 bytes, in MiB.
    assert_eq!(said, [("MHA", 4096), ("GQA", 1024), ("MQA", 128)]);
    let multi_head = named("llama2-7b").unwrap().remove(0);
    let sharings = caches_by_sharing(&multi_head, 1, 2).unwrap();
    assert_eq!(sharings.iter().map(|(sharing, _)| *sharing).collect::<Vec<_>>(), ["MHA", "MQA"]);
}

#[test]
fn the_figures_of_a_cache_come_to_its_bytes() {
    let mistral = cache(&named("mistral-7b").unwrap()[0], 32768, 2).unwrap();
    assert_eq!(mistral.formula(), "2 · L · G · d_k · window · bytes");
    assert_eq!(mistral.figures(), "2 · 32 · 8 · 128 · 4096 · 2");
    assert_eq!(mistral.bytes, 2 * 32 * 8 * 128 * 4096 * 2);
    let gemma = cache(&named("gemma3-1b").unwrap()[0], 32768, 2).unwrap();
    assert_eq!(gemma.formula(), "2 · G · d_k · bytes · (L_full · context + L_window · window)");
    assert_eq!(gemma.figures(), "2 · 1 · 256 · 2 · (4 · 32768 + 22 · 512)");
    assert_eq!(gemma.bytes, 2 * 256 * 2 * (4 * 32768 + 22 * 512));
    let short = cache(&named("gemma3-1b").unwrap()[0], 512, 2).unwrap();
    assert_eq!(short.formula(), "2 · L · G · d_k · context · bytes");
}

#[test]
fn there_is_no_cache_beyond_learned_positions() {
    let model = named("gpt2").unwrap().remove(0);
    assert!(cache(&model, 1024, 2).is_ok());
    let error = cache(&model, 1025, 2).unwrap_err().to_string();
    assert!(error.contains("1025") && error.contains("1024"), "{error}");
    assert!(cache(&model, 0, 2).is_err());
    assert!(cache(&named("llama3-8b").unwrap()[0], u64::MAX, 2).is_err());
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest_and_the_command_that_lists_all() {
    let error = named("lama3-8b").unwrap_err().to_string();
    assert!(error.contains("`lama3-8b`") && error.contains("did you mean `llama3-8b`?"), "{error}");
    assert!(error.contains("`attn model --params` lists"), "{error}");
    let family = named("mixtral").unwrap_err().to_string();
    assert!(family.contains("that begin with `mixtral`: `mixtral-8x7b`;"), "{family}");
    assert!(!named("x").unwrap_err().to_string().contains("begin with"));
}

#[test]
fn an_unknown_family_is_an_error_with_all_families() {
    let error = refusal(&config("qwen4", &[]));
    assert!(error.starts_with("my.json: the `model_type` `qwen4` is not known"), "{error}");
    assert!(error.contains("known are") && error.contains("gemma3_text"), "{error}");
    assert!(refusal("{}").contains("no `model_type`"));
    assert!(refusal(r#"{"model_type": 7}"#).contains("`model_type` is `7`"));
}

#[test]
fn a_json_error_says_line_and_column() {
    let error = refusal("{\n  \"model_type\": \"llama\",\n  \"hidden_size\": ,\n}");
    assert!(error.starts_with("my.json:3:18: this is not JSON"), "{error}");
    for text in ["", "{", "nonsense", "\u{0}", &"[".repeat(1_000_000), &"{\"a\":".repeat(1_000_000)] {
        assert!(refusal(text).starts_with("my.json:1:"), "{}", refusal(text));
    }
    assert!(refusal("[1, 2]").contains("not a JSON object"));
}

#[test]
fn a_size_that_is_none_is_an_error_that_names_field_and_value() {
    let long = "9".repeat(200);
    let values =
        ["0", "-3", "2.5", "8.0", "1e3", "18446744073709551616", "\"8\"", "true", "[8]", "{}", &long];
    for field in ["hidden_size", "num_hidden_layers", "num_key_value_heads", "head_dim", "vocab_size"] {
        for value in values {
            let text = config("llama", &[(field, json!("HERE"))]).replace("\"HERE\"", value);
            let error = refusal(&text);
            assert!(error.starts_with("my.json: ") && error.contains(&format!("`{field}` is ")), "{error}");
            assert!(error.contains("help: ") && error.len() < 300, "{error}");
        }
    }
    assert!(refusal(&config("llama", &[("hidden_size", Value::Null)])).contains("has no `hidden_size`"));
    assert!(refusal(&config("gpt2", &[("n_inner", json!(0))])).contains("`n_inner` is `0`"));
    assert!(refusal(&config("llama", &[("attention_bias", json!(1))])).contains("true or false"));
}

#[test]
fn a_small_model_states_what_it_computes_and_nothing_that_contradicts_it() {
    let small = |changes: &[(&str, Value)]| {
        let mut object = json!({"model_type": "attn-small", "vocab_size": 16, "max_position_embeddings": 24,
            "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "norm": "none", "mlp": "none",
            "causal": true, "tie_word_embeddings": false});
        for (key, value) in changes {
            object[key] = value.clone();
        }
        object.to_string()
    };
    let read = |changes: &[(&str, Value)]| Model::from_config(&small(changes), "my.json").unwrap();
    assert_eq!((total(&read(&[])), read(&[]).is_encoder()), (2_944, false));
    assert!(read(&[("causal", json!(false))]).is_encoder());
    for (changes, said) in [
        (vec![("num_attention_heads", json!(3))], "`hidden_size` 16 cannot be shared evenly"),
        (vec![("norm", json!("layer"))], "`norm` is `layer`, which is not known"),
        (vec![("norm", json!(null))], "the configuration has no `norm`"),
        (vec![("mlp", json!(1))], "`mlp` is `1`, not a text"),
        (vec![("mlp", json!("relu"))], "the configuration has no `intermediate_size`"),
        (
            vec![("mlp", json!("relu")), ("intermediate_size", json!(0))],
            "`intermediate_size` is `0`, not a size",
        ),
        (vec![("intermediate_size", json!(64))], "`mlp` is `none`, but `intermediate_size` is 64"),
        (vec![("causal", json!("yes"))], "`causal` is `\"yes\"`"),
        (vec![("tie_word_embeddings", json!(true))], "`tie_word_embeddings` is true"),
        (vec![("vocab_size", json!(null))], "the configuration has no `vocab_size`"),
        (
            vec![("max_position_embeddings", json!(null))],
            "the configuration has no `max_position_embeddings`",
        ),
    ] {
        let error = refusal(&small(&changes));
        assert!(error.starts_with(&format!("my.json: {said}")), "{error}");
    }
}

#[test]
fn a_misspelt_field_is_pointed_at() {
    let text = TINY.replace("vocab_size", "vocab_sise");
    let error = refusal(&text);
    assert!(error.contains("no `vocab_size`") && error.contains("it has `vocab_sise`"), "{error}");
}

#[test]
fn heads_that_do_not_fit_are_an_error_with_both_numbers() {
    let error = refusal(&config("llama", &[("num_attention_heads", json!(3))]));
    assert!(error.contains("`hidden_size` 8") && error.contains("`num_attention_heads` 3"), "{error}");
    let error = refusal(&config("llama", &[("num_key_value_heads", json!(3))]));
    assert!(error.contains("4 query heads") && error.contains("3 key/value heads"), "{error}");
    assert!(refusal(&config("gpt2", &[("n_head", json!(3))])).contains("`n_embd` 8"));
    // A head width of its own needs no division.
    let own = config("llama", &[("num_attention_heads", json!(3)), ("head_dim", json!(5))]);
    assert!(Model::from_config(&own, "config.json").is_ok());
}

#[test]
fn absurd_sizes_are_errors_and_take_no_time() {
    let huge = json!(1u64 << 62);
    let fields = ["num_hidden_layers", "hidden_size", "vocab_size", "intermediate_size", "head_dim"];
    for family in ["llama", "mistral", "qwen3", "gemma2", "gemma3_text"] {
        for field in fields {
            let heads = ("num_key_value_heads", json!(4));
            let text = config(family, &[heads, (field, huge.clone())]);
            let model = Model::from_config(&text, "my.json").unwrap();
            let error = weights(&model).unwrap_err().to_string();
            assert!(error.starts_with("my.json: ") && error.contains("64 bits"), "{error}");
        }
    }
    assert!(refusal(&config("gpt2", &[("n_embd", json!(1u64 << 62))])).contains("too large"));
    let layers = Model::from_config(&config("gpt2", &[("n_layer", huge)]), "my.json").unwrap();
    assert!(weights(&layers).is_err());
    assert!(cache(&layers, 16, 2).is_err());
}

#[test]
fn a_total_beyond_64_bits_is_an_error_even_where_each_weight_fits() {
    // Each of the seven matrices has 2^62 numbers.
    let changes = ["hidden_size", "intermediate_size", "head_dim"].map(|field| (field, json!(1u64 << 31)));
    let heads = [("num_attention_heads", json!(1)), ("num_hidden_layers", json!(1))];
    let text = config("llama", &[&changes[..], &heads[..]].concat());
    let listed = weights(&Model::from_config(&text, "my.json").unwrap()).unwrap();
    assert!(listed.iter().any(|weight| weight.count == 1 << 62));
    assert!(Counts::of(&listed).unwrap_err().to_string().contains("64 bits"));
}

#[test]
fn a_list_of_layer_types_must_fit_the_layers() {
    let windowed =
        |types: Value| config("gemma2", &[("num_key_value_heads", json!(4)), ("layer_types", types)]);
    assert!(refusal(&windowed(json!(["full_attention"]))).contains("lists 1 layer,"));
    assert!(refusal(&windowed(json!(["full_attention", "linear"]))).contains("entry 2 of `layer_types`"));
    assert!(refusal(&windowed(json!("full_attention"))).contains("not a list"));
    let full = windowed(json!(["full_attention", "full_attention"]));
    assert_eq!(Model::from_config(&full, "config.json").unwrap().windows, None);
}

proptest! {
    #[test]
    fn weights_sum_to_the_total_and_shares_to_one(
        family in prop::sample::select(vec!["llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text"]),
        sizes in prop::array::uniform6(1u64..5000),
        groups in 1u64..9,
        flags in prop::array::uniform4(prop::bool::ANY),
    ) {
        let [hidden, layers, sharing, width, intermediate, vocabulary] = sizes;
        let text = json!({"model_type": family, "hidden_size": hidden, "num_hidden_layers": layers,
            "num_attention_heads": groups * sharing, "num_key_value_heads": groups, "head_dim": width,
            "intermediate_size": intermediate, "vocab_size": vocabulary, "attention_bias": flags[0],
            "mlp_bias": flags[1], "tie_word_embeddings": flags[2], "use_sliding_window": flags[3]});
        let model = Model::from_config(&text.to_string(), "config.json").unwrap();
        let listed = weights(&model).unwrap();
        let counts = Counts::of(&listed).unwrap();
        prop_assert_eq!(listed.iter().map(|weight| weight.count).sum::<u64>(), counts.total);
        prop_assert_eq!(counts.by_part.iter().map(|(_, count)| count).sum::<u64>(), counts.total);
        let shares: f64 = counts.by_part.iter().map(|(_, count)| counts.share(*count)).sum();
        prop_assert!((shares - 1.0).abs() < 1e-12);
        let shares: f64 = listed.iter().map(|weight| counts.share(weight.count)).sum();
        prop_assert!((shares - 1.0).abs() < 1e-12);
        let windowed = cache(&model, 10_000, 2).unwrap().bytes;
        let full = cache(&Model { windows: None, ..model }, 10_000, 2).unwrap().bytes;
        prop_assert!(windowed <= full);
    }

    #[test]
    fn no_configuration_makes_the_reader_panic(
        family in prop::sample::select(vec!["gpt2", "llama", "qwen2", "gemma3_text"]),
        field in prop::sample::select(vec![
            "n_embd", "n_layer", "n_head", "n_inner", "n_positions", "hidden_size", "num_hidden_layers",
            "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size", "sliding_window",
            "sliding_window_pattern", "max_window_layers", "max_position_embeddings",
        ]),
        value in prop::num::u64::ANY,
        context in prop::num::u64::ANY,
    ) {
        let used = ("use_sliding_window", json!(true));
        let text = config(family, &[used, (field, json!(value))]);
        if let Ok(model) = Model::from_config(&text, "config.json") {
            if let Ok(listed) = weights(&model) {
                let _ = Counts::of(&listed);
            }
            let _ = caches_by_sharing(&model, context, 2);
        }
    }
}

#[test]
fn names_of_any_length_are_refused_in_few_words() {
    let long = "q".repeat(1_000_000);
    let error = refusal(&config(&long, &[]));
    assert!(error.contains("is not known") && error.len() < 300, "{error}");
    let text = config("llama", &[(&long, json!(1)), ("vocab_size", Value::Null)]);
    assert!(refusal(&text).contains("no `vocab_size`") && refusal(&text).len() < 300);
}

#[test]
fn a_size_that_the_count_depends_on_is_never_guessed() {
    let lite = named("deepseek-v2-lite").unwrap().remove(0);
    assert_eq!(lite.experts.unwrap().shared_number(), 2);
    // What DeepSeek publishes of V2-Lite: 64 routed experts, 2 shared ones, and queries that are not compressed.
    let whole: Value = serde_json::from_str(
        r#"{"model_type": "deepseek_v2", "vocab_size": 102400, "hidden_size": 2048, "intermediate_size": 10944,
        "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16, "moe_intermediate_size": 1408,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "moe_layer_freq": 1, "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "v_head_dim": 128, "tie_word_embeddings": false}"#,
    )
    .unwrap();
    assert_eq!(total(&Model::from_config(&whole.to_string(), "my.json").unwrap()), 15_706_484_224);
    for key in
        ["n_routed_experts", "n_shared_experts", "q_lora_rank", "moe_intermediate_size", "kv_lora_rank"]
    {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(key);
        let error = refusal(&part.to_string());
        assert!(error.contains(&format!("no `{key}`")) && error.contains("add"), "{key}: {error}");
    }
}
