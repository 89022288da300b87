/** What the live view shows, as plain data: made from a run's state by `follow.ts`, drawn by `draw.ts`. */
import type { ActorRow, RunRow, TaskRow } from '../../protocol/shapes.ts';

export interface ViewModel {
  readonly run: RunRow;
  readonly tasks: readonly TaskRow[];
  readonly actors: readonly ActorRow[];
  readonly lastMail: { readonly from: string; readonly to: string; readonly text: string } | null;
  readonly elapsedMs: number;
  /** Milliseconds since the epoch, for how long an actor has been at it. */
  readonly now: number;
  /** What Ctrl-C would do. */
  readonly hint: string;
}
