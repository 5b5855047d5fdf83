//! One Mach-O file, thin or a slice: its header and its load commands
//! (`mach-o/loader.h`). Everything else is found through the commands.
//!
//! Offsets in commands count from the start of the slice; those that are told
//! count from the start of the file ([`Image::file_offset`]).

use super::arch::Cpu;
use super::commands::*;
use super::slices::{Slice, magic};
use crate::binary::layout::Refusal;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};

/// `struct mach_header` or `struct mach_header_64`.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The processor.
    pub cpu: Cpu,
    /// `filetype`, an `MH_...` constant.
    pub file_type: u32,
    /// How many commands are announced.
    pub ncmds: u32,
    /// How many bytes they are announced to take.
    pub sizeofcmds: u32,
    /// `MH_...` bits.
    pub flags: u32,
}

/// A load command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its place.
    pub index: u32,
    /// `LC_...`
    pub cmd: u32,
    /// Where it starts in the slice.
    pub offset: u64,
    /// How many bytes it takes.
    pub size: u32,
}

/// A Mach-O file whose header and commands were read.
#[derive(Debug)]
pub struct Image<'a> {
    /// The slice, with numbers in its order.
    pub data: Bytes<'a>,
    /// Where the slice starts in the file.
    pub base: u64,
    /// Whether it has 64 bits.
    pub wide: bool,
    /// Its header.
    pub header: Header,
    /// Its commands, in order.
    pub commands: Vec<Command>,
}

impl<'a> Image<'a> {
    /// Reads header and commands of a slice.
    ///
    /// # Errors
    /// [`Refusal::Header`] where there is no complete header.
    pub fn read(file: &'a [u8], slice: &Slice, notes: &mut Notes) -> Result<Self, Refusal> {
        let data = Bytes::big(file).up_to(slice.offset, slice.size);
        let refuse = |reason: &str| Refusal::Header {
            offset: slice.offset,
            reason: reason.to_owned(),
        };
        let Some((order, wide)) = magic(data) else {
            return Err(refuse(match data.starts_with(b"!<arch>\n") {
                true => "the slice is a static library; its members are the Mach-O objects",
                false => "the slice is no Mach-O file",
            }));
        };
        let data = Bytes::new(data, order);
        let header = Header::read(data).ok_or_else(|| refuse("the Mach-O header is cut"))?;
        if data.len() < slice.size {
            let reason = format!(
                "{:#x} of its {:#x} bytes are in the file",
                data.len(),
                slice.size
            );
            notes.at("slice", slice.offset, reason);
        }
        let mut image = Self {
            data,
            base: slice.offset,
            wide,
            header,
            commands: Vec::new(),
        };
        image.read_commands(notes);
        Ok(image)
    }

    fn read_commands(&mut self, notes: &mut Notes) {
        let header = self.header;
        let start = self.header_size();
        let announced = start + u64::from(header.sizeofcmds);
        let end = announced.min(self.data.len());
        if announced > end {
            let reason = format!("the load commands end at {announced:#x}, behind the slice");
            notes.at("mach_header", self.base, reason);
        }
        let mut offset = start;
        for index in 0..header.ncmds {
            let command = self.data.u32(offset).zip(self.data.u32(offset + 4));
            let fits = |size: u64| offset.checked_add(size).is_some_and(|to| to <= end);
            let (cmd, size) = match command {
                Some(command) if fits(8) => command,
                _ => {
                    let reason = format!(
                        "{} load commands are announced, and command {index} is not inside their {:#x} bytes",
                        header.ncmds, header.sizeofcmds
                    );
                    return notes.at("load command", self.base + offset, reason);
                }
            };
            if size < 8 || !fits(u64::from(size)) {
                let reason = format!(
                    "command {index} has an impossible size of {size:#x} bytes; those behind it were not read"
                );
                return notes.at("load command", self.base + offset, reason);
            }
            self.commands.push(Command {
                index,
                cmd,
                offset,
                size,
            });
            offset += u64::from(size);
        }
        if offset < announced.min(end) {
            let reason = format!(
                "{:#x} bytes of the load commands belong to no command",
                end - offset
            );
            notes.at("load commands", self.base + offset, reason);
        }
    }

