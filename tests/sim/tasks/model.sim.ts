/**
 * The task graph against a naive model: the model rescans everything, the graph may not, and both must agree on every
 * state, on what starts next and on who holds what, after any sequence of commands. At the end the log is replayed.
 */
import {
  type Arbitrary,
  array,
  assert,
  constant,
  constantFrom,
  nat,
  oneof,
  property,
  record,
  subarray,
} from 'fast-check';
import { expect, test } from 'vitest';
import { asTaskId } from '../../../src/kernel/ids.ts';
import type { TaskState } from '../../../src/protocol/record.ts';
import {
  applyTask,
  canClaim,
  cascade,
  globsOverlap,
  makeGraph,
  pickNext,
  taskCounts,
  touchesBlocker,
} from '../../../src/tasks/index.ts';
import { ADA, BECAUSE, Run, spec } from '../../unit/tasks/support.ts';

const ACTIVE = ['running', 'verifying', 'merging'];

interface Toy {
  readonly id: string;
  readonly needs: readonly string[];
  readonly key: string;
  readonly touches: readonly string[];
  state: TaskState;
}

/** O(n²) on purpose. */
class Model {
  readonly tasks: Toy[] = [];

  height(task: Toy): number {
    const above = this.tasks.filter((other) => other.needs.includes(task.id));
    return 1 + Math.max(0, ...above.map((other) => this.height(other)));
  }

  settle(): void {
    for (const task of this.tasks) {
      const met = task.needs.every((id) => this.find(id)?.state === 'done');
      if (task.state === 'blocked' && met) task.state = 'ready';
    }
  }

  gated(task: Toy): boolean {
    const active = this.tasks.filter((other) => ACTIVE.includes(other.state));
    return active.some((other) => globsOverlap(other.touches, task.touches));
  }

  next(free: ReadonlySet<string>): string | null {
    const open = this.tasks.filter((t) => t.state === 'ready' && free.has(t.key) && !this.gated(t));
    const best = Math.max(...open.map((task) => this.height(task)));
    return open.find((task) => this.height(task) === best)?.id ?? null;
  }

  find(id: string): Toy | undefined {
    return this.tasks.find((task) => task.id === id);
  }

  cancelAbove(id: string): string[] {
    const above = this.tasks.filter((t) => t.needs.includes(id) && t.state === 'blocked');
    for (const task of above) task.state = 'cancelled';
    return above.flatMap((task) => [task.id, ...this.cancelAbove(task.id)]);
  }
}

interface Pair {
  readonly model: Model;
  readonly run: Run;
}

function agree({ model, run }: Pair): void {
  expect(run.states()).toBe(model.tasks.map((task) => `${task.id}:${task.state}`).join(' '));
  for (const [state, count] of Object.entries(taskCounts(run.graph))) {
    expect(model.tasks.filter((task) => task.state === state)).toHaveLength(count);
  }
}

/** Takes one of the tasks in a state, if there is one. */
function choose({ model }: Pair, states: readonly string[], pick: number): Toy | null {
  const open = model.tasks.filter((task) => states.includes(task.state));
  return open[pick % Math.max(1, open.length)] ?? null;
}

type Action =
  | { readonly do: 'add'; readonly needs: number[]; readonly key: string; readonly touch: number }
  | { readonly do: 'start'; readonly free: readonly string[] }
  | {
      readonly do: 'claim' | 'finish' | 'verify' | 'done' | 'release' | 'fail' | 'cancel';
      readonly pick: number;
    };

const TOUCHES = [[], [], ['src/**'], ['src/a/*'], ['src/b/x.ts'], ['docs/**', 'src/a']] as const;
const KEYS = ['run', '*', 'writer'];

function perform(pair: Pair, action: Action): void {
  const { model, run } = pair;
  if (action.do === 'add') return add(pair, action);
  if (action.do === 'start') {
    const free = new Set(action.free);
    const node = pickNext(run.graph, (key) => free.has(key));
    expect(node?.spec.id ?? null).toBe(model.next(free));
    if (node !== null) claim(pair, node.spec.id);
    return;
  }
  const task = choose(pair, STATES[action.do], action.pick);
  if (task === null) return;
  switch (action.do) {
    case 'claim': {
      const profile = task.key === 'run' ? null : 'writer';
      const outcome = canClaim(run.graph, task.id, { by: ADA, profile, parallel: 1000 });
      const may = task.state === 'ready' && !model.gated(task);
      expect(outcome.kind === 'ok').toBe(may);
      expect(outcome.kind === 'lost').toBe(ACTIVE.includes(task.state));
      if (may) claim(pair, task.id);
      else if (task.state !== 'ready') expect(() => run.claim(task.id)).toThrow('T3');
      return;
    }
    case 'finish':
      run.finish(task.id);
      task.state = 'verifying';
      return;
    case 'verify':
      run.verified(task.id);
      task.state = 'merging';
      return;
    case 'done':
      run.done(task.id);
      task.state = 'done';
      return model.settle();
    case 'release':
      run.release(task.id, 'attempt');
      task.state = 'ready';
      return;
    case 'fail':
    case 'cancel':
      return end(pair, task, action.do);
  }
}

