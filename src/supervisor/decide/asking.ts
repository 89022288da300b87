/** A request of a live actor with all that its decision looks at. */
import type { Actor } from '../../actors/index.ts';
import type { CallFacts, PayloadRef } from '../../protocol/index.ts';
import type { Tightened } from '../hooks.ts';
import type { Happening } from '../inbox.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Approval } from './judging.ts';

export interface Asking {
  readonly state: RunState;
  readonly live: Live;
  readonly happening: Happening;
  readonly facts: Actor;
  readonly actor: LiveActor;
  /** Number of the request, for its reply. */
  readonly request: number;
  /** Of a message whose text is its head. */
  readonly payload?: PayloadRef;
  /** What the disk says of the paths that it names. */
  readonly disk?: CallFacts | undefined;
  /** A person allowed this very call. */
  readonly approval?: Approval | undefined;
  /** Hooks have looked at it. */
  readonly hooked?: boolean | undefined;
  /** So often they have rewritten its input. */
  readonly pass?: number | undefined;
  readonly tightened?: Tightened | undefined;
}
