//! Weights in registers of AVX2.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::avx2::Avx2;
use super::registers::{LoadWeights, MAX_LANES};

impl LoadWeights for Avx2 {
    #[inline(always)]
    unsafe fn load_f16(self, numbers: &[f16]) -> __m256 {
        debug_assert!(numbers.len() >= 8);
        // SAFETY: see `splat`; the caller has 8 numbers there.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(numbers.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, numbers: &[bf16]) -> __m256 {
        debug_assert!(numbers.len() >= 8);
        // SAFETY: see `splat`; the caller has 8 numbers there.
        unsafe {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(numbers.as_ptr().cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))
        }
    }

    #[inline(always)]
    fn split_bf16_pairs(self, pairs: __m256) -> [__m256; 2] {
        // SAFETY: see `splat`.
        unsafe {
            let bits = _mm256_castps_si256(pairs);
            let upper = _mm256_set1_epi32(0xFFFF_0000_u32 as i32);
            [_mm256_slli_epi32::<16>(bits), _mm256_and_si256(bits, upper)]
                .map(|bits| _mm256_castsi256_ps(bits))
        }
    }

    /// Halves of registers come from memory to where they belong: a third of the shuffles less than by loading rows.
    #[inline(always)]
    unsafe fn load_square(self, rows: &[*const f32; MAX_LANES], square: &mut [__m256; MAX_LANES]) {
        for (number, columns) in square[..8].chunks_exact_mut(4).enumerate() {
            // SAFETY: see `splat`; the caller has 8 numbers in each row.
            unsafe {
                let four = |row: usize| _mm_loadu_ps(rows[row].add(4 * number));
                let rows = |row| _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(four(row)), four(row + 4));
                let [a, b, c, d] = [rows(0), rows(1), rows(2), rows(3)];
                let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
                columns[0] = _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd);
                columns[1] = _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd);
                let (ab, cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
                columns[2] = _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd);
                columns[3] = _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd);
            }
        }
    }
}
