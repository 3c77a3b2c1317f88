//! Weights of sixteen bits in registers of AVX-512.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::avx512::Avx512;
use super::registers::LoadHalves;

impl LoadHalves for Avx512 {
    #[inline(always)]
    unsafe fn load_f16(self, numbers: &[f16]) -> __m512 {
        debug_assert!(numbers.len() >= 16);
        // SAFETY: see `splat`; the caller has 16 numbers there.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(numbers.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, numbers: &[bf16]) -> __m512 {
        debug_assert!(numbers.len() >= 16);
        // SAFETY: see `splat`; the caller has 16 numbers there.
        unsafe {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(numbers.as_ptr().cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits))
        }
    }

    #[inline(always)]
    unsafe fn load_bf16_pairs(self, numbers: &[bf16]) -> __m512 {
        debug_assert!(numbers.len() >= 32);
        // SAFETY: see `splat`; the caller has 32 numbers there.
        unsafe { _mm512_loadu_ps(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn split_bf16_pairs(self, pairs: __m512) -> [__m512; 2] {
        // SAFETY: see `splat`.
        unsafe {
            let bits = _mm512_castps_si512(pairs);
            let upper = _mm512_set1_epi32(0xFFFF_0000_u32 as i32);
            [_mm512_slli_epi32::<16>(bits), _mm512_and_si512(bits, upper)]
                .map(|bits| _mm512_castsi512_ps(bits))
        }
    }
}
