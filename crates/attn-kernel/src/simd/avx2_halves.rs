//! Weights of sixteen bits in registers of AVX2.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::avx2::Avx2;
use super::registers::LoadHalves;

impl LoadHalves for Avx2 {
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
    unsafe fn load_bf16_pairs(self, numbers: &[bf16]) -> __m256 {
        debug_assert!(numbers.len() >= 16);
        // SAFETY: see `splat`; the caller has 16 numbers there.
        unsafe { _mm256_loadu_ps(numbers.as_ptr().cast()) }
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
}
