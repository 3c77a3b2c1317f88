//! What expressions without matrices stand for: numbers, words, truth, and the changes of a recipe that are written with them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Place, Result};
use crate::graph::recipes::{Alteration, Change, Recipe, text_of};
use crate::json_number;
use crate::text::{clip, counted};

use super::lexer::wrong;
use super::parser::{arguments, expression, repeat};
use super::{At, Expression, ExpressionKind as Kind, Name, Over, Piece, Sign, of_numbers};

/// What a name stands for; none if nothing has it.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// Reads expressions of a file in which names stand for values. A name that stands for nothing is a word: `keys-with-queries`.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// The file, for errors.
    pub file: &'a str,
    /// Its names.
    pub names: Lookup<'a>,
}

/// The change of a recipe that a text says: `scale = inverse-root-of(d_model)`, `times(weights, 1/√d_k)`. Names stand for numbers.
///
/// # Errors
/// At the line and column of what cannot be read; if the recipe has no such setting, or the setting cannot have this value.
pub fn change(values: Values<'_>, text: &str, at: At, recipe: &Recipe) -> Result<Change> {
    let here = |error: Error| match error {
        error if values.file.is_empty() => error,
        error => error.within(Place::Text(values.file.to_string(), at.line, at.column)),
    };
    let Kind::Call { arguments, settings, .. } = arguments(values.file, text, at)? else {
        unreachable!("a call is read");
    };
    let unread = || {
        Error::new(format!("`{}` is no change", clip(text)))
            .help("write a setting and its value, scale = none, or an operation at a site, relu(queries)")
    };
    match (&arguments[..], &settings[..]) {
        ([], [(path, is)]) if path == "mask.pattern" => Ok(Change::MaskPattern(values.read(is)?)),
        ([], [(path, is)]) if path == "backward" => Ok(Change::Gradient(values.read(is)?)),
        ([], [(path, is)]) if path == "result" && spelled(is).as_deref() == Some("transposed") => {
            Ok(Change::Transposed)
        }
        ([], [_, ..]) => {
            let setting = |(path, is): &(String, Expression)| Ok((path.clone(), values.value(is)?));
            let settings = settings.iter().map(setting).collect::<Result<_>>()?;
            Change::settings(settings, recipe).map_err(here)
        }
        ([operation], []) => {
            let (name, site, rest, settings) = called(operation)
                .and_then(|(name, arguments, settings)| {
                    let (site, rest) = arguments.split_first()?;
                    Some((name, spelled(site)?, rest, settings))
                })
                .ok_or_else(|| here(unread()))?;
            let parameters = values.parameters(rest, settings)?;
            Alteration::read(&name, &site, parameters).map(Change::Alteration).map_err(here)
        }
        _ => Err(here(unread())),
    }
}

/// Checks that a text may be a change, whatever its names stand for.
///
/// # Errors
/// If it cannot be read.
pub fn sentence(text: &str) -> Result<()> {
    arguments("", text, At::default()).map(drop)
}

