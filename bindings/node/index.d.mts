export * from "./lib/index.cjs";
import * as stockade from "./lib/index.cjs";
export default stockade;
