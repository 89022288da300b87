// Thread entry of the host tests, on the built room.
import { serveThread } from '../../../dist/actors/host/serve.js';
import { clock, run } from './behaviours.mjs';

const never = new Promise(() => {});

await serveThread({ run, clock, inspect: () => never });
