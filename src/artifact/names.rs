//! From the names a container gives its members to logical paths.
//!
//! [`escape`] turns one raw name into a path that is safe to use, and
//! [`resolve`] settles all names of one container: repeats, files used as
//! folders, and who keeps the plain path.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Included, Unbounded};

use rayon::prelude::*;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The longest logical path, in bytes.
pub const MAX_PATH: usize = 65_535;

/// What a container's names may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Folders, tar, cpio: any byte but NUL and `/` is ordinary.
    Unix,
    /// ar: the same, and repeats are nothing to be told of (decision 4).
    Ar,
    /// ZIP: backslash, drive and UNC are odd.
    Zip,
    /// ASAR: as ZIP, and names come as segments whose own `/` is odd; the
    /// segments are joined by [`ASAR_SEPARATOR`].
    Asar,
}

/// Separates segments of raw ASAR names; JSON text cannot hold this byte.
pub const ASAR_SEPARATOR: u8 = 0xFF;

/// A member's path before conflicts are settled.
#[derive(Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// UTF-8, NFC, relative, `/`-separated.
    pub path: Cow<'a, str>,
    /// Whether a rule of decision 1 had to change the name.
    pub escaped: bool,
    /// Whether NFC changed it.
    pub normalized: bool,
}

/// Turns a raw name into a path. `directory` drops one trailing slash.
pub fn escape(raw: &[u8], style: Style, directory: bool) -> Path<'_> {
    if style == Style::Asar {
        return escape_asar(raw);
    }
    let name = match raw {
        [head @ .., b'/'] if directory && !head.is_empty() => head,
        _ => raw,
    };
    match std::str::from_utf8(name) {
        Ok(text) if !is_odd(name, style) => normalize(Cow::Borrowed(text), false),
        _ => normalize(Cow::Owned(escape_bytes(name, style)), true),
    }
}

fn is_odd(name: &[u8], style: Style) -> bool {
    if name.is_empty() || name.len() > 2 && style == Style::Zip && has_drive(name) {
        return true;
    }
    if style == Style::Zip && (name.contains(&b'\\') || has_drive(name)) {
        return true;
    }
    name.contains(&0)
        || name
            .split(|&b| b == b'/')
            .any(|s| matches!(s, b"" | b"." | b".."))
}

fn has_drive(name: &[u8]) -> bool {
    matches!(name, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn escape_bytes(name: &[u8], style: Style) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    let mut out = String::with_capacity(name.len() + 8);
    let mut segments = name.split(|&b| b == b'/').peekable();
    let mut first = true;
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        if segment.is_empty() && !(last && first) {
            // A slash that separates nothing: leading, repeated or trailing.
            if !last {
                out.push_str("%2F");
            } else if out.ends_with('/') {
                out.truncate(out.len() - 1);
                out.push_str("%2F");
            }
            first = false;
            continue;
        }
        escape_segment(segment, style, first, &mut out);
        if !last {
            out.push('/');
        }
        first = false;
    }
    out
}

fn escape_segment(segment: &[u8], style: Style, first: bool, out: &mut String) {
    if segment == b"." || segment == b".." {
        segment.iter().for_each(|_| out.push_str("%2E"));
        return;
    }
    let backslash = matches!(style, Style::Zip | Style::Asar);
    let drive = backslash && first && has_drive(segment);
    let mut at = 0;
    for chunk in segment.utf8_chunks() {
        for character in chunk.valid().chars() {
            let odd = match character {
                '\0' | '%' => true,
                '\\' => backslash,
                '/' => true,
                ':' => drive && at == 1,
                _ => false,
            };
            if odd {
                push_percent(character as u8, out);
            } else {
                out.push(character);
            }
            at += 1;
        }
        for &byte in chunk.invalid() {
            push_percent(byte, out);
            at += 1;
        }
    }
}

fn push_percent(byte: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(HEX[usize::from(byte >> 4)] as char);
    out.push(HEX[usize::from(byte & 15)] as char);
}

