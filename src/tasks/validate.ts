/**
 * Is a set of tasks a graph that can be worked? Asked of a team file and of every addition while a run goes on. All
 * problems are listed, each with its place. Linear in tasks and needs, without recursion.
 *
 * Invariants
 * - T8 No unknown, repeated or dead need, no cycle, no id twice (without regard to case), no gate that names nothing.
 */
import { asTaskId, isName, nearMatches, type TaskId } from '../kernel/ids.ts';
import type { Gate, TaskSpec } from '../protocol/team.ts';
import type { TaskGraph } from './graph.ts';
import { CYCLES_SHOWN_MAX, NEAR_LOOKUPS_MAX, TASKS_MAX } from './limits.ts';

export type TaskProblemCode =
  | 'bad-id'
  | 'duplicate-id'
  | 'unknown-need'
  | 'repeated-need'
  | 'dead-need'
  | 'cycle'
  | 'work'
  | 'attempts'
  | 'gate'
  | 'unknown-profile'
  | 'too-many';

export interface TaskProblem {
  readonly code: TaskProblemCode;
  readonly message: string;
  /** Place among the added tasks: `tasks[2].needs[0]`. */
  readonly path: string;
  /** Id of the task it is about. */
  readonly task: string;
}

/**
 * `graph`: what is there already. `profiles`: names that `agent` and review gates may use; not checked when left out.
 */
export function validateTasks(
  added: readonly TaskSpec[],
  graph?: TaskGraph,
  profiles?: Iterable<string>,
): TaskProblem[] {
  const context: Context = {
    problems: [],
    graph,
    profiles: profiles === undefined ? null : new Set(profiles),
    byId: new Map(),
    lookups: 0,
  };
  const total = added.length + (graph?.nodes.size ?? 0);
  if (total > TASKS_MAX) {
    const message = `${total} tasks are more than the ${TASKS_MAX} that one graph may have`;
    return [{ code: 'too-many', message, path: 'tasks', task: '' }];
  }
  for (const [position, spec] of added.entries()) checkId(context, spec, position);
  for (const [position, spec] of added.entries()) {
    checkWork(context, spec, position);
    checkNeeds(context, spec, position);
  }
  findCycles(context, added);
  return context.problems;
}

interface Context {
  readonly problems: TaskProblem[];
  readonly graph: TaskGraph | undefined;
  readonly profiles: ReadonlySet<string> | null;
  /** Position of each added task, by id in lower case; the first of equal ones. */
  readonly byId: Map<string, number>;
  lookups: number;
}

function report(context: Context, problem: TaskProblem): void {
  context.problems.push(problem);
}

function checkId(context: Context, spec: TaskSpec, position: number): void {
  const path = `tasks[${position}].id`;
  const task = spec.id;
  if (!isName(task)) {
    const message = `"${task}" is no task id: use a-z, 0-9, - and _, starting with a letter or digit, at most 48`;
    report(context, { code: 'bad-id', message, path, task });
  }
  const key = task.toLowerCase();
  const other = context.byId.get(key);
  if (other !== undefined) {
    const message = `task id "${task}" is used twice (also by tasks[${other}]; case does not count)`;
    report(context, { code: 'duplicate-id', message, path, task });
    return;
  }
  context.byId.set(key, position);
  if (context.graph?.nodes.has(asTaskId(key)) === true) {
    const message = `there is a task "${key}" already`;
    report(context, { code: 'duplicate-id', message, path, task });
  }
}

function checkWork(context: Context, spec: TaskSpec, position: number): void {
  const path = `tasks[${position}]`;
  const task = spec.id;
  if ((spec.prompt === null) === (spec.run === null)) {
    const what = spec.run === null ? 'neither `prompt` nor `run`' : 'both `prompt` and `run`';
    const message = `task "${task}" has ${what}: an agent task has a prompt, a command task has run`;
    report(context, { code: 'work', message, path, task });
  } else if ((spec.prompt ?? spec.run ?? '').trim() === '') {
    const field = spec.run === null ? 'prompt' : 'run';
    const message = `\`${field}\` of task "${task}" is empty`;
    report(context, { code: 'work', message, path: `${path}.${field}`, task });
  }
  if (!Number.isInteger(spec.attempts) || spec.attempts < 1) {
    const message = `attempts of task "${task}" must be a whole number from 1`;
    report(context, { code: 'attempts', message, path: `${path}.attempts`, task });
  }
  if (spec.agent !== null) checkProfile(context, { name: spec.agent, path: `${path}.agent`, task });
  for (const [index, gate] of spec.verify.entries()) {
    checkGate(context, gate, { path: `${path}.verify[${index}]`, task });
  }
}

