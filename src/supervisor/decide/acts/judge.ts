/** The rules' word on a command of an actor. */
import { type Judgement, judgeCall } from '../../../permissions/index.ts';
import type { Asking } from '../asking.ts';
import { rulesOf, workplaceOf } from '../roster.ts';

/** A command of a model is a bash call of that model (design §7): judged when the task is made. */
export function judgeCommand({ state, actor }: Asking, command: string): Judgement {
  return judgeCall({ tool: 'bash', input: { command } }, rulesOf(state.file), {
    actor: actor.name,
    root: workplaceOf(state, actor.name)?.root ?? null,
  });
}
