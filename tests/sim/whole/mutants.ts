/**
 * Faults outside the journal, each at one place of the source; the simulation has to notice every one. A fault whose place is
 * gone or no longer unique is an error. `npm run simulate:mutants` runs them, CI looks whether they still fit.
 */
import type { Edit } from '../journal/patches.ts';

export interface WholeMutant {
  readonly edits: readonly Edit[];
  /** Of which seeds are tried. */
  readonly profile: string;
}

const one = (file: string, anchor: string, instead: string, profile = 'small'): WholeMutant => ({
  edits: [{ file: `src/${file}`, anchor, instead }],
  profile,
});

export const wholeMutants: Readonly<Record<string, WholeMutant>> = {
  'lease not fenced': one(
    'supervisor/decide/tasks.ts',
    'if (node.fence !== event.fence) return draft;',
    '',
    'medium',
  ),
  'release forgotten on one exit path': one(
    'supervisor/decide/ends.ts',
    'const node = held === undefined ? undefined : state.graph.nodes.get(held);',
    'const node = undefined;',
  ),
  'wake lost': one('supervisor/decide/mail.ts', 'else live.mailDirty.add(sent.to);', ''),
  'double dispatch': one('supervisor/decide/roster.ts', ' || state.claims.has(actor.name)', ''),
  'stop forgets a child': one(
    'supervisor/decide/actors.ts',
    '  stopChildren(draft, live, name);\n  // Its end',
    '  // Its end',
    'medium',
  ),
  'budget settled twice': one(
    'supervisor/spending.ts',
    "case 'spend.answered':\n      open.delete(change.id);",
    "case 'spend.answered':",
  ),
  'ask dropped at depth two': one(
    'supervisor/decide/asks/put.ts',
    "  draft.ask({ type: 'ask.put', ask, waiter });",
    "  if (waiter.ancestry.length < 3) draft.ask({ type: 'ask.put', ask, waiter });",
    'medium',
  ),
  'merge without compare-and-swap': one(
    'worktree/branches.ts',
    'reason, move.ref, move.to, from],',
    'reason, move.ref, move.to],',
  ),
  'late result accepted': one(
    'supervisor/decide/fence.ts',
    'return actor?.incarnation === of.incarnation && actor.epoch === of.epoch;',
    'return actor !== undefined;',
    'medium',
  ),
  'timer lost over restart': one(
    'supervisor/decide/sweep.ts',
    '  const ms = dueIn(state, live, happening);',
    '  const ms = state.run.term > 1 ? null : dueIn(state, live, happening);',
    'medium',
  ),
  'acts before the record is durable': one(
    'supervisor/loop.ts',
    'head.seq > this.durableSeq)',
    'head.seq > this.state.lastSeq)',
  ),
  'a helper outlives its task': one(
    'supervisor/decide/subagents.ts',
    'return fence !== undefined && fence !== fenceOf(state, name);',
    'return fence === -1;',
    'medium',
  ),
  'a late end of work is forgotten': one(
    'supervisor/decide/task-ends.ts',
    'live.dirty.add(task);',
    '',
  ),
};
