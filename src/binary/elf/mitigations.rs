//! The rows of `facts.mitigations`: protections, each with the rule and the
//! fact that it rests on.

use super::Elf;
use super::dynamic::{Dynamic, dt};
use super::fortify::Fortify;
use super::indicators::{CANARY, ET_DYN, ET_EXEC, binds_now, stack};
use super::names::em;
use super::symbols::Symbols;
use super::tables::{SegmentHeader, pt};
use crate::binary::layout::facts::{Mitigation, State};
use crate::binary::layout::rows::Range;
use crate::binary::layout::{Indicators, Relro};

/// What the rows are concluded from.
pub(super) struct Basis<'e, 'a> {
    pub elf: &'e Elf<'a>,
    pub dynamic: &'e Dynamic<'a>,
    pub symbols: &'e Symbols<'a>,
    pub indicators: Indicators,
    pub features: Option<(u32, Range)>,
}

/// The names that tell how the file was built.
#[derive(Default)]
struct Marks {
    canary: Option<Range>,
    fortify: Fortify,
    safe_stack: Option<Range>,
    cfi: Option<Range>,
    sanitizers: [Option<Range>; 6],
}

/// Sanitizers, and how the names of their functions start.
const SANITIZERS: [(&str, &[u8]); 6] = [
    ("address-sanitizer", b"__asan_"),
    ("undefined-behavior-sanitizer", b"__ubsan_"),
    ("memory-sanitizer", b"__msan_"),
    ("thread-sanitizer", b"__tsan_"),
    ("hardware-address-sanitizer", b"__hwasan_"),
    ("leak-sanitizer", b"__lsan_"),
];

fn marks(symbols: &Symbols<'_>) -> Marks {
    let mut marks = Marks::default();
    for (name, location) in symbols.names() {
        // All of them but the plain functions start so.
        if let Some(b"__") = name.get(..2) {
            let place = Some(location);
            if name == CANARY || name == b"__stack_chk_guard" || name == b"__intel_security_cookie"
            {
                marks.canary = marks.canary.or(place);
            } else if name.starts_with(b"__safestack_") {
                marks.safe_stack = marks.safe_stack.or(place);
            } else if name.starts_with(b"__cfi_") {
                marks.cfi = marks.cfi.or(place);
            } else if let Some(at) = SANITIZERS
                .iter()
                .position(|(_, start)| name.starts_with(start))
                && let Some(mark) = marks.sanitizers.get_mut(at)
            {
                *mark = mark.or(place);
            }
        } else if name.ends_with(b".cfi") {
            marks.cfi = marks.cfi.or(Some(location));
        }
        marks.fortify.add(name);
    }
    marks
}

struct Rows(Vec<Mitigation>);

impl Rows {
    fn add(
        &mut self,
        name: &'static str,
        state: State,
        rule: &'static str,
        fact: impl Into<String>,
        location: Option<Range>,
    ) {
        self.0.push(Mitigation {
            name,
            state,
            rule,
            fact: fact.into(),
            location,
        });
    }
}

fn present(is: bool) -> State {
    match is {
        true => State::Present,
        false => State::Absent,
    }
}

/// The rows of `facts.mitigations`.
pub(super) fn rows(basis: &Basis<'_, '_>) -> Vec<Mitigation> {
    let mut rows = Rows(Vec::new());
    memory(basis, &mut rows);
    loading(basis, &mut rows);
    let marks = marks(basis.symbols);
    code(basis, &marks, &mut rows);
    processor(basis, &mut rows);
    stripped(basis, &mut rows);
    rows.0
}

fn segment_fact(kind: &str, header: &SegmentHeader, elf: &Elf<'_>) -> (String, Option<Range>) {
    let location = Range {
        offset: header.at,
        bytes: super::tables::segment_header_size(elf.wide),
    };
    (format!("{kind} flags {:#x}", header.flags), Some(location))
}

