/**
 * Model providers as configured: which there are, where they are reached, which key they get. Keys stay apart from
 * everything that may be shown.
 *
 * Invariants
 * - F5 A key goes only to addresses of who gave it, or of who is trusted more: the person's (environment, own file) before
 *   `.env` of the checkout before the repository's own file. That file names no variable as a key, and its headers go
 *   nowhere with another's key but to the built-in addresses.
 */
import * as z from 'zod';
import { DURATION_RULE, parseDuration } from './duration.ts';
import {
  type Given,
  inEnvFile,
  inEnvironment,
  inVariables,
  originIn,
  type Placed,
  type VariableProblem,
  type Variables,
  variableProblem,
} from './origin.ts';
import type { Path } from './problem.ts';
import { duration, name, object, text, whole } from './schema.ts';

export type ProviderKind = 'anthropic' | 'openai';
type Maybe<T> = T | undefined;

export interface RawProvider {
  readonly kind?: Maybe<ProviderKind>;
  readonly base_url?: Maybe<string>;
  readonly api_key?: Maybe<string>;
  readonly api_key_env?: Maybe<string>;
  readonly headers?: Maybe<Readonly<Record<string, string>>>;
  readonly auth?: Maybe<'bearer' | 'x-api-key'>;
  readonly version?: Maybe<string>;
  readonly cache?: Maybe<boolean>;
  readonly thinking?: Maybe<'adaptive' | 'between_tools' | 'default'>;
  readonly effort?: Maybe<'low' | 'medium' | 'high' | 'xhigh' | 'max'>;
  readonly stream?: Maybe<boolean>;
  readonly stream_usage?: Maybe<boolean>;
  readonly echo_reasoning?: Maybe<boolean>;
  readonly max_tokens?: Maybe<number>;
  readonly max_tokens_field?: Maybe<'max_tokens' | 'max_completion_tokens'>;
  readonly timeout?: Maybe<string>;
  readonly idle_timeout?: Maybe<string>;
}

/** A provider ready for use, without its secrets: plain data that may be shown. */
export interface ProviderSettings {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly baseUrlOrigin: string;
  /** Where the key is from; null: there is none. */
  readonly keyOrigin: string | null;
  readonly keyNeeded: boolean;
  /** Variables that would give it a key, best first. */
  readonly keyVariables: readonly string[];
  /** Why it must not be used as it is configured; null: it may. */
  readonly blocked: string | null;
  readonly auth: 'bearer' | 'x-api-key';
  readonly version: string | null;
  readonly cache: boolean;
  readonly thinking: 'adaptive' | 'between_tools' | 'default';
  readonly effort: NonNullable<RawProvider['effort']> | null;
  readonly stream: boolean;
  readonly streamUsage: boolean;
  readonly echoReasoning: boolean;
  readonly maxTokens: number | null;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
}

/** What authenticates; travels beside the settings and is shown nowhere. */
export interface ProviderSecret {
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_URL: Readonly<Record<ProviderKind, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
};
const BUILT_IN: readonly ProviderKind[] = ['anthropic', 'openai'];
/** Names that mean something else in `provider/model`. */
const TAKEN: readonly string[] = ['scripted', 'replay'];

