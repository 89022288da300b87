/** `spawn_teammate`: one more member, for as long as the run goes on. */
import { type Actor, actorOf } from '../../../actors/index.ts';
import { asActorName, isName, RESERVED_NAMES } from '../../../kernel/index.ts';
import type { Draft } from '../../draft.ts';
import type { RunState } from '../../state.ts';
import type { Asking } from '../asking.ts';
import { chooseProfile } from '../choose-profile.ts';
import { finishAct } from '../results.ts';
import { mayRun } from '../roster.ts';
import { type Act, type Input, text } from './act.ts';

export function spawnTeammate(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, facts, happening } = asking;
  const { agents } = state.file.team;
  const name = text(input, 'name');
  const agent = text(input, 'agent');
  const prompt = text(input, 'prompt');
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  const profile = chooseProfile(agents, agent);
  if (typeof profile === 'string') return refuse(profile);
  const bad = nameProblem(state, name, happening.now);
  if (bad !== null) return refuse(bad);
  if (live.actors.has(asActorName(name))) return refuse(`${name} is just ending; try again`);
  const full = limitProblem(asking);
  if (full !== null) return refuse(full);
  draft.about('sup', actor).actor({
    type: 'actor.added',
    name: asActorName(name),
    kind: 'teammate',
    profile,
    parent: actor.name,
    depth: facts.depth + 1,
  });
  if (prompt !== '') {
    draft.send(
      {
        to: name,
        lane: 'normal',
        type: 'chat.message',
        body: { text: prompt, ...asking.payload },
      },
      draft.sender(actor.name),
    );
    live.mailDirty.add(asActorName(name));
  }
  const first = prompt === '' ? '' : ' and has your prompt as its first letter';
  return finishAct(asking, draft, act, {
    ok: true,
    text: `${name} (${agent}) is in the team${first}. It takes ready tasks of its profile by itself; write to it with send_message, end it with request_shutdown.`,
  });
}

function nameProblem(state: RunState, name: string, nowMs: number): string | null {
  if (!isName(name)) {
    return `"${name}" is not a name: use small letters, digits, - and _, at most 48, starting with a letter or digit`;
  }
  if (RESERVED_NAMES.includes(name)) {
    return `"${name}" is a reserved name (reserved: ${RESERVED_NAMES.join(', ')})`;
  }
  const known = actorOf(state.actors, name);
  if (known === null) return null;
  if (known.kind !== 'teammate') return `"${name}" is the name of a ${known.kind}; choose another`;
  return isOver(state, known, nowMs)
    ? null
    : `${name} is in the team already (${known.profile.name}); a name has one life at a time`;
}

/** Ended, and nothing starts it again. */
function isOver(state: RunState, actor: Actor, nowMs: number): boolean {
  return (
    actor.phase.kind === 'ended' && !mayRun(state, actor, nowMs) && !mayRun(state, actor, null)
  );
}

/** Limits are inherited: each level counts from the one above, and all spawned members from the run. */
function limitProblem({ state, facts, actor, live, happening }: Asking): string | null {
  const { depth, fanout, parallel } = state.file.team.limits;
  if (facts.depth + 1 > depth) {
    return `a teammate here would be nested deeper than limits.depth (${depth})`;
  }
  let mine = 0;
  let all = 0;
  for (const one of state.actors.byName.values()) {
    if (one.parent === null) continue;
    const there =
      one.kind === 'subagent' ? live.actors.has(one.name) : mayRun(state, one, happening.now);
    if (!there) continue;
    if (one.parent === actor.name) mine += 1;
    if (one.kind === 'teammate') all += 1;
  }
  if (mine >= fanout) {
    return `you have brought in ${mine} actors that are there, as many as limits.fanout allows; end one with request_shutdown first`;
  }
  if (all < parallel) return null;
  return `${all} spawned teammates are there, as many as can work side by side (limits.parallel)`;
}
