/** One signal ends many waits at once (a stop, an actor's end): as many listeners are the rule, and each goes with its wait. */
import { setMaxListeners } from 'node:events';

/** Of one emitter or signal, before Node takes it for a leak and says so in the middle of a run. */
const WAITS_MAX = 16_384;

export function allowManyWaits(): void {
  setMaxListeners(WAITS_MAX);
}
