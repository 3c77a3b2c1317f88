//! The first tensor that differs, and the mistakes that give its numbers.

use crate::error::{Error, Result};
use crate::model::architecture::Architecture;
use crate::model::forward::PassOptions;
use crate::model::run::{ModelRun, Text};
use crate::text::{counted, listed_briefly};

use super::Dumped;
use super::judge::{Difference, DumpPrecision, Judged};
use super::mistakes::{Candidate, PortingMistake, candidates};
use super::names::{Meaning, Naming, meaning};
use super::trace::{Item, Tracer, Verdict};

/// More mistakes in one port are not looked for.
const MOST_MISTAKES: usize = 4;

/// What is found in a dump.
#[derive(Clone, Debug)]
pub struct PortingReport {
    /// How many tensors were compared under which names.
    pub namings: Vec<(Naming, usize)>,
    /// How many tensors agree with the model as it is.
    pub agreeing: usize,
    /// The numbers that the dump was computed in.
    pub precision: DumpPrecision,
    /// The largest difference among the tensors that agree, as a part of the largest number.
    pub rounding: f64,
    /// The first tensor that differs from the model as it is.
    pub first: Option<Difference>,
    /// The mistake in the text that the dump was made from: a missing or surplus first token.
    pub of_text: Option<PortingMistake>,
    /// The mistakes, in the order in which they show.
    pub found: Vec<Found>,
    /// The tensors that differ, and that the mistakes do not explain.
    pub rest: Vec<Difference>,
    /// The conventions that the dump follows; they are no mistakes.
    pub conventions: Vec<&'static str>,
    /// Tensors that are known and not compared.
    pub not_compared: Vec<String>,
    /// Names that are no step of the model.
    pub unknown: Vec<String>,
    /// Tensors of other dimensions than their steps, with the dimensions.
    pub other_shapes: Vec<(String, Vec<usize>)>,
}

/// A mistake that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The tensor that gives it away.
    pub difference: Difference,
    /// The mistake; several where they give the same numbers on this text.
    pub mistakes: Vec<PortingMistake>,
    /// True if it shows in this tensor together with the mistake before it.
    pub is_second: bool,
    /// How many tensors agree with it, and not without it; of two that show together, with both.
    pub explained: usize,
    /// How far it is from the dumped tensor, as a part of the largest number.
    pub relative: f64,
}

impl PortingReport {
    /// Returns true if nothing differs but by rounding.
    pub fn is_right(&self) -> bool {
        self.first.is_none() && self.of_text.is_none() && self.other_shapes.is_empty()
    }

    /// How many tensors were compared.
    pub fn compared(&self) -> usize {
        self.namings.iter().map(|(_, count)| count).sum()
    }
}

/// The mistakes in a dump of a model's tensors on a text. `bos` is the token that the tokenizer puts first, where it has one.
///
/// # Errors
/// If no tensor of the dump can be compared, or the model cannot be run on the text.
pub fn diagnose(
    run: ModelRun<'_>,
    text: &Text,
    bos: Option<usize>,
    dump: &[Dumped],
    options: PassOptions,
) -> Result<PortingReport> {
    let (items, left) = sorted(run.architecture, dump);
    if items.is_empty() {
        return Err(Error::new(format!(
            "no tensor of the file is a step of the model: {}",
            listed_briefly(dump.iter().map(|dumped| dumped.name.as_str()))
        ))
        .help("names are those of transformers (hidden_states.3), TransformerLens (blocks.0.attn.hook_q), nnsight, or attn (L1.Q_2)"));
    }
    let precision = DumpPrecision::of(dump);
    let mut tracer = Tracer { tensors: run.tensors, items, text: text.clone(), options, precision };
    let of_text = adapt_text(&mut tracer, run.architecture, bos)?;
    let verdict = tracer.trace(run.architecture)?;
    if verdict.judged.iter().all(Option::is_none) {
        return Err(Error::new("no tensor of the file has the shape of its step in this model and text")
            .help("check that the text is the one that the tensors were made from"));
    }
    let mut report = first_report(&tracer, &verdict, left);
    report.of_text = of_text;
    explain(&tracer, run.architecture, verdict, &mut report)?;
    Ok(report)
}

