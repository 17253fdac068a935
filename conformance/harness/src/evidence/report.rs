//! The report of a run, from its description.

use super::reproduce::command;
use super::run_file::RunFile;
use results::{CaseReport, Latency, LiveReport, ProfileReport, Transport};

impl RunFile {
    /// The report of the run.
    pub fn report(&self, profiles: Vec<ProfileReport>, latency: Vec<Latency>) -> LiveReport {
        let mut cases: Vec<CaseReport> = Vec::new();
        for trial in &self.trials {
            let name = trial.name.split("::").next().unwrap_or_default();
            if cases.last().is_none_or(|case| case.name != name) {
                cases.push(self.case(name));
            }
            if let Some(case) = cases.last_mut() {
                case.trials.push(trial.clone());
            }
        }
        LiveReport {
            target: self.target.clone(),
            target_name: self.target_name.clone(),
            is_reference: self.is_reference,
            model: self.model.clone(),
            command: command(self, None),
            options: self.options.clone(),
            state: self.state,
            obstacle: self.obstacle.clone(),
            cases,
            profiles,
            latency,
            stale: self.stale.clone(),
        }
    }

    /// Without its trials.
    fn case(&self, name: &str) -> CaseReport {
        let scenario = catalogue::scenario(Transport::scenario(name));
        let exchanges = self.exchanges.iter().enumerate();
        CaseReport {
            name: name.to_owned(),
            title: scenario.map(|scenario| scenario.title.to_owned()).unwrap_or_default(),
            attempts: exchanges.filter(|(_, kept)| kept.case == name).map(|(at, _)| at).collect(),
            missed: 0,
            trials: Vec::new(),
        }
    }
}
