import { describe, expect, it } from 'vitest';
import { asActorName, asTaskId } from '../../../src/kernel/index.ts';
import type { TaskChange } from '../../../src/protocol/index.ts';
import { assignment } from '../../../src/supervisor/decide/letters.ts';
import { makeRunState } from '../../../src/supervisor/state.ts';
import { applyTask } from '../../../src/tasks/index.ts';
import { runFile, task, team } from '../../support/team.ts';

const id = asTaskId('wrap');
const claimed = (by: string): TaskChange => ({
  type: 'task.claimed',
  id,
  by: asActorName(by),
  incarnation: 1,
  attempt: 1,
  leaseUntil: '2026-01-01T00:00:00.000Z',
});

/** The letter to whoever holds the task after these changes. */
function letterAfter(changes: readonly TaskChange[]) {
  const file = runFile({
    id: 'r1',
    team: team({ teammates: ['ada', 'bo'] }),
    baseCommit: '0'.repeat(40),
    workspace: '/w',
    treesRoot: '/t',
  });
  const { graph } = makeRunState(file);
  const spec = task({ id: 'wrap' });
  const all: TaskChange[] = [
    { type: 'task.added', task: spec, by: asActorName('user') },
    ...changes,
  ];
  for (const [index, change] of all.entries()) {
    applyTask(graph, change, { seq: index + 1, at: '2026-01-01T00:00:00.000Z' });
  }
  const node = graph.nodes.get(id);
  if (node === undefined) throw new Error('no task');
  return assignment({ ...makeRunState(file), graph }, node, { root: '/t/wrap', note: null });
}

const sentBack: readonly TaskChange[] = [
  claimed('ada'),
  { type: 'task.finished', id, by: asActorName('ada'), summary: 'done' },
  { type: 'task.committed', id, commit: '1'.repeat(40) },
  { type: 'task.verified', id },
  {
    type: 'task.released',
    id,
    counts: 'conflict',
    reason: { kind: 'conflict', text: 'in conflict' },
    rework: 'The hunks.',
  },
];

describe('the letter of a task', () => {
  it('W: a conflict is a rework for the one who did the work, though it uses up no attempt', () => {
    const letter = letterAfter([...sentBack, claimed('ada')]);
    expect(letter.type).toBe('task.rework');
    expect(letter.body.text).toContain('The hunks.');
  });

  it('is an assignment for anybody else, with the reason why it is not done', () => {
    const letter = letterAfter([...sentBack, claimed('bo')]);
    expect(letter.type).toBe('task.assign');
    expect(letter.body.text).toContain('The hunks.');
    expect(letter.body.text).toContain('Do wrap.');
  });
});