fn memory(basis: &Basis<'_, '_>, rows: &mut Rows) {
    let elf = basis.elf;
    let object = elf.header.kind == super::symbols::ET_REL;
    let (fact, location) = match stack(elf) {
        Some(header) => segment_fact("PT_GNU_STACK", header, elf),
        None => ("no PT_GNU_STACK".to_owned(), None),
    };
    let state = match (object, basis.indicators.nx) {
        (true, _) => State::NotApplicable,
        (_, Some(nx)) => present(nx),
        (_, None) => match stack(elf) {
            Some(_) => State::Absent,
            None => State::Unknown,
        },
    };
    rows.add(
        "nx",
        state,
        "The last PT_GNU_STACK without execute permission; a library without one leaves it to its program.",
        fact.as_str(),
        location,
    );
    // What a library asks for counts as well: the loader makes the stack of
    // the whole process executable where one file of it says so.
    let state = match (object, stack(elf)) {
        (true, _) => State::NotApplicable,
        (false, Some(header)) => present(header.flags & 1 == 0),
        (false, None) => State::Unknown,
    };
    rows.add(
        "no-executable-stack",
        state,
        "The last PT_GNU_STACK of the file, program or library, has no execute permission; without one the loader decides by the machine.",
        fact,
        location,
    );
    let relro = elf.segments.iter().find(|one| one.kind == pt::GNU_RELRO);
    let (mut fact, location) = match relro {
        Some(header) => segment_fact("PT_GNU_RELRO", header, elf),
        None => ("no PT_GNU_RELRO".to_owned(), None),
    };
    if relro.is_some() {
        fact.push_str(match binds_now(basis.dynamic) {
            true => ", binds now",
            false => ", binds lazily",
        });
    }
    let state = match (object, basis.indicators.relro) {
        (true, _) => State::NotApplicable,
        (_, Some(Relro::Full)) => State::Present,
        (_, Some(Relro::Partial)) => State::Partial,
        (_, None) => State::Absent,
    };
    rows.add(
        "relro",
        state,
        "PT_GNU_RELRO; all of it with DT_BIND_NOW, DF_BIND_NOW or DF_1_NOW, else in part.",
        fact,
        location,
    );
    let writable = elf.segments.iter().enumerate();
    let writable = writable
        .filter(|(_, one)| one.kind == pt::LOAD)
        .find(|(_, one)| one.flags & 3 == 3);
    let (fact, location) = match writable {
        Some((index, header)) => segment_fact(&format!("segment {index} PT_LOAD"), header, elf),
        None => ("no PT_LOAD is writable and executable".to_owned(), None),
    };
    rows.add(
        "no-rwx-segments",
        match elf.segments.is_empty() {
            true => State::NotApplicable,
            false => present(writable.is_none()),
        },
        "No PT_LOAD is writable and executable at once.",
        fact,
        location,
    );
}

fn entry_fact(
    basis: &Basis<'_, '_>,
    name: &str,
    tag: u64,
    mask: u64,
) -> Option<(String, Option<Range>)> {
    let entry = basis
        .dynamic
        .all(tag)
        .find(|one| mask == 0 || one.value & mask != 0)?;
    let location = Dynamic::location(entry, basis.elf);
    Some((format!("{name} {:#x}", entry.value), Some(location)))
}

