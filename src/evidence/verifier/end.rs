//! Arrays and objects close, and with them hashes and records.

use super::super::canon::Tapped;
use super::super::graph::{Field, Zone};
use super::super::path::Pointer;
use super::super::problem::{Reason, Stage};
use super::super::rules::{ENVELOPE, SUBJECT, Shape};
use super::{Hash, Kind, Verifier};

impl Verifier {
    pub(super) fn end(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let elements = self.path.elements();
        if let (Kind::Strict(shape), Some(state)) = (frame.kind, self.records.last())
            && std::ptr::eq(shape, &SUBJECT)
        {
            self.canon.resume(state.tap);
        }
        self.canon.end(frame.object);
        match frame.kind {
            Kind::Record => self.missing_members(&ENVELOPE, frame.seen),
            Kind::Strict(shape) => self.missing_members(shape, frame.seen),
            Kind::Location => self.end_location(),
            Kind::Zone(Zone::Node) => self.end_node(),
            Kind::Zone(Zone::Substep) => self.end_substep(),
            Kind::Zone(Zone::Manifest) => self.end_manifest(),
            Kind::Zone(zone) => self.count(zone, elements),
            Kind::List(_) | Kind::Free => {}
        }
        while let Some(tapped) = self.canon.tapped() {
            self.hashed(tapped);
        }
        self.path.pop();
        if matches!(frame.kind, Kind::Record) || self.frames.is_empty() {
            self.end_record();
        }
    }

    fn missing_members(&mut self, shape: &'static Shape, seen: u32) {
        for (at, (name, _)) in shape.members.iter().enumerate() {
            if seen & (1 << at) == 0 {
                let pointer = self.container().member(name);
                let message = format!("{} lacks the member {name}", shape.name);
                self.fail(pointer, Stage::Shape, Reason::MissingArgument, &message);
            }
        }
    }

    fn end_location(&mut self) {
        for (member, reason, message) in self.location.problems() {
            let pointer = self.container().member(member);
            self.fail(pointer, Stage::Shape, reason, &message);
        }
    }

    /// Where the container that ends stands in the innermost record.
    fn container(&self) -> Pointer {
        let from = self.records.last().map_or(0, |state| state.depth);
        let to = self.path.depth().saturating_sub(1);
        self.path.pointer(from, to)
    }

    fn hashed(&mut self, tapped: Tapped<Hash>) {
        let Some(state) = self.records.last_mut() else {
            return;
        };
        let (path, from) = (&self.path, state.depth);
        let container = || path.pointer(from, path.depth().saturating_sub(1));
        let graph = &mut state.graph;
        match tapped.purpose {
            Hash::Record => state.computed = Some(tapped.digest()),
            Hash::Profile => state.profile = Some(tapped.digest()),
            Hash::ProfileProvider => state.profile_provider = Some(tapped.digest()),
            Hash::Provider => state.provider = Some(tapped.digest()),
            Hash::Graph => graph.graph = Some(tapped.digest()),
            Hash::Files => graph.files = Some(tapped.digest()),
            Hash::Extraction => graph.extraction = Some(tapped.digest()),
            Hash::Inspection => graph.end_inspection(tapped.digest(), container),
            Hash::Occurrence => graph.end_occurrence(tapped, container),
            Hash::Item(kind) => {
                let (_, name, prefix) = kind.names();
                let at = || container().member(name);
                graph.check_id(Field::Id, prefix, tapped.digest(), at);
            }
            Hash::Substep => {
                let at = || container().member("substep_id");
                graph.check_id(Field::Id, "ais_", tapped.digest(), at);
            }
        }
    }

    fn end_node(&mut self) {
        let Some(state) = self.records.last_mut() else {
            return;
        };
        let (path, from) = (&self.path, state.depth);
        let container = || path.pointer(from, path.depth().saturating_sub(1));
        state.graph.end_node(container);
    }

    fn end_manifest(&mut self) {
        let container = self.container();
        if let Some(state) = self.records.last_mut() {
            state.graph.end_manifest(container);
        }
    }

    fn count(&mut self, zone: Zone, elements: u64) {
        if let Some(state) = self.records.last_mut() {
            match zone {
                Zone::Nodes => state.graph.nodes = Some(elements),
                Zone::Occurrences => state.graph.occurrences = Some(elements),
                Zone::Edges => state.graph.edges = Some(elements),
                _ => {}
            }
        }
    }

    /// The record inside a substep must be the one that the substep names.
    fn end_substep(&mut self) {
        let Some(state) = self.records.last_mut() else {
            return;
        };
        let Some(nested) = state.nested_id.take() else {
            return;
        };
        let named = state.graph.fields.get(Field::Key).unwrap_or_default();
        if nested.is_none_or(|id| id.to_string().as_bytes() != named) {
            let pointer = self.container().member("evidence_id");
            let message = "the substep names another record than the one it holds";
            self.fail(
                pointer,
                Stage::NestedEvidence,
                Reason::InvalidValue,
                message,
            );
        }
    }

    pub(super) fn end_record(&mut self) {
        let Some(state) = self.records.pop() else {
            return;
        };
        let pointer = state.pointer.clone();
        let inner = pointer.is_some();
        let mut report = state.into_report(pointer);
        if let Some(outer) = self.records.last_mut().filter(|_| inner) {
            outer.nested_id = Some(report.evidence_id);
            self.nested.push(report);
        } else {
            report.nested = std::mem::take(&mut self.nested);
            self.finished = Some(report);
        }
    }
}
