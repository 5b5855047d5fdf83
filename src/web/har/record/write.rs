//! The JSON of a capture's record.

use super::{CaptureRecord, location};
use crate::json::{Kind, Node, WriteJson, Writer};
use crate::web::har::exclude::{EXPLICIT, Edit, edit_of, without_userinfo};
use crate::web::har::sidecar::{Found, Walk};
use crate::web::har::{Content, Entry, Place, Source, compact};

const BYTES_AS_TEXT: &str = "Fields that are bytes are told as text where they are valid UTF-8, else as \
    null; the bytes themselves stand beside.";
const TEXT_DECODED: &str = "Text is what the producer decoded to Unicode; the bytes that were sent \
    are known only where valid base64 stands for them.";

impl CaptureRecord {
    /// Writes a value without what it does not show.
    fn value(&self, node: Node, edits: &[(Node, Edit)], except: Option<Node>, w: &mut Writer<'_>) {
        let tape = &self.capture.tape;
        if except == Some(node) {
            return w.null();
        }
        match edit_of(edits, node) {
            Some(Edit::Credential | Edit::Explicit | Edit::Name) => return w.null(),
            Some(Edit::Userinfo) => {
                let text = tape.text(node);
                return match without_userinfo(&text) {
                    Some((head, rest)) => w.text(&[head, rest].concat()),
                    None => w.text(&text),
                };
            }
            None => {}
        }
        match tape.kind(node) {
            Kind::Object => {
                w.begin_object();
                for (name, value) in tape.sorted_members(node) {
                    if edit_of(edits, name).is_none() {
                        tape.write_name(name, w);
                        self.value(value, edits, except, w);
                    }
                }
                w.end_object();
            }
            Kind::Array => {
                w.begin_array();
                for element in tape.elements(node) {
                    self.value(element, edits, except, w);
                }
                w.end_array();
            }
            _ => tape.write_scalar(node, w),
        }
    }

    fn numbers(
        &self,
        node: Node,
        edits: &[(Node, Edit)],
        except: Option<Node>,
        w: &mut Writer<'_>,
    ) {
        w.begin_array();
        Walk::numbers(&self.capture.tape, node, edits, except, |pointer, found| {
            if let Found::Number(lexeme) = found
                && !self.hides(pointer)
            {
                w.begin_object();
                w.key("literal");
                w.text(lexeme);
                w.key("pointer");
                w.text(pointer);
                w.member("producer_type", self.capture.source.number(lexeme));
                w.end_object();
            }
            true
        });
        w.end_array();
    }

    fn redactions(
        &self,
        node: Node,
        edits: &[(Node, Edit)],
        except: Option<Node>,
        w: &mut Writer<'_>,
    ) {
        w.begin_array();
        if !edits.is_empty() {
            Walk::edits(&self.capture.tape, node, edits, except, |pointer, found| {
                if let Found::Edited(edit) = found
                    && !self.hides(pointer)
                {
                    w.begin_object();
                    w.key("pointer");
                    w.text(pointer);
                    w.member("reason", edit.reason());
                    if edit == Edit::Name {
                        w.member("scope", "property-name");
                    }
                    w.end_object();
                }
                true
            });
        }
        w.end_array();
    }

    fn binary(&self, pointer: &[u8], content: &Content, is_edited: bool, w: &mut Writer<'_>) {
        let shown = !content.hidden && !is_edited;
        w.begin_object();
        w.member("bytes", shown.then_some(content.bytes));
        w.key("content_base64");
        match shown {
            false => w.null(),
            true => w.text(&compact(&self.capture.tape.text(content.base64))),
        }
        w.key("pointer");
        w.text(pointer);
        let representation = match self.capture.source {
            Source::Har { .. } => "har-base64-content",
            Source::Flows => "producer-bytes",
        };
        w.member("representation", representation);
        w.member("sha256", shown.then_some(content.sha256));
        w.member("state", if shown { "retained" } else { "redacted" });
        w.end_object();
    }

