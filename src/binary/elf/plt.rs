//! Slots of the global offset table and the stubs that jump through them,
//! named as pwntools 4.15 names them (`ELF.got`, `ELF.plt`): the last
//! relocation of a name wins, a relocation without a symbol takes the names
//! of the symbols at its addend, and of all places of a stub section, in
//! steps of four bytes, from which a slot is read first, the last one counts.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Elf;
use super::dynamic::{Dynamic, dt};
use super::indicators::ET_EXEC;
use super::names::em;
use super::relocations::RelocationRows;
use super::symbols::{ET_REL, Symbols};
use super::tables::{SectionHeader, pt};
use crate::binary::Bytes;
use crate::binary::layout::NamedAddress;

/// `SHN_UNDEF` as rows have it.
const UNDEFINED: super::Symbolic = super::Symbolic::Named("SHN_UNDEF");

/// Both maps, by address.
#[derive(Default)]
pub(super) struct Maps<'a> {
    pub got: Vec<NamedAddress<'a>>,
    pub plt: Vec<NamedAddress<'a>>,
}

/// Reads both. Objects have no slots, and a program without an interpreter
/// is linked statically.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    symbols: &Symbols<'a>,
    relocations: &RelocationRows<'_>,
) -> Maps<'a> {
    let interpreted = elf.segments.iter().any(|one| one.kind == pt::INTERP);
    if elf.header.kind == ET_REL || (elf.header.kind == ET_EXEC && !interpreted) {
        return Maps::default();
    }
    let mut slots = slots(symbols, relocations);
    if matches!(elf.header.machine, em::MIPS | em::MIPS_RS3_LE) {
        mips_slots(elf, dynamic, symbols, &mut slots);
    }
    let plt = match slots.is_empty() {
        true => Vec::new(),
        false => stubs(elf, dynamic, symbols, &slots),
    };
    let got = slots
        .into_iter()
        .map(|(name, (_, address))| named(name, address));
    Maps {
        got: sorted(got.collect()),
        plt,
    }
}

fn named(name: &[u8], address: u64) -> NamedAddress<'_> {
    NamedAddress {
        name: Cow::Borrowed(name),
        address,
    }
}

fn sorted(mut rows: Vec<NamedAddress<'_>>) -> Vec<NamedAddress<'_>> {
    rows.sort_unstable_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    rows
}

/// The slot of each name, with the place in order of the relocation that says
/// so.
type Slots<'a> = HashMap<&'a [u8], (usize, u64)>;

fn slots<'a>(symbols: &Symbols<'a>, relocations: &RelocationRows<'_>) -> Slots<'a> {
    let mut slots = Slots::new();
    // Each symbol once, however many relocations it has: names may be long.
    let mut by_symbol: HashMap<(u64, u64), (usize, u64)> = HashMap::new();
    // Addresses that relocations without a symbol put somewhere.
    let mut relative: HashMap<u64, (usize, u64)> = HashMap::new();
    for (order, row) in relocations.iter().enumerate() {
        let Some(table) = row.symbol_table_index else {
            continue;
        };
        match (row.symbol_index, row.addend) {
            (0, Some(addend)) => {
                relative.insert(addend as u64, (order, row.reported_offset));
            }
            (0, None) => {}
            // What the table does not have takes no memory either.
            (index, _)
                if symbols
                    .table(table)
                    .is_none_or(|of| index >= of.count as u64) => {}
            (index, _) => {
                by_symbol.insert((table, index), (order, row.reported_offset));
            }
        }
    }
    for ((table, index), place) in by_symbol {
        let table = symbols.table(table);
        let symbol = table.and_then(|table| symbols.at(table, index));
        if let Some(name) = symbol.map(|one| one.name.bytes())
            && !name.is_empty()
        {
            let last = slots.entry(name).or_insert(place);
            *last = (*last).max(place);
        }
    }
    if relative.is_empty() {
        return slots;
    }
    let defined = || {
        let rows = symbols.rows();
        rows.filter(|one| one.section_index != UNDEFINED && !one.name.bytes().is_empty())
    };
    // Of equal names the last symbol counts, wherever it stands.
    let mut values: HashMap<&[u8], u64> = defined()
        .filter(|one| relative.contains_key(&one.value))
        .map(|one| (one.name.bytes(), one.value))
        .collect();
    if values.is_empty() {
        return slots;
    }
    for symbol in defined() {
        if let Some(value) = values.get_mut(symbol.name.bytes()) {
            *value = symbol.value;
        }
    }
    for (name, value) in values {
        let Some(&(order, slot)) = relative.get(&value) else {
            continue;
        };
        let place = slots.entry(name).or_insert((order, slot));
        if order > place.0 {
            *place = (order, slot);
        }
    }
    slots
}

/// MIPS keeps the slots of its global symbols at the end of the table, in the
/// order of the symbols (System V ABI MIPS supplement, ch. 5).
fn mips_slots<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    symbols: &Symbols<'a>,
    slots: &mut Slots<'a>,
) {
    let read = || {
        let got = dynamic.value(dt::PLTGOT)?;
        let local = dynamic.value(dt::MIPS_LOCAL_GOTNO)?;
        let first = dynamic.value(dt::MIPS_GOTSYM)?;
        let start = got.checked_add(local.checked_mul(elf.word())?)?;
        Some((start, usize::try_from(first).ok()?))
    };
    let (Some((start, first)), Some(table)) = (read(), symbols.dynamic()) else {
        return;
    };
    let global = symbols.of(table).skip(first).enumerate();
    for (at, symbol) in global {
        let Some(slot) = start.checked_add(at as u64 * elf.word()) else {
            return;
        };
        slots.insert(symbol.name.bytes(), (usize::MAX, slot));
    }
}

