//! Work on ranges of a file that several structures may name: each range
//! once, and no more bytes in all than a few times the file, whatever the
//! structures ask for.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Bytes;
use super::layout::rows::Range;

/// What `work` finds in each of `ranges`, by range and in parallel. A range
/// that the file has not all of is not in the map; one that did not fit
/// (ranges that overlap again and again) has `None`, as one that `work` gives
/// up on.
pub(super) fn each<T: Send>(
    file: &[u8],
    ranges: impl IntoIterator<Item = Range>,
    work: impl Fn(&[u8]) -> Option<T> + Sync,
) -> BTreeMap<Range, Option<T>> {
    let bytes = Bytes::little(file);
    let mut budget = bytes.len().saturating_mul(4).saturating_add(1 << 20);
    let mut found = BTreeMap::new();
    let mut fitting = Vec::new();
    for range in ranges {
        if found.contains_key(&range) || bytes.get(range.offset, range.bytes).is_none() {
            continue;
        }
        found.insert(range, None);
        if let Some(left) = budget.checked_sub(range.bytes) {
            budget = left;
            fitting.push(range);
        }
    }
    let done: Vec<(Range, T)> = fitting
        .into_par_iter()
        .filter_map(|range| Some((range, work(bytes.get(range.offset, range.bytes)?)?)))
        .collect();
    for (range, one) in done {
        found.insert(range, Some(one));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_worked_on_once_and_within_the_budget() {
        let file = vec![7u8; 1 << 20];
        let range = |offset, bytes| Range { offset, bytes };
        let calls = std::sync::atomic::AtomicU64::new(0);
        let mut asked = vec![range(0, 3), range(0, 3), range(1 << 20, 1)];
        asked.extend((0..100).map(|at| range(at, (1 << 20) - 200)));
        let found = each(&file, asked, |bytes| {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Some(bytes.len())
        });
        assert_eq!(found.get(&range(0, 3)), Some(&Some(3)));
        assert_eq!(found.get(&range(1 << 20, 1)), None);
        assert_eq!(found.len(), 101);
        // Four times the file and a mebibyte.
        assert_eq!(calls.into_inner(), 6);
        assert_eq!(found.values().filter(|one| one.is_some()).count(), 6);
    }
}
