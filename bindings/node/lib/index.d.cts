import type { ChildProcess, StdioOptions } from "node:child_process";

/** What a run may do, where, and for how long. Each is the flag of `stockade run` of the same name. Times are milliseconds. */
export interface SandboxOptions {
  /** By name or file; without it, `minimal`, or the agent's. */
  profile?: string;
  /** `./` in profiles, and where the command starts; by default the current directory. */
  root?: string | URL;
  /** The same as `root`. */
  cwd?: string | URL;
  agent?: string;
  tool?: string;
  read?: Paths;
  write?: Paths;
  exec?: Paths;
  socket?: Paths;
  deny?: string | readonly string[];
  /** Variables to set, or names of the caller's to pass. None pass otherwise but those that the profile names. */
  env?: Readonly<Record<string, string | undefined>> | string | readonly string[];
  host?: string | readonly string[];
  listen?: number | readonly number[];
  net?: "none" | "all";
  llm?: boolean;
  cap?: string | readonly string[];
  mode?: "manual" | "accept-edits" | "bypass";
  /** After this time the run is ended with all its processes. Questions that are open don't count. */
  timeout?: number;
  cpuLimit?: number;
  memoryLimit?: number | string;
  processLimit?: number;
  openFilesLimit?: number;
  fileSizeLimit?: number | string;
  diskLimit?: number | string;
  outputLimit?: number | string;
  /** A callback, or where to ask: `never` (the default), `terminal`, `socket`, `auto`, `command=TEXT`. */
  ask?: AskCallback | string;
  askTimeout?: number;
  escalate?: "grants" | "profile";
  audit?: "off" | "denials" | "all";
  trace?: "exact" | "fast";
  resolver?: string;
  acceptShortfall?: string | readonly string[];
}

export type Paths = string | URL | ReadonlyArray<string | URL>;

/** Options of one run that is waited for. */
export interface RunOptions extends SandboxOptions {
  /** Standard input; without it, it is empty. */
  input?: string | Uint8Array;
  /** Of the output; `buffer` for bytes. By default `utf8`. */
  encoding?: BufferEncoding | "buffer";
  /** Rejects where the run fails: with `PermissionDenied` where a refusal explains it, else with `RunFailed`, whose message
   * lists what was perhaps the reason. */
  check?: boolean;
  /** As `child_process.spawn` has it. */
  stdio?: StdioOptions;
  /** Ends the run. */
  signal?: AbortSignal;
  /** Ends a run that prints more than this many bytes on one stream: a `RangeError`. By default 64 MiB. */
  maxBuffer?: number;
}

export interface SpawnOptions extends SandboxOptions {
  stdio?: StdioOptions;
  signal?: AbortSignal;
}

export interface ExecOptions extends RunOptions {
  lang?: Language;
  args?: readonly string[];
}

export type Language = "python" | "javascript" | "typescript" | "shell";
export type Status = "completed" | "permission_denied" | "time_limit" | "resource_limit" | "signalled" | "not_started";
export type Access =
  | "read" | "write" | "create" | "delete" | "metadata" | "execute" | "connect" | "listen" | "socket" | "resolve" | "signal"
  | "spawn" | "syscall" | "variable";

/**
 * `yes`: the program's last words name it as what made the run fail; `perhaps`: it is one of at most three that may have.
 * Each of these words is truthy: compare.
 */
export type Explains = "yes" | "perhaps" | "no";

/** A refused access. Texts are the program's to choose: show them through `visible`. */
export interface Denial {
  access: Access;
  /** What it was to, as the kernel names it. */
  target: string;
  /** The same as the program named it. */
  asked: string;
  syscall: string;
  pid: number;
  program: string;
  count: number;
  at_ms: number;
  /** What refused it; null where nothing grants it. */
  rule: { text: string; origin: string } | null;
  /** Whether it explains why the run failed: see `Explains`. */
  explains: Explains;
  /** Whether programs try it every time and live with the refusal. */
  usual: boolean;
  /** The least flags that would allow it, for `Sandbox.allowing`; null where no grant does. */
  grant: string[] | null;
  profile: string | null;
}

export interface Suggestion {
  /** For `Sandbox.allowing`; empty where there would be too many, or where no denial is `yes`. */
  flags: string[];
  profile: string | null;
  /** Where no denial is `yes`: the grant of each that is `perhaps`, likeliest first. */
  candidates: SuggestedGrant[];
}

/** What would allow an access that was perhaps the reason. */
export interface SuggestedGrant {
  access: Access;
  target: string;
  /** For `Sandbox.allowing`; empty where no grant allows it. */
  flags: string[];
  profile: string | null;
}

export interface Escalation {
  requests: Array<{
    id: string; access: Access; target: string; answer: "yes" | "no" | "silence"; lifetime?: "once" | "session" | "always";
    by: string; reason: string | null; granted: { grants?: string[][]; profile?: string } | null; waited_ms: number;
  }>;
  ended: string | null;
}

/** The run's report, by `schemas/report.schema.json`. */
export interface Report {
  version: 1;
  run: string;
  profile: string;
  command: string[];
  root: string;
  status: Status;
  exit_code: number | null;
  signal: NodeJS.Signals | null;
  limit: string | null;
  duration_ms: number;
  denials: Denial[];
  denials_dropped: number;
  suggestion: Suggestion | null;
  escalation: Escalation | null;
  [more: string]: unknown;
}

/** What a run left beside its output. */
export interface Ended {
  command: string[];
  /** The program's own exit code; null where a signal ended it; 124 past the `timeout`. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  report: Report | undefined;
  /** Why there was no run, or why nothing is known of it. */
  error: StockadeError | undefined;
  /** What Stockade said to the run: its refusal in words, with a hint. */
  messages: string;
}

