/**
 * Starts and ends of actors. A start is recorded before the thread is made; the end of a thread releases, in one record,
 * all that the actor held (design §6).
 *
 * Invariants
 * - A4 One live incarnation per name; everything carries it.
 * - S2 Death sends `actor.died` to the lead (or the user) exactly once, and releases claim, calls and processes with it.
 */

import {
  type Actor,
  actorOf,
  type HostExit,
  nextIncarnation,
  type StartNumbers,
} from '../../actors/index.ts';
import { type RosterEntry, systemPrompt } from '../../agent/index.ts';
import { counted } from '../../kernel/counted.ts';
import { type ActorName, isoTime, TroupeError, USER } from '../../kernel/index.ts';
import { HandedOut } from '../../mailbox/index.ts';
import type { ActorKind, AgentProfile, DeathCause } from '../../protocol/index.ts';
import { skillCatalogue, skillsFor } from '../../skills/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import { toolsForKind } from '../../tools/index.ts';
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { openShutdown } from '../teamwork.ts';
import { withdrawOf } from './asks/end.ts';
import { cancelAct } from './commands.ts';
import { endStopped, parkUnread, tellParent } from './ends.ts';
import { isOfThisLife } from './fence.ts';
import { heldMail, killsAgain, quarantine, retryLater } from './poison.ts';
import { REPLAY_DIFFERS } from './replay-order.ts';
import { afterDeath, causeOf, heapMbOf } from './restarts.ts';
import { finishAct } from './results.ts';
import { reviewerEnded } from './reviews.ts';
import { heldTask, mayRun, noticeTarget, reviewPlace, rulesFor, workplaceOf } from './roster.ts';
import { endText } from './shutdowns.ts';
import { fenceOf } from './subagents.ts';
import { endAttempt } from './task-ends.ts';

export interface Starting extends StartNumbers {
  readonly name: ActorName;
  readonly kind: ActorKind;
  readonly profile: AgentProfile;
  readonly parent: ActorName | null;
  readonly depth: number;
  readonly prompt: string | null;
  /** Whose diff it reviews. */
  readonly reviews?: TaskNode;
  /** Of a subagent: its parent waits for it. */
  readonly awaited?: boolean;
}

export function startNumbers(state: RunState, name: ActorName): StartNumbers {
  return nextIncarnation(state.actors, name);
}

export function startActor(draft: Draft, live: Live, actor: Starting): void {
  const { state } = draft;
  const { file } = state;
  const { name, kind, profile, incarnation, epoch } = actor;
  draft.about('sup', actor).actor({ type: 'actor.started', name, incarnation, epoch });
  live.actors.set(name, {
    name,
    incarnation,
    epoch,
    phase: 'starting',
    since: draft.at,
    posted: new HandedOut(),
    beat: 0,
    beatAt: draft.happening.monotonicMs,
    quietAt: draft.happening.monotonicMs,
    doom: null,
  });
  if (kind === 'subagent') live.helpers.set(name, fenceOf(state, actor.parent ?? name));
  const spawn = actor.depth < file.team.limits.depth;
  const skills = skillsFor(profile, file.skills ?? []);
  const tools = toolsOf(profile, toolsForKind(kind, { spawn }), skills.length > 0);
  if (actor.reviews !== undefined) tools.push('review_plan');
  const prompt = systemPrompt({
    profile,
    actor: name,
    kind,
    goal: file.team.goal,
    roster: roster(state),
    skills: skillCatalogue(skills),
  });
  draft.effect({
    type: 'actor.start',
    host: kind === 'subagent' ? 'pool' : 'thread',
    start: {
      run: file.id,
      name,
      kind,
      incarnation,
      epoch,
      profile,
      model: profile.model ?? file.team.model ?? '',
      scripts: file.scripts,
      places: { trees: file.treesRoot, workspace: file.workspace },
      ...(file.cassettes === undefined ? {} : { cassettes: file.cassettes }),
      system: prompt.shared,
      systemOwn: prompt.own,
      tools,
      ...(skills.length === 0 ? {} : { skills }),
      ...(file.memory === undefined ? {} : { memory: file.memory }),
      limits: file.team.limits,
      permissions: rulesFor(state, live, name),
      asked: [...state.asks.asks.values()].flatMap((ask) =>
        ask.waiters.filter((one) => one.actor === name).map((one) => one.call),
      ),
      ...(state.rewritten.has(name) ? { rewritten: [...(state.rewritten.get(name) ?? [])] } : {}),
      journalDirectory: '',
      outputsDirectory: '',
      workplace:
        actor.reviews === undefined
          ? workplaceOf(state, kind === 'subagent' && actor.parent !== null ? actor.parent : name)
          : reviewPlace(actor.reviews),
      ...(actor.awaited === true && actor.parent !== null ? { awaitedBy: actor.parent } : {}),
      prompt: actor.prompt,
      heapMb: heapMbOf(state, name),
      upToSeq: state.lastSeq,
      fromSeq: actorOf(state.actors, name)?.addedSeq ?? 0,
    },
  });
}

