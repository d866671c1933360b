// Compiled, never run: what a strict program may write.
import stockade, { Checker, Sandbox, Yes, run, type Decision, type Denial, type EscalationRequest, type Result } from "stockade";

const ask = (request: EscalationRequest) => (request.live ? new Yes("once") : false);
const text: Promise<Result> = run("cat", ["x"], { profile: "readonly", read: ["a"], ask, timeout: 1000 });
const bytes: Promise<Result<Buffer>> = run("cat", [], { encoding: "buffer" });
const decision: Promise<Decision> = new Checker().check({ tool: "bash", command: "ls" });
export const more: Sandbox = new Sandbox({ net: "none" }).allowing(["--read", "x"]);
export const causes = (denials: Denial[]) => denials.filter(({ explains }) => explains === "yes" || explains === "perhaps");
export const all = [text, bytes, decision, stockade.visible("x")];
// @ts-expect-error a denial explains a failure by one of three words
export const asBoolean = (denial: Denial) => denial.explains === true;
// @ts-expect-error an unknown option is told
void run("cat", ["x"], { profil: "readonly" });
