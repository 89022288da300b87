/**
 * Room `config`: the files that people write — team files and `config.yaml` — read strictly and resolved into values that
 * the rest can rely on. Pure: it is given text and gives back a value, or every problem with file position and path.
 * Whether the graph can be worked is for room `tasks`, which the caller passes in.
 *
 * Invariants: F1 never a throw and never a half-read file, whatever it contains · F2 each problem has line, column and
 * path · F3 a key that this version does not know or does not support is an error, never ignored.
 */
export { parseDuration } from './duration.ts';
export { type EnvFile, passedOver, readEnvFile } from './env-file.ts';
export { type Frontmatter, type ReadFrontmatter, readFrontmatter } from './frontmatter.ts';
export { teamJsonSchema } from './json-schema.ts';
export type { Setting } from './origin.ts';
export { type ConfigFile, hooksOf, type ParsedConfig, parseConfig } from './parse-config.ts';
export { type ModelRef, type ParsedTeam, type ParseTeamOptions, parseTeam } from './parse-team.ts';
export { type ParsedPolicy, parsePolicy } from './policy-file.ts';
export { PRICES_DATE, type Price, type Prices, priceEntry, priceOf } from './prices.ts';
export { formatProblem, type Problem } from './problem.ts';
export {
  type ParsedProfile,
  type ProfileFileOptions,
  type ProfileModel,
  parseProfile,
} from './profile-file.ts';
export { BUILT_IN_PROFILES, type SkillNames } from './profiles.ts';
export type { ProviderKind, ProviderSecret, ProviderSettings } from './providers.ts';
export {
  type ConfigOutcome,
  type ConfigSource,
  type ConfigSources,
  type ModelSettings,
  type ResolvedConfig,
  resolveConfig,
} from './resolve-config.ts';
export type { TeamDefaults } from './resolve-team.ts';
export { teamTemplate } from './template.ts';
export { WINDOWS_DATE, type Windows, windowEntry, windowOf } from './windows.ts';