/// The tensors of the dump that are steps of the model, and the names of the others: those that are not compared, and unknown ones.
fn sorted<'d>(architecture: &Architecture, dump: &'d [Dumped]) -> (Vec<Item<'d>>, [Vec<String>; 2]) {
    let (mut items, mut left) = (Vec::new(), [Vec::new(), Vec::new()]);
    for dumped in dump {
        match meaning(&dumped.name, architecture.model.family, architecture.blocks.len()) {
            Meaning::Known(naming, place) => items.push(Item { dumped, naming, place }),
            Meaning::NotCompared => left[0].push(dumped.name.clone()),
            Meaning::Unknown => left[1].push(dumped.name.clone()),
        }
    }
    // `logits` is a word that all of them use.
    let most = Naming::all().max_by_key(|naming| {
        items.iter().filter(|item: &&Item<'_>| item.naming == *naming && item.dumped.name != "logits").count()
    });
    for item in items.iter_mut().filter(|item| item.dumped.name == "logits") {
        item.naming = most.unwrap_or(item.naming);
    }
    (items, left)
}

/// Takes the text that the dump was made from, if it lacks the first token, or has the one that starts a text in addition.
fn adapt_text(
    tracer: &mut Tracer<'_>,
    architecture: &Architecture,
    bos: Option<usize>,
) -> Result<Option<PortingMistake>> {
    let own = tracer.text.clone();
    if tracer.fits(architecture)? {
        return Ok(None);
    }
    if own.ids.len() > 1 {
        tracer.text =
            Text { ids: own.ids[1..].to_vec(), tokens: own.tokens.iter().skip(1).cloned().collect() };
        if tracer.fits(architecture)? {
            return text_mistake("bos-missing", &own.tokens[0]);
        }
    }
    if let Some(bos) = bos {
        let ids = std::iter::once(bos).chain(own.ids.iter().copied()).collect();
        let tokens = std::iter::once(format!("token {bos}")).chain(own.tokens.iter().cloned()).collect();
        tracer.text = Text { ids, tokens };
        if tracer.fits(architecture)? {
            return text_mistake("bos-surplus", &bos.to_string());
        }
    }
    tracer.text = own;
    Ok(None)
}

/// A mistake in the text, about this token.
fn text_mistake(id: &str, token: &str) -> Result<Option<PortingMistake>> {
    PortingMistake::of(id, &|name| (name == "token").then(|| token.into())).map(Some)
}

fn first_report(tracer: &Tracer<'_>, verdict: &Verdict, left: [Vec<String>; 2]) -> PortingReport {
    let mut namings: Vec<(Naming, usize)> = Vec::new();
    let mut other_shapes = Vec::new();
    let mut rounding = 0.0_f64;
    let mut agreeing = 0;
    let mut conventions: Vec<&'static str> = Vec::new();
    for (at, (item, judged)) in tracer.items.iter().zip(&verdict.judged).enumerate() {
        let Some(judged) = judged else {
            other_shapes.push((item.dumped.name.clone(), item.dumped.dims.clone()));
            continue;
        };
        match namings.iter_mut().find(|(naming, _)| *naming == item.naming) {
            Some((_, count)) => *count += 1,
            None => namings.push((item.naming, 1)),
        }
        if tracer.agrees(at, judged) {
            agreeing += 1;
            rounding = rounding.max(judged.relative);
            add_new(&mut conventions, &judged.notes);
        }
    }
    namings.sort();
    let [not_compared, unknown] = left;
    PortingReport {
        namings,
        agreeing,
        precision: tracer.precision,
        rounding,
        first: None,
        of_text: None,
        found: Vec::new(),
        rest: Vec::new(),
        conventions,
        not_compared,
        unknown,
        other_shapes,
    }
}

/// Adds the conventions that are not there yet.
fn add_new(conventions: &mut Vec<&'static str>, notes: &[&'static str]) {
    for note in notes {
        if !conventions.contains(note) {
            conventions.push(note);
        }
    }
}

