//! What a layout tells on request: the strings of the file, and the digest and
//! entropy of each section.

use super::rows::{Hex, Range};
use super::{Layout, LayoutOptions};
use crate::binary::places::Places;
use crate::binary::strings::{Found, ScanOptions, scan};
use crate::binary::{BinaryFile, entropy, name_text, ranges};
use crate::digest::Digest;
use crate::error::Result;
use crate::json::{WriteJson, Writer};
use crate::operation::Context;

/// What was asked for beyond the layout.
#[derive(Default)]
pub(super) struct Extras {
    strings: Option<(Vec<Found>, Places)>,
    digests: Option<Vec<SectionDigest>>,
    /// Sections whose bytes are not hashed again and again.
    left_out: u64,
}

/// The digest and entropy of one section or segment.
struct SectionDigest {
    /// `section` or `segment`, and its place in the table.
    kind: &'static str,
    index: u64,
    name: String,
    range: Range,
    /// Digest, and entropy in thousandths of a bit a byte.
    found: Option<(Digest, u64)>,
}

const STRINGS: &str = "Strings are runs of characters wherever they stand in the file; some may be code or data that looks like text, and UTF-16 is looked for in Latin, Greek and Cyrillic letters and punctuation only.";
const LEFT_OUT: &str = "Sections that show the same bytes of the file again and again have no digest; their rows have null.";

impl Extras {
    pub fn find(
        file: &BinaryFile,
        layout: &Layout<'_>,
        options: &LayoutOptions,
        context: &Context,
    ) -> Result<Self> {
        let mut extras = Self::default();
        let bytes = file.bytes.as_slice();
        if options.strings {
            let options = ScanOptions {
                min_length: options.min_length,
                ..ScanOptions::default()
            };
            let places = Places::new(&layout.facts.address_map, bytes.len() as u64);
            extras.strings = Some((scan(bytes, &options, context)?, places));
        }
        if options.digests {
            let (rows, left_out) = digests(bytes, layout, context)?;
            extras.digests = Some(rows);
            extras.left_out = left_out;
        }
        Ok(extras)
    }

    pub fn limitations(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.strings.is_some() {
            said.push(STRINGS.to_owned());
        }
        if self.left_out > 0 {
            said.push(LEFT_OUT.to_owned());
        }
        said
    }

    pub fn digests(&self) -> impl WriteJson + '_ {
        self.digests.as_deref()
    }

    pub fn strings<'a>(&'a self, file: &'a [u8]) -> impl WriteJson + 'a {
        self.strings.as_ref().map(|(found, places)| StringRows {
            file,
            found,
            places,
        })
    }
}

/// The file's sections with bytes; its segments where it has no sections.
fn digests(
    bytes: &[u8],
    layout: &Layout<'_>,
    context: &Context,
) -> Result<(Vec<SectionDigest>, u64)> {
    let row = |kind, index, name, offset, size| SectionDigest {
        kind,
        index,
        name,
        range: Range {
            offset,
            bytes: size,
        },
        found: None,
    };
    let mut rows: Vec<SectionDigest> = layout
        .sections
        .iter()
        .filter(|section| section.in_file && section.size > 0)
        .map(|section| {
            let name = name_text(section.name.bytes()).into_owned();
            row("section", section.index, name, section.offset, section.size)
        })
        .collect();
    if rows.is_empty() {
        let segments = layout.segments.iter().filter(|one| one.in_file);
        rows.extend(segments.map(|one| {
            let name = one.name.map(|name| name_text(name.bytes()).into_owned());
            let name = name.unwrap_or_else(|| one.kind.text().into_owned());
            row("segment", one.index, name, one.offset, one.file_size)
        }));
    }
    let wanted = rows.iter().map(|row| row.range);
    let ranges = ranges::each(bytes, wanted, |part| {
        context.check().ok()?;
        Some((Digest::of(part), entropy::millibits(part)))
    });
    context.check()?;
    let mut left_out = 0;
    for row in &mut rows {
        let found = ranges.get(&row.range).copied();
        left_out += u64::from(found == Some(None));
        row.found = found.flatten();
    }
    Ok((rows, left_out))
}

impl WriteJson for SectionDigest {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("entropy_bits_per_byte");
        match self.found {
            // A quotient of whole numbers is the same on every host.
            Some((_, millibits)) => w.number(millibits as f64 / 1000.0),
            None => w.null(),
        }
        w.member("index", self.index);
        w.member("kind", self.kind);
        w.member("name", &self.name);
        w.member("range", self.range);
        w.member("sha256", self.found.map(|(digest, _)| digest));
        w.end_object();
    }
}

struct StringRows<'a> {
    file: &'a [u8],
    found: &'a [Found],
    places: &'a Places,
}

impl WriteJson for StringRows<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for found in self.found {
            w.begin_object();
            w.member("address", self.places.address_of(found.offset()).map(Hex));
            w.member("encoding", found.encoding().as_str());
            w.key("range");
            let range = Range {
                offset: found.offset(),
                bytes: found.bytes(),
            };
            range.write_json(w);
            w.member("terminated", found.is_terminated(self.file));
            w.member("value", found.text(self.file));
            w.end_object();
        }
        w.end_array();
    }
}
