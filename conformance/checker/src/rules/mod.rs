//! Native rules: those about any API, and a folder for those about one.

mod chat;
mod counts;
mod error;
mod logprobs;
mod messages;
mod misnomer;
mod other_dialects;
mod request;
mod responses;
mod schema;
mod sequence;
mod wire;

use catalogue::NativeRule;
use spec::table::Scope;

use self::responses::{annotation, call, item, output, part, response, summary, text, tool, vendor, ws};
use crate::engine::Native;
pub use wire::is_sign_of_life;

/// Returns the hooks of a rule, with their functions.
pub(crate) const fn hooks(rule: NativeRule) -> &'static [Native] {
    match rule {
        NativeRule::BlockCitationBeforeText => &[Native::Point(messages::message::citation_before_text)],
        NativeRule::BlockTextNotEmpty => &[Native::Phase(Scope::Message, messages::message::text_not_empty)],
        NativeRule::ChoiceCallsAreThere => &[Native::Closed(Scope::Choice, chat::choice::calls_are_there)],
        NativeRule::ChoiceCallsMeanToolCalls => {
            &[Native::Closed(Scope::Choice, chat::request::calls_mean_tool_calls)]
        }
        NativeRule::ChoiceFormatKept => &[Native::Closed(Scope::Choice, chat::request::format_kept)],
        NativeRule::ChoiceHasContent => &[Native::Closed(Scope::Choice, chat::choice::has_content)],
        NativeRule::ChoiceHasFinishReason => &[Native::Closed(Scope::Role, chat::choice::has_finish_reason)],
        NativeRule::ChoiceHasRole => &[
            Native::Closed(Scope::Choice, chat::choice::has_role),
            Native::Closed(Scope::Role, chat::choice::has_role_first),
        ],
        NativeRule::ChoiceLimitReached => &[Native::Closed(Scope::Usage, chat::request::limit_reached)],
        NativeRule::ChoiceLogprobsAsked => &[Native::Closed(Scope::Choice, chat::request::logprobs_asked)],
        NativeRule::ChoiceLogprobsJoined => &[Native::Closed(Scope::Choice, chat::choice::logprobs_joined)],
        NativeRule::ChoiceLogprobsNotUnasked => {
            &[Native::Closed(Scope::Choice, chat::request::logprobs_not_unasked)]
        }
        NativeRule::ChoiceTextBeforeStop => &[Native::Settled(Scope::Content, request::text_before_stop)],
        NativeRule::CompletionAudioAsked => &[Native::Closed(Scope::Choice, chat::request::audio_asked)],
        NativeRule::CompletionChoicesAsked => &[Native::StreamEnd(chat::request::choices_asked)],
        NativeRule::CompletionChunkIsUsed => &[Native::Point(chat::choice::chunk_is_used)],
        NativeRule::CompletionCreatedInSeconds => &[Native::Beginning(chat::choice::created_in_seconds)],
        NativeRule::CompletionHasChoices => &[Native::Point(chat::choice::has_choices)],
        NativeRule::CompletionIdentified => &[Native::Closed(Scope::Choice, chat::choice::is_identified)],
        NativeRule::CompletionModelAsked => &[Native::Closed(Scope::Choice, chat::request::model)],
        NativeRule::CompletionStreamAsked | NativeRule::MessageStreamAsked => {
            &[Native::Beginning(request::stream)]
        }
        NativeRule::ErrorEndsCompletion | NativeRule::ErrorEndsMessage => {
            &[Native::AfterError(messages::message::error_is_last)]
        }
        NativeRule::MessageFormatKept => &[Native::Phase(Scope::Message, messages::request::format_kept)],
        NativeRule::MessageHasContent => &[Native::Phase(Scope::Message, messages::message::has_content)],
        NativeRule::MessageIdentified => &[Native::AnySnapshot(messages::message::identified)],
        NativeRule::MessageModelAsked => &[Native::AnySnapshot(messages::request::model)],
        NativeRule::MessageStartsEmpty => &[Native::AnySnapshot(messages::message::starts_empty)],
        NativeRule::ServerToolAnswered => &[Native::Phase(Scope::Message, messages::tools::answered_in_turn)],
        NativeRule::ServerToolResultNamed => &[Native::Opened(Scope::Block, messages::tools::result_named)],
        NativeRule::StopCallMeansToolUse => {
            &[Native::Phase(Scope::Message, messages::stop::call_means_tool_use)]
        }
        NativeRule::StopLimitReached => &[Native::Phase(Scope::Message, messages::request::limit_reached)],
        NativeRule::StopNotAtStart => &[Native::AnySnapshot(messages::message::starts_without_reason)],
        NativeRule::StopReasonSet => &[Native::StreamEnd(messages::stop::reason_set)],
        NativeRule::StopRefusalExplained => {
            &[Native::Phase(Scope::Message, messages::stop::refusal_explained)]
        }
        NativeRule::StopSequenceAgrees => &[Native::Phase(Scope::Message, messages::stop::sequence_agrees)],
        NativeRule::StopSequenceAsked => &[Native::Phase(Scope::Message, messages::request::sequence_asked)],
        NativeRule::StopTextBeforeSequence => &[Native::Settled(Scope::Text, request::text_before_stop)],
        NativeRule::StopToolUseHasCall => &[Native::Phase(Scope::Message, messages::stop::tool_use_has_call)],
        NativeRule::ThinkingFirst => &[Native::Phase(Scope::Message, messages::request::thinking_first)],
        NativeRule::ThinkingNotWhenDisabled => {
            &[Native::OpenedAs(&messages::request::THINKING, messages::request::not_when_disabled)]
        }
        NativeRule::ThinkingOmitted => &[Native::Settled(Scope::Thinking, messages::request::omitted)],
        NativeRule::ThinkingRedactedHasData => {
            &[Native::OpenedAs(&["redacted_thinking"], messages::thinking::redacted_has_data)]
        }
        NativeRule::ThinkingSignatureInItsDelta => {
            &[Native::Closed(Scope::Signature, messages::thinking::signature_in_its_delta)]
        }
        NativeRule::ThinkingSignatureLast => {
            &[Native::Run(Scope::Thinking, messages::thinking::signature_last)]
        }
        NativeRule::ThinkingSignatureNotEmpty => {
            &[Native::Closed(Scope::Signature, messages::thinking::signature_not_empty)]
        }
        NativeRule::ThinkingSigned => &[Native::Phase(Scope::Message, messages::thinking::signed)],
        NativeRule::ToolCallAnyChosen => &[Native::Closed(Scope::Choice, chat::request::any_chosen)],
        NativeRule::ToolCallArgumentsJson => {
            &[Native::Closed(Scope::Choice, chat::tool_call::arguments_json)]
        }
        NativeRule::ToolCallNamed => &[Native::Opened(Scope::ToolCall, chat::tool_call::named)],
        NativeRule::ToolCallNameOnce => &[Native::Run(Scope::Arguments, chat::tool_call::name_once)],
        NativeRule::ToolCallNoneChosen => &[Native::Closed(Scope::Choice, chat::request::none_chosen)],
        NativeRule::ToolCallOffered => &[Native::Opened(Scope::ToolCall, request::offered)],
        NativeRule::ToolCallOnceAChunk => &[Native::Run(Scope::Arguments, chat::tool_call::once_a_chunk)],
        NativeRule::ToolCallTyped => &[Native::Opened(Scope::ToolCall, chat::tool_call::typed)],
        NativeRule::ToolCallOneAfterAnother => {
            &[Native::Run(Scope::Arguments, chat::tool_call::one_after_another)]
        }
        NativeRule::ToolCallOneAtMost => &[Native::Closed(Scope::Choice, chat::request::one_at_most)],
        NativeRule::ToolCallOneChosen => &[Native::Closed(Scope::Choice, chat::request::one_chosen)],
        NativeRule::ToolUseAnyChosen => &[Native::Phase(Scope::Message, messages::request::any_chosen)],
        NativeRule::ToolUseInputJson => &[Native::Phase(Scope::Message, messages::tools::input_json)],
        NativeRule::ToolUseInputOnce => &[Native::Run(Scope::Input, messages::tools::input_once)],
        NativeRule::ToolUseNamed => &[Native::OpenedAs(&messages::CALLS, messages::tools::named)],
        NativeRule::ToolUseNoneChosen => &[Native::Phase(Scope::Message, messages::request::none_chosen)],
        NativeRule::ToolUseOffered => &[Native::OpenedAs(&["tool_use"], request::offered)],
        NativeRule::ToolUseOneAtMost => &[Native::Phase(Scope::Message, messages::request::one_at_most)],
        NativeRule::ToolUseOneChosen => &[Native::Phase(Scope::Message, messages::request::one_chosen)],
        NativeRule::ToolUseStartsWithoutInput => {
            &[Native::OpenedAs(&messages::CALLS, messages::tools::starts_without_input)]
        }
        NativeRule::UsageAddsUp => &[Native::Closed(Scope::Usage, chat::usage::adds_up)],
        NativeRule::UsageAfterFinish => &[Native::Closed(Scope::Usage, chat::usage::after_finish)],
        NativeRule::UsageAlone => &[Native::Closed(Scope::Usage, chat::usage::alone)],
        NativeRule::UsageAsked => &[Native::StreamEnd(chat::request::usage_asked)],
        NativeRule::UsageCountsInput => &[Native::AnySnapshot(messages::usage::counts_input)],
        NativeRule::UsageCountsOutput => &[Native::Closed(Scope::Usage, chat::usage::counts_output)],
        NativeRule::UsageInputKept => &[Native::Phase(Scope::Message, messages::usage::input_kept)],
        NativeRule::UsageNotUnasked => &[Native::Closed(Scope::Usage, chat::request::usage_not_unasked)],
        NativeRule::UsageOutputGrows => &[Native::Phase(Scope::Message, messages::usage::output_grows)],
        NativeRule::UsageOutputWithinMaxTokens => {
            &[Native::Phase(Scope::Message, messages::request::within_limit)]
        }
        NativeRule::UsageWithinLimit => &[Native::Closed(Scope::Usage, chat::request::within_limit)],
        NativeRule::AnnotationBeforeTextDone => &[Native::Point(annotation::before_text_done)],
        NativeRule::AnnotationRangeInText => &[
            Native::Closed(Scope::Part, annotation::range_in_part),
            Native::Closed(Scope::Item, annotation::range_in_item),
        ],
        NativeRule::CallArgumentsStreamed => {
            &[Native::ClosedAs(&["function_call"], call::arguments_streamed)]
        }
        NativeRule::CallArgumentsJson => {
            &[Native::ClosedAs(&["function_call", "mcp_call"], call::arguments_json)]
        }
        NativeRule::CallArgumentsComplete => {
            &[Native::ClosedAs(&["function_call"], call::arguments_complete)]
        }
        NativeRule::CallHasDeltas => &[
            Native::Settled(Scope::Arguments, text::has_deltas),
            Native::Settled(Scope::CustomToolInput, text::has_deltas),
            Native::Settled(Scope::McpArguments, text::has_deltas),
            Native::Settled(Scope::Code, text::has_deltas),
        ],
        NativeRule::CallIdentityKept => &[
            Native::ClosedAs(&call::ANSWERED, call::identity_kept),
            Native::Closed(Scope::Arguments, call::name_kept),
        ],
        NativeRule::CallIdUnique => &[Native::Opened(Scope::Item, call::id_unique)],
        NativeRule::CallNameDeclared => &[Native::OpenedAs(&call::ANSWERED, call::name_declared)],
        NativeRule::ErrorBodyShape => &[Native::Body(error::body_shape), Native::Beginning(error::no_stream)],
        NativeRule::ErrorEqualsFailed => &[Native::Snapshot(responses::error::equals_failed)],
        NativeRule::ErrorFollowedByFailed => &[
            Native::AfterError(responses::error::followed_by_failed),
            Native::StreamEnd(responses::error::ended_by_failed),
        ],
        NativeRule::ErrorNotUnder200 => {
            &[Native::Beginning(error::stream_not_under_200), Native::Body(error::body_not_under_200)]
        }
        NativeRule::ErrorStatusAgrees => &[Native::Body(error::status_agrees)],
        NativeRule::ItemCallNamed => &[Native::OpenedAs(&call::ANSWERED, item::call_named)],
        NativeRule::ItemContentKept => &[Native::ClosedAs(&["message"], item::content_kept)],
        NativeRule::ItemFieldsStable => &[Native::Closed(Scope::Item, item::fields_stable)],
        NativeRule::ItemFinished => &[Native::Closed(Scope::Item, item::finished)],
        NativeRule::ItemHasId => &[Native::Opened(Scope::Item, item::has_id)],
        NativeRule::ItemIncompleteEndsResponse => &[Native::Ending(item::incomplete_ends_response)],
        NativeRule::ItemIncompleteLast => &[
            Native::Opened(Scope::Item, item::incomplete_last),
            Native::Closed(Scope::Item, item::incomplete_before_last),
        ],
        NativeRule::ItemKeysKept => &[Native::Closed(Scope::Item, item::keys_kept)],
        NativeRule::ItemMessageFromAssistant => {
            &[Native::OpenedAs(&["message"], item::message_from_assistant)]
        }
        NativeRule::ItemStartsEmpty => &[Native::Opened(Scope::Item, item::starts_empty)],
        NativeRule::OutputAtItsIndex => &[Native::Ending(output::at_its_index)],
        NativeRule::OutputCountAgrees => &[Native::EndingOtherwise(output::count_agrees)],
        NativeRule::OutputEqualsItems => &[Native::EndingOtherwise(output::equals_items)],
        NativeRule::OutputIdsKept => &[Native::EndingOtherwise(output::ids_kept)],
        NativeRule::OutputItemsStreamed => &[Native::EndingOtherwise(output::items_streamed)],
        NativeRule::OutputTextKept => &[Native::EndingOtherwise(output::text_kept)],
        NativeRule::OutputTypesInOrder => &[Native::EndingOtherwise(output::types_in_order)],
        NativeRule::PartCountAgrees => &[Native::ClosedAs(&["message"], part::count_agrees)],
        NativeRule::PartEqualsItem => &[Native::Closed(Scope::Item, part::equals_item)],
        NativeRule::PartStartsEmpty => &[Native::Opened(Scope::Part, part::starts_empty)],
        NativeRule::RequestAllowedTools => &[Native::EndingWithChoice(responses::request::allowed_tools)],
        NativeRule::RequestCompactionTriggered => &[Native::Ending(responses::request::compaction_triggered)],
        NativeRule::RequestFormatKept => &[Native::Ending(responses::request::format_kept)],
        NativeRule::RequestOneCallAtMost => &[Native::Ending(responses::request::one_call_at_most)],
        NativeRule::RequestOutputWithinLimit => &[Native::Ending(responses::request::output_within_limit)],
        NativeRule::RequestToolChoiceForced => {
            &[Native::EndingWithChoice(responses::request::tool_choice_forced)]
        }
        NativeRule::RequestToolChoiceNone => {
            &[Native::EndingWithChoice(responses::request::tool_choice_none)]
        }
        NativeRule::RequestToolChoiceRequired => {
            &[Native::EndingWithChoice(responses::request::tool_choice_required)]
        }
        NativeRule::RequestToolCallsWithinLimit => {
            &[Native::Ending(responses::request::tool_calls_within_limit)]
        }
        NativeRule::ResponseCompletedAtAgrees => &[Native::Snapshot(response::completed_at_agrees)],
        NativeRule::ResponseEchoConstant => &[Native::Snapshot(response::echo_constant)],
        NativeRule::ResponseErrorAgrees => &[Native::Snapshot(response::error_agrees)],
        NativeRule::ResponseInProgressSecond => &[Native::Beginning(response::in_progress_second)],
        NativeRule::ResponseInProgressUnchanged => &[Native::Snapshot(response::in_progress_unchanged)],
        NativeRule::ResponseIncompleteReasonKnown => &[Native::Snapshot(response::incomplete_reason_known)],
        NativeRule::ResponseIncompleteDetailsAgree => &[Native::Snapshot(response::incomplete_details_agree)],
        NativeRule::ResponseKeysKept => &[Native::Snapshot(response::keys_kept)],
        NativeRule::ResponseMetadataIsObject => &[Native::Snapshot(response::metadata_is_object)],
        NativeRule::ResponseNamed => &[Native::Snapshot(response::named)],
        NativeRule::ResponseOutputStartsEmpty => &[Native::Snapshot(response::output_starts_empty)],
        NativeRule::ResponseStatusAgrees => &[Native::AnySnapshot(response::status_agrees)],
        NativeRule::ResponseTimesInSeconds => &[Native::Snapshot(response::times_in_seconds)],
        NativeRule::ResponseUsageAddsUp => &[Native::Snapshot(response::usage_adds_up)],
        NativeRule::ResponseUsageCountsText => &[Native::Ending(output::usage_counts_text)],
        NativeRule::ResponseUsageDetailsWithin => &[Native::Snapshot(response::usage_details_within)],
        NativeRule::ResponseUsageOnlyAtEnd => &[Native::Snapshot(response::usage_only_at_end)],
        NativeRule::ResponseUsagePresent => &[Native::Snapshot(response::usage_present)],
        NativeRule::SchemaBodyValid => &[Native::Body(schema::body_valid)],
        NativeRule::SchemaEventKnown => &[Native::Invalid(schema::event_known)],
        NativeRule::SchemaEventTyped => &[Native::Invalid(schema::event_typed)],
        NativeRule::SchemaEventValid => &[Native::Invalid(schema::event_valid)],
        NativeRule::SchemaForeignProtocol => &[Native::Invalid(schema::foreign_protocol)],
        NativeRule::SchemaTypeKnown => &[Native::Invalid(schema::type_known)],
        NativeRule::SchemaValueKnown => &[Native::Newer(schema::value_known)],
        NativeRule::SchemaWholeNumbers => &[Native::Counts(counts::whole_numbers)],
        NativeRule::SequenceByOne => &[Native::Sequence(sequence::by_one)],
        NativeRule::SequenceGrows => &[Native::Sequence(sequence::grows)],
        NativeRule::SequencePresent => &[Native::Invalid(sequence::present)],
        NativeRule::SequenceStartsAtZero => &[Native::Beginning(sequence::starts_at_zero)],
        NativeRule::SummaryCountAgrees => &[Native::ClosedAs(&["reasoning"], summary::count_agrees)],
        NativeRule::SummaryEqualsItem => &[Native::ClosedAs(&["reasoning"], summary::equals_item)],
        NativeRule::SummaryOneAtATime => &[Native::Opened(Scope::SummaryPart, summary::one_at_a_time)],
        NativeRule::SummaryStartsEmpty => &[Native::Opened(Scope::SummaryPart, summary::starts_empty)],
        NativeRule::TextHasDeltas => &[
            Native::Settled(Scope::Text, text::has_deltas),
            Native::Settled(Scope::Refusal, text::has_deltas),
            Native::Settled(Scope::ReasoningText, text::has_deltas),
            Native::Settled(Scope::SummaryText, text::has_deltas),
        ],
        NativeRule::TextLogprobsJoined => &[Native::Closed(Scope::Text, text::logprobs_joined)],
        NativeRule::TextLogprobsSpellDelta => &[Native::LogprobsOf(Scope::Text, text::logprobs_spell_delta)],
        NativeRule::ToolCodeWithinCall => &[
            Native::Fragment(Scope::Code, tool::code_fragment_within_call),
            Native::Closed(Scope::Code, tool::code_within_call),
        ],
        NativeRule::ToolHasPhases => &[Native::ClosedWithPhases(tool::has_phases)],
        NativeRule::ToolPhasesComplete => &[Native::ClosedWithPhases(tool::phases_complete)],
        NativeRule::ToolStatusAgrees => &[Native::ClosedWithPhases(tool::status_agrees)],
        NativeRule::ToolMcpFailureHasError => &[Native::Closed(Scope::Item, tool::mcp_failure_has_error)],
        NativeRule::TextNoModelMarkup => &[Native::Snapshot(text::no_model_markup)],
        NativeRule::VendorCreatedAtInMilliseconds => &[Native::Snapshot(vendor::created_at_in_milliseconds)],
        NativeRule::VendorMcpArgumentsWithinCall => &[
            Native::Fragment(Scope::McpArguments, vendor::mcp_fragment_within_call),
            Native::Closed(Scope::McpArguments, vendor::mcp_arguments_within_call),
        ],
        NativeRule::VendorOutputTextJoined => &[Native::Ending(vendor::output_text_joined)],
        NativeRule::VendorRewriteBeforeTextDone => &[Native::Event(vendor::rewrite_before_text_done)],
        NativeRule::VendorRoutingBeforeItems => &[Native::Point(vendor::routing_before_items)],
        NativeRule::WireDoneLast => &[Native::Marker(wire::done_last)],
        NativeRule::WireDoneMarker => {
            &[Native::Marker(wire::done_is_forbidden), Native::StreamEnd(wire::done_is_required)]
        }
        NativeRule::WireEventLine => &[Native::Frame(wire::event_line)],
        NativeRule::WireEventStreamContentType => &[Native::Beginning(wire::event_stream_content_type)],
        NativeRule::WireJsonContentType => &[Native::Body(wire::json_content_type)],
        NativeRule::WireJsonObject => &[Native::Invalid(wire::json_object)],
        NativeRule::WireKeepAliveIsComment => &[Native::Invalid(wire::keep_alive_is_comment)],
        NativeRule::WireKnownFields => &[Native::Stray(wire::known_fields)],
        NativeRule::WireNoIdLine => &[Native::Frame(wire::no_id_line)],
        NativeRule::WireNoLoneSurrogate => &[Native::Escaped(wire::no_lone_surrogate)],
        NativeRule::WireNoReplacementCharacter => &[Native::Escaped(wire::no_replacement_character)],
        NativeRule::WireTerminated => &[Native::Frame(wire::terminated)],
        NativeRule::WireUtf8 => &[Native::Frame(wire::utf8)],
        NativeRule::WsAnswersCreate => &[Native::StreamEnd(ws::answers_create)],
        NativeRule::WsConnectionLimit => &[Native::Socket(ws::connection_limit)],
        NativeRule::WsCreatedAsked => &[Native::Socket(ws::created_asked)],
        NativeRule::WsErrorEnvelope => &[Native::Socket(ws::error_envelope)],
        NativeRule::WsIdsUnique => &[Native::Socket(ws::ids_unique)],
        NativeRule::WsInjectAnswered => {
            &[Native::Aside(ws::inject_asked), Native::StreamEnd(ws::inject_answered)]
        }
        NativeRule::WsLaneLimit => &[Native::Socket(ws::lane_limit)],
        NativeRule::WsLatestKept => &[Native::Socket(ws::latest_kept)],
        NativeRule::WsOneInFlight => &[Native::Socket(ws::one_in_flight)],
        NativeRule::WsSteerFailed => &[Native::Aside(ws::steer_failed)],
        NativeRule::WsSteerFollowed => {
            &[Native::Aside(ws::steer_asked), Native::StreamEnd(ws::steer_followed)]
        }
        NativeRule::WsSteerPending => &[Native::Aside(ws::steer_pending)],
        NativeRule::WsSteeredEnds => &[Native::Socket(ws::steered_ends)],
        NativeRule::WsStreamIdEchoed => &[Native::Socket(ws::stream_id_echoed)],
        NativeRule::WsTurnsInOrder => &[Native::Socket(ws::turns_in_order)],
        NativeRule::WsUnknownPreviousId => &[Native::Socket(ws::unknown_previous_id)],
    }
}

