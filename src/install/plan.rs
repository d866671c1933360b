//! What becomes of a server of an MCP client: wrapped with which flags, or left, and why.

use super::already::{self, Standing};
use super::own::Own;
use super::steering;
use stockade_install::{
    Amendment, Places, Program, Scope, Server, Start, Wrapped, propose, starts_elsewhere, wrap_flags, wrapped,
};
use stockade_judge::Layers;
use stockade_policy::profile::visible;

/// What becomes of a server.
#[derive(Debug)]
pub enum Plan {
    /// It is started by `stockade mcp wrap` with these flags.
    Wrap {
        /// The profile among them, if any.
        profile: Option<String>,
        /// The flags.
        flags: Vec<String>,
        /// Why these.
        why: String,
    },
    /// Stockade wraps it already, and its line changes.
    Amend {
        /// What changes.
        amendment: Amendment,
        /// What becomes of it.
        program: Box<Program>,
    },
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
    /// The configuration that a wrapped server finds; `None` where no line is written.
    pub layers: Option<&'p Layers>,
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
            let amendment = Amendment {
                profile: self.profile.clone(),
                flags: flags_of(lacking(program)),
            };
            return match amendment.of(program) {
                Some(args) => Plan::Amend {
                    amendment,
                    program: Box::new(Program {
                        args,
                        ..(**program).clone()
                    }),
                },
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
            (Plan::Amend { program, .. }, _) => already::remarks(program, standing),
            (Plan::Wrap { profile, .. }, Start::Program(program)) => {
                let older = (wrapped(program) != Wrapped::No).then(|| {
                    format!(
                        "it starts `{}`, which isn't this program and is wrapped as any other; where that is an older \
                         Stockade, answer no, and let `mcp uninstall` take it out first",
                        visible(&program.command)
                    )
                });
                let of_profile = profile.as_deref().and_then(|name| already::of_profile(name, standing));
                older.into_iter().chain(of_profile).collect()
            }
            _ => Vec::new(),
        }
    }

    fn wrap(&self, server: &Server, program: &Program) -> Plan {
        let configured = self.layers.and_then(|layers| layers.mcp_server(&server.name).profile);
        let (profile, grants, why) = match (&self.profile, configured) {
            (Some(profile), _) => (Some(profile.clone()), Vec::new(), "as `--profile` says".to_string()),
            // A flag would override it.
            (None, Some(profile)) => (None, Vec::new(), format!("the profile `{profile}` of `config.toml`")),
            (None, None) => {
                let proposal = propose(program, self.scope, &self.places.home);
                (Some(proposal.profile.to_string()), proposal.grants, proposal.why)
            }
        };
        let mut flags: Vec<String> = profile
            .iter()
            .flat_map(|name| ["--profile".into(), name.clone()])
            .collect();
        flags.extend(named(&server.name));
        flags.extend(flags_of(variables(program)));
        flags.extend(grants);
        Plan::Wrap { profile, flags, why }
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
fn variables(program: &Program) -> impl Iterator<Item = &str> {
    let names = program.variables.iter().map(|variable| variable.name.as_str());
    // With `=` the flag would set a variable.
    names.filter(|name| !name.is_empty() && !name.contains('=') && !name.starts_with('-'))
}

/// The variables of the entry that its line of `mcp wrap` doesn't name.
pub fn lacking(program: &Program) -> impl Iterator<Item = &str> {
    let flags = wrap_flags(program);
    variables(program).filter(move |name| {
        let is_named = |value: &str| value.split('=').next() == Some(name);
        !already::pairs(flags.unwrap_or_default()).any(|(flag, value)| flag == "--env" && is_named(value))
    })
}

fn flags_of<'v>(variables: impl Iterator<Item = &'v str>) -> Vec<String> {
    variables
        .flat_map(|name| ["--env".to_string(), name.to_string()])
        .collect()
}
