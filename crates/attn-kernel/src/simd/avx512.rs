//! AVX-512: sixteen `f32` or eight `f64` a register, 32 registers.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::set::{InstructionSet, LoadWeights, MAX_LANES, Simd, TileWidth, WithTileSize, Work, instructions};

/// The proof that this processor has AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl InstructionSet for Avx512 {
    fn is_available() -> bool {
        is_x86_feature_detected!("avx512f")
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    unsafe fn run<W: Work<Avx512>>(input: W::Input<'_>) -> W::Output {
        // SAFETY: the caller's promise.
        unsafe { W::run(Avx512(()), input) }
    }

    #[inline(always)]
    fn with_tile_size<W: WithTileSize>(width: TileWidth, then: W) -> W::Output {
        match width {
            TileWidth::Narrow => then.call::<1, 16>(),
            TileWidth::Middle => then.call::<2, 8>(),
            TileWidth::Wide => then.call::<4, 6>(),
        }
    }

    #[inline(always)]
    fn with_panel_size<W: WithTileSize>(then: W) -> W::Output {
        then.call::<4, 6>()
    }
}

/// The source lane of each lane of the two results of `exchange`; b's lanes are numbered after a's.
#[inline(always)]
const fn exchange_indices<const LANES: usize>(group: usize) -> [[usize; LANES]; 2] {
    let mut indices = [[0; LANES]; 2];
    let mut lane = 0;
    while lane < LANES {
        let in_first_group = lane & group == 0;
        indices[0][lane] = if in_first_group { lane } else { lane - group + LANES };
        indices[1][lane] = if in_first_group { lane + group } else { lane + LANES };
        lane += 1;
    }
    indices
}

#[inline(always)]
fn index32(lanes: [usize; 16]) -> __m512i {
    let lanes = lanes.map(|lane| lane as u32);
    bytemuck::cast(lanes)
}

#[inline(always)]
fn index64(lanes: [usize; 8]) -> __m512i {
    let lanes = lanes.map(|lane| lane as u64);
    bytemuck::cast(lanes)
}

impl Simd<f32> for Avx512 {
    const LANES: usize = 16;
    const REGISTERS: usize = 32;

    instructions! {
        f32, __m512, splat: _mm512_set1_ps, load: _mm512_loadu_ps, store: _mm512_storeu_ps,
        add: _mm512_add_ps, sub: _mm512_sub_ps, mul: _mm512_mul_ps, div: _mm512_div_ps, max: _mm512_max_ps,
        ; mul_add: _mm512_fmadd_ps,
    }

    #[inline(always)]
    fn with_sign_of(self, a: __m512, sign: __m512) -> __m512 {
        // SAFETY: see `splat`.
        unsafe {
            let bit = _mm512_set1_epi32(i32::MIN);
            let (a, sign) = (_mm512_castps_si512(a), _mm512_castps_si512(sign));
            _mm512_castsi512_ps(_mm512_or_si512(_mm512_and_si512(bit, sign), _mm512_andnot_si512(bit, a)))
        }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: __m512) -> __m512 {
        // SAFETY: see `splat`.
        unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(rounded))) }
    }

    #[inline(always)]
    fn zero_below(self, a: __m512, y: __m512, cutoff: __m512) -> __m512 {
        // SAFETY: see `splat`.
        unsafe {
            let kept = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(y, cutoff);
            _mm512_maskz_mov_ps(kept, a)
        }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: __m512, b: __m512) -> __m512 {
        // SAFETY: see `splat`.
        unsafe { _mm512_mask_mov_ps(b, lanes as __mmask16, a) }
    }

    #[inline(always)]
    fn exchange(self, a: __m512, b: __m512, group: usize) -> (__m512, __m512) {
        // SAFETY: see `splat`.
        unsafe {
            let [first, second] = exchange_indices::<16>(group);
            let (first, second) = (index32(first), index32(second));
            (_mm512_permutex2var_ps(a, first, b), _mm512_permutex2var_ps(a, second, b))
        }
    }
}

impl Simd<f64> for Avx512 {
    const LANES: usize = 8;
    const REGISTERS: usize = 32;

    instructions! {
        f64, __m512d, splat: _mm512_set1_pd, load: _mm512_loadu_pd, store: _mm512_storeu_pd,
        add: _mm512_add_pd, sub: _mm512_sub_pd, mul: _mm512_mul_pd, div: _mm512_div_pd, max: _mm512_max_pd,
        ; mul_add: _mm512_fmadd_pd,
    }

    #[inline(always)]
    fn with_sign_of(self, a: __m512d, sign: __m512d) -> __m512d {
        // SAFETY: see `splat`.
        unsafe {
            let bit = _mm512_set1_epi64(i64::MIN);
            let (a, sign) = (_mm512_castpd_si512(a), _mm512_castpd_si512(sign));
            _mm512_castsi512_pd(_mm512_or_si512(_mm512_and_si512(bit, sign), _mm512_andnot_si512(bit, a)))
        }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: __m512d) -> __m512d {
        // SAFETY: see `splat`.
        unsafe { _mm512_castsi512_pd(_mm512_slli_epi64::<52>(_mm512_castpd_si512(rounded))) }
    }

    #[inline(always)]
    fn zero_below(self, a: __m512d, y: __m512d, cutoff: __m512d) -> __m512d {
        // SAFETY: see `splat`.
        unsafe {
            let kept = _mm512_cmp_pd_mask::<_CMP_NLT_UQ>(y, cutoff);
            _mm512_maskz_mov_pd(kept, a)
        }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: see `splat`.
        unsafe { _mm512_mask_mov_pd(b, lanes as __mmask8, a) }
    }

    #[inline(always)]
    fn exchange(self, a: __m512d, b: __m512d, group: usize) -> (__m512d, __m512d) {
        // SAFETY: see `splat`.
        unsafe {
            let [first, second] = exchange_indices::<8>(group);
            let (first, second) = (index64(first), index64(second));
            (_mm512_permutex2var_pd(a, first, b), _mm512_permutex2var_pd(a, second, b))
        }
    }
}

impl LoadWeights for Avx512 {
    #[inline(always)]
    unsafe fn load_f16(self, numbers: &[f16]) -> __m512 {
        assert_in_tests!(numbers.len() >= 16);
        // SAFETY: see `splat`; the caller has 16 numbers there.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(numbers.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, numbers: &[bf16]) -> __m512 {
        assert_in_tests!(numbers.len() >= 16);
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
