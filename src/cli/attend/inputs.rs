//! Collects the inputs of `attn attend`: heads side by side, weights in one layout, the meaning of masks.

use crate::attention::MatrixRule;
use crate::cli::word_vectors::{WordArgs, WordVectors};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::AttendInputs;
use crate::graph::{Given, MAX_CELLS, Origin, Role};
use crate::input::{Bundle, Files, Layout};
use crate::matrix::{Labels, Shape};
use crate::random::LegacyStream;
use crate::tensor::{Dtype, Tensor};
use crate::text::counted;
use crate::{input, memory};

/// The inputs of a computation.
pub(super) struct LoadedInputs {
    /// The matrices.
    pub inputs: AttendInputs,
    /// The number of heads if Q was a stack.
    pub query_heads: Option<usize>,
    /// The number of heads if K or V was a stack.
    pub kv_heads: Option<usize>,
    /// Of Q, K and V those that are stacks of several matrices, which the names in a file do not number.
    pub stacks: Vec<Role>,
    /// True if the names in a file are those of a model whose scores are not divided by √d.
    pub unscaled: bool,
    /// The meaning of the numbers in the mask.
    pub mask_rule: Option<MatrixRule>,
    /// Notes on how the inputs were read.
    pub notes: Vec<String>,
    /// The notes on words.
    pub of_words: Vec<String>,
}

/// The inputs while they are read.
#[derive(Default)]
pub(super) struct InputLoader {
    inputs: AttendInputs,
    layout: Option<Layout>,
    pub(super) tokens: Option<Vec<String>>,
    query_heads: Option<usize>,
    key_heads: Option<usize>,
    value_heads: Option<usize>,
    stacks: Vec<Role>,
    unscaled: bool,
    notes: Vec<String>,
    of_words: Vec<String>,
}

impl InputLoader {
    /// Without inputs; weights will be read in this layout, or in the one that their names imply.
    pub(super) fn with_layout(layout: Option<Layout>) -> InputLoader {
        InputLoader { layout, ..InputLoader::default() }
    }

