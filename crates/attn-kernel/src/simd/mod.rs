//! The instruction sets. Another one is a file of its own here and an entry in the list here.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod set;

use std::fmt;

pub(crate) use scalar::Scalar;
pub(crate) use set::{InstructionSet, LoadWeights, MAX_LANES, Simd, TileWidth, WithTileSize, Work};

/// Something to do with the type of an instruction set.
pub(crate) trait WithSet {
    type Output;
    fn call<S: InstructionSet>(self) -> Self::Output;
}

/// Makes [`SimdLevel`] from the list below. An entry is a set's type, the architecture that has it, and its two names.
macro_rules! levels {
    ($($(#[$doc:meta])* $set:ident on $arch:literal in $file:ident: $name:literal, $title:literal;)+) => {
        /// An instruction set, from none to the widest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum SimdLevel {
            /// Plain Rust: the same bits, and no speed promised.
            Portable,
            $($(#[$doc])* $set,)+
        }

        impl SimdLevel {
            /// All, from none to the widest.
            pub const ALL: [SimdLevel; 1 + [$($name),+].len()] = [SimdLevel::Portable, $(SimdLevel::$set),+];

            /// The name to choose it by: `avx2`.
            pub fn name(self) -> &'static str {
                match self {
                    SimdLevel::Portable => "portable",
                    $(SimdLevel::$set => $name,)+
                }
            }

            /// The name to show: `AVX2 with FMA`.
            fn title(self) -> &'static str {
                match self {
                    SimdLevel::Portable => "portable",
                    $(SimdLevel::$set => $title,)+
                }
            }

            /// Calls `then` with the set's type; `None` for [`SimdLevel::Portable`] and the sets of other architectures.
            pub(crate) fn with_set<W: WithSet>(self, then: W) -> Option<W::Output> {
                match self {
                    $(#[cfg(target_arch = $arch)] SimdLevel::$set => Some(then.call::<$file::$set>()),)+
                    _ => None,
                }
            }
        }
    };
}

levels! {
    /// 128-bit registers of Arm.
    Neon on "aarch64" in neon: "neon", "NEON";
    /// 256-bit registers with fused multiply-add.
    Avx2 on "x86_64" in avx2: "avx2", "AVX2 with FMA";
    /// 512-bit registers.
    Avx512 on "x86_64" in avx512: "avx512", "AVX-512";
}

impl SimdLevel {
    /// The widest that this processor has.
    pub fn detect() -> SimdLevel {
        SimdLevel::available().last().unwrap_or(SimdLevel::Portable)
    }

    /// Those that this processor has.
    pub fn available() -> impl Iterator<Item = SimdLevel> {
        SimdLevel::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Returns true if this processor has it.
    pub fn is_available(self) -> bool {
        struct IsAvailable;
        impl WithSet for IsAvailable {
            type Output = bool;
            fn call<S: InstructionSet>(self) -> bool {
                S::is_available()
            }
        }
        self == SimdLevel::Portable || self.with_set(IsAvailable) == Some(true)
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
