//! The traits behind every operation: its call of the library, and the two forms in which a server offers it, as a route of the API
//! and as a tool for agents.
//!
//! The request is a type of the library, which declares each field with its meaning and its limits once. A route takes all of them. A
//! tool takes those that it lists, since every agent reads all tools.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Description, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tamis::feedback::Opened;
use tamis::search::{Asker, SearchCaller};
use tamis::{Answer, Error, Index, Observer};
use tamis_store::Filter;

use crate::api::Verbs;
use crate::api::metrics::Metrics;
use crate::api::problem::Problem;
use crate::arguments::WHOLE;
use crate::background::{Background, BackgroundState, Phase};
use crate::call_queue::Lane;
use crate::caller::Caller;
use crate::paging::DEFAULT_MAX_CHARS;
use crate::refusal_text::Refused;
use crate::{arguments, untrusted_text};

/// An operation: its request and answer with their schemas, and its call of the library.
pub(crate) trait Operation {
    /// Name, in snake case. Messages, metrics and the description of the API have it.
    const NAME: &'static str;
    /// The lane of its calls.
    const LANE: Lane = Lane::Quick;
    /// Request.
    type Request: DeserializeOwned + JsonSchema;
    /// Answer, as the command prints it.
    type Answer: Serialize + JsonSchema;

    /// True if a caller may use it.
    fn is_for(_caller: &Caller) -> bool {
        true
    }

    /// The number of candidates that the answer's cut kept, for the metrics; `None` if it is no search.
    fn kept_count(_answer: &Self::Answer) -> Option<usize> {
        None
    }

    /// Calls the library, on a thread that may block.
    fn call(call: &Call<'_>, request: Self::Request) -> Result<Self::Answer, Failure>;
}

/// An operation as a route of the API.
pub(crate) trait Route: Operation {
    /// Path, with parameters in braces: `/v1/documents/{id}`.
    const PATH: &'static str;
    /// Methods.
    const VERBS: Verbs = Verbs::Get;
    /// Purpose in one line.
    const SUMMARY: &'static str;
    /// What a caller should know besides; can be empty.
    const DESCRIPTION: &'static str = "";
    /// True if the answer depends on the state of the index and the request alone, so that it carries a tag.
    const TAGGED: bool = false;
    /// The right that it needs, in words for the refusal.
    const NEEDS: &'static str = "";
}

/// An operation as a tool for agents.
pub(crate) trait Tool: Operation {
    /// Name, in snake case.
    const TOOL_NAME: &'static str = Self::NAME;
    /// Name for people.
    const TITLE: &'static str;
    /// Purpose, in words that let an agent pick the right tool.
    const DESCRIPTION: &'static str;
    /// Effect on stored data.
    const EFFECT: Effect = Effect::Reads;
    /// Content of an index without which the tool is not listed.
    const NEED: Need = Need::Nothing;
    /// Most characters of an answer as text, when the arguments have no `max_chars`.
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    /// The fields of the request that are arguments; `None`: all.
    const ARGUMENTS: Option<&'static [Argument]> = None;
    /// The arguments that only a tool has, such as those of pages.
    type Options: DeserializeOwned + JsonSchema;

