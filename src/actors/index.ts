/**
 * Room `actors`: how an actor runs (hosts on threads, on a pool, in the same thread), what it says over the wire, and
 * the books of its life. Which actor runs when is the supervisor's matter; what an actor thinks is the agent's.
 *
 * Invariants: A1 one exit per start · A2 a host does not throw · A3 a call into a dead thread rejects at once ·
 * A4 one live incarnation per name · A5 a state is derived.
 */
export { InlineHost, type InlineHostOptions } from './host/inline.ts';
export type { FarEnd } from './host/link.ts';
export { PoolHost, type PoolHostOptions } from './host/pool.ts';
export { type ServeOptions, serveJob, serveThread } from './host/serve.ts';
export { type ThreadHandle, ThreadHost, type ThreadHostOptions } from './host/thread.ts';
export type { ActorHandle, ActorHost, HostEvents, HostExit } from './host.ts';
export {
  type Actor,
  type ActorActivity,
  type ActorLive,
  type ActorPhase,
  type ActorRowParts,
  type ActorTable,
  actorOf,
  actorRow,
  applyActor,
  type ChangePlace,
  endOf,
  type Lifecycle,
  lifecycleOf,
  makeActorTable,
  nextIncarnation,
  type StartNumbers,
} from './lifecycle.ts';
export { type ActorPort, type ActorWire, makeActorWire, type WireOptions } from './wire/port.ts';
export type { ActorRun } from './wire/run.ts';
