//! Parses rules for tool calls from a document: the table `[permissions]` of a configuration, or a file of rules alone.
//!
//! A rule that can never match, or that doesn't do what it seems to, is a fault at its position. So is a rule whose own
//! examples fail.

use toml::de::DeTable;

use super::known::{self, SHELL, SKILL_LOAD};
use super::rule::{IsMatch, List, PermissionRule, Permissions};
use crate::profile::reading::{Complaint, Reader, Value};
use crate::profile::visible;
use stockade_text::visible::is_invisible;

const LISTS: [&str; 2] = ["allow", "deny"];
const FIELDS: [&str; 6] = ["tool", "command", "command_glob", "skill_name", "match", "not_match"];

/// The longest name, command or pattern.
const MAX_LENGTH: usize = 1024;

/// The most wildcards in one pattern: they determine the cost of a match.
const MAX_WILDCARDS: usize = 64;

/// The most rules in one list of a file: each is tried on each command of a line.
const MAX_RULES: usize = 512;

/// Parses `[[permissions.allow]]` and `[[permissions.deny]]`; tests their examples if `is_match` is given.
pub fn permissions(reader: &mut Reader<'_>, value: &Value<'_>, is_match: Option<IsMatch>) -> Permissions {
    let mut permissions = Permissions::default();
    let Some(table) = reader.table(value, "[permissions]") else {
        return permissions;
    };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "allow" => permissions.allow = rules(reader, value, List::Allow, is_match),
            "deny" => permissions.deny = rules(reader, value, List::Deny, is_match),
            _ => reader.unknown_field(key, "`permissions`", &LISTS),
        }
    }
    permissions
}

fn rules(reader: &mut Reader<'_>, value: &Value<'_>, list: List, is_match: Option<IsMatch>) -> Vec<PermissionRule> {
    let name = list.name();
    let hint = format!("write one `[[{name}]]` table for each, with `tool`");
    let mut tables = reader.tables(value, name, &hint);
    if let Some((_, at)) = tables.get(MAX_RULES) {
        let complaint = Complaint::new(format!(
            "`{name}` has {} rules, and {MAX_RULES} are the most",
            tables.len()
        ))
        .hint("one `command_glob`, or a `command` of one word, says what many rules say");
        reader.fault(*at, complaint);
        tables.truncate(MAX_RULES);
    }
    tables
        .into_iter()
        .filter_map(|(table, at)| rule(reader, table, at, list, is_match))
        .collect()
}

/// Parses one rule; `None` if it has a fault.
fn rule(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    at: usize,
    list: List,
    is_match: Option<IsMatch>,
) -> Option<PermissionRule> {
    let name = list.name();
    for (key, _) in table {
        if !FIELDS.contains(&key.get_ref().as_ref()) {
            reader.unknown_field(key, &format!("`{name}`"), &FIELDS);
        }
    }
    let Some(tool) = table.get("tool") else {
        reader.fault(at, Complaint::new(format!("this `{name}` has no `tool`")));
        return None;
    };
    let mut is_whole = true;
    let mut field = |reader: &mut Reader<'_>, name: &str, parse: fn(&str) -> Result<String, Complaint>| {
        let value = table.get(name)?;
        let parsed = reader.parsed(value, parse);
        is_whole &= parsed.is_some();
        parsed
    };
    let command = field(reader, "command", command);
    let command_glob = field(reader, "command_glob", command_glob);
    let skill_name = field(reader, "skill_name", skill_name);
    let rule = PermissionRule {
        tool: reader.parsed(tool, ruled_tool)?,
        command,
        command_glob,
        skill_name,
        matches: examples(reader, table, "match"),
        not_matches: examples(reader, table, "not_match"),
        origin: reader.origin(tool.span().start),
    };
    let is_right = is_whole
        && belongs(reader, table, &rule)
        && is_match.is_none_or(|is_match| holds(reader, table, list, &rule, is_match));
    is_right.then_some(rule)
}

/// Whether each field applies to the tool.
fn belongs(reader: &mut Reader<'_>, table: &DeTable<'_>, rule: &PermissionRule) -> bool {
    let mut belongs = true;
    for (field, owner) in [("command", SHELL), ("command_glob", SHELL), ("skill_name", SKILL_LOAD)] {
        if let Some(value) = table.get(field).filter(|_| rule.tool != owner) {
            let complaint = Complaint::new(format!(
                "`{field}` belongs to the tool `{owner}`, and this rule is for `{}`",
                visible(&rule.tool)
            ))
            .hint(format!("write `tool = \"{owner}\"`, or leave `{field}` out"));
            reader.fault(value.span().start, complaint);
            belongs = false;
        }
    }
    belongs
}