/// Link targets: bytes that are not UTF-8 and NUL are escaped, and `%` where
/// anything is.
pub fn escape_target(target: &[u8]) -> String {
    match std::str::from_utf8(target) {
        Ok(text) if !target.contains(&0) => text.to_owned(),
        _ => {
            let mut out = String::new();
            for (index, part) in target.split(|&b| b == b'/').enumerate() {
                if index > 0 {
                    out.push('/');
                }
                for chunk in part.utf8_chunks() {
                    for character in chunk.valid().chars() {
                        match character {
                            '\0' | '%' => push_percent(character as u8, &mut out),
                            _ => out.push(character),
                        }
                    }
                    chunk
                        .invalid()
                        .iter()
                        .for_each(|&byte| push_percent(byte, &mut out));
                }
            }
            out
        }
    }
}

fn escape_asar(raw: &[u8]) -> Path<'_> {
    let segments = || raw.split(|&b| b == ASAR_SEPARATOR);
    let odd_segment = |s: &[u8]| {
        matches!(s, b"" | b"." | b"..")
            || s.iter().any(|b| matches!(b, b'/' | b'\\' | 0))
            || std::str::from_utf8(s).is_err()
    };
    let odd = segments().any(odd_segment) || has_drive(raw);
    let mut out = String::with_capacity(raw.len());
    for (index, segment) in segments().enumerate() {
        if index > 0 {
            out.push('/');
        }
        match std::str::from_utf8(segment) {
            Ok(text) if !odd => out.push_str(text),
            _ if segment.is_empty() => out.push('%'),
            _ => escape_segment(segment, Style::Asar, index == 0, &mut out),
        }
    }
    normalize(Cow::Owned(out), odd)
}

fn normalize(text: Cow<'_, str>, escaped: bool) -> Path<'_> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Path {
            path: text,
            escaped,
            normalized: false,
        };
    }
    let composed: String = text.nfc().collect();
    let normalized = composed != *text;
    Path {
        path: if normalized {
            Cow::Owned(composed)
        } else {
            text
        },
        escaped,
        normalized,
    }
}

/// One entry's name as a container lists it.
#[derive(Clone, Copy, Debug)]
pub struct RawName<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether the entry is a directory.
    pub directory: bool,
}

/// All paths of one container.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    arena: String,
    spans: Vec<(u32, u32)>,
    escaped: Vec<u32>,
    /// Entries that repeat a directory listed already: no occurrence.
    repeated_directories: Vec<u32>,
    /// How many names NFC changed.
    pub normalized: u64,
}

impl Paths {
    /// The path of entry `index`.
    pub fn get(&self, index: usize) -> &str {
        let (start, len) = self.spans.get(index).copied().unwrap_or_default();
        &self.arena[start as usize..(start + len) as usize]
    }

    /// Whether the entry's name was escaped or numbered.
    pub fn is_escaped(&self, index: usize) -> bool {
        self.escaped.binary_search(&(index as u32)).is_ok()
    }

    /// Whether the entry only repeats a directory.
    pub fn is_repeated_directory(&self, index: usize) -> bool {
        self.repeated_directories
            .binary_search(&(index as u32))
            .is_ok()
    }

    /// How many names were escaped or numbered.
    pub fn escaped_count(&self) -> usize {
        self.escaped.len()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Bytes of all paths.
    pub fn bytes(&self) -> u64 {
        self.arena.len() as u64
    }

    fn push(&mut self, path: &str) -> bool {
        let start = self.arena.len();
        let fits = path.len() <= MAX_PATH && start + path.len() <= MAX_ALL;
        if fits {
            self.arena.push_str(path);
            self.spans.push((start as u32, path.len() as u32));
        }
        fits
    }
}

/// All paths of one inventory together, in bytes.
pub const MAX_ALL: usize = 1 << 30;

/// Which path limit was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// One path has more than [`MAX_PATH`] bytes; the entry's index.
    Path(usize),
    /// All paths have more than [`MAX_ALL`] bytes.
    All,
}

