//! Where the members of an inventory are, for a second walk: which entry of
//! which container each row is, and how the containers are opened.

use std::collections::HashMap;

use super::engine::Candidate;

/// The root container.
pub(super) const ROOT: u32 = 0;

/// A container that was expanded.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedContainer {
    /// The container around it and its entry there; `None` for the root.
    pub parent: Option<(u32, u32)>,
    /// How it is opened; `None` for the root.
    pub candidate: Option<Candidate>,
}

/// A row of the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedMember {
    /// Where its path starts in the arena, which tells the row.
    pub path: u32,
    pub container: u32,
    pub index: u32,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Plan {
    pub containers: Vec<PlannedContainer>,
    pub members: Vec<PlannedMember>,
    /// Members whose bytes stand beside their archive: the path of those.
    pub elsewhere: HashMap<String, String>,
}

impl Plan {
    /// The root container, and nothing in it yet.
    pub fn new() -> Self {
        Self {
            containers: vec![PlannedContainer {
                parent: None,
                candidate: None,
            }],
            members: Vec::new(),
            elsewhere: HashMap::new(),
        }
    }

    /// Adds a nested container; its number.
    pub fn add_container(&mut self, parent: (u32, u32), candidate: Option<Candidate>) -> u32 {
        self.containers.push(PlannedContainer {
            parent: Some(parent),
            candidate,
        });
        self.containers.len() as u32 - 1
    }
}
