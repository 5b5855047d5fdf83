//! Rows of a parent as they stand in it: kept as canonical text, one after the
//! other, and written again byte for byte.

use crate::json::{Event, Limits, Reader, Suspended, Value, WriteJson, Writer};

/// Selected rows.
#[derive(Default)]
pub(super) struct Rows {
    text: Vec<u8>,
    count: u64,
    /// Where the text of the row that is open starts.
    start: usize,
    writing: Suspended,
}

impl Rows {
    /// The next piece of the open row.
    pub fn event(&mut self, event: Event<'_>) {
        let mut writer = Writer::resume(&mut self.text, std::mem::take(&mut self.writing));
        writer.event(event);
        self.writing = writer.suspend();
    }

    /// The open row is complete, and is kept or not.
    pub fn end(&mut self, keep: bool) {
        self.writing = Suspended::default();
        if keep {
            self.text.push(b'\n');
            self.start = self.text.len();
            self.count += 1;
        } else {
            self.text.truncate(self.start);
        }
    }

    /// How many rows are kept.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// The rows one by one, for reports.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        self.text
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .filter_map(|line| Value::parse(line, Limits::default()).ok())
    }
}

/// An array of the rows.
impl WriteJson for Rows {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        let mut reader = Reader::new(self.text.as_slice(), Limits::default());
        // The text is our own writer's, so that nothing here can fail.
        while let Ok(true) = reader.more() {
            while let Ok(event) = reader.next_event() {
                w.event(event);
                if reader.is_between() {
                    break;
                }
            }
        }
        w.end_array();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_as_they_were() {
        let texts: [&[u8]; 3] = [
            br#"{"a":[1,"\u0001\ud800 \" \n"],"b":{}}"#,
            br#"{"a":null}"#,
            "{\"a\":\"\u{1F600}\",\"c\":[[],1e-7,true]}".as_bytes(),
        ];
        let mut rows = Rows::default();
        for (at, text) in texts.iter().enumerate() {
            let mut reader = Reader::new(*text, Limits::default());
            loop {
                rows.event(reader.next_event().unwrap());
                if reader.is_between() {
                    break;
                }
            }
            rows.end(at != 1);
        }
        let expected = [b"[", texts[0], b",", texts[2], b"]"].concat();
        assert_eq!(crate::json::canonical(&rows), expected);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows.values().count(), 2);
    }
}