/// Sections of stubs, in the order in which they are searched.
const STUBS: &[&[u8]] = &[b".plt", b".plt.got", b".plt.sec"];

fn stubs<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    symbols: &Symbols<'a>,
    slots: &Slots<'a>,
) -> Vec<NamedAddress<'a>> {
    let got = dynamic.value(dt::PLTGOT).unwrap_or(0);
    // The name of a slot: of the last relocation; a symbol there goes first.
    let mut names: HashMap<u64, (usize, &[u8])> = HashMap::new();
    for (&name, &(order, slot)) in slots {
        let place = names.entry(slot).or_insert((order, name));
        if (order, name) > *place {
            *place = (order, name);
        }
    }
    for symbol in symbols.rows() {
        let name = symbol.name.bytes();
        if symbol.section_index != UNDEFINED
            && !name.is_empty()
            && let Some(place) = names.get_mut(&symbol.value)
        {
            place.1 = name;
        }
    }
    // By slot, then by name: the last stub counts.
    let mut by_slot: HashMap<u64, (usize, u64)> = HashMap::new();
    let mut order = 0;
    for &section in STUBS {
        let Some((_, header)) = elf.named(section) else {
            continue;
        };
        let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
        for at in (0..bytes.len()).step_by(4) {
            let slot = first_read(elf, header, bytes, at, got);
            if let Some(slot) = slot.filter(|slot| names.contains_key(slot)) {
                by_slot.insert(slot, (order, header.address.wrapping_add(at)));
                order += 1;
            }
        }
    }
    let mut found: HashMap<&[u8], (usize, u64)> = HashMap::new();
    for (slot, place) in by_slot {
        if let Some(&(_, name)) = names.get(&slot) {
            let last = found.entry(name).or_insert(place);
            *last = (*last).max(place);
        }
    }
    if let Some((_, header)) = elf.named(b".MIPS.stubs") {
        mips_stubs(elf, header, symbols, &mut found);
    }
    let rows = found.into_iter();
    sorted(rows.map(|(name, (_, at))| named(name, at)).collect())
}

