/**
 * The local wire: JSON-RPC 2.0, one message a line, on the supervisor's Unix socket. The table of methods is the
 * contract; `ipc` serves it, `client` calls it. Not part of `index.ts`, so that readers of types do not load zod.
 *
 * Invariants
 * - I1 The first request of a connection is `hello` with the token; nothing else is answered before it.
 * - I2 An operating failure crosses as JSON-RPC error -32000 whose `data` is an `ErrorShape`: branch on `data.code`.
 */
import { z } from 'zod';
import type { AskRow, GrantRow, GrantScope } from './ask.ts';
import type { CronEdit, CronEditResult, CronJob } from './cron.ts';
import type { TroupeEvent } from './event.ts';
import type { TrustRecord } from './policy.ts';
import type { ActorRow, PlanRow, RunRow, TaskRow, WhyRow } from './shapes.ts';
import { type DeskMethods, deskParams, type WireMethods, wireParams } from './wire-reads.ts';

/** Of a token. `person` decides · `viewer` reads · `actor` reads what is about it. */
export type Role = 'person' | 'viewer' | 'actor';

export interface HelloParams {
  readonly token: string;
  readonly protocol: number;
  /** Who calls, for the log. */
  readonly client?: string | undefined;
}

export interface HelloResult {
  readonly protocol: number;
  /** What the token may do. */
  readonly role: Role;
  readonly pid: number;
  readonly startedAt: string;
}

export interface StatusResult {
  readonly pid: number;
  readonly startedAt: string;
  readonly socket: string;
  readonly protocol: number;
  /** Level of the sandbox that commands run in; `none` until there is one. */
  readonly sandbox: string;
  /** The runs that this supervisor holds now. */
  readonly runs: readonly RunRow[];
  readonly actors: readonly (ActorRow & { readonly run: string })[];
  /** `up`: long-lived, takes over runs. `run`: in the process that somebody started for a run, and ends with it. */
  readonly mode: 'up' | 'run';
  /** Of one that is up: the process that starts it again when it dies; null when there is none (any more). */
  readonly parent: number | null;
  /** Of one that is up: where its log is. */
  readonly log: string | null;
  /** Runs that were going on and are left alone, since taking them up failed too often. */
  readonly left: readonly LeftRun[];
}

/** A run that a supervisor does not take up any more by itself. */
export interface LeftRun {
  readonly run: string;
  readonly reason: string;
  readonly at: string;
}

/** Without `run`: the run that the supervisor holds, the newest if it holds several. */
export interface RunParams {
  readonly run?: string | undefined;
}

export interface WhyParams extends RunParams {
  /** A task or an actor; left out: all that does not move. */
  readonly about?: string | undefined;
}

export interface SendParams extends RunParams {
  readonly to: string;
  readonly text: string;
  readonly interrupt: boolean;
}

export interface SendResult {
  readonly run: string;
  readonly seq: number;
  readonly n: number;
  readonly id: string;
  /** `dead`: the receiver was stopped; the mail is kept as a dead letter and its lead is told. */
  readonly state: 'accepted' | 'dead';
  /** Of mail to `all`: who got it. */
  readonly to?: readonly string[];
}

/** A person retries or drops a dead letter, by its envelope id. */
export interface SettleParams extends RunParams {
  readonly id: string;
  readonly what: 'retried' | 'dropped';
}

export interface SettleResult {
  readonly run: string;
  readonly to: string;
  readonly n: number;
  readonly id: string;
}

/** A person's word on content of the repository. */
export interface TrustParams {
  readonly words: readonly Omit<TrustRecord, 'at'>[];
}

/** A person decides on a plan, by its id. */
export interface DecidePlanParams extends RunParams {
  readonly id: string;
  readonly approve: boolean;
  readonly feedback: string;
}

export interface DecidePlanResult {
  readonly run: string;
  readonly id: string;
  readonly by: string;
  readonly task: string | null;
  readonly state: 'approved' | 'rejected';
}