    fn entry(&self, ordinal: u32, entry: &Entry, w: &mut Writer<'_>) {
        let is_hidden = self.hides_entries(&self.literals);
        w.begin_object();
        w.key("binary_fields");
        w.begin_array();
        if !is_hidden {
            let (tape, edits) = (&self.capture.tape, &entry.edits);
            Walk::bytes(tape, entry.node, edits, &entry.bytes, |pointer, found| {
                if let Found::Bytes(content) = found
                    && !self.hides(pointer)
                {
                    let is_edited = edit_of(edits, content.text).is_some();
                    self.binary(pointer, content, is_edited, w);
                }
                true
            });
        }
        w.end_array();
        w.key("limitations");
        w.begin_array();
        let said = match self.capture.source {
            Source::Har { .. } => TEXT_DECODED,
            Source::Flows => BYTES_AS_TEXT,
        };
        if !self.hides(said.as_bytes()) {
            w.string(said);
        }
        w.end_array();
        w.key("location");
        w.begin_object();
        match entry.place {
            _ if is_hidden || self.hides_place(&entry.place, ordinal) => {
                w.member("kind", "unknown");
                w.member("reason", EXPLICIT);
            }
            Place::Pointer => {
                w.member("kind", "json-pointer");
                w.member("pointer", location(ordinal));
            }
            Place::Bytes { offset, bytes } => {
                w.member("bytes", bytes);
                w.member("kind", "byte-range");
                w.member("offset", offset);
            }
        }
        w.end_object();
        w.key("numeric_literals");
        if is_hidden {
            w.begin_array();
            w.end_array();
        } else {
            self.numbers(entry.node, &entry.edits, None, w);
        }
        w.member("ordinal", ordinal);
        w.key("redactions");
        if is_hidden {
            w.begin_array();
            w.begin_object();
            w.member("pointer", "");
            w.member("reason", EXPLICIT);
            w.end_object();
            w.end_array();
        } else {
            self.redactions(entry.node, &entry.edits, None, w);
        }
        w.key("reported");
        if is_hidden {
            w.null();
        } else {
            self.value(entry.node, &entry.edits, None, w);
        }
        w.end_object();
    }
}

fn empty(w: &mut Writer<'_>) {
    w.begin_array();
    w.end_array();
}

pub(super) struct Locations<'a>(pub &'a CaptureRecord);

impl WriteJson for Locations<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        if self.0.shows_path {
            return crate::evidence::ArtifactPath(&self.0.path).write_json(w);
        }
        w.begin_array();
        w.end_array();
    }
}

pub(super) struct Parameters<'a>(pub &'a CaptureRecord);

impl WriteJson for Parameters<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        w.begin_object();
        w.member("capture_path", &record.path);
        if !record.hides(record.format().as_bytes()) {
            w.member("format", record.format());
        }
        w.key("record_ordinals");
        w.begin_array();
        for &ordinal in &record.selection {
            w.u64(u64::from(ordinal));
        }
        w.end_array();
        w.member("sensitive_value_count", record.literals.len());
        w.end_object();
    }
}

pub(super) struct ResultOf<'a>(pub &'a CaptureRecord);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        let capture = &record.capture;
        let (root, entries) = (capture.tape.root(), capture.source.entries());
        w.begin_object();
        w.key("artifact");
        w.begin_object();
        w.member("bytes", record.bytes);
        w.member("path", &record.path);
        w.member("sha256", record.sha256);
        w.end_object();
        w.key("container");
        w.begin_object();
        w.key("numeric_literals");
        match entries {
            Some(_) => record.numbers(root, &capture.container, entries, w),
            None => empty(w),
        }
        w.key("records_pointer");
        match entries.is_none() || record.hides_entries(&record.literals) {
            true => w.null(),
            false => w.string("/log/entries"),
        }
        w.key("redactions");
        record.redactions(root, &capture.container, entries, w);
        w.key("reported");
        match entries {
            Some(_) => record.value(root, &capture.container, entries, w),
            // A file of flows is nothing but its records.
            None => w.null(),
        }
        w.end_object();
        w.member("decoder", capture.source.provider());
        w.member("format", record.format());
        w.member("limitations", &record.limitations);
        w.key("records");
        w.begin_array();
        for (ordinal, entry) in record.selected() {
            record.entry(ordinal, entry, w);
        }
        w.end_array();
        w.member("runtime_attribution", "unknown");
        w.member("total_records", record.total_records());
        w.end_object();
    }
}