/// Whether the rule decides its own examples as stated.
fn holds(reader: &mut Reader<'_>, table: &DeTable<'_>, list: List, rule: &PermissionRule, is_match: IsMatch) -> bool {
    let mut holds = true;
    for (field, texts, is_meant) in [("match", &rule.matches, true), ("not_match", &rule.not_matches, false)] {
        let values = table.get(field).and_then(|value| value.get_ref().as_array());
        let values = values.into_iter().flat_map(|values| values.iter());
        for (text, value) in texts.iter().zip(values) {
            if is_match(rule, list, text) != is_meant {
                let verb = if is_meant { "doesn't match" } else { "matches" };
                let complaint = Complaint::new(format!("the rule {verb} its example `{}`", visible(text)))
                    .hint("correct the rule or the example");
                reader.fault(value.span().start, complaint);
                holds = false;
            }
        }
    }
    holds
}

fn examples(reader: &mut Reader<'_>, table: &DeTable<'_>, field: &str) -> Vec<String> {
    let Some(value) = table.get(field) else {
        return Vec::new();
    };
    let texts = reader.all_parsed(value, example);
    texts.into_iter().map(|(text, _)| text).collect()
}

/// Parses the name of a rule's tool. One that differs in case alone is an agent's: `Bash` for `bash`.
fn ruled_tool(text: &str) -> Result<String, Complaint> {
    single_tool(known::recased(text))
}

/// Parses a name that stands for one tool: no group, and no tool's name in another case.
pub(super) fn single_tool(text: &str) -> Result<String, Complaint> {
    let name = tool_name(text)?;
    match known::meant(&name) {
        None => Ok(name),
        Some(meant) => Err(Complaint::new(format!("`{name}` isn't a tool")).hint(format!("the name is {meant}"))),
    }
}

/// Parses the name of a tool: one printable word.
pub(super) fn tool_name(text: &str) -> Result<String, Complaint> {
    named("tool", text)?;
    if text.chars().any(char::is_whitespace) {
        return Err(Complaint::new(format!(
            "`{text}` isn't the name of a tool: it has blanks"
        )));
    }
    Ok(text.to_string())
}

fn skill_name(text: &str) -> Result<String, Complaint> {
    named("skill_name", text)?;
    Ok(text.to_string())
}

/// Parses one or two words, separated by one space.
pub(super) fn command(text: &str) -> Result<String, Complaint> {
    named("command", text)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 2 {
        return Err(
            Complaint::new(format!("the command `{text}` has {} words", words.len()))
                .hint("write the first one or two words, or a `command_glob` for more"),
        );
    }
    // Words are compared as the shell passes them on: a rule with an operator or a wildcard in it would never match.
    if let Some(strange) = text.chars().find(|c| "|&;<>()$`\\\"'*?#{}!~".contains(*c)) {
        return Err(Complaint::new(format!(
            "the command `{text}` has `{strange}`: it is compared word by word"
        ))
        .hint("for patterns there is `command_glob`"));
    }
    Ok(words.join(" "))
}

fn command_glob(text: &str) -> Result<String, Complaint> {
    if text.trim().is_empty() {
        return Err(Complaint::new("this `command_glob` is empty").hint("`*` is everything"));
    }
    if text.len() > MAX_LENGTH {
        return Err(Complaint::new(format!(
            "this `command_glob` is longer than {MAX_LENGTH} bytes"
        )));
    }
    let wildcards = text.chars().filter(|c| matches!(c, '*' | '?')).count();
    if wildcards > MAX_WILDCARDS {
        return Err(Complaint::new(format!(
            "this `command_glob` has {wildcards} wildcards, and {MAX_WILDCARDS} are the most"
        ))
        .hint("one `*` stands for any string"));
    }
    // A newline may be intended: it separates commands. No other invisible character can be.
    if text.chars().any(|c| is_invisible(c) && !matches!(c, '\n' | '\t')) {
        return Err(Complaint::new(format!(
            "the pattern `{}` has control or invisible characters",
            visible(text)
        )));
    }
    Ok(text.trim_matches([' ', '\t']).to_string())
}

fn example(text: &str) -> Result<String, Complaint> {
    Ok(text.to_string())
}