function checkGate(
  context: Context,
  gate: Gate,
  at: { readonly path: string; readonly task: string },
): void {
  if (gate.kind === 'review' && gate.profile.trim() !== '') {
    checkProfile(context, { name: gate.profile, ...at });
  } else if ((gate.kind === 'command' ? gate.run : gate.profile).trim() === '') {
    const message = `a gate of task "${at.task}" names nothing to run`;
    report(context, { code: 'gate', message, ...at });
  }
}

function checkProfile(
  context: Context,
  at: { readonly name: string; readonly path: string; readonly task: string },
): void {
  if (context.profiles === null || context.profiles.has(at.name)) return;
  const choices = [...context.profiles].toSorted().join(', ');
  const message = `there is no agent profile "${at.name}"; there are: ${choices}`;
  report(context, { code: 'unknown-profile', message, path: at.path, task: at.task });
}

function checkNeeds(context: Context, spec: TaskSpec, position: number): void {
  const task = spec.id;
  const seen = new Set<string>();
  for (const [index, need] of spec.needs.entries()) {
    const path = `tasks[${position}].needs[${index}]`;
    if (seen.has(need)) {
      const message = `task "${task}" needs "${need}" twice`;
      report(context, { code: 'repeated-need', message, path, task });
    }
    seen.add(need);
    // The map is by lower case; a need has to be spelled as the id is.
    if (context.byId.has(need)) continue;
    const there = context.graph?.nodes.get(need);
    if (there === undefined) {
      const message = `task "${task}" needs "${need}", which is no task${nearText(context, need, task)}`;
      report(context, { code: 'unknown-need', message, path, task });
    } else if (there.state === 'failed' || there.state === 'cancelled') {
      const message = `task "${task}" needs "${need}", which ${there.state === 'failed' ? 'failed' : 'was cancelled'}`;
      report(context, { code: 'dead-need', message, path, task });
    }
  }
}

function nearText(context: Context, need: TaskId, own: TaskId): string {
  context.lookups += 1;
  if (context.lookups > NEAR_LOOKUPS_MAX) return '';
  const known = new Set([...context.byId.keys(), ...(context.graph?.nodes.keys() ?? [])]);
  known.delete(own);
  const near = nearMatches(need, known);
  return near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`;
}

/**
 * Walks from each task to its needs with an explicit stack; a need that is on the way already closes a cycle. Only added
 * tasks can be on one: those that are there can't need what was not.
 */
function findCycles(context: Context, added: readonly TaskSpec[]): void {
  const done = new Set<number>();
  const onWay = new Map<number, number>();
  let shown = 0;
  for (const start of added.keys()) {
    const way: { readonly position: number; next: number }[] = [];
    const enter = (position: number): void => {
      onWay.set(position, way.length);
      way.push({ position, next: 0 });
    };
    if (!done.has(start)) enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const needs = added[top.position]?.needs ?? [];
      const need = needs[top.next];
      if (need === undefined) {
        way.pop();
        onWay.delete(top.position);
        done.add(top.position);
        continue;
      }
      const index = top.next;
      top.next += 1;
      const target = context.byId.get(need);
      if (target === undefined || done.has(target)) continue;
      const from = onWay.get(target);
      if (from === undefined) {
        enter(target);
        continue;
      }
      shown += 1;
      if (shown > CYCLES_SHOWN_MAX) return;
      const ids = way.slice(from).map(({ position }) => added[position]?.id ?? '');
      const message = `these tasks wait for each other: ${[...ids, ids[0] ?? ''].join(' → ')}`;
      const path = `tasks[${top.position}].needs[${index}]`;
      report(context, { code: 'cycle', message, path, task: added[top.position]?.id ?? '' });
    }
  }
}
