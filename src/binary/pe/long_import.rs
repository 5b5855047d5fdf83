//! Import libraries as GNU tools write them: each name is an object whose
//! `.idata` sections become a piece of the import table (binutils,
//! `make_one_lib_file` of dlltool).

use super::object;
use crate::binary::layout::Layout;
use crate::binary::layout::rows::{Section, Symbolic, ValueMeaning};
use crate::binary::{Bytes, Notes};

/// What a member tells.
pub(super) enum Long<'a> {
    /// A name that is imported.
    Import(LongImport<'a>),
    /// The library that the others import from, and where its name stands in
    /// the member.
    Library(&'a [u8], u64),
}

/// A name that is imported.
pub(super) struct LongImport<'a> {
    /// The symbol that objects refer to.
    pub symbol: &'a [u8],
    /// The name that the library exports; `None`: by ordinal.
    pub import: Option<&'a [u8]>,
    pub ordinal: Option<u64>,
    /// `function` where there is a stub to call, else `data`.
    pub kind: &'static str,
}

/// What an object tells, where it has `.idata` sections.
pub(super) fn read<'a>(member: Bytes<'a>) -> Option<Long<'a>> {
    let layout = object::parse(member).ok()?;
    let section = |name: &[u8]| -> Option<&Section<'a>> {
        let mut sections = layout.sections.iter();
        sections.find(|one| one.in_file && one.name.bytes() == name)
    };
    let is_relocated = |one: &Section<'_>| {
        let mut relocations = layout.relocations.iter();
        relocations.any(|relocation| relocation.section_index == one.index)
    };
    let bytes = |one: &Section<'_>| member.part(one.offset, one.size);
    let tail = section(b".idata$7")?;
    if !is_relocated(tail) {
        // The last member: the name itself stands there.
        let name = bytes(tail)?.string(0)?;
        return (!name.is_empty()).then_some(Long::Library(name, tail.offset));
    }
    let slot = section(b".idata$5")?;
    let (import, ordinal) = match section(b".idata$6") {
        Some(names) if is_relocated(slot) => (Some(bytes(names)?.string(2)?), None),
        _ => (None, Some(u64::from(bytes(slot)?.u16(0)?))),
    };
    let (symbol, kind) = symbol(&layout)?;
    Some(Long::Import(LongImport {
        symbol,
        import,
        ordinal,
        kind,
    }))
}

/// The symbol that a member offers: of its stub, else of its slot.
fn symbol<'a>(layout: &Layout<'a>) -> Option<(&'a [u8], &'static str)> {
    let offered = layout.symbols.iter().filter(|one| {
        one.meaning == ValueMeaning::SectionOffset
            && one.binding == Symbolic::Named("IMAGE_SYM_CLASS_EXTERNAL")
    });
    let names: Vec<&[u8]> = offered.map(|one| one.name.bytes()).collect();
    let is_slot = |name: &&[u8]| name.starts_with(b"__imp_");
    if let Some(name) = names.iter().copied().find(|name| !is_slot(name)) {
        return Some((name, "function"));
    }
    Some((names.first().copied()?, "data"))
}

/// Says that the names cannot be tied to a library.
pub(super) fn unclear(libraries: usize, notes: &mut Notes) {
    notes.add(crate::binary::Note {
        structure: "import library".to_owned(),
        offset: None,
        reason: format!(
            "its members name {libraries} libraries, so that names are not tied to one"
        ),
    });
}
