//! What a target is: the facts that `open_binary` tells (binaries section 1).

use super::target::{Mapped, Target};
use crate::binary::Bytes;
use crate::binary::layout::Format;
use crate::binary::macho::Slices;
use crate::json::{WriteJson, Writer};

/// What a PE file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutableRole {
    /// `IMAGE_FILE_EXECUTABLE_IMAGE` is not set.
    NonExecutable,
    /// `IMAGE_FILE_DLL` is set.
    SharedLibrary,
    /// Neither.
    Application,
}

impl ExecutableRole {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NonExecutable => "non-executable",
            Self::SharedLibrary => "shared-library",
            Self::Application => "application",
        }
    }
}

/// A target's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The executable.
    pub path: String,
    /// What the user named.
    pub source_path: String,
    /// 64 hexadecimal digits.
    pub sha256: String,
    /// The format in subjects.
    pub format: &'static str,
    /// The contract's architecture, where it is one.
    pub architecture: Option<&'static str>,
    /// Of a universal file, those of its slices, each once, in their order.
    pub available_architectures: Vec<&'static str>,
    /// PE only.
    pub executable_role: Option<ExecutableRole>,
    /// PE only: whether it has a CLI header.
    pub managed: Option<bool>,
}

impl Identity {
    /// The identity of a target that was mapped.
    pub fn of(mapped: &Mapped<'_>) -> Self {
        let target = mapped.target;
        let layout = mapped.layout.as_ref();
        let pe = layout
            .filter(|layout| layout.format == Format::Pe)
            .and_then(|_| pe_facts(&target.file().bytes));
        Self {
            path: target.file().path.clone(),
            source_path: target.source_path().to_owned(),
            sha256: mapped.sha256.to_hex(),
            format: target.format(),
            architecture: layout.and_then(|layout| layout.architecture),
            available_architectures: slices(target),
            executable_role: pe.map(|(role, _)| role),
            managed: pe.map(|(_, managed)| managed),
        }
    }
}

/// The contract's architectures among the slices of a universal file.
fn slices(target: &Target) -> Vec<&'static str> {
    let mut found = Vec::new();
    let Ok(Slices {
        table: Some(_),
        all,
        ..
    }) = Slices::read(&target.file().bytes)
    else {
        return found;
    };
    for name in all.iter().filter_map(|slice| slice.cpu.contract()) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn pe_facts(file: &[u8]) -> Option<(ExecutableRole, bool)> {
    let bytes = Bytes::little(file);
    let header = u64::from(bytes.u32(0x3C)?);
    let characteristics = bytes.u16(header + 22)?;
    let optional = header + 24;
    let directories = match bytes.u16(optional)? {
        0x20B => optional + 112,
        _ => optional + 96,
    };
    let count = bytes.u32(directories - 4)?;
    let cli = directories + 14 * 8;
    let managed =
        count > 14 && (bytes.u32(cli).unwrap_or(0) != 0 || bytes.u32(cli + 4).unwrap_or(0) != 0);
    let role = match characteristics {
        flags if flags & 0x2 == 0 => ExecutableRole::NonExecutable,
        flags if flags & 0x2000 != 0 => ExecutableRole::SharedLibrary,
        _ => ExecutableRole::Application,
    };
    Some((role, managed))
}

impl WriteJson for Identity {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("architecture", self.architecture);
        w.member("availableArchitectures", &self.available_architectures);
        if let Some(role) = self.executable_role {
            w.member("executableRole", role.as_str());
        }
        w.member("format", self.format);
        w.member("kind", "executable");
        if let Some(managed) = self.managed {
            w.member("managed", managed);
        }
        w.member("path", &self.path);
        w.member("sha256", &self.sha256);
        w.member("sourcePath", &self.source_path);
        w.end_object();
    }
}
