/**
 * What becomes of both config files, the environment and `.env`: one frozen value in which each setting says where it comes
 * from. A team file's own words go before all of them.
 */
import type { LogLevel } from '../kernel/ports.ts';
import type { Limits, SandboxSettings } from '../protocol/team.ts';
import { COMPACT_AT, DEFAULTS, FALLBACKS_MAX } from './limits.ts';
import {
  type Given,
  inEnvironment,
  inVariables,
  originIn,
  type Placed,
  type Setting,
  type VariableProblem,
  variableProblem,
} from './origin.ts';
import { type ConfigFile, LEVELS } from './parse-config.ts';
import { type Price, type Prices, readPrice } from './prices.ts';
import type { Path } from './problem.ts';
import {
  type ProviderSecret,
  type ProviderSettings,
  type ProviderSources,
  resolveProviders,
} from './providers.ts';
import { narrowSandbox, resolveSandbox } from './sandbox.ts';
import { model, quote } from './schema.ts';
import type { Windows } from './windows.ts';

/** All that is known of models, without secrets: plain data that can go to a thread and may be shown. */
export interface ModelSettings {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** The user's own prices; `priceOf` has the list. */
  readonly prices: Prices;
  /** The user's own windows; `windowOf` has the table. */
  readonly windows: Windows;
  readonly compactAt: number;
}

type PlainLimit = Exclude<keyof Limits, 'restarts' | 'restartPeriodMs'>;

export interface ResolvedConfig {
  readonly model: Setting<string | null>;
  readonly limits: { readonly [K in PlainLimit]: Setting<number> };
  readonly treesRoot: Setting<string | null>;
  readonly log: Setting<LogLevel>;
  readonly fallback: Setting<readonly string[]>;
  readonly sandbox: Setting<SandboxSettings>;
  readonly models: ModelSettings;
  /** The user's own, by `provider/model` or `provider/*`; `models` has their values. */
  readonly prices: Readonly<Record<string, Setting<Price>>>;
  readonly windows: Readonly<Record<string, Setting<number>>>;
  readonly compactAt: Setting<number>;
  /** By provider. Not enumerable: it is in no copy and no JSON of this value. */
  readonly secrets: Readonly<Record<string, ProviderSecret>>;
}

export interface ConfigSources extends ProviderSources {
  readonly workspaceFile?: ConfigSource | undefined;
  readonly userFile?: ConfigSource | undefined;
}

export interface ConfigSource extends Placed {
  readonly config: ConfigFile;
}

export type ConfigOutcome =
  | { readonly kind: 'ok'; readonly config: ResolvedConfig }
  /** A variable that can't be used. */
  | VariableProblem;

export function resolveConfig(sources: ConfigSources): ConfigOutcome {
  const variables = readVariables(sources);
  if (variables.kind === 'problem') return variables;
  const resolved = resolveProviders(sources);
  if (resolved.kind === 'problem') return resolved;
  const files = [sources.workspaceFile, sources.userFile].filter((file) => file !== undefined);
  function pick<T>(
    path: Path,
    read: (file: ConfigFile) => T | undefined,
    otherwise: T,
  ): Setting<T> {
    for (const file of files) {
      const value = read(file.config);
      if (value !== undefined) return Object.freeze({ value, origin: originIn(file, path) });
    }
    return Object.freeze({ value: otherwise, origin: 'default' });
  }
  const limit = (key: PlainLimit): Setting<number> =>
    pick(['limits', key], (file) => file.limits?.[key], DEFAULTS[key]);
  const prices = ownOf(files, 'prices', { of: (config) => config.prices, read: readPrice });
  const windows = ownOf(files, 'windows', {
    of: (config) => config.windows,
    read: (tokens) => tokens,
  });
  const compactAt = pick(['compact_at'], (file) => file.compact_at, COMPACT_AT);
  const shown = {
    model: variables.model ?? pick<string | null>(['model'], (file) => file.model, null),
    limits: Object.freeze({
      parallel: limit('parallel'),
      turns: limit('turns'),
      depth: limit('depth'),
      fanout: limit('fanout'),
    }),
    treesRoot: variables.trees ?? pick<string | null>(['trees'], (file) => file.trees, null),
    log: variables.log ?? pick<LogLevel>(['log'], (file) => file.log, 'warn'),
    fallback:
      variables.fallback ?? pick<readonly string[]>(['fallback'], (file) => file.fallback, []),
    sandbox: pick<SandboxSettings>(
      ['sandbox'],
      (file) => {
        if (file.sandbox === undefined) return undefined;
        const person = resolveSandbox(sources.userFile?.config.sandbox);
        return file === sources.workspaceFile?.config
          ? narrowSandbox(file.sandbox, person)
          : person;
      },
      resolveSandbox(undefined),
    ),
    models: Object.freeze({
      providers: resolved.providers,
      prices: valuesOf(prices),
      windows: valuesOf(windows),
      compactAt: compactAt.value,
    }),
    prices,
    windows,
    compactAt,
  };
  return { kind: 'ok', config: withSecrets(shown, resolved.secrets) };
}