/** A profile narrows the tools of work; those of the team (mail, tasks, its own notes) belong to every member. */
const TEAM_TOOLS: ReadonlySet<string> = new Set([
  'send_message',
  'check_inbox',
  'team_status',
  'request_plan',
  'submit_plan',
  'review_plan',
  'list_tasks',
  'get_task',
  'claim_task',
  'complete_task',
  'fail_task',
  'todo_write',
  'todo_read',
  'note_save',
  'compact',
]);

const WITH_BASH = ['bash_output', 'bash_wait', 'bash_kill'] as const;

/** Who has skills can load them, and nobody else is offered to. */
function toolsOf(profile: AgentProfile, possible: readonly string[], hasSkills: boolean): string[] {
  const wanted = profile.tools === null ? null : new Set(profile.tools);
  // Who may bring somebody in may ask for its end.
  if (wanted?.has('spawn_teammate') === true) wanted.add('request_shutdown');
  // Who may make jobs sees its own and may end them.
  if (wanted?.has('schedule_cron') === true) wanted.add('list_crons').add('cancel_cron');
  // What may be started in the background can be looked at and ended.
  if (wanted?.has('bash') === true) for (const name of WITH_BASH) wanted.add(name);
  return possible.filter((name) => {
    if (name === 'load_skill') return hasSkills;
    // Who may ask strangers was named for it.
    if (name === 'web_fetch') return wanted?.has(name) === true;
    return wanted === null || wanted.has(name) || TEAM_TOOLS.has(name);
  });
}

function roster(state: RunState): RosterEntry[] {
  return [...state.actors.byName.values()]
    .filter((one) => one.kind !== 'subagent')
    .map((one) => ({
      name: one.name,
      kind: one.kind,
      profile: one.profile.name,
      description: one.profile.description,
    }));
}

export function actorExited(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'actor.exited' }>,
): Draft {
  const draft = new Draft(state, happening);
  const { name, incarnation, exit } = event;
  const facts = actorOf(state.actors, name);
  const actor = live.actors.get(name);
  if (facts === null || actor === undefined || !isOfThisLife(live, event)) return draft;
  live.actors.delete(name);
  for (const [id, held] of live.outlet.queue) if (held.name === name) live.outlet.queue.delete(id);
  live.helpers.delete(name);
  if (live.halting !== null) {
    // The run stops at the same time; this one is not to come back with it.
    const { doom } = actor;
    if (doom?.kind === 'stopped' && facts.kind !== 'subagent' && state.run.ended === null)
      endStopped(draft, live, { name, incarnation, text: doom.text });
    return draft;
  }
  if (exit.kind === 'crashed' && exit.code === 'entry-missing') throw programMissing(exit.message);
  draft.about('sup', actor);
  withdrawOf(draft, live, name, `${name} is gone`);
  if (facts.kind === 'subagent')
    return subagentExited(draft, live, { name, incarnation, parent: facts.parent, exit });
  for (const act of live.acts.values()) {
    if (act.name === name) cancelAct(live, draft, act.call);
  }
  stopChildren(draft, live, name);
  // Its end is on record when it was stopped on purpose.
  if (facts.phase.kind === 'ended') return draft;
  if (actor.doom?.kind === 'stopped') {
    endStopped(draft, live, { name, incarnation, text: actor.doom.text });
    return draft;
  }
  if (actor.doom?.kind === 'passivated') {
    // However it ended: it had nothing in hand.
    live.mailDirty.add(name);
    if (live.compactions.has(name)) live.wake.add(name);
    return draft.actor({ type: 'actor.passivated', name, epoch: actor.epoch });
  }
  const text =
    actor.doom?.text ??
    (exit.kind === 'crashed' ? `${exit.code}: ${exit.message}` : 'its thread ended');
  const asked = openShutdown(state.team, name);
  if (asked !== null) {
    // It was to end anyway: it is not started again for that.
    endStopped(draft, live, { name, incarnation, text: endText(asked, `it died (${text})`) });
    return draft;
  }
  return crashed(draft, live, { facts, actor, text, cause: causeOf(actor, exit) });
}

