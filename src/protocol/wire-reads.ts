/**
 * Methods of the wire that answer what the reading commands answer, and those that change only what a person asked for
 * in the repository (merge, clean up). Same functions, same rows; long lists come in pages.
 */
import { z } from 'zod';
import type { CronHistoryRow, CronMoment, CronRow } from './cron.ts';
import type { TroupeEvent } from './event.ts';
import type { MailRow, TreeRow } from './shapes.ts';
import type {
  ActiveRule,
  AuditReport,
  AuditRow,
  CheckAnswer,
  CleanUp,
  DiffAnswer,
  Finding,
  MemoryRow,
  MergeAnswer,
  SessionAnswer,
  SkillCheck,
  SkillRow,
  TaskDetail,
  Trustable,
  UsageAnswer,
  Verdict,
  Whereabouts,
} from './views.ts';

/** Without `run`: the newest. */
interface OfRun {
  readonly run?: string | undefined;
}

/** From this sequence number on; what does not fit into one answer comes with the next, from its `next`. */
interface Page extends OfRun {
  readonly from?: number | undefined;
  /** Rows; at most 1 000, by default 200. Rows of one record are never torn apart. */
  readonly limit?: number | undefined;
}

export interface MailListParams extends Page {
  /** Only these mailboxes. */
  readonly actors?: readonly string[] | undefined;
}

export interface SessionParams extends Page {
  readonly actor: string;
}

export interface EventListParams extends OfRun {
  /** Events after this cursor. */
  readonly from?: string | undefined;
  readonly limit?: number | undefined;
  /** Globs over types. */
  readonly types?: readonly string[] | undefined;
  readonly actors?: readonly string[] | undefined;
  readonly tasks?: readonly string[] | undefined;
}

export interface EventPage {
  readonly run: string;
  readonly events: readonly TroupeEvent[];
  /** To ask for what comes after; null when there is nothing yet. */
  readonly next: string | null;
}

export interface MailPage {
  readonly run: string;
  readonly mail: readonly MailRow[];
  readonly next: number | null;
}

export interface SessionPage extends SessionAnswer {
  readonly next: number | null;
}

export interface AuditPage {
  readonly run: string;
  readonly rows: readonly AuditRow[];
  readonly next: number | null;
}

export interface DiffParams extends OfRun {
  /** A task of the run, or without `run` a run. */
  readonly of: string;
  readonly stat?: boolean | undefined;
}

