//! Decides on paths and hosts as the policy of an agent's runs would, before anything runs.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Component, Path, PathBuf};

pub use super::answer::{Answer, Danger, Decision};
use super::request::Action;
use stockade_policy::policy::{
    self, Access, Capabilities, Closed, GuardedBy, Matcher, Mode, Policy, SecretList, git_directory,
};
use stockade_policy::profile::{Name, visible};
use stockade_policy::real_path::holds_repository;
use stockade_report::report::{Reason, RefusingRule};

/// The file and network access of an agent.
#[derive(Debug, Clone)]
pub struct Reachable {
    /// The policy of its runs.
    policy: Policy,
    /// The same policy in a mode that doesn't ask for changes.
    free: Policy,
    /// The denials of both policies.
    closed: Closed,
}

impl Reachable {
    /// Takes the policy of the agent's runs, and that of the same runs in `accept-edits`.
    pub fn new(policy: Policy, free: Policy) -> Reachable {
        Reachable {
            closed: Closed::compile(&policy),
            policy,
            free,
        }
    }

    /// Decides an access to a path, absolute or relative to `directory`. The path is resolved as the kernel does it now:
    /// the target of a link counts.
    pub fn path(&self, action: Action, path: &Path, directory: &Path) -> Answer {
        let capability = action.capability();
        if !self.policy.capabilities.contains(capability) {
            return incapable(capability);
        }
        let last = match action {
            Action::Delete => Last::Keep,
            Action::Read | Action::Write | Action::Execute => Last::Follow,
        };
        let Some(real) = real(&directory.join(path), last) else {
            return deny(format!("`{}` leads nowhere", shown(path)), None);
        };
        let is_of_a_process = real.strip_prefix("/proc").is_ok_and(|rest| {
            let first = rest.components().next();
            first.is_some_and(|first| first.as_os_str().as_encoded_bytes()[0].is_ascii_digit())
        });
        if is_of_a_process {
            return deny(
                format!("`{}` is of a process that isn't part of the run", shown(&real)),
                None,
            );
        }
        if action.changes() && git_directory(&real).is_some() {
            return deny(
                format!("`{}` is part of a git directory, which only git changes", shown(&real)),
                Some("built in"),
            );
        }
        self.decide(action, &real)
    }

    fn decide(&self, action: Action, real: &Path) -> Answer {
        let access = action.access();
        let matcher = Matcher::with(&self.policy, &self.closed);
        match matcher.decide(access, real) {
            policy::AccessDecision::Allow(grant) => allow(
                format!("{} `{}`", action.doing(), shown(real)),
                &grant.origin.to_string(),
            ),
            policy::AccessDecision::Denied(_) if action.changes() && self.is_elsewhere(access, real) => {
                match self.policy.granting(access, real) {
                    Some(grant) => allow(
                        format!("{} `{}`", action.doing(), shown(real)),
                        &grant.origin.to_string(),
                    ),
                    None => self.ungranted(action, real),
                }
            }
            policy::AccessDecision::Denied(denial)
                if action.changes() && denial.met_at(real).openable_line().is_some() =>
            {
                let rule = RefusingRule::of(&Reason::Denied(Box::new(denial.met_at(real))));
                let reason = rule.map_or_else(String::new, |rule| rule.text);
                confirm(action, real, reason, Danger::High)
            }
            policy::AccessDecision::Denied(denial) => {
                let rule = RefusingRule::of(&Reason::Denied(Box::new(denial.met_at(real))));
                let text = rule.map_or_else(String::new, |rule| rule.text);
                deny(text, Some(&denial.origin.to_string()))
            }
            policy::AccessDecision::NotGranted => self.ungranted(action, real),
        }
    }

    /// Whether a path is guarded for a name that tools look for at the top of a project alone, where none is, or
    /// where no tool is started.
    fn is_elsewhere(&self, access: Access, real: &Path) -> bool {
        let is_project =
            |directory: &Path| self.policy.tops().any(|top| top.starts_with(directory)) || holds_repository(directory);
        let is_output = |directory: &Path| self.policy.is_output(directory, holds_repository);
        let is_spared = |by, directory: &Path| match by {
            GuardedBy::Name(SecretList::Project) => !is_project(directory) || is_output(directory),
            GuardedBy::Name(SecretList::Folder) => is_output(directory),
            _ => false,
        };
        let matcher = Matcher::with(&self.policy, &self.closed);
        matcher.denial_unless(access, real, &is_spared).is_none()
    }

    /// The answer if nothing grants the access: in `manual` a change that `accept-edits` would allow needs a confirm.
    fn ungranted(&self, action: Action, real: &Path) -> Answer {
        let is_free = || {
            Matcher::with(&self.free, &self.closed)
                .decide(action.access(), real)
                .is_allowed()
        };
        if self.policy.mode == Mode::Manual && action.changes() && is_free() {
            let danger = match action {
                Action::Delete => Danger::High,
                Action::Read | Action::Write | Action::Execute => Danger::Medium,
            };
            return confirm(action, real, "every change asks in mode `manual`".into(), danger);
        }
        deny(
            format!(
                "{} `{}` isn't granted by `{}`",
                action.doing(),
                shown(real),
                self.policy.profile
            ),
            None,
        )
    }