    /// Adapts a request to the form of the answer.
    fn adapt(_call: &Call<'_>, _request: &mut Self::Request, _options: &Self::Options) {}

    /// The answer as text, which an agent reads.
    fn text(call: &Call<'_>, answer: &Self::Answer, options: &Self::Options) -> String;
}

/// A request or options without any.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

/// A field of a request as an argument of a tool.
#[derive(Clone, Copy)]
pub(crate) struct Argument {
    field: &'static str,
    name: &'static str,
    default: Option<u64>,
    most: Option<u64>,
    single: bool,
    required: bool,
}

/// The argument for a field, of the same name.
pub(crate) const fn field(field: &'static str) -> Argument {
    Argument { field, name: field, default: None, most: None, single: false, required: false }
}

impl Argument {
    /// Under another name.
    pub const fn renamed(self, name: &'static str) -> Argument {
        Argument { name, ..self }
    }

    /// With another default.
    pub const fn default(self, default: u64) -> Argument {
        Argument { default: Some(default), ..self }
    }

    /// With a smaller maximum.
    pub const fn most(self, most: u64) -> Argument {
        Argument { most: Some(most), ..self }
    }

    /// As one value of a list.
    pub const fn single(self) -> Argument {
        Argument { single: true, ..self }
    }

    /// Required, where the request has another way to ask.
    pub const fn required(self) -> Argument {
        Argument { required: true, ..self }
    }

    fn schema(self, field: &Value) -> Value {
        let mut schema = field.clone();
        if self.single {
            schema = field["items"].clone();
            schema["description"] = field["description"].clone();
        }
        if let Value::Object(schema) = &mut schema {
            schema.remove(WHOLE);
            schema.extend(self.most.map(|most| ("maximum".to_owned(), most.into())));
            schema.extend(self.default.map(|default| ("default".to_owned(), default.into())));
        }
        schema
    }
}

/// The schema of a tool's arguments.
pub(crate) fn arguments<T: Tool>() -> JsonObject {
    let mut schema = arguments::of_arguments::<T::Request>();
    if let Some(arguments) = T::ARGUMENTS {
        let required = schema.remove("required").unwrap_or_default();
        let is_required = |argument: &&Argument| {
            argument.required
                || required.as_array().is_some_and(|required| required.iter().any(|name| name == argument.field))
        };
        let required: Vec<&str> = arguments.iter().filter(is_required).map(|argument| argument.name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        let fields = schema.remove("properties").unwrap_or_default();
        let listed = arguments.iter().map(|one| (one.name.to_owned(), one.schema(&fields[one.field])));
        schema.insert("properties".to_owned(), listed.collect::<JsonObject>().into());
    }
    if let (Some(Value::Object(properties)), Some(Value::Object(own))) =
        (schema.get_mut("properties"), arguments::of_arguments::<T::Options>().remove("properties"))
    {
        properties.extend(own);
        for schema in properties.values_mut().filter_map(Value::as_object_mut) {
            // What is not asked for is not done: nobody needs to read that.
            let goes_without_saying = |default: &Value| *default == false || *default == json!([]);
            if schema.get("default").is_some_and(goes_without_saying) {
                schema.remove("default");
            }
        }
    }
    schema
}

/// Reads the arguments of a tool, which fit its schema.
///
/// # Errors
/// A value that fits and still cannot be read, such as a date.
pub(crate) fn read<T: Tool>(call: &Call<'_>, arguments: JsonObject) -> serde_json::Result<(T::Request, T::Options)> {
    let request: JsonObject = match T::ARGUMENTS {
        None => arguments.clone(),
        Some(listed) => {
            let value = |one: &Argument| match arguments.get(one.name) {
                Some(value) if one.single => Some(Value::Array(vec![value.clone()])),
                Some(value) => Some(value.clone()),
                None => one.default.map(Value::from),
            };
            listed.iter().filter_map(|one| Some((one.field.to_owned(), value(one)?))).collect()
        }
    };
    let mut request: T::Request = serde_json::from_value(Value::Object(request))?;
    let options = serde_json::from_value(Value::Object(arguments))?;
    T::adapt(call, &mut request, &options);
    Ok((request, options))
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(tamis::Error),
    /// One that only the server knows.
    Problem(Problem),
}

impl From<tamis::Error> for Failure {
    fn from(error: tamis::Error) -> Self {
        Failure::Library(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure::Problem(problem)
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error) => error.into(),
            Failure::Problem(problem) => problem,
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error) => error.into(),
            Failure::Problem(problem) => problem.detail.into(),
        }
    }
}

// The list entry that a server keeps of a tool.

/// Most characters of an answer as data. Some clients accept at most a megabyte.
const MAX_DATA_CHARS: usize = 500_000;

/// A tool in a server's list.
pub(crate) struct RegisteredTool {
    pub description: Description,
    pub is_for: fn(&Caller) -> bool,
    pub need: Need,
    pub lane: Lane,
    output_schema: fn() -> JsonObject,
    call: fn(&mut Call<'_>, JsonObject) -> Result<CallToolResult, Refused>,
}

impl RegisteredTool {
    /// Registers an operation as a tool and generates the schema of its arguments.
    pub fn new<T: Tool>() -> RegisteredTool {
        let mut description = Description::new(T::TOOL_NAME, T::DESCRIPTION, arguments::<T>());
        description.title = Some(T::TITLE.to_owned());
        // The other hints only mean something for tools that change something.
        let mut annotations = ToolAnnotations::new().read_only(T::EFFECT == Effect::Reads);
        if T::EFFECT != Effect::Reads {
            annotations = annotations.destructive(false).idempotent(T::EFFECT != Effect::Adds);
        }
        description.annotations = Some(annotations.open_world(false));
        RegisteredTool {
            description,
            is_for: T::is_for,
            need: T::NEED,
            lane: T::LANE,
            output_schema: arguments::of_answer::<T::Answer>,
            call: call::<T>,
        }
    }

