//! Many files at once: a walk in the order of the paths, and work on many
//! threads whose results come in that order.
//!
//! Memory stays flat however many files there are: the bytes of files that are
//! worked on are bounded, and so are the results that wait for their turn.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::artifact::fault::path_error;
use crate::error::{Code, Error, Result};
use crate::operation::Context;
use crate::publish::display_path;

/// Bytes of files that are worked on at a time; one that is larger is worked
/// on alone.
const IN_FLIGHT: u64 = 192 << 20;
/// Results a thread that may wait for those before them.
const WAITING: u64 = 16;

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The folder as it was given, and the path in it.
    pub path: PathBuf,
    /// Its size when it was found.
    pub size: u64,
}

/// The regular files below a folder, in the order of the bytes of their paths.
/// Symbolic links are not followed; what cannot be listed is an error at its
/// place.
#[derive(Debug)]
pub struct Files {
    operation: &'static str,
    /// For each open folder what is left of it, the next one last.
    open: Vec<Vec<Entry>>,
    links: u64,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    name: OsString,
    folder: bool,
}

impl Files {
    /// The files below `folder`.
    ///
    /// # Errors
    /// `target_unavailable` and `access_denied` where it cannot be listed,
    /// `unsupported_target` where it is no folder.
    pub fn below(folder: &Path, operation: &'static str) -> Result<Self> {
        let shown = display_path(folder);
        let metadata =
            fs::metadata(folder).map_err(|error| path_error(&error, &shown, operation))?;
        if !metadata.is_dir() {
            return Err(
                Error::new(Code::UnsupportedTarget, format!("{shown} is no folder"))
                    .action("Give a folder, or the file itself without --recursive.")
                    .detail("operation", operation)
                    .detail("path", shown.as_ref())
                    .detail("reason", "not_a_folder"),
            );
        }
        let mut files = Self {
            operation,
            open: Vec::new(),
            links: 0,
        };
        files.enter(folder)?;
        Ok(files)
    }

    /// Symbolic links that were passed by.
    pub fn links(&self) -> u64 {
        self.links
    }

    fn enter(&mut self, folder: &Path) -> Result<()> {
        let failed =
            |error: std::io::Error| path_error(&error, &display_path(folder), self.operation);
        let mut entries = Vec::new();
        let mut links = 0;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() {
                links += 1;
            } else if kind.is_dir() || kind.is_file() {
                entries.push(Entry {
                    path: entry.path(),
                    name: entry.file_name(),
                    folder: kind.is_dir(),
                });
            }
        }
        self.links += links;
        // The next one is taken from the end.
        entries.sort_unstable_by(|one, other| other.order(one));
        self.open.push(entries);
        Ok(())
    }
}

impl Entry {
    /// As whole paths are ordered: what is in a folder stands after its name
    /// and a slash.
    fn order(&self, other: &Self) -> Ordering {
        let bytes = |entry: &Self| {
            let slash = entry.folder.then_some(b'/');
            entry.name.as_bytes().to_vec().into_iter().chain(slash)
        };
        bytes(self).cmp(bytes(other))
    }
}

impl Iterator for Files {
    type Item = Result<Found>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(entry) = self.open.last_mut()?.pop() else {
                self.open.pop();
                continue;
            };
            if entry.folder {
                match self.enter(&entry.path) {
                    Ok(()) => continue,
                    Err(error) => return Some(Err(error)),
                }
            }
            let found = fs::symlink_metadata(&entry.path);
            return Some(match found {
                Ok(metadata) => Ok(Found {
                    path: entry.path,
                    size: metadata.len(),
                }),
                Err(error) => {
                    let shown = display_path(&entry.path);
                    Err(path_error(&error, &shown, self.operation))
                }
            });
        }
    }
}

/// The first `length` bytes of a file, or all of a shorter one.
///
/// # Errors
/// `target_unavailable`, `access_denied`.
pub fn head(path: &Path, length: usize, operation: &'static str) -> Result<Vec<u8>> {
    let shown = display_path(path);
    let mut bytes = Vec::with_capacity(length);
    File::open(path)
        .and_then(|file| file.take(length as u64).read_to_end(&mut bytes))
        .map_err(|error| path_error(&error, &shown, operation))?;
    Ok(bytes)
}

/// What the threads share.
struct State<'f, T> {
    files: &'f mut Files,
    /// The file that comes next, once it is known.
    peeked: Option<Result<Found>>,
    ended: bool,
    /// The number of the next file, and of the next result.
    next: u64,
    told: u64,
    /// Bytes of files that are worked on.
    in_flight: u64,
    done: BTreeMap<u64, Result<(Found, T)>>,
    stop: bool,
}

struct Shared<'f, T> {
    state: Mutex<State<'f, T>>,
    wake: Condvar,
}

/// A panic on one thread must not leave the others waiting.
struct Stop<'s, 'f, T>(&'s Shared<'f, T>);

impl<T> Drop for Stop<'_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stop = true;
            self.0.wake.notify_all();
        }
    }
}

