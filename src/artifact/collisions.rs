//! Paths that differ only by case, as a case-insensitive destination sees
//! them (contract 4.3). A diagnostic: both are read and listed.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::limitation::Limitation;

/// One path segment that first appears in a row (in segment order).
struct Node<'a> {
    /// Number of segments above it.
    depth: usize,
    /// Identifies the exact path above it.
    parent: u64,
    segment: &'a str,
    /// End of the segment in the path.
    end: usize,
}

impl Node<'_> {
    /// Equal for segments that differ only by case below the same parent.
    fn key(&self) -> u64 {
        hash(self.parent, &lower(self.segment))
    }
}

fn lower(segment: &str) -> String {
    if segment.is_ascii() {
        segment.to_ascii_lowercase()
    } else {
        segment.to_lowercase()
    }
}

fn hash(parent: u64, segment: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (parent, segment).hash(&mut hasher);
    hasher.finish()
}

/// Walks the tree of path segments; `visit` sees each segment once, with the
/// index of the first path that has it.
fn walk<'a>(paths: impl Iterator<Item = &'a str>, mut visit: impl FnMut(usize, Node<'a>)) {
    // (segment, hash of the path up to and with it)
    let mut above: Vec<(&str, u64)> = Vec::new();
    for (index, path) in paths.enumerate() {
        let mut end = 0;
        let mut is_new = false;
        let mut depth = 0;
        for segment in path.split('/') {
            end += segment.len();
            is_new = is_new || above.get(depth).is_none_or(|&(known, _)| known != segment);
            if is_new {
                above.truncate(depth);
                let parent = above.last().map_or(0, |&(_, hash)| hash);
                visit(
                    index,
                    Node {
                        depth,
                        parent,
                        segment,
                        end,
                    },
                );
                above.push((segment, hash(parent, segment)));
            }
            depth += 1;
            end += 1;
        }
        above.truncate(depth);
    }
}

/// Limitations for paths given in segment order: the position of the path and
/// what is to be said of it. The second result counts colliding paths.
pub(crate) fn find<'a>(
    paths: impl Iterator<Item = &'a str> + Clone,
) -> (Vec<(usize, Limitation)>, usize) {
    let mut keys = Vec::with_capacity(paths.size_hint().0);
    walk(paths.clone(), |_, node| keys.push(node.key()));
    keys.sort_unstable();
    let repeated: HashSet<u64> = keys
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    if repeated.is_empty() {
        return (Vec::new(), 0);
    }
    drop(keys);
    let mut spellings: HashMap<(u64, String), Vec<&str>> = HashMap::new();
    walk(paths.clone(), |_, node| {
        if repeated.contains(&node.key()) {
            spellings
                .entry((node.parent, lower(node.segment)))
                .or_default()
                .push(node.segment);
        }
    });
    spellings.retain(|_, segments| segments.len() > 1);
    describe(paths, &spellings)
}

fn describe<'a>(
    paths: impl Iterator<Item = &'a str> + Clone,
    spellings: &HashMap<(u64, String), Vec<&'a str>>,
) -> (Vec<(usize, Limitation)>, usize) {
    let texts: Vec<&str> = paths.clone().collect();
    let mut found = Vec::new();
    let mut colliding = 0;
    // The outermost colliding folder above: its depth, itself and its twin.
    let mut inside: Option<(usize, String, String)> = None;
    let mut last = usize::MAX;
    walk(paths, |index, node| {
        if last != index {
            last = index;
            if let Some((depth, folder, twin)) = &inside {
                if node.depth > *depth && super::names::is_below(texts[index], folder) {
                    let text = format!(
                        "Its folder {folder} differs only by case from {twin}; \
                         a case-insensitive destination would merge them."
                    );
                    found.push((index, Limitation::new(3, text)));
                } else {
                    inside = None;
                }
            }
        }
        if inside.is_some() {
            return;
        }
        let Some(segments) = spellings.get(&(node.parent, lower(node.segment))) else {
            return;
        };
        let path = &texts[index][..node.end];
        let above = &path[..path.len() - node.segment.len()];
        let others: Vec<&str> = segments
            .iter()
            .copied()
            .filter(|&segment| segment != node.segment)
            .collect();
        let Some(first) = others.iter().min() else {
            return;
        };
        let twin = format!("{above}{first}");
        if texts[index].len() == node.end {
            colliding += 1;
            let text = match others.len() - 1 {
                0 => format!("Its path differs only by case from {twin}."),
                more => format!("Its path differs only by case from {twin} and {more} more."),
            };
            found.push((index, Limitation::new(3, text)));
        } else {
            let text = format!(
                "Its folder {path} differs only by case from {twin}; \
                 a case-insensitive destination would merge them."
            );
            found.push((index, Limitation::new(3, text)));
        }
        inside = Some((node.depth, path.to_owned(), twin));
    });
    (found, colliding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(paths: &[&str]) -> Vec<(usize, String)> {
        let (found, _) = find(paths.iter().copied());
        found
            .into_iter()
            .map(|(index, limitation)| (index, limitation.text.into_owned()))
            .collect()
    }

    #[test]
    fn files_and_folders_that_differ_by_case() {
        assert!(said(&["a", "a/b", "a/c", "b"]).is_empty());
        let paths = ["Main.js", "lib", "lib/x", "Lib", "Lib/X", "main.js"];
        let found = said(&paths);
        assert_eq!(
            found[0],
            (0, "Its path differs only by case from main.js.".into())
        );
        assert_eq!(found[1].0, 1);
        assert!(
            found[2]
                .1
                .starts_with("Its folder lib differs only by case from Lib;")
        );
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn implied_folders_and_three_spellings() {
        let found = said(&["A/x", "a/y"]);
        assert_eq!(found.len(), 2);
        assert!(found[0].1.contains("folder A differs only by case from a"));
        let found = said(&["AB", "Ab", "ab"]);
        assert_eq!(
            found[0].1,
            "Its path differs only by case from Ab and 1 more."
        );
    }
}
