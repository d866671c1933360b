//! Answers of our own programs: `infer`, `check`, `explain`; and what they decide about a run before it starts.

use std::ffi::OsString;
use std::path::PathBuf;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments::{self, Language, Order, What};
use crate::bounds::{self, Unusable};
use crate::child::{self, Bounds, Ended};
use crate::judged;
use crate::outcome;
use crate::server::{Server, lock};
use crate::settings::{AGENT, Profile};
use stockade_infer::Inference;
use stockade_text::visible::visible;

/// How much of the output of our own programs is read.
const ANSWER: Bounds = Bounds {
    stdout: 16 << 20,
    stderr: 32 << 10,
};

/// Profiles that a script's text may choose, as for `stockade exec`.
const BY_TEXT: [&str; 4] = ["minimal", "readonly", "filesystem", "network-api"];

impl Server {
    /// Starts our own program for an answer.
    async fn own(
        &self,
        words: Vec<OsString>,
        input: Option<Vec<u8>>,
        stop: &CancellationToken,
    ) -> Result<Ended, Unusable> {
        let child = child::start(&self.shared.settings, &words, input.is_some(), Vec::new());
        let child = child.map_err(|error| Unusable(format!("can't start Stockade: {error}")))?;
        Ok(child::attend(child, input, None, ANSWER, stop, |_| ()).await)
    }

    /// Infers what a script needs, in the confined reader of `stockade infer`.
    pub async fn infer(&self, language: Language, code: &str, stop: &CancellationToken) -> Result<Ended, Unusable> {
        bounds::bounded("the script", code)?;
        let words = [
            "infer".into(),
            "--json".into(),
            "--lang".into(),
            language.name().into(),
            "--root".into(),
            ".".into(),
            "-".into(),
        ];
        self.own(words.into(), Some(code.as_bytes().to_vec()), stop).await
    }

    /// Decides about a call, for the agent.
    pub async fn check(&self, check: arguments::Check, stop: &CancellationToken) -> Result<Ended, Unusable> {
        let settings = &self.shared.settings;
        let given = [
            &check.tool,
            &check.command,
            &check.skill,
            &check.action,
            &check.path,
            &check.host,
        ];
        bounds::without_nul(given.into_iter().flatten())?;
        check.path.as_deref().map_or(Ok(()), bounds::without_home)?;
        let mut words: Vec<OsString> = vec!["check".into(), "--json".into(), "--agent".into(), AGENT.into()];
        words.extend(["--root".into(), ".".into()]);
        if let Some(cwd) = &check.cwd {
            let real = settings.within_root(cwd);
            let real = real.ok_or_else(|| Unusable("`cwd` is no directory within the root".into()))?;
            words.extend(["--cwd".into(), real.into()]);
        }
        let tool = check.tool.or_else(|| check.command.as_ref().map(|_| "bash".into()));
        let flags = [
            ("--tool", tool),
            ("--skill", check.skill),
            ("--action", check.action),
            ("--path", check.path),
            ("--host", check.host),
        ];
        for (flag, value) in flags {
            words.extend(value.map(|value| format!("{flag}={value}").into()));
        }
        words.push("--".into());
        words.extend(check.command.map(OsString::from));
        self.own(words, None, stop).await
    }

    /// Explains a run of this session.
    pub async fn explain(&self, run: &str, stop: &CancellationToken) -> Result<CallToolResult, Unusable> {
        let document = lock(&self.shared.reports).of(run).map(<[u8]>::to_vec);
        let Some(document) = document else {
            return Err(Unusable(format!(
                "there is no report of a run `{}` in this session",
                visible(run)
            )));
        };
        let words = |json: bool| -> Vec<OsString> {
            let json = json.then(|| "--json".into());
            std::iter::once("explain".into())
                .chain(json)
                .chain(["-".into()])
                .collect()
        };
        let told = self.own(words(false), Some(document.clone()), stop).await?;
        let mut result = outcome::of_json(&self.own(words(true), Some(document), stop).await?);
        if result.is_error == Some(false) {
            result.content = vec![ContentBlock::text(told.stdout.text())];
            result.content.push(ContentBlock::resource_link(outcome::resource(run)));
        }
        Ok(result)
    }

