//! A file that holds only rules: TOML, or the same in JSON.

use std::path::Path;

use super::examples::matches;
use super::json;
use stockade_policy::config::{ConfigurationError, Permissions, permissions};
use stockade_policy::profile::reading::{Complaint, Reader, read_root_with, read_with, text_of};
use stockade_policy::profile::{DocumentFault, ProfileError, Source};

const KIND: &str = "file of rules";
const FIELDS: [&str; 2] = ["version", "permissions"];

/// Reads a file of rules; it is parsed as JSON if it begins with `{`.
///
/// # Errors
/// The file can't be read or has faults; all of them are reported.
pub fn permissions_of(path: &Path) -> Result<Permissions, ConfigurationError> {
    let source = Source::File(path.to_path_buf());
    let text = text_of(path, &source).map_err(|error| match error {
        ProfileError::Unreadable { path, source } => ConfigurationError::Unreadable { path, source },
        other => ConfigurationError::Faults(other),
    })?;
    parse(&text, &source).map_err(|faults| ConfigurationError::Faults(ProfileError::Faults(faults)))
}

fn parse(text: &str, source: &Source) -> Result<Permissions, Vec<DocumentFault>> {
    let read = |reader: &mut Reader<'_>, root: &toml::de::DeTable<'_>| {
        if !root.contains_key("version") {
            let complaint = Complaint::new("`version` is missing").hint("a file of rules says `version = 1`");
            reader.fault(0, complaint);
        }
        let mut read = Permissions::default();
        for (key, value) in root {
            match key.get_ref().as_ref() {
                "version" => {}
                "permissions" => read = permissions(reader, value, Some(matches)),
                _ => reader.unknown_field(key, "a file of rules", &FIELDS),
            }
        }
        read
    };
    if !text.trim_start().starts_with('{') {
        return read_with(text, source, KIND, read);
    }
    let (root, complaints) = match json::table(text) {
        Ok(root) => (root, Vec::new()),
        Err(wrong) => (toml::de::DeTable::new(), vec![wrong]),
    };
    read_root_with(text, source, KIND, &root, complaints, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Permissions, String> {
        let listed = |faults: Vec<DocumentFault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        parse(text, &Source::File("r".into())).map_err(listed)
    }

    #[test]
    fn a_json_file_of_the_original_form_is_accepted_too() {
        let json = parsed(
            "{\"version\":1,\"permissions\":{\n \"allow\":[{\"tool\":\"bash\",\"command\":\"git push\",\n\
             \"command_glob\":null}],\n \"deny\":[{\"tool\":\"skill_load\",\"skill_name\":\"x\"}]}}",
        )
        .unwrap();
        let toml = parsed(
            "version = 1\n[[permissions.allow]]\ntool='bash'\ncommand='git push'\n\
             [[permissions.deny]]\ntool='skill_load'\nskill_name='x'",
        )
        .unwrap();
        let nowhere = |permissions: &Permissions| {
            let lists = permissions.allow.iter().chain(&permissions.deny);
            let texts = lists.map(|rule| (rule.tool.clone(), rule.command.clone(), rule.skill_name.clone()));
            texts.collect::<Vec<_>>()
        };
        assert_eq!(nowhere(&json), nowhere(&toml));
        assert_eq!(json.allow[0].origin.to_string(), "r:2");
        assert_eq!(parsed("{\"version\":1}"), Ok(Permissions::default()));
    }

    #[test]
    fn a_fault_in_json_is_told_at_its_place() {
        let fault = |text: &str| parsed(text).unwrap_err();
        insta::assert_snapshot!(fault("{\"version\":1,\n\"permissions\":{\"allow\":[{\"tol\":\"bash\"}]}}"), @"
        r:2:25: this `permissions.allow` has no `tool`
        r:2:32: `permissions.allow` has no field `tol`
        ");
        insta::assert_snapshot!(fault("{\"version\":2}"), @"r:1:12: this is a file of rules of version 2");
        insta::assert_snapshot!(fault("{\"permissions\":{}}"), @"r:1:1: `version` is missing");
        insta::assert_snapshot!(fault("{\"version\":1,\n\"permissions\":{\"allow\":[],\"allow\":[]}}"), @"r:2:35: `allow` stands here a second time");
        insta::assert_snapshot!(fault("{\n\"version\" 1}"), @"r:2:11: expected `:`");
        insta::assert_snapshot!(fault("{\"version\":1,\"permissions\":[]}"), @"r:1:28: expected a table, found an array");
        assert!(
            fault(&format!(
                "{{\"version\":1,\"permissions\":{}1{}}}",
                "[".repeat(100),
                "]".repeat(100)
            ))
            .contains("nests too deep")
        );
        assert!(fault(&"{\"a\":".repeat(100_000)).contains("r:1:"));
    }
}
