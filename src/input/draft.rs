//! A file that appears whole or not at all.
//!
//! It is written without a name where the file system can do that: a program that is killed leaves nothing behind. Only when it
//! is whole does it get a name beside the target, which it then replaces. Elsewhere it has that name from the start, and a
//! signal that would end the program waits until it is removed.

use std::fs::{File, Permissions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::{Builder, TempDir, TempPath};

use crate::terminal::DeferredSignals;

use super::open::examined;

/// The outcome of writing a file: its error may be that of a format's writer.
pub(super) type WriteResult = std::result::Result<(), Box<dyn std::error::Error>>;

/// The prefix of temporary names.
pub(super) const PREFIX: &str = ".attn-";
/// A chain of more links is a loop.
const MOST_LINKS: usize = 40;

/// A file that is being written.
pub(super) struct Draft {
    file: File,
    /// The name that it has from the start, where it must have one.
    named: Option<(TempPath, DeferredSignals)>,
    /// The first error. After it all writes are ignored: a format's writer that finishes its file when it is dropped would
    /// report the error once more.
    failed: Option<String>,
}

impl Draft {
    fn beside(target: &Path) -> io::Result<Draft> {
        let folder = folder_of(target);
        if let Some(file) = unnamed(folder) {
            return Ok(Draft { file, named: None, failed: None });
        }
        let held = DeferredSignals::new();
        let (file, name) = builder().tempfile_in(folder)?.into_parts();
        Ok(Draft { file, named: Some((name, held)), failed: None })
    }

    /// Takes note of a failure.
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && error.kind() != ErrorKind::Interrupted
        {
            self.failed.get_or_insert(error.kind().to_string());
        }
        done
    }

    /// Puts what has been written in the place of the target.
    fn persist(self, target: &Path) -> WriteResult {
        let Draft { file, named, failed } = self;
        if let Some(why) = failed {
            return Err(why.into());
        }
        if let Some(existing) = examined(target, fs::metadata(target))? {
            file.set_permissions(plain(existing.permissions()))?;
        }
        file.sync_all()?;
        let (name, _held) = match named {
            Some(named) => named,
            None => {
                let held = DeferredSignals::new();
                let named = builder().make_in(folder_of(target), |path| link(&file, path))?;
                (named.into_temp_path(), held)
            }
        };
        Ok(name.persist(target).map_err(|error| error.error)?)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_some() {
            return Ok(bytes.len());
        }
        if let Some((_, held)) = &self.named
            && held.is_pending()
        {
            return self.noted(Err(io::Error::other("a signal ends the program")));
        }
        let written = self.file.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.noted(flushed)
    }
}

impl Seek for Draft {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Fills a draft and puts it in the place of a file, which may be there already.
pub(super) fn write_whole(path: &Path, fill: impl FnOnce(&mut Draft) -> WriteResult) -> WriteResult {
    // Through a link the file behind it is replaced, not the link.
    let target = behind_links(path)?;
    let mut draft = Draft::beside(&target)?;
    if let Err(error) = fill(&mut draft) {
        return Err(draft.failed.map_or(error, Into::into));
    }
    draft.persist(&target)
}

/// The file that is written under this name: behind links, and with the folder that it really stands in.
pub fn target(path: &Path) -> PathBuf {
    let target = behind_links(path).unwrap_or_else(|_| path.to_path_buf());
    match (fs::canonicalize(folder_of(&target)), target.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => target,
    }
}

/// The path at the end of a chain of links, which need not exist.
pub(super) fn behind_links(path: &Path) -> std::result::Result<PathBuf, Box<dyn std::error::Error>> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            // It is no link, or nothing.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(target);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err("the link leads back to itself".into())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Files with a temporary name and the mode 0666, which the system reduces by the umask.
fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(NEW));
    builder
}

#[cfg(unix)]
const NEW: u32 = 0o666;

/// Who may do what with a file, and nothing else: a program that takes on its owner's rights is not to have other contents.
#[cfg(unix)]
pub(super) fn plain(permissions: Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(permissions.mode() & 0o777)
}

#[cfg(not(unix))]
pub(super) fn plain(permissions: Permissions) -> Permissions {
    permissions
}

/// A file without a name in this folder, where the file system has such files and they can be given names.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, folder, flags, Mode::from_raw_mode(NEW)).ok()?);
    fs::metadata(by_number(&file)).is_ok().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name one.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, by_number(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// The path of an open file, as Linux lists them.
#[cfg(target_os = "linux")]
fn by_number(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

// A folder that appears whole or not at all.
//
// It is written beside its target, under a hidden name, and takes the target's place once it is whole and on the disk. A folder that is
// there changes names with it in one step, so that no moment has a half of each. A folder that is being written is locked; one that is
// not was left by a program that was killed.

/// The characters at the end of a hidden name.
const DRAWN: usize = 6;

/// A folder that is being written.
pub(super) struct FolderDraft {
    folder: TempDir,
    target: PathBuf,
    /// Locked until the folder has its name.
    _lock: Option<File>,
}

impl FolderDraft {
    /// A new folder beside the target, in the folder above, which is made if it is missing.
    pub(super) fn beside(target: &Path) -> io::Result<FolderDraft> {
        let target = real(target);
        fs::create_dir_all(folder_of(&target))?;
        loop {
            let folder = hidden(&target)?;
            match locked(folder.path()) {
                Lock::Taken => {}
                Lock::Own(lock) => return Ok(FolderDraft { folder, target, _lock: Some(lock) }),
                Lock::None => return Ok(FolderDraft { folder, target, _lock: None }),
            }
        }
    }

    /// Writes a file into it, such as `checkpoints/step-5.safetensors`.
    pub(super) fn write(&self, name: &str, fill: impl FnOnce(&mut File) -> WriteResult) -> WriteResult {
        let path = self.folder.path().join(name);
        fs::create_dir_all(folder_of(&path))?;
        let written = fill(&mut File::create_new(&path)?);
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    }

    /// Takes the place of a target that is missing or empty, and with `clean` of any. `clean` is called for the folder that was there,
    /// under its hidden name, and for those that killed programs have left.
    pub(super) fn persist(self, clean: Option<&dyn Fn(&Path)>) -> io::Result<()> {
        let FolderDraft { folder, target, _lock } = self;
        let _held = DeferredSignals::new();
        if let Ok(there) = fs::metadata(&target) {
            fs::set_permissions(folder.path(), plain(there.permissions()))?;
        }
        synced(folder.path())?;
        let left = put_in_place(folder.path(), &target, clean.is_some())?;
        // Its name belongs to what was there, or to nobody.
        let _ = folder.keep();
        // A folder that has its name keeps it, even if that is lost when the power fails now.
        let _ = File::open(folder_of(&target)).and_then(|above| above.sync_all());
        if let Some(clean) = clean {
            left.iter().for_each(|left| clean(left));
            for left in leftovers(&target) {
                if let Lock::Own(_lock) = locked(&left) {
                    clean(&left);
                }
            }
        }
        Ok(())
    }
}

/// The folder's own path, without links.
pub(super) fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| target(folder))
}

