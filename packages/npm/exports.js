// What the package exports, whoever loads the module.
export {
  Checker,
  CheckerStream,
  ConformanceError,
  assertConformant,
  check,
  checkAsHtml,
  dialects,
  loadDialect,
} from "./checker.js";
