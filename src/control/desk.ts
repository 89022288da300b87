/**
 * What the command line can read, for every front end: the same queries, asked by a supervisor of its own repository.
 * Long lists come in pages, bounded by rows and by bytes.
 */
import { matchesAny } from '../events/index.ts';
import { type Cursor, parseCursor, type TroupeEvent } from '../protocol/event.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/wire.ts';
import type { DeskMethods } from '../protocol/wire-reads.ts';
import { auditOf, verifyAudit } from './audit.ts';
import { checkTeam } from './check.ts';
import { cronHistory, cronJobs } from './cron.ts';
import { localZone, nextSlots } from './cron-next.ts';
import { diffOf } from './diff.ts';
import { examine } from './doctor.ts';
import { eventsOfRun } from './events.ts';
import { PAGE_BYTES, PAGE_ROWS } from './limits.ts';
import { checkActors, deadMail, readMail } from './mail.ts';
import { memoryRows, recalled } from './memory.ts';
import { mergeRun } from './merge.ts';
import { activeRules, type CallJudge, explainCall, judgeLine } from './policy.ts';
import { viewRun } from './queries.ts';
import { readTranscript } from './session.ts';
import { checkSkills, listSkills } from './skills.ts';
import { taskDetail } from './task-detail.ts';
import { cleanWorktrees, listWorktrees } from './trees.ts';
import { listTrustable } from './trust.ts';
import { usageOf } from './usage.ts';
import { whereIs } from './where.ts';
import type { Workspace } from './workspace.ts';

const NEXT_COUNT = 5;

/** By the names of the wire. A cancelled request is given up at the next row. */
export type Desk = {
  readonly [M in Extract<MethodName, keyof DeskMethods>]: (
    params: ParamsOf<M>,
    signal: AbortSignal,
  ) => Promise<ResultOf<M>>;
};

/** The policy of the repository as it is now, for calls of this actor. */
export type JudgeOf = (actor: string | undefined) => Promise<CallJudge>;

export function makeDesk(workspace: Workspace, judgeOf: JudgeOf): Desk {
  return { ...ofRuns(workspace), ...ofRepository(workspace), ...ofPolicy(judgeOf) };
}

type OfRuns = Pick<
  Desk,
  | 'tasks.get'
  | 'usage.get'
  | 'session.get'
  | 'mail.list'
  | 'mail.dead'
  | 'events.list'
  | 'audit.list'
  | 'diff.get'
  | 'run.merge'
>;

function ofRuns(workspace: Workspace): OfRuns {
  return {
    'tasks.get': async ({ run, task }) =>
      taskDetail(workspace, await viewRun(workspace, run, 'tasks'), task),
    'usage.get': async ({ run }) => usageOf(await viewRun(workspace, run, 'usage')),
    'session.get': async ({ run, actor, ...query }) => {
      const view = await viewRun(workspace, run, 'session');
      const { entries, ...rest } = await readTranscript(workspace, view, actor);
      const { rows, next } = pageOf(entries, query);
      return { ...rest, entries: rows, next };
    },
    'mail.list': async ({ run, actors = [], ...query }) => {
      const view = await viewRun(workspace, run, 'tail');
      checkActors(view, actors);
      const mail = await readMail(workspace, view, { actors, from: query.from ?? 0 });
      const { rows, next } = pageOf(mail, query);
      return { run: view.run, mail: rows, next };
    },
    'mail.dead': async ({ run }) => deadMail(workspace, await viewRun(workspace, run, 'mail')),
    'events.list': (params, signal) => listEvents(workspace, params, signal),
    'audit.list': async ({ run, ...query }, signal) => {
      const view = await viewRun(workspace, run, 'audit');
      const rows = [];
      for await (const row of auditOf(workspace, view.run)) {
        signal.throwIfAborted();
        rows.push(row);
      }
      return { run: view.run, ...pageOf(rows, query) };
    },
    'diff.get': ({ of, run, stat = false }) => diffOf(workspace, { of, run, stat }),
    'run.merge': ({ run, into, squash = false, dryRun = false }) =>
      mergeRun(workspace, { run, into, squash, dryRun }),
  };
}

