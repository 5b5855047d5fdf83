//! Who keeps the plain path where names repeat, are odd, or use a file as a
//! folder.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Included, Unbounded};

use rayon::prelude::*;

use super::{MAX_ALL, MAX_PATH, Paths, TooLong, cmp_by_segment, is_below, too_long};

/// Repeats, or a file used as a folder, anywhere?
pub(super) fn has_conflict(paths: &Paths, directories: &[bool]) -> bool {
    let mut order: Vec<u32> = (0..paths.len() as u32).collect();
    if !order
        .is_sorted_by(|&a, &b| cmp_by_segment(paths.get(a as usize), paths.get(b as usize)).is_le())
    {
        order.par_sort_unstable_by(|&a, &b| {
            cmp_by_segment(paths.get(a as usize), paths.get(b as usize))
        });
    }
    let mut above: Option<u32> = None; // the nearest file before, in this order
    let mut previous: Option<&str> = None;
    for &index in &order {
        let path = paths.get(index as usize);
        if previous == Some(path) {
            return true;
        }
        if above.is_some_and(|file| is_below(path, paths.get(file as usize))) {
            return true;
        }
        if !directories[index as usize] {
            above = Some(index);
        }
        previous = Some(path);
    }
    false
}

/// Entries that have the same name.
struct Group {
    /// The last one.
    keeper: u32,
    /// The escaped form of the name; each file used as a folder has `%2F`.
    base: String,
    /// Whether the keeper still needs a path of its own.
    moves: bool,
}

/// An entry that does not have its own path.
struct Waiting {
    index: u32,
    group: u32,
    /// 1-based, among the entries of the same name.
    place: u32,
}

/// The slow path: some name is odd, repeated, or a file used as a folder.
/// Linear in what is listed but for sorting, also where names are made to
/// collide; no set of all folders is ever held.
pub(super) fn settle(paths: &mut Paths, directories: &[bool]) -> Result<(), TooLong> {
    let mut sorting = Sorting::new(paths, directories);
    sorting.group()?;
    let Sorting {
        kept,
        groups,
        mut waiting,
        repeated,
        ..
    } = sorting;
    let mut taken = Taken {
        paths,
        directories,
        kept,
        added: BTreeMap::new(),
        marked: HashMap::new(),
        numbers: HashMap::new(),
    };
    let mut moved: HashMap<u32, String> = HashMap::with_capacity(waiting.len());
    waiting.sort_unstable_by_key(|entry| entry.index);
    for entry in &waiting {
        let group = &groups[entry.group as usize];
        let directory = directories[entry.index as usize];
        let base = taken.below_no_file(&group.base);
        let keeps = group.moves && group.keeper == entry.index && taken.is_free(&base, directory);
        let path = if keeps {
            base
        } else {
            taken.number(base, entry.place, directory)
        };
        if path.len() > MAX_PATH {
            return Err(TooLong::Path(entry.index as usize));
        }
        taken.take(&path, directory);
        moved.insert(entry.index, path);
    }
    let mut settled = Paths {
        normalized: paths.normalized,
        escaped: waiting.iter().map(|entry| entry.index).collect(),
        repeated_directories: repeated,
        ..Paths::default()
    };
    settled.repeated_directories.sort_unstable();
    settled.spans.reserve_exact(paths.len());
    for index in 0..paths.len() {
        let path = moved.get(&(index as u32)).map(String::as_str);
        let path = path.unwrap_or_else(|| paths.get(index));
        if !settled.push(path) {
            return Err(too_long(path, index));
        }
    }
    *paths = settled;
    Ok(())
}

/// Sorts entries into those that keep their path and those that do not.
struct Sorting<'a> {
    paths: &'a Paths,
    directories: &'a [bool],
    /// Entries that keep their path, in segment order.
    kept: Vec<u32>,
    groups: Vec<Group>,
    waiting: Vec<Waiting>,
    repeated: Vec<u32>,
    /// Bytes of all bases.
    bytes: usize,
}

impl<'a> Sorting<'a> {
    fn new(paths: &'a Paths, directories: &'a [bool]) -> Self {
        Self {
            paths,
            directories,
            kept: Vec::new(),
            groups: Vec::new(),
            waiting: Vec::new(),
            repeated: Vec::new(),
            bytes: 0,
        }
    }

