//! Arrays and objects open.

use super::super::graph::{Field, Known, Zone};
use super::super::location::Location;
use super::super::path::Pointer;
use super::super::problem::{Reason, Stage};
use super::super::record_state::RecordState;
use super::super::rules::{PROFILE, PROFILE_PROVIDER, PROVIDER, Rule};
use super::{Frame, Hash, Kind, MAX_NESTED, MAX_NESTED_REPORTS, Scope, Slot, Verifier};

impl Verifier {
    pub(super) fn begin(&mut self, object: bool) {
        self.value();
        let slot = self.slot();
        let kind = match slot {
            Slot::Root => self.begin_root(object),
            Slot::Free => Kind::Free,
            Slot::LocationMember => {
                self.location.other();
                Kind::Free
            }
            Slot::Known(Known::Record) if object => self.begin_nested(),
            Slot::Known(Known::Zone(zone)) if zone.is_object() == object => self.begin_zone(zone),
            Slot::Known(known) => {
                self.known_field(known, None);
                Kind::Free
            }
            Slot::Ruled(rule) => self.begin_ruled(rule, object),
        };
        self.canon.begin(object);
        self.path.push(object);
        self.frames.push(Frame {
            kind,
            object,
            seen: 0,
            slot: Slot::Free,
        });
    }

    fn begin_root(&mut self, object: bool) -> Kind {
        self.open_record(None);
        if object {
            return Kind::Record;
        }
        self.not_a_record();
        Kind::Free
    }

    fn open_record(&mut self, pointer: Option<Pointer>) {
        let mut state = RecordState::new(self.frames.len(), pointer);
        state.tap = self.canon.tap(Hash::Record);
        self.records.push(state);
    }

    pub(super) fn not_a_record(&mut self) {
        let message = "a record is a JSON object";
        let pointer = Pointer::default();
        self.fail_record(0, pointer, Stage::Shape, Reason::InvalidType, message);
    }

    fn begin_nested(&mut self) -> Kind {
        let pointer = self.path.pointer(0, self.path.depth());
        if self.records.len() > MAX_NESTED || self.nested.len() >= MAX_NESTED_REPORTS {
            let message = format!(
                "a record here was not verified: only {MAX_NESTED} levels and \
                 {MAX_NESTED_REPORTS} records inside a record are"
            );
            self.fail_here(Stage::NestedEvidence, Reason::OutOfRange, &message);
            return Kind::Free;
        }
        self.open_record(Some(pointer));
        Kind::Record
    }

    fn begin_zone(&mut self, zone: Zone) -> Kind {
        match zone {
            Zone::Item(kind) => _ = self.canon.tap(Hash::Item(kind)),
            Zone::Substep => _ = self.canon.tap(Hash::Substep),
            Zone::Occurrence => _ = self.canon.tap(Hash::Occurrence),
            Zone::Files => _ = self.canon.tap(Hash::Files),
            Zone::Extraction => _ = self.canon.tap(Hash::Extraction),
            _ => {}
        }
        if let (Some(state), Zone::Item(_) | Zone::Substep | Zone::Node | Zone::Occurrence) =
            (self.records.last_mut(), zone)
        {
            state.graph.fields.set(Field::Id, None);
            state.graph.fields.set(Field::Key, None);
            state.nested_id = None;
        }
        Kind::Zone(zone)
    }

    fn begin_ruled(&mut self, rule: &'static Rule, object: bool) -> Kind {
        match (rule, object) {
            (Rule::Free, true) => self.begin_free(),
            (Rule::Free, false) | (Rule::FreeObject, true) => Kind::Free,
            (Rule::List(element), false) => Kind::List(element),
            (Rule::Location, true) => {
                self.location = Location::default();
                Kind::Location
            }
            (Rule::Object(shape) | Rule::ObjectOrNull(shape), true) => {
                let hash = match *shape {
                    shape if std::ptr::eq(shape, &PROFILE) => Some(Hash::Profile),
                    shape if std::ptr::eq(shape, &PROFILE_PROVIDER) => Some(Hash::ProfileProvider),
                    shape if std::ptr::eq(shape, &PROVIDER) => Some(Hash::Provider),
                    _ => None,
                };
                if let Some(hash) = hash {
                    self.canon.tap(hash);
                }
                Kind::Strict(shape)
            }
            _ => {
                self.wrong_type(rule);
                Kind::Free
            }
        }
    }

    /// `raw_result` or `normalized_result`; the latter may be a graph.
    fn begin_free(&mut self) -> Kind {
        let of_record =
            matches!(self.frames.last(), Some(frame) if matches!(frame.kind, Kind::Record));
        if self.scope == Scope::Record || !of_record || !self.path.is_at(b"normalized_result") {
            return Kind::Free;
        }
        self.canon.tap(Hash::Inspection);
        self.canon.tap(Hash::Graph);
        Kind::Zone(Zone::Result)
    }
}
