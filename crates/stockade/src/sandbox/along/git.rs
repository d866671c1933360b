//! The user's own settings of git (git-config(1)): those that execute nothing, as `GIT_CONFIG_KEY_n`, and the name for
//! commits, as `GIT_AUTHOR_NAME` and its like. Where the run reaches no key, it signs nothing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Along, Brought, Name, read, written};
use crate::policy::{Access, GitSetting, Policy, git_settings, placed_by_git};
use crate::real_path::{Walker, real_path};
use crate::sandbox::repositories::directories_of;
use crate::surroundings::Surroundings;

/// The settings that come along, by section, from git-config(1). None of them names a program, a file or an address. A
/// section with `*` does so in none of its settings. `SECTION.` stands for the section's subsections.
const KEYS: &[(&str, &str)] = &[
    ("advice", "*"),
    ("apply", "ignorewhitespace whitespace"),
    (
        "blame",
        "blankboundary coloring date markignoredlines markunblamablelines showemail showroot",
    ),
    ("branch", "autosetupmerge autosetuprebase sort"),
    ("checkout", "defaultremote guess thresholdforparallelism workers"),
    ("clean", "requireforce"),
    ("color", "*"),
    ("column", "*"),
    ("commit", "cleanup status verbose"),
    (
        "core",
        "abbrev autocrlf bigfilethreshold checkroundtripencoding checkstat commentchar commentstring compression eol \
         filesreflocktimeout fsync fsyncmethod fsyncobjectfiles logallrefupdates loosecompression maxtreedepth notesref \
         precomposeunicode preloadindex protecthfs protectntfs quotepath safecrlf trustctime untrackedcache \
         warnambiguousrefs whitespace",
    ),
    (
        "diff",
        "algorithm autorefreshindex colormoved colormovedws context dirstat dstprefix ignoresubmodules indentheuristic \
         interhunkcontext mnemonicprefix noprefix relative renamelimit renames srcprefix statgraphwidth statnamewidth \
         submodule suppressblankempty wordregex wserrorhighlight",
    ),
    ("diff.", "algorithm binary funcname wordregex xfuncname"),
    ("feature", "*"),
    (
        "fetch",
        "all fsckobjects output parallel prune prunetags recursesubmodules showforcedupdates writecommitgraph",
    ),
    (
        "format",
        "attach coverfromdescription coverletter encodeemailheaders forceinbodyfrom from mboxrd nooutputprefix notes \
         numbered pretty signoff subjectprefix suffix thread useautobase",
    ),
    ("gc", "auto autodetach autopacklimit"),
    ("gpg", "mintrustlevel"),
    (
        "grep",
        "column extendedregexp fallbacktonoindex fullname linenumber patterntype threads",
    ),
    ("help", "autocorrect format"),
    ("i18n", "*"),
    ("index", "*"),
    ("init", "defaultbranch defaultobjectformat defaultrefformat"),
    ("interactive", "singlekey"),
    (
        "log",
        "abbrevcommit date decorate diffmerges excludedecoration follow graphcolors initialdecorationset mailmap \
         showroot showsignature",
    ),
    (
        "merge",
        "autostash branchdesc conflictstyle directoryrenames ff log renamelimit renames renormalize stat suppressdest \
         verbosity",
    ),
    ("notes", "displayref mergestrategy rewriteref rewritemode"),
    ("notes.", "mergestrategy"),
    ("pack", "compression depth threads window windowmemory"),
    ("pretty", "*"),
    ("pull", "ff rebase"),
    (
        "push",
        "autosetupremote default followtags recursesubmodules useforceifincludes",
    ),
    (
        "rebase",
        "abbreviatecommands autosquash autostash backend forkpoint instructionformat maxlabellength \
         missingcommitscheck rebasemerges reschedulefailedexec stat updaterefs",
    ),
    ("rerere", "autoupdate enabled"),
    ("safe", "directory"),
    ("showbranch", "default"),
    ("stash", "showincludeuntracked showpatch showstat"),
    ("status", "*"),
    ("submodule", "fetchjobs recurse"),
    ("tag", "sort"),
    ("user", "useconfigonly"),
    ("versionsort", "*"),
    ("worktree", "guessremote"),
];

