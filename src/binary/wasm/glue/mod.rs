//! Glue: scripts that load modules. Literals that name a `.wasm` file are
//! listed, each with the candidates that it may mean. Nothing is run.

pub mod literals;

use std::path::{Component, Path, PathBuf};

use super::file::Candidate;
use crate::binary::BinaryFile;
use crate::digest::Digest;
use crate::json::{Text, WriteJson, Writer};
use literals::{Lost, Scan};

/// A script and what it refers to.
#[derive(Debug)]
pub struct Glue {
    path: String,
    sha256: Digest,
    bytes: u64,
    status: &'static str,
    lost: Option<Lost>,
    references: Vec<Reference>,
}

/// A literal that names a module.
#[derive(Debug)]
struct Reference {
    value: Text,
    line: u64,
    column: u64,
    association: &'static str,
    candidates: Vec<String>,
}

/// Whether the value of a literal names a `.wasm` file: up to a query or
/// fragment it ends so.
fn names_module(units: &[u16]) -> bool {
    let end = units
        .iter()
        .position(|&unit| unit == u16::from(b'?') || unit == u16::from(b'#'))
        .unwrap_or(units.len());
    let lower = |unit: u16| match unit {
        0x41..=0x5A => unit + 32,
        unit => unit,
    };
    let path = units.get(..end).unwrap_or_default();
    let suffix = path.len().checked_sub(5).and_then(|from| path.get(from..));
    suffix.is_some_and(|suffix| {
        suffix
            .iter()
            .map(|&unit| lower(unit))
            .eq(".wasm".encode_utf16())
    })
}

impl Glue {
    /// Scans a script; `None` where it is not UTF-8.
    pub fn read(file: &BinaryFile, sha256: Digest, candidates: &[Candidate]) -> Option<Self> {
        let source = std::str::from_utf8(&file.bytes).ok()?;
        let Scan {
            literals,
            total,
            lost,
        } = literals::scan(source, names_module);
        let places = Places::of(&file.path, candidates);
        let references = literals.into_iter().map(|literal| {
            let (association, found) = places.associate(literal.value.as_str());
            Reference {
                value: literal.value,
                line: literal.line,
                column: literal.column,
                association,
                candidates: found,
            }
        });
        Some(Self {
            path: file.path.clone(),
            sha256,
            bytes: file.bytes.len() as u64,
            status: match (&lost, total) {
                (None, _) => "complete",
                (Some(_), 0) => "failed",
                (Some(_), _) => "partial",
            },
            references: references.collect(),
            lost,
        })
    }

    /// The script's path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// `complete`, `partial` or `failed`.
    pub fn status(&self) -> &'static str {
        self.status
    }

    /// Values, lines and associations.
    pub fn references(&self) -> impl Iterator<Item = (&Text, u64, &'static str)> {
        self.references
            .iter()
            .map(|reference| (&reference.value, reference.line, reference.association))
    }
}

/// Where candidates are, and the script's folder.
struct Places<'a> {
    folder: PathBuf,
    candidates: Vec<(PathBuf, &'a str)>,
}

impl<'a> Places<'a> {
    fn of(script: &str, candidates: &'a [Candidate]) -> Self {
        let folder = Path::new(script).parent().unwrap_or(Path::new(""));
        let folder = std::path::absolute(folder);
        let place = |path: &str| {
            let path = Path::new(path);
            settled(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
        };
        Self {
            // An empty path is the current folder.
            folder: folder.unwrap_or_else(|_| place(".")),
            candidates: candidates
                .iter()
                .map(|candidate| (place(&candidate.path), candidate.path.as_str()))
                .collect(),
        }
    }

    /// Which candidates a literal may mean: the one at that place beside the
    /// script, else those of the same name.
    fn associate(&self, value: Option<&str>) -> (&'static str, Vec<String>) {
        let Some(value) = value else {
            return ("unresolved", Vec::new());
        };
        let path = value.split(['?', '#']).next().unwrap_or_default();
        let is_url = path.len() != value.len() || path.contains("://") || path.starts_with("//");
        if !is_url {
            let wanted = settled(&self.folder.join(path));
            let mut candidates = self.candidates.iter();
            if let Some((_, found)) = candidates.find(|(place, _)| *place == wanted) {
                return ("local-path-candidate", vec![(*found).to_owned()]);
            }
        }
        let last = |path: &'_ str| path.rfind('/').map_or(0, |at| at + 1);
        let name = path.get(last(path)..);
        let found: Vec<String> = self
            .candidates
            .iter()
            .filter(|(_, candidate)| candidate.get(last(candidate)..) == name)
            .map(|(_, candidate)| (*candidate).to_owned())
            .collect();
        match found.is_empty() {
            true => ("unresolved", found),
            false => ("basename-candidates", found),
        }
    }
}

/// The path without `.` and `..`, as text alone says.
fn settled(path: &Path) -> PathBuf {
    let mut settled = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                settled.pop();
            }
            Component::CurDir => {}
            other => settled.push(other),
        }
    }
    settled
}

impl WriteJson for Glue {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("artifact");
        w.begin_object();
        w.member("bytes", self.bytes);
        w.member("path", &self.path);
        w.member("sha256", self.sha256);
        w.end_object();
        if let Some(lost) = &self.lost {
            w.key("lost");
            w.begin_object();
            w.member("column", lost.column);
            w.member("line", lost.line);
            w.member("reason", lost.what);
            w.end_object();
        }
        w.member("parse_status", self.status);
        w.key("references");
        w.begin_array();
        for reference in &self.references {
            w.begin_object();
            w.member("association", reference.association);
            w.member("candidate_paths", &reference.candidates);
            w.member("column", reference.column);
            w.member("evidence_kind", "static-literal");
            w.member("line", reference.line);
            w.member("value", &reference.value);
            w.end_object();
        }
        w.end_array();
        w.end_object();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_by_suffix() {
        let names = |text: &str| names_module(&text.encode_utf16().collect::<Vec<_>>());
        for yes in ["a.wasm", ".WASM", "https://x/a.wasm?v=1#b", "../a.wasm#"] {
            assert!(names(yes), "{yes}");
        }
        for no in ["wasm", "a.wasm.map", "?a.wasm", "", "a.wasm "] {
            assert!(!names(no), "{no}");
        }
    }

    #[test]
    fn literals_are_associated_by_place_then_by_name() {
        let candidate = |path: &str| Candidate {
            path: path.to_owned(),
            sha256: Digest([0; 32]),
            bytes: 0,
        };
        let candidates = [
            candidate("dist/a.wasm"),
            candidate("other/a.wasm"),
            candidate("dist/b.wasm"),
        ];
        let both = ["dist/a.wasm".to_owned(), "other/a.wasm".to_owned()];
        for (value, expected, found) in [
            ("a.wasm", "local-path-candidate", &both[..1]),
            ("./x/../a.wasm", "local-path-candidate", &both[..1]),
            ("../other/a.wasm", "local-path-candidate", &both[1..]),
            ("lib/a.wasm", "basename-candidates", &both[..]),
            ("a.wasm?v=1", "basename-candidates", &both[..]),
            ("https://cdn/a.wasm", "basename-candidates", &both[..]),
            ("c.wasm", "unresolved", &[]),
        ] {
            let places = Places::of("dist/glue.js", &candidates);
            let result = places.associate(Some(value));
            assert_eq!(result, (expected, found.to_vec()), "{value}");
        }
    }
}
