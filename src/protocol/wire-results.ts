/**
 * What each method answers, as schemas: `WIRE_PROTOCOL.md` is made of them, and a test holds real answers against them.
 * Objects that rooms below make are open: a client must bear fields that it does not know.
 */
import { z } from 'zod';
import type { MethodName } from './wire.ts';

const text = z.string();
const count = z.number().int().min(0);
const orNull = <T extends z.ZodType>(schema: T): z.ZodNullable<T> => schema.nullable();
const names = z.array(text);
const cursor = text.regex(/^\d+(\.\d+)?$/);

const usage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  costUsd: z.number(),
  estimated: z.boolean(),
});
const reason = z.looseObject({ kind: text, ref: text.optional(), text });
const runRow = z.looseObject({
  id: text,
  name: text,
  state: z.enum(['running', 'done', 'failed', 'cancelled', 'interrupted', 'budget']),
  reason: orNull(reason),
  startedAt: text,
  endedAt: orNull(text),
  base: text,
  branch: text,
  usage,
});
const taskRow = z.looseObject({
  id: text,
  title: text,
  state: z.enum([
    'blocked',
    'ready',
    'running',
    'verifying',
    'merging',
    'done',
    'failed',
    'cancelled',
  ]),
  reason: orNull(reason),
  owner: orNull(text),
  attempt: count,
  needs: names,
  branch: orNull(text),
  commit: orNull(text),
  worktree: orNull(text),
  usage,
});
const actorRow = z.looseObject({
  name: text,
  kind: text,
  incarnation: count,
  state: text,
  reason: orNull(reason),
  task: orNull(text),
  since: text,
  usage,
});
const mailRow = z.looseObject({
  v: z.literal(1),
  n: count,
  seq: count,
  id: text,
  at: text,
  to: text,
  from: text,
  lane: z.enum(['control', 'interrupt', 'normal', 'bulk']),
  type: text,
  task: text.optional(),
  body: z.looseObject({ text }),
  state: z.enum(['accepted', 'delivered', 'seen', 'dead']),
});
const planRow = z.looseObject({
  id: text,
  by: text,
  to: text,
  task: orNull(text),
  state: text,
  text,
});
const askRow = z.looseObject({
  id: text,
  run: text,
  actor: text,
  ancestry: names,
  tool: text,
  input: z.unknown(),
  reason: text,
  rule: text,
  digest: text,
  requestedAt: text,
  expiresAt: orNull(text),
  offer: orNull(text),
});
const grantRow = z.looseObject({
  id: text,
  scope: z.enum(['run', 'workspace']),
  pattern: text,
  state: text,
});
const treeRow = z.looseObject({
  task: orNull(text),
  run: text,
  path: text,
  branch: orNull(text),
  state: text,
  owner: orNull(text),
  kept: orNull(text),
});
const usageRow = usage.extend({ name: text });
const verdict = z.looseObject({
  action: z.enum(['allow', 'ask', 'deny']),
  rule: text,
  reason: text,
});

/** An event, as subscriptions send it and `events.list` lists it. */
export const eventSchema: z.ZodType = z.looseObject({
  cursor,
  id: text,
  at: text,
  run: text,
  actor: text.optional(),
  incarnation: count.optional(),
  task: text.optional(),
  parent: text.optional(),
  type: text,
  data: z.record(text, z.unknown()),
});
const event = eventSchema;

const begun = z.looseObject({ run: text, from: text, notes: names, sandbox: text });