/** An answer of a person. Without `run`: of the run that has such an ask. */
export interface AnswerAskParams extends RunParams {
  /** Or its beginning. */
  readonly id: string;
  /** Of what was shown; left out: whatever it asks now. */
  readonly digest?: string | undefined;
  readonly effect: 'allow' | 'deny';
  readonly scope: GrantScope;
  /** Of a grant of the workspace; default 7. */
  readonly days?: number | undefined;
  /** Told to the model when it is denied. */
  readonly reason?: string | undefined;
  readonly by: string;
}

export interface AnswerAskResult {
  readonly run: string;
  readonly id: string;
  readonly effect: 'allow' | 'deny';
  readonly scope: GrantScope;
  readonly by: string;
  /** Id of what was granted. */
  readonly grant: string | null;
}

export interface StopParams extends RunParams {
  readonly now: boolean;
  readonly by: string;
}

/** One run with all that a view of it shows. */
export interface RunResult {
  readonly run: RunRow;
  readonly tasks: readonly TaskRow[];
  readonly actors: readonly ActorRow[];
}

/** As the options of `troupe run`. A supervisor in the foreground of another run refuses it (`control/held`). */
export interface StartRunParams {
  readonly teamFile: string;
  /** Absolute; a relative team file is found from here. */
  readonly cwd: string;
  readonly model?: string | undefined;
  readonly budgetUsd?: number | undefined;
  readonly runId?: string | undefined;
  readonly mode?: string | undefined;
  readonly attended: boolean;
  /** Names of variables with keys that the caller has; of those that the supervisor lacks it tells. Never values. */
  readonly keys?: readonly string[] | undefined;
}

export interface ResumeRunParams {
  readonly run: string;
  /** A failed task whose tree a person has put in order. */
  readonly reopen?: string | undefined;
  /** What the run may spend in all from now on, with what is spent already. */
  readonly budget?:
    | {
        readonly usd?: number | undefined;
        readonly tokens?: number | undefined;
        readonly wallMs?: number | undefined;
        readonly turns?: number | undefined;
      }
    | undefined;
  readonly keys?: readonly string[] | undefined;
}

/** It goes on: its first record of this term is durable. */
export interface StartRunResult {
  readonly run: string;
  /** What happens from now on comes after this cursor. */
  readonly from: string;
  /** What a person should know. */
  readonly notes: readonly string[];
  /** What holds its commands, in words. */
  readonly sandbox: string;
}

export interface DownParams {
  /** Without it running work may end, until the deadline. */
  readonly now: boolean;
  readonly deadlineMs: number;
}

/** Nothing of these runs is left; the process ends next. */
export interface DownResult {
  readonly runs: readonly RunRow[];
}

export interface StopActorParams extends StopParams {
  readonly name: string;
}

export interface CompactParams extends RunParams {
  readonly name: string;
  /** What the summary must keep above all. */
  readonly focus?: string | undefined;
}

/** It was asked for: the actor does it at its next boundary, and the event `session.compacted` tells of it. */
export interface CompactResult {
  readonly run: string;
  readonly name: string;
  readonly state: 'asked';
  /** It had no thread and is woken for it. */
  readonly woken: boolean;
}

export interface SubscribeParams extends RunParams {
  /** A cursor `<seq>.<i>`; events after it are replayed first. Without it only what happens from now on is sent. */
  readonly from?: string | undefined;
  /** Globs over types (`task.*`); all when left out. */
  readonly types?: readonly string[] | undefined;
  /** Only what these actors do; all when left out. */
  readonly actors?: readonly string[] | undefined;
  /** Only what is about these tasks; all when left out. */
  readonly tasks?: readonly string[] | undefined;
  /** Also token fragments (`live.*`), which are never replayed. */
  readonly live?: boolean | undefined;
}

export interface SubscribeResult {
  readonly subscription: string;
  readonly run: string;
  /** What is sent comes after it: a client that is cut off before the first event goes on from here. */
  readonly cursor: string;
}