fn named(field: &str, text: &str) -> Result<(), Complaint> {
    if text.trim().is_empty() {
        return Err(Complaint::new(format!("this `{field}` is empty")));
    }
    if text.len() > MAX_LENGTH {
        return Err(Complaint::new(format!(
            "this `{field}` is longer than {MAX_LENGTH} bytes"
        )));
    }
    if text.chars().any(is_invisible) {
        return Err(Complaint::new(format!(
            "the {field} `{}` has control or invisible characters",
            visible(text)
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Source;
    use crate::profile::reading::read_with;

    fn read(text: &str) -> Result<Permissions, String> {
        let text = format!("version = 1\n{text}");
        let source = Source::File("c.toml".into());
        let read = read_with(&text, &source, "file of rules", |reader, root| {
            root.get("permissions").map(|value| permissions(reader, value, None))
        });
        let listed = |faults: Vec<crate::profile::DocumentFault>| {
            let line = |fault: &crate::profile::DocumentFault| match &fault.hint {
                Some(hint) => format!("{fault} ({hint})"),
                None => fault.to_string(),
            };
            faults.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        read.map(Option::unwrap_or_default).map_err(listed)
    }

    fn fault(lines: &str) -> String {
        read(&format!("[[permissions.allow]]\n{lines}")).unwrap_err()
    }

    #[test]
    fn every_field_of_a_rule_is_read_with_its_origin() {
        let permissions = read(
            "[[permissions.allow]]\ntool = 'bash'\ncommand = ' git  push '\ncommand_glob = 'git*'\n\
             match = ['git push']\nnot_match = ['git pull']\n\
             [[permissions.deny]]\ntool = 'skill_load'\nskill_name = 'dangerous-skill'\n",
        )
        .unwrap();
        let rule = &permissions.allow[0];
        assert_eq!(
            (rule.tool.as_str(), rule.command.as_deref()),
            ("bash", Some("git push"))
        );
        assert_eq!(rule.command_glob.as_deref(), Some("git*"));
        assert_eq!(rule.matches, ["git push"]);
        assert_eq!(rule.not_matches, ["git pull"]);
        assert_eq!(rule.origin.to_string(), "c.toml:3");
        assert_eq!(permissions.deny[0].skill_name.as_deref(), Some("dangerous-skill"));
    }

    #[test]
    fn a_file_says_no_more_than_can_be_judged_in_time() {
        let glob = |wildcards: usize| format!("tool = 'bash'\ncommand_glob = '{}b'", "*a".repeat(wildcards));
        assert!(read(&format!("[[permissions.deny]]\n{}", glob(64))).is_ok());
        insta::assert_snapshot!(fault(&glob(65)), @"c.toml:4:16: this `command_glob` has 65 wildcards, and 64 are the most (one `*` stands for any string)");
        let rules = |count: usize| "[[permissions.allow]]\ntool = 'read'\n".repeat(count);
        assert_eq!(read(&rules(512)).unwrap().allow.len(), 512);
        insta::assert_snapshot!(read(&rules(513)).unwrap_err(), @"c.toml:1026:1: `permissions.allow` has 513 rules, and 512 are the most (one `command_glob`, or a `command` of one word, says what many rules say)");
    }

    #[test]
    fn a_rule_that_could_never_match_is_a_fault_at_its_place() {
        insta::assert_snapshot!(fault("command = 'git'"), @"c.toml:2:1: this `permissions.allow` has no `tool`");
        insta::assert_snapshot!(fault("tool = 'bash'\ncommand = 'git push origin'"), @"c.toml:4:11: the command `git push origin` has 3 words (write the first one or two words, or a `command_glob` for more)");
        insta::assert_snapshot!(fault("tool = 'bash'\ncommand = ''"), @"c.toml:4:11: this `command` is empty");
        insta::assert_snapshot!(fault("tool = 'bash'\ncommand = 'rg*'"), @"c.toml:4:11: the command `rg*` has `*`: it is compared word by word (for patterns there is `command_glob`)");
        insta::assert_snapshot!(fault("tool = 'read'\ncommand = 'git'"), @r#"c.toml:4:11: `command` belongs to the tool `bash`, and this rule is for `read` (write `tool = "bash"`, or leave `command` out)"#);
        insta::assert_snapshot!(fault("tool = 'bash'\nskill_name = 'x'"), @r#"c.toml:4:14: `skill_name` belongs to the tool `skill_load`, and this rule is for `bash` (write `tool = "skill_load"`, or leave `skill_name` out)"#);
        insta::assert_snapshot!(fault("tool = 'bash'\ncommand_glob = ' '"), @"c.toml:4:16: this `command_glob` is empty (`*` is everything)");
        insta::assert_snapshot!(fault("tool = ''"), @"c.toml:3:8: this `tool` is empty");
        insta::assert_snapshot!(fault("tool = 'ba sh'"), @"c.toml:3:8: `ba sh` isn't the name of a tool: it has blanks");
        insta::assert_snapshot!(fault("tool = 'bash'\ncomand = 'x'"), @"c.toml:4:1: `permissions.allow` has no field `comand` (did you mean `command`?)");
        insta::assert_snapshot!(fault("tool = \"a\\u001b[2J\""), @r"c.toml:3:8: the tool `a\u{1b}[2J` has control or invisible characters");
        insta::assert_snapshot!(fault("tool = 'bash'\nmatch = 'x'"), @"c.toml:4:9: expected an array of strings, found a string");
        insta::assert_snapshot!(read("[permissions]\nalow = []").unwrap_err(), @"c.toml:3:1: `permissions` has no field `alow` (did you mean `allow`?)");
        insta::assert_snapshot!(read("permissions = 1").unwrap_err(), @"c.toml:2:15: expected a table, found an integer (write `[permissions]` with its fields below)");
    }
}
