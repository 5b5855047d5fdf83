//! The trie of exported symbols (`mach-o/loader.h`, `EXPORT_SYMBOL_FLAGS_*`):
//! names share their beginnings, each node holds what the name so far stands
//! for.

use super::budget::Budget;
use super::commands::{LC_DYLD_EXPORTS_TRIE, LC_DYLD_INFO, LC_DYLD_INFO_ONLY};
use super::image::Image;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};

/// More than this are not kept of one trie.
const MOST: usize = 1 << 19;

/// `EXPORT_SYMBOL_FLAGS_KIND_MASK`
const KIND: u64 = 0x03;
/// `EXPORT_SYMBOL_FLAGS_WEAK_DEFINITION`
const WEAK: u64 = 0x04;
/// `EXPORT_SYMBOL_FLAGS_REEXPORT`
const REEXPORT: u64 = 0x08;
/// `EXPORT_SYMBOL_FLAGS_STUB_AND_RESOLVER`
const RESOLVER: u64 = 0x10;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// An offset from the image's base, or a number where it is absolute.
    Value(u64),
    /// A stub, and the function that finds the real one; both are offsets.
    Resolver {
        /// Offset of the stub.
        stub: u64,
        /// Offset of the function that is asked first.
        resolver: u64,
    },
    /// Another library's symbol.
    Reexport {
        /// Which library, as in `LC_LOAD_DYLIB` order from 1.
        ordinal: u64,
        /// The name there; empty: the same.
        name: &'a [u8],
    },
}

/// One exported name.
#[derive(Clone, Debug)]
pub struct TrieExport<'a> {
    /// The name.
    pub name: Vec<u8>,
    /// The flags as they stand.
    pub flags: u64,
    /// What it stands for.
    pub meaning: Meaning<'a>,
    /// Where the information stands in the file.
    pub location: Range,
}

impl TrieExport<'_> {
    /// Whether another definition may win.
    pub fn is_weak(&self) -> bool {
        self.flags & WEAK != 0
    }

    /// `tls`, `absolute`, `ifunc`; null for what is regular.
    pub fn kind(&self) -> Option<&'static str> {
        match (self.meaning, self.flags & KIND) {
            (Meaning::Resolver { .. }, _) => Some("ifunc"),
            (_, 1) => Some("tls"),
            (_, 2) => Some("absolute"),
            _ => None,
        }
    }

    /// Its address, where the image's base is known.
    pub fn address(&self, base: Option<u64>) -> Option<u64> {
        match self.meaning {
            Meaning::Value(value) if self.flags & KIND == 2 => Some(value),
            Meaning::Value(offset) | Meaning::Resolver { stub: offset, .. } => {
                base?.checked_add(offset)
            }
            Meaning::Reexport { .. } => None,
        }
    }
}

/// A trie that was walked.
#[derive(Debug, Default)]
pub struct Trie<'a> {
    /// Where it stands in the file; `None` without one.
    pub location: Option<Range>,
    /// What it holds, in the order of the walk.
    pub exports: Vec<TrieExport<'a>>,
    /// Whether a command names one, an empty one too.
    pub announced: bool,
    /// Whether all of it was understood.
    pub complete: bool,
    /// How many names it has.
    pub count: u64,
    /// Names of other libraries: the name, the library's ordinal, the name
    /// there.
    pub reexports: Vec<(Vec<u8>, u64, &'a [u8])>,
    /// Names that a function finds: the name, the offsets of stub and
    /// function.
    pub resolvers: Vec<(Vec<u8>, u64, u64)>,
}

