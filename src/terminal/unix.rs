//! What a terminal needs of the system, on Unix.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getpgrp, getsid, kill_current_process_group, test_kill_process};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts;

use super::cells::write;
use super::keys::Readiness;

/// The signals that end a program and can be waited for; those of a fault cannot. `SIGABRT` can if another process sends it: a
/// program that aborts itself ends in spite of a handler.
pub(super) const ENDING: &[i32] = &[
    consts::SIGINT,
    consts::SIGTERM,
    consts::SIGHUP,
    consts::SIGQUIT,
    consts::SIGABRT,
    consts::SIGALRM,
    consts::SIGUSR1,
    consts::SIGUSR2,
    consts::SIGVTALRM,
    consts::SIGPROF,
    consts::SIGXCPU,
    consts::SIGXFSZ,
];
/// The signals that a program with a screen listens to as well: the last one tells it of another size.
pub(super) const OF_SCREEN: &[i32] = &[STOPS, CONTINUES, consts::SIGWINCH];
pub(super) const STOPS: i32 = consts::SIGTSTP;
pub(super) const CONTINUES: i32 = consts::SIGCONT;

/// Lets keys come one by one without an echo, or puts the terminal back to what it was.
pub(super) fn put_raw(raw: bool) -> io::Result<()> {
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    match before.take() {
        Some(found) if !raw => tcsetattr(stdin(), OptionalActions::Now, &found)?,
        None if raw => {
            let found = tcgetattr(stdin())?;
            let mut settings = found.clone();
            settings.make_raw();
            tcsetattr(stdin(), OptionalActions::Now, &settings)?;
            *before = Some(found);
        }
        unchanged => *before = unchanged,
    }
    Ok(())
}

/// Has the terminal report clicks, in three dialects of which it takes the last that it knows.
pub(super) fn read_clicks(reads: bool) -> io::Result<()> {
    write(if reads { "\x1b[?1000h\x1b[?1015h\x1b[?1006h" } else { "\x1b[?1006l\x1b[?1015l\x1b[?1000l" })
}

/// Waits for a key on standard input, no longer than this. Asked before any key is read: the reading of keys would wait for
/// ever at a terminal that is gone.
///
/// # Errors
/// If standard input cannot be waited for.
pub(crate) fn wait(longest: Duration) -> io::Result<Readiness> {
    let stdin = stdin();
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    let longest = Timespec::try_from(longest).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
    match poll(&mut waiting, Some(&longest)) {
        Err(rustix::io::Errno::INTR) => Ok(Readiness::Nothing),
        Err(error) => Err(error.into()),
        Ok(0) => Ok(Readiness::Nothing),
        Ok(_) if waiting[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Ok(Readiness::Gone)
        }
        Ok(_) => Ok(Readiness::Ready),
    }
}

/// Stops the program, and all others of its group, until the shell calls them back. Without a shell that could, nothing happens.
///
/// # Errors
/// If the system refuses.
pub(super) fn suspend() -> io::Result<()> {
    // A program that listens to SIGTSTP is not stopped by it. In the group of what began the session there is no shell above.
    if getsid(None)? == getpgrp() { Ok(()) } else { Ok(kill_current_process_group(Signal::STOP)?) }
}

/// Whether a process still runs; where nobody can tell, it is taken to.
pub(crate) fn is_running(process: u32) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}
