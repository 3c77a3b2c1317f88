//! The stages at which something can be done to numbers that attention does not do, and what they are called in a sentence.

use crate::diagnose::Facts;
use crate::graph::recipes::{Recipe, Scale, Stage};

/// A stage, and how to speak of it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The mistake that everything done here belongs to.
    pub id: &'static str,
    pub stage: Stage,
    /// “the queries”.
    pub noun: &'static str,
    /// Whether the noun is a plural.
    pub plural: bool,
    /// “before the scores were computed”; nothing where that is clear.
    pub when: &'static str,
    /// What tells it from other stages of the same mistake.
    pub note: &'static str,
    /// What else is there to be added or multiplied: nodes, and what they are called.
    pub others: &'static [&'static str],
    /// Whether an exercise has it as a stage of its own.
    pub is_there: fn(&Recipe, &Facts) -> bool,
}

impl Place {
    /// “were” or “was”.
    pub fn verb(&self) -> &'static str {
        if self.plural { "were" } else { "was" }
    }
}

const TOKENS: Place = Place {
    id: "tokens-altered",
    stage: Stage::Tokens,
    noun: "the tokens",
    plural: true,
    when: "before they were projected",
    note: "",
    others: &[],
    is_there: |_, facts| facts.from_tokens,
};
const WEIGHTS: Place = Place {
    id: "projections-altered",
    stage: Stage::QueryWeights,
    noun: "W_Q",
    plural: false,
    when: "before it was used",
    note: "W_Q",
    others: &["W_K", "W_V", "W_O"],
    is_there: |_, facts| facts.from_tokens,
};
const QUERIES: Place = Place {
    id: "queries-altered",
    stage: Stage::Queries,
    noun: "the queries",
    plural: true,
    when: "before the scores were computed",
    note: "",
    others: &["X", "K", "V", "W_Q", "W_K", "W_V"],
    is_there: |_, _| true,
};
const SCORES: Place = Place {
    id: "scores-altered",
    stage: Stage::Scores,
    noun: "the scores",
    plural: true,
    when: "before they were scaled",
    note: "before the scale",
    others: &[],
    is_there: |_, _| true,
};
const RESULT: Place = Place {
    id: "result-altered",
    stage: Stage::Result,
    noun: "the result",
    plural: false,
    when: "",
    note: "",
    others: &["X", "Q", "K", "V", "W_Q", "W_K", "W_V", "W_O"],
    is_there: |_, _| true,
};

