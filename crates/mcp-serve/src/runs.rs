//! Runs of calls: started, attended, and parked while their questions are at a client that is asked by results.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, InputRequest, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::arguments::Order;
use crate::attending::{Attended, Manner, Stopped};
use crate::bounds::Unusable;
use crate::server::{Parked, Server, lock};
use crate::settings::Asked;
use crate::{outcome, question, running};
use stockade_report::report::Report;
use stockade_text::visible::visible;

/// How long a run with questions waits for the client to make its call anew, beyond the time for the answer.
const PARKED: Duration = Duration::from_secs(30);

/// How often a client is asked to make one call anew. Official clients do so ten times at most.
const MAX_ROUNDS: u32 = 8;

impl Server {
    /// Runs what a call asks for.
    pub async fn run(
        &self,
        order: Order,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Unusable> {
        let stop = &context.ct;
        let Some(permit) = self.place(stop).await else {
            return Err(Unusable("too many calls wait here: try again later".into()));
        };
        let (profile, mut notes) = self.profile(&order, stop).await?;
        if let Some(reason) = self.denied(&order, stop).await? {
            return Ok(outcome::denied(&reason, &profile.name).into());
        }
        let settings = &self.shared.settings;
        let asks = settings.ask == Asked::Client && offers_forms(context);
        if !asks && !order.grants.is_empty() {
            notes.push("the grants asked for weren't given: this client shows no questions".into());
        }
        let Some(alive) = self.shared.alive.upgrade() else {
            return Err(Unusable("the server ends".into()));
        };
        let held = (permit, alive);
        let running = running::start(&order, &profile, asks, settings, held)
            .map_err(|error| Unusable(format!("can't start a run: {error}")))?;
        let parked = Parked {
            call: (call.name.to_string(), call.arguments.clone()),
            attended: Attended {
                running,
                asked: order.grants,
                all_asked: false,
                waiting: VecDeque::new(),
                by: client(context),
            },
            notes,
            rounds: 0,
        };
        self.attend(parked, context).await
    }

    /// Waits for a run's end, or for questions that the client has to answer with the call made anew.
    async fn attend(
        &self,
        mut parked: Parked,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Unusable> {
        let manner = match is_modern(context) {
            true => Manner::Result,
            false => Manner::Request,
        };
        loop {
            match parked.attended.wait(context, manner).await {
                Stopped::Ended(ended) => {
                    let report = ended.report.as_deref().and_then(|bytes| Report::parse(bytes).ok());
                    let result =
                        outcome::of_run(&ended, report.as_ref(), &parked.attended.running.profile, &parked.notes);
                    if let (Some(report), Some(document)) = (report, ended.report) {
                        lock(&self.shared.reports).keep(report.run, document);
                    }
                    return Ok(result.into());
                }
                Stopped::Cancelled => return Err(Unusable("the call was cancelled, and its run ended".into())),
                Stopped::Questions if parked.rounds >= MAX_ROUNDS => {
                    let none = question::result_of(&Value::Null);
                    for question in std::mem::take(&mut parked.attended.waiting) {
                        parked.attended.answer(&question, &none).await;
                    }
                }
                Stopped::Questions => return Ok(self.park(parked).into()),
            }
        }
    }

    /// Keeps a run until the client makes its call anew with the answers. A run that isn't taken up again ends.
    fn park(&self, mut parked: Parked) -> InputRequiredResult {
        parked.rounds += 1;
        let waiting = &parked.attended.waiting;
        let requests: BTreeMap<String, InputRequest> = waiting
            .iter()
            .map(|question| {
                let form = ElicitRequest::new(question.form(&parked.attended.asked));
                (question.id.clone(), InputRequest::Elicitation(form))
            })
            .collect();
        let time = waiting.iter().map(question::Question::time).max().unwrap_or_default() + PARKED;
        let state = self.state();
        lock(&self.shared.parked).insert(state.clone(), parked);
        let (shared, key) = (Arc::downgrade(&self.shared), state.clone());
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            if let Some(shared) = shared.upgrade() {
                lock(&shared.parked).remove(&key);
            }
        });
        InputRequiredResult::new(Some(requests), Some(state))
    }

    /// A word for a parked run, used once. It is a handle in this session's own memory, and says nothing.
    fn state(&self) -> String {
        let number = self.shared.last_state.fetch_add(1, Ordering::Relaxed);
        format!("run-{number}")
    }

    /// A call made anew with answers.
    pub async fn go_on(
        &self,
        call: &CallToolRequestParams,
        state: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Unusable> {
        let is_it = |parked: &Parked| parked.call.0 == call.name && parked.call.1 == call.arguments;
        let mut parked = {
            let mut all = lock(&self.shared.parked);
            match all.remove(state) {
                Some(parked) if is_it(&parked) => parked,
                Some(parked) => {
                    all.insert(state.to_string(), parked);
                    return Err(Unusable("`requestState` belongs to another call".into()));
                }
                None => {
                    return Err(Unusable(
                        "the run of this `requestState` isn't waited for any more".into(),
                    ));
                }
            }
        };
        let answers = call.input_responses.as_ref();
        for question in std::mem::take(&mut parked.attended.waiting) {
            let answer = answers
                .and_then(|answers| answers.get(&question.id))
                .unwrap_or(&Value::Null);
            let result = question::result_of(answer);
            parked.attended.answer(&question, &result).await;
        }
        self.attend(parked, context).await
    }
}

/// Whether the client shows forms to a person.
fn offers_forms(context: &RequestContext<RoleServer>) -> bool {
    let offered = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation);
    // A client that names no kind shows forms (protocol 2025-11-25, "Elicitation").
    offered.is_some_and(|offered| offered.form.is_some() || offered.url.is_none())
}

/// Whether the client is asked by results, and never by requests.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The client's name, for reports.
fn client(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|info| info.name).unwrap_or_default();
    let name: String = name.chars().take(100).collect();
    format!("MCP client {}", visible(&name))
}
