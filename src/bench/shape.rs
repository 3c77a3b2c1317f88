//! The sizes of a problem.

use std::fmt;

use crate::error::{Error, Result};
use crate::kernel::Band;
use crate::text::counted;

/// The sizes of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// H query heads.
    pub heads: usize,
    /// G key/value heads that they share.
    pub key_value_heads: usize,
    /// T queries.
    pub queries: usize,
    /// N keys and values.
    pub keys: usize,
    /// The width of a head, d_k and d_v.
    pub width: usize,
    /// True if no query sees a later key; the T queries are the last of N tokens.
    pub causal: bool,
}

impl Shape {
    /// The shape itself, if it makes a problem.
    ///
    /// # Errors
    /// If there is nothing to compute, heads cannot be shared, or a count has more digits than the machine.
    pub fn checked(self) -> Result<Shape> {
        let sizes = [
            ("--heads", self.heads),
            ("--kv-heads", self.key_value_heads),
            ("--n", self.keys),
            ("--n-q", self.queries),
            ("--dim", self.width),
        ];
        if let Some((option, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return Err(Error::new(format!("{option} 0 leaves nothing to compute")).help("give 1 or more"));
        }
        if !self.heads.is_multiple_of(self.key_value_heads) {
            return Err(Error::new(format!(
                "{} cannot share {} equally",
                counted(self.heads, "query head"),
                counted(self.key_value_heads, "key/value head")
            ))
            .help("give a number of --heads that is a multiple of --kv-heads"));
        }
        let factors = [4, self.heads, self.width, self.queries, self.keys];
        match factors.into_iter().try_fold(1_u64, |product, size| product.checked_mul(size as u64)) {
            Some(_) => Ok(self),
            None => Err(Error::new(format!("{self}: more operations than can be counted"))
                .help("give fewer heads or a shorter sequence")),
        }
    }

    /// The visible (query, key) pairs of a head.
    pub fn pairs(&self) -> u64 {
        let (queries, keys) = (self.queries as u64, self.keys as u64);
        if !self.causal {
            return queries * keys;
        }
        // Of more queries than keys the first see nothing. Of the others, the last sees all keys, each before it one fewer.
        let seeing = queries.min(keys);
        seeing * (keys - seeing) + seeing * (seeing + 1) / 2
    }

    /// The useful floating-point operations: a multiplication and an addition for each column of a key, and of a value, of
    /// each visible pair.
    pub fn flop(&self) -> u64 {
        4 * self.heads as u64 * self.width as u64 * self.pairs()
    }

    /// The keys that each query sees.
    pub fn band(&self) -> Band {
        if self.causal { Band::causal(self.queries, self.keys) } else { Band::default() }
    }

    /// The numbers of (Q, K or V, O).
    pub(super) fn numbers(&self) -> [u128; 3] {
        let numbers = |heads: usize, rows: usize| heads as u128 * rows as u128 * self.width as u128;
        let queries = numbers(self.heads, self.queries);
        [queries, numbers(self.key_value_heads, self.keys), queries]
    }
}

impl fmt::Display for Shape {
    /// The format that `benches/peers.py` writes and reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { heads, key_value_heads, queries, keys, width, causal } = self;
        let mask = if *causal { "causal" } else { "full" };
        write!(f, "h={heads},kv={key_value_heads},q={queries},n={keys},d={width},{mask}")
    }
}

impl Shape {
    /// The shape in words: “12 heads of 64, 1024 queries × 1024 keys, causal”.
    pub fn in_words(&self) -> String {
        let Shape { heads, key_value_heads, queries, keys, width, causal } = *self;
        let shared = if key_value_heads == heads {
            String::new()
        } else {
            format!(" over {}", counted(key_value_heads, "key/value head"))
        };
        let queries = match queries {
            1 => "1 query".to_string(),
            several => format!("{several} queries"),
        };
        let mask = if causal { ", causal" } else { "" };
        format!("{} of {width}{shared}, {queries} × {}{mask}", counted(heads, "head"), counted(keys, "key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(queries: usize, keys: usize, causal: bool) -> Shape {
        Shape { heads: 1, key_value_heads: 1, queries, keys, width: 64, causal }
    }

    #[test]
    fn visible_pairs_are_those_of_the_mask() {
        use crate::attention::Mask;
        for causal in [false, true] {
            let mask = Mask { causal, ..Mask::default() };
            for (queries, keys) in [(1, 1), (1, 7), (3, 7), (7, 7), (7, 3)] {
                let counted: f64 = mask.pattern(queries, keys, None).cells().sum();
                assert_eq!(shape(queries, keys, causal).pairs(), counted as u64, "{queries} of {keys}");
            }
        }
    }

    #[test]
    fn a_shape_without_numbers_or_with_too_many_is_refused() {
        let refused = |shape: Shape| shape.checked().unwrap_err().to_string();
        assert!(refused(shape(1, 0, true)).contains("--n 0"));
        assert!(refused(shape(usize::MAX / 2, usize::MAX / 2, false)).contains("can be counted"));
        let odd = Shape { heads: 8, key_value_heads: 3, ..shape(4, 4, false) };
        assert!(refused(odd).contains("8 query heads cannot share 3"));
    }

    #[test]
    fn a_shape_in_words_says_what_is_not_the_usual() {
        let usual = Shape { heads: 12, key_value_heads: 12, ..shape(1024, 1024, false) };
        assert_eq!(usual.in_words(), "12 heads of 64, 1024 queries × 1024 keys");
        let decode = Shape { heads: 32, key_value_heads: 8, causal: true, ..shape(1, 8192, false) };
        assert_eq!(decode.in_words(), "32 heads of 64 over 8 key/value heads, 1 query × 8192 keys, causal");
    }
}
