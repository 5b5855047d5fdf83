//! The top-level `import` and `export` forms of the text, exactly as the
//! printer writes them, without printing the rest.

use std::io;

use wasmprinter::{Config, Print};

use super::limits::{INDIRECT, MAX_FORMS, MAX_PRINTED_NAMES, count_imports, count_names};
use super::walk::{Kind, Unit, id, slice};

/// Text that is printed on the way to the forms: types with long names come
/// to any length.
const MAX_PRINTED: usize = 8 * MAX_FORMS;

/// The forms, in the text's order.
#[derive(Debug, Default)]
pub struct Forms {
    text: String,
    imports: Vec<(usize, usize)>,
    exports: Vec<(usize, usize)>,
}

impl Forms {
    /// Each `(import ...)`.
    pub fn imports(&self) -> impl Iterator<Item = &str> {
        self.imports
            .iter()
            .filter_map(|&(from, to)| self.text.get(from..to))
    }

    /// Each `(export ...)`.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        self.exports
            .iter()
            .filter_map(|&(from, to)| self.text.get(from..to))
    }
}

/// Why there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoForms {
    /// They come to more than [`MAX_FORMS`].
    TooLong,
    /// The name section gives more names than the printer may keep.
    TooManyNames,
    /// The printer has no text for it.
    NotPrintable,
}

impl NoForms {
    /// The reason, in words.
    pub fn reason(self) -> String {
        match self {
            Self::TooLong => format!("they come to more than {MAX_FORMS} bytes"),
            Self::TooManyNames => {
                format!("the file gives more than {MAX_PRINTED_NAMES} names")
            }
            Self::NotPrintable => "the printer has no text for this file".to_owned(),
        }
    }
}

/// Prints the forms of a valid module or component.
pub fn forms(root: &Unit<'_>) -> Result<Forms, NoForms> {
    let mut capture = Capture::default();
    let mut config = Config::new();
    config.print_skeleton(true);
    let printed = match root.kind {
        Kind::Module => {
            let interface = interface(root).ok_or(NoForms::TooManyNames)?;
            config.print(&interface, &mut capture)
        }
        Kind::Component => {
            if count_names(root) > MAX_PRINTED_NAMES {
                return Err(NoForms::TooManyNames);
            }
            config.print(root.file, &mut capture)
        }
    };
    match printed {
        Ok(()) => Ok(capture.finish()),
        Err(_) if capture.full => Err(NoForms::TooLong),
        Err(_) => Err(NoForms::NotPrintable),
    }
}

/// The module without functions, code and data, and with those names alone that can
/// stand in an import or export: the printer keeps all names in memory.
fn interface(root: &Unit<'_>) -> Option<Vec<u8>> {
    const KEPT: [u8; 7] = [
        id::TYPE,
        id::IMPORT,
        id::TABLE,
        id::MEMORY,
        id::GLOBAL,
        id::EXPORT,
        id::TAG,
    ];
    let mut module = root.file.get(..8)?.to_vec();
    let mut push = |id: u8, parts: &[&[u8]]| {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        module.push(id);
        leb(length, &mut module);
        parts.iter().for_each(|part| module.extend_from_slice(part));
    };
    let imports = count_imports(root);
    let mut names = 0u64;
    for section in &root.sections {
        if KEPT.contains(&section.id) {
            push(section.id, &[root.payload(section)]);
        }
    }
    for (_, name, mut reader) in root.customs() {
        if name != "name" {
            continue;
        }
        let mut kept = Vec::new();
        while !reader.eof() {
            let (Ok(id), Ok(body)) = (reader.read_u8(), reader.read_reader()) else {
                break;
            };
            let payload = slice(root.file, body.range().start, body.range().end)?;
            match id {
                // Locals, of imported functions only; labels are in bodies.
                2 => {
                    let locals = locals_of_imports(payload, imports);
                    names += locals.len() as u64 / 2;
                    subsection(id, &locals, &mut kept);
                }
                3 => {}
                // The module's own name is not in the forms, but names are
                // told apart in the order in which they come.
                _ => {
                    let mut body = body;
                    let count = u64::from(body.read_var_u32().unwrap_or(0));
                    let most = payload.len() as u64 / 2;
                    names += match INDIRECT.contains(&id) {
                        true => most,
                        false => count.min(most),
                    };
                    subsection(id, payload, &mut kept);
                }
            }
        }
        push(id::CUSTOM, &[b"\x04name", &kept]);
    }
    (names <= MAX_PRINTED_NAMES).then_some(module)
}

