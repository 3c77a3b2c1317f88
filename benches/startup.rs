//! A demo from start to end as a user starts it: wall time and peak memory of the release binary, next to the same
//! arithmetic in Python with NumPy where that is installed. Run with `cargo bench --bench startup`.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 40;

/// The arithmetic of `attn demo mask`, printed.
const NUMPY: &str = "
import numpy as np
np.random.seed(0)
X, W_Q, W_K, W_V = np.random.randn(4, 5), *(np.random.randn(5, 5) for _ in range(3))
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
S = np.where(np.tril(np.ones((4, 4))) == 1, Q @ K.T, -np.inf)
A = np.exp(S - S.max(axis=1, keepdims=True))
A /= A.sum(axis=1, keepdims=True)
print(Q, K, V, S, A, A @ V, sep='\\n')
";

fn main() {
    let mut report = std::io::stdout().lock();
    let attn = env!("CARGO_BIN_EXE_attn");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let demo = vec![attn.to_string(), "demo".into(), "mask".into()];
    let all = vec![attn.to_string(), "demo".into(), "--all".into()];
    let numpy = vec![python, "-c".into(), NUMPY.into()];
    let _ = writeln!(
        report,
        "{:<28} {:>12} {:>12} {:>12}",
        "median of 40 runs", "wall ms", "fastest ms", "peak MB"
    );
    for (name, command) in [("attn demo mask", demo), ("attn demo --all", all), ("python, numpy", numpy)] {
        let line = match measured(&command) {
            Some(Figures { median, fastest, peak }) => {
                format!("{median:>12.2} {fastest:>12.2} {}", peak_text(peak))
            }
            None => format!("{:>12}", "cannot run here"),
        };
        let _ = writeln!(report, "{name:<28} {line}");
    }
}

struct Figures {
    median: f64,
    fastest: f64,
    peak: Option<f64>,
}

fn measured(command: &[String]) -> Option<Figures> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..=RUNS {
        let start = Instant::now();
        let status = Command::new(&command[0])
            .args(&command[1..])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .ok()?;
        status.success().then_some(())?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    // The first run finds nothing in the cache.
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Some(Figures { median: times[RUNS / 2], fastest: times[0], peak: peak(command) })
}

/// The peak memory of one run in MB, as GNU time reports it; nothing where it is not installed.
fn peak(command: &[String]) -> Option<f64> {
    let output =
        Command::new("/usr/bin/time").args(["-f", "%M"]).args(command).stdout(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().last()?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1e3)
}

fn peak_text(peak: Option<f64>) -> String {
    peak.map_or_else(|| format!("{:>12}", "no GNU time"), |peak| format!("{peak:>12.1}"))
}