impl<'a> Trie<'a> {
    /// Walks the trie that the commands name.
    pub fn read(image: &Image<'a>, notes: &mut Notes) -> Self {
        let mut trie = Self {
            complete: true,
            ..Self::default()
        };
        let mut table = None;
        if let Some(&command) = image.only(&[LC_DYLD_EXPORTS_TRIE], notes) {
            trie.announced = true;
            table = image.linkedit(&command, notes);
        } else if let Some(&command) = image.only(&[LC_DYLD_INFO, LC_DYLD_INFO_ONLY], notes) {
            trie.announced = true;
            let body = image.body(&command);
            if let Some((offset, size)) = body.u32(40).zip(body.u32(44)) {
                let (offset, size) = (u64::from(offset), u64::from(size));
                table = image.table("export trie", offset, size, notes);
            }
        }
        let Some((offset, data)) = table else {
            return trie;
        };
        trie.location = Some(image.range(offset, data.len()));
        let mut walk = Walk {
            data,
            start: image.file_offset(offset),
            visited: vec![0; data.len().div_ceil(64) as usize],
            path: Vec::new(),
            frames: Vec::new(),
            bytes: Budget::new(data.len()),
            names: Budget::new(Budget::NAMES),
            exports: Vec::new(),
        };
        if let Err((at, reason)) = walk.run() {
            trie.complete = false;
            notes.at("export trie", walk.start + at, reason);
        }
        trie.count = walk.exports.len() as u64;
        for export in &walk.exports {
            let name = || export.name.clone();
            match export.meaning {
                Meaning::Reexport {
                    ordinal,
                    name: there,
                } => {
                    trie.reexports.push((name(), ordinal, there));
                }
                Meaning::Resolver { stub, resolver } => {
                    trie.resolvers.push((name(), stub, resolver));
                }
                Meaning::Value(_) => {}
            }
        }
        trie.exports = walk.exports;
        trie
    }
}

/// A node whose children are gone through.
struct Frame {
    /// Where the next child is named.
    cursor: u64,
    /// Children left.
    left: u8,
    /// Length of the node's own name.
    length: usize,
}

type Fault = (u64, String);

struct Walk<'a> {
    data: Bytes<'a>,
    /// Where the trie starts in the file.
    start: u64,
    /// A bit for each offset that was a node already.
    visited: Vec<u64>,
    path: Vec<u8>,
    frames: Vec<Frame>,
    /// Nodes don't overlap: together they take no more than there is.
    bytes: Budget,
    names: Budget,
    exports: Vec<TrieExport<'a>>,
}

impl<'a> Walk<'a> {
    /// Ends at the first node that is wrong: what a broken trie means is not
    /// guessed.
    fn run(&mut self) -> Result<(), Fault> {
        self.enter(0)?;
        while let Some(frame) = self.frames.last_mut() {
            if frame.left == 0 {
                self.frames.pop();
                continue;
            }
            let at = frame.cursor;
            let edge = self
                .data
                .string(at)
                .ok_or_else(|| (at, "the name of a child does not end".to_owned()))?;
            let after = at + edge.len() as u64 + 1;
            let (child, size) = self
                .data
                .uleb(after)
                .ok_or_else(|| (after, "the offset of a child cannot be read".to_owned()))?;
            frame.cursor = after + size;
            frame.left -= 1;
            self.path.truncate(frame.length);
            self.path.extend_from_slice(edge);
            self.take(at, edge.len() as u64 + 1 + size)?;
            self.enter(child)?;
        }
        Ok(())
    }

    fn take(&mut self, at: u64, bytes: u64) -> Result<(), Fault> {
        match self.bytes.take(bytes) {
            true => Ok(()),
            false => Err((at, "nodes overlap".to_owned())),
        }
    }

    fn enter(&mut self, node: u64) -> Result<(), Fault> {
        let cut = |what: &str| (node.min(self.data.len()), what.to_owned());
        let slot = self.visited.get_mut((node / 64) as usize);
        let slot = slot
            .filter(|_| node < self.data.len())
            .ok_or_else(|| cut("a node is outside of the trie"))?;
        if *slot >> (node % 64) & 1 != 0 {
            return Err(cut("a node is reached twice"));
        }
        *slot |= 1 << (node % 64);
        let (terminal, size) = self
            .data
            .uleb(node)
            .ok_or_else(|| cut("the size of a node cannot be read"))?;
        let info = node + size;
        let children = info
            .checked_add(terminal)
            .filter(|&children| children < self.data.len())
            .ok_or_else(|| cut("a node ends behind the trie"))?;
        self.take(node, size + terminal + 1)?;
        if terminal > 0 {
            self.export(info, terminal)?;
        }
        let left = self.data.u8(children).unwrap_or(0);
        self.frames.push(Frame {
            cursor: children + 1,
            left,
            length: self.path.len(),
        });
        Ok(())
    }

