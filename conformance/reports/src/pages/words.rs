//! Descriptions of the parts of rules.

use catalogue::{Authority, Edit, Family, Operand, Relation, Side, Target, Whose};
use spec::table::{Role, Scope};
use spec::{Api, Slot};

use results::text::shortened;

/// The name of an authority.
pub const fn authority(authority: Authority) -> &'static str {
    match authority {
        Authority::Sentence => "a normative sentence",
        Authority::Schema => "a constraint of the schema",
        Authority::Definition => "the definition of the events",
        Authority::Observed => "the behavior of all recorded vendors",
        Authority::Contract => "a clause of the contract",
    }
}

/// The description of a family of structural faults in the scopes of an API.
pub fn family(family: Family, api: &Api) -> String {
    let [root, container] = [api.root, api.container].map(|scope| api.scope(scope).noun());
    let text = of_any_api(family).replace("{root}", &root).replace("{container}", &container);
    text.replace("{id}", api.id.map_or("id", Slot::name)).replace("{index}", api.index.name())
}

const fn of_any_api(family: Family) -> &'static str {
    match family {
        Family::BeforeOpen => "an event of it, or of its contents, before the event that opens it",
        Family::AfterClose => "an event of it after it was closed",
        Family::Reopened => "opening it a second time",
        Family::ClosedAgain => "closing it a second time",
        Family::NeverClosed => "the end of the {root} while it is open",
        Family::ParentClosedFirst => "closing it after its parent",
        Family::WrongParent => "a parent of a type that cannot contain it",
        Family::IndexGap => "an index that is not the next one",
        Family::KeyMismatch => "an `{id}` that differs from that of the {container} at `{index}`",
        Family::PhaseOrder => "a phase out of order",
        Family::Interleaved => "opening it while another one is open",
    }
}

/// The requirement of a relation within one occurrence of its scopes.
pub fn relation(relation: &Relation, scopes: &[Scope], api: &Api) -> String {
    let place = |values: &Operand| place(values, scopes, api);
    let names: Vec<_> = scopes.iter().map(|scope| api.scope(*scope).noun()).collect();
    let within =
        if names.is_empty() { String::new() } else { format!("within one {}, ", names.join(" or ")) };
    match relation {
        Relation::Constant(of) => format!("{within}{} stays the same", place(of)),
        Relation::Repeated(of) => format!("{within}{} is in each event once it was in one", place(of)),
        Relation::Equal { of, equals } => format!("{within}{} equals {}", place(of), place(equals)),
        Relation::Concat { of, equals } => {
            format!("{within}{}, joined in order, equal {}", place(of), place(equals))
        }
        Relation::Unique(of) => format!("{within}{} never occurs twice", place(of)),
        Relation::Value { of, is } => format!("{within}{} is {}", place(of), is.join(" or ")),
        Relation::Collect { of, equals } => {
            format!("{within}{}, ordered by index, equal {}", place(of), place(equals))
        }
    }
}

fn place(values: &Operand, scopes: &[Scope], api: &Api) -> String {
    let root = api.scope(api.root).noun();
    let whose = match values.of {
        Whose::Role(role) => match role {
            Role::Open => "the event that opens it".to_owned(),
            Role::Delta => "its deltas".to_owned(),
            Role::Final => "the event with its final value".to_owned(),
            Role::Close => "the event that closes it".to_owned(),
            Role::Phase => "its phases".to_owned(),
            Role::Terminal => format!("the event that ends the {root}"),
            Role::Point => "the events of it".to_owned(),
        },
        Whose::Events(names) => names.join(" or "),
        Whose::Parent => match scopes.first().and_then(|scope| api.scope(*scope).parent) {
            Some(parent) => format!("the event that closes the {}", api.scope(parent).noun()),
            None => "the event that closes its parent".to_owned(),
        },
        Whose::Response => format!("the {root} as it ends"),
    };
    match (values.at, values.of) {
        (Some(pointer), _) => format!("{pointer} of {whose}"),
        (None, Whose::Role(Role::Delta)) => whose,
        (None, Whose::Parent | Whose::Response) => format!("its value in {whose}"),
        (None, _) => format!("the value of {whose}"),
    }
}

/// Returns an edit as written in pages, limited to a number of columns.
pub fn edit(edit: &Edit, width: usize) -> String {
    let text = match edit {
        Edit::Drop(of) => format!("drop {}", target(of)),
        Edit::Duplicate(of) => format!("duplicate {}", target(of)),
        Edit::Swap(one, other) => format!("swap {} {}", target(one), target(other)),
        Edit::Set(of, pointer, value) => format!("set {} {pointer} {value}", target(of)),
        Edit::Prepend(of, pointer, text) => {
            format!("prepend {} {pointer} {}", target(of), bytes(text.as_bytes()))
        }
        Edit::Unset(of, pointer) => format!("unset {} {pointer}", target(of)),
        Edit::Insert(where_to, of, data) => format!("insert {} {} {data}", side(*where_to), target(of)),
        Edit::Truncate(of) => format!("truncate {}", target(of)),
        Edit::Renumber => "renumber".to_owned(),
        Edit::Data(of, value) => format!("data {} {}", target(of), bytes(value)),
        Edit::Field(of, name, value) => format!("field {} {name} {}", target(of), bytes(value)),
        Edit::Unfield(of, name) => format!("unfield {} {name}", target(of)),
        Edit::Replace(of, old, new) => format!("replace {} {} {}", target(of), bytes(old), bytes(new)),
        Edit::Comment(where_to, of, value) => {
            format!("comment {} {} {}", side(*where_to), target(of), bytes(value))
        }
        Edit::Header(name, value) => format!("header {name} {}", bytes(value)),
        Edit::Status(status) => format!("status {status}"),
        Edit::Request(body) => format!("request {body}"),
    };
    shortened(&text, width)
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Before => "before",
        Side::After => "after",
    }
}

fn target(target: &Target) -> String {
    let name = target.event.unwrap_or_default();
    match target.number {
        None => format!("{name}#*"),
        Some(1) if !name.is_empty() => name.to_owned(),
        Some(number) => format!("{name}#{number}"),
    }
}

fn bytes(bytes: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(bytes) {
        return format!("{text:?}");
    }
    let hex: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("<{}>", hex.join(" "))
}
