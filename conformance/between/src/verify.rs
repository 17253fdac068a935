//! Whether the results of a run follow from its recordings.

use std::path::Path;

use results::{BetweenRun, BetweenTest, FailOn, Verdict, Verified};

use crate::evidence::Test;
use crate::folder;
use crate::judge::{judge, keep_unsettled, settle};
use crate::moments::moments;

/// Judges the recordings of a run again, and compares the results. Tests that could not be judged have none.
pub fn verify(folder: &Path, run: &BetweenRun, fail_on: Option<FailOn>) -> Verified {
    let mut verified = Verified::default();
    let mut tests = Vec::new();
    for test in &run.tests {
        if test.verdict == Verdict::HarnessError || test.verdict == Verdict::NotExercised {
            tests.push(test.clone());
            continue;
        }
        match again(folder, run, test) {
            Ok(judged) => {
                verified.judged += 1;
                tests.push(judged);
            }
            Err(problem) => {
                verified.unreadable(format!("{}: {problem}", test.name));
            }
        }
    }
    if run.shard.is_some() {
        keep_unsettled(&mut tests);
    }
    settle(&mut tests);
    let own = BetweenRun { tests, ..run.clone() };
    let again = own.clone().concluded();
    for test in &run.tests {
        let judged = again.tests.iter().find(|judged| judged.name == test.name);
        verified.differences.extend(judged.into_iter().flat_map(|judged| differences(test, judged)));
    }
    if verified.differences.is_empty() {
        verified.compare([run.outcome, again.outcome], [&run.causes, &again.causes]);
        if run.pairs != again.pairs {
            verified
                .differences
                .push("the numbers of tests of its pairs do not follow from its tests".to_owned());
        }
    }
    verified.strangers(folder::strangers(folder, &run.tests));
    if let Some(fail_on) = fail_on {
        let strict = BetweenRun { fail_on, ..own }.concluded();
        let failing = strict.tests.iter().filter(|test| test.has_failed());
        verified.failing = failing.map(|test| test.name.clone()).collect();
    }
    verified.bounded()
}

fn again(folder: &Path, run: &BetweenRun, report: &BetweenTest) -> Result<BetweenTest, String> {
    let hash = folder::hash_of(folder, report).map_err(|error| error.to_string())?;
    if hash != report.hash {
        return Err("its files were changed".to_owned());
    }
    let test = folder::test(folder, report).map_err(|error| error.to_string())?;
    let evidence = folder::read(folder, report).map_err(|error| error.to_string())?;
    if let Some(difference) = other_terms(run, &test) {
        return Err(difference);
    }
    let judged = judge(&test, &evidence);
    let moments = if judged.findings.is_empty() { Vec::new() } else { moments(&evidence) };
    let mut test = judged.of_test(report.clone());
    test.about.moments = moments;
    Ok(test)
}

fn other_terms(run: &BetweenRun, test: &Test) -> Option<String> {
    let pair = run
        .pairs
        .iter()
        .find(|pair| pair.front == test.front.api.name && pair.upstream == test.upstream.api.name);
    let Some(pair) = pair else { return Some("the run has no such pair of APIs".to_owned()) };
    let mode = test.mode.name();
    if pair.mode != mode {
        return Some(format!("its mode is {mode}, but that of the run {}", pair.mode));
    }
    if (&run.declared, &run.model) != (&test.declared, &test.model) {
        return Some("its model, or what is declared about the gateway, differs from the run".to_owned());
    }
    None
}