fn subsection(id: u8, payload: &[u8], into: &mut Vec<u8>) {
    into.push(id);
    leb(payload.len(), into);
    into.extend_from_slice(payload);
}

/// The start of an indirect name map, as far as it is about functions that are
/// imported: they have the lowest numbers, and entries are in order.
fn locals_of_imports(payload: &[u8], imports: u64) -> Vec<u8> {
    let mut reader = wasmparser::BinaryReader::new(payload, 0);
    let mut kept = 0usize;
    let mut ends = reader.current_position();
    let from = match reader.read_var_u32() {
        Ok(_) => reader.current_position(),
        Err(_) => return vec![0],
    };
    while let Ok(function) = reader.read_var_u32() {
        if u64::from(function) >= imports {
            break;
        }
        let Ok(count) = reader.read_var_u32() else {
            break;
        };
        let whole = (0..count)
            .all(|_| reader.read_var_u32().is_ok() && reader.read_unlimited_string().is_ok());
        if !whole {
            break;
        }
        kept += 1;
        ends = reader.current_position();
    }
    let mut out = Vec::new();
    leb(kept, &mut out);
    if kept > 0 {
        out.extend_from_slice(payload.get(from..ends).unwrap_or_default());
    }
    out
}

fn leb(mut value: usize, into: &mut Vec<u8>) {
    loop {
        let byte = (value & 0x7F) as u8;
        value >>= 7;
        if value == 0 {
            into.push(byte);
            return;
        }
        into.push(byte | 0x80);
    }
}

/// Takes the printed text line by line and keeps the forms.
#[derive(Default)]
struct Capture {
    kept: Forms,
    /// The line that is being written.
    line: String,
    /// The list and the start of the form that is open.
    open: Option<(List, usize)>,
    /// Bytes that were printed, kept or not.
    printed: usize,
    full: bool,
}

#[derive(Clone, Copy)]
enum List {
    Imports,
    Exports,
}

impl Capture {
    /// Forms of the top level are indented by two spaces, what is inside them
    /// by more.
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let inside = line.starts_with("   ") || line == "  )" || line.starts_with("  ))");
        if let (Some(_), true) = (self.open, inside) {
            self.kept.text.push('\n');
            self.kept.text.push_str(line.get(2..).unwrap_or_default());
            return;
        }
        self.close();
        let Some(form) = line.strip_prefix("  ") else {
            return;
        };
        let list = match form {
            _ if form.starts_with("(import ") => List::Imports,
            _ if form.starts_with("(export ") => List::Exports,
            _ => return,
        };
        self.open = Some((list, self.kept.text.len()));
        self.kept.text.push_str(form);
    }

    fn close(&mut self) {
        let to = self.kept.text.len();
        match self.open.take() {
            Some((List::Imports, from)) => self.kept.imports.push((from, to)),
            Some((List::Exports, from)) => self.kept.exports.push((from, to)),
            None => {}
        }
    }

    fn finish(mut self) -> Forms {
        self.end_line();
        self.close();
        self.kept
    }
}

impl Print for Capture {
    fn write_str(&mut self, text: &str) -> io::Result<()> {
        self.printed = self.printed.saturating_add(text.len());
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            self.line.push_str(line);
            self.end_line();
            rest = after;
        }
        self.line.push_str(rest);
        let kept = self.kept.text.len().saturating_add(self.line.len());
        if kept > MAX_FORMS || self.printed > MAX_PRINTED {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(())
    }

    /// Custom sections are no forms.
    fn print_custom_section(&mut self, _: &str, _: u64, _: &[u8]) -> io::Result<bool> {
        Ok(true)
    }
}
