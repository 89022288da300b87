/** Questions about who is there: pure, over facts and what is live. */
import { type Actor, actorOf } from '../../actors/index.ts';
import { type ActorName, asActorName, LEAD, type TaskId, USER } from '../../kernel/index.ts';
import type { ActorStart, AgentProfile, Workplace } from '../../protocol/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import { SANDBOX_LEVEL } from '../limits.ts';
import type { Live } from '../live.ts';
import type { QuotaHold } from '../spending.ts';
import type { RunState } from '../state.ts';
import { openShutdown } from '../teamwork.ts';
import { isResting, mayRun } from './restarts.ts';

export { mayRun } from './restarts.ts';

/** Who is told of what happens to the team: the lead, else the user (design §6). */
export function noticeTarget(state: RunState): ActorName {
  const lead = actorOf(state.actors, LEAD);
  return lead !== null && mayRun(state, lead, null) ? LEAD : USER;
}

/** May this actor claim this task, by its profile? */
function isEligible(actor: Actor, agent: string | null): boolean {
  if (actor.kind === 'subagent') return false;
  if (actor.kind === 'lead') return agent === actor.profile.name;
  return agent === null || agent === actor.profile.name;
}

/** Members without a task, in order of their addition, that may claim tasks of this profile. */
export function freeMembers(state: RunState, agent: string | null, nowMs: number): ActorName[] {
  const free: ActorName[] = [];
  for (const actor of state.actors.byName.values()) {
    if (!isEligible(actor, agent) || state.claims.has(actor.name)) continue;
    if (openShutdown(state.team, actor.name) !== null) continue;
    if (quotaOf(state, actor.profile) !== null) continue;
    if (mayRun(state, actor, nowMs) && !isResting(state, actor.name, nowMs)) free.push(actor.name);
  }
  return free;
}

/** Why none of a profile's models can be asked now (B5); null when one can. */
export function quotaOf(state: RunState, profile: AgentProfile): QuotaHold | null {
  const { quotas } = state.spending;
  if (quotas.size === 0) return null;
  let first: QuotaHold | null = null;
  for (const model of [profile.model ?? state.file.team.model ?? '', ...(profile.fallback ?? [])]) {
    const hold = quotas.get(model.slice(0, Math.max(0, model.indexOf('/'))));
    if (hold === undefined) return null;
    if (first === null || hold.until < first.until) first = hold;
  }
  return first;
}

/** The quota that keeps a task from being given to anybody; null when none does. */
export function quotaOfTask(state: RunState, agent: string | null): QuotaHold | null {
  if (state.spending.quotas.size === 0) return null;
  const named = state.file.team.agents[agent ?? 'implementer'];
  const members = [...state.actors.byName.values()].filter((one) => isEligible(one, agent));
  const profiles = members.length > 0 ? members.map((one) => one.profile) : [named];
  let first: QuotaHold | null = null;
  for (const profile of profiles) {
    const hold = profile === undefined ? null : quotaOf(state, profile);
    if (hold === null) return null;
    if (first === null || hold.until < first.until) first = hold;
  }
  return first;
}

/**
 * A member to hire for tasks of this profile, when the team file names none that could ever work on them; null when it
 * does, or when as many were hired as tasks may run side by side.
 */
export function hire(
  state: RunState,
  agent: string | null,
): { name: ActorName; profile: AgentProfile } | null {
  const team = state.file.team;
  const declared = team.teammates.some((member) => agent === null || member.agent === agent);
  if (declared || team.lead?.agent === agent) return null;
  const profile = team.agents[agent ?? 'implementer'];
  if (profile === undefined || quotaOf(state, profile) !== null) return null;
  let hired = 0;
  for (const actor of state.actors.byName.values()) {
    if (actor.kind === 'teammate' && isEligible(actor, agent)) hired += 1;
  }
  if (hired >= team.limits.parallel) return null;
  for (let index = 1; ; index += 1) {
    const name = asActorName(`${profile.name.slice(0, 40)}-${index}`);
    if (!state.actors.byName.has(name)) return { name, profile };
  }
}

