/**
 * Room `providers`: adapters to model APIs behind one event protocol (`protocol/provider.ts`): `anthropic`, `openai` for
 * every server that speaks Chat Completions, `scripted`. A provider knows nothing of tools, mail or journals; it turns a
 * request into a stream. It tries nothing twice: that is the agent's business, which sees the whole picture.
 *
 * Invariants: L1 each request is legal for its API · L6 a stream never throws · L13–L20 in the files that hold them.
 */
export { checkBudget, checkModel, type ModelProblem } from './check.ts';
export type { Fetch } from './http.ts';
export {
  formatScriptProblem,
  type ParsedScript,
  parseScript,
  type Script,
  type ScriptProblem,
} from './parse-script.ts';
export {
  type ChosenProvider,
  type ModelAccess,
  type ProviderDeps,
  providerFor,
} from './registry.ts';
export { makeScriptedProvider, type ScriptedDeps } from './scripted.ts';
