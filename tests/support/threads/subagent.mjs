// Pool entry of the host tests, on the built room.
import { serveJob } from '../../../dist/actors/host/serve.js';
import { clock, run } from './behaviours.mjs';

export default (far) => serveJob(far, { run, clock });
