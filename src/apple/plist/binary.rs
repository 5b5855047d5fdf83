//! Binary property lists (`bplist00`, Apple's CFBinaryPList.c): a table of
//! objects, which refer to each other by number, and a trailer of 32 bytes.

use super::{Fault, Meter, Notation, Plist, Value};
use crate::json::Text;

const TRAILER: usize = 32;

/// Reads a binary property list.
pub(super) fn parse(bytes: &[u8]) -> Result<Plist, Fault> {
    let list = List::open(bytes)?;
    let mut meter = Meter::default();
    let mut above = Vec::new();
    let value = list.object(list.top, &mut above, &mut meter)?;
    Ok(meter.finish(Notation::Binary, value))
}

struct List<'a> {
    bytes: &'a [u8],
    /// Where the table of offsets starts; objects stand before it.
    table: usize,
    offset_size: usize,
    reference_size: usize,
    count: usize,
    top: usize,
}

/// An object's kind, count and the offset of what follows.
struct Head {
    marker: u8,
    count: usize,
    at: usize,
}

impl<'a> List<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(b"bplist0") {
            return Err(Fault::at(6, "the version of the binary list is not 0"));
        }
        let start = bytes.len().checked_sub(TRAILER).filter(|&start| start >= 8);
        let Some(start) = start else {
            return Err(Fault::at(bytes.len(), "the trailer is cut"));
        };
        let trailer = &bytes[start..];
        let number = |at: usize| unsigned(trailer.get(at..at + 8).unwrap_or_default());
        let word = |at: usize| number(at).and_then(|value| usize::try_from(value).ok());
        let (offset_size, reference_size) = (usize::from(trailer[6]), usize::from(trailer[7]));
        let sizes = [offset_size, reference_size];
        if sizes.iter().any(|size| !(1..=8).contains(size)) {
            return Err(Fault::at(
                start + 6,
                "an integer size of the trailer is not 1 to 8",
            ));
        }
        let lies = |what: &str| Fault::at(start + 8, format!("the trailer's {what} lies"));
        let count = word(8).ok_or_else(|| lies("number of objects"))?;
        let top = word(16).ok_or_else(|| lies("top object"))?;
        let table = word(24).ok_or_else(|| lies("offset of the table"))?;
        let end = count
            .checked_mul(offset_size)
            .and_then(|len| len.checked_add(table));
        if table < 8 || end.is_none_or(|end| end > start) {
            return Err(lies("number of objects or offset of the table"));
        }
        if top >= count {
            return Err(lies("top object"));
        }
        Ok(Self {
            bytes,
            table,
            offset_size,
            reference_size,
            count,
            top,
        })
    }

    /// The object of that number; `above` are those it is inside.
    fn object(
        &self,
        number: usize,
        above: &mut Vec<usize>,
        meter: &mut Meter,
    ) -> Result<Value, Fault> {
        Meter::depth(above.len())?;
        meter.value(0)?;
        let start = self.offset(number)?;
        if above.contains(&number) {
            return Err(Fault::at(start, "an object holds itself"));
        }
        let head = self.head(start)?;
        let cut = || Fault::at(start, "an object does not end before the table of offsets");
        let data = |len: usize| {
            let end = head.at.checked_add(len).filter(|&end| end <= self.table);
            end.map(|end| &self.bytes[head.at..end]).ok_or_else(cut)
        };
        let value = match head.marker >> 4 {
            0 => match head.marker {
                0x00 => Value::Null,
                0x08 => Value::Bool(false),
                0x09 => Value::Bool(true),
                _ => return Err(unknown(start, head.marker)),
            },
            1 => integer(data(power(head.marker))?).ok_or_else(|| unknown(start, head.marker))?,
            2 => real(data(power(head.marker))?).ok_or_else(|| unknown(start, head.marker))?,
            3 if head.marker == 0x33 => {
                let bytes = data(8)?.first_chunk().copied().unwrap_or_default();
                Value::Date(f64::from_be_bytes(bytes))
            }
            4 => {
                let bytes = data(head.count)?;
                meter.value(bytes.len())?;
                Value::Data(bytes.to_vec())
            }
            5..=7 => Value::String(self.string(&head, start, meter)?),
            8 => {
                let bytes = data(usize::from(head.marker & 15) + 1)?;
                let value = unsigned(bytes).ok_or_else(|| unknown(start, head.marker))?;
                Value::Uid(value)
            }
            10..=12 => {
                let references = self.references(&head, head.count, start)?;
                above.push(number);
                let items = references
                    .map(|reference| self.object(reference, above, meter))
                    .collect::<Result<Vec<_>, _>>()?;
                above.pop();
                match head.marker >> 4 {
                    10 => Value::Array(items),
                    _ => Value::Set(items),
                }
            }
            13 => {
                let both = head.count.checked_mul(2).ok_or_else(cut)?;
                let references: Vec<usize> = self.references(&head, both, start)?.collect();
                let (keys, values) = references.split_at(head.count);
                above.push(number);
                let mut members = Vec::new();
                for (&key, &value) in keys.iter().zip(values) {
                    members.push((self.key(key, meter)?, self.object(value, above, meter)?));
                }
                above.pop();
                meter.dict(members)
            }
            _ => return Err(unknown(start, head.marker)),
        };
        Ok(value)
    }

    fn key(&self, number: usize, meter: &mut Meter) -> Result<Text, Fault> {
        let start = self.offset(number)?;
        let head = self.head(start)?;
        match head.marker >> 4 {
            5..=7 => self.string(&head, start, meter),
            _ => Err(Fault::at(start, "a key of a dictionary is no string")),
        }
    }

    /// ASCII, UTF-16 or (in later versions) UTF-8.
    fn string(&self, head: &Head, start: usize, meter: &mut Meter) -> Result<Text, Fault> {
        let wide = head.marker >> 4 == 6;
        let len = if wide {
            head.count.checked_mul(2)
        } else {
            Some(head.count)
        };
        let end = len.and_then(|len| head.at.checked_add(len));
        let bytes = end
            .filter(|&end| end <= self.table)
            .map(|end| &self.bytes[head.at..end])
            .ok_or_else(|| Fault::at(start, "a string does not end before the table of offsets"))?;
        meter.value(bytes.len())?;
        if wide {
            let units = bytes.chunks_exact(2).map(|pair| match *pair {
                [high, low] => u16::from_be_bytes([high, low]),
                _ => 0,
            });
            return Ok(Text::from_utf16(units));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Text::from(text)),
            Err(_) => {
                // Bytes beyond ASCII: as Latin-1, so that none is lost.
                meter.odd_strings += 1;
                let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
                Ok(Text::from(text.as_str()))
            }
        }
    }

    /// Where an object stands.
    fn offset(&self, number: usize) -> Result<usize, Fault> {
        let at = self.table + number.min(self.count) * self.offset_size;
        if number >= self.count {
            let text = format!("a reference to object {number} of {}", self.count);
            return Err(Fault::at(self.table, text));
        }
        let bytes = self.bytes.get(at..at + self.offset_size);
        bytes
            .and_then(unsigned)
            .and_then(|offset| usize::try_from(offset).ok())
            .filter(|&offset| offset < self.table)
            .ok_or_else(|| Fault::at(at, "an offset points behind the objects"))
    }

    /// The marker of an object, and its count where it has one.
    fn head(&self, start: usize) -> Result<Head, Fault> {
        let cut = || Fault::at(start, "an object does not end before the table of offsets");
        let marker = *self.bytes.get(start).ok_or_else(cut)?;
        let short = usize::from(marker & 15);
        let counted = matches!(marker >> 4, 4..=7 | 10..=13);
        if !counted || short < 15 {
            return Ok(Head {
                marker,
                count: short,
                at: start + 1,
            });
        }
        let size = *self.bytes.get(start + 1).ok_or_else(cut)?;
        if size >> 4 != 1 || size & 15 > 3 {
            return Err(Fault::at(start + 1, "a count is no integer"));
        }
        let at = start + 2 + power(size);
        let bytes = self.bytes.get(start + 2..at).filter(|_| at <= self.table);
        let count = bytes.and_then(unsigned).ok_or_else(cut)?;
        Ok(Head {
            marker,
            count: usize::try_from(count).map_err(|_| cut())?,
            at,
        })
    }

    fn references(
        &self,
        head: &Head,
        count: usize,
        start: usize,
    ) -> Result<impl Iterator<Item = usize> + use<'a>, Fault> {
        let end = count
            .checked_mul(self.reference_size)
            .and_then(|len| len.checked_add(head.at))
            .filter(|&end| end <= self.table);
        let Some(end) = end else {
            let text = "a collection does not end before the table of offsets";
            return Err(Fault::at(start, text));
        };
        let bytes = &self.bytes[head.at..end];
        Ok(bytes.chunks_exact(self.reference_size).map(|bytes| {
            let number = unsigned(bytes).and_then(|number| usize::try_from(number).ok());
            number.unwrap_or(usize::MAX)
        }))
    }
}

