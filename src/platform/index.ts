/** Room `platform`: Node adapters of the kernel's ports, and what else needs the machine itself. */
export { CryptoRandom } from './crypto-random.ts';
export type { Rung } from './exec-launch.ts';
export { findWrappers, type Isolation, type Wrapper } from './isolation.ts';
export { JsonLogger, type JsonLoggerOptions } from './json-logger.ts';
export {
  acquireLock,
  type Lock,
  type LockDeps,
  type LockHolder,
  type LockRow,
  listLocks,
  readLockHolder,
} from './lock.ts';
export { NodeExec, type NodeExecOptions } from './node-exec.ts';
export { NodeFiles } from './node-files.ts';
export { hashOfFile, lookAt, markOf, ownedByAdmin, type PathLook } from './path-facts.ts';
export {
  type Liveness,
  makeProcessReader,
  NodeProcessTable,
  type ProcessIdentity,
  type ProcessTable,
} from './process-table.ts';
export {
  type InsideContent,
  type InsideEntry,
  type InsideFile,
  type InsideStat,
  listInside,
  makeDirectoriesInside,
  readInside,
  statInside,
  writeInside,
} from './safe-open.ts';
export { probeSandbox } from './sandbox.ts';
export { sha256Hex, socketPathFor } from './socket-path.ts';
export { findMarked } from './strays.ts';
export { StructuredCodec } from './structured-codec.ts';
export { SystemClock } from './system-clock.ts';
export { fetchWeb } from './web-fetch.ts';
