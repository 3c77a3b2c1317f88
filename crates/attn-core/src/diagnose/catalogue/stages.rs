//! The sites of alterations, and their names in sentences.

use crate::diagnose::Facts;
use crate::graph::recipes::{Recipe, Scale, Site};

/// A site, and the words for it in sentences.
#[derive(Clone, Copy)]
pub(super) struct StageWords {
    /// The id of the mistake to which all alterations at this site belong.
    pub id: &'static str,
    pub stage: Site,
    /// “the queries”.
    pub noun: &'static str,
    /// Whether the noun is a plural.
    pub plural: bool,
    /// “before the scores were computed”; nothing where that is clear.
    pub when: &'static str,
    /// The detail that distinguishes it from other sites of the same mistake.
    pub note: &'static str,
    /// The names of other nodes that can be combined with it.
    pub others: &'static [&'static str],
    /// Returns true if an exercise has this site, and it is not the same as another one.
    pub is_there: fn(&Recipe, &Facts) -> bool,
}

impl StageWords {
    /// All heads of these numbers together, at this stage before them.
    const fn before_split(self, stage: Site) -> StageWords {
        StageWords {
            stage,
            when: "before they were split into heads",
            note: "all heads together",
            is_there: |recipe, _| recipe.heads > 1,
            ..self
        }
    }

    /// “were” or “was”.
    pub fn verb(&self) -> &'static str {
        if self.plural { "were" } else { "was" }
    }
}

const TOKENS: StageWords = StageWords {
    id: "tokens-altered",
    stage: Site::Tokens,
    noun: "the tokens",
    plural: true,
    when: "before they were projected",
    note: "",
    others: &[],
    is_there: |_, facts| facts.from_tokens,
};
/// The id of mistakes at the projection matrices.
pub(super) const PROJECTIONS: &str = "projections-altered";

const WEIGHTS: StageWords = StageWords {
    id: PROJECTIONS,
    stage: Site::QueryWeights,
    noun: "W_Q",
    plural: false,
    when: "before it was used",
    note: "W_Q",
    others: &["W_K", "W_V", "W_O"],
    is_there: |_, facts| facts.from_tokens,
};
const QUERIES: StageWords = StageWords {
    id: "queries-altered",
    stage: Site::Queries,
    noun: "the queries",
    plural: true,
    when: "before the scores were computed",
    note: "",
    others: &["X", "K", "V", "W_Q", "W_K", "W_V"],
    is_there: |_, _| true,
};
const KEYS: StageWords = StageWords {
    id: "keys-altered",
    stage: Site::Keys,
    noun: "the keys",
    others: &["X", "Q", "V", "W_Q", "W_K", "W_V"],
    ..QUERIES
};
const QUERIES_AND_KEYS: StageWords = StageWords {
    id: "queries-keys-altered",
    stage: Site::QueriesAndKeys,
    noun: "the queries and keys",
    others: &["X", "V"],
    ..QUERIES
};
const VALUES: StageWords = StageWords {
    id: "values-altered",
    stage: Site::Values,
    noun: "the values",
    when: "before they were mixed",
    others: &["X", "Q", "K", "W_Q", "W_K", "W_V", "W_O"],
    ..QUERIES
};
const SCORES: StageWords = StageWords {
    id: "scores-altered",
    stage: Site::Scores,
    noun: "the scores",
    plural: true,
    when: "before they were scaled",
    note: "before the scale",
    others: &[],
    is_there: |_, _| true,
};
const HEADS: StageWords = StageWords {
    id: "heads-altered",
    stage: Site::Heads,
    noun: "the mixed values",
    when: "before they were projected",
    note: "",
    others: &["X", "Q", "K", "V"],
    is_there: |recipe, facts| recipe.heads == 1 && facts.projects,
    ..SCORES
};
const RESULT: StageWords = StageWords {
    id: "result-altered",
    stage: Site::Result,
    noun: "the result",
    plural: false,
    when: "",
    note: "",
    others: &["X", "Q", "K", "V", "W_Q", "W_K", "W_V", "W_O"],
    is_there: |_, _| true,
};