    /// The description for a client, with the schema of the answer if it wants that.
    pub fn described(&self, with_output: bool) -> Description {
        let mut description = self.description.clone();
        description.output_schema = with_output.then(|| (self.output_schema)().into());
        description
    }

    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Answers a call. An error is a result too, so that the agent reads it and corrects the call.
    pub fn answer(&self, call: &mut Call<'_>, arguments: JsonObject) -> CallToolResult {
        let schema = &self.description.input_schema;
        let validated =
            arguments::validated(self.name(), schema, arguments::coerced(schema, arguments)).map_err(Refused::from);
        let answered = validated.and_then(|arguments| (self.call)(call, arguments));
        call.metrics.tool(&self.description.name, answered.is_ok());
        answered.unwrap_or_else(|refused| CallToolResult::error(vec![ContentBlock::text(refused.text(call.caller))]))
    }
}

fn call<T: Tool>(call: &mut Call<'_>, arguments: JsonObject) -> Result<CallToolResult, Refused> {
    call.entry_point = MCP;
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
    let most = number("max_chars").unwrap_or(T::MAX_CHARS);
    // The further pages of an answer are the same search.
    let is_first_page = number("offset").unwrap_or_default() == 0;
    let invalid = |error: serde_json::Error| Refused::from(error.to_string());
    let (request, options) = read::<T>(call, arguments).map_err(invalid)?;
    let answer = T::call(call, request).map_err(named::<T>)?;
    if let (true, Some(kept)) = (is_first_page, T::kept_count(&answer)) {
        call.metrics.search("/mcp", T::TOOL_NAME, kept);
    }
    let text = T::text(call, &answer, &options);
    let mut result = CallToolResult::success(vec![ContentBlock::text(untrusted_text::text(&text, most))]);
    // The data repeats the text, and many clients give a model both.
    if call.with_data {
        let answer = arguments::without_nulls(serde_json::to_value(&answer).map_err(invalid)?);
        result.structured_content = Some(untrusted_text::data(arguments::in_object(answer), MAX_DATA_CHARS));
    }
    Ok(result)
}

/// The failure, about an argument under the name that it has in the tool.
fn named<T: Tool>(failure: Failure) -> Failure {
    match failure {
        Failure::Library(Error::Argument { name, value, allowed }) => {
            let mut listed = T::ARGUMENTS.into_iter().flatten();
            let name = listed.find(|one| one.field == name).map_or(name, |one| one.name);
            Failure::Library(Error::Argument { name, value, allowed })
        }
        failure => failure,
    }
}

// The context of a call, and what an operation says of itself.

/// The entry point of tools, which recorded searches name.
pub(crate) const MCP: &str = "mcp";

/// The entry point of routes.
pub(crate) const HTTP: &str = "http";

/// Effect of a tool on stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only reads.
    Reads,
    /// Each call adds something.
    Adds,
    /// It sets something; a second call changes nothing more.
    Sets,
}

/// Content of an index that a tool is for. A tool that is not listed still answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The tool is always listed.
    Nothing,
    /// Claims and fragments.
    Evidence,
    /// Issues, or wiki pages.
    Solutions,
    /// Notes or conversations, or the right to write the first note.
    Notes,
    /// Judged searches, or the right to judge.
    Judgements,
}

/// The context of a call.
pub(crate) struct Call<'a> {
    pub index: &'a Index,
    pub caller: &'a Caller,
    /// The session or connection that it comes from.
    pub session: SearchCaller,
    /// Receives progress, and reports whether the client has cancelled the call.
    pub observer: &'a dyn Observer,
    /// State of the background work at the beginning of the call.
    pub state: &'a BackgroundState,
    /// The background work.
    pub background: &'a Background,
    /// Counts of calls and searches.
    pub metrics: &'a Metrics,
    /// True if the client gets answers as data too.
    pub with_data: bool,
    /// The entry point that recorded searches name.
    pub entry_point: &'static str,
}

