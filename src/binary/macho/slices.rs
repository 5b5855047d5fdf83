//! The slices of a file: one of a thin file, all of a universal one.

use std::borrow::Cow;

use super::arch::Cpu;
use super::fat::{self, FatArch, FatMagic};
use crate::artifact::format::{self, Format};
use crate::binary::layout::Refusal;
use crate::binary::{ByteOrder, Bytes, Notes};

/// What the bytes of a slice are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A Mach-O file.
    MachO,
    /// A static library (`ar`).
    Archive,
    /// Something else, LLVM bitcode for example.
    Other,
    /// It does not lie inside the file.
    Outside,
}

impl Content {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MachO => "mach-o",
            Self::Archive => "archive",
            Self::Other => "other",
            Self::Outside => "outside-file",
        }
    }
}

/// One architecture of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The processor, by the table of a universal file, else by the header.
    pub cpu: Cpu,
    /// Its first byte in the file.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// The row of the table; `None` of a thin file.
    pub row: Option<FatArch>,
    /// What it holds.
    pub content: Content,
}

impl Slice {
    /// As `list-architectures` names it.
    pub fn name(&self) -> Cow<'static, str> {
        self.cpu.architecture()
    }
}

/// All slices, in table order.
#[derive(Debug)]
pub struct Slices {
    /// How the table is written; `None` of a thin file.
    pub table: Option<FatMagic>,
    /// At least one.
    pub all: Vec<Slice>,
    /// What is wrong with the table.
    pub notes: Notes,
}

/// `struct mach_header` starts so; the order of its numbers and whether it
/// has 64 bits.
pub fn magic(bytes: &[u8]) -> Option<(ByteOrder, bool)> {
    match Bytes::big(bytes).u32(0)? {
        0xFEED_FACE => Some((ByteOrder::Big, false)),
        0xFEED_FACF => Some((ByteOrder::Big, true)),
        0xCEFA_EDFE => Some((ByteOrder::Little, false)),
        0xCFFA_EDFE => Some((ByteOrder::Little, true)),
        _ => None,
    }
}

impl Slices {
    /// Reads them.
    ///
    /// # Errors
    /// [`Refusal::Format`] where the file is no Mach-O file, thin or
    /// universal; [`Refusal::Header`] where its header or table is cut.
    pub fn read(file: &[u8]) -> Result<Self, Refusal> {
        let head = file.get(..format::HEAD).unwrap_or(file);
        match format::of_bytes(head, file.len() as u64) {
            Format::MachO => thin(file),
            Format::MachOUniversal => universal(file),
            _ => Err(Refusal::Format),
        }
    }

    /// The slice of that name. A name of the contract (`x86`, `arm64`) finds
    /// the first slice of that processor where none has just that name.
    /// Without a name: the first that holds Mach-O, on every host.
    ///
    /// # Errors
    /// [`Refusal::Architecture`] where none is called so.
    pub fn select(&self, name: Option<&str>) -> Result<&Slice, Refusal> {
        let found = match name {
            None => self
                .all
                .iter()
                .find(|slice| slice.content == Content::MachO)
                .or(self.all.first()),
            Some(name) => self
                .all
                .iter()
                .find(|slice| slice.name() == name)
                .or_else(|| {
                    let same = |slice: &&Slice| slice.cpu.contract() == Some(name);
                    self.all.iter().find(same)
                }),
        };
        found.ok_or_else(|| Refusal::Architecture(self.names()))
    }

    /// The names, each once, in table order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for slice in &self.all {
            let name = slice.name();
            // Few are told: a table may claim thousands.
            if names.len() < 32 && !names.iter().any(|known| *known == name) {
                names.push(name.into_owned());
            }
        }
        names
    }
}

fn thin(file: &[u8]) -> Result<Slices, Refusal> {
    let cut = || Refusal::Header {
        offset: 0,
        reason: "the Mach-O header is cut".to_owned(),
    };
    let (order, _) = magic(file).ok_or(Refusal::Format)?;
    let bytes = Bytes::new(file, order);
    let cpu = Cpu {
        kind: bytes.u32(4).ok_or_else(cut)?,
        subtype: bytes.u32(8).ok_or_else(cut)?,
    };
    let slice = Slice {
        cpu,
        offset: 0,
        size: bytes.len(),
        row: None,
        content: Content::MachO,
    };
    Ok(Slices {
        table: None,
        all: vec![slice],
        notes: Notes::default(),
    })
}

fn universal(file: &[u8]) -> Result<Slices, Refusal> {
    let refuse = |offset, reason: &str| Refusal::Header {
        offset,
        reason: reason.to_owned(),
    };
    let table = Bytes::big(file)
        .u32(0)
        .and_then(FatMagic::of)
        .ok_or(Refusal::Format)?;
    let count = Bytes::new(file, table.order)
        .u32(4)
        .ok_or_else(|| refuse(4, "the fat header is cut"))?;
    if count == 0 {
        return Err(refuse(4, "the fat header announces no slices"));
    }
    let mut notes = Notes::default();
    let mut all = Vec::new();
    for index in 0..u64::from(count) {
        let at = fat::HEADER + index * table.row();
        let Some(row) = FatArch::read(file, at, table) else {
            if all.is_empty() {
                return Err(refuse(at, "the table of slices is cut"));
            }
            let reason = format!("{count} slices are announced, and the file ends before");
            notes.at("fat_header", at, reason);
            break;
        };
        let content = content(file, row.offset, row.size);
        if content == Content::Outside {
            let reason = format!(
                "the slice is announced at offset {:#x} with {:#x} bytes, which is not inside the file",
                row.offset, row.size
            );
            notes.at("fat_arch", at, reason);
        }
        all.push(Slice {
            cpu: row.cpu,
            offset: row.offset,
            size: row.size,
            row: Some(row),
            content,
        });
    }
    Ok(Slices {
        table: Some(table),
        all,
        notes,
    })
}

fn content(file: &[u8], offset: u64, size: u64) -> Content {
    // A slice that ends behind the file is still looked at as far as it goes.
    let there = Bytes::big(file).up_to(offset, size);
    if magic(there).is_some() {
        return Content::MachO;
    }
    if there.starts_with(b"!<arch>\n") {
        return Content::Archive;
    }
    match offset.checked_add(size) {
        Some(end) if end <= file.len() as u64 => Content::Other,
        _ => Content::Outside,
    }
}
