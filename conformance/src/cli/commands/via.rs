//! `conformance serve --via`: serves the reference translator.

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use spec::Dialect;

use super::listening::{self, listen, speaks};
use crate::cli::flags::target::some_time;
use crate::cli::input::{known, names};
use gateway::{Log, ViaSettings, via_faults};

/// The upstream of the reference translator.
#[derive(Debug, Args)]
pub(in crate::cli) struct ViaArgs {
    /// Translate the responses of an upstream at this base URL, instead of generating responses.
    ///
    /// Clients of each API get them in their API, and clients of the upstream's API get the same bytes. It is a test object
    /// of `between`, and no product. --fault is then one rule of `between` to break, such as answer/usage.
    #[arg(long, value_name = "URL", conflicts_with_all = ["replay", "seed", "pace", "chunk", "fragments", "models", "list_faults", "origins"])]
    via: Option<String>,
    /// API of the upstream: responses, messages, chat or gemini.
    #[arg(long, value_name = "API", default_value = "chat", requires = "via", value_parser = known::APIS, hide_possible_values = true)]
    via_api: String,
    /// Environment variable with the key for the upstream [default: no key].
    #[arg(long, value_name = "NAME", requires = "via")]
    via_key_env: Option<String>,
    /// Limit of a wait for the upstream.
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "via", value_parser = some_time)]
    via_limit: Duration,
    /// Model that another provider serves: neither gets the sealed reasoning of the other.
    #[arg(long, value_name = "NAME", requires = "via")]
    via_other_model: Option<String>,
    /// The longest time without a byte for a client that waits for a stream [default: no limit].
    #[arg(long, value_name = "TIME", requires = "via", value_parser = some_time)]
    via_keeps_alive: Option<Duration>,
}

impl ViaArgs {
    pub(in crate::cli) const fn is_given(&self) -> bool {
        self.via.is_some()
    }

    /// Ends when the user ends it.
    pub(in crate::cli) fn serve(
        &self,
        port: u16,
        fronts: &[&'static Dialect],
        faults: &[String],
        log: Option<Log>,
    ) -> anyhow::Result<ExitCode> {
        let url = self.via.as_deref().unwrap_or_default();
        let upstream = names::dialect_of_api(&self.via_api)?;
        let settings = ViaSettings {
            key: self.key()?,
            fronts: fronts.to_vec(),
            limit: self.via_limit,
            keeps_alive: self.via_keeps_alive,
            other_model: self.via_other_model.clone(),
            fault: fault(faults)?,
            log,
            ..ViaSettings::new(url, upstream)
        };
        let about =
            settings.fault.as_ref().map(|rule| format!("fault {rule}: breaks this rule of `between`\n"));
        let routes: Vec<String> = fronts.iter().map(|front| format!("/v1{}", front.api.path)).collect();
        listening::run(async {
            let spoken = format!("{}, translated", speaks(fronts));
            let (listener, ended) = listen(port, &spoken).await?;
            let served = gateway::serve_via(listener, settings, ended);
            let routes = routes.join(", ");
            let about = about.unwrap_or_default();
            writeln!(
                io::stderr().lock(),
                "POST {routes}, with any key; the upstream is asked at {}\n{about}Ctrl-C ends it",
                upstream.api.path
            )?;
            Ok(served.await?)
        })
    }

    fn key(&self) -> anyhow::Result<Option<String>> {
        let Some(name) = &self.via_key_env else { return Ok(None) };
        let key = env::var(name)
            .with_context(|| format!("--via-key-env {name}: the environment has no such variable"))?;
        Ok(Some(key))
    }
}

fn fault(faults: &[String]) -> anyhow::Result<Option<String>> {
    let all = via_faults();
    match faults {
        [] => Ok(None),
        [fault] if all.contains(&fault.as_str()) => Ok(Some(fault.clone())),
        [fault] => {
            let hint = names::meant(fault, all.iter().copied());
            bail!("--via has no fault \"{fault}\"{hint}; a fault is a rule of `between`: {}", all.join(", "))
        }
        _ => bail!("--via takes one --fault"),
    }
}
