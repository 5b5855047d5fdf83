//! Libraries that addresses were bound to ("PE Format", section "Bound Import
//! Directory"; `IMAGE_BOUND_IMPORT_DESCRIPTOR` in winnt.h).

use super::image::{Budget, Image, SPENT, outside};
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Notes, name_text};
use crate::json::{WriteJson, Writer};

/// A library that addresses were bound to.
#[derive(Clone, Debug)]
pub(super) struct Bound<'a> {
    pub name: Option<&'a [u8]>,
    pub time_date_stamp: u32,
    pub location: Range,
    /// Rows behind it that name libraries it forwards to.
    pub forwarders: u16,
    /// Whether it is such a row.
    pub forwarder: bool,
}

impl WriteJson for Bound<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("forwarder", self.forwarder);
        w.member("location", self.location);
        w.member("name", self.name.map(name_text));
        w.member("number_of_module_forwarder_refs", self.forwarders);
        w.member("time_date_stamp", Hex(self.time_date_stamp.into()));
        w.end_object();
    }
}

/// Reads the table of bound imports at `rva`; names are counted from its
/// start.
pub(super) fn read<'a>(
    image: &Image<'a>,
    rva: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Bound<'a>> {
    let mut rows = Vec::new();
    let Some((start, table)) = image.tail(rva) else {
        notes.add(outside("bound import table", rva));
        return rows;
    };
    let mut at = 0;
    let mut forwarders = 0u16;
    loop {
        let (Some(stamp), Some(name), Some(count)) =
            (table.u32(at), table.u16(at + 4), table.u16(at + 6))
        else {
            notes.at(
                "bound import table",
                start + at,
                "the file ends before its last row",
            );
            return rows;
        };
        if stamp == 0 && name == 0 && forwarders == 0 {
            return rows;
        }
        if !budget.row() || budget.is_spent() {
            notes.at("bound import table", start + at, SPENT);
            return rows;
        }
        let text = table.string(u64::from(name));
        budget.text(text.map_or(table.len(), |text| text.len() as u64));
        if text.is_none() {
            notes.at("bound import table", start + at, "the name has no end");
        }
        let forwarder = forwarders > 0;
        rows.push(Bound {
            name: text,
            time_date_stamp: stamp,
            location: Range {
                offset: start + at,
                bytes: 8,
            },
            forwarders: if forwarder { 0 } else { count },
            forwarder,
        });
        forwarders = match forwarder {
            true => forwarders - 1,
            false => count,
        };
        at += 8;
    }
}