/// A lock on a folder.
enum Lock {
    Own(File),
    /// Another program has it, or the folder is gone.
    Taken,
    /// The system has none for folders.
    None,
}

fn locked(folder: &Path) -> Lock {
    let lock = match File::open(folder) {
        Ok(lock) => lock,
        Err(error) if error.kind() == ErrorKind::NotFound => return Lock::Taken,
        Err(_) => return Lock::None,
    };
    match lock.try_lock() {
        // Another program may have removed it meanwhile.
        Ok(()) if fs::metadata(folder).is_ok() => Lock::Own(lock),
        Ok(()) | Err(fs::TryLockError::WouldBlock) => Lock::Taken,
        Err(fs::TryLockError::Error(_)) => Lock::None,
    }
}

/// What hidden names of a target begin with.
fn beginning(target: &Path) -> String {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // Room for the rest of the name.
    if name.len() > 200 { PREFIX.to_string() } else { format!("{PREFIX}{name}-") }
}

/// A new folder beside the target, under a hidden name.
fn hidden(target: &Path) -> io::Result<TempDir> {
    let beginning = beginning(target);
    let mut builder = Builder::new();
    builder.prefix(&beginning).rand_bytes(DRAWN);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(folder_of(target))
}

/// Folders beside the target that have a hidden name of it.
fn leftovers(target: &Path) -> Vec<PathBuf> {
    let (beginning, above) = (beginning(target), folder_of(target));
    let is_drawn =
        |drawn: &str| drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let names = fs::read_dir(above).into_iter().flatten();
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let hidden = names.filter(|name| name.strip_prefix(&beginning).is_some_and(is_drawn));
    hidden.map(|name| above.join(name)).filter(|path| path.is_dir()).collect()
}

/// Waits until all files of a folder are on the disk.
fn synced(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            synced(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    // Only Unix opens folders.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Gives a folder the target's name. Returns the name of what was there, if anything.
fn put_in_place(new: &Path, target: &Path, replace: bool) -> io::Result<Option<PathBuf>> {
    loop {
        if cfg!(not(unix)) {
            // There an empty folder is not replaced; one that is not empty stays.
            let _ = fs::remove_dir(target);
        }
        let Err(error) = fs::rename(new, target) else { return Ok(None) };
        if !(replace && target.is_dir()) {
            return Err(error);
        }
        match exchanged(new, target) {
            // Somebody has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound && new.is_dir() => {}
            exchanged => return exchanged.map(Some),
        }
    }
}

/// Lets two folders change names. Returns the name that what was in the target's place has then.
fn exchanged(new: &Path, target: &Path) -> io::Result<PathBuf> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(new.to_path_buf()),
            // Few file systems cannot do that.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // In two steps: a program that is killed between them leaves both, whole, under hidden names.
    let aside = hidden(target)?.keep();
    fs::remove_dir(&aside)?;
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(new, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_str().unwrap().to_string()).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn while_a_file_is_written_nothing_is_there_that_a_killed_program_could_leave() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        for contents in ["first", "second"] {
            let before = names(place.path());
            write_whole(&path, |draft| {
                draft.write_all(contents.as_bytes())?;
                draft.flush()?;
                assert_eq!(names(place.path()), before);
                Ok(())
            })
            .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), contents);
        }
        assert_eq!(names(place.path()), ["x"]);
    }

    #[test]
    fn a_draft_with_a_name_takes_the_targets_place_or_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        let draft = || {
            let (file, name) = builder().tempfile_in(place.path()).unwrap().into_parts();
            Draft { file, named: Some((name, DeferredSignals::new())), failed: None }
        };
        let mut whole = draft();
        whole.write_all(b"whole").unwrap();
        assert_eq!(names(place.path()).len(), 1);
        whole.persist(&path).unwrap();
        let mut broken = draft();
        broken.write_all(b"half").unwrap();
        assert_eq!(names(place.path()).len(), 2);
        broken.failed = Some("it failed".to_string());
        // Writes after an error are ignored: a writer may finish its file when it is dropped.
        assert!(broken.write_all(b"rest").is_ok());
        assert_eq!(broken.persist(&path).unwrap_err().to_string(), "it failed");
        assert_eq!(names(place.path()), ["x"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    }
}
