/**
 * Policy files (permissions §2.2), YAML or JSON: from bytes to a `PolicyFile` with its examples, or to the list of all that
 * is wrong, each with line and column. Pure. What the rules mean, and whether the examples come out, is for room
 * `permissions`, which the caller passes in.
 */
import * as z from 'zod';
import {
  type Effect,
  POLICY_MODES,
  type PolicyFile,
  type PolicyMode,
  type PolicyProfile,
} from '../protocol/team.ts';
import { readDocument } from './document.ts';
import { effect, type RawRule, resolveRule, ruleSchema } from './policy-rule.ts';
import type { Finding, Path, Problem } from './problem.ts';
import { findingsOf, name, object, text } from './schema.ts';

/** An example: one call, and what must become of it. */
export interface PolicyExample {
  readonly bash?: string | undefined;
  readonly read?: string | undefined;
  readonly write?: string | undefined;
  readonly fetch?: string | undefined;
  readonly tool?: string | undefined;
  readonly input?: unknown;
  readonly expect: Effect;
}

export interface PolicyExamples {
  readonly rules: readonly PolicyExample[];
  readonly profiles: Readonly<Record<string, readonly PolicyExample[]>>;
}

export interface RawProfile {
  readonly extends?: string | undefined;
  readonly mode?: PolicyMode | undefined;
  readonly rules?: readonly RawRule[] | undefined;
  readonly tests?: readonly PolicyExample[] | undefined;
}

export interface RawPolicy {
  readonly version?: 1 | undefined;
  readonly mode?: PolicyMode | undefined;
  readonly defaults?:
    | { readonly interactive?: Effect | undefined; readonly unattended?: 'deny' | undefined }
    | undefined;
  readonly actors?: Readonly<Record<string, { readonly profile: string }>> | undefined;
  readonly profiles?: Readonly<Record<string, RawProfile>> | undefined;
  readonly rules?: readonly RawRule[] | undefined;
  readonly tests?: readonly PolicyExample[] | undefined;
  readonly lift?: readonly string[] | undefined;
}

/** What is wrong with a policy beyond its form. */
export interface PolicyFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
  readonly warning?: boolean;
}

export type CheckPolicy = (
  file: PolicyFile,
  examples: PolicyExamples,
  o: { readonly at: readonly (string | number)[]; readonly short: boolean },
) => readonly PolicyFault[];

export type ParsedPolicy =
  | { readonly kind: 'ok'; readonly policy: PolicyFile; readonly warnings: readonly Problem[] }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

const mode = z.enum(POLICY_MODES);
const example = object({
  bash: z.string().optional(),
  read: z.string().optional(),
  write: z.string().optional(),
  fetch: z.string().optional(),
  tool: z.string().optional(),
  input: z.unknown().optional(),
  expect: effect,
});
const profile = object({
  extends: name.optional(),
  mode: mode.optional(),
  rules: z.array(ruleSchema).optional(),
  tests: z.array(example).optional(),
});

type Given<K extends keyof RawPolicy> = z.ZodType<RawPolicy[K]>;

/** The keys of a policy; a team file has them below `permissions`. */
export const policyKeys: { readonly [K in Exclude<keyof RawPolicy, 'version'>]-?: Given<K> } = {
  mode: mode.optional(),
  defaults: object({
    interactive: effect.optional(),
    unattended: z.literal('deny').optional(),
  }).optional(),
  actors: z.record(text, object({ profile: name })).optional(),
  profiles: z.record(name, profile).optional(),
  rules: z.array(ruleSchema).optional(),
  tests: z.array(example).optional(),
  lift: z.array(text).optional(),
};

const policySchema: z.ZodType<RawPolicy & { readonly version: 1 }> = object({
  version: z.literal(1),
  ...policyKeys,
});

/** A file that says nothing is no policy: what is meant to protect says so. */
export function parsePolicy(source: string | Uint8Array, check: CheckPolicy): ParsedPolicy {
  const document = readDocument(source);
  if (document.kind === 'problems') return document;
  const { value } = document;
  const problems = (findings: readonly Finding[]): ParsedPolicy => ({
    kind: 'problems',
    problems: document.locateAll(findings),
  });
  if (value === undefined)
    return problems([
      { path: [], message: 'the policy is empty', hint: 'begin with `version: 1`' },
    ]);
  const checked = policySchema.safeParse(value);
  if (!checked.success) return problems(findingsOf(checked.error.issues, value));
  const policy = resolvePolicy(checked.data);
  const faults = check(policy, examplesOf(checked.data), { at: [], short: false });
  const errors = faults.filter((fault) => fault.warning !== true);
  if (errors.length > 0) return problems(errors);
  const lines = ruleLines(checked.data, [], document.locate);
  return { kind: 'ok', policy: { ...policy, lines }, warnings: document.locateAll(faults) };
}

/** Where each rule stands, so that people find the one that decided. `at`: where the policy stands in the document. */
export function ruleLines(
  raw: RawPolicy,
  at: Path,
  locate: (finding: Finding) => Problem,
): Readonly<Record<string, number>> {
  const lines: [string, number][] = [];
  const add = (rules: readonly RawRule[] | undefined, path: Path): void => {
    for (const [index, { id }] of (rules ?? []).entries()) {
      lines.push([id, locate({ path: [...path, index], message: '' }).line]);
    }
  };
  add(raw.rules, [...at, 'rules']);
  for (const [key, { rules }] of Object.entries(raw.profiles ?? {})) {
    add(rules, [...at, 'profiles', key, 'rules']);
  }
  return Object.fromEntries(lines);
}

export function resolvePolicy(raw: RawPolicy): PolicyFile {
  const profiles = Object.entries(raw.profiles ?? {}).map(([key, one]): [string, PolicyProfile] => [
    key,
    {
      ...(one.extends === undefined ? {} : { extends: one.extends }),
      ...(one.mode === undefined ? {} : { mode: one.mode }),
      rules: (one.rules ?? []).map(resolveRule),
    },
  ]);
  return {
    version: 1,
    ...(raw.mode === undefined ? {} : { mode: raw.mode }),
    defaults: raw.defaults ?? {},
    actors: raw.actors ?? {},
    profiles: Object.fromEntries(profiles),
    rules: (raw.rules ?? []).map(resolveRule),
    lift: raw.lift ?? [],
  };
}

export function examplesOf(raw: RawPolicy): PolicyExamples {
  const profiles = Object.entries(raw.profiles ?? {}).map(
    ([key, one]) => [key, one.tests ?? []] as const,
  );
  return { rules: raw.tests ?? [], profiles: Object.fromEntries(profiles) };
}
