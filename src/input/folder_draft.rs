//! A folder that appears whole or not at all.
//!
//! It is written beside its target, under a hidden name, and takes the target's place once it is whole and on the disk. A folder that is
//! there changes names with it in one step, so that no moment has a half of each. A folder that is being written is locked; one that is
//! not was left by a program that was killed.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

use super::draft::{self, PREFIX, WriteResult, folder_of, plain};
use crate::terminal::DeferredSignals;

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

    /// Takes the place of a target that is missing or empty.
    pub(super) fn persist_new(self) -> io::Result<()> {
        self.persist(false, |_| ())
    }

    /// Takes the place of the target. `clean` is called for the folder that was there, under its hidden name, and for those that killed
    /// programs have left.
    pub(super) fn replace(self, clean: impl Fn(&Path)) -> io::Result<()> {
        self.persist(true, clean)
    }

    fn persist(self, replace: bool, clean: impl Fn(&Path)) -> io::Result<()> {
        let FolderDraft { folder, target, _lock } = self;
        let _held = DeferredSignals::new();
        if let Ok(there) = fs::metadata(&target) {
            fs::set_permissions(folder.path(), plain(there.permissions()))?;
        }
        synced(folder.path())?;
        let left = put_in_place(folder.path(), &target, replace)?;
        // Its name belongs to what was there, or to nobody.
        let _ = folder.keep();
        // A folder that has its name keeps it, even if that is lost when the power fails now.
        let _ = File::open(folder_of(&target)).and_then(|above| above.sync_all());
        left.iter().for_each(|left| clean(left));
        if replace {
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
    fs::canonicalize(folder).unwrap_or_else(|_| draft::target(folder))
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
    let is_hidden = |name: &str| {
        let drawn = name.strip_prefix(&beginning);
        drawn.is_some_and(|drawn| {
            drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    let names = fs::read_dir(above)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| is_hidden(name)).map(|name| above.join(name)).filter(|path| path.is_dir()).collect()
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