export const methodResults: { readonly [M in MethodName]: z.ZodType } = {
  hello: z.looseObject({
    protocol: count,
    role: z.enum(['person', 'viewer', 'actor']),
    pid: count,
    startedAt: text,
  }),
  status: z.looseObject({
    pid: count,
    startedAt: text,
    socket: text,
    protocol: count,
    sandbox: text,
    runs: z.array(runRow),
    actors: z.array(actorRow.extend({ run: text })),
    mode: z.enum(['up', 'run']),
    parent: orNull(count),
    log: orNull(text),
    left: z.array(z.looseObject({ run: text, reason: text, at: text })),
  }),
  'runs.list': z.array(runRow),
  'tasks.list': z.array(taskRow),
  'tasks.get': taskRow.extend({
    run: text,
    prompt: orNull(text),
    gates: z.array(z.looseObject({ gate: text })),
  }),
  'actors.list': z.array(actorRow),
  'usage.get': usage.extend({
    run: text,
    actors: z.array(usageRow),
    tasks: z.array(usageRow),
    models: z.array(usageRow),
  }),
  'session.get': z.looseObject({
    run: text,
    actor: text,
    usage,
    entries: z.array(z.looseObject({ seq: count, at: text, type: text })),
    next: orNull(count),
  }),
  'mail.list': z.looseObject({ run: text, mail: z.array(mailRow), next: orNull(count) }),
  'mail.dead': z.array(mailRow),
  'mail.send': z.looseObject({
    run: text,
    seq: count,
    n: count,
    id: text,
    state: z.enum(['accepted', 'dead']),
  }),
  'mail.settle': z.looseObject({ run: text, to: text, n: count, id: text }),
  'events.list': z.looseObject({ run: text, events: z.array(event), next: orNull(cursor) }),
  'events.subscribe': z.looseObject({ subscription: text, run: text, cursor }),
  'events.unsubscribe': z.looseObject({ closed: z.boolean() }),
  'plans.list': z.array(planRow),
  'plans.decide': z.looseObject({ run: text, id: text, by: text, task: orNull(text), state: text }),
  'approvals.list': z.array(askRow),
  'approvals.answer': z.looseObject({
    run: text,
    id: text,
    effect: text,
    scope: text,
    by: text,
    grant: orNull(text),
  }),
  'rules.list': z.array(grantRow),
  'rules.revoke': z.looseObject({ id: text }),
  'trust.list': z.array(
    z.looseObject({ path: text, kind: text, hash: text, trusted: z.boolean(), allows: names }),
  ),
  'trust.set': z.looseObject({}),
  'policy.rules': z.array(
    z.looseObject({ id: text, effect: text, tool: text, from: text, shadowedBy: orNull(text) }),
  ),
  'policy.check': z.array(verdict),
  'policy.explain': z.looseObject({
    decision: verdict,
    from: orNull(text),
    mode: orNull(text),
    fallback: text,
    revision: text,
  }),
  'audit.list': z.looseObject({
    run: text,
    rows: z.array(z.looseObject({ seq: count, at: text, what: text })),
    next: orNull(count),
  }),
  'audit.verify': z.looseObject({
    ok: z.boolean(),
    runs: count,
    records: count,
    breaks: z.array(z.looseObject({})),
  }),
  'worktrees.list': z.array(treeRow),
  'worktrees.clean': z.looseObject({
    removed: z.array(z.looseObject({ path: text })),
    kept: z.array(treeRow),
  }),
  'diff.get': z.looseObject({ run: text, task: orNull(text), from: text, to: text, text }),
  'run.merge': z.looseObject({
    run: text,
    state: z.enum(['merged', 'would-merge', 'up-to-date']),
    branch: text,
    commit: orNull(text),
    files: names,
    warning: orNull(text),
  }),
  'run.get': z.looseObject({ run: runRow, tasks: z.array(taskRow), actors: z.array(actorRow) }),
  'run.start': begun,
  'run.resume': begun,
  'run.wait': runRow,
  'supervisor.down': z.looseObject({ runs: z.array(runRow) }),
  'run.stop': runRow,
  'actor.stop': actorRow,
  'cron.list': z.array(
    z.looseObject({
      name: text,
      schedule: text,
      tz: text,
      nextAt: orNull(text),
      nextLocal: orNull(text),
      lastSlot: orNull(text),
      overlap: text,
      catchUp: text,
      paused: z.boolean(),
      broken: orNull(text),
    }),
  ),
  'cron.history': z.array(
    z.looseObject({
      name: text,
      slot: text,
      state: text,
      run: orNull(text),
      reason: orNull(text),
      startedAt: orNull(text),
      endedAt: orNull(text),
    }),
  ),
  'cron.next': z.array(z.looseObject({ at: text, local: text, inMs: z.number() })),
  'cron.edit': z.looseObject({
    name: text,
    armed: z.boolean(),
    state: text.nullable(),
    run: text.nullable(),
  }),
  'actor.compact': z.looseObject({ run: text, name: text, state: z.literal('asked') }),
  'skills.list': z.array(
    z.looseObject({ name: text, path: text, inUse: z.boolean(), problems: names }),
  ),
  'skills.check': z.array(
    z.looseObject({ name: text, path: text, ok: z.boolean(), problems: names }),
  ),
  'memory.list': z.looseObject({
    rows: z.array(z.looseObject({ text, path: text })),
    recalled: orNull(names),
  }),
  'doctor.examine': z.array(
    z.looseObject({ check: text, ok: z.boolean(), detail: text, repair: text }),
  ),
  'team.check': z.looseObject({ name: text, order: names, members: names, warnings: names }),
  why: z.array(z.looseObject({ about: text, reason, action: text })),
  where: z.looseObject({ workspace: text, gitDir: text, state: text, socket: text }),
  'trace.wire': z.array(
    z.looseObject({
      n: count,
      at: text,
      role: text,
      method: text,
      params: text,
      outcome: text,
      ms: count,
    }),
  ),
  'token.issue': z.looseObject({ token: text }),
};
