//! The parts of records that can be selected.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A list of an inventory, or of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Collection {
    /// Of an inventory: distinct contents
    Nodes,
    /// Of an inventory: entries, by path
    Occurrences,
    /// Of an inventory: which content holds which entry
    Edges,
    /// Of an inventory: bytes that are not those that their container declares
    IntegrityContradictions,
    /// Of a layout
    Sections,
    /// Of a layout
    Segments,
    /// Of a layout
    Symbols,
    /// Of a layout
    Relocations,
    /// Of a layout: what it asks for
    Imports,
    /// Of a layout: what it offers
    Exports,
}

/// A part of a module's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Facet {
    /// Sections with their ranges
    Sections,
    /// Import forms
    Imports,
    /// Export forms
    Exports,
    /// Files that scripts may mean
    Candidates,
    /// Scripts and their references
    Glue,
    /// The text form
    Wat,
    /// A line for each section
    Headers,
    /// A line for each thing in the sections
    Details,
    /// What read the module, and its limits
    ToolProfile,
}

/// A list of a Mach-O file's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum MachoFacet {
    /// Where the program starts
    Entrypoints,
    /// Slices of the file
    Architectures,
    /// Platforms and tools that it was built for and with
    BuildMetadata,
    /// Load commands with their fields
    LoadCommands,
    /// Libraries that it loads
    Dependencies,
    /// What it asks for
    Imports,
    /// What it offers
    Exports,
    /// Segments with their sections
    Segments,
    /// Tools that were run: none
    Provenance,
}

impl Collection {
    /// Whether it is a list of a layout.
    pub fn of_layout(self) -> bool {
        !matches!(
            self,
            Self::Nodes | Self::Occurrences | Self::Edges | Self::IntegrityContradictions
        )
    }

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Segments => "segments",
            Self::Symbols => "symbols",
            Self::Relocations => "relocations",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Nodes => "nodes",
            Self::Occurrences => "occurrences",
            Self::Edges => "edges",
            Self::IntegrityContradictions => "integrity_contradictions",
        }
    }
}

impl Facet {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Candidates => "candidates",
            Self::Glue => "glue",
            Self::Wat => "wat",
            Self::Headers => "headers",
            Self::Details => "details",
            Self::ToolProfile => "tool_profile",
        }
    }
}

impl MachoFacet {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entrypoints => "entrypoints",
            Self::Architectures => "architectures",
            Self::BuildMetadata => "build_metadata",
            Self::LoadCommands => "load_commands",
            Self::Dependencies => "dependencies",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Segments => "segments",
            Self::Provenance => "provenance",
        }
    }
}
