//! What this machine's processor offers for the fast path.

use std::fmt;

/// A set of SIMD instructions, from none to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// Plain Rust.
    Portable,
    /// 128-bit registers of Arm.
    Neon,
    /// 256-bit registers with fused multiply-add.
    Avx2,
    /// 512-bit registers.
    Avx512,
}

impl SimdLevel {
    /// The widest that this processor has.
    pub fn detect() -> SimdLevel {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return SimdLevel::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return SimdLevel::Avx2;
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return SimdLevel::Neon;
        }
        SimdLevel::Portable
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SimdLevel::Portable => "portable",
            SimdLevel::Neon => "NEON",
            SimdLevel::Avx2 => "AVX2 with FMA",
            SimdLevel::Avx512 => "AVX-512",
        })
    }
}
