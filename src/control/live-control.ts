/** What a supervisor in this process offers to those who connect: its own state, never a second reading of a journal. */
import {
  EventHub,
  eventsOf,
  liveEvent,
  makeRedactStream,
  type Redactor,
  type RedactStream,
  type Scope,
} from '../events/index.ts';
import { isoTime } from '../kernel/time.ts';
import { checkAnswer, GRANT_DAYS } from '../permissions/index.ts';
import type { ActorRow } from '../protocol/shapes.ts';
import type { StatusResult, SubscribeParams } from '../protocol/wire.ts';
import {
  actorRows,
  askRows,
  grantRows,
  planRows,
  type RunState,
  runRow,
  type Supervisor,
  taskRows,
} from '../supervisor/index.ts';
import { unknownGrant } from './approvals.ts';
import type { LiveSource } from './deps.ts';
import { type JudgeOf, makeDesk } from './desk.ts';
import { errors } from './errors.ts';
import { eventsOfRun } from './events.ts';
import type { LiveControl } from './live.ts';
import { wholePlans } from './plans.ts';
import { listRuns, rowOf, viewRun } from './queries.ts';
import { notUp, type UpControl, type UpService, upControl } from './up.ts';
import { reasons } from './why.ts';
import type { Workspace } from './workspace.ts';

export interface LiveControlOptions {
  readonly workspace: Workspace;
  readonly supervisor: Supervisor;
  /** Of `workspace`: everything that is answered or told goes through it. */
  readonly redactor: Redactor;
  /** What the repository's policy says of a call; for who asks before it is made. */
  readonly judgeOf: JudgeOf;
  /** Of `supervisor.json`. */
  readonly identity: Pick<StatusResult, 'pid' | 'startedAt' | 'socket' | 'protocol' | 'sandbox'>;
  /** Of a supervisor that is up; null: it is in the foreground of a run. */
  readonly up: UpService | null;
}

export function makeLiveControl(options: LiveControlOptions): LiveControl {
  const { workspace, supervisor, identity, redactor, up } = options;
  const watch = makeHub(workspace, supervisor, redactor);

  const runOf = (run: string | undefined): string => {
    const held = supervisor.runs();
    const id = run ?? held.at(-1);
    if (id === undefined) throw errors.noLiveRun();
    if (!held.includes(id)) throw errors.notHeld(id);
    return id;
  };
  const stateOf = (run: string): RunState => {
    const state = supervisor.state(run);
    if (state === null) throw errors.notHeld(run);
    return state;
  };
  const actorsOf = (run: string): ActorRow[] =>
    redactor.data(actorRows(stateOf(run), supervisor.liveness(run)));

  const status = (): StatusResult => ({
    ...identity,
    runs: redactor.data(
      supervisor.runs().map((run) => runRow(stateOf(run), supervisor.liveness(run))),
    ),
    actors: supervisor.runs().flatMap((run) => actorsOf(run).map((row) => ({ ...row, run }))),
    mode: up === null ? 'run' : 'up',
    parent: up?.parent() ?? null,
    log: up?.log ?? null,
    left: up?.left() ?? [],
  });
  const own = askedHere(workspace, identity, status);

  return {
    status,
    desk: makeDesk(own, options.judgeOf),
    runs: async () => (await listRuns(own)).rows,
    tasks: async (run) => {
      const id = runOf(run);
      return redactor.data(taskRows(stateOf(id), supervisor.liveness(id)));
    },
    actors: async (run) => actorsOf(runOf(run)),
    why: async ({ run, about }) => {
      const id = runOf(run);
      return redactor.data(reasons(stateOf(id), supervisor.liveness(id), about));
    },
    send: async ({ run, to, text, interrupt }) => {
      const id = runOf(run);
      return { run: id, ...(await supervisor.send({ run: id, to, text, interrupt })) };
    },
    settleDead: async ({ run, id, what }) => {
      const held = runOf(run);
      return { run: held, ...(await supervisor.settleDead({ run: held, id, what })) };
    },
    trust: (words) => supervisor.trust(words),
    compact: async ({ run, name, focus }) => {
      const id = runOf(run);
      const woken = await supervisor.compact({ run: id, name, focus: focus ?? null });
      return { run: id, name, state: 'asked', woken };
    },
    plans: async (run) => {
      const id = runOf(run);
      return wholePlans(workspace, id, planRows(stateOf(id)));
    },
    decidePlan: async ({ run, id, approve, feedback }) => {
      const held = runOf(run);
      return { run: held, ...(await supervisor.decidePlan({ run: held, id, approve, feedback })) };
    },
    ...asksControl({ ...options, runOf, stateOf }),
    editCron: (edit) => supervisor.cron.edit(edit, 'user'),
    ...livesControl({ ...options, workspace: own, runOf, stateOf, actorsOf }),
    ...watching(watch, runOf),
  };
}

type LivesControl = Pick<
  LiveControl,
  'run' | 'waitRun' | 'stopRun' | 'stopActor' | keyof UpControl
>;