/** Every method with its parameters and its result. */
export interface Methods extends DeskMethods, WireMethods {
  readonly hello: { readonly params: HelloParams; readonly result: HelloResult };
  readonly status: { readonly params: NoParams; readonly result: StatusResult };
  readonly 'runs.list': { readonly params: NoParams; readonly result: readonly RunRow[] };
  readonly 'tasks.list': { readonly params: RunParams; readonly result: readonly TaskRow[] };
  readonly 'actors.list': { readonly params: RunParams; readonly result: readonly ActorRow[] };
  readonly why: { readonly params: WhyParams; readonly result: readonly WhyRow[] };
  readonly 'mail.send': { readonly params: SendParams; readonly result: SendResult };
  readonly 'mail.settle': { readonly params: SettleParams; readonly result: SettleResult };
  readonly 'trust.set': { readonly params: TrustParams; readonly result: NoParams };
  readonly 'plans.list': { readonly params: RunParams; readonly result: readonly PlanRow[] };
  readonly 'plans.decide': {
    readonly params: DecidePlanParams;
    readonly result: DecidePlanResult;
  };
  readonly 'approvals.list': { readonly params: RunParams; readonly result: readonly AskRow[] };
  readonly 'approvals.answer': {
    readonly params: AnswerAskParams;
    readonly result: AnswerAskResult;
  };
  readonly 'rules.list': { readonly params: NoParams; readonly result: readonly GrantRow[] };
  readonly 'rules.revoke': {
    readonly params: { readonly id: string; readonly by: string };
    readonly result: { readonly id: string };
  };
  readonly 'run.get': { readonly params: RunParams; readonly result: RunResult };
  readonly 'run.start': { readonly params: StartRunParams; readonly result: StartRunResult };
  readonly 'run.resume': { readonly params: ResumeRunParams; readonly result: StartRunResult };
  /** Answered when the run has ended or was interrupted, and nothing of it is left. */
  readonly 'run.wait': { readonly params: { readonly run: string }; readonly result: RunRow };
  readonly 'supervisor.down': { readonly params: DownParams; readonly result: DownResult };
  readonly 'run.stop': { readonly params: StopParams; readonly result: RunRow };
  readonly 'actor.compact': { readonly params: CompactParams; readonly result: CompactResult };
  readonly 'actor.stop': { readonly params: StopActorParams; readonly result: ActorRow };
  /** Recurring jobs: added, removed, paused, gone on with, run now. */
  readonly 'cron.edit': { readonly params: CronEdit; readonly result: CronEditResult };
  readonly 'events.subscribe': {
    readonly params: SubscribeParams;
    readonly result: SubscribeResult;
  };
  readonly 'events.unsubscribe': {
    readonly params: { readonly subscription: string };
    readonly result: { readonly closed: boolean };
  };
}

export type NoParams = Readonly<Record<string, never>>;
export type MethodName = keyof Methods;
export type ParamsOf<M extends MethodName> = Methods[M]['params'];
export type ResultOf<M extends MethodName> = Methods[M]['result'];

/** Of a person's words on a plan; what is longer goes by `mail.send`. */
const FEEDBACK_MAX = 16_384;

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The longest grace that work may be given when a supervisor goes down. */
const DOWN_MS_MAX = 3_600_000;

const name: z.ZodString = z.string().min(1).max(64);
const path: z.ZodString = z.string().min(1).max(4096);
const keys = z.array(z.string().min(1).max(128)).max(64).optional();
const run: z.ZodOptional<z.ZodString> = name.optional();

