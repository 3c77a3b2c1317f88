//! Which option of several is used.

/// The first option that is used; each stands with the answer.
pub(super) fn first(all: &[(&'static str, bool)]) -> Option<&'static str> {
    all.iter().find(|(_, used)| *used).map(|(option, _)| *option)
}