/// Every stage, in the order of computing.
pub(super) const PLACES: &[Place] = &[
    Place { is_there: |recipe, facts| facts.from_tokens && !recipe.output.residual, ..TOKENS },
    Place {
        note: "not in the residual",
        is_there: |recipe, facts| facts.from_tokens && recipe.output.residual,
        ..TOKENS
    },
    Place {
        stage: Stage::TokensAndResidual,
        when: "before they were projected, and in the residual",
        note: "in the residual too",
        is_there: |recipe, facts| facts.from_tokens && recipe.output.residual,
        ..TOKENS
    },
    Place {
        id: "residual-altered",
        stage: Stage::Residual,
        when: "before they were added to the result",
        is_there: |recipe, _| recipe.output.residual,
        ..TOKENS
    },
    WEIGHTS,
    Place { stage: Stage::KeyWeights, noun: "W_K", note: "W_K", others: &["W_Q", "W_V", "W_O"], ..WEIGHTS },
    Place { stage: Stage::ValueWeights, noun: "W_V", note: "W_V", others: &["W_Q", "W_K", "W_O"], ..WEIGHTS },
    Place {
        stage: Stage::RoleWeights,
        noun: "W_Q, W_K and W_V",
        plural: true,
        when: "before they were used",
        note: "W_Q, W_K and W_V",
        others: &[],
        ..WEIGHTS
    },
    Place {
        stage: Stage::OutputWeights,
        noun: "W_O",
        note: "W_O",
        others: &["W_Q", "W_K", "W_V"],
        is_there: |_, facts| facts.projects,
        ..WEIGHTS
    },
    Place {
        stage: Stage::WholeQueries,
        when: "before they were split into heads",
        note: "all heads together",
        is_there: |recipe, _| recipe.heads > 1,
        ..QUERIES
    },
    QUERIES,
    Place {
        id: "keys-altered",
        stage: Stage::WholeKeys,
        noun: "the keys",
        when: "before they were split into heads",
        note: "all heads together",
        others: &["X", "Q", "V", "W_Q", "W_K", "W_V"],
        is_there: |recipe, _| recipe.heads > 1,
        ..QUERIES
    },
    Place {
        id: "keys-altered",
        stage: Stage::Keys,
        noun: "the keys",
        others: &["X", "Q", "V", "W_Q", "W_K", "W_V"],
        ..QUERIES
    },
    Place {
        id: "queries-keys-altered",
        stage: Stage::WholeQueriesAndKeys,
        noun: "the queries and keys",
        when: "before they were split into heads",
        note: "all heads together",
        others: &["X", "V"],
        is_there: |recipe, _| recipe.heads > 1,
        ..QUERIES
    },
    Place {
        id: "queries-keys-altered",
        stage: Stage::QueriesAndKeys,
        noun: "the queries and keys",
        others: &["X", "V"],
        ..QUERIES
    },
    Place {
        id: "values-altered",
        stage: Stage::WholeValues,
        noun: "the values",
        when: "before they were split into heads",
        note: "all heads together",
        others: &["X", "Q", "K", "W_Q", "W_K", "W_V", "W_O"],
        is_there: |recipe, _| recipe.heads > 1,
        ..QUERIES
    },
    Place {
        id: "values-altered",
        stage: Stage::Values,
        noun: "the values",
        when: "before they were mixed",
        others: &["X", "Q", "K", "W_Q", "W_K", "W_V", "W_O"],
        ..QUERIES
    },
    Place {
        id: "keys-values-altered",
        stage: Stage::KeysAndValues,
        noun: "the keys and values",
        when: "before they were used",
        others: &["X", "Q"],
        ..QUERIES
    },
    Place {
        id: "queries-keys-values-altered",
        stage: Stage::Roles,
        noun: "the queries, keys and values",
        when: "before they were used",
        others: &["X"],
        ..QUERIES
    },
    Place { is_there: |recipe, _| recipe.scale != Scale::None, ..SCORES },
    Place {
        when: "before the softmax",
        note: "",
        is_there: |recipe, _| recipe.scale == Scale::None,
        ..SCORES
    },
    Place {
        stage: Stage::Scaled,
        when: "after they were scaled",
        note: "after the scale",
        is_there: |recipe, _| recipe.scale != Scale::None,
        ..SCORES
    },
    Place {
        stage: Stage::Masked,
        when: "after they were masked",
        note: "after the mask",
        is_there: |recipe, _| recipe.mask.is_some(),
        ..SCORES
    },
    Place {
        id: "weights-altered",
        stage: Stage::Weights,
        noun: "the weights",
        when: "before they mixed the values",
        note: "",
        others: &["S", "S_scaled"],
        ..SCORES
    },
    Place {
        id: "heads-altered",
        stage: Stage::Mixes,
        noun: "the results of the heads",
        when: "before they were joined",
        note: "each head",
        others: &["Q", "K", "V"],
        is_there: |recipe, _| recipe.heads > 1,
        ..SCORES
    },
    Place {
        id: "heads-altered",
        stage: Stage::Heads,
        noun: "the joined heads",
        when: "before they were projected",
        note: "joined",
        others: &["X", "Q", "K", "V"],
        is_there: |recipe, facts| recipe.heads > 1 && facts.projects,
        ..SCORES
    },
    Place {
        id: "heads-altered",
        stage: Stage::Heads,
        noun: "the mixed values",
        when: "before they were projected",
        note: "",
        others: &["X", "Q", "K", "V"],
        is_there: |recipe, facts| recipe.heads == 1 && facts.projects,
        ..SCORES
    },
    Place {
        id: "heads-altered",
        stage: Stage::Heads,
        noun: "the mixed values",
        when: "before the residual was added",
        note: "",
        others: &["X", "Q", "K", "V"],
        is_there: |recipe, facts| recipe.output.residual && !facts.projects,
        ..SCORES
    },
    Place {
        stage: Stage::Projected,
        when: "before the residual was added",
        note: "before the residual",
        is_there: |recipe, facts| recipe.output.residual && facts.projects,
        ..RESULT
    },
    RESULT,
];
