//! XML property lists (Apple's PropertyList-1.0.dtd). Tokens come from
//! quick-xml, which expands no entities and opens no files; the DTD that a
//! list names is not looked at.

use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Fault, Meter, Notation, Plist, Value, date};
use crate::json::Text;

/// Reads an XML property list.
pub(super) fn parse(text: &str) -> Result<Plist, Fault> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut builder = Builder::default();
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        builder.at = at;
        let event = reader.read_event().map_err(|_| {
            let at = usize::try_from(reader.error_position()).unwrap_or(at);
            Fault::at(at, "the XML is malformed")
        })?;
        match event {
            Event::Start(start) => builder.start(start.name().as_ref())?,
            Event::End(_) => builder.end()?,
            Event::Text(part) => builder.text(&part.xml10_content())?,
            Event::CData(part) => builder.text(&part.xml10_content())?,
            Event::GeneralRef(reference) => {
                let known = match &*reference {
                    "lt" => Some('<'),
                    "gt" => Some('>'),
                    "amp" => Some('&'),
                    "apos" => Some('\''),
                    "quot" => Some('"'),
                    _ => reference.resolve_char_ref().ok().flatten(),
                };
                let found = known.ok_or_else(|| Fault::at(at, "an entity is not known"))?;
                builder.text(found.encode_utf8(&mut [0; 4]))?;
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
            Event::Empty(_) => return Err(Fault::at(at, "the XML is malformed")),
        }
    }
    let value = builder.finish()?;
    Ok(builder.meter.finish(Notation::Xml, value))
}

/// An element that is open.
enum Open {
    /// `<plist>`
    Plist,
    Array(Vec<Value>),
    /// A key that waits for its value, and the members so far.
    Dict(Option<Text>, Vec<(Text, Value)>),
    /// An element of text, by its name.
    Text(Leaf, String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Key,
    String,
    Integer,
    Real,
    Date,
    Data,
    True,
    False,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Value>,
    seen_plist: bool,
    at: usize,
    meter: Meter,
}

impl Builder {
    fn fault(&self, text: impl Into<String>) -> Fault {
        Fault::at(self.at, text)
    }

    fn start(&mut self, name: &str) -> Result<(), Fault> {
        Meter::depth(self.open.len())?;
        if let Some(Open::Text(..)) = self.open.last() {
            return Err(self.fault("an element stands inside text"));
        }
        let leaf = match name {
            "plist" if self.open.is_empty() && !self.seen_plist && self.root.is_none() => {
                self.seen_plist = true;
                self.open.push(Open::Plist);
                return Ok(());
            }
            "array" => None,
            "dict" => None,
            "key" => Some(Leaf::Key),
            "string" => Some(Leaf::String),
            "integer" => Some(Leaf::Integer),
            "real" => Some(Leaf::Real),
            "date" => Some(Leaf::Date),
            "data" => Some(Leaf::Data),
            "true" => Some(Leaf::True),
            "false" => Some(Leaf::False),
            _ => return Err(self.fault("an element is not one of a property list")),
        };
        let expects_key = matches!(self.open.last(), Some(Open::Dict(None, _)));
        if expects_key != (leaf == Some(Leaf::Key)) {
            return Err(self.fault(if expects_key {
                "a member of a dictionary has no key"
            } else {
                "a key stands where a value should"
            }));
        }
        self.open.push(match (leaf, name) {
            (Some(leaf), _) => Open::Text(leaf, String::new()),
            (None, "dict") => Open::Dict(None, Vec::new()),
            (None, _) => Open::Array(Vec::new()),
        });
        Ok(())
    }

    fn text(&mut self, part: &str) -> Result<(), Fault> {
        if let Some(Open::Text(_, text)) = self.open.last_mut() {
            if text.len() + part.len() > super::MAX_BYTES {
                return Err(Fault::Limit(
                    "bytes of strings and data",
                    super::MAX_BYTES as u64,
                ));
            }
            text.push_str(part);
            return Ok(());
        }
        match part.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']) {
            "" => Ok(()),
            _ => Err(self.fault("text stands between elements")),
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        let value = match self.open.pop() {
            None | Some(Open::Plist) => return Ok(()),
            Some(Open::Array(items)) => {
                self.meter.value(0)?;
                Value::Array(items)
            }
            Some(Open::Dict(Some(_), _)) => {
                return Err(self.fault("the last key of a dictionary has no value"));
            }
            Some(Open::Dict(None, members)) => {
                self.meter.value(0)?;
                self.meter.dict(members)
            }
            Some(Open::Text(Leaf::Key, text)) => {
                self.meter.value(text.len())?;
                if let Some(Open::Dict(key, _)) = self.open.last_mut() {
                    *key = Some(Text::from(text.as_str()));
                }
                return Ok(());
            }
            Some(Open::Text(leaf, text)) => {
                self.meter.value(text.len())?;
                self.leaf(leaf, &text)?
            }
        };
        match self.open.last_mut() {
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Dict(key, members)) => {
                if let Some(key) = key.take() {
                    members.push((key, value));
                }
            }
            _ if self.root.is_some() => return Err(self.fault("there is more than one value")),
            _ => self.root = Some(value),
        }
        Ok(())
    }

    fn leaf(&self, leaf: Leaf, text: &str) -> Result<Value, Fault> {
        let bare = text.trim();
        let value = match leaf {
            Leaf::Key | Leaf::String => Some(Value::String(Text::from(text))),
            Leaf::Integer => integer(bare),
            Leaf::Real => real(bare),
            Leaf::Date => date::parse(bare).map(Value::Date),
            Leaf::Data => base64(text).map(Value::Data),
            Leaf::True | Leaf::False if !bare.is_empty() => None,
            Leaf::True => Some(Value::Bool(true)),
            Leaf::False => Some(Value::Bool(false)),
        };
        let what = match leaf {
            Leaf::Integer => "an integer",
            Leaf::Real => "a real number",
            Leaf::Date => "a date",
            Leaf::Data => "data",
            _ => "a boolean",
        };
        value.ok_or_else(|| self.fault(format!("{what} is malformed")))
    }

    fn finish(&mut self) -> Result<Value, Fault> {
        if !self.open.is_empty() {
            return Err(self.fault("an element has no end"));
        }
        self.root
            .take()
            .ok_or_else(|| self.fault("there is no value"))
    }
}

/// Decimal, or hexadecimal after `0x`, with a sign.
fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let hexadecimal = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Some(Value::Integer(if negative { -value } else { value }))
}

/// As `strtod` reads it, and Apple's words for what is not finite.
fn real(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    let value = match lower.trim_start_matches('+') {
        "infinity" | "inf" => f64::INFINITY,
        "-infinity" | "-inf" => f64::NEG_INFINITY,
        "nan" => f64::NAN,
        number if number.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.')) => {
            number.parse().ok()?
        }
        _ => return None,
    };
    Some(Value::Real(value))
}

/// Base64 with white space anywhere; padding may be missing.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let symbols: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    LENIENT.decode(symbols).ok()
}