/// Settings that name a file of data, which the run is given with them.
const FILES: [&str; 5] = [
    "commit.template",
    "core.attributesfile",
    "core.excludesfile",
    "gpg.ssh.allowedsignersfile",
    "mailmap.file",
];

/// Files that git reads where no setting names others (gitignore(5), gitattributes(5)).
const USUAL: [(&str, &str); 2] = [("core.excludesfile", "ignore"), ("core.attributesfile", "attributes")];

/// Settings by which git signs, or fails.
const SIGNING: [&str; 4] = [
    "commit.gpgsign",
    "tag.gpgsign",
    "tag.forcesignannotated",
    "push.gpgsign",
];

/// The most settings of variables.
const MAX_VARIABLES: usize = 1024;

/// The most files of configuration that are read.
const MAX_FILES: usize = 32;

pub(super) fn bring(along: &mut Along, surroundings: &Surroundings, policy: &Policy, walker: &mut Walker) {
    if policy.granting(Access::READ, &policy.root).is_none() {
        return;
    }
    let settings = Settings::read(along, surroundings, policy, walker);
    if policy.writes_root() {
        settings.bring_identity(along, surroundings);
        settings.bring_signing(along, surroundings, policy);
    }
    if !has_callers_home(policy) {
        settings.bring_data(along, surroundings, walker);
    }
}

/// Settings in the order in which git reads them, the last of a name counts.
struct Settings {
    users: Vec<GitSetting>,
    /// Those of the repository that the root is in, which come before the user's: variables would come before them.
    repositorys: Vec<GitSetting>,
    is_in_repository: bool,
}

impl Settings {
    fn read(along: &mut Along, surroundings: &Surroundings, policy: &Policy, walker: &mut Walker) -> Settings {
        let tree = policy.root.ancestors().find(|above| above.join(".git").exists());
        let directories = tree.map(|tree| directories_of(tree, walker)).unwrap_or_default();
        let files = directories.iter().rev();
        let files = files.flat_map(|directory| ["config", "config.worktree"].map(|name| directory.join(name)));
        let texts = files.filter_map(|file| read(&file));
        let mut reader = Reader {
            home: surroundings.home.as_deref(),
            git_directory: directories.first().map(PathBuf::as_path),
            policy,
            settings: Vec::new(),
            seen: BTreeSet::new(),
        };
        for file in files_of(surroundings) {
            reader.read(along, &file, walker);
        }
        reader.settings.extend(of_variables(surroundings));
        Settings {
            users: reader.settings,
            repositorys: texts.flat_map(|text| git_settings(&text)).collect(),
            is_in_repository: tree.is_some(),
        }
    }

    /// The value that git takes, by the full name.
    fn value(&self, key: &str) -> Option<&str> {
        let mut all = self.users.iter().chain(&self.repositorys);
        let last = all.rfind(|setting| setting.key() == key)?;
        Some(&last.value)
    }

    fn is_on(&self, key: &str) -> bool {
        let off = ["false", "no", "off", "0", ""];
        self.value(key)
            .is_some_and(|value| !off.contains(&value.to_ascii_lowercase().as_str()))
    }

    fn bring_identity(&self, along: &mut Along, surroundings: &Surroundings) {
        for (key, suffix) in [("user.name", "NAME"), ("user.email", "EMAIL")] {
            for role in ["AUTHOR", "COMMITTER"] {
                let variable = format!("GIT_{role}_{suffix}");
                let of_settings = || self.value(key).filter(|value| !value.is_empty()).map(Into::into);
                if let Some(value) = surroundings.variable(&variable).or_else(of_settings) {
                    along.variable(variable, value);
                }
            }
        }
    }

    /// A key of ssh's that an agent holds can sign; all other keys are closed to every run.
    fn bring_signing(&self, along: &mut Along, surroundings: &Surroundings, policy: &Policy) {
        let signing: Vec<&str> = SIGNING.into_iter().filter(|key| self.is_on(key)).collect();
        if signing.is_empty() {
            return;
        }
        let key = (self.value("gpg.format") == Some("ssh"))
            .then(|| self.public_key(policy, surroundings.home.as_deref()))
            .flatten();
        let Some(key) = key.filter(|_| reaches_agent(policy)) else {
            signing.iter().for_each(|name| along.setting(*name, "false"));
            if self.is_in_repository && along.starts_git {
                let said = "commits will be unsigned: this run reaches no signing key and no agent";
                along.leave(said.into(), &[]);
            }
            return;
        };
        signing.iter().for_each(|name| along.setting(*name, "true"));
        along.setting("gpg.format", "ssh");
        along.setting("user.signingkey", format!("key::{key}"));
    }

