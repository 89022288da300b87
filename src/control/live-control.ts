/** What a supervisor in this process offers to those who connect: its own state, never a second reading of a journal. */
import type { TroupeEvent } from '../protocol/event.ts';
import type { ActorRow } from '../protocol/shapes.ts';
import type { StatusResult } from '../protocol/wire.ts';
import {
  actorRows,
  type RunState,
  runRow,
  type Supervisor,
  taskRows,
} from '../supervisor/index.ts';
import { errors } from './errors.ts';
import { type EventReader, eventsOfRun, makeEventReader } from './events.ts';
import type { LiveControl } from './live.ts';
import { listRuns } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface LiveControlOptions {
  readonly workspace: Workspace;
  readonly supervisor: Supervisor;
  /** Of `supervisor.json`. */
  readonly identity: Pick<StatusResult, 'pid' | 'startedAt' | 'socket' | 'protocol' | 'sandbox'>;
}

export function makeLiveControl(options: LiveControlOptions): LiveControl {
  const { workspace, supervisor, identity } = options;

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
  const actorsOf = (run: string): ActorRow[] => actorRows(stateOf(run), supervisor.liveness(run));

  return {
    runOf,
    status: () => ({
      ...identity,
      runs: supervisor.runs().map((run) => runRow(stateOf(run), supervisor.liveness(run))),
      actors: supervisor.runs().flatMap((run) => actorsOf(run).map((row) => ({ ...row, run }))),
    }),
    runs: async () => (await listRuns(workspace)).rows,
    tasks: async (run) => {
      const id = runOf(run);
      return taskRows(stateOf(id), supervisor.liveness(id));
    },
    actors: async (run) => actorsOf(runOf(run)),
    send: async ({ run, to, text, interrupt }) => {
      const id = runOf(run);
      return { run: id, ...(await supervisor.send({ run: id, to, text, interrupt })) };
    },
    stopRun: async ({ run, now, by }) => supervisor.stop({ run: runOf(run), now, by }),
    // How long an actor may take to end is the supervisor's own rule; `now` changes nothing there yet.
    stopActor: async ({ run, name, by }) => supervisor.stopActor({ run: runOf(run), name, by }),
    events: {
      replay: (run, from) => eventsOfRun(workspace, run, { from }),
      listen: (run, listener) => listen(supervisor, run, listener),
    },
  };
}

function listen(
  supervisor: Supervisor,
  run: string,
  listener: (event: TroupeEvent, durable: boolean) => void,
): () => void {
  const reader: EventReader = makeEventReader(run);
  const forgetRecords = supervisor.onRecord((from, record) => {
    if (from !== run) return;
    for (const event of reader.take(record)) listener(event, true);
  });
  const forgetLive = supervisor.onLive((from, live) => {
    if (from === run) listener(reader.live(live), false);
  });
  return () => {
    forgetRecords();
    forgetLive();
  };
}
