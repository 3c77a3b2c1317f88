//! What the options of `attn attend` name, taken in its place: heads side by side, weights turned, masks understood.

use crate::attention::{MatrixRule, concatenate};
use crate::cli::words::{WordArgs, WordVectors};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::build::{AttendInputs, Given, GivenNumbers};
use crate::graph::{Dtype, MAX_CELLS, Numbers, Origin, Role};
use crate::hint::Hint;
use crate::input::{self, Array, Bundle, Files, Layout};
use crate::matrix::Labels;
use crate::memory;
use crate::random::LegacyStream;
use crate::text::counted;

use super::inputs::{LayoutArg, MaskKindArg};
use super::masks::{is_infinity, mask_rule, place_of};

/// What was loaded.
pub(super) struct Loaded {
    /// The matrices.
    pub inputs: AttendInputs,
    /// What was read in a type of its own; it wins over matrices of the same name.
    pub typed: TypedRoles,
    /// How many heads Q was stacked of.
    pub query_heads: Option<usize>,
    /// How many heads K and V were stacked of.
    pub kv_heads: Option<usize>,
    /// What the mask matrix means.
    pub mask_rule: Option<MatrixRule>,
    /// What the reader should know of the choice that was made.
    pub notes: Vec<String>,
    /// Those of the notes that are about the words.
    pub of_words: Vec<String>,
}

/// Queries, keys, values and what stands beside the scores, as the fused kernel reads them.
#[derive(Default)]
pub(super) struct TypedRoles {
    /// The queries.
    pub q: Option<GivenNumbers>,
    /// The keys.
    pub k: Option<GivenNumbers>,
    /// The values.
    pub v: Option<GivenNumbers>,
    /// The bias.
    pub bias: Option<GivenNumbers>,
    /// The mask.
    pub mask: Option<GivenNumbers>,
}

/// The matrices on their way in.
#[derive(Default)]
pub(super) struct Loading {
    inputs: AttendInputs,
    typed: TypedRoles,
    mask: Option<(Array, Origin)>,
    layout: Option<LayoutArg>,
    pub(super) tokens: Option<Vec<String>>,
    query_heads: Option<usize>,
    key_heads: Option<usize>,
    value_heads: Option<usize>,
    notes: Vec<String>,
    of_words: Vec<String>,
}

impl Loading {
    /// Nothing yet; weights will be read in this layout, or in the one that their names imply.
    pub(super) fn with_layout(layout: Option<LayoutArg>) -> Loading {
        Loading { layout, ..Loading::default() }
    }

    pub(super) fn bundle(&mut self, bundle: Bundle, file: &str) -> Result<()> {
        let biases: Vec<&str> = bundle.ignored_biases().collect();
        if !biases.is_empty() {
            self.notes.push(format!(
                "{} in {} is ignored, because the projections here add no biases.",
                biases.join(", "),
                visible(file)
            ));
        }
        self.tokens = bundle.tokens;
        for (role, entry) in bundle.entries {
            let origin = Origin::User(format!("{} in {}", visible(&entry.name), visible(file)));
            self.entry(role, entry.array, entry.layout, origin)?;
        }
        for (role, entry) in bundle.typed {
            let origin = Origin::User(format!("{} in {}", visible(&entry.name), visible(file)));
            self.typed(role, entry.numbers, origin)?;
        }
        Ok(())
    }

    pub(super) fn words(&mut self, text: &str, vectors: &WordArgs, files: &mut Files<'_>) -> Result<()> {
        let words = input::sentence(text);
        if words.is_empty() {
            return Err(Error::new("there is no word in --words").help("--words \"bat cave racket\""));
        }
        let WordVectors { matrix, origin, notes } = vectors.vectors(&words, files)?;
        self.tokens = Some(words);
        self.inputs.x = Some((matrix, origin));
        self.of_words.clone_from(&notes);
        self.notes.extend(notes);
        Ok(())
    }

