/**
 * Commands in the background: what their ends mean, who may ask about them, and that they end with what they belong to.
 *
 * Invariants
 * - S10 A command in the background ends with its actor's incarnation, with the claim in whose tree it is, with its run and
 *   with its supervisor; before a tree is used again nothing of the background runs in it.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, type CallId, nearMatches, type ProcId } from '../../kernel/index.ts';
import type { BackgroundEnd, BackgroundFact } from '../background.ts';
import { Draft } from '../draft.ts';
import type { CommandOutcome, Happening, OutputPage } from '../inbox.ts';
import { COMMAND_SHOWN_CHARS } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { howItEnded } from './letters.ts';
import { finishAct } from './results.ts';
import { heldTask, mayRun } from './roster.ts';

/** Commands of the background that run now and belong to this actor. */
export function runningOf(state: RunState, name: ActorName): BackgroundFact[] {
  return [...state.background.values()].filter((one) => one.actor === name && one.ended === null);
}

/** What the command may be asked about by this actor: its own, and those of the ones it works for. */
export function findBackground(
  state: RunState,
  asking: ActorName,
  id: string,
): BackgroundFact | string {
  const found = state.background.get(id as ProcId);
  const line = lineOf(state, asking);
  if (found !== undefined && line.includes(found.actor)) return found;
  const known = [...state.background.values()]
    .filter((one) => line.includes(one.actor))
    .map((one) => one.id);
  if (known.length === 0) return `there is no command "${id}": you have none in the background`;
  const near = nearMatches(id, known);
  const hint = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${list(known)}`;
  return `there is no command "${id}" of yours in the background; ${hint}`;
}

const LISTED = 10;
function list(ids: readonly string[]): string {
  const more = ids.length > LISTED ? ', …' : '';
  return ids.slice(-LISTED).join(', ') + more;
}

/** An actor and those above it. */
function lineOf(state: RunState, name: ActorName): ActorName[] {
  const line: ActorName[] = [];
  for (let at: ActorName | null = name; at !== null && !line.includes(at); ) {
    line.push(at);
    const actor = actorOf(state.actors, at);
    // A teammate that was brought in is a member of its own.
    at = actor?.kind === 'subagent' ? actor.parent : null;
  }
  return line;
}

export function statusText(fact: BackgroundFact): string {
  const { ended } = fact;
  const what = nameOf(fact);
  if (ended === null) return `${what} is running since ${fact.startedAt}`;
  const how =
    ended.why === 'exit'
      ? ended.code === null
        ? `was ended by ${ended.signal ?? 'a signal'}`
        : `ended with exit status ${ended.code}`
      : WHY[ended.why];
  return `${what} ${how} at ${ended.at}`;
}

function nameOf({ id, command }: BackgroundFact): string {
  const line = command.replaceAll(/\s+/g, ' ').trim();
  const shown = line.length > COMMAND_SHOWN_CHARS ? `${line.slice(0, COMMAND_SHOWN_CHARS)}…` : line;
  return `${id} (\`${shown}\`)`;
}

const WHY = {
  timeout: 'was ended at its deadline',
  overflow: 'was ended because it wrote too much output',
  killed: 'was ended',
  failed: 'could not be started',
  lost: 'was lost with the supervisor that it ran under',
} as const;

/** Who waits for it is answered; else its actor hears of it by mail, unless it was ended with what it belongs to. */
export function backgroundEnded(
  draft: Draft,
  live: Live,
  event: { readonly id: ProcId; readonly outcome: CommandOutcome },
): void {
  const { id, outcome } = event;
  const fact = draft.state.background.get(id);
  const wasEnded = live.ending.delete(id);
  if (fact === undefined) return;
  let told = false;
  for (const [call, awaited] of live.awaited) {
    if (awaited !== id) continue;
    draft.effect({ type: 'output.read', call, id, offset: null });
    told ||= live.acts.get(call)?.name === fact.actor;
  }
  if (told || wasEnded) return;
  const whole = outcome.cut ? `\n(the whole output is in outputs/${id}.log)` : '';
  const output = outcome.text.trimEnd();
  const text = `The command ${nameOf(fact)} ${howItEnded(outcome)}.\n${output === '' ? '(no output)' : output}${whole}`;
  tellEnd(draft, live, fact, { text, why: outcome.why });
}

/** A subagent has no mailbox; it asks. */
function tellEnd(
  draft: Draft,
  live: Live,
  fact: BackgroundFact,
  body: { readonly text: string; readonly why: BackgroundEnd['why'] },
): void {
  const actor = actorOf(draft.state.actors, fact.actor);
  if (actor === null || actor.kind === 'subagent') return;
  if (!mayRun(draft.state, actor, draft.happening.now)) return;
  draft.notice({
    to: fact.actor,
    lane: 'normal',
    type: 'command.finished',
    body: { ...body, id: fact.id },
  });
  live.mailDirty.add(fact.actor);
}

/** After a restart of the supervisor: what ran is gone. Its end is recorded in the same draft. */
export function tellLost(draft: Draft, live: Live): void {
  for (const fact of draft.state.background.values()) {
    if (fact.ended !== null || !isInPlace(draft.state, fact)) continue;
    const text = `The command ${nameOf(fact)} was lost: the supervisor that it ran under ended. What it had written can be read with bash_output. Start it again if you still need it.`;
    tellEnd(draft, live, fact, { text, why: 'lost' });
  }
}

/** Whether the claim in whose tree it was started still holds. */
function isInPlace(state: RunState, fact: BackgroundFact): boolean {
  if (fact.fence === 0) return true;
  const node = heldTask(state, fact.actor);
  return node !== null && node.state === 'running' && node.fence === fact.fence;
}

/** S10: the next one whose actor or claim is over is ended; null when there is none. */
export function endOrphan(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const [id, purpose] of live.commands) {
    if (purpose.kind !== 'background' || live.ending.has(id)) continue;
    const fact = state.background.get(id);
    const lives =
      fact !== undefined && live.actors.get(fact.actor)?.incarnation === fact.incarnation;
    if (lives && isInPlace(state, fact)) continue;
    live.ending.add(id);
    return new Draft(state, happening).effect({ type: 'command.kill', id });
  }
  return null;
}

