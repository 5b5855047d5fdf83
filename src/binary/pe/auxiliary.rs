//! What auxiliary records behind symbols say ("PE Format", section "Auxiliary
//! Symbol Records").

use super::image::Budget;
use super::names::{COMDAT, WEAK};
use super::strings::no_name;
use super::symbols::Table;
use crate::binary::layout::rows::{Hex, Name, Range, Symbol, Symbolic, ValueMeaning};
use crate::binary::{Notes, name_text};
use crate::json::{WriteJson, Writer};

/// What stands in auxiliary records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Auxiliary<'a> {
    /// The symbol they belong to.
    pub symbol: u64,
    pub location: Range,
    pub kind: AuxiliaryKind<'a>,
}

/// The forms ("PE Format", section "Auxiliary Symbol Records").
#[derive(Clone, Copy, Debug)]
pub(super) enum AuxiliaryKind<'a> {
    /// Format 1.
    Function {
        tag: u32,
        size: u32,
        lines: u32,
        next: u32,
    },
    /// Format 2: `.bf` and `.ef`.
    BeginOrEnd { line: u16, next: u32 },
    /// Format 3.
    WeakExternal { tag: u32, characteristics: u32 },
    /// Format 4.
    File { name: &'a [u8] },
    /// Format 5.
    Section {
        length: u32,
        relocations: u16,
        lines: u16,
        checksum: u32,
        number: u32,
        selection: u8,
    },
    /// A token of managed code.
    Token { symbol: u32 },
    /// Another form; not taken apart.
    Other,
}

impl WriteJson for Auxiliary<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        // Members in canonical order, form by form.
        match self.kind {
            AuxiliaryKind::Function {
                tag,
                size,
                lines,
                next,
            } => {
                self.head(w, "function-definition");
                w.member("pointer_to_line_number", Hex(lines.into()));
                w.member("pointer_to_next_function", next);
                w.member("symbol_index", self.symbol);
                w.member("tag_index", tag);
                w.member("total_size", Hex(size.into()));
            }
            AuxiliaryKind::BeginOrEnd { line, next } => {
                self.head(w, "begin-or-end-of-function");
                w.member("line_number", line);
                self.at(w);
                w.member("pointer_to_next_function", next);
                w.member("symbol_index", self.symbol);
            }
            AuxiliaryKind::WeakExternal {
                tag,
                characteristics,
            } => {
                w.member(
                    "characteristics",
                    Symbolic::of(u64::from(characteristics), WEAK),
                );
                self.head(w, "weak-external");
                w.member("symbol_index", self.symbol);
                w.member("tag_index", tag);
            }
            AuxiliaryKind::File { name } => {
                self.head(w, "file");
                w.member("name", name_text(name));
                w.member("symbol_index", self.symbol);
            }
            AuxiliaryKind::Section {
                length,
                relocations,
                lines,
                checksum,
                number,
                selection,
            } => {
                w.member("checksum", Hex(checksum.into()));
                w.member("kind", "section-definition");
                w.member("length", Hex(length.into()));
                self.at(w);
                w.member("number", number);
                w.member("number_of_line_numbers", lines);
                w.member("number_of_relocations", relocations);
                let selection = Symbolic::of(u64::from(selection), COMDAT);
                w.member("selection", selection);
                w.member("symbol_index", self.symbol);
            }
            AuxiliaryKind::Token { symbol } => {
                self.head(w, "clr-token");
                w.member("symbol_index", self.symbol);
                w.member("symbol_table_index", symbol);
            }
            AuxiliaryKind::Other => {
                self.head(w, "other");
                w.member("symbol_index", self.symbol);
            }
        }
        w.end_object();
    }
}

impl Auxiliary<'_> {
    fn head(&self, w: &mut Writer<'_>, kind: &str) {
        w.member("kind", kind);
        if !matches!(self.kind, AuxiliaryKind::BeginOrEnd { .. }) {
            self.at(w);
        }
    }

    fn at(&self, w: &mut Writer<'_>) {
        w.member("location", self.location);
    }
}

/// Those behind `symbol`, whose entry stands at `at`.
pub(super) fn read<'a>(
    table: &Table<'a>,
    symbol: &Symbol<'a>,
    at: u64,
    count: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Auxiliary<'a>> {
    if count == 0 {
        return None;
    }
    let location = Range {
        offset: at + table.entry,
        bytes: count * table.entry,
    };
    let data = table.bytes.part(location.offset, location.bytes)?;
    let class = match symbol.binding {
        Symbolic::Named(name) => name,
        Symbolic::Number(_) => "",
    };
    let function = matches!(symbol.kind, Symbolic::Named("IMAGE_SYM_DTYPE_FUNCTION"));
    let kind = match class {
        // GNU tools write zero and the offset of a name that is too long.
        "IMAGE_SYM_CLASS_FILE" if data.u32(0) == Some(0) && data.u32(4) != Some(0) => {
            let offset = u64::from(data.u32(4)?);
            let name = table.strings.name(offset, budget);
            if matches!(name, Name::Unknown(_)) {
                notes.at("auxiliary record", location.offset, no_name(offset, budget));
            }
            AuxiliaryKind::File { name: name.bytes() }
        }
        "IMAGE_SYM_CLASS_FILE" => {
            let text = data.data();
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            AuxiliaryKind::File {
                name: text.get(..end)?,
            }
        }
        "IMAGE_SYM_CLASS_WEAK_EXTERNAL" => AuxiliaryKind::WeakExternal {
            tag: data.u32(0)?,
            characteristics: data.u32(4)?,
        },
        // Format 3 is for these; GNU tools write weak functions so, too.
        "IMAGE_SYM_CLASS_EXTERNAL" if symbol.meaning == ValueMeaning::Undefined => {
            AuxiliaryKind::WeakExternal {
                tag: data.u32(0)?,
                characteristics: data.u32(4)?,
            }
        }
        "IMAGE_SYM_CLASS_FUNCTION" => AuxiliaryKind::BeginOrEnd {
            line: data.u16(4)?,
            next: data.u32(12)?,
        },
        "IMAGE_SYM_CLASS_CLR_TOKEN" => AuxiliaryKind::Token {
            symbol: data.u32(2)?,
        },
        "IMAGE_SYM_CLASS_EXTERNAL" | "IMAGE_SYM_CLASS_STATIC" if function => {
            AuxiliaryKind::Function {
                tag: data.u32(0)?,
                size: data.u32(4)?,
                lines: data.u32(8)?,
                next: data.u32(12)?,
            }
        }
        // C++/CLI writes one behind absolute external symbols too.
        "IMAGE_SYM_CLASS_STATIC" | "IMAGE_SYM_CLASS_EXTERNAL"
            if class == "IMAGE_SYM_CLASS_STATIC"
                || symbol.meaning == ValueMeaning::AbsoluteValue =>
        {
            AuxiliaryKind::Section {
                length: data.u32(0)?,
                relocations: data.u16(4)?,
                lines: data.u16(6)?,
                checksum: data.u32(8)?,
                number: u32::from(data.u16(12)?)
                    | if table.entry == 20 {
                        u32::from(data.u16(16)?) << 16
                    } else {
                        0
                    },
                selection: data.u8(14)?,
            }
        }
        _ => AuxiliaryKind::Other,
    };
    if count > 1 && !matches!(kind, AuxiliaryKind::File { .. } | AuxiliaryKind::Other) {
        notes.at(
            "auxiliary records",
            location.offset,
            "only the first of several is taken apart",
        );
    }
    Some(Auxiliary {
        symbol: symbol.entry_index,
        location,
        kind,
    })
}
