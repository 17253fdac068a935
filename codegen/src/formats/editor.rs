//! JSON Schemas of the files under `spec/`, for editors.

use schemars::{Schema, schema_for};

use super::{
    AgentProfile, AgentsFile, ApiFile, BetweenCase, BetweenLimitsFile, ClientCase, ClientProfile,
    ContractFile, DefectsFile, DialectFile, ErrataFile, ForeignFile, Glossary, GuaranteesFile, ImpactFile,
    Lifecycle, Log, MeasuredFile, Profile, RefusalsFile, RequestsFile, RequirementsFile, Rule, Scenario,
    SharedRulesFile, TestRule, ThreadsFile,
};

/// Returns the schemas of all formats: file name under `spec/schemas/`, and text.
pub fn editor_schemas() -> Vec<(String, String)> {
    let schemas = [
        ("api", schema_for!(ApiFile)),
        ("between-case", schema_for!(BetweenCase)),
        ("between-limits", schema_for!(BetweenLimitsFile)),
        ("client", schema_for!(ClientCase)),
        ("agents", schema_for!(AgentsFile)),
        ("agent-profile", schema_for!(AgentProfile)),
        ("refusals", schema_for!(RefusalsFile)),
        ("contract", schema_for!(ContractFile)),
        ("defects", schema_for!(DefectsFile)),
        ("dialect", schema_for!(DialectFile)),
        ("errata", schema_for!(ErrataFile)),
        ("foreign", schema_for!(ForeignFile)),
        ("glossary", schema_for!(Glossary)),
        ("guarantee", schema_for!(GuaranteesFile)),
        ("lifecycle", schema_for!(Lifecycle)),
        ("log", schema_for!(Log)),
        ("client-profile", schema_for!(ClientProfile)),
        ("measured", schema_for!(MeasuredFile)),
        ("impact", schema_for!(ImpactFile)),
        ("profile", schema_for!(Profile)),
        ("requests", schema_for!(RequestsFile)),
        ("requirement", schema_for!(RequirementsFile)),
        ("rule", schema_for!(Rule)),
        ("scenario", schema_for!(Scenario)),
        ("shared-rules", schema_for!(SharedRulesFile)),
        ("test-rule", schema_for!(TestRule)),
        ("threads", schema_for!(ThreadsFile)),
    ];
    schemas.into_iter().map(|(name, schema)| (format!("{name}.schema.json"), text(&schema))).collect()
}

fn text(schema: &Schema) -> String {
    format!("{:#}\n", schema.as_value())
}