    /// Draws the tokens and the weights; `has_pairs` says whether the scores and the attention weights of these tokens are
    /// recorded too.
    pub(super) fn random(&mut self, shape: &str, seed: u32, has_pairs: bool) -> Result<()> {
        let wrong = || {
            Error::new(format!("`--random {shape}` is not a shape"))
                .help("write --random 4,5 for four tokens of width five; both are at most 4096")
        };
        let (tokens, width) = shape.split_once(',').ok_or_else(wrong)?;
        let count = |text: &str| {
            text.trim().parse::<usize>().ok().filter(|n| (1..=4096).contains(n)).ok_or_else(wrong)
        };
        let (tokens, width) = (count(tokens)?, count(width)?);
        let cells = tokens * width + 3 * width * width;
        if cells > MAX_CELLS {
            return Err(Error::new(format!(
                "--random {shape} would draw {cells} numbers, more than the limit of {MAX_CELLS}"
            ))
            .help("give fewer tokens or a smaller width"));
        }
        let (of_roles, of_pairs) = (3 * tokens * width, 2 * tokens * tokens);
        let help = "give fewer tokens or a smaller width";
        let (made, recorded, help) = match has_pairs && cells + of_roles <= MAX_CELLS {
            true => (
                "Q, K, V, S and A",
                cells + of_roles + of_pairs,
                format!("{help}, or use {}, which does not store S and A", Hint::Fast),
            ),
            false => ("Q, K and V", cells + of_roles, help.to_string()),
        };
        if recorded > MAX_CELLS {
            return Err(Error::new(format!(
                "--random {shape} draws {cells} numbers, and with {made} they are {recorded} numbers, more than the limit of \
                 {MAX_CELLS}"
            ))
            .help(help));
        }
        // Each is drawn, and recorded.
        memory::hold(memory::bytes_of::<f64>(2 * cells))?.keep();
        let mut stream = LegacyStream::seeded(seed);
        let mut draw = |rows| Some((stream.standard_normal_matrix(rows, width), Origin::Drawn(seed)));
        self.inputs.x = draw(tokens);
        self.inputs.w_q = draw(width);
        self.inputs.w_k = draw(width);
        self.inputs.w_v = draw(width);
        Ok(())
    }

    /// Takes one array in its place; heads of a stack go side by side.
    pub(super) fn entry(
        &mut self,
        role: Role,
        array: Array,
        layout: Option<Layout>,
        origin: Origin,
    ) -> Result<()> {
        let place = || match &origin {
            Origin::User(source) => source.clone(),
            _ => role.name().to_string(),
        };
        if array.is_inexact() {
            self.notes.push(rounded_integers(role.name()));
        }
        let stacked = array.dims().len() > 2;
        let slot: &mut Option<Given> = match role {
            Role::Mask => {
                self.mask = Some((array, origin));
                return Ok(());
            }
            Role::X => &mut self.inputs.x,
            Role::WQ => &mut self.inputs.w_q,
            Role::WK => &mut self.inputs.w_k,
            Role::WV => &mut self.inputs.w_v,
            Role::WO => &mut self.inputs.w_o,
            Role::Q => &mut self.inputs.q,
            Role::K => &mut self.inputs.k,
            Role::V => &mut self.inputs.v,
            Role::Bias => &mut self.inputs.bias,
        };
        if !(stacked && role.has_heads()) {
            let matrix = array.into_matrix().map_err(|error| error.in_source(place()))?;
            let out_in = match self.layout {
                Some(layout) => layout == LayoutArg::OutIn,
                None => layout == Some(Layout::OutIn),
            };
            let turn = out_in && role.is_weights();
            *slot = Some((if turn { matrix.transposed() } else { matrix }, origin));
            return Ok(());
        }
        let heads = array.into_heads().map_err(|error| error.in_source(place()))?;
        let side_by_side = concatenate(&heads.iter().collect::<Vec<_>>())?;
        *slot = Some((side_by_side, origin));
        self.stacked(role, Some(heads.len()));
        Ok(())
    }

    /// Takes numbers in their place.
    pub(super) fn typed(&mut self, role: Role, numbers: Numbers, origin: Origin) -> Result<()> {
        let heads = numbers.is_stack().then(|| numbers.head_count());
        let slot = match role {
            Role::Q => &mut self.typed.q,
            Role::K => &mut self.typed.k,
            Role::V => &mut self.typed.v,
            Role::Bias => &mut self.typed.bias,
            Role::Mask => &mut self.typed.mask,
            Role::X | Role::WQ | Role::WK | Role::WV | Role::WO => {
                return Err(Error::new(format!("the fused kernel has no matrix `{}`", role.name())));
            }
        };
        if numbers.is_inexact() && numbers.dtype() == Dtype::F64 {
            self.notes.push(rounded_integers(role.name()));
        }
        *slot = Some((numbers, origin));
        if role.has_heads() {
            self.stacked(role, heads);
        }
        Ok(())
    }

    /// Keeps how many heads an array was stacked of.
    fn stacked(&mut self, role: Role, heads: Option<usize>) {
        match role {
            Role::Q => self.query_heads = heads,
            Role::K => self.key_heads = heads,
            _ => self.value_heads = heads,
        }
    }