    /// The public key of `user.signingkey`, which may be a path to either half.
    fn public_key(&self, policy: &Policy, home: Option<&Path>) -> Option<String> {
        let named = self.value("user.signingkey")?;
        let is_key = |text: &str| ["ssh-", "sk-", "ecdsa-"].iter().any(|kind| text.starts_with(kind));
        let literal = named.strip_prefix("key::").unwrap_or(named);
        if is_key(literal) {
            return Some(literal.to_string());
        }
        let named = format!("{}.pub", named.strip_suffix(".pub").unwrap_or(named));
        let path = placed_by_git(&named, Path::new(""), home);
        let is_users = path.is_absolute() && !written(policy).any(|tree| path.starts_with(tree));
        let text = String::from_utf8(is_users.then(|| read(&path))??).ok()?;
        let line = text.lines().next()?.trim();
        is_key(line).then(|| line.to_string())
    }

    fn bring_data(&self, along: &mut Along, surroundings: &Surroundings, walker: &mut Walker) {
        let of_repository: BTreeSet<String> = self.repositorys.iter().map(GitSetting::key).collect();
        let home = surroundings.home.as_deref();
        let usual = USUAL.into_iter().filter(|(key, _)| self.value(key).is_none());
        let usual = usual.filter_map(|(key, name)| {
            let path = directory_of(surroundings)?.join(name);
            path.is_file()
                .then(|| (key.to_string(), path.to_string_lossy().into_owned()))
        });
        let named = self.users.iter().filter(|setting| is_data(setting));
        let named = named.map(|setting| (setting.key(), setting.value.clone()));
        for (key, value) in named.chain(usual.collect::<Vec<_>>()) {
            if of_repository.contains(&key) {
                continue;
            }
            let path = FILES
                .contains(&key.as_str())
                .then(|| placed_by_git(&value, Path::new(""), home));
            match path.filter(|path| path.is_absolute()) {
                Some(path) => along.brought.push(Brought {
                    name: Name::OfGit(key),
                    value: path.clone().into(),
                    files: vec![walker.walk(&path)],
                }),
                None => along.setting(key, value),
            }
        }
    }
}

impl Along {
    fn setting(&mut self, key: impl Into<String>, value: impl Into<OsString>) {
        self.brought.push(Brought {
            name: Name::OfGit(key.into()),
            value: value.into(),
            files: Vec::new(),
        });
    }
}

/// Whether a setting's value is data, or the name of a file of data.
fn is_data(setting: &GitSetting) -> bool {
    // An alias may be a command line, or begin with settings of its own.
    if setting.section == "alias" {
        return !setting.value.trim_start().starts_with(['!', '-']);
    }
    let section = match &setting.subsection {
        Some(_) => format!("{}.", setting.section),
        None => setting.section.clone(),
    };
    let is_whole = |(of, names): &(&str, &str)| *of == setting.section && *names == "*";
    let names = |(of, names): &(&str, &str)| *of == section && names.split(' ').any(|name| name == setting.name);
    KEYS.iter().any(|row| is_whole(row) || names(row)) || FILES.contains(&setting.key().as_str())
}

/// Whether a command may start git: any may, but for a shell's text that doesn't say so.
pub(super) fn may_start(argv: &[OsString]) -> bool {
    let is_text = argv.iter().any(|word| word == "-c");
    !is_text || argv.iter().any(|word| word.to_string_lossy().contains("git"))
}

/// With the caller's home git reads the user's configuration there.
fn has_callers_home(policy: &Policy) -> bool {
    policy.environment.contains_key(OsStr::new("HOME"))
}

/// Whether the run has the socket of ssh's agent.
fn reaches_agent(policy: &Policy) -> bool {
    let socket = policy.environment.get(OsStr::new("SSH_AUTH_SOCK"));
    let socket = socket.map(|socket| real_path(Path::new(socket)));
    socket.is_some_and(|socket| policy.sockets.iter().any(|grant| grant.path == socket))
}

