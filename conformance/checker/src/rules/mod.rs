//! Native rules: those about any API, and a folder for those about one.

mod chat;
mod counts;
mod error;
mod gemini;
mod interactions;
mod logprobs;
mod messages;
mod misnomer;
mod other_dialects;
mod request;
mod responses;
mod schema;
mod sequence;
mod shape;
mod text;
mod wire;

use catalogue::NativeRule as Rule;
use spec::table::Scope;

use self::responses::{annotation, call, item, output, part, response, summary, tool, vendor, ws};
use crate::engine::{Case, Ends, Moment, Native, Object};
pub use wire::{is_sign_of_life, lone_surrogate};

fn non_empty(
    case: &mut Case<'_>,
    object: &Object<'_>,
    pointer: &str,
    names: &[&str],
    message: impl Fn(&str) -> String,
) {
    for name in names.iter().filter(|name| object.get(name) == Some("\"\"")) {
        case.fault(&format!("{pointer}/{name}"), "a non-empty string", "\"\"", || message(name));
    }
}

pub(crate) const fn hooks(rule: Rule) -> &'static [Native] {
    use Native::{
        AnySnapshot, At, Body, Closed, ClosedAs, ClosedWithPhases, Ending, Fragment, Listed, LogprobsOf,
        Opened, OpenedAs, Phase, Point, Run, Settled, Snapshot,
    };
    match rule {
        Rule::BlockTextNotEmpty => &[Phase(Scope::Message, messages::message::text_not_empty)],
        Rule::ChoiceCallsAreThere => &[Closed(Scope::Choice, chat::choice::calls_are_there)],
        Rule::ChoiceCallsMeanToolCalls => &[Closed(Scope::Choice, chat::request::calls_mean_tool_calls)],
        Rule::ChoiceFormatKept => &[Closed(Scope::Choice, chat::request::format_kept)],
        Rule::ChoiceHasContent => &[Closed(Scope::Choice, chat::choice::has_content)],
        Rule::ChoiceHasFinishReason => &[Closed(Scope::Role, chat::choice::has_finish_reason)],
        Rule::ChoiceHasRole => &[
            Closed(Scope::Choice, chat::choice::has_role),
            Closed(Scope::Role, chat::choice::has_role_first),
        ],
        Rule::ChoiceIndexGap => &[At(Moment::StreamEnd, chat::choice::index_gap)],
        Rule::ChoiceLimitReached => &[Closed(Scope::Usage, chat::request::limit_reached)],
        Rule::ChoiceLogprobsAsked => &[Closed(Scope::Choice, chat::request::logprobs_asked)],
        Rule::ChoiceLogprobsJoined => &[Closed(Scope::Choice, chat::choice::logprobs_joined)],
        Rule::ChoiceLogprobsNotUnasked => &[Closed(Scope::Choice, chat::request::logprobs_not_unasked)],
        Rule::ChoiceTextBeforeStop => &[Settled(Scope::Content, request::text_before_stop)],
        Rule::CompletionAudioAsked => &[Closed(Scope::Choice, chat::request::audio_asked)],
        Rule::CompletionChoicesAsked => &[At(Moment::StreamEnd, chat::request::choices_asked)],
        Rule::CompletionChunkIsUsed => &[Point(chat::choice::chunk_is_used)],
        Rule::CompletionCreatedInSeconds => &[At(Moment::Beginning, chat::choice::created_in_seconds)],
        Rule::CompletionHasChoices => &[Point(chat::choice::has_choices)],
        Rule::CompletionIdentified => &[Closed(Scope::Choice, chat::choice::is_identified)],
        Rule::CompletionModelAsked => &[Closed(Scope::Choice, chat::request::model)],
        Rule::CompletionStreamAsked | Rule::MessageStreamAsked | Rule::ResponseStreamAsked => {
            &[At(Moment::Beginning, request::stream)]
        }
        Rule::CompletionStreamSent | Rule::MessageStreamSent | Rule::ResponseStreamSent => {
            &[Body(request::body)]
        }
        Rule::ErrorEndsCompletion
        | Rule::ErrorEndsGeneration
        | Rule::ErrorEndsInteraction
        | Rule::ErrorEndsMessage => &[At(Moment::AfterError, messages::message::error_is_last)],
        Rule::CandidateCountAsked => &[At(Moment::Event, gemini::request::count_asked)],
        Rule::CandidateFinishMessagePlaced => {
            &[Listed(gemini::LISTS, &["finishMessage"], gemini::candidate::message_at_finish)]
        }
        Rule::CandidateFinishReasonKnown => &[Phase(Scope::Candidate, gemini::candidate::reason_known)],
        Rule::CandidateFinishedOnce => &[At(Moment::Event, gemini::candidate::finished_once)],
        Rule::CandidateFormatKept => &[Phase(Scope::Candidate, gemini::request::format_kept)],
        Rule::CandidateHasParts => &[At(Moment::Event, gemini::candidate::has_parts)],
        Rule::CandidateIndexDistinct => &[At(Moment::Event, gemini::candidate::index_distinct)],
        Rule::CandidateNothingAfterFinish => &[At(Moment::Event, gemini::candidate::nothing_after_finish)],
        Rule::CandidateRole => &[At(Moment::Event, gemini::candidate::role)],
        Rule::CandidateStopHasOutput => &[Phase(Scope::Candidate, gemini::candidate::stop_has_output)],
        Rule::CandidateTextBeforeStop | Rule::StopTextBeforeSequence => {
            &[Settled(Scope::Text, request::text_before_stop)]
        }
        Rule::CodeExecutionFollowsCode => &[Opened(Scope::CodeResult, gemini::call::follows_code)],
        Rule::CodeExecutionHasResult => &[At(Moment::StreamEnd, gemini::call::has_result)],
        Rule::ContentPartEmptyTextPlaced => &[At(Moment::Event, gemini::part::empty_text_placed)],
        Rule::ContentPartFileTyped => &[Listed(gemini::LISTS, &["inlineData"], gemini::part::file_typed)],
        Rule::ContentPartOneKind => &[At(Moment::Event, gemini::part::one_kind)],
        Rule::FunctionCallAllHaveIds => &[Opened(Scope::FunctionCall, gemini::call::all_have_ids)],
        Rule::FunctionCallAnyChosen => &[Phase(Scope::Candidate, request::any_chosen)],
        Rule::FunctionCallHasArgs => &[Opened(Scope::FunctionCall, gemini::call::has_args)],
        Rule::FunctionCallIdUnique => &[Opened(Scope::FunctionCall, gemini::call::id_unique)],
        Rule::FunctionCallNamed => &[Listed(gemini::LISTS, &["functionCall"], gemini::call::named)],
        Rule::FunctionCallNotPrefixed => &[Opened(Scope::FunctionCall, gemini::call::not_prefixed)],
        Rule::FunctionCallNoneChosen => &[Phase(Scope::Candidate, request::none_chosen)],
        Rule::FunctionCallWhole => &[Opened(Scope::FunctionCall, gemini::call::whole)],
        Rule::FunctionCallOffered => &[Opened(Scope::FunctionCall, gemini::request::offered)],
        Rule::FunctionStepArgumentsJson => &[AnySnapshot(interactions::arguments_json)],
        Rule::InteractionActionRequired => &[AnySnapshot(interactions::action_required)],
        Rule::InteractionCompletedCounted => &[AnySnapshot(interactions::completed_counted)],
        Rule::InteractionTokensAddUp => &[AnySnapshot(interactions::tokens_add_up)],
        Rule::StepStartsEmpty => &[Opened(Scope::Step, interactions::starts_empty)],
        Rule::FunctionCallPiecesPlaced => {
            &[Listed(gemini::LISTS, &["functionCall"], gemini::call::pieces_placed)]
        }
        Rule::GenerationDataSpaced => &[At(Moment::Event, wire::data_spaced)],
        Rule::GenerationLineEndsEscaped => &[At(Moment::Event, wire::line_ends_escaped)],
        Rule::GenerationHasCandidates => &[At(Moment::Event, gemini::candidate::has_candidates)],
        Rule::GenerationOnlyData => {
            &[At(Moment::Stray, wire::only_data), At(Moment::Frame, wire::no_id_line)]
        }
        Rule::GroundingIndicesInChunks => &[Phase(Scope::Candidate, gemini::candidate::indices_in_chunks)],
        Rule::GroundingSegmentInText => &[Phase(Scope::Candidate, gemini::candidate::segment_in_text)],
        Rule::PromptBlockedAlone => &[Closed(Scope::Feedback, gemini::candidate::blocked_alone)],
        Rule::ServerCallAnswered => &[At(Moment::StreamEnd, gemini::call::answered)],
        Rule::ThoughtAsked => &[Listed(gemini::LISTS, &["thought"], gemini::request::thoughts_asked)],
        Rule::ThoughtBeforeAnswer => &[Run(Scope::Thought, gemini::part::thought_first)],
        Rule::ThoughtCounted => &[At(Moment::StreamEnd, gemini::usage::thoughts_counted)],
        Rule::ThoughtHasText => &[Listed(gemini::LISTS, &["thought"], gemini::part::thought_has_text)],
        Rule::ThoughtIsTrue => &[Listed(gemini::LISTS, &["thought"], gemini::part::thought_is_true)],
        Rule::ThoughtSignatureBase64 => {
            &[Listed(gemini::LISTS, &["thoughtSignature"], gemini::part::signature_base64)]
        }
        Rule::ThoughtSignatureFirstCall => &[Opened(Scope::FunctionCall, gemini::part::first_is_signed)],
        Rule::ThoughtSignatureNotOnThought => {
            &[Listed(gemini::LISTS, &["thought"], gemini::part::signature_not_on_thought)]
        }
        Rule::ThoughtSignatureOnCall => &[Phase(Scope::Candidate, gemini::part::calls_are_signed)],
        Rule::TokenCountAddsUp => &[Phase(Scope::Generation, gemini::usage::adds_up)],
        Rule::TokenCountAtFinish => &[Phase(Scope::Candidate, gemini::usage::at_finish)],
        Rule::TokenCountCachedWithin => &[Phase(Scope::Generation, gemini::usage::cached_within)],
        Rule::TokenCountCountsText => &[At(Moment::Event, gemini::usage::counts_text)],
        Rule::TokenCountGrows => &[At(Moment::Event, gemini::usage::grows)],
        Rule::TokenCountInEachChunk => &[At(Moment::Event, gemini::usage::in_each)],
        Rule::MessageFormatKept => &[Phase(Scope::Message, messages::request::format_kept)],
        Rule::MessageHasContent => &[Phase(Scope::Message, messages::message::has_content)],
        Rule::MessageIdentified => &[AnySnapshot(messages::message::identified)],
        Rule::MessageModelAsked => &[AnySnapshot(messages::request::model)],
        Rule::MessageStartsEmpty => &[AnySnapshot(messages::message::starts_empty)],
        Rule::ServerToolAnswered => &[Phase(Scope::Message, messages::tools::answered_in_turn)],
        Rule::ServerToolResultNamed => &[Opened(Scope::Block, messages::tools::result_named)],
        Rule::StopCallMeansToolUse => &[Phase(Scope::Message, messages::stop::call_means_tool_use)],
        Rule::StopLimitReached => &[Phase(Scope::Message, messages::request::limit_reached)],
        Rule::StopNotAtStart => &[AnySnapshot(messages::message::starts_without_reason)],
        Rule::StopReasonKnown => &[
            Phase(Scope::Message, messages::stop::reason_known),
            Snapshot(messages::stop::reason_of_body_known),
        ],
        Rule::StopReasonSet => &[At(Moment::StreamEnd, messages::stop::reason_set)],
        Rule::StopRefusalExplained => &[Phase(Scope::Message, messages::stop::refusal_explained)],
        Rule::StopSequenceAgrees => &[Phase(Scope::Message, messages::stop::sequence_agrees)],
        Rule::StopSequenceAsked => &[Phase(Scope::Message, messages::request::sequence_asked)],
        Rule::StopToolUseHasCall => &[Phase(Scope::Message, messages::stop::tool_use_has_call)],
        Rule::ThinkingFirst => &[Phase(Scope::Message, messages::request::thinking_first)],
        Rule::ThinkingNotWhenDisabled => {
            &[OpenedAs(&messages::request::THINKING, messages::request::not_when_disabled)]
        }
        Rule::ThinkingOmitted => &[Settled(Scope::Thinking, messages::request::omitted)],
        Rule::ThinkingRedactedHasData => {
            &[OpenedAs(&["redacted_thinking"], messages::thinking::redacted_has_data)]
        }
        Rule::ThinkingSignatureInItsDelta => {
            &[Closed(Scope::Signature, messages::thinking::signature_in_its_delta)]
        }
        Rule::ThinkingSignatureLast => &[Run(Scope::Thinking, messages::thinking::signature_last)],
        Rule::ThinkingSignatureNotEmpty => {
            &[Closed(Scope::Signature, messages::thinking::signature_not_empty)]
        }
        Rule::ThinkingSigned => &[Phase(Scope::Message, messages::thinking::signed)],
        Rule::ToolCallAnyChosen => &[Closed(Scope::Choice, chat::request::any_chosen)],
        Rule::ToolCallArgumentsJson => &[Closed(Scope::Choice, chat::tool_call::arguments_json)],
        Rule::ToolCallFunctionCall => &[
            Closed(Scope::Role, chat::tool_call::function_call_of_value),
            Opened(Scope::ToolCall, chat::tool_call::function_call_of_value),
            Closed(Scope::Choice, chat::tool_call::function_call_of_value),
            Point(chat::tool_call::function_call_of_point),
        ],
        Rule::ToolCallNamed => &[Opened(Scope::ToolCall, chat::tool_call::named)],
        Rule::ToolCallNameOnce => &[Run(Scope::Arguments, chat::tool_call::name_once)],
        Rule::ToolCallNoneChosen => &[Closed(Scope::Choice, request::none_chosen)],
        Rule::ToolCallOffered => &[Opened(Scope::ToolCall, request::offered)],
        Rule::ToolCallOnceAChunk => &[Run(Scope::Arguments, chat::tool_call::once_a_chunk)],
        Rule::ToolCallStrict => &[Closed(Scope::Choice, chat::tool_call::strict)],
        Rule::ToolCallTyped => &[Opened(Scope::ToolCall, chat::tool_call::typed)],
        Rule::ToolCallOneAfterAnother => &[Run(Scope::Arguments, chat::tool_call::one_after_another)],
        Rule::ToolCallOneAtMost => &[Closed(Scope::Choice, request::one_at_most)],
        Rule::ToolCallOneChosen => &[Closed(Scope::Choice, chat::request::one_chosen)],
        Rule::ToolUseAnyChosen => &[Phase(Scope::Message, messages::request::any_chosen)],
        Rule::ToolUseInputComplete => &[Phase(Scope::Message, messages::tools::input_complete)],
        Rule::ToolUseInputJson => &[Phase(Scope::Message, messages::tools::input_json)],
        Rule::ToolUseInputOnce => &[Run(Scope::Input, messages::tools::input_once)],
        Rule::ToolUseNamed => &[OpenedAs(&messages::CALLS, messages::tools::named)],
        Rule::ToolUseNoneChosen => &[Phase(Scope::Message, request::none_chosen)],
        Rule::ToolUseOffered => &[OpenedAs(&["tool_use"], request::offered)],
        Rule::ToolUseOneAtMost => &[Phase(Scope::Message, request::one_at_most)],
        Rule::ToolUseOneChosen => &[Phase(Scope::Message, messages::request::one_chosen)],
        Rule::ToolUseStartsWithoutInput => {
            &[OpenedAs(&messages::CALLS, messages::tools::starts_without_input)]
        }
        Rule::UsageAddsUp => &[Closed(Scope::Usage, chat::usage::adds_up)],
        Rule::UsageAfterFinish => &[Closed(Scope::Usage, chat::usage::after_finish)],
        Rule::UsageAlone => &[Closed(Scope::Usage, chat::usage::alone)],
        Rule::UsageAsked => &[At(Moment::StreamEnd, chat::request::usage_asked)],
        Rule::UsageCountsInput => &[AnySnapshot(messages::usage::counts_input)],
        Rule::UsageCountsOutput => &[Closed(Scope::Usage, chat::usage::counts_output)],
        Rule::UsageCountsPrompt => &[Closed(Scope::Usage, chat::usage::counts_prompt)],
        Rule::UsageDetailsWithin => {
            &[Closed(Scope::Usage, chat::usage::details_within), Snapshot(counts::details_within_response)]
        }
        Rule::UsageInputKept => &[Phase(Scope::Message, messages::usage::input_kept)],
        Rule::UsageNotUnasked => &[Closed(Scope::Usage, chat::request::usage_not_unasked)],
        Rule::UsageOutputGrows => &[Phase(Scope::Message, messages::usage::output_grows)],
        Rule::UsageOutputWithinMaxTokens => &[Phase(Scope::Message, messages::request::within_limit)],
        Rule::UsageWithinLimit => &[Closed(Scope::Usage, chat::request::within_limit)],
        Rule::UsagePartsWithin => &[
            Snapshot(messages::usage::parts_within),
            Phase(Scope::Message, messages::usage::parts_within_at_end),
        ],
        Rule::AnnotationBeforeTextDone => &[Point(annotation::before_text_done)],
        Rule::AnnotationRangeInText => {
            &[Closed(Scope::Part, annotation::range_in_part), Closed(Scope::Item, annotation::range_in_item)]
        }
        Rule::CallArgumentsStreamed => &[ClosedAs(&["function_call"], call::arguments_streamed)],
        Rule::CallArgumentsJson => &[ClosedAs(&["function_call", "mcp_call"], call::arguments_json)],
        Rule::CallArgumentsComplete => &[ClosedAs(&["function_call"], call::arguments_complete)],
        Rule::CallHasDeltas => &[
            Settled(Scope::Arguments, responses::text::has_deltas),
            Settled(Scope::CustomToolInput, responses::text::has_deltas),
            Settled(Scope::McpArguments, responses::text::has_deltas),
            Settled(Scope::Code, responses::text::has_deltas),
        ],
        Rule::CallIdentityKept => {
            &[ClosedAs(&call::ANSWERED, call::identity_kept), Closed(Scope::Arguments, call::name_kept)]
        }
        Rule::CallIdUnique => &[Opened(Scope::Item, call::id_unique)],
        Rule::CallNameDeclared => &[OpenedAs(&call::ANSWERED, call::name_declared)],
        Rule::ErrorBodyShape => &[Body(error::body_shape), At(Moment::Beginning, error::no_stream)],
        Rule::ErrorEqualsFailed => &[Snapshot(responses::error::equals_failed)],
        Rule::ErrorFollowedByFailed => &[
            At(Moment::AfterError, responses::error::followed_by_failed),
            At(Moment::StreamEnd, responses::error::ended_by_failed),
        ],
        Rule::ErrorNotUnder200 => {
            &[At(Moment::Beginning, error::stream_not_under_200), Body(error::body_not_under_200)]
        }
        Rule::ErrorStatusAgrees => &[Body(error::status_agrees)],
        Rule::ItemCallNamed => &[OpenedAs(&call::ANSWERED, item::call_named)],
        Rule::ItemContentKept => &[ClosedAs(&["message"], item::content_kept)],
        Rule::ItemFieldsStable => &[Closed(Scope::Item, item::fields_stable)],
        Rule::ItemFinished => &[Closed(Scope::Item, item::finished)],
        Rule::ItemHasId => &[Opened(Scope::Item, item::has_id)],
        Rule::ItemIncompleteEndsResponse => &[Ending(Ends::All, item::incomplete_ends_response)],
        Rule::ItemIncompleteLast => {
            &[Opened(Scope::Item, item::incomplete_last), Closed(Scope::Item, item::incomplete_before_last)]
        }
        Rule::ItemKeysKept => &[Closed(Scope::Item, item::keys_kept)],
        Rule::ItemMessageFromAssistant => &[OpenedAs(&["message"], item::message_from_assistant)],
        Rule::ItemStartsEmpty => &[Opened(Scope::Item, item::starts_empty)],
        Rule::OutputAtItsIndex => &[Ending(Ends::All, output::at_its_index)],
        Rule::OutputCountAgrees => &[Ending(Ends::Otherwise, output::count_agrees)],
        Rule::OutputEqualsItems => &[Ending(Ends::Otherwise, output::equals_items)],
        Rule::OutputIdsKept => &[Ending(Ends::Otherwise, output::ids_kept)],
        Rule::OutputItemsStreamed => &[Ending(Ends::Otherwise, output::items_streamed)],
        Rule::OutputTextKept => &[Ending(Ends::Otherwise, output::text_kept)],
        Rule::OutputTypesInOrder => &[Ending(Ends::Otherwise, output::types_in_order)],
        Rule::PartCountAgrees => &[ClosedAs(&["message"], part::count_agrees)],
        Rule::PartEqualsItem => &[Closed(Scope::Item, part::equals_item)],
        Rule::PartStartsEmpty => &[Opened(Scope::Part, part::starts_empty)],
        Rule::RequestAllowedTools => &[Ending(Ends::WithChoice, responses::request::allowed_tools)],
        Rule::RequestCompactionTriggered => &[Ending(Ends::All, responses::request::compaction_triggered)],
        Rule::RequestFormatKept => &[Ending(Ends::All, responses::request::format_kept)],
        Rule::RequestOneCallAtMost => &[Ending(Ends::All, responses::request::one_call_at_most)],
        Rule::RequestOutputWithinLimit => &[Ending(Ends::All, responses::request::output_within_limit)],
        Rule::RequestToolChoiceForced => &[Ending(Ends::WithChoice, responses::request::tool_choice_forced)],
        Rule::RequestToolChoiceNone => &[Ending(Ends::WithChoice, responses::request::tool_choice_none)],
        Rule::RequestToolChoiceRequired => {
            &[Ending(Ends::WithChoice, responses::request::tool_choice_required)]
        }
        Rule::ResponseCompletedAtAgrees => &[Snapshot(response::completed_at_agrees)],
        Rule::ResponseEchoConstant => &[Snapshot(response::echo_constant)],
        Rule::ResponseErrorAgrees => &[Snapshot(response::error_agrees)],
        Rule::ResponseInProgressSecond => &[At(Moment::Beginning, response::in_progress_second)],
        Rule::ResponseInProgressUnchanged => &[Snapshot(response::in_progress_unchanged)],
        Rule::ResponseIncompleteReasonKnown => &[Snapshot(response::incomplete_reason_known)],
        Rule::ResponseIncompleteDetailsAgree => &[Snapshot(response::incomplete_details_agree)],
        Rule::ResponseKeysKept => &[Snapshot(response::keys_kept)],
        Rule::ResponseMetadataIsObject => &[Snapshot(response::metadata_is_object)],
        Rule::ResponseNamed => &[Snapshot(response::named)],
        Rule::ResponseOutputStartsEmpty => &[Snapshot(response::output_starts_empty)],
        Rule::ResponseStatusAgrees => &[AnySnapshot(response::status_agrees)],
        Rule::ResponseTimesInSeconds => &[Snapshot(response::times_in_seconds)],
        Rule::ResponseUsageAddsUp => &[Snapshot(response::usage_adds_up)],
        Rule::ResponseHasContent => &[Ending(Ends::All, output::has_content)],
        Rule::ResponseUsageCountsText => &[Ending(Ends::All, output::usage_counts_text)],
        Rule::ResponseUsageDetailsWithin => &[Snapshot(counts::details_within_response)],
        Rule::ResponseUsageOnlyAtEnd => &[Snapshot(response::usage_only_at_end)],
        Rule::ResponseUsagePresent => &[Snapshot(response::usage_present)],
        Rule::SchemaBodyValid => &[Body(schema::body_valid)],
        Rule::SchemaEventKnown => &[At(Moment::Invalid, schema::event_known)],
        Rule::SchemaEventTyped => &[At(Moment::Invalid, schema::event_typed)],
        Rule::SchemaEventValid => &[At(Moment::Invalid, schema::event_valid)],
        Rule::SchemaForeignProtocol => &[At(Moment::Invalid, schema::foreign_protocol)],
        Rule::SchemaTypeKnown => &[At(Moment::Invalid, schema::type_known)],
        Rule::SchemaValueKnown => &[At(Moment::Newer, schema::value_known)],
        Rule::SchemaWholeNumbers => &[At(Moment::Counts, counts::whole_numbers)],
        Rule::SequenceByOne => &[At(Moment::Sequence, sequence::by_one)],
        Rule::SequenceGrows => &[At(Moment::Sequence, sequence::grows)],
        Rule::SequencePresent => &[At(Moment::Invalid, sequence::present)],
        Rule::SequenceStartsAtZero => &[At(Moment::Beginning, sequence::starts_at_zero)],
        Rule::SummaryCountAgrees => &[ClosedAs(&["reasoning"], summary::count_agrees)],
        Rule::SummaryEqualsItem => &[ClosedAs(&["reasoning"], summary::equals_item)],
        Rule::SummaryOneAtATime => &[Opened(Scope::SummaryPart, summary::one_at_a_time)],
        Rule::SummaryStartsEmpty => &[Opened(Scope::SummaryPart, summary::starts_empty)],
        Rule::TextHasDeltas => &[
            Settled(Scope::Text, responses::text::has_deltas),
            Settled(Scope::Refusal, responses::text::has_deltas),
            Settled(Scope::ReasoningText, responses::text::has_deltas),
            Settled(Scope::SummaryText, responses::text::has_deltas),
        ],
        Rule::TextLogprobsJoined => &[Closed(Scope::Text, responses::text::logprobs_joined)],
        Rule::TextLogprobsSpellDelta => &[LogprobsOf(Scope::Text, responses::text::logprobs_spell_delta)],
        Rule::ToolCodeWithinCall => &[
            Fragment(Scope::Code, tool::code_fragment_within_call),
            Closed(Scope::Code, tool::code_within_call),
        ],
        Rule::ToolHasPhases => &[ClosedWithPhases(tool::has_phases)],
        Rule::ToolPhasesComplete => &[ClosedWithPhases(tool::phases_complete)],
        Rule::ToolStatusAgrees => &[ClosedWithPhases(tool::status_agrees)],
        Rule::ToolMcpFailureHasError => &[Closed(Scope::Item, tool::mcp_failure_has_error)],
        Rule::TextDeltasAdd => &[
            Settled(Scope::Content, text::deltas_add),
            Settled(Scope::Reasoning, text::deltas_add),
            Settled(Scope::ReasoningText, text::deltas_add),
            Settled(Scope::Refusal, text::deltas_add),
            Settled(Scope::SummaryText, text::deltas_add),
            Settled(Scope::Text, text::deltas_add),
            Settled(Scope::Thinking, text::deltas_add),
        ],
        Rule::TextLogprobsPossible => {
            &[LogprobsOf(Scope::Content, logprobs::possible), LogprobsOf(Scope::Text, logprobs::possible)]
        }
        Rule::TextNoModelMarkup => &[
            Settled(Scope::Content, text::no_model_markup),
            Settled(Scope::Reasoning, text::no_model_markup),
            Settled(Scope::Text, text::no_model_markup),
            Settled(Scope::Thinking, text::no_model_markup),
            Snapshot(text::no_model_markup_in_response),
        ],
        Rule::VendorCreatedAtInMilliseconds => &[Snapshot(vendor::created_at_in_milliseconds)],
        Rule::VendorMcpArgumentsWithinCall => &[
            Fragment(Scope::McpArguments, vendor::mcp_fragment_within_call),
            Closed(Scope::McpArguments, vendor::mcp_arguments_within_call),
        ],
        Rule::VendorOutputTextJoined => &[Ending(Ends::All, vendor::output_text_joined)],
        Rule::VendorRewriteBeforeTextDone => &[At(Moment::Event, vendor::rewrite_before_text_done)],
        Rule::VendorRoutingBeforeItems => &[Point(vendor::routing_before_items)],
        Rule::WireDoneLast => &[At(Moment::Marker, wire::done_last)],
        Rule::WireDoneMarker => &[
            At(Moment::Marker, wire::done_is_forbidden),
            At(Moment::Marker, wire::done_is_exact),
            At(Moment::StreamEnd, wire::done_is_required),
        ],
        Rule::WireEventLine => &[At(Moment::Frame, wire::event_line)],
        Rule::WireEventStreamContentType => &[At(Moment::Beginning, wire::event_stream_content_type)],
        Rule::WireJsonContentType => &[Body(wire::json_content_type)],
        Rule::WireJsonObject => &[At(Moment::Invalid, wire::json_object)],
        Rule::WireKeepAliveIsComment => &[At(Moment::Invalid, wire::keep_alive_is_comment)],
        Rule::WireKnownFields => &[At(Moment::Stray, wire::known_fields)],
        Rule::WireNoIdLine => &[At(Moment::Frame, wire::no_id_line)],
        Rule::WireNoLoneSurrogate => &[At(Moment::Escaped, wire::no_lone_surrogate)],
        Rule::WireNoReplacementCharacter => &[At(Moment::Escaped, wire::no_replacement_character)],
        Rule::WireTerminated => &[At(Moment::Frame, wire::terminated)],
        Rule::WireUtf8 => &[At(Moment::Frame, wire::utf8)],
        Rule::WsAnswersCreate => &[At(Moment::StreamEnd, ws::answers_create)],
        Rule::WsConnectionLimit => &[At(Moment::Socket, ws::connection_limit)],
        Rule::WsCreatedAsked => &[At(Moment::Socket, ws::created_asked)],
        Rule::WsErrorEnvelope => &[At(Moment::Socket, ws::error_envelope)],
        Rule::WsIdsUnique => &[At(Moment::Socket, ws::ids_unique)],
        Rule::WsInjectAnswered => {
            &[At(Moment::Aside, ws::inject_asked), At(Moment::StreamEnd, ws::inject_answered)]
        }
        Rule::WsLaneLimit => &[At(Moment::Socket, ws::lane_limit)],
        Rule::WsLatestKept => &[At(Moment::Socket, ws::latest_kept)],
        Rule::WsOneInFlight => &[At(Moment::Socket, ws::one_in_flight)],
        Rule::WsSteerFailed => &[At(Moment::Aside, ws::steer_failed)],
        Rule::WsSteerFollowed => {
            &[At(Moment::Aside, ws::steer_asked), At(Moment::StreamEnd, ws::steer_followed)]
        }
        Rule::WsSteerPending => &[At(Moment::Aside, ws::steer_pending)],
        Rule::WsSteeredEnds => &[At(Moment::Socket, ws::steered_ends)],
        Rule::WsStreamIdEchoed => &[At(Moment::Socket, ws::stream_id_echoed)],
        Rule::WsTurnsInOrder => &[At(Moment::Socket, ws::turns_in_order)],
        Rule::WsUnknownPreviousId => &[At(Moment::Socket, ws::unknown_previous_id)],
    }
}

