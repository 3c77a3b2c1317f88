//! NEON: four `f32` or two `f64` a register, 32 registers.

use std::arch::aarch64::*;

use half::{bf16, f16};

use super::set::{InstructionSet, LoadWeights, Simd, TileWidth, WithTileSize, Work, instructions};

/// The proof that this processor has NEON.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl InstructionSet for Neon {
    fn is_available() -> bool {
        std::arch::is_aarch64_feature_detected!("neon")
    }

    #[inline(never)]
    #[target_feature(enable = "neon")]
    unsafe fn run<W: Work<Neon>>(input: W::Input<'_>) -> W::Output {
        // SAFETY: the caller's promise.
        unsafe { W::run(Neon(()), input) }
    }

    #[inline(always)]
    fn with_tile_size<W: WithTileSize>(width: TileWidth, then: W) -> W::Output {
        match width {
            TileWidth::Narrow => then.call::<1, 16>(),
            TileWidth::Middle | TileWidth::Wide => then.call::<3, 8>(),
        }
    }

    #[inline(always)]
    fn with_panel_size<W: WithTileSize>(then: W) -> W::Output {
        then.call::<4, 6>()
    }
}

impl Simd<f32> for Neon {
    const LANES: usize = 4;
    const REGISTERS: usize = 32;

    instructions! {
        f32, float32x4_t, splat: vdupq_n_f32, load: vld1q_f32, store: vst1q_f32,
        add: vaddq_f32, sub: vsubq_f32, mul: vmulq_f32, div: vdivq_f32,
    }

    #[inline(always)]
    fn mul_add(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        // SAFETY: see `splat`.
        unsafe { vfmaq_f32(c, a, b) }
    }

    #[inline(always)]
    fn max(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        // `vmaxq` gives NaN where either is; this gives b, as the other sets do.
        // SAFETY: see `splat`.
        unsafe { vbslq_f32(vcgtq_f32(a, b), a, b) }
    }

    #[inline(always)]
    fn with_sign_of(self, a: float32x4_t, sign: float32x4_t) -> float32x4_t {
        // SAFETY: see `splat`.
        unsafe { vbslq_f32(vdupq_n_u32(1 << (u32::BITS - 1)), sign, a) }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: float32x4_t) -> float32x4_t {
        // SAFETY: see `splat`.
        unsafe { vreinterpretq_f32_s32(vshlq_n_s32::<23>(vreinterpretq_s32_f32(rounded))) }
    }

    #[inline(always)]
    fn zero_below(self, a: float32x4_t, y: float32x4_t, cutoff: float32x4_t) -> float32x4_t {
        // SAFETY: see `splat`.
        unsafe { vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(a), vcltq_f32(y, cutoff))) }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        const BITS: [u32; 4] = [1, 2, 4, 8];
        // SAFETY: see `splat`; the bits are as long as a register.
        unsafe { vbslq_f32(vtstq_u32(vdupq_n_u32(lanes as u32), vld1q_u32(BITS.as_ptr())), a, b) }
    }

    #[inline(always)]
    fn exchange(self, a: float32x4_t, b: float32x4_t, group: usize) -> (float32x4_t, float32x4_t) {
        // SAFETY: see `splat`.
        unsafe {
            match group {
                1 => (vtrn1q_f32(a, b), vtrn2q_f32(a, b)),
                _ => {
                    let (a, b) = (vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b));
                    (vreinterpretq_f32_f64(vtrn1q_f64(a, b)), vreinterpretq_f32_f64(vtrn2q_f64(a, b)))
                }
            }
        }
    }
}

impl Simd<f64> for Neon {
    const LANES: usize = 2;
    const REGISTERS: usize = 32;

    instructions! {
        f64, float64x2_t, splat: vdupq_n_f64, load: vld1q_f64, store: vst1q_f64,
        add: vaddq_f64, sub: vsubq_f64, mul: vmulq_f64, div: vdivq_f64,
    }

    #[inline(always)]
    fn mul_add(self, a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        // SAFETY: see `splat`.
        unsafe { vfmaq_f64(c, a, b) }
    }

    #[inline(always)]
    fn max(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        // `vmaxq` gives NaN where either is; this gives b, as the other sets do.
        // SAFETY: see `splat`.
        unsafe { vbslq_f64(vcgtq_f64(a, b), a, b) }
    }

    #[inline(always)]
    fn with_sign_of(self, a: float64x2_t, sign: float64x2_t) -> float64x2_t {
        // SAFETY: see `splat`.
        unsafe { vbslq_f64(vdupq_n_u64(1 << (u64::BITS - 1)), sign, a) }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: float64x2_t) -> float64x2_t {
        // SAFETY: see `splat`.
        unsafe { vreinterpretq_f64_s64(vshlq_n_s64::<52>(vreinterpretq_s64_f64(rounded))) }
    }

    #[inline(always)]
    fn zero_below(self, a: float64x2_t, y: float64x2_t, cutoff: float64x2_t) -> float64x2_t {
        // SAFETY: see `splat`.
        unsafe { vreinterpretq_f64_u64(vbicq_u64(vreinterpretq_u64_f64(a), vcltq_f64(y, cutoff))) }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        const BITS: [u64; 2] = [1, 2];
        // SAFETY: see `splat`; the bits are as long as a register.
        unsafe { vbslq_f64(vtstq_u64(vdupq_n_u64(lanes), vld1q_u64(BITS.as_ptr())), a, b) }
    }

    #[inline(always)]
    fn exchange(self, a: float64x2_t, b: float64x2_t, group: usize) -> (float64x2_t, float64x2_t) {
        // SAFETY: see `splat`.
        unsafe {
            assert_in_tests!(group == 1);
            (vtrn1q_f64(a, b), vtrn2q_f64(a, b))
        }
    }
}

impl LoadWeights for Neon {
    #[inline(always)]
    unsafe fn load_f16(self, numbers: &[f16]) -> float32x4_t {
        assert_in_tests!(numbers.len() >= 4);
        // SAFETY: see `splat`; the caller has 4 numbers there.
        unsafe { vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(numbers.as_ptr().cast()))) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, numbers: &[bf16]) -> float32x4_t {
        assert_in_tests!(numbers.len() >= 4);
        // SAFETY: see `splat`; the caller has 4 numbers there.
        unsafe { vreinterpretq_f32_u32(vshll_n_u16::<16>(vld1_u16(numbers.as_ptr().cast()))) }
    }

    #[inline(always)]
    fn split_bf16_pairs(self, pairs: float32x4_t) -> [float32x4_t; 2] {
        // SAFETY: see `splat`.
        unsafe {
            let bits = vreinterpretq_u32_f32(pairs);
            let upper = vandq_u32(bits, vdupq_n_u32(0xFFFF_0000));
            [vreinterpretq_f32_u32(vshlq_n_u32::<16>(bits)), vreinterpretq_f32_u32(upper)]
        }
    }
}
