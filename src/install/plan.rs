//! What becomes of a server of an MCP client: wrapped with which flags, or left, and why.

use super::already::{self, Standing};
use super::own::Own;
use super::steering;
use stockade_install::{
    Places, Program, Scope, Server, Start, Wrapped, propose, starts_elsewhere, with_profile, wrapped,
};
use stockade_policy::profile::visible;

/// What becomes of a server.
#[derive(Debug)]
pub enum Plan {
    /// It is started by `stockade mcp wrap` with these flags.
    Wrap {
        /// The flags.
        flags: Vec<String>,
        /// Why these.
        why: String,
    },
    /// Stockade wraps it already, and its line gets another profile: this becomes of it.
    Reprofile(Box<Program>),
    /// It stays as it is: there is no program, or Stockade starts it.
    Keep(String),
    /// It stays as it is, and may start a program that nothing confines.
    Unconfined(String),
}

/// Plans for the servers of a client.
#[derive(Debug)]
pub struct Planner<'p> {
    /// Whose settings they are.
    pub scope: Scope,
    /// Where settings are.
    pub places: &'p Places,
    /// The program that wraps.
    pub own: &'p Own,
    /// The profile for all of them.
    pub profile: Option<String>,
}

impl Planner<'_> {
    /// The plan for a server.
    pub fn plan(&self, server: &Server) -> Plan {
        let program = match &server.start {
            Start::Program(program) => program,
            Start::Url => return Plan::Keep("it is reached by a URL, and Stockade confines programs".into()),
            Start::Unknown(why) => return Plan::Unconfined(why.clone()),
        };
        // First, since no line holds what it says under such variables.
        if let Some(why) = steering::of(program, self.scope) {
            return Plan::Unconfined(why);
        }
        if self.own.is(&program.command) {
            let profile = self.profile.as_deref();
            return match profile.and_then(|profile| with_profile(program, profile)) {
                Some(args) => Plan::Reprofile(Box::new(Program {
                    args,
                    ..(**program).clone()
                })),
                None => Plan::Keep(already::said(program)),
            };
        }
        if starts_elsewhere(program) {
            return Plan::Unconfined("an engine starts its container, where no profile would hold".into());
        }
        self.wrap(server, program)
    }

    /// What a person has to know beside the plan.
    pub fn warnings(&self, server: &Server, plan: &Plan) -> Vec<String> {
        let standing = Standing {
            scope: self.scope,
            root: &self.places.root,
            server,
        };
        match (plan, &server.start) {
            (Plan::Unconfined(why), _) => vec![format!("nothing confines it: {why}")],
            (Plan::Keep(_), Start::Program(program)) => already::remarks(program, standing),
            (Plan::Reprofile(program), _) => already::remarks(program, standing),
            (Plan::Wrap { .. }, Start::Program(program)) if wrapped(program) != Wrapped::No => vec![format!(
                "it starts `{}`, which isn't this program and is wrapped as any other; where that is an older Stockade, \
                 answer no, and let `mcp uninstall` take it out first",
                visible(&program.command)
            )],
            _ => Vec::new(),
        }
    }

    fn wrap(&self, server: &Server, program: &Program) -> Plan {
        let (profile, grants, why) = match &self.profile {
            Some(profile) => (profile.clone(), Vec::new(), "as `--profile` says".to_string()),
            None => {
                let proposal = propose(program, self.scope, &self.places.home);
                (proposal.profile.to_string(), proposal.grants, proposal.why)
            }
        };
        let mut flags = vec!["--profile".to_string(), profile];
        flags.extend(named(&server.name));
        flags.extend(variables(program));
        flags.extend(grants);
        Plan::Wrap { flags, why }
    }
}

/// A name may begin as a flag does.
fn named(name: &str) -> Vec<String> {
    match name.starts_with('-') {
        true => vec![format!("--name={name}")],
        false => vec!["--name".to_string(), name.to_string()],
    }
}

/// The client's configuration has them for the server, so they are passed; others of the client aren't.
fn variables(program: &Program) -> impl Iterator<Item = String> {
    let names = program.variables.iter().map(|variable| variable.name.clone());
    // With `=` the flag would set a variable.
    let names = names.filter(|name| !name.is_empty() && !name.contains('=') && !name.starts_with('-'));
    names.flat_map(|name| ["--env".to_string(), name])
}