const ALL = ['blocked', 'ready', ...ACTIVE, 'done', 'failed', 'cancelled'];
const STATES = {
  claim: ALL,
  finish: ['running'],
  verify: ['verifying'],
  done: ['verifying', 'merging'],
  release: ACTIVE,
  fail: ['blocked', 'ready', ...ACTIVE],
  cancel: ['blocked', 'ready', ...ACTIVE],
} as const;

function add({ model, run }: Pair, action: Extract<Action, { do: 'add' }>): void {
  const living = model.tasks.filter((task) => !['failed', 'cancelled'].includes(task.state));
  const needs = living.filter((_, index) => action.needs.includes(index)).map((task) => task.id);
  const id = `t${model.tasks.length}`;
  const touches = TOUCHES[action.touch] ?? [];
  const work = action.key === 'run' ? { run: 'true' } : {};
  run.add(spec(id, { needs, touches, ...work, agent: action.key === 'writer' ? 'writer' : null }));
  model.tasks.push({ id, needs, touches, key: action.key, state: 'blocked' });
  model.settle();
}

function claim({ model, run }: Pair, id: string): void {
  run.claim(id);
  const task = model.find(id);
  expect(task?.state).toBe('ready');
  if (task !== undefined) task.state = 'running';
}

function end({ model, run }: Pair, task: Toy, how: 'fail' | 'cancel'): void {
  const state = how === 'fail' ? 'failed' : 'cancelled';
  const changes = cascade(run.graph, task.id, state);
  run.apply({ type: `task.${state}`, id: asTaskId(task.id), reason: BECAUSE });
  for (const change of changes) run.apply(change);
  task.state = state;
  const cancelled = changes.map((change) => (change.type === 'task.cancelled' ? change.id : ''));
  expect(new Set(cancelled)).toEqual(new Set(model.cancelAbove(task.id)));
}

const action: Arbitrary<Action> = oneof(
  {
    weight: 4,
    arbitrary: record({
      do: constant('add' as const),
      needs: array(nat(9), { maxLength: 3 }),
      key: constantFrom(...KEYS),
      touch: nat(TOUCHES.length - 1),
    }),
  },
  {
    weight: 4,
    arbitrary: record({ do: constant('start' as const), free: subarray(KEYS) }),
  },
  {
    weight: 7,
    arbitrary: record({
      do: constantFrom('claim', 'finish', 'verify', 'done', 'done', 'release', 'fail', 'cancel'),
      pick: nat(50),
    }),
  },
);

test('T1 T2 T3 T5 T6 T10 T11: the graph agrees with a model that rescans, and with its replay', () => {
  assert(
    property(array(action, { maxLength: 80 }), (actions) => {
      const pair: Pair = { model: new Model(), run: new Run() };
      for (const one of actions) {
        perform(pair, one);
        agree(pair);
      }
      replayed(pair.run);
    }),
    { numRuns: 400 },
  );
});

/** T11: a graph made from the log is the same, in every field and in what it would start. */
function replayed(run: Run): void {
  const again = makeGraph();
  for (const { change, seq, at } of run.log) applyTask(again, change, { seq, at });
  const free = (): boolean => true;
  const next = pickNext(run.graph, free)?.spec.id;
  expect(pickNext(again, free)?.spec.id).toBe(next);
  const facts = (graph: typeof again): unknown[] =>
    [...graph.nodes.values()].map((node) => ({
      ...node,
      slot: 0,
      height: node.state === 'done' ? 0 : node.height,
    }));
  expect(facts(again)).toEqual(facts(run.graph));
  for (const node of again.nodes.values()) {
    const blocked = touchesBlocker(run.graph, node) !== null;
    expect(touchesBlocker(again, node) !== null).toBe(blocked);
  }
}