export interface Result<Output = string> extends Omit<Ended, "error" | "report"> {
  stdout: Output;
  stderr: Output;
  report: Report;
  status: Status;
  limit: string | null;
  denials: Denial[];
  suggestion: Suggestion | null;
  escalation: Escalation | null;
}

/** A child whose process is Stockade's: signals to it reach the program, and killing it ends all processes of the run. */
export interface ConfinedProcess extends ChildProcess {
  /** What the run left; never rejected. */
  ended: Promise<Ended>;
}

/** A request for more than the profile gives. The program waits for the answer. Texts are the untrusted program's. */
export interface EscalationRequest {
  id: string;
  run: string;
  currentProfile: string;
  /** What would be granted, each as the words of a flag. */
  grants: string[][];
  profile: string | undefined;
  /** What `new Yes(…, { wider: true })` would grant. */
  wider: string[][];
  reason: string;
  access: Access;
  target: string;
  asked: string;
  program: string;
  pid: number;
  agent: string | null;
  warning: string | null;
  lifetimes: string[];
  live: boolean;
  /** Milliseconds until it is refused. */
  timeout: number;
  json: unknown;
}

export class Yes {
  constructor(lifetime?: "once" | "session", options?: { wider?: boolean; reason?: string });
  readonly lifetime: "once" | "session" | undefined;
  readonly wider: boolean;
  readonly reason: string | undefined;
}

export class No {
  constructor(reason?: string, options?: { all?: boolean });
  readonly reason: string | undefined;
  readonly all: boolean;
}

export type Answer = Yes | No | boolean | null | undefined | void;
export type AskCallback = (request: EscalationRequest) => Answer | Promise<Answer>;

type Bytes = { encoding: "buffer" };
type Text = { encoding?: BufferEncoding };

/** What runs may do: kept, used as often as you like, and never changed. */
export class Sandbox {
  constructor(options?: SandboxOptions);
  readonly options: SandboxOptions;
  /**
   * A sandbox that allows this as well: options, or the flags of a denial or suggestion. The untrusted program chose what
   * such flags name: show them to a person first.
   */
  allowing(more: SandboxOptions | readonly string[]): Sandbox;
  run(command: string, args: readonly string[], options: RunOptions & Bytes): Promise<Result<Buffer>>;
  run(command: string, args?: readonly string[], options?: RunOptions & Text): Promise<Result>;
  run(command: string, options: RunOptions & Text): Promise<Result>;
  spawn(command: string, args?: readonly string[], options?: SpawnOptions): ConfinedProcess;
  spawn(command: string, options: SpawnOptions): ConfinedProcess;
  execCode(code: string, options: ExecOptions & Bytes): Promise<Result<Buffer>>;
  execCode(code: string, options?: ExecOptions & Text): Promise<Result>;
}

/** Runs a command to its end, inside a permission profile. */
export const run: Sandbox["run"];
/** Starts a command inside a permission profile: `child_process.spawn`, confined. */
export const spawn: Sandbox["spawn"];
/** Runs generated code; without a profile, with the least that its text needs. */
export const execCode: Sandbox["execCode"];

export interface Inference {
  language: string;
  /** The lowest shipped profile that allows all of it. */
  profile: string;
  confidence: number;
  evidence: Array<{ effect: string; target: string; line: number; column: number; text: string }>;
  reads: string[];
  writes: string[];
  hosts: string[];
  env: string[];
  commands: unknown[];
  listens: boolean;
  dynamic: string[];
  least_grants: { profile: string; flags: string[] };
  [more: string]: unknown;
}

/** What code needs, from its text. Nothing of it runs. */
export function infer(code: string, options?: { lang?: Language; root?: string }): Promise<Inference>;
export function inferFile(file: string, options?: { lang?: Language; root?: string }): Promise<Inference>;

/** A tool with a command or skill, or an action on a path or host. */
export interface Call {
  tool?: string;
  command?: string;
  skill?: string;
  action?: "read" | "write" | "delete" | "execute" | "connect";
  path?: string;
  host?: string;
  cwd?: string;
}

export interface Decision {
  decision: "allow" | "deny" | "confirm";
  allowed: boolean;
  reason: string;
  matched: string | null;
  remember: Array<Record<string, string>>;
  title?: string;
  message?: string;
  danger?: string;
}

export interface CheckOptions {
  agent?: string;
  root?: string;
  rules?: string;
  /** Whether `confirm` is an answer; else it is `deny`. */
  ask?: boolean;
  audit?: "off" | "denials" | "all";
}

/** Decides many calls with one process. */
export class Checker {
  constructor(options?: CheckOptions);
  /** Rejects where the call can't be decided, which is not an allow. */
  check(call: Call): Promise<Decision>;
  close(): void;
}

/** Decides one call. */
export function check(call: Call, options?: CheckOptions): Promise<Decision>;

/** The program that this package carries, or the one that `STOCKADE_BINARY` names. */
export function findBinary(): string;

/** A text of the untrusted program, as it may be shown to a person: on one line, escaped, and bounded. */
export function visible(text: string, longest?: number): string;

export class StockadeError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number | undefined;
}
export class CommandNotFound extends StockadeError {
  readonly code: "ENOENT";
}
export class CommandNotExecutable extends StockadeError {
  readonly code: "EACCES";
}
export class RunFailed extends Error {
  readonly result: Result<unknown>;
  readonly denials: Denial[];
  readonly suggestion: Suggestion | null;
  readonly hint: string | undefined;
}
export class PermissionDenied extends RunFailed {}
export class TimeoutExpired extends RunFailed {
  readonly timeout: number;
}
