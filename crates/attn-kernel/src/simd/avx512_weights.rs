//! Weights in registers of AVX-512.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::avx512::Avx512;
use super::registers::{LoadWeights, MAX_LANES};

impl LoadWeights for Avx512 {
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
    fn split_bf16_pairs(self, pairs: __m512) -> [__m512; 2] {
        // SAFETY: see `splat`.
        unsafe {
            let bits = _mm512_castps_si512(pairs);
            let upper = _mm512_set1_epi32(0xFFFF_0000_u32 as i32);
            [_mm512_slli_epi32::<16>(bits), _mm512_and_si512(bits, upper)]
                .map(|bits| _mm512_castsi512_ps(bits))
        }
    }

    /// Quarters of registers come from memory to where they belong: half of the shuffles less than by loading rows.
    #[inline(always)]
    unsafe fn load_square(self, rows: &[*const f32; MAX_LANES], square: &mut [__m512; MAX_LANES]) {
        for (number, columns) in square.chunks_exact_mut(4).enumerate() {
            // SAFETY: see `splat`; the caller has 16 numbers in each row.
            unsafe {
                let four = |row: usize| _mm_loadu_ps(rows[row].add(4 * number));
                let rows = |row| {
                    let one = _mm512_castps128_ps512(four(row));
                    let two = _mm512_mask_broadcast_f32x4(one, 0x00F0, four(row + 4));
                    let three = _mm512_mask_broadcast_f32x4(two, 0x0F00, four(row + 8));
                    _mm512_mask_broadcast_f32x4(three, 0xF000, four(row + 12))
                };
                let [a, b, c, d] = [rows(0), rows(1), rows(2), rows(3)];
                let (ab, cd) = (_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d));
                columns[0] = _mm512_shuffle_ps::<0b01_00_01_00>(ab, cd);
                columns[1] = _mm512_shuffle_ps::<0b11_10_11_10>(ab, cd);
                let (ab, cd) = (_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d));
                columns[2] = _mm512_shuffle_ps::<0b01_00_01_00>(ab, cd);
                columns[3] = _mm512_shuffle_ps::<0b11_10_11_10>(ab, cd);
            }
        }
    }
}
