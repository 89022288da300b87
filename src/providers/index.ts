/**
 * Room `providers`: adapters to model APIs behind one event protocol (`protocol/provider.ts`). In this version: the
 * scripted one. A provider knows nothing of tools, mail or journals; it turns a request into a stream.
 */
export {
  formatScriptProblem,
  type ParsedScript,
  parseScript,
  type Script,
  type ScriptProblem,
} from './parse-script.ts';
export { type ChosenProvider, type ProviderDeps, providerFor } from './registry.ts';
export { makeScriptedProvider, type ScriptedDeps } from './scripted.ts';
