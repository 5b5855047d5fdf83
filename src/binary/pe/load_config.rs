//! The load configuration ("PE Format", section "The Load Configuration
//! Structure"; later members as winnt.h of the Windows SDK has them). It has
//! grown for twenty years: members that its own size covers are told.

use super::dynamic_relocations::{self, DynamicRelocation};
use super::fields::{flags, hex, named, number, or_null, range};
use super::image::{Budget, Image, SPENT, outside};
use super::names::Names;
use super::sections::SectionHeader;
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Value, WriteJson, Writer};

/// `IMAGE_GUARD_...`
pub(super) const GUARD: Names = &[
    (0x0000_0100, "IMAGE_GUARD_CF_INSTRUMENTED"),
    (0x0000_0200, "IMAGE_GUARD_CFW_INSTRUMENTED"),
    (0x0000_0400, "IMAGE_GUARD_CF_FUNCTION_TABLE_PRESENT"),
    (0x0000_0800, "IMAGE_GUARD_SECURITY_COOKIE_UNUSED"),
    (0x0000_1000, "IMAGE_GUARD_PROTECT_DELAYLOAD_IAT"),
    (0x0000_2000, "IMAGE_GUARD_DELAYLOAD_IAT_IN_ITS_OWN_SECTION"),
    (
        0x0000_4000,
        "IMAGE_GUARD_CF_EXPORT_SUPPRESSION_INFO_PRESENT",
    ),
    (0x0000_8000, "IMAGE_GUARD_CF_ENABLE_EXPORT_SUPPRESSION"),
    (0x0001_0000, "IMAGE_GUARD_CF_LONGJUMP_TABLE_PRESENT"),
    (0x0002_0000, "IMAGE_GUARD_RF_INSTRUMENTED"),
    (0x0004_0000, "IMAGE_GUARD_RF_ENABLE"),
    (0x0008_0000, "IMAGE_GUARD_RF_STRICT"),
    (0x0010_0000, "IMAGE_GUARD_RETPOLINE_PRESENT"),
    (0x0040_0000, "IMAGE_GUARD_EH_CONTINUATION_TABLE_PRESENT"),
    (0x0080_0000, "IMAGE_GUARD_XFG_ENABLED"),
    (0x0100_0000, "IMAGE_GUARD_CASTGUARD_PRESENT"),
    (0x0200_0000, "IMAGE_GUARD_MEMCPY_PRESENT"),
];

/// Width of a member: bytes, or a pointer.
#[derive(Clone, Copy, PartialEq)]
enum Width {
    Half,
    Word,
    Pointer,
}
use Width::{Half, Pointer, Word};

/// The members in order; the two in the middle change places in PE32.
const MEMBERS: &[(&str, Width)] = &[
    ("size", Word),
    ("time_date_stamp", Word),
    ("major_version", Half),
    ("minor_version", Half),
    ("global_flags_clear", Word),
    ("global_flags_set", Word),
    ("critical_section_default_timeout", Word),
    ("de_commit_free_block_threshold", Pointer),
    ("de_commit_total_free_threshold", Pointer),
    ("lock_prefix_table", Pointer),
    ("maximum_allocation_size", Pointer),
    ("virtual_memory_threshold", Pointer),
    ("process_affinity_mask", Pointer),
    ("process_heap_flags", Word),
    ("csd_version", Half),
    ("dependent_load_flags", Half),
    ("edit_list", Pointer),
    ("security_cookie", Pointer),
    ("se_handler_table", Pointer),
    ("se_handler_count", Pointer),
    ("guard_cf_check_function_pointer", Pointer),
    ("guard_cf_dispatch_function_pointer", Pointer),
    ("guard_cf_function_table", Pointer),
    ("guard_cf_function_count", Pointer),
    ("guard_flags", Word),
    ("code_integrity_flags", Half),
    ("code_integrity_catalog", Half),
    ("code_integrity_catalog_offset", Word),
    ("code_integrity_reserved", Word),
    ("guard_address_taken_iat_entry_table", Pointer),
    ("guard_address_taken_iat_entry_count", Pointer),
    ("guard_long_jump_target_table", Pointer),
    ("guard_long_jump_target_count", Pointer),
    ("dynamic_value_reloc_table", Pointer),
    ("chpe_metadata_pointer", Pointer),
    ("guard_rf_failure_routine", Pointer),
    ("guard_rf_failure_routine_function_pointer", Pointer),
    ("dynamic_value_reloc_table_offset", Word),
    ("dynamic_value_reloc_table_section", Half),
    ("reserved2", Half),
    ("guard_rf_verify_stack_pointer_function_pointer", Pointer),
    ("hot_patch_table_offset", Word),
    ("reserved3", Word),
    ("enclave_configuration_pointer", Pointer),
    ("volatile_metadata_pointer", Pointer),
    ("guard_eh_continuation_table", Pointer),
    ("guard_eh_continuation_count", Pointer),
    ("guard_xfg_check_function_pointer", Pointer),
    ("guard_xfg_dispatch_function_pointer", Pointer),
    ("guard_xfg_table_dispatch_function_pointer", Pointer),
    ("cast_guard_os_determined_failure_mode", Pointer),
    ("guard_memcpy_function_pointer", Pointer),
    ("uma_function_pointers", Pointer),
];

