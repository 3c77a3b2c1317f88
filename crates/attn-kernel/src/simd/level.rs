//! The sets of SIMD instructions, and which of them this processor has.

use std::fmt;

use crate::error::{Error, Result};

/// A set of SIMD instructions, from none to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// Plain Rust: the same bits, and no speed promised.
    Portable,
    /// 128-bit registers of Arm.
    Neon,
    /// 256-bit registers with fused multiply-add.
    Avx2,
    /// 512-bit registers.
    Avx512,
}

impl SimdLevel {
    /// All, from none to the widest.
    pub const ALL: [SimdLevel; 4] =
        [SimdLevel::Portable, SimdLevel::Neon, SimdLevel::Avx2, SimdLevel::Avx512];

    /// The widest that this processor has.
    pub fn detect() -> SimdLevel {
        SimdLevel::available().last().unwrap_or(SimdLevel::Portable)
    }

    /// Those that this processor has.
    pub fn available() -> impl Iterator<Item = SimdLevel> {
        SimdLevel::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            SimdLevel::Portable => true,
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }

    /// The name that `--simd` and `ATTN_SIMD` know it by.
    pub fn name(self) -> &'static str {
        match self {
            SimdLevel::Portable => "portable",
            SimdLevel::Neon => "neon",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512",
        }
    }

    /// The level of this name, if this processor has it.
    ///
    /// # Errors
    /// If there is no such name, or the processor lacks the instructions: they would end the program.
    pub fn named(name: &str) -> Result<SimdLevel> {
        let known = SimdLevel::ALL.into_iter().find(|level| level.name() == name);
        let level = known.ok_or_else(|| Error::UnknownSimd(name.to_string()))?;
        if !level.is_available() {
            return Err(Error::MissingSimd(level));
        }
        Ok(level)
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