/// `l[wd] t9, -32752(gp); move t7, ra; jalr t9; li t8, SYMBOL` (System V ABI
/// MIPS supplement, ch. 5): the stub tells the resolver a symbol's number.
fn mips_stubs<'a>(
    elf: &Elf<'a>,
    header: &SectionHeader,
    symbols: &Symbols<'a>,
    found: &mut HashMap<&'a [u8], (usize, u64)>,
) {
    let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
    let Some(table) = symbols.dynamic() else {
        return;
    };
    let mut by_symbol = std::collections::BTreeMap::new();
    for at in (0..bytes.len()).step_by(4) {
        let [Some(load), Some(save), Some(jump), Some(number)] =
            [0, 4, 8, 12].map(|more| bytes.u32(at + more))
        else {
            break;
        };
        let stub = matches!(load, 0x8F99_8010 | 0xDF99_8010)
            && matches!(save, 0x03E0_7821 | 0x03E0_7825 | 0x03E0_782D)
            && jump == 0x0320_F809
            && matches!(number >> 16, 0x2418 | 0x3418 | 0x6418);
        if stub {
            by_symbol.insert(number & 0xFFFF, header.address.wrapping_add(at));
        }
    }
    for (symbol, address) in by_symbol {
        let symbol = symbols.at(table, symbol.into());
        if let Some(name) = symbol.map(|one| one.name.bytes())
            && !name.is_empty()
        {
            found.insert(name, (usize::MAX, address));
        }
    }
}

/// The address that the instructions at `at` of a section read first, where
/// they are those of a stub.
fn first_read(
    elf: &Elf<'_>,
    section: &SectionHeader,
    bytes: Bytes<'_>,
    at: u64,
    got: u64,
) -> Option<u64> {
    let address = section.address;
    match elf.header.machine {
        em::X86_64 | em::I386 | em::IAMCU => {
            let wide = elf.header.machine == em::X86_64;
            x86(bytes, address, at, wide, got)
        }
        em::AARCH64 => aarch64(bytes, address, at),
        em::ARM => arm(bytes, address, at),
        em::RISCV => riscv(bytes, address, at),
        em::LOONGARCH => loongarch(bytes, address, at),
        em::S390 if elf.wide => s390(bytes, address, at),
        _ => None,
    }
}

/// Instructions that are run from one place.
const STEPS: usize = 5;

/// `endbr`, `nop` and `push` are passed, jumps followed, `jmp *slot` read.
fn x86(bytes: Bytes<'_>, address: u64, start: u64, wide: bool, got: u64) -> Option<u64> {
    let mut at = start;
    for _ in 0..STEPS {
        let next: [u8; 8] = {
            let mut next = [0; 8];
            for (to, from) in next.iter_mut().zip(bytes.up_to(at, 8)) {
                *to = *from;
            }
            next
        };
        let number = |from: u64| bytes.i32(at + from).map(i64::from);
        let (size, read) = match next {
            [0xF3, 0x0F, 0x1E, 0xFA | 0xFB, ..] => (4, None),
            [0xF2, 0xFF, 0x25, ..] => (7, Some(number(3)?)),
            [0xFF, 0x25, ..] => (6, Some(number(2)?)),
            [0xFF, 0xA3, ..] if !wide => {
                return Some(got.wrapping_add_signed(number(2)?) & 0xFFFF_FFFF);
            }
            [0xF2, 0xE9, ..] => {
                at = at.checked_add_signed(6 + number(2)?)?;
                continue;
            }
            [0xE9, ..] => {
                at = at.checked_add_signed(5 + number(1)?)?;
                continue;
            }
            [0x68, ..] => (5, None),
            [0x90, ..] => (1, None),
            [0x66, 0x90, ..] => (2, None),
            [0x0F, 0x1F, 0x40, ..] => (4, None),
            [0x0F, 0x1F, 0x44, ..] => (5, None),
            [0x66, 0x0F, 0x1F, 0x44, ..] => (6, None),
            [0x0F, 0x1F, 0x80, ..] => (7, None),
            _ => return None,
        };
        match (read, wide) {
            (Some(displacement), true) => {
                return Some(
                    address
                        .wrapping_add(at + size)
                        .wrapping_add_signed(displacement),
                );
            }
            (Some(absolute), false) => return Some(absolute as u64 & 0xFFFF_FFFF),
            (None, _) => at += size,
        }
    }
    None
}

