//! From the names a container gives its members to logical paths.
//!
//! [`escape`] turns one raw name into a path that is safe to use, and
//! [`resolve`] settles all names of one container: repeats, files used as
//! folders, and who keeps the plain path.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The longest logical path, in bytes.
pub const MAX_PATH: usize = 65_535;

/// What a container's names may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Folders, tar, cpio, ar: any byte but NUL and `/` is ordinary.
    Unix,
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
    let drive = style != Style::Unix && first && has_drive(segment);
    let mut at = 0;
    for chunk in segment.utf8_chunks() {
        for character in chunk.valid().chars() {
            let odd = match character {
                '\0' | '%' => true,
                '\\' => style != Style::Unix,
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
#[derive(Debug, Default)]
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
        settle(&mut paths, &directories)?;
    }
    Ok(paths)
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

/// The slow path: some name is odd, repeated, or a file used as a folder.
fn settle(paths: &mut Paths, directories: &[bool]) -> Result<(), TooLong> {
    let count = paths.len();
    let mut settled = Settled::default();
    let mut result: Vec<Option<String>> = vec![None; count];
    let mut repeated = Vec::new();

    // Names that need no escape take their path first.
    let mut waiting: Vec<u32> = Vec::new();
    let plain: Vec<u32> = (0..count as u32)
        .filter(|&i| !paths.is_escaped(i as usize))
        .collect();
    for group in groups(&plain, |i| paths.get(i as usize)) {
        let keeper = group[group.len() - 1];
        settled.files_or_folders.insert(
            paths.get(keeper as usize).to_owned(),
            directories[keeper as usize],
        );
        result[keeper as usize] = Some(paths.get(keeper as usize).to_owned());
        for &other in &group[..group.len() - 1] {
            if directories[keeper as usize] && directories[other as usize] {
                result[other as usize] = Some(paths.get(other as usize).to_owned());
                repeated.push(other);
            } else {
                waiting.push(other);
            }
        }
    }
    // A plain path below a kept file gives way; files above are kept.
    for &index in &plain {
        let Some(path) = &result[index as usize] else {
            continue;
        };
        if settled.file_above(path).is_some() {
            if repeated.contains(&index) {
                repeated.retain(|&other| other != index);
            }
            waiting.push(index);
        }
    }
    for &index in &waiting {
        if let Some(path) = result[index as usize].take() {
            if settled.file_above(&path).is_some() {
                settled.displaced.insert(path);
            }
        }
    }
    for path in std::mem::take(&mut settled.displaced) {
        settled.files_or_folders.remove(&path);
    }
    let kept: Vec<String> = settled.files_or_folders.keys().cloned().collect();
    kept.iter().for_each(|path| settled.add_folders_above(path));

    // Then the odd ones and the repeats, in container order.
    waiting.extend(paths.escaped.iter().copied());
    waiting.sort_unstable();
    let place: HashMap<u32, usize> = places(paths, count);
    let mut last_of: HashMap<String, u32> = HashMap::new();
    let wanted: Vec<(u32, String)> = waiting
        .iter()
        .map(|&index| {
            let escaped = paths.is_escaped(index as usize);
            (index, settled.wanted(paths.get(index as usize), escaped))
        })
        .collect();
    for (index, path) in &wanted {
        last_of.insert(path.clone(), *index);
    }
    for (index, path) in &wanted {
        let raw_repeat_of_plain = !paths.is_escaped(*index as usize)
            && settled
                .files_or_folders
                .contains_key(paths.get(*index as usize));
        let keeps = !raw_repeat_of_plain && last_of.get(path) == Some(index);
        let merges = !keeps
            && !raw_repeat_of_plain
            && directories[*index as usize]
            && last_of
                .get(path)
                .is_some_and(|&last| directories[last as usize]);
        if merges {
            result[*index as usize] = Some(path.clone());
            repeated.push(*index);
            continue;
        }
        if keeps && settled.is_free(path, directories[*index as usize]) {
            settled.take(path, directories[*index as usize]);
            result[*index as usize] = Some(path.clone());
            continue;
        }
        let base = if raw_repeat_of_plain {
            settled.wanted_numbered(paths.get(*index as usize))
        } else {
            path.clone()
        };
        let mut number = place.get(index).copied().unwrap_or(1);
        let numbered = loop {
            let candidate = format!("{base}%23{number}");
            if settled.is_free(&candidate, directories[*index as usize]) {
                break candidate;
            }
            number += 1;
        };
        settled.take(&numbered, directories[*index as usize]);
        result[*index as usize] = Some(numbered);
    }

    repeated.sort_unstable();
    repeated.dedup();
    let escaped = waiting
        .into_iter()
        .filter(|i| repeated.binary_search(i).is_err())
        .collect();
    let normalized = paths.normalized;
    let mut settled_paths = Paths {
        normalized,
        escaped,
        repeated_directories: repeated,
        ..Paths::default()
    };
    for (index, path) in result.into_iter().enumerate() {
        let path = path.unwrap_or_default();
        if !settled_paths.push(&path) {
            return Err(too_long(&path, index));
        }
    }
    *paths = settled_paths;
    Ok(())
}

/// Indices with equal paths, each group in container order, groups in the
/// order of their first member.
fn groups<'a>(indices: &[u32], path: impl Fn(u32) -> &'a str) -> Vec<Vec<u32>> {
    let mut at: HashMap<&str, usize> = HashMap::with_capacity(indices.len());
    let mut out: Vec<Vec<u32>> = Vec::new();
    for &index in indices {
        let slot = *at.entry(path(index)).or_insert_with(|| {
            out.push(Vec::with_capacity(1));
            out.len() - 1
        });
        out[slot].push(index);
    }
    out
}

/// 1-based place of each entry among those of its name.
fn places(paths: &Paths, count: usize) -> HashMap<u32, usize> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut places = HashMap::new();
    for index in 0..count {
        let place = seen.entry(paths.get(index)).or_insert(0);
        *place += 1;
        places.insert(index as u32, *place);
    }
    places
}