fn loading(basis: &Basis<'_, '_>, rows: &mut Rows) {
    const DF_1_PIE: u64 = 0x0800_0000;
    let elf = basis.elf;
    let kind = elf.header.kind;
    let type_at = Some(Range {
        offset: 16,
        bytes: 2,
    });
    let interpreter = elf.segments.iter().any(|one| one.kind == pt::INTERP);
    let flagged = entry_fact(basis, "DT_FLAGS_1", dt::FLAGS_1, DF_1_PIE);
    let (state, (fact, location)) = match (kind, flagged) {
        (ET_DYN, Some(flagged)) => (State::Present, flagged),
        (ET_DYN, None) if interpreter => (
            State::Present,
            ("ET_DYN with PT_INTERP".to_owned(), type_at),
        ),
        (ET_DYN, None) => (
            State::NotApplicable,
            (
                "ET_DYN without DF_1_PIE and PT_INTERP: a library".to_owned(),
                type_at,
            ),
        ),
        (ET_EXEC, _) => (State::Absent, ("ET_EXEC".to_owned(), type_at)),
        _ => (
            State::NotApplicable,
            ("neither ET_EXEC nor ET_DYN".to_owned(), type_at),
        ),
    };
    rows.add(
        "pie",
        state,
        "ET_DYN with DF_1_PIE in DT_FLAGS_1, or with an interpreter; libraries are at any address anyway.",
        fact,
        location,
    );
    let has_dynamic = !basis.dynamic.entries.is_empty();
    let lacking = [
        (
            "no-rpath",
            "DT_RPATH",
            dt::RPATH,
            "No DT_RPATH adds folders to the search for libraries.",
        ),
        (
            "no-runpath",
            "DT_RUNPATH",
            dt::RUNPATH,
            "No DT_RUNPATH adds folders to the search for libraries.",
        ),
    ];
    for (name, tag_name, tag, rule) in lacking {
        let entry = basis.dynamic.entry(tag);
        let (state, fact, location) = match entry {
            Some(entry) => {
                let path = basis.dynamic.strings.and_then(|all| all.get(entry.value));
                let path = crate::binary::name_text(path.unwrap_or_default()).into_owned();
                let location = Dynamic::location(entry, elf);
                (State::Absent, format!("{tag_name} {path}"), Some(location))
            }
            None if has_dynamic => (State::Present, format!("no {tag_name}"), None),
            None => (State::NotApplicable, "no dynamic table".to_owned(), None),
        };
        rows.add(name, state, rule, fact, location);
    }
    let text = entry_fact(basis, "DT_TEXTREL", dt::TEXTREL, 0)
        .or_else(|| entry_fact(basis, "DT_FLAGS", dt::FLAGS, 4));
    let (state, (fact, location)) = match (text, has_dynamic) {
        (Some(fact), _) => (State::Absent, fact),
        (None, true) => (
            State::Present,
            ("no DT_TEXTREL and no DF_TEXTREL".to_owned(), None),
        ),
        (None, false) => (State::NotApplicable, ("no dynamic table".to_owned(), None)),
    };
    rows.add(
        "no-textrel",
        state,
        "No DT_TEXTREL and no DF_TEXTREL: code is not written to while it is relocated.",
        fact,
        location,
    );
}

/// Whether names that are missing would be there: a dynamic table of symbols,
/// or an ordinary one.
fn telling(symbols: &Symbols<'_>) -> bool {
    symbols.tables.iter().any(|table| table.count > 1)
}

fn code(basis: &Basis<'_, '_>, marks: &Marks, rows: &mut Rows) {
    let known = telling(basis.symbols);
    let missing = || match known {
        true => State::Absent,
        false => State::Unknown,
    };
    let (state, fact) = match (marks.canary, basis.indicators.stack_canary) {
        (None, false) => (missing(), "no symbol of stack protection"),
        _ => (State::Present, "a symbol of stack protection"),
    };
    rows.add(
        "stack-canary",
        state,
        "A symbol __stack_chk_fail, __stack_chk_guard or __intel_security_cookie.",
        fact,
        marks.canary,
    );
    let Fortify { checked, unchecked } = &marks.fortify;
    let state = match (checked.is_empty(), unchecked.is_empty()) {
        (false, true) => State::Present,
        (false, false) => State::Partial,
        (true, false) => State::Absent,
        (true, true) => match known {
            true => State::NotApplicable,
            false => State::Unknown,
        },
    };
    let list = |names: &std::collections::BTreeSet<&'static str>| {
        let names: Vec<&str> = names.iter().copied().collect();
        match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        }
    };
    rows.add(
        "fortify",
        state,
        "Symbols __NAME_chk, beside symbols NAME of functions that have such a form.",
        format!(
            "checked: {}; not checked: {}",
            list(checked),
            list(unchecked)
        ),
        None,
    );
    for (name, mark, rule) in [
        (
            "safe-stack",
            marks.safe_stack,
            "A symbol that starts with __safestack_.",
        ),
        (
            "cfi",
            marks.cfi,
            "A symbol that starts with __cfi_, or ends with .cfi.",
        ),
    ] {
        let fact = match mark {
            Some(_) => "such a symbol",
            None => "no such symbol",
        };
        let state = mark.map_or_else(missing, |_| State::Present);
        rows.add(name, state, rule, fact, mark);
    }
    for ((name, _), mark) in SANITIZERS.iter().zip(marks.sanitizers) {
        if mark.is_some() {
            rows.add(
                name,
                State::Present,
                "A symbol of the sanitizer's runtime.",
                "such a symbol",
                mark,
            );
        }
    }
}

