//! Location objects, whose members depend on their `kind`.

use super::problem::Reason;
use super::rules::{LOCATION_MEMBERS, LOCATIONS, LocationRule};
use crate::json::MAX_SAFE_INTEGER;

/// What a member holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Held {
    #[default]
    Nothing,
    Empty,
    Text,
    Number(f64),
    Other,
}

/// The location that is open: members come before the kind that judges them.
#[derive(Debug, Default)]
pub(super) struct Location {
    held: [Held; LOCATION_MEMBERS.len()],
    current: usize,
    kind: Option<&'static str>,
}

/// A member, what kind of problem it has, and the problem in words.
type Finding = (&'static str, Reason, String);

impl Location {
    /// A member's name comes; false where no kind has such a member.
    pub fn key(&mut self, name: &[u8]) -> bool {
        let found = LOCATION_MEMBERS
            .iter()
            .position(|member| member.as_bytes() == name);
        self.current = found.unwrap_or(LOCATION_MEMBERS.len());
        found.is_some()
    }

    fn hold(&mut self, held: Held) {
        if let Some(slot) = self.held.get_mut(self.current) {
            *slot = held;
        }
    }

    /// The member is a string; `whole` where `text` is all of it.
    pub fn text(&mut self, text: &[u8], whole: bool) {
        self.hold(if text.is_empty() {
            Held::Empty
        } else {
            Held::Text
        });
        if LOCATION_MEMBERS.get(self.current) == Some(&"kind") {
            self.kind = LOCATIONS
                .iter()
                .map(|(kind, _)| *kind)
                .find(|kind| whole && kind.as_bytes() == text);
        }
    }

    /// The member is a number.
    pub fn number(&mut self, value: f64) {
        self.hold(Held::Number(value));
    }

    /// The member is something else.
    pub fn other(&mut self) {
        self.hold(Held::Other);
    }

    fn held(&self, name: &str) -> Held {
        let at = LOCATION_MEMBERS.iter().position(|member| *member == name);
        at.and_then(|at| self.held.get(at))
            .copied()
            .unwrap_or_default()
    }

    /// What is wrong with the location, now that it is complete.
    pub fn problems(&self) -> Vec<Finding> {
        let finding = |reason, message: &str| vec![("kind", reason, message.to_owned())];
        match (self.held("kind"), self.kind) {
            (Held::Nothing, _) => finding(Reason::MissingArgument, "a location lacks its kind"),
            (Held::Text | Held::Empty, None) => finding(
                Reason::InvalidValue,
                "kind of a location is none that locations have",
            ),
            (_, None) => finding(Reason::InvalidType, "kind of a location must be a string"),
            (_, Some(kind)) => self.problems_of(kind),
        }
    }

    fn problems_of(&self, kind: &'static str) -> Vec<Finding> {
        let members = LOCATIONS
            .iter()
            .find(|(name, _)| *name == kind)
            .map_or(&[][..], |(_, members)| members);
        let mut findings = Vec::new();
        for name in LOCATION_MEMBERS {
            let rule = members.iter().find(|(member, _)| *member == name);
            let held = self.held(name);
            let finding = match (rule, held) {
                _ if name == "kind" => None,
                (None, Held::Nothing) => None,
                (None, _) => Some((Reason::UnknownArgument, "has no such member")),
                (Some(_), Held::Nothing) => Some((Reason::MissingArgument, "lacks it")),
                (Some((_, LocationRule::NonEmpty)), held) => text_problem(held),
                (Some((_, LocationRule::Offset)), held) => offset_problem(held),
            };
            if let Some((reason, what)) = finding {
                findings.push((
                    name,
                    reason,
                    format!("{name} of a location: the kind {kind} {what}"),
                ));
            }
        }
        findings
    }
}

fn text_problem(held: Held) -> Option<(Reason, &'static str)> {
    match held {
        Held::Text => None,
        Held::Empty => Some((Reason::OutOfRange, "takes no empty string here")),
        _ => Some((Reason::InvalidType, "takes a string here")),
    }
}

fn offset_problem(held: Held) -> Option<(Reason, &'static str)> {
    match held {
        Held::Number(value) if !(0.0..=MAX_SAFE_INTEGER as f64).contains(&value) => {
            Some((Reason::OutOfRange, "takes a number from 0 to 2^53-1 here"))
        }
        Held::Number(value) if value.fract() == 0.0 => None,
        _ => Some((Reason::InvalidType, "takes a whole number here")),
    }
}