#[cfg(test)]
mod tests {
    use catalogue::{DecidedBy, LooksAt, RULES, Relation};
    use spec::table::Scope;

    use super::hooks;
    use crate::engine::{Ends, Moment, Native};

    /// Returns whether a body is a moment of this kind, too.
    const fn can_be_of_body(native: &Native) -> bool {
        matches!(
            native,
            Native::Body(_)
                | Native::At(Moment::Frame | Moment::Escaped | Moment::Invalid | Moment::Newer, _)
                | Native::Snapshot(_)
                | Native::OpenedAs(..)
                | Native::ClosedAs(..)
                | Native::ClosedWithPhases(_)
                | Native::Opened(Scope::Item, _)
                | Native::Closed(Scope::Item, _)
                | Native::Ending(Ends::All | Ends::WithChoice, _)
        )
    }

    #[test]
    fn rules_look_at_what_their_pages_say() {
        for rule in RULES {
            let looks = |what| rule.looks_at.contains(&what);
            let DecidedBy::Code(native) = rule.decided_by else {
                let is_unique = matches!(rule.decided_by, DecidedBy::Relation(Relation::Unique(_)));
                assert!(looks(LooksAt::Stream) && (is_unique || !looks(LooksAt::Body)), "{}", rule.id);
                continue;
            };
            let is_of_body = |native: &&Native| matches!(native, Native::Body(_));
            let bodies = hooks(native).iter().filter(is_of_body).count();
            let is_of_socket = rule.group() == "ws"
                || hooks(native).iter().any(|native| matches!(native, Native::At(Moment::Socket, _)));
            let others = bodies < hooks(native).len();
            assert_eq!(looks(LooksAt::Stream), others && !is_of_socket, "{} and streams", rule.id);
            assert_eq!(looks(LooksAt::Socket), is_of_socket, "{} and sockets", rule.id);
            assert!(looks(LooksAt::Body) || bodies == 0, "{} has code for bodies", rule.id);
            let can_be = hooks(native).iter().any(can_be_of_body);
            assert!(can_be || !looks(LooksAt::Body), "{} is never called for a body", rule.id);
        }
    }
}