impl Call<'_> {
    /// The namespaces that the caller may read.
    pub fn allowed(&self) -> Option<Vec<String>> {
        self.caller.namespaces.clone()
    }

    /// True if the caller may read a namespace.
    pub fn may_read(&self, namespace: &str) -> bool {
        self.caller.may_read(namespace)
    }

    /// The caller, for the library.
    pub fn asker(&self) -> Asker {
        Asker {
            allowed_namespaces: self.allowed(),
            entry_point: Some(self.entry_point.to_owned()),
            caller: Some(self.session),
        }
    }

    /// The one namespace whose figures the caller may have: the one that it names, or its only one. `None`: all, for a caller who may
    /// read all.
    ///
    /// # Errors
    /// It may not read the one that it names, or names none of several.
    pub fn one_namespace(&self, wanted: Option<String>) -> Result<Option<String>, Error> {
        let Some(allowed) = self.allowed() else { return Ok(wanted) };
        let choice = match (wanted, allowed.as_slice()) {
            (Some(wanted), allowed) if allowed.contains(&wanted) => return Ok(Some(wanted)),
            (None, [one]) => return Ok(Some(one.clone())),
            (wanted, _) => wanted.map_or_else(|| "none".to_owned(), |wanted| format!("{wanted:?}")),
        };
        let allowed = match allowed.as_slice() {
            [] => "one that you may read; there is none".to_owned(),
            allowed => format!("one of {}", allowed.join(", ")),
        };
        Err(Error::Argument { name: "namespace", value: choice, allowed })
    }

    /// True if places need their namespace: the index holds several trees, stands beside another one, or is in a database.
    pub fn holds_several(&self) -> bool {
        self.index.sources().len() > 1 || self.index.elsewhere().is_some() || self.index.config().store.url.is_some()
    }

    /// Records that the client reads this text, if a search showed it before.
    pub fn note_opened<'o>(&self, opened: impl Into<Opened<'o>>, operation: &str) {
        self.index.feedback().opened(opened, &self.session, &format!("{} {operation}", self.entry_point));
    }

    /// Warnings about the state of the index.
    pub fn warnings(&self) -> Vec<String> {
        let BackgroundState { phase, done, total, reason, .. } = self.state;
        // Counts and reasons could reveal other namespaces, so only callers who may read all of them get these.
        let detailed = self.caller.namespaces.is_none();
        let mut warnings: Vec<String> = self.index.elsewhere().filter(|_| detailed).into_iter().collect();
        let warning = match phase {
            Phase::Indexing if detailed && *total > 0 => {
                format!("the index is being updated ({done} of {total} so far); new text may not be found yet")
            }
            Phase::Indexing => "the index is being updated; new text may not be found yet".to_owned(),
            Phase::Failed => match reason {
                Some(reason) if detailed => format!("the index could not be updated: {reason}"),
                _ => "the index could not be updated; new text cannot be found".to_owned(),
            },
            Phase::Off | Phase::Embedding | Phase::Fresh => return warnings,
        };
        warnings.push(warning);
        warnings
    }

    /// Adds to an answer what the server knows of its index.
    pub fn complete(&self, answer: &mut Answer) {
        answer.warnings.splice(0..0, self.warnings());
        if answer.index.passages == 0 && self.state.phase == Phase::Indexing {
            answer.summary = "Nothing to search yet: indexing has not finished.".to_owned();
        }
    }
}

// The kinds of content that a caller can reach, which decide the tools that are worth listing.

/// The kinds of content in the namespaces of a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    evidence: bool,
    solutions: bool,
    notes: bool,
    judgements: bool,
}

impl Content {
    /// Looks which kinds there are. What cannot be read counts as there, so that its tool can say what is wrong.
    pub fn new(index: &Index, caller: &Caller) -> Content {
        let has = |collections: &[&str]| {
            let filter = Filter {
                namespaces: caller.namespaces.clone().unwrap_or_default(),
                collections: collections.iter().map(|&one| one.to_owned()).collect(),
                ..Filter::default()
            };
            // Nothing may be read, which an empty filter would not say.
            let nothing = caller.namespaces.as_ref().is_some_and(Vec::is_empty);
            !nothing && index.contents().coverage("", &filter).map_or(true, |coverage| coverage.passages > 0)
        };
        Content {
            evidence: has(&["evidence"]),
            solutions: has(&["issues", "wiki"]),
            notes: caller.may_remember || has(&["notes", "sessions"]),
            judgements: caller.may_judge || (caller.namespaces.is_none() && index.feedback().has_judgements()),
        }
    }

    /// True if a tool of this need is worth listing.
    pub fn has(self, need: Need) -> bool {
        match need {
            Need::Nothing => true,
            Need::Evidence => self.evidence,
            Need::Solutions => self.solutions,
            Need::Notes => self.notes,
            Need::Judgements => self.judgements,
        }
    }
}
