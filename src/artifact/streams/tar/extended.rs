//! What extension headers say about the next member: pax records and GNU's
//! long names.

use crate::artifact::containers::{Damage, Fault};

/// Values that stand in for those of a header.
#[derive(Clone, Debug, Default)]
pub(super) struct Extended {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    /// `GNU.sparse.name`
    sparse_name: Option<Vec<u8>>,
    /// `GNU.sparse.realsize` or `GNU.sparse.size`
    pub sparse_size: Option<u64>,
    /// `GNU.sparse.major` and `GNU.sparse.minor`
    pub sparse_version: Option<(u64, u64)>,
    /// `GNU.sparse.map` (0.1)
    pub sparse_map: Option<Vec<u8>>,
    /// `GNU.sparse.offset` and `GNU.sparse.numbytes` (0.0), in order.
    pub sparse_pairs: Vec<u64>,
}

impl Extended {
    pub fn name(&self) -> Option<&[u8]> {
        self.sparse_name.as_deref().or(self.name.as_deref())
    }

    pub fn link(&self) -> Option<&[u8]> {
        self.link.as_deref()
    }

    pub fn size(&self) -> Option<u64> {
        self.size
    }

    pub fn is_sparse(&self) -> bool {
        self.sparse_version.is_some() || self.sparse_map.is_some() || !self.sparse_pairs.is_empty()
    }

    /// GNU `L`: ends with NUL.
    pub fn set_name(&mut self, mut data: Vec<u8>) {
        data.truncate(memchr::memchr(0, &data).unwrap_or(data.len()));
        self.name = Some(data);
    }

    /// GNU `K`
    pub fn set_link(&mut self, mut data: Vec<u8>) {
        data.truncate(memchr::memchr(0, &data).unwrap_or(data.len()));
        self.link = Some(data);
    }

    /// These values, and those of the global header where there are none.
    pub fn over(mut self, global: &Self) -> Self {
        self.name = self.name.or_else(|| global.name.clone());
        self.link = self.link.or_else(|| global.link.clone());
        self.size = self.size.or(global.size);
        self
    }

    /// Records `LENGTH KEY=VALUE\n`.
    pub fn read_pax(&mut self, mut data: &[u8], at: u64) -> Result<(), Fault> {
        let damage = || Fault::from(Damage::format(at, "a pax header is malformed"));
        let mut version = (None, None);
        while !data.is_empty() {
            if data.iter().all(|&byte| byte == 0) {
                break;
            }
            let space = memchr::memchr(b' ', data).ok_or_else(damage)?;
            let length = decimal(&data[..space]).ok_or_else(damage)?;
            let length = usize::try_from(length).map_err(|_| damage())?;
            let record = data.get(space + 1..length).ok_or_else(damage)?;
            let record = record.strip_suffix(b"\n").ok_or_else(damage)?;
            let equals = memchr::memchr(b'=', record).ok_or_else(damage)?;
            let (key, value) = (&record[..equals], &record[equals + 1..]);
            self.set(key, value, &mut version).ok_or_else(damage)?;
            data = &data[length..];
        }
        if let (Some(major), minor) = version {
            self.sparse_version = Some((major, minor.unwrap_or(0)));
        }
        Ok(())
    }

    fn set(
        &mut self,
        key: &[u8],
        value: &[u8],
        version: &mut (Option<u64>, Option<u64>),
    ) -> Option<()> {
        let text = || (!value.is_empty()).then(|| value.to_vec());
        match key {
            b"path" => self.name = text(),
            b"linkpath" => self.link = text(),
            b"size" => self.size = Some(decimal(value).filter(|&size| size < 1 << 63)?),
            b"GNU.sparse.name" => self.sparse_name = text(),
            b"GNU.sparse.realsize" | b"GNU.sparse.size" => self.sparse_size = Some(decimal(value)?),
            b"GNU.sparse.major" => version.0 = Some(decimal(value)?),
            b"GNU.sparse.minor" => version.1 = Some(decimal(value)?),
            b"GNU.sparse.map" => self.sparse_map = Some(value.to_vec()),
            b"GNU.sparse.offset" | b"GNU.sparse.numbytes" => {
                // Offsets and lengths alternate.
                let is_offset = key.ends_with(b"offset");
                if is_offset != self.sparse_pairs.len().is_multiple_of(2) {
                    return None;
                }
                self.sparse_pairs.push(decimal(value)?);
            }
            _ => {}
        }
        Some(())
    }
}

/// Decimal digits, nothing else.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