/// `$XDG_CONFIG_HOME/git`.
fn directory_of(surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.configuration.as_ref().map(|own| own.with_file_name("git"))
}

/// The user's own configuration, in the order in which git reads it.
fn files_of(surroundings: &Surroundings) -> Vec<PathBuf> {
    if let Some(named) = surroundings.variable("GIT_CONFIG_GLOBAL") {
        return vec![surroundings.directory.join(named)];
    }
    let first = directory_of(surroundings).map(|directory| directory.join("config"));
    let second = surroundings.home.as_ref().map(|home| home.join(".gitconfig"));
    first.into_iter().chain(second).collect()
}

/// The settings of the caller's variables, which a run around this one has made, among others.
fn of_variables(surroundings: &Surroundings) -> Vec<GitSetting> {
    let text = |name: String| surroundings.variable(&name)?.into_string().ok();
    let count = text("GIT_CONFIG_COUNT".into()).and_then(|count| count.parse().ok());
    let numbers = 0..count.unwrap_or(0).min(MAX_VARIABLES);
    let setting = |number| {
        let key = text(format!("GIT_CONFIG_KEY_{number}"))?;
        let value = text(format!("GIT_CONFIG_VALUE_{number}"))?;
        GitSetting::of_key(&key, value)
    };
    numbers.filter_map(setting).collect()
}

/// Reads a configuration with what it includes.
struct Reader<'a> {
    home: Option<&'a Path>,
    git_directory: Option<&'a Path>,
    policy: &'a Policy,
    settings: Vec<GitSetting>,
    seen: BTreeSet<PathBuf>,
}

impl Reader<'_> {
    fn read(&mut self, along: &mut Along, file: &Path, walker: &mut Walker) {
        let real = walker.walk(file).real;
        if self.seen.len() >= MAX_FILES || !self.seen.insert(real.clone()) {
            return;
        }
        // What runs may write names no file that a later one would be given.
        let is_runs = self.is_runs(&real);
        for setting in read(&real).map(|text| git_settings(&text)).unwrap_or_default() {
            let is_taken = match (setting.section.as_str(), &setting.subsection) {
                ("include", None) => true,
                ("includeif", Some(condition)) => self.holds(condition, &real),
                _ if is_runs && FILES.contains(&setting.key().as_str()) => {
                    let why = format!("runs write `{}`", real.display());
                    along.go_without(&Name::OfGit(setting.key()), &why);
                    continue;
                }
                _ => {
                    self.settings.push(setting);
                    continue;
                }
            };
            if !is_taken || is_runs || setting.name != "path" {
                continue;
            }
            let above = file.parent().unwrap_or(file);
            let included = placed_by_git(&setting.value, above, self.home);
            let real = walker.walk(&included).real;
            if self.is_runs(&real) {
                if along.starts_git {
                    let said = format!("`{}` is no setting of git here: runs write there", real.display());
                    along.leave(said, &[]);
                }
                continue;
            }
            self.read(along, &included, walker);
        }
    }

    fn is_runs(&self, file: &Path) -> bool {
        !has_callers_home(self.policy) && written(self.policy).any(|tree| file.starts_with(tree))
    }

    /// Whether a condition without wildcards holds that names where the repository is (git-config(1), Conditional includes).
    fn holds(&self, condition: &str, file: &Path) -> bool {
        let Some((kind, pattern)) = condition.split_once(':') else {
            return false;
        };
        let Some(directory) = self.git_directory.filter(|_| kind.starts_with("gitdir")) else {
            return false;
        };
        let fold = |text: String| if kind == "gitdir/i" { text.to_lowercase() } else { text };
        let below = file.parent().unwrap_or(file);
        let place = match pattern.starts_with(['/', '~']) || pattern.starts_with("./") {
            true => placed_by_git(pattern.trim_end_matches("**"), below, self.home),
            false => return false,
        };
        let (place, directory) = (fold(place.display().to_string()), fold(directory.display().to_string()));
        match pattern.ends_with(['/', '*']) {
            true => Path::new(&directory).starts_with(&place),
            false => directory == place,
        }
    }
}
