import { type ActorName, asActorName, asTaskId } from '../../../src/kernel/ids.ts';
import type { Reason, TaskChange } from '../../../src/protocol/record.ts';
import type { TaskSpec } from '../../../src/protocol/team.ts';
import { applyTask, makeGraph, type TaskGraph, type TaskNode } from '../../../src/tasks/index.ts';

export const LEAD: ActorName = asActorName('lead');
export const ADA: ActorName = asActorName('ada');
export const BO: ActorName = asActorName('bo');
export const BECAUSE: Reason = { kind: 'gate', ref: 'npm test', text: 'npm test exited 1' };

type Loose = Partial<Omit<TaskSpec, 'needs' | 'id'>> & { readonly needs?: readonly string[] };

/** An agent task that anyone may take, unless said otherwise. */
export function spec(id: string, over: Loose = {}): TaskSpec {
  return {
    title: id,
    prompt: over.run === undefined ? `do ${id}` : null,
    run: null,
    agent: null,
    touches: [],
    verify: [],
    attempts: 2,
    timeoutMs: 60_000,
    ...over,
    id: asTaskId(id),
    needs: (over.needs ?? []).map(asTaskId),
  };
}

/** A graph with a log: each change is kept with its place, so that it can be replayed. */
export class Run {
  readonly graph: TaskGraph = makeGraph();
  readonly log: { readonly change: TaskChange; readonly seq: number; readonly at: string }[] = [];
  seq = 0;

  constructor(...specs: readonly TaskSpec[]) {
    for (const task of specs) this.add(task);
  }

  apply(change: TaskChange): void {
    this.seq += 1;
    const context = { seq: this.seq, at: new Date(this.seq).toISOString() };
    applyTask(this.graph, change, context);
    this.log.push({ change, ...context });
  }

  add(task: TaskSpec): void {
    this.apply({ type: 'task.added', task, by: LEAD });
  }

  claim(id: string, by: ActorName = ADA): void {
    const attempt = this.node(id).attemptsUsed + 1;
    const claim = { by, incarnation: 1, attempt, leaseUntil: '2030-01-01T00:00:00.000Z' };
    this.apply({ type: 'task.claimed', id: asTaskId(id), ...claim });
  }

  finish(id: string): void {
    this.apply({ type: 'task.finished', id: asTaskId(id), by: ADA, summary: `did ${id}` });
  }

  verified(id: string): void {
    this.apply({ type: 'task.verified', id: asTaskId(id) });
  }

  done(id: string): void {
    this.apply({ type: 'task.done', id: asTaskId(id), commit: null });
  }

  /** Claimed, finished and done without a merge. */
  complete(id: string): void {
    this.claim(id);
    this.finish(id);
    this.done(id);
  }

  release(id: string, counts: 'attempt' | 'conflict' | 'interruption' | 'nothing'): void {
    const rest = { counts, reason: BECAUSE, rework: 'try again' };
    this.apply({ type: 'task.released', id: asTaskId(id), ...rest });
  }

  fail(id: string): void {
    this.apply({ type: 'task.failed', id: asTaskId(id), reason: BECAUSE });
  }

  node(id: string): TaskNode {
    const node = this.graph.nodes.get(asTaskId(id));
    if (node === undefined) throw new Error(`no task ${id}`);
    return node;
  }

  states(): string {
    return [...this.graph.nodes.values()].map((n) => `${n.spec.id}:${n.state}`).join(' ');
  }
}
