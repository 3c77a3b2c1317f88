//! `attn model --params`: how many weights a model has, and how large its cache is.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::{to_path, visible};
use crate::input::{Files, ModelFolder, ReadPermission, WORDS};
use crate::model::Architecture;
use crate::params::{AssumedValue, Cache, Counts, Model, ModelPart, Weight};
use crate::render::Format;
use crate::story::Table;
use crate::text::{grouped, size};
use crate::{input, params};

use super::output;
use super::output::{LookArgs, note};
use super::program::{Env, Outcome, Streams};

/// How weights and the cache are counted.
#[derive(Deserialize, Debug)]
pub(super) struct ParamsArgs {
    pub params: bool,
    context: Option<u64>,
    bytes: u64,
}

/// On narrower screens a count and its share are in one column.
const WIDE: usize = 100;

/// The context where neither the user nor the model says one.
const USUAL_CONTEXT: u64 = 8192;

impl ParamsArgs {
    /// Writes the counts of a model, or the list of those that are built in.
    ///
    /// # Errors
    /// If there is no such model.
    pub(super) fn run(
        &self,
        model: Option<&str>,
        look: &LookArgs,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Outcome> {
        let Some(name) = model else {
            let row = |model: &params::BuiltIn| -> Result<Vec<String>> {
                let family = params::named(model.name)?.first().map(|model| model.family);
                let is_run = Architecture::families().any(|(_, run)| Some(run) == family);
                let run = if is_run { "yes" } else { "no" };
                Ok([model.name, model.title, run].map(str::to_string).to_vec())
            };
            let rows = params::built_in().iter().map(row).collect::<Result<Vec<_>>>()?;
            let title = "Built-in models, and whether attn model runs a folder of this type";
            let parts = [(title.to_string(), Table::new(&["model", "title", "attn model"], rows))];
            return write(&parts, look, env, streams).map(Outcome::from);
        };
        let models = models(name, look, env, streams)?;
        let joined = look.format == Format::Table;
        let written = CountFormat {
            for_people: look.is_for_people(),
            joined,
            stacked: joined && look.style(env).width < WIDE,
        };
        let code = write(&self.parts(&models, written)?, look, env, streams)?;
        let data = self.parts(&models, CountFormat { for_people: false, joined: false, stacked: false })?;
        Outcome::of_tables(code, &data)
    }

    /// The tables of all models.
    fn parts(&self, models: &[Model], written: CountFormat) -> Result<Vec<(String, Table)>> {
        let longest = models.iter().filter_map(|model| model.positions.longest()).min();
        let context = self.context.unwrap_or_else(|| longest.unwrap_or(USUAL_CONTEXT).min(USUAL_CONTEXT));
        let tables = models.iter().map(|model| self.tables(model, context, written));
        Ok(tables.collect::<Result<Vec<_>>>()?.concat())
    }

    fn tables(&self, model: &Model, context: u64, written: CountFormat) -> Result<Vec<(String, Table)>> {
        let weights = params::weights(model)?;
        let counts = Counts::of(&weights)?;
        let counting = model.counting.map_or(String::new(), |counting| format!(", {counting}"));
        let mut parts = vec![
            (format!("{}{counting}", model.name), weight_table(&weights, &counts, written)),
            ("What it adds up to".into(), totals(model, &counts, written)),
        ];
        if counts.part(ModelPart::Attention) > 0 && !model.is_encoder() {
            parts.push(self.cache_table(model, context, written)?);
        }
        let assumed = model.assumed.iter().map(AssumedValue::note);
        let notes = ratios(model).into_iter().chain(model.notes.iter().cloned()).chain(assumed);
        let notes: Vec<Vec<String>> = notes.map(|note| vec![note]).collect();
        if !notes.is_empty() {
            parts.push(("Notes".into(), Table::new(&["note"], notes)));
        }
        Ok(parts)
    }

    fn cache_table(&self, model: &Model, context: u64, written: CountFormat) -> Result<(String, Table)> {
        if context == 0 {
            return Err(Error::new("a context of 0 tokens needs no cache").help("--context 8192"));
        }
        let own = params::cache(model, context, self.bytes)?;
        let row = |name: String, cache: &Cache| {
            let figures = cache.figures();
            let figures = if written.joined { unbreakable(&figures) } else { figures };
            let mut row = vec![name, figures, written.count(cache.bytes)];
            row.extend(written.for_people.then(|| size(cache.bytes)));
            row
        };
        let mut rows = vec![row(
            match context {
                1 => "this model, 1 token".to_string(),
                _ => format!("this model, {} tokens", grouped(context)),
            },
            &own,
        )];
        for (sharing, cache) in params::caches_by_sharing(model, context, self.bytes)? {
            rows.push(row(format!("{sharing}, G = {}", cache.key_value_heads), &cache));
        }
        let header = ["cache", "numbers", "bytes", "size"];
        let title = format!("Key/value cache = {}", own.formula());
        Ok((title, Table::new(&header[..rows[0].len()], rows).with_numbers(&["bytes", "size"])))
    }
}

fn write(parts: &[(String, Table)], look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    output::write_paged(look, env, streams, |streams| look.tables("params", parts, env, streams))
}

/// The models of this name, folder or file.
fn models(name: &str, look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<Vec<Model>> {
    if name == WORDS {
        let config = &ModelFolder::words()?.config;
        return Ok(vec![Model::from_config(&config.text, &config.name)?]);
    }
    // A built-in name means the same in every folder.
    let built_in = params::named(name);
    if built_in.is_ok() {
        if input::exists(name) && env.reading == ReadPermission::Anywhere {
            let other = format!(
                "{name} is the built-in model; attn model ./{name} --params counts the one in this folder"
            );
            note(&other, &look.style(env), streams);
        }
        return built_in;
    }
    let is_there = input::exists(name);
    if name == "-" || is_there && !input::is_folder(name) || !is_there && name.ends_with(".json") {
        env.reading.check(name)?;
        if name != "-" && !is_there {
            return Err(Error::new("no such file")
                .in_source(visible(name))
                .help("`attn model --params` lists the built-in models"));
        }
        let text = Files::new(streams.input).within(env.reading.clone()).text(name)?;
        return Ok(vec![Model::from_config(&text, name)?]);
    }
    if is_there || name.contains(['/', '\\']) {
        let config = ModelFolder::config_within(&to_path(name), &env.reading)?;
        return Ok(vec![Model::from_config(&config.text, &config.name)?]);
    }
    built_in
}

/// The format of counts: for people or for programs, and with formula and numbers in one cell or two.
#[derive(Clone, Copy)]
struct CountFormat {
    for_people: bool,
    joined: bool,
    /// Whether a count and its share share a cell too.
    stacked: bool,
}

impl CountFormat {
    fn count(self, count: u64) -> String {
        if self.for_people { grouped(count) } else { count.to_string() }
    }

    fn share(self, share: f64) -> String {
        if self.for_people { format!("{:.1} %", 100.0 * share) } else { share.to_string() }
    }
}

fn weight_table(weights: &[Weight], counts: &Counts, written: CountFormat) -> Table {
    let row = |weight: &Weight| {
        let count = match weight.same_as {
            Some(same) if written.for_people => format!("is {same}"),
            _ => written.count(weight.count),
        };
        let mut row = vec![weight.symbol.to_string(), weight.name.to_string()];
        if written.joined {
            let shape = unbreakable(&format!("{}\n{}", weight.formula(), weight.figures()));
            // On a narrow screen a line may break before the matrix itself.
            row.push(if written.stacked { shape.replace("·\u{a0}(", "· (") } else { shape });
        } else {
            row.extend([weight.formula(), weight.figures()]);
        }
        let share = written.share(counts.share(weight.count));
        if written.stacked {
            row.push(format!("{}\n{}", unbreakable(&count), unbreakable(&share)))
        } else {
            row.extend([count, share])
        }
        row
    };
    let header: &[&str] = match (written.joined, written.stacked) {
        (_, true) => &["weights", "name", "shape", "count"],
        (true, false) => &["weights", "name", "shape", "count", "share"],
        (false, false) => &["weights", "name", "formula", "numbers", "count", "share"],
    };
    Table::new(header, weights.iter().map(row)).with_numbers(&["count", "share"])
}

/// The width of the MLP relative to a token's: “d_ff / d = 14336 / 4096 = 3.5”.
fn ratios(model: &Model) -> Vec<String> {
    let ratio = |symbol: &str, width: u64| {
        let hundredths = (100.0 * width as f64 / model.hidden as f64).round() / 100.0;
        let equals = if width.saturating_mul(100).is_multiple_of(model.hidden) { "=" } else { "≈" };
        format!("{symbol} / d = {width} / {} {equals} {hundredths}", model.hidden)
    };
    let dense = model.has_mlp() && model.experts.is_none_or(|experts| experts.layers < model.layers);
    let expert = model.experts.map(|experts| {
        let shared = match experts.shared_number() {
            0 => String::new(),
            1 => ", and the shared one".to_string(),
            several => format!(", and the {several} shared ones"),
        };
        let (ratio, used, all) = (ratio("d_e", experts.width), experts.used, experts.number);
        format!("{ratio}; each token uses {used} of {all} experts{shared}")
    });
    dense.then(|| ratio("d_ff", model.intermediate)).into_iter().chain(expert).collect()
}

fn totals(model: &Model, counts: &Counts, written: CountFormat) -> Table {
    let row = |name: &str, count: u64| {
        vec![name.to_string(), written.count(count), written.share(counts.share(count))]
    };
    let is_there = |part: ModelPart| part != ModelPart::Pooler || counts.part(part) > 0;
    let parts = counts.by_part.iter().filter(|(part, _)| is_there(*part));
    let parts = parts.map(|&(part, count)| row(part.name(), count));
    let active = model.experts.map(|_| row("used by one token", counts.active));
    Table::new(&["part", "count", "share"], parts.chain([row("all", counts.total)]).chain(active))
        .with_numbers(&["count", "share"])
}

/// A text whose spaces are no places to break a line.
fn unbreakable(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