#[derive(Default)]
struct Settled {
    /// Path to whether it is a directory.
    files_or_folders: HashMap<String, bool>,
    /// Paths that are used as folders by kept paths.
    folders_above: HashSet<String>,
    displaced: HashSet<String>,
}

impl Settled {
    /// The length of the shortest kept file that `path` uses as a folder.
    fn file_above(&self, path: &str) -> Option<usize> {
        path.match_indices('/')
            .map(|(at, _)| at)
            .find(|&at| self.files_or_folders.get(&path[..at]) == Some(&false))
    }

    fn add_folders_above(&mut self, path: &str) {
        for (at, _) in path.rmatch_indices('/') {
            if !self.folders_above.insert(path[..at].to_owned()) {
                break;
            }
        }
    }

    fn is_free(&self, path: &str, directory: bool) -> bool {
        path.len() > MAX_PATH
            || !self.files_or_folders.contains_key(path)
                && (directory || !self.folders_above.contains(path))
                && self.file_above(path).is_none()
    }

    fn take(&mut self, path: &str, directory: bool) {
        self.files_or_folders.insert(path.to_owned(), directory);
        self.add_folders_above(path);
    }

    /// The escaped form of a path: each file used as a folder gets `%2F`.
    fn wanted(&self, path: &str, escaped: bool) -> String {
        let source = if escaped {
            path.to_owned()
        } else {
            path.replace('%', "%25")
        };
        let mut out = String::with_capacity(source.len() + 3);
        let mut plain = String::with_capacity(path.len());
        for (index, (segment, shown)) in path.split('/').zip(source.split('/')).enumerate() {
            if index > 0 {
                if self.files_or_folders.get(&plain) == Some(&false) {
                    out.push_str("%2F");
                }
                out.push('/');
                plain.push('/');
            }
            out.push_str(shown);
            plain.push_str(segment);
        }
        out
    }

    /// The escaped form of a plain path that is about to be numbered.
    fn wanted_numbered(&self, path: &str) -> String {
        self.wanted(path, false)
    }
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
