//! What a configuration says of one server: its tools, and what is granted while they run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use stockade::internal::WrittenTrees;
use stockade_policy::config::{McpServer, McpTool, OnTools, Roots};
use stockade_policy::profile::HostPattern;
use stockade_report::approve::{EscalationRequest, Requested};
use stockade_report::report::{Flag, FlagGrant, PathGrant};

/// The rules for one server.
#[derive(Debug, Default)]
pub struct Rules {
    /// The tools that it has; `None` for all.
    pub allow_tools: Option<Vec<String>>,
    /// Tools that it hasn't.
    pub deny_tools: Vec<String>,
    /// What is granted while only calls of tools that have it run.
    pub tools: HashMap<String, Vec<FlagGrant>>,
    /// What the client's roots grant.
    pub roots: Option<Flag>,
    /// For tools that have changed.
    pub refuses_changed: bool,
    /// For tools that shadow another server's.
    pub refuses_shadowed: bool,
}

/// The directories that paths of a configuration begin at.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// For `~/`.
    pub home: Option<&'a Path>,
    /// For `./`.
    pub root: &'a Path,
    /// Where a link may be one that an earlier run made.
    pub trees: &'a WrittenTrees,
}

impl Places<'_> {
    /// A path of the configuration; `None` for one in a home that isn't known.
    pub fn path(&self, text: &str) -> Option<PathBuf> {
        match text.strip_prefix('~') {
            Some(rest) => Some(self.home?.join(rest.trim_start_matches('/'))),
            None if text.starts_with('/') => Some(PathBuf::from(text)),
            None => Some(self.root.join(text.strip_prefix("./").unwrap_or(""))),
        }
    }

    /// The kernel's name of a path of the configuration, as far as it exists.
    fn real(&self, text: &str) -> Option<Result<PathBuf, stockade::Error>> {
        Some(self.trees.real_path(text, &self.path(text)?))
    }
}

impl Rules {
    /// The rules that a configuration states. `usual` are those for every server that says nothing else.
    ///
    /// # Errors
    /// A link that an earlier run may have made leads a tool's path elsewhere.
    pub fn of(
        server: &McpServer,
        usual: (Option<OnTools>, Option<OnTools>),
        places: &Places<'_>,
    ) -> Result<Rules, stockade::Error> {
        let refuses = |own: Option<OnTools>, usual: Option<OnTools>| own.or(usual) == Some(OnTools::Refuse);
        let tools = server.tools.iter();
        let tools = tools.map(|tool| Ok((tool.name.clone(), grants(tool, places)?)));
        Ok(Rules {
            allow_tools: server.allow_tools.clone(),
            deny_tools: server.deny_tools.clone(),
            tools: tools.collect::<Result<_, stockade::Error>>()?,
            roots: match server.roots {
                Some(Roots::Read) => Some(Flag::Read),
                Some(Roots::Write) => Some(Flag::Write),
                Some(Roots::Nothing) | None => None,
            },
            refuses_changed: refuses(server.on_changed_tools, usual.0),
            refuses_shadowed: refuses(server.on_shadowed_tools, usual.1),
        })
    }

    /// Whether the server has this tool.
    pub fn has(&self, tool: &str) -> bool {
        let is_allowed = self
            .allow_tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|known| known == tool));
        is_allowed && !self.deny_tools.iter().any(|known| known == tool)
    }

    /// The tools that the configuration names.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let lists = self.allow_tools.iter().flatten().chain(&self.deny_tools);
        lists.chain(self.tools.keys()).map(String::as_str)
    }

    /// Whether calls of all these tools, and at least one, have what is requested.
    pub fn grant<'t>(&self, mut running: impl Iterator<Item = &'t str>, requested: &[FlagGrant]) -> bool {
        let has = |tool: &str| {
            let grants = self.tools.get(tool);
            grants.is_some_and(|grants| cover(grants, requested))
        };
        let Some(first) = running.next() else {
            return false;
        };
        has(first) && running.all(has)
    }
}

/// Whether grants cover all that is requested, and that is something.
pub fn cover(grants: &[FlagGrant], requested: &[FlagGrant]) -> bool {
    !requested.is_empty()
        && requested
            .iter()
            .all(|wanted| grants.iter().any(|grant| grant.covers(wanted)))
}