/// Settles the names of one container, in container order.
pub fn resolve<'a>(
    names: impl ExactSizeIterator<Item = RawName<'a>>,
    style: Style,
) -> Result<Paths, TooLong> {
    let mut paths = Paths::default();
    let mut directories = Vec::with_capacity(names.len());
    paths.spans.reserve_exact(names.len());
    for (index, name) in names.enumerate() {
        let path = escape(name.bytes, style, name.directory);
        if !paths.push(&path.path) {
            return Err(too_long(&path.path, index));
        }
        paths.normalized += u64::from(path.normalized);
        if path.escaped {
            paths.escaped.push(index as u32);
        }
        directories.push(name.directory);
    }
    if !paths.escaped.is_empty() || has_conflict(&paths, &directories) {
        let before = (style == Style::Ar).then(|| paths.clone());
        settle(&mut paths, &directories)?;
        if let Some(before) = before {
            let mut escaped = std::mem::take(&mut paths.escaped);
            escaped.retain(|&index| !is_only_numbered(&before, &paths, index as usize));
            paths.escaped = escaped;
        }
    }
    Ok(paths)
}

/// Whether a name got its number and was otherwise left alone.
fn is_only_numbered(before: &Paths, after: &Paths, index: usize) -> bool {
    let mut plain = String::new();
    push_escaped(before.get(index), false, &mut plain);
    let number = after.get(index).strip_prefix(plain.as_str());
    let number = number.and_then(|rest| rest.strip_prefix("%23"));
    !before.is_escaped(index) && number.is_some_and(|digits| digits.parse::<u32>().is_ok())
}

fn too_long(path: &str, index: usize) -> TooLong {
    if path.len() > MAX_PATH {
        TooLong::Path(index)
    } else {
        TooLong::All
    }
}

/// Orders paths so that everything below a folder follows it directly: as
/// bytes, with `/` before all others.
pub fn cmp_by_segment(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match a.iter().zip(b).position(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some(at) => {
            let rank = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
            rank(a[at]).cmp(&rank(b[at]))
        }
    }
}

/// Whether `path` lies below `folder`.
pub fn is_below(path: &str, folder: &str) -> bool {
    path.len() > folder.len()
        && path.as_bytes()[folder.len()] == b'/'
        && path.as_bytes().starts_with(folder.as_bytes())
}