    pub(super) fn finished(mut self, mask_kind: Option<MaskKindArg>) -> Result<Loaded> {
        let in_matrix = self.inputs.bias.iter().map(|(bias, origin)| (bias.cells().any(is_infinity), origin));
        let in_numbers = self.typed.bias.iter().map(|(bias, origin)| (bias.cells().any(is_infinity), origin));
        if let Some((_, origin)) = in_matrix.chain(in_numbers).find(|(any, _)| *any) {
            return Err(Error::new("`inf` in a bias")
                .in_source(place_of(origin, "the bias"))
                .help("write -inf to hide a key; with inf no other score would count"));
        }
        self.which_wins();
        let kv_heads = match (self.key_heads, self.value_heads) {
            (Some(keys), Some(values)) if keys != values => {
                return Err(Error::new(format!("K has {} and V has {values}", counted(keys, "head")))
                    .help("give keys and values the same number of heads"));
            }
            (keys, values) => keys.or(values),
        };
        let (mask, mask_rule) = match (&self.typed.mask, self.mask, mask_kind) {
            (Some((numbers, origin)), _, kind) => {
                let is_boolean = numbers.dtype() == Dtype::Bool;
                (None, Some(mask_rule(is_boolean, || numbers.cells(), kind, origin)?))
            }
            (None, Some((array, origin)), kind) => {
                let rule = mask_rule(array.is_boolean(), || array.values().iter().copied(), kind, &origin)?;
                let matrix = array.into_matrix();
                let matrix = matrix.map_err(|error| error.in_source(place_of(&origin, "the mask")))?;
                (Some((matrix, origin)), Some(rule))
            }
            (None, None, Some(_)) => {
                return Err(Error::new("--mask-kind needs a mask").help("give the mask with --mask FILE"));
            }
            (None, None, None) => (None, None),
        };
        let tokens = self.tokens.map(|tokens| tokens.iter().cloned().collect());
        let inputs = AttendInputs { mask, tokens, ..self.inputs };
        check_tokens(&inputs, &self.typed)?;
        Ok(Loaded {
            inputs,
            typed: self.typed,
            query_heads: self.query_heads,
            kv_heads,
            mask_rule,
            notes: self.notes,
            of_words: self.of_words,
        })
    }

    /// Says which of the given matrices are not used because Q, K or V is given itself.
    fn which_wins(&mut self) {
        let (inputs, typed) = (&self.inputs, &self.typed);
        let is_given =
            |matrix: &Option<Given>, numbers: &Option<GivenNumbers>| matrix.is_some() || numbers.is_some();
        let given = [
            ("Q", is_given(&inputs.q, &typed.q), &inputs.w_q),
            ("K", is_given(&inputs.k, &typed.k), &inputs.w_k),
            ("V", is_given(&inputs.v, &typed.v), &inputs.w_v),
        ];
        let taken: Vec<_> = given.iter().filter(|(_, role, _)| *role).collect();
        if inputs.x.is_none() && taken.iter().all(|(_, _, weights)| weights.is_none()) {
            return;
        }
        for (name, _, weights) in taken {
            let unused = if weights.is_some() {
                format!("W_{name} is not used")
            } else {
                "X is not used to compute it".into()
            };
            self.notes.push(format!("{name} is taken as given; {unused}."));
        }
    }
}

/// What is said of a matrix of integers beyond 2⁵³.
fn rounded_integers(name: &str) -> String {
    format!("{name} has integers beyond 2⁵³; each is rounded to the nearest 64-bit float.")
}

/// There must be one name for each token.
fn check_tokens(inputs: &AttendInputs, typed: &TypedRoles) -> Result<()> {
    let Some(tokens): Option<&Labels> = inputs.tokens.as_ref() else { return Ok(()) };
    let matrix = |given: &Option<Given>| given.as_ref().map(|(matrix, _)| matrix.rows());
    let numbers = |given: &Option<GivenNumbers>| given.as_ref().map(|(numbers, _)| numbers.shape().rows);
    let named = [
        ("X", matrix(&inputs.x)),
        ("Q", numbers(&typed.q).or(matrix(&inputs.q))),
        ("K", numbers(&typed.k).or(matrix(&inputs.k))),
    ];
    let named = named.into_iter().find_map(|(name, rows)| Some((name, rows?)));
    match named {
        Some((name, rows)) if rows != tokens.len() => {
            let help = format!("give {}: {name} has {}", counted(rows, "name"), counted(rows, "row"));
            let names = counted(tokens.len(), "name");
            let verb = if tokens.len() == 1 { "is" } else { "are" };
            Err(Error::new(format!("there {verb} {names} for {}", counted(rows, "token"))).help(help))
        }
        _ => Ok(()),
    }
}
