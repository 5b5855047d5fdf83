//! The DOS header, the file header and the optional header ("PE Format",
//! sections "MS-DOS Stub", "COFF File Header", "Optional Header").

use super::fields::{digits, flags, hex, named, number, or_null, range};
use super::names::{CHARACTERISTICS, DIRECTORIES, DLL_CHARACTERISTICS, MACHINES, SUBSYSTEMS};
use crate::binary::layout::Refusal;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Value};

/// Bytes of the header behind the signature.
pub(super) const FILE_HEADER: u64 = 20;

/// The COFF file header, and those of `/bigobj` and TE in its form.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileHeader {
    /// Where it stands.
    pub offset: u64,
    pub machine: u16,
    pub sections: u32,
    pub time_date_stamp: u32,
    pub symbols_at: u32,
    pub symbols: u32,
    pub optional_size: u16,
    pub characteristics: u16,
}

impl FileHeader {
    /// Reads the one at `offset`.
    pub(super) fn read(bytes: Bytes<'_>, offset: u64) -> Option<Self> {
        let header = bytes.part(offset, FILE_HEADER)?;
        Some(Self {
            offset,
            machine: header.u16(0)?,
            sections: u32::from(header.u16(2)?),
            time_date_stamp: header.u32(4)?,
            symbols_at: header.u32(8)?,
            symbols: header.u32(12)?,
            optional_size: header.u16(16)?,
            characteristics: header.u16(18)?,
        })
    }

    /// As facts.
    pub(super) fn facts(&self) -> Object {
        let mut facts = Object::new();
        facts.insert(
            "characteristics",
            flags(self.characteristics, CHARACTERISTICS),
        );
        facts.insert("machine", named(self.machine, MACHINES));
        facts.insert("number_of_sections", number(self.sections));
        facts.insert("number_of_symbols", number(self.symbols));
        facts.insert("offset", hex(self.offset));
        facts.insert("pointer_to_symbol_table", hex(self.symbols_at));
        facts.insert("size_of_optional_header", number(self.optional_size));
        facts.insert("time_date_stamp", hex(self.time_date_stamp));
        facts
    }
}

/// A row of the table of data directories.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Directory {
    pub rva: u64,
    pub size: u64,
    /// Where the row stands.
    pub row: Range,
}

/// The optional header. What lies behind the end of the file is zero, as the
/// loader's page is.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionalHeader {
    pub offset: u64,
    pub magic: u16,
    /// PE32+
    pub wide: bool,
    pub linker: (u8, u8),
    pub size_of_code: u32,
    pub size_of_initialized_data: u32,
    pub size_of_uninitialized_data: u32,
    pub entry: u32,
    pub base_of_code: u32,
    /// PE32 only.
    pub base_of_data: Option<u32>,
    pub image_base: u64,
    pub section_alignment: u32,
    pub file_alignment: u32,
    pub system: (u16, u16),
    pub image: (u16, u16),
    pub subsystem_version: (u16, u16),
    pub win32_version: u32,
    pub size_of_image: u32,
    pub size_of_headers: u32,
    pub checksum: u32,
    pub subsystem: u16,
    pub dll_characteristics: u16,
    pub stack: (u64, u64),
    pub heap: (u64, u64),
    pub loader_flags: u32,
    /// As it stands; 16 are read at most.
    pub number_of_directories: u32,
    pub directories: Vec<Directory>,
}

/// `IMAGE_NT_OPTIONAL_HDR32_MAGIC`, `..64_MAGIC`, `IMAGE_ROM_OPTIONAL_HDR_MAGIC`
pub(super) const PE32: u16 = 0x10B;
pub(super) const PE32_PLUS: u16 = 0x20B;
pub(super) const ROM: u16 = 0x107;

/// Indexes of the directories.
pub(super) mod directory {
    pub const EXPORT: usize = 0;
    pub const IMPORT: usize = 1;
    pub const RESOURCE: usize = 2;
    pub const EXCEPTION: usize = 3;
    pub const SECURITY: usize = 4;
    pub const BASE_RELOCATION: usize = 5;
    pub const DEBUG: usize = 6;
    pub const TLS: usize = 9;
    pub const LOAD_CONFIG: usize = 10;
    pub const BOUND_IMPORT: usize = 11;
    pub const IAT: usize = 12;
    pub const DELAY_IMPORT: usize = 13;
    pub const COM_DESCRIPTOR: usize = 14;
}