    /// What the user's rules deny is denied here, whatever a profile would allow.
    pub async fn denied(&self, order: &Order, stop: &CancellationToken) -> Result<Option<String>, Unusable> {
        let cwd = match &order.what {
            What::Command { directory, .. } => directory.as_ref(),
            What::Script { .. } => None,
        };
        for line in judged::lines(order) {
            let denied = self.denied_line(line, cwd, stop).await?;
            if denied.is_some() {
                return Ok(denied);
            }
        }
        Ok(None)
    }

    async fn denied_line(
        &self,
        line: String,
        cwd: Option<&PathBuf>,
        stop: &CancellationToken,
    ) -> Result<Option<String>, Unusable> {
        // A longer line can't be a word of a command.
        const MAX_LINE: usize = 100 << 10;
        if line.len() > MAX_LINE {
            return Err(Unusable(format!(
                "what a shell would run, of more than {MAX_LINE} bytes, can't be judged"
            )));
        }
        let check = arguments::Check {
            command: Some(line),
            cwd: cwd.map(|path| path.to_string_lossy().into_owned()),
            ..arguments::Check::default()
        };
        let ended = self.check(check, stop).await?;
        let answer: Option<Value> = ended
            .stdout
            .whole()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let field = |name: &str| answer.as_ref()?.get(name)?.as_str().map(String::from);
        match field("decision").as_deref() {
            Some("allow" | "confirm") => Ok(None),
            Some("deny") => Ok(Some(field("reason").unwrap_or_default())),
            _ => Err(Unusable(format!(
                "the rules can't be asked: {}",
                outcome::failure(&ended)
            ))),
        }
    }

    /// The profile of a run, with a note where a text chose it.
    pub async fn profile(&self, order: &Order, stop: &CancellationToken) -> Result<(Profile, Vec<String>), Unusable> {
        let profiles = &self.shared.settings.profiles;
        let named = order.profile.as_ref();
        let What::Script { language, code, .. } = &order.what else {
            let profile = named.unwrap_or(profiles.default());
            return Ok((profile.clone(), Vec::new()));
        };
        if let Some(profile) = named {
            return Ok((profile.clone(), Vec::new()));
        }
        let ended = self.infer(*language, code, stop).await?;
        let answer = ended
            .stdout
            .whole()
            .and_then(|bytes| serde_json::from_slice::<Inference>(&bytes).ok());
        let answer = answer.ok_or_else(|| Unusable(outcome::failure(&ended)))?;
        Ok(match by_text(&answer).find_map(|name| profiles.named(name)) {
            Some(profile) => {
                let note = format!("its text needs `{}` (confidence {})", profile.name, answer.confidence);
                (profile.clone(), vec![note])
            }
            None => {
                let profile = profiles.default();
                let note = format!(
                    "no profile that is offered clearly holds what its text needs; it ran under `{}`, as a command would",
                    profile.name
                );
                (profile.clone(), vec![note])
            }
        })
    }
}

/// The shipped profiles that hold all that a text needs, the least first. None where Stockade isn't sure of the text.
fn by_text(answer: &Inference) -> impl Iterator<Item = &str> {
    let runs_as_enough = answer.left_out.is_empty() && answer.runs_with.chunks(2).all(|words| words[0] == "--env");
    let least = runs_as_enough.then_some(answer.runs_as.as_str());
    let whole = Some(answer.profile.as_str()).filter(|name| BY_TEXT.contains(name));
    let wider = answer.or_profile.as_deref();
    let named = [least, whole, wider].into_iter().flatten();
    named.filter(|_| answer.is_sure())
}
