/** Room `platform`: Node adapters of the kernel's ports, and what else needs the machine itself. */
export { CryptoRandom } from './crypto-random.ts';
export { findWrappers, type Isolation, probe, type Rung, type Wrapper } from './isolation.ts';
export { NodeExec, type NodeExecOptions } from './node-exec.ts';
export { SystemClock } from './system-clock.ts';
