//! The state of a gateway, and how it responds to requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use spec::Dialect;
use spec::table::Operation;
use translation::pen::counted;

use super::context::{PastResponse, previous, with_context};
use super::mcp::Servers;
use super::settings::Settings;
use super::store::{Store, Stored};
use crate::content::conversation::unmatched;
use crate::content::plan::{Item, ResponsePlan};
use crate::content::planning::{lengthen, plan};
use crate::content::problem::Problem;
use crate::content::refusal::{refusal, refused, unsaid, unserved};
use crate::faults::list::{FaultInfo, fault_list};
use crate::faults::requested::Faults;
use crate::faults::socket::COMPACTION_TRIGGERED;
use crate::rendering::ids::tagged;
use crate::rendering::wire::Wire;
use crate::rendering::{RenderedResponse, render};
use checker::Rules;

#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) settings: Settings,
    pub(super) rules: Rules,
    store: Mutex<Store>,
    listed: OnceLock<Arc<Vec<FaultInfo>>>,
    /// The number of requests, for their ids.
    asked: AtomicU64,
    /// The gateways of other APIs, on the same port.
    pub(super) beside: Vec<Arc<Gateway>>,
}

impl Gateway {
    pub(super) fn new(settings: Settings) -> Self {
        let rules = Rules::of(settings.dialect);
        let other = |dialect: &&'static Dialect| {
            let settings = Settings { dialect, beside: Vec::new(), ..settings.clone() };
            Arc::new(Self::new(settings))
        };
        let beside = settings.beside.iter().map(other).collect();
        Self {
            rules,
            settings,
            store: Mutex::default(),
            listed: OnceLock::new(),
            asked: AtomicU64::new(0),
            beside,
        }
    }

    pub(super) fn faults(&self) -> Faults {
        Faults::new(self.settings.rules.clone(), self.settings.wire.clone())
    }

    pub(super) fn listed(&self) -> Arc<Vec<FaultInfo>> {
        let others = self.beside.iter().map(|gateway| &gateway.rules);
        let list = || Arc::new(fault_list(std::iter::once(&self.rules).chain(others)));
        Arc::clone(self.listed.get_or_init(list))
    }

    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        // After a panic, the stored responses are still whole.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn create(&self, body: &[u8], servers: &Servers, faults: &mut Faults) -> Wire {
        let refuse = |problem: &Problem, faults: &mut Faults| {
            faults.break_rules(Wire::refused(problem, self.settings.dialect.api), &self.rules)
        };
        let request: Value = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => return refuse(&Problem::not_json(&error), faults),
        };
        let is_stream = request.get("stream") == Some(&Value::Bool(true));
        if let Some(mut wire) = faults.regardless(&request, &self.rules) {
            wire.body = tagged(&wire.body, &self.tag(self.store().next()));
            return wire;
        }
        let made = match self.make(request, is_stream, &|_| None, servers, faults) {
            Ok(made) => made,
            Err(problem) => return refuse(&problem, faults),
        };
        if let Some(stream) = made.stream {
            return stream;
        }
        let [queued, _, ended] = &made.answer.snapshots;
        let whole = if made.is_background { queued } else { ended };
        let mut wire = faults.break_rules(Wire::json(made.answer.status, &whole.to_string()), &self.rules);
        wire.body = tagged(&wire.body, &made.tag);
        wire
    }

    pub(super) fn unserved(&self, request: &Value) -> Option<Problem> {
        unserved(request, &self.settings.models)
    }

    /// A response would count the same tokens.
    pub(super) fn count(&self, body: &[u8]) -> Result<Value, Problem> {
        let dialect = self.settings.dialect;
        let request: Value = serde_json::from_slice(body).map_err(|error| Problem::not_json(&error))?;
        let root = dialect.api.route(Operation::Count).and_then(|route| dialect.root(route.request?));
        let problem = root.and_then(|root| refused(&request, dialect, root));
        match problem.or_else(|| self.unserved(&request)) {
            Some(problem) => Err(problem),
            None => Ok(counted(dialect.api, plan(&request, dialect, 0).input_tokens)),
        }
    }

    /// The response is a stream or JSON. It may continue a stored response or a known conversation.
    pub(super) fn make(
        &self,
        request: Value,
        is_stream: bool,
        known: &dyn Fn(&str) -> Option<Vec<Value>>,
        servers: &Servers,
        faults: &mut Faults,
    ) -> Result<Made, Problem> {
        if let Some(problem) = refusal(&request, self.settings.dialect).or_else(|| self.unserved(&request)) {
            return Err(problem);
        }
        let before = match previous(&request, self.settings.dialect.api).map(|id| known(id).ok_or(id)) {
            None => Vec::new(),
            Some(Ok(context)) => context,
            Some(Err(id)) => self.store().continued(id)?,
        };
        let Settings { dialect, seed, .. } = self.settings;
        let planned = with_context(&request, before);
        if let Some(problem) = unmatched(&planned, dialect.api) {
            return Err(problem);
        }
        let mut plan = plan(&planned, dialect, seed);
        servers.announce(&mut plan);
        lengthen(&mut plan, &planned, self.settings.fragments, dialect);
        if let Some(problem) = unsaid(&plan, dialect) {
            return Err(problem);
        }
        let is_compaction = |item: &Item| item.tool().is_some_and(|item| item.page.kind == "compaction");
        if matches!(&*plan.items, [item] if is_compaction(item)) && faults.applies(COMPACTION_TRIGGERED) {
            plan.items.extend(plan.items.clone());
        }
        let number = self.store().next();
        Ok(self.carry_out(PlannedRequest { request, whole: planned, plan, number }, is_stream, faults))
    }

    pub(super) fn request_id(&self) -> String {
        format!("req_{}", self.tag(self.asked.fetch_add(1, Ordering::Relaxed)))
    }

    pub(super) fn tag(&self, number: u64) -> String {
        format!("{:04x}{number:06x}", self.settings.seed)
    }

    pub(super) fn carry_out(&self, planned: PlannedRequest, is_stream: bool, faults: &mut Faults) -> Made {
        let Settings { dialect, seed, .. } = self.settings;
        let PlannedRequest { request, whole, plan, number } = &planned;
        let answer = render(request, plan, dialect, seed);
        let tag = self.tag(*number);
        let own = |value: &Value| -> Value {
            serde_json::from_slice(&tagged(value.to_string().as_bytes(), &tag)).unwrap_or_default()
        };
        let snapshots = answer.snapshots.each_ref().map(own);
        let id = snapshots[1].get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let past = PastResponse::new(&id, request, whole, &snapshots[2]);
        let is_background = request.get("background") == Some(&Value::Bool(true));
        let keeps = dialect.api.route(Operation::Retrieve).is_some();
        let is_stored = keeps && !id.is_empty() && request.get("store") != Some(&Value::Bool(false));
        // A stored response may be streamed later; the results of faults only refer to this response.
        let mut unsent = faults.clone();
        let of_stream = if is_stream { faults } else { &mut unsent };
        let stream = Wire::stream(&answer);
        let mut stream = (is_stream || is_stored).then(|| of_stream.break_rules(stream, &self.rules));
        if let Some(stream) = &mut stream {
            stream.body = tagged(&stream.body, &tag);
        }
        if let Some(stream) = stream.as_ref().filter(|_| is_stored) {
            // A resumed stream has the faults of the original one.
            let stored = Stored::new(request.clone(), stream.body.clone(), snapshots, past.context.clone());
            self.store().keep(*number, id, stored);
        }
        Made { stream: stream.filter(|_| is_stream), is_background, past, tag, answer, planned }
    }
}

#[derive(Debug, Clone)]
pub(super) struct PlannedRequest {
    pub(super) request: Value,
    whole: Value,
    pub(super) plan: ResponsePlan,
    number: u64,
}

pub(super) struct Made {
    pub(super) planned: PlannedRequest,
    pub(super) answer: RenderedResponse,
    pub(super) past: PastResponse,
    pub(super) tag: String,
    /// The stream of its events, if requested, with unique ids.
    pub(super) stream: Option<Wire>,
    is_background: bool,
}