/// `adrp x16, page; ldr x17, [x16, #offset]`, behind a `bti c`.
fn aarch64(bytes: Bytes<'_>, address: u64, start: u64) -> Option<u64> {
    // Code is little-endian whatever the data is.
    let code = Bytes::little(bytes.data());
    let mut at = start;
    if code.u32(at)? == 0xD503_245F {
        at += 4;
    }
    let (page, load) = (code.u32(at)?, code.u32(at + 4)?);
    if page & 0x9F00_001F != 0x9000_0010 {
        return None;
    }
    let high = i64::from((page >> 5) & 0x7_FFFF) << 2 | i64::from((page >> 29) & 3);
    let high = (high << 43) >> 31;
    let base = (address.wrapping_add(at) & !0xFFF).wrapping_add_signed(high);
    let scale = match load & 0xFFC0_03FF {
        0xF940_0211 => 8,
        0xB940_0211 => 4,
        _ => return None,
    };
    Some(base.wrapping_add(u64::from((load >> 10) & 0xFFF) * scale))
}

/// `add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]!`, or `ldr ip, [pc, #n];
/// add ip, pc, ip` behind a page of its own.
fn arm(bytes: Bytes<'_>, address: u64, start: u64) -> Option<u64> {
    let mut ip = None;
    let mut at = start;
    for _ in 0..STEPS {
        // Code of BE8 files is little-endian.
        let code = Bytes::little(bytes.data()).u32(at)?;
        let rotated = |code: u32| (code & 0xFF).rotate_right((code >> 8 & 0xF) * 2);
        match code >> 12 {
            // add ip, pc, #
            0xE28FC => {
                let pc = address.wrapping_add(at) as u32;
                ip = Some(pc.wrapping_add(8).wrapping_add(rotated(code)));
            }
            // add ip, ip, #
            0xE28CC => ip = Some(ip?.wrapping_add(rotated(code))),
            // ldr pc, [ip, #]!
            0xE5BCF => return Some(ip?.wrapping_add(code & 0xFFF).into()),
            // ldr pc, [ip, #-]!
            0xE53CF => return Some(ip?.wrapping_sub(code & 0xFFF).into()),
            _ => return None,
        }
        at += 4;
    }
    None
}

/// `auipc t3, high; l[wd] t3, low(t3)`
fn riscv(bytes: Bytes<'_>, address: u64, at: u64) -> Option<u64> {
    let code = Bytes::little(bytes.data());
    let (high, load) = (code.u32(at)?, code.u32(at + 4)?);
    if high & 0xFFF != 0xE17 || !matches!(load & 0xF_FFFF, 0xE_2E03 | 0xE_3E03) {
        return None;
    }
    let base = address
        .wrapping_add(at)
        .wrapping_add_signed(i64::from((high & 0xFFFF_F000) as i32));
    Some(base.wrapping_add_signed(i64::from(load as i32 >> 20)))
}

/// `pcaddu12i $t3, high; ld.d $t3, $t3, low`
fn loongarch(bytes: Bytes<'_>, address: u64, at: u64) -> Option<u64> {
    let (high, load) = (bytes.u32(at)?, bytes.u32(at + 4)?);
    if high & 0xFE00_001F != 0x1C00_000F || !matches!(load & 0xFFC0_03FF, 0x28C0_01EF | 0x2880_01EF)
    {
        return None;
    }
    let page = ((high >> 5 & 0xF_FFFF) << 12) as i32;
    let low = ((load >> 10 & 0xFFF) << 20) as i32 >> 20;
    let base = address.wrapping_add(at).wrapping_add_signed(page.into());
    Some(base.wrapping_add_signed(low.into()))
}

/// `larl %r1, slot; lg %r1, 0(%r1)`
fn s390(bytes: Bytes<'_>, address: u64, at: u64) -> Option<u64> {
    if bytes.u16(at)? != 0xC010 || bytes.up_to(at + 6, 6) != [0xE3, 0x10, 0x10, 0, 0, 4] {
        return None;
    }
    let halfwords = i64::from(bytes.i32(at + 2)?);
    Some(address.wrapping_add(at).wrapping_add_signed(2 * halfwords))
}