/** Where an actor works now: its task's tree, or the read-only view of the integration branch. */
export function workplaceOf(state: RunState, name: ActorName): Workplace | null {
  const review = state.team.reviews.get(state.team.reviewers.get(name) ?? '');
  const reviewed = review === undefined ? undefined : state.graph.nodes.get(review.task);
  if (reviewed !== undefined) return reviewPlace(reviewed);
  const holder = placeHolder(state, name);
  const task = state.claims.get(holder);
  const node = task === undefined ? undefined : state.graph.nodes.get(task);
  if (node !== undefined && node.path !== null && node.state === 'running') {
    const near = foldersOf(node.spec.touches);
    return {
      task: node.spec.id,
      root: node.path,
      writable: true,
      fence: node.fence,
      ...(near.length === 0 ? {} : { near }),
    };
  }
  const view = state.trees.get(VIEW);
  return view === undefined ? null : { task: null, root: view.path, writable: false, fence: 0 };
}

/** Where a task's work is looked at: in its tree, to read. */
export function reviewPlace(node: TaskNode): Workplace | null {
  return node.path === null ? null : { task: null, root: node.path, writable: false, fence: 0 };
}

/** What of each glob is plain: `src/parser` of `src/parser/**`. */
function foldersOf(touches: readonly string[]): string[] {
  const plain = touches.map((glob) => {
    const parts = glob.split('/');
    const wild = parts.findIndex((part) => /[*?[\]{}()!]/.test(part));
    return (wild < 0 ? parts.slice(0, -1) : parts.slice(0, wild)).join('/');
  });
  return [...new Set(plain)].filter((folder) => folder !== '');
}

/** A subagent works in the place of the member that it belongs to. */
export function placeHolder(state: RunState, name: ActorName): ActorName {
  let actor = actorOf(state.actors, name);
  while (actor !== null && actor.kind === 'subagent' && actor.parent !== null) {
    actor = actorOf(state.actors, actor.parent);
  }
  return actor?.name ?? name;
}

/** The task that an actor (or the member that a subagent belongs to) holds with this fence; null when it holds none. */
export function heldTask(state: RunState, name: ActorName): TaskNode | null {
  const id: TaskId | undefined = state.claims.get(placeHolder(state, name));
  return id === undefined ? null : (state.graph.nodes.get(id) ?? null);
}

/** What a call of an actor is judged by: the policy as it is now, and what the run knows of its user. */
export function rulesFor(
  state: RunState,
  live: Pick<Live, 'policy' | 'hooks'>,
  name: ActorName,
): ActorStart['permissions'] {
  const { attended, home, team } = state.file;
  // A thread decides reads by itself, but for those that a hook names.
  const hooked = live.hooks
    .filter((hook) => hook.on === 'before_tool')
    .flatMap((hook) => hook.tools ?? []);
  return {
    ...team.permissions,
    attended,
    sandboxed: state.run.sandbox >= SANDBOX_LEVEL,
    ...(home === undefined ? {} : { home }),
    path: pathOf(state, name),
    ...(live.policy === null ? {} : { snapshot: live.policy }),
    ...(hooked.length === 0 ? {} : { hooked }),
  };
}

const PATH_NAMES_MAX = 32;

/** `run/lead/ada/ada-sub-1`: who an actor works for. The broker's word, never a model's; rules go by it. */
export function pathOf(state: RunState, name: ActorName): string {
  const names: string[] = [];
  let actor = actorOf(state.actors, name);
  names.unshift(name);
  while (actor !== null && actor.parent !== null && names.length < PATH_NAMES_MAX) {
    names.unshift(actor.parent);
    actor = actorOf(state.actors, actor.parent);
  }
  // Teammates work for the lead, whoever added them.
  if (names[0] !== LEAD && actorOf(state.actors, LEAD) !== null) names.unshift(LEAD);
  return [state.file.id, ...names].join('/');
}

/** Owner name of the read-only tree of the integration branch; no task can be called so. */
export const VIEW = '_view';