/** The lives of runs, from their start in this supervisor to their end. */
function livesControl(
  of: LiveControlOptions & {
    readonly runOf: (run: string | undefined) => string;
    readonly stateOf: (run: string) => RunState;
    readonly actorsOf: (run: string) => ActorRow[];
  },
): LivesControl {
  const { workspace, supervisor, identity, redactor, up, runOf, stateOf, actorsOf } = of;
  return {
    ...(up === null ? notUp(identity) : upControl({ workspace, supervisor, up })),
    run: async (run) => {
      const id = runOf(run);
      const state = stateOf(id);
      const liveness = supervisor.liveness(id);
      const row = redactor.data(runRow(state, liveness));
      const tasks = redactor.data(taskRows(state, liveness));
      return { run: row, tasks, actors: actorsOf(id) };
    },
    waitRun: async (run) =>
      supervisor.runs().includes(run)
        ? redactor.data(await supervisor.finished(run))
        : rowOf(await viewRun(workspace, run, 'wait')),
    stopRun: async ({ run, now, by }) => supervisor.stop({ run: runOf(run), now, by }),
    stopActor: async ({ run, name, now, by }) =>
      supervisor.stopActor({ run: runOf(run), name, now, by }),
  };
}

/** What happens in a run, for one or for many. */
function watching(
  watch: Watch,
  runOf: (run: string | undefined) => string,
): Pick<LiveControl, 'subscribe' | 'tap'> {
  return {
    subscribe: (params, first = []) => {
      const { from } = params;
      const run = runOf(params.run);
      const replay = from === undefined ? {} : { from };
      const events = watch.hub.subscribe({ ...scopeOf(params, run), first, ...replay });
      return { run, cursor: from ?? watch.lastOf(run), events };
    },
    tap: (params, take) => watch.hub.tap(scopeOf(params, runOf(params.run)), take),
  };
}

/** Queries of this process know who holds the repository without asking over the wire. */
function askedHere(
  workspace: Workspace,
  identity: LiveControlOptions['identity'],
  status: () => StatusResult,
): Workspace {
  const { pid, startedAt, socket } = identity;
  const live: LiveSource = {
    holder: async () => ({ pid, startedAt }),
    status: async () => status(),
    socketPath: async () => socket,
  };
  return { ...workspace, deps: { ...workspace.deps, live } };
}

type AsksControl = Pick<LiveControl, 'approvals' | 'answerAsk' | 'grants' | 'revokeGrant'>;

/** What waits for a person, and what was granted. */
function asksControl(
  of: Pick<LiveControlOptions, 'workspace' | 'supervisor' | 'redactor'> & {
    readonly runOf: (run: string | undefined) => string;
    readonly stateOf: (run: string) => RunState;
  },
): AsksControl {
  const { workspace, supervisor, redactor, runOf, stateOf } = of;
  const runOfAsk = (id: string): string | undefined =>
    supervisor
      .runs()
      .findLast((run) => checkAnswer(stateOf(run).asks, id, null).kind !== 'unknown');
  return {
    approvals: async (run) => {
      const runs = run === undefined ? supervisor.runs() : [runOf(run)];
      // What is over asks nobody any more.
      const open = runs.map(stateOf).filter((state) => state.run.ended === null);
      return redactor.data(open.flatMap((state) => askRows(state)));
    },
    answerAsk: async ({ run, digest = null, days = GRANT_DAYS, reason = null, ...given }) => {
      const id = run === undefined ? (runOfAsk(given.id) ?? runOf(run)) : runOf(run);
      const answered = await supervisor.answerAsk({ ...given, run: id, digest, days, reason });
      return { run: id, ...answered };
    },
    grants: async () => redactor.data(grantRows(supervisor.grants(), workspace.deps.clock.now())),
    revokeGrant: async ({ id, by }) => {
      if (!(await supervisor.revokeGrant(id, by))) throw unknownGrant(id, supervisor.grants());
      return { id };
    },
  };
}

interface Watch {
  readonly hub: EventHub;
  /** Cursor of the last event of a run that was handed out. */
  lastOf(run: string): string;
}

/** Events of all runs that this supervisor holds, as they become durable; missed ones come from the journal. */
function makeHub(workspace: Workspace, supervisor: Supervisor, redactor: Redactor): Watch {
  const hub = new EventHub((run, after) => eventsOfRun(workspace, run, { from: after }));
  const last = new Map<string, string>();
  /** What an actor says comes in fragments; a secret may be in two of them. By run, then by actor and kind. */
  const streams = new Map<string, Map<string, RedactStream>>();
  supervisor.onRecord((run, record) => {
    if (record.entries !== undefined) streams.get(run)?.delete(`${record.a} text`);
    if (record.run?.some(({ type }) => type === 'run.ended') === true) streams.delete(run);
    for (const event of eventsOf(record, run, { redactor })) {
      last.set(run, event.cursor);
      hub.publish(event);
    }
  });
  supervisor.onLive((run, { actor, type: event, data }) => {
    const own = streams.get(run) ?? new Map<string, RedactStream>();
    streams.set(run, own);
    const stream = own.get(`${actor} ${event}`) ?? makeRedactStream(redactor);
    own.set(`${actor} ${event}`, stream);
    if (event === 'reset') own.clear();
    // What is held back now comes with the next fragment, or with the whole answer when it is recorded.
    const text = event === 'reset' ? data : stream.push(data);
    if (text === '' && data !== '') return;
    const at = isoTime(workspace.deps.clock.now());
    const cursor = last.get(run) ?? '0.0';
    hub.publish(liveEvent({ cursor, at, run, actor, event, text }, { redactor }), false);
  });
  // A term begins with a record, so nobody can ask before there is one.
  return { hub, lastOf: (run) => last.get(run) ?? '0' };
}

/** Without what is undefined. */
function scopeOf({ types, actors, tasks }: SubscribeParams, run: string): Scope {
  return {
    run,
    ...(types === undefined ? {} : { types }),
    ...(actors === undefined ? {} : { actors }),
    ...(tasks === undefined ? {} : { tasks }),
  };
}
