//! The folder for clients: their drivers, and an otherwise empty home.

use std::ffi::OsString;
use std::process::Command;
use std::{env, fs, io};

use harness::Scratch;

use super::cache::{Cache, interpreter};
use super::clients::{DRIVERS, ImpactClient, packages};

pub(super) struct Home(Scratch);

impl Home {
    pub(super) fn new() -> io::Result<Self> {
        let folder = Scratch::new("impact")?;
        for (name, text) in DRIVERS {
            fs::write(folder.path().join(name), text)?;
        }
        Ok(Self(folder))
    }

    /// The environment has nothing but the path of this program.
    pub(super) fn command(&self, client: &ImpactClient, cache: &Cache) -> io::Result<Command> {
        let missing = || io::Error::other(format!("{} has no driver", client.name));
        let own = packages(&client.packages).ok_or_else(missing)?;
        let (script, arguments) = client.run.split_first().ok_or_else(missing)?;
        let folder = cache.folder(own, &client.packages);
        let mut command = Command::new(interpreter(own, &folder));
        command.arg(self.0.path().join(script)).args(arguments).current_dir(self.0.path()).env_clear();
        let kept = ["PATH", "SYSTEMROOT"].into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
        let home: OsString = self.0.path().into();
        command.envs(kept).envs(["HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"].map(|name| (name, &home)));
        command.env("PACKAGES", &folder).env("PYTHONUTF8", "1").env("PYTHONDONTWRITEBYTECODE", "1");
        // Nobody listens on this port, so requests to other hosts fail.
        command.env("NO_PROXY", "127.0.0.1").envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, NOWHERE)));
        Ok(command)
    }
}

/// The discard port of this machine.
const NOWHERE: &str = "http://127.0.0.1:9";