/// Repeats, or a file used as a folder, anywhere?
fn has_conflict(paths: &Paths, directories: &[bool]) -> bool {
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
fn settle(paths: &mut Paths, directories: &[bool]) -> Result<(), TooLong> {
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

fn push_escaped(part: &str, is_escaped: bool, out: &mut String) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn one(raw: &[u8], style: Style) -> String {
        escape(raw, style, false).path.into_owned()
    }

    fn all(names: &[(&[u8], bool)]) -> Vec<String> {
        let raw = names
            .iter()
            .map(|&(bytes, directory)| RawName { bytes, directory });
        let paths = resolve(raw, Style::Zip).unwrap();
        (0..paths.len()).map(|i| paths.get(i).to_owned()).collect()
    }

    /// The table of decision 1, line by line.
    #[test]
    fn odd_names_are_escaped() {
        let zip = Style::Zip;
        assert_eq!(one(b"..", zip), "%2E%2E");
        assert_eq!(one(b"a/./b", zip), "a/%2E/b");
        assert_eq!(one(b"", zip), "%");
        assert_eq!(one(b"/etc/x", zip), "%2Fetc/x");
        assert_eq!(one(b"//etc", zip), "%2F%2Fetc");
        assert_eq!(one(b"a///b", zip), "a/%2F%2Fb");
        assert_eq!(one(b"a/", zip), "a%2F");
        assert_eq!(one(b"a//", zip), "a/%2F");
        assert_eq!(one(b"a/b/", zip), "a/b%2F");
        assert_eq!(one(b"/", zip), "%2F");
        assert_eq!(one(b"C:\\x", zip), "C%3A%5Cx");
        assert_eq!(one(b"\\\\srv\\share", zip), "%5C%5Csrv%5Cshare");
        assert_eq!(one(b"C:\\x", Style::Unix), "C:\\x");
        assert_eq!(one(b"a\0b", Style::Unix), "a%00b");
        assert_eq!(one(b"caf\xE9", Style::Unix), "caf%E9");
        assert_eq!(one(b"\xED\xA0\x80", Style::Unix), "%ED%A0%80");
        assert_eq!(one(b"100%", zip), "100%");
        assert_eq!(one(b"../100%", zip), "%2E%2E/100%25");
        assert_eq!(escape(b"dir/", zip, true).path, "dir");
        assert_eq!(one(b"a\xFFx/y", Style::Asar), "a/x%2Fy");
        assert_eq!(one(b"a\xFF", Style::Asar), "a/%");
    }

    #[test]
    fn names_are_composed() {
        let path = escape("e\u{301}".as_bytes(), Style::Unix, false);
        assert!(path.normalized && !path.escaped);
        assert_eq!(path.path, "\u{e9}");
    }

    #[test]
    fn repeats_are_numbered_and_the_last_keeps_the_path() {
        assert_eq!(
            all(&[(b"a", false), (b"a", false), (b"a", false)]),
            ["a%231", "a%232", "a"]
        );
        assert_eq!(all(&[(b"d/", true), (b"d/", true)]), ["d", "d"]);
        // The number that is taken gives way to the next.
        assert_eq!(
            all(&[(b"a%231", false), (b"a", false), (b"a", false)]),
            ["a%231", "a%232", "a"]
        );
        assert_eq!(
            all(&[(b"50%", false), (b"50%", false)]),
            ["50%25%231", "50%"]
        );
    }

    #[test]
    fn a_file_used_as_a_folder_is_marked() {
        assert_eq!(
            all(&[(b"classes.dex", false), (b"classes.dex/a", false)]),
            ["classes.dex", "classes.dex%2F/a"]
        );
        assert_eq!(
            all(&[(b"f/a", false), (b"f/a", false), (b"f", false)]),
            ["f%2F/a%231", "f%2F/a", "f"]
        );
    }

    #[test]
    fn odd_files_used_as_folders_and_marks_that_are_taken() {
        for order in [[0, 1], [1, 0]] {
            let names: [(&[u8], bool); 2] = [(b"..", false), (b"../x", false)];
            let paths = all(&order.map(|at| names[at]));
            assert_eq!(paths[order[0]], "%2E%2E");
            assert_eq!(paths[order[1]], "%2E%2E%2F/x");
        }
        assert_eq!(
            all(&[(b"F", false), (b"F/a", false), (b"F/a/b", false)]),
            ["F", "F%2F/a", "F%2F/a%2F/b"]
        );
        // The marked folder is a file too: marked again.
        assert_eq!(
            all(&[
                (b"F", false),
                (b"F%2F", false),
                (b"F/a", false),
                (b"F/b", false)
            ]),
            ["F", "F%2F", "F%2F%2F/a", "F%2F%2F/b"]
        );
        // A plain and an odd file of one path, and a file below.
        assert_eq!(
            all(&[(b"%2E%2E", false), (b"..", false), (b"../x", false)]),
            ["%2E%2E", "%2E%2E%231", "%2E%2E%2F/x"]
        );
        assert_eq!(
            all(&[(b"..", true), (b"..", true), (b"../x", false)]),
            ["%2E%2E", "%2E%2E", "%2E%2E/x"]
        );
    }

    #[test]
    fn a_plain_name_takes_its_path_first() {
        assert_eq!(
            all(&[(b"../x", false), (b"%2E%2E/x", false)]),
            ["%2E%2E/x%231", "%2E%2E/x"]
        );
        assert_eq!(
            all(&[(b"..", false), (b"%2E%2E/x", false)]),
            ["%2E%2E%231", "%2E%2E/x"]
        );
        assert_eq!(
            all(&[(b"../x", false), (b"../x", false)]),
            ["%2E%2E/x%231", "%2E%2E/x"]
        );
    }

    #[test]
    fn segment_order_keeps_folders_together() {
        use std::cmp::Ordering::*;
        assert_eq!(cmp_by_segment("a/b", "a-b"), Less);
        assert_eq!(cmp_by_segment("a", "a/b"), Less);
        assert!(is_below("a/b", "a") && !is_below("ab", "a") && !is_below("a", "a"));
    }
}