    /// Whether all commands that are announced were read.
    pub fn is_complete(&self) -> bool {
        self.commands.len() as u64 == u64::from(self.header.ncmds)
    }

    /// Bytes of the header.
    pub fn header_size(&self) -> u64 {
        if self.wide { 32 } else { 28 }
    }

    /// Where a byte of the slice stands in the file.
    pub fn file_offset(&self, offset: u64) -> u64 {
        self.base.saturating_add(offset)
    }

    /// A range of the slice as one of the file.
    pub fn range(&self, offset: u64, bytes: u64) -> Range {
        Range {
            offset: self.file_offset(offset),
            bytes,
        }
    }

    /// The bytes of a command, numbers in the slice's order.
    pub fn body(&self, command: &Command) -> Bytes<'a> {
        let data = self.data.up_to(command.offset, u64::from(command.size));
        Bytes::new(data, self.data.order())
    }

    /// The commands of these kinds, in order.
    pub fn of_kind(&self, kinds: &'static [u32]) -> impl Iterator<Item = &Command> {
        let known = move |command: &&Command| kinds.contains(&command.cmd);
        self.commands.iter().filter(known)
    }

    /// The first command of these kinds. Further ones are said.
    pub fn only(&self, kinds: &'static [u32], notes: &mut Notes) -> Option<&Command> {
        let mut found = self.of_kind(kinds);
        let first = found.next()?;
        if let Some(second) = found.next() {
            let reason = "there is an earlier one, which was taken";
            let name = command_name(second.cmd);
            notes.at(name.text(), self.file_offset(second.offset), reason);
        }
        Some(first)
    }

    /// `union lc_str`: the string whose offset in the command stands at `at`.
    /// It ends with a NUL or with the command. Its place in the slice and it.
    pub fn lc_str(&self, command: &Command, at: u64) -> Option<(u64, &'a [u8])> {
        let body = self.body(command);
        let offset = u64::from(body.u32(at)?);
        if offset < 8 || offset >= body.len() {
            return None;
        }
        let tail = body.tail(offset);
        let end = memchr::memchr(0, tail).unwrap_or(tail.len());
        Some((command.offset + offset, tail.get(..end)?))
    }

    /// `struct linkedit_data_command`: where its data stand in the slice, as
    /// far as they are inside. What is outside is said.
    pub fn linkedit(&self, command: &Command, notes: &mut Notes) -> Option<(u64, Bytes<'a>)> {
        let body = self.body(command);
        let (offset, size) = body.u32(8).zip(body.u32(12))?;
        let name = command_name(command.cmd).text();
        self.table(&name, u64::from(offset), u64::from(size), notes)
    }

    /// `size` bytes from `offset` of the slice, as far as they are inside;
    /// what is outside is said. `None` where there are none.
    pub fn table(
        &self,
        name: &str,
        offset: u64,
        size: u64,
        notes: &mut Notes,
    ) -> Option<(u64, Bytes<'a>)> {
        if size == 0 {
            return None;
        }
        let data = self.data.up_to(offset, size);
        if (data.len() as u64) < size {
            let reason = format!(
                "{:#x} of its {size:#x} bytes are inside the slice",
                data.len()
            );
            notes.at(name, self.file_offset(offset), reason);
        }
        (!data.is_empty()).then(|| (offset, Bytes::new(data, self.data.order())))
    }
}

impl Header {
    fn read(data: Bytes<'_>) -> Option<Self> {
        Some(Self {
            cpu: Cpu {
                kind: data.u32(4)?,
                subtype: data.u32(8)?,
            },
            file_type: data.u32(12)?,
            ncmds: data.u32(16)?,
            sizeofcmds: data.u32(20)?,
            flags: data.u32(24)?,
        })
    }
}

