//! Which rows of a list a view takes: a page of them, or one by its place or
//! name.

use super::super::rows::Rows;
use super::super::{Memory, OPERATION, View};
use super::Collection;
use crate::error::{Error, Result};
use crate::json::{Event, Issue, Object, Text, Value};

/// Names that an error about an unknown one lists.
const NAMES: usize = 32;
/// Places that an error about an ambiguous name lists.
const PLACES: usize = 1024;

/// What is asked for.
#[derive(Clone, Debug)]
enum Wanted {
    Page { offset: u64, limit: u64 },
    Index(u64),
    Name(Text),
}

/// What was found.
pub(super) enum Taken {
    Item(Value),
    Page(Rows),
}

/// Rows of one list.
pub(super) struct Selection {
    pub collection: Collection,
    wanted: Wanted,
    found: Found,
}

#[derive(Default)]
struct Found {
    rows: Rows,
    /// Whether the open row is one of the list, and its place.
    open: Option<u64>,
    /// Whether it is kept as it passes.
    keep: bool,
    /// Whether the next string is the row's name.
    at_name: bool,
    /// Whether the name passes that stands in an object of its own.
    in_name: bool,
    /// The name of the open row.
    name: Option<Vec<u8>>,
    /// The first distinct names.
    names: Vec<Text>,
    /// The first places of rows of the name, and how many there are.
    places: Vec<u64>,
    matching: u64,
}

impl Selection {
    /// `None` where no rows are asked for.
    pub fn new(view: &View) -> Option<Self> {
        let collection = Collection::named(view.word("collection"))?;
        let wanted = match view.selector() {
            Some((_, Value::String(name))) => Wanted::Name(name.clone()),
            // Checked to be a whole number up to 2^53-1.
            Some((_, Value::Number(index))) => Wanted::Index(*index as u64),
            _ => Wanted::Page {
                offset: view.offset(),
                limit: view.limit(),
            },
        };
        Some(Self {
            collection,
            wanted,
            found: Found::default(),
        })
    }

    pub fn restart(&mut self) {
        self.found = Found::default();
    }

    /// A row of a list begins.
    pub fn begin(&mut self, collection: Collection, index: u64) {
        if collection != self.collection {
            return;
        }
        let found = &mut self.found;
        found.open = Some(index);
        found.name = None;
        found.at_name = false;
        found.in_name = false;
        found.keep = match &self.wanted {
            Wanted::Page { offset, limit } => index >= *offset && index - offset < *limit,
            Wanted::Index(wanted) => index == *wanted,
            // Whether it has the name shows later; only the first is shown.
            Wanted::Name(_) => found.matching == 0,
        };
    }

    /// The next piece of the open row; `depth` containers are open.
    pub fn event(&mut self, event: Event<'_>, depth: usize, memory: &mut Memory) -> Result<()> {
        if self.found.open.is_none() {
            return Ok(());
        }
        if let Wanted::Name(_) = self.wanted {
            self.follow_name(event, depth, memory)?;
        }
        if self.found.keep {
            self.found.rows.event(event);
        }
        Ok(())
    }

    fn follow_name(&mut self, event: Event<'_>, depth: usize, memory: &mut Memory) -> Result<()> {
        let row = self.collection.row_depth();
        let found = &mut self.found;
        match event {
            Event::Key { name, .. } if depth == row => {
                found.in_name = name == b"name";
                found.at_name = found.in_name;
            }
            Event::Key { name, .. } if depth == row + 1 && found.in_name => {
                found.at_name = name == b"display";
            }
            Event::Text { part, last, .. } if found.at_name => {
                memory.charge(part.len())?;
                found
                    .name
                    .get_or_insert_with(Vec::new)
                    .extend_from_slice(part);
                found.at_name = !last;
            }
            _ => {}
        }
        Ok(())
    }

    /// The open row is complete.
    pub fn end(&mut self, memory: &mut Memory) -> Result<()> {
        let found = &mut self.found;
        let Some(index) = found.open.take() else {
            return Ok(());
        };
        let Wanted::Name(wanted) = &self.wanted else {
            if found.keep {
                found.rows.end(true);
            }
            return Ok(());
        };
        let name = found.name.take();
        let matches = name.as_deref() == Some(wanted.as_bytes());
        if found.keep {
            found.rows.end(matches);
        }
        if matches {
            found.matching += 1;
            if found.places.len() < PLACES {
                found.places.push(index);
            }
        }
        match name {
            Some(name) if found.names.len() < NAMES => {
                let new = !found.names.iter().any(|known| known.as_bytes() == name);
                if new {
                    memory.charge_string()?;
                    found.names.push(Text::from_wtf8(name));
                }
            }
            // It was charged while it came and is not kept.
            Some(name) => memory.release(name.len()),
            None => {}
        }
        Ok(())
    }

    /// The selected rows, of `total`.
    pub fn taken(self, total: u64) -> Result<Taken> {
        let found = &self.found;
        match &self.wanted {
            Wanted::Page { .. } => Ok(Taken::Page(self.found.rows)),
            Wanted::Index(index) => found.rows.values().next().map(Taken::Item).ok_or_else(|| {
                let message = format!("there is no {} {index}", self.singular());
                let last = total.saturating_sub(1);
                let index = ["view", "selector", "index"];
                Issue::new(&index, "out_of_range", message)
                    .range(0, Some(last))
                    .into_error(OPERATION)
                    .action(match total {
                        0 => format!("The record has no {}.", self.collection.name()),
                        _ => format!("The last one is {last}."),
                    })
            }),
            Wanted::Name(name) if found.matching == 1 => match found.rows.values().next() {
                Some(row) => Ok(Taken::Item(row)),
                None => Err(self.absent(name)),
            },
            Wanted::Name(name) if found.matching == 0 => Err(self.absent(name)),
            Wanted::Name(name) => Err(self.ambiguous(name)),
        }
    }

    fn singular(&self) -> &'static str {
        let name = self.collection.name();
        name.strip_suffix('s').unwrap_or(name)
    }

    fn absent(&self, name: &Text) -> Error {
        let shown = String::from_utf8_lossy(name.as_bytes());
        let message = format!("no {} has the name {shown}", self.singular());
        let known = self.found.names.iter().cloned().map(Value::String);
        let names = ["view", "selector", "name"];
        Issue::new(&names, "invalid_value", message)
            .expected(Value::Array(known.collect()))
            .into_error(OPERATION)
            .action("Give the name exactly as the record displays it; a page shows the names.")
    }

    fn ambiguous(&self, name: &Text) -> Error {
        let shown = String::from_utf8_lossy(name.as_bytes());
        let count = self.found.matching;
        let message = format!("{count} {} have the name {shown}", self.collection.name());
        let place = |&index: &u64| {
            let mut place = Object::new();
            place.insert("index", index);
            Value::Object(place)
        };
        let places = self.found.places.iter().map(place);
        let names = ["view", "selector", "name"];
        let first = match self.found.places.first() {
            Some(first) => format!("Select one by its place; the first is {first}."),
            None => "Select one by its place.".to_owned(),
        };
        Issue::new(&names, "invalid_value", message)
            .expected(Value::Array(places.collect()))
            .into_error(OPERATION)
            .action(first)
    }
}