fn unknown(at: usize, marker: u8) -> Fault {
    Fault::at(at, format!("an object of unknown kind 0x{marker:02x}"))
}

/// The size that a marker's low half stands for.
fn power(marker: u8) -> usize {
    1 << (marker & 15)
}

/// A big-endian number of at most eight bytes.
fn unsigned(bytes: &[u8]) -> Option<u64> {
    (1..=8).contains(&bytes.len()).then(|| {
        bytes
            .iter()
            .fold(0, |value, &byte| value << 8 | u64::from(byte))
    })
}

/// Of 1, 2 and 4 bytes unsigned, of 8 and 16 signed.
fn integer(bytes: &[u8]) -> Option<Value> {
    let value = match bytes.len() {
        1 | 2 | 4 => i128::from(unsigned(bytes)?),
        8 => i128::from(i64::from_be_bytes(*bytes.first_chunk()?)),
        16 => i128::from_be_bytes(*bytes.first_chunk()?),
        _ => return None,
    };
    Some(Value::Integer(value))
}

fn real(bytes: &[u8]) -> Option<Value> {
    match bytes.len() {
        4 => Some(Value::Real(f64::from(f32::from_be_bytes(
            *bytes.first_chunk()?,
        )))),
        8 => Some(Value::Real(f64::from_be_bytes(*bytes.first_chunk()?))),
        _ => None,
    }
}
