//! The kinds of candidates, tried one after the other: single mistakes, mistakes with a number of their own, pairs.

use super::column::Probe;
use super::fits::{fits, fits_by_row, fits_without_number};
use super::one_head::in_one_head;
use super::plans::CandidateList;
use super::search::{Fit, Search, SearchResult};
use super::some_rows::in_some_rows;

impl Search<'_> {
    /// The mistakes that give the part by themselves, and leave what was right before it as it was.
    pub(super) fn singles(&self) -> SearchResult {
        let without_number = fits_without_number(self).into_iter().filter_map(|fit| self.left(fit));
        self.listed(CandidateList::Singles, without_number.collect())
    }

    /// The operators at any site that fit; none where trying them would take too long.
    pub(super) fn general(&self) -> SearchResult {
        if !self.candidates.is_feasible(CandidateList::General, self.task) {
            return SearchResult::default();
        }
        Search { near: true, ..*self }.listed(CandidateList::General, Vec::new())
    }

    /// The pairs of mistakes that do; `None` where trying them would take too long.
    pub(super) fn pairs(&self) -> Option<SearchResult> {
        self.candidates
            .is_feasible(CandidateList::Pairs, self.task)
            .then(|| self.listed(CandidateList::Pairs, Vec::new()))
    }

    /// The fits of a list, and others.
    fn listed(&self, list: CandidateList, mut found: Vec<Fit>) -> SearchResult {
        let nodes = self.nodes();
        let probes: Vec<Probe<'_>> =
            self.readings.iter().filter_map(|part| Probe::in_any_row(part, self.tolerance)).collect();
        self.candidates.each_near(list, self.task, (&nodes, &probes), |row| found.extend(self.fit(row)));
        self.closest(found, self.candidates.count(list))
    }

    /// The mistakes with a number of their own that do.
    pub(super) fn fitted(&self) -> SearchResult {
        self.solved(fits(self))
    }

    /// Those that are made in some rows alone, or in one head alone.
    pub(super) fn partial(&self) -> SearchResult {
        let search = Search { near: true, ..*self };
        self.solved(in_some_rows(&search)).or(self.solved(in_one_head(&search)))
    }

    /// Those with a number for each row.
    pub(super) fn fitted_by_row(&self) -> SearchResult {
        let search = Search { near: true, ..*self };
        self.solved(fits_by_row(&search))
    }

    fn solved(&self, (found, tried): (Vec<Fit>, usize)) -> SearchResult {
        let found = found.into_iter().filter_map(|fit| self.left(fit)).collect();
        self.closest(found, tried)
    }
}