    fn export(&mut self, info: u64, size: u64) -> Result<(), Fault> {
        let wrong = |what: &str| (info, what.to_owned());
        if self.exports.len() >= MOST {
            return Err(wrong("there are more exports than are told"));
        }
        if !self.names.take(self.path.len() as u64) {
            return Err(wrong("the exported names come to too many bytes"));
        }
        let part = self
            .data
            .part(info, size)
            .ok_or_else(|| wrong("a node is cut"))?;
        let (flags, meaning) =
            meaning(part).ok_or_else(|| wrong("what a name stands for is cut"))?;
        self.exports.push(TrieExport {
            name: self.path.clone(),
            flags,
            meaning,
            location: Range {
                offset: self.start + info,
                bytes: size,
            },
        });
        Ok(())
    }
}

fn meaning(part: Bytes<'_>) -> Option<(u64, Meaning<'_>)> {
    let (flags, at) = part.uleb(0)?;
    let (first, size) = part.uleb(at)?;
    let rest = at + size;
    let meaning = if flags & REEXPORT != 0 {
        Meaning::Reexport {
            ordinal: first,
            name: part.string(rest)?,
        }
    } else if flags & RESOLVER != 0 {
        Meaning::Resolver {
            stub: first,
            resolver: part.uleb(rest)?.0,
        }
    } else {
        Meaning::Value(first)
    };
    Some((flags, meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(data: &[u8]) -> (Vec<(String, u64)>, Option<String>) {
        let mut walk = Walk {
            data: Bytes::little(data),
            start: 0,
            visited: vec![0; data.len().div_ceil(64)],
            path: Vec::new(),
            frames: Vec::new(),
            bytes: Budget::new(data.len() as u64),
            names: Budget::new(Budget::NAMES),
            exports: Vec::new(),
        };
        let fault = walk.run().err().map(|(_, reason)| reason);
        let found = walk.exports.iter().map(|export| {
            let name = String::from_utf8_lossy(&export.name).into_owned();
            (name, export.address(Some(0x1000)).unwrap_or(0))
        });
        (found.collect(), fault)
    }

    /// The example of the comment in Apple's `mach-o/loader.h`, laid out by
    /// hand: `_foo` and `_fob`.
    #[test]
    fn names_share_their_beginnings() {
        let data = [
            0, 1, b'_', b'f', b'o', 0, 7, // root: one child
            0, 2, b'o', 0, 15, b'b', 0, 19, // node 7: two children
            2, 0, 0x10, 0, // node 15: _foo
            2, 0, 0x20, 0, // node 19: _fob
        ];
        let (found, fault) = walk(&data);
        assert_eq!(fault, None);
        let expected = [("_foo".to_owned(), 0x1010), ("_fob".to_owned(), 0x1020)];
        assert_eq!(found, expected);
    }

    #[test]
    fn loops_shared_and_overlapping_nodes_end_the_walk() {
        // The only child is the root.
        assert_eq!(
            walk(&[0, 1, b'a', 0, 0]).1.as_deref(),
            Some("a node is reached twice")
        );
        // Two names for one node.
        let shared = [0, 2, b'a', 0, 8, b'b', 0, 8, 2, 0, 1, 0];
        assert_eq!(walk(&shared).1.as_deref(), Some("a node is reached twice"));
        // 255 children of the root, each a node inside of the root's names
        // that claims 97 bytes.
        let mut dense = vec![0, 255];
        for child in 0..255u8 {
            dense.extend([b'a', 0, 2 + 3 * (child % 40)]);
        }
        dense.resize(4096, 0);
        let (found, fault) = walk(&dense);
        assert!(fault.is_some() && found.len() <= 40, "{fault:?}");
    }

    #[test]
    fn every_cut_is_told() {
        let data = [0, 1, b'_', b'f', 0, 6, 2, 0, 0x10, 0];
        assert_eq!(walk(&data).1, None);
        for end in 0..data.len() {
            assert!(walk(&data[..end]).1.is_some(), "{end}");
        }
    }
}
