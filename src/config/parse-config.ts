/**
 * `config.yaml`, of the workspace and of the user, and what becomes of both and the environment: one frozen value in which
 * each setting says where it comes from. Environment over workspace over user over default; a team file's own words
 * go before all of them.
 */
import * as z from 'zod';
import type { LogLevel } from '../kernel/ports.ts';

import type { Hook } from '../protocol/hook.ts';
import type { Limits, SandboxSettings } from '../protocol/team.ts';

import { readDocument } from './document.ts';
import { hooks, type RawHook, resolveHooks } from './hooks.ts';
import { COMPACT_AT, DEFAULTS, FALLBACKS_MAX } from './limits.ts';
import { type Prices, prices, type RawPrice, readPrice } from './prices.ts';
import type { Finding, Problem } from './problem.ts';
import {
  type ProviderSecret,
  type ProviderSettings,
  providers,
  type RawProvider,
  resolveProviders,
} from './providers.ts';
import { limits, type RawLimits } from './raw-team.ts';
import { loosens, type RawSandbox, resolveSandbox, sandbox } from './sandbox.ts';
import { findingsOf, model, object, quote, text } from './schema.ts';
import { compactAt, type Windows, windows } from './windows.ts';

export interface ConfigFile {
  readonly model?: string | undefined;
  readonly limits?: RawLimits | undefined;
  /** Folder under which the trees lie. */
  readonly trees?: string | undefined;
  readonly log?: LogLevel | undefined;
  /** Models that stand in, best first, for profiles that name none of their own. */
  readonly fallback?: readonly string[] | undefined;
  readonly providers?: Readonly<Record<string, RawProvider>> | undefined;
  readonly prices?: Readonly<Record<string, RawPrice>> | undefined;
  /** Tokens that a model takes, by `provider/model` or `provider/*`. */
  readonly windows?: Windows | undefined;
  /** Share of the window at which conversations are compacted. */
  readonly compact_at?: number | undefined;
  readonly sandbox?: RawSandbox | undefined;
  /** Of the repository's own file only when a person has trusted it. */
  readonly hooks?: readonly RawHook[] | undefined;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const configSchema: z.ZodType<ConfigFile> = object({
  model: model.optional(),
  limits: limits.optional(),
  trees: text.optional(),
  log: z.enum(LEVELS).optional(),
  fallback: z.array(model).max(FALLBACKS_MAX).optional(),
  providers: providers.optional(),
  prices: prices.optional(),
  windows: windows.optional(),
  compact_at: compactAt.optional(),
  sandbox: sandbox.optional(),
  hooks: hooks.optional(),
});

export type ParsedConfig =
  | { readonly kind: 'ok'; readonly config: ConfigFile }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** A file that says nothing is an empty config. `inRepository`: it may have been written by anybody. */
export function parseConfig(
  source: string | Uint8Array,
  options: { readonly inRepository?: boolean } = {},
): ParsedConfig {
  const document = readDocument(source);
  if (document.kind === 'problems') return document;
  const value = document.value ?? {};
  const checked = configSchema.safeParse(value);
  if (checked.success && options.inRepository === true && loosens(checked.data.sandbox)) {
    const message = 'a repository may not open the sandbox of those who work in it';
    const hint = 'write it in the config of your home (`troupe where`), or in the team file';
    return {
      kind: 'problems',
      problems: document.locateAll([{ path: ['sandbox'], message, hint }]),
    };
  }
  if (checked.success) {
    const errors: Finding[] = [];
    resolveHooks(checked.data.hooks ?? [], { prefix: 'hook', origin: '', path: ['hooks'] }, errors);
    if (errors.length > 0) return { kind: 'problems', problems: document.locateAll(errors) };
    return { kind: 'ok', config: checked.data };
  }
  const problems = document.locateAll(findingsOf(checked.error.issues, value));
  return { kind: 'problems', problems };
}

/** Those of one config file; ids that it does not give begin with `prefix`. */
export function hooksOf(
  { hooks: raw = [] }: ConfigFile,
  from: { readonly prefix: string; readonly origin: string },
): readonly Hook[] {
  return resolveHooks(raw, { ...from, path: ['hooks'] }, []);
}

export interface Setting<T> {
  readonly value: T;
  /** `default`, the name of an environment variable, or the path of a file. */
  readonly origin: string;
}

/** All that is known of models, without secrets: plain data that can go to a thread and may be shown. */
export interface ModelSettings {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** The user's own prices; `priceOf` has the list. */
  readonly prices: Prices;
  /** The user's own windows; `windowOf` has the table. */
  readonly windows: Windows;
  readonly compactAt: number;
}

export interface ResolvedConfig {
  readonly model: Setting<string | null>;
  readonly limits: { readonly [K in keyof Limits]: Setting<number> };
  readonly treesRoot: Setting<string | null>;
  readonly log: Setting<LogLevel>;
  readonly fallback: Setting<readonly string[]>;
  readonly sandbox: Setting<SandboxSettings>;
  readonly models: ModelSettings;
  /** By provider. Not enumerable: it is in no copy and no JSON of this value. */
  readonly secrets: Readonly<Record<string, ProviderSecret>>;
}

export interface ConfigSources {
  readonly workspaceFile?: { readonly path: string; readonly config: ConfigFile } | undefined;
  readonly userFile?: { readonly path: string; readonly config: ConfigFile } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type ConfigOutcome =
  | { readonly kind: 'ok'; readonly config: ResolvedConfig }
  /** A variable of the environment that can't be used. */
  | { readonly kind: 'problem'; readonly variable: string; readonly message: string };

export function resolveConfig(sources: ConfigSources): ConfigOutcome {
  const { env } = sources;
  const files = [sources.workspaceFile, sources.userFile].filter((file) => file !== undefined);
  const fromModel = env['TROUPE_MODEL'] ?? '';
  if (fromModel !== '' && !model.safeParse(fromModel).success) {
    const message = `expected provider/model, found ${quote(fromModel)}`;
    return { kind: 'problem', variable: 'TROUPE_MODEL', message };
  }
  const fromLog = env['TROUPE_LOG'] ?? '';
  const level = LEVELS.find((one) => one === fromLog);
  if (fromLog !== '' && level === undefined) {
    const message = `expected ${LEVELS.join(' or ')}, found ${quote(fromLog)}`;
    return { kind: 'problem', variable: 'TROUPE_LOG', message };
  }
  const resolved = resolveProviders(sources);
  if (resolved.kind === 'problem') return resolved;
  function pick<T>(read: (file: ConfigFile) => T | undefined, otherwise: T): Setting<T> {
    for (const { path, config } of files) {
      const value = read(config);
      if (value !== undefined) return Object.freeze({ value, origin: path });
    }
    return Object.freeze({ value: otherwise, origin: 'default' });
  }
  const fromEnv = <T>(variable: string, value: T): Setting<T> =>
    Object.freeze({ value, origin: variable });
  const fromTrees = env['TROUPE_TREES'] ?? '';
  const limit = (key: keyof Limits): Setting<number> =>
    pick((file) => file.limits?.[key], DEFAULTS[key]);
  const shown = {
    model:
      fromModel === ''
        ? pick<string | null>((file) => file.model, null)
        : fromEnv('TROUPE_MODEL', fromModel),
    limits: Object.freeze({
      parallel: limit('parallel'),
      turns: limit('turns'),
      depth: limit('depth'),
      fanout: limit('fanout'),
    }),
    treesRoot:
      fromTrees === ''
        ? pick<string | null>((file) => file.trees, null)
        : fromEnv('TROUPE_TREES', fromTrees),
    log:
      level === undefined
        ? pick<LogLevel>((file) => file.log, 'warn')
        : fromEnv('TROUPE_LOG', level),
    fallback: pick<readonly string[]>((file) => file.fallback, []),
    sandbox: pick<SandboxSettings>(
      (file) => (file.sandbox === undefined ? undefined : resolveSandbox(file.sandbox)),
      resolveSandbox(undefined),
    ),
    models: Object.freeze({
      providers: resolved.providers,
      prices: ownPrices(files.map((file) => file.config)),
      windows: ownWindows(files.map((file) => file.config)),
      compactAt: pick((file) => file.compact_at, COMPACT_AT).value,
    }),
  };
  return { kind: 'ok', config: withSecrets(shown, resolved.secrets) };
}

/** The first file that names a model has the word. */
function ownPrices(configs: readonly ConfigFile[]): Prices {
  const own: Record<string, ReturnType<typeof readPrice>> = {};
  for (const { prices: raw = {} } of configs) {
    for (const [ref, price] of Object.entries(raw)) own[ref] ??= readPrice(price);
  }
  return Object.freeze(own);
}

function ownWindows(configs: readonly ConfigFile[]): Windows {
  const own: Record<string, number> = {};
  for (const { windows: raw = {} } of configs) {
    for (const [ref, tokens] of Object.entries(raw)) own[ref] ??= tokens;
  }
  return Object.freeze(own);
}

function withSecrets(
  shown: Omit<ResolvedConfig, 'secrets'>,
  secrets: ResolvedConfig['secrets'],
): ResolvedConfig {
  const config = { ...shown, secrets };
  Object.defineProperty(config, 'secrets', { enumerable: false });
  return Object.freeze(config);
}