/// Every stage, in the order of computing.
pub(super) const PLACES: &[StageWords] = &[
    StageWords { is_there: |recipe, facts| facts.from_tokens && !recipe.output.residual, ..TOKENS },
    StageWords {
        note: "not in the residual",
        is_there: |recipe, facts| facts.from_tokens && recipe.output.residual,
        ..TOKENS
    },
    StageWords {
        stage: Site::TokensAndResidual,
        when: "before they were projected, and in the residual",
        note: "in the residual too",
        is_there: |recipe, facts| facts.from_tokens && recipe.output.residual,
        ..TOKENS
    },
    StageWords {
        id: "residual-altered",
        stage: Site::Residual,
        when: "before they were added to the result",
        is_there: |recipe, _| recipe.output.residual,
        ..TOKENS
    },
    WEIGHTS,
    StageWords {
        stage: Site::KeyWeights,
        noun: "W_K",
        note: "W_K",
        others: &["W_Q", "W_V", "W_O"],
        ..WEIGHTS
    },
    StageWords {
        stage: Site::ValueWeights,
        noun: "W_V",
        note: "W_V",
        others: &["W_Q", "W_K", "W_O"],
        ..WEIGHTS
    },
    StageWords {
        stage: Site::RoleWeights,
        noun: "W_Q, W_K and W_V",
        plural: true,
        when: "before they were used",
        note: "W_Q, W_K and W_V",
        others: &[],
        ..WEIGHTS
    },
    StageWords {
        stage: Site::OutputWeights,
        noun: "W_O",
        note: "W_O",
        others: &["W_Q", "W_K", "W_V"],
        is_there: |_, facts| facts.projects,
        ..WEIGHTS
    },
    QUERIES.before_split(Site::WholeQueries),
    QUERIES,
    KEYS.before_split(Site::WholeKeys),
    KEYS,
    QUERIES_AND_KEYS.before_split(Site::WholeQueriesAndKeys),
    QUERIES_AND_KEYS,
    VALUES.before_split(Site::WholeValues),
    VALUES,
    StageWords {
        id: "keys-values-altered",
        stage: Site::KeysAndValues,
        noun: "the keys and values",
        when: "before they were used",
        others: &["X", "Q"],
        ..QUERIES
    },
    StageWords {
        id: "queries-keys-values-altered",
        stage: Site::Roles,
        noun: "the queries, keys and values",
        when: "before they were used",
        others: &["X"],
        ..QUERIES
    },
    StageWords { is_there: |recipe, _| recipe.scale != Scale::None, ..SCORES },
    StageWords {
        when: "before the softmax",
        note: "",
        is_there: |recipe, _| recipe.scale == Scale::None,
        ..SCORES
    },
    StageWords {
        stage: Site::Scaled,
        when: "after they were scaled",
        note: "after the scale",
        is_there: |recipe, _| recipe.scale != Scale::None,
        ..SCORES
    },
    StageWords {
        stage: Site::Masked,
        when: "after they were masked",
        note: "after the mask",
        is_there: |recipe, _| recipe.mask.is_some(),
        ..SCORES
    },
    StageWords {
        id: "weights-altered",
        stage: Site::Weights,
        noun: "the weights",
        when: "before they mixed the values",
        note: "",
        others: &["S", "S_scaled"],
        ..SCORES
    },
    StageWords {
        stage: Site::Mixes,
        noun: "the results of the heads",
        when: "before they were joined",
        note: "each head",
        others: &["Q", "K", "V"],
        is_there: |recipe, _| recipe.heads > 1,
        ..HEADS
    },
    StageWords {
        noun: "the joined heads",
        note: "joined",
        is_there: |recipe, facts| recipe.heads > 1 && facts.projects,
        ..HEADS
    },
    HEADS,
    StageWords {
        when: "before the residual was added",
        is_there: |recipe, facts| recipe.output.residual && !facts.projects,
        ..HEADS
    },
    StageWords {
        stage: Site::Projected,
        when: "before the residual was added",
        note: "before the residual",
        is_there: |recipe, facts| recipe.output.residual && facts.projects,
        ..RESULT
    },
    RESULT,
];