export interface MergeParams {
  readonly run: string;
  readonly into?: string | undefined;
  readonly squash?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A call as an agent would make it. */
export interface PolicyCall {
  readonly tool: string;
  readonly input: unknown;
  readonly actor?: string | undefined;
}

export interface PolicyExplanation {
  readonly decision: Verdict & {
    readonly obligations: readonly unknown[];
    readonly runs: string | null;
  };
  readonly from: string | null;
  readonly mode: string | null;
  readonly fallback: string;
  readonly revision: string;
}

export interface CronNextParams {
  readonly expression: string;
  /** IANA name; without it the zone of the supervisor's machine. */
  readonly tz?: string | undefined;
  readonly from?: string | undefined;
  /** At most 1 000, by default 5. */
  readonly count?: number | undefined;
}

/** What the wire itself carried, newest last; live only: it is kept in memory and bounded. */
export interface WireTraceParams {
  /** After this number; without it all that is kept. */
  readonly after?: number | undefined;
  /** Answer only when there is something. */
  readonly wait?: boolean | undefined;
}

export interface WireTraceRow {
  readonly n: number;
  readonly at: string;
  /** Number of the connection, and who it says it is. */
  readonly connection: number;
  readonly client: string;
  readonly role: string;
  readonly method: string;
  /** As JSON, secrets taken out, its beginning. */
  readonly params: string;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
  readonly ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** A token for one actor of a run: it may read what is about it, and nothing else. */
export interface IssueTokenParams {
  readonly run: string;
  readonly actor: string;
}

interface Method<P, R> {
  readonly params: P;
  readonly result: R;
}
type None = Readonly<Record<string, never>>;

export interface DeskMethods {
  readonly 'tasks.get': Method<OfRun & { readonly task: string }, TaskDetail>;
  readonly 'usage.get': Method<OfRun, UsageAnswer>;
  readonly 'session.get': Method<SessionParams, SessionPage>;
  readonly 'mail.list': Method<MailListParams, MailPage>;
  readonly 'mail.dead': Method<OfRun, readonly MailRow[]>;
  readonly 'events.list': Method<EventListParams, EventPage>;
  readonly 'worktrees.list': Method<None, readonly TreeRow[]>;
  readonly 'worktrees.clean': Method<None, CleanUp>;
  readonly 'diff.get': Method<DiffParams, DiffAnswer>;
  readonly 'run.merge': Method<MergeParams, MergeAnswer>;
  readonly 'audit.list': Method<Page, AuditPage>;
  readonly 'audit.verify': Method<None, AuditReport>;
  readonly 'trust.list': Method<None, readonly Trustable[]>;
  readonly 'policy.rules': Method<{ readonly actor?: string | undefined }, readonly ActiveRule[]>;
  readonly 'policy.check': Method<{ readonly calls: readonly PolicyCall[] }, readonly Verdict[]>;
  readonly 'policy.explain': Method<PolicyCall, PolicyExplanation>;
  readonly 'skills.list': Method<None, readonly SkillRow[]>;
  readonly 'skills.check': Method<{ readonly path?: string | undefined }, readonly SkillCheck[]>;
  readonly 'memory.list': Method<{ readonly query?: string | undefined }, MemoryAnswer>;
  readonly 'cron.list': Method<None, readonly CronRow[]>;
  readonly 'cron.history': Method<
    { readonly name?: string | undefined },
    readonly CronHistoryRow[]
  >;
  readonly 'cron.next': Method<CronNextParams, readonly CronMoment[]>;
  readonly 'doctor.examine': Method<None, readonly Finding[]>;
  readonly 'team.check': Method<{ readonly path: string }, CheckAnswer>;
  readonly where: Method<None, Whereabouts>;
}

export interface MemoryAnswer {
  readonly rows: readonly MemoryRow[];
  /** Of them, what agents would be told for the query; null without one. */
  readonly recalled: readonly string[] | null;
}

/** Of the connection and the wire itself: they need nothing of the workspace. */
export interface WireMethods {
  readonly 'trace.wire': Method<WireTraceParams, readonly WireTraceRow[]>;
  readonly 'token.issue': Method<IssueTokenParams, { readonly token: string }>;
}

type ParamsIn<M extends { readonly [name: string]: { readonly params: unknown } }> = {
  readonly [K in keyof M]: z.ZodType<M[K]['params']>;
};

const PAGE_ROWS_MAX = 1_000;
/** Calls that one `policy.check` may judge. */
const CALLS_MAX = 1_000;

const name: z.ZodString = z.string().min(1).max(64);
const run = name.optional();
const names = z.array(name).max(64).optional();
const path = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\0]*$/, 'a path');
const limit = z.number().int().min(1).max(PAGE_ROWS_MAX).optional();
const seq = z.number().int().min(0).optional();
const page = { run, from: seq, limit };
const call = z.strictObject({
  tool: z.string().min(1).max(256),
  input: z.unknown(),
  actor: z.string().min(1).max(512).optional(),
});

export const deskParams: ParamsIn<{ readonly [M in keyof DeskMethods]: DeskMethods[M] }> = {
  'tasks.get': z.strictObject({ run, task: name }),
  'usage.get': z.strictObject({ run }),
  'session.get': z.strictObject({ ...page, actor: name }),
  'mail.list': z.strictObject({ ...page, actors: names }),
  'mail.dead': z.strictObject({ run }),
  'events.list': z.strictObject({
    run,
    from: z
      .string()
      .regex(/^\d{1,15}(\.\d{1,9})?$/, 'a cursor like 12.0')
      .optional(),
    limit,
    types: z.array(z.string().max(64)).max(32).optional(),
    actors: names,
    tasks: names,
  }),
  'worktrees.list': z.strictObject({}),
  'worktrees.clean': z.strictObject({}),
  'diff.get': z.strictObject({ of: name, run, stat: z.boolean().optional() }),
  'run.merge': z.strictObject({
    run: name,
    into: z.string().min(1).max(256).optional(),
    squash: z.boolean().optional(),
    dryRun: z.boolean().optional(),
  }),
  'audit.list': z.strictObject(page),
  'audit.verify': z.strictObject({}),
  'trust.list': z.strictObject({}),
  'policy.rules': z.strictObject({ actor: z.string().min(1).max(512).optional() }),
  'policy.check': z.strictObject({ calls: z.array(call).max(CALLS_MAX) }),
  'policy.explain': call,
  'skills.list': z.strictObject({}),
  'skills.check': z.strictObject({ path: path.optional() }),
  'memory.list': z.strictObject({ query: z.string().max(1_000).optional() }),
  'cron.list': z.strictObject({}),
  'cron.history': z.strictObject({ name: name.optional() }),
  'cron.next': z.strictObject({
    expression: z.string().min(1).max(1_000),
    tz: z.string().min(1).max(64).optional(),
    from: z.string().min(1).max(64).optional(),
    count: limit,
  }),
  'doctor.examine': z.strictObject({}),
  'team.check': z.strictObject({ path }),
  where: z.strictObject({}),
};

export const wireParams: ParamsIn<{ readonly [M in keyof WireMethods]: WireMethods[M] }> = {
  'trace.wire': z.strictObject({ after: seq, wait: z.boolean().optional() }),
  'token.issue': z.strictObject({ run: name, actor: name }),
};
