/** `task`: a subagent for one question. */
import { type ActorName, asActorName } from '../../../kernel/index.ts';
import type { Draft } from '../../draft.ts';
import type { RunState } from '../../state.ts';
import { startActor } from '../actors.ts';
import type { Asking } from '../asking.ts';
import { chooseProfile } from '../choose-profile.ts';
import { finishAct } from '../results.ts';
import { placeHolder } from '../roster.ts';
import { type Act, type Input, text } from './act.ts';

export function subagent(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, facts } = asking;
  const { limits, agents } = state.file.team;
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  const wanted = input['agent'];
  const profile = typeof wanted === 'string' ? chooseProfile(agents, wanted) : facts.profile;
  if (typeof profile === 'string') return refuse(profile);
  if (facts.depth + 1 > limits.depth) {
    return refuse(`a subagent here would be nested deeper than limits.depth (${limits.depth})`);
  }
  const alive = [...state.actors.byName.values()].filter(
    (one) => one.parent === actor.name && live.actors.has(one.name),
  ).length;
  if (alive >= limits.fanout) {
    return refuse(`you have ${alive} subagents at work, as many as limits.fanout allows`);
  }
  const name = freshName(state, placeHolder(state, actor.name));
  const added = {
    name,
    kind: 'subagent' as const,
    profile,
    parent: actor.name,
    depth: facts.depth + 1,
  };
  draft.about('sup', actor).actor({ type: 'actor.added', ...added });
  const awaited = input['background'] !== true;
  const prompt = text(input, 'prompt');
  startActor(draft, live, { ...added, incarnation: 1, epoch: 1, prompt, awaited });
  if (!awaited) {
    draft.team({ type: 'subagent.background', name });
    return finishAct(asking, draft, act, {
      ok: true,
      text: `${name} has started; its answer comes by mail`,
    });
  }
  live.acts.set(act.call, {
    name: actor.name,
    incarnation: actor.incarnation,
    request: asking.request,
    call: act.call,
    tool: `task:${name}`,
    task: null,
  });
  return draft;
}

/** No other actor ever had it: a spawned teammate may be called anything. */
function freshName(state: RunState, holder: ActorName): ActorName {
  let count = 1;
  for (const one of state.actors.byName.values()) if (one.kind === 'subagent') count += 1;
  for (; ; count += 1) {
    const name = asActorName(`${holder.slice(0, 36)}-sub-${count}`);
    if (!state.actors.byName.has(name)) return name;
  }
}