#[cfg(test)]
mod tests {
    use catalogue::{DecidedBy, LooksAt, RULES, Relation};
    use spec::table::Scope;

    use super::hooks;
    use crate::engine::Native;

    /// Returns whether a body is a moment of this kind, too.
    const fn can_be_of_body(native: &Native) -> bool {
        matches!(
            native,
            Native::Body(_)
                | Native::Frame(_)
                | Native::Escaped(_)
                | Native::Invalid(_)
                | Native::Newer(_)
                | Native::Snapshot(_)
                | Native::OpenedAs(..)
                | Native::ClosedAs(..)
                | Native::ClosedWithPhases(_)
                | Native::Opened(Scope::Item, _)
                | Native::Closed(Scope::Item, _)
                | Native::Ending(_)
                | Native::EndingWithChoice(_)
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
                || hooks(native).iter().any(|native| matches!(native, Native::Socket(_)));
            let others = bodies < hooks(native).len();
            assert_eq!(looks(LooksAt::Stream), others && !is_of_socket, "{} and streams", rule.id);
            assert_eq!(looks(LooksAt::Socket), is_of_socket, "{} and sockets", rule.id);
            assert!(looks(LooksAt::Body) || bodies == 0, "{} has code for bodies", rule.id);
            let can_be = hooks(native).iter().any(can_be_of_body);
            assert!(can_be || !looks(LooksAt::Body), "{} is never called for a body", rule.id);
        }
    }
}