impl OptionalHeader {
    /// Reads the one behind `file`.
    ///
    /// # Errors
    /// [`Refusal::Header`] where its magic number is none of an image.
    pub(super) fn read(
        bytes: Bytes<'_>,
        file: &FileHeader,
        notes: &mut Notes,
    ) -> Result<Self, Refusal> {
        let offset = file.offset + FILE_HEADER;
        let Some(magic) = bytes.u16(offset) else {
            return Err(Refusal::Header {
                offset,
                reason: "the file ends before the optional header".to_owned(),
            });
        };
        let wide = magic == PE32_PLUS;
        if !matches!(magic, PE32 | PE32_PLUS | ROM) {
            return Err(Refusal::Header {
                offset,
                reason: format!("{magic:#x} is no magic number of an optional header"),
            });
        }
        let fixed: u64 = if wide { 112 } else { 96 };
        if bytes.len() < offset + fixed {
            notes.at(
                "optional header",
                offset,
                "the file ends in it; what is not there is zero, as the loader's page is",
            );
        }
        // A copy with zeros behind the end of the file.
        let mut copy = [0u8; 240];
        let there = bytes.up_to(offset, copy.len() as u64);
        for (to, from) in copy.iter_mut().zip(there) {
            *to = *from;
        }
        let header = Bytes::little(&copy);
        let u16 = |at| header.u16(at).unwrap_or(0);
        let u32 = |at| header.u32(at).unwrap_or(0);
        let word = |at| header.word(at, wide).unwrap_or(0);
        let mut this = Self {
            offset,
            magic,
            wide,
            linker: (header.u8(2).unwrap_or(0), header.u8(3).unwrap_or(0)),
            size_of_code: u32(4),
            size_of_initialized_data: u32(8),
            size_of_uninitialized_data: u32(12),
            entry: u32(16),
            base_of_code: u32(20),
            base_of_data: (!wide).then(|| u32(24)),
            ..Self::default()
        };
        if magic == ROM {
            notes.at(
                "optional header",
                offset,
                "it is that of a ROM image, which has no directories",
            );
            return Ok(this);
        }
        this.image_base = word(if wide { 24 } else { 28 });
        this.section_alignment = u32(32);
        this.file_alignment = u32(36);
        this.system = (u16(40), u16(42));
        this.image = (u16(44), u16(46));
        this.subsystem_version = (u16(48), u16(50));
        this.win32_version = u32(52);
        this.size_of_image = u32(56);
        this.size_of_headers = u32(60);
        this.checksum = u32(64);
        this.subsystem = u16(68);
        this.dll_characteristics = u16(70);
        if wide {
            this.stack = (word(72), word(80));
            this.heap = (word(88), word(96));
        } else {
            this.stack = (word(72), word(76));
            this.heap = (word(80), word(84));
        }
        this.loader_flags = u32(fixed - 8);
        this.number_of_directories = u32(fixed - 4);
        if this.number_of_directories > 16 {
            notes.at(
                "NumberOfRvaAndSizes",
                offset + fixed - 4,
                format!(
                    "it says {} data directories; the loader knows 16, which are read",
                    this.number_of_directories
                ),
            );
        }
        let count = u64::from(this.number_of_directories.min(16));
        for index in 0..count {
            let at = fixed + index * 8;
            this.directories.push(Directory {
                rva: u64::from(u32(at)),
                size: u64::from(u32(at + 4)),
                row: Range {
                    offset: offset + at,
                    bytes: 8,
                },
            });
        }
        let says = u64::from(file.optional_size);
        if says < fixed + count * 8 {
            notes.at(
                "SizeOfOptionalHeader",
                file.offset + 16,
                format!(
                    "it says {says} bytes, fewer than the {} of the header and its directories; the section table starts inside",
                    fixed + count * 8
                ),
            );
        }
        Ok(this)
    }

    /// A data directory that is there.
    pub(super) fn directory(&self, index: usize) -> Option<Directory> {
        let found = self.directories.get(index)?;
        (found.rva != 0 || found.size != 0).then_some(*found)
    }