/// Finds one mistake after the other, each from the first tensor that the ones before do not explain.
fn explain(
    tracer: &Tracer<'_>,
    right: &Architecture,
    mut verdict: Verdict,
    report: &mut PortingReport,
) -> Result<()> {
    let mut architecture = right.clone();
    // Small differences that no mistake gives.
    let mut rounded: Vec<usize> = Vec::new();
    while let Some(at) = tracer.first_wrong(&verdict, &rounded) {
        let Some(judged) = verdict.judged[at].clone() else { break };
        let found = if report.found.len() < MOST_MISTAKES {
            best(&Wrong { tracer, verdict: &verdict, at, judged: &judged }, &architecture)?
        } else {
            None
        };
        let is_doubtful = judged.relative <= tracer.precision.doubtful;
        let difference = tracer.difference(at, &judged);
        let Some(best) = found else {
            if is_doubtful {
                report.rounding = report.rounding.max(judged.relative);
                report.agreeing += usize::from(report.first.is_none());
                rounded.push(at);
                continue;
            }
            report.first.get_or_insert(difference);
            break;
        };
        report.first.get_or_insert_with(|| difference.clone());
        let explained = tracer.agreeing(&best.verdict).saturating_sub(tracer.agreeing(&verdict));
        let relative = best.verdict.judged[at].as_ref().map_or(0.0, |judged| judged.relative);
        for judged in best.verdict.judged.iter().flatten().filter(|judged| judged.relative < 1e-3) {
            add_new(&mut report.conventions, &judged.notes);
        }
        for (count, mistakes) in best.mistakes.into_iter().enumerate() {
            let is_second = count > 0;
            report.found.push(Found {
                difference: difference.clone(),
                mistakes,
                is_second,
                explained,
                relative,
            });
        }
        architecture = best.architecture;
        verdict = best.verdict;
    }
    let wrong = tracer.wrong(&verdict, &rounded);
    let first = report.first.as_ref().filter(|_| report.found.is_empty()).map(|first| first.name.clone());
    let rest = wrong.into_iter().filter_map(|at| Some(tracer.difference(at, verdict.judged[at].as_ref()?)));
    report.rest = rest.filter(|difference| Some(&difference.name) != first.as_ref()).collect();
    Ok(())
}

impl PortingReport {
    /// The headline: what agrees, and what does not.
    pub fn headline(&self) -> String {
        let compared = counted(self.compared(), "tensor");
        if self.is_right() {
            return format!("All agree: {compared}.");
        }
        format!("{} of {compared} agree.", self.agreeing)
    }
}

// The mistakes that give the numbers of the first tensor that differs: one, or two together.

/// Pairs are tried while they need at most this many multiplications.
const MOST_PRODUCTS: u64 = 20_000_000_000;

/// The first tensor that differs.
pub(super) struct Wrong<'a> {
    pub tracer: &'a Tracer<'a>,
    /// The pass from which it differs.
    pub verdict: &'a Verdict,
    /// Its number among all tensors.
    pub at: usize,
    pub judged: &'a Judged,
}

/// The mistakes that explain most.
pub(super) struct Best {
    /// One, or two that show together; of each, those with the same numbers.
    pub mistakes: Vec<Vec<PortingMistake>>,
    pub architecture: Architecture,
    pub verdict: Verdict,
}