type OfPolicy = Pick<Desk, 'policy.rules' | 'policy.check' | 'policy.explain'>;

function ofPolicy(judgeOf: JudgeOf): OfPolicy {
  return {
    'policy.rules': async ({ actor }) => {
      const { policy, context } = await judgeOf(actor);
      return activeRules(policy, context.actor);
    },
    'policy.check': async ({ calls }) => {
      const judge = await judgeOf(undefined);
      return calls.map((call) => judgeLine(JSON.stringify(call), judge));
    },
    'policy.explain': async ({ tool, input, actor }) =>
      explainCall({ tool, input }, await judgeOf(actor)),
  };
}

function ofRepository(workspace: Workspace): Omit<Desk, keyof OfRuns | keyof OfPolicy> {
  const { deps, places } = workspace;
  const settings = {
    workspace: places.workspace,
    userConfig: places.userConfig,
    state: places.state,
  };
  const absolute = (path: string): string =>
    path.startsWith('/') ? path : `${places.workspace}/${path}`;
  return {
    'audit.verify': () => verifyAudit(workspace),
    'worktrees.list': () => listWorktrees(workspace),
    'worktrees.clean': () => cleanWorktrees(workspace),
    'trust.list': () => listTrustable(workspace),
    'skills.list': () => listSkills(deps, settings),
    'skills.check': ({ path }) =>
      checkSkills(
        deps,
        settings,
        path === undefined ? null : { path: absolute(path), shown: path },
      ),
    'memory.list': async ({ query }) => {
      const rows = await memoryRows(workspace);
      return { rows, recalled: query === undefined ? null : recalled(rows, query) };
    },
    'cron.list': () => cronJobs(workspace),
    'cron.history': ({ name }) => cronHistory(workspace, name),
    'cron.next': async ({ expression, tz = localZone(), from, count = NEXT_COUNT }) =>
      nextSlots({ expression, tz, from, count }, deps.clock.now()),
    'doctor.examine': () => examine(workspace),
    'team.check': ({ path }) => checkTeam(deps, settings, { name: path, cwd: places.workspace }),
    where: () => whereIs(workspace),
  };
}

async function listEvents(
  workspace: Workspace,
  params: ParamsOf<'events.list'>,
  signal: AbortSignal,
): Promise<ResultOf<'events.list'>> {
  const { types = [], actors, tasks, limit = PAGE_ROWS } = params;
  const view = await viewRun(workspace, params.run, 'events');
  const from: Cursor | null = params.from === undefined ? null : parseCursor(params.from);
  const events: TroupeEvent[] = [];
  let bytes = 0;
  for await (const event of eventsOfRun(workspace, view.run, { from })) {
    signal.throwIfAborted();
    if (!matchesAny(types, event.type)) continue;
    if (actors !== undefined && !actors.includes(event.actor ?? '')) continue;
    if (tasks !== undefined && !tasks.includes(event.task ?? '')) continue;
    if (events.length >= limit || bytes >= PAGE_BYTES) {
      return { run: view.run, events, next: events.at(-1)?.cursor ?? null };
    }
    events.push(event);
    bytes += JSON.stringify(event).length;
  }
  return { run: view.run, events, next: null };
}

/** In order of `seq`; rows of one record stay together, so that `next` begins with a record of its own. */
function pageOf<R extends { readonly seq: number }>(
  all: readonly R[],
  query: { readonly from?: number | undefined; readonly limit?: number | undefined },
): { readonly rows: readonly R[]; readonly next: number | null } {
  const { from = 0, limit = PAGE_ROWS } = query;
  const rows: R[] = [];
  let bytes = 0;
  for (const row of all) {
    if (row.seq < from) continue;
    const isFull = rows.length >= limit || bytes >= PAGE_BYTES;
    if (isFull && row.seq !== rows.at(-1)?.seq) return { rows, next: row.seq };
    rows.push(row);
    bytes += JSON.stringify(row).length;
  }
  return { rows, next: null };
}
