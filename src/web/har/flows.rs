//! Native flows of mitmproxy, from what mitmdump made of them (web.md section
//! 1.9): the states as they were written, and beside them their bytes.

use super::exclude::{self, Literals};
use super::fault::{Fault, NESTING};
use super::mitmdump::{Missing, VERSION};
use super::{Capture, Content, Edits, Entry, Place, Source, bytes_of};
use crate::json::{Kind, Limits, Node, ReadErrorKind, Refused, Tape, is_depth};
use crate::operation::Context;

/// What stands around a state in the reply: the document, the list of flows,
/// and the flow.
const AROUND: usize = 3;

/// Reads the reply of the script in mitmdump.
pub(super) fn capture(
    reply: Vec<u8>,
    compressed: bool,
    literals: &Literals,
    context: &Context,
) -> Result<Capture, Fault> {
    let limits = Limits {
        max_depth: NESTING as usize + 1 + AROUND,
        ..Limits::default()
    };
    let tape = Tape::parse(reply, limits, || context.check()).map_err(refused)?;
    let root = tape.root();
    let version = tape.member(root, "version").map(|node| tape.text(node));
    if version.as_deref() != Some(VERSION.as_bytes()) {
        let version = version.unwrap_or_default();
        let version: String = String::from_utf8_lossy(&version).chars().take(40).collect();
        return Err(Fault::NoProgram(Missing::Other(format!(
            "is mitmdump {version}"
        ))));
    }
    if let Some(error) = tape.member(root, "error") {
        return Err(said(&tape, error));
    }
    let mut entries = Vec::new();
    let flows = tape.member(root, "flows").ok_or_else(malformed)?;
    for flow in tape.elements(flows) {
        context.check().map_err(Fault::Stopped)?;
        entries.push(entry(&tape, flow, literals).ok_or_else(malformed)?);
    }
    context.progress.add_entries(1);
    Ok(Capture {
        tape,
        source: Source::Flows,
        entries,
        container: Edits::new(),
        had_mark: false,
        compressed,
    })
}

fn malformed() -> Fault {
    Fault::Answer("is not of the shape that was asked for".to_owned())
}

fn refused(refused: Refused) -> Fault {
    match refused {
        Refused::Stopped(error) => Fault::Stopped(error),
        Refused::Read(error) if is_depth(&error) => Fault::TooDeep,
        Refused::Read(error) => match error.kind() {
            ReadErrorKind::Resource { .. } => Fault::Decoder("what a reader takes"),
            _ => Fault::Answer(format!("is not valid JSON: {error}")),
        },
    }
}

/// What the script says of the file.
fn said(tape: &Tape, error: Node) -> Fault {
    let text = |name: &str| {
        let text = tape.member(error, name).map(|node| tape.text(node));
        let text = text.unwrap_or_default();
        String::from_utf8_lossy(&text)
            .chars()
            .take(2000)
            .collect::<String>()
    };
    match text("kind").as_str() {
        "depth" => Fault::TooDeep,
        "format" => Fault::Flow {
            offset: number(tape, error, "offset").unwrap_or(0),
            pointer: text("pointer"),
            what: text("what"),
        },
        _ => malformed(),
    }
}

fn number(tape: &Tape, node: Node, name: &str) -> Option<u64> {
    match tape.kind(tape.member(node, name)?) {
        Kind::Number(lexeme) => std::str::from_utf8(lexeme).ok()?.parse().ok(),
        _ => None,
    }
}

fn entry(tape: &Tape, flow: Node, literals: &Literals) -> Option<Entry> {
    let state = tape.member(flow, "state")?;
    let place = Place::Bytes {
        offset: number(tape, flow, "offset")?,
        bytes: number(tape, flow, "bytes")?,
    };
    let bytes = bytes(tape, state, tape.member(flow, "binary")?, literals)?;
    let mut edits = exclude::of_flow(tape, state, literals);
    for content in bytes.iter().filter(|content| content.hidden) {
        exclude::hide(tape, content.text, &mut edits);
    }
    Some(Entry {
        node: state,
        place,
        edits,
        bytes,
    })
}

/// The fields of a state that are bytes. They are named by their place among
/// the values that are neither arrays nor objects.
fn bytes(tape: &Tape, state: Node, listed: Node, literals: &Literals) -> Option<Vec<Content>> {
    let mut listed = tape.elements(listed).map(|pair| {
        let mut parts = tape.elements(pair);
        let (place, base64) = (parts.next()?, parts.next()?);
        let Kind::Number(place) = tape.kind(place) else {
            return None;
        };
        Some((std::str::from_utf8(place).ok()?.parse().ok()?, base64))
    });
    let mut places = Places {
        tape,
        next: 0,
        wanted: listed.next(),
        rest: &mut listed,
        literals,
        found: Vec::new(),
    };
    places.value(state)?;
    // All that is listed was there.
    places.wanted.is_none().then_some(places.found)
}

struct Places<'a, I> {
    tape: &'a Tape,
    /// The place of the next value.
    next: u64,
    /// The place and the bytes that are looked for.
    wanted: Option<Option<(u64, Node)>>,
    rest: &'a mut I,
    literals: &'a Literals,
    found: Vec<Content>,
}

impl<I: Iterator<Item = Option<(u64, Node)>>> Places<'_, I> {
    fn value(&mut self, node: Node) -> Option<()> {
        match self.tape.kind(node) {
            Kind::Object => {
                for (_, member) in self.tape.members(node) {
                    self.value(member)?;
                }
            }
            Kind::Array => {
                for element in self.tape.elements(node) {
                    self.value(element)?;
                }
            }
            kind => {
                if let Some(wanted) = self.wanted {
                    let (place, base64) = wanted?;
                    if place == self.next {
                        // Text where it is text, else nothing.
                        if !matches!(kind, Kind::Text | Kind::Null) {
                            return None;
                        }
                        let content = bytes_of(self.tape, node, base64, self.literals)?;
                        self.found.push(content);
                        self.wanted = self.rest.next();
                    }
                }
                self.next += 1;
            }
        }
        Some(())
    }
}