fn grants(tool: &McpTool, places: &Places<'_>) -> Result<Vec<FlagGrant>, stockade::Error> {
    let paths = |flag: Flag, texts: &[String]| -> Result<Vec<FlagGrant>, stockade::Error> {
        let paths = texts.iter().filter_map(|text| places.real(text));
        paths
            .map(|path| Ok(FlagGrant::Path(PathGrant { flag, path: path? })))
            .collect()
    };
    let mut grants = paths(Flag::Read, &tool.read)?;
    grants.extend(paths(Flag::Write, &tool.write)?);
    grants.extend(tool.host.iter().cloned().map(FlagGrant::Host));
    grants.extend(tool.listen.iter().copied().map(FlagGrant::Listen));
    Ok(grants)
}

/// What a question of the run asks for; empty if it isn't only files, hosts and ports.
pub fn requested(request: &EscalationRequest) -> Vec<FlagGrant> {
    let Requested::Grants(grants) = &request.requested else {
        return Vec::new();
    };
    let read: Option<Vec<FlagGrant>> = grants.iter().map(|words| flag_grant(words)).collect();
    let mut read = read.unwrap_or_default();
    // A question about an address of localhost offers the name, which is both: the access is of the one alone.
    if let [FlagGrant::Host(host)] = &mut read[..]
        && let Ok(address) = HostPattern::parse(&request.evidence.target)
        && address.clone().localhost_for_its_addresses() == *host
    {
        *host = address;
    }
    read
}

fn flag_grant(words: &[String]) -> Option<FlagGrant> {
    let [flag, value] = words else {
        return None;
    };
    let path = |flag: Flag| {
        let path = PathBuf::from(value);
        let is_plain = path.is_absolute() && path.components().all(|part| part != std::path::Component::ParentDir);
        is_plain.then_some(FlagGrant::Path(PathGrant { flag, path }))
    };
    match flag.as_str() {
        "--read" => path(Flag::Read),
        "--write" => path(Flag::Write),
        "--host" => HostPattern::parse(value).ok().map(FlagGrant::Host),
        "--listen" => value.parse().ok().map(FlagGrant::Listen),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> FlagGrant {
        FlagGrant::Path(PathGrant {
            flag: Flag::Read,
            path: path.into(),
        })
    }

    fn rules() -> Rules {
        let tools = [
            ("a", vec![read("/srv/a")]),
            ("both", vec![read("/srv/a"), read("/srv/b")]),
            ("none", vec![]),
        ];
        Rules {
            tools: tools
                .into_iter()
                .map(|(name, grants)| (name.to_owned(), grants))
                .collect(),
            ..Rules::default()
        }
    }

    #[test]
    fn a_tools_grants_hold_while_only_calls_of_tools_that_have_them_run() {
        let rules = rules();
        let grant = |running: &[&str], path: &str| rules.grant(running.iter().copied(), &[read(path)]);
        assert!(grant(&["a"], "/srv/a/x") && grant(&["a", "both"], "/srv/a") && grant(&["both"], "/srv/b/c"));
        assert!(!grant(&["a"], "/srv/b"));
        assert!(!grant(&["a", "none"], "/srv/a") && !grant(&["a", "unknown"], "/srv/a") && !grant(&[], "/srv/a"));
    }

    #[test]
    fn paths_are_compared_by_component_and_what_is_no_grant_is_nothing() {
        let rules = rules();
        let grant = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            rules.grant(["a"].into_iter(), &flag_grant(&words).into_iter().collect::<Vec<_>>())
        };
        assert!(grant(&["--read", "/srv/a/b"]));
        for words in [
            &["--read", "/srv/ab"][..],
            &["--write", "/srv/a"],
            &["--read", "/srv/a/../b"],
            &["--read", "srv/a"],
            &["--exec", "/srv/a"],
            &["--read"],
            &["--profile", "trusted"],
        ] {
            assert!(!grant(words), "{words:?}");
        }
    }

    #[test]
    fn a_tool_is_there_if_it_is_allowed_and_not_denied() {
        let rules = Rules {
            allow_tools: Some(vec!["a".into(), "b".into()]),
            deny_tools: vec!["b".into()],
            ..Rules::default()
        };
        assert!(rules.has("a") && !rules.has("b") && !rules.has("c") && !rules.has("A"));
        assert!(Rules::default().has("x"));
    }
}
