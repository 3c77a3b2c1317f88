//! Random numbers for tests: the same in every run and on every machine.
#![allow(dead_code, reason = "each test takes what it needs")]

use libm::{cos, log as ln};

/// SplitMix64 (Steele, Lea & Flood 2014).
pub struct Random(u64);

impl Random {
    /// A stream of its own for every seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// One of 0 … count − 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// In [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of N(0, 1), by Box and Muller's method.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * ln(1.0 - self.uniform())).sqrt();
        radius * cos(std::f64::consts::TAU * self.uniform())
    }
}