/** A death: all that it held is released, and those who must hear of it do, once. */
function crashed(
  draft: Draft,
  live: Live,
  death: {
    readonly facts: Actor;
    readonly actor: LiveActor;
    readonly text: string;
    readonly cause: DeathCause;
  },
): Draft {
  const { state, happening } = draft;
  const { facts, actor, text } = death;
  const { name, incarnation } = actor;
  const held = heldMail(state, actor);
  const isKiller = killsAgain(state, { name, held });
  const cause = isKiller ? 'poison' : death.cause;
  const after = afterDeath(state, facts, { nowMs: happening.now, text, cause });
  const { isLast } = after;
  draft.actor({
    type: 'actor.ended',
    name,
    incarnation,
    end: { kind: 'crashed', text, cause },
    ...(held.length === 0 ? {} : { held: held.map(({ n }) => n) }),
    ...(after.waitMs === 0 ? {} : { restartAt: isoTime(happening.now + after.waitMs) }),
  });
  if (after.waitMs > 0) {
    live.resting.set(name, happening.monotonicMs + after.waitMs);
    draft.effect({ type: 'mail.later', name, ms: after.waitMs });
  }
  const node = heldTask(state, name);
  if (node !== null) {
    live.dirty.add(node.spec.id);
    endAttempt(draft, live, {
      node,
      counts: 'attempt',
      reason: { kind: 'agent', ref: name, text: `${name} died (${text})` },
      rework: `The worker before you died (${text}). Look at what is in the tree before you go on.`,
    });
  }
  const target = noticeTarget(state);
  const parked = isLast ? parkUnread(draft, name, `${name} died and is not started again`) : 0;
  const told = target === name ? USER : target;
  if (!isLast) {
    quarantine(draft, live, { name, held, target: told, by: 'death' });
    retryLater(draft, live, { name, held });
  }
  const said = `${name} died: ${text}.${isLast ? lastWords(parked, after.causes) : ''}`;
  const body = { text: said, actor: name, incarnation, cause };
  draft.notice({ to: told, lane: 'normal', type: 'actor.died', body });
  // Past the bound the user hears of it as well: the lead may be able to do nothing about it.
  if (isLast && told !== USER) draft.notice({ to: USER, lane: 'normal', type: 'actor.died', body });
  tellParent(draft, live, { name, told, text: said });
  if (target !== name) live.mailDirty.add(target);
  live.mailDirty.add(name);
  const isPermanent = facts.profile.restart === 'permanent';
  if (!isLast && node === null && (state.midTurn.has(name) || isPermanent)) live.wake.add(name);
  return draft;
}

function lastWords(parked: number, causes: readonly string[]): string {
  const letters = `${counted(parked, 'letter')} to it ${parked === 1 ? 'was' : 'were'}`;
  return ` It is not started again; ${letters} not read. The last causes:\n- ${causes.join('\n- ')}`;
}

/** Nothing can be worked on without our own files: the run stops as it is, no attempt is charged. */
function programMissing(message: string): TroupeError {
  return new TroupeError({
    code: 'supervisor/program-missing',
    message: `A thread could not be started, because files of Troupe itself are missing: ${message}`,
    hint: 'Build or install Troupe again, then `troupe resume`.',
  });
}

function stopChildren(draft: Draft, live: Live, parent: ActorName): void {
  for (const child of draft.state.actors.byName.values()) {
    // A spawned teammate is a member of its own; only what works for the parent goes with it.
    if (child.kind === 'subagent' && child.parent === parent && live.actors.has(child.name)) {
      draft.effect({
        type: 'actor.stop',
        name: child.name,
        incarnation: child.incarnation,
        graceMs: 0,
      });
    }
  }
}

/** A subagent's last answer is the result of the call that started it, or mail when it ran in the background. */
function subagentExited(
  draft: Draft,
  live: Live,
  child: { name: ActorName; incarnation: number; parent: ActorName | null; exit: HostExit },
): Draft {
  const { name, exit } = child;
  // Who was stopped on its way ends without a text.
  const finished = exit.kind === 'finished' && exit.text !== undefined;
  const text = finished
    ? exit.text
    : exit.kind === 'crashed'
      ? `${name} could not finish: ${exit.message}`
      : `${name} was stopped`;
  const end = {
    kind: finished ? ('finished' as const) : ('crashed' as const),
    text: text.slice(0, 500),
  };
  draft.actor({ type: 'actor.ended', name, incarnation: child.incarnation, end });
  reviewerEnded(draft, live, { name, text: end.text });
  if (exit.kind === 'crashed' && exit.code === REPLAY_DIFFERS) {
    live.halting ??= { next: 'differs', text: exit.message };
    return draft.effect({ type: 'halt', graceMs: 0 });
  }
  stopChildren(draft, live, name);
  const act = [...live.acts.values()].find((one) => one.tool === `task:${name}`);
  if (act !== undefined) {
    live.acts.delete(act.call);
    const parent = live.actors.get(act.name);
    if (parent !== undefined && parent.incarnation === act.incarnation) {
      finishAct(
        { actor: parent, request: act.request },
        draft,
        { call: act.call, tool: 'task' },
        { ok: finished, text },
      );
    }
    return draft;
  }
  // In the background its answer is mail, also to a parent that is asleep or starts again.
  const parent = child.parent === null ? null : actorOf(draft.state.actors, child.parent);
  if (parent === null || !draft.state.team.background.has(name)) return draft;
  if (parent.kind === 'subagent' || !mayRun(draft.state, parent, draft.happening.now)) return draft;
  draft.send(
    { to: parent.name, lane: 'normal', type: 'chat.message', body: { text } },
    { name, incarnation: child.incarnation, epoch: 1 },
  );
  live.mailDirty.add(parent.name);
  return draft;
}
