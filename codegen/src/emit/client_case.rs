//! Emits the cases for clients: those of pages, and one for each defect.

use proc_macro2::TokenStream;
use quote::quote;

use super::edit::edit;
use super::tables::option_text;
use super::words::word;
use crate::catalogue::Catalogue;
use crate::formats::{
    About, Channel, ClientCase, ClientCaseMetadata, ClientStep, Defect, DefectVerdict, Edit, Ending, Expect,
    Step, edits,
};

/// Emits all cases, sorted by id.
pub(super) fn client_cases(catalogue: &Catalogue) -> Vec<TokenStream> {
    let pages = catalogue.client_cases.values().map(|case| (case.id.clone(), of_page(case)));
    let defects = catalogue.defects.defects.iter();
    let defects = defects.map(|defect| (format!("defect/{}", defect.name), of_defect(defect, catalogue)));
    let mut all: Vec<(String, TokenStream)> = pages.chain(defects).collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, case)| case).collect()
}

/// The data of a case.
struct Parts<'p> {
    id: &'p str,
    title: &'p str,
    reason: &'p str,
    authority: &'p str,
    request: String,
    following: Vec<String>,
    edits: Vec<Edit>,
    control: Option<String>,
    metadata: &'p ClientCaseMetadata,
}

fn of_page(case: &ClientCase) -> TokenStream {
    row(&Parts {
        id: &case.id,
        title: &case.title,
        reason: &case.prose,
        authority: &case.metadata.authority,
        request: case.request.as_ref().map(ToString::to_string).unwrap_or_default(),
        following: case.following.iter().map(ToString::to_string).collect(),
        edits: case.edits.iter().map(|(_, edit)| edit.clone()).collect(),
        control: None,
        metadata: &case.metadata,
    })
}

fn of_defect(defect: &Defect, catalogue: &Catalogue) -> TokenStream {
    let rule = defect.rules.first().and_then(|id| catalogue.rules.get(id));
    let cited = rule.map(|rule| {
        let citation = &rule.metadata.citation;
        format!("{}, {}", citation.source, citation.heading)
    });
    let reason = match (&defect.because, defect.verdict()) {
        (Some(because), _) => because.clone(),
        (None, Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why))) => why.to_owned(),
        (None, _) => {
            let rule = rule.map_or_else(String::new, |rule| format!(" `{}`", rule.id));
            format!(
                "The stream breaks the rule{rule}. A client may reject it, but must not return other content."
            )
        }
    };
    let metadata = ClientCaseMetadata {
        expect: defect.expected(),
        authority: defect.authority.clone().or(cited).unwrap_or_default(),
        golden: Some(defect.golden.clone()),
        edits: String::new(),
        transports: vec![Channel::Sse, Channel::Websocket],
        chunk: defect.chunk,
        pause_ms: None,
        end: Ending::Whole,
        end_after: None,
        cancel_after: None,
        fill: None,
        about: defect.about.clone(),
        steps: Vec::new(),
    };
    row(&Parts {
        id: &format!("defect/{}", defect.name),
        title: &defect.what,
        reason: &reason,
        authority: &metadata.authority,
        request: String::new(),
        following: Vec::new(),
        // The cross-checks report invalid edits.
        edits: edits(&defect.edits).unwrap_or_default().into_iter().map(|(_, edit)| edit).collect(),
        control: defect.control.as_ref().map(|name| format!("defect/{name}")),
        metadata: &metadata,
    })
}

fn row(parts: &Parts<'_>) -> TokenStream {
    let Parts { id, title, reason, authority, request, following, edits, control, metadata } = parts;
    let control = option_text(control.as_deref());
    let ClientCaseMetadata { chunk, pause_ms, end_after, cancel_after, fill, .. } = metadata;
    let golden = option_text(metadata.golden.as_deref());
    let edits = edits.iter().map(edit);
    let (expect, end) = (word::<Expect>(metadata.expect), word::<Ending>(metadata.end));
    let transports = metadata.transports.iter().map(|channel| word(*channel));
    let number = |number: &Option<u32>| number.map_or_else(|| quote!(None), |number| quote!(Some(#number)));
    let (chunk, pause_ms, fill) = (number(chunk), number(pause_ms), number(fill));
    let (end_after, cancel_after) = (number(end_after), number(cancel_after));
    let about = metadata.about.iter().map(|part| word::<About>(*part));
    let mut requests = following.iter();
    let steps = metadata.steps.iter().map(|ClientStep { step, outputs }| {
        let request = if *step == Step::Resume { "" } else { requests.next().map_or("", String::as_str) };
        let outputs = outputs.iter().map(|(name, output)| quote!((#name, #output)));
        let step = word::<Step>(*step);
        quote!(ClientStep { step: #step, outputs: &[#(#outputs),*], request: #request })
    });
    quote! {
        ClientCase {
            id: #id,
            title: #title,
            reason: #reason,
            authority: #authority,
            expect: #expect,
            golden: #golden,
            request: #request,
            edits: &[#(#edits),*],
            control: #control,
            transports: &[#(#transports),*],
            chunk: #chunk,
            pause_ms: #pause_ms,
            end: #end,
            end_after: #end_after,
            cancel_after: #cancel_after,
            fill: #fill,
            about: &[#(#about),*],
            steps: &[#(#steps),*],
        }
    }
}