interface FromVariables {
  readonly kind: 'ok';
  readonly model: Setting<string> | null;
  readonly fallback: Setting<readonly string[]> | null;
  readonly trees: Setting<string> | null;
  readonly log: Setting<LogLevel> | null;
}

/** `.env` has a word on models only; the others are the person's own. */
function readVariables(sources: ConfigSources): FromVariables | VariableProblem {
  const named = inVariables(sources, ['TROUPE_MODEL']);
  if (named !== null && !model.safeParse(named.value).success) {
    const message = `expected provider/model, found ${quote(named.value)}`;
    return variableProblem(sources, named, message);
  }
  const listed = inVariables(sources, ['TROUPE_FALLBACK']);
  const fallback = (listed?.value ?? '').split(',').map((one) => one.trim());
  if (listed !== null) {
    const wrong = fallback.find((one) => !model.safeParse(one).success);
    const message =
      wrong === undefined
        ? `expected at most ${FALLBACKS_MAX} models, found ${fallback.length}`
        : `expected provider/model, with commas between them, found ${quote(wrong)}`;
    if (wrong !== undefined || fallback.length > FALLBACKS_MAX) {
      return variableProblem(sources, listed, message);
    }
  }
  const log = inEnvironment(sources, ['TROUPE_LOG']);
  const level = LEVELS.find((one) => one === log?.value);
  if (log !== null && level === undefined) {
    const message = `expected ${LEVELS.join(' or ')}, found ${quote(log.value)}`;
    return variableProblem(sources, log, message);
  }
  const trees = inEnvironment(sources, ['TROUPE_TREES']);
  const setting = <T>(given: Given | null, value: T | undefined): Setting<T> | null =>
    given === null || value === undefined ? null : Object.freeze({ value, origin: given.origin });
  return {
    kind: 'ok',
    model: setting(named, named?.value),
    fallback: setting<readonly string[]>(listed, fallback),
    trees: setting(trees, trees?.value),
    log: setting(log, level),
  };
}

/** The first file that names a model has the word. */
function ownOf<Raw, T>(
  files: readonly ConfigSource[],
  key: 'prices' | 'windows',
  how: {
    readonly of: (config: ConfigFile) => Readonly<Record<string, Raw>> | undefined;
    readonly read: (raw: Raw) => T;
  },
): Readonly<Record<string, Setting<T>>> {
  const own: Record<string, Setting<T>> = {};
  for (const file of files) {
    for (const [ref, raw] of Object.entries(how.of(file.config) ?? {})) {
      own[ref] ??= { value: how.read(raw), origin: originIn(file, [key, ref]) };
    }
  }
  return Object.freeze(own);
}

function valuesOf<T>(settings: Readonly<Record<string, Setting<T>>>): Readonly<Record<string, T>> {
  return Object.freeze(
    Object.fromEntries(Object.entries(settings).map(([ref, { value }]) => [ref, value])),
  );
}

function withSecrets(
  shown: Omit<ResolvedConfig, 'secrets'>,
  secrets: ResolvedConfig['secrets'],
): ResolvedConfig {
  const config = { ...shown, secrets };
  Object.defineProperty(config, 'secrets', { enumerable: false });
  return Object.freeze(config);
}
