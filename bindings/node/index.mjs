// The same for `import`.
import stockade from "./lib/index.cjs";

export const {
  run, spawn, execCode, infer, inferFile, check, findBinary, visible, Sandbox, Checker, Yes, No,
  StockadeError, CommandNotFound, CommandNotExecutable, PermissionDenied, RunFailed, TimeoutExpired,
} = stockade;
export default stockade;
