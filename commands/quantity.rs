//! Numbers between people and the program: `64MiB` in, `1.5 KiB` out.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use rea::json::MAX_SAFE_INTEGER;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// A number of bytes: `4096`, `64MiB`, `2GB`. In JSON a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim_start();
        let factor = match UNITS
            .iter()
            .find(|known| known.0.eq_ignore_ascii_case(unit))
        {
            Some(known) => known.1,
            None if unit.is_empty() => 1,
            None => return Err("units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB".to_owned()),
        };
        let number: u64 = number
            .parse()
            .map_err(|_| "a whole number of bytes is needed, such as 4096 or 64MiB".to_owned())?;
        match number.checked_mul(factor) {
            Some(bytes) if bytes <= MAX_SAFE_INTEGER => Ok(Self(bytes)),
            _ => Err(format!(
                "the most that can be said is {MAX_SAFE_INTEGER} bytes"
            )),
        }
    }
}

/// The largest binary unit that says it exactly.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = UNITS[..4]
            .iter()
            .find(|unit| self.0 != 0 && self.0.is_multiple_of(unit.1));
        match exact {
            Some((name, factor)) => write!(f, "{}{name}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        safe_integer(deserializer).map(Self)
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_SAFE_INTEGER
        })
    }
}

impl serde::Serialize for ByteSize {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

/// A whole number that JSON keeps exactly.
pub fn safe_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = u64::deserialize(deserializer)?;
    if value > MAX_SAFE_INTEGER {
        let message = format!("the most that can be said is {MAX_SAFE_INTEGER}");
        return Err(serde::de::Error::custom(message));
    }
    Ok(value)
}

/// A size for people, three significant figures: `139 KiB`.
pub fn human_bytes(bytes: u64) -> String {
    let Some((name, factor)) = UNITS[..4].iter().find(|unit| bytes >= unit.1) else {
        return format!("{bytes} B");
    };
    let value = bytes as f64 / *factor as f64;
    let places = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$} {name}")
}

/// A count with its thousands apart: `1,234,567`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count and its noun: `1 entry`, `2,000 entries`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(count),
        if count == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_sizes_are_read_and_said_back() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("2GB", 2_000_000_000),
            ("7B", 7),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
            assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }
        assert_eq!(ByteSize(64 << 30).to_string(), "64GiB");
        for wrong in [
            "",
            "MiB",
            "-1",
            "1.5GiB",
            "1 parsec",
            "99999999999TiB",
            "9007199254740992",
        ] {
            assert!(wrong.parse::<ByteSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (10_239, "10.0 KiB"),
            (142_312, "139 KiB"),
            (5 << 30, "5.00 GiB"),
        ] {
            assert_eq!(human_bytes(bytes), text);
        }
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(counted(1, "entry", "entries"), "1 entry");
    }
}