const variable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, 'expected the name of an environment variable, such as MY_API_KEY');
const url = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@]+[^\s?#@]*$/, 'expected an address such as https://host/v1');

/** Not those that say where a request goes or where it ends (F5). */
const HEADER =
  /^(?!(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive)$)[\w-]+$/i;

const provider = object({
  kind: z.enum(['anthropic', 'openai']).optional(),
  base_url: url.optional(),
  api_key: text.optional(),
  api_key_env: variable.optional(),
  headers: z
    .record(z.string().regex(HEADER, 'expected the name of a header that may be set'), z.string())
    .optional(),
  auth: z.enum(['bearer', 'x-api-key']).optional(),
  version: text.optional(),
  cache: z.boolean().optional(),
  thinking: z.enum(['adaptive', 'between_tools', 'default']).optional(),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  stream: z.boolean().optional(),
  stream_usage: z.boolean().optional(),
  echo_reasoning: z.boolean().optional(),
  max_tokens: whole(1, 1_000_000).optional(),
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  timeout: duration.optional(),
  idle_timeout: duration.optional(),
});

export const providers: z.ZodType<Readonly<Record<string, RawProvider>>> = z.record(name, provider);

export interface ProviderFile extends Placed {
  readonly config: { readonly providers?: Maybe<Readonly<Record<string, RawProvider>>> };
}

export interface ProviderSources extends Variables {
  readonly workspaceFile?: Maybe<ProviderFile>;
  readonly userFile?: Maybe<ProviderFile>;
}

export type ProviderOutcome =
  | {
      readonly kind: 'ok';
      readonly providers: Readonly<Record<string, ProviderSettings>>;
      readonly secrets: Readonly<Record<string, ProviderSecret>>;
    }
  | VariableProblem;

export function resolveProviders(sources: ProviderSources): ProviderOutcome {
  const found: Record<string, ProviderSettings> = {};
  const secrets: Record<string, ProviderSecret> = {};
  const names = new Set<string>(BUILT_IN);
  for (const file of [sources.workspaceFile, sources.userFile]) {
    for (const own of Object.keys(file?.config.providers ?? {})) names.add(own);
  }
  for (const one of names) {
    const resolved = resolveOne(one, sources);
    if ('variable' in resolved) return resolved;
    found[one] = Object.freeze(resolved.settings);
    secrets[one] = Object.freeze(resolved.secret);
  }
  return { kind: 'ok', providers: Object.freeze(found), secrets: Object.freeze(secrets) };
}

type Resolved =
  | { readonly settings: ProviderSettings; readonly secret: ProviderSecret }
  | VariableProblem;

function resolveOne(name: string, sources: ProviderSources): Resolved {
  const workspace = ownOf(sources.workspaceFile, name);
  const user = ownOf(sources.userFile, name);
  const raw: RawProvider = { ...defined(user), ...defined(workspace) };
  const kind = BUILT_IN.find((one) => one === name) ?? raw.kind ?? 'openai';
  const variables = variablesOf(name);
  const fromEnv = inVariables(sources, variables.urls);
  if (fromEnv !== null && !url.safeParse(fromEnv.value).success) {
    // Not quoted: an address can hold a password.
    return variableProblem(sources, fromEnv, 'expected an address such as https://host/v1');
  }
  const address = fromEnv ?? inFiles(sources, name, 'base_url');
  const key = findKey(sources, name, {
    named: workspace?.api_key_env ?? user?.api_key_env,
    variables: variables.keys,
  });
  const baseUrl = (address?.value ?? DEFAULT_URL[kind]).replace(/\/+$/, '');
  const blocked = whyBlocked(name, { raw, kind, address, key, workspace, user });
  const withKey = blocked === null ? key : null;
  return {
    settings: {
      name,
      kind,
      baseUrl,
      baseUrlOrigin: address?.origin ?? 'default',
      keyOrigin: withKey?.origin ?? null,
      keyNeeded: baseUrl === DEFAULT_URL[kind] && !carriesKey(raw.headers),
      keyVariables: raw.api_key_env === undefined ? variables.keys : [raw.api_key_env],
      blocked,
      ...options(raw, kind, baseUrl),
    },
    secret: { key: withKey?.value ?? null, headers: blocked === null ? (raw.headers ?? {}) : {} },
  };
}

type Options = Omit<
  ProviderSettings,
  | 'name'
  | 'kind'
  | 'baseUrl'
  | 'baseUrlOrigin'
  | 'keyOrigin'
  | 'keyNeeded'
  | 'keyVariables'
  | 'blocked'
>;

function options(raw: RawProvider, kind: ProviderKind, baseUrl: string): Options {
  const field = baseUrl === DEFAULT_URL.openai ? 'max_completion_tokens' : 'max_tokens';
  return {
    auth: raw.auth ?? 'bearer',
    version: raw.version ?? (kind === 'anthropic' && raw.auth === 'x-api-key' ? OLD_VERSION : null),
    cache: raw.cache ?? true,
    thinking: raw.thinking ?? 'default',
    effort: raw.effort ?? null,
    stream: raw.stream ?? true,
    streamUsage: raw.stream_usage ?? true,
    echoReasoning: raw.echo_reasoning ?? false,
    maxTokens: raw.max_tokens ?? null,
    maxTokensField: raw.max_tokens_field ?? field,
    timeoutMs: raw.timeout === undefined ? null : parseDuration(raw.timeout),
    idleTimeoutMs: raw.idle_timeout === undefined ? null : parseDuration(raw.idle_timeout),
  };
}

/** What gateways that read `x-api-key` expect beside it. */
const OLD_VERSION = '2023-06-01';

function variablesOf(name: string): { readonly keys: string[]; readonly urls: string[] } {
  const upper = name.toUpperCase().replaceAll('-', '_');
  const prefixes = [`TROUPE_${upper}`];
  if (BUILT_IN.some((one) => one === name)) prefixes.push(upper);
  return {
    keys: prefixes.map((prefix) => `${prefix}_API_KEY`),
    urls: prefixes.map((prefix) => `${prefix}_BASE_URL`),
  };
}

function findKey(
  sources: ProviderSources,
  name: string,
  { named, variables }: { readonly named: Maybe<string>; readonly variables: readonly string[] },
): Given | null {
  const [own = '', ...usual] = variables;
  const names = [own, ...(named === undefined ? [] : [named]), ...usual];
  return (
    inEnvironment(sources, names) ?? inEnvFile(sources, names) ?? inFiles(sources, name, 'api_key')
  );
}

/** Whose word is trusted more. */
const TRUST: Readonly<Record<Given['from'], number>> = {
  env: 2,
  user: 2,
  'env-file': 1,
  workspace: 0,
};

/** F5. */
function whyBlocked(
  name: string,
  found: {
    readonly raw: RawProvider;
    readonly kind: ProviderKind;
    readonly address: Given | null;
    readonly key: Given | null;
    readonly workspace: RawProvider | undefined;
    readonly user: RawProvider | undefined;
  },
): string | null {
  const { raw, kind, address, key, workspace, user } = found;
  if (TAKEN.includes(name)) return `"${name}" is the name of a provider of Troupe's own`;
  if (raw.kind !== undefined && raw.kind !== kind) {
    return `"${name}" is of kind ${kind}; give one of kind ${raw.kind} another name`;
  }
  for (const [key, text] of [
    ['timeout', raw.timeout],
    ['idle_timeout', raw.idle_timeout],
  ] as const) {
    if (text !== undefined && parseDuration(text) === null) return `${key}: ${DURATION_RULE}`;
  }
  if (workspace?.api_key_env !== undefined) {
    return "the repository's own config names a variable as its key (api_key_env): only your own config may";
  }
  if (address !== null && address.from !== 'env' && address.from !== 'user') {
    const chosen = `${WHO[address.from]} chooses the address ${address.value}`;
    if (key !== null && TRUST[address.from] < TRUST[key.from]) {
      return `${chosen}; your key (${key.origin}) is not sent there`;
    }
    if (Object.keys(user?.headers ?? {}).length > 0) {
      return `${chosen}; your headers are not sent there`;
    }
  }
  // A gateway may be told by a header where to send all of it.
  const isOthers = key !== null && key.from !== 'workspace';
  if (isOthers && address !== null && Object.keys(workspace?.headers ?? {}).length > 0) {
    return `the repository's own config sets headers; with your key (${key.origin}) they are not sent to ${address.value}`;
  }
  return null;
}

const WHO = {
  'env-file': 'the .env of this checkout',
  workspace: "the repository's own config",
} as const;

function carriesKey(headers: RawProvider['headers']): boolean {
  return Object.keys(headers ?? {}).some((one) =>
    ['authorization', 'x-api-key', 'api-key'].includes(one.toLowerCase()),
  );
}

/** The repository's file before the user's. */
function inFiles(
  sources: ProviderSources,
  name: string,
  key: 'base_url' | 'api_key',
): Given | null {
  const path: Path = ['providers', name, key];
  for (const from of ['workspace', 'user'] as const) {
    const file = from === 'workspace' ? sources.workspaceFile : sources.userFile;
    const value = ownOf(file, name)?.[key];
    if (file === undefined || value === undefined) continue;
    return { value, name: '', origin: originIn(file, path), from };
  }
  return null;
}

function ownOf(file: ProviderFile | undefined, name: string): RawProvider | undefined {
  const all = file?.config.providers ?? {};
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

function defined(raw: RawProvider | undefined): RawProvider {
  return Object.fromEntries(Object.entries(raw ?? {}).filter(([, value]) => value !== undefined));
}