/// What protections rest on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadConfig {
    pub location: Range,
    pub security_cookie: Option<u64>,
    pub se_handlers: Option<(u64, u64)>,
    pub guard_flags: Option<u32>,
    pub guard_functions: Option<u64>,
    /// Functions of the other machine in a hybrid image: address and bytes.
    pub extra_functions: Option<(u64, u64)>,
}

/// Functions in a table of the loader's, read when they are written.
pub(super) struct GuardTable<'a> {
    location: Range,
    rows: Bytes<'a>,
    /// Bytes behind each address.
    extra: u64,
}

impl WriteJson for GuardTable<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("entries");
        w.begin_array();
        let mut at = 0;
        while let Some(address) = self.rows.u32(at) {
            w.begin_object();
            w.member("address", Hex(address.into()));
            if self.extra > 0 {
                w.member("flags", self.rows.u8(at + 4).map(u64::from));
            }
            w.end_object();
            at += 4 + self.extra;
        }
        w.end_array();
        w.member("location", self.location);
        w.end_object();
    }
}

/// The tables by name.
#[derive(Default)]
pub(super) struct GuardTables<'a>(pub Vec<(&'static str, GuardTable<'a>)>);

impl WriteJson for GuardTables<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        for (name, table) in &self.0 {
            w.member(name, table);
        }
        w.end_object();
    }
}

/// The structure, and the tables that it leads to.
pub(super) struct Found<'a> {
    pub facts: Object,
    pub tables: GuardTables<'a>,
    pub dynamic: Option<Vec<DynamicRelocation<'a>>>,
    pub config: LoadConfig,
}

