//! Whether an object has the members that its contract names, each of its
//! type: the tables by which `compare_artifacts` reads inventories.

use crate::artifact::retained::zones::{Rule, Table, Zone};
use crate::digest::Digest;
use crate::json::{Event, MAX_SAFE_INTEGER};

/// The longest id: a prefix of up to five bytes and 64 digits.
const LONGEST_ID: usize = 72;

/// Follows the direct members of one object.
#[derive(Debug, Default)]
pub(super) struct Shape {
    table: Table,
    /// A bit for each member that has passed.
    seen: u32,
    /// The place of the current member in the table.
    at: Option<usize>,
    /// Where the next member is if none is left out.
    next: usize,
    wrong: Option<&'static str>,
    /// The start of the current string.
    text: Vec<u8>,
}

impl Shape {
    /// An object of the contract's `zone` begins.
    pub fn begin(&mut self, zone: Zone) {
        let text = std::mem::take(&mut self.text);
        *self = Self {
            table: zone.table(),
            text,
            ..Self::default()
        };
    }

    /// A name, a scalar or the begin of a container directly in the object.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Key { name, .. } => self.key(name),
            Event::Text { part, last, .. } => self.part(part, last),
            Event::EndObject | Event::EndArray => {}
            event => {
                let Some((_, rule)) = self.field() else {
                    return;
                };
                let fits = match (rule, event) {
                    (Rule::Any, _)
                    | (Rule::Flag, Event::Bool(_))
                    | (Rule::OptionalCount | Rule::OptionalId(_), Event::Null) => true,
                    (Rule::Count | Rule::OptionalCount, Event::Number { value, .. }) => {
                        (0.0..=MAX_SAFE_INTEGER as f64).contains(&value) && value.fract() == 0.0
                    }
                    _ => false,
                };
                self.judge(fits);
            }
        }
    }

    fn field(&self) -> Option<(&'static str, Rule)> {
        self.table.get(self.at?).copied()
    }

    fn key(&mut self, name: &[u8]) {
        self.text.clear();
        let same = |field: &(&str, Rule)| field.0.as_bytes() == name;
        self.at = match self.table.get(self.next) {
            Some(field) if same(field) => Some(self.next),
            _ => self.table.iter().position(same),
        };
        if let Some(at) = self.at {
            self.next = at + 1;
            self.seen |= 1 << at;
        }
    }

    /// Strings are cut between characters.
    fn part(&mut self, part: &[u8], last: bool) {
        let Some((_, rule)) = self.field() else {
            return;
        };
        match rule {
            Rule::Any => {}
            Rule::Word | Rule::OptionalWord | Rule::Path => {
                self.judge(std::str::from_utf8(part).is_ok());
            }
            Rule::Id(prefix) | Rule::OptionalId(prefix) => {
                let room = (LONGEST_ID + 1).saturating_sub(self.text.len());
                self.text
                    .extend_from_slice(part.get(..room).unwrap_or(part));
                if last {
                    let digits = self.text.strip_prefix(prefix.as_bytes());
                    self.judge(digits.is_some_and(|digits| Digest::from_hex(digits).is_some()));
                }
            }
            Rule::Count | Rule::OptionalCount | Rule::Flag => self.judge(false),
        }
    }

    fn judge(&mut self, fits: bool) {
        if !fits && self.wrong.is_none() {
            self.wrong = self.field().map(|(name, _)| name);
        }
    }

    /// The first member that is not of its type, else one that is missing.
    pub fn wrong(&self) -> Option<&'static str> {
        let missing = |(at, (_, rule)): &(usize, &(&str, Rule))| {
            self.seen & (1 << at) == 0 && !rule.is_optional()
        };
        self.wrong.or_else(|| {
            let mut fields = self.table.iter().enumerate();
            fields.find(missing).map(|(_, (name, _))| *name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Reader};

    fn wrong(object: &str) -> Option<&'static str> {
        let mut reader = Reader::new(object.as_bytes(), Limits::default());
        let mut shape = Shape::default();
        shape.begin(Zone::Edge);
        let mut depth = 0;
        loop {
            let event = reader.next_event().unwrap();
            depth -= i32::from(matches!(event, Event::EndObject | Event::EndArray));
            if depth == 1 {
                shape.event(event);
            }
            depth += i32::from(matches!(event, Event::BeginObject | Event::BeginArray));
            if reader.is_between() {
                return shape.wrong();
            }
        }
    }

    #[test]
    fn members_must_be_there_and_of_their_types() {
        let digits = "0".repeat(64);
        let good = format!(
            r#"{{"edge_id":"edge_{digits}","more":{{"edge_id":1}},"occurrence_id":"occ_{digits}","ordinal":3,"parent_artifact_id":"art_{digits}","producer":{{"a":[1]}},"relation":"contains"}}"#
        );
        assert_eq!(wrong(&good), None);
        for (from, to, member) in [
            ("edge_0", "edge_x", "edge_id"),
            ("occ_0", "occ_", "occurrence_id"),
            ("\"ordinal\":3,", "", "ordinal"),
            (":3", ":3.5", "ordinal"),
            (":3", ":-1", "ordinal"),
            (":3", ":\"3\"", "ordinal"),
            (":3", ":null", "ordinal"),
            (":3", ":[]", "ordinal"),
            ("\"contains\"", "7", "relation"),
            ("contains", "\\ud800", "relation"),
            (",\"relation\":\"contains\"", "", "relation"),
        ] {
            assert_eq!(
                wrong(&good.replacen(from, to, 1)),
                Some(member),
                "{from} {to}"
            );
        }
    }
}
