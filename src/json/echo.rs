//! Events written as text again.

use super::{Event, Writer};

/// Writes the events of a document whose members come in canonical order.
#[derive(Debug, Default)]
pub struct Echo {
    in_text: bool,
}

impl Echo {
    /// Writes the next piece. Numbers must be finite.
    pub fn event(&mut self, event: Event<'_>, w: &mut Writer<'_>) {
        match event {
            Event::Null => w.null(),
            Event::Bool(value) => w.bool(value),
            Event::Number { value, .. } => w.number(value),
            Event::Key { name, .. } => w.key_text(name),
            Event::BeginObject => w.begin_object(),
            Event::EndObject => w.end_object(),
            Event::BeginArray => w.begin_array(),
            Event::EndArray => w.end_array(),
            Event::Text { part, last, .. } => {
                if !std::mem::replace(&mut self.in_text, !last) {
                    w.begin_text();
                }
                w.text_part(part);
                if last {
                    w.end_text();
                }
            }
        }
    }
}
