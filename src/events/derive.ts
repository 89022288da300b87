/**
 * Events of a record: one per change, in a fixed order, so that a record gives the same events to everyone and for ever.
 *
 * Invariants
 * - E1 The cursor of an event is `<seq>.<i>`, contiguous in `i` from 0; its id is `<run>:<cursor>`. The order of the
 *   sections below is part of that and is never changed.
 * - E2 Every string of `data` is redacted, then bounded.
 */
import type { LiveKind } from '../protocol/actor-wire.ts';
import type { TroupeEvent } from '../protocol/event.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import type { SessionEntry } from '../protocol/session.ts';
import { TEXT_MAX } from './limits.ts';
import { type Redactor, SHAPES_ONLY } from './redact.ts';

export interface EventOptions {
  /** Knows values that must not be shown; left out: what has the shape of a secret is taken out. */
  readonly redactor?: Redactor;
}

/** What an event is made of before it has its place. */
interface Draft {
  readonly type: string;
  readonly actor?: string | undefined;
  readonly incarnation?: number | undefined;
  readonly task?: string | undefined;
  readonly parent?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export function eventsOf(
  record: StoredRunRecord,
  run: string,
  options: EventOptions = {},
): TroupeEvent[] {
  return draftsOf(record).map((draft, index) => {
    const cursor = `${record.s}.${index}`;
    return makeEvent(draft, { cursor, id: `${run}:${cursor}`, at: record.at, run }, options);
  });
}

export interface LivePart {
  /** The last durable cursor. */
  readonly cursor: string;
  readonly at: string;
  readonly run: string;
  readonly actor: string;
  readonly incarnation?: number;
  readonly event: LiveKind;
  readonly text: string;
}

/** A fragment for those who watch; it has no place of its own in the order. */
export function liveEvent(part: LivePart, options: EventOptions = {}): TroupeEvent {
  const { cursor, at, run, actor, incarnation, event, text } = part;
  const draft = { type: `live.${event}`, actor, incarnation, data: { text } };
  return makeEvent(draft, { cursor, id: `${run}:live`, at, run }, options);
}

function makeEvent(
  draft: Draft,
  head: Pick<TroupeEvent, 'cursor' | 'id' | 'at' | 'run'>,
  options: EventOptions,
): TroupeEvent {
  const redactor = options.redactor ?? SHAPES_ONLY;
  return {
    ...head,
    ...(draft.actor === undefined ? {} : { actor: draft.actor }),
    ...(draft.incarnation === undefined ? {} : { incarnation: draft.incarnation }),
    ...(draft.task === undefined ? {} : { task: draft.task }),
    ...(draft.parent === undefined ? {} : { parent: draft.parent }),
    type: draft.type,
    data: redactor.data(draft.data, bounded),
  };
}

function bounded(text: string): string {
  if (text.length <= TEXT_MAX) return text;
  return `${text.slice(0, TEXT_MAX)}… (${text.length - TEXT_MAX} more characters)`;
}

function draftsOf(record: StoredRunRecord): Draft[] {
  const stamp = { actor: record.a, incarnation: record.i };
  return [
    ...(record.run ?? []).map(draftOfChange),
    ...(record.actors ?? []).map(draftOfActor),
    ...(record.tasks ?? []).map(draftOfTask),
    ...(record.trees ?? []).map(draftOfChange),
    ...(record.procs ?? []).map(draftOfProc),
    ...(record.decisions ?? []).map(({ actor, ...data }) => ({
      type: 'decision.made',
      actor,
      ...(actor === record.a ? { incarnation: record.i } : {}),
      data,
    })),
    ...(record.entries ?? []).flatMap((entry) => draftsOfEntry(entry, stamp)),
    ...seenMail(record),
    ...(record.mail ?? []).map(({ to, from, fromIncarnation, e: _e, n: _n, task, ...mail }) => ({
      type: 'mail.accepted',
      actor: from,
      incarnation: fromIncarnation,
      task,
      data: { to, from, ...mail },
    })),
    ...(record.dead ?? []).map(({ n, id, what, reason, to }) => ({
      type: `mail.${what}`,
      actor: to ?? record.to,
      data: { n, id, reason },
    })),
    ...(record.team ?? []).map(draftOfTeam),
    ...(record.asks ?? []).map(draftOfAsk),
    ...(record.hooks ?? []).map(({ actor, task, ...data }) => ({
      type: 'hook.said',
      actor,
      task,
      data,
    })),
    ...(record.spend ?? []).flatMap((change) => draftsOfSpend(change, stamp)),
    ...(record.cron ?? []).map(draftOfCron),
  ];
}

/** What was put aside and answered is in the answer; what was paid for nothing is told. */
function draftsOfSpend(
  change: NonNullable<StoredRunRecord['spend']>[number],
  stamp: Pick<Draft, 'actor' | 'incarnation'>,
): Draft[] {
  if (change.type !== 'spend.settled') return [];
  const { type, task, ...data } = change;
  return [{ type, ...stamp, ...(task === null ? {} : { task }), data }];
}

function draftOfCron(change: NonNullable<StoredRunRecord['cron']>[number]): Draft {
  if (change.type !== 'cron.added') {
    const { type, ...data } = change;
    return { type, data };
  }
  const { actor, ...data } = change.job;
  return { type: change.type, actor, data };
}

function draftOfAsk(change: NonNullable<StoredRunRecord['asks']>[number]): Draft {
  const { type, ...data } = change;
  if (!('waiter' in change)) {
    return { type, ...('actor' in change ? { actor: change.actor } : {}), data };
  }
  const { actor, incarnation, task } = change.waiter;
  return { type, actor, incarnation, ...(task === null ? {} : { task }), data };
}

type Change = { readonly type: string };

function draftOfChange({ type, ...data }: Change): Draft {
  return { type, data };
}

function draftOfActor(change: NonNullable<StoredRunRecord['actors']>[number]): Draft {
  const { type, name, ...data } = change;
  return {
    type,
    actor: name,
    ...('incarnation' in change ? { incarnation: change.incarnation } : {}),
    ...('parent' in change && change.parent !== null ? { parent: change.parent } : {}),
    data,
  };
}

function draftOfTask(change: NonNullable<StoredRunRecord['tasks']>[number]): Draft {
  const by = 'by' in change ? { actor: change.by } : {};
  const incarnation = 'incarnation' in change ? { incarnation: change.incarnation } : {};
  if (change.type === 'task.added') {
    const { id, ...spec } = change.task;
    return { type: change.type, task: id, ...by, data: { ...spec } };
  }
  const { type, id, ...data } = change;
  return { type, task: id, ...by, ...incarnation, data };
}

/** Whose word it is: that of who asks, answers or decides. */
function draftOfTeam(change: NonNullable<StoredRunRecord['team']>[number]): Draft {
  const { type, ...data } = change;
  const actor = 'by' in change ? change.by : 'name' in change ? change.name : undefined;
  const task = 'task' in change && change.task !== null ? change.task : undefined;
  return { type, actor, task, data };
}

function draftOfProc(change: NonNullable<StoredRunRecord['procs']>[number]): Draft {
  if (change.type === 'proc.ended') return draftOfChange(change);
  const { type, actor, task, ...data } = change;
  return {
    type,
    ...(actor === null ? {} : { actor }),
    ...(task === null ? {} : { task }),
    data,
  };
}

function draftsOfEntry(entry: SessionEntry, stamp: Pick<Draft, 'actor' | 'incarnation'>): Draft[] {
  switch (entry.type) {
    case 'mail':
      return [];
    case 'answer': {
      const { task, model, stop, usage, content } = entry;
      const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
      const calls = content.flatMap((block) => (block.type === 'call' ? [block.name] : []));
      return [
        {
          type: 'answer.committed',
          ...stamp,
          ...(task === null ? {} : { task }),
          data: { model, stop, usage, calls, text },
        },
      ];
    }
    case 'result': {
      const { type: _type, ...data } = entry;
      return [{ type: 'call.ended', ...stamp, data }];
    }
    case 'compaction': {
      const { type: _type, task, summary: _summary, team: _team, letters, cut, ...data } = entry;
      return [
        {
          type: 'session.compacted',
          ...stamp,
          ...(task === null ? {} : { task }),
          data: { ...data, letters: letters.length, cut: cut.length },
        },
      ];
    }
  }
  // Of a type that this version does not know.
  return [];
}

/** The ids are in the `mail` entry that the same step recorded. */
function seenMail(record: StoredRunRecord): Draft[] {
  const ids = new Map<number, string>();
  for (const entry of record.entries ?? []) {
    if (entry.type === 'mail') for (const item of entry.items) ids.set(item.n, item.id);
  }
  return (record.took ?? []).map((n) => {
    const id = ids.get(n);
    return {
      type: 'mail.seen',
      actor: record.a,
      incarnation: record.i,
      data: { n, ...(id === undefined ? {} : { id }) },
    };
  });
}
