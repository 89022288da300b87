/** Room `platform`: Node adapters of the kernel's ports, and what else needs the machine itself. */
export { CryptoRandom } from './crypto-random.ts';
export { NodeExec } from './node-exec.ts';
export { SystemClock } from './system-clock.ts';
