//! Facts about the machine: free memory, the processor's name, its load. They are read from files of Linux; elsewhere they are
//! unknown.

use std::fs::read_to_string;

/// The memory that can be had, in bytes: what is free now, and no more than this process and its group are still allowed.
pub fn memory_available() -> Option<u64> {
    [free(), of_the_group(), of_the_process()].into_iter().flatten().min()
}

/// The free memory, in bytes.
fn free() -> Option<u64> {
    in_kibibytes(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// A field of a file such as `/proc/meminfo`, in bytes.
fn in_kibibytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}

/// The memory that the control group of a container still allows.
fn of_the_group() -> Option<u64> {
    let most: u64 = read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()?;
    // Files in memory make room when it is needed; what programs have allocated does not.
    let allocated = read_to_string("/sys/fs/cgroup/memory.stat").ok();
    let allocated =
        allocated.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("anon ")));
    Some(most.saturating_sub(allocated.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)))
}

/// The memory that `ulimit -v` and `ulimit -d` still allow.
#[cfg(unix)]
fn of_the_process() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let status = read_to_string("/proc/self/status").ok()?;
    let left = |limit: Resource, used: &str| {
        let limit = getrlimit(limit).current?;
        Some(limit.saturating_sub(in_kibibytes(&status, used).unwrap_or(0)))
    };
    [left(Resource::As, "VmSize:"), left(Resource::Data, "VmData:")].into_iter().flatten().min()
}

#[cfg(not(unix))]
fn of_the_process() -> Option<u64> {
    None
}

/// The processor's name.
pub fn processor() -> Option<String> {
    let cpuinfo = read_to_string("/proc/cpuinfo").ok()?;
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.find_map(|(name, value)| (name.trim() == "model name").then(|| value.trim().to_string()))
}

/// The busy time of the processors so far, in the system's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// All processors together, idle or not.
    all: u64,
    /// Not idle.
    busy: u64,
    /// Busy with this process.
    own: u64,
    /// The number of processors.
    processors: u64,
}

impl Ticks {
    /// As it stands now.
    pub fn now() -> Option<Ticks> {
        Ticks::read(&read_to_string("/proc/stat").ok()?, &read_to_string("/proc/self/stat").ok()?)
    }

    /// Parses `/proc/stat` and `/proc/self/stat`, see proc_stat(5) and proc_pid_stat(5).
    fn read(system: &str, own: &str) -> Option<Ticks> {
        const IDLE: usize = 3;
        const WAITING: usize = 4;
        let all = system.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // The first eight include the time of guests.
        let all: Vec<u64> = all.split_whitespace().take(8).map_while(|ticks| ticks.parse().ok()).collect();
        let is_processor = |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| !rest.starts_with(' '));
        let processors = system.lines().filter(is_processor).count() as u64;
        // The name of the program, in parentheses, may hold anything; the 14th and 15th fields are user and system time.
        let mut own =
            own.rsplit_once(')')?.1.split_whitespace().skip(11).map_while(|ticks| ticks.parse().ok());
        let own = own.next().zip(own.next()).map(|(user, system): (u64, u64)| user + system)?;
        let idle = all.get(IDLE)? + all.get(WAITING).copied().unwrap_or(0);
        let all = all.iter().sum::<u64>();
        Some(Ticks { all, busy: all.saturating_sub(idle), own, processors })
    }

    /// The average number of processors that other processes have kept busy since `earlier`; `None` where no tick has passed.
    pub fn others_since(&self, earlier: &Ticks) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|&all| all > 0)?;
        let others =
            (self.busy.saturating_sub(earlier.busy)).saturating_sub(self.own.saturating_sub(earlier.own));
        Some(self.processors as f64 * others as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_else_was_busy_is_what_was_busy_less_oneself() {
        let system = |user: u64, idle: u64| {
            format!("cpu  {user} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n")
        };
        let own = |user: u64| format!("12 (a ) name) R 1 1 1 0 -1 0 0 0 0 0 {user} 5 0 0 20\n");
        let earlier = Ticks::read(&system(100, 900), &own(50)).unwrap();
        // 200 ticks on two processors: 150 busy, 100 of them here; the other 50 are half a processor.
        let later = Ticks::read(&system(250, 950), &own(150)).unwrap();
        assert_eq!(later.others_since(&earlier), Some(0.5));
        assert_eq!(later.others_since(&later), None);
    }

    #[test]
    fn files_of_another_form_say_nothing() {
        assert_eq!(Ticks::read("", ""), None);
        assert_eq!(Ticks::read("cpu  1 2\n", "1 (x) R"), None);
    }
}