fn processor(basis: &Basis<'_, '_>, rows: &mut Rows) {
    const X86: &[(&str, u32, &str)] = &[
        (
            "cet-ibt",
            1,
            "GNU_PROPERTY_X86_FEATURE_1_IBT in the GNU properties.",
        ),
        (
            "cet-shstk",
            2,
            "GNU_PROPERTY_X86_FEATURE_1_SHSTK in the GNU properties.",
        ),
    ];
    const AARCH64: &[(&str, u32, &str)] = &[
        (
            "bti",
            1,
            "GNU_PROPERTY_AARCH64_FEATURE_1_BTI in the GNU properties.",
        ),
        (
            "pac",
            2,
            "GNU_PROPERTY_AARCH64_FEATURE_1_PAC in the GNU properties.",
        ),
        (
            "gcs",
            4,
            "GNU_PROPERTY_AARCH64_FEATURE_1_GCS in the GNU properties.",
        ),
    ];
    const RISCV: &[(&str, u32, &str)] = &[
        (
            "cfi-landing-pads",
            1,
            "GNU_PROPERTY_RISCV_FEATURE_1_CFI_LP_UNLABELED in the GNU properties.",
        ),
        (
            "cfi-shadow-stack",
            2,
            "GNU_PROPERTY_RISCV_FEATURE_1_CFI_SS in the GNU properties.",
        ),
    ];
    let known = match basis.elf.header.machine {
        em::X86_64 | em::I386 => X86,
        em::AARCH64 => AARCH64,
        em::RISCV => RISCV,
        _ => &[],
    };
    for &(name, bit, rule) in known {
        let (state, fact, location) = match basis.features {
            Some((bits, at)) => (
                present(bits & bit != 0),
                format!("FEATURE_1_AND {bits:#x}"),
                Some(at),
            ),
            None => (State::Absent, "no such property".to_owned(), None),
        };
        rows.add(name, state, rule, fact, location);
    }
}

fn stripped(basis: &Basis<'_, '_>, rows: &mut Rows) {
    let elf = basis.elf;
    let table = basis
        .symbols
        .tables
        .iter()
        .find(|table| !table.dynamic && table.count > 0);
    rows.add(
        "stripped-symbols",
        present(table.is_none()),
        "No section of type SHT_SYMTAB.",
        match table {
            Some(table) => format!("section {} has {} symbols", table.section, table.count),
            None => "no such section".to_owned(),
        },
        table.map(|table| table.location),
    );
    let debug = elf
        .section_names
        .iter()
        .position(|name| name.starts_with(b".debug_info") || name.starts_with(b".zdebug_info"));
    let header = debug.and_then(|index| elf.sections.get(index));
    rows.add(
        "stripped-debug",
        present(debug.is_none()),
        "No section .debug_info or .zdebug_info.",
        match debug {
            Some(index) => elf.section_text(index),
            None => "no such section".to_owned(),
        },
        header.map(super::tables::SectionHeader::range),
    );
}
