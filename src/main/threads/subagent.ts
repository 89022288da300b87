/** Pool entry of subagents; `PoolHost` calls it once per job, built. */
import { type FarEnd, type HostExit, serveJob } from '../../actors/index.ts';
import { allowManyWaits } from '../many-waits.ts';
import { clock, runActor } from './run-actor.ts';

allowManyWaits();

export default function runJob(far: FarEnd): Promise<HostExit> {
  return serveJob(far, { run: runActor, clock });
}
