//! AVX2 with fused multiply-add and conversions of `f16`, which every processor with AVX2 has: eight `f32` or four `f64` a register, 16 registers.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::set::{InstructionSet, LoadWeights, MAX_LANES, Simd, TileWidth, WithTileSize, Work, instructions};

/// The proof that this processor has AVX2, FMA and F16C.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl InstructionSet for Avx2 {
    fn is_available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn run<W: Work<Avx2>>(input: W::Input<'_>) -> W::Output {
        // SAFETY: the caller's promise.
        unsafe { W::run(Avx2(()), input) }
    }

    #[inline(always)]
    fn with_tile_size<W: WithTileSize>(width: TileWidth, then: W) -> W::Output {
        match width {
            TileWidth::Narrow => then.call::<1, 8>(),
            TileWidth::Middle | TileWidth::Wide => then.call::<3, 4>(),
        }
    }

    #[inline(always)]
    fn with_panel_size<W: WithTileSize>(then: W) -> W::Output {
        then.call::<2, 6>()
    }
}

/// The transposes of both halves, each 4 × 4.
///
/// # Safety
/// This processor has AVX.
#[inline(always)]
unsafe fn transpose_fours([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let (low_ab, low_cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (high_ab, high_cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(low_ab, low_cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(low_ab, low_cd),
            _mm256_shuffle_ps::<0b01_00_01_00>(high_ab, high_cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(high_ab, high_cd),
        ]
    }
}

impl Simd<f32> for Avx2 {
    const LANES: usize = 8;
    const REGISTERS: usize = 16;

    instructions! {
        f32, __m256, splat: _mm256_set1_ps, load: _mm256_loadu_ps, store: _mm256_storeu_ps,
        add: _mm256_add_ps, sub: _mm256_sub_ps, mul: _mm256_mul_ps, div: _mm256_div_ps, max: _mm256_max_ps,
        ; mul_add: _mm256_fmadd_ps,
    }

    #[inline(always)]
    fn with_sign_of(self, a: __m256, sign: __m256) -> __m256 {
        // SAFETY: see `splat`.
        unsafe {
            let bit = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_and_ps(bit, sign), _mm256_andnot_ps(bit, a))
        }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: __m256) -> __m256 {
        // SAFETY: see `splat`.
        unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(rounded))) }
    }

    #[inline(always)]
    fn zero_below(self, a: __m256, y: __m256, cutoff: __m256) -> __m256 {
        // SAFETY: see `splat`.
        unsafe {
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(y, cutoff);
            _mm256_andnot_ps(below, a)
        }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: __m256, b: __m256) -> __m256 {
        // SAFETY: see `splat`.
        unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(lanes as i32), bits);
            _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, bits)))
        }
    }

    #[inline(always)]
    fn exchange(self, a: __m256, b: __m256, group: usize) -> (__m256, __m256) {
        // SAFETY: see `splat`.
        unsafe {
            match group {
                1 => {
                    let (low, high) = (_mm256_moveldup_ps(b), _mm256_movehdup_ps(a));
                    (_mm256_blend_ps::<0b1010_1010>(a, low), _mm256_blend_ps::<0b1010_1010>(high, b))
                }
                2 => {
                    let (a, b) = (_mm256_castps_pd(a), _mm256_castps_pd(b));
                    let (first, second) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                    (_mm256_castpd_ps(first), _mm256_castpd_ps(second))
                }
                _ => (_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b)),
            }
        }
    }

    /// With two instructions less for each two rows than by exchanges.
    #[inline(always)]
    fn transpose(self, rows: &mut [__m256; MAX_LANES]) {
        // SAFETY: see `splat`.
        unsafe {
            let [a, b, c, d, e, f, g, h, ..] = *rows;
            let (first, second) = (transpose_fours([a, b, c, d]), transpose_fours([e, f, g, h]));
            for i in 0..4 {
                rows[i] = _mm256_permute2f128_ps::<0x20>(first[i], second[i]);
                rows[i + 4] = _mm256_permute2f128_ps::<0x31>(first[i], second[i]);
            }
        }
    }
}

impl Simd<f64> for Avx2 {
    const LANES: usize = 4;
    const REGISTERS: usize = 16;

    instructions! {
        f64, __m256d, splat: _mm256_set1_pd, load: _mm256_loadu_pd, store: _mm256_storeu_pd,
        add: _mm256_add_pd, sub: _mm256_sub_pd, mul: _mm256_mul_pd, div: _mm256_div_pd, max: _mm256_max_pd,
        ; mul_add: _mm256_fmadd_pd,
    }

    #[inline(always)]
    fn with_sign_of(self, a: __m256d, sign: __m256d) -> __m256d {
        // SAFETY: see `splat`.
        unsafe {
            let bit = _mm256_set1_pd(-0.0);
            _mm256_or_pd(_mm256_and_pd(bit, sign), _mm256_andnot_pd(bit, a))
        }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: __m256d) -> __m256d {
        // SAFETY: see `splat`.
        unsafe { _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(rounded))) }
    }

    #[inline(always)]
    fn zero_below(self, a: __m256d, y: __m256d, cutoff: __m256d) -> __m256d {
        // SAFETY: see `splat`.
        unsafe {
            let below = _mm256_cmp_pd::<_CMP_LT_OQ>(y, cutoff);
            _mm256_andnot_pd(below, a)
        }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: see `splat`.
        unsafe {
            let bits = _mm256_setr_epi64x(1, 2, 4, 8);
            let set = _mm256_and_si256(_mm256_set1_epi64x(lanes as i64), bits);
            _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, bits)))
        }
    }

    #[inline(always)]
    fn exchange(self, a: __m256d, b: __m256d, group: usize) -> (__m256d, __m256d) {
        // SAFETY: see `splat`.
        unsafe {
            match group {
                1 => (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)),
                _ => (_mm256_permute2f128_pd::<0x20>(a, b), _mm256_permute2f128_pd::<0x31>(a, b)),
            }
        }
    }
}

impl LoadWeights for Avx2 {
    #[inline(always)]
    unsafe fn load_f16(self, numbers: &[f16]) -> __m256 {
        assert_in_tests!(numbers.len() >= 8);
        // SAFETY: see `splat`; the caller has 8 numbers there.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(numbers.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, numbers: &[bf16]) -> __m256 {
        assert_in_tests!(numbers.len() >= 8);
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
                columns.copy_from_slice(&transpose_fours([rows(0), rows(1), rows(2), rows(3)]));
            }
        }
    }
}
