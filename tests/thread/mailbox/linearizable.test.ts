/**
 * Eight real threads send and claim at once through a real supervisor on real files. What they saw, with the times at
 * which they saw it, must be what one thread could have seen that did it all in some order.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ThreadHost } from '../../../src/actors/index.ts';
import { inlineSupervisor } from '../../support/inline-supervisor.ts';
import { notLinearizable, type Operation } from '../../support/linearizable.ts';
import { makeRepo, type TempRepo } from '../../support/repo.ts';
import { runFile, task, team } from '../../support/team.ts';

const TEAM = Array.from({ length: 8 }, (_, index) => `w${index + 1}`);
const TASKS = ['t1', 't2', 't3'];
const ENTRY = new URL('../../support/threads/historian.mjs', import.meta.url);

interface Entry {
  readonly tool: string;
  readonly input?: { readonly to?: string; readonly id?: string };
  readonly ok?: boolean;
  readonly text?: string;
  readonly n?: number;
  readonly type?: string;
  readonly task?: string;
  readonly called?: string;
  readonly returned: string;
}

interface Place {
  readonly n: number;
  readonly from: string;
  readonly to: string;
}

/** After everything. */
const NEVER = 2n ** 63n;

let repo: TempRepo | null = null;

afterEach(() => repo?.dispose());

function historyOf(folder: string, name: string): Entry[] {
  const text = readFileSync(join(folder, `${name}.jsonl`), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as Entry);
}

/** Letters of one mailbox: the state is how many there are. */
function mailboxOperations(
  to: string,
  histories: ReadonlyMap<string, readonly Entry[]>,
  places: ReadonlyMap<string, Place>,
): Operation<number>[] {
  const operations: Operation<number>[] = [];
  for (const [by, entries] of histories) {
    for (const { tool, input, ok, text, called, returned } of entries) {
      if (tool !== 'send_message' || input?.to !== to || ok !== true) continue;
      const id = /^accepted: (\S+) /.exec(text ?? '')?.[1] ?? '';
      const n = places.get(id)?.n;
      if (n === undefined) throw new Error(`${id} is not on record`);
      operations.push({
        by,
        what: `letter ${n} to ${to}`,
        called: BigInt(called ?? 0),
        returned: BigInt(returned),
        apply: (count) => (count + 1 === n ? n : null),
      });
    }
  }
  // Of the user's and the supervisor's letters only the place is known.
  for (const { n, from, to: box } of places.values()) {
    if (box !== to || TEAM.includes(from)) continue;
    const what = `letter ${n} of ${from}`;
    const apply = (count: number): number | null => (count + 1 === n ? n : null);
    operations.push({ by: from, what, called: 0n, returned: NEVER, apply });
  }
  const got = (histories.get(to) ?? []).filter(({ tool }) => tool === 'got');
  for (const { n = 0, returned } of got) {
    const what = `${to} has letter ${n}`;
    // When it began to be there nobody saw.
    const called = 0n;
    const apply = (count: number): number | null => (count >= n ? count : null);
    operations.push({ by: to, what, called, returned: BigInt(returned), apply });
  }
  return operations;
}

/** Who holds one task: the state is its name, or empty. */
function taskOperations(
  id: string,
  histories: ReadonlyMap<string, readonly Entry[]>,
): Operation<string>[] {
  const operations: Operation<string>[] = [];
  for (const [by, entries] of histories) {
    let holds: string | null = null;
    let freed = 0n;
    for (const { tool, type, task, input, ok, text, called, returned } of entries) {
      const times = { called: BigInt(called ?? 0), returned: BigInt(returned) };
      if (tool === 'got' && (type === 'task.assign' || type === 'task.rework')) {
        holds = task ?? null;
        const apply = (owner: string): string | null => (owner === '' ? by : null);
        // The supervisor's own decision, at some time since it was free.
        if (holds === id)
          operations.push({ by, what: `got ${id}`, ...times, called: freed, apply });
      } else if (tool === 'fail_task' && ok === true) {
        const apply = (owner: string): string | null => (owner === by ? '' : null);
        if (holds === id) operations.push({ by, what: `gave up ${id}`, ...times, apply });
        holds = null;
        freed = times.called;
      } else if (tool === 'claim_task' && input?.id === id) {
        const owner = / was claimed by (\S+)$/.exec(text ?? '')?.[1];
        if (owner === undefined) continue;
        const apply = (now: string): string | null => (now === owner ? now : null);
        operations.push({ by, what: `saw ${owner} hold ${id}`, ...times, apply });
      }
    }
  }
  return operations;
}

test('M4 T3 A: what eight threads saw of mailboxes and claims is an order of one', {
  timeout: 90_000,
}, async () => {
  repo = makeRepo();
  const commit = repo.commit('Start', { 'a.txt': 'a\n' });
  const folder = join(repo.base, 'history');
  mkdirSync(folder);
  const env = { HISTORY: folder, TEAM: TEAM.join(), TASKS: TASKS.join() };
  const host = new ThreadHost({ entry: ENTRY, env });
  const { supervisor, records, prepare } = await inlineSupervisor(repo, undefined, host);
  const file = runFile({
    id: 'lin',
    team: team({
      teammates: TEAM,
      tasks: TASKS.map((id) => task({ id, attempts: 6 })),
      limits: { parallel: 8, turns: 1000, depth: 1, fanout: 1 },
    }),
    baseCommit: commit,
    workspace: repo.root,
    treesRoot: repo.trees,
  });
  prepare(file);
  await supervisor.startRun(file);
  for (const to of TEAM) await supervisor.send({ run: 'lin', to, text: 'go', interrupt: false });
  await supervisor.finished('lin');
  await supervisor.close();

  const histories = new Map(TEAM.map((name) => [name, historyOf(folder, name)]));
  const places = new Map<string, Place>();
  const counts = new Map<string, number>();
  for (const { mail } of records) {
    for (const { id, to, from } of mail ?? []) {
      const n = (counts.get(to) ?? 0) + 1;
      counts.set(to, n);
      places.set(id, { n, from, to });
    }
  }
  let checked = 0;
  for (const name of TEAM) {
    const operations = mailboxOperations(name, histories, places);
    checked += operations.length;
    expect(notLinearizable(operations, 0), name).toBeNull();
  }
  for (const id of TASKS) {
    const operations = taskOperations(id, histories);
    checked += operations.length;
    expect(notLinearizable(operations, ''), id).toBeNull();
  }
  expect(checked).toBeGreaterThan(300);
});

test('the checker finds what no order explains', () => {
  const letter = (n: number, called: bigint, returned: bigint): Operation<number> => ({
    by: 'x',
    called,
    returned,
    what: `letter ${n}`,
    apply: (count) => (count + 1 === n ? n : null),
  });
  expect(notLinearizable([letter(1, 1n, 4n), letter(2, 2n, 3n)], 0)).toBeNull();
  expect(notLinearizable([letter(2, 1n, 2n), letter(1, 3n, 4n)], 0)).not.toBeNull();
  expect(notLinearizable([letter(1, 1n, 4n), letter(1, 2n, 3n)], 0)).not.toBeNull();
});
