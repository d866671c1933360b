//! The labels of the corpus: what each script needs, as its authors found by thinking and by running.

use std::path::PathBuf;

use serde::Deserialize;

use crate::common::tries;

/// The files of labels, by language.
pub const LANGUAGES: [&str; 4] = ["python", "javascript", "typescript", "shell"];

/// One script's label. Fields that are empty or false may be left out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Below the corpus: `python/sieve.py`.
    pub file: String,
    /// The least profile.
    pub profile: String,
    #[serde(default)]
    pub reads: Vec<String>,
    #[serde(default)]
    pub writes: Vec<String>,
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(default)]
    pub listens: bool,
    #[serde(default)]
    pub env: Vec<String>,
    /// Programs that it starts.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Whether it can be run here.
    #[serde(default = "yes")]
    pub runs: bool,
    /// Why it can't.
    #[serde(default)]
    pub why: Option<String>,
    /// Its exit code, unconfined and without network.
    #[serde(default)]
    pub exit: i32,
    /// Whether no reader of the text alone could be sure.
    #[serde(default)]
    pub hard: bool,
    /// What its programs read where they may, and do without.
    #[serde(default)]
    pub tries: Vec<String>,
    /// Whether it prints something else at another time: a load, a size, a port.
    #[serde(default)]
    pub varies: bool,
    /// Whether it was written after the readers, which weren't mended by it.
    #[serde(default)]
    pub held_out: bool,
}

#[derive(Deserialize)]
struct Labels {
    script: Vec<Label>,
}

fn yes() -> bool {
    true
}

impl Label {
    /// Its language: the directory that it is in.
    pub fn language(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }

    pub fn path(&self) -> PathBuf {
        corpus().join(&self.file)
    }

    /// Whether it asks a host that can't be reached here; then messages differ, and what programs make of them.
    pub fn leaves_machine(&self) -> bool {
        let is_here = |host: &String| host.starts_with("127.0.0.1") || host.starts_with("localhost");
        !self.hosts.iter().all(is_here)
    }
}

/// The labels of the scripts that are run: one in six, or with `STOCKADE_TEST_SOAK=1` all.
pub fn runnable() -> Vec<Label> {
    let each = tries(6, 1);
    labels().into_iter().filter(|label| label.runs).step_by(each).collect()
}

pub fn corpus() -> PathBuf {
    crate::common::checkout().join("tests/infer/corpus")
}

/// All labels, language by language.
pub fn labels() -> Vec<Label> {
    LANGUAGES.iter().flat_map(|language| labels_of(language)).collect()
}

fn labels_of(language: &str) -> Vec<Label> {
    let file = corpus().join(format!("{language}.toml"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let labels: Labels = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    labels.script
}

#[test]
fn each_script_has_one_label_and_each_label_a_script() {
    let labels = labels();
    let mut labelled: Vec<&str> = labels.iter().map(|label| &*label.file).collect();
    labelled.sort_unstable();
    let mut there = Vec::new();
    for language in LANGUAGES {
        for entry in std::fs::read_dir(corpus().join(language)).unwrap().flatten() {
            there.push(format!("{language}/{}", entry.file_name().to_string_lossy()));
        }
    }
    there.sort_unstable();
    assert_eq!(labelled, there);
    assert!(there.len() >= 150, "{} scripts", there.len());
    let unexplained: Vec<_> = labels
        .iter()
        .filter(|label| !label.runs && label.why.is_none())
        .collect();
    assert!(
        unexplained.is_empty(),
        "nothing says why these can't be run: {unexplained:#?}"
    );
}
