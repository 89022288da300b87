/**
 * `config.yaml`, of the workspace and of the user, and what becomes of both and the environment: one frozen value in which
 * each setting says where it comes from. Environment over workspace over user over default; a team file's own words
 * go before all of them.
 */
import * as z from 'zod';
import type { LogLevel } from '../kernel/ports.ts';
import type { Limits } from '../protocol/team.ts';
import { readDocument } from './document.ts';
import { DEFAULTS } from './limits.ts';
import type { Problem } from './problem.ts';
import { limits, type RawLimits } from './raw-team.ts';
import { findingsOf, model, object, quote, text } from './schema.ts';

export interface ConfigFile {
  readonly model?: string | undefined;
  readonly limits?: RawLimits | undefined;
  /** Folder under which the trees lie. */
  readonly trees?: string | undefined;
  readonly log?: LogLevel | undefined;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const configSchema: z.ZodType<ConfigFile> = object({
  model: model.optional(),
  limits: limits.optional(),
  trees: text.optional(),
  log: z.enum(LEVELS).optional(),
});

export type ParsedConfig =
  | { readonly kind: 'ok'; readonly config: ConfigFile }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** A file that says nothing is an empty config. */
export function parseConfig(source: string | Uint8Array): ParsedConfig {
  const document = readDocument(source);
  if (document.kind === 'problems') return document;
  const value = document.value ?? {};
  const checked = configSchema.safeParse(value);
  if (checked.success) return { kind: 'ok', config: checked.data };
  const problems = document.locateAll(findingsOf(checked.error.issues, value));
  return { kind: 'problems', problems };
}

export interface Setting<T> {
  readonly value: T;
  /** `default`, the name of an environment variable, or the path of a file. */
  readonly origin: string;
}

export interface ResolvedConfig {
  readonly model: Setting<string | null>;
  readonly limits: { readonly [K in keyof Limits]: Setting<number> };
  readonly treesRoot: Setting<string | null>;
  readonly log: Setting<LogLevel>;
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
  const config: ResolvedConfig = Object.freeze({
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
  });
  return { kind: 'ok', config };
}
