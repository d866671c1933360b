//! The grants and denials of an agent's hook: in its own words, in those of `hook install`, and in those of a run.

use std::path::{Path, PathBuf};

use clap::Args;

use super::REFUSED;
use super::message::Failure;
use super::values::{parse_port, parse_variable};

// Documentation would become the description of each hook.
#[derive(Debug, Args)]
pub struct HookGrants {
    /// Allow reading a file or a tree
    #[arg(long, value_name = "PATH")]
    pub read: Vec<PathBuf>,
    /// Allow reading, writing, creating and deleting in a tree
    #[arg(long, value_name = "PATH")]
    pub write: Vec<PathBuf>,
    /// Allow confined commands to start the programs of a tree
    #[arg(long, value_name = "PATH")]
    pub exec: Vec<PathBuf>,
    /// Allow connecting to a host
    #[arg(long, value_name = "PATTERN")]
    pub host: Vec<String>,
    /// Allow confined commands to listen on a loopback port
    #[arg(long, value_name = "PORT", value_parser = parse_port)]
    pub listen: Vec<u16>,
    /// Allow confined commands to connect to a unix socket
    #[arg(long, value_name = "PATH")]
    pub socket: Vec<PathBuf>,
    /// Close matching paths, whatever grants them
    #[arg(long, value_name = "GLOB")]
    pub deny: Vec<String>,
    /// Pass a variable to confined commands
    #[arg(long, value_name = "NAME", value_parser = parse_variable)]
    pub env: Vec<String>,
}

impl HookGrants {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flags(Path::new("/")).is_ok_and(|flags| flags.is_empty())
    }

    /// Each flag with its value. Paths are whole ones below `here`: what gets them starts elsewhere.
    ///
    /// # Errors
    /// A path isn't text.
    pub fn flags(&self, here: &Path) -> Result<Vec<[String; 2]>, Failure> {
        let mut flags = Vec::new();
        let paths = [
            ("--read", &self.read),
            ("--write", &self.write),
            ("--exec", &self.exec),
            ("--socket", &self.socket),
        ];
        for (flag, path) in paths
            .into_iter()
            .flat_map(|(flag, paths)| paths.iter().map(move |path| (flag, path)))
        {
            flags.push([flag.to_string(), whole(path, here)?]);
        }
        let texts = [("--host", &self.host), ("--deny", &self.deny), ("--env", &self.env)];
        for (flag, texts) in texts {
            flags.extend(texts.iter().map(|text| [flag.to_string(), text.clone()]));
        }
        flags.extend(
            self.listen
                .iter()
                .map(|port| ["--listen".to_string(), port.to_string()]),
        );
        Ok(flags)
    }
}

/// A path below `here`, as text.
///
/// # Errors
/// It isn't UTF-8, or begins with a `~` that was meant for a shell.
pub fn whole(path: &Path, here: &Path) -> Result<String, Failure> {
    if path.starts_with("~") && !here.join(path).exists() {
        let message = format!("`{}` doesn't exist: the shell didn't expand its `~`", path.display());
        return Err(Failure::text(REFUSED, message).hint("it does so without quotes; `$HOME` works in quotes too"));
    }
    let path = here.join(path);
    let text = path.to_str().map(String::from);
    text.ok_or_else(|| Failure::text(REFUSED, format!("the path `{}` isn't UTF-8", path.display())))
}