/// A word, and the words that hyphens join to it: `keys-with-queries`.
fn spelled(of: &Expression) -> Option<String> {
    match &*of.kind {
        Kind::Name(name) => plain(name),
        Kind::Binary(Sign::Minus, a, b) => match &*b.kind {
            Kind::Name(name) => Some(format!("{}-{}", spelled(a)?, plain(name)?)),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a function, its arguments and its settings.
type Called<'a> = (String, &'a [Expression], &'a [(String, Expression)]);

/// A call of a function whose name may have hyphens: `inverse-root-of(8)`.
fn called(of: &Expression) -> Option<Called<'_>> {
    match &*of.kind {
        Kind::Call { function, arguments, settings } => Some((function.clone(), arguments, settings)),
        Kind::Binary(Sign::Minus, a, b) => {
            let (function, arguments, settings) = called(b)?;
            Some((format!("{}-{function}", spelled(a)?), arguments, settings))
        }
        _ => None,
    }
}

/// A name without numbers in braces.
fn plain(name: &Name) -> Option<String> {
    match &name.pieces[..] {
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// The first word of what hyphens join.
fn first(of: &Expression) -> &Expression {
    match &*of.kind {
        Kind::Binary(Sign::Minus, a, _) => first(a),
        _ => of,
    }
}

impl Values<'_> {
    /// What an expression stands for: a number, a truth, a word, or an object as serde has it, `inverse-root-of(8)`.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn value(&self, of: &Expression) -> Result<Value> {
        let is_known = |of: &Expression| spelled(of).is_some_and(|name| (self.names)(&name).is_some());
        if let Kind::Binary(Sign::Minus, a, _) = &*of.kind
            && !is_known(first(a))
        {
            if let Some(word) = spelled(of) {
                return Ok(word.into());
            }
            if let Some((function, arguments, settings)) = called(of) {
                return self.variant(&function, arguments, settings);
            }
        }
        Ok(match &*of.kind {
            Kind::Number(number) => number_value(*number),
            Kind::Text(text) => text.clone().into(),
            Kind::Object(entries) => self.object(entries)?,
            Kind::Name(name) => {
                let name = plain(name).ok_or_else(|| self.wrong(of, "no braces are expected here"))?;
                match (self.names)(&name) {
                    Some(value) => value,
                    None => match name.as_str() {
                        "yes" => true.into(),
                        "no" => false.into(),
                        path if path.contains('.') => return Err(self.unknown(of, path)),
                        _ => name.into(),
                    },
                }
            }
            Kind::Unary(Sign::Minus, a) => number_value(-self.number(a)?),
            Kind::Unary(_, a) => (!self.holds(a)?).into(),
            Kind::Choice(yes, condition, no) => self.value(if self.holds(condition)? { yes } else { no })?,
            Kind::Binary(sign, a, b) => match sign {
                Sign::And => (self.holds(a)? && self.holds(b)?).into(),
                Sign::Or => (self.holds(a)? || self.holds(b)?).into(),
                Sign::Equal | Sign::Differs => {
                    let left = self.value(a)?;
                    if !is_known(a)
                        && let Some(word) = spelled(a)
                    {
                        return Err(self.unknown(a, &word));
                    }
                    (same(&left, &self.value(b)?) == (*sign == Sign::Equal)).into()
                }
                _ => match sign.of(self.number(a)?, self.number(b)?) {
                    holds if sign.is_comparison() => (holds != 0.0).into(),
                    number => number_value(number),
                },
            },
            Kind::Call { function, arguments, settings } => match self.function(function, arguments)? {
                Some(value) if settings.is_empty() => value,
                _ => self.variant(function, arguments, settings)?,
            },
            _ => return Err(self.wrong(of, "a number, a word or a condition is expected here")),
        })
    }

    /// The value of a function; none where there is no function of this name.
    fn function(&self, function: &str, arguments: &[Expression]) -> Result<Option<Value>> {
        Ok(Some(match (function, arguments) {
            ("round", [of]) => number_value(self.number(of)?.round_ties_even()),
            ("sqrt" | "floor", [_]) | ("min" | "max", [_, _]) => {
                let numbers = arguments.iter().map(|of| self.number(of)).collect::<Result<Vec<f64>>>()?;
                of_numbers(function, &numbers).map_or(Value::Null, number_value)
            }
            ("power_of_two", [of]) => number_value(self.whole(of)?.next_power_of_two() as f64),
            ("counted", [of, noun]) => counted(self.whole(of)?, &text_of(&self.value(noun)?)).into(),
            ("list", _) => {
                arguments.iter().map(|item| self.value(item)).collect::<Result<Vec<Value>>>()?.into()
            }
            _ => return Ok(None),
        }))
    }

    /// A word with parameters, as serde has a variant.
    fn variant(
        &self,
        word: &str,
        arguments: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<Value> {
        let parameters = self.parameters(arguments, settings)?.unwrap_or_default();
        Ok(Map::from_iter([(word.to_string(), parameters)]).into())
    }

    fn parameters(
        &self,
        arguments: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<Option<Value>> {
        Ok(match (arguments, settings) {
            ([], []) => None,
            ([one], []) => Some(self.value(one)?),
            ([], settings) => Some(self.object(settings)?),
            _ => self.function("list", arguments)?,
        })
    }

    fn object(&self, settings: &[(String, Expression)]) -> Result<Value> {
        let entry = |(key, value): &(String, Expression)| Ok((key.clone(), self.value(value)?));
        settings.iter().map(entry).collect::<Result<Map<String, Value>>>().map(Value::Object)
    }

    /// What serde reads from an expression.
    fn read<T: DeserializeOwned>(&self, of: &Expression) -> Result<T> {
        serde_json::from_value(self.value(of)?).map_err(|error| self.wrong(of, error.to_string()))
    }

    /// The number that an expression stands for.
    ///
    /// # Errors
    /// If it stands for something else.
    pub fn number(&self, of: &Expression) -> Result<f64> {
        let value = self.value(of)?;
        json_number::number(&value)
            .ok_or_else(|| self.wrong(of, format!("`{}` is no number", clip(&text_of(&value)))))
    }

    fn whole(&self, of: &Expression) -> Result<usize> {
        let number = self.number(of)?;
        if number >= 0.0 && number.fract() == 0.0 && number < 1e15 {
            return Ok(number as usize);
        }
        Err(self.wrong(of, format!("{number} is no whole number from 0 on")))
    }

    /// Whether a condition holds. Nothing, `no` and 0 do not hold, everything else that has a name does.
    ///
    /// # Errors
    /// If it is a word that stands for nothing.
    pub fn holds(&self, of: &Expression) -> Result<bool> {
        match self.value(of)? {
            Value::Null | Value::Bool(false) => Ok(false),
            Value::Number(number) => Ok(number.as_f64() != Some(0.0)),
            Value::String(word) if spelled(of).is_some_and(|name| name == word) => {
                Err(self.unknown(of, &word))
            }
            _ => Ok(true),
        }
    }

    /// A text in which what stands in braces is written out, also in a text in quotes there: `by √{d_k}`,
    /// `{"one head" if H == 1 else "{H} heads"}`.
    ///
    /// # Errors
    /// If braces hold what is no expression, or a name that stands for nothing.
    pub fn text(&self, text: &str, at: At) -> Result<String> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let Some(close) = closing(after) else { break };
            let of = expression(self.file, &after[..close], at)?;
            out.push_str(before);
            out.push_str(&match self.value(&of)? {
                Value::String(word) if spelled(&of).is_some_and(|name| (self.names)(&name).is_none()) => {
                    return Err(self.unknown(&of, &word));
                }
                // What stands in braces as a text is shorter than they are; anything else may lead back here.
                Value::String(text) if spelled(&of).is_none() && text.len() < close => {
                    self.text(&text, at)?
                }
                Value::String(text) => text,
                value => json_number::number(&value).map_or_else(|| text_of(&value), |x| x.to_string()),
            });
            rest = &after[close + 1..];
        }
        Ok(out + rest)
    }

    /// A name and its values, one after the other: `n in 1..4`, `word in rows, columns`.
    ///
    /// # Errors
    /// If it cannot be read, or it repeats without end.
    pub fn repeated(&self, text: &str, at: At) -> Result<(String, Vec<Value>)> {
        let read = repeat(self.file, text, at)?;
        let values = match &read.over {
            Over::Range(from, to) => {
                let [from, to] = [self.whole(from)?, self.whole(to)?];
                if to > from + MOST_REPEATED {
                    return Err(wrong(
                        self.file,
                        at,
                        format!("this repeats from {from} to {to}, more than {MOST_REPEATED} times"),
                    ));
                }
                (from..=to).map(Value::from).collect()
            }
            Over::Each(each) => each.iter().map(|one| self.value(one)).collect::<Result<_>>()?,
        };
        Ok((read.variable, values))
    }

    fn unknown(&self, of: &Expression, name: &str) -> Error {
        self.wrong(of, format!("there is no `{}`", clip(name)))
    }

    fn wrong(&self, of: &Expression, what: impl Into<String>) -> Error {
        if self.file.is_empty() { Error::new(what) } else { wrong(self.file, of.at, what) }
    }
}

/// The place of the brace that closes one that was opened before this text; those in quotes do not count.
fn closing(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, c)| {
        quoted ^= c == '"';
        (c == '}' && !quoted).then_some(at)
    })
}

