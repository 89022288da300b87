/** Room `testing`: memory twins of the ports, for tests of Troupe and of what is built on it. */
export { CRASH_MODES, type CrashMode } from './memory-disk.ts';
export {
  type FileFault,
  type FileOperation,
  type FileOperationKind,
  MemoryFiles,
  type MemoryFilesOptions,
} from './memory-files.ts';
export {
  type CommandMatch,
  type RunAnswer,
  ScriptedExec,
  type ScriptedExecOptions,
  type SpawnScript,
} from './scripted-exec.ts';
export { SeededRandom } from './seeded-random.ts';
export { VirtualClock } from './virtual-clock.ts';