    /// As facts.
    pub(super) fn facts(&self) -> Object {
        let mut facts = Object::new();
        let version = |(major, minor): (u16, u16)| Value::from(format!("{major}.{minor}"));
        facts.insert("address_of_entry_point", hex(self.entry));
        facts.insert("base_of_code", hex(self.base_of_code));
        facts.insert("base_of_data", or_null(self.base_of_data.map(hex)));
        facts.insert(
            "linker_version",
            Value::from(format!("{}.{}", self.linker.0, self.linker.1)),
        );
        facts.insert("magic", hex(self.magic));
        facts.insert("offset", hex(self.offset));
        facts.insert("size_of_code", hex(self.size_of_code));
        facts.insert(
            "size_of_initialized_data",
            hex(self.size_of_initialized_data),
        );
        facts.insert(
            "size_of_uninitialized_data",
            hex(self.size_of_uninitialized_data),
        );
        if self.magic == ROM {
            return facts;
        }
        facts.insert("checksum", hex(self.checksum));
        facts.insert(
            "dll_characteristics",
            flags(self.dll_characteristics, DLL_CHARACTERISTICS),
        );
        facts.insert("file_alignment", hex(self.file_alignment));
        facts.insert("image_base", hex(self.image_base));
        facts.insert("image_version", version(self.image));
        facts.insert("loader_flags", hex(self.loader_flags));
        facts.insert(
            "number_of_rva_and_sizes",
            number(self.number_of_directories),
        );
        facts.insert("operating_system_version", version(self.system));
        facts.insert("section_alignment", hex(self.section_alignment));
        facts.insert("size_of_headers", hex(self.size_of_headers));
        facts.insert("size_of_heap_commit", hex(self.heap.1));
        facts.insert("size_of_heap_reserve", hex(self.heap.0));
        facts.insert("size_of_image", hex(self.size_of_image));
        facts.insert("size_of_stack_commit", hex(self.stack.1));
        facts.insert("size_of_stack_reserve", hex(self.stack.0));
        facts.insert("subsystem", named(self.subsystem, SUBSYSTEMS));
        facts.insert("subsystem_version", version(self.subsystem_version));
        facts.insert("win32_version_value", hex(self.win32_version));
        facts
    }
}

/// The rows of the data directories; `find` tells where their bytes stand.
pub(super) fn directory_facts(
    directories: &[Directory],
    find: impl Fn(usize, &Directory) -> Option<Range>,
) -> Value {
    let rows = directories.iter().enumerate().map(|(index, one)| {
        let mut row = Object::new();
        row.insert("address", hex(one.rva));
        row.insert("index", number(index as u64));
        row.insert("location", or_null(find(index, one).map(range)));
        row.insert("name", named(index as u64, DIRECTORIES));
        row.insert("row_location", range(one.row));
        row.insert("size", hex(one.size));
        Value::Object(row)
    });
    Value::Array(rows.collect())
}

/// The DOS header: its words, and what stands between it and the header of the
/// image.
pub(super) fn dos_header(bytes: Bytes<'_>, image_header: u64) -> Object {
    const WORDS: [&str; 14] = [
        "e_magic",
        "e_cblp",
        "e_cp",
        "e_crlc",
        "e_cparhdr",
        "e_minalloc",
        "e_maxalloc",
        "e_ss",
        "e_sp",
        "e_csum",
        "e_ip",
        "e_cs",
        "e_lfarlc",
        "e_ovno",
    ];
    let mut facts = Object::new();
    for (at, name) in WORDS.iter().enumerate() {
        facts.insert(*name, or_null(bytes.u16(at as u64 * 2).map(hex)));
    }
    let reserved = |offset, length| {
        or_null(
            bytes
                .get(offset, length)
                .map(|data| Value::from(digits(data))),
        )
    };
    facts.insert("e_res", reserved(28, 8));
    facts.insert("e_oemid", or_null(bytes.u16(36).map(hex)));
    facts.insert("e_oeminfo", or_null(bytes.u16(38).map(hex)));
    facts.insert("e_res2", reserved(40, 20));
    facts.insert("e_lfanew", hex(image_header));
    let stub = image_header.checked_sub(64).filter(|&length| length > 0);
    facts.insert(
        "stub_location",
        or_null(stub.map(|bytes| range(Range { offset: 64, bytes }))),
    );
    facts
}