    /// Decides a connection to `host`, `host:port`, `[address]:port`; the port defaults to 443. No name is looked up.
    pub fn connect(&self, host: &str) -> Answer {
        const HTTPS: u16 = 443;
        let has_llm = self.policy.capabilities.contains(Capabilities::LLM);
        if !self.policy.capabilities.contains(Capabilities::NET) && !has_llm {
            return incapable(Capabilities::NET);
        }
        let Some((name, port)) = split_port(host, HTTPS) else {
            return deny(format!("`{}` is no host", visible(host)), None);
        };
        let is_open = match named(&name) {
            // Connecting to the unspecified address reaches the loopback address.
            Some(Named::Address(address)) if address.is_unspecified() => self.reaches_itself(port),
            Some(Named::Address(address)) => self.policy.reach.address(address, port),
            Some(Named::Name(name)) if name.as_str() == "localhost" => self.reaches_itself(port),
            Some(Named::Name(name)) => self.policy.reach.name(&name, port).is_some(),
            None => return deny(format!("`{}` is no host", visible(host)), None),
        };
        if is_open {
            return allow(format!("connecting to `{}`", visible(host)), &self.policy.profile);
        }
        if !self.policy.capabilities.contains(Capabilities::NET) {
            return incapable(Capabilities::NET);
        }
        let reason = format!(
            "connecting to `{}` isn't granted by `{}`",
            visible(host),
            self.policy.profile
        );
        deny(reason, None)
    }
}

impl Reachable {
    fn reaches_itself(&self, port: u16) -> bool {
        let own = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        own.into_iter().any(|address| self.policy.reach.address(address, port))
    }
}

/// The answer if no agent is named: without a context there are no capabilities.
pub fn without_context(capability: Capabilities) -> Answer {
    incapable(capability)
}

impl Action {
    /// The capability that the action needs.
    pub fn capability(self) -> Capabilities {
        match self {
            Action::Read => Capabilities::READ,
            Action::Write => Capabilities::WRITE,
            Action::Delete => Capabilities::DELETE,
            Action::Execute => Capabilities::EXECUTE,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Write => "write",
            Action::Delete => "delete",
            Action::Execute => "execute",
        }
    }

    fn access(self) -> Access {
        match self {
            Action::Read => Access::READ,
            Action::Write => Access::WRITE,
            Action::Delete => Access::DELETE,
            Action::Execute => Access::EXECUTE,
        }
    }

    fn changes(self) -> bool {
        matches!(self, Action::Write | Action::Delete)
    }

    fn title(self) -> &'static str {
        match self {
            Action::Delete => "Delete file?",
            Action::Read | Action::Write | Action::Execute => "Change file?",
        }
    }

    fn doing(self) -> &'static str {
        match self {
            Action::Read => "reading",
            Action::Write => "writing",
            Action::Delete => "deleting",
            Action::Execute => "executing",
        }
    }
}

fn incapable(capability: Capabilities) -> Answer {
    deny(format!("permission denied: {capability} capability required"), None)
}

fn confirm(action: Action, real: &Path, reason: String, danger: Danger) -> Answer {
    Answer {
        title: Some(action.title().into()),
        message: Some(format!("{} {}", action.name(), real.display())),
        danger: Some(danger),
        ..answer(Decision::Confirm, reason, None)
    }
}

/// A denial for this reason.
pub fn deny(reason: String, matched: Option<&str>) -> Answer {
    answer(Decision::Deny, reason, matched)
}

fn allow(reason: String, matched: &str) -> Answer {
    answer(Decision::Allow, reason, Some(matched))
}

fn answer(decision: Decision, reason: String, matched: Option<&str>) -> Answer {
    Answer {
        decision,
        reason,
        matched: matched.map(str::to_string),
        remember: Vec::new(),
        title: None,
        message: None,
        danger: None,
    }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// Whether the last component is the link itself or its target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Follow,
    Keep,
}

/// The path that the kernel would resolve an absolute path to, even if its end doesn't exist yet. `None` if links
/// form a loop, or `..` follows a missing component.
fn real(path: &Path, last: Last) -> Option<PathBuf> {
    const MAX_LINKS: usize = 40;
    let mut rest: VecDeque<OsString> = parts(path).collect();
    let mut found = PathBuf::from("/");
    let mut links = 0;
    let mut is_there = true;
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            if !is_there {
                return None;
            }
            found.pop();
            continue;
        }
        let next = found.join(&part);
        match fs::read_link(&next) {
            Ok(target) if !rest.is_empty() || last == Last::Follow => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                if target.is_absolute() {
                    found = PathBuf::from("/");
                }
                for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    rest.push_front(part);
                }
            }
            _ => {
                is_there = fs::symlink_metadata(&next).is_ok();
                found = next;
            }
        }
    }
    Some(found)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// A host without its port.
enum Named {
    Name(Name),
    Address(IpAddr),
}

/// The host that a text names; an address in any form that programs accept, including decimal and octal ones.
fn named(text: &str) -> Option<Named> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(Named::Address(address));
    }
    match url::Host::parse(text).ok()? {
        url::Host::Ipv4(address) => Some(Named::Address(address.into())),
        url::Host::Ipv6(address) => Some(Named::Address(address.into())),
        url::Host::Domain(name) => Name::parse(&name).map(Named::Name),
    }
}

/// `name`, `name:port`, `[address]:port`, `address`.
fn split_port(host: &str, usual: u16) -> Option<(String, u16)> {
    if host.parse::<IpAddr>().is_ok() {
        return Some((host.to_string(), usual));
    }
    if let Some(rest) = host.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        let port = match after.strip_prefix(':') {
            Some(port) => port.parse().ok()?,
            None if after.is_empty() => usual,
            None => return None,
        };
        return Some((address.to_string(), port));
    }
    match host.rsplit_once(':') {
        Some((name, port)) => Some((name.to_string(), port.parse().ok()?)),
        None => Some((host.to_string(), usual)),
    }
}

#[cfg(test)]
mod tests;
