/** What concerns an actor's conversation as a whole: the user's wish to have it compacted, and what it must know after it. */
import { type Actor, actorOf } from '../../actors/index.ts';
import { type ActorName, EXIT, LEAD } from '../../kernel/index.ts';
import { hasUnread } from '../../mailbox/index.ts';
import { isTerminal, type TaskNode } from '../../tasks/index.ts';
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import { TEAM_LINES_MAX } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Asking } from './asking.ts';
import { reply } from './results.ts';
import { mayRun } from './roster.ts';

/**
 * To a live actor, which does it at its next boundary; one that has given back its thread is woken for it, and sleeps again
 * when it has nothing else to do. Not recorded: what it leads to is.
 */
export function askCompaction(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'compact' }>,
): Draft {
  const draft = new Draft(state, happening);
  const { token, focus } = event;
  const facts = actorOf(state.actors, event.name);
  const actor = facts === null ? undefined : live.actors.get(facts.name);
  if (facts !== null && sleeps(state, live, happening, facts)) {
    live.compactions.set(facts.name, focus);
    live.wake.add(facts.name);
    return draft.effect({ type: 'answer', token, value: { name: facts.name, woken: true } });
  }
  if (facts === null || actor === undefined) {
    const known = facts !== null;
    return draft.effect({
      type: 'refuse',
      token,
      error: {
        code: known ? 'actor/not-running' : 'actor/unknown',
        message: known
          ? `${facts.name} does not run now, so its conversation can not be compacted`
          : `there is no actor "${event.name}" in this run`,
        ...(known ? { hint: 'When it goes on it is compacted by itself, once it is long.' } : {}),
        exit: known ? EXIT.unfinished : EXIT.notFound,
      },
    });
  }
  const { name, incarnation } = actor;
  actor.quietAt = happening.monotonicMs;
  draft.effect({
    type: 'actor.post',
    name,
    incarnation,
    messages: [{ type: 'compact', focus }],
  });
  return draft.effect({ type: 'answer', token, value: { name, woken: false } });
}

/** Without a thread, or about to be; with a conversation, and one that goes on. */
function sleeps(state: RunState, live: Live, happening: Happening, facts: Actor): boolean {
  const actor = live.actors.get(facts.name);
  if (actor !== undefined) return actor.doom?.kind === 'passivated';
  if (live.halting !== null || facts.kind === 'subagent' || facts.incarnation === 0) return false;
  return mayRun(state, facts, happening.now);
}

/** Its thread has begun: what it was woken for. */
export function tellCompaction(draft: Draft, live: Live, actor: LiveActor): void {
  const { name, incarnation } = actor;
  const focus = live.compactions.get(name);
  if (focus === undefined) return;
  live.compactions.delete(name);
  draft.effect({
    type: 'actor.post',
    name,
    incarnation,
    messages: [{ type: 'compact', focus }],
  });
}

/** The answer to `team`. */
export function tellTeam(asking: Asking, draft: Draft): Draft {
  const text = teamText(asking.state, asking.actor.name);
  return reply(asking, draft, { type: 'team', text });
}

/** Who there is and how the work stands, as far as this actor has to know: the lead all tasks, the others their own. */
function teamText(state: RunState, name: ActorName): string {
  const members = [...state.actors.byName.values()].filter((one) => one.kind !== 'subagent');
  const own = state.claims.get(name);
  const lines = members.map((one) => {
    const task = state.claims.get(one.name);
    const works = task === undefined ? '' : `, works on task ${task}`;
    return `- ${one.name}${one.name === name ? ' (you)' : ''}: ${one.kind}, ${one.profile.name}${works}`;
  });
  const nodes = [...state.graph.nodes.values()];
  // What is not over is what has to be known; of the rest the number says enough.
  const open = nodes.filter((node) => !isTerminal(node.state));
  const shown = name === LEAD ? open : open.filter((node) => node.spec.id === own);
  lines.push(...shown.map(taskLine));
  const over = nodes.length - open.length;
  if (name === LEAD && over > 0) lines.push(`- ${over} more tasks are over; list_tasks shows them`);
  if (hasUnread(state.mail, name)) lines.push('- there is mail that you have not seen; it follows');
  const rest = lines.length - TEAM_LINES_MAX;
  if (rest <= 0) return lines.join('\n');
  return [...lines.slice(0, TEAM_LINES_MAX), `- (${rest} more lines)`].join('\n');
}

function taskLine(node: TaskNode): string {
  const owner = node.owner === null ? '' : `, ${node.owner}`;
  return `- task ${node.spec.id} (${node.spec.title}): ${node.state}${owner}`;
}
