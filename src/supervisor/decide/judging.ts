/**
 * The one way to a decision about a call of an actor: what rules say, and all that a question about it must say. Whoever
 * runs something for a model (files, commands, tasks, later tool servers and jobs) asks here.
 */

import type { ActorName } from '../../kernel/index.ts';
import { type Call, factsResolver, type Judgement, judgeCall } from '../../permissions/index.ts';
import type { CallFacts } from '../../protocol/index.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { gateOf, planGate, readOnly } from './plan-gate.ts';
import { pathOf, rulesFor, workplaceOf } from './roster.ts';

/** Whose call it is; a request, or an ask that is judged again. */
export interface Who {
  readonly state: RunState;
  readonly live: Pick<Live, 'policy'>;
  readonly actor: { readonly name: ActorName };
  /** What the disk says of the call; unset: there is no disk, and names stand for themselves. */
  readonly disk?: CallFacts | undefined;
}

export type Judged = Judgement;

export function judgeFor(who: Who, call: Call): Judged {
  const { state, live, actor, disk } = who;
  const place = {
    actor: pathOf(state, actor.name),
    root: workplaceOf(state, actor.name)?.root ?? null,
    ...(disk === undefined ? {} : { resolve: factsResolver(disk.paths), pins: disk.pins }),
  };
  const judged = gated(who, call, judgeCall(call, rulesFor(state, live, actor.name), place));
  if (judged.action !== 'ask') return judged;
  const how = `to allow it, add a rule {id: …, effect: allow, tool: ${call.tool}} or \`permissions: {default: allow}\` to the team file`;
  return {
    ...judged,
    action: 'deny',
    reason: `${judged.reason}, and this version cannot ask; ${how}`,
  };
}

/** A plan that is missing goes before all that rules allow; a command that only reads runs in the form that was read. */
function gated({ state, actor }: Who, call: Call, judged: Judgement): Judgement {
  if (judged.action === 'deny') return judged;
  const reason = planGate(state, actor.name, call);
  if (reason !== null) {
    return {
      ...judged,
      action: 'deny',
      rule: 'plan-gate',
      reason,
      command: null,
      grantable: false,
    };
  }
  if (call.tool !== 'bash' || judged.command !== null || gateOf(state, actor.name) === null) {
    return judged;
  }
  return { ...judged, command: readOnly(state, actor.name, call.input)?.command ?? null };
}

/** A command of a model is a bash call of that model (design §7): judged when the task is made. */
export function judgeCommand(who: Who, command: string): Judged {
  return judgeFor(who, { tool: 'bash', input: { command } });
}
