//! Long lists: all threads render rows, one writes them in their order.

use std::ops::Range;

use super::Writer;
use super::kept::Held;

/// Rows that a thread renders at a time.
const CHUNK: usize = 2048;
/// Bytes that the text of so many rows may have; longer ones are written by the
/// thread that writes, without being held.
const HELD: usize = 2 << 20;

/// Chunks that are rendered at once; more than so many threads only wait for
/// the hash that what is written goes into.
const AT_ONCE: usize = 8;

/// Writes a row.
type Row<'r> = &'r (dyn Fn(usize, &mut Writer<'_>) + Sync);

/// Writes an array of `count` rows. `row` writes the one at a place, and is
/// asked for them by several threads, for some perhaps twice.
pub(crate) fn write_rows(count: usize, row: Row<'_>, w: &mut Writer<'_>) {
    // A thread of the pool that waited here would begin other work meanwhile,
    // such as another file, and hold both.
    let threads = match rayon::current_thread_index() {
        Some(_) => 1,
        None => rayon::current_num_threads().min(AT_ONCE),
    };
    write_with(threads, count, row, w);
}

fn write_with(threads: usize, count: usize, row: Row<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    if count < 4 * CHUNK || threads == 1 || !w.is_canonical() {
        (0..count).for_each(|at| row(at, w));
        w.end_array();
        return;
    }
    let window = |from: usize| -> Vec<Chunk> {
        let starts = (from..count).step_by(CHUNK).take(threads);
        let chunk = |at: usize| Chunk {
            rows: at..count.min(at + CHUNK),
            text: None,
        };
        starts.map(chunk).collect()
    };
    // While a window of chunks is written, the next one is rendered.
    let mut ready = Vec::new();
    let mut next = window(0);
    while !next.is_empty() {
        rayon::in_place_scope(|scope| {
            for chunk in &mut next {
                scope.spawn(move |_| chunk.render(row));
            }
            write(&ready, row, w);
        });
        ready = next;
        next = window(ready.last().map_or(count, |chunk| chunk.rows.end));
    }
    write(&ready, row, w);
    w.end_array();
}

/// Rows that stand after each other.
struct Chunk {
    rows: Range<usize>,
    /// The elements with the commas between them, where they are not too long.
    text: Option<Vec<u8>>,
}

impl Chunk {
    fn render(&mut self, row: Row<'_>) {
        let mut held = Held::new(HELD);
        let mut w = Writer::canonical(&mut held);
        w.begin_array();
        for at in self.rows.clone() {
            if w.has_failed() {
                break;
            }
            row(at, &mut w);
        }
        w.end_array();
        if w.finish().is_ok() {
            self.text = Some(held.text);
        }
    }
}

fn write(chunks: &[Chunk], row: Row<'_>, w: &mut Writer<'_>) {
    for chunk in chunks {
        let elements = chunk.text.as_deref().and_then(|text| {
            let end = text.len().checked_sub(1)?;
            text.get(1..end)
        });
        match elements {
            Some(elements) => w.canonical_text(elements),
            None => chunk.rows.clone().for_each(|at| row(at, w)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of very different lengths.
    fn row(at: usize, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("at", at as u64);
        if at == 5007 {
            w.member("long", "é\"".repeat(HELD / 3));
        }
        w.end_object();
    }

    fn written(count: usize, indented: bool, write: &dyn Fn(&mut Writer<'_>)) -> Vec<u8> {
        let mut text = Vec::new();
        let mut w = match indented {
            true => Writer::indented(&mut text),
            false => Writer::canonical(&mut text),
        };
        w.begin_object();
        w.key("rows");
        write(&mut w);
        w.member("zcount", count as u64);
        w.end_object();
        w.finish_infallible();
        text
    }

    #[test]
    fn many_threads_write_what_one_does() {
        for threads in [2, 7] {
            for count in [0, 1, 4 * CHUNK, 10_000] {
                for indented in [false, true] {
                    let alone = written(count, indented, &|w| {
                        w.begin_array();
                        (0..count).for_each(|at| row(at, w));
                        w.end_array();
                    });
                    let together =
                        written(count, indented, &|w| write_with(threads, count, &row, w));
                    assert!(alone == together, "{count} rows, {threads} threads");
                }
            }
        }
    }
}