impl<'f, T> Shared<'f, T> {
    fn lock(&self) -> MutexGuard<'_, State<'f, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State<'f, T>>) -> MutexGuard<'g, State<'f, T>> {
        self.wake
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next file, its number and the bytes that are reserved for it.
    fn take(&self, waiting: u64) -> Option<(u64, Result<Found>, u64)> {
        let mut state = self.lock();
        loop {
            if state.stop || state.ended {
                return None;
            }
            if state.peeked.is_none() {
                state.peeked = state.files.next();
            }
            let size = match &state.peeked {
                None => {
                    state.ended = true;
                    self.wake.notify_all();
                    return None;
                }
                Some(Ok(found)) => found.size,
                Some(Err(_)) => 0,
            };
            let room = state.in_flight == 0 || state.in_flight.saturating_add(size) <= IN_FLIGHT;
            if room && state.next - state.told < waiting {
                let number = state.next;
                let found = state.peeked.take()?;
                state.next += 1;
                state.in_flight = state.in_flight.saturating_add(size);
                return Some((number, found, size));
            }
            state = self.wait(state);
        }
    }

    fn finish(&self, number: u64, size: u64, result: Result<(Found, T)>) {
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(size);
        state.done.insert(number, result);
        self.wake.notify_all();
    }

    /// The result whose turn it is; `None` after the last one.
    fn next_result(&self) -> Option<Result<(Found, T)>> {
        let mut state = self.lock();
        loop {
            let told = state.told;
            if let Some(result) = state.done.remove(&told) {
                return Some(result);
            }
            if state.stop || state.ended && told == state.next {
                return None;
            }
            state = self.wait(state);
        }
    }

    fn told(&self) {
        self.lock().told += 1;
        self.wake.notify_all();
    }
}

/// Does `work` on all files, on as many threads as the context has, and tells
/// the results to `each` in the order of the files.
///
/// # Errors
/// What `each` returns, and `cancelled`.
pub fn in_order<T: Send>(
    files: &mut Files,
    context: &Context,
    work: impl Fn(&Found) -> T + Sync,
    mut each: impl FnMut(Result<(Found, T)>) -> Result<()>,
) -> Result<()> {
    let shared = Shared {
        state: Mutex::new(State {
            files,
            peeked: None,
            ended: false,
            next: 0,
            told: 0,
            in_flight: 0,
            done: BTreeMap::new(),
            stop: false,
        }),
        wake: Condvar::new(),
    };
    let threads = context.threads.max(1);
    let waiting = WAITING * threads as u64;
    let worker = || {
        let _stop = Stop(&shared);
        while let Some((number, found, size)) = shared.take(waiting) {
            let result = found.map(|found| {
                let result = work(&found);
                (found, result)
            });
            shared.finish(number, size, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
        let _stop = Stop(&shared);
        let mut told = || {
            while let Some(result) = shared.next_result() {
                context.check()?;
                each(result)?;
                shared.told();
            }
            context.check()
        };
        let result = told();
        shared.lock().stop = true;
        shared.wake.notify_all();
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a-b", "a/c", "a/b/d", "a.x", "ab", "b/", "\u{e9}/z", "Z"] {
            let path = folder.path().join(path);
            if path.as_os_str().as_bytes().ends_with(b"/") {
                fs::create_dir_all(path).unwrap();
                continue;
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, path.as_os_str().as_bytes()).unwrap();
        }
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        folder
    }

    #[test]
    fn files_come_in_the_order_of_their_paths() {
        let folder = tree();
        let mut files = Files::below(folder.path(), "test").unwrap();
        let found: Vec<_> = files.by_ref().map(|found| found.unwrap().path).collect();
        let mut sorted = found.clone();
        sorted.sort_by(|one, other| {
            let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
            one.cmp(other)
        });
        assert_eq!(found, sorted);
        assert_eq!((found.len(), files.links()), (7, 1));
        assert!(Files::below(&folder.path().join("Z"), "test").is_err());
        assert!(Files::below(&folder.path().join("none"), "test").is_err());
    }

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        let folder = tree();
        let told = |threads: usize| {
            let mut context = Context::new("test");
            context.threads = threads;
            let mut files = Files::below(folder.path(), "test").unwrap();
            let mut told = Vec::new();
            let work = |found: &Found| {
                // The first ones take longest.
                std::thread::sleep(std::time::Duration::from_millis(40 - found.size.min(30)));
                found.size
            };
            in_order(&mut files, &context, work, |result| {
                told.push(result?);
                Ok(())
            })
            .unwrap();
            told
        };
        let one = told(1);
        assert_eq!(one.len(), 7);
        assert_eq!(one, told(8));
    }

    #[test]
    fn an_error_or_a_stop_ends_the_work() {
        let folder = tree();
        let context = Context::new("test");
        let mut files = Files::below(folder.path(), "test").unwrap();
        let result = in_order(&mut files, &context, |_| (), |_| Err(Error::cancelled("x")));
        assert!(result.is_err());
        context.cancellation.request(None);
        let mut files = Files::below(folder.path(), "test").unwrap();
        assert!(in_order(&mut files, &context, |_| (), |_| Ok(())).is_err());
    }
}
