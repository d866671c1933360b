//! The part of a profile that is needed: files and hosts, along the shipped profiles' two ways up.

/// What is needed of a profile, along its two ways up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Need {
    pub(crate) files: Files,
    pub(crate) hosts: Hosts,
    /// Whether it writes below its root, outside of `/tmp`. Of the six profiles of inference only `trusted` lets it.
    pub(crate) writes_root: bool,
}

/// The shipped profile that lets a run write its root, and isn't one of the six.
const WRITES_ROOT: &str = "workspace";

/// What is needed of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Files {
    #[default]
    /// None.
    None,
    /// The run's data.
    Data,
    /// All below the root.
    Root,
    /// Named ones elsewhere.
    Limited,
    /// Any.
    All,
}

/// What is needed of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Hosts {
    #[default]
    /// None.
    None,
    /// Those with a name in the script.
    Named,
    /// Any.
    Any,
}

impl Need {
    /// These files, and nothing else.
    pub fn files(files: Files) -> Need {
        Need {
            files,
            ..Need::default()
        }
    }

    /// These hosts, and nothing else.
    pub fn hosts(hosts: Hosts) -> Need {
        Need {
            hosts,
            ..Need::default()
        }
    }

    /// Writing below the root.
    pub fn writes_root() -> Need {
        Need {
            writes_root: true,
            ..Need::default()
        }
    }

    /// Both.
    pub fn and(self, other: Need) -> Need {
        Need {
            files: self.files.max(other.files),
            hosts: self.hosts.max(other.hosts),
            writes_root: self.writes_root || other.writes_root,
        }
    }

    /// The least of all shipped profiles.
    pub fn shipped(self) -> &'static str {
        match self.files <= Files::Root && self.hosts == Hosts::None && self.writes_root {
            true => WRITES_ROOT,
            false => self.profile(),
        }
    }

    /// The least of the six.
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

    /// The same without hosts that would come with all files, or without end.
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