/// Reads the structure at `rva`.
pub(super) fn read<'a>(
    image: &Image<'a>,
    rva: u64,
    sections: &[SectionHeader<'_>],
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Found<'a>> {
    let Some((start, tail)) = image.tail(rva) else {
        notes.add(outside("load configuration", rva));
        return None;
    };
    let size = u64::from(tail.u32(0)?);
    let there = size.min(tail.len());
    if there < size {
        notes.at(
            "load configuration",
            start,
            format!("it has {size} bytes, and the file ends after {there}"),
        );
    }
    let data = Bytes::little(tail.up_to(0, there));
    let values = members(data, image.wide);
    let value = |name: &str| {
        let found = values.iter().find(|&&(known, _)| known == name)?;
        Some(found.1)
    };
    let mut facts = Object::new();
    for &(name, value) in &values {
        facts.insert(name, hex(value));
    }
    let location = Range {
        offset: start,
        bytes: there,
    };
    facts.insert("location", range(location));
    let guard = value("guard_flags");
    if let Some(guard) = guard {
        facts.insert("guard_flags", flags(guard & 0x0FFF_FFFF, GUARD));
        facts.insert("guard_table_extra_bytes", number(guard >> 28));
    }
    let extra = guard.unwrap_or(0) >> 28;
    let mut tables = GuardTables::default();
    let mut table = |name, table: &str, count: &str, extra| {
        let (Some(address), Some(count)) = (value(table), value(count)) else {
            return;
        };
        if address == 0 || count == 0 {
            return;
        }
        let found = guard_table(image, name, address, count, extra, budget, notes);
        tables.0.extend(found.map(|found| (name, found)));
    };
    table(
        "guard_address_taken_iat_entries",
        "guard_address_taken_iat_entry_table",
        "guard_address_taken_iat_entry_count",
        extra,
    );
    table(
        "guard_cf_functions",
        "guard_cf_function_table",
        "guard_cf_function_count",
        extra,
    );
    table(
        "guard_eh_continuations",
        "guard_eh_continuation_table",
        "guard_eh_continuation_count",
        extra,
    );
    table(
        "guard_long_jump_targets",
        "guard_long_jump_target_table",
        "guard_long_jump_target_count",
        extra,
    );
    if image.machine == 0x014C {
        table("se_handlers", "se_handler_table", "se_handler_count", 0);
    }
    let chpe = value("chpe_metadata_pointer").filter(|&pointer| pointer != 0);
    facts.insert(
        "chpe_metadata",
        or_null(chpe.and_then(|pointer| chpe_metadata(image, pointer, budget, notes))),
    );
    let dynamic = dynamic_relocations(image, &value, sections, notes)
        .and_then(|rva| dynamic_relocations::read(image, rva, budget, notes));
    let summary = dynamic.as_ref().map(|(location, version, rows)| {
        let mut summary = Object::new();
        summary.insert("location", range(*location));
        summary.insert("relocations", number(rows.len() as u64));
        summary.insert("version", number(*version));
        Value::Object(summary)
    });
    facts.insert("dynamic_value_relocations", or_null(summary));
    let config = LoadConfig {
        location,
        security_cookie: value("security_cookie"),
        se_handlers: value("se_handler_table").zip(value("se_handler_count")),
        guard_flags: guard.map(|guard| guard as u32),
        guard_functions: value("guard_cf_function_count"),
        extra_functions: chpe.and_then(|pointer| extra_functions(image, pointer)),
    };
    Some(Found {
        facts,
        tables,
        dynamic: dynamic.map(|(.., rows)| rows),
        config,
    })
}

/// The members that `data` covers.
fn members(data: Bytes<'_>, wide: bool) -> Vec<(&'static str, u64)> {
    let mut at = 0;
    let mut values = Vec::with_capacity(MEMBERS.len());
    let mut order: Vec<_> = MEMBERS.to_vec();
    if !wide {
        // "ProcessHeapFlags" stands first in PE32.
        let mask = order
            .iter()
            .position(|row| row.0 == "process_affinity_mask");
        if let Some(mask) = mask {
            order.swap(mask, mask + 1);
        }
    }
    for (name, width) in order {
        let value = match width {
            Half => data.u16(at).map(u64::from),
            Word => data.u32(at).map(u64::from),
            Pointer => data.word(at, wide),
        };
        let Some(value) = value else { break };
        values.push((name, value));
        at += match width {
            Half => 2,
            Word => 4,
            Pointer if wide => 8,
            Pointer => 4,
        };
    }
    values
}

fn guard_table<'a>(
    image: &Image<'a>,
    what: &'static str,
    address: u64,
    count: u64,
    extra: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<GuardTable<'a>> {
    let Some((start, tail)) = image.rva_of(address).and_then(|rva| image.tail(rva)) else {
        notes.add(outside(what, address));
        return None;
    };
    let row = 4 + extra;
    let there = tail.len() / row;
    if there < count {
        notes.at(
            what,
            start,
            format!("it has {count} entries, and the file ends after {there} of them"),
        );
    }
    let count = count.min(there);
    if !budget.bytes(count * row) {
        notes.at(what, start, SPENT);
        return None;
    }
    Some(GuardTable {
        location: Range {
            offset: start,
            bytes: count * row,
        },
        rows: Bytes::little(tail.up_to(0, count * row)),
        extra,
    })
}

