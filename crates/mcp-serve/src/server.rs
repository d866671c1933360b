//! The server: what each request of a client does.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::attending::Attended;
use crate::bounds::Unusable;
use crate::reports::Reports;
use crate::settings::Settings;
use crate::{outcome, tools};
use stockade_text::visible::{visible, visible_json};

/// The most calls that wait for their turn.
const MAX_WAITING: usize = 32;

/// The handler of a session.
#[derive(Clone)]
pub struct Server {
    /// Shared by all calls.
    pub shared: Arc<Shared>,
}

/// What all calls of a session share.
pub struct Shared {
    /// What the user set.
    pub settings: Settings,
    tools: Vec<Tool>,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// The reports of runs.
    pub reports: Mutex<Reports>,
    /// Runs whose questions are at the client, by the word that the client sends back.
    pub parked: Mutex<HashMap<String, Parked>>,
    /// Upgraded and held by each run; gone once the server ends.
    pub alive: mpsc::WeakSender<()>,
    /// Counts those words.
    pub last_state: AtomicUsize,
}

/// A run whose questions are at the client.
pub struct Parked {
    /// The call: the tool's name and the arguments.
    pub call: (String, Option<Map<String, Value>>),
    /// The run.
    pub attended: Attended,
    /// What the result says beside the run.
    pub notes: Vec<String>,
    /// How often the client was asked to make its call anew.
    pub rounds: u32,
}

/// Locks; a panic elsewhere leaves whole values.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// With these settings. Each run holds `alive`.
    pub fn new(settings: Settings, alive: mpsc::WeakSender<()>) -> Server {
        Server {
            shared: Arc::new(Shared {
                tools: tools::all(&settings),
                places: Arc::new(Semaphore::new(settings.parallel)),
                settings,
                waiting: AtomicUsize::new(0),
                reports: Mutex::default(),
                parked: Mutex::default(),
                alive,
                last_state: AtomicUsize::new(0),
            }),
        }
    }

    /// A place among the calls that run something; `None` where too many wait, or the call is over.
    pub async fn place(&self, stop: &CancellationToken) -> Option<OwnedSemaphorePermit> {
        struct Waiting<'w>(&'w AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let before = self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.shared.waiting);
        if before >= MAX_WAITING {
            return None;
        }
        tokio::select! {
            permit = Arc::clone(&self.shared.places).acquire_owned() => permit.ok(),
            () = stop.cancelled() => None,
        }
    }

    /// Carries a call out.
    async fn called(
        &self,
        call: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Unusable> {
        let settings = &self.shared.settings;
        if let Some(state) = call.request_state.clone() {
            return self.go_on(call, &state, context).await;
        }
        let arguments = call.arguments.clone();
        let result = match call.name.as_ref() {
            tools::RUN_COMMAND => {
                let order = arguments::read::<arguments::RunCommand>(arguments)?.order(settings)?;
                return self.run(order, call, context).await;
            }
            tools::RUN_SCRIPT => {
                let order = arguments::read::<arguments::RunScript>(arguments)?.order(settings)?;
                return self.run(order, call, context).await;
            }
            tools::INFER => {
                let asked: arguments::Infer = arguments::read(arguments)?;
                let _place = self.place_for_answer(context).await?;
                outcome::of_json(&self.infer(asked.language, &asked.code, &context.ct).await?)
            }
            tools::CHECK => {
                let asked: arguments::Check = arguments::read(arguments)?;
                let _place = self.place_for_answer(context).await?;
                outcome::of_json(&self.check(asked, &context.ct).await?)
            }
            _ => {
                let asked: arguments::Explain = arguments::read(arguments)?;
                let _place = self.place_for_answer(context).await?;
                self.explain(&asked.run, &context.ct).await?
            }
        };
        Ok(result.into())
    }

    async fn place_for_answer(&self, context: &RequestContext<RoleServer>) -> Result<OwnedSemaphorePermit, Unusable> {
        let place = self.place(&context.ct).await;
        place.ok_or_else(|| Unusable("too many calls wait here: try again later".into()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let settings = &self.shared.settings;
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let server = Implementation::new("stockade", env!("CARGO_PKG_VERSION")).with_title("Stockade");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(format!(
            "Runs commands and scripts in `{}` inside permission profiles, `{}` at most. When a result says `Permission denied`, \
             don't try ways round it: name a profile that is offered, or tell the user which grant is missing.",
            settings.root.display(),
            settings.profiles.ceiling()
        ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// Requests that the SDK doesn't know, and those of a method of ours whose parameters don't fit.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let parameters = request.params.unwrap_or_default();
        let needs = match request.method.as_str() {
            "tools/call" if !parameters["name"].is_string() => "`name`, the text that names a tool",
            "tools/call" => "`arguments` that are an object",
            "resources/read" => "`uri`, a text",
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        let message = format!("Invalid params: `{}` needs {needs}", request.method);
        Err(ErrorData::invalid_params(message, None))
    }

    async fn call_tool(
        &self,
        mut call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&call.name).is_none() {
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`", visible(&call.name)),
                None,
            ));
        }
        let answered = self.called(&mut call, &context).await;
        Ok(answered.unwrap_or_else(|Unusable(why)| outcome::refused(&why).into()))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let reports = lock(&self.shared.reports);
        Ok(ListResourcesResult::with_all_items(
            reports.runs().map(outcome::resource).collect(),
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(outcome::address("{run}"), "report")
            .with_title("Report of a run")
            .with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let run = asked
            .uri
            .strip_prefix("stockade://runs/")
            .and_then(|rest| rest.strip_suffix("/report"));
        let reports = lock(&self.shared.reports);
        let Some(document) = run.and_then(|run| reports.of(run)) else {
            let message = format!("there is no resource `{}` in this session", visible(&asked.uri));
            return Err(ErrorData::resource_not_found(message, None));
        };
        let text = visible_json(&String::from_utf8_lossy(document)).into_owned();
        let contents = ResourceContents::text(text, asked.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
