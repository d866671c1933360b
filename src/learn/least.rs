//! The lowest shipped profile that would have allowed all uses, by the table of inference.

use std::path::Path;

use super::used::{RunContext, Used, Wanted};
use stockade_infer::{Files, Hosts, Need};
pub use stockade_report::report::{Flag, FlagGrant};

/// From `minimal` to `trusted`, `workspace` too.
pub(super) fn least(used: &Used, run_context: &RunContext<'_>) -> &'static str {
    let needs = used.wanted.iter().map(|wanted| need(wanted, run_context));
    let scratch = match used.scratch {
        true => Need::files(Files::Data),
        false => Need::default(),
    };
    // What no grant would open, `mcp-standard` may: it let it pass.
    let withheld = match used.withheld.is_empty() {
        true => Need::default(),
        false => Need::files(Files::Limited),
    };
    needs.fold(scratch.and(withheld), Need::and).shipped()
}

fn need(wanted: &Wanted, run_context: &RunContext<'_>) -> Need {
    let Some(path) = wanted.path() else {
        return match wanted.grant {
            FlagGrant::Listen(_) => Need::hosts(Hosts::Any),
            _ => Need::hosts(Hosts::Named),
        };
    };
    let flag = match &wanted.grant {
        FlagGrant::Path(grant) => grant.flag,
        _ => return Need::default(),
    };
    let root = &run_context.policy.root;
    if matches!(flag, Flag::Write) && path.starts_with(root) && !path.starts_with("/tmp") {
        return Need::writes_root();
    }
    Need::files(match flag {
        Flag::Socket => Files::All,
        _ if path.starts_with("/tmp") => match flag {
            Flag::Read if !path.starts_with(root) => Files::Root,
            Flag::Read if path.starts_with(root.join("data")) => Files::Data,
            _ => Files::Root,
        },
        Flag::Write => Files::All,
        Flag::Read if path.starts_with(root.join("data")) => Files::Data,
        _ if path.starts_with(root) => Files::Root,
        _ if path == Path::new("/") => Files::Limited,
        _ => Files::Limited,
    })
}