/** A part of an output has been read for a call. */
export function outputRead(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { readonly call: CallId; readonly page: OutputPage },
): Draft {
  const draft = new Draft(state, happening);
  const { page, call } = event;
  if (state.run.ended !== null) return draft;
  const act = live.acts.get(call);
  const id = live.awaited.get(call);
  live.awaited.delete(call);
  live.acts.delete(call);
  const actor = act === undefined ? undefined : live.actors.get(act.name);
  const fact = id === undefined ? undefined : state.background.get(id);
  if (act === undefined || fact === undefined || actor?.incarnation !== act.incarnation)
    return draft;
  const output = `outputs/${fact.id}.log`;
  const text = `${statusText(fact)}\n${pageText(page)}`;
  return finishAct({ actor, request: act.request }, draft, act, { ok: true, text, output });
}

function pageText({ text, from, next, size }: OutputPage): string {
  if (size === 0) return '[no output so far]';
  const before = from > 0 ? `[from byte ${from} on]\n` : '';
  const shown = text === '' ? '' : `${text.trimEnd()}\n`;
  const more = size > next ? `${size - next} more bytes` : 'no more output so far';
  return `${before}${shown}[${more}; go on with offset ${next}]`;
}

/** The time of a `bash_wait` is over. */
export function waitOver(state: RunState, live: Live, happening: Happening, call: CallId): Draft {
  const draft = new Draft(state, happening);
  const act = live.acts.get(call);
  const id = live.awaited.get(call);
  const fact = id === undefined ? undefined : state.background.get(id);
  // It has ended meanwhile: the answer is on its way.
  if (act === undefined || fact === undefined || fact.ended !== null) return draft;
  live.awaited.delete(call);
  live.acts.delete(call);
  const actor = live.actors.get(act.name);
  if (actor?.incarnation !== act.incarnation) return draft;
  const text = `${statusText(fact)}; it goes on. Look at it with bash_output, wait again, or end it with bash_kill.`;
  return finishAct({ actor, request: act.request }, draft, act, { ok: true, text });
}
