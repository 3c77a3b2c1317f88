//! The functions of matrices that a demo calls.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::names::*;
use crate::attention::{HeadOf, Mask, MatrixRule, Pairing, Places, RopeScaling, Rotation, key_value_head};
use crate::graph::Side;
use crate::graph::recipes::{Recipe, Scale, Split, split, weights};
use crate::language::{functions, number_value, simple_op};

/// A function that is called, and the name of its result.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) at: At,
    pub(super) function: &'a str,
    pub(super) arguments: &'a [Expression],
    pub(super) settings: &'a [(String, Expression)],
}

impl Teller<'_> {
    /// A function of matrices.
    pub(super) fn called(&mut self, call: Call<'_>) -> Result<NodeId> {
        let Call { name, at, function, arguments, settings } = call;
        match function {
            "attend" => return self.attend(call),
            "again" => return self.again(call),
            "weights" => return self.weights(call),
            "rms_norm" | "layer_norm" => return self.norm(call),
            op if op.starts_with("op.") => return self.op(call),
            _ => {}
        }
        if let ("visible" | "mask", [scores, rule @ ..]) = (function, arguments) {
            return self.masked(name, at, function == "visible", scores, rule, settings);
        }
        if let ("rotate", [x, f, pairing]) = (function, arguments) {
            return self.rotated(name, [x, f, pairing], settings);
        }
        if !functions().contains(&function) {
            return Err(self.unknown(at, function, arguments.len()));
        }
        if let Some((unknown, setting)) = settings.first() {
            return Err(
                self.wrong(setting.at, format!("`{}` has no setting `{}`", clip(function), clip(unknown)))
            );
        }
        if let Some(op) = simple_op(function, arguments.len()) {
            let inputs = self.operands(arguments)?;
            return self.graph.add(name, op, &inputs);
        }
        if let ("gap", [a, b]) = (function, arguments) {
            return self.gap(name, [a, b]);
        }
        let Some((op, matrices)) = self.op_of_numbers(at, function, arguments)? else {
            return Err(self.unknown(at, function, arguments.len()));
        };
        let inputs = self.operands(&arguments[..matrices])?;
        self.graph.add(name, op, &inputs)
    }

    /// The steps to a matrix once more, with others in the place of some: `O_2 = again(O, X = X_2)` makes `S_2` and `A_2` on the way.
    fn again(&mut self, Call { name, at, arguments, settings, .. }: Call<'_>) -> Result<NodeId> {
        let ([result], false) = (arguments, settings.is_empty()) else {
            let error = self.wrong(at, "`again` takes a matrix, and what stands in the place of another");
            return Err(error.help("O_2 = again(O, X = X_2)"));
        };
        let result = self.operand(result)?;
        let replace = |(old, new): &(String, Expression)| {
            let old =
                self.graph.require(&plain(&self.text(old)?)).map_err(|error| self.placed(error, new.at))?;
            Ok((old, self.operand(new)?))
        };
        let replaced: Vec<(NodeId, NodeId)> = settings.iter().map(replace).collect::<Result<_>>()?;
        let graph = &self.graph;
        let own = graph[result].name.clone();
        let Some((old_end, new_end)) = other_ending(&own, name) else {
            let error = self.wrong(at, format!("`{}` is not {} with another ending", clip(name), clip(&own)));
            return Err(error.help("the matrices on the way get the same ending: O_2 = again(O, X = X_2)"));
        };
        let old: Vec<NodeId> = replaced.iter().map(|(old, _)| *old).collect();
        let steps = graph.between(&old, result);
        if steps.last() != Some(&result) {
            let names: Vec<&str> = settings.iter().map(|(name, _)| name.as_str()).collect();
            return Err(self.wrong(at, format!("{} is not made of {}", clip(&own), clip(&names.join(", ")))));
        }
        let cells = |id: NodeId| graph[id].shape().rows as f64 * graph[id].shape().cols as f64;
        let width = |id: &NodeId| graph[*id].shape().rows.max(graph[*id].shape().cols) as f64;
        let work = |id: &NodeId| cells(*id) * graph[*id].inputs.iter().map(width).fold(4.0, f64::max);
        self.spend(at, steps.iter().map(work).sum())?;
        self.count_nodes(at, steps.len() - 1)?;
        self.graph.once_more(&steps, &replaced, |node| match node.strip_suffix(old_end) {
            Some(stem) => format!("{stem}{new_end}"),
            None => format!("{node}{new_end}"),
        })
    }

    /// The nodes of expressions that are names.
    pub(super) fn operands(&self, of: &[Expression]) -> Result<Vec<NodeId>> {
        of.iter().map(|of| self.operand(of)).collect()
    }

    /// The largest difference of two matrices, in two steps.
    fn gap(&mut self, name: &str, [a, b]: [&Expression; 2]) -> Result<NodeId> {
        let nodes = [self.operand(a)?, self.operand(b)?];
        let change = match name.strip_prefix("gap_") {
            Some(rest) => format!("change_{rest}"),
            None => format!("change_{name}"),
        };
        let change = self.graph.add(&change, Op::Subtract, &nodes)?;
        self.graph.label(change, "difference");
        self.graph.add(name, LARGEST, &[change])
    }

    /// The op of a function that takes numbers behind its matrices, and how many matrices it takes.
    fn op_of_numbers(&self, at: At, function: &str, arguments: &[Expression]) -> Result<Option<(Op, usize)>> {
        Ok(Some(match (function, arguments) {
            ("ones", [rows, cols]) => (Op::Ones { rows: self.side(rows)?, cols: self.side(cols)? }, 0),
            ("sinusoidal", [tokens, width]) => {
                let (tokens, width) = (self.side(tokens)?, self.side(width)?);
                (Op::Sinusoidal { first: 0, tokens, width }, 0)
            }
            ("frequencies", [width, base]) => {
                (Op::Frequencies { width: self.side(width)?, base: self.number(base)? }, 0)
            }
            ("alibi", [head, heads, queries, keys]) => {
                let head = HeadOf { head: self.whole(head)?, heads: self.whole(heads)? };
                if head.head == 0 || head.head > head.heads {
                    return Err(self.wrong(at, format!("there is no head {} of {}", head.head, head.heads)));
                }
                let (queries, keys) = (self.side(queries)?, self.side(keys)?);
                // The last query stands at the last key.
                let offset = keys as isize - queries as isize;
                (Op::Alibi(head, Places { queries, keys, offset }), 0)
            }
            ("round", [_, decimals]) => (Op::Round(self.whole(decimals)?.min(15) as u32), 1),
            ("reshape", [_, rows, cols]) => {
                (Op::Reshape { rows: self.whole(rows)?, cols: self.whole(cols)? }, 1)
            }
            ("block_sums", [_, rows, cols]) => {
                (Op::BlockSums { rows: self.whole(rows)?, cols: self.whole(cols)? }, 1)
            }
            ("left_vectors", [_, rank]) => {
                (Op::SingularVectors { side: Side::Left, rank: self.whole(rank)? }, 1)
            }
            ("right_vectors", [_, rank]) => {
                (Op::SingularVectors { side: Side::Right, rank: self.whole(rank)? }, 1)
            }
            ("linear_scaling", [_, factor]) => {
                (Op::ScaledFrequencies(RopeScaling::Linear { factor: self.number(factor)? }), 1)
            }
            ("token", [_, word]) => (Op::TokenRows(vec![self.id_of_word(word)?]), 1),
            ("part", [of, number, count]) => {
                let (number, count) = (self.whole(number)?, self.whole(count)?);
                let width = self.graph.matrix(self.operand(of)?)?.cols();
                if count == 0 || number == 0 || number > count || !width.is_multiple_of(count) {
                    let error = format!("{width} columns have no part {number} of {count} equal ones");
                    return Err(self.wrong(at, error));
                }
                let width = width / count;
                (Op::Columns { start: (number - 1) * width, count: width }, 1)
            }
            _ => return Ok(None),
        }))
    }

    /// Any op by its name, with its parameters: the full form.
    fn op(&mut self, Call { name, at, function, arguments, settings }: Call<'_>) -> Result<NodeId> {
        let params = self.object(settings)?;
        let form = serde_json::json!({ "op": function.trim_start_matches("op.").replace('_', "-"), "params": params });
        let op: Op = serde_json::from_value(form).map_err(|error| self.wrong(at, error.to_string()))?;
        let inputs = self.operands(arguments)?;
        self.graph.add(name, op, &inputs)
    }

    /// What an object of the full form is: an origin, a step of attention.
    pub(super) fn read_object<T: DeserializeOwned>(&self, of: &Expression) -> Result<T> {
        let Kind::Object(entries) = &*of.kind else {
            return Err(self.wrong(of.at, "parameters in brackets are expected here"));
        };
        let read = serde_json::from_value(self.object(entries)?);
        read.map_err(|error| self.wrong(of.at, error.to_string()))
    }

    /// Parameters as JSON has them.
    pub(super) fn object(&self, settings: &[(String, Expression)]) -> Result<Value> {
        let entry = |(key, value): &(String, Expression)| Ok((key.clone(), self.json(value)?));
        settings.iter().map(entry).collect::<Result<Map<String, Value>>>().map(Value::Object)
    }

    fn json(&self, of: &Expression) -> Result<Value> {
        Ok(match &*of.kind {
            Kind::Text(text) => Value::String(text.clone()),
            Kind::Object(entries) => self.object(entries)?,
            Kind::Call { function, arguments, .. } if function == "list" => {
                Value::Array(arguments.iter().map(|item| self.json(item)).collect::<Result<_>>()?)
            }
            Kind::Name(name) => match self.name(name)?.as_str() {
                "yes" => Value::Bool(true),
                "no" => Value::Bool(false),
                "none" => Value::Null,
                _ => number_value(self.number(of)?),
            },
            _ => number_value(self.number(of)?),
        })
    }

    /// A norm of each row: its gain and bias are further arguments, and ε a setting.
    fn norm(&mut self, Call { name, at, function, arguments, settings }: Call<'_>) -> Result<NodeId> {
        let mut epsilon = EPSILON;
        for (setting, value) in settings {
            if setting != "epsilon" {
                let error = self.wrong(value.at, format!("`{function}` has no setting `{}`", clip(setting)));
                return Err(error.help("epsilon = 0.00001"));
            }
            epsilon = self.number(value)?;
        }
        let op = match (function, arguments.len()) {
            ("rms_norm", 1 | 2) => Op::RmsNorm(epsilon),
            ("layer_norm", 1..=3) => Op::LayerNorm(epsilon),
            _ => return Err(self.unknown(at, function, arguments.len())),
        };
        let inputs = self.operands(arguments)?;
        self.graph.add(name, op, &inputs)
    }

    /// The error of a function that does not exist.
    pub(super) fn unknown(&self, at: At, function: &str, arguments: usize) -> Error {
        let arguments = counted(arguments, "argument");
        let error = self.wrong(at, format!("there is no `{}` of {arguments}", clip(function)));
        match nearest(function.trim_start_matches("np."), functions().iter().copied())
            .filter(|near| *near != function)
        {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("the functions are {}", functions().join(" "))),
        }
    }

    /// Rows turned by their positions, from `first` on.
    fn rotated(
        &mut self,
        name: &str,
        [x, f, pairing]: [&Expression; 3],
        settings: &[(String, Expression)],
    ) -> Result<NodeId> {
        let word = match &*pairing.kind {
            Kind::Name(word) => self.name(word)?,
            _ => String::new(),
        };
        let pairing = match word.as_str() {
            "halves" => Pairing::Halves,
            "neighbours" => Pairing::Neighbours,
            _ => return Err(self.wrong(pairing.at, "the pairs of columns are `halves` or `neighbours`")),
        };
        let mut first = 0;
        for (setting, value) in settings {
            if setting != "first" {
                let error = self.wrong(value.at, format!("`rotate` has no setting `{}`", clip(setting)));
                return Err(error.help("first = 1"));
            }
            first = self.whole(value)?;
        }
        let inputs = [self.operand(x)?, self.operand(f)?];
        self.graph.add(name, Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), &inputs)
    }

    /// The rules of a mask, `causal` and `window = 2`, and the matrix in it.
    fn rules(
        &self,
        rule: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<(Mask, Option<NodeId>)> {
        let (mut mask, mut matrix) = (Mask::default(), None);
        for part in rule {
            match &*part.kind {
                Kind::Name(name) if self.name(name)? == "causal" => mask.causal = true,
                kind => {
                    let (rule, part) = match kind {
                        Kind::Unary(Sign::Not, hidden) => (MatrixRule::Block, hidden),
                        _ => (MatrixRule::Allow, part),
                    };
                    if mask.matrix.is_some() {
                        let error = self.wrong(part.at, "a mask has one matrix");
                        return Err(error.help("multiply two masks cell by cell first: both = M ∘ N"));
                    }
                    mask.matrix = Some(rule);
                    let rule = self.operand(part);
                    let rules = "the rules are `causal`, `window = 2` and a matrix of 0 and 1";
                    matrix = Some(rule.map_err(|error| error.with_help(rules.into()))?);
                }
            }
        }
        for (name, value) in settings {
            match name.as_str() {
                "window" => mask.window = Some(self.window(value)?),
                "keep_first" => mask.keep_first = self.whole(value)?,
                _ => {
                    return Err(self
                        .wrong(value.at, format!("a mask has no setting `{}`", clip(name)))
                        .help("window = 2, keep_first = 1"));
                }
            }
        }
        Ok((mask, matrix))
    }

    fn masked(
        &mut self,
        name: &str,
        at: At,
        is_pattern: bool,
        scores: &Expression,
        rule: &[Expression],
        settings: &[(String, Expression)],
    ) -> Result<NodeId> {
        let (mask, matrix) = self.rules(rule, settings)?;
        if !mask.is_some() {
            return Err(self
                .wrong(at, "this mask hides nothing")
                .help("mask(S, causal), mask(S, causal, window = 2) or mask(S, M)"));
        }
        let op = if is_pattern { Op::MaskPattern(mask) } else { Op::Mask(mask) };
        let inputs: Vec<NodeId> = [self.operand(scores)?].into_iter().chain(matrix).collect();
        self.graph.add(name, op, &inputs)
    }

    /// The settings of an attention, its heads, and the heads of its keys and values.
    fn recipe(
        &self,
        settings: &[(String, Expression)],
        of_heads: bool,
    ) -> Result<(Recipe, usize, Option<usize>)> {
        let (mut heads, mut groups, mut recipe) = (1, None, Recipe::default());
        for (setting, value) in settings {
            let word = match &*value.kind {
                Kind::Name(name) => self.name(name)?,
                _ => String::new(),
            };
            match (setting.as_str(), word.as_str()) {
                ("heads", _) if of_heads => heads = self.whole(value)?,
                ("kv_heads", _) if of_heads => groups = Some(self.whole(value)?),
                ("window", _) => recipe.mask.window = Some(self.window(value)?),
                ("mask", "causal") => recipe.mask.causal = true,
                ("scale", "none") => recipe.scale = Scale::None,
                (other, _) => {
                    return Err(self
                        .wrong(value.at, format!("an attention cannot have this `{}`", clip(other)))
                        .help(if of_heads {
                            "mask = causal, window = 2, scale = none, heads = 4, kv_heads = 2"
                        } else {
                            "mask = causal, window = 2, scale = none"
                        }));
                }
            }
        }
        Ok((recipe, heads, groups))
    }

    /// The weights of an attention, with the steps that lead to them.
    fn weights(&mut self, Call { name, at, arguments, settings, .. }: Call<'_>) -> Result<NodeId> {
        let ([q, k], Some(suffix)) = (arguments, name.strip_prefix('A')) else {
            return Err(self
                .wrong(at, "`weights` takes queries and keys, and its result is called A")
                .help("A = weights(Q, K), or A_2 = weights(…): then its scores are S_2"));
        };
        let roles = [self.operand(q)?, self.operand(k)?];
        let (recipe, ..) = self.recipe(settings, false)?;
        Ok(weights(&mut self.graph, &recipe, suffix, roles)?.weights)
    }

    /// A whole attention: its steps have the ending of its name.
    fn attend(&mut self, Call { name, at, arguments, settings, .. }: Call<'_>) -> Result<NodeId> {
        let [q, k, v] = arguments else {
            return Err(self
                .wrong(at, "`attend` takes queries, keys and values")
                .help("O = attend(Q, K, V)"));
        };
        let Some(suffix) = name.strip_prefix('O').map(str::to_string) else {
            return Err(self
                .wrong(at, "the result of `attend` is called O")
                .help("O = attend(…), or O_2 = attend(…): then its scores are S_2"));
        };
        let [q, k, v] = [self.operand(q)?, self.operand(k)?, self.operand(v)?];
        let (recipe, heads, groups) = self.recipe(settings, true)?;
        let groups = groups.unwrap_or(heads);
        if heads == 1 {
            return self.one_head(&suffix, [q, k, v], &recipe);
        }
        if heads == 0 || groups == 0 || heads > 64 || !heads.is_multiple_of(groups) {
            return Err(self.wrong(at, format!("{heads} heads cannot share {groups} keys and values")));
        }
        let mut blocks = |role: &str, whole, heads| {
            split(&mut self.graph, &format!("{role}{suffix}"), whole, heads, Split::Blocks)
        };
        let (queries, keys, values) =
            (blocks("Q", q, heads)?, blocks("K", k, groups)?, blocks("V", v, groups)?);
        let mut outputs = Vec::new();
        for (head, query) in queries.into_iter().enumerate() {
            let group = key_value_head(head, heads, groups);
            let roles = [query, keys[group], values[group]];
            outputs.push(self.one_head(&format!("{suffix}_{}", head + 1), roles, &recipe)?);
        }
        let joined = self.graph.add(name, Op::Concatenate, &outputs)?;
        self.graph.collects(joined, "heads");
        Ok(joined)
    }

    /// One head: the values, mixed by its weights.
    fn one_head(&mut self, suffix: &str, [q, k, v]: [NodeId; 3], recipe: &Recipe) -> Result<NodeId> {
        let weights = weights(&mut self.graph, recipe, suffix, [q, k])?.weights;
        self.graph.add(&format!("O{suffix}"), Op::Product, &[weights, v])
    }
}

/// ε of the norms, as in PyTorch's LayerNorm.
const EPSILON: f64 = 1e-5;

/// The endings by which a new name differs from an old one, from the last `_` before the difference on: `_cave` and `_racket` for
/// `O_cave` and `O_racket`, nothing and `_2` for `O` and `O_2`.
fn other_ending<'n>(old: &'n str, new: &'n str) -> Option<(&'n str, &'n str)> {
    let same: usize =
        old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let stem = if same == old.len() { same } else { old[..same].rfind('_')? };
    (stem > 0 && new[stem..].starts_with('_') && old != new).then(|| (&old[stem..], &new[stem..]))
}