    fn path(&self, index: u32) -> &'a str {
        self.paths.get(index as usize)
    }

    fn group(&mut self) -> Result<(), TooLong> {
        let mut order: Vec<(u32, bool)> = (0..self.paths.len() as u32)
            .map(|index| (index, self.paths.is_escaped(index as usize)))
            .collect();
        order.par_sort_unstable_by(|a, b| {
            let paths = cmp_by_segment(self.path(a.0), self.path(b.0));
            paths.then_with(|| (a.1, a.0).cmp(&(b.1, b.0)))
        });
        // Files above the path at hand, and whether they are odd.
        let mut files: Vec<(u32, bool)> = Vec::new();
        let paths = self.paths;
        let same = |a: u32, b: u32| paths.get(a as usize) == paths.get(b as usize);
        for run in order.chunk_by(|a, b| a.1 == b.1 && same(a.0, b.0)) {
            let Some(&(keeper, odd)) = run.last() else {
                continue;
            };
            let path = self.path(keeper);
            while files
                .last()
                .is_some_and(|&(file, _)| !is_same_or_below(path, self.path(file)))
            {
                files.pop();
            }
            let marks = files
                .iter()
                .filter(|&&(file, file_odd)| {
                    (odd || !file_odd) && self.path(file).len() < path.len()
                })
                .map(|&(file, _)| self.path(file).len());
            let base = (odd || run.len() > 1 || marks.clone().next().is_some())
                .then(|| mark(path, odd, marks));
            self.add_run(run, base)?;
            if !self.directories[keeper as usize] {
                files.push((keeper, odd));
            }
        }
        Ok(())
    }

    fn add_run(
        &mut self,
        run: &[(u32, bool)],
        base: Option<(String, bool)>,
    ) -> Result<(), TooLong> {
        let Some(&(keeper, odd)) = run.last() else {
            return Ok(());
        };
        let Some((base, marked)) = base else {
            self.kept.push(keeper);
            return Ok(());
        };
        self.bytes += base.len();
        if self.bytes > MAX_ALL {
            return Err(TooLong::All);
        }
        let moves = odd || marked;
        if !moves {
            self.kept.push(keeper);
        }
        let group = self.groups.len() as u32;
        let both_directories =
            |index: u32| self.directories[index as usize] && self.directories[keeper as usize];
        for (place, &(index, _)) in (1..).zip(run) {
            if index != keeper && both_directories(index) {
                self.repeated.push(index);
            } else if index != keeper || moves {
                self.waiting.push(Waiting {
                    index,
                    group,
                    place,
                });
            }
        }
        self.groups.push(Group {
            keeper,
            base,
            moves,
        });
        Ok(())
    }
}

fn is_same_or_below(path: &str, folder: &str) -> bool {
    path == folder || is_below(path, folder)
}

/// The escaped form of a path with `%2F` at `marks`; whether there were any.
fn mark(path: &str, odd: bool, marks: impl Iterator<Item = usize>) -> (String, bool) {
    let mut out = String::with_capacity(path.len() + 3);
    let mut from = 0;
    // A plain and an odd file may have the same path: marked once.
    for at in marks {
        if at > from {
            push_escaped(&path[from..at], odd, &mut out);
            out.push_str("%2F");
            from = at;
        }
    }
    push_escaped(&path[from..], odd, &mut out);
    (out, from > 0)
}

pub(super) fn push_escaped(part: &str, is_escaped: bool, out: &mut String) {
    if is_escaped {
        out.push_str(part);
        return;
    }
    for (number, piece) in part.split('%').enumerate() {
        if number > 0 {
            out.push_str("%25");
        }
        out.push_str(piece);
    }
}

/// Paths that are given away: those that entries kept, and those added since.
/// Nothing taken ever lies below a taken file.
struct Taken<'a> {
    paths: &'a Paths,
    directories: &'a [bool],
    /// In segment order.
    kept: Vec<u32>,
    /// By path with NUL for `/`, which is segment order; whether directory.
    added: BTreeMap<String, bool>,
    /// Files that a path lay below, and their form with marks.
    marked: HashMap<String, String>,
    /// By base and kind: a number that is taken, and the next to try.
    numbers: HashMap<(String, bool), HashMap<u32, u32>>,
}

