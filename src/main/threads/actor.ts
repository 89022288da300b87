/** Thread entry of the lead and of teammates; `ThreadHost` starts it, built. */
import { serveThread } from '../../actors/index.ts';
import { allowManyWaits } from '../many-waits.ts';
import { clock, runActor } from './run-actor.ts';

allowManyWaits();

await serveThread({ run: runActor, clock });
