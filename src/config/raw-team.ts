/** The team file as people write it (design §15), before defaults: types, and the schema that is checked against them. */
import * as z from 'zod';
import type { Effect, PlanRule } from '../protocol/team.ts';
import { hooks, type RawHook } from './hooks.ts';
import {
  ATTEMPTS_MAX,
  DEPTH_MAX,
  FALLBACKS_MAX,
  FANOUT_MAX,
  GLOB_MAX,
  PARALLEL_MAX,
  POOL_MAX,
  RESTARTS_MAX,
  RETRIES_MAX,
  SPARSE_MAX,
  TEAMMATES_MAX,
  TOUCHES_MAX,
  TURNS_MAX,
  WINDOW_MAX,
  WINDOW_MIN,
} from './limits.ts';
import { policyKeys, type RawPolicy } from './policy-file.ts';
import { effect } from './policy-rule.ts';
import { type RawSandbox, sandbox } from './sandbox.ts';
import {
  duration,
  innerFolder,
  innerPath,
  later,
  model,
  name,
  object,
  text,
  whole,
} from './schema.ts';

type Maybe<T> = T | undefined;

export interface RawGate {
  readonly run?: Maybe<string>;
  readonly retries?: Maybe<number>;
  readonly timeout?: Maybe<string>;
  readonly review?: Maybe<string>;
}

/** What a task or an actor may spend. */
export interface RawShare {
  readonly usd?: Maybe<number>;
  readonly tokens?: Maybe<number>;
  readonly turns?: Maybe<number>;
}

export interface RawTask {
  readonly id: string;
  readonly title?: Maybe<string>;
  readonly prompt?: Maybe<string>;
  readonly run?: Maybe<string>;
  readonly needs?: Maybe<readonly string[]>;
  readonly agent?: Maybe<string>;
  readonly touches?: Maybe<readonly string[]>;
  readonly verify?: Maybe<readonly (string | RawGate)[]>;
  readonly attempts?: Maybe<number>;
  readonly timeout?: Maybe<string>;
  readonly plan?: Maybe<PlanRule>;
  readonly budget?: Maybe<RawShare>;
}

export interface RawAgent {
  readonly description?: Maybe<string>;
  readonly prompt?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly fallback?: Maybe<readonly string[]>;
  readonly tools?: Maybe<readonly string[]>;
  readonly skills?: Maybe<readonly string[]>;
  readonly plan?: Maybe<PlanRule>;
  readonly budget?: Maybe<RawShare>;
  readonly window?: Maybe<number>;
  readonly restart?: Maybe<'permanent' | 'transient' | 'temporary'>;
}

export interface RawLimits {
  readonly parallel?: Maybe<number>;
  readonly turns?: Maybe<number>;
  readonly depth?: Maybe<number>;
  readonly fanout?: Maybe<number>;
}

/** Of a team file; config has the plain numbers alone. */
export interface RawTeamLimits extends RawLimits {
  readonly restarts?: Maybe<number>;
  readonly restart_period?: Maybe<string>;
}

export interface RawTeam {
  readonly version: 1;
  readonly name: string;
  readonly goal?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly budget?: Maybe<RawShare & { readonly wall?: Maybe<string> }>;
  readonly limits?: Maybe<RawTeamLimits>;
  readonly base?: Maybe<string>;
  readonly worktree?: Maybe<{
    readonly setup?: Maybe<readonly string[]>;
    readonly copy?: Maybe<readonly string[]>;
    readonly link?: Maybe<readonly string[]>;
    readonly sparse?: Maybe<readonly string[]>;
    readonly pool?: Maybe<number>;
    readonly root?: Maybe<string | null>;
  }>;
  readonly agents?: Maybe<Readonly<Record<string, RawAgent>>>;
  readonly members?: Maybe<{
    readonly lead?: Maybe<{ readonly name?: Maybe<string>; readonly agent?: Maybe<string> }>;
    readonly teammates?: Maybe<
      readonly { readonly name: string; readonly agent?: Maybe<string> }[]
    >;
  }>;
  readonly tasks?: Maybe<readonly RawTask[]>;
  readonly merge?: Maybe<{
    readonly style?: Maybe<'merge' | 'squash' | 'rebase'>;
    readonly verify?: Maybe<readonly (string | RawGate)[]>;
    readonly touches?: Maybe<'warn' | 'refuse' | 'ignore'>;
  }>;
  readonly finish?: Maybe<{ readonly verify?: Maybe<readonly (string | RawGate)[]> }>;
  readonly permissions?: Maybe<
    RawPolicy & { readonly default?: Maybe<Effect>; readonly timeout?: Maybe<string> }
  >;
  readonly hooks?: Maybe<readonly RawHook[]>;
  readonly mcp?: unknown;
  readonly sandbox?: Maybe<RawSandbox>;
}

