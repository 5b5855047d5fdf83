//! ELF files made here, byte by byte from the specifications, and files that
//! lie. scripts/truth_elf.py compares with readelf.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use rea::binary::BinaryFile;
use rea::binary::layout::{Layout, LayoutOptions, Refusal, inspect_binary_layout};
use rea::evidence::Record;
use rea::operation::Context;
use serde_json::Value;

/// The result of a record; it is written as users get it.
#[track_caller]
fn result(bytes: &[u8]) -> Value {
    let file = BinaryFile {
        path: "a".to_owned(),
        bytes: bytes.to_vec(),
    };
    let context = Context::new("inspect_binary_layout");
    let record = inspect_binary_layout(&file, &LayoutOptions::default(), &context).unwrap();
    let text = record.canonical();
    let mut record: Value = serde_json::from_slice(&text).unwrap();
    record["normalized_result"].take()
}

fn parse(bytes: &[u8]) -> Result<Layout<'_>, Refusal> {
    rea::binary::elf::parse(bytes)
}

/// A section that is to be written.
#[derive(Clone, Default)]
struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    link: u32,
    info: u32,
    entry_size: u64,
    data: Vec<u8>,
}

/// A segment: its type, flags, address, and the section whose bytes it has.
#[derive(Clone)]
struct Segment(u32, u32, u64, &'static str);

/// An ELF file that is to be written.
#[derive(Clone)]
struct File {
    wide: bool,
    big: bool,
    kind: u16,
    machine: u16,
    entry: u64,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    /// Leave the table of sections out.
    no_sections: bool,
}

impl File {
    fn new(kind: u16, machine: u16) -> Self {
        Self {
            wide: true,
            big: false,
            kind,
            machine,
            entry: 0,
            segments: Vec::new(),
            sections: Vec::new(),
            no_sections: false,
        }
    }

    fn number(&self, out: &mut Vec<u8>, value: u64, size: usize) {
        let bytes = value.to_be_bytes();
        let mut bytes = bytes[8 - size..].to_vec();
        if !self.big {
            bytes.reverse();
        }
        out.extend(bytes);
    }

    fn word(&self, out: &mut Vec<u8>, value: u64) {
        self.number(out, value, if self.wide { 8 } else { 4 });
    }

    /// `Elf_Sym`
    fn symbol(&self, name: u32, info: u8, section: u16, value: u64, size: u64) -> Vec<u8> {
        let mut out = Vec::new();
        self.number(&mut out, name.into(), 4);
        if self.wide {
            out.extend([info, 0]);
            self.number(&mut out, section.into(), 2);
        }
        self.word(&mut out, value);
        self.word(&mut out, size);
        if !self.wide {
            out.extend([info, 0]);
            self.number(&mut out, section.into(), 2);
        }
        out
    }

    fn words(&self, words: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        for &word in words {
            self.word(&mut out, word);
        }
        out
    }

    fn write(&self) -> Vec<u8> {
        let header = if self.wide { 64 } else { 52 };
        let segment_size = if self.wide { 56 } else { 32 };
        let section_size = if self.wide { 64 } else { 40 };
        let mut names = vec![0u8];
        let mut sections = vec![Section::default()];
        sections.extend(self.sections.iter().cloned());
        sections.push(Section {
            name: ".shstrtab",
            kind: 3,
            ..Section::default()
        });
        let mut offsets = Vec::new();
        for section in &sections {
            offsets.push(names.len() as u64);
            names.extend(section.name.bytes());
            names.push(0);
        }
        sections.last_mut().unwrap().data = names;
        let mut body = Vec::new();
        let start = header + segment_size * self.segments.len() as u64;
        let mut places = Vec::new();
        for section in &sections {
            while !(start + body.len() as u64).is_multiple_of(8) {
                body.push(0);
            }
            places.push(start + body.len() as u64);
            body.extend(&section.data);
        }
        while !(start + body.len() as u64).is_multiple_of(8) {
            body.push(0);
        }
        let table = start + body.len() as u64;
        let mut out = b"\x7fELF".to_vec();
        out.extend([
            if self.wide { 2 } else { 1 },
            if self.big { 2 } else { 1 },
            1,
        ]);
        out.resize(16, 0);
        let count = if self.no_sections {
            0
        } else {
            sections.len() as u64
        };
        for (value, size) in [
            (self.kind.into(), 2),
            (self.machine.into(), 2),
            (1, 4),
            (self.entry, 0),
            (if self.segments.is_empty() { 0 } else { header }, 0),
            (if self.no_sections { 0 } else { table }, 0),
            (0, 4),
            (header, 2),
            (segment_size, 2),
            (self.segments.len() as u64, 2),
            (section_size, 2),
            (count, 2),
            (count.saturating_sub(1), 2),
        ] {
            match size {
                0 => self.word(&mut out, value),
                size => self.number(&mut out, value, size),
            }
        }
        for Segment(kind, flags, address, section) in &self.segments {
            let at = sections.iter().position(|one| one.name == *section);
            let (offset, size) = match at {
                _ if *section == "*" => (0, start + body.len() as u64),
                Some(at) => (places[at], sections[at].data.len() as u64),
                None => (0, 0),
            };
            self.number(&mut out, (*kind).into(), 4);
            if self.wide {
                self.number(&mut out, (*flags).into(), 4);
            }
            for value in [offset, *address, *address, size, size] {
                self.word(&mut out, value);
            }
            if !self.wide {
                self.number(&mut out, (*flags).into(), 4);
            }
            self.word(&mut out, 8);
        }
        out.extend(body);
        if !self.no_sections {
            for (at, section) in sections.iter().enumerate() {
                self.number(&mut out, offsets[at], 4);
                self.number(&mut out, section.kind.into(), 4);
                self.word(&mut out, section.flags);
                self.word(&mut out, section.address);
                self.word(&mut out, if section.kind == 0 { 0 } else { places[at] });
                self.word(&mut out, section.data.len() as u64);
                self.number(&mut out, section.link.into(), 4);
                self.number(&mut out, section.info.into(), 4);
                self.word(&mut out, 8);
                self.word(&mut out, section.entry_size);
            }
        }
        out
    }

    /// Where the bytes of a section will stand.
    fn place(&self, name: &str) -> u64 {
        let bytes = Self {
            no_sections: false,
            ..self.clone()
        }
        .write();
        let layout = parse(&bytes).unwrap();
        let found = layout
            .sections
            .iter()
            .find(|one| one.name.bytes() == name.as_bytes());
        found.unwrap().offset
    }
}

/// A library with two dynamic symbols, `answer` (offered, version V1) and
/// `puts` (asked for, GLIBC_2.2.5 of libc.so.6), and a slot for `puts`.
fn library(wide: bool, big: bool) -> File {
    let mut file = File::new(3, if wide { 62 } else { 40 });
    (file.wide, file.big) = (wide, big);
    let strings = b"\0answer\0puts\0libc.so.6\0V1\0GLIBC_2.2.5\0liba.so\0/opt/lib\0".to_vec();
    let mut symbols = file.symbol(0, 0, 0, 0, 0);
    symbols.extend(file.symbol(8, 0x12, 0, 0, 0));
    symbols.extend(file.symbol(1, 0x12, 1, 0x100, 9));
    let mut hash = Vec::new();
    for word in [1, 3, 2, 0, 0, 1] {
        file.number(&mut hash, word, 4);
    }
    let mut versions = Vec::new();
    for version in [0, 3, 2] {
        file.number(&mut versions, version, 2);
    }
    let mut definitions = Vec::new();
    for (index, name, next) in [(1u64, 38u64, 28u64), (2, 23, 0)] {
        let flags = u64::from(index == 1);
        for (value, size) in [
            (1, 2),
            (flags, 2),
            (index, 2),
            (1, 2),
            (7, 4),
            (20, 4),
            (next, 4),
            (name, 4),
            (0, 4),
        ] {
            file.number(&mut definitions, value, size);
        }
    }
    let mut needs = Vec::new();
    for (value, size) in [
        (1, 2),
        (1, 2),
        (13, 4),
        (16, 4),
        (0, 4),
        (9, 4),
        (0, 2),
        (3, 2),
        (26, 4),
        (0, 4),
    ] {
        file.number(&mut needs, value, size);
    }
    let relocations = match wide {
        true => file.words(&[0x3000, 1 << 32 | 7, 0]),
        false => file.words(&[0x3000, 1 << 8 | 22]),
    };
    let entry = if wide { 16 } else { 8 };
    file.segments = vec![
        Segment(1, 5, 0, "*"),
        Segment(2, 6, 0, ".dynamic"),
        Segment(0x6474_e551, 7, 0, ""),
        Segment(0x6474_e551, 6, 0, ""),
    ];
    let section = |name, kind, link, info, entry_size, data| Section {
        name,
        kind,
        flags: 2,
        address: 0,
        link,
        info,
        entry_size,
        data,
    };
    file.sections = vec![
        section(".text", 1, 0, 0, 0, vec![0xC3; 16]),
        section(".dynsym", 11, 3, 1, if wide { 24 } else { 16 }, symbols),
        section(".dynstr", 3, 0, 0, 0, strings),
        section(".hash", 5, 2, 0, 4, hash),
        section(".gnu.version", 0x6FFF_FFFF, 2, 0, 2, versions),
        section(".gnu.version_d", 0x6FFF_FFFD, 3, 2, 0, definitions),
        section(".gnu.version_r", 0x6FFF_FFFE, 3, 1, 0, needs),
        section(
            ".rel.plt",
            if wide { 4 } else { 9 },
            2,
            0,
            if wide { 24 } else { 8 },
            relocations,
        ),
        section(".dynamic", 6, 3, 0, entry, vec![0; 20 * entry as usize]),
    ];
    let at = |name| file.place(name);
    let table = [
        (1, 13),
        (14, 38),
        (29, 46),
        (4, at(".hash")),
        (5, at(".dynstr")),
        (6, at(".dynsym")),
        (10, 55),
        (11, if wide { 24 } else { 16 }),
        (23, at(".rel.plt")),
        (2, if wide { 24 } else { 8 }),
        (20, if wide { 7 } else { 17 }),
        (0x6FFF_FFF0, at(".gnu.version")),
        (0x6FFF_FFFC, at(".gnu.version_d")),
        (0x6FFF_FFFD, 2),
        (0x6FFF_FFFE, at(".gnu.version_r")),
        (0x6FFF_FFFF, 1),
        (30, 8),
        (0, 0),
    ];
    let words: Vec<u64> = table
        .into_iter()
        .flat_map(|(tag, value)| [tag, value])
        .collect();
    let mut data = file.words(&words);
    data.resize(20 * entry as usize, 0);
    file.sections.last_mut().unwrap().data = data;
    file
}

#[test]
fn files_without_magic_or_with_a_cut_header_are_refused() {
    assert_eq!(parse(b"\x7fELG").err(), Some(Refusal::Format));
    let bytes = library(true, false).write();
    for length in 4..64 {
        let cut = parse(&bytes[..length]);
        assert!(matches!(cut, Err(Refusal::Header { .. })), "{length}");
    }
    assert!(parse(&bytes[..64]).is_ok());
    for (at, value) in [(4, 3), (5, 0)] {
        let mut bad = bytes.clone();
        bad[at] = value;
        let refused = Refusal::Header {
            offset: at as u64,
            reason: match at {
                4 => "class 3 is neither 32 nor 64 bits".to_owned(),
                _ => "0 is no byte order".to_owned(),
            },
        };
        assert_eq!(parse(&bad).err(), Some(refused));
    }
}

#[track_caller]
fn check_library(result: &Value, wide: bool, with_sections: bool) {
    let facts = &result["facts"];
    assert_eq!(
        result["linkage"]["needed_libraries"][0]["display"],
        "libc.so.6"
    );
    assert_eq!(facts["dependencies"][0]["name"], "libc.so.6");
    let export = &facts["exports"]["items"][0];
    assert_eq!(
        (&export["name"], &export["version"]),
        (&"answer".into(), &"@@V1".into())
    );
    assert_eq!(export["address"], "0x100");
    assert_eq!(facts["exports"]["exhaustive"], true);
    let import = &facts["imports"]["items"][0];
    assert_eq!(import["name"], "puts");
    assert_eq!(import["version"], "GLIBC_2.2.5");
    assert_eq!(import["library"], "libc.so.6");
    assert_eq!(import["address"], "0x3000");
    assert_eq!(result["linkage"]["got"][0]["display_name"], "puts");
    let relocation = &result["relocations"][0];
    assert_eq!(relocation["target"]["address"], "0x3000");
    assert_eq!(
        relocation["addend"],
        if wide { "0".into() } else { Value::Null }
    );
    let name = if wide {
        "R_X86_64_JUMP_SLOT"
    } else {
        "R_ARM_JUMP_SLOT"
    };
    assert_eq!(facts["relocation_types"][0]["name"], name);
    let symbol = &result["symbols"][2];
    assert_eq!(symbol["name"]["display"], "answer");
    let meaning = if with_sections {
        "linked-virtual-address"
    } else {
        "unknown-section-index"
    };
    assert_eq!(symbol["value_meaning"], meaning);
    assert_eq!(
        facts["elf"]["hash_tables"][0]["bucket_lengths"],
        serde_json::json!([0, 0, 1])
    );
    let state = |name: &str| {
        let rows = facts["mitigations"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        row["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("no-runpath"), "absent");
    assert_eq!(state("no-rpath"), "present");
    assert_eq!(state("relro"), "absent");
    assert_eq!(state("pie"), "not-applicable");
    // The last PT_GNU_STACK wins.
    assert_eq!(state("nx"), "present");
    assert_eq!(state("no-executable-stack"), "present");
}

/// A library that asks for an executable stack makes that of its program one,
/// and says so whatever the contract's indicator is.
#[test]
fn a_library_with_an_executable_stack_shows() {
    let state = |flags: &[u64]| {
        let mut file = library(true, false);
        file.segments.retain(|segment| segment.0 != 0x6474_E551);
        for &flags in flags {
            file.segments.push(Segment(0x6474_E551, flags as _, 0, ""));
        }
        let said = result(&file.write());
        assert_eq!(said["mitigations"]["executable_stack_indicator"], false);
        let rows = said["facts"]["mitigations"].as_array().unwrap().clone();
        let row = rows.iter().find(|row| row["name"] == "no-executable-stack");
        let row = row.unwrap();
        (
            row["state"].as_str().unwrap().to_owned(),
            row["fact"].as_str().unwrap().to_owned(),
        )
    };
    let said = |state: &str, fact: &str| (state.to_owned(), fact.to_owned());
    assert_eq!(state(&[6]), said("present", "PT_GNU_STACK flags 0x6"));
    assert_eq!(state(&[6, 7]), said("absent", "PT_GNU_STACK flags 0x7"));
    assert_eq!(state(&[7, 6]), said("present", "PT_GNU_STACK flags 0x6"));
    assert_eq!(state(&[]), said("unknown", "no PT_GNU_STACK"));
}

#[test]
fn both_classes_and_byte_orders_say_the_same() {
    for (wide, big) in [(true, false), (true, true), (false, false), (false, true)] {
        let file = library(wide, big);
        let said = result(&file.write());
        check_library(&said, wide, true);
        assert_eq!(said["architecture"]["bits"], if wide { 64 } else { 32 });
        assert_eq!(
            said["architecture"]["byte_order"],
            if big { "big" } else { "little" }
        );
        let limitations = said["limitations"].as_array().unwrap().len();
        // Without sections the dynamic table tells the same.
        let bare = File {
            no_sections: true,
            ..file
        };
        let said = result(&bare.write());
        check_library(&said, wide, false);
        // One more: that there are none.
        assert_eq!(
            said["limitations"].as_array().unwrap().len(),
            limitations + 1
        );
        assert_eq!(said["sections"], serde_json::json!([]));
    }
}

/// gABI ch. 4: an index that does not fit stands in SHT_SYMTAB_SHNDX.
#[test]
fn extended_section_indexes() {
    let mut file = File::new(1, 62);
    let mut symbols = file.symbol(0, 0, 0, 0, 0);
    symbols.extend(file.symbol(1, 0x10, 0xFFFF, 4, 0));
    file.sections = vec![
        Section {
            name: ".symtab",
            kind: 2,
            link: 2,
            entry_size: 24,
            data: symbols,
            ..Section::default()
        },
        Section {
            name: ".strtab",
            kind: 3,
            data: b"\0far\0".to_vec(),
            ..Section::default()
        },
        Section {
            name: ".symtab_shndx",
            kind: 18,
            link: 1,
            entry_size: 4,
            data: vec![0, 0, 0, 0, 2, 0, 0, 0],
            ..Section::default()
        },
    ];
    let said = result(&file.write());
    assert_eq!(said["symbols"][1]["section_index"], "SHN_XINDEX");
    assert_eq!(said["symbols"][1]["value_meaning"], "unknown-section-index");
    let row = &said["facts"]["elf"]["extended_section_indexes"][0];
    assert_eq!(
        (&row["entry_index"], &row["section_index"]),
        (&1.into(), &2.into())
    );
}

fn object_with(kind: u32, machine: u16, entry_size: u64, data: Vec<u8>) -> File {
    let mut file = File::new(3, machine);
    file.sections = vec![Section {
        name: ".relocations",
        kind,
        flags: 2,
        entry_size,
        data,
        ..Section::default()
    }];
    file
}

/// gABI, "Relative Relocation Table": an address, then bitmaps of the words
/// behind it.
#[test]
fn relative_relocations() {
    let words = [0x1000u64, 0b1011, 0x8000_0000_0000_0001, 0x2000];
    let data = File::new(3, 62).words(&words);
    let said = result(&object_with(19, 62, 8, data).write());
    let offsets: Vec<&str> = said["packed_relative_relocations"][0]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["reported_offset"].as_str().unwrap())
        .collect();
    // Bits 1 and 3 of the first bitmap, bit 63 of the second.
    let last = format!("{:#x}", 0x1008 + 63 * 8 + 62 * 8);
    assert_eq!(
        offsets,
        ["0x1000", "0x1008", "0x1018", last.as_str(), "0x2000"]
    );
}

/// LLVM's description of CREL: `count << 3 | addends << 2 | shift`, then for
/// each a byte of flags and offset, and the differences that the flags tell.
#[test]
fn compact_relocations() {
    let data = vec![
        2 << 3 | 4 | 3,    // two with addends, offsets in units of eight
        1 << 3 | 7,        // offset 1: symbol, type and addend change
        1,                 // symbol 1
        0x0B,              // type 11
        0x7C,              // addend -4
        0x80 | 2 << 3 | 4, // offset 2 + 3 * 16 further: the addend changes
        3,
        0x05, // addend 1
    ];
    let said = result(&object_with(0x4000_0014, 62, 1, data).write());
    let rows = said["relocations"].as_array().unwrap();
    let row = |at: usize| {
        let row = &rows[at];
        let text = |member: &str| row[member].as_str().unwrap().to_owned();
        (
            text("reported_offset"),
            row["type"].as_u64().unwrap(),
            row["symbol_index"].as_u64().unwrap(),
            text("addend"),
        )
    };
    assert_eq!(row(0), ("0x8".to_owned(), 11, 1, "-4".to_owned()));
    assert_eq!(
        row(1),
        (
            format!("{:#x}", 8 * (1 + 2 + 3 * 16)),
            11,
            1,
            "1".to_owned()
        )
    );
    assert_eq!(rows[1]["location"]["bytes"], "0x3");
    assert_eq!(said["facts"]["relocation_types"][0]["name"], "R_X86_64_32S");
}

/// Bionic, linker_reloc_iterators.h: groups that share what their flags say;
/// in a table with addends one that says none has 0.
#[test]
fn android_relocations() {
    let mut data = b"APS2".to_vec();
    data.extend([3, 0x80, 0x20]); // three, from 0x1000
    data.extend([2, 1 | 2 | 8, 8, 0x83, 0x08]); // two: every 8, type 0x403, own addends
    data.extend([0x10, 0x10]);
    data.extend([1, 0, 4, 0x82, 0x88, 0x80, 0x80, 0x10]); // one: 4 on, symbol 1, type 0x402
    let said = result(&object_with(0x6000_0002, 183, 1, data.clone()).write());
    let rows = &said["facts"]["elf"]["android_relocations"][0]["entries"];
    assert_eq!(
        *rows,
        serde_json::json!([
            {"addend": "16", "reported_offset": "0x1008", "symbol_index": 0, "type": 0x403},
            {"addend": "32", "reported_offset": "0x1010", "symbol_index": 0, "type": 0x403},
            {"addend": "0", "reported_offset": "0x1014", "symbol_index": 1, "type": 0x402},
        ])
    );
    assert_eq!(
        said["facts"]["relocation_types"][1]["name"],
        "R_AARCH64_RELATIVE"
    );
    // A table without addends has none that could be 0.
    let said = result(&object_with(0x6000_0001, 183, 1, data).write());
    let rows = &said["facts"]["elf"]["android_relocations"][0]["entries"];
    assert_eq!(rows[2]["addend"], Value::Null);
}

/// 64-bit MIPS: three types and a special symbol in one word, in an order of
/// its own (MIPS n64 ABI, section 2.9.1).
#[test]
fn composed_relocations() {
    let mut data = vec![0; 8];
    data.extend([5, 0, 0, 0, 0, 0, 18, 3]); // symbol 5; R_MIPS_REL32, then R_MIPS_64
    data.extend([0; 8]);
    let mut file = object_with(4, 8, 24, data);
    let said = result(&file.write());
    assert_eq!(said["relocations"][0]["symbol_index"], 5);
    assert_eq!(
        said["facts"]["elf"]["composed_relocation_types"][0]["names"],
        serde_json::json!(["R_MIPS_REL32", "R_MIPS_64", "R_MIPS_NONE"])
    );
    // Big-endian files need no such care.
    file.big = true;
    file.sections[0].data = [vec![0; 8], vec![0, 0, 0, 5, 0, 0, 18, 3], vec![0; 8]].concat();
    let said = result(&file.write());
    assert_eq!(said["relocations"][0]["symbol_index"], 5);
    assert_eq!(said["relocations"][0]["type"], 0x1203);
}

#[test]
fn notes_and_attributes() {
    let mut note = vec![4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0];
    note.extend(b"GNU\0\xde\xad\xbe\xef");
    let mut property = vec![4, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0];
    property.extend(b"GNU\0\x02\0\0\xc0\x04\0\0\0\x03\0\0\0\0\0\0\0");
    let mut attributes = b"A\x1b\0\0\0aeabi\0\x01\x11\0\0\0\x05cortex-a7\0".to_vec();
    attributes.extend([6, 10, 9]);
    attributes[1] = (attributes.len() - 1) as u8;
    attributes[12] = (attributes.len() - 11) as u8;
    let mut file = File::new(2, 62);
    let section = |name, kind, data| Section {
        name,
        kind,
        data,
        ..Section::default()
    };
    file.sections = vec![
        section(".note.gnu.build-id", 7, note),
        section(".note.gnu.property", 7, property),
        section(".comment", 1, b"GCC: (Debian) 12\0\0other\0".to_vec()),
        section(".gnu_debuglink", 1, b"a.debug\0\x78\x56\x34\x12".to_vec()),
    ];
    let said = result(&file.write());
    let facts = &said["facts"];
    assert_eq!(facts["build_ids"][0]["value"], "deadbeef");
    assert_eq!(facts["build_ids"][1]["value"], "12345678");
    assert_eq!(facts["elf"]["debug_link"]["file"], "a.debug");
    assert_eq!(facts["elf"]["comments"][1]["text"], "other");
    let property = &facts["elf"]["notes"][1]["properties"][0];
    assert_eq!(
        property["bit_names"],
        serde_json::json!([
            "GNU_PROPERTY_X86_FEATURE_1_IBT",
            "GNU_PROPERTY_X86_FEATURE_1_SHSTK"
        ])
    );
    let mut file = File::new(1, 40);
    file.wide = false;
    file.sections = vec![section(".ARM.attributes", 0x7000_0003, attributes)];
    let said = result(&file.write());
    let rows = &said["facts"]["elf"]["attributes"];
    assert_eq!(
        (&rows[0]["tag"], &rows[0]["text"]),
        (&"Tag_CPU_name".into(), &"cortex-a7".into())
    );
    assert_eq!(
        (&rows[1]["tag"], &rows[1]["number"]),
        (&"Tag_CPU_arch".into(), &10.into())
    );
}

/// Cut at every place, and every byte of the headers and tables at extremes:
/// something is always said, in time.
#[test]
fn files_that_lie() {
    let started = std::time::Instant::now();
    for wide in [true, false] {
        let bytes = library(wide, false).write();
        let header = if wide { 64 } else { 52 };
        for length in header..bytes.len() {
            assert!(parse(&bytes[..length]).is_ok(), "{length}");
        }
        for at in 6..bytes.len() {
            for value in [0, 0xFF] {
                let mut bad = bytes.clone();
                bad[at] = value;
                assert!(parse(&bad).is_ok(), "{at}");
            }
        }
    }
    assert!(started.elapsed().as_secs() < 60);
}

/// Any number of tables may name the same bytes: they are read once.
#[test]
fn tables_that_share_their_bytes() {
    let mut file = File::new(3, 62);
    let mut names = vec![b'x'; 100_000];
    names.push(0);
    let symbols: Vec<u8> = (0..4000)
        .flat_map(|_| file.symbol(0, 0x12, 1, 0, 0))
        .collect();
    file.sections = vec![
        Section {
            name: ".dynstr",
            kind: 3,
            data: names,
            ..Section::default()
        },
        Section {
            name: ".dynsym",
            kind: 11,
            link: 1,
            entry_size: 24,
            data: symbols,
            ..Section::default()
        },
    ];
    let mut bytes = file.write();
    // 2000 more headers, all of them the table of symbols.
    let header = parse(&bytes).unwrap().sections[2].header_location.offset as usize;
    let row = bytes[header..header + 64].to_vec();
    let mut table = bytes[header - 128..].to_vec();
    for _ in 0..2000 {
        table.extend(&row);
    }
    let start = bytes.len() as u64;
    bytes.extend(&table);
    bytes[40..48].copy_from_slice(&start.to_le_bytes());
    let count = (table.len() / 64) as u16;
    bytes[60..62].copy_from_slice(&count.to_le_bytes());
    let layout = parse(&bytes).unwrap();
    assert!(layout.symbols.len() <= 20_000, "{}", layout.symbols.len());
    let names: usize = layout
        .symbols
        .iter()
        .map(|one| one.name.bytes().len())
        .sum();
    assert!(names <= 4 * bytes.len() + (1 << 20));
    let said = layout.notes.sentences();
    assert!(
        said.iter().any(|one| one.contains("was not read again")),
        "{said:?}"
    );
}

/// A chain of a hash table that never ends, and one that claims everything.
#[test]
fn hash_tables_that_loop() {
    let file = library(true, false);
    let place = file.place(".hash") as usize;
    let mut bytes = file.write();
    bytes[place + 12 + 8..place + 12 + 12].copy_from_slice(&2u32.to_le_bytes());
    let said = result(&bytes);
    let limitations = said["limitations"].to_string();
    assert!(limitations.contains("DT_HASH"), "{limitations}");
    let bare = File {
        no_sections: true,
        ..file
    };
    let mut bytes = bare.write();
    bytes[place + 4..place + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    let said = result(&bytes);
    assert!(said["limitations"].to_string().contains("how many symbols"));
}