/// The best of all single mistakes on top of an architecture; if none fits, of all pairs.
///
/// # Errors
/// If the data file cannot be read; a mistake that cannot be computed is left out.
pub(super) fn best(wrong: &Wrong<'_>, architecture: &Architecture) -> Result<Option<Best>> {
    let start = wrong.tracer.start(wrong.verdict, wrong.at);
    let all: Vec<(Candidate, Judged)> = candidates(architecture, &|_| true)?
        .into_iter()
        .filter_map(|candidate| {
            let trial = wrong.trial(&candidate, start)?;
            Some((candidate, trial))
        })
        .collect();
    let mut found = None;
    for (candidate, _) in all.iter().filter(|(_, trial)| wrong.is_given_by(trial)) {
        wrong.weigh(&mut found, Vec::new(), candidate);
    }
    if found.is_none() {
        let changing = all.into_iter().filter(|(_, trial)| trial.relative != wrong.judged.relative);
        let changing: Vec<Candidate> = changing.map(|(candidate, _)| candidate).collect();
        if wrong.products(changing.len(), start) <= MOST_PRODUCTS {
            wrong.pairs(&changing, start, &mut found)?;
        }
    }
    Ok(found.map(|(_, best)| best))
}

impl Wrong<'_> {
    fn trial(&self, candidate: &Candidate, start: usize) -> Option<Judged> {
        self.tracer.trial(&candidate.architecture, self.verdict, start, self.at).ok().flatten()
    }

    /// Returns true if a mistake gives the numbers of the tensor.
    fn is_given_by(&self, trial: &Judged) -> bool {
        let is_near = self.tracer.agrees(self.at, trial) || trial.relative <= self.tracer.precision.noise;
        is_near && trial.relative * 4.0 < self.judged.relative
    }

    /// About the number of multiplications for all pairs of this many mistakes.
    fn products(&self, count: usize, start: usize) -> u64 {
        let tracer = self.tracer;
        let layers = (tracer.items[self.at].place.layer + 1).saturating_sub(start) as u64;
        let all = (self.verdict.streams.len().max(2) - 1) as u64;
        let pairs = (count * count / 2) as u64;
        let per_pass = tracer.tensors.weights_per_token().saturating_mul(tracer.text.ids.len() as u64);
        per_pass.saturating_mul(layers).saturating_mul(pairs) / all
    }

    /// Two mistakes together.
    fn pairs(&self, changing: &[Candidate], start: usize, found: &mut Option<(usize, Best)>) -> Result<()> {
        let place = |id: &str| changing.iter().position(|candidate| candidate.mistake.id == id);
        for first in changing {
            let is_later = |id: &str| place(id) > place(first.mistake.id);
            for second in candidates(&first.architecture, &is_later)? {
                if self.trial(&second, start).is_some_and(|trial| self.is_given_by(&trial)) {
                    self.weigh(found, vec![vec![first.mistake.clone()]], &second);
                }
            }
        }
        Ok(())
    }

    /// Keeps a mistake, on top of another one, if it explains more than the best so far; beside it, if it explains as much.
    fn weigh(
        &self,
        found: &mut Option<(usize, Best)>,
        first: Vec<Vec<PortingMistake>>,
        candidate: &Candidate,
    ) {
        let Ok(trial) = self.tracer.trace(&candidate.architecture) else { return };
        if self.tracer.breaks_earlier(self.verdict, &trial, self.at) {
            return;
        }
        let count = self.tracer.agreeing(&trial);
        match found {
            Some((most, _)) if *most > count => {}
            Some((most, best)) if *most == count => {
                let is_beside =
                    best.mistakes.len() == first.len() + 1 && best.mistakes[..first.len()] == first[..];
                if let Some(last) = best.mistakes.last_mut().filter(|_| is_beside) {
                    last.push(candidate.mistake.clone());
                }
            }
            _ => {
                let mut mistakes = first;
                mistakes.push(vec![candidate.mistake.clone()]);
                let architecture = candidate.architecture.clone();
                *found = Some((count, Best { mistakes, architecture, verdict: trial }));
            }
        }
    }
}
