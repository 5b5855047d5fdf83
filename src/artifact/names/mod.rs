//! From the names a container gives its members to logical paths.
//!
//! [`escape`] turns one raw name into a path that is safe to use, and
//! [`resolve`] settles all names of one container: repeats, files used as
//! folders, and who keeps the plain path.

mod escape;
mod settle;

use std::borrow::Cow;

pub use escape::{escape, escape_target};
use settle::{has_conflict, push_escaped, settle};

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