/// `MH_...` file types.
pub const FILE_TYPES: &[(u64, &str)] = &[
    (1, "MH_OBJECT"),
    (2, "MH_EXECUTE"),
    (3, "MH_FVMLIB"),
    (4, "MH_CORE"),
    (5, "MH_PRELOAD"),
    (6, "MH_DYLIB"),
    (7, "MH_DYLINKER"),
    (8, "MH_BUNDLE"),
    (9, "MH_DYLIB_STUB"),
    (10, "MH_DSYM"),
    (11, "MH_KEXT_BUNDLE"),
    (12, "MH_FILESET"),
    (13, "MH_GPU_EXECUTE"),
    (14, "MH_GPU_DYLIB"),
];

/// `MH_OBJECT`
pub const MH_OBJECT: u32 = 1;
/// `MH_EXECUTE`
pub const MH_EXECUTE: u32 = 2;
/// `MH_DYLIB_STUB`
pub const MH_DYLIB_STUB: u32 = 9;
/// `MH_DSYM`
pub const MH_DSYM: u32 = 10;

/// `MH_...` flags of the header.
pub const FLAGS: &[(u32, &str)] = &[
    (0x1, "MH_NOUNDEFS"),
    (0x2, "MH_INCRLINK"),
    (0x4, "MH_DYLDLINK"),
    (0x8, "MH_BINDATLOAD"),
    (0x10, "MH_PREBOUND"),
    (0x20, "MH_SPLIT_SEGS"),
    (0x40, "MH_LAZY_INIT"),
    (0x80, "MH_TWOLEVEL"),
    (0x100, "MH_FORCE_FLAT"),
    (0x200, "MH_NOMULTIDEFS"),
    (0x400, "MH_NOFIXPREBINDING"),
    (0x800, "MH_PREBINDABLE"),
    (0x1000, "MH_ALLMODSBOUND"),
    (0x2000, "MH_SUBSECTIONS_VIA_SYMBOLS"),
    (0x4000, "MH_CANONICAL"),
    (0x8000, "MH_WEAK_DEFINES"),
    (0x1_0000, "MH_BINDS_TO_WEAK"),
    (0x2_0000, "MH_ALLOW_STACK_EXECUTION"),
    (0x4_0000, "MH_ROOT_SAFE"),
    (0x8_0000, "MH_SETUID_SAFE"),
    (0x10_0000, "MH_NO_REEXPORTED_DYLIBS"),
    (0x20_0000, "MH_PIE"),
    (0x40_0000, "MH_DEAD_STRIPPABLE_DYLIB"),
    (0x80_0000, "MH_HAS_TLV_DESCRIPTORS"),
    (0x100_0000, "MH_NO_HEAP_EXECUTION"),
    (0x200_0000, "MH_APP_EXTENSION_SAFE"),
    (0x400_0000, "MH_NLIST_OUTOFSYNC_WITH_DYLDINFO"),
    (0x800_0000, "MH_SIM_SUPPORT"),
    (0x1000_0000, "MH_IMPLICIT_PAGEZERO"),
    (0x8000_0000, "MH_DYLIB_IN_CACHE"),
];

impl Header {
    /// Whether a flag is set.
    pub fn has(&self, name: &str) -> bool {
        FLAGS
            .iter()
            .any(|&(bit, known)| known == name && self.flags & bit != 0)
    }

    /// Its flags by name, sorted; bits without one as `0x...`.
    pub fn flag_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut rest = self.flags;
        for &(bit, name) in FLAGS {
            if rest & bit != 0 {
                names.push(name.to_owned());
                rest &= !bit;
            }
        }
        if rest != 0 {
            names.push(format!("{rest:#x}"));
        }
        names.sort_unstable();
        names
    }
}
