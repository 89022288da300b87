/** What of a recorded run is chosen again when it is played: a part of `run.json`. */
import type { ActorName, TaskId } from '../kernel/ids.ts';

/** What the runtime did where it had a choice, in order. Of a claim: by whom, and whether by a call of the worker's own. */
export type OrderedFact =
  | {
      readonly fact: 'claim';
      readonly task: TaskId;
      readonly by: ActorName;
      readonly act?: true;
    }
  | { readonly fact: 'tree' | 'end'; readonly task: TaskId };

export interface ReplayPlan {
  /** The run that was recorded. */
  readonly of: string;
  readonly order: readonly OrderedFact[];
}
