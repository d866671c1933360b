//! The access that a script needs: files and hosts, the two dimensions that order the shipped profiles.

/// The needed access in both dimensions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Need {
    pub(crate) files: Files,
    pub(crate) hosts: Hosts,
    /// Whether it writes below its root, outside of `/tmp`. Of the six profiles of inference only `trusted` allows this.
    pub(crate) writes_root: bool,
}

/// The shipped profile, not one of the six, that lets a run write its root.
const WRITES_ROOT: &str = "workspace";

/// The needed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Files {
    #[default]
    /// None.
    None,
    /// The run's data.
    Data,
    /// All files below the root.
    Root,
    /// Named files elsewhere.
    Limited,
    /// Any.
    All,
}

/// The needed network hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Hosts {
    #[default]
    /// None.
    None,
    /// Hosts that the script names.
    Named,
    /// Any.
    Any,
}

impl Need {
    /// A need for these files only.
    pub fn files(files: Files) -> Need {
        Need {
            files,
            ..Need::default()
        }
    }

    /// A need for these hosts only.
    pub fn hosts(hosts: Hosts) -> Need {
        Need {
            hosts,
            ..Need::default()
        }
    }

    /// A need to write below the root.
    pub fn writes_root() -> Need {
        Need {
            writes_root: true,
            ..Need::default()
        }
    }

    /// The union of both needs.
    pub fn and(self, other: Need) -> Need {
        Need {
            files: self.files.max(other.files),
            hosts: self.hosts.max(other.hosts),
            writes_root: self.writes_root || other.writes_root,
        }
    }

    /// The least shipped profile that covers the need.
    pub fn shipped(self) -> &'static str {
        match self.files <= Files::Root && self.hosts == Hosts::None && self.writes_root {
            true => WRITES_ROOT,
            false => self.profile(),
        }
    }

    /// The least of the six profiles that covers the need.
    pub(crate) fn profile(self) -> &'static str {
        match (self.files, self.hosts) {
            _ if self.writes_root => "trusted",
            (Files::All, _) => "trusted",
            (Files::Limited, _) | (_, Hosts::Any) => "mcp-standard",
            (Files::None, Hosts::Named) => "network-api",
            (_, Hosts::Named) => "mcp-standard",
            (Files::Root, Hosts::None) => "filesystem",
            (Files::Data, Hosts::None) => "readonly",
            (Files::None, Hosts::None) => "minimal",
        }
    }

    pub(crate) fn without_hosts(self) -> Need {
        Need {
            hosts: Hosts::None,
            ..self
        }
    }

    /// The same without hosts whose profile would also grant all files, and without unlimited hosts.
    pub(crate) fn without_all_hosts(self) -> Need {
        let hosts = match (self.files, self.hosts) {
            (Files::None, Hosts::Named) if !self.writes_root => Hosts::Named,
            _ => Hosts::None,
        };
        Need { hosts, ..self }
    }

    pub(crate) fn is_nothing(self) -> bool {
        self.files == Files::None && self.hosts == Hosts::None && !self.writes_root
    }
}
