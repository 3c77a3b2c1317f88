//! Configurations of quantised checkpoints, which are refused by the name of their method.

use serde_json::{Map, Value};

use super::file::ConfigFile;
use crate::error::{Error, Result};
use crate::text::clip;

/// The keys under which programs describe a quantisation: most of them, an older one, and MLX.
const KEYS: [&str; 3] = ["quantization_config", "compression_config", "quantization"];

/// The remedy for every quantised checkpoint.
pub(super) const REMEDY: &str = "attn reads weights as they are: open the checkpoint that this one was made from, \
     with weights in F32, F16 or BF16";

/// Checks that a configuration describes weights that are stored as plain numbers.
///
/// # Errors
/// If it describes a quantisation; the error names the method. A text that is not JSON is no error here: reading the
/// configuration says where it is wrong.
pub fn check_not_quantised(config: &ConfigFile) -> Result<()> {
    let Some(Value::Object(fields)) = config.tree() else { return Ok(()) };
    let nested = fields.get("text_config").and_then(Value::as_object);
    match [Some(&fields), nested].into_iter().flatten().find_map(quantisation) {
        Some((key, method)) => Err(Error::new(format!("this checkpoint is quantised: {method} (`{key}`)"))
            .in_source(&*config.name)
            .help(REMEDY)),
        None => Ok(()),
    }
}

/// The key of a quantisation, and its method.
fn quantisation(fields: &Map<String, Value>) -> Option<(&'static str, String)> {
    KEYS.into_iter().find_map(|key| match fields.get(key)? {
        Value::Null | Value::Bool(false) => None,
        value => Some((key, method(value))),
    })
}

/// The method, and its bits where they are known.
fn method(value: &Value) -> String {
    let on = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
    let bits = value.get("bits").and_then(Value::as_u64);
    let bits = bits.or(on("load_in_4bit").then_some(4)).or(on("load_in_8bit").then_some(8));
    let named = value.get("quant_method").or_else(|| value.get("quant_algo")).and_then(Value::as_str);
    match (named, bits) {
        (Some(name), Some(bits)) => format!("{}, {bits} bits", clip(name)),
        (Some(name), None) => clip(name),
        (None, Some(bits)) => format!("{bits} bits"),
        (None, None) => "by a method that is not named".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        let config = ConfigFile { name: "config.json".into(), text: text.into() };
        check_not_quantised(&config).err().map(|error| error.to_string())
    }

    #[test]
    fn a_quantised_configuration_is_refused_by_its_method() {
        for (config, method) in [
            (r#"{"quantization_config": {"quant_method": "gptq", "bits": 4}}"#, "gptq, 4 bits"),
            (r#"{"quantization_config": {"quant_method": "awq", "bits": 4}}"#, "awq, 4 bits"),
            (
                r#"{"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": true}}"#,
                "bitsandbytes, 8 bits",
            ),
            (r#"{"quantization_config": {"load_in_4bit": true}}"#, "4 bits"),
            (r#"{"text_config": {"quantization_config": {"quant_method": "fp8"}}}"#, "fp8"),
            (r#"{"quantization": {"group_size": 64, "bits": 4}}"#, "4 bits"),
            (r#"{"quantization_config": {}}"#, "by a method that is not named"),
        ] {
            let said = said(config).unwrap();
            let start = format!("config.json: this checkpoint is quantised: {method} (`quant");
            assert!(said.starts_with(&start) && said.contains("help: attn reads weights"), "{said}");
        }
    }

    #[test]
    fn a_configuration_without_one_and_a_text_that_is_no_json_are_left_to_others() {
        for config in [r#"{"quantization_config": null}"#, r#"{"model_type": "gpt2"}"#, "{", "[]", ""] {
            assert_eq!(said(config), None, "{config}");
        }
    }
}