/// Metadata of images that hold ARM64 code for emulated callers: its version,
/// and the ranges of code by instruction set.
fn chpe_metadata(
    image: &Image<'_>,
    pointer: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Value> {
    const ARM64EC: [&str; 20] = [
        "version",
        "code_map",
        "code_map_count",
        "code_ranges_to_entry_points",
        "redirection_metadata",
        "os_arm64x_dispatch_call_no_redirect",
        "os_arm64x_dispatch_ret",
        "os_arm64x_dispatch_call",
        "os_arm64x_dispatch_icall",
        "os_arm64x_dispatch_icall_cfg",
        "alternate_entry_point",
        "auxiliary_iat",
        "code_ranges_to_entry_points_count",
        "redirection_metadata_count",
        "get_x64_information_function_pointer",
        "set_x64_information_function_pointer",
        "extra_rfe_table",
        "extra_rfe_table_size",
        "os_arm64x_dispatch_fptr",
        "auxiliary_iat_copy",
    ];
    let Some((start, data)) = image.rva_of(pointer).and_then(|rva| image.tail(rva)) else {
        notes.add(outside("CHPE metadata", pointer));
        return None;
    };
    let mut facts = Object::new();
    facts.insert("offset", hex(start));
    facts.insert("version", number(data.u32(0)?));
    if image.machine == 0x014C {
        return Some(Value::Object(facts));
    }
    for (at, name) in ARM64EC.iter().enumerate().skip(1) {
        facts.insert(*name, or_null(data.u32(at as u64 * 4).map(hex)));
    }
    const KINDS: Names = &[(0, "arm64"), (1, "arm64ec"), (2, "amd64")];
    let (map, count) = (u64::from(data.u32(4)?), u64::from(data.u32(8)?));
    let mut rows = Vec::new();
    if let Some((at, table)) = image.tail(map) {
        for index in 0..count {
            let (Some(first), Some(length)) = (table.u32(index * 8), table.u32(index * 8 + 4))
            else {
                notes.at("CHPE code map", at, "the file ends in it");
                break;
            };
            if !budget.rows(4) {
                notes.at("CHPE code map", at, SPENT);
                break;
            }
            let mut row = Object::new();
            row.insert("address", hex(first & !3));
            row.insert("code", named(first & 3, KINDS));
            row.insert("size", hex(length));
            rows.push(Value::Object(row));
        }
    }
    facts.insert("code_ranges", Value::Array(rows));
    Some(Value::Object(facts))
}

/// `ExtraRFETable` of the metadata of a hybrid image: where its x64 functions
/// are listed in an ARM64X image, its ARM64 ones in an ARM64EC image.
fn extra_functions(image: &Image<'_>, pointer: u64) -> Option<(u64, u64)> {
    if image.machine == 0x014C {
        return None;
    }
    let (_, data) = image.tail(image.rva_of(pointer)?)?;
    let (table, size) = (data.u32(64)?, data.u32(68)?);
    (table != 0 && size != 0).then_some((u64::from(table), u64::from(size)))
}

/// The address of the table of dynamic relocations: an offset in a section, or,
/// as the linker wrote it at first, an address.
fn dynamic_relocations(
    image: &Image<'_>,
    value: &impl Fn(&str) -> Option<u64>,
    sections: &[SectionHeader<'_>],
    notes: &mut Notes,
) -> Option<u64> {
    let number = value("dynamic_value_reloc_table_section").unwrap_or(0);
    let Some(index) = number.checked_sub(1) else {
        let address = value("dynamic_value_reloc_table").filter(|&address| address != 0)?;
        return image.rva_of(address);
    };
    let index = usize::try_from(index).ok()?;
    let Some(section) = sections.get(index) else {
        notes.add(crate::binary::Note {
            structure: "dynamic value relocations".to_owned(),
            offset: None,
            reason: format!("there is no section {number}"),
        });
        return None;
    };
    let offset = value("dynamic_value_reloc_table_offset").unwrap_or(0);
    Some(section.rva.saturating_add(offset))
}