const gate = z.union([
  text,
  object({
    run: text.optional(),
    retries: whole(0, RETRIES_MAX).optional(),
    timeout: duration.optional(),
    review: text.optional(),
  }),
]);
const gates = z.array(gate).optional();

export const limits: z.ZodType<RawLimits> = object({
  parallel: whole(1, PARALLEL_MAX).optional(),
  turns: whole(1, TURNS_MAX).optional(),
  depth: whole(0, DEPTH_MAX).optional(),
  fanout: whole(0, FANOUT_MAX).optional(),
});

const teamLimits: z.ZodType<RawTeamLimits> = object({
  parallel: whole(1, PARALLEL_MAX).optional(),
  turns: whole(1, TURNS_MAX).optional(),
  depth: whole(0, DEPTH_MAX).optional(),
  fanout: whole(0, FANOUT_MAX).optional(),
  restarts: whole(1, RESTARTS_MAX).optional(),
  restart_period: duration.optional(),
});

export const planRule: z.ZodType<PlanRule> = z.enum(['required', 'optional', 'never']);
const plan = planRule.optional();

const amounts = {
  usd: z.number().positive().optional(),
  tokens: z.int().positive().optional(),
  turns: z.int().positive().optional(),
};
/** A task's time is its `timeout`, and the run's is `budget.wall`. */
export const share: z.ZodType<RawShare> = object(amounts);

const task = object({
  id: name,
  title: text.optional(),
  prompt: text.optional(),
  run: text.optional(),
  needs: z.array(z.string()).optional(),
  agent: z.string().optional(),
  touches: z.array(text.max(GLOB_MAX)).max(TOUCHES_MAX).optional(),
  verify: gates,
  attempts: whole(1, ATTEMPTS_MAX).optional(),
  timeout: duration.optional(),
  plan,
  budget: share.optional(),
});

const agent = object({
  description: z.string().optional(),
  prompt: text.optional(),
  model: model.optional(),
  fallback: z.array(model).max(FALLBACKS_MAX).optional(),
  tools: z.array(text).optional(),
  skills: z.array(text).optional(),
  plan,
  budget: share.optional(),
  window: whole(WINDOW_MIN, WINDOW_MAX).optional(),
  restart: z.enum(['permanent', 'transient', 'temporary']).optional(),
});

export const teamSchema: z.ZodType<RawTeam> = object({
  version: z.literal(1),
  name,
  goal: text.optional(),
  model: model.optional(),
  budget: object({ ...amounts, wall: duration.optional() }).optional(),
  limits: teamLimits.optional(),
  base: z
    .string()
    .regex(/^[^-\s][^\s]*$/, 'expected a branch, a tag or a commit')
    .optional(),
  worktree: object({
    setup: z.array(text).optional(),
    copy: z.array(innerPath).optional(),
    link: z.array(innerPath).optional(),
    sparse: z.array(innerFolder).max(SPARSE_MAX).optional(),
    pool: whole(0, POOL_MAX).optional(),
    root: text.nullable().optional(),
  }).optional(),
  agents: z.record(name, agent).optional(),
  members: object({
    lead: object({ name: z.string().optional(), agent: z.string().optional() }).optional(),
    teammates: z
      .array(object({ name, agent: z.string().optional() }))
      .max(TEAMMATES_MAX)
      .optional(),
  }).optional(),
  tasks: z.array(task).optional(),
  merge: object({
    style: z.enum(['merge', 'squash', 'rebase']).optional(),
    verify: gates,
    touches: z.enum(['warn', 'refuse', 'ignore']).optional(),
  }).optional(),
  finish: object({ verify: gates }).optional(),
  permissions: object({
    version: z.literal(1).optional(),
    default: effect.optional(),
    timeout: z.union([z.literal('never'), duration]).optional(),
    ...policyKeys,
  }).optional(),
  hooks: hooks.optional(),
  mcp: later,
  sandbox: sandbox.optional(),
});