fn differences(test: &BetweenTest, judged: &BetweenTest) -> Vec<String> {
    let mut all = test.differences(judged);
    let mut add = |what: String| all.push(format!("{}: {what}", test.name));
    if test.about.stream != judged.about.stream {
        let name = |test: &BetweenTest| test.about.stream.map_or("nothing", results::StreamOutcome::name);
        add(format!("its stream is {}, but its recordings say {}", name(test), name(judged)));
    }
    if test.about.unsettled != judged.about.unsettled {
        add("its own findings are others".to_owned());
    }
    if test.about.limits != judged.about.limits {
        add("what its APIs cannot carry is something else".to_owned());
    }
    if test.about.measures != judged.about.measures {
        add("its measures are others".to_owned());
    }
    if test.about.is_socket.is_some() && test.about.is_socket != judged.about.is_socket {
        add("its requests went another way".to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use std::time::Duration;
    use std::{env, fs, process};

    use catalogue::{HandlingMode, Level};
    use results::{Declared, Outcome};

    use super::*;
    use crate::evidence::{Evidence, Exchanged, Response};
    use crate::plan::plain;
    use crate::run::{judged, of_pair};
    use crate::settings::Pair;

    /// Writes a run of a test without recordings, whose results are those of the judge.
    fn written(folder: &Path) -> BetweenRun {
        let _ = fs::remove_dir_all(folder);
        let [front, upstream] = ["openai", "chat"].map(|name| spec::dialect(name).unwrap());
        let test = Test {
            name: "responses-chat/text/plain".to_owned(),
            agent: None,
            case: plain().unwrap(),
            front,
            upstream,
            mode: HandlingMode::Transform,
            fault: None,
            mark: "zqmark1".to_owned(),
            model: "m".to_owned(),
            declared: Declared::default(),
            is_limit_known: false,
        };
        let evidence = Evidence {
            client: vec![Exchanged {
                path: "/v1/responses".to_owned(),
                body: b"{}".to_vec(),
                response: Some(Response {
                    status: 500,
                    pieces: vec![(Duration::from_micros(5), b"oops".to_vec())],
                    ..Default::default()
                }),
                ..Default::default()
            }],
            ..Evidence::default()
        };
        let report = judged(&test, &evidence, Some(folder)).unwrap();
        BetweenRun {
            model: "m".to_owned(),
            pairs: vec![of_pair(&Pair::transforming(front, upstream))],
            tests: vec![report],
            ..BetweenRun::default()
        }
        .concluded()
    }

    #[test]
    fn results_follow_from_recordings() {
        let folder = env::temp_dir().join(format!("conformance-between-verify-{}", process::id()));
        let run = written(&folder);
        assert_eq!(run.outcome, Outcome::Failed);
        let text = serde_json::to_string(&run).unwrap();
        let run: BetweenRun = serde_json::from_str(&text).unwrap();
        let verified = verify(&folder, &run, None);
        assert_eq!((&*verified.differences, verified.judged), (&[][..], 1));
        let failing = verify(&folder, &run, Some(FailOn::Must)).failing;
        assert_eq!(failing, ["responses-chat/text/plain"]);
        let differs = |change: &dyn Fn(&mut BetweenRun)| {
            let mut run = run.clone();
            change(&mut run);
            verify(&folder, &run, None).differences.join("\n")
        };
        assert!(differs(&|run| run.tests[0].verdict = Verdict::Pass).contains("its recordings say failed"));
        assert!(differs(&|run| run.tests[0].findings.clear()).contains("its recordings show"));
        assert!(differs(&|run| run.tests[0].findings[0].level = Level::May).contains("do not show"));
        assert!(differs(&|run| run.tests[0].findings[0].client = "x".to_owned()).contains("do not show"));
        assert!(differs(&|run| run.outcome = Outcome::Passed).contains("the outcome is"));
        assert!(differs(&|run| run.causes.clear()).contains("the causes do not follow"));
        assert!(differs(&|run| run.pairs[0].passed = 1).contains("numbers of tests"));
        assert!(differs(&|run| run.pairs[0].mode = "inspect".to_owned()).contains("its mode is transform"));
        assert!(differs(&|run| run.tests[0].hash.clear()).contains("its files were changed"));
        assert!(
            differs(&|run| run.tests[0].name = "responses-chat/text/../x".to_owned())
                .contains("no name of a test")
        );
        let file = folder.join(&run.tests[0].files[0]);
        let recording = fs::read_to_string(&file).unwrap();
        fs::write(&file, recording.replace("oops", "okay")).unwrap();
        assert!(differs(&|_| ()).contains("its files were changed"));
        fs::write(&file, recording).unwrap();
        fs::write(folder.join("exchanges/other"), "").unwrap();
        assert!(differs(&|_| ()).contains("exchanges/other: it is no file of the run"));
        fs::remove_file(folder.join("exchanges/other")).unwrap();
        fs::create_dir(folder.join("gateway.log")).unwrap();
        fs::write(folder.join("evil.html"), "").unwrap();
        let found = differs(&|_| ());
        assert!(
            found.contains("evil.html: it is no file") && found.contains("gateway.log: it is no file"),
            "{found}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
