/** `config.yaml`, of the workspace and of the user: strict keys, each problem with its place. */
import * as z from 'zod';
import type { LogLevel } from '../kernel/ports.ts';
import type { Hook } from '../protocol/hook.ts';
import { readDocument } from './document.ts';
import { hooks, type RawHook, resolveHooks } from './hooks.ts';
import { FALLBACKS_MAX } from './limits.ts';
import type { PlaceOf } from './origin.ts';
import { prices, type RawPrice } from './prices.ts';
import type { Finding, Problem } from './problem.ts';
import { providers, type RawProvider } from './providers.ts';
import { limits, type RawLimits } from './raw-team.ts';
import { loosens, type RawSandbox, sandbox } from './sandbox.ts';
import { findingsOf, later, model, object, text } from './schema.ts';
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
  /** Where traces would go: part of the format, not of this version. */
  readonly otel?: unknown;
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

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
  otel: later,
});

export type ParsedConfig =
  | { readonly kind: 'ok'; readonly config: ConfigFile; readonly placeOf: PlaceOf }
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
  const findings = checked.success
    ? refused(checked.data, options.inRepository === true)
    : findingsOf(checked.error.issues, value);
  if (!checked.success || findings.length > 0) {
    return { kind: 'problems', problems: document.locateAll(findings) };
  }
  const placeOf: PlaceOf = (path) => document.locate({ path, message: '' });
  return { kind: 'ok', config: checked.data, placeOf };
}

/** What is well written and can't be had. */
function refused({ sandbox: own, hooks: raw, otel }: ConfigFile, inRepository: boolean): Finding[] {
  const found: Finding[] = [];
  if (otel !== undefined) {
    const message = 'is not available in this version: Troupe sends no traces';
    found.push({ path: ['otel'], message, hint: 'take it away', at: 'key' });
  }
  if (inRepository && loosens(own)) {
    const message = 'a repository may not open the sandbox of those who work in it';
    const hint = 'write it in the config of your home (`troupe where`), or in the team file';
    found.push({ path: ['sandbox'], message, hint });
  }
  resolveHooks(raw ?? [], { prefix: 'hook', origin: '', path: ['hooks'] }, found);
  return found;
}

/** Those of one config file; ids that it does not give begin with `prefix`. */
export function hooksOf(
  { hooks: raw = [] }: ConfigFile,
  from: { readonly prefix: string; readonly origin: string },
): readonly Hook[] {
  return resolveHooks(raw, { ...from, path: ['hooks'] }, []);
}