/** Parameters are strict: an unknown one is an error with its path, not a silent difference. */
export const methodParams: { readonly [M in MethodName]: z.ZodType<ParamsOf<M>> } = {
  ...deskParams,
  ...wireParams,
  hello: z.strictObject({
    token: z.string().max(256),
    protocol: z.number().int(),
    client: z.string().max(128).optional(),
  }),
  status: z.strictObject({}),
  'runs.list': z.strictObject({}),
  'tasks.list': z.strictObject({ run }),
  'actors.list': z.strictObject({ run }),
  why: z.strictObject({ run, about: name.optional() }),
  'mail.send': z.strictObject({ run, to: name, text: z.string(), interrupt: z.boolean() }),
  'trust.set': z.strictObject({
    words: z
      .array(
        z.strictObject({
          what: z.enum(['trusted', 'revoked']),
          hash: z.string().regex(/^[0-9a-f]{64}$/),
          path: z.string().min(1).max(4096),
        }),
      )
      .max(1000),
  }),
  'mail.settle': z.strictObject({ run, id: name, what: z.enum(['retried', 'dropped']) }),
  'plans.list': z.strictObject({ run }),
  'plans.decide': z.strictObject({
    run,
    id: name,
    approve: z.boolean(),
    feedback: z.string().max(FEEDBACK_MAX),
  }),
  'approvals.list': z.strictObject({ run }),
  'approvals.answer': z.strictObject({
    run,
    id: name,
    digest: z.string().max(128).optional(),
    effect: z.enum(['allow', 'deny']),
    scope: z.enum(['once', 'run', 'workspace']),
    days: z.number().int().min(1).max(90).optional(),
    reason: z.string().max(4_000).optional(),
    by: name,
  }),
  'rules.list': z.strictObject({}),
  'rules.revoke': z.strictObject({ id: name, by: name }),
  'run.get': z.strictObject({ run }),
  'run.start': z.strictObject({
    teamFile: path,
    cwd: path.refine((given) => given.startsWith('/'), 'an absolute path'),
    model: z.string().min(1).max(256).optional(),
    budgetUsd: z.number().positive().optional(),
    runId: z.string().min(1).max(64).optional(),
    mode: z.string().min(1).max(32).optional(),
    attended: z.boolean(),
    keys,
  }),
  'run.resume': z.strictObject({
    run: name,
    reopen: name.optional(),
    budget: z
      .strictObject({
        usd: z.number().positive().optional(),
        tokens: z.number().int().positive().optional(),
        wallMs: z.number().positive().optional(),
        turns: z.number().int().positive().optional(),
      })
      .optional(),
    keys,
  }),
  'run.wait': z.strictObject({ run: name }),
  'supervisor.down': z.strictObject({
    now: z.boolean(),
    deadlineMs: z.number().int().min(0).max(DOWN_MS_MAX),
  }),
  'run.stop': z.strictObject({ run, now: z.boolean(), by: name }),
  'actor.compact': z.strictObject({ run, name, focus: z.string().min(1).max(1000).optional() }),
  'actor.stop': z.strictObject({ run, name, now: z.boolean(), by: name }),
  'cron.edit': z.discriminatedUnion('type', [
    // Checked whole by the one who reads it, from the wire as from the journal.
    z.strictObject({ type: z.literal('add'), job: z.custom<CronJob>(isObject) }),
    z.strictObject({ type: z.enum(['remove', 'pause', 'resume', 'trigger']), name }),
  ]),
  'events.subscribe': z.strictObject({
    run,
    from: z
      .string()
      .regex(/^\d{1,15}(\.\d{1,9})?$/, 'a cursor like 12.0')
      .optional(),
    types: z.array(z.string().max(64)).max(32).optional(),
    actors: z.array(name).max(64).optional(),
    tasks: z.array(name).max(64).optional(),
    live: z.boolean().optional(),
  }),
  'events.unsubscribe': z.strictObject({ subscription: z.string().min(1).max(64) }),
};

/**
 * What a subscription sends, as notifications. A receiver that is too slow gets one event of type `gap` in the place of
 * what was dropped, and can subscribe again from the cursor before it.
 */
export interface Notice {
  readonly method: 'event';
  readonly params: { readonly subscription: string; readonly event: TroupeEvent };
}

export const RPC = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  /** An operating failure; `data` is an `ErrorShape`. */
  domain: -32_000,
  /** No `hello`, or one that was refused; the connection ends. */
  denied: -32_001,
  /** The role of the token may not call it. */
  forbidden: -32_002,
  /** Given up after `$/cancel`. */
  cancelled: -32_800,
} as const;
