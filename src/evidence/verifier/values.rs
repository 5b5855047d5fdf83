//! Strings, numbers and the other scalars.

use super::super::graph::{CAPTURED, Known};
use super::super::problem::{Reason, Stage};
use super::super::record_state::RecordState;
use super::super::rules::{PROFILE, Rule};
use super::{Kind, Slot, Verifier};
use crate::digest::Digest;
use crate::json::Text;

/// A value that is no string, array or object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(f64),
}

impl Verifier {
    pub(super) fn text(&mut self, part: &[u8], last: bool, plain: bool) {
        let slot = self.slot();
        if !std::mem::replace(&mut self.in_text, true) {
            self.value();
            self.canon.begin_text();
            self.text.clear();
            self.text_len = 0;
        }
        self.canon.text_part(part, plain);
        if !matches!(slot, Slot::Free) {
            self.text_len += part.len() as u64;
            let room = (CAPTURED + 1).saturating_sub(self.text.len());
            self.text
                .extend_from_slice(part.get(..room).unwrap_or(part));
        }
        if !last {
            return;
        }
        self.canon.end_text();
        self.in_text = false;
        let text = std::mem::take(&mut self.text);
        self.end_text(slot, &text);
        self.text = text;
        self.ended_root();
    }

    fn end_text(&mut self, slot: Slot, text: &[u8]) {
        let whole = text.len() as u64 == self.text_len && text.len() <= CAPTURED;
        match slot {
            Slot::Free => {}
            Slot::Root => {
                self.open_scalar_record();
            }
            Slot::LocationMember => self.location.text(text, whole),
            Slot::Known(known) => {
                let there = whole && !known.is_count();
                self.known_field(known, there.then_some(text));
            }
            Slot::Ruled(rule) => self.ruled_text(rule, text, whole),
        }
    }

    pub(super) fn known_field(&mut self, known: Known, value: Option<&[u8]>) {
        if let (Known::Field(field), Some(state)) = (known, self.records.last_mut()) {
            state.graph.fields.set(field, value);
        }
    }

    fn ruled_text(&mut self, rule: &'static Rule, text: &[u8], whole: bool) {
        if let Err((reason, message)) = rule.check_text(text, whole) {
            let message = format!("{} {message}", self.member_name());
            self.fail_here(Stage::Shape, reason, &message);
            return;
        }
        let frame = self.frames.last().map(|frame| frame.kind);
        let Some(state) = self.records.last_mut() else {
            return;
        };
        match frame {
            Some(Kind::Record) if self.path.is_at(b"evidence_id") => state.claim(text),
            Some(Kind::Record) if self.path.is_at(b"operation") => {
                state.operation = whole.then(|| Text::from_wtf8(text.to_vec()));
            }
            Some(Kind::Strict(shape)) if std::ptr::eq(shape, &PROFILE) => {
                state.profile_claim = Digest::from_hex(text);
            }
            _ => {}
        }
    }

    pub(super) fn scalar(&mut self, scalar: Scalar) {
        self.value();
        match scalar {
            Scalar::Null => self.canon.literal("null"),
            Scalar::Bool(true) => self.canon.literal("true"),
            Scalar::Bool(false) => self.canon.literal("false"),
            Scalar::Number(value) => self.canon.number(value),
        }
        match (self.slot(), scalar) {
            (Slot::LocationMember, Scalar::Number(value)) => self.location.number(value),
            (Slot::LocationMember, _) => self.location.other(),
            (Slot::Root, _) => self.open_scalar_record(),
            (Slot::Known(known), Scalar::Number(value)) => {
                let digits = value.to_string();
                let digits = value.is_finite().then_some(digits.as_bytes());
                self.known_field(known, digits);
                self.check_finite(value);
            }
            (Slot::Known(known), _) => self.known_field(known, None),
            (Slot::Free, Scalar::Number(value)) => self.check_finite(value),
            (Slot::Free, _) => {}
            (Slot::Ruled(Rule::Free), Scalar::Number(value)) => self.check_finite(value),
            (Slot::Ruled(rule), scalar) => {
                let null = matches!(scalar, Scalar::Null);
                if !(matches!(rule, Rule::Free) || null && rule.takes_null()) {
                    self.wrong_type(rule);
                }
            }
        }
        self.ended_root();
    }

    fn check_finite(&mut self, value: f64) {
        if !value.is_finite() {
            self.fail_free("a number is too large for an IEEE double");
        }
    }

    fn open_scalar_record(&mut self) {
        self.records.push(RecordState::new(0, None));
        self.not_a_record();
    }

    /// A document that is one scalar is complete.
    fn ended_root(&mut self) {
        if self.frames.is_empty() {
            self.end_record();
        }
    }

    pub(super) fn wrong_type(&mut self, rule: &Rule) {
        let message = format!("{} must be {}", self.member_name(), rule.describe());
        self.fail_here(Stage::Shape, Reason::InvalidType, &message);
    }
}
