// Checks a file by a schema that VS Code's editor has for it: no output, if it fits.
//
//   node vscode.mjs NODE_MODULES SOURCES servers|hooks FILE
//
// The schemas are values in modules that load half an editor, so their part of the text is taken alone.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// Files, the words from which and up to which their text is taken, and the schema's name.
const SCHEMAS = {
  servers: [
    ["services/configurationResolver/common/configurationResolverSchema.js", "const ", "export "],
    ["contrib/mcp/common/mcpConfiguration.js", "const mcpSchemaExampleServers", "const mcpContributionPoint"],
    "mcpServerSchema",
  ],
  hooks: [
    ["contrib/chat/common/promptSyntax/promptTypes.js", "var Target;", "export "],
    ["contrib/chat/common/promptSyntax/hookTypes.js", "var HookType;", "export "],
    ["contrib/chat/common/promptSyntax/hookSchema.js", "const HOOK_COMMAND_FIELD_DESCRIPTIONS", "const HOOK_SCHEMA_URI"],
    "hookFileSchema",
  ],
};

const [modules, sources, which, file] = process.argv.slice(2);
const parts = SCHEMAS[which].slice(0, -1).map(([name, first, last]) => {
  const text = readFileSync(`${sources}/${name}`, "utf8");
  const from = text.indexOf(first);
  const to = text.indexOf(last, from);
  if (from < 0 || to < 0) throw new Error(`${name} isn't as it was`);
  return text.slice(from, to);
});
const body = `${parts.join("\n")}\nreturn ${SCHEMAS[which].at(-1)};`;
const { id, ...schema } = new Function("localize", "mcpSchemaId", body)((_, text) => text, "");

const Ajv = createRequire(`${modules}/`)("ajv").default;
const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
// Comments and commas at the end are JavaScript too.
const found = new Function(`return (${readFileSync(file, "utf8")}\n)`)();
if (!validate(found)) console.log(JSON.stringify(validate.errors, null, 1));
