/**
 * The breaker on repeated identical failure: when agents end with the same failure again and again, whatever the task, more
 * attempts only burn what is left. A fold over ends of tasks.
 *
 * Invariants
 * - S15 Failures of one kind with one text, `BREAKER_AFTER` in a row over at least `BREAKER_TASKS` tasks, park the tasks of agents;
 *   after a pause one is tried, and the pause doubles with each that fails alike. A task that is done, and a new term, close it.
 */
import type { TaskId } from '../kernel/index.ts';
import type { Reason, StoredRunRecord, TaskChange } from '../protocol/index.ts';
import { BREAKER_AFTER, BREAKER_MAX_MS, BREAKER_MS, BREAKER_TASKS } from './limits.ts';

export interface Breaker {
  /** Of the newest failure: its kind and its text without names and numbers. */
  key: string;
  text: string;
  count: number;
  tasks: string[];
  at: string;
}

export const makeBreaker = (): Breaker => ({ key: '', text: '', count: 0, tasks: [], at: '' });

/** What a gate says is about the work of one task; these are about what all work with. */
const OF_ALL: ReadonlySet<Reason['kind']> = new Set(['agent', 'worktree', 'attempts']);

export function applyBreaker(
  breaker: Breaker,
  record: StoredRunRecord,
  isCommand: (task: TaskId) => boolean,
): void {
  if (record.run?.some((change) => change.type === 'run.resumed') === true) close(breaker);
  for (const change of record.tasks ?? []) {
    if (change.type === 'task.done' || change.type === 'task.finished') close(breaker);
    else if (isFailure(change) && !isCommand(change.id)) note(breaker, change, record.at);
  }
}

type Failure = Extract<TaskChange, { type: 'task.released' | 'task.failed' }>;

function isFailure(change: TaskChange): change is Failure {
  if (change.type === 'task.released') {
    return change.counts === 'attempt' && OF_ALL.has(change.reason.kind);
  }
  return change.type === 'task.failed' && OF_ALL.has(change.reason.kind);
}

function note(breaker: Breaker, { id, reason }: Failure, at: string): void {
  const said = reason.text.replace(
    /^(all \d+ attempts are used; the last|its only attempt failed): /,
    '',
  );
  const key = said
    .replaceAll(reason.ref ?? id, '')
    .replaceAll(id, '')
    .replaceAll(/\d+/g, '#');
  if (key !== breaker.key) Object.assign(breaker, { ...makeBreaker(), key });
  breaker.count += 1;
  breaker.text = said;
  breaker.at = at;
  if (!breaker.tasks.includes(id) && breaker.tasks.length < BREAKER_TASKS) breaker.tasks.push(id);
}

function close(breaker: Breaker): void {
  Object.assign(breaker, makeBreaker());
}

export function isOpen({ count, tasks }: Breaker): boolean {
  return count >= BREAKER_AFTER && tasks.length >= BREAKER_TASKS;
}

/** Ms until a task is tried again; 0 when tasks may be begun. A clock that was put back parks no longer than the most. */
export function parkedFor(breaker: Breaker, nowMs: number): number {
  if (!isOpen(breaker)) return 0;
  const pause = Math.min(
    BREAKER_MAX_MS,
    BREAKER_MS * 2 ** Math.min(20, breaker.count - BREAKER_AFTER),
  );
  const left = Date.parse(breaker.at) + pause - nowMs;
  return left > pause ? 0 : Math.max(0, left);
}

/** For people, of a task that waits for it. */
export function breakerReason(breaker: Breaker): Reason {
  const [first] = breaker.tasks;
  return {
    kind: 'backoff',
    ...(first === undefined ? {} : { ref: first }),
    text: `${breaker.count} attempts in a row ended alike, so no other is begun for a while: ${breaker.text}`,
  };
}