    pub(super) fn bundle(&mut self, bundle: Bundle, file: &str) -> Result<()> {
        self.notes.extend(bundle.notes);
        self.unscaled = bundle.unscaled;
        self.tokens = bundle.tokens;
        for (role, entry) in bundle.entries {
            let origin = Origin::User(format!("{} in {}", visible(&entry.name), visible(file)));
            self.take(role, entry.tensor, entry.layout, origin)?;
            self.stacks.retain(|stack| *stack != role || entry.heads.is_none());
            match role {
                Role::WQ => self.query_heads = entry.heads,
                Role::WK => self.key_heads = entry.heads,
                Role::WV => self.value_heads = entry.heads,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn words(&mut self, text: &str, vectors: &WordArgs, files: &mut Files<'_>) -> Result<()> {
        let words = input::sentence(text)?;
        if words.is_empty() {
            return Err(Error::new("there is no word in --words").help("--words \"bat cave racket\""));
        }
        let WordVectors { matrix, origin, notes } = vectors.vectors(&words, files)?;
        self.tokens = Some(words);
        self.inputs.x = Some(Given::new(matrix, origin));
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
        let (made, recorded, help) = if has_pairs && cells + of_roles <= MAX_CELLS {
            (
                "Q, K, V, S and A",
                cells + of_roles + of_pairs,
                format!("{help}, or use --fast, which does not store S and A"),
            )
        } else {
            ("Q, K and V", cells + of_roles, help.to_string())
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
        let mut draw =
            |rows| Some(Given::new(stream.standard_normal_matrix(rows, width), Origin::Drawn(seed)));
        self.inputs.x = draw(tokens);
        self.inputs.w_q = draw(width);
        self.inputs.w_k = draw(width);
        self.inputs.w_v = draw(width);
        Ok(())
    }

    /// Stores the matrix of a role, transposed if its layout asks for it.
    ///
    /// # Errors
    /// If numbers in a file cannot be read.
    pub(super) fn take(
        &mut self,
        role: Role,
        tensor: Tensor,
        layout: Option<Layout>,
        origin: Origin,
    ) -> Result<()> {
        if tensor.is_inexact() && tensor.dtype() == Dtype::F64 {
            self.notes.push(rounded_integers(role.name()));
        }
        if role.has_heads() {
            self.stacked(role, tensor.is_stack().then(|| tensor.head_count()));
            self.stacks.retain(|stack| *stack != role);
            self.stacks.extend((tensor.is_stack() && tensor.head_count() > 1).then_some(role));
        }
        let turns = layout.or(self.layout) == Some(Layout::OutIn) && role.is_weights();
        let tensor: Tensor = if turns { tensor.into_matrix()?.transposed().into() } else { tensor };
        self.inputs.set(role, Given::new(tensor, origin));
        Ok(())
    }

    /// Stores the number of heads of a stacked array.
    fn stacked(&mut self, role: Role, heads: Option<usize>) {
        match role {
            Role::Q => self.query_heads = heads,
            Role::K => self.key_heads = heads,
            _ => self.value_heads = heads,
        }
    }

    pub(super) fn finished(mut self, mask_kind: Option<MatrixRule>) -> Result<LoadedInputs> {
        if let Some(Given { tensor, origin }) = &self.inputs.bias
            && tensor.cells().any(is_infinity)
        {
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
        let mask_rule = match (&self.inputs.mask, mask_kind) {
            (Some(Given { tensor, origin }), kind) => {
                let is_boolean = tensor.dtype() == Dtype::Bool;
                Some(mask_rule(is_boolean, || tensor.cells(), kind, origin)?)
            }
            (None, Some(_)) => {
                return Err(Error::new("--mask-kind needs a mask").help("give the mask with --mask FILE"));
            }
            (None, None) => None,
        };
        let tokens = self.tokens.map(|tokens| tokens.iter().cloned().collect());
        let inputs = AttendInputs { tokens, ..self.inputs };
        check_tokens(&inputs)?;
        Ok(LoadedInputs {
            inputs,
            query_heads: self.query_heads,
            kv_heads,
            stacks: self.stacks,
            unscaled: self.unscaled,
            mask_rule,
            notes: self.notes,
            of_words: self.of_words,
        })
    }

    /// Says which of the given matrices are not used because Q, K or V is given itself.
    fn which_wins(&mut self) {
        let inputs = &self.inputs;
        let given = [
            ("Q", inputs.q.is_some(), &inputs.w_q),
            ("K", inputs.k.is_some(), &inputs.w_k),
            ("V", inputs.v.is_some(), &inputs.w_v),
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

impl LoadedInputs {
    /// Bias and mask with a row for each query, and those of several heads side by side; says how each was read. What has another
    /// shape is left to the pipeline, which refuses it.
    ///
    /// # Errors
    /// If there is no room for a copy.
    pub(super) fn beside_scores(&mut self, heads: usize, kind: Option<MatrixRule>) -> Result<()> {
        let AttendInputs { x, q, k, bias, mask, .. } = &mut self.inputs;
        let rows = |own: &Option<Given>| own.as_ref().or(x.as_ref()).map(|given| given.shape().rows);
        let (Some(queries), Some(keys)) = (rows(q), rows(k)) else { return Ok(()) };
        for (what, given) in [("bias", bias), ("mask", mask)] {
            let Some(Given { tensor, .. }) = given else { continue };
            let (Shape { rows, cols }, stacked) = (tensor.shape(), tensor.head_count());
            let is_below = heads > 1 && (rows, cols, stacked) == (heads.saturating_mul(queries), keys, 1);
            let is_own =
                is_below || heads > 1 && cols == heads.saturating_mul(keys) && [1, heads].contains(&stacked);
            let is_one_row = queries > 1 && rows == 1 && (is_own || cols == keys);
            if !is_own && !is_one_row {
                continue;
            }
            let (one, holds) = match is_one_row {
                true => ("row", ", which holds for every query"),
                false => ("matrix", ""),
            };
            let place = match stacked {
                1 if is_below => ", one below the other",
                1 => ", side by side",
                _ => "",
            };
            let (has, of_pytorch) = match is_own {
                true => (format!("a {one} for each of {heads} heads{place}"), "MultiheadAttention"),
                false => (format!("one {one}"), "key_padding_mask"),
            };
            let means = match tensor.dtype() == Dtype::Bool && kind.is_none() {
                true => format!(
                    " True is a key that may be seen; PyTorch's {of_pytorch} has it the other way round: --mask-kind block."
                ),
                false => String::new(),
            };
            self.notes.push(format!("The {what} has {has}{holds}.{means}"));
            if is_below {
                *tensor = tensor.clone().of_heads_below(heads)?;
            }
            if is_one_row {
                *tensor = tensor.clone().in_every_row(queries)?;
            }
        }
        Ok(())
    }
}

/// The note on a matrix of integers beyond 2⁵³.
fn rounded_integers(name: &str) -> String {
    format!("{name} has integers beyond 2⁵³; each is rounded to the nearest 64-bit float.")
}

/// Checks that there is one name for each token.
fn check_tokens(inputs: &AttendInputs) -> Result<()> {
    let Some(tokens): Option<&Labels> = inputs.tokens.as_ref() else { return Ok(()) };
    let rows = |role| inputs.get(role).map(|given| (role.name(), given.shape().rows));
    match [Role::X, Role::Q, Role::K].into_iter().find_map(rows) {
        Some((name, rows)) if rows != tokens.len() => {
            let help = format!("give {}: {name} has {}", counted(rows, "name"), counted(rows, "row"));
            let names = counted(tokens.len(), "name");
            let verb = if tokens.len() == 1 { "is" } else { "are" };
            Err(Error::new(format!("there {verb} {names} for {}", counted(rows, "token"))).help(help))
        }
        _ => Ok(()),
    }
}

// The meaning of the numbers of a mask.

pub(super) fn is_infinity(x: f64) -> bool {
    x == f64::INFINITY
}

/// The source of a matrix for an error, or `name`.
pub(super) fn place_of(origin: &Origin, name: &str) -> String {
    match origin {
        Origin::User(source) => source.clone(),
        _ => name.to_string(),
    }
}

/// The meaning of a mask's numbers: `kind`, or else booleans allow and numbers are added. A mask of only 0 and 1 needs `kind`,
/// because the wrong meaning would silently hide nothing.
pub(super) fn mask_rule<C: Iterator<Item = f64>>(
    is_boolean: bool,
    cells: impl Fn() -> C,
    kind: Option<MatrixRule>,
    origin: &Origin,
) -> Result<MatrixRule> {
    let place = place_of(origin, "the mask");
    if !is_boolean && cells().any(is_infinity) {
        return Err(Error::new("`inf` in a mask")
            .in_source(place)
            .help("write -inf to hide a key; with inf no other score would count"));
    }
    match kind {
        Some(MatrixRule::Add) if is_boolean => Err(Error::new("true and false cannot be added to scores")
            .in_source(place)
            .help("give --mask-kind allow or --mask-kind block")),
        Some(kind) => Ok(kind),
        None if is_boolean => Ok(MatrixRule::Allow),
        None if cells().all(|x| x == 0.0 || x == 1.0) => {
            Err(Error::new("a mask with only 0 and 1 can mean three things")
                .in_source(place)
                .help("give --mask-kind allow (1 may attend), block (1 may not), add (added to the scores)"))
        }
        None => Ok(MatrixRule::Add),
    }
}
