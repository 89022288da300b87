/** Thread entry of the lead and of teammates; `ThreadHost` starts it, built. */
import { serveThread } from '../../actors/index.ts';
import { clock, runActor } from './run-actor.ts';

await serveThread({ run: runActor, clock });