/// Nothing is repeated more often.
const MOST_REPEATED: usize = 1000;

/// A number as JSON: a whole one without a point, as counts are.
pub fn number_value(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => (number as i64).into(),
        false => json_number::value(number),
    }
}

/// Whether two values are the same. A word stands for a variant with any parameters, and `none` for nothing.
fn same(a: &Value, b: &Value) -> bool {
    let is_of = |value: &Value, word: &Value| match (value, word) {
        (Value::Object(fields), Value::String(word)) => fields.len() == 1 && fields.contains_key(word),
        (Value::Null, Value::String(word)) => word == "none",
        _ => false,
    };
    let numbers = json_number::number(a).zip(json_number::number(b));
    a == b || is_of(a, b) || is_of(b, a) || numbers.is_some_and(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attention::{Mask, MatrixRule};
    use crate::graph::detours::{Detour, ScoreStep};
    use crate::graph::recipes::{MaskPattern, PositionKind, Positions, Rotary, Scale};

    fn names(name: &str) -> Option<Value> {
        match name {
            "d_k" => Some(4.into()),
            "n" => Some(2.into()),
            "word" => Some("one".into()),
            "given" => Some(json!({ "number": 2.0 })),
            "absent" => Some(Value::Null),
            _ => None,
        }
    }

    const VALUES: Values<'_> = Values { file: "", names: &names };

    fn recipe() -> Recipe {
        let kind = PositionKind::Rotary(Rotary { width: Some(2), ..Rotary::default() });
        let mask = Mask { causal: true, window: Some(2), ..Mask::default() };
        Recipe { positions: Positions { kind, ..Positions::default() }, mask, ..Recipe::default() }
    }

    fn read(text: &str) -> Result<Change> {
        change(VALUES, text, At::default(), &recipe())
    }

    fn changed(text: &str) -> Recipe {
        let mut recipe = recipe();
        let change = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        Change::put_all([&change], &mut recipe);
        recipe
    }

    #[test]
    fn a_setting_takes_what_serde_reads() {
        assert_eq!(changed("scale = inverse-root-of(2 d_k)").scale, Scale::InverseRootOf(8));
        assert_eq!(changed("scale = number(1/√d_k)").scale, Scale::Number(0.5));
        assert_eq!(changed("scale = none").scale, Scale::None);
        assert_eq!(changed("temperature = 1e300").temperature, 1e300);
        assert!(!changed("guarded = no").guarded);
        assert_eq!(changed("soft_cap = 50").soft_cap, Some(50.0));
        let [split, merge] = ["heads = 4, kv_heads = 2", "positions.key_shift = −1"].map(changed);
        assert_eq!((split.heads, split.kv_heads, merge.positions.key_shift), (4, 2, -1));
        let PositionKind::Rotary(rotary) = changed("positions.kind.rotary.width = none").positions.kind
        else {
            panic!("no rotary positions");
        };
        assert_eq!(rotary.width, None);
        assert_eq!(changed("positions = (kind = none)").positions.kind, PositionKind::None);
    }

    #[test]
    fn an_object_changes_the_fields_that_it_names() {
        let mask = Mask { causal: true, matrix: Some(MatrixRule::Block), ..Mask::default() };
        assert_eq!(changed("mask = (window = none, matrix = block)").mask, mask);
        assert_eq!(changed("mask = default").mask, Mask::default());
        assert_eq!(read("mask = (causal = no, window = none)").unwrap(), read("mask = default").unwrap());
    }

    #[test]
    fn what_is_no_setting_has_a_text_of_its_own() {
        assert_eq!(read("mask.pattern = later(−2)").unwrap(), Change::MaskPattern(MaskPattern::Later(-2)));
        let scale = Change::Gradient(Detour::Score(ScoreStep::Scale, 0));
        assert_eq!(read("backward = score(scale, 0)").unwrap(), scale);
        assert_eq!(read("result = transposed").unwrap(), Change::Transposed);
    }

    #[test]
    fn every_change_reads_as_it_is_written() {
        for text in [
            "scale = none",
            "comparison = keys-with-queries",
            "normalise.divisor = sum-and(1)",
            "heads = 4, kv_heads = 2",
            "hiding = replaced(−inf)",
            "positions.kind = alibi(heads(4))",
            "mask.pattern = one-row(first)",
            "backward = product(projection(W_Q), (kind = plain, of = list(gradient, gradient-of(K))))",
            "relu(queries)",
            "times(weights, 0.5)",
            "clipped(queries-and-keys, −1, 1)",
            "rows-later(values)",
            "columns-softmax(scores)",
            "whole-standard(tokens, epsilon = 0.00001, sample = no)",
            "rows-root-mean-square(result, 0)",
            "rows-descending(weights)",
            "added(queries, W_Q)",
            "product-transposed(queries, itself)",
            "top-k(weights, count = 2, divided = yes)",
            "gelu(values, gelu-tanh)",
        ] {
            let change = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let written = change.to_string();
            assert_eq!(read(&written).unwrap_or_else(|error| panic!("{written}: {error}")), change, "{text}");
        }
    }

    #[test]
    fn errors_say_what_is_expected() {
        for (text, parts) in [
            ("scal = none", ["there is no setting `scal`", "`scale`"]),
            ("scale = nothing-else", ["`scale` cannot be `nothing-else`", "`inverse-root-of`"]),
            ("positions.kind.alibi.heads = 2", ["`positions.kind` has no `alibi`", "rotary"]),
            ("relu(quries)", ["there is no `quries`", "did you mean `queries`?"]),
            ("rely(queries)", ["there is no `rely`", "did you mean `relu`?"]),
            ("queries", ["`queries` is no change", "scale = none"]),
            ("added(queries, Z)", ["`added(queries)`", "`Z`"]),
        ] {
            let error = read(text).expect_err(text);
            let all = format!("{error:?}");
            for part in parts {
                assert!(all.contains(part), "{text}: {all}");
            }
        }
    }

    #[test]
    fn only_the_same_choice_is_the_same_field() {
        let same = |a: &str, b: &str| read(a).unwrap().same_field(&read(b).unwrap());
        assert!(same("scale = none", "scale = root"));
        assert!(same("mask = default", "mask.pattern = turned"));
        assert!(same("positions = (kind = none)", "positions.kind.rotary.base = 5"));
        assert!(!same("positions.first = 1", "positions.kind.rotary.base = 5"));
        assert!(same("relu(queries)", "relu(keys)"));
        assert!(!same("roles.q = transposed, roles.v = transposed", "roles.v = tokens"));
        assert!(!same("result = transposed", "scale = none"));
        assert!(same("backward = softmax(copied)", "backward = softmax(negated)"));
    }

    #[test]
    fn conditions_hold_or_name_what_they_do_not_know() {
        let holds = |text: &str| VALUES.holds(&expression("", text, At::default()).unwrap());
        for text in
            ["d_k mod 2 == 0 and not absent", "given == number", "absent == none", "n < d_k", "word == one"]
        {
            assert!(holds(text).unwrap(), "{text}");
        }
        assert!(!holds("given == none or absent").unwrap());
        assert!(holds("d_l").unwrap_err().to_string().contains("there is no `d_l`"));
    }

    #[test]
    fn braces_in_a_text_are_written_out() {
        let text = |text: &str| VALUES.text(text, At::default());
        assert_eq!(text("by √{d_k}, {0.5 n}, {word}").unwrap(), "by √4, 1, one");
        assert_eq!(text(r#"{"{n} heads" if n > 1 else "one"}"#).unwrap(), "2 heads");
        assert_eq!(text("{counted(n, decimal)}").unwrap(), "2 decimals");
        assert!(text("{unknown}").unwrap_err().to_string().contains("there is no `unknown`"));
        let repeated = VALUES.repeated("k in n..d_k", At::default()).unwrap();
        assert_eq!(repeated, ("k".into(), vec![2.into(), 3.into(), 4.into()]));
    }
}