impl Taken<'_> {
    fn kept_path(&self, at: usize) -> Option<&str> {
        Some(self.paths.get(*self.kept.get(at)? as usize))
    }

    /// How many kept paths stand before `path`.
    fn kept_before(&self, path: &str) -> usize {
        self.kept
            .partition_point(|&index| cmp_by_segment(self.paths.get(index as usize), path).is_lt())
    }

    /// The length of the taken file that `path` lies below: nothing can stand
    /// between the two.
    fn file_above(&self, path: &str) -> Option<usize> {
        let before = self.kept_before(path).checked_sub(1);
        let kept = before
            .and_then(|at| {
                Some((
                    self.kept_path(at)?,
                    self.directories[self.kept[at] as usize],
                ))
            })
            .filter(|&(file, directory)| !directory && is_below(path, file))
            .map(|(file, _)| file.len());
        kept.or_else(|| {
            let key = segment_key(path);
            let (file, &directory) = self
                .added
                .range::<str, _>((Unbounded, Excluded(key.as_str())))
                .next_back()?;
            (!directory && is_below_key(&key, file)).then_some(file.len())
        })
    }

    /// Marks files that `base` would lie below.
    fn below_no_file(&mut self, base: &str) -> String {
        let mut path = base.to_owned();
        while path.len() <= MAX_PATH {
            let Some(len) = self.file_above(&path) else {
                break;
            };
            let mut head = path[..len].to_owned();
            let mut passed = Vec::new();
            while head.len() <= MAX_PATH && self.is_file(&head) {
                let next = match self.marked.get(&head) {
                    Some(next) => next.clone(),
                    None => format!("{head}%2F"),
                };
                passed.push(std::mem::replace(&mut head, next));
            }
            path.replace_range(..len, &head);
            let passed = passed.into_iter().map(|file| (file, head.clone()));
            self.marked.extend(passed);
        }
        path
    }

    fn is_file(&self, path: &str) -> bool {
        let at = self.kept_before(path);
        if self.kept_path(at) == Some(path) {
            return !self.directories[self.kept[at] as usize];
        }
        self.added.get(&segment_key(path)) == Some(&false)
    }

    fn is_free(&self, path: &str, directory: bool) -> bool {
        let at = self.kept_before(path);
        if self.kept_path(at) == Some(path) {
            return false;
        }
        let key = segment_key(path);
        if self.added.contains_key(&key) {
            return false;
        }
        // What is below it would follow directly.
        let folder = !directory
            && (self.kept_path(at).is_some_and(|next| is_below(next, path))
                || self
                    .added
                    .range::<str, _>((Included(key.as_str()), Unbounded))
                    .next()
                    .is_some_and(|(next, _)| is_below_key(next, &key)));
        !folder
    }

    fn take(&mut self, path: &str, directory: bool) {
        self.added.insert(segment_key(path), directory);
    }

    /// `base%23N` for the first N from `place` on that is free.
    fn number(&mut self, base: String, place: u32, directory: bool) -> String {
        let key = (base, directory);
        let mut known = self.numbers.remove(&key).unwrap_or_default();
        let mut passed = Vec::new();
        let mut number = place;
        let path = loop {
            if let Some(&next) = known.get(&number) {
                passed.push(number);
                number = next;
                continue;
            }
            let path = format!("{}%23{number}", key.0);
            if path.len() > MAX_PATH || self.is_free(&path, directory) {
                break path;
            }
            passed.push(number);
            number += 1;
        };
        // All of these lead behind the number that is taken now.
        passed.push(number);
        known.extend(passed.into_iter().map(|passed| (passed, number + 1)));
        self.numbers.insert(key, known);
        path
    }
}

/// A path as a key whose byte order is [`cmp_by_segment`].
fn segment_key(path: &str) -> String {
    path.replace('/', "\0")
}

fn is_below_key(key: &str, folder: &str) -> bool {
    key.len() > folder.len()
        && key.as_bytes()[folder.len()] == 0
        && key.as_bytes().starts_with(folder.as_bytes())
}
